//! Every kind of fault that the verifier finds is expected by a filetest, or stands here with the reason why not.

use kernite::text::ParseErrorKind;
use kernite_suite::filetest::{files, folder, refusals};
use std::collections::BTreeSet;

/// The kinds, by the source that declares them: outside of the library no list of a `non_exhaustive` enum is complete.
const SOURCE: &str = include_str!("../../../src/verify/fault.rs");

/// Kinds that no filetest has, and why. A row that a filetest meets fails.
const NOT_IN_FILES: &[(&str, &str)] = &[
    ("Canonical", "of the stored form: text writes each field"),
    ("Side", "of the stored form: text has no side table"),
    ("SideLeft", "of the stored form: text has no side table"),
    (
        "ConstBits",
        "of the stored form: text writes constants of their type",
    ),
    (
        "TableElement",
        "of the builder: text writes constants of their type",
    ),
    (
        "TooDeep",
        "513 nested blocks, which the verifier's tests have",
    ),
    ("Foreign", "of the builder: text has no other kernel's ids"),
    ("RangeType", "of the builder: text has no helpers"),
    ("Apply", "of the builder: text has no helpers"),
    ("Finished", "of the builder: text is read once"),
    ("Axis", "of the builder: text writes an axis as x, y or z"),
    ("TooMany", "a text of 2^28 declarations or bytes of names"),
    ("StoredBytes", "a text of 2^32 bytes and more"),
];

fn declared() -> BTreeSet<String> {
    let (_, behind) = SOURCE.split_once("pub enum FaultKind {").unwrap();
    let (body, _) = behind.split_once("\n}").unwrap();
    let variants = body.lines().filter_map(|line| {
        let name = line.strip_prefix("    ")?;
        name.starts_with(|c: char| c.is_ascii_uppercase())
            .then(|| head(name))
    });
    variants.collect()
}

/// The identifier at the start.
fn head(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric()).collect()
}

#[test]
fn every_kind_of_fault_has_a_filetest() {
    let declared = declared();
    assert!(declared.len() > 40, "{declared:?}");
    let mut met = BTreeSet::new();
    for file in files(&folder()).unwrap() {
        let text = std::fs::read_to_string(&file).unwrap();
        // What does not follow the format is told by the files' own test.
        for error in refusals(&text).unwrap_or_default() {
            if let ParseErrorKind::Verify { error, .. } = &error.kind {
                let kinds = error.faults().iter();
                met.extend(kinds.map(|fault| head(&format!("{:?}", fault.kind))));
            }
        }
    }
    let excused: BTreeSet<String> = NOT_IN_FILES.iter().map(|(n, _)| n.to_string()).collect();
    assert!(excused.is_subset(&declared), "a row names no kind");
    let both: Vec<_> = excused.intersection(&met).collect();
    assert!(
        both.is_empty(),
        "a filetest meets {both:?}: the rows can go"
    );
    let missing: Vec<_> = declared
        .iter()
        .filter(|name| !met.contains(*name) && !excused.contains(*name))
        .collect();
    assert!(missing.is_empty(), "no filetest meets {missing:?}");
}
