//! A check of cubins before the driver, which is told no length, reads them.

/// Whether these bytes are a whole 64-bit little-endian ELF file: all that its headers point to lies within them.
///
/// The driver takes a pointer without a length, so it would read a cut-off file beyond its end.
pub(crate) fn check(bytes: &[u8]) -> Result<(), &'static str> {
    if bytes.get(..4) != Some(b"\x7FELF") {
        return Err("it does not begin with 7F 45 4C 46");
    }
    if bytes.get(4..6) != Some(&[2, 1]) {
        return Err("it is no 64-bit little-endian ELF file");
    }
    let table = |at: usize, entry: usize, count: usize| -> Option<(u64, u64, u64)> {
        Some((
            u64_at(bytes, at)?,
            u64::from(u16_at(bytes, entry)?),
            u64::from(u16_at(bytes, count)?),
        ))
    };
    let len = bytes.len() as u64;
    let within = |offset: u64, size: u64| offset.checked_add(size).is_some_and(|end| end <= len);
    let (Some(sections), Some(segments)) = (table(0x28, 0x3A, 0x3C), table(0x20, 0x36, 0x38))
    else {
        return Err("its header is cut off");
    };
    for ((offset, entry, count), least) in [(sections, 64), (segments, 56)] {
        if count != 0 && (entry < least || !within(offset, entry * count)) {
            return Err("a header table passes its end");
        }
    }
    let part = |offset: u64| usize::try_from(offset).ok();
    for n in 0..sections.2 {
        // Within the file, as checked above.
        let at = part(sections.0 + n * sections.1).unwrap_or(usize::MAX);
        let (Some(kind), Some(offset), Some(size)) = (
            u32_at(bytes, at + 4),
            u64_at(bytes, at + 0x18),
            u64_at(bytes, at + 0x20),
        ) else {
            return Err("a section header is cut off");
        };
        const SHT_NOBITS: u32 = 8;
        if kind != SHT_NOBITS && !within(offset, size) {
            return Err("a section passes its end");
        }
    }
    for n in 0..segments.2 {
        let at = part(segments.0 + n * segments.1).unwrap_or(usize::MAX);
        let (Some(offset), Some(size)) = (u64_at(bytes, at + 8), u64_at(bytes, at + 0x20)) else {
            return Err("a program header is cut off");
        };
        if !within(offset, size) {
            return Err("a segment passes its end");
        }
    }
    Ok(())
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    array(bytes, at).map(u16::from_le_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    array(bytes, at).map(u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    array(bytes, at).map(u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of one section of 8 bytes.
    fn file() -> Vec<u8> {
        let mut bytes = vec![0u8; 64 + 64 + 8];
        bytes[..6].copy_from_slice(b"\x7FELF\x02\x01");
        bytes[0x28..0x30].copy_from_slice(&64u64.to_le_bytes());
        bytes[0x3A..0x3C].copy_from_slice(&64u16.to_le_bytes());
        bytes[0x3C..0x3E].copy_from_slice(&1u16.to_le_bytes());
        bytes[64 + 4..64 + 8].copy_from_slice(&1u32.to_le_bytes());
        bytes[64 + 0x18..64 + 0x20].copy_from_slice(&128u64.to_le_bytes());
        bytes[64 + 0x20..64 + 0x28].copy_from_slice(&8u64.to_le_bytes());
        bytes
    }

    #[test]
    fn every_cut_is_seen() {
        let whole = file();
        assert_eq!(check(&whole), Ok(()));
        for cut in 0..whole.len() {
            assert!(check(&whole[..cut]).is_err(), "{cut}");
        }
    }

    #[test]
    fn no_byte_makes_it_panic() {
        let whole = file();
        for at in 0..whole.len() {
            for value in [0xFF, 0x80, 0x01] {
                let mut bytes = whole.clone();
                bytes[at] = value;
                let _ = check(&bytes);
            }
        }
        assert!(check(b".version 8.0").is_err());
    }
}
