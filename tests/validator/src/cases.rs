//! The files of `cases/`: a rule, a base of the corpus, and what is changed in it.

use crate::corpus;
use std::path::Path;

/// A case of a rule.
#[derive(Clone, Debug, Default)]
pub struct Case {
    /// The file and line of its head.
    pub place: String,
    /// The rule's name.
    pub rule: String,
    /// Why spirv-val does not reject it too, if it does not.
    pub alone: Option<String>,
    /// The changed text.
    pub text: String,
}

/// Every case.
///
/// # Panics
///
/// On a file that does not keep to the format, and on a line to change that its base does not
/// have exactly once: a case that changes nothing tests nothing.
pub fn all() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .expect("the cases")
        .flatten()
        .map(|e| e.path())
        .filter(|p| p.extension().is_some_and(|e| e == "txt"))
        .collect();
    files.sort();
    let mut cases = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a readable file");
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let mut edits: Vec<(Vec<&str>, Vec<&str>)> = Vec::new();
        let mut head: Option<(usize, &str)> = None;
        for (number, line) in text.lines().chain(["## end"]).enumerate() {
            if let Some(next) = line.strip_prefix("## ") {
                if let Some((at, head)) = head {
                    cases.push(case(&format!("{name}:{}", at + 1), head, &edits));
                }
                edits.clear();
                head = Some((number, next));
            } else if let Some(old) = line.strip_prefix("- ") {
                match edits.last_mut() {
                    Some((from, to)) if to.is_empty() => from.push(old),
                    _ => edits.push((vec![old], Vec::new())),
                }
            } else if let Some(new) = line.strip_prefix("+ ") {
                let (_, to) = edits.last_mut().expect("a line to stand in place of");
                to.push(new);
            } else {
                assert!(line.trim().is_empty(), "{name}:{}: {line}", number + 1);
            }
        }
    }
    cases
}

fn case(place: &str, head: &str, edits: &[(Vec<&str>, Vec<&str>)]) -> Case {
    let (rule, rest) = head.split_once(" base ").expect("a rule and a base");
    let (base, alone) = match rest.split_once(" alone: ") {
        Some((base, why)) => (base, Some(why.to_owned())),
        None => (rest, None),
    };
    let path = corpus::folder().join(format!("{base}.spvasm"));
    let text = std::fs::read_to_string(path).expect("a base");
    let mut lines: Vec<String> = text.lines().map(|l| l.trim().to_owned()).collect();
    for (from, to) in edits {
        let starts: Vec<usize> = (0..lines.len())
            .filter(|&i| lines[i..].iter().zip(from).filter(|(a, b)| a == b).count() == from.len())
            .collect();
        let [at] = starts[..] else {
            panic!("{place}: {from:?} stands {} times in {base}", starts.len());
        };
        lines.splice(at..at + from.len(), to.iter().map(|l| (*l).to_owned()));
    }
    Case {
        place: place.to_owned(),
        rule: rule.to_owned(),
        alone,
        text: lines.join("\n"),
    }
}
