//! kernite's verdicts beside spirv-val's, on a corpus and on systematic changes of it.
//!
//! `KERNITE_AGREEMENT_MUTANTS` sets how many mutants of each kind are made of each module (3 by
//! default; a long run takes 200), `KERNITE_AGREEMENT_SEED` which ones, and
//! `KERNITE_AGREEMENT_SHOW` how many disagreements are printed. `KERNITE_AGREEMENT_CORPUS` names
//! a folder of `.spv` files to mutate beside the corpus, those of them that are valid.

use kernite::spirv::Verdict;
use kernite::spirv::validate::{Group, Options, Rule, Validator};
use kernite_suite::choices::{Choices, SplitMix};
use kernite_suite::{generate, kernels};
use kernite_validator_tests::corpus::{self, Producer, Sample};
use kernite_validator_tests::messages::{self, Messages};
use kernite_validator_tests::mutate::{Kind, Random, mutate};
use kernite_validator_tests::oracle::Service;
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
                producer: Producer::Naga,
                words,
            });
        }
    }
    samples
}

/// The modules of `KERNITE_AGREEMENT_CORPUS`.
fn more() -> Vec<Sample> {
    let Some(folder) = std::env::var_os("KERNITE_AGREEMENT_CORPUS") else {
        return Vec::new();
    };
    let files = std::fs::read_dir(folder).expect("KERNITE_AGREEMENT_CORPUS is a folder");
    let mut paths: Vec<_> = files.flatten().map(|e| e.path()).collect();
    paths.retain(|p| p.extension().is_some_and(|e| e == "spv"));
    paths.sort();
    paths
        .iter()
        .map(|path| {
            let bytes = std::fs::read(path).expect("a readable file");
            Sample {
                name: path.display().to_string(),
                producer: Producer::Others,
                words: asm::words(&bytes),
            }
        })
        .collect()
}

/// The example kernels and random ones, in every version and both memory models.
fn kernite() -> Vec<Sample> {
    use kernite::spirv::{self, Fma, MemoryModel, Version};
    let named = kernels::ALL.iter();
    let named = named.filter(|(name, _)| !name.starts_with("straight"));
    let mut all: Vec<_> = named.map(|(_, make)| make()).collect();
    let config = generate::Config {
        statements: 10,
        ..generate::Config::default()
    };
    for seed in 0..50 {
        let decisions = SplitMix::decisions(seed, 80);
        let kernel = generate::kernel("k", &mut Choices::new(&decisions), config);
        all.push(kernel.expect("a valid kernel"));
    }
    let versions = [Version::V1_6, Version::V1_3, Version::V1_4, Version::V1_5];
    all.iter()
        .enumerate()
        .map(|(i, kernel)| {
            let mut options = spirv::Options::default();
            options.version = versions[i % 4];
            options.names = i % 3 == 0;
            options.dynamic_shared_len = Some(16);
            if i % 5 == 0 {
                options.memory_model = MemoryModel::Vulkan;
            }
            if i % 7 == 0 {
                options.fma = Fma::Exact;
            }
            let mut words = Vec::new();
            spirv::Emitter::new()
                .emit(kernel, &options, &mut words)
                .expect("SPIR-V of a kernel");
            Sample {
                name: format!("kernite {i}"),
                producer: Producer::Kernite,
                words,
            }
        })
        .collect()
}

fn samples() -> Vec<Sample> {
    let mut all = corpus::by_hand();
    all.extend(corpus::glsl());
    all.extend(wgsl());
    all.extend(corpus::hlsl());
    all.extend(kernite());
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

#[derive(Clone, Default)]
struct Counts {
    agree_valid: usize,
    agree_invalid: usize,
    unsupported: usize,
    /// Unsupported, though nothing new came into a module that was supported.
    missed: usize,
    /// Of all mutants of the bar: those that parse and whose ids all exist.
    judged: usize,
    /// Differences of a class that [`KNOWN`] lists.
    known: usize,
    accepts: BTreeSet<(String, u16)>,
    rejects: BTreeSet<(String, u16)>,
}

impl Counts {
    fn add(&mut self, other: &Counts) {
        self.agree_valid += other.agree_valid;
        self.agree_invalid += other.agree_invalid;
        self.unsupported += other.unsupported;
        self.missed += other.missed;
        self.judged += other.judged;
        self.known += other.known;
        self.accepts.extend(other.accepts.iter().cloned());
        self.rejects.extend(other.rejects.iter().cloned());
    }

    fn all(&self) -> usize {
        self.agree_valid
            + self.agree_invalid
            + self.unsupported
            + self.known
            + self.accepts.len()
            + self.rejects.len()
    }

    /// A row of the table.
    fn row(&self, name: &str) -> String {
        let all = self.all();
        let unsupported = 100.0 * self.unsupported as f64 / all.max(1) as f64;
        format!(
            "| {name} | {} | {} | {} ({unsupported:.2} %) | {} | {} | {} | {} | {} |",
            self.agree_valid,
            self.agree_invalid,
            self.unsupported,
            self.missed,
            self.judged,
            self.known,
            self.accepts.len(),
            self.rejects.len()
        )
    }

    /// What is over the bar: one in a thousand, and one where a thousand are not reached.
    fn failure(&self, name: &str) -> Option<String> {
        let bar = (self.judged / 1000).max(1);
        let over = [self.accepts.len(), self.rejects.len(), self.missed]
            .into_iter()
            .any(|n| n > bar);
        over.then(|| {
            format!(
                "{name}: {} missed, {:?} {:?}",
                self.missed, self.accepts, self.rejects
            )
        })
    }
}

fn number(variable: &str, default: u64) -> u64 {
    match std::env::var(variable) {
        Ok(text) => text.parse().expect("a number"),
        Err(_) => default,
    }
}

/// The opcodes of a module, and the capabilities, extensions and decorations it names.
fn vocabulary(words: &[u32]) -> BTreeSet<(u16, u32)> {
    let mut all = BTreeSet::new();
    let mut at = 5;
    while let Some(&first) = words.get(at) {
        let word = |i: usize| words.get(at + i).copied().unwrap_or(0);
        let opcode = (first & 0xFFFF) as u16;
        all.insert(match opcode {
            // OpCapability, OpEntryPoint by its model, OpExtInst by its number, OpDecorate, OpMemberDecorate, OpExtension
            // and OpExtInstImport by a hash.
            17 | 15 => (opcode, word(1)),
            12 => (opcode, word(4)),
            71 => (opcode, word(2)),
            72 => (71, word(3)),
            10 | 11 => (
                opcode,
                (1..(first >> 16) as usize).fold(0, |h: u32, i| h.wrapping_mul(31) ^ word(i)),
            ),
            _ => (opcode, 0),
        });
        at += ((first >> 16) as usize).max(1);
    }
    all
}

struct Run {
    counts: Mutex<BTreeMap<(Producer, Kind), Counts>>,
    messages: Mutex<Messages>,
    shown: Mutex<u64>,
}

impl Run {
    fn judge(
        &self,
        ours: &mut Validator,
        theirs: &mut Service,
        sample: &Sample,
        kind: Kind,
        random: &mut Random,
    ) {
        let Some(mutant) = mutate(&sample.words, kind, random) else {
            return;
        };
        let (valid, message) = theirs.judge(&asm::bytes(&mutant.words));
        let verdict = ours.words(&mutant.words);
        if !valid {
            let mut messages = self.messages.lock().expect("no panic while counting");
            messages.note(&message, &verdict);
        }
        // Mutants that do not parse, or name ids that are not there, are no test of the rules.
        let form = verdict.faults().any(|f| f.rule().group() == Group::Form);
        let mut counts = self.counts.lock().expect("no panic while counting");
        let count = counts.entry((sample.producer, kind)).or_default();
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
                let missed = vocabulary(&mutant.words).is_subset(&vocabulary(&sample.words));
                count.missed += usize::from(missed);
                missed.then_some("missed")
            }
            (Verdict::Valid, false) if is_known(&message) => {
                count.known += 1;
                None
            }
            (Verdict::Invalid(f), true) if is_known(f.first().rule().name()) => {
                count.known += 1;
                None
            }
            (Verdict::Valid, false) => {
                let pair = (messages::skeleton(&message), mutant.opcode);
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
    let each = number("KERNITE_AGREEMENT_MUTANTS", 3);
    let seed = number("KERNITE_AGREEMENT_SEED", 1);
    let mut samples = samples();
    samples.extend(more());
    let mut ours = validator();
    samples.retain(|s| ours.words(&s.words).is_valid());
    let run = Run {
        counts: Mutex::default(),
        messages: Mutex::new(Messages::read()),
        shown: Mutex::new(number("KERNITE_AGREEMENT_SHOW", 40)),
    };
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (run, samples, tool) = (&run, &samples, &tool);
            scope.spawn(move || {
                let mut ours = validator();
                let mut theirs = Service::new(tool);
                let mut random = Random::new(seed.wrapping_mul(31) + thread as u64);
                for round in 0..each {
                    for (i, sample) in samples.iter().enumerate() {
                        if (i as u64 + round) % threads as u64 != thread as u64 {
                            continue;
                        }
                        for kind in Kind::ALL {
                            run.judge(&mut ours, &mut theirs, sample, kind, &mut random);
                        }
                    }
                }
            });
        }
    });
    let counts = run.counts.into_inner().expect("no panic while counting");
    println!(
        "| mutants | both valid | both invalid | unsupported | missed | judged | known | false accepts | false rejects |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let mut failures = Vec::new();
    let mut all = Counts::default();
    let mut sum = |name: String, of: &dyn Fn(&(Producer, Kind)) -> bool| {
        let mut total = Counts::default();
        let these = counts.iter().filter(|(k, _)| of(k));
        these.for_each(|(_, c)| total.add(c));
        if total.all() > 0 {
            println!("{}", total.row(&name));
            failures.extend(total.failure(&name));
        }
        total
    };
    for kind in Kind::ALL {
        all.add(&sum(format!("{kind:?}"), &|k| k.1 == kind));
    }
    for producer in corpus::PRODUCERS {
        let total = sum(format!("{producer:?}"), &|k| k.0 == producer);
        let most = match producer {
            Producer::ByHand | Producer::Kernite | Producer::Glslang | Producer::Naga => 100,
            Producer::Dxc | Producer::Others => 10,
        };
        let mutants = total.all();
        assert!(
            each < 20 || total.unsupported <= mutants / most,
            "{producer:?}: {} of {mutants} unsupported",
            total.unsupported
        );
    }
    println!("{}", all.row("all"));
    let messages = run.messages.into_inner().expect("no panic while counting");
    failures.extend(messages.finish(each >= 20));
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
