//! The header of a PTX text: enough of it to say before the driver does why it cannot be loaded.

use super::DriverVersion;
use crate::limits::Limits;
use crate::ptx::{self, Target, Variant};

/// What a PTX text says of itself at its beginning (PTX ISA section 11.1, PTX Module Directives).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct PtxHeader<'a> {
    /// `.version`, major and minor.
    pub version: Option<(u32, u32)>,
    /// The first name of `.target`, such as `sm_90a`.
    pub target: Option<&'a str>,
}

impl<'a> PtxHeader<'a> {
    /// Reads the directives at the beginning. What is not there or not understood is `None`: the driver will judge it.
    ///
    /// ```
    /// use kernite::cuda::PtxHeader;
    /// let header = PtxHeader::parse("// made by hand\n.version 8.0\n.target sm_75\n.address_size 64\n");
    /// assert_eq!((header.version, header.target), (Some((8, 0)), Some("sm_75")));
    /// assert_eq!(PtxHeader::parse("nonsense").version, None);
    /// ```
    pub fn parse(text: &'a str) -> PtxHeader<'a> {
        let mut header = PtxHeader::default();
        let mut rest = skip_blank(text);
        while let Some(directive) = rest.strip_prefix('.') {
            let (name, after) = word(directive);
            let (value, after) = word(skip_blank(after));
            match name {
                "version" => {
                    header.version = value.split_once('.').and_then(|(major, minor)| {
                        Some((major.parse().ok()?, minor.parse().ok()?))
                    });
                }
                "target" => header.target = Some(value),
                _ => break,
            }
            // The rest of a list of targets.
            let mut after = skip_blank(after);
            while let Some(more) = after.strip_prefix(',') {
                after = skip_blank(word(skip_blank(more)).1);
            }
            rest = after;
        }
        header
    }
}

fn word(text: &str) -> (&str, &str) {
    let end = text
        .find(|c: char| c.is_whitespace() || c == ',')
        .unwrap_or(text.len());
    text.split_at(end)
}

fn skip_blank(mut text: &str) -> &str {
    loop {
        text = text.trim_start();
        if let Some(comment) = text.strip_prefix("//") {
            text = comment.split_once('\n').map_or("", |(_, rest)| rest);
        } else if let Some(comment) = text.strip_prefix("/*") {
            text = comment.split_once("*/").map_or("", |(_, rest)| rest);
        } else {
            return text;
        }
    }
}

/// Why a text cannot run here, found before the driver was asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Misfit {
    Version {
        needs: (u32, u32),
        has: (u8, u8),
    },
    Target {
        needs: Target,
        capability: (u32, u32),
    },
}

fn runs_on(target: Target, device: (u32, u32)) -> bool {
    match target.variant() {
        // Architecture-specific: that architecture alone.
        Variant::Architecture => target.capability() == device,
        // Some members of a family were renamed, so only what lies above the device is refused here.
        Variant::Family | Variant::Base => target.capability() <= device,
    }
}

/// Compares the header with driver and device. What it does not say, and targets that this crate does not know, are left
/// to the driver.
pub(crate) fn misfit(
    header: PtxHeader<'_>,
    driver: DriverVersion,
    capability: (u32, u32),
) -> Option<Misfit> {
    if let (Some(needs), Some(has)) = (header.version, driver.ptx())
        && needs > (u32::from(has.0), u32::from(has.1))
    {
        return Some(Misfit::Version { needs, has });
    }
    let needs = Target::parse(header.target?).ok()?;
    (!runs_on(needs, capability)).then_some(Misfit::Target { needs, capability })
}

/// The newest base target whose code a device runs, and the newest version that a driver takes: what to emit for them.
pub(crate) fn options_for(
    driver: DriverVersion,
    capability: (u32, u32),
    limits: Limits,
) -> ptx::Options {
    let bases = Target::all().filter(|target| target.variant() == Variant::Base);
    let version = driver
        .ptx()
        .map(|(major, minor)| ptx::Version::new(major, minor));
    // Older drivers do not know newer targets: the newest that both know.
    let target = bases
        .filter(|target| target.capability() <= capability)
        .filter(|target| version.is_none_or(|version| target.first_version() <= version))
        .last()
        .unwrap_or_default();
    let options = ptx::Options::new(target).with_limits(limits);
    match version {
        Some(version) => options.with_max_version(version),
        None => options,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read() {
        let parse = PtxHeader::parse;
        let header =
            parse("/* a */ // b\n .version\t7.8 // c\n.target sm_90a, debug , x\n.address_size 64");
        assert_eq!(
            (header.version, header.target),
            (Some((7, 8)), Some("sm_90a"))
        );
        for text in [
            "",
            ".",
            ".version",
            ".version 8",
            ".version 8.0.1",
            "/*",
            "//",
            ".target,,,",
            ".version 99999999999.0",
        ] {
            assert_eq!(parse(text).version, None, "{text:?}");
        }
    }

    #[test]
    fn what_cannot_run_is_found() {
        let check = |text, driver, capability| {
            misfit(PtxHeader::parse(text), DriverVersion(driver), capability)
        };
        let ptx = ".version 8.0\n.target sm_80\n";
        assert_eq!(check(ptx, 12_000, (8, 0)), None);
        assert_eq!(check(ptx, 13_000, (9, 0)), None);
        let old = Misfit::Version {
            needs: (8, 0),
            has: (7, 8),
        };
        assert_eq!(check(ptx, 11_080, (8, 0)), Some(old));
        assert!(matches!(
            check(ptx, 12_000, (7, 5)),
            Some(Misfit::Target { .. })
        ));
        assert_eq!(check(".version 9.9\n.target sm_80", 13_990, (9, 0)), None);
        assert!(check(".version 8.0\n.target sm_90a", 12_000, (10, 0)).is_some());
        assert!(check(".version 8.0\n.target sm_90a", 12_000, (9, 0)).is_none());
        assert!(check(".version 8.8\n.target sm_100f", 13_000, (10, 3)).is_none());
        assert!(check("rubbish", 12_000, (9, 0)).is_none());
    }

    #[test]
    fn what_is_emitted_fits() {
        for (driver, capability, name) in [
            (12_000, (7, 5), "sm_75"),
            (13_000, (9, 0), "sm_90"),
            // CUDA 12.0 knows no Blackwell, which runs what is for Hopper.
            (12_000, (12, 0), "sm_90"),
            (13_000, (12, 1), "sm_121"),
            (14_000, (13, 0), "sm_121"),
            (12_000, (7, 0), "sm_75"),
        ] {
            let options = options_for(DriverVersion(driver), capability, Limits::CUDA);
            assert_eq!(options.target.to_string(), name);
        }
    }
}
