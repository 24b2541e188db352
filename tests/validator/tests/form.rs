//! The binary form: headers, words, hostile input. Modules made from words.

use kernite::spirv::tables;
use kernite::spirv::validate::{Environment, MAX_FAULTS, Options, Rule, Validator, validate};
use kernite::spirv::{Verdict, disassemble};
use kernite_validator_tests::{asm, corpus};

const MAGIC: u32 = 0x0723_0203;

fn base(name: &str) -> Vec<u32> {
    let path = corpus::folder().join(format!("{name}.spvasm"));
    asm::assemble(&std::fs::read_to_string(path).expect("a base"))
}

/// Everything on a thread with a small stack, so that no recursion hides.
fn on_small_stack(test: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new()
        .stack_size(256 << 10)
        .spawn(test)
        .expect("a thread")
        .join()
        .expect("no panic and no overflow");
}

fn breaks(words: &[u32], rule: Rule) {
    let verdict = validate(&asm::bytes(words));
    assert!(verdict.breaks(rule), "{rule}: {verdict}");
}

fn with(words: &[u32], at: usize, value: u32) -> Vec<u32> {
    let mut words = words.to_vec();
    words[at] = value;
    words
}

#[test]
fn headers() {
    let good = base("kernel");
    assert!(validate(&asm::bytes(&good)).is_valid());
    for length in [1, 3, 19, 22] {
        let verdict = validate(&asm::bytes(&good)[..length]);
        assert!(verdict.breaks(Rule::ByteLength), "{length}: {verdict}");
        assert!(
            verdict.to_string().contains(&format!("; {length}")),
            "{verdict}"
        );
    }
    for words in [0, 1, 4] {
        breaks(&good[..words], Rule::HeaderLength);
    }
    breaks(&good[..5], Rule::MemoryModelOnce);
    breaks(&with(&good, 0, 0), Rule::Magic);
    for version in [0x0001_0700, 0, 0x0001_0601, 0x0101_0600, 0x0002_0000] {
        breaks(&with(&good, 1, version), Rule::Version);
    }
    breaks(&with(&good, 3, 0), Rule::Bound);
    breaks(&with(&good, 3, 0x40_0000), Rule::Bound);
    breaks(&with(&good, 4, 1), Rule::Schema);
    // The largest bound costs nothing.
    assert!(validate(&asm::bytes(&with(&good, 3, 0x3F_FFFF))).is_valid());
}

#[test]
fn versions_follow_the_environment() {
    let options = |environment| Options {
        environment,
        ..Options::default()
    };
    let modern = base("kernel");
    for (environment, newest) in [
        (Environment::Vulkan1_0, 0),
        (Environment::Vulkan1_1, 3),
        (Environment::Vulkan1_2, 5),
        (Environment::Vulkan1_3, 6),
    ] {
        let mut validator = Validator::with_options(options(environment));
        for minor in 0..=7 {
            let verdict = validator.words(&with(&modern, 1, 0x0001_0000 | minor << 8));
            assert_eq!(verdict.breaks(Rule::Version), minor > newest);
        }
    }
    // LocalSizeId needs Vulkan 1.3 or a feature.
    let wide = with(&base("wide"), 1, 0x0001_0500);
    let mut validator = Validator::with_options(options(Environment::Vulkan1_2));
    assert!(validator.words(&wide).breaks(Rule::LocalSizeIdEnv));
    let mut validator = Validator::with_options(Options {
        allow_local_size_id: true,
        ..options(Environment::Vulkan1_2)
    });
    assert!(!validator.words(&wide).breaks(Rule::LocalSizeIdEnv));
}

#[test]
fn byte_order_and_alignment() {
    let good = asm::bytes(&base("kernel"));
    let swapped: Vec<u8> = good
        .as_chunks::<4>()
        .0
        .iter()
        .flat_map(|w| [w[3], w[2], w[1], w[0]])
        .collect();
    assert!(validate(&swapped).is_valid());
    for shift in 0..4 {
        let mut moved = vec![0; shift];
        moved.extend_from_slice(&good);
        assert!(validate(&moved[shift..]).is_valid());
    }
    // In words of the wrong order there is no magic number.
    let words: Vec<u32> = base("kernel").iter().map(|w| w.swap_bytes()).collect();
    assert!(Validator::new().words(&words).breaks(Rule::Magic));
}

#[test]
fn word_counts() {
    let good = base("kernel");
    let mut words = good.clone();
    words.push(0);
    breaks(&words, Rule::WordCount);
    breaks(&[MAGIC, 0x0001_0600, 0, 8, 0, 0x11], Rule::WordCount);
    breaks(
        &[MAGIC, 0x0001_0600, 0, 8, 0, 0x0004_0011, 1],
        Rule::WordCount,
    );
    breaks(&[MAGIC, 0x0001_0600, 0, 8, 0, 0x0001_FFFF], Rule::Opcode);
    // OpEntryPoint with a name that does not end, in its words and at the end of the module.
    let entry = [
        MAGIC,
        0x0001_0600,
        0,
        8,
        0,
        0x0005_000F,
        5,
        1,
        0x4141_4141,
        0x4141_4141,
    ];
    breaks(&entry, Rule::StringEnd);
    let text = validate(&asm::bytes(&entry)).to_string();
    assert!(text.contains("truncated literal string"), "{text}");
}

#[test]
fn strings() {
    let name = |words: &[u32]| {
        let mut text = base("kernel");
        // OpName %main "main" is the first OpName.
        let at = text
            .windows(2)
            .position(|w| w[0] & 0xFFFF == 5 && w[0] >> 16 == 4)
            .expect("a name");
        text.splice(at + 2..at + 4, words.iter().copied());
        text[at] = (2 + words.len() as u32) << 16 | 5;
        validate(&asm::bytes(&text))
    };
    assert!(name(&[0x6E69_616D, 0]).is_valid());
    for length in [3usize, 4, 7, 8] {
        let words = length / 4 + 1;
        let mut bytes = vec![b'x'; length];
        bytes.resize(words * 4, 0);
        let words: Vec<u32> = bytes
            .as_chunks::<4>()
            .0
            .iter()
            .map(|c| u32::from_le_bytes(*c))
            .collect();
        assert!(name(&words).is_valid());
    }
    assert!(name(&[0x00FF_FEFF]).breaks(Rule::StringUtf8));
    assert!(name(&[0x4100_4141]).breaks(Rule::StringPadding));
    assert!(name(&[0x4141_4141]).breaks(Rule::StringEnd));
}

#[test]
fn every_prefix_and_every_changed_word_has_a_verdict() {
    on_small_stack(|| {
        for name in ["kernel", "wide"] {
            let good = base(name);
            let mut validator = Validator::new();
            let bytes = asm::bytes(&good);
            for length in (0..bytes.len()).step_by(if name == "kernel" { 4 } else { 41 }) {
                let verdict = validator.bytes(&bytes[..length]);
                assert!(verdict.is_invalid(), "{length}: {verdict}");
            }
            for at in (0..good.len()).step_by(if name == "kernel" { 1 } else { 5 }) {
                for value in [0, 1, 0x7FFF_FFFF, 0xFFFF_FFFF, good[at] ^ 0x0001_0000] {
                    let changed = with(&good, at, value);
                    let _ = validator.words(&changed);
                    if at % 7 == 0 {
                        let _ = disassemble(&changed);
                    }
                }
            }
        }
    });
}

#[test]
fn every_opcode_with_every_length_has_a_verdict() {
    on_small_stack(|| {
        let mut validator = Validator::new();
        let good = base("kernel");
        // Before the types, among the types, and in a block.
        let places: Vec<usize> = {
            let mut at = 5;
            let mut out = vec![5];
            while at < good.len() {
                if matches!(good[at] & 0xFFFF, 19 | 61) && out.len() < 3 {
                    out.push(at);
                }
                at += (good[at] >> 16) as usize;
            }
            out
        };
        for row in tables::instructions() {
            let longest = row.operands.len() as u32 + 2;
            for len in 1..=longest.min(9) {
                for fill in [1, 7, 0xFFFF_FFFF] {
                    let mut inst = vec![fill; len as usize];
                    inst[0] = len << 16 | u32::from(row.opcode);
                    for &place in &places {
                        let mut words = good.clone();
                        words.splice(place..place, inst.iter().copied());
                        let verdict = validator.words(&words);
                        // OpNop, OpNoLine and their like may stand.
                        let harmless = verdict.is_valid() && len > 2;
                        assert!(
                            !harmless || fill == 1 || fill == 7,
                            "{}: {verdict}",
                            row.name
                        );
                    }
                }
            }
        }
    });
}

#[test]
fn large_numbers_and_long_chains_are_judged_quickly() {
    on_small_stack(|| {
        struct_doubling();
        nested_arrays();
        many_blocks();
        deep_nesting();
        wide_switch();
        many_entry_points();
        many_decorations();
        many_faults();
    });
}

fn head(bound: u32) -> Vec<u32> {
    let mut words = asm::assemble(
        "OpCapability Shader\nOpMemoryModel Logical GLSL450\n\
         OpEntryPoint GLCompute %1 \"m\"\nOpExecutionMode %1 LocalSize 1 1 1\n\
         %2 = OpTypeVoid\n%3 = OpTypeFunction %2\n%4 = OpTypeInt 32 0\n%5 = OpTypeBool\n\
         %6 = OpConstantTrue %5\n%7 = OpConstant %4 2",
    );
    words[3] = bound;
    words
}

fn tail(words: &mut Vec<u32>, label: u32) {
    words.extend([0x0005_0036, 2, 1, 0, 3, 0x0002_00F8, label]);
    words.extend([0x0001_00FD, 0x0001_0038]);
}

/// Each structure holds the one before twice: 2^n members in all.
fn struct_doubling() {
    let mut words = head(10_000);
    let mut last = 4;
    for id in 10..210 {
        words.extend([0x0004_001E, id, last, last]);
        last = id;
    }
    words.extend([0x0004_0020, 300, 7, last]);
    words.extend([0x0005_0036, 2, 1, 0, 3, 0x0002_00F8, 301]);
    words.extend([0x0004_003B, 300, 302, 7, 0x0004_003D, last, 303, 302]);
    words.extend([0x0001_00FD, 0x0001_0038]);
    let verdict = validate(&asm::bytes(&words));
    assert!(verdict.is_valid(), "{verdict}");
    // Deeper than 255 is over the limit.
    let mut words = head(100_000);
    let mut last = 4;
    for id in 10..310 {
        words.extend([0x0004_001E, id, last, last]);
        last = id;
    }
    tail(&mut words, 400);
    breaks(&words, Rule::IdBoundLimit);
}

fn nested_arrays() {
    let n = 30_000;
    let mut words = head(n + 100);
    let mut last = 4;
    for id in 10..n {
        words.extend([0x0004_001C, id, last, 7]);
        last = id;
    }
    words.extend([0x0004_0020, n + 1, 7, last]);
    tail(&mut words, n + 2);
    let verdict = validate(&asm::bytes(&words));
    assert!(verdict.is_valid(), "{verdict}");
}

/// A long chain of blocks, each of which may also leave.
fn many_blocks() {
    let n = 60_000;
    let mut words = head(2 * n + 100);
    words.extend([0x0005_0036, 2, 1, 0, 3]);
    for i in 0..n {
        let (block, merge) = (20 + i, 20 + i + 1);
        words.extend([0x0002_00F8, block]);
        words.extend([0x0003_00F7, merge, 0]);
        words.extend([0x0004_00FA, 6, n + 30 + i, merge]);
        words.extend([0x0002_00F8, n + 30 + i, 0x0002_00F9, merge]);
    }
    words.extend([0x0002_00F8, 20 + n, 0x0001_00FD, 0x0001_0038]);
    let verdict = validate(&asm::bytes(&words));
    assert!(verdict.is_valid(), "{verdict}");
}

fn deep_nesting() {
    for (depth, fits) in [(1000u32, true), (1100, false), (50_000, false)] {
        let mut words = head(3 * depth + 100);
        words.extend([0x0005_0036, 2, 1, 0, 3, 0x0002_00F8, 20]);
        let merge = |i: u32| 30 + depth + i;
        for i in 0..depth {
            words.extend([0x0003_00F7, merge(i), 0]);
            words.extend([0x0004_00FA, 6, 21 + i, merge(i), 0x0002_00F8, 21 + i]);
        }
        words.extend([0x0002_00F9, merge(depth - 1)]);
        for i in (0..depth).rev() {
            words.extend([0x0002_00F8, merge(i)]);
            if i > 0 {
                words.extend([0x0002_00F9, merge(i - 1)]);
            }
        }
        words.extend([0x0001_00FD, 0x0001_0038]);
        let verdict = validate(&asm::bytes(&words));
        assert_eq!(verdict.is_valid(), fits, "{depth}: {verdict}");
        assert_eq!(verdict.breaks(Rule::NestingDepth), !fits);
    }
}

fn wide_switch() {
    for (cases, rule) in [(16_383, None), (16_384, Some(Rule::SwitchLimit))] {
        let mut words = head(100);
        words.extend([0x0005_0036, 2, 1, 0, 3, 0x0002_00F8, 20, 0x0003_00F7, 21, 0]);
        words.extend([(3 + 2 * cases) << 16 | 251, 7, 21]);
        for i in 0..cases {
            words.extend([i, 21]);
        }
        words.extend([0x0002_00F8, 21, 0x0001_00FD, 0x0001_0038]);
        match rule {
            None => assert!(validate(&asm::bytes(&words)).is_valid()),
            Some(rule) => breaks(&words, rule),
        }
    }
}

/// Many entry points that all call one function.
fn many_entry_points() {
    let n = 5000u32;
    let mut words = vec![
        MAGIC,
        0x0001_0600,
        0,
        4 * n,
        0,
        0x0002_0011,
        1,
        0x0003_000E,
        0,
        1,
    ];
    for i in 0..n {
        let name = u32::from_le_bytes([
            b'a' + (i % 26) as u8,
            b'a' + (i / 26 % 26) as u8,
            b'a' + (i / 676) as u8,
            0,
        ]);
        words.extend([0x0004_000F, 5, 10 + i, name]);
    }
    for i in 0..n {
        words.extend([0x0006_0010, 10 + i, 17, 1, 1, 1]);
    }
    words.extend([0x0002_0013, 1, 0x0003_0021, 2, 1]);
    for i in 0..n {
        words.extend([0x0005_0036, 1, 10 + i, 0, 2, 0x0002_00F8, 10 + n + i]);
        words.extend([0x0004_0039, 1, 10 + 2 * n + i, 3]);
        words.extend([0x0001_00FD, 0x0001_0038]);
    }
    words.extend([
        0x0005_0036,
        1,
        3,
        0,
        2,
        0x0002_00F8,
        4,
        0x0001_00FD,
        0x0001_0038,
    ]);
    let verdict = validate(&asm::bytes(&words));
    assert!(verdict.is_valid(), "{verdict}");
}

fn many_decorations() {
    let mut words = head(100);
    let types = words
        .windows(2)
        .position(|w| w == [0x0002_0013, 2])
        .expect("the types");
    let decorations: Vec<u32> = (0..50_000).flat_map(|_| [0x0003_0047, 7, 42]).collect();
    words.splice(types..types, decorations);
    tail(&mut words, 20);
    breaks(&words, Rule::DecorationOnce);
}

fn many_faults() {
    let mut words = head(100);
    words.extend([0x0005_0036, 2, 1, 0, 3, 0x0002_00F8, 20]);
    for _ in 0..10_000 {
        words.extend([0x0003_003E, 7, 7]);
    }
    words.extend([0x0001_00FD, 0x0001_0038]);
    match validate(&asm::bytes(&words)) {
        Verdict::Invalid(faults) => {
            assert_eq!(faults.iter().count(), MAX_FAULTS);
            assert!(faults.not_kept() >= 10_000 - MAX_FAULTS);
            assert!(faults.first().to_string().contains("OpStore %7 %7"));
        }
        other => panic!("{other}"),
    }
}

#[test]
fn entry_points_and_removed_versions() {
    let text = "OpCapability Shader\nOpMemoryModel Logical GLSL450";
    breaks(&asm::assemble(text), Rule::EntryPointMissing);
    // OpAtomicCompareExchangeWeak left with 1.3.
    let path = corpus::folder().join("wide.spvasm");
    let wide = std::fs::read_to_string(path).expect("a base");
    let old = "%swapped = OpAtomicCompareExchange %u32";
    let weak = wide.replace(old, "%swapped = OpAtomicCompareExchangeWeak %u32");
    assert_ne!(wide, weak);
    breaks(&asm::assemble(&weak), Rule::VersionRemoved);
}

const PHYSICAL: &str = "; SPIR-V 1.5
OpCapability Shader
OpCapability PhysicalStorageBufferAddresses
OpMemoryModel PhysicalStorageBuffer64 GLSL450
OpEntryPoint GLCompute %main \"main\" %push
OpExecutionMode %main LocalSize 1 1 1
OpDecorate %root Block
OpMemberDecorate %root 0 Offset 0
OpDecorate %node Block
OpMemberDecorate %node 0 Offset 0
OpMemberDecorate %node 1 Offset 8
%void = OpTypeVoid
%fn = OpTypeFunction %void
%u32 = OpTypeInt 32 0
%c0 = OpConstant %u32 0
%c1 = OpConstant %u32 1
OpTypeForwardPointer %p_node PhysicalStorageBuffer
%node = OpTypeStruct %p_node %u32
%p_node = OpTypePointer PhysicalStorageBuffer %node
%root = OpTypeStruct %p_node
%p_root = OpTypePointer PushConstant %root
%p_push = OpTypePointer PushConstant %p_node
%p_u32 = OpTypePointer PhysicalStorageBuffer %u32
%push = OpVariable %p_root PushConstant
%main = OpFunction %void None %fn
%entry = OpLabel
%pp = OpAccessChain %p_push %push %c0
%p = OpLoad %p_node %pp
%up = OpAccessChain %p_u32 %p %c1
%u = OpLoad %u32 %up Aligned 4
OpStore %up %u Aligned 8
OpReturn
OpFunctionEnd";

#[test]
fn physical_pointers() {
    let good = validate(&asm::assemble_bytes(PHYSICAL));
    assert!(good.is_valid(), "{good}");
    for (from, to, rule) in [
        ("%up Aligned 4", "%up", Rule::PointerAlignment),
        ("%up Aligned 4", "%up Aligned 2", Rule::PointerAlignment),
        ("%up Aligned 4", "%up Aligned 3", Rule::MemoryOperands),
        (
            "OpTypeForwardPointer %p_node PhysicalStorageBuffer",
            "OpTypeForwardPointer %p_node StorageBuffer",
            Rule::TypeForward,
        ),
        ("%node 1 Offset 8", "%node 1 Offset 4", Rule::LayoutOverlap),
        (
            "%node 1 Offset 8",
            "%node 1 Offset 9",
            Rule::LayoutAlignment,
        ),
    ] {
        let text = PHYSICAL.replace(from, to);
        assert_ne!(text, PHYSICAL);
        let verdict = validate(&asm::assemble_bytes(&text));
        assert!(verdict.breaks(rule), "{to}: {rule}: {verdict}");
    }
}

const COOPERATIVE: &str = "; SPIR-V 1.6
OpCapability Shader
OpCapability VulkanMemoryModel
OpCapability CooperativeMatrixKHR
OpExtension \"SPV_KHR_cooperative_matrix\"
OpMemoryModel Logical Vulkan
OpEntryPoint GLCompute %main \"main\" %data
OpExecutionMode %main LocalSize 32 1 1
OpDecorate %floats ArrayStride 4
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
OpDecorate %data DescriptorSet 0
OpDecorate %data Binding 0
%void = OpTypeVoid
%fn = OpTypeFunction %void
%u32 = OpTypeInt 32 0
%f32 = OpTypeFloat 32
%c0 = OpConstant %u32 0
%c1 = OpConstant %u32 1
%c2 = OpConstant %u32 2
%c3 = OpConstant %u32 3
%c16 = OpConstant %u32 16
%a = OpTypeCooperativeMatrixKHR %f32 %c3 %c16 %c16 %c0
%b = OpTypeCooperativeMatrixKHR %f32 %c3 %c16 %c16 %c1
%c = OpTypeCooperativeMatrixKHR %f32 %c3 %c16 %c16 %c2
%floats = OpTypeRuntimeArray %f32
%block = OpTypeStruct %floats
%p_block = OpTypePointer StorageBuffer %block
%p_f32 = OpTypePointer StorageBuffer %f32
%data = OpVariable %p_block StorageBuffer
%main = OpFunction %void None %fn
%entry = OpLabel
%p = OpAccessChain %p_f32 %data %c0 %c0
%ma = OpCooperativeMatrixLoadKHR %a %p %c0 %c16
%mb = OpCooperativeMatrixLoadKHR %b %p %c0 %c16
%mc = OpCooperativeMatrixLoadKHR %c %p %c0 %c16
%md = OpCooperativeMatrixMulAddKHR %c %ma %mb %mc
%sum = OpFAdd %c %md %mc
OpCooperativeMatrixStoreKHR %p %sum %c0 %c16
%length = OpCooperativeMatrixLengthKHR %u32 %c
OpReturn
OpFunctionEnd";

#[test]
fn cooperative_matrices() {
    let good = validate(&asm::assemble_bytes(COOPERATIVE));
    assert!(good.is_valid(), "{good}");
    for (from, to, rule) in [
        (
            "%f32 %c3 %c16 %c16 %c0",
            "%f32 %c3 %p %c16 %c0",
            Rule::IdOrder,
        ),
        (
            "%a = OpTypeCooperativeMatrixKHR %f32 %c3",
            "%a = OpTypeCooperativeMatrixKHR %void %c3",
            Rule::TypeCooperativeMatrix,
        ),
        ("%c %ma %mb %mc", "%c %mb %ma %mc", Rule::OperandShape),
        (
            "OpMemoryModel Logical Vulkan",
            "OpMemoryModel Logical GLSL450",
            Rule::MemoryModelPair,
        ),
        (
            "%length = OpCooperativeMatrixLengthKHR %u32 %c",
            "%length = OpCooperativeMatrixLengthKHR %u32 %f32",
            Rule::OperandType,
        ),
        (
            "%mc = OpCooperativeMatrixLoadKHR %c %p %c0 %c16",
            "%mc = OpCooperativeMatrixLoadKHR %c %p %c0",
            Rule::OperandType,
        ),
    ] {
        let text = COOPERATIVE.replace(from, to);
        assert_ne!(text, COOPERATIVE);
        let verdict = validate(&asm::assemble_bytes(&text));
        assert!(verdict.breaks(rule), "{to}: {rule}: {verdict}");
    }
}

#[test]
fn what_is_not_covered_is_unsupported() {
    let kernel = std::fs::read_to_string(corpus::folder().join("kernel.spvasm")).expect("a base");
    for (from, to, what) in [
        (
            "OpCapability Int64",
            "OpCapability Int64\nOpCapability DerivativeControl",
            "capability DerivativeControl",
        ),
        (
            "OpCapability RoundingModeRTE",
            "OpCapability RoundingModeRTE\nOpExtension \"SPV_X_new\"",
            "extension SPV_X_new",
        ),
        (
            "OpEntryPoint GLCompute %second",
            "OpEntryPoint Vertex %second",
            "execution model Vertex",
        ),
        (
            "OpDecorate %out Coherent",
            "OpDecorate %out Patch",
            "decoration Patch",
        ),
        (
            "OpDecorate %lid BuiltIn LocalInvocationIndex",
            "OpDecorate %lid BuiltIn DeviceIndex",
            "built-in DeviceIndex",
        ),
        (
            "%glsl = OpExtInstImport \"GLSL.std.450\"",
            "%glsl = OpExtInstImport \"GLSL.std.450\"\n%cl = OpExtInstImport \"OpenCL.std\"",
            "extended instruction set OpenCL.std",
        ),
    ] {
        let text = kernel.replacen(from, to, 1);
        assert_ne!(text, kernel);
        let verdict = validate(&asm::assemble_bytes(&text));
        assert!(!verdict.is_valid(), "{what}: {verdict}");
        if let Verdict::Unsupported(all) = &verdict {
            assert!(all.iter().any(|u| u.to_string() == what), "{what}: {all:?}");
        }
    }
    for capability in ["Linkage", "Kernel", "Groups"] {
        let more = format!("OpCapability Int64\nOpCapability {capability}");
        let text = kernel.replacen("OpCapability Int64", &more, 1);
        let verdict = validate(&asm::assemble_bytes(&text));
        assert!(verdict.breaks(Rule::CapabilityVulkan), "{verdict}");
    }
    // An opcode that an unknown extension may bring.
    let mut words = asm::assemble(&kernel.replace(
        "OpCapability RoundingModeRTE",
        "OpCapability RoundingModeRTE\nOpExtension \"SPV_X_new\"",
    ));
    words.extend([0x0001_FFFE]);
    let text = Validator::new().words(&words).to_string();
    assert!(
        text.starts_with("unsupported at word 13: extension SPV_X_new"),
        "{text}"
    );
}

#[test]
fn a_validator_can_be_used_again() {
    let mut validator = Validator::new();
    let (kernel, wide) = (base("kernel"), base("wide"));
    let broken = with(&kernel, 60, 0xFFFF_FFFF);
    let first = validator.words(&broken);
    for _ in 0..3 {
        assert!(validator.words(&kernel).is_valid());
        assert!(validator.words(&wide).is_valid());
        assert_eq!(validator.words(&broken), first);
    }
}
