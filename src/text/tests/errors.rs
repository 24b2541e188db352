//! What is refused, where, and in which words.

use super::*;
use crate::verify::{FaultKind, MAX_DEPTH};

/// A kernel around the lines; the first of them is line 2.
fn body(lines: &str) -> String {
    format!("kernel k workgroup 1 1 1 {{\n{lines}\n}}\n")
}

#[test]
fn errors_name_the_place_and_what_was_wanted() {
    let header = [
        (
            "kernal k",
            "line 1, column 1: expected `kernel`, found `kernal`",
        ),
        ("}", "line 1, column 1: expected `kernel`, found `}`"),
        (
            "\u{FEFF}kernel k",
            "line 1, column 1: expected `kernel`, found `\\u{feff}`",
        ),
        (
            "kernel",
            "line 1, column 7: expected the kernel's name, found the end of the text",
        ),
        (
            "kernel 1k",
            "line 1, column 8: expected the kernel's name, found `1k`",
        ),
        (
            "kernel ä",
            "line 1, column 8: expected the kernel's name, found `ä`",
        ),
        (
            "kernel k\n",
            "line 1, column 9: expected `workgroup`, found the end of the line",
        ),
        (
            "kernel k workgroup 1 1 {",
            "line 1, column 24: expected workgroup size (a number below 2^32), found `{`",
        ),
        (
            "kernel k workgroup 1 1 -1 {",
            "line 1, column 24: expected workgroup size (a number below 2^32), found `-`",
        ),
        (
            "kernel k workgroup 1 4294967296 1 {",
            "line 1, column 22: `4294967296` is no workgroup size (a number below 2^32)",
        ),
        (
            "kernel k workgroup 1 0x1 1 {",
            "line 1, column 22: `0x1` is no workgroup size (a number below 2^32)",
        ),
        (
            "kernel k workgroup 1 1 1 ; {",
            "line 1, column 26: expected `{`, found the end of the line",
        ),
        (
            "kernel k workgroup 1 1 1 { }",
            "line 1, column 28: expected the end of the line, found `}`",
        ),
        (
            "kernel k workgroup 1 1 1 {",
            "line 1, column 27: the text ends within kernel \"k\"",
        ),
        (
            "kernel k workgroup 1 1 1 {\n} x",
            "line 2, column 3: expected the end of the line, found `x`",
        ),
        (
            "kernel \"k\n\"",
            "line 1, column 8: the string does not end on this line",
        ),
        (
            "kernel \"k",
            "line 1, column 8: the string does not end on this line",
        ),
        (
            "kernel \"k\\",
            "line 1, column 10: there is no escape `\\`; there are \\\" \\\\ \\' \\n \\r \\t \\0 \\u{...}",
        ),
        (
            "kernel \"\\x41\"",
            "line 1, column 9: there is no escape `\\x`; there are \\\" \\\\ \\' \\n \\r \\t \\0 \\u{...}",
        ),
        (
            "kernel \"é\\u{D800}\"",
            "line 1, column 10: there is no escape `\\u{D800}`; there are \\\" \\\\ \\' \\n \\r \\t \\0 \\u{...}",
        ),
        (
            "kernel \"\\u{110000}\"",
            "line 1, column 9: there is no escape `\\u{110000}`; there are \\\" \\\\ \\' \\n \\r \\t \\0 \\u{...}",
        ),
        (
            "kernel \"\\u{}\"",
            "line 1, column 9: there is no escape `\\u{}`; there are \\\" \\\\ \\' \\n \\r \\t \\0 \\u{...}",
        ),
        (
            "kernel \"\\u{0000041}\"",
            "line 1, column 9: there is no escape `\\u`; there are \\\" \\\\ \\' \\n \\r \\t \\0 \\u{...}",
        ),
        (
            "kernel \"\\u{+41}\"",
            "line 1, column 9: there is no escape `\\u{+41}`; there are \\\" \\\\ \\' \\n \\r \\t \\0 \\u{...}",
        ),
    ];
    let lines = [
        (
            "buffer bug0 f32 read",
            "line 2, column 8: expected a buffer such as `buf0`, found `bug0`",
        ),
        (
            "buffer buf1 f32 read set 0 binding 0",
            "line 2, column 8: this is buf0, not buf1",
        ),
        (
            "buffer buf0 \"a\" \"b\"",
            "line 2, column 17: expected a type, found a string",
        ),
        (
            "buffer buf0 f31 read",
            "line 2, column 13: there is no type `f31`",
        ),
        (
            "buffer buf0 f32x3 read",
            "line 2, column 13: there is no type `f32x3`",
        ),
        (
            "buffer buf0 f32 set",
            "line 2, column 17: expected `read`, `write` or `read_write`, found `set`",
        ),
        (
            "buffer buf0 f32 read binding 0",
            "line 2, column 22: expected `set`, found `binding`",
        ),
        (
            "buffer buf0 f32 read set 0",
            "line 2, column 27: expected `binding`, found the end of the line",
        ),
        (
            "scalar v0 u32",
            "line 2, column 8: expected a scalar parameter such as `arg0`, found `v0`",
        ),
        (
            "scalar arg0 u32 7",
            "line 2, column 17: expected the end of the line, found `7`",
        ),
        (
            "shared shared0 f32 256",
            "line 2, column 20: expected `x` and a length, or `dynamic`, found `256`",
        ),
        (
            "shared shared0 f32 x 99999999999",
            "line 2, column 22: `99999999999` is no length (a number below 2^32)",
        ),
        (
            "private private0 f32 dynamic",
            "line 2, column 22: expected `x` and a length, found `dynamic`",
        ),
        (
            "private shared0 f32 x 1",
            "line 2, column 9: expected a private array such as `private0`, found `shared0`",
        ),
        (
            "return\nscalar arg0 u32",
            "line 3, column 1: a declaration after instructions: declarations come first",
        ),
        (
            "?",
            "line 2, column 1: expected a declaration, an instruction or `}`, found `?`",
        ),
        ("nop", "line 2, column 1: there is no opcode `nop`"),
        (
            "v0: u32 = ",
            "line 2, column 11: expected an opcode, found the end of the line",
        ),
        ("  v1: u32 = lane", "line 2, column 3: this is v0, not v1"),
        (
            "v0: bool = const true\nvar0: bool = var v0",
            "line 3, column 1: this is var1, not var0",
        ),
        (
            "x0: u32 = lane",
            "line 2, column 1: expected a value such as `v0`, found `x0`",
        ),
        (
            "v99999999999: u32 = lane",
            "line 2, column 1: `v99999999999` is no id with a number below 2^32",
        ),
        ("v0 u32 = lane", "line 2, column 1: there is no opcode `v0`"),
        (
            "v0: u32 lane",
            "line 2, column 9: expected `=`, found `lane`",
        ),
        (
            "lane",
            "line 2, column 1: `lane` makes a result and needs `vN: type =` before it",
        ),
        (
            "var v0",
            "line 2, column 1: `var` makes a result and needs `varN: type =` before it",
        ),
        (
            "v0: u32 = return",
            "line 2, column 1: `return` does not make v0",
        ),
        (
            "var0: u32 = lane",
            "line 2, column 1: `lane` does not make var0",
        ),
        (
            "v0: u32 = var v0",
            "line 2, column 1: `var` does not make v0",
        ),
        (
            "v0: u32 = global_id",
            "line 2, column 20: expected `.x`, `.y` or `.z`, found the end of the line",
        ),
        (
            "v0: u32 = global_id.w",
            "line 2, column 21: expected `x`, `y` or `z`, found `w`",
        ),
        (
            "v0: u32 = lane.x",
            "line 2, column 15: expected the end of the line, found `.`",
        ),
        (
            "v0: u32 = add v1 v2",
            "line 2, column 18: expected `,`, found `v2`",
        ),
        (
            "v0: u32 = add v1, 2",
            "line 2, column 19: expected a value such as `v0`, found `2`",
        ),
        (
            "v0: u32 = var_get v0",
            "line 2, column 19: expected a variable such as `var0`, found `v0`",
        ),
        (
            "v0: u32 = load tile[v0]",
            "line 2, column 16: expected a buffer, shared or private array, found `tile`",
        ),
        (
            "v0: u32 = load buf268435456[v0]",
            "line 2, column 16: `buf268435456` is no id with a number below 2^28",
        ),
        (
            "v0: u32 = load buf0 v0",
            "line 2, column 21: expected `[`, found `v0`",
        ),
        (
            "v0: u32 = load buf0[v0 + v1]",
            "line 2, column 26: `v1` is no offset (a number below 2^32)",
        ),
        (
            "v0: u32 = load buf0[v0 - 1]",
            "line 2, column 24: expected `+` or `]`, found `-`",
        ),
        (
            "v0: u32 = load buf0[v0] volatile volatile",
            "line 2, column 34: `volatile` stands here twice",
        ),
        (
            "v0: u32 = atomic_load buf0[v0] acquire",
            "line 2, column 39: expected `workgroup` or `device`, found the end of the line",
        ),
        (
            "memory_fence",
            "line 2, column 13: expected `workgroup` or `device`, found the end of the line",
        ),
        (
            "v0: u32 = const",
            "line 2, column 16: expected a constant, found the end of the line",
        ),
        (
            "v0: u32 = const -1",
            "line 2, column 17: `-1` is no constant of type u32",
        ),
        (
            "v0: f32x2 = const 1.0",
            "line 2, column 19: `1.0` is no constant of type f32x2",
        ),
        (
            "v0: f32 = const 1e99",
            "line 2, column 17: `1e99` is no constant of type f32",
        ),
        (
            "if v0 if v0",
            "line 2, column 7: expected the end of the line, found `if`",
        ),
    ];
    let lines = lines.map(|(text, message)| (body(text), message));
    for (text, message) in header
        .map(|(t, m)| (t.to_string(), m))
        .into_iter()
        .chain(lines)
    {
        let error = parse(&text).expect_err(&text);
        assert_eq!(error.to_string(), message, "{text}");
    }
}

#[test]
fn found_texts_are_cut() {
    let error = parse(&body(&"ü".repeat(9))).unwrap_err();
    assert!(matches!(error.kind, ParseErrorKind::Expected { .. }));
    let error = parse(&body(&"x".repeat(100_000))).unwrap_err();
    assert_eq!(
        error.kind,
        ParseErrorKind::Opcode(format!("{}...", "x".repeat(40)))
    );
    let digits = "1".repeat(100_000);
    for line in [
        "v0: f32 = const",
        "v0: u64 = const",
        "v0: i8 = const -",
        "v0: u32 = lane v",
    ] {
        assert!(parse(&body(&format!("{line}{digits}"))).is_err());
        assert!(parse(&body(&format!("{line} {digits}"))).is_err());
    }
}

#[test]
fn one_kernel_is_one() {
    let not_one = |found, line| {
        let place = Place { line, column: 1 };
        let kind = ParseErrorKind::NotOne { found };
        Err(ParseError { place, kind })
    };
    assert_eq!("; none".parse::<Kernel>(), not_one(0, 1));
    let kernel = "kernel k workgroup 1 1 1 {\n}\n";
    assert_eq!(kernel.repeat(3).parse::<Kernel>(), not_one(3, 3));
    let error = kernel.repeat(2).parse::<Kernel>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 3, column 1: expected one kernel, found 2"
    );
}

/// The faults of the text with their lines.
fn faults(text: &str) -> Vec<(u32, FaultKind)> {
    match parse(text).expect_err(text) {
        ParseError {
            place,
            kind: ParseErrorKind::Verify { error, lines },
        } => {
            assert_eq!(Some(&place.line), lines.first());
            let kinds = error.faults().iter().map(|f| f.kind.clone());
            lines.into_iter().zip(kinds).collect()
        }
        other => panic!("{other}"),
    }
}

#[test]
fn faults_of_instructions_are_told_by_line() {
    let text = body("v0: u32 = lane\n; comment\n\n  v1: u32 = add v0, v7\nbreak\nif v0");
    let error = parse(&text).unwrap_err();
    assert_eq!(error.place, Place { line: 5, column: 3 });
    assert_eq!(
        error.to_string(),
        "line 5, column 3: kernel \"k\" is not valid:\n  line 5: v7 is no value\n  \
         line 6: `break` outside of a loop\n  line 7: v0 is u32, expected bool\n  \
         line 8: 1 blocks are still open at the end"
    );
}

#[test]
fn faults_of_declarations_are_told_by_line() {
    let text = "; first
kernel \"a\\0\" workgroup 0 1 1 {
  shared shared0 f32 dynamic
  buffer buf0 f32 read set 0 binding 1
  scalar arg0 f32x2
  buffer buf1 bool read set 0 binding 0
  buffer buf2 f32 read set 0 binding 1
  private private0 \"\\0\" u32 x 0
  shared shared1 f32 x 4294967295
  buffer buf3 \"\\0\" f32 read set 0 binding 0
  buffer buf4 f32 read set 0 binding 1
  shared shared2 f32 dynamic
}";
    let mut lines: Vec<_> = faults(text)
        .into_iter()
        .map(|(line, kind)| {
            let name = match kind {
                FaultKind::Name(_) => "name",
                FaultKind::WorkgroupSize(_) => "size",
                FaultKind::DeclType { .. } => "type",
                FaultKind::ArrayLen { .. } => "length",
                FaultKind::SecondDynamic(_) => "dynamic",
                FaultKind::Binding { .. } => "binding",
                other => panic!("{other}"),
            };
            (line, name)
        })
        .collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        [
            (2, "name"),
            (2, "size"),
            (5, "type"),
            (6, "type"),
            (7, "binding"),
            (8, "length"),
            (8, "name"),
            (9, "length"),
            (10, "binding"),
            (10, "name"),
            (11, "binding"),
            (12, "dynamic"),
        ]
    );
    let long = "x".repeat(crate::verify::MAX_NAME + 1);
    let named = format!("kernel {long} workgroup 1 1 1 {{\n}}");
    assert_eq!(faults(&named), [(1, FaultKind::Name(long))]);
    let empty = faults("kernel \"\" workgroup 1 1 1 {\n}");
    assert_eq!(empty, [(1, FaultKind::Name(String::new()))]);
}

#[test]
fn nesting_beyond_the_limit_is_a_fault_on_its_line() {
    for deep in [MAX_DEPTH + 1, 50_000] {
        let text = format!(
            "v0: bool = const true\n{}{}",
            "if v0\n".repeat(deep),
            "end\n".repeat(deep)
        );
        let found = faults(&body(&text));
        assert_eq!(found.len(), deep - MAX_DEPTH);
        assert_eq!(found[0], (MAX_DEPTH as u32 + 3, FaultKind::TooDeep));
    }
}

#[test]
fn a_text_cut_anywhere_is_an_error() {
    let complete = EVERYTHING.trim_end();
    for (cut, _) in complete.char_indices() {
        let read = parse(&complete[..cut]);
        match cut {
            0 => assert_eq!(read, Ok(Vec::new())),
            _ => assert!(read.is_err(), "{}", &complete[..cut]),
        }
    }
}

/// Anything quadratic would take minutes here.
#[test]
fn large_texts_take_linear_time() {
    let n = 50_000;
    let declare = |i: usize| format!("buffer buf{i} \"\\0\" bool read set 0 binding 0\n");
    let texts = [
        format!("kernel \"{}\" workgroup 1 1 1 {{\n}}", "\\n".repeat(n)),
        format!("kernel \"{}\" workgroup 1 1 1 {{\n}}", "ü".repeat(n)),
        body(&" ".repeat(n)) + "x",
        body(&"break\n".repeat(n)),
        body(&(0..n / 10).map(declare).collect::<String>()),
        body(&format!("v0: f32 = const 0.{}x", "1".repeat(n))),
        body(&format!("v0: bool = const true\n{}", "if v0\n".repeat(n))),
        body(&format!("v0: u32 = lane {}", ";".repeat(n))) + "\n}",
        ";\n".repeat(n) + "x",
    ];
    for text in texts {
        let error = parse(&text).expect_err("each of them is wrong");
        assert!(!error.to_string().is_empty());
    }
    let many = parse(&"kernel k workgroup 1 1 1 {\n}\n".repeat(n / 10));
    assert_eq!(many.map(|kernels| kernels.len()), Ok(n / 10));
}
