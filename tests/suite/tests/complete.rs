//! Every opcode on every type of the table is in a filetest, is made by the generator, and runs on a device or is a row of
//! the gaps table.

use kernite_suite::coverage::{Pair, missing, pairs};
use kernite_suite::filetest::{files, folder, kernels};
use std::collections::BTreeSet;

#[test]
fn every_opcode_and_type_is_in_a_filetest() {
    let mut found: BTreeSet<Pair> = BTreeSet::new();
    for file in files(&folder()).unwrap() {
        let text = std::fs::read_to_string(&file).unwrap();
        for kernel in kernels(&text).unwrap() {
            found.extend(pairs(&kernel));
        }
    }
    let missing = missing(&found);
    assert!(missing.is_empty(), "{} are not:\n{}", missing.len(), missing.join("\n"));
}
