//! The SPIR-V grammar as tables: opcodes, enumerants, extended instructions.
//!
//! The rows are generated from Khronos's machine-readable grammar by
//! `scripts/gen-spirv-tables.py`; a test regenerates and compares them. Every look-up is an
//! index: the number is split into a page and a slot, so nothing is searched or hashed.
//!
//! Versions are minor versions of SPIR-V 1: `3` is SPIR-V 1.3. [`RESERVED`] marks what no core
//! version has, and [`NEWEST`] what no version has removed.
#![forbid(unsafe_code)]

#[rustfmt::skip]
mod generated;
pub mod decode;

use generated::{enumerants, extinst, instructions, kinds};
pub use kinds::OperandKind;

/// A [`min_version`](Instruction::min_version) that no core version satisfies: an extension is
/// needed.
pub const RESERVED: u8 = 0xFF;
/// A [`last_version`](Instruction::last_version) that every version satisfies.
pub const NEWEST: u8 = 0xFE;

/// The [`ids`](Instruction::ids) of an instruction that needs something else than ids.
pub const NOT_IDS: u8 = 0xFF;

/// Slot value of an index that names no row.
pub(crate) const NO_ROW: u16 = 0xFFFF;
const PAGE: usize = 64;

/// What a word of an operand kind holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Category {
    /// A mask whose bits are enumerants; parameters follow in the order of the bits.
    BitEnum,
    /// One enumerant, followed by its parameters.
    ValueEnum,
    /// An id.
    Id,
    /// A literal number or string.
    Literal,
    /// A pair of other kinds.
    Composite,
}

impl OperandKind {
    /// What a word of this kind holds.
    #[inline]
    pub const fn category(self) -> Category {
        // Every kind has its entry.
        kinds::CATEGORIES[self as usize]
    }

    /// Whether an operand of this kind is one word, beside what an enumerant brings with it.
    #[inline]
    pub(crate) const fn is_one_word(self) -> bool {
        match self.category() {
            Category::Id | Category::BitEnum | Category::ValueEnum => true,
            Category::Literal => matches!(self, OperandKind::LiteralInteger),
            Category::Composite => false,
        }
    }
}

/// How often an operand occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantifier {
    /// Exactly once.
    One,
    /// Once or not at all; the grammar's `?`.
    Optional,
    /// Any number of times; the grammar's `*`.
    Any,
}

/// One operand of an instruction, or one parameter of an enumerant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Operand {
    /// What it holds.
    pub kind: OperandKind,
    /// How often it occurs.
    pub quantifier: Quantifier,
}

/// A row of the opcode table (SPIR-V §3.49).
#[derive(Debug)]
pub struct Instruction {
    /// The full name, `OpIAdd`.
    pub name: &'static str,
    /// The opcode.
    pub opcode: u16,
    /// The operands, result type and result id among them.
    pub operands: &'static [Operand],
    /// Capabilities, as rows of [`capabilities`]; any one of them enables the instruction.
    pub capabilities: &'static [u16],
    /// Extensions, as indices for [`extension_name`]; any one of them provides the instruction.
    pub extensions: &'static [u16],
    /// The first minor version that has it, or [`RESERVED`].
    pub min_version: u8,
    /// The last minor version that has it, or [`NEWEST`].
    pub last_version: u8,
    /// Whether its first operand is a result type.
    pub has_type: bool,
    /// Whether it has a result id.
    pub has_result: bool,
    /// How many ids it takes, one after the other, where what may follow is optional;
    /// [`NOT_IDS`] of all others.
    pub ids: u8,
    /// Whether any number of ids may follow those.
    pub more_ids: bool,
}

/// A row of an enumeration (SPIR-V §3.2 to §3.48).
#[derive(Debug)]
pub struct Enumerant {
    /// The name, as the grammar spells it.
    pub name: &'static str,
    /// The value; one bit in a mask.
    pub value: u32,
    /// What follows the word in the instruction.
    pub parameters: &'static [Operand],
    /// Capabilities, as rows of [`capabilities`]; any one of them enables it. Of a capability:
    /// those that it declares implicitly.
    pub capabilities: &'static [u16],
    /// Extensions, as indices for [`extension_name`].
    pub extensions: &'static [u16],
    /// The first minor version that has it, or [`RESERVED`].
    pub min_version: u8,
    /// The last minor version that has it, or [`NEWEST`].
    pub last_version: u8,
}

/// A row of an extended instruction set.
#[derive(Debug)]
pub struct ExtInst {
    /// The name, `FClamp`.
    pub name: &'static str,
    /// The number within the set.
    pub number: u16,
    /// The operands after the number.
    pub operands: &'static [Operand],
    /// Capabilities, as rows of [`capabilities`]; any one of them enables it.
    pub capabilities: &'static [u16],
}

/// An extended instruction set that the tables know.
#[derive(Debug)]
pub struct ExtSet {
    name: &'static str,
    rows: &'static [ExtInst],
    index: Index,
}

impl ExtSet {
    /// The set's name as `OpExtInstImport` writes it; a name ending in `.` is followed by a
    /// version number there.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The instruction of this number, or `None` if the set has none.
    pub fn instruction(&self, number: u32) -> Option<&'static ExtInst> {
        self.rows.get(self.index.row(number)?)
    }
}

/// A two-level index from numbers to rows.
#[derive(Debug)]
pub(crate) struct Index {
    pages: &'static [u8],
    slots: &'static [[u16; PAGE]],
    /// Values of 65536 and more, of which one enumeration has a handful; sorted.
    far: &'static [(u32, u16)],
}

impl Index {
    const fn new(
        pages: &'static [u8],
        slots: &'static [[u16; PAGE]],
        far: &'static [(u32, u16)],
    ) -> Index {
        Index { pages, slots, far }
    }

    #[inline]
    fn row(&self, value: u32) -> Option<usize> {
        let value = value as usize;
        let Some(&page) = self.pages.get(value / PAGE) else {
            return self.far_row(value);
        };
        match *self.slots.get(usize::from(page))?.get(value % PAGE)? {
            NO_ROW => None,
            row => Some(usize::from(row)),
        }
    }

    #[cold]
    fn far_row(&self, value: usize) -> Option<usize> {
        let value = u32::try_from(value).ok()?;
        let at = self.far.binary_search_by_key(&value, |f| f.0).ok()?;
        self.far.get(at).map(|f| usize::from(f.1))
    }
}

#[derive(Debug)]
pub(crate) struct Enumeration {
    rows: &'static [Enumerant],
    index: Index,
}

/// The row of an opcode, or `None` if the grammar has none.
///
/// ```
/// use kernite::spirv::tables;
/// let row = tables::instruction(128).unwrap();
/// assert_eq!(row.name, "OpIAdd");
/// assert!(row.has_type && row.has_result);
/// assert!(tables::instruction(0xFFFF).is_none());
/// ```
#[inline]
pub fn instruction(opcode: u16) -> Option<&'static Instruction> {
    instructions::INSTRUCTIONS.get(instruction_index(opcode)?)
}

/// How many rows the opcode table has.
pub(crate) const INSTRUCTION_COUNT: usize = instructions::INSTRUCTIONS.len();

/// The rows of the opcode table, for tables beside it that are made when the crate is built.
pub(crate) const fn instruction_rows() -> &'static [Instruction; INSTRUCTION_COUNT] {
    &instructions::INSTRUCTIONS
}

/// The index of an opcode's row, for tables beside this one.
#[inline]
pub(crate) fn instruction_index(opcode: u16) -> Option<usize> {
    instructions::OPCODES.row(u32::from(opcode))
}

/// Every row of the opcode table, in the order of the opcodes.
pub fn instructions() -> &'static [Instruction] {
    &instructions::INSTRUCTIONS
}

/// The row of an enumerant: of a mask's kind, `value` is one bit.
///
/// `None` if the kind is no enumeration or has no such value. The zero of a mask has no row.
///
/// ```
/// use kernite::spirv::tables::{self, OperandKind};
/// assert_eq!(tables::enumerant(OperandKind::StorageClass, 12).unwrap().name, "StorageBuffer");
/// assert_eq!(tables::enumerant(OperandKind::MemorySemantics, 8).unwrap().name, "AcquireRelease");
/// assert!(tables::enumerant(OperandKind::MemorySemantics, 24).is_none());
/// ```
#[inline]
pub fn enumerant(kind: OperandKind, value: u32) -> Option<&'static Enumerant> {
    let set = enumerants::ENUMERATIONS.get(kind as usize)?.as_ref()?;
    let row = if kind.category() == Category::BitEnum {
        if !value.is_power_of_two() {
            return None;
        }
        set.index.row(value.trailing_zeros())?
    } else {
        set.index.row(value)?
    };
    set.rows.get(row)
}

/// Every row of an enumeration, in the order of the values; empty for other kinds.
pub fn enumerants(kind: OperandKind) -> &'static [Enumerant] {
    match enumerants::ENUMERATIONS.get(kind as usize) {
        Some(Some(set)) => set.rows,
        _ => &[],
    }
}

/// Every capability, in the order of the values.
pub fn capabilities() -> &'static [Enumerant] {
    enumerants::CAPABILITY_ROWS
}

/// The row number of a capability in [`capabilities`], which is how rows name capabilities.
#[inline]
pub fn capability_row(capability: u32) -> Option<u16> {
    let set = enumerants::ENUMERATIONS
        .get(OperandKind::Capability as usize)?
        .as_ref()?;
    set.index
        .row(capability)
        .and_then(|row| u16::try_from(row).ok())
}

/// The name of an extension from its index in a row.
pub fn extension_name(index: u16) -> Option<&'static str> {
    kinds::EXTENSIONS.get(usize::from(index)).copied()
}

/// The index of an extension by its name, or `None` if no row of the grammar names it.
pub fn extension_index(name: &str) -> Option<u16> {
    let at = kinds::EXTENSIONS.binary_search(&name).ok()?;
    u16::try_from(at).ok()
}

/// The number of extensions that rows name.
pub fn extension_count() -> usize {
    kinds::EXTENSIONS.len()
}

/// The extended instruction set of this import name, or `None` if the tables do not know it.
pub fn ext_set(name: &str) -> Option<&'static ExtSet> {
    extinst::EXT_SETS
        .iter()
        .find(|set| match set.name.strip_suffix('.') {
            Some(_) => name
                .strip_prefix(set.name)
                .is_some_and(|v| !v.is_empty() && v.bytes().all(|b| b.is_ascii_digit())),
            None => set.name == name,
        })
}

const fn one(kind: OperandKind) -> Operand {
    Operand {
        kind,
        quantifier: Quantifier::One,
    }
}

const fn opt(kind: OperandKind) -> Operand {
    Operand {
        kind,
        quantifier: Quantifier::Optional,
    }
}

const fn any(kind: OperandKind) -> Operand {
    Operand {
        kind,
        quantifier: Quantifier::Any,
    }
}

const fn inst(
    name: &'static str,
    opcode: u16,
    operands: &'static [Operand],
    capabilities: &'static [u16],
    extensions: &'static [u16],
    min_version: u8,
    last_version: u8,
) -> Instruction {
    let mut has_type = false;
    let mut has_result = false;
    let mut ids = 0;
    let mut more_ids = false;
    let mut at = 0;
    while at < operands.len() {
        let Operand { kind, quantifier } = operands[at];
        match kind {
            OperandKind::IdResultType => has_type = true,
            OperandKind::IdResult => has_result = true,
            _ => {}
        }
        let id = matches!(
            kind,
            OperandKind::IdResultType
                | OperandKind::IdResult
                | OperandKind::IdRef
                | OperandKind::IdScope
                | OperandKind::IdMemorySemantics
        );
        match quantifier {
            Quantifier::One if id && ids != NOT_IDS => ids += 1,
            Quantifier::One => ids = NOT_IDS,
            Quantifier::Optional => {}
            // The last operand, and the only one beside the ids.
            Quantifier::Any => more_ids = id && ids as usize == at,
        }
        at += 1;
    }
    Instruction {
        name,
        opcode,
        operands,
        capabilities,
        extensions,
        min_version,
        last_version,
        has_type,
        has_result,
        ids,
        more_ids,
    }
}

const fn enumerant_row(
    name: &'static str,
    value: u32,
    parameters: &'static [Operand],
    capabilities: &'static [u16],
    extensions: &'static [u16],
    min_version: u8,
    last_version: u8,
) -> Enumerant {
    Enumerant {
        name,
        value,
        parameters,
        capabilities,
        extensions,
        min_version,
        last_version,
    }
}

const fn ext_inst(
    name: &'static str,
    number: u16,
    operands: &'static [Operand],
    capabilities: &'static [u16],
) -> ExtInst {
    ExtInst {
        name,
        number,
        operands,
        capabilities,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_opcode_is_found_and_no_other() {
        let mut known = 0;
        for opcode in 0..=u16::MAX {
            if let Some(row) = instruction(opcode) {
                assert_eq!(row.opcode, opcode);
                assert!(row.name.starts_with("Op"), "{}", row.name);
                known += 1;
            }
        }
        assert_eq!(known, instructions().len());
    }

    #[test]
    fn every_enumerant_is_found() {
        for kind in [
            OperandKind::Capability,
            OperandKind::Decoration,
            OperandKind::BuiltIn,
            OperandKind::ComponentType,
            OperandKind::MemorySemantics,
        ] {
            assert!(!enumerants(kind).is_empty());
            for row in enumerants(kind) {
                if kind.category() == Category::BitEnum && row.value == 0 {
                    continue;
                }
                let found = enumerant(kind, row.value).map(|r| r.name);
                assert_eq!(found, Some(row.name));
            }
        }
        assert!(enumerant(OperandKind::ComponentType, u32::MAX).is_none());
        assert!(enumerant(OperandKind::IdRef, 0).is_none());
    }

    #[test]
    fn names_lead_back_to_rows() {
        for i in 0..extension_count() {
            let i = u16::try_from(i).unwrap_or(NO_ROW);
            let name = extension_name(i).unwrap_or_default();
            assert_eq!(extension_index(name), Some(i));
        }
        for (i, row) in capabilities().iter().enumerate() {
            assert_eq!(capability_row(row.value).map(usize::from), Some(i));
        }
        let glsl = ext_set("GLSL.std.450").map(|s| s.instruction(79).map(|i| i.name));
        assert_eq!(glsl, Some(Some("NMin")));
        assert!(ext_set("NonSemantic.ClspvReflection.5").is_some());
        assert!(ext_set("NonSemantic.ClspvReflection.").is_none());
        assert!(ext_set("NonSemantic.ClspvReflection.x").is_none());
    }
}
