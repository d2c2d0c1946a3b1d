//! What does each subcommand do? Plain functions of parsed arguments: they write, and give an exit code.

pub mod cases;
