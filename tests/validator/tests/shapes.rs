//! Shapes of control flow as rows of a table: blocks in order, each with its merge instruction and its end, judged by
//! kernite and, where it is at hand, by spirv-val.

use kernite::spirv::validate::{Rule, Validator, Verdict};
use kernite_validator_tests::flow::{module, random};
use kernite_validator_tests::{asm, oracle};

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

/// What the specification says and spirv-val does not ask: headers that are their own merge block, or that do not dominate
/// their continue target, where nothing reaches them or their back edge; falling through by way of a block that nothing
/// reaches but merge instructions; a merge block that is the back-edge block.
const STRICTER: &[Rule] = &[
    Rule::MergeTarget,
    Rule::MergeDominated,
    Rule::ContinueDominated,
    Rule::ContinuePostDominated,
    Rule::SwitchFallThrough,
];

#[test]
fn random_shapes() {
    let Some(tool) = oracle::find(oracle::Tool::SpirvVal) else {
        return;
    };
    let mut service = oracle::Service::new(&tool);
    let mut validator = Validator::new();
    let mut counts = [0u64; 2];
    let seeds = std::env::var("KERNITE_SEEDS").map_or(3000, |n| n.parse().expect("a number"));
    for seed in 0..seeds {
        let blocks = random(seed);
        let words = module(&blocks);
        let verdict = validator.words(&words);
        let (valid, message) = service.judge(&asm::bytes(&words));
        counts[usize::from(valid)] += 1;
        let stricter = valid && verdict.faults().any(|f| STRICTER.contains(&f.rule()));
        assert!(
            verdict.is_valid() == valid || (verdict.is_invalid() && stricter),
            "{blocks}: {verdict}; spirv-val: {message}"
        );
    }
    println!("NOTE shapes: {} invalid, {} valid", counts[0], counts[1]);
    assert!(counts.iter().all(|&count| count > seeds / 6), "{counts:?}");
}
