//! Rewriting expectations in place.

use std::ops::Range;

/// Lines of a file to be replaced by others.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Edit {
    pub(super) lines: Range<usize>,
    pub(super) by: Vec<String>,
}

/// The text with the edits, which do not overlap.
pub(super) fn apply(lines: &[String], mut edits: Vec<Edit>) -> String {
    let mut lines = lines.to_vec();
    edits.sort_by_key(|e| (e.lines.start, e.lines.end));
    for edit in edits.into_iter().rev() {
        lines.splice(edit.lines, edit.by);
    }
    lines.iter().map(|line| line.to_owned() + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_lines_keep_their_places() {
        let lines: Vec<String> = ["a", "b", "c", "d"].map(String::from).into();
        let edit = |lines, by: &[&str]| Edit {
            lines,
            by: by.iter().map(|l| l.to_string()).collect(),
        };
        let edits = vec![
            edit(0..1, &["A", "AA"]),
            edit(3..3, &["x"]),
            edit(1..3, &[]),
        ];
        assert_eq!(apply(&lines, edits), "A\nAA\nx\nd\n");
    }
}
