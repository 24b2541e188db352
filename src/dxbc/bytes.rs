//! Bounds-checked reading: every offset and sum is 64 bits wide.
#![forbid(unsafe_code)]

use super::{FourCc, ReadError, ReadErrorKind as K};

/// `bytes[offset .. offset + len]`, if it is there.
pub(crate) fn slice(bytes: &[u8], offset: u64, len: u64) -> Option<&[u8]> {
    let end = offset.checked_add(len)?;
    bytes.get(usize::try_from(offset).ok()?..usize::try_from(end).ok()?)
}

/// The little-endian `u32` at `offset`, if it is there.
pub(crate) fn u32_at(bytes: &[u8], offset: u64) -> Option<u32> {
    let b = slice(bytes, offset, 4)?;
    Some(u32::from_le_bytes(b.try_into().ok()?))
}

/// The little-endian `u16` at `offset`, if it is there.
pub(crate) fn u16_at(bytes: &[u8], offset: u64) -> Option<u16> {
    let b = slice(bytes, offset, 2)?;
    Some(u16::from_le_bytes(b.try_into().ok()?))
}

/// Length of `bytes` as an offset. `usize` is at most 64 bits wide on every target.
pub(crate) fn len(bytes: &[u8]) -> u64 {
    bytes.len() as u64
}

/// The bytes before the first NUL at or after `start`.
pub(crate) fn c_str(bytes: &[u8], start: u64) -> Option<&[u8]> {
    let tail = bytes.get(usize::try_from(start).ok()?..)?;
    let end = tail.iter().position(|&b| b == 0)?;
    tail.get(..end)
}

/// Reads a part from front to back.
#[derive(Clone)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    pos: usize,
    part: FourCc,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(part: FourCc, bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            pos: 0,
            part,
        }
    }

    pub(crate) fn pos(&self) -> u64 {
        self.pos as u64
    }

    pub(crate) fn remaining(&self) -> u64 {
        // `pos` moves only over bytes that are there.
        (self.bytes.len() - self.pos) as u64
    }

    #[cold]
    pub(crate) fn error(&self, kind: K, at: u64, field: &'static str) -> ReadError {
        ReadError::new(kind, at, Some(self.part), field)
    }

    /// The next `n` bytes.
    pub(crate) fn take(&mut self, n: u64, field: &'static str) -> Result<&'a [u8], ReadError> {
        match slice(self.bytes, self.pos(), n) {
            Some(s) => {
                self.pos += s.len();
                Ok(s)
            }
            None => {
                let have = self.remaining();
                Err(self.error(K::TooShort { need: n, have }, self.pos(), field))
            }
        }
    }

    /// Everything that is left.
    pub(crate) fn rest(&mut self) -> &'a [u8] {
        let s = self.bytes.get(self.pos..).unwrap_or_default();
        self.pos = self.bytes.len();
        s
    }

    fn array<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N], ReadError> {
        let s = self.take(N as u64, field)?;
        let mut a = [0; N];
        a.copy_from_slice(s);
        Ok(a)
    }

    pub(crate) fn u8(&mut self, field: &'static str) -> Result<u8, ReadError> {
        self.array::<1>(field).map(|[b]| b)
    }

    pub(crate) fn u16(&mut self, field: &'static str) -> Result<u16, ReadError> {
        self.array(field).map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self, field: &'static str) -> Result<u32, ReadError> {
        self.array(field).map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self, field: &'static str) -> Result<u64, ReadError> {
        self.array(field).map(u64::from_le_bytes)
    }

    /// `n` little-endian words; nothing is allocated before they are known to be there.
    pub(crate) fn words(&mut self, n: u64, field: &'static str) -> Result<Vec<u32>, ReadError> {
        let bytes = self.take(n.saturating_mul(4), field)?;
        Ok(words(bytes))
    }
}

/// The whole words of `bytes`.
pub(crate) fn words(bytes: &[u8]) -> Vec<u32> {
    let (words, _) = bytes.as_chunks();
    words.iter().map(|w| u32::from_le_bytes(*w)).collect()
}
