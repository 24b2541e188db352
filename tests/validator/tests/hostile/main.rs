//! Modules made to cost time, memory or stack, or to slip past a check, of the kinds that other tools' users reported. Each
//! is judged on a thread with a small stack, printed, and compared with spirv-val.

mod flow;

use kernite::spirv::validate::{Options, Validator};
use kernite::spirv::{Verdict, disassemble};
use kernite_validator_tests::{asm, oracle};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Right {
    Valid,
    Invalid,
    Unsupported,
    /// By the specification, where spirv-val is silent: a rule that can be switched off.
    Alone,
    /// Likewise, where spirv-val has the rule and computes it wrongly: docs/validator.md lists those.
    Wrong,
}
use Right::{Alone, Invalid, Unsupported, Valid, Wrong};

#[track_caller]
fn judge(what: &str, words: Vec<u32>, right: Right) {
    let start = std::time::Instant::now();
    let verdict = std::thread::Builder::new()
        .stack_size(256 << 10)
        .spawn(move || {
            let verdict = Validator::new().words(&words);
            let text = disassemble(&words);
            (verdict, text.len(), words)
        })
        .expect("a thread")
        .join();
    let (verdict, printed, words) = verdict.unwrap_or_else(|_| panic!("{what}: panicked"));
    println!("{what}: {} words, {:?}", words.len(), start.elapsed());
    assert!(printed > 0);
    let expected = match right {
        Valid => verdict.is_valid(),
        Invalid | Alone | Wrong => verdict.is_invalid(),
        Unsupported => verdict.is_unsupported(),
    };
    let text = verdict.to_string();
    let text: String = text.chars().take(400).collect();
    assert!(expected, "{what}: {text}");
    // It takes its time for large ones, and may not come back.
    if words.len() < 20_000
        && right != Unsupported
        && let Some(tool) = oracle::find(oracle::Tool::SpirvVal)
    {
        let (valid, message) = oracle::spirv_val(&tool, &asm::bytes(&words));
        assert_eq!(
            valid,
            right != Invalid,
            "{what}: {text}; spirv-val: {message}"
        );
        if right == Alone {
            let mut plain = Validator::with_options(Options {
                beyond_spirv_val: false,
                ..Options::default()
            });
            let verdict = plain.words(&words);
            assert!(!matches!(verdict, Verdict::Invalid(_)), "{what}: {verdict}");
        }
    }
}

fn text(what: &str, text: &str, right: Right) {
    judge(what, asm::assemble(text), right);
}

/// A module with annotations, declarations and a body, and what the body may use.
fn module(annotations: &str, types: &str, body: &str) -> String {
    shell("", annotations, types, body)
}

fn shell(capabilities: &str, annotations: &str, types: &str, body: &str) -> String {
    format!(
        "OpCapability Shader\n{capabilities}\nOpMemoryModel Logical GLSL450\n\
         OpEntryPoint GLCompute %main \"main\"\nOpExecutionMode %main LocalSize 1 1 1\n\
         {annotations}\n\
         %void = OpTypeVoid\n%fn = OpTypeFunction %void\n%bool = OpTypeBool\n\
         %u32 = OpTypeInt 32 0\n%f32 = OpTypeFloat 32\n%c0 = OpConstant %u32 0\n\
         %c1 = OpConstant %u32 1\n%f1 = OpConstant %f32 1\n%yes = OpConstantTrue %bool\n\
         {types}\n\
         %main = OpFunction %void None %fn\n%entry = OpLabel\n{body}\nOpReturn\nOpFunctionEnd"
    )
}

fn many(n: usize, mut line: impl FnMut(usize) -> String) -> String {
    (0..n).fold(String::new(), |mut all, i| {
        all.push_str(&line(i));
        all.push('\n');
        all
    })
}

#[test]
fn sizes_that_wrap() {
    let deep = many(40, |i| format!("%a{} = OpTypeArray %a{i} %big", i + 1));
    let nested = format!("%big = OpConstant %u32 4294967295\n%a0 = OpTypeArray %u32 %big\n{deep}");
    text(
        "an array of 2^1312 elements",
        &module("", &nested, ""),
        Valid,
    );
    let wide = "%u64 = OpTypeInt 64 0\n%big = OpConstant %u64 9223372036854775807\n%a = OpTypeArray %u32 %big";
    text(
        "an array of 2^63 - 1 elements",
        &shell("OpCapability Int64", "", wide, ""),
        Valid,
    );
    let zero = "%u64 = OpTypeInt 64 0\n%none = OpConstant %u64 4294967296\n%a = OpTypeArray %u32 %none\n%z = OpConstant %u64 0\n%b = OpTypeArray %u32 %z";
    text(
        "a length of 0 in 64 bits",
        &shell("OpCapability Int64", "", zero, ""),
        Invalid,
    );
    let signed = "%i32 = OpTypeInt 32 1\n%minus = OpConstant %i32 -1\n%a = OpTypeArray %u32 %minus";
    text("a negative length", &module("", signed, ""), Invalid);
    let block = |offset: u32, stride: u32| {
        let notes = format!(
            "OpDecorate %s Block\nOpMemberDecorate %s 0 Offset 0\nOpMemberDecorate %s 1 Offset {offset}\nOpDecorate %a ArrayStride {stride}\nOpDecorate %v DescriptorSet 0\nOpDecorate %v Binding 0"
        );
        let types = "%n = OpConstant %u32 0x40000000\n%a = OpTypeArray %u32 %n\n%s = OpTypeStruct %a %u32\n%p = OpTypePointer StorageBuffer %s\n%v = OpVariable %p StorageBuffer";
        module(&notes, types, "").replace("\"main\"", "\"main\" %v")
    };
    // 2^30 elements of 4 bytes: 2^32.
    text("a member behind 2^32 bytes", &block(0xFFFF_FFFC, 4), Wrong);
    text(
        "a stride of 2^32 - 4",
        &block(0xFFFF_FFFC, 0xFFFF_FFFC),
        Wrong,
    );
    text("offsets that overlap", &block(4, 4), Wrong);
}

#[test]
fn types_in_circles() {
    for (what, types, right) in [
        ("a structure of itself", "%s = OpTypeStruct %s", Invalid),
        ("an array of itself", "%a = OpTypeArray %a %c1", Invalid),
        (
            "an array as long as itself",
            "%a = OpTypeArray %u32 %a",
            Invalid,
        ),
        (
            "two structures of each other",
            "%s = OpTypeStruct %t\n%t = OpTypeStruct %s",
            Invalid,
        ),
        (
            "a function type of itself",
            "%f = OpTypeFunction %f",
            Invalid,
        ),
        (
            "a pointer to itself",
            "%p = OpTypePointer Function %p",
            Invalid,
        ),
        ("a vector of itself", "%v = OpTypeVector %v 2", Invalid),
        (
            "a constant of itself",
            "%s = OpTypeStruct %u32\n%c = OpConstantComposite %s %c",
            Invalid,
        ),
        (
            "an operation on itself",
            "%c = OpSpecConstantOp %u32 IAdd %c %c1",
            Invalid,
        ),
        (
            "a forward pointer that is none",
            "OpTypeForwardPointer %u32 Function",
            Invalid,
        ),
        (
            "a forward pointer that never comes",
            "OpTypeForwardPointer %never Function",
            Invalid,
        ),
    ] {
        text(what, &module("", types, ""), right);
    }
    let lists = |n: usize| {
        let forward = many(n, |i| {
            format!("OpTypeForwardPointer %p{i} PhysicalStorageBuffer")
        });
        let structs = many(n, |i| {
            format!("%s{i} = OpTypeStruct %p{} %p{i}", (i + 1) % n)
        });
        let pointers = many(n, |i| {
            format!("%p{i} = OpTypePointer PhysicalStorageBuffer %s{i}")
        });
        let notes = many(n, |i| {
            format!(
                "OpMemberDecorate %s{i} 0 Offset 0\nOpMemberDecorate %s{i} 1 Offset 8\nOpDecorate %s{i} Block"
            )
        });
        shell(
            "OpCapability PhysicalStorageBufferAddresses",
            &notes,
            &format!("{forward}{structs}{pointers}"),
            "",
        )
        .replace("Logical GLSL450", "PhysicalStorageBuffer64 GLSL450")
    };
    text("a ring of 400 lists", &lists(400), Valid);
    let pointers = many(3000, |i| {
        format!("%p{} = OpTypePointer Function %p{i}", i + 1)
    });
    text(
        "3000 pointers deep",
        &module(
            "",
            &format!("%p0 = OpTypePointer Function %u32\n{pointers}"),
            "",
        ),
        Valid,
    );
}

#[test]
fn odd_operations_on_constants() {
    let good = asm::assemble(&module("", "%x = OpSpecConstantOp %u32 IAdd %c1 %c0", ""));
    let mut at = 5;
    while good[at] & 0xFFFF != 52 {
        at += (good[at] >> 16) as usize;
    }
    let (one, zero, result) = (good[at + 4], good[at + 5], good[at + 2]);
    let of = |opcode: u32, operands: &[u32]| {
        let mut words = good.clone();
        let mut inst = vec![0, good[at + 1], result, opcode];
        inst.extend_from_slice(operands);
        inst[0] = (inst.len() as u32) << 16 | 52;
        words.splice(at..at + 6, inst);
        words
    };
    for (what, opcode, operands, right) in [
        ("one operand of two", 128, &[one][..], Invalid),
        ("none of two", 128, &[], Invalid),
        ("three of two", 128, &[one, one, one], Invalid),
        ("itself", 128, &[one, result], Invalid),
        ("id 0", 128, &[one, 0], Invalid),
        ("an id above the bound", 128, &[one, u32::MAX], Invalid),
        ("a type", 128, &[one, good[at + 1]], Invalid),
        ("an operation within", 52, &[128, one, zero], Invalid),
        ("an extended instruction", 12, &[one, one], Invalid),
        ("a load", 61, &[one], Invalid),
        ("a label", 248, &[], Invalid),
        ("a constant", 43, &[1], Invalid),
        ("OpNop", 0, &[], Invalid),
        ("opcode 65535", 0xFFFF, &[], Invalid),
        ("opcode 65664", 0x1_0080, &[one, zero], Invalid),
        ("opcode 4294967295", u32::MAX, &[one, zero], Invalid),
        ("an insertion without indices", 82, &[one, zero], Alone),
        ("an extraction without indices", 81, &[one], Alone),
        ("an addition", 128, &[one, zero], Valid),
    ] {
        judge(what, of(opcode, operands), right);
    }
    let chain = many(5000, |i| {
        format!("%x{} = OpSpecConstantOp %u32 IAdd %x{i} %x{i}", i + 1)
    });
    let types = format!("%x0 = OpSpecConstant %u32 1\n{chain}%a = OpTypeArray %u32 %x5000");
    text(
        "a length that doubles 5000 times",
        &module("", &types, ""),
        Valid,
    );
    text(
        "an operation of type void",
        &module("", "%x = OpSpecConstantOp %void IAdd %c1 %c1", ""),
        Alone,
    );
}

#[test]
fn decoration_groups() {
    let group = |more: &str| {
        let notes = format!("OpDecorate %g RelaxedPrecision\n%g = OpDecorationGroup\n{more}");
        module(&notes, "", "%x = OpIAdd %u32 %c0 %c1")
    };
    text("a group", &group("OpGroupDecorate %g %x"), Unsupported);
    text(
        "a group of 3000",
        &group(&format!("OpGroupDecorate %g{}", " %x".repeat(3000))),
        Unsupported,
    );
    text(
        "a group of members with half a pair",
        &group("OpGroupMemberDecorate %g %x"),
        Invalid,
    );
    text(
        "a group that is never declared",
        &module("OpGroupDecorate %g %c1", "", ""),
        Invalid,
    );
    text(
        "members of what is no structure",
        &module("OpMemberDecorate %u32 0 Offset 0", "", ""),
        Invalid,
    );
    text(
        "member 4294967295",
        &module(
            "OpMemberDecorate %s 4294967295 Offset 0",
            "%s = OpTypeStruct %u32",
            "",
        ),
        Invalid,
    );
    text(
        "a decoration of nothing",
        &module("OpDecorate %never Block", "", ""),
        Invalid,
    );
    let twice = many(2000, |i| format!("OpDecorate %x Location {i}"));
    text(
        "2000 decorations of one kind",
        &module(&twice, "", "%x = OpIAdd %u32 %c0 %c1"),
        Invalid,
    );
}

#[test]
fn non_semantic_instructions_everywhere() {
    let set = "OpExtension \"SPV_KHR_non_semantic_info\"\n%set = OpExtInstImport \"NonSemantic.Anything\"";
    let of = |types: &str, body: &str| shell(set, "", types, body);
    text(
        "among the types",
        &of("%a = OpExtInst %void %set 7 %c1", ""),
        Valid,
    );
    text(
        "number 4294967295",
        &of("%a = OpExtInst %void %set 4294967295", ""),
        Valid,
    );
    text(
        "in a block",
        &of("", "%a = OpExtInst %void %set 1 %main %entry %u32"),
        Valid,
    );
    text(
        "of another type",
        &of("%a = OpExtInst %u32 %set 1", ""),
        Alone,
    );
    text(
        "used by another",
        &of(
            "",
            "%a = OpExtInst %void %set 1\n%b = OpExtInst %void %set 2 %a",
        ),
        Valid,
    );
    text(
        "used by what has a meaning",
        &of("", "%a = OpExtInst %void %set 1\n%b = OpIAdd %u32 %a %a"),
        Invalid,
    );
    text(
        "naming what comes later",
        &of(
            "%a = OpExtInst %void %set 1 %b\n%b = OpExtInst %void %set 2",
            "",
        ),
        Invalid,
    );
    text(
        "before the types",
        &of("", "").replace(
            "%void = OpTypeVoid",
            "%a = OpExtInst %void %set 1\n%void = OpTypeVoid",
        ),
        Invalid,
    );
    text(
        "after the last function",
        &format!("{}\n%a = OpExtInst %void %set 1", of("", "")),
        Valid,
    );
    text(
        "before a phi",
        &of(
            "",
            "OpBranch %next\n%next = OpLabel\n%a = OpExtInst %void %set 1\n%p = OpPhi %u32 %c1 %entry",
        ),
        Invalid,
    );
    text(
        "between variables",
        &of(
            "%p = OpTypePointer Function %u32",
            "%v = OpVariable %p Function\n%a = OpExtInst %void %set 1\n%w = OpVariable %p Function",
        ),
        Invalid,
    );
    let lots = many(20_000, |i| format!("%a{i} = OpExtInst %void %set {i}"));
    text("20000 of them", &of(&lots, ""), Valid);
    let imports = many(100, |i| {
        format!("%i{i} = OpExtInstImport \"NonSemantic.{i}\"")
    });
    text(
        "100 sets",
        &shell(&format!("{set}\n{imports}"), "", "", ""),
        Unsupported,
    );
}

/// The words of a string that fills them.
fn unterminated(words: usize) -> Vec<u32> {
    vec![0x4141_4141; words]
}

#[test]
fn strings_without_an_end() {
    let good = asm::assemble(&module("", "%s = OpTypeStruct %u32", ""));
    // Opcode, and the operands before its string.
    let cases: [(u32, &[u32]); 10] = [
        (5, &[1]),
        (6, &[1, 0]),
        (7, &[900]),
        (3, &[2, 450, 901]),
        (2, &[]),
        (4, &[]),
        (10, &[]),
        (11, &[902]),
        (330, &[]),
        (5632, &[1, 5635]),
    ];
    for (opcode, operands) in cases {
        for length in [1, 2, 300] {
            let mut inst = vec![0];
            inst.extend_from_slice(operands);
            inst.extend(unterminated(length));
            inst[0] = (inst.len() as u32) << 16 | opcode;
            // In place, and as the last words.
            for end in [false, true] {
                let mut words = good.clone();
                words[3] = 1000;
                let at = if end { words.len() } else { 7 };
                words.splice(at..at, inst.iter().copied());
                judge(
                    &format!("opcode {opcode} with {length} words of string"),
                    words,
                    Invalid,
                );
            }
        }
    }
}

#[test]
fn byte_orders() {
    let good = asm::assemble(&module("", "", ""));
    let bytes = |words: &[u32]| asm::bytes(words);
    let mut validator = Validator::new();
    let swapped: Vec<u32> = good.iter().map(|w| w.swap_bytes()).collect();
    assert!(validator.bytes(&bytes(&swapped)).is_valid());
    // A header alone is swapped, or its body alone, or halves of words.
    let half = |words: &[u32], range: std::ops::Range<usize>, f: fn(u32) -> u32| {
        let mut words = words.to_vec();
        words[range].iter_mut().for_each(|w| *w = f(*w));
        words
    };
    for (what, words) in [
        ("the header", half(&good, 0..5, u32::swap_bytes)),
        ("the magic number", half(&good, 0..1, u32::swap_bytes)),
        ("the body", half(&good, 5..good.len(), u32::swap_bytes)),
        (
            "halves of words",
            half(&good, 0..good.len(), |w| w.rotate_left(16)),
        ),
        ("the version", half(&good, 1..2, u32::swap_bytes)),
        ("the bound", half(&good, 3..4, u32::swap_bytes)),
    ] {
        let verdict = validator.bytes(&bytes(&words));
        assert!(verdict.is_invalid(), "{what}: {verdict}");
        let _ = disassemble(&words);
    }
}

#[test]
fn counts_that_lie() {
    let good = asm::assemble(&module("", "", "%x = OpIAdd %u32 %c0 %c1"));
    let mut at = 5;
    while at < good.len() {
        let count = good[at] >> 16;
        for new in [0, count - 1, count + 1, 0xFFFF] {
            let mut words = good.clone();
            words[at] = words[at] & 0xFFFF | new << 16;
            let what = format!("count {new} for {count} at {at}");
            if new == 0 || at + new as usize > good.len() {
                judge(&what, words, Invalid);
            } else {
                // Whatever it is then, both say the same of it.
                let valid = Validator::new().words(&words).is_valid();
                judge(&what, words, if valid { Valid } else { Invalid });
            }
        }
        at += count as usize;
    }
    let mut stray = good.clone();
    stray.push(0);
    judge("a zero word at the end", stray, Invalid);
    let mut middle = good;
    middle.insert(5, 0);
    judge("a zero word at the start", middle, Invalid);
}
