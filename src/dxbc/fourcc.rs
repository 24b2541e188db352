//! Part kinds.
#![forbid(unsafe_code)]

use core::fmt;

/// The kind of a container part: four bytes, nearly always ASCII.
///
/// `Display` prints the four characters, with anything that is not printable
/// ASCII escaped, so that a hostile kind cannot break a line of output.
///
/// ```
/// use kernite::dxbc::FourCc;
/// assert_eq!(FourCc::PSV0.to_string(), "PSV0");
/// assert_eq!(FourCc(*b"\x00\xff\n\"").to_string(), r#"\x00\xff\n\""#);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FourCc(pub [u8; 4]);

macro_rules! kinds {
    ($($name:ident = $bytes:literal, $doc:literal;)*) => {
        impl FourCc {
            $(#[doc = $doc] pub const $name: FourCc = FourCc(*$bytes);)*

            /// True for the kinds that DXC's `DxilFourCC` names, the container's own
            /// magic excepted. The kinds of shader model 4 and 5 alone are not among them.
            ///
            /// ```
            /// use kernite::dxbc::FourCc;
            /// assert!(FourCc::DXIL.is_dxil_kind());
            /// assert!(!FourCc(*b"SHEX").is_dxil_kind());
            /// ```
            #[must_use]
            pub const fn is_dxil_kind(self) -> bool {
                matches!(&self.0, $($bytes)|*)
            }
        }
    };
}

kinds! {
    RDEF = b"RDEF", "Resource definitions of shader models 4 and 5.";
    ISG1 = b"ISG1", "Input signature.";
    OSG1 = b"OSG1", "Output signature.";
    PSG1 = b"PSG1", "Patch-constant or primitive signature.";
    STAT = b"STAT", "Reflection: a DXIL program without function bodies (counters in shader models 4 and 5).";
    ILDB = b"ILDB", "DXIL program with debug information.";
    ILDN = b"ILDN", "Name of the debug file.";
    SFI0 = b"SFI0", "Shader feature flags.";
    PRIV = b"PRIV", "Private data, any size, last.";
    RTS0 = b"RTS0", "Root signature.";
    DXIL = b"DXIL", "DXIL program.";
    PSV0 = b"PSV0", "Pipeline state validation.";
    RDAT = b"RDAT", "Runtime data of libraries.";
    HASH = b"HASH", "Shader hash.";
    SRCI = b"SRCI", "Source information, in debug files.";
    PDBI = b"PDBI", "Debug-file information.";
    VERS = b"VERS", "Compiler version.";
}

impl FourCc {
    /// The magic of a container, `DXBC`.
    pub const DXBC: FourCc = FourCc(*b"DXBC");

    /// The kind as the little-endian word that DXC's headers use.
    #[must_use]
    pub const fn to_u32(self) -> u32 {
        u32::from_le_bytes(self.0)
    }
}

impl fmt::Display for FourCc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for b in self.0 {
            write!(f, "{}", b.escape_ascii())?;
        }
        Ok(())
    }
}

impl fmt::Debug for FourCc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FourCc({self})")
    }
}
