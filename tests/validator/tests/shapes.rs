//! Shapes of control flow as rows of a table: blocks in order, each with its merge instruction and its end, judged by
//! kernite and, where it is at hand, by spirv-val.

use kernite::spirv::validate::{Validator, Verdict};
use kernite_validator_tests::{asm, oracle};
use std::fmt::Write as _;

/// A function body of `blocks`: `1 loop 4 3: if 2 4; 2: to 3; 3: to 1; 4: ret`. A block's number, `loop MERGE CONTINUE` or
/// `sel MERGE` if it is a header, and its end: `to N`, `if N M`, `switch DEFAULT CASE...`, `ret` or `dead`.
fn module(blocks: &str) -> Vec<u32> {
    let mut text = String::from(
        "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"\n\
         OpExecutionMode %main LocalSize 1 1 1\n%void = OpTypeVoid\n%fn = OpTypeFunction %void\n%bool = OpTypeBool\n\
         %u32 = OpTypeInt 32 0\n%n = OpConstant %u32 0\n%yes = OpConstantTrue %bool\n%main = OpFunction %void None %fn\n",
    );
    for block in blocks.split(';') {
        let (head, end) = block.split_once(':').expect("a head and an end");
        let head: Vec<&str> = head.split_whitespace().collect();
        let end: Vec<&str> = end.split_whitespace().collect();
        let _ = match head[..] {
            [label] => writeln!(text, "%b{label} = OpLabel"),
            [label, "sel", merge] => {
                writeln!(text, "%b{label} = OpLabel\nOpSelectionMerge %b{merge} None")
            }
            [label, "loop", merge, target] => {
                writeln!(
                    text,
                    "%b{label} = OpLabel\nOpLoopMerge %b{merge} %b{target} None"
                )
            }
            _ => panic!("{block}: no head"),
        };
        let _ = match end[..] {
            ["ret"] => writeln!(text, "OpReturn"),
            ["dead"] => writeln!(text, "OpUnreachable"),
            ["to", to] => writeln!(text, "OpBranch %b{to}"),
            ["if", yes, no] => writeln!(text, "OpBranchConditional %yes %b{yes} %b{no}"),
            ["switch", default, ref cases @ ..] => {
                let cases =
                    cases
                        .iter()
                        .enumerate()
                        .fold(String::new(), |mut all, (value, case)| {
                            let _ = write!(all, " {value} %b{case}");
                            all
                        });
                writeln!(text, "OpSwitch %n %b{default}{cases}")
            }
            _ => panic!("{block}: no end"),
        };
    }
    text.push_str("OpFunctionEnd\n");
    asm::assemble(&text)
}

#[test]
fn shapes() {
    let tool = oracle::find(oracle::Tool::SpirvVal);
    for (valid, blocks) in [
        // A continue construct that is a loop, of one block and of several.
        (
            true,
            "1: to 2; 2 loop 6 4: to 3; 3: if 6 4; 4 loop 5 4: if 4 5; 5: to 2; 6: ret",
        ),
        (
            true,
            "1: to 2; 2 loop 6 4: to 4; 4 loop 5 7: to 7; 7: if 4 5; 5: to 2; 6: ret",
        ),
        (
            true,
            "1: to 2; 2 loop 6 4: to 4; 4 loop 5 4: if 4 5; 5: if 2 6; 6: ret",
        ),
        (
            true,
            "1: to 2; 2 loop 6 4: to 4; 4 sel 5: if 5 7; 7: to 5; 5: to 2; 6: ret",
        ),
        (
            false,
            "1: to 2; 2 loop 6 4: to 4; 4 loop 6 4: if 4 6; 6: ret",
        ),
        (
            false,
            "1: to 2; 2 loop 6 4: to 4; 4 loop 5 4: if 4 5; 5: if 2 7; 7: ret; 6: ret",
        ),
        (
            false,
            "1: to 2; 2 loop 6 4: to 4; 4 loop 5 7: if 7 6; 7: if 4 5; 5: to 2; 6: ret",
        ),
        // A loop of one block leaves to its merge block alone.
        (true, "1: to 2; 2 loop 3 2: if 2 3; 3: ret"),
        (false, "1: to 2; 2 loop 4 2: if 2 3; 3: to 4; 4: ret"),
        (false, "1: to 2; 2 loop 4 2: if 3 4; 3: to 2; 4: ret"),
        (
            false,
            "1: to 5; 5 loop 6 7: to 2; 2 loop 4 2: if 2 6; 4: to 7; 7: to 5; 6: ret",
        ),
        (
            false,
            "1: to 5; 5 loop 6 7: to 2; 2 loop 4 2: if 2 7; 4: to 7; 7: to 5; 6: ret",
        ),
        // Headers that nothing reaches: they dominate nothing that is reached, and merge nothing.
        (false, "1: to 2; 2: ret; 3 loop 4 2: to 2; 4: ret"),
        (
            false,
            "1: to 2; 2 loop 6 3: to 5; 5: ret; 7 loop 3 5: to 3; 3: to 2; 6: ret",
        ),
        (
            false,
            "1: to 5; 3 sel 4: switch 5 5; 5 sel 7: if 8 9; 8: to 4; 9: to 7; 7: to 4; 4: ret",
        ),
        (
            true,
            "1: to 5; 5: ret; 3 loop 4 6: to 7; 7: if 4 6; 6: to 3; 4: ret",
        ),
        // Ways out: of a switch in a loop, of a loop in a switch.
        (
            true,
            "1: to 2; 2 loop 9 8: to 3; 3 sel 7: switch 7 4 5 6; 4: to 9; 5: to 8; 6: to 7; 7: to 8; 8: to 2; 9: ret",
        ),
        (
            true,
            "1 sel 9: switch 9 2 3; 2: to 3; 3: to 4; 4 loop 6 5: to 7; 7: if 6 5; 5: to 4; 6: to 9; 9: ret",
        ),
        (
            false,
            "1 sel 9: switch 9 2; 2: to 4; 4 loop 6 5: to 7; 7: if 9 5; 5: to 4; 6: to 9; 9: ret",
        ),
        (
            true,
            "1 sel 9: switch 9 2; 2 sel 4: if 3 4; 3: to 9; 4: to 9; 9: ret",
        ),
        (
            false,
            "1 sel 9: if 2 9; 2 sel 4: if 3 4; 3: to 9; 4: to 9; 9: ret",
        ),
        (
            true,
            "1 sel 9: switch 9 2; 2 sel 5: switch 5 3; 3 sel 4: if 5 4; 4: to 5; 5: to 9; 9: ret",
        ),
        (
            false,
            "1 sel 9: switch 9 2; 2 sel 5: switch 5 3; 3: to 9; 5: to 9; 9: ret",
        ),
        // Merge blocks that are nothing's, and that belong to another.
        (true, "1 sel 9: if 2 3; 2: ret; 3: dead; 9: dead"),
        (false, "1 sel 9: if 2 9; 2 sel 9: if 3 9; 3: to 9; 9: ret"),
        (
            false,
            "1 sel 2: if 3 4; 3 sel 4: if 5 4; 5: to 4; 4: to 2; 2: ret",
        ),
        (
            false,
            "1 sel 9: if 2 3; 2: to 3; 3: to 9; 9: ret; 5: if 5 5",
        ),
    ] {
        let words = module(blocks);
        let verdict = Validator::new().words(&words);
        let expected = matches!(verdict, Verdict::Valid);
        assert!(
            expected == valid && !verdict.is_unsupported(),
            "{blocks}: {verdict}"
        );
        if let Some(tool) = &tool {
            let (agrees, message) = oracle::spirv_val(tool, &asm::bytes(&words));
            assert_eq!(agrees, valid, "{blocks}: spirv-val: {message}");
        }
    }
}
