//! The disassembler: a module in SPIR-V's usual textual form.
//!
//! [`disassemble`] writes what `spirv-dis --raw-id` writes, so that `spirv-as` reads it back.
//! It never fails: what does not fit the grammar is written as a comment with its words, and
//! the rest goes on after it. [`Printed`] is one instruction on one line, as errors show it.
#![forbid(unsafe_code)]

mod float;

use crate::spirv::tables::decode::{self, Context, Found, Set};
use crate::spirv::tables::{self, Category, OperandKind as K};
use std::collections::HashMap;
use std::fmt::{self, Write};

const MAGIC: u32 = 0x0723_0203;
const HEADER_WORDS: usize = 5;
const INDENT: usize = 15;

const OP_EXT_INST_IMPORT: u16 = 11;
const OP_TYPE_INT: u16 = 21;
const OP_TYPE_FLOAT: u16 = 22;
const OP_SWITCH: u16 = 251;

/// A numeric type, as far as printing a literal needs it.
#[derive(Clone, Copy)]
enum Number {
    Unsigned(u32),
    Signed(u32),
    Float(u32),
    /// A 16-bit float of another encoding than IEEE's, printed by its bits.
    Bits(u32),
}

impl Number {
    fn width(self) -> u32 {
        match self {
            Number::Unsigned(w) | Number::Signed(w) | Number::Float(w) | Number::Bits(w) => w,
        }
    }

    fn words(self) -> usize {
        if self.width() > 32 { 2 } else { 1 }
    }
}

/// What the instructions so far have said about ids.
#[derive(Default)]
struct Ids {
    numbers: HashMap<u32, Number>,
    types: HashMap<u32, u32>,
    sets: HashMap<u32, Set>,
}

impl Ids {
    fn note(&mut self, words: &[u32], row: &tables::Instruction) {
        let word = |i: usize| words.get(i).copied().unwrap_or(0);
        match row.opcode {
            OP_TYPE_INT => {
                let width = word(2);
                let number = if word(3) == 0 {
                    Number::Unsigned(width)
                } else {
                    Number::Signed(width)
                };
                self.numbers.insert(word(1), number);
            }
            OP_TYPE_FLOAT => {
                let number = if words.len() > 3 {
                    Number::Bits(word(2))
                } else {
                    Number::Float(word(2))
                };
                self.numbers.insert(word(1), number);
            }
            OP_EXT_INST_IMPORT => {
                let name: Vec<u8> =
                    decode::string_bytes(words.get(2..).unwrap_or_default()).collect();
                let name = String::from_utf8_lossy(&name);
                let set = match tables::ext_set(&name) {
                    Some(set) => Set::Known {
                        set,
                        ids_if_unknown: name.starts_with("NonSemantic."),
                    },
                    None => Set::Ids,
                };
                self.sets.insert(word(1), set);
            }
            _ => {}
        }
        if row.has_type && row.has_result {
            self.types.insert(word(2), word(1));
        }
    }

    fn selector(&self, id: u32) -> Option<Number> {
        self.numbers.get(self.types.get(&id)?).copied()
    }
}

impl Context for Ids {
    fn literal_words(&self, type_id: u32) -> Option<usize> {
        self.numbers.get(&type_id).map(|n| n.words())
    }

    fn selector_words(&self, selector: u32) -> Option<usize> {
        self.selector(selector).map(Number::words)
    }

    fn ext_set(&self, id: u32) -> Set {
        self.sets.get(&id).copied().unwrap_or(Set::NotImported)
    }
}

/// Answers for one instruction alone: a literal takes what words are left, an extended
/// instruction takes ids.
struct Alone {
    words: usize,
}

impl Context for Alone {
    fn literal_words(&self, _: u32) -> Option<usize> {
        Some(self.words.saturating_sub(3).max(1))
    }

    fn selector_words(&self, _: u32) -> Option<usize> {
        // Literal and label pairs: with three words a pair where two do not divide the rest.
        let rest = self.words.saturating_sub(3);
        Some(if rest.is_multiple_of(2) { 1 } else { 2 })
    }

    fn ext_set(&self, _: u32) -> Set {
        Set::Ids
    }
}

/// A whole module in textual form, header and all.
///
/// Never fails and never panics. Words that are no instruction of the grammar become comment
/// lines (`; word 12: …`), and a module of the other byte order or without the magic number is
/// a comment alone. Ids keep their numbers.
///
/// ```
/// let text = kernite::spirv::disassemble(&[0x0723_0203, 0x0001_0300, 0, 1, 0, 0x0002_0011, 1]);
/// assert!(text.ends_with("               OpCapability Shader\n"));
/// assert!(kernite::spirv::disassemble(&[]).starts_with("; not SPIR-V"));
/// ```
pub fn disassemble(words: &[u32]) -> String {
    let mut out = String::new();
    // Writing to a String does not fail.
    let _ = module(words, &mut out);
    out
}

fn module(words: &[u32], out: &mut String) -> fmt::Result {
    let [magic, version, generator, bound, schema, body @ ..] = words else {
        return writeln!(out, "; not SPIR-V: {} words, no header", words.len());
    };
    if *magic != MAGIC {
        return writeln!(out, "; not SPIR-V: magic number {magic:#010x}");
    }
    writeln!(out, "; SPIR-V")?;
    writeln!(
        out,
        "; Version: {}.{}",
        version >> 16 & 0xFF,
        version >> 8 & 0xFF
    )?;
    writeln!(
        out,
        "; Generator: {}; {}",
        generator >> 16,
        generator & 0xFFFF
    )?;
    writeln!(out, "; Bound: {bound}")?;
    writeln!(out, "; Schema: {schema}")?;

    let mut ids = Ids::default();
    let mut at = 0;
    while let Some(rest) = body.get(at..).filter(|r| !r.is_empty()) {
        let place = at + HEADER_WORDS;
        let first = rest.first().copied().unwrap_or(0);
        let count = (first >> 16) as usize;
        let Some(words) = rest.get(..count).filter(|w| !w.is_empty()) else {
            return writeln!(
                out,
                "; word {place}: word count {count}, {} words left",
                rest.len()
            );
        };
        let start = out.len();
        match tables::instruction((first & 0xFFFF) as u16) {
            Some(row) => {
                if line(words, row, &ids, INDENT, out).is_err() {
                    out.truncate(start);
                    write!(out, "; word {place}: malformed {}", row.name)?;
                    raw(words, out)?;
                } else {
                    ids.note(words, row);
                }
            }
            None => {
                write!(out, "; word {place}: unknown opcode {}", first & 0xFFFF)?;
                raw(words, out)?;
            }
        }
        out.push('\n');
        at += count;
    }
    Ok(())
}

fn raw(words: &[u32], out: &mut impl Write) -> fmt::Result {
    words.iter().try_for_each(|w| write!(out, " {w:#010x}"))
}

/// One instruction, without knowledge of the rest of its module, as one line.
///
/// `Display` never fails on malformed words: those are written as numbers after the name. A
/// constant whose type is not at hand is written as an unsigned number.
///
/// ```
/// use kernite::spirv::Printed;
/// assert_eq!(Printed::new(&[0x0005_0080, 2, 9, 7, 8]).to_string(), "%9 = OpIAdd %2 %7 %8");
/// assert_eq!(Printed::new(&[0x0003_0080, 2, 9]).to_string(), "OpIAdd 0x00000002 0x00000009");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Printed<'a> {
    words: &'a [u32],
}

impl<'a> Printed<'a> {
    /// The instruction that these words are, its first word included.
    pub fn new(words: &'a [u32]) -> Printed<'a> {
        Printed { words }
    }
}

impl fmt::Display for Printed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((&first, rest)) = self.words.split_first() else {
            return f.write_str("nothing");
        };
        let opcode = (first & 0xFFFF) as u16;
        let Some(row) = tables::instruction(opcode) else {
            write!(f, "opcode {opcode}")?;
            return raw(rest, f);
        };
        let alone = Alone {
            words: self.words.len(),
        };
        // Checked first, since text once written cannot be taken back.
        if decode::operands(self.words, row, &alone, |_| ()).is_err() {
            f.write_str(row.name)?;
            return raw(rest, f);
        }
        line(self.words, row, &alone, 0, f)
    }
}

/// What printing asks beyond the splitting: the types of literals, the names of instructions.
trait Names: Context {
    fn literal(&self, words: &[u32]) -> Option<Number>;
}

impl Names for Ids {
    fn literal(&self, words: &[u32]) -> Option<Number> {
        let id = words.get(1)?;
        if words.first()? & 0xFFFF == u32::from(OP_SWITCH) {
            self.selector(*id)
        } else {
            self.numbers.get(id).copied()
        }
    }
}

impl Names for Alone {
    fn literal(&self, _: &[u32]) -> Option<Number> {
        None
    }
}

fn line(
    words: &[u32],
    row: &'static tables::Instruction,
    names: &impl Names,
    indent: usize,
    out: &mut impl Write,
) -> fmt::Result {
    if row.has_result {
        let at = if row.has_type { 2 } else { 1 };
        let id = words.get(at).copied().ok_or(fmt::Error)?;
        let digits = id.checked_ilog10().unwrap_or(0) as usize + 1;
        // Right-aligned, so that the equals signs stand below each other.
        let pad = indent.saturating_sub(digits + 4);
        write!(out, "{:pad$}%{id} = ", "")?;
    } else {
        write!(out, "{:indent$}", "")?;
    }
    out.write_str(row.name)?;
    let mut result = Ok(());
    let walked = decode::operands(words, row, names, |found| {
        if result.is_ok() && found.kind != K::IdResult {
            result = operand(words, found, names, out);
        }
    });
    walked.map_err(|_| fmt::Error)?;
    result
}

fn operand(words: &[u32], found: Found, names: &impl Names, out: &mut impl Write) -> fmt::Result {
    let word = words.get(found.at).copied().unwrap_or(0);
    out.write_char(' ')?;
    match found.kind.category() {
        Category::Id => write!(out, "%{word}"),
        Category::ValueEnum => match found.row {
            Some(row) => out.write_str(row.name),
            None => write!(out, "{word}"),
        },
        Category::BitEnum => mask(found.kind, word, out),
        Category::Literal | Category::Composite => match found.kind {
            K::LiteralString => string(words.get(found.at..).unwrap_or_default(), out),
            K::LiteralFloat => float::write_f32(word, out),
            K::LiteralContextDependentNumber => number(words, found, names, out),
            K::LiteralSpecConstantOpInteger => {
                let row = u16::try_from(word).ok().and_then(tables::instruction);
                match row.and_then(|r| r.name.strip_prefix("Op")) {
                    Some(name) => out.write_str(name),
                    None => write!(out, "{word}"),
                }
            }
            K::LiteralExtInstInteger => {
                let set = names.ext_set(words.get(3).copied().unwrap_or(0));
                let row = match set {
                    Set::Known { set, .. } => set.instruction(word),
                    Set::Ids | Set::NotImported => None,
                };
                match row {
                    Some(row) => out.write_str(row.name),
                    None => write!(out, "{word}"),
                }
            }
            _ => write!(out, "{word}"),
        },
    }
}

fn mask(kind: K, word: u32, out: &mut impl Write) -> fmt::Result {
    if word == 0 {
        let zero = tables::enumerants(kind).first().filter(|r| r.value == 0);
        return out.write_str(zero.map_or("None", |r| r.name));
    }
    let mut unseen = word;
    while unseen != 0 {
        let bit = 1 << unseen.trailing_zeros();
        if unseen != word {
            out.write_char('|')?;
        }
        match tables::enumerant(kind, bit) {
            Some(row) => out.write_str(row.name)?,
            None => write!(out, "{bit:#x}")?,
        }
        unseen &= !bit;
    }
    Ok(())
}

fn string(words: &[u32], out: &mut impl Write) -> fmt::Result {
    let bytes: Vec<u8> = decode::string_bytes(words).collect();
    out.write_char('"')?;
    for c in String::from_utf8_lossy(&bytes).chars() {
        if c == '"' || c == '\\' {
            out.write_char('\\')?;
        }
        out.write_char(c)?;
    }
    out.write_char('"')
}

fn number(words: &[u32], found: Found, names: &impl Names, out: &mut impl Write) -> fmt::Result {
    let low = words.get(found.at).copied().unwrap_or(0);
    let high = if found.len > 1 {
        words.get(found.at + 1).copied().unwrap_or(0)
    } else {
        0
    };
    let bits = u64::from(high) << 32 | u64::from(low);
    match names.literal(words) {
        Some(Number::Signed(width)) if width > 32 => write!(out, "{}", bits.cast_signed()),
        Some(Number::Signed(_)) => write!(out, "{}", low.cast_signed()),
        Some(Number::Float(16)) => float::write_f16(low, out),
        Some(Number::Float(32)) => float::write_f32(low, out),
        Some(Number::Float(64)) => float::write_f64(bits, out),
        Some(Number::Bits(16)) => float::write_bf16(low, out),
        _ => write!(out, "{bits}"),
    }
}

#[cfg(test)]
mod tests;
