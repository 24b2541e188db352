//! The stored form: little-endian, with magic, format version and length.
//!
//! ```text
//! u32 magic "KNIT" · u32 format version · u32 length in bytes, header included
//! u32 × 3 workgroup size · u32 flags (1: contract) · u32 required subgroup size (0: any) · u32 bytes of the kernel's name
//! u32 counts: name bytes, params, buffers, scalars, shared, private, tables, bytes of table data, instructions, side
//! words
//! params: u32 (bit 31: scalar; number below)
//! buffers: u32 bytes of the name, u8 type, u8 access, u8 may_alias, u8 0, u32 set, u32 binding
//! scalars: name, u32 type · shared: name, u8 type, u8 zeroed, u8 dynamic, u8 0, u32 length
//! private: name, u32 type, u32 length · tables: name, u32 type, u32 length
//! instructions: u16 op, u8 type, u8 flags, u32 a, b, c · side words
//! table data, padded with zeros to a multiple of 4
//! names, the kernel's first and then in the order above (UTF-8), padded with zeros to a multiple of 4
//! ```

use super::{
    BufferDecl, Draft, Inst, Kernel, Mem, Name, ParamRef, PrivateDecl, ScalarDecl, SharedDecl,
    SharedLen, TableDecl,
};
use crate::op::Op;
use crate::types::{Access, Type};

/// The first four bytes: `KNIT`.
pub const MAGIC: [u8; 4] = *b"KNIT";
/// The version that this crate writes and reads.
pub const FORMAT_VERSION: u32 = 1;

/// Why bytes are not a kernel. Every variant but the first three gives the byte offset of what is wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The magic is missing.
    #[error("not a kernel: the bytes do not begin with KNIT")]
    Magic,
    /// Written by another version of the format.
    #[error("kernel format version {found}, this crate reads {FORMAT_VERSION}")]
    Version {
        /// The version found.
        found: u32,
    },
    /// The length in the header is not that of the bytes.
    #[error("kernel of {expected} bytes, {found} given")]
    Length {
        /// The length the header names, or the least possible one.
        expected: u64,
        /// The length of the input.
        found: u64,
    },
    /// A number that stands for nothing.
    #[error("byte {offset}: {value} is no {what}")]
    Value {
        /// Where it stands.
        offset: u64,
        /// The number.
        value: u32,
        /// What was expected there.
        what: &'static str,
    },
    /// The names are not UTF-8.
    #[error("byte {offset}: names are not UTF-8")]
    Utf8 {
        /// The first wrong byte.
        offset: u64,
    },
    /// A parameter is named twice, out of order or not at all: parameters list buffers and scalars by rising number.
    #[error("byte {offset}: parameters do not list every buffer and scalar once, in order")]
    Params {
        /// The entry.
        offset: u64,
    },
    /// The lengths of the names do not add up to the bytes of names, or cut a character.
    #[error("byte {offset}: the lengths of the names do not fit the bytes of names")]
    Names {
        /// The length, or the end of the declarations.
        offset: u64,
    },
}

const HEADER_WORDS: usize = 19;
const SCALAR_BIT: u32 = 1 << 31;

impl Kernel {
    /// The stored form. Equal kernels give equal bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write_bytes(&mut out);
        out
    }

    /// Appends the stored form to `out`.
    pub fn write_bytes(&self, out: &mut Vec<u8>) {
        let d = self.draft();
        let begin = out.len();
        out.extend_from_slice(&MAGIC);
        let word = |out: &mut Vec<u8>, w: u32| out.extend_from_slice(&w.to_le_bytes());
        word(out, FORMAT_VERSION);
        word(out, 0);
        for size in d.workgroup_size {
            word(out, size);
        }
        word(out, u32::from(d.contract));
        word(out, d.subgroup_size);
        word(out, d.name.len);
        // The verifier bounds every count below 2^28, and their bytes below 2^32.
        for count in counts(d) {
            word(out, count as u32);
        }
        for p in &d.params {
            word(
                out,
                match *p {
                    ParamRef::Buffer(n) => n,
                    ParamRef::Scalar(n) => n | SCALAR_BIT,
                },
            );
        }
        for b in &d.buffers {
            word(out, b.name.len);
            out.extend_from_slice(&[b.elem.code(), b.access as u8, u8::from(b.may_alias), 0]);
            word(out, b.set);
            word(out, b.binding);
        }
        for s in &d.scalars {
            word(out, s.name.len);
            word(out, u32::from(s.ty.code()));
        }
        for s in &d.shared {
            word(out, s.name.len);
            let (dynamic, len) = match s.len {
                SharedLen::Static(n) => (0, n),
                SharedLen::Dynamic => (1, 0),
            };
            out.extend_from_slice(&[s.elem.code(), u8::from(s.zeroed), dynamic, 0]);
            word(out, len);
        }
        for p in &d.private {
            word(out, p.name.len);
            word(out, u32::from(p.elem.code()));
            word(out, p.len);
        }
        for t in &d.tables {
            word(out, t.name.len);
            word(out, u32::from(t.elem.code()));
            word(out, t.len);
        }
        for i in &d.insts {
            out.extend_from_slice(&(i.op as u16).to_le_bytes());
            out.extend_from_slice(&[i.ty.code(), i.flags]);
            word(out, i.a);
            word(out, i.b);
            word(out, i.c);
        }
        for &w in &d.side {
            word(out, w);
        }
        out.extend_from_slice(&d.data);
        while !(out.len() - begin).is_multiple_of(4) {
            out.push(0);
        }
        out.extend_from_slice(d.names.as_bytes());
        while !(out.len() - begin).is_multiple_of(4) {
            out.push(0);
        }
        // Verified to fit: `Draft::stored_bytes`.
        let len = (out.len() - begin) as u32;
        out[begin + 8..begin + 12].copy_from_slice(&len.to_le_bytes());
    }
}

fn counts(d: &Draft) -> [usize; 10] {
    [
        d.names.len(),
        d.params.len(),
        d.buffers.len(),
        d.scalars.len(),
        d.shared.len(),
        d.private.len(),
        d.tables.len(),
        d.data.len(),
        d.insts.len(),
        d.side.len(),
    ]
}

/// Bytes of the stored form with these counts: each section is filled up to whole words.
const fn stored_bytes(counts: [usize; 10]) -> u64 {
    let mut sum = HEADER_WORDS as u64 * 4;
    let mut n = 0;
    while n < counts.len() {
        let bytes = (counts[n] as u64).saturating_mul(ENTRY[n]);
        sum = sum.saturating_add(match bytes.checked_next_multiple_of(4) {
            Some(padded) => padded,
            None => u64::MAX,
        });
        n += 1;
    }
    sum
}

/// Bytes of one entry of each counted section, in the order of `counts`.
const ENTRY: [u64; 10] = [1, 4, 16, 8, 12, 12, 12, 1, 16, 4];

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// The next word. The length was checked against the counts before, so the default is never taken.
    fn word(&mut self) -> u32 {
        let w = self
            .bytes
            .get(self.at..self.at + 4)
            .and_then(|b| b.try_into().ok())
            .map_or(0, u32::from_le_bytes);
        self.at += 4;
        w
    }

    /// The next `n` chunks; as for [`Reader::word`], they are there.
    fn chunks<const N: usize>(&mut self, n: u32) -> &'a [[u8; N]] {
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        let (chunks, _) = rest.as_chunks();
        let chunks = chunks.get(..n as usize).unwrap_or(&[]);
        self.at += chunks.len() * N;
        chunks
    }

    /// `n` bytes, which zeros fill up to whole words.
    fn bytes(&mut self, n: usize) -> Result<&'a [u8], DecodeError> {
        let padded = n.next_multiple_of(4);
        let (bytes, zeros) = self
            .bytes
            .get(self.at..)
            .and_then(|rest| rest.get(..padded))
            .and_then(|all| all.split_at_checked(n))
            .unwrap_or((&[], &[]));
        self.at += padded;
        match zeros.iter().find(|&&b| b != 0) {
            Some(&b) => self.bad(zeros.len(), u32::from(b), "zero"),
            None => Ok(bytes),
        }
    }

    fn bad<T>(&self, back: usize, value: u32, what: &'static str) -> Result<T, DecodeError> {
        Err(DecodeError::Value {
            offset: (self.at - back) as u64,
            value,
            what,
        })
    }

    /// A name's length gives its place: names lie one behind the other.
    fn name(&mut self, end: &mut u32) -> Result<Name, DecodeError> {
        let offset = self.at as u64;
        let name = Name {
            start: *end,
            len: self.word(),
        };
        *end = name
            .start
            .checked_add(name.len)
            .ok_or(DecodeError::Names { offset })?;
        Ok(name)
    }

    fn ty(&mut self, code: u32) -> Result<Type, DecodeError> {
        match u8::try_from(code).ok().and_then(Type::from_code) {
            Some(ty) => Ok(ty),
            None => self.bad(4, code, "type"),
        }
    }

    fn flag(&mut self, byte: u8, what: &'static str) -> Result<bool, DecodeError> {
        match byte {
            0 => Ok(false),
            1 => Ok(true),
            _ => self.bad(4, u32::from(byte), what),
        }
    }
}

/// The word with this number of a chunk.
#[inline(always)]
fn u32_at(chunk: &[u8; 16], number: usize) -> u32 {
    let (words, _) = chunk.as_chunks();
    words.get(number).copied().map_or(0, u32::from_le_bytes)
}

/// The instruction of a chunk, where its opcode and type exist.
#[inline(always)]
fn inst_of(chunk: &[u8; 16]) -> Option<Inst> {
    let [low, high, ty, flags] = u32_at(chunk, 0).to_le_bytes();
    Some(Inst {
        op: Op::from_number(u16::from_le_bytes([low, high]))?,
        ty: Type::from_code(ty)?,
        flags,
        a: u32_at(chunk, 1),
        b: u32_at(chunk, 2),
        c: u32_at(chunk, 3),
    })
}

/// What is wrong with the chunk with this number, behind this byte.
#[cold]
#[inline(never)]
fn wrong_inst(start: u64, at: usize, chunk: &[u8; 16]) -> DecodeError {
    let [low, high, ty, _] = u32_at(chunk, 0).to_le_bytes();
    let number = u16::from_le_bytes([low, high]);
    let (value, what) = match Op::from_number(number) {
        None => (u32::from(number), "opcode"),
        Some(_) => (u32::from(ty), "type"),
    };
    DecodeError::Value {
        offset: start + 16 * at as u64,
        value,
        what,
    }
}

impl Draft {
    /// Whether there is so little of everything that the stored form stays far below 2^32 bytes, and every count below 2^28.
    pub(crate) fn is_small(&self) -> bool {
        const SMALL: usize = 1 << 24;
        const { assert!(stored_bytes([SMALL; 10]) < u32::MAX as u64) };
        counts(self).into_iter().fold(0, |all, count| all | count) < SMALL
    }

    /// How many bytes the stored form has; saturated.
    pub(crate) fn stored_bytes(&self) -> u64 {
        stored_bytes(counts(self))
    }

    /// Reads the stored form. What comes out is not verified yet.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Draft, DecodeError> {
        if bytes.get(..4) != Some(&MAGIC[..]) {
            return Err(DecodeError::Magic);
        }
        let found = bytes.len() as u64;
        if bytes.len() < HEADER_WORDS * 4 {
            return Err(DecodeError::Length {
                expected: HEADER_WORDS as u64 * 4,
                found,
            });
        }
        let mut r = Reader { bytes, at: 4 };
        let version = r.word();
        if version != FORMAT_VERSION {
            return Err(DecodeError::Version { found: version });
        }
        let length = u64::from(r.word());
        if length != found {
            return Err(DecodeError::Length {
                expected: length,
                found,
            });
        }
        let mut d = Draft {
            workgroup_size: [r.word(), r.word(), r.word()],
            ..Draft::default()
        };
        d.contract = match r.word() {
            0 => false,
            1 => true,
            other => return r.bad(4, other, "kernel flag"),
        };
        d.subgroup_size = r.word();
        let mut end = 0;
        d.name = r.name(&mut end)?;
        let mut count = [0u32; 10];
        // The sections must fill the bytes exactly before anything is allocated by a count. Ten products of a 32-bit
        // number and at most 16 cannot pass 64 bits.
        let mut expected = HEADER_WORDS as u64 * 4;
        for (count, entry) in count.iter_mut().zip(ENTRY) {
            *count = r.word();
            if *count > Mem::MAX {
                return r.bad(4, *count, "possible count");
            }
            // Bytes are padded to whole words.
            expected += (u64::from(*count) * entry).next_multiple_of(4);
        }
        if expected != found {
            return Err(DecodeError::Length { expected, found });
        }
        let [
            name_bytes,
            params,
            buffers,
            scalars,
            shared,
            private,
            tables,
            data,
            insts,
            side,
        ] = count;
        if params != buffers + scalars {
            return Err(DecodeError::Params {
                offset: r.at as u64,
            });
        }
        let (mut next_buffer, mut next_scalar) = (0, 0);
        for _ in 0..params {
            let w = r.word();
            let (param, next) = match w & SCALAR_BIT {
                0 => (ParamRef::Buffer(w), &mut next_buffer),
                _ => (ParamRef::Scalar(w & !SCALAR_BIT), &mut next_scalar),
            };
            if w & !SCALAR_BIT != *next {
                return Err(DecodeError::Params {
                    offset: r.at as u64 - 4,
                });
            }
            *next += 1;
            d.params.push(param);
        }
        if next_buffer != buffers {
            return Err(DecodeError::Params {
                offset: r.at as u64,
            });
        }
        for _ in 0..buffers {
            let name = r.name(&mut end)?;
            let [ty, access, alias, zero] = r.word().to_le_bytes();
            let elem = r.ty(u32::from(ty))?;
            let Some(access_mode) = Access::from_code(access) else {
                return r.bad(4, u32::from(access), "access");
            };
            let may_alias = r.flag(alias, "flag")?;
            if zero != 0 {
                return r.bad(4, u32::from(zero), "zero");
            }
            let (set, binding) = (r.word(), r.word());
            d.buffers.push(BufferDecl {
                name,
                elem,
                access: access_mode,
                may_alias,
                set,
                binding,
            });
        }
        for _ in 0..scalars {
            let name = r.name(&mut end)?;
            let code = r.word();
            let ty = r.ty(code)?;
            d.scalars.push(ScalarDecl { name, ty });
        }
        for _ in 0..shared {
            let name = r.name(&mut end)?;
            let [ty, zeroed, dynamic, zero] = r.word().to_le_bytes();
            let elem = r.ty(u32::from(ty))?;
            let zeroed = r.flag(zeroed, "flag")?;
            let dynamic = r.flag(dynamic, "flag")?;
            if zero != 0 {
                return r.bad(4, u32::from(zero), "zero");
            }
            let len = r.word();
            let len = match (dynamic, len) {
                (false, n) => SharedLen::Static(n),
                (true, 0) => SharedLen::Dynamic,
                (true, n) => return r.bad(4, n, "length of a dynamic array"),
            };
            d.shared.push(SharedDecl {
                name,
                elem,
                len,
                zeroed,
            });
        }
        for _ in 0..private {
            let name = r.name(&mut end)?;
            let code = r.word();
            let elem = r.ty(code)?;
            let len = r.word();
            d.private.push(PrivateDecl { name, elem, len });
        }
        let mut data_end = 0u32;
        for _ in 0..tables {
            let name = r.name(&mut end)?;
            let code = r.word();
            let elem = r.ty(code)?;
            let len = r.word();
            let start = data_end;
            // The verifier refuses what does not fit the data; until then any place will do.
            data_end = data_end.saturating_add(len.saturating_mul(elem.bytes()));
            d.tables.push(TableDecl {
                name,
                elem,
                start,
                len,
            });
        }
        if end != name_bytes {
            return Err(DecodeError::Names {
                offset: r.at as u64,
            });
        }
        let start = r.at as u64;
        let chunks = r.chunks::<16>(insts);
        d.insts
            .resize(chunks.len(), Inst::new(Op::Const, Type::NONE));
        for (at, (inst, chunk)) in d.insts.iter_mut().zip(chunks).enumerate() {
            match inst_of(chunk) {
                Some(stored) => *inst = stored,
                None => return Err(wrong_inst(start, at, chunk)),
            }
        }
        let words = r.chunks::<4>(side).iter();
        d.side.extend(words.map(|&w| u32::from_le_bytes(w)));
        let table_data = r.bytes(data as usize)?;
        d.data.extend_from_slice(table_data);
        let at = r.at as u64;
        let names = r.bytes(name_bytes as usize)?;
        d.names = match core::str::from_utf8(names) {
            Ok(s) => s.into(),
            Err(e) => {
                return Err(DecodeError::Utf8 {
                    offset: at + e.valid_up_to() as u64,
                });
            }
        };
        if !d
            .all_names()
            .all(|n| d.names.is_char_boundary(n.start as usize))
        {
            return Err(DecodeError::Names {
                offset: r.at as u64,
            });
        }
        Ok(d)
    }
}

#[cfg(test)]
mod unit {
    use super::*;
    use crate::KernelBuilder;

    #[test]
    fn sizes_are_counted_before_anything_is_written() {
        let mut b = KernelBuilder::new("sized", [64, 1, 1]);
        let data = b.buffer("data", Type::U8, Access::ReadWrite);
        b.scalar("n", Type::U64);
        b.shared("tile", Type::F32, 3);
        b.table("t", Type::U8, &[1u8, 2, 3]);
        let i = b.global_id(0);
        let x = b.load_offset(data, i, 1);
        b.store_offset(data, i, 2, x);
        let kernel = b
            .finish()
            .map(|k| (k.draft().stored_bytes(), k.to_bytes().len() as u64));
        assert!(
            matches!(kernel, Ok((counted, written)) if counted == written),
            "{kernel:?}"
        );

        let bytes = |insts: usize| stored_bytes([0, 0, 0, 0, 0, 0, 0, 0, insts, 0]);
        let most = (u32::MAX as usize - HEADER_WORDS * 4) / 16;
        assert!(bytes(most) <= u64::from(u32::MAX));
        assert!(bytes(most + 1) > u64::from(u32::MAX));
        assert_eq!(stored_bytes([usize::MAX; 10]), u64::MAX);
    }
}
