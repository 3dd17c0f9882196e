//! Simulated sandboxes in memory.
