//! `RDAT`: runtime data of libraries (DXC `DxilRuntimeReflection.h`, `RDAT_LibraryTypes.inl`,
//! `RDAT_SubobjectTypes.inl`).
#![forbid(unsafe_code)]

mod table;

pub use table::{
    RdatFunction, RdatFunction2, RdatNodeInfo, RdatPair, RdatRecord, RdatResource, RdatSubobject,
    RdatTable,
};

use super::{RdatKind, fit_u32, pad4, put_words};
use crate::dxbc::{
    FourCc, ReadError, ReadErrorKind as K, WriteError,
    bytes::{Cursor, c_str, len, slice, u32_at, words},
    source_bytes::SourceBytes,
};
use std::borrow::Cow;
use table::{read_table, write_table};

/// The version that DXC writes, and the least that it reads.
const VERSION_10: u32 = 0x10;
/// Bytes of the header and of a part's header.
const HEADER: u64 = 8;
/// A reference to nothing.
const NULL: u32 = u32::MAX;

/// A string: an offset in the string buffer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct RdatString(pub u32);

/// An array of words: an index into the index arrays, where its length stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct RdatArray(pub u32);

/// Bytes in the raw-bytes part.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct RdatBytes {
    /// Offset in it.
    pub offset: u32,
    /// Number of bytes.
    pub size: u32,
}

/// The `RDAT` part.
///
/// References are looked up when asked for: a bad one spoils only itself. Writing lays the parts
/// out as DXC does, unless the value is still what was read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rdat<'a> {
    /// Version, 0x10.
    pub version: u32,
    /// The parts in the order of their offsets' table.
    pub parts: Vec<RdatPart<'a>>,
    source: SourceBytes<'a>,
}

/// A part of `RDAT`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RdatPart<'a> {
    /// Its type, which decides what `body` may be.
    pub kind: RdatKind,
    /// What it holds.
    pub body: RdatBody<'a>,
}

/// What a part of `RDAT` holds. Released tables are typed; numbers above 11 moved between
/// compilers and are opaque.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum RdatBody<'a> {
    /// Strings, each with its NUL; the first is empty.
    Strings(Cow<'a, [u8]>),
    /// Arrays, each after its length.
    Indexes(Vec<u32>),
    /// Bytes.
    RawBytes(Cow<'a, [u8]>),
    /// Resources.
    Resources(RdatTable<'a, RdatResource>),
    /// Functions.
    Functions(RdatTable<'a, RdatFunction>),
    /// Subobjects.
    Subobjects(RdatTable<'a, RdatSubobject>),
    /// Node names, attributes and inputs or outputs: pairs of words.
    Pairs(RdatTable<'a, RdatPair>),
    /// Node shaders.
    NodeInfos(RdatTable<'a, RdatNodeInfo>),
    /// Everything else.
    Opaque(Cow<'a, [u8]>),
}

impl<'a> RdatBody<'a> {
    fn read(kind: RdatKind, data: &'a [u8]) -> Result<Self, ReadError> {
        Ok(match kind {
            RdatKind::STRING_BUFFER => Self::Strings(data.into()),
            RdatKind::INDEX_ARRAYS => {
                if !len(data).is_multiple_of(4) {
                    let (value, align) = (len(data), 4);
                    let kind = K::Misaligned { value, align };
                    return Err(ReadError::new(kind, 0, Some(FourCc::RDAT), "IndexArrays"));
                }
                Self::Indexes(words(data))
            }
            RdatKind::RAW_BYTES => Self::RawBytes(data.into()),
            RdatKind::RESOURCE_TABLE => Self::Resources(read_table(data)?),
            RdatKind::FUNCTION_TABLE => Self::Functions(read_table(data)?),
            RdatKind::SUBOBJECT_TABLE => Self::Subobjects(read_table(data)?),
            RdatKind::NODE_ID_TABLE
            | RdatKind::NODE_SHADER_IO_ATTRIB_TABLE
            | RdatKind::NODE_SHADER_FUNC_ATTRIB_TABLE
            | RdatKind::IO_NODE_TABLE => Self::Pairs(read_table(data)?),
            RdatKind::NODE_SHADER_INFO_TABLE => Self::NodeInfos(read_table(data)?),
            _ => Self::Opaque(data.into()),
        })
    }

    /// True if this is what a part of that type is read as.
    fn belongs_to(&self, kind: RdatKind) -> bool {
        match kind {
            RdatKind::STRING_BUFFER => matches!(self, Self::Strings(_)),
            RdatKind::INDEX_ARRAYS => matches!(self, Self::Indexes(_)),
            RdatKind::RAW_BYTES => matches!(self, Self::RawBytes(_)),
            RdatKind::RESOURCE_TABLE => matches!(self, Self::Resources(_)),
            RdatKind::FUNCTION_TABLE => matches!(self, Self::Functions(_)),
            RdatKind::SUBOBJECT_TABLE => matches!(self, Self::Subobjects(_)),
            RdatKind::NODE_ID_TABLE
            | RdatKind::NODE_SHADER_IO_ATTRIB_TABLE
            | RdatKind::NODE_SHADER_FUNC_ATTRIB_TABLE
            | RdatKind::IO_NODE_TABLE => matches!(self, Self::Pairs(_)),
            RdatKind::NODE_SHADER_INFO_TABLE => matches!(self, Self::NodeInfos(_)),
            _ => matches!(self, Self::Opaque(_)),
        }
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        match self {
            Self::Strings(b) | Self::RawBytes(b) | Self::Opaque(b) => out.extend_from_slice(b),
            Self::Indexes(words) => put_words(out, words),
            Self::Resources(t) => write_table(t, out)?,
            Self::Functions(t) => write_table(t, out)?,
            Self::Subobjects(t) => write_table(t, out)?,
            Self::Pairs(t) => write_table(t, out)?,
            Self::NodeInfos(t) => write_table(t, out)?,
        }
        Ok(())
    }
}

impl<'a> Rdat<'a> {
    /// Decodes the part's data, following the offsets.
    ///
    /// # Errors
    /// A version below 0x10; a part or table that ends past its bytes; a record stride below the
    /// first version's; or parts that share bytes so that together they are more than the whole.
    pub fn read(data: &'a [u8]) -> Result<Self, ReadError> {
        let mut c = Cursor::new(FourCc::RDAT, data);
        let version = c.u32("Version")?;
        if version < VERSION_10 {
            return Err(c.error(K::UnsupportedVersion(version), 0, "Version"));
        }
        let count = c.u32("PartCount")?;
        let limit = len(data);
        let directory = c.take(u64::from(count) * 4, "PartOffset")?;
        let mut parts = Vec::new();
        let mut described = 0u64;
        for (i, offset) in directory.chunks_exact(4).enumerate() {
            let at = HEADER + 4 * i as u64;
            let offset = u64::from(u32_at(offset, 0).unwrap_or_default());
            let header = u32_at(data, offset).zip(u32_at(data, offset + 4));
            let Some((kind, size)) = header else {
                let end = offset + HEADER;
                return Err(c.error(K::OutOfBounds { end, limit }, at, "PartOffset"));
            };
            let body_at = offset + HEADER;
            let Some(body) = slice(data, body_at, size.into()) else {
                let end = body_at + u64::from(size);
                return Err(c.error(K::OutOfBounds { end, limit }, offset + 4, "Size"));
            };
            described = described.saturating_add(HEADER + u64::from(size));
            if described > limit {
                let size = described;
                return Err(c.error(K::TooLarge { size, limit }, at, "PartOffset"));
            }
            let kind = RdatKind(kind);
            let body = RdatBody::read(kind, body).map_err(|e| e.in_part(FourCc::RDAT, body_at))?;
            parts.push(RdatPart { kind, body });
        }
        Ok(Self {
            version,
            parts,
            source: SourceBytes::new(data),
        })
    }

    /// An `RDAT` of these parts.
    #[must_use]
    pub fn new(parts: Vec<RdatPart<'a>>) -> Self {
        Self {
            version: VERSION_10,
            parts,
            source: SourceBytes::none(),
        }
    }

    /// Appends the part's data. Bodies of no whole words are padded with zeros.
    ///
    /// # Errors
    /// A version below 0x10, a body that its part's type cannot hold, records that do not have
    /// their table's stride, or more than 4 GiB.
    pub fn write(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        if let Some(bytes) = self.source.if_unchanged(self, Self::read) {
            out.extend_from_slice(bytes);
            return Ok(());
        }
        let part = FourCc::RDAT;
        let bad = |offset, field, value: u32| WriteError::BadValue {
            part,
            offset,
            field,
            value: value.into(),
        };
        if self.version < VERSION_10 {
            return Err(bad(0, "Version", self.version));
        }
        let count = fit_u32(part, 4, "PartCount", self.parts.len() as u64)?;
        put_words(out, &[self.version, count]);
        let mut bodies = Vec::new();
        let base = HEADER + 4 * u64::from(count);
        for p in &self.parts {
            let at = base + len(&bodies);
            if !p.body.belongs_to(p.kind) {
                return Err(bad(at, "Type", p.kind.0));
            }
            put_words(out, &[fit_u32(part, at, "PartOffset", at)?]);
            let mut body = Vec::new();
            p.body.write(&mut body)?;
            pad4(&mut body, 0);
            let size = fit_u32(part, at + 4, "Size", len(&body))?;
            put_words(&mut bodies, &[p.kind.0, size]);
            bodies.extend_from_slice(&body);
        }
        out.extend_from_slice(&bodies);
        Ok(())
    }

    /// The first string buffer; empty if there is none.
    fn strings(&self) -> &[u8] {
        let found = self.parts.iter().find_map(|p| match &p.body {
            RdatBody::Strings(b) => Some(&**b),
            _ => None,
        });
        found.unwrap_or_default()
    }

    /// The first index arrays; empty if there are none.
    fn indexes(&self) -> &[u32] {
        let found = self.parts.iter().find_map(|p| match &p.body {
            RdatBody::Indexes(w) => Some(&**w),
            _ => None,
        });
        found.unwrap_or_default()
    }

    #[cold]
    fn bad_ref(kind: K, at: u32, field: &'static str) -> ReadError {
        ReadError::new(kind, at.into(), Some(FourCc::RDAT), field)
    }

    /// A string; `None` for the null reference.
    ///
    /// # Errors
    /// No string buffer, an offset past it, or no NUL in it. The error's offset counts from the
    /// buffer.
    pub fn string(&self, r: RdatString) -> Result<Option<&[u8]>, ReadError> {
        if r.0 == NULL {
            return Ok(None);
        }
        let buffer = self.strings();
        if u64::from(r.0) >= len(buffer) {
            let (end, limit) = (r.0.into(), len(buffer));
            let kind = K::OutOfBounds { end, limit };
            return Err(Self::bad_ref(kind, r.0, "StringBuffer"));
        }
        let s = c_str(buffer, r.0.into());
        s.map(Some)
            .ok_or_else(|| Self::bad_ref(K::UnterminatedString, r.0, "StringBuffer"))
    }

    /// An array of words; `None` for the null reference.
    ///
    /// # Errors
    /// No index arrays, or an array that leaves them. The error's offset is the index of the array.
    pub fn array(&self, r: RdatArray) -> Result<Option<&[u32]>, ReadError> {
        Self::array_in(self.indexes(), r)
    }

    fn array_in(arrays: &[u32], r: RdatArray) -> Result<Option<&[u32]>, ReadError> {
        if r.0 == NULL {
            return Ok(None);
        }
        let limit = arrays.len() as u64;
        let found = usize::try_from(r.0).ok().and_then(|i| arrays.get(i..));
        let Some((&count, rest)) = found.and_then(<[u32]>::split_first) else {
            let end = u64::from(r.0) + 1;
            return Err(Self::bad_ref(
                K::OutOfBounds { end, limit },
                r.0,
                "IndexArrays",
            ));
        };
        let array = usize::try_from(count).ok().and_then(|n| rest.get(..n));
        array.map(Some).ok_or_else(|| {
            let end = u64::from(r.0) + 1 + u64::from(count);
            Self::bad_ref(K::OutOfBounds { end, limit }, r.0, "IndexArrays")
        })
    }

    /// References of the resource, function and subobject tables that lead nowhere. One look
    /// each, however long the strings and arrays are.
    pub(crate) fn bad_references(&self) -> Vec<(&'static str, K)> {
        // Looked for once: there may be as many parts as records.
        let (strings, indexes) = (self.strings(), self.indexes());
        let last_nul = strings.iter().rposition(|&b| b == 0).map(|p| p as u64);
        let mut bad = Vec::new();
        let mut string = |r: RdatString, field| {
            let (end, limit) = (u64::from(r.0), len(strings));
            if r.0 != NULL && end >= limit {
                bad.push((field, K::OutOfBounds { end, limit }));
            } else if r.0 != NULL && last_nul.is_none_or(|last| end > last) {
                bad.push((field, K::UnterminatedString));
            }
        };
        let mut arrays = Vec::new();
        for part in &self.parts {
            match &part.body {
                RdatBody::Resources(t) => {
                    for r in &t.records {
                        string(r.value.name, "RuntimeDataResourceInfo::Name");
                    }
                }
                RdatBody::Functions(t) => {
                    for f in t.records.iter().map(|r| &r.value) {
                        string(f.name, "RuntimeDataFunctionInfo::Name");
                        string(f.unmangled_name, "RuntimeDataFunctionInfo::UnmangledName");
                        arrays.push((f.resources, "RuntimeDataFunctionInfo::Resources"));
                        let calls = f.function_dependencies;
                        arrays.push((calls, "RuntimeDataFunctionInfo::FunctionDependencies"));
                    }
                }
                RdatBody::Subobjects(t) => {
                    for s in &t.records {
                        string(s.value.name, "RuntimeDataSubobjectInfo::Name");
                    }
                }
                RdatBody::Strings(_)
                | RdatBody::Indexes(_)
                | RdatBody::RawBytes(_)
                | RdatBody::Pairs(_)
                | RdatBody::NodeInfos(_)
                | RdatBody::Opaque(_) => {}
            }
        }
        for (r, field) in arrays {
            if let Err(e) = Self::array_in(indexes, r) {
                bad.push((field, e.kind()));
            }
        }
        bad
    }

    /// Bytes of the raw-bytes part.
    ///
    /// # Errors
    /// No such part, or a range that leaves it.
    pub fn raw_bytes(&self, r: RdatBytes) -> Result<&[u8], ReadError> {
        let raw = self.parts.iter().find_map(|p| match &p.body {
            RdatBody::RawBytes(b) => Some(b),
            _ => None,
        });
        let raw = raw.map(|b| &**b).unwrap_or_default();
        slice(raw, r.offset.into(), r.size.into()).ok_or_else(|| {
            let end = u64::from(r.offset) + u64::from(r.size);
            let limit = len(raw);
            Self::bad_ref(K::OutOfBounds { end, limit }, r.offset, "RawBytes")
        })
    }
}
