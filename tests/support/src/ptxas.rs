//! NVIDIA's PTX assembler. Two releases are looked for, since none knows every
//! target: 12.x (sm_50 to sm_121) and 13.x (sm_75 and up, sm_88, sm_110).
#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use crate::oracle::{self, Oracle};
use crate::{parallel, process, tools};

/// One installed release.
#[derive(Clone, Debug)]
pub struct Release {
    path: PathBuf,
    version: (u32, u32),
    targets: BTreeSet<String>,
}

impl Release {
    /// The CUDA release, for example `(12, 9)`.
    pub fn version(&self) -> (u32, u32) {
        self.version
    }

    /// The `sm_…` targets that it lists in its help, in no useful order.
    pub fn targets(&self) -> impl Iterator<Item = &str> {
        self.targets.iter().map(String::as_str)
    }

    /// Whether it lists the target, for example `sm_90a`.
    pub fn knows(&self, target: &str) -> bool {
        self.targets.contains(target)
    }

    fn probe(path: PathBuf) -> Result<Self, String> {
        let run = |arg: &str| process::text(&process::run(Command::new(&path).arg(arg), b""));
        let said = run("--version");
        let version = parse_version(&said)
            .ok_or_else(|| format!("{} says no release: {said:?}", path.display()))?;
        let targets = parse_targets(&run("--help"));
        if targets.is_empty() {
            return Err(format!("{} lists no targets", path.display()));
        }
        Ok(Self {
            path,
            version,
            targets,
        })
    }
}

/// `release 12.9` in what `ptxas --version` prints.
fn parse_version(said: &str) -> Option<(u32, u32)> {
    let (_, rest) = said.split_once("release ")?;
    let number = rest.split([',', ' ', '\n']).next()?;
    let (major, minor) = number.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// The quoted `sm_…` names in what `ptxas --help` prints.
fn parse_targets(help: &str) -> BTreeSet<String> {
    help.split('\'')
        .filter(|name| name.starts_with("sm_"))
        .map(str::to_owned)
        .collect()
}

/// How to assemble. The default is what ptxas does by default, without a cubin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// `-O`: 0 to 3. Level 0 is the quickest.
    pub opt_level: Option<u8>,
    /// `-fmad`: whether bare multiplications and additions may be contracted.
    pub fmad: Option<bool>,
    /// Hand back the cubin.
    pub cubin: bool,
    /// `-v`: say what each entry uses, in [`Assembled::log`].
    pub verbose: bool,
}

/// What ptxas made of a text that it accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assembled {
    /// The release that judged.
    pub release: (u32, u32),
    /// The ELF image; empty unless [`Options::cubin`] asked for it.
    pub cubin: Vec<u8>,
    /// Everything that ptxas printed.
    pub log: String,
    /// The lines of the log that warn.
    pub warnings: Vec<String>,
}

/// Why a text was not assembled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No release at hand lists the target.
    #[error("no ptxas at hand ({}) knows the target {target}", list(.releases))]
    UnknownTarget {
        /// The target asked for.
        target: String,
        /// The releases at hand.
        releases: Vec<(u32, u32)>,
    },
    /// ptxas refused the text.
    #[error("ptxas {}.{} refuses the text for {target}: {message}", release.0, release.1)]
    Refused {
        /// The release that judged.
        release: (u32, u32),
        /// The target that it judged for.
        target: String,
        /// ptxas's own words, every line of them.
        message: String,
        /// The line of the text that the first error names, counted from 1.
        line: Option<usize>,
    },
}

impl Error {
    /// ptxas's own words, where it was asked.
    pub fn message(&self) -> Option<&str> {
        match self {
            Self::UnknownTarget { .. } => None,
            Self::Refused { message, .. } => Some(message),
        }
    }
}

fn list(releases: &[(u32, u32)]) -> String {
    let names: Vec<_> = releases.iter().map(|(a, b)| format!("{a}.{b}")).collect();
    names.join(", ")
}

/// The releases at hand.
#[derive(Clone, Debug)]
pub struct Ptxas {
    releases: Vec<Release>,
}

impl Ptxas {
    /// The releases at hand, looked for once a process. `None` where there is
    /// none, after a counted skip.
    ///
    /// # Panics
    /// `KERNITE_REQUIRE_ORACLES` names ptxas, and 12.x or 13.x is missing.
    pub fn get() -> Option<&'static Self> {
        static FOUND: OnceLock<(Ptxas, Vec<String>)> = OnceLock::new();
        let (ptxas, refused) = FOUND.get_or_init(Self::search);
        if oracle::required(Oracle::Ptxas) {
            for major in [12, 13] {
                if !ptxas.releases.iter().any(|r| r.version.0 == major) {
                    let why = format!("release {major}.x {}", tools::looked_at(refused));
                    oracle::missing(Oracle::Ptxas, &why);
                }
            }
        }
        if ptxas.releases.is_empty() {
            oracle::missing(Oracle::Ptxas, &tools::looked_at(refused));
            return None;
        }
        Some(ptxas)
    }

    fn search() -> (Self, Vec<String>) {
        let mut found: Vec<Release> = Vec::new();
        let mut refused = Vec::new();
        let mut paths = tools::in_environments("nvidia/*/bin/ptxas");
        paths.extend(tools::on_path("ptxas"));
        for path in paths {
            match Release::probe(path) {
                // The folder comes before PATH; one of each major release will do.
                Ok(release) if found.iter().any(|r| r.version.0 == release.version.0) => {}
                Ok(release) => found.push(release),
                Err(reason) => refused.push(reason),
            }
        }
        found.sort_by_key(|release| release.version);
        (Self { releases: found }, refused)
    }

    /// The releases, the oldest first.
    pub fn releases(&self) -> &[Release] {
        &self.releases
    }

    /// The oldest release that knows the target.
    pub fn release_for(&self, target: &str) -> Option<&Release> {
        self.releases.iter().find(|release| release.knows(target))
    }

    /// Assembles a text for one target with the default options.
    ///
    /// # Errors
    /// No release knows the target, or ptxas refuses the text.
    pub fn assemble(&self, text: &str, target: &str) -> Result<Assembled, Error> {
        self.assemble_with(text, target, &Options::default())
    }

    /// Assembles a text for one target.
    ///
    /// # Errors
    /// No release knows the target, or ptxas refuses the text.
    pub fn assemble_with(
        &self,
        text: &str,
        target: &str,
        options: &Options,
    ) -> Result<Assembled, Error> {
        let Some(release) = self.release_for(target) else {
            return Err(Error::UnknownTarget {
                target: target.to_owned(),
                releases: self.releases.iter().map(|r| r.version).collect(),
            });
        };
        let mut command = Command::new(&release.path);
        command.args(["-arch", target]);
        if let Some(level) = options.opt_level {
            command.arg(format!("-O{level}"));
        }
        if let Some(fmad) = options.fmad {
            command.args(["-fmad", if fmad { "true" } else { "false" }]);
        }
        if options.verbose {
            command.arg("-v");
        }
        let file = options.cubin.then(|| {
            tempfile::NamedTempFile::new().unwrap_or_else(|e| panic!("no temporary file: {e}"))
        });
        command.arg("-o");
        match &file {
            Some(file) => command.arg(file.path()),
            None => command.arg("/dev/null"),
        };
        let output = process::run(command.arg("-"), text.as_bytes());
        let log = process::text(&output);
        if !output.status.success() {
            return Err(Error::Refused {
                release: release.version,
                target: target.to_owned(),
                line: error_line(&log),
                message: log,
            });
        }
        let cubin = file.map_or_else(Vec::new, |file| {
            std::fs::read(file.path()).unwrap_or_else(|e| panic!("no cubin written: {e}"))
        });
        let warnings = log.lines().filter(|line| line.contains("warning"));
        Ok(Assembled {
            release: release.version,
            cubin,
            warnings: warnings.map(str::to_owned).collect(),
            log,
        })
    }

    /// Assembles one text for several targets, [`parallel::WORKERS`] at a time;
    /// results keep the targets' order.
    pub fn assemble_for(
        &self,
        text: &str,
        targets: &[&str],
        options: &Options,
    ) -> Vec<Result<Assembled, Error>> {
        parallel::map(targets, |target| self.assemble_with(text, target, options))
    }

    /// Assembles several texts, each for its target, [`parallel::WORKERS`] at a
    /// time; results keep the jobs' order.
    pub fn assemble_all(
        &self,
        jobs: &[(&str, &str)],
        options: &Options,
    ) -> Vec<Result<Assembled, Error>> {
        parallel::map(jobs, |(text, target)| {
            self.assemble_with(text, target, options)
        })
    }
}

/// `ptxas -, line 6; error …` names line 6.
fn error_line(message: &str) -> Option<usize> {
    let line = message.lines().find(|line| line.contains("; error"))?;
    let (_, rest) = line.split_once(", line ")?;
    rest.split(';').next()?.trim().parse().ok()
}

/// Many modules put together as one text, so that ptxas is started once for all
/// of them.
///
/// The parts must share target and address size and must not share names, module
/// scope variables included; the newest `.version` of them wins.
///
/// ```
/// use kernite_testkit::ptxas::Batch;
///
/// let mut batch = Batch::default();
/// batch.push(".version 8.0\n.target sm_90\n.address_size 64\n.entry a() { ret; }\n").unwrap();
/// batch.push(".version 8.0\n.target sm_90\n.address_size 64\n.entry b() { ret; }\n").unwrap();
/// assert_eq!(batch.text().matches(".version").count(), 1);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Batch {
    version: (u32, u32),
    target: String,
    address_size: String,
    body: String,
    /// For each part, the line of the body (from 0) at which it starts.
    starts: Vec<usize>,
    lines: usize,
}

/// Why a part does not fit a [`Batch`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError {
    /// The part lacks `.version`, `.target` or `.address_size`, each on a line of
    /// its own.
    #[error("the text has no {0} line")]
    NoDirective(&'static str),
    /// The part's directive differs from the other parts'.
    #[error("the text says {directive} {found}, the batch {expected}")]
    Differs {
        /// The directive.
        directive: &'static str,
        /// What the part says.
        found: String,
        /// What the batch says.
        expected: String,
    },
}

impl Batch {
    /// Adds a part and hands back its number.
    ///
    /// # Errors
    /// The part has no header, or one that differs from the first part's. The
    /// batch is then as before.
    pub fn push(&mut self, text: &str) -> Result<usize, BatchError> {
        let directive = |name: &'static str| {
            text.lines()
                .find_map(|line| line.trim_start().strip_prefix(name))
                .map(|rest| rest.split("//").next().unwrap_or_default().trim())
                .ok_or(BatchError::NoDirective(name))
        };
        let version = directive(".version")?;
        let version = version
            .split_once('.')
            .and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)))
            .ok_or(BatchError::NoDirective(".version"))?;
        let target = directive(".target")?;
        let address_size = directive(".address_size")?;
        if self.starts.is_empty() {
            self.target = target.to_owned();
            self.address_size = address_size.to_owned();
        }
        for (directive, found, expected) in [
            (".target", target, &self.target),
            (".address_size", address_size, &self.address_size),
        ] {
            if found != expected {
                return Err(BatchError::Differs {
                    directive,
                    found: found.to_owned(),
                    expected: expected.clone(),
                });
            }
        }
        self.version = self.version.max(version);
        self.starts.push(self.lines);
        for line in text.lines() {
            let start = line.trim_start();
            let header = [".version", ".target", ".address_size"]
                .iter()
                .any(|name| start.starts_with(name));
            // Kept as an empty line, so that line numbers within a part stay true.
            if !header {
                self.body.push_str(line);
            }
            self.body.push('\n');
            self.lines += 1;
        }
        Ok(self.starts.len() - 1)
    }

    /// How many parts there are.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether there is no part.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// The text of all parts, under one header of three lines.
    pub fn text(&self) -> String {
        let (major, minor) = self.version;
        format!(
            ".version {major}.{minor}\n.target {}\n.address_size {}\n{}",
            self.target, self.address_size, self.body
        )
    }

    /// The part, and the line of that part's own text, both counted as the caller
    /// counts them (parts from 0, lines from 1), that a line of [`Self::text`]
    /// belongs to. `None` for the header and past the end.
    pub fn locate(&self, line: usize) -> Option<(usize, usize)> {
        let body = line.checked_sub(4).filter(|&body| body < self.lines)?;
        let part = self.starts.partition_point(|&start| start <= body) - 1;
        Some((part, body - self.starts[part] + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_and_targets_are_read() {
        let said = "Cuda compilation tools, release 12.9, V12.9.86\nBuild x";
        assert_eq!(parse_version(said), Some((12, 9)));
        assert_eq!(parse_version("ptxas"), None);
        let help = "Allowed values: 'compute_90','sm_90',\n 'sm_90a'.\nDefault value: 'sm_52'.";
        let targets: Vec<_> = parse_targets(help).into_iter().collect();
        assert_eq!(targets, ["sm_52", "sm_90", "sm_90a"]);
    }

    fn part(version: &str, target: &str, name: &str) -> String {
        format!(
            ".version {version}\n.target {target}\n.address_size 64\n.entry {name}() {{ ret; }}\n"
        )
    }

    #[test]
    fn a_batch_keeps_one_header_and_places() {
        let mut batch = Batch::default();
        assert_eq!(batch.push(&part("8.0", "sm_90", "a")), Ok(0));
        assert_eq!(batch.push(&part("8.6", "sm_90", "b")), Ok(1));
        let text = batch.text();
        assert!(text.starts_with(".version 8.6\n.target sm_90\n.address_size 64\n"));
        let line = text.lines().position(|l| l.contains("entry b")).unwrap() + 1;
        assert_eq!(batch.locate(line), Some((1, 4)));
        assert_eq!(batch.locate(3), None);
        assert_eq!(batch.locate(text.lines().count() + 1), None);
    }

    #[test]
    fn a_batch_refuses_another_header() {
        let mut batch = Batch::default();
        batch.push(&part("8.0", "sm_90", "a")).unwrap();
        let error = batch.push(&part("8.0", "sm_75", "b")).unwrap_err();
        assert!(matches!(
            error,
            BatchError::Differs {
                directive: ".target",
                ..
            }
        ));
        assert_eq!(
            batch.push(".entry c() {}"),
            Err(BatchError::NoDirective(".version"))
        );
        assert_eq!(batch.len(), 1);
    }
}
