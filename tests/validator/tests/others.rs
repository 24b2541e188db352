//! What modules of other compilers and SPIRV-Tools' own tests brought up.

use kernite::spirv::validate::{Validator, Verdict};
use kernite_validator_tests::{asm, oracle};

const SHELL: &str = "OpCapability Shader
CAPS
OpMemoryModel ADDRESSING GLSL450
OpEntryPoint GLCompute %main \"main\"
OpExecutionMode %main LocalSize 1 1 1
ANNOTATIONS
%void = OpTypeVoid
%u32 = OpTypeInt 32 0
%u64 = OpTypeInt 64 0
%f32 = OpTypeFloat 32
%c0 = OpConstant %u32 0
%c4 = OpConstant %u32 4
%far = OpConstant %u64 4096
%void_fn = OpTypeFunction %void
TYPES
%main = OpFunction %void None %void_fn
%entry = OpLabel
BODY
OpReturn
OpFunctionEnd";

/// The shell with some of its parts: capabilities and imports, annotations, types, a body.
fn module(parts: [&str; 4]) -> String {
    let physical = parts[0].contains("Physical");
    let addressing = if physical {
        "PhysicalStorageBuffer64"
    } else {
        "Logical"
    };
    SHELL
        .replace("CAPS", &format!("OpCapability Int64\n{}", parts[0]))
        .replace("ADDRESSING", addressing)
        .replace("ANNOTATIONS", parts[1])
        .replace("TYPES", parts[2])
        .replace("BODY", parts[3])
}

fn verdict(text: &str) -> Verdict {
    Validator::new().words(&asm::assemble(text))
}

#[track_caller]
fn judge(text: &str, rule: Option<&str>) {
    let verdict = verdict(text);
    match rule {
        None => assert!(verdict.is_valid(), "{verdict}"),
        Some(rule) => assert!(
            verdict.faults().any(|f| f.rule().name() == rule),
            "{rule}: {verdict}"
        ),
    }
    if let Some(tool) = oracle::find(oracle::Tool::SpirvVal) {
        let (valid, message) = oracle::spirv_val(&tool, &asm::assemble_bytes(text));
        assert_eq!(valid, rule.is_none(), "{message}");
    }
}

#[test]
fn arrays_behind_physical_pointers_have_strides() {
    let caps = "OpCapability PhysicalStorageBufferAddresses";
    let types = "%array = OpTypeArray %f32 %c4\n%p = OpTypePointer PhysicalStorageBuffer %array";
    let body = "%q = OpConvertUToPtr %p %far";
    for (stride, rule) in [
        ("", Some("layout-stride")),
        ("OpDecorate %array ArrayStride 2", Some("layout-alignment")),
        ("OpDecorate %array ArrayStride 4", None),
    ] {
        judge(&module([caps, stride, types, body]), rule);
    }
}

#[test]
fn built_ins_of_subgroups_are_no_members() {
    let notes = "OpDecorate %s Block\nOpMemberDecorate %s 0 BuiltIn SubgroupSize";
    let text = module([
        "OpCapability GroupNonUniform",
        notes,
        "%s = OpTypeStruct %u32",
        "",
    ]);
    judge(&text, Some("builtin-target"));
}

#[test]
fn built_ins_as_members_are_in_a_block() {
    let types = "%v3 = OpTypeVector %u32 3\n%s = OpTypeStruct %v3\n%p = OpTypePointer Input %s\n%in = OpVariable %p Input";
    let of = |notes: &str| {
        let notes = format!("OpMemberDecorate %s 0 BuiltIn WorkgroupId\n{notes}");
        let text = module(["", &notes, types, "%x = OpLoad %s %in"]);
        text.replace("\"main\"", "\"main\" %in")
    };
    judge(&of("OpDecorate %s Block"), None);
    judge(&of(""), Some("interface-location"));
}

#[test]
fn narrow_values_may_be_decorated() {
    let caps = "OpCapability StorageBuffer16BitAccess";
    let types = "%f16 = OpTypeFloat 16\n%half = OpConstant %f32 0.5";
    let body = "%x = OpFConvert %f16 %half";
    judge(&module([caps, "", types, body]), None);
    let note = "OpDecorate %x RelaxedPrecision";
    judge(&module([caps, note, types, body]), None);
}

#[test]
fn debug_information_names_what_came_before() {
    let import = "OpExtension \"SPV_KHR_non_semantic_info\"\n\
        %debug = OpExtInstImport \"NonSemantic.Shader.DebugInfo.100\"";
    let first = "%a = OpExtInst %void %debug DebugExpression %b";
    let second = "%b = OpExtInst %void %debug DebugOperation %c0";
    let text = module([import, "", &format!("{second}\n{first}"), ""]);
    judge(&text, None);
    let text = module([import, "", &format!("{first}\n{second}"), ""]);
    judge(&text, Some("id-order"));
}

#[test]
fn dot_products_take_no_pointers() {
    let caps = "OpCapability DotProduct\nOpCapability DotProductInput4x8BitPacked";
    let types = "%p = OpTypePointer Function %u32";
    let of = |a: &str| {
        let dot = format!("%x = OpUDot %u32 {a} %c0 PackedVectorFormat4x8Bit");
        module([
            caps,
            "",
            types,
            &format!("%v = OpVariable %p Function\n{dot}"),
        ])
    };
    judge(&of("%c4"), None);
    judge(&of("%v"), Some("pointer-value"));
}

#[test]
fn member_decorations_of_the_largest_number() {
    let notes = "OpMemberDecorate %s 4294967295 Offset 0";
    let text = module(["", notes, "%s = OpTypeStruct %u32", ""]);
    judge(&text, Some("decoration-member"));
}

#[test]
fn variable_pointers_lead_into_no_matrix() {
    let types = "%v2 = OpTypeVector %f32 2\n%m2 = OpTypeMatrix %v2 2\n%two = OpTypeArray %m2 %c4\n\
        %s = OpTypeStruct %two %f32\n%ps = OpTypePointer Workgroup %s\n%pv = OpTypePointer Workgroup %v2\n\
        %pf = OpTypePointer Workgroup %f32\n%w = OpVariable %ps Workgroup\n%bool = OpTypeBool\n\
        %yes = OpConstantTrue %bool\n%c1 = OpConstant %u32 1\n%ppf = OpTypePointer Function %pf";
    let of = |body: &str| {
        let text = module(["OpCapability VariablePointers", "", types, body]);
        text.replace("\"main\"", "\"main\" %w")
    };
    let member = "%f = OpAccessChain %pf %w %c1\n%x = OpSelect %pf %yes %f %f";
    judge(&of(member), None);
    let column = "%f = OpAccessChain %pv %w %c0 %c1 %c0\n%x = OpLoad %v2 %f";
    judge(&of(column), None);
    for body in [
        "%f = OpAccessChain %pf %w %c0 %c1 %c0 %c0\n%x = OpSelect %pf %yes %f %f",
        "%f = OpAccessChain %pv %w %c0 %c1 %c0\n%x = OpSelect %pv %yes %f %f",
        "%f = OpAccessChain %pv %w %c0 %c1 %c0\n%g = OpAccessChain %pf %f %c1\n%x = OpSelect %pf %yes %g %g",
        "%f = OpAccessChain %pf %w %c0 %c1 %c0 %c0\n%g = OpCopyObject %pf %f\n%x = OpSelect %pf %yes %g %g",
    ] {
        judge(&of(body), Some("pointer-value"));
    }
    // Through memory nothing is followed.
    let stored = "%v = OpVariable %ppf Function\n%f = OpAccessChain %pf %w %c0 %c1 %c0 %c0\nOpStore %v %f\n\
        %x = OpLoad %pf %v";
    assert!(verdict(&of(stored)).is_unsupported());
}

#[test]
fn converted_matrices_keep_their_use() {
    let extension = "OpExtension \"SPV_KHR_cooperative_matrix\"\nOpMemoryModel";
    let caps =
        "OpCapability Float16\nOpCapability VulkanMemoryModel\nOpCapability CooperativeMatrixKHR";
    let types = "%f16 = OpTypeFloat 16\n%sub = OpConstant %u32 3\n%c1 = OpConstant %u32 1\n%one = OpConstant %f16 1\n\
        %half = OpTypeCooperativeMatrixKHR %f16 %sub %c4 %c4 %c0\n\
        %same = OpTypeCooperativeMatrixKHR %f32 %sub %c4 %c4 %c0\n\
        %other = OpTypeCooperativeMatrixKHR %f32 %sub %c4 %c4 %c1\n%ones = OpConstantComposite %half %one";
    for (to, rule) in [("%same", None), ("%other", Some("operand-shape"))] {
        let text = module([caps, "", types, &format!("%x = OpFConvert {to} %ones")]);
        let text = text.replace("GLSL450", "Vulkan");
        judge(&text.replace("OpMemoryModel", extension), rule);
    }
}

#[test]
fn capabilities_of_other_stages_change_nothing() {
    let caps = "OpCapability Geometry\nOpCapability Tessellation\nOpCapability ClipDistance\nOpCapability MultiView\n\
        OpCapability DrawParameters\nOpCapability InputAttachment\nOpCapability SparseResidency";
    judge(&module([caps, "", "", "%x = OpIAdd %u32 %c0 %c4"]), None);
    let wrong = "%x = OpIAdd %f32 %c0 %c4";
    judge(&module([caps, "", "", wrong]), Some("result-type"));
}

#[test]
fn a_partition_is_of_either_sign() {
    let caps = "OpCapability GroupNonUniform\nOpCapability GroupNonUniformPartitionedNV\n\
        OpExtension \"SPV_NV_shader_subgroup_partitioned\"";
    let types = "%s32 = OpTypeInt 32 1\n%us = OpTypeVector %u32 4\n%ss = OpTypeVector %s32 4\n\
        %short = OpTypeVector %u32 3\n%u = OpConstantNull %us\n%s = OpConstantNull %ss\n%t = OpConstantNull %short\n\
        %sub = OpConstant %u32 3";
    for (mask, rule) in [("%u", None), ("%s", None), ("%t", Some("group-operands"))] {
        let sum = format!("%x = OpGroupNonUniformIAdd %u32 %sub PartitionedReduceNV %c4 {mask}");
        judge(&module([caps, "", types, &sum]), rule);
    }
}

#[test]
fn what_is_not_covered_is_no_fault() {
    let fragment = module(["", "", "", ""])
        .replace("GLCompute", "Fragment")
        .replace("LocalSize 1 1 1", "OriginUpperLeft");
    let group = "OpDecorate %g RelaxedPrecision\n%g = OpDecorationGroup\nOpGroupDecorate %g %x";
    let groups = module(["", group, "", "%x = OpIAdd %u32 %c0 %c4"]);
    let replicated = module([
        "OpCapability ReplicatedCompositesEXT\nOpExtension \"SPV_EXT_replicated_composites\"",
        "",
        "%v = OpTypeVector %u32 2\n%c = OpConstantCompositeReplicateEXT %v %c0",
        "",
    ]);
    let variants = "OpConditionalEntryPointINTEL %yes GLCompute %main \"other\"";
    let variant = module([
        "OpCapability SpecConditionalINTEL\nOpExtension \"SPV_INTEL_function_variants\"",
        "",
        "%bool = OpTypeBool\n%yes = OpSpecConstantTrue %bool",
        "",
    ])
    .replace("OpExecutionMode", &format!("{variants}\nOpExecutionMode"));
    for text in [fragment, groups, replicated, variant] {
        let verdict = verdict(&text);
        assert!(matches!(verdict, Verdict::Unsupported(_)), "{verdict}");
    }
}
