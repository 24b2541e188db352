//! Writing a container: offsets, sizes, limits, digest.
#![forbid(unsafe_code)]

use super::{
    FourCc, Inconsistency, RawPart, WriteDigest, WriteError, check, encode,
    read::{HASHED_FROM, HEADER, MAX_SIZE, PART_HEADER},
};
use std::borrow::Cow;

/// Writes parts into a container, in the order given and back to back, as DXC does.
///
/// A digest that lets a runtime take the container ([`Retail`](WriteDigest::Retail),
/// [`Debug`](WriteDigest::Debug), the two bypasses) is written only if the parts agree: see
/// [`Container::check`](super::Container::check). With [`Unsigned`](WriteDigest::Unsigned) or
/// [`Raw`](WriteDigest::Raw) the writer keeps the books and nothing else: any kind may come
/// twice and have any size.
///
/// ```
/// use kernite::dxbc::{Container, ContainerWriter, WriteDigest};
/// let empty = ContainerWriter::new().finish(WriteDigest::Retail)?;
/// assert_eq!(empty.len(), 32);
/// let c = Container::read(&empty)?;
/// assert_eq!(c.digest().to_string(), "fe86074c402fc2e90e0f4fa3bf065bc0");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ContainerWriter<'a> {
    minor: u16,
    parts: Vec<(FourCc, Cow<'a, [u8]>)>,
}

impl<'a> ContainerWriter<'a> {
    /// No parts.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the minor version, 0 unless an odd container is copied.
    pub fn minor_version(&mut self, minor: u16) -> &mut Self {
        self.minor = minor;
        self
    }

    /// Adds a part.
    pub fn part(&mut self, kind: FourCc, data: impl Into<Cow<'a, [u8]>>) -> &mut Self {
        self.parts.push((kind, data.into()));
        self
    }

    /// What contradicts itself among the parts: see [`Container::check`](super::Container::check).
    #[must_use]
    pub fn check(&self) -> Vec<Inconsistency> {
        check::check(&raw_parts(&self.parts))
    }

    /// The container.
    ///
    /// # Errors
    /// - [`WriteError::TooLarge`]: more than 2 GiB in all
    /// - [`WriteError::Inconsistent`]: the parts contradict themselves, and the digest is neither
    ///   zero nor given
    ///
    /// ```
    /// use kernite::dxbc::{ContainerWriter, FourCc, WriteDigest, WriteError};
    /// let mut w = ContainerWriter::new();
    /// w.part(FourCc::SFI0, &[0; 7]); // one byte short
    /// assert!(matches!(w.finish(WriteDigest::Retail), Err(WriteError::Inconsistent(_))));
    /// assert!(w.finish(WriteDigest::Unsigned).is_ok());
    /// ```
    pub fn finish(&self, digest: WriteDigest) -> Result<Vec<u8>, WriteError> {
        let mut out = Vec::new();
        self.finish_into(digest, &mut out)?;
        Ok(out)
    }

    /// Appends the container to `out`, which is left alone on error.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub fn finish_into(&self, digest: WriteDigest, out: &mut Vec<u8>) -> Result<(), WriteError> {
        if digest.vouches() {
            let faults = self.check();
            if !faults.is_empty() {
                return Err(WriteError::Inconsistent(faults));
            }
        }
        self.assemble_into(digest, out)
    }

    /// As [`finish_into`](Self::finish_into), whatever the parts are: for what was checked, and
    /// for what was read and is not changed.
    pub(crate) fn assemble_into(
        &self,
        digest: WriteDigest,
        out: &mut Vec<u8>,
    ) -> Result<(), WriteError> {
        let mut books = Books::new(self.parts.len() as u64)?;
        for (kind, data) in &self.parts {
            books.part(*kind, data.len() as u64)?;
        }
        let start = out.len();
        out.reserve(usize::try_from(books.end).unwrap_or(0));
        let size = books.size();
        encode::header(out, self.minor, size, books.count());
        for &offset in &books.offsets {
            encode::entry(out, offset);
        }
        for (kind, data) in &self.parts {
            // Within the container's size, which fits.
            let size = u32::try_from(data.len()).unwrap_or(u32::MAX);
            encode::part_header(out, *kind, size);
            out.extend_from_slice(data);
        }
        sign(out.get_mut(start..).unwrap_or_default(), digest);
        Ok(())
    }
}

/// The parts with the offsets that they get when laid out back to back.
pub(crate) fn raw_parts<'p>(parts: &'p [(FourCc, Cow<'_, [u8]>)]) -> Vec<RawPart<'p>> {
    let directory = (parts.len() as u64).saturating_mul(4);
    let mut at = HEADER.saturating_add(directory);
    let place = |(kind, data): &'p (FourCc, Cow<'_, [u8]>)| {
        let (kind, offset, data) = (*kind, at, &**data);
        at = at
            .saturating_add(PART_HEADER)
            .saturating_add(data.len() as u64);
        RawPart { kind, offset, data }
    };
    parts.iter().map(place).collect()
}

/// Writes the digest of a complete container into it.
pub(crate) fn sign(container: &mut [u8], digest: WriteDigest) {
    // A small constant.
    let hashed = container.get(HASHED_FROM as usize..).unwrap_or_default();
    let digest = digest.of(hashed);
    encode::digest(container, digest);
}

/// Where each part goes. Sums are 64 bits wide and checked against the container's limit, before
/// anything is written.
struct Books {
    offsets: Vec<u32>,
    end: u64,
}

impl Books {
    fn new(part_count: u64) -> Result<Self, WriteError> {
        let end = part_count.saturating_mul(4).saturating_add(HEADER);
        Ok(Self {
            offsets: Vec::new(),
            end: within_limit(FourCc::DXBC, end)?,
        })
    }

    fn part(&mut self, kind: FourCc, size: u64) -> Result<(), WriteError> {
        let end = self.end.saturating_add(PART_HEADER).saturating_add(size);
        let end = within_limit(kind, end)?;
        self.offsets.push(self.size());
        self.end = end;
        Ok(())
    }

    fn size(&self) -> u32 {
        u32::try_from(self.end).unwrap_or(u32::MAX)
    }

    fn count(&self) -> u32 {
        u32::try_from(self.offsets.len()).unwrap_or(u32::MAX)
    }
}

fn within_limit(part: FourCc, value: u64) -> Result<u64, WriteError> {
    if value <= MAX_SIZE {
        return Ok(value);
    }
    Err(WriteError::TooLarge {
        part,
        offset: 24,
        field: "ContainerSizeInBytes",
        value,
        limit: MAX_SIZE,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_near_the_limit_and_near_2_32() {
        let left = MAX_SIZE - HEADER - 4 - PART_HEADER;
        for (size, fits) in [
            (left, true),
            (left + 1, false),
            (u64::from(u32::MAX) - PART_HEADER, false),
            (1 << 32, false),
            ((1 << 32) + 1, false),
            (u64::MAX, false),
        ] {
            let mut books = Books::new(1).expect("one entry fits");
            assert_eq!(books.part(FourCc::PRIV, size).is_ok(), fits, "{size:#x}");
            // A part that does not fit leaves no trace.
            let end = if fits { MAX_SIZE } else { HEADER + 4 };
            assert_eq!(books.end, end, "{size:#x}");
        }
        assert!(Books::new((MAX_SIZE - HEADER) / 4).is_ok());
        assert!(Books::new((MAX_SIZE - HEADER) / 4 + 1).is_err());
        assert!(Books::new(1 << 30).is_err());
        assert!(Books::new(u64::MAX).is_err());
    }

    #[test]
    fn two_halves_that_wrap_together_are_refused() {
        let mut books = Books::new(2).expect("fits");
        books.part(FourCc::PRIV, 0x7fff_0000).expect("fits");
        let e = books.part(FourCc::PRIV, 0x8001_0000).expect_err("wraps");
        assert!(matches!(e, WriteError::TooLarge { value, .. } if value > u32::MAX.into()));
    }
}
