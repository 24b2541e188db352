//! A module for each rule that breaks it and no other, so that no rule hides behind another: cases, what is written here,
//! and small changes of the checked-in modules.

use kernite::spirv::Verdict;
use kernite::spirv::validate::{Rule, Validator};
use kernite_validator_tests::mutate::{Kind, Random, mutate};
use kernite_validator_tests::{asm, cases};
use std::collections::BTreeSet;
use std::path::Path;

/// Rules that are never broken alone, and why.
const TOGETHER: &[(Rule, &str)] = &[
    (
        Rule::MergeUnique,
        "the branches to the shared block leave one of the constructs wrongly",
    ),
    (
        Rule::ContinueDominated,
        "the back edge is then no part of the continue construct",
    ),
    (
        Rule::BackEdgeUnique,
        "without it the continue target dominates none, a second one comes from elsewhere",
    ),
    (
        Rule::ConstructEntry,
        "what is entered from outside is not dominated by its header",
    ),
    (
        Rule::PhiResult,
        "pointers as values are another rule too, and no other value has such a type",
    ),
    (
        Rule::WorkgroupBlock,
        "without the capability such a structure has a layout where none is",
    ),
    (
        Rule::IdIsValue,
        "a type has no type, so the instruction's own rule is broken too",
    ),
    (
        Rule::NonSemanticUse,
        "its result is void, so the instruction's own rule is broken too",
    ),
    (
        Rule::CapabilityVulkan,
        "what brings the capability is missing too: a version or an extension",
    ),
    (
        Rule::AddressingModel,
        "the model needs a capability that Vulkan does not have either",
    ),
];

/// Rules whose modules, made from words by `form.rs`, are too large or too short for this.
const BY_FORM: &[Rule] = &[
    Rule::ByteLength,
    Rule::HeaderLength,
    Rule::Magic,
    Rule::Version,
    Rule::Bound,
    Rule::Schema,
    Rule::SwitchLimit,
    Rule::IdBoundLimit,
    Rule::NestingDepth,
    Rule::LocalSizeIdEnv,
    Rule::PointerAlignment,
    Rule::TypeCooperativeMatrix,
];

/// A rule, and a module's extensions and imports, annotations, declarations and a body.
#[rustfmt::skip]
const WRITTEN: &[(Rule, [&str; 4])] = &[
    (Rule::ExtInstNumber, ["%glsl = OpExtInstImport \"GLSL.std.450\"", "", "", "%x = OpExtInst %f32 %glsl 200 %f1"]),
    (Rule::IdIsType, ["", "", "%x = OpUndef %c1", ""]),
    (Rule::ExtInstPlace, ["%glsl = OpExtInstImport \"GLSL.std.450\"", "", "", "OpReturn\nOpFunctionEnd\n%x = OpExtInst %f32 %glsl FAbs %f1\n%g = OpFunction %void None %fn\n%gl = OpLabel"]),
    (Rule::VersionNeeded, ["; SPIR-V 1.2\nOpCapability GroupNonUniform", "", "", ""]),
    (Rule::VersionRemoved, ["", "OpDecorate %s BufferBlock\nOpMemberDecorate %s 0 Offset 0", "%s = OpTypeStruct %u32", ""]),
    (Rule::EntryBlock, ["", "", "", "OpReturn\n%dead = OpLabel\nOpBranch %entry\n%end = OpLabel"]),
    (Rule::ContinuePostDominated, ["", "", "", "OpBranch %h\n%h = OpLabel\nOpLoopMerge %x %h None\nOpBranch %l\n%l = OpLabel\nOpBranchConditional %yes %h %x\n%x = OpLabel"]),
    (Rule::BackEdge, ["", "", "", "OpBranch %a\n%a = OpLabel\nOpBranch %b\n%b = OpLabel\nOpBranch %a\n%z = OpLabel"]),
    (Rule::TypePointer, ["", "", "%p = OpTypePointer CrossWorkgroup %u32", ""]),
    (Rule::TypeForward, ["OpCapability PhysicalStorageBufferAddresses", "", "OpTypeForwardPointer %p Function\n%p = OpTypePointer Function %u32", ""]),
    (Rule::SpecConstantOp, ["", "", "%x = OpSpecConstantOp %f32 FAdd %f1 %f1", ""]),
    (Rule::FunctionUse, ["", "", "%fu = OpTypeFunction %u32\n%g = OpFunction %u32 None %fu\n%gl = OpLabel\nOpReturnValue %c1\nOpFunctionEnd", "%x = OpCopyObject %u32 %g"]),
    (Rule::EntryPointCalled, ["", "", "%g = OpFunction %void None %fn\n%gl = OpLabel\n%x = OpFunctionCall %void %main\nOpReturn\nOpFunctionEnd", ""]),
    (Rule::VariableStorage, ["OpCapability PhysicalStorageBufferAddresses", "", "%p = OpTypePointer PhysicalStorageBuffer %u32\n%v = OpVariable %p PhysicalStorageBuffer", ""]),
    (Rule::PointerValue, ["", "", "%p = OpTypePointer Function %u32", "%v = OpVariable %p Function\n%x = OpBitcast %p %v"]),
    (Rule::InterfaceVariable, ["", "INTERFACE %c1", "", ""]),
    (Rule::DecorationStorage, ["", "OpDecorate %v Binding 0", "%p = OpTypePointer Private %u32\n%v = OpVariable %p Private", ""]),
    (Rule::InterfaceStorage, ["", "OpDecorate %v Location 0\nINTERFACE %v", "%p = OpTypePointer Output %u32\n%v = OpVariable %p Output", ""]),
];

fn module([head, notes, types, body]: [&str; 4]) -> String {
    let (notes, interface) = notes.split_once("INTERFACE").unwrap_or((notes, ""));
    let (version, head) = match head.split_once('\n') {
        Some((version, head)) if version.starts_with("; SPIR-V") => (version, head),
        _ => ("", head),
    };
    let (capabilities, imports) = if head.contains("OpCapability") {
        (head, "")
    } else {
        ("", head)
    };
    let addressing = if head.contains("Physical") {
        "PhysicalStorageBuffer64"
    } else {
        "Logical"
    };
    format!(
        "{version}\nOpCapability Shader\n{capabilities}\n{imports}\nOpMemoryModel {addressing} GLSL450\n\
         OpEntryPoint GLCompute %main \"main\"{interface}\nOpExecutionMode %main LocalSize 1 1 1\n\
         {notes}\n\
         %void = OpTypeVoid\n%fn = OpTypeFunction %void\n%bool = OpTypeBool\n\
         %u32 = OpTypeInt 32 0\n%f32 = OpTypeFloat 32\n%c0 = OpConstant %u32 0\n\
         %c1 = OpConstant %u32 1\n%f1 = OpConstant %f32 1\n%yes = OpConstantTrue %bool\n\
         {types}\n\
         %main = OpFunction %void None %fn\n%entry = OpLabel\n{body}\nOpReturn\nOpFunctionEnd"
    )
}

/// The only rule that a verdict names.
fn only(verdict: &Verdict) -> Option<Rule> {
    let mut rules = verdict.faults().map(|f| f.rule());
    let first = rules.next()?;
    rules.all(|r| r == first).then_some(first)
}

#[test]
fn every_rule_is_broken_alone() {
    let mut validator = Validator::new();
    let mut alone: BTreeSet<&str> = BTreeSet::new();
    for case in cases::all() {
        let verdict = validator.words(&asm::assemble(&case.text));
        alone.extend(only(&verdict).map(Rule::name));
    }
    let mut failures = Vec::new();
    for (rule, parts) in WRITTEN {
        let verdict = validator.words(&asm::assemble(&module(*parts)));
        if only(&verdict) == Some(*rule) {
            alone.insert(rule.name());
        } else {
            failures.push(format!("{rule}: {verdict}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    let apart: Vec<Rule> = TOGETHER
        .iter()
        .map(|(r, _)| *r)
        .chain(BY_FORM.iter().copied())
        .collect();
    let wanted: Vec<Rule> = Rule::ALL
        .iter()
        .copied()
        .filter(|r| !apart.contains(r))
        .collect();
    // What is left comes up in changes of the modules that fuzzing starts from.
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/spirv_validate");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("seeds")
        .flatten()
        .map(|e| e.path())
        .collect();
    paths.sort();
    let seeds: Vec<Vec<u32>> = paths
        .iter()
        .map(|p| asm::words(&std::fs::read(p).expect("a seed")))
        .collect();
    let mut random = Random::new(1);
    for _ in 0..400 {
        if wanted.iter().all(|r| alone.contains(r.name())) {
            break;
        }
        for seed in &seeds {
            for kind in Kind::ALL {
                if let Some(mutant) = mutate(seed, kind, &mut random) {
                    alone.extend(only(&validator.words(&mutant.words)).map(Rule::name));
                }
            }
        }
    }
    let missing = wanted
        .iter()
        .map(|r| r.name())
        .filter(|r| !alone.contains(r));
    let missing: Vec<&str> = missing.collect();
    assert!(missing.is_empty(), "never alone: {}", missing.join(", "));
}
