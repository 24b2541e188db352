//! Reading a file into its tests.

use kernite::kernel::Bounds;
use kernite::{ptx, spirv};
use std::ops::Range;

/// A file: its lines, and the tests among them.
#[derive(Clone, Debug)]
pub struct File {
    /// The lines as they are.
    pub lines: Vec<String>,
    /// One for each kernel, in order.
    pub tests: Vec<Test>,
}

/// A kernel and what must come of it.
#[derive(Clone, Debug)]
pub struct Test {
    /// The kernel's lines.
    pub kernel: Range<usize>,
    /// The lines that have an error, and what it says.
    pub errors: Vec<(usize, String)>,
    /// What stands below the kernel.
    pub directives: Vec<Directive>,
}

/// Something that must come of a kernel.
#[derive(Clone, Debug)]
pub struct Directive {
    /// Its line.
    pub line: usize,
    /// The lines that continue it.
    pub body: Range<usize>,
    /// What is behind the colon on its line.
    pub text: String,
    /// What it is.
    pub kind: Kind,
}

/// What a directive asks for.
#[derive(Clone, Debug)]
pub enum Kind {
    /// The text for NVIDIA GPUs.
    Ptx(Ptx),
    /// The binary for Vulkan, disassembled.
    Spirv(Spirv),
    /// A launch, and what is in the buffers behind it.
    Run(Run),
}

/// `; ptx TARGET [checked] [full] [refused]:`
#[derive(Clone, Copy, Debug)]
pub struct Ptx {
    /// The target and everything else that the emitter is told.
    pub options: ptx::Options,
    /// Compare the whole text, and not only the body.
    pub full: bool,
    /// The emitter must refuse, with the words behind the colon.
    pub refused: bool,
}

/// `; spirv [full] [refused] [option…]:`
#[derive(Clone, Copy, Debug)]
pub struct Spirv {
    /// What the emitter is told.
    pub options: spirv::Options,
    /// Compare the whole module, and not only the functions.
    pub full: bool,
    /// The emitter must refuse, with the words behind the colon.
    pub refused: bool,
}

/// `; run [checked] [grid X Y Z] [shared N] [subgroup N] [lanes N] [subnormals] [except NAME]: ARG, … -> bufN: VALUE, …`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Run {
    /// What accesses outside do.
    pub bounds: Bounds,
    /// Workgroups along x, y and z.
    pub grid: [u32; 3],
    /// Elements of the dynamic shared array.
    pub shared: u32,
    /// The subgroup size that the results are those of.
    pub subgroup: Option<u32>,
    /// The results are those of subgroups of so many lanes and more.
    pub lanes: Option<u32>,
    /// The results are those of targets that keep subnormals.
    pub subnormals: bool,
    /// Devices that are known to compute something else.
    pub except: Vec<String>,
}

/// Why a text is no file of tests.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}: {kind}", .line + 1)]
pub struct FormatError {
    /// The line, from 0.
    pub line: usize,
    /// What is wrong there.
    pub kind: FormatErrorKind,
}

/// What can be wrong with a line.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FormatErrorKind {
    /// A directive that does not exist, or has no colon.
    #[error(
        "there is no directive `{0}`; there are `ptx`, `spirv` and `run`, and `;;` begins a comment"
    )]
    Directive(String),
    /// A word between a directive and its colon that is no option of it.
    #[error("`{directive}` has no option `{option}`")]
    Option {
        /// The directive.
        directive: &'static str,
        /// The word.
        option: String,
    },
    /// A comment inside of a kernel that is no expected error.
    #[error("`;{0}` in a kernel: an expected error begins with `; error:`, a comment with `;;`")]
    Comment(String),
    /// A directive, or a continued line, that belongs to nothing.
    #[error("this belongs to no kernel or directive above it")]
    Stray,
    /// Something that is neither a kernel nor a comment.
    #[error("expected a kernel, a directive (`; …`) or a comment (`;; …`)")]
    Line,
    /// A kernel of which nothing is expected.
    #[error("nothing is expected of this kernel")]
    NothingExpected,
    /// A file without a kernel.
    #[error("there is no kernel in this file")]
    Empty,
    /// A directive below a kernel that must be refused.
    #[error("a kernel with an expected error has no directives")]
    AfterError,
}

impl File {
    /// Reads a file.
    ///
    /// # Errors
    /// The first line that does not follow the format.
    pub fn parse(text: &str) -> Result<File, FormatError> {
        let lines: Vec<String> = text.lines().map(String::from).collect();
        let mut tests: Vec<Test> = Vec::new();
        let mut at = 0;
        // Whether a line of a directive's body may come next.
        let mut open = false;
        while let Some(line) = lines.get(at) {
            let error = |kind| FormatError { line: at, kind };
            let continues = line.strip_prefix(';').is_some_and(continued);
            if line.starts_with("kernel") {
                if let Some(test) = tests.last() {
                    test.asks_for_something()?;
                }
                tests.push(Test::kernel(&lines, at)?);
                at = tests.last().map_or(at, |t| t.kernel.end);
                open = false;
                continue;
            } else if continues {
                let directive = tests.last_mut().and_then(|t| t.directives.last_mut());
                match directive {
                    Some(directive) if open => directive.body.end = at + 1,
                    _ => return Err(error(FormatErrorKind::Stray)),
                }
            } else if line.starts_with(";;") || line.trim().is_empty() {
                open = false;
            } else if let Some(text) = line.strip_prefix(';') {
                let directive = Directive::parse(at, text).map_err(error)?;
                let test = tests.last_mut().ok_or(error(FormatErrorKind::Stray))?;
                if !test.errors.is_empty() {
                    return Err(error(FormatErrorKind::AfterError));
                }
                test.directives.push(directive);
                open = true;
            } else {
                return Err(error(FormatErrorKind::Line));
            }
            at += 1;
        }
        match tests.last() {
            Some(test) => test.asks_for_something()?,
            None => {
                let kind = FormatErrorKind::Empty;
                return Err(FormatError { line: 0, kind });
            }
        }
        Ok(File { lines, tests })
    }
}

impl Test {
    /// The kernel that begins at a line, with the errors expected in it.
    fn kernel(lines: &[String], start: usize) -> Result<Test, FormatError> {
        let mut errors = Vec::new();
        let mut end = start;
        for line in lines.get(start..).unwrap_or(&[]) {
            if let Some(comment) = comment(line) {
                match error_of(comment) {
                    Some(message) => errors.push((end, message.into())),
                    None if comment.starts_with(';') => {}
                    None => {
                        let kind = FormatErrorKind::Comment(comment.into());
                        return Err(FormatError { line: end, kind });
                    }
                }
            }
            end += 1;
            if line.trim_start().starts_with('}') {
                break;
            }
        }
        Ok(Test {
            kernel: start..end,
            errors,
            directives: Vec::new(),
        })
    }

    fn asks_for_something(&self) -> Result<(), FormatError> {
        if self.errors.is_empty() && self.directives.is_empty() {
            return Err(FormatError {
                line: self.kernel.start,
                kind: FormatErrorKind::NothingExpected,
            });
        }
        Ok(())
    }
}

/// Whether what is behind the `;` continues the directive above.
fn continued(behind: &str) -> bool {
    behind.starts_with("   ")
}

/// What is behind the first `;` outside of strings.
pub(super) fn comment(line: &str) -> Option<&str> {
    let (mut quoted, mut escaped) = (false, false);
    let at = line.char_indices().find_map(|(at, c)| {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            ';' if !quoted => return Some(at),
            _ => {}
        }
        None
    })?;
    line.get(at + 1..)
}

/// The message of a comment that expects an error.
pub(super) fn error_of(comment: &str) -> Option<&str> {
    comment.trim().strip_prefix("error:").map(str::trim)
}

impl Directive {
    fn parse(line: usize, text: &str) -> Result<Directive, FormatErrorKind> {
        let unknown = || FormatErrorKind::Directive(text.trim().into());
        let (head, behind) = text.split_once(':').ok_or_else(unknown)?;
        let mut words = head.split_whitespace();
        let kind = match words.next() {
            Some("ptx") => Kind::Ptx(Ptx::parse(words)?),
            Some("spirv") => Kind::Spirv(Spirv::parse(words)?),
            Some("run") => Kind::Run(Run::parse(words)?),
            _ => return Err(unknown()),
        };
        Ok(Directive {
            line,
            body: line + 1..line + 1,
            text: behind.trim().into(),
            kind,
        })
    }
}

impl Ptx {
    fn parse<'a>(mut words: impl Iterator<Item = &'a str>) -> Result<Ptx, FormatErrorKind> {
        let no_option = |option: &str| FormatErrorKind::Option {
            directive: "ptx",
            option: option.into(),
        };
        let name = words.next().unwrap_or("");
        let target = ptx::Target::parse(name).map_err(|_| no_option(name))?;
        let mut ptx = Ptx {
            options: ptx::Options::new(target),
            full: false,
            refused: false,
        };
        for word in words {
            match word {
                "checked" => ptx.options = ptx.options.with_bounds(Bounds::Checked),
                "full" => ptx.full = true,
                "refused" => ptx.refused = true,
                _ => return Err(no_option(word)),
            }
        }
        Ok(ptx)
    }
}

impl Spirv {
    fn parse<'a>(words: impl Iterator<Item = &'a str>) -> Result<Spirv, FormatErrorKind> {
        let mut spirv = Spirv {
            options: spirv::Options::default(),
            full: false,
            refused: false,
        };
        for word in words {
            let options = &mut spirv.options;
            match word {
                "full" => spirv.full = true,
                "refused" => spirv.refused = true,
                "checked" => options.bounds = Bounds::Checked,
                "1.3" => options.version = spirv::Version::V1_3,
                "1.4" => options.version = spirv::Version::V1_4,
                "1.5" => options.version = spirv::Version::V1_5,
                "1.6" => options.version = spirv::Version::V1_6,
                "vulkan-memory-model" => options.memory_model = spirv::MemoryModel::Vulkan,
                "relaxed" => options.float_mode = spirv::FloatMode::Relaxed,
                "exact-fma" => options.fma = spirv::Fma::Exact,
                "host-lengths" => options.lengths = spirv::Lengths::HostFilled,
                "float-atomic-loops" => {
                    options.float_atomics = spirv::FloatAtomics::CompareExchange;
                }
                "zero-loop" => options.zero_shared = spirv::ZeroShared::Loop,
                "names" => options.names = true,
                _ => {
                    return Err(FormatErrorKind::Option {
                        directive: "spirv",
                        option: word.into(),
                    });
                }
            }
        }
        Ok(spirv)
    }
}

impl Run {
    fn parse<'a>(mut words: impl Iterator<Item = &'a str>) -> Result<Run, FormatErrorKind> {
        let mut run = Run {
            bounds: Bounds::Unchecked,
            grid: [1; 3],
            shared: 0,
            subgroup: None,
            lanes: None,
            subnormals: false,
            except: Vec::new(),
        };
        while let Some(word) = words.next() {
            let no_option = || FormatErrorKind::Option {
                directive: "run",
                option: word.into(),
            };
            let mut number = || {
                words
                    .next()
                    .and_then(|n| n.parse().ok())
                    .ok_or_else(no_option)
            };
            match word {
                "checked" => run.bounds = Bounds::Checked,
                "grid" => run.grid = [number()?, number()?, number()?],
                "shared" => run.shared = number()?,
                "subgroup" => run.subgroup = Some(number()?),
                "lanes" => run.lanes = Some(number()?),
                "subnormals" => run.subnormals = true,
                "except" => run.except.push(words.next().ok_or_else(no_option)?.into()),
                _ => return Err(no_option()),
            }
        }
        Ok(run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL: &str = "kernel k workgroup 1 1 1 {\n  return\n}\n";

    fn refused(text: &str) -> (usize, FormatErrorKind) {
        let error = File::parse(text).expect_err(text);
        (error.line, error.kind)
    }

    #[test]
    fn files_are_read_line_by_line() {
        let text = format!(
            ";; Prose.\n\n{KERNEL}; run grid 2 1 1 subgroup 8 except lavapipe:\n;   5u32,\n;   6u32\n;; More.\n; ptx sm_90a full:\n{KERNEL}; spirv 1.3 names relaxed:\n"
        );
        let file = File::parse(&text).unwrap();
        assert_eq!(file.tests.len(), 2);
        let [run, ptx] = &file.tests[0].directives[..] else {
            panic!("two directives");
        };
        assert_eq!((run.line, run.body.clone()), (5, 6..8));
        let Kind::Run(run) = &run.kind else {
            panic!("a run");
        };
        assert_eq!((run.grid, run.subgroup), ([2, 1, 1], Some(8)));
        assert_eq!(run.except, ["lavapipe"]);
        assert!(matches!(ptx.kind, Kind::Ptx(Ptx { full: true, .. })));
        assert_eq!(file.tests[1].kernel, 10..13);
    }

    #[test]
    fn errors_stand_on_their_lines() {
        let text = "kernel \";\\\";\" workgroup 0 1 1 { ; error: size\n  break ;; why\n  x ; error: a: b ;\n}\n";
        let file = File::parse(text).unwrap();
        assert_eq!(
            file.tests[0].errors,
            [(0, "size".into()), (2, "a: b ;".into())]
        );
    }

    #[test]
    fn nothing_unknown_is_passed_over() {
        let after = |line: &str| refused(&format!("{KERNEL}{line}\n"));
        let unknown = |text: &str| (3, FormatErrorKind::Directive(text.into()));
        assert_eq!(after("; rum: 5u32"), unknown("rum: 5u32"));
        assert_eq!(
            after("; Prose without its mark"),
            unknown("Prose without its mark")
        );
        assert_eq!(after("; ptx sm_80"), unknown("ptx sm_80"));
        assert_eq!(after("return"), (3, FormatErrorKind::Line));
        assert_eq!(after(";   stray"), (3, FormatErrorKind::Stray));
        assert_eq!(after(""), (0, FormatErrorKind::NothingExpected));
        assert_eq!(
            refused(&KERNEL.repeat(2)),
            (0, FormatErrorKind::NothingExpected)
        );
        assert_eq!(refused("; run:\n"), (0, FormatErrorKind::Stray));
        assert_eq!(refused(";; Nothing.\n"), (0, FormatErrorKind::Empty));
        for (line, directive, option) in [
            ("; ptx:", "ptx", ""),
            ("; ptx sm_71:", "ptx", "sm_71"),
            ("; ptx sm_80 fast:", "ptx", "fast"),
            ("; spirv 1.7:", "spirv", "1.7"),
            ("; run grid 1 1:", "run", "grid"),
            ("; run shared x:", "run", "shared"),
            ("; run except:", "run", "except"),
        ] {
            let option = option.into();
            assert_eq!(
                after(line),
                (3, FormatErrorKind::Option { directive, option })
            );
        }
        let comment = KERNEL.replace("return", "return ; eror: x");
        assert_eq!(
            refused(&comment),
            (1, FormatErrorKind::Comment(" eror: x".into()))
        );
        let error = KERNEL.replace("return", "return ; error: x");
        let both = format!("{error}; spirv:\n");
        assert_eq!(refused(&both), (3, FormatErrorKind::AfterError));
    }
}
