//! spirv-val's messages and the rules of the same meaning: the table `messages.txt`.
//!
//! A line is a message's skeleton, a tab, and the rules that reject what it rejects, separated by commas. The skeleton is
//! the VUID where the message has one, and else its first line without names, numbers and ids.

use kernite::spirv::Verdict;
use kernite::spirv::validate::Rule;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What distinguishes one message from another.
pub fn skeleton(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default();
    let line = line.strip_prefix("error: ").unwrap_or(line);
    let line = match line.strip_prefix("line ").and_then(|l| l.split_once(": ")) {
        Some((_, rest)) => rest,
        None => line,
    };
    if let Some(rest) = line.strip_prefix("[VUID-") {
        return format!("VUID-{}", rest.split(']').next().unwrap_or(rest));
    }
    let mut out = String::new();
    let mut quoted = false;
    // What comes first may be the instruction.
    let mut words = line.split(' ').peekable();
    let first = words.peek().copied().unwrap_or_default();
    let name = first.strip_suffix(':').unwrap_or(first);
    let place = [
        "must appear",
        "cannot appear",
        "is in an invalid",
        "requires SPIR-V",
    ];
    let rest = line.get(first.len()..).unwrap_or_default().trim_start();
    if name.chars().all(char::is_alphanumeric)
        && (first != name || place.iter().any(|p| rest.starts_with(p)))
    {
        out.push_str("* ");
        words.next();
    }
    for word in words {
        let was_quoted = quoted;
        quoted ^= word.matches('\'').count() % 2 == 1;
        if was_quoted || word.contains('\'') {
            if !was_quoted {
                out.push_str("'' ");
            }
            continue;
        }
        let body = word.trim_matches(|c: char| !c.is_alphanumeric());
        let capitals = body.chars().filter(char::is_ascii_uppercase).count();
        if body.contains(|c: char| c.is_ascii_digit()) || word.starts_with('%') {
            out.push('#');
        } else if capitals > 1 && body.contains(char::is_lowercase) {
            out.push('*');
        } else {
            out.push_str(word);
        }
        out.push(' ');
    }
    let text = match out.split_once("requires one of these") {
        Some((_, rest)) => format!(
            "* requires one of these {}",
            rest.split(':').next().unwrap_or_default().trim()
        ),
        None => out,
    };
    // What follows names the case.
    text.chars().take(100).collect::<String>().trim().to_owned()
}

/// The file of the table.
pub fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("messages.txt")
}

/// The table, and what a run saw of it.
#[derive(Clone, Debug, Default)]
pub struct Messages {
    table: BTreeMap<String, BTreeSet<String>>,
    seen: BTreeMap<String, Seen>,
}

#[derive(Clone, Debug, Default)]
struct Seen {
    times: usize,
    /// Rejected by a rule that the table names.
    matched: bool,
    rules: BTreeMap<&'static str, usize>,
    example: String,
}

impl Messages {
    /// The table as it is checked in.
    ///
    /// # Panics
    ///
    /// On a line without a tab, and on a name that is no rule's.
    pub fn read() -> Messages {
        let text = std::fs::read_to_string(file()).unwrap_or_default();
        let mut table = BTreeMap::new();
        for line in text.lines().filter(|l| l.contains('\t')) {
            let (message, rules) = line.split_once('\t').expect("a message, a tab, rules");
            let rules: BTreeSet<String> = rules.split(", ").map(str::to_owned).collect();
            for rule in &rules {
                let known = Rule::ALL.iter().any(|r| r.name() == rule);
                assert!(known || rule == "none: unsupported", "no rule {rule}");
            }
            table.insert(message.to_owned(), rules);
        }
        Messages {
            table,
            ..Messages::default()
        }
    }

    /// Notes what kernite says of a module that spirv-val rejects.
    pub fn note(&mut self, message: &str, verdict: &Verdict) {
        // It crashes on some modules.
        if message.starts_with("terminate called") {
            return;
        }
        let skeleton = skeleton(message);
        let rules = self.table.get(&skeleton);
        let seen = self.seen.entry(skeleton).or_default();
        seen.times += 1;
        // A verdict of one fault says best what corresponds.
        let weight = if verdict.faults().count() == 1 {
            100
        } else {
            1
        };
        for fault in verdict.faults() {
            let name = fault.rule().name();
            *seen.rules.entry(name).or_default() += weight;
            seen.matched |= rules.is_some_and(|r| r.contains(name));
        }
        if seen.example.is_empty() {
            seen.example = message.trim().replace('\n', " ");
        }
    }

    /// What does not agree with the table: the messages of which no mutant met a rule that it names, of all, or of those
    /// seen often. With `BLESS=1` the messages that it lacks are added, each with the rules seen, for a person to judge.
    ///
    /// # Panics
    ///
    /// If the table cannot be written.
    pub fn finish(mut self, all: bool) -> Vec<String> {
        let mut failures = Vec::new();
        for (message, seen) in &self.seen {
            match self.table.get(message) {
                None if std::env::var_os("BLESS").is_some() => {
                    let most = seen.rules.values().max().copied().unwrap_or(0);
                    let rules = seen.rules.iter().filter(|(_, n)| **n * 3 >= most);
                    let rules: BTreeSet<String> = rules.map(|(r, _)| (*r).to_owned()).collect();
                    let rules = if rules.is_empty() {
                        BTreeSet::from(["none: unsupported".to_owned()])
                    } else {
                        rules
                    };
                    self.table.insert(message.clone(), rules);
                }
                // Another draw brings up messages of its own: they are for a person to add.
                None if all => println!("no line for {message}: {}", seen.example),
                None => {}
                Some(rules) => {
                    let none = rules.contains("none: unsupported");
                    // One mutant may break another rule first, which hides this one.
                    if !seen.matched && !none && (all || seen.times > 9) {
                        failures.push(format!(
                            "{message}: {} mutants, none rejected by {rules:?} but by {:?}; {}",
                            seen.times, seen.rules, seen.example
                        ));
                    }
                }
            }
        }
        if std::env::var_os("BLESS").is_some() {
            let mut text = String::from(
                "# spirv-val 2025.5's messages, without names and numbers, and kernite's rules of the same meaning; `none: unsupported`\n\
                 # where kernite does not cover what the message is about. `BLESS=1` and a long run of the agreement test add what is\n\
                 # missing; read the diff.\n",
            );
            for (message, rules) in &self.table {
                let rules: Vec<&str> = rules.iter().map(String::as_str).collect();
                text.push_str(&format!("{message}\t{}\n", rules.join(", ")));
            }
            std::fs::write(file(), text).expect("the table written");
        }
        failures
    }

    /// How many distinct messages were seen, and how many the table has.
    pub fn counts(&self) -> (usize, usize) {
        (self.seen.len(), self.table.len())
    }
}
