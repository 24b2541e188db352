//! The first pass: words to instructions, operands by the grammar, ids, order, declarations.
//!
//! It fills a [`Module`]; what needs the whole module comes after it.

use super::Environment;
use super::coverage;
use super::error::{Note, Sink, Unsupported};
use super::ops::{self, Row, is, section};
use super::rules::Rule;
use super::state::{
    Block, Decor, Def, EntryPoint, Function, Idx, Import, ImportKind, Kind, Module, WHOLE, flag,
};
use crate::spirv::tables::decode::{self, Context, Found, Malformed, Set};
use crate::spirv::tables::{self, Category, Enumerant, NEWEST, OperandKind as K, RESERVED};
use spirv::{BuiltIn, Capability, Decoration, Op};

mod ids;
mod order;
mod quick;
mod register;

impl Context for Module {
    fn literal_words(&self, type_id: u32) -> Option<usize> {
        let ty = self.ty(self.ids.get(type_id));
        match ty.kind {
            Kind::Int | Kind::Float | Kind::OddFloat => Some(if ty.width > 32 { 2 } else { 1 }),
            _ => None,
        }
    }

    fn selector_words(&self, selector: u32) -> Option<usize> {
        let ty = self.ty(self.type_of(self.ids.get(selector)));
        match ty.kind {
            Kind::Int => Some(if ty.width > 32 { 2 } else { 1 }),
            _ => None,
        }
    }

    fn ext_set(&self, id: u32) -> Set {
        self.import(self.ids.get(id))
            .map_or(Set::NotImported, |i| i.set)
    }
}

pub(super) struct Decoder<'a> {
    pub(super) words: &'a [u32],
    pub(super) m: &'a mut Module,
    pub(super) out: &'a mut Sink,
    pub(super) found: &'a mut Vec<Found>,
    pub(super) environment: Environment,
    section: u8,
    /// The open function, counted from 1; 0 outside.
    func: u32,
    /// The open block, counted from 1; 0 outside.
    block: u32,
    foreign_extension: bool,
    /// The last decoration that turned out to be allowed with so many numbers.
    decoration: Option<(u32, usize)>,
    /// The last storage class that turned out to be allowed.
    class: Option<u32>,
}

/// One instruction of the pass.
#[derive(Clone, Copy)]
struct Inst<'a> {
    at: u32,
    op: Op,
    row: &'static Row,
    words: &'a [u32],
}

impl Inst<'_> {
    fn name(&self) -> &'static str {
        self.row.grammar.name
    }

    fn word(&self, i: usize) -> u32 {
        self.words.get(i).copied().unwrap_or(0)
    }
}

impl<'a> Decoder<'a> {
    pub(super) fn new(
        words: &'a [u32],
        m: &'a mut Module,
        out: &'a mut Sink,
        found: &'a mut Vec<Found>,
        environment: Environment,
    ) -> Decoder<'a> {
        Decoder {
            words,
            m,
            out,
            found,
            environment,
            section: section::CAPABILITIES,
            func: 0,
            block: 0,
            foreign_extension: false,
            decoration: None,
            class: None,
        }
    }

    #[cold]
    fn fault(&mut self, rule: Rule, at: u32, note: Note) {
        self.out.fault(rule, at as usize, note, self.words);
    }

    #[cold]
    fn broken(&mut self, rule: Rule, at: u32, note: Note) {
        self.out.broken = true;
        self.fault(rule, at, note);
    }

    /// Runs the pass over every instruction.
    pub(super) fn run(&mut self) {
        self.extensions();
        let end = u32::try_from(self.words.len()).unwrap_or(u32::MAX);
        let mut at = 5u32;
        while at < end {
            let first = self.words.get(at as usize).copied().unwrap_or(0);
            let count = first >> 16;
            if count == 0 {
                self.broken(Rule::WordCount, at, Note::Value(0));
                return;
            }
            let next = u64::from(at) + u64::from(count);
            let Some(words) = self.words.get(at as usize..next as usize) else {
                let left = u64::from(end - at);
                self.broken(Rule::WordCount, at, Note::Limit(u64::from(count), left));
                return;
            };
            match ops::row((first & 0xFFFF) as u16) {
                Some(row) if self.quick(row, at, words) => {}
                row => self.instruction(at, words, row),
            }
            at += count;
        }
        self.finish(end);
    }

    /// Extensions are read first: capabilities, which stand before them, depend on them.
    fn extensions(&mut self) {
        let mut at = 5usize;
        while let Some(&first) = self.words.get(at) {
            let count = (first >> 16) as usize;
            let opcode = first & 0xFFFF;
            if count == 0 || (opcode != Op::Capability as u32 && opcode != Op::Extension as u32) {
                return;
            }
            if opcode == Op::Extension as u32 {
                let bytes = self.words.get(at + 1..at + count).unwrap_or_default();
                let mut name = [0u8; 64];
                if let Some(name) = short_string(bytes, &mut name) {
                    if let Some(index) = tables::extension_index(name) {
                        self.m.exts.insert(index);
                    }
                    if let Some(bit) = coverage::other_extension(name) {
                        self.m.other_exts |= bit;
                    }
                }
            }
            at += count;
        }
    }

    #[inline(never)]
    fn instruction(&mut self, at: u32, words: &'a [u32], row: Option<&'static Row>) {
        let opcode = (words.first().copied().unwrap_or(0) & 0xFFFF) as u16;
        let Some((row, op)) = row.and_then(|row| row.op().map(|op| (row, op))) else {
            return self.unknown_opcode(at, opcode);
        };
        let inst = Inst { at, op, row, words };
        // Most instructions are ids alone, which need no splitting.
        let grammar = row.grammar;
        let ids = usize::from(grammar.ids) + 1;
        let only_ids = words.len() == ids || grammar.more_ids && words.len() > ids;
        let flat = !only_ids && row.is_flat(words);
        if !only_ids && !flat {
            let found = &mut *self.found;
            found.clear();
            if let Err(why) = decode::operands(words, grammar, self.m, |f| found.push(f)) {
                return self.malformed(&inst, why);
            }
        }
        if row.is(is::COVERED) {
            self.layout(&inst);
        } else {
            self.uncovered_opcode(&inst);
        }
        if !row.is(is::FREE) {
            self.requirements(&inst);
        }
        let result = if only_ids {
            self.ids(&inst)
        } else if flat {
            self.flat(&inst)
        } else {
            self.operands(&inst)
        };
        if row.is(is::DECLARES) {
            self.register(&inst, result);
        }
        if !row.is(is::SETTLED) {
            self.m.pending.push(at);
        }
    }

    #[cold]
    fn uncovered_opcode(&mut self, inst: &Inst<'_>) {
        let what = Unsupported::named(inst.at as usize, "", inst.name());
        self.out.unsupported(what);
        // What a group decorates is not followed.
        self.out.foreign |= matches!(
            inst.op,
            Op::DecorationGroup | Op::GroupDecorate | Op::GroupMemberDecorate
        );
    }

    #[cold]
    fn unknown_opcode(&mut self, at: u32, opcode: u16) {
        if self.foreign_extension {
            // It may be the extension's.
            let what = Unsupported::number(at as usize, "opcode", u32::from(opcode));
            self.out.unsupported(what);
        } else {
            self.broken(Rule::Opcode, at, Note::Value(u32::from(opcode)));
        }
    }

    #[cold]
    fn malformed(&mut self, inst: &Inst<'_>, why: Malformed) {
        let (rule, note) = match why {
            Malformed::Missing { .. } => (Rule::OperandMissing, Note::Name(inst.name())),
            Malformed::Extra { at } => (Rule::OperandExtra, operand(at)),
            Malformed::Enumerant { value, .. } => {
                if self.foreign_extension {
                    let what = Unsupported::number(inst.at as usize, "enumerant", value);
                    return self.out.unsupported(what);
                }
                (Rule::Enumerant, Note::Value(value))
            }
            Malformed::Unterminated { at } => (Rule::StringEnd, operand(at)),
            Malformed::NoWidth { at } => (Rule::LiteralType, operand(at)),
            Malformed::NotImported => (Rule::ExtInstSet, Note::Id(inst.word(3))),
            Malformed::ExtInst { number } => (Rule::ExtInstNumber, Note::Value(number)),
            Malformed::SpecOp { opcode } => (Rule::SpecOp, Note::Value(opcode)),
        };
        self.broken(rule, inst.at, note);
        // What is defined is defined, or every use would be a fault of its own.
        let slot = if inst.row.grammar.has_type { 2 } else { 1 };
        if inst.row.grammar.has_result {
            let id = inst.word(slot);
            let idx = self.m.mention(id, inst.at);
            if let Some(def) = self.m.def_mut(idx).filter(|d| !d.is_defined()) {
                def.word = inst.at;
                self.m.undefined -= 1;
            }
        }
    }

    /// Whether an instruction's set is one that may stand outside of blocks for all that is
    /// known.
    fn is_foreign_set(&self, inst: &Inst<'_>) -> bool {
        self.m
            .import(self.m.ids.get(inst.word(3)))
            .is_some_and(|i| matches!(i.kind, ImportKind::Foreign))
    }

    fn is_non_semantic(&self, inst: &Inst<'_>) -> bool {
        matches!(inst.op, Op::ExtInst | Op::ExtInstWithForwardRefsKHR)
            && self
                .m
                .import(self.m.ids.get(inst.word(3)))
                .is_some_and(|i| matches!(i.kind, ImportKind::NonSemantic | ImportKind::DebugInfo))
    }

    fn current(&self) -> Option<&Function> {
        self.m.functions.get((self.func as usize).checked_sub(1)?)
    }

    /// Capabilities, extensions and versions of the opcode itself.
    fn requirements(&mut self, inst: &Inst<'_>) {
        let row = inst.row.grammar;
        if !self.m.caps.any(row.capabilities) {
            self.fault(
                Rule::Capability,
                inst.at,
                Note::Capabilities(row.capabilities),
            );
        }
        if row.last_version != NEWEST && row.last_version < self.m.version {
            self.fault(
                Rule::VersionRemoved,
                inst.at,
                Note::Version(row.last_version),
            );
        }
        if !row.capabilities.is_empty() {
            return;
        }
        if row.min_version == RESERVED || row.min_version > self.m.version {
            if row.extensions.is_empty() {
                self.fault(Rule::VersionNeeded, inst.at, Note::Version(row.min_version));
            } else if !self.has_extension(row.extensions) {
                self.fault(Rule::Extension, inst.at, Note::Extensions(row.extensions));
            }
        }
    }

    fn has_extension(&self, rows: &[u16]) -> bool {
        rows.is_empty() || rows.iter().any(|&row| self.m.exts.contains(row))
    }

    /// Capabilities, extensions and versions of an enumerant.
    #[inline]
    fn enumerant(&mut self, inst: &Inst<'_>, kind: K, row: &'static Enumerant) {
        if !coverage::enumerant(kind, row.value) {
            self.uncovered(inst, kind, row);
        }
        if row.capabilities.is_empty() && row.extensions.is_empty() && row.min_version == 0 {
            return;
        }
        let free = match kind {
            // Its own place: what a capability lists, it declares.
            K::Capability => true,
            K::BuiltIn => matches!(row.value, 1 | 3 | 4),
            // Where 16-bit storage is declared, so are the modes of rounding to it.
            K::FPRoundingMode => rounds_to_storage(self.m),
            K::Decoration if row.value == Decoration::FPRoundingMode as u32 => {
                rounds_to_storage(self.m)
            }
            _ => false,
        };
        if !free && !self.m.caps.any(row.capabilities) {
            self.fault(
                Rule::Capability,
                inst.at,
                Note::Capabilities(row.capabilities),
            );
        }
        if row.last_version != NEWEST && row.last_version < self.m.version {
            self.fault(
                Rule::VersionRemoved,
                inst.at,
                Note::Version(row.last_version),
            );
        } else if row.min_version == RESERVED || row.min_version > self.m.version {
            if row.min_version != RESERVED && row.extensions.is_empty() {
                self.fault(Rule::VersionNeeded, inst.at, Note::Version(row.min_version));
            } else if !self.has_extension(row.extensions) {
                self.fault(Rule::Extension, inst.at, Note::Extensions(row.extensions));
            }
        }
    }

    #[cold]
    fn uncovered(&mut self, inst: &Inst<'_>, kind: K, row: &'static Enumerant) {
        let what = match kind {
            K::Decoration => "decoration",
            K::BuiltIn => "built-in",
            K::ExecutionMode => "execution mode",
            K::ExecutionModel => "execution model",
            K::StorageClass => "storage class",
            K::AddressingModel => "addressing model",
            K::Dim => "dimension",
            _ => "enumerant",
        };
        // Another model, or a class of its variables, has other rules.
        self.out.foreign |= matches!(kind, K::ExecutionModel | K::StorageClass);
        self.out
            .unsupported(Unsupported::named(inst.at as usize, what, row.name));
    }

    /// The operands of an instruction whose words are one each, where a mask is zero. Returns
    /// the result.
    fn flat(&mut self, inst: &Inst<'a>) -> Idx {
        let mut result = 0;
        let operands = inst.row.grammar.operands.iter();
        for (i, (operand, &word)) in operands.zip(inst.words.iter().skip(1)).enumerate() {
            match operand.kind.category() {
                Category::Id => match operand.kind {
                    K::IdResult => result = self.define(inst, word),
                    K::IdResultType => self.result_type(inst, word),
                    _ => self.id(inst, i, word, false),
                },
                Category::ValueEnum => {
                    if let Some(row) = tables::enumerant(operand.kind, word) {
                        self.enumerant(inst, operand.kind, row);
                    }
                }
                Category::BitEnum | Category::Literal | Category::Composite => {}
            }
        }
        result
    }

    /// Every operand: enumerants, strings, and ids against what is defined. Returns the result.
    fn operands(&mut self, inst: &Inst<'a>) -> Idx {
        let mut result = 0;
        let non_semantic =
            self.is_non_semantic(inst) || inst.op == Op::ExtInst && self.is_foreign_set(inst);
        for i in 0..self.found.len() {
            let Some(&found) = self.found.get(i) else {
                break;
            };
            let word = inst.word(found.at);
            match found.kind.category() {
                Category::Id => match found.kind {
                    K::IdResult => result = self.define(inst, word),
                    K::IdResultType => self.result_type(inst, word),
                    _ => self.id(inst, i, word, non_semantic),
                },
                Category::ValueEnum => {
                    if let Some(row) = found.row {
                        self.enumerant(inst, found.kind, row);
                    }
                }
                Category::BitEnum => {
                    let mut unseen = word;
                    while unseen != 0 {
                        let bit = 1 << unseen.trailing_zeros();
                        if let Some(row) = tables::enumerant(found.kind, bit) {
                            self.enumerant(inst, found.kind, row);
                        }
                        unseen &= !bit;
                    }
                }
                Category::Literal | Category::Composite => {
                    if found.kind == K::LiteralString {
                        self.string(inst, &found);
                    }
                }
            }
        }
        result
    }

    fn string(&mut self, inst: &Inst<'_>, found: &Found) {
        let words = inst
            .words
            .get(found.at..found.at + found.len)
            .unwrap_or_default();
        let bytes: &[u8] = bytemuck::cast_slice(words);
        let Some(end) = bytes.iter().position(|b| *b == 0) else {
            return;
        };
        let (text, padding) = bytes.split_at(end);
        // On a big-endian machine the bytes of each word would be reversed.
        if cfg!(target_endian = "little") {
            if padding.iter().any(|b| *b != 0) {
                self.fault(Rule::StringPadding, inst.at, operand(found.at));
            }
            if std::str::from_utf8(text).is_err() {
                self.fault(Rule::StringUtf8, inst.at, operand(found.at));
            }
        }
    }
}

/// Whether 16-bit storage is declared, and so the modes of rounding to it.
fn rounds_to_storage(m: &Module) -> bool {
    m.has_cap(Capability::StorageBuffer16BitAccess)
        || m.has_cap(Capability::UniformAndStorageBuffer16BitAccess)
        || m.has_cap(Capability::StoragePushConstant16)
        || m.has_cap(Capability::StorageInputOutput16)
}

fn operand(at: usize) -> Note {
    Note::Operand(u32::try_from(at).unwrap_or(u32::MAX))
}

/// A string of at most 64 bytes as text.
fn short_string<'b>(words: &[u32], buffer: &'b mut [u8; 64]) -> Option<&'b str> {
    let mut len = 0;
    for byte in decode::string_bytes(words) {
        *buffer.get_mut(len)? = byte;
        len += 1;
    }
    std::str::from_utf8(buffer.get(..len)?).ok()
}
