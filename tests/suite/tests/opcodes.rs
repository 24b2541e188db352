//! The opcode reference is what the table and the emitters say. `BLESS=1` rewrites it.

use kernite_suite::filetest::blessing;
use kernite_suite::opcodes::page;
use std::path::Path;

#[test]
fn the_reference_is_up_to_date() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let path = docs.join("opcodes.md");
    let made = page();
    if blessing() {
        std::fs::create_dir_all(&docs).unwrap_or_else(|e| panic!("{}: {e}", docs.display()));
        std::fs::write(&path, &made).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    }
    let kept = std::fs::read_to_string(&path)
        .unwrap_or_else(|e| panic!("{}: {e}; BLESS=1 writes it", path.display()));
    let differs = kept.lines().zip(made.lines()).position(|(k, m)| k != m);
    if let Some(at) = differs {
        let line = |text: &str| text.lines().nth(at).unwrap_or("").to_owned();
        panic!(
            "docs/opcodes.md line {}: {:?}, should be {:?}; BLESS=1 rewrites it",
            at + 1,
            line(&kept),
            line(&made)
        );
    }
    assert_eq!(kept.len(), made.len(), "BLESS=1 rewrites docs/opcodes.md");
}
