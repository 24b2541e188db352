//! Splitting one instruction into its operands, by the grammar.
//!
//! The walk needs three things that the words of one instruction do not hold: the width of a
//! constant's type, the width of a switch's selector, and the set that an `OpExtInst` names.
//! [`Context`] answers for them.

use super::{Category, Enumerant, ExtSet, Instruction, OperandKind as K, Quantifier};

const OP_EXT_INST_SET: usize = 3;

/// What the walk asks about the rest of the module.
pub trait Context {
    /// How many words a literal of this type takes; `None` if the id is no numeric type.
    fn literal_words(&self, type_id: u32) -> Option<usize>;
    /// How many words a case literal takes for a selector with this id; `None` if the id is no
    /// integer value.
    fn selector_words(&self, selector: u32) -> Option<usize>;
    /// The set that an `OpExtInstImport` with this result id imported.
    fn ext_set(&self, id: u32) -> Set;
}

/// What is known about an extended instruction set.
#[derive(Clone, Copy, Debug)]
pub enum Set {
    /// The tables have its instructions. `ids_if_unknown`: a number that the tables do not have
    /// takes ids (true of non-semantic sets).
    Known {
        /// Its rows.
        set: &'static ExtSet,
        /// Whether an unknown number takes any number of ids.
        ids_if_unknown: bool,
    },
    /// A set whose instructions take any number of ids.
    Ids,
    /// The id names no import.
    NotImported,
}

/// One operand as the walk finds it.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    /// Its kind, never a composite one.
    pub kind: K,
    /// The index of its first word in the instruction.
    pub at: usize,
    /// Its length in words.
    pub len: usize,
    /// The row of a value enumerant.
    pub row: Option<&'static Enumerant>,
}

/// Why an instruction does not fit its row of the grammar. Indices count words in the
/// instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// The words end before a required operand.
    Missing {
        /// The operand's kind.
        kind: K,
    },
    /// Words are left over.
    Extra {
        /// The first of them.
        at: usize,
    },
    /// A value that the enumeration does not have.
    Enumerant {
        /// The enumeration.
        kind: K,
        /// The word.
        at: usize,
        /// The value, or the first unknown bit of a mask.
        value: u32,
    },
    /// A string without its NUL.
    Unterminated {
        /// The string's first word.
        at: usize,
    },
    /// A constant whose type is no number, or a switch whose selector is no integer.
    NoWidth {
        /// The literal's word.
        at: usize,
    },
    /// An `OpExtInst` whose set is no import.
    NotImported,
    /// An instruction number that the set does not have.
    ExtInst {
        /// The number.
        number: u32,
    },
    /// An `OpSpecConstantOp` with an opcode that the grammar does not have, or that yields no
    /// value.
    SpecOp {
        /// The opcode.
        opcode: u32,
    },
}

struct Walk<'a, C, F> {
    words: &'a [u32],
    at: usize,
    context: &'a C,
    found: F,
}

/// Splits `words`, one whole instruction with its first word, into operands, in order.
///
/// # Errors
///
/// The first place where the words do not fit `row`; what came before has been handed to
/// `found`.
pub fn operands<C: Context>(
    words: &[u32],
    row: &'static Instruction,
    context: &C,
    found: impl FnMut(Found),
) -> Result<(), Malformed> {
    let mut walk = Walk {
        words,
        at: 1,
        context,
        found,
    };
    walk.list(row.operands)?;
    if walk.at < words.len() {
        return Err(Malformed::Extra { at: walk.at });
    }
    Ok(())
}

impl<C: Context, F: FnMut(Found)> Walk<'_, C, F> {
    fn list(&mut self, operands: &'static [super::Operand]) -> Result<(), Malformed> {
        for operand in operands {
            let kind = operand.kind;
            let left = self.at < self.words.len();
            match operand.quantifier {
                // The commonest operand, and one that is always a word.
                Quantifier::One if left && kind.category() == Category::Id => {
                    self.take(kind, 1, None);
                }
                Quantifier::One => self.operand(kind)?,
                Quantifier::Optional => {
                    if left {
                        self.operand(kind)?;
                    }
                }
                Quantifier::Any => {
                    while self.at < self.words.len() {
                        self.operand(kind)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn peek(&self, kind: K) -> Result<u32, Malformed> {
        self.words
            .get(self.at)
            .copied()
            .ok_or(Malformed::Missing { kind })
    }

    fn take(&mut self, kind: K, len: usize, row: Option<&'static Enumerant>) {
        (self.found)(Found {
            kind,
            at: self.at,
            len,
            row,
        });
        self.at += len;
    }

    #[inline]
    fn operand(&mut self, kind: K) -> Result<(), Malformed> {
        let word = self.peek(kind)?;
        match kind.category() {
            Category::Id => {
                self.take(kind, 1, None);
                Ok(())
            }
            Category::ValueEnum => {
                let row = super::enumerant(kind, word).ok_or(Malformed::Enumerant {
                    kind,
                    at: self.at,
                    value: word,
                })?;
                self.take(kind, 1, Some(row));
                self.parameters(row)
            }
            Category::BitEnum => {
                let mut unseen = word;
                while unseen != 0 {
                    let bit = 1 << unseen.trailing_zeros();
                    if super::enumerant(kind, bit).is_none() {
                        return Err(Malformed::Enumerant {
                            kind,
                            at: self.at,
                            value: bit,
                        });
                    }
                    unseen &= !bit;
                }
                self.take(kind, 1, None);
                let mut unseen = word;
                while unseen != 0 {
                    let bit = 1 << unseen.trailing_zeros();
                    if let Some(row) = super::enumerant(kind, bit) {
                        self.parameters(row)?;
                    }
                    unseen &= !bit;
                }
                Ok(())
            }
            Category::Composite => match kind {
                K::PairLiteralIntegerIdRef => {
                    let selector = self.words.get(1).copied().unwrap_or(0);
                    let len = self
                        .context
                        .selector_words(selector)
                        .ok_or(Malformed::NoWidth { at: self.at })?;
                    self.number(len)?;
                    self.operand(K::IdRef)
                }
                K::PairIdRefLiteralInteger => {
                    self.operand(K::IdRef)?;
                    self.operand(K::LiteralInteger)
                }
                _ => {
                    self.operand(K::IdRef)?;
                    self.operand(K::IdRef)
                }
            },
            Category::Literal => self.literal(kind, word),
        }
    }

    fn parameters(&mut self, row: &'static Enumerant) -> Result<(), Malformed> {
        if row.parameters.is_empty() {
            return Ok(());
        }
        // The grammar nests one level: no parameter of a parameter has parameters.
        self.list(row.parameters)
    }

    fn number(&mut self, len: usize) -> Result<(), Malformed> {
        if self.words.len() - self.at < len {
            return Err(Malformed::Missing {
                kind: K::LiteralContextDependentNumber,
            });
        }
        self.take(K::LiteralContextDependentNumber, len, None);
        Ok(())
    }

    fn literal(&mut self, kind: K, word: u32) -> Result<(), Malformed> {
        match kind {
            K::LiteralString => {
                let rest = self.words.get(self.at..).unwrap_or_default();
                let len = string_words(rest).ok_or(Malformed::Unterminated { at: self.at })?;
                self.take(kind, len, None);
                Ok(())
            }
            K::LiteralContextDependentNumber => {
                let type_id = self.words.get(1).copied().unwrap_or(0);
                let len = self
                    .context
                    .literal_words(type_id)
                    .ok_or(Malformed::NoWidth { at: self.at })?;
                self.number(len)
            }
            K::LiteralExtInstInteger => {
                let set = self.words.get(OP_EXT_INST_SET).copied().unwrap_or(0);
                let set = self.context.ext_set(set);
                self.take(kind, 1, None);
                match set {
                    Set::NotImported => Err(Malformed::NotImported),
                    Set::Ids => self.ids(),
                    Set::Known {
                        set,
                        ids_if_unknown,
                    } => match set.instruction(word) {
                        Some(row) => {
                            self.list(row.operands)?;
                            if self.at < self.words.len() {
                                return Err(Malformed::Extra { at: self.at });
                            }
                            Ok(())
                        }
                        None if ids_if_unknown => self.ids(),
                        None => Err(Malformed::ExtInst { number: word }),
                    },
                }
            }
            K::LiteralSpecConstantOpInteger => {
                let row = u16::try_from(word)
                    .ok()
                    .and_then(super::instruction)
                    .filter(|row| row.has_type && row.has_result)
                    .filter(|row| row.opcode != 52)
                    .ok_or(Malformed::SpecOp { opcode: word })?;
                self.take(kind, 1, None);
                self.list(row.operands.get(2..).unwrap_or_default())
            }
            _ => {
                self.take(kind, 1, None);
                Ok(())
            }
        }
    }

    fn ids(&mut self) -> Result<(), Malformed> {
        while self.at < self.words.len() {
            self.operand(K::IdRef)?;
        }
        Ok(())
    }
}

/// The number of words of the string that begins here, or `None` if its NUL is missing.
pub fn string_words(words: &[u32]) -> Option<usize> {
    words
        .iter()
        .position(|w| w.to_le_bytes().contains(&0))
        .map(|at| at + 1)
}

/// The bytes of the string that begins here, up to its NUL or the end of the words.
pub fn string_bytes(words: &[u32]) -> impl Iterator<Item = u8> + '_ {
    words
        .iter()
        .flat_map(|w| w.to_le_bytes())
        .take_while(|b| *b != 0)
}
