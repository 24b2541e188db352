//! The generated tables beside the grammar that they come from.

use kernite::spirv::tables;
use kernite_validator_tests::oracle::{self, Tool};
use std::path::Path;
use std::process::Command;

#[test]
fn the_tables_are_what_the_script_writes() {
    let Some(grammar) = oracle::find(Tool::Grammar) else {
        return;
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let result = Command::new("python3")
        .arg(root.join("scripts/gen-spirv-tables.py"))
        .arg(&grammar)
        .arg("--check")
        .output();
    match result {
        Ok(output) if output.status.code() == Some(3) => {
            oracle::skip(Tool::Grammar, "another edition of the grammar");
        }
        Ok(output) => assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        ),
        Err(e) => oracle::skip(Tool::Grammar, &format!("python3: {e}")),
    }
}

#[test]
fn every_row_is_found_by_its_number() {
    for row in tables::instructions() {
        let found = tables::instruction(row.opcode).expect("a row");
        assert!(std::ptr::eq(found, row), "{}", row.name);
    }
    let found = (0..=u16::MAX).filter(|o| tables::instruction(*o).is_some());
    assert_eq!(found.count(), tables::instructions().len());
}
