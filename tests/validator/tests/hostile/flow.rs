//! Calls, graphs, wide instructions and long lists.

use super::Right::{Alone, Invalid, Valid};
use super::{many, module, text};
use std::fmt::Write as _;

#[test]
fn chains_of_calls() {
    let chain = |n: usize, last: &str, each: &str| {
        let functions = many(n, |i| {
            let calls = each
                .replace("NEXT", &format!("%fun{}", i + 1))
                .replace('#', &i.to_string());
            format!(
                "%fun{i} = OpFunction %void None %fn\n%l{i} = OpLabel\n{calls}\nOpReturn\nOpFunctionEnd"
            )
        });
        let end = format!(
            "%fun{n} = OpFunction %void None %fn\n%l{n} = OpLabel\n{last}\nOpReturn\nOpFunctionEnd"
        );
        let text = module("", "", "%call = OpFunctionCall %void %fun0");
        format!("{text}\n{functions}\n{end}")
    };
    let once = "%a# = OpFunctionCall %void NEXT";
    let twice = "%a# = OpFunctionCall %void NEXT\n%b# = OpFunctionCall %void NEXT";
    text("2000 calls deep", &chain(2000, "", once), Valid);
    text(
        "calls that double 2000 times",
        &chain(2000, "", twice),
        Valid,
    );
    text(
        "calls in a circle",
        &chain(500, "%x = OpFunctionCall %void %fun0", once),
        Invalid,
    );
    text(
        "a function that calls itself",
        &chain(0, "%x = OpFunctionCall %void %fun0", ""),
        Invalid,
    );
    text(
        "the entry point called",
        &chain(0, "%x = OpFunctionCall %void %main", ""),
        Invalid,
    );
}

#[test]
fn wide_instructions() {
    let n = 3000;
    let parameters = " %u32".repeat(n);
    let function = format!("%wide = OpTypeFunction %void{parameters}");
    // Functions take at most 255 parameters.
    text("3000 parameters", &module("", &function, ""), Invalid);
    let members = format!("%wide = OpTypeStruct{parameters}\n%none = OpConstantNull %wide");
    text("3000 members", &module("", &members, ""), Valid);
    let constant = format!(
        "%wide = OpTypeStruct{parameters}\n%all = OpConstantComposite %wide{}",
        " %c1".repeat(n)
    );
    text("3000 constituents", &module("", &constant, ""), Valid);
    let too_many = format!(
        "%wide = OpTypeStruct %u32\n%all = OpConstantComposite %wide{}",
        " %c1".repeat(n)
    );
    text(
        "3000 constituents of one member",
        &module("", &too_many, ""),
        Invalid,
    );
    let chain =
        "%s = OpTypeStruct %u32\n%p = OpTypePointer Function %s\n%pu = OpTypePointer Function %u32";
    let body = format!(
        "%v = OpVariable %p Function\n%x = OpAccessChain %pu %v{}",
        " %c0".repeat(3000)
    );
    text("3000 indices", &module("", chain, &body), Invalid);
    let extract = format!(
        "%s = OpTypeStruct %u32\n%n = OpConstantNull %s\n%x = OpSpecConstantOp %u32 CompositeExtract %n{}",
        " 0".repeat(3000)
    );
    text("3000 literal indices", &module("", &extract, ""), Alone);
    let line = many(20_000, |_| "OpLine %file 1 1".to_owned());
    text(
        "20000 lines",
        &module("", "", "")
            .replace("%void = OpTypeVoid", &format!("{line}%void = OpTypeVoid"))
            .replace(
                "OpExecutionMode %main LocalSize 1 1 1",
                "OpExecutionMode %main LocalSize 1 1 1\n%file = OpString \"f\"",
            ),
        Valid,
    );
}

#[test]
fn graphs_that_cost_time() {
    let blocks = |n: usize, line: &dyn Fn(usize) -> String| {
        let body = many(n, |i| format!("%b{i} = OpLabel\n{}", line(i)));
        module("", "", &format!("OpBranch %b0\n{body}%b{n} = OpLabel"))
    };
    let n = 3000;
    let straight = blocks(n, &|i| format!("OpBranch %b{}", i + 1));
    text("a long chain", &straight, Valid);
    let skip = blocks(n, &|i| {
        format!("OpBranchConditional %yes %b{} %b{n}", i + 1)
    });
    text("every block also to the last", &skip, Invalid);
    let back = blocks(n, &|i| {
        format!("OpBranchConditional %yes %b{} %b{}", i + 1, i / 2)
    });
    text("every block also back to the middle", &back, Invalid);
    let mirror = blocks(n, &|i| {
        format!("OpBranchConditional %yes %b{} %b{}", i + 1, n - i)
    });
    text("every block also to its mirror", &mirror, Invalid);
    let ifs = blocks(n, &|i| {
        format!(
            "OpSelectionMerge %b{next} None\nOpBranchConditional %yes %t{i} %b{next}\n%t{i} = OpLabel\nOpBranch %b{next}",
            next = i + 1
        )
    });
    text("3000 ifs in a row", &ifs, Valid);
    let loops = blocks(1000, &|i| {
        format!(
            "OpLoopMerge %b{next} %c{i}x None\nOpBranchConditional %yes %t{i} %b{next}\n%t{i} = OpLabel\nOpBranch %c{i}x\n%c{i}x = OpLabel\nOpBranch %b{i}",
            next = i + 1
        )
    });
    text("1000 loops in a row", &loops, Valid);
    // Unreachable circles.
    let circles = blocks(1000, &|i| {
        format!(
            "OpBranch %b{next}\n%u{i} = OpLabel\nOpBranch %w{i}\n%w{i} = OpLabel\nOpBranch %u{i}",
            next = i + 1
        )
    });
    text("1000 unreachable circles", &circles, Invalid);
    let dense = blocks(120, &|_| {
        let mut line = "OpSwitch %c1 %b1".to_owned();
        (0..120).for_each(|k| write!(line, " {k} %b{}", k.max(1)).expect("a string"));
        line
    });
    text("every block to every block", &dense, Invalid);
}

#[test]
fn long_lists() {
    let n = 4000;
    let cases: String = (0..n).map(|i| format!(" {i} %m")).collect();
    let body = |phi: &str| {
        format!(
            "OpSelectionMerge %m None\nOpSwitch %c1 %d{cases}\n%d = OpLabel\nOpBranch %m\n%m = OpLabel\n{phi}"
        )
    };
    text(
        "4000 cases that share a block",
        &module("", "", &body("%x = OpPhi %u32 %c0 %entry %c1 %d")),
        Valid,
    );
    let pairs = " %c1 %d".repeat(n);
    text(
        "a phi of 4000 pairs for two",
        &module("", "", &body(&format!("%x = OpPhi %u32{pairs}"))),
        Invalid,
    );
    let phis = many(2000, |i| format!("%x{i} = OpPhi %u32 %c0 %entry %c1 %d"));
    text("2000 phis", &module("", "", &body(&phis)), Valid);
    let targets = many(n, |i| format!("%t{i} = OpLabel\nOpBranch %m"));
    let cases: String = (0..n).map(|i| format!(" {i} %t{i}")).collect();
    let pairs: String = (0..n).map(|i| format!(" %c1 %t{i}")).collect();
    let each = format!(
        "OpSelectionMerge %m None\nOpSwitch %c1 %m{cases}\n{targets}%m = OpLabel\n%x = OpPhi %u32 %c0 %entry{pairs}"
    );
    text("a phi of 4001 parents", &module("", "", &each), Valid);
    let modes = many(5000, |_| "OpExecutionMode %main LocalSize 1 1 1".to_owned());
    text(
        "5000 modes",
        &module("", "", "").replace("OpExecutionMode %main LocalSize 1 1 1", modes.trim_end()),
        Invalid,
    );
    let twice = format!(
        "OpEntryPoint GLCompute %main \"main\"\n{}",
        many(1000, |_| "OpEntryPoint GLCompute %main \"main\"".to_owned())
    );
    text(
        "1001 entry points of one name",
        &module("", "", "").replace("OpEntryPoint GLCompute %main \"main\"", twice.trim_end()),
        Invalid,
    );
    let globals = many(5000, |i| format!("%g{i} = OpVariable %p Private"));
    text(
        "5000 variables",
        &module(
            "",
            &format!("%p = OpTypePointer Private %u32\n{globals}"),
            "",
        ),
        Valid,
    );
    let undefined = many(3000, |i| format!("%x{i} = OpUndef %u32"));
    text("3000 undefined values", &module("", &undefined, ""), Valid);
    let names = many(5000, |i| format!("OpName %never{i} \"n\""));
    text("names of nothing", &module(&names, "", ""), Invalid);
}

#[test]
fn loops_that_continue_at_their_header() {
    let of = |last: &str, leave: &str| {
        module(
            "",
            "",
            &format!(
                "OpBranch %head\n%head = OpLabel\nOpLoopMerge %exit %head None\nOpBranch %test\n\
                 %test = OpLabel\nOpSelectionMerge %on None\nOpBranchConditional %yes %leave %on\n\
                 %leave = OpLabel\n{leave}\n%on = OpLabel\nOpBranch %latch\n\
                 %latch = OpLabel\n{last}\n%exit = OpLabel"
            ),
        )
    };
    let last = "OpBranchConditional %yes %head %exit";
    text("left by its last block", &of(last, "OpBranch %on"), Invalid);
    text(
        "left from within",
        &of("OpBranch %head", "OpBranch %exit"),
        Invalid,
    );
    text(
        "left from within and at its end",
        &of(last, "OpBranch %exit"),
        Invalid,
    );
    text("returned from", &of(last, "OpReturn"), Invalid);
    text("unreachable within", &of(last, "OpUnreachable"), Invalid);
}
