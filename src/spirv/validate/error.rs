//! Verdicts: faults with their place, and what is not covered.

use super::rules::{Group, Rule};
use crate::spirv::disasm::Printed;
use crate::spirv::tables;
use std::fmt;
use thiserror::Error;

/// How many faults a verdict holds; the rest are counted.
pub const MAX_FAULTS: usize = 256;
/// How many words of a guilty instruction a fault keeps for printing.
const KEPT_WORDS: usize = 24;

/// What a fault adds to its rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// Nothing.
    None,
    /// An id.
    Id(u32),
    /// Two ids, the second one expected or in conflict.
    Ids(u32, u32),
    /// The operand at this word of the instruction.
    Operand(u32),
    /// A number out of its range.
    Value(u32),
    /// What there is and what is allowed.
    Limit(u64, u64),
    /// One of these capabilities, as rows of [`tables::capabilities`].
    Capabilities(&'static [u16]),
    /// One of these extensions, as indices of [`tables::extension_name`].
    Extensions(&'static [u16]),
    /// This minor version.
    Version(u8),
    /// A name from the tables, or what is missing.
    Name(&'static str),
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Note::None => Ok(()),
            Note::Id(id) => write!(f, "; %{id}"),
            Note::Ids(a, b) => write!(f, "; %{a}, %{b}"),
            Note::Operand(at) => write!(f, "; operand at word {at} of the instruction"),
            Note::Value(value) => write!(f, "; {value}"),
            Note::Limit(is, limit) => write!(f, "; {is}, limit {limit}"),
            Note::Capabilities(rows) => {
                f.write_str("; one of")?;
                rows.iter().try_for_each(|&row| {
                    let row = tables::capabilities().get(usize::from(row));
                    write!(f, " {}", row.map_or("?", |r| r.name))
                })
            }
            Note::Extensions(rows) => {
                f.write_str("; one of")?;
                rows.iter().try_for_each(|&row| {
                    write!(f, " {}", tables::extension_name(row).unwrap_or("?"))
                })
            }
            Note::Version(minor) => write!(f, "; SPIR-V 1.{minor}"),
            Note::Name(name) => write!(f, "; {name}"),
        }
    }
}

/// A broken rule, with its place.
///
/// `Display` writes what the specification says, the section, and the guilty instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    rule: Rule,
    word: usize,
    note: Note,
    words: Box<[u32]>,
}

impl Fault {
    #[cold]
    pub(super) fn new(rule: Rule, word: usize, note: Note, module: &[u32]) -> Fault {
        let count = module.get(word).map_or(0, |w| (w >> 16) as usize);
        let rest = module.get(word..).unwrap_or_default();
        let words = if word < super::HEADER_WORDS {
            &[]
        } else {
            rest.get(..count.clamp(1, KEPT_WORDS).min(rest.len()))
                .unwrap_or_default()
        };
        Fault {
            rule,
            word,
            note,
            words: words.into(),
        }
    }

    /// The rule.
    pub fn rule(&self) -> Rule {
        self.rule
    }

    /// The offset in words, from the start of the module, of the instruction or header word
    /// that breaks it; the length of the module where something is missing at its end.
    pub fn word(&self) -> usize {
        self.word
    }

    /// What the fault adds to its rule: the id, operand or number in question.
    pub fn note(&self) -> Note {
        self.note
    }

    /// The guilty instruction in textual form, made when it is displayed; `nothing` in the
    /// header. Instructions longer than 24 words are shown as their first words.
    pub fn instruction(&self) -> Printed<'_> {
        Printed::new(&self.words)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} ({}){}",
            self.rule.says(),
            self.rule.section(),
            self.note
        )?;
        if !self.words.is_empty() {
            write!(f, ": {}", self.instruction())?;
        }
        Ok(())
    }
}

/// Something that the validator does not cover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    word: usize,
    what: What,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum What {
    Named(&'static str, &'static str),
    Extension(Box<str>),
    Number(&'static str, u32),
}

impl Unsupported {
    pub(super) fn named(word: usize, kind: &'static str, name: &'static str) -> Unsupported {
        Unsupported {
            word,
            what: What::Named(kind, name),
        }
    }

    pub(super) fn text(word: usize, name: &str) -> Unsupported {
        Unsupported {
            word,
            what: What::Extension(name.into()),
        }
    }

    pub(super) fn number(word: usize, kind: &'static str, number: u32) -> Unsupported {
        Unsupported {
            word,
            what: What::Number(kind, number),
        }
    }

    /// The offset in words of the instruction that uses it.
    pub fn word(&self) -> usize {
        self.word
    }
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.what {
            What::Named("", name) => f.write_str(name),
            What::Named(kind, name) => write!(f, "{kind} {name}"),
            What::Extension(name) => write!(f, "{name}"),
            What::Number(kind, number) => write!(f, "{kind} {number}"),
        }
    }
}

/// Why a module is not valid, as an error for `?`.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ValidateError {
    /// Rules are broken.
    #[error("invalid at word {}: {}: {}", .0.first().word(), .0.first().rule(), .0.first())]
    Invalid(Faults),
    /// Something is not covered.
    #[error("unsupported at word {}: {}", .0.word(), .0)]
    Unsupported(Unsupported),
}

/// The faults of an invalid module: at least one, by word offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Faults {
    first: Fault,
    rest: Vec<Fault>,
    uncounted: usize,
}

impl Faults {
    pub(super) fn new(mut faults: Vec<Fault>, uncounted: usize) -> Option<Faults> {
        faults.sort_by_key(|f| f.word);
        let mut faults = faults.into_iter();
        let first = faults.next()?;
        Some(Faults {
            first,
            rest: faults.collect(),
            uncounted,
        })
    }

    /// The fault that stands first in the module.
    pub fn first(&self) -> &Fault {
        &self.first
    }

    /// Every fault that is kept, by word offset.
    pub fn iter(&self) -> impl Iterator<Item = &Fault> {
        std::iter::once(&self.first).chain(&self.rest)
    }

    /// How many faults there are beyond the first 256, which alone are kept.
    pub fn not_kept(&self) -> usize {
        self.uncounted
    }
}

/// What [`validate`](super::validate()) says of a module.
///
/// `Display` is one line: `valid`, `invalid at word N: RULE: message` for the first fault, or
/// `unsupported at word N: what`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Verdict {
    /// Every rule was checked and holds.
    Valid,
    /// Rules are broken.
    Invalid(Faults),
    /// Nothing that was checked is broken, but this was not checked. In the order of the
    /// module, at least one, each thing once.
    Unsupported(Vec<Unsupported>),
}

impl Verdict {
    /// Whether the module is valid.
    pub fn is_valid(&self) -> bool {
        matches!(self, Verdict::Valid)
    }

    /// Whether rules are broken.
    pub fn is_invalid(&self) -> bool {
        matches!(self, Verdict::Invalid(_))
    }

    /// Whether something was not covered, and nothing found broken.
    pub fn is_unsupported(&self) -> bool {
        matches!(self, Verdict::Unsupported(_))
    }

    /// The faults, none for other verdicts.
    pub fn faults(&self) -> impl Iterator<Item = &Fault> {
        let faults = match self {
            Verdict::Invalid(faults) => Some(faults),
            Verdict::Valid | Verdict::Unsupported(_) => None,
        };
        faults.into_iter().flat_map(Faults::iter)
    }

    /// Whether this rule is among the broken ones.
    pub fn breaks(&self, rule: Rule) -> bool {
        self.faults().any(|f| f.rule == rule)
    }

    /// `Ok` for a valid module.
    ///
    /// # Errors
    ///
    /// The faults, or the first thing that is not covered.
    pub fn into_result(self) -> Result<(), ValidateError> {
        match self {
            Verdict::Valid => Ok(()),
            Verdict::Invalid(faults) => Err(ValidateError::Invalid(faults)),
            Verdict::Unsupported(what) => match what.into_iter().next() {
                Some(first) => Err(ValidateError::Unsupported(first)),
                None => Ok(()),
            },
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Valid => f.write_str("valid"),
            Verdict::Invalid(faults) => {
                let first = faults.first();
                write!(f, "invalid at word {}: {}: {first}", first.word, first.rule)
            }
            Verdict::Unsupported(what) => match what.first() {
                Some(first) => write!(f, "unsupported at word {}: {first}", first.word),
                None => f.write_str("valid"),
            },
        }
    }
}

/// Where checks put what they find.
#[derive(Debug, Default)]
pub(super) struct Sink {
    faults: Vec<Fault>,
    uncounted: usize,
    unsupported: Vec<Unsupported>,
    pub(super) beyond: bool,
    /// Whether a capability or extension is declared that is not covered: what rules it
    /// changes is not known.
    pub(super) foreign: bool,
    /// Whether the binary form is broken so that later checks cannot rely on it.
    pub(super) broken: bool,
}

impl Sink {
    pub(super) fn new(beyond: bool) -> Sink {
        Sink {
            beyond,
            ..Sink::default()
        }
    }

    #[cold]
    pub(super) fn fault(&mut self, rule: Rule, word: usize, note: Note, module: &[u32]) {
        if rule.group() == Group::Beyond && !self.beyond {
            return;
        }
        if self.faults.len() < MAX_FAULTS {
            self.faults.push(Fault::new(rule, word, note, module));
        } else {
            self.uncounted += 1;
        }
    }

    /// Whether nothing was found.
    pub(super) fn is_clean(&self) -> bool {
        self.faults.is_empty() && self.unsupported.is_empty()
    }

    /// Whether the same was found.
    pub(super) fn same_as(&self, other: &Sink) -> bool {
        self.faults == other.faults
            && self.uncounted == other.uncounted
            && self.unsupported == other.unsupported
    }

    #[cold]
    pub(super) fn unsupported(&mut self, what: Unsupported) {
        if self.unsupported.len() < MAX_FAULTS
            && !self.unsupported.iter().any(|u| u.what == what.what)
        {
            self.unsupported.push(what);
        }
    }

    pub(super) fn verdict(mut self) -> Verdict {
        if self.foreign {
            // What is not covered changes neither the form nor which capabilities the environment has.
            self.faults
                .retain(|f| f.rule.group() == Group::Form || f.rule == Rule::CapabilityVulkan);
        }
        if let Some(faults) = Faults::new(self.faults, self.uncounted) {
            return Verdict::Invalid(faults);
        }
        if self.unsupported.is_empty() {
            Verdict::Valid
        } else {
            self.unsupported.sort_by_key(|u| u.word);
            Verdict::Unsupported(self.unsupported)
        }
    }
}
