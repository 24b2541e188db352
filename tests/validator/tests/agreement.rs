//! kernite's verdicts beside spirv-val's, on a corpus and on systematic changes of it.
//!
//! `KERNITE_AGREEMENT_MUTANTS` sets how many mutants of each kind are made of each module (2 by
//! default; a long run takes 200), `KERNITE_AGREEMENT_SEED` which ones, and
//! `KERNITE_AGREEMENT_SHOW` how many disagreements are printed.

use kernite::spirv::Verdict;
use kernite::spirv::validate::{Group, Options, Rule, Validator};
use kernite_validator_tests::corpus::{self, Sample};
use kernite_validator_tests::mutate::{Kind, Random, mutate};
use kernite_validator_tests::{asm, oracle};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;

fn wgsl() -> Vec<Sample> {
    use naga::back::spv;
    let mut samples = Vec::new();
    for path in corpus::files("wgsl") {
        let text = std::fs::read_to_string(&path).expect("a readable file");
        let module = naga::front::wgsl::parse_str(&text).expect("WGSL that parses");
        let info = naga::valid::Validator::new(
            naga::valid::ValidationFlags::all(),
            naga::valid::Capabilities::all(),
        )
        .validate(&module)
        .expect("a valid naga module");
        for version in [(1, 3), (1, 4), (1, 6)] {
            let options = spv::Options {
                lang_version: version,
                ..spv::Options::default()
            };
            let words = spv::write_vec(&module, &info, &options, None).expect("SPIR-V from naga");
            samples.push(Sample {
                name: format!("{}@1.{}", path.display(), version.1),
                words,
            });
        }
    }
    samples
}

fn samples() -> Vec<Sample> {
    let mut all = corpus::by_hand();
    all.extend(corpus::glsl());
    all.extend(wgsl());
    all
}

fn validator() -> Validator {
    Validator::with_options(Options {
        beyond_spirv_val: false,
        ..Options::default()
    })
}

#[test]
fn unmutated_modules_agree() {
    let Some(tool) = oracle::find(oracle::Tool::SpirvVal) else {
        return;
    };
    let mut ours = validator();
    let mut beyond = Validator::new();
    for sample in samples() {
        let (valid, message) = oracle::spirv_val(&tool, &asm::bytes(&sample.words));
        let verdict = ours.words(&sample.words);
        if sample.name.contains(".wgsl@") && !valid {
            // naga decorates arrays in Workgroup, and Function from 1.5 on, with a stride.
            assert!(
                verdict.breaks(Rule::LayoutForbidden),
                "{}: {verdict}",
                sample.name
            );
            continue;
        }
        assert!(valid, "{}: spirv-val: {message}", sample.name);
        assert!(verdict.is_valid(), "{}: {verdict}", sample.name);
        let verdict = beyond.words(&sample.words);
        assert!(verdict.is_valid(), "{}: beyond: {verdict}", sample.name);
    }
}

/// Where spirv-val 2025.5 itself departs from the specification: part of its message for what
/// it rejects, or kernite's rule for what it accepts, and why.
const KNOWN: &[(&str, &str)] = &[
    (
        "layout-overlap",
        "sizes wrap at 32 bits, and the stride of a matrix that ends a structure is forgotten",
    ),
    (
        "layout-matrix",
        "matrices in structures below arrays are not looked at",
    ),
    (
        "constant-composite",
        "constants of runtime arrays are let through",
    ),
    (
        "Invalid use of 8- or 16-bit result",
        "a name is taken for a use of a narrow value",
    ),
];

fn is_known(text: &str) -> bool {
    KNOWN.iter().any(|(part, _)| text.contains(part))
}

#[derive(Default)]
struct Counts {
    agree_valid: usize,
    agree_invalid: usize,
    unsupported: usize,
    /// Of all mutants of the bar: those that parse and whose ids all exist.
    judged: usize,
    accepts: BTreeSet<(String, u16)>,
    rejects: BTreeSet<(String, u16)>,
}

fn number(variable: &str, default: u64) -> u64 {
    match std::env::var(variable) {
        Ok(text) => text.parse().expect("a number"),
        Err(_) => default,
    }
}

/// The first words of a message, which name the rule.
fn gist(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default();
    line.chars()
        .filter(|c| !c.is_ascii_digit())
        .take(100)
        .collect()
}

struct Run<'a> {
    tool: &'a Path,
    counts: Mutex<BTreeMap<Kind, Counts>>,
    shown: Mutex<u64>,
}

impl Run<'_> {
    fn judge(&self, ours: &mut Validator, sample: &Sample, kind: Kind, random: &mut Random) {
        let Some(mutant) = mutate(&sample.words, kind, random) else {
            return;
        };
        let (valid, message) = oracle::spirv_val(self.tool, &asm::bytes(&mutant.words));
        let verdict = ours.words(&mutant.words);
        // Mutants that do not parse, or name ids that are not there, are no test of the rules.
        let form = verdict.faults().any(|f| f.rule().group() == Group::Form);
        let mut counts = self.counts.lock().expect("no panic while counting");
        let count = counts.entry(kind).or_default();
        if !form || valid {
            count.judged += 1;
        }
        let disagreement = match (&verdict, valid) {
            (Verdict::Valid, true) => {
                count.agree_valid += 1;
                None
            }
            (Verdict::Invalid(_), false) => {
                count.agree_invalid += 1;
                None
            }
            (Verdict::Unsupported(_), _) => {
                count.unsupported += 1;
                None
            }
            (Verdict::Valid, false) if is_known(&message) => None,
            (Verdict::Invalid(f), true) if is_known(f.first().rule().name()) => None,
            (Verdict::Valid, false) => {
                let pair = (gist(&message), mutant.opcode);
                count.accepts.insert(pair).then_some("false accept")
            }
            (Verdict::Invalid(faults), true) => {
                let pair = (faults.first().rule().name().to_owned(), mutant.opcode);
                count.rejects.insert(pair).then_some("false reject")
            }
        };
        drop(counts);
        if let Some(what) = disagreement {
            let mut shown = self.shown.lock().expect("no panic while printing");
            if *shown > 0 {
                *shown -= 1;
                println!(
                    "{what}: {kind:?} of opcode {} in {}: kernite: {verdict}; spirv-val: {}",
                    mutant.opcode,
                    sample.name,
                    message.trim().replace('\n', " ")
                );
                if let Some(folder) = std::env::var_os("KERNITE_AGREEMENT_KEEP") {
                    let file = Path::new(&folder).join(format!("{shown}.spv"));
                    let _ = std::fs::write(file, asm::bytes(&mutant.words));
                }
            }
        }
    }
}

#[test]
fn mutants_agree() {
    let Some(tool) = oracle::find(oracle::Tool::SpirvVal) else {
        return;
    };
    let each = number("KERNITE_AGREEMENT_MUTANTS", 2);
    let seed = number("KERNITE_AGREEMENT_SEED", 1);
    let mut samples = samples();
    let mut ours = validator();
    samples.retain(|s| ours.words(&s.words).is_valid());
    let run = Run {
        tool: &tool,
        counts: Mutex::default(),
        shown: Mutex::new(number("KERNITE_AGREEMENT_SHOW", 40)),
    };
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (run, samples) = (&run, &samples);
            scope.spawn(move || {
                let mut ours = validator();
                let mut random = Random::new(seed.wrapping_mul(31) + thread as u64);
                for round in 0..each {
                    for (i, sample) in samples.iter().enumerate() {
                        if (i as u64 + round) % threads as u64 != thread as u64 {
                            continue;
                        }
                        for kind in Kind::ALL {
                            run.judge(&mut ours, sample, kind, &mut random);
                        }
                    }
                }
            });
        }
    });
    let counts = run.counts.into_inner().expect("no panic while counting");
    println!(
        "kind: agree valid, agree invalid, unsupported | judged, false accepts, false rejects"
    );
    let mut failures = Vec::new();
    for (kind, c) in &counts {
        println!(
            "{kind:?}: {}, {}, {} | {}, {}, {}",
            c.agree_valid,
            c.agree_invalid,
            c.unsupported,
            c.judged,
            c.accepts.len(),
            c.rejects.len()
        );
        // One in a thousand, and one where a thousand are not reached.
        let bar = (c.judged / 1000).max(1);
        if c.accepts.len() > bar || c.rejects.len() > bar {
            failures.push(format!("{kind:?}: {:?} {:?}", c.accepts, c.rejects));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
