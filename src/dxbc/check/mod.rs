//! Whether a container's parts agree with each other.
//!
//! The rules, in the order of the code:
//! - every part of a known kind decodes, and no known kind is there twice; `PRIV` is last
//! - `SFI0`, `HASH`, `PSV0` end where their fields do
//! - `RDAT` refers to strings and arrays that are there
//! - `PSV0` and `RDAT` come with a program
//! - programs state the part's size, hold bitcode, and have the same version as the main one
//! - a library has `RDAT` and none of `PSV0`, `ISG1`, `OSG1`, `PSG1`, `RTS0`; anything else has `SFI0`,
//!   `ISG1`, `OSG1`, `PSV0` and none of `RDAT`, `VERS`
//! - `HASH` without flags is the MD5 of the bitcode
//! - `PSV0` has the program's stage; registers that do not end before they begin; workgroup sizes
//!   where the stage has them and only there; names and index runs inside their tables; as many
//!   rows as the signatures have elements
//! - `RTS0` covers every resource of `PSV0`, for the shader's stage
//!
//! Containers without a `DXIL` or `ILDB` part (shader models 4 and 5, root signatures) have only
//! the first four. The bitcode itself is not read: whether it agrees with the parts is DXC's
//! validator's to say.
#![forbid(unsafe_code)]

mod coverage;

use super::{
    Digest, FourCc, RawPart, ReadErrorKind,
    part::{Part, Program, Psv, ShaderKind, Signature},
};
use core::fmt;

/// A fact that the parts of a container contradict.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Inconsistency {
    /// The part at fault.
    pub part: FourCc,
    /// Byte offset in the container; 0 where the part is missing.
    pub offset: u64,
    /// The field at fault.
    pub field: &'static str,
    /// What is wrong.
    pub kind: InconsistencyKind,
}

/// Kinds of [`Inconsistency`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InconsistencyKind {
    /// The part, or what it refers to, cannot be read.
    #[error("{0}")]
    Unreadable(ReadErrorKind),
    /// The shader needs a part that is not there.
    #[error("is missing")]
    Missing,
    /// A part that this kind of shader may not have.
    #[error("may not be in such a container")]
    Forbidden,
    /// A second part of one kind.
    #[error("is there twice")]
    Duplicate,
    /// `PRIV` is not the last part.
    #[error("is not the last part")]
    NotLast,
    /// Bytes after the known fields.
    #[error("has {0} bytes after its fields")]
    TrailingBytes(u64),
    /// The bitcode does not begin with its magic number.
    #[error("does not begin with 42 43 C0 DE")]
    NoBitcodeMagic,
    /// Two parts state one fact differently.
    #[error("is {found}, but {expected} by {source_of}")]
    Differs {
        /// What the part says.
        found: u64,
        /// What the other says.
        expected: u64,
        /// The other.
        source_of: &'static str,
    },
    /// The shader hash is not that of the bitcode.
    #[error("is {found}, but the bitcode's MD5 is {expected}")]
    HashDiffers {
        /// What the part says.
        found: Digest,
        /// The MD5.
        expected: Digest,
    },
    /// Registers that end before they begin.
    #[error("is {lower}, above the upper bound {upper}")]
    EmptyRange {
        /// The first.
        lower: u32,
        /// The last.
        upper: u32,
    },
    /// A resource record that says something else than the interface.
    #[error("{index} is not what {source_of} says")]
    Resource {
        /// Number of the record.
        index: u64,
        /// The other.
        source_of: &'static str,
    },
    /// Another entry function than the interface names.
    #[error("is not the interface's entry")]
    EntryName,
    /// A workgroup size that the stage may not have.
    #[error("is {0:?}, which the stage may not have")]
    WorkgroupSize([u32; 3]),
    /// The root signature gives no access to a resource.
    #[error("does not cover {letter}{register} in space {space}")]
    NotCovered {
        /// The register's letter.
        letter: char,
        /// The resource's first register.
        register: u32,
        /// Its space.
        space: u32,
    },
}

impl fmt::Display for Inconsistency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.offset != 0 {
            write!(f, "byte {:#x}, ", self.offset)?;
        }
        write!(f, "part {}, {} {}", self.part, self.field, self.kind)
    }
}

/// A part and what it decodes to.
type Decoded<'a> = (RawPart<'a>, Part<'a>);

/// Parts that a container commonly has at most: memory for them is there from the start.
const COMMON: usize = 12;

/// Collects what is found.
struct Checker<'p, 'a> {
    faults: Vec<Inconsistency>,
    parts: &'p [Decoded<'a>],
}

/// Checks the parts of a container, in its directory's order.
pub(crate) fn check(parts: &[RawPart]) -> Vec<Inconsistency> {
    let mut c = Checker {
        faults: Vec::new(),
        parts: &[],
    };
    let decoded = c.decode(parts);
    c.parts = &decoded;
    c.sizes();
    c.rdat();
    let program = [FourCc::DXIL, FourCc::ILDB]
        .into_iter()
        .find_map(|k| c.program(k));
    if let Some((main, program)) = program {
        c.programs(&main, program);
        // Debug files carry programs without the parts that a runtime needs.
        if main.kind == FourCc::DXIL {
            c.presence(parts, program);
            c.hash(program);
            c.psv(program);
        }
    } else {
        c.no_program(parts);
    }
    c.faults
}

impl<'p, 'a> Checker<'p, 'a> {
    fn fault(&mut self, part: &RawPart, at: u64, field: &'static str, kind: InconsistencyKind) {
        self.faults.push(Inconsistency {
            part: part.kind,
            offset: part.data_offset() + at,
            field,
            kind,
        });
    }

    fn decode(&mut self, parts: &[RawPart<'a>]) -> Vec<Decoded<'a>> {
        let mut decoded = Vec::with_capacity(parts.len().min(COMMON));
        // Known kinds are few, so looking through them is quick whatever the number of parts.
        let mut seen = Vec::with_capacity(COMMON);
        for (i, part) in parts.iter().enumerate() {
            if part.kind == FourCc::PRIV && i + 1 != parts.len() {
                self.fault(part, 0, "PartFourCC", InconsistencyKind::NotLast);
            }
            if part.kind.is_dxil_kind() {
                if seen.contains(&part.kind) {
                    self.fault(part, 0, "PartFourCC", InconsistencyKind::Duplicate);
                    continue;
                }
                seen.push(part.kind);
            }
            match part.read() {
                Ok(p) => decoded.push((*part, p)),
                Err(e) => self.faults.push(Inconsistency {
                    part: part.kind,
                    offset: e.offset(),
                    field: e.field(),
                    kind: InconsistencyKind::Unreadable(e.kind()),
                }),
            }
        }
        decoded
    }

    fn find(&self, kind: FourCc) -> Option<(RawPart<'a>, &'p Part<'a>)> {
        self.parts
            .iter()
            .find(|(r, _)| r.kind == kind)
            .map(|(r, p)| (*r, p))
    }

    fn program(&self, kind: FourCc) -> Option<(RawPart<'a>, &'p Program<'a>)> {
        match self.find(kind) {
            Some((raw, Part::Program(p))) => Some((raw, p)),
            _ => None,
        }
    }

    fn sizes(&mut self) {
        for (raw, part) in self.parts {
            let trailing = match part {
                Part::Features(p) => p.trailing.len(),
                Part::Hash(p) => p.trailing.len(),
                Part::Psv(p) => p.trailing.len(),
                Part::SourceInfo(p) => p.trailing.len(),
                Part::Program(_)
                | Part::Signature(_)
                | Part::RootSignature(_)
                | Part::Rdat(_)
                | Part::Version(_)
                | Part::DebugName(_)
                | Part::PdbInfo(_)
                | Part::Private(_)
                | Part::Unknown(_) => 0,
            };
            if trailing > 0 {
                let at = (raw.data.len() - trailing) as u64;
                let kind = InconsistencyKind::TrailingBytes(trailing as u64);
                self.fault(raw, at, "PartSize", kind);
            }
        }
    }

    fn differs(
        &mut self,
        part: &RawPart,
        at: u64,
        field: &'static str,
        (found, expected): (u64, u64),
        source_of: &'static str,
    ) {
        if found != expected {
            let kind = InconsistencyKind::Differs {
                found,
                expected,
                source_of,
            };
            self.fault(part, at, field, kind);
        }
    }

    fn programs(&mut self, main: &RawPart, program: &Program) {
        for kind in [FourCc::DXIL, FourCc::ILDB, FourCc::STAT] {
            let Some((raw, p)) = self.program(kind) else {
                if let Some((raw, Part::Unknown(_))) = self.find(kind) {
                    let kind = InconsistencyKind::Unreadable(ReadErrorKind::BadMagic {
                        found: super::bytes::u32_at(raw.data, 8).unwrap_or_default(),
                        want: FourCc::DXIL.to_u32(),
                    });
                    self.fault(&raw, 8, "DxilMagic", kind);
                }
                continue;
            };
            let words = u64::from(p.size_in_words);
            let is = raw.data.len() as u64;
            self.differs(&raw, 4, "SizeInUint32", (words * 4, is), "the part's size");
            if !p.has_bitcode_magic() {
                let at = 24 + p.gap.len() as u64;
                self.fault(&raw, at, "bitcode", InconsistencyKind::NoBitcodeMagic);
            }
            if raw.kind != main.kind {
                let versions = (p.version.0.into(), program.version.0.into());
                self.differs(&raw, 0, "ProgramVersion", versions, "the main program");
            }
        }
    }

    /// What describes a program is no use without one. A program that cannot be read was reported.
    fn no_program(&mut self, parts: &[RawPart]) {
        let has = |kinds: &[FourCc]| parts.iter().any(|p| kinds.contains(&p.kind));
        if has(&[FourCc::PSV0, FourCc::RDAT]) && !has(&[FourCc::DXIL, FourCc::ILDB]) {
            self.missing(FourCc::DXIL);
        }
    }

    fn missing(&mut self, part: FourCc) {
        self.faults.push(Inconsistency {
            part,
            offset: 0,
            field: "PartFourCC",
            kind: InconsistencyKind::Missing,
        });
    }

    fn presence(&mut self, parts: &[RawPart], program: &Program) {
        let library = program.version.kind() == ShaderKind::LIBRARY;
        let (required, forbidden): (&[FourCc], &[FourCc]) = if library {
            (
                &[FourCc::RDAT],
                &[
                    FourCc::PSV0,
                    FourCc::ISG1,
                    FourCc::OSG1,
                    FourCc::PSG1,
                    FourCc::RTS0,
                ],
            )
        } else {
            (
                &[FourCc::SFI0, FourCc::ISG1, FourCc::OSG1, FourCc::PSV0],
                &[FourCc::RDAT, FourCc::VERS],
            )
        };
        for &part in required {
            if !parts.iter().any(|p| p.kind == part) {
                self.missing(part);
            }
        }
        for part in parts.iter().filter(|p| forbidden.contains(&p.kind)) {
            self.fault(part, 0, "PartFourCC", InconsistencyKind::Forbidden);
        }
    }

    fn hash(&mut self, program: &Program) {
        if let Some((raw, Part::Hash(hash))) = self.find(FourCc::HASH) {
            let (found, expected) = (hash.digest, Digest::md5(&program.bitcode));
            if hash.flags == 0 && found != expected {
                let kind = InconsistencyKind::HashDiffers { found, expected };
                self.fault(&raw, 4, "Digest", kind);
            }
        }
    }

    fn psv(&mut self, program: &Program) {
        let Some((raw, Part::Psv(psv))) = self.find(FourCc::PSV0) else {
            return;
        };
        let stage = program.version.kind();
        if let Some(found) = psv.stage() {
            let pair = (found.0.into(), stage.0.into());
            self.differs(&raw, 28, "ShaderStage", pair, "the program header");
        }
        if let Some(n) = psv.info.num_threads
            && !threads_fit(stage, n)
        {
            let kind = InconsistencyKind::WorkgroupSize(n);
            self.fault(&raw, 40, "NumThreads", kind);
        }
        self.references(&raw, psv);
        if psv.info.v1.is_some() {
            for (kind, elements) in [
                (FourCc::ISG1, &psv.inputs),
                (FourCc::OSG1, &psv.outputs),
                (FourCc::PSG1, &psv.patch_constants),
            ] {
                let rows = elements.iter().map(|e| u64::from(e.rows)).sum();
                let (at, found) = match self.find(kind) {
                    Some((at, Part::Signature(Signature { elements, .. }))) => {
                        (at, elements.len() as u64)
                    }
                    // Not there, or reported as unreadable.
                    _ if rows == 0 || self.faults.iter().any(|f| f.part == kind) => continue,
                    _ => (raw, 0),
                };
                self.differs(&at, 0, "ParamCount", (found, rows), "PSV0's rows");
            }
        }
        if let Some((rts0, Part::RootSignature(root))) = self.find(FourCc::RTS0) {
            for r in coverage::uncovered(root, psv, stage) {
                let letter = r.ty.class().map_or('?', |c| c.register_letter());
                let kind = InconsistencyKind::NotCovered {
                    letter,
                    register: r.lower_bound,
                    space: r.space,
                };
                self.fault(&rts0, 0, "parameters", kind);
            }
        }
    }

    fn references(&mut self, raw: &RawPart, psv: &Psv) {
        for (i, r) in psv.resources.iter().enumerate() {
            if r.lower_bound > r.upper_bound {
                let at = psv.resource_offset(i as u64) + 8;
                let kind = InconsistencyKind::EmptyRange {
                    lower: r.lower_bound,
                    upper: r.upper_bound,
                };
                self.fault(raw, at, "LowerBound", kind);
            }
        }
        let limit = psv.string_table.len() as u64;
        let table = psv.string_table_offset();
        if psv.string_table.last().is_some_and(|&b| b != 0) {
            let kind = InconsistencyKind::Unreadable(ReadErrorKind::UnterminatedString);
            self.fault(raw, table + limit - 1, "StringTable", kind);
        }
        let elements = psv.elements().enumerate().map(|(i, e)| {
            let at = psv.element_offset(i as u64);
            (e.semantic_name, at, "SemanticName")
        });
        let entry = psv.info.entry_function_name;
        let entry = entry.map(|o| (o, 4 + 48, "EntryFunctionName"));
        for (offset, at, field) in elements.chain(entry) {
            // The table's last byte is checked above: an offset inside it ends inside it.
            if u64::from(offset) >= limit {
                let end = offset.into();
                let kind = ReadErrorKind::OutOfBounds { end, limit };
                self.fault(raw, at, field, InconsistencyKind::Unreadable(kind));
            }
        }
        for (i, e) in psv.elements().enumerate() {
            if let Err(e) = psv.element_indexes(e) {
                let at = psv.element_offset(i as u64) + 4;
                let kind = InconsistencyKind::Unreadable(e.kind());
                self.fault(raw, at, "SemanticIndexes", kind);
            }
        }
    }

    fn rdat(&mut self) {
        if let Some((raw, Part::Rdat(rdat))) = self.find(FourCc::RDAT) {
            for (field, kind) in rdat.bad_references() {
                self.fault(&raw, 0, field, InconsistencyKind::Unreadable(kind));
            }
        }
    }
}

/// True if a stage may have this workgroup size.
pub(super) fn threads_fit(stage: ShaderKind, n: [u32; 3]) -> bool {
    let (each, total) = match stage {
        ShaderKind::COMPUTE => ([1024, 1024, 64], 1024),
        ShaderKind::MESH | ShaderKind::AMPLIFICATION => ([128; 3], 128),
        _ => return n == [0; 3],
    };
    let each_fits = n.iter().zip(each).all(|(&n, most)| (1..=most).contains(&n));
    each_fits && n.iter().product::<u32>() <= total
}
