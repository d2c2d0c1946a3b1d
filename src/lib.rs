//! mcp-litmus: does a Model Context Protocol server keep the rules for Resources, and how do you know?
