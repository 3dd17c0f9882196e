//! Builds the guest program.

fn main() {}
