//! Targets and PTX versions, as data (PTX ISA section 11.1.2, `.target`, and the release notes).

use core::fmt;

/// A version of the PTX ISA, as `.version` names it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Version {
    /// Before the point.
    pub major: u8,
    /// Behind it.
    pub minor: u8,
}

impl Version {
    /// What is written where nothing needs more: drivers from CUDA 12.0 know it.
    pub const V8_0: Version = Version::new(8, 0);
    /// The first with more than 4352 bytes of parameters.
    pub const V8_1: Version = Version::new(8, 1);

    /// The version `major.minor`.
    pub const fn new(major: u8, minor: u8) -> Version {
        Version { major, minor }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// What the name of a target ends in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Variant {
    /// Nothing: runs on every later GPU too.
    Base,
    /// `f`: the features of a family; runs within it.
    Family,
    /// `a`: the features of one architecture; runs on no other.
    Architecture,
}

/// A GPU architecture that text can be written for: `sm_75` to `sm_121`, with the `a` and `f` variants that exist.
///
/// ```
/// use kernite::ptx::{Target, Version};
/// let target = Target::parse("sm_90a")?;
/// assert_eq!(target.to_string(), "sm_90a");
/// assert_eq!(target.capability(), (9, 0));
/// assert_eq!(target.first_version(), Version::V8_0);
/// assert!(Target::parse("sm_70").is_err() && Target::parse("SM_80").is_err());
/// # Ok::<(), kernite::ptx::TargetError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target {
    sm: u8,
    variant: Variant,
    /// Follows from the two.
    first: Version,
}

/// There is no such target, or this crate does not know it.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TargetError {
    /// No target of that name.
    #[error("{name:?} is no known target; there are sm_75 to sm_121, some with `a` or `f`")]
    Name {
        /// The name given.
        name: String,
    },
    /// No target of that compute capability.
    #[error("compute capability {major}.{minor} is not known; 7.5 to 12.1 are")]
    Capability {
        /// Before the point.
        major: u32,
        /// Behind it.
        minor: u32,
    },
}

const fn v(major: u8, minor: u8) -> Option<Version> {
    Some(Version::new(major, minor))
}

/// Number, then the first PTX version of the target itself, of its `f` and of its `a` variant.
#[rustfmt::skip]
const ROWS: [(u8, Version, Option<Version>, Option<Version>); 13] = [
    (75,  Version::new(6, 3), None,     None),
    (80,  Version::new(7, 0), None,     None),
    (86,  Version::new(7, 1), None,     None),
    (87,  Version::new(7, 4), None,     None),
    (88,  Version::new(9, 0), None,     None),
    (89,  Version::new(7, 8), None,     None),
    (90,  Version::new(7, 8), None,     v(8, 0)),
    (100, Version::new(8, 6), v(8, 8),  v(8, 6)),
    // Called sm_110 from PTX 9.0 on; ptxas 12 knows this name, ptxas 13 the other.
    (101, Version::new(8, 6), v(8, 8),  v(8, 6)),
    (103, Version::new(8, 8), v(8, 8),  v(8, 8)),
    (110, Version::new(9, 0), v(9, 0),  v(9, 0)),
    (120, Version::new(8, 7), v(8, 8),  v(8, 7)),
    (121, Version::new(8, 8), v(8, 8),  v(8, 8)),
];

impl Target {
    /// Turing, the lowest target: its text runs on every later GPU.
    pub const SM_75: Target = Target {
        sm: 75,
        variant: Variant::Base,
        first: Version::new(6, 3),
    };

    fn find(sm: u32, variant: Variant) -> Option<Target> {
        let &(sm, base, family, architecture) = ROWS.iter().find(|row| u32::from(row.0) == sm)?;
        let first = match variant {
            Variant::Base => base,
            Variant::Family => family?,
            Variant::Architecture => architecture?,
        };
        Some(Target { sm, variant, first })
    }

    /// The base target of a device of this compute capability.
    ///
    /// # Errors
    /// [`TargetError::Capability`] when there is none. A device later than the table runs the text of any base target.
    ///
    /// ```
    /// use kernite::ptx::Target;
    /// assert_eq!(Target::from_capability(8, 9)?, Target::parse("sm_89")?);
    /// assert!(Target::from_capability(7, 0).is_err());
    /// # Ok::<(), kernite::ptx::TargetError>(())
    /// ```
    pub fn from_capability(major: u32, minor: u32) -> Result<Target, TargetError> {
        let sm = if minor < 10 {
            major.checked_mul(10).and_then(|m| m.checked_add(minor))
        } else {
            None
        };
        sm.and_then(|sm| Target::find(sm, Variant::Base))
            .ok_or(TargetError::Capability { major, minor })
    }

    /// The target of a name as `.target` takes it: `sm_80`, `sm_90a`, `sm_120f`.
    ///
    /// # Errors
    /// [`TargetError::Name`] for every other text; names are in lower case.
    pub fn parse(name: &str) -> Result<Target, TargetError> {
        Target::all()
            .find(|target| target.to_string() == name)
            .ok_or_else(|| TargetError::Name { name: name.into() })
    }

    /// Every target, by rising number; of one number the base first, then `f`, then `a`.
    pub fn all() -> impl Iterator<Item = Target> {
        ROWS.iter().flat_map(|row| {
            [Variant::Base, Variant::Family, Variant::Architecture]
                .into_iter()
                .filter_map(|variant| Target::find(u32::from(row.0), variant))
        })
    }

    /// Major and minor compute capability.
    pub const fn capability(self) -> (u32, u32) {
        (self.sm as u32 / 10, self.sm as u32 % 10)
    }

    /// What its name ends in.
    pub const fn variant(self) -> Variant {
        self.variant
    }

    /// The first PTX version that knows it.
    pub const fn first_version(self) -> Version {
        self.first
    }

    /// Whether `min.NaN.f32` and `max.NaN.f32` exist, and `min` and `max` of 16-bit floats with and without `.NaN`.
    pub(super) const fn has_min_nan(self) -> bool {
        self.sm >= 80
    }

    /// Whether bf16 exists: conversions from f32 and `fma`.
    pub(super) const fn has_bf16(self) -> bool {
        self.sm >= 80
    }

    /// Whether `add`, `sub` and `mul` of bf16 exist.
    pub(super) const fn has_bf16_sums(self) -> bool {
        self.sm >= 90
    }

    /// Whether `redux.sync` exists.
    pub(super) const fn has_redux(self) -> bool {
        self.sm >= 80
    }

    /// The number in its name.
    pub(super) const fn number(self) -> u32 {
        self.sm as u32
    }
}

impl Default for Target {
    /// [`Target::SM_75`].
    fn default() -> Target {
        Target::SM_75
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let suffix = match self.variant {
            Variant::Base => "",
            Variant::Family => "f",
            Variant::Architecture => "a",
        };
        write!(f, "sm_{}{suffix}", self.sm)
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl core::str::FromStr for Target {
    type Err = TargetError;
    fn from_str(name: &str) -> Result<Target, TargetError> {
        Target::parse(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_unknown_ones_are_refused() {
        assert_eq!(Target::all().count(), 13 + 6 + 7);
        for target in Target::all() {
            assert_eq!(Target::parse(&target.to_string()), Ok(target));
            assert!(target.first_version() < Version::new(10, 0));
        }
        for name in [
            "",
            "sm_",
            "sm_70",
            "sm_71",
            "SM_80",
            "sm_80a",
            "sm_90f",
            "sm_9",
            "sm_1000",
            "sm_75 ",
            "compute_80",
            "80",
        ] {
            assert!(Target::parse(name).is_err(), "{name}");
        }
        assert!(Target::from_capability(7, 15).is_err());
        assert!(Target::from_capability(u32::MAX, 0).is_err());
        assert_eq!(
            Target::from_capability(12, 1).map(|t| t.to_string()),
            Ok("sm_121".into())
        );
    }
}
