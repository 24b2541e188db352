//! Running a tool once, with its input on the standard input stream.
#![forbid(unsafe_code)]

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

/// Runs the command to its end with `input` on its standard input stream.
///
/// # Panics
/// The tool cannot be started.
pub(crate) fn run(command: &mut Command, input: &[u8]) -> Output {
    let shown = format!("{command:?}");
    let fail = |error: std::io::Error| -> ! { panic!("{shown} could not be run: {error}") };
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| fail(error));
    let stdin = child.stdin.take();
    std::thread::scope(|scope| {
        // Written from its own thread: a tool that fills its output before it has
        // read everything would otherwise wait for us while we wait for it.
        scope.spawn(move || {
            if let Some(mut stdin) = stdin {
                // A tool that gives up early closes the pipe; its message tells why.
                let _ = stdin.write_all(input);
            }
        });
        child.wait_with_output().unwrap_or_else(|error| fail(error))
    })
}

/// Both output streams as text, without blanks at the end.
pub(crate) fn text(output: &Output) -> String {
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    text.truncate(text.trim_end().len());
    text
}
