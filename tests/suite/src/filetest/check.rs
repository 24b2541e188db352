//! Carrying out a file: parsing its kernels, emitting, comparing, running.

use super::edit::{Edit, apply};
use super::format::{Directive, File, FormatError, Kind, Ptx, Spirv, Test, comment, error_of};
use super::{launch, names};
use kernite::kernel::Kernel;
use kernite::text::{self, ParseError, ParseErrorKind};
use kernite::{ptx, spirv};
use std::collections::BTreeMap;

/// What came of a file.
#[derive(Clone, Debug, Default)]
pub struct Checked {
    /// What did not come out as expected, in the order of the file.
    pub failures: Vec<Failure>,
    /// The file with its expectations rewritten, where that was asked for and changes something.
    pub blessed: Option<String>,
}

/// Something that did not come out as expected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The line, from 0.
    pub line: usize,
    /// What was expected and what came.
    pub message: String,
    /// Whether `BLESS=1` makes it the expectation.
    pub blessable: bool,
}

/// Carries out every test of a file. With `bless` what is emitted and refused becomes what is expected; the results of
/// runs never do, since they are the right values and not what happens to come out.
pub fn check(text: &str, bless: bool) -> Checked {
    let file = match File::parse(text) {
        Ok(file) => file,
        Err(e) => {
            let failure = Failure {
                line: e.line,
                message: e.kind.to_string(),
                blessable: false,
            };
            return Checked {
                failures: vec![failure],
                ..Checked::default()
            };
        }
    };
    let mut checker = Checker {
        lines: &file.lines,
        checked: Checked::default(),
        edits: Vec::new(),
        bless,
    };
    for test in &file.tests {
        checker.test(test);
    }
    let Checker {
        mut checked, edits, ..
    } = checker;
    if bless && !edits.is_empty() {
        checked.blessed = Some(apply(&file.lines, edits));
    }
    checked
}

/// The kernels of a file that are valid.
///
/// # Errors
/// The file does not follow the format.
pub fn kernels(text: &str) -> Result<Vec<Kernel>, FormatError> {
    let file = File::parse(text)?;
    let parsed = file.tests.iter().map(|test| parse(&file.lines, test));
    Ok(parsed.flatten().flatten().collect())
}

/// Why the kernels of a file that are not valid are refused.
///
/// # Errors
/// The file does not follow the format.
pub fn refusals(text: &str) -> Result<Vec<ParseError>, FormatError> {
    let file = File::parse(text)?;
    let parsed = file.tests.iter().map(|test| parse(&file.lines, test));
    Ok(parsed.filter_map(Result::err).collect())
}

fn parse(lines: &[String], test: &Test) -> Result<Vec<Kernel>, ParseError> {
    let kernel = lines.get(test.kernel.clone()).unwrap_or(&[]);
    // Empty lines before it, so that places are those of the file.
    text::parse(&("\n".repeat(test.kernel.start) + &kernel.join("\n")))
}

struct Checker<'a> {
    lines: &'a [String],
    checked: Checked,
    edits: Vec<Edit>,
    bless: bool,
}

impl Checker<'_> {
    fn failure(&mut self, line: usize, message: String) {
        self.checked.failures.push(Failure {
            line,
            message,
            blessable: false,
        });
    }

    /// A failure that blessing makes the expectation instead.
    fn unexpected(&mut self, line: usize, message: String, edit: Edit) {
        if self.bless {
            self.edits.push(edit);
        } else {
            self.checked.failures.push(Failure {
                line,
                message,
                blessable: true,
            });
        }
    }

    fn test(&mut self, test: &Test) {
        match parse(self.lines, test) {
            Ok(kernels) if test.errors.is_empty() => {
                self.reads_back(test, &kernels);
                for directive in &test.directives {
                    kernels.iter().for_each(|k| self.directive(k, directive));
                }
            }
            Ok(_) => self.errors(test, &BTreeMap::new()),
            Err(e) if test.errors.is_empty() => {
                self.failure(
                    e.place.line as usize - 1,
                    format!("not a kernel: {}", e.kind),
                );
            }
            Err(e) => self.errors(test, &by_line(&e)),
        }
    }

    /// Whatever else is expected, a printed kernel must be the kernel.
    fn reads_back(&mut self, test: &Test, kernels: &[Kernel]) {
        for kernel in kernels {
            let printed = kernel.to_string();
            match printed.parse::<Kernel>() {
                Ok(read) if read.to_bytes() == kernel.to_bytes() => {}
                Ok(_) => {
                    let message = format!("printed and read it is another kernel:\n{printed}");
                    self.failure(test.kernel.start, message);
                }
                Err(e) => {
                    let message = format!("printed it does not read: {e}\n{printed}");
                    self.failure(test.kernel.start, message);
                }
            }
        }
    }

    /// Compares the errors with those expected, line by line.
    fn errors(&mut self, test: &Test, found: &BTreeMap<usize, String>) {
        let expected: BTreeMap<usize, &String> =
            test.errors.iter().map(|(line, e)| (*line, e)).collect();
        for at in test.kernel.clone() {
            let (expected, found) = (expected.get(&at).copied(), found.get(&at));
            if expected == found {
                continue;
            }
            let line = self.lines.get(at).map_or("", String::as_str);
            let (code, behind) = match comment(line) {
                Some(behind) => (&line[..line.len() - behind.len() - 1], behind),
                None => (line, ""),
            };
            let code = code.trim_end();
            let mut by = Vec::new();
            // A comment on the line goes above it: the message takes the rest of the line.
            if !behind.is_empty() && error_of(behind).is_none() {
                let indent = &line[..line.len() - line.trim_start().len()];
                by.push(format!("{indent};{behind}"));
            }
            by.push(match found {
                Some(found) => format!("{code} ; error: {found}"),
                None => code.to_owned(),
            });
            let none = "none".to_owned();
            let message = format!(
                "expected the error {:?}, found {:?}",
                expected.unwrap_or(&none),
                found.unwrap_or(&none)
            );
            let edit = Edit {
                lines: at..at + 1,
                by,
            };
            self.unexpected(at, message, edit);
        }
    }

    fn directive(&mut self, kernel: &Kernel, directive: &Directive) {
        match &directive.kind {
            Kind::Ptx(ptx) => {
                let emitted = ptx::emit(kernel, &ptx.options).map_err(|e| e.to_string());
                self.emitted(
                    directive,
                    ptx.refused,
                    emitted.map(|text| ptx_lines(ptx, &text)),
                );
            }
            Kind::Spirv(spirv) => {
                let emitted = spirv::emit(kernel, &spirv.options).map_err(|e| e.to_string());
                match emitted.map(|words| spirv_lines(spirv, &words)) {
                    Ok(Ok(lines)) => self.emitted(directive, spirv.refused, Ok(lines)),
                    Ok(Err(e)) => self.failure(directive.line, e),
                    Err(e) => self.emitted(directive, spirv.refused, Err(e)),
                }
            }
            Kind::Run(run) => {
                let mut text = directive.text.clone();
                for line in self.lines.get(directive.body.clone()).unwrap_or(&[]) {
                    text += line.trim_start_matches(';');
                }
                if let Err(message) = launch::run(kernel, run, &text) {
                    self.failure(directive.line, message);
                }
            }
        }
    }

    /// Compares what was emitted, or why it was refused, with the directive.
    fn emitted(
        &mut self,
        directive: &Directive,
        refused: bool,
        emitted: Result<Vec<String>, String>,
    ) {
        let head = directive.line..directive.line + 1;
        match emitted {
            Ok(_) if refused => {
                let message = "expected a refusal, and it was emitted".into();
                self.failure(directive.line, message);
            }
            Err(e) if !refused => self.failure(directive.line, format!("refused: {e}")),
            Err(e) if e == directive.text => {}
            Err(e) => {
                let line = self.lines.get(directive.line).map_or("", String::as_str);
                let (head_text, _) = line.split_once(':').unwrap_or((line, ""));
                let message = format!("expected the refusal {:?}, found {e:?}", directive.text);
                let by = vec![format!("{head_text}: {e}")];
                self.unexpected(directive.line, message, Edit { lines: head, by });
            }
            Ok(lines) => {
                let body = directive.body.clone();
                let expected: Vec<&str> = self
                    .lines
                    .get(body.clone())
                    .unwrap_or(&[])
                    .iter()
                    .map(|line| line.get(4..).unwrap_or(""))
                    .collect();
                if expected == lines {
                    return;
                }
                let at = expected.iter().zip(&lines).position(|(e, l)| e != l);
                let at = at.unwrap_or(expected.len().min(lines.len()));
                let message = format!(
                    "expected {:?}, emitted {:?}",
                    expected.get(at).unwrap_or(&"nothing more"),
                    lines.get(at).map_or("nothing more", String::as_str)
                );
                let place = directive.line + 1 + at.min(expected.len());
                let by = lines.iter().map(|line| format!(";   {line}")).collect();
                self.unexpected(place, message, Edit { lines: body, by });
            }
        }
    }
}

/// The errors of each line, joined by `|` where there are several.
fn by_line(error: &ParseError) -> BTreeMap<usize, String> {
    let mut found: BTreeMap<usize, String> = BTreeMap::new();
    let mut add = |line: u32, message: String| {
        let at = found.entry(line.saturating_sub(1) as usize).or_default();
        if !at.is_empty() {
            *at += " | ";
        }
        *at += &message;
    };
    match &error.kind {
        ParseErrorKind::Verify { error, lines } => {
            for (fault, line) in error.faults().iter().zip(lines) {
                add(*line, fault.kind.to_string());
            }
        }
        kind => add(error.place.line, kind.to_string()),
    }
    found
}

/// The text's lines, indented by spaces; without `full` those of the entry's body, declarations of registers left out.
fn ptx_lines(ptx: &Ptx, text: &str) -> Vec<String> {
    let spaced = text.lines().map(|line| line.replace('\t', "  "));
    if ptx.full {
        return spaced.collect();
    }
    spaced
        .skip_while(|line| line != "{")
        .skip(1)
        .take_while(|line| line != "}")
        .filter(|line| !line.trim_start().starts_with(".reg"))
        .collect()
}

/// The disassembled module; without `full` its functions, made to read.
fn spirv_lines(spirv: &Spirv, words: &[u32]) -> Result<Vec<String>, String> {
    let text = kernite_testkit::rspirv::disassemble(words).map_err(|e| e.to_string())?;
    if spirv.full {
        return Ok(text.lines().map(String::from).collect());
    }
    Ok(names::readable(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL: &str = "\
kernel k workgroup 1 1 1 {
  buffer buf0 u32 write set 0 binding 0
  v0: u32 = const 0
  store buf0[v0], v0
}
";
    const WRONG: &str = "\
;; Prose.
kernel k workgroup 1 1 1 {
  buffer buf0 u32 read set 0 binding 0
  v0: u32 = const 0
  store buf0[v0], v0 ; error: no
  v2: u32 = add v0, v9 ;; why
}
";

    fn failures(text: &str) -> Vec<(usize, String)> {
        let checked = check(text, false);
        assert_eq!(checked.blessed, None);
        let failures = checked.failures.into_iter();
        failures.map(|f| (f.line, f.message)).collect()
    }

    #[test]
    fn blessed_files_hold() {
        for text in [
            format!("{KERNEL}; ptx sm_80:\n; spirv:\n; run: u32[1] -> buf0: u32[0]\n"),
            format!("{KERNEL}; ptx sm_90 full:\n;   old\n;; Prose.\n; spirv 1.3 full:\n"),
            WRONG.into(),
        ] {
            assert!(check(&text, false).failures.iter().all(|f| f.blessable));
            let blessed = check(&text, true);
            assert_eq!(blessed.failures, []);
            let rewritten = blessed.blessed.unwrap();
            assert_ne!(rewritten, text);
            assert_eq!(failures(&rewritten), [], "{rewritten}");
            assert_eq!(check(&rewritten, true).blessed, None, "blessed once");
        }
    }

    #[test]
    fn what_is_not_expected_fails_on_its_line() {
        let found = failures(WRONG);
        assert_eq!(found[0].0, 4);
        assert!(
            found[0]
                .1
                .contains("\"no\", found \"buf0 is declared read\""),
            "{found:?}"
        );
        assert_eq!(found[1].0, 5);
        let valid = KERNEL.replace("const 0", "const 0 ; error: x");
        assert_eq!(
            failures(&valid)[0].1,
            "expected the error \"x\", found \"none\""
        );
        let invalid = WRONG.replace(" ; error: no", "") + "; spirv:\n";
        assert!(failures(&invalid)[0].1.starts_with("not a kernel: "));
        let wrong_run = format!("{KERNEL}; run: u32[1] ->\n;   buf0: u32[1]\n");
        assert_eq!(failures(&wrong_run)[0].0, 5);
        let blessed = check(&wrong_run, true);
        assert_eq!(blessed.blessed, None, "values are never blessed");
        assert_eq!(blessed.failures.len(), 1);
        let emitted = format!("{KERNEL}; ptx sm_80 refused: x\n");
        assert_eq!(
            failures(&emitted)[0].1,
            "expected a refusal, and it was emitted"
        );
        let body = format!("{KERNEL}; ptx sm_80:\n;     ret;\n");
        assert_eq!(failures(&body)[0].0, 6);
    }
}
