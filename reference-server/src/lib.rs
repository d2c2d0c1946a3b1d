//! A Model Context Protocol server whose Resources behave as the specification says.
