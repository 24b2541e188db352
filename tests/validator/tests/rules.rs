//! One test a rule: every rule has a module that breaks it, and the bases break none.

use kernite::spirv::validate::{Group, Options, Rule, Validator};
use kernite_validator_tests::{asm, cases, corpus, oracle};
use std::collections::BTreeSet;

/// Rules whose modules are made by `form.rs`, from words.
const FROM_WORDS: &[Rule] = &[
    Rule::ByteLength,
    Rule::HeaderLength,
    Rule::Magic,
    Rule::Version,
    Rule::Bound,
    Rule::Schema,
    Rule::WordCount,
    Rule::Opcode,
    Rule::StringPadding,
    Rule::StringUtf8,
    Rule::IdBoundLimit,
    Rule::SwitchLimit,
    Rule::NestingDepth,
    Rule::EntryPointMissing,
    Rule::VersionRemoved,
    Rule::LocalSizeIdEnv,
    Rule::TypeForward,
    Rule::PointerAlignment,
    Rule::TypeCooperativeMatrix,
];

#[test]
fn every_case_breaks_its_rule() {
    let mut validator = Validator::new();
    let mut failures = Vec::new();
    for case in cases::all() {
        let verdict = validator.words(&asm::assemble(&case.text));
        if !verdict.faults().any(|f| f.rule().name() == case.rule) {
            failures.push(format!("{}: {}: {verdict}", case.place, case.rule));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn spirv_val_rejects_the_cases_too() {
    let Some(tool) = oracle::find(oracle::Tool::SpirvVal) else {
        return;
    };
    let mut failures = Vec::new();
    for case in cases::all() {
        let rule = Rule::ALL.iter().find(|r| r.name() == case.rule);
        let rule = rule.unwrap_or_else(|| panic!("{}: no rule {}", case.place, case.rule));
        let (valid, message) = oracle::spirv_val(&tool, &asm::assemble_bytes(&case.text));
        let alone = rule.group() == Group::Beyond || case.alone.is_some();
        if valid != alone {
            failures.push(format!("{}: {rule}: {valid} {message}", case.place));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_rule_has_a_case() {
    let cases: BTreeSet<String> = cases::all().into_iter().map(|c| c.rule).collect();
    let missing: Vec<&str> = Rule::ALL
        .iter()
        .filter(|r| !cases.contains(r.name()) && !FROM_WORDS.contains(r))
        .map(|r| r.name())
        .collect();
    assert!(missing.is_empty(), "no case: {}", missing.join(", "));
}

#[test]
fn rules_beyond_spirv_val_can_be_switched_off() {
    let mut validator = Validator::with_options(Options {
        beyond_spirv_val: false,
        ..Options::default()
    });
    for case in cases::all() {
        let rule = Rule::ALL.iter().find(|r| r.name() == case.rule);
        if rule.is_some_and(|r| r.group() == Group::Beyond) {
            let verdict = validator.words(&asm::assemble(&case.text));
            assert!(verdict.is_valid(), "{}: {verdict}", case.place);
        }
    }
}

#[test]
fn bases_are_valid_and_names_unique() {
    let mut validator = Validator::new();
    for sample in corpus::by_hand() {
        let verdict = validator.words(&sample.words);
        assert!(verdict.is_valid(), "{}: {verdict}", sample.name);
    }
    let names: BTreeSet<&str> = Rule::ALL.iter().map(|r| r.name()).collect();
    assert_eq!(names.len(), Rule::ALL.len());
}
