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
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\'' => {
                quoted = !quoted;
                out.push(c);
            }
            _ if quoted => {}
            '%' => {
                while chars
                    .next_if(|c| c.is_alphanumeric() || *c == '_')
                    .is_some()
                {}
                out.push('%');
            }
            '0'..='9' => {
                while chars.next_if(char::is_ascii_alphanumeric).is_some() {}
                out.push('#');
            }
            '\t' => out.push(' '),
            _ => out.push(c),
        }
    }
    // What follows names the case.
    out.chars().take(110).collect::<String>().trim().to_owned()
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
        for line in text.lines().filter(|l| !l.starts_with("# ")) {
            let (message, rules) = line.split_once('\t').expect("a message, a tab, rules");
            let rules: BTreeSet<String> = rules.split(", ").map(str::to_owned).collect();
            for rule in &rules {
                let known = Rule::ALL.iter().any(|r| r.name() == rule);
                assert!(known || rule.starts_with("none: "), "no rule {rule}");
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
        let skeleton = skeleton(message);
        let rules = self.table.get(&skeleton);
        let seen = self.seen.entry(skeleton).or_default();
        seen.times += 1;
        for fault in verdict.faults() {
            let name = fault.rule().name();
            *seen.rules.entry(name).or_default() += 1;
            seen.matched |= rules.is_some_and(|r| r.contains(name));
        }
        if seen.example.is_empty() {
            seen.example = message.trim().replace('\n', " ");
        }
    }

    /// What does not agree with the table: messages that it lacks, if `all` are to be in it, and those of which no mutant
    /// met its rule. With `BLESS=1` the messages that it lacks are added, each with the rules seen, for a person to judge.
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
                        BTreeSet::from([format!("none: {}", seen.example)])
                    } else {
                        rules
                    };
                    self.table.insert(message.clone(), rules);
                }
                None if all => failures.push(format!("no line for {message}: {}", seen.example)),
                None => {}
                Some(rules) => {
                    let none = rules.iter().any(|r| r.starts_with("none: "));
                    // One mutant may break another rule first, which hides this one.
                    if !seen.matched && !none && (all || seen.times > 2) {
                        failures.push(format!(
                            "{message}: {} mutants, none rejected by {rules:?} but by {:?}",
                            seen.times, seen.rules
                        ));
                    }
                }
            }
        }
        if std::env::var_os("BLESS").is_some() {
            let mut text = String::from(
                "# spirv-val 2025.5's messages, without names and numbers, and kernite's rules of the same meaning.\n\
                 # `BLESS=1` and a long run of the agreement test add what is missing; read the diff.\n",
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
