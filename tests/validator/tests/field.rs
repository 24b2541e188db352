//! Cases from the field: modules that other tools' users reported, each with its right answer,
//! judged by kernite and, where it is at hand, by spirv-val.

use kernite::spirv::validate::{Group, Rule, validate};
use kernite_validator_tests::{asm, corpus, oracle};

/// The right answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Right {
    Valid,
    Invalid,
    /// By the specification, where spirv-val is silent.
    Beyond,
}
use Right::{Beyond, Invalid, Valid};

fn judge(what: &str, text: &str, right: Right) {
    judge_words(what, &asm::assemble(text), right);
}

fn judge_words(what: &str, words: &[u32], right: Right) {
    let bytes = asm::bytes(words);
    let verdict = validate(&bytes);
    assert_eq!(verdict.is_valid(), right == Valid, "{what}: {verdict}");
    assert!(!verdict.is_unsupported(), "{what}: {verdict}");
    if right == Beyond {
        let beyond = |f: &kernite::spirv::validate::Fault| f.rule().group() == Group::Beyond;
        assert!(verdict.faults().all(beyond), "{what}: {verdict}");
    }
    if let Some(tool) = oracle::find(oracle::Tool::SpirvVal) {
        let (valid, message) = oracle::spirv_val(&tool, &bytes);
        assert_eq!(valid, right != Invalid, "{what}: spirv-val: {message}");
    }
}

/// A base with lines changed, each of which is there.
fn changed(base: &str, changes: &[(&str, &str)]) -> String {
    let path = corpus::folder().join(format!("{base}.spvasm"));
    let mut text = std::fs::read_to_string(path).expect("a base");
    for (from, to) in changes {
        assert!(text.contains(from), "{from}: not in {base}");
        text = text.replacen(from, to, 1);
    }
    text
}

fn kernel(changes: &[(&str, &str)]) -> String {
    changed("kernel", changes)
}

fn wide(changes: &[(&str, &str)]) -> String {
    changed("wide", changes)
}

/// A function body with a condition, a number, a float and constants to work with.
fn body(blocks: &str) -> String {
    format!(
        "OpCapability Shader\nOpMemoryModel Logical GLSL450\n\
         OpEntryPoint GLCompute %main \"main\"\nOpExecutionMode %main LocalSize 1 1 1\n\
         %file = OpString \"f\"\n\
         %void = OpTypeVoid\n%fn = OpTypeFunction %void\n%bool = OpTypeBool\n\
         %u32 = OpTypeInt 32 0\n%f32 = OpTypeFloat 32\n%c0 = OpConstant %u32 0\n\
         %c1 = OpConstant %u32 1\n%f1 = OpConstant %f32 1\n%yes = OpConstantTrue %bool\n\
         %p = OpTypePointer Function %u32\n\
         %main = OpFunction %void None %fn\n%entry = OpLabel\n{blocks}\nOpFunctionEnd"
    )
}

#[test]
fn two_switches_in_a_loop_that_only_continue() {
    let text = body(
        "OpBranch %head\n%head = OpLabel\nOpLoopMerge %exit %cont None\nOpBranch %one\n\
         %one = OpLabel\nOpSelectionMerge %m1 None\nOpSwitch %c0 %d1\n\
         %d1 = OpLabel\nOpBranch %cont\n\
         %m1 = OpLabel\nOpSelectionMerge %m2 None\nOpSwitch %c0 %d2\n\
         %d2 = OpLabel\nOpBranch %cont\n\
         %m2 = OpLabel\nOpBranch %cont\n\
         %cont = OpLabel\nOpBranch %head\n%exit = OpLabel\nOpReturn",
    );
    judge("switches that continue", &text, Valid);
}

#[test]
fn loop_shapes() {
    let of = |merge: &str, test: &str, body_end: &str, cont: &str| {
        body(&format!(
            "OpBranch %head\n%head = OpLabel\n{merge}\nOpBranch %test\n%test = OpLabel\n{test}\n\
             %body = OpLabel\n{body_end}\n%cont = OpLabel\n{cont}\n%exit = OpLabel\nOpReturn"
        ))
    };
    let merge = "OpLoopMerge %exit %cont None";
    let test = "OpBranchConditional %yes %body %exit";
    judge(
        "plain loop",
        &of(merge, test, "OpBranch %cont", "OpBranch %head"),
        Valid,
    );
    judge(
        "break in the continue target",
        &of(
            merge,
            "OpBranch %body",
            "OpBranch %cont",
            "OpBranchConditional %yes %more %exit\n%more = OpLabel\nOpBranch %head",
        ),
        Invalid,
    );
    judge(
        "merge is continue",
        &of(
            "OpLoopMerge %exit %exit None",
            test,
            "OpBranch %cont",
            "OpBranch %head",
        ),
        Invalid,
    );
    judge(
        "conditional branch without merge",
        &of(
            merge,
            "OpBranchConditional %yes %body %other\n%other = OpLabel\nOpBranch %cont",
            "OpBranch %cont",
            "OpBranch %head",
        ),
        Invalid,
    );
    judge(
        "back edge to a block that is no header",
        &of(merge, test, "OpBranch %test", "OpBranch %head"),
        Invalid,
    );
    judge(
        "block that branches to itself",
        &body("OpBranch %self\n%self = OpLabel\nOpBranch %self"),
        Invalid,
    );
    judge(
        "header that is its own merge block",
        &body(
            "OpBranch %self\n%self = OpLabel\nOpSelectionMerge %self None\n\
             OpBranchConditional %yes %a %b\n%a = OpLabel\nOpReturn\n%b = OpLabel\nOpReturn",
        ),
        Invalid,
    );
    judge(
        "one block that is loop, continue target and back edge",
        &body(
            "OpBranch %one\n%one = OpLabel\nOpLoopMerge %exit %one None\n\
             OpBranchConditional %yes %one %exit\n%exit = OpLabel\nOpReturn",
        ),
        Valid,
    );
}

#[test]
fn phis() {
    let of = |phi: &str| {
        body(&format!(
            "OpSelectionMerge %m None\nOpBranchConditional %yes %a %b\n\
             %a = OpLabel\nOpBranch %m\n%b = OpLabel\nOpBranch %m\n\
             %m = OpLabel\n{phi}\nOpReturn"
        ))
    };
    for (phi, right) in [
        ("%x = OpPhi %u32 %c0 %a %c1 %b", Valid),
        ("%x = OpPhi %u32 %c0 %a %c1 %entry", Invalid),
        ("%x = OpPhi %u32 %c0 %a", Invalid),
        ("%x = OpPhi %u32 %c0 %a %c1 %a", Invalid),
        ("%x = OpPhi %u32 %c0 %a %c1 %b %c1 %b", Invalid),
        ("%x = OpPhi %u32 %c0 %a !0x00000001", Invalid),
        ("%x = OpPhi %u32 %c0 %a %f1 %b", Invalid),
        (
            "%y = OpIAdd %u32 %c0 %c1\n%x = OpPhi %u32 %c0 %a %c1 %b",
            Invalid,
        ),
        (
            "%x = OpPhi %u32 %c0 %a %c1 %b\nOpLine %file 1 1\n%y = OpPhi %u32 %c0 %a %x %b",
            Invalid,
        ),
        (
            "%x = OpPhi %u32 %c0 %a %c1 %b\nOpLine %file 1 1\n%y = OpPhi %u32 %c0 %a %c1 %b",
            Valid,
        ),
    ] {
        judge(phi, &of(phi), right);
    }
    let of = |phi: &str| {
        body(&format!(
            "OpSelectionMerge %m None\nOpSwitch %c0 %d 1 %m 2 %m\n%d = OpLabel\nOpBranch %m\n\
             %m = OpLabel\n{phi}\nOpReturn"
        ))
    };
    judge(
        "cases that share a block",
        &of("%x = OpPhi %u32 %c0 %entry %c1 %d"),
        Valid,
    );
    judge(
        "a pair for each case",
        &of("%x = OpPhi %u32 %c0 %entry %c0 %entry %c1 %d"),
        Invalid,
    );
}

#[test]
fn variables_stand_first() {
    for (text, right) in [
        (
            "%v = OpVariable %p Function\nOpLine %file 1 1\n%w = OpVariable %p Function\nOpReturn",
            Valid,
        ),
        (
            "%v = OpVariable %p Function\nOpStore %v %c0\n%w = OpVariable %p Function\nOpReturn",
            Invalid,
        ),
        (
            "OpSelectionMerge %m None\nOpBranchConditional %yes %a %m\n%a = OpLabel\n\
          %v = OpVariable %p Function\nOpBranch %m\n%m = OpLabel\nOpReturn",
            Invalid,
        ),
    ] {
        judge(text, &body(text), right);
    }
}

#[test]
fn interfaces_by_version() {
    let list = "OpEntryPoint GLCompute %second \"second\" %out %gid";
    let with = |to: &'static str| kernel(&[(list, to)]);
    judge("all listed", &kernel(&[]), Valid);
    judge(
        "a buffer missing",
        &with("OpEntryPoint GLCompute %second \"second\" %gid"),
        Invalid,
    );
    judge(
        "a built-in missing",
        &with("OpEntryPoint GLCompute %second \"second\" %out"),
        Invalid,
    );
    judge(
        "one twice",
        &with("OpEntryPoint GLCompute %second \"second\" %out %out %gid"),
        Invalid,
    );
    judge(
        "no variable",
        &with("OpEntryPoint GLCompute %second \"second\" %out %c0 %gid"),
        Invalid,
    );
    judge(
        "listed, not used",
        &with("OpEntryPoint GLCompute %second \"second\" %out %gid %in"),
        Valid,
    );
    // Before 1.4 inputs and outputs alone are listed. Float controls need an extension there.
    let old = [
        ("; SPIR-V 1.6", "; SPIR-V 1.3"),
        ("OpCapability SignedZeroInfNanPreserve\n", ""),
        ("OpCapability RoundingModeRTE\n", ""),
        ("OpExecutionMode %main SignedZeroInfNanPreserve 32\n", ""),
        ("OpExecutionMode %main RoundingModeRTE 32\n", ""),
        ("%in %out %push %tile %gid %lid", "%gid %lid"),
        (list, "OpEntryPoint GLCompute %second \"second\" %gid"),
    ];
    judge("inputs alone at 1.3", &kernel(&old), Valid);
    let mut listed = old;
    listed[6].1 = list;
    judge("a buffer listed at 1.3", &kernel(&listed), Invalid);
}

#[test]
fn buffers_and_their_decorations() {
    let binding = "OpDecorate %out Binding 1";
    for (from, to, right) in [
        (
            "OpDecorate %buffer Block",
            "OpDecorate %buffer Block\nOpDecorate %buffer Block",
            Invalid,
        ),
        (
            "OpDecorate %floats ArrayStride 4",
            "OpDecorate %floats ArrayStride 4\nOpDecorate %floats ArrayStride 4",
            Invalid,
        ),
        (
            "OpDecorate %floats ArrayStride 4",
            "OpDecorate %floats ArrayStride 4\nOpDecorate %floats ArrayStride 8",
            Invalid,
        ),
        (
            "OpMemberDecorate %buffer 0 Offset 0",
            "OpMemberDecorate %buffer 0 Offset 0\nOpMemberDecorate %buffer 0 Offset 0",
            Invalid,
        ),
        ("OpDecorate %buffer Block\n", "", Invalid),
        ("OpMemberDecorate %buffer 0 Offset 0\n", "", Invalid),
        ("OpDecorate %floats ArrayStride 4\n", "", Invalid),
        ("OpDecorate %out Binding 1\n", "", Invalid),
        (
            "OpDecorate %floats ArrayStride 4",
            "OpDecorate %floats ArrayStride 0",
            Invalid,
        ),
        (
            "OpDecorate %floats ArrayStride 4",
            "OpDecorate %floats ArrayStride 2",
            Invalid,
        ),
        (
            binding,
            "OpDecorate %out Binding 1\nOpDecorate %tile NonWritable",
            Invalid,
        ),
        // What is stored to must be writable.
        (
            binding,
            "OpDecorate %out Binding 1\nOpDecorate %out NonWritable",
            Beyond,
        ),
        (
            "OpMemberDecorate %buffer 0 Offset 0",
            "OpMemberDecorate %buffer 0 Offset 0\nOpMemberDecorate %buffer 0 NonWritable",
            Beyond,
        ),
    ] {
        let text = kernel(&[(from, to)]);
        judge(to, &text, right);
    }
    // The same type twice, and its pointer.
    let twice = kernel(&[
        ("%in = OpVariable %p_readable", "%in = OpVariable %p_buffer"),
        ("OpDecorate %in NonWritable", "OpDecorate %in Restrict"),
    ]);
    judge("one type for two buffers", &twice, Valid);
}

#[test]
fn barriers() {
    let of = |execution: u32, semantics: u32| {
        wide(&[
            (
                "OpControlBarrier %c2 %c1 %c72",
                "OpControlBarrier %exec %c2 %sem",
            ),
            (
                "%c72 = OpConstant %u32 72",
                &format!(
                    "%c72 = OpConstant %u32 72\n%exec = OpConstant %u32 {execution}\n\
                     %sem = OpConstant %u32 {semantics}"
                ),
            ),
        ])
    };
    for semantics in [0, 0x48, 0x108, 0x148] {
        judge(&format!("{semantics:#x}"), &of(2, semantics), Valid);
    }
    for semantics in [8, 0x40, 0x100, 0x208, 0x110, 0x10A] {
        judge(&format!("{semantics:#x}"), &of(2, semantics), Invalid);
    }
    for execution in [0, 1, 4] {
        judge(
            &format!("scope {execution}"),
            &of(execution, 0x108),
            Invalid,
        );
    }
    for (semantics, right) in [(0x48, Valid), (0, Invalid), (8, Invalid), (0x40, Invalid)] {
        let text = wide(&[
            ("OpMemoryBarrier %c1 %c72", "OpMemoryBarrier %c1 %sem"),
            (
                "%c72 = OpConstant %u32 72",
                &format!("%c72 = OpConstant %u32 72\n%sem = OpConstant %u32 {semantics}"),
            ),
        ]);
        judge(&format!("memory barrier {semantics:#x}"), &text, right);
    }
}

#[test]
fn atomics() {
    let constant = "%c72 = OpConstant %u32 72";
    let of = |from: &str, to: &str, scope: u32, a: u32, b: u32| {
        wide(&[
            (from, to),
            (
                constant,
                &format!(
                    "{constant}\n%scope = OpConstant %u32 {scope}\n\
                     %a = OpConstant %u32 {a}\n%b = OpConstant %u32 {b}"
                ),
            ),
        ])
    };
    let add = |scope, semantics| {
        of(
            "%added = OpAtomicIAdd %u32 %cp %c1 %c72 %c1",
            "%added = OpAtomicIAdd %u32 %cp %scope %a %c1",
            scope,
            semantics,
            0,
        )
    };
    for scope in [1, 2] {
        for semantics in [0, 0x42, 0x48] {
            judge("add", &add(scope, semantics), Valid);
        }
    }
    judge("add, invocation, relaxed", &add(4, 0), Valid);
    for semantics in [0x40, 8, 0x50] {
        judge("add", &add(1, semantics), Invalid);
    }
    judge("add, scope 0", &add(0, 0), Invalid);
    let load = |semantics| {
        of(
            "%loaded = OpAtomicLoad %u32 %cp %c1 %c66",
            "%loaded = OpAtomicLoad %u32 %cp %c1 %a",
            1,
            semantics,
            0,
        )
    };
    for (semantics, right) in [(0x42, Valid), (0x44, Invalid), (0x48, Invalid)] {
        judge("load", &load(semantics), right);
    }
    let store = |semantics| {
        of(
            "OpAtomicStore %cp %c1 %c68 %c2",
            "OpAtomicStore %cp %c1 %a %c2",
            1,
            semantics,
            0,
        )
    };
    for (semantics, right) in [(0x44, Valid), (0x42, Invalid), (0x48, Invalid)] {
        judge("store", &store(semantics), right);
    }
    let exchange = |a, b| {
        of(
            "OpAtomicCompareExchange %u32 %cp %c1 %c72 %c66 %c2 %c1",
            "OpAtomicCompareExchange %u32 %cp %c1 %a %b %c2 %c1",
            1,
            a,
            b,
        )
    };
    judge("exchange", &exchange(0x48, 0x42), Valid);
    judge("exchange", &exchange(0x48, 0x48), Invalid);
    judge("exchange", &exchange(0, 0x42), Invalid);
    let special = wide(&[(
        "%added = OpAtomicIAdd %u32 %cp %c1 %c72 %c1",
        "%added = OpAtomicIAdd %u32 %cp %c1 %spec %c1",
    )]);
    judge("semantics that can be specialised", &special, Invalid);
}

#[test]
fn the_vulkan_memory_model() {
    let model = "OpMemoryModel Logical GLSL450";
    let capability = "OpCapability Int64\n";
    let vulkan = "OpCapability Int64\nOpCapability VulkanMemoryModel\n";
    let device = "OpCapability Int64\nOpCapability VulkanMemoryModel\n\
                  OpCapability VulkanMemoryModelDeviceScope\n";
    let change = |c: &str, m: &str, scope: u32| {
        kernel(&[
            (capability, c),
            (model, m),
            ("OpDecorate %out Coherent\n", ""),
            (
                "OpMemoryBarrier %c1 %acqrel",
                "OpMemoryBarrier %scope %acqrel",
            ),
            (
                "%c64 = OpConstant %u32 64",
                &format!("%c64 = OpConstant %u32 64\n%scope = OpConstant %u32 {scope}"),
            ),
        ])
    };
    let yes = "OpMemoryModel Logical Vulkan";
    judge("device scope, undeclared", &change(vulkan, yes, 1), Invalid);
    judge("device scope, declared", &change(device, yes, 1), Valid);
    judge("queue family", &change(vulkan, yes, 5), Valid);
    judge(
        "capability without model",
        &change(vulkan, model, 5),
        Invalid,
    );
    judge(
        "model without capability",
        &change(capability, yes, 5),
        Invalid,
    );
}

#[test]
fn float_controls() {
    let rte = "OpExecutionMode %main RoundingModeRTE 32";
    for (from, to, right) in [
        ("OpCapability RoundingModeRTE\n", "", Invalid),
        (rte, "OpExecutionMode %main RoundingModeRTE 24", Beyond),
        (
            rte,
            "OpExecutionMode %main RoundingModeRTE 32\nOpExecutionMode %main RoundingModeRTE 16",
            Valid,
        ),
        (
            rte,
            "OpExecutionMode %main RoundingModeRTE 32\nOpExecutionMode %main RoundingModeRTE 32",
            Invalid,
        ),
    ] {
        judge(to, &kernel(&[(from, to)]), right);
    }
    let both = kernel(&[
        (
            "OpCapability RoundingModeRTE",
            "OpCapability RoundingModeRTE\nOpCapability DenormPreserve\nOpCapability DenormFlushToZero",
        ),
        (
            rte,
            "OpExecutionMode %main DenormPreserve 32\nOpExecutionMode %main DenormFlushToZero 32",
        ),
    ]);
    judge("both denormal modes", &both, Beyond);
}

#[test]
fn extended_instructions_and_initialisers() {
    let min = kernel(&[("%glsl UMin %id %last", "%glsl FMin %id %last")]);
    judge("FMin of integers", &min, Invalid);
    let tile = "%tile = OpVariable %p_shared Workgroup %null";
    judge("null", &kernel(&[(tile, tile)]), Valid);
    let zeros = kernel(&[
        (tile, "%tile = OpVariable %p_shared Workgroup %zeros"),
        (
            "%null = OpConstantNull %shared",
            "%shared4 = OpTypeArray %f32 %c4\n%p_shared4 = OpTypePointer Workgroup %shared4\n%zeros = OpConstantComposite %shared4 %fz %fz %fz %fz",
        ),
        ("%p_shared Workgroup %zeros", "%p_shared4 Workgroup %zeros"),
    ]);
    judge("zeros", &zeros, Invalid);
    let buffer = kernel(&[(
        "%out = OpVariable %p_buffer StorageBuffer",
        "%none = OpConstantNull %pushed\n%out = OpVariable %p_buffer StorageBuffer %none",
    )]);
    judge("an initialised buffer", &buffer, Invalid);
}

#[test]
fn types_declared_twice() {
    let at = "%c0 = OpConstant %u32 0\n";
    for (more, right) in [
        ("%again = OpTypeInt 32 0", Invalid),
        ("%again = OpTypeVector %u32 3", Invalid),
        ("%again = OpTypeFunction %void", Invalid),
        (
            "%again = OpTypePointer Function %f32\n%again2 = OpTypePointer Function %f32",
            Valid,
        ),
        (
            "%again = OpTypeStruct %u32\n%again2 = OpTypeStruct %u32",
            Valid,
        ),
        (
            "%four = OpConstant %u32 4\n%again = OpTypeArray %f32 %four\n%again2 = OpTypeArray %f32 %four",
            Valid,
        ),
        ("%bad = OpTypeVector %f32 1", Invalid),
        ("%bad = OpTypeVector %f32 5", Invalid),
        ("%bad = OpTypeInt 24 0", Invalid),
    ] {
        judge(more, &kernel(&[(at, &format!("{at}{more}\n"))]), right);
    }
}

#[test]
fn capabilities_of_operations() {
    for (from, to, right) in [
        // Any one of those that an operation lists will do.
        ("OpCapability GroupNonUniformArithmetic\n", "", Valid),
        ("OpCapability GroupNonUniformClustered\n", "", Invalid),
        (
            "OpGroupNonUniformElect %bool %c3",
            "OpGroupNonUniformElect %bool %c2",
            Invalid,
        ),
        ("OpCapability AtomicFloat32AddEXT\n", "", Invalid),
        (
            "OpExtension \"SPV_EXT_shader_atomic_float_add\"\n",
            "",
            Invalid,
        ),
        ("OpCapability Int64Atomics\n", "", Invalid),
        (
            "ClusteredReduce %count %c4",
            "ClusteredReduce %count %c3",
            Beyond,
        ),
        (
            "ClusteredReduce %count %c4",
            "ClusteredReduce %count %c8",
            Valid,
        ),
    ] {
        judge(to, &wide(&[(from, to)]), right);
    }
    let plain = "OpCapability Shader\nOpMemoryModel Logical GLSL450\n\
        OpEntryPoint GLCompute %m \"m\"\nOpExecutionMode %m LocalSize 1 1 1\n\
        %void = OpTypeVoid\n%fn = OpTypeFunction %void\n%m = OpFunction %void None %fn\n\
        %l = OpLabel\nOpReturn\nOpFunctionEnd";
    judge("Shader alone", plain, Valid);
    let u64_type = plain.replace("%fn =", "%u64 = OpTypeInt 64 0\n%fn =");
    judge(
        "a 64-bit integer without its capability",
        &u64_type,
        Invalid,
    );
}

#[test]
fn workgroup_sizes() {
    let size = "OpExecutionMode %second LocalSize 8 8 1\n";
    for (to, right) in [
        ("OpExecutionMode %second LocalSizeId %c1 %c1 %c1\n", Invalid),
        ("OpExecutionModeId %second LocalSizeId %c1 %c1 %c1\n", Valid),
        ("", Invalid),
        ("OpExecutionMode %second LocalSize 8 0 1\n", Invalid),
        (
            "OpExecutionMode %second LocalSize 8 8 1\nOpExecutionMode %second LocalSize 8 8 1\n",
            Invalid,
        ),
    ] {
        judge(to, &kernel(&[(size, to)]), right);
    }
}

#[test]
fn odd_debug_instructions() {
    let names = "OpMemberName %pushed 0 \"n\"";
    let continued = kernel(&[(
        "OpName %main \"main\"",
        "OpSourceContinued \"x\"\nOpName %main \"main\"",
    )]);
    judge("OpSourceContinued without OpSource", &continued, Valid);
    for (to, right) in [
        ("OpName %never \"n\"", Invalid),
        ("OpMemberName %pushed 4000000000 \"n\"", Invalid),
        ("OpMemberName %pushed 0 \"n\"\nOpLine %main 1 1", Invalid),
    ] {
        judge(to, &kernel(&[(names, to)]), right);
    }
    let late = kernel(&[(
        "OpDecorate %sum NoContraction",
        "OpDecorate %sum NoContraction\nOpName %sum \"s\"",
    )]);
    judge("OpName after OpDecorate", &late, Invalid);
}

#[test]
fn ids_out_of_range() {
    let text = kernel(&[]);
    let good = asm::assemble(&text);
    let types = good
        .windows(2)
        .position(|w| w[0] == 0x0002_0013)
        .expect("OpTypeVoid");
    for inst in [
        &[0x0004_0015, 0x0040_0000, 32, 0][..],
        &[0x0003_001B, 1, 0x0040_0000],
        &[0x0002_001B, 1],
    ] {
        let mut words = good.clone();
        words.splice(types..types, inst.iter().copied());
        judge_words(&format!("{inst:?}"), &words, Invalid);
    }
    let entry = good
        .windows(2)
        .position(|w| w[0] & 0xFFFF == 15 && w[1] == 5)
        .expect("OpEntryPoint");
    for id in [0, 0xFFFF_FFFF] {
        let mut words = good.clone();
        words[entry + 2] = id;
        judge_words(&format!("entry point {id}"), &words, Invalid);
        assert!(
            validate(&asm::bytes(&words))
                .faults()
                .any(|f| { matches!(f.rule(), Rule::IdZero | Rule::IdBound) })
        );
    }
}
