//! Tests of the whole library from outside, in one binary so that it is linked once.
#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    missing_docs,
    unreachable_pub
)]

mod contract;
mod escape;
mod flow;
mod house_rules;
mod registry;
mod support;
