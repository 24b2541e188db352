//! What kernite costs, beside floors written by hand and beside other crates on the same work.
//!
//! `cargo bench -p kernite-benches --bench ratios` compares and gives a verdict on each bar; the other benches are
//! Criterion's.

pub mod bars;
pub mod check;
pub mod count;
pub mod floor;
pub mod group;
pub mod paired;
pub mod report;
pub mod rival;
