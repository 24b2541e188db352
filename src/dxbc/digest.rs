//! The container digest: MD5's rounds with Microsoft's own final block.
//!
//! The digest covers bytes 20 to the end of the container, as its size field gives it
//! (DXC `lib/DxilHash/DxilHash.cpp`; hlsl-specs INF-0004, appendix 1). It is a check
//! against accidents and no authenticity check. All arithmetic on the length wraps at 32
//! bits, as DXC's does.
#![forbid(unsafe_code)]

use super::md5::{State, md5};
use core::fmt;

/// Sixteen digest bytes in file order. `Display` prints lower-case hex.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Digest(pub [u8; 16]);

impl Digest {
    /// All zero: the container is unsigned.
    pub const UNSIGNED: Digest = Digest([0; 16]);
    /// Sixteen bytes 01: run without a hash check, for released shader models.
    pub const BYPASS: Digest = Digest([1; 16]);
    /// Sixteen bytes 02: run without a hash check, for experimental shader models.
    pub const PREVIEW_BYPASS: Digest = Digest([2; 16]);

    /// Plain MD5 of `data`, which is what the `HASH` part holds of the bitcode.
    ///
    /// ```
    /// use kernite::dxbc::Digest;
    /// assert_eq!(Digest::md5(b"").to_string(), "d41d8cd98f00b204e9800998ecf8427e");
    /// ```
    #[must_use]
    pub fn md5(data: &[u8]) -> Digest {
        Digest(md5(data))
    }

    /// The digest that release runtimes want of `data`, the container from byte 20 on.
    ///
    /// ```
    /// use kernite::dxbc::Digest;
    /// assert_eq!(Digest::retail(b"").to_string(), "140d60f6b775e2ba4e4abed401b2e9a1");
    /// ```
    #[must_use]
    pub fn retail(data: &[u8]) -> Digest {
        let mut state = State::START;
        let tail = state.blocks(data);
        finish(state, tail, retail_words(data.len()))
    }

    /// The digest that is taken only while the debug layer is on.
    ///
    /// ```
    /// use kernite::dxbc::Digest;
    /// assert_eq!(Digest::debug(b"").to_string(), "16804fd43fc91f11f6f788e4b776160e");
    /// ```
    #[must_use]
    pub fn debug(data: &[u8]) -> Digest {
        let mut state = State::START;
        let tail = state.blocks(data);
        finish(state, tail, debug_words(data.len()))
    }

    /// Says what this digest is of `data`, the container from byte 20 on.
    ///
    /// The rounds run once for both algorithms, and not at all for the fixed values.
    #[must_use]
    pub fn kind_of(self, data: &[u8]) -> DigestKind {
        if self == Self::UNSIGNED {
            return DigestKind::Unsigned;
        }
        if self == Self::BYPASS {
            return DigestKind::Bypass;
        }
        if self == Self::PREVIEW_BYPASS {
            return DigestKind::PreviewBypass;
        }
        let mut state = State::START;
        let tail = state.blocks(data);
        if finish(state, tail, retail_words(data.len())) == self {
            DigestKind::Retail
        } else if finish(state, tail, debug_words(data.len())) == self {
            DigestKind::Debug
        } else {
            DigestKind::Mismatch
        }
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|b| write!(f, "{b:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

/// What a container's digest is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum DigestKind {
    /// The retail hash of the container: every runtime takes it.
    Retail,
    /// The debug hash of the container: taken only with the debug layer on.
    Debug,
    /// All zero.
    Unsigned,
    /// [`Digest::BYPASS`].
    Bypass,
    /// [`Digest::PREVIEW_BYPASS`].
    PreviewBypass,
    /// None of these: the container was changed after it was signed.
    Mismatch,
}

impl fmt::Display for DigestKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DigestKind::Retail => "retail",
            DigestKind::Debug => "debug",
            DigestKind::Unsigned => "unsigned",
            DigestKind::Bypass => "bypass",
            DigestKind::PreviewBypass => "preview-bypass",
            DigestKind::Mismatch => "mismatch",
        })
    }
}

/// What digest a writer puts into the container.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum WriteDigest {
    /// The retail hash.
    #[default]
    Retail,
    /// The debug hash.
    Debug,
    /// Zero.
    Unsigned,
    /// [`Digest::BYPASS`].
    Bypass,
    /// [`Digest::PREVIEW_BYPASS`].
    PreviewBypass,
    /// These bytes, whatever they are.
    Raw(Digest),
}

impl WriteDigest {
    /// True if the writer vouches for the parts with it: runtimes take the container.
    pub(crate) fn vouches(self) -> bool {
        match self {
            WriteDigest::Retail
            | WriteDigest::Debug
            | WriteDigest::Bypass
            | WriteDigest::PreviewBypass => true,
            WriteDigest::Unsigned | WriteDigest::Raw(_) => false,
        }
    }

    /// The digest bytes for `data`, the container from byte 20 on.
    pub(crate) fn of(self, data: &[u8]) -> Digest {
        match self {
            WriteDigest::Retail => Digest::retail(data),
            WriteDigest::Debug => Digest::debug(data),
            WriteDigest::Unsigned => Digest::UNSIGNED,
            WriteDigest::Bypass => Digest::BYPASS,
            WriteDigest::PreviewBypass => Digest::PREVIEW_BYPASS,
            WriteDigest::Raw(d) => d,
        }
    }
}

/// First and last word of the final block. DXC counts in `u32`: longer lengths wrap.
struct FinalWords {
    first: u32,
    last: u32,
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "the algorithm counts modulo 2^32"
)]
fn retail_words(len: usize) -> FinalWords {
    let n = len as u32;
    FinalWords {
        first: n << 3,
        // Not `((n << 3) >> 2) | 1`, which other implementations have: that differs from 2^29 on.
        last: (n << 1) | 1,
    }
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "the algorithm counts modulo 2^32"
)]
fn debug_words(len: usize) -> FinalWords {
    let n = len as u32;
    FinalWords {
        first: (n << 4) | 0xf,
        last: (n << 2) | 0x1000_0000,
    }
}

/// Pads the last `tail` (under 64 bytes). The bit count comes first, so that the data of a
/// single final block moves up by four bytes: only 55 bytes leave room for that.
fn finish(mut state: State, tail: &[u8], words: FinalWords) -> Digest {
    let mut block = [0u8; 64];
    let put = |block: &mut [u8; 64], at: usize| {
        for (b, t) in block.iter_mut().skip(at).zip(tail.iter().chain(&[0x80])) {
            *b = *t;
        }
    };
    if tail.len() < 56 {
        put(&mut block, 4);
    } else {
        put(&mut block, 0);
        state.block(&block);
        block = [0; 64];
    }
    for (b, w) in block.iter_mut().zip(words.first.to_le_bytes()) {
        *b = w;
    }
    for (b, w) in block.iter_mut().skip(60).zip(words.last.to_le_bytes()) {
        *b = w;
    }
    state.block(&block);
    Digest(state.to_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_words_near_2_29_and_2_32() {
        for (n, retail, debug) in [
            (0x1fff_ffff_u64, 0x3fff_ffff_u32, 0x7fff_fffc_u32),
            (0x2000_0000, 0x4000_0001, 0x9000_0000),
            (0x2000_0001, 0x4000_0003, 0x9000_0004),
            (0x7fff_ffec, 0xffff_ffd9, 0xffff_ffb0),
            (0xffff_ffff, 0xffff_ffff, 0xffff_fffc),
        ] {
            let n = usize::try_from(n).expect("64-bit host");
            assert_eq!(retail_words(n).last, retail, "{n:#x}");
            assert_eq!(debug_words(n).last, debug, "{n:#x}");
        }
        assert_eq!(retail_words(0x2000_0001).first, 8);
    }

    #[test]
    fn fixed_values_need_no_hash() {
        assert_eq!(Digest::UNSIGNED.kind_of(b"x"), DigestKind::Unsigned);
        assert_eq!(Digest::BYPASS.kind_of(b"x"), DigestKind::Bypass);
        assert_eq!(
            Digest::PREVIEW_BYPASS.kind_of(b"x"),
            DigestKind::PreviewBypass
        );
        assert_eq!(Digest([3; 16]).kind_of(b"x"), DigestKind::Mismatch);
        assert_eq!(Digest::debug(b"x").kind_of(b"x"), DigestKind::Debug);
        assert_eq!(Digest::retail(b"x").kind_of(b"x"), DigestKind::Retail);
    }
}
