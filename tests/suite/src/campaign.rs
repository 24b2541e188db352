//! Campaigns: random kernels by the thousand, many entries a module for the tools whose start costs more than a kernel,
//! and a module that fails cut down to the seed that makes it fail.

use crate::choices::SplitMix;
use crate::differential::{case, report, seeds};
use crate::generate::Config;
use crate::run::Case;
use crate::shrink;
use kernite::kernel::{Bounds, Kernel, Module};
use kernite::{ptx, spirv};
use kernite_testkit::parallel;
use kernite_testkit::ptxas::{self, Ptxas};
use kernite_testkit::spirv_tools::{Env, SpirvVal};
use kernite_testkit::vulkan::Context;
use std::fmt;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

/// Kernels of a module. More make ptxas no faster, and spirv-val slower.
pub const BATCH: u64 = 100;

/// The seeds that a test takes: `KERNITE_SEEDS` of them, or what the test thinks is enough, from `KERNITE_FIRST_SEED` on.
///
/// # Panics
/// A variable is no number.
pub fn range(enough: u64) -> Range<u64> {
    let first = match std::env::var("KERNITE_FIRST_SEED") {
        Ok(n) => n
            .parse()
            .unwrap_or_else(|e| panic!("KERNITE_FIRST_SEED={n}: {e}")),
        Err(_) => 0,
    };
    first..first + seeds(enough)
}

/// How a module is emitted and judged. Everything varies from batch to batch.
#[derive(Clone, Debug)]
struct Plan {
    target: &'static str,
    level: u8,
    bounds: Bounds,
    options: spirv::Options,
    env: Env,
}

/// sm_75 to sm_121. What only one of the releases of ptxas knows is among them.
const TARGETS: [&str; 15] = [
    "sm_75", "sm_80", "sm_86", "sm_87", "sm_88", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_100a",
    "sm_103", "sm_110", "sm_120", "sm_120a", "sm_121",
];

impl Plan {
    fn of(batch: u64) -> Plan {
        let mut stream = SplitMix::new(batch);
        let mut below = |n: usize| (stream.next_u64() % n as u64) as usize;
        let versions = [
            (spirv::Version::V1_6, Env::Vulkan1_3),
            (spirv::Version::V1_5, Env::Vulkan1_2),
            (spirv::Version::V1_4, Env::Vulkan1_1Spirv1_4),
            (spirv::Version::V1_3, Env::Vulkan1_1),
        ];
        let bounds = [Bounds::Unchecked, Bounds::Checked][below(2)];
        let (version, env) = versions[below(4).min(below(4))];
        let mut options = spirv::Options::default();
        options.version = version;
        options.bounds = bounds;
        options.fma = [spirv::Fma::Native, spirv::Fma::Exact][below(2)];
        options.memory_model =
            [spirv::MemoryModel::Glsl450, spirv::MemoryModel::Vulkan][usize::from(below(4) == 0)];
        options.lengths = [spirv::Lengths::ArrayLength, spirv::Lengths::HostFilled][below(2)];
        options.dot_products = [spirv::DotProducts::Native, spirv::DotProducts::Expanded][below(2)];
        // Exact steps rely on the rounding that the strict mode asks for.
        if options.fma == spirv::Fma::Native && below(3) == 0 {
            options.float_mode = spirv::FloatMode::Relaxed;
        }
        options.names = below(2) == 0;
        options.dynamic_shared_len = Some(64);
        options.limits.push_constant_bytes = 256;
        Plan {
            target: TARGETS[below(TARGETS.len())],
            // Level 0 is the quickest, and parses and checks all that the others do.
            level: u8::from(below(4) == 0),
            bounds,
            options,
            env,
        }
    }

    fn ptx(&self) -> ptx::Options {
        let target = ptx::Target::parse(self.target).unwrap_or_else(|e| panic!("{e}"));
        ptx::Options::new(target).with_bounds(self.bounds)
    }
}

/// A seed, or several that fail only together, with what was said of them.
#[derive(Clone, Debug)]
pub struct Fault {
    /// The seeds.
    pub seeds: Vec<u64>,
    /// What was said.
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seed {:?}: {}", self.seeds, self.message)
    }
}

/// What came of a campaign.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Kernels that were judged.
    pub kernels: u64,
    /// Their instructions.
    pub instructions: u64,
    /// Kernels that a device could not run, as it says itself.
    pub skipped: u64,
    /// What was found.
    pub faults: Vec<Fault>,
    /// How long it took.
    pub seconds: f64,
}

impl Report {
    fn of(parts: impl IntoIterator<Item = Report>, start: Instant) -> Report {
        let mut all = Report::default();
        for part in parts {
            all.kernels += part.kernels;
            all.instructions += part.instructions;
            all.skipped += part.skipped;
            all.faults.extend(part.faults);
        }
        all.seconds = start.elapsed().as_secs_f64();
        all
    }

    /// Prints the figures.
    ///
    /// # Panics
    /// Something was found.
    #[track_caller]
    pub fn conclude(&self, what: &str) {
        println!(
            "{what}: {} kernels of {} instructions in all, {} skipped, {} faults; {:.1} s",
            self.kernels,
            self.instructions,
            self.skipped,
            self.faults.len(),
            self.seconds
        );
        if let Some(first) = self.faults.first() {
            let shown = self.faults.iter().take(40).map(|fault| {
                let text = fault.to_string();
                text.lines().take(3).collect::<Vec<_>>().join(" ")
            });
            panic!(
                "{} faults:\n{}\nthe first:\n{first}",
                self.faults.len(),
                shown.collect::<Vec<_>>().join("\n")
            );
        }
    }
}

/// Verifier, both emitters, the library's own validator, ptxas, spirv-val and rspirv, as far as they are at hand.
pub fn judge(seeds: Range<u64>, config: Config) -> Report {
    let start = Instant::now();
    let oracles = (Ptxas::get(), SpirvVal::get());
    let batches: Vec<u64> = (seeds.start / BATCH..seeds.end.div_ceil(BATCH)).collect();
    let progress = Progress::new(seeds.end - seeds.start);
    let parts = parallel::map(&batches, |&batch| {
        let mut report = Report::default();
        let mut kernels = Vec::new();
        for seed in (batch * BATCH).max(seeds.start)..((batch + 1) * BATCH).min(seeds.end) {
            let decisions = shrink::decisions(seed);
            match case(&format!("k{seed}"), &decisions, config) {
                Ok(case) => kernels.push((seed, case.kernel)),
                Err(e) => report.faults.push(Fault {
                    seeds: vec![seed],
                    message: format!("the verifier refuses it: {e}"),
                }),
            }
        }
        report.kernels = kernels.len() as u64;
        report.instructions = kernels.iter().map(|(_, k)| k.insts().len() as u64).sum();
        let plan = Plan::of(batch);
        report
            .faults
            .extend(guilty(&kernels, &|some| accepted(some, &plan, oracles)));
        progress.add(kernels.len() as u64);
        report
    });
    Report::of(parts, start)
}

/// The least part found of what `judge` refuses, halving; a panic is a refusal too.
pub fn guilty<T>(
    all: &[(u64, T)],
    judge: &impl Fn(&[(u64, T)]) -> Result<(), String>,
) -> Option<Fault> {
    let judge = |some: &[(u64, T)]| {
        catch_unwind(AssertUnwindSafe(|| judge(some))).unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            Err(format!("a panic: {}", text.unwrap_or("without a text")))
        })
    };
    let mut message = judge(all).err()?;
    let mut guilty = all;
    while guilty.len() > 1 {
        let (left, right) = guilty.split_at(guilty.len() / 2);
        let half = [left, right]
            .into_iter()
            .find_map(|half| Some((half, judge(half).err()?)));
        match half {
            Some((half, why)) => (guilty, message) = (half, why),
            // Only together.
            None => break,
        }
    }
    Some(Fault {
        seeds: guilty.iter().map(|(seed, _)| *seed).collect(),
        message,
    })
}

/// Whether everything at hand accepts a module of these kernels.
fn accepted(
    kernels: &[(u64, Kernel)],
    plan: &Plan,
    (ptxas, val): (Option<&Ptxas>, Option<SpirvVal>),
) -> Result<(), String> {
    let mut module = Module::new();
    for (_, kernel) in kernels {
        module.push(kernel.clone()).map_err(|e| e.to_string())?;
    }
    let mut text = Vec::new();
    let emitted = ptx::Emitter::new().emit_module(&module, &plan.ptx(), &mut text);
    emitted.map_err(|e| format!("PTX for {}: {e}", plan.target))?;
    let text = String::from_utf8(text).map_err(|e| e.to_string())?;
    if let Some(ptxas) = ptxas {
        let options = ptxas::Options {
            opt_level: Some(plan.level),
            ..ptxas::Options::default()
        };
        let assembled = ptxas.assemble_with(&text, plan.target, &options);
        assembled.map_err(|e| e.to_string())?;
    }
    let words = spirv::emit_module(&module, &plan.options)
        .map_err(|e| format!("SPIR-V with {:?}: {e}", plan.options))?;
    let verdict = spirv::Validator::new().words(&words);
    if !verdict.is_valid() {
        return Err(format!("its own validator: {verdict}; {:?}", plan.options));
    }
    if let Some(val) = val {
        let valid = val.validate(&words, plan.env);
        valid.map_err(|e| format!("spirv-val: {e}; {:?}", plan.options))?;
    }
    kernite_testkit::rspirv::load(&words)
        .map(drop)
        .map_err(|e| e.to_string())
}

/// Runs the kernels on a device, each against the reference executor.
pub fn execute(device: &Context, seeds: Range<u64>, config: Config) -> Report {
    let start = Instant::now();
    let progress = Progress::new(seeds.end - seeds.start);
    let mut shrunk = false;
    let parts = seeds.map(|seed| {
        let mut report = Report::default();
        let decisions = shrink::decisions(seed);
        let outcome = case("k", &decisions, config)
            .map_err(|e| format!("the verifier refuses it: {e}"))
            .and_then(|case| {
                report.kernels = 1;
                report.instructions = case.kernel.insts().len() as u64;
                if case.lacks(device).is_some() {
                    report.skipped = 1;
                    return Ok(());
                }
                compared(&case, device)
            });
        if let Err(mut message) = outcome {
            // Making one small takes a while: of many the first.
            if !std::mem::replace(&mut shrunk, true) {
                message = smallest(seed, device, config).unwrap_or(message);
            }
            report.faults.push(Fault {
                seeds: vec![seed],
                message,
            });
        }
        progress.add(1);
        report
    });
    Report::of(parts, start)
}

/// The smallest kernel found that fails, as text and as Rust.
fn smallest(seed: u64, device: &Context, config: Config) -> Option<String> {
    let small = shrink::check(seed, |decisions| {
        let case = case("k", decisions, config).map_err(|e| e.to_string())?;
        match case.lacks(device) {
            Some(_) => Ok(()),
            None => compared(&case, device),
        }
    });
    small.err().map(|failure| report(&failure, config))
}

fn compared(case: &Case, device: &Context) -> Result<(), String> {
    let shown = |e: &dyn fmt::Display| e.to_string();
    let expected = case.reference(case.lanes(device)).map_err(|e| shown(&e))?;
    let got = case.vulkan(device, &case.options_for(device));
    let got = got.map_err(|e| shown(&e))?;
    match case.difference(&expected, &got) {
        Some((buffer, difference)) => Err(shown(&format_args!("buf{buffer}: {difference}"))),
        None => Ok(()),
    }
}

/// Tells a long campaign's progress on the standard error stream.
struct Progress {
    all: u64,
    done: std::sync::atomic::AtomicU64,
    start: Instant,
}

impl Progress {
    /// Kernels between two lines; shorter campaigns tell nothing.
    const EVERY: u64 = 1000;

    fn new(all: u64) -> Progress {
        Progress {
            all,
            done: 0.into(),
            start: Instant::now(),
        }
    }

    fn add(&self, kernels: u64) {
        let before = self
            .done
            .fetch_add(kernels, std::sync::atomic::Ordering::Relaxed);
        let now = before + kernels;
        if self.all > Self::EVERY && before / Self::EVERY != now / Self::EVERY {
            let seconds = self.start.elapsed().as_secs_f64();
            eprintln!("{now} of {} kernels, {seconds:.0} s", self.all);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(seeds: Range<u64>) -> Vec<(u64, ())> {
        seeds.map(|seed| (seed, ())).collect()
    }

    #[test]
    fn the_guilty_seed_is_found() {
        let has = |some: &[(u64, ())], wanted: u64| some.iter().any(|(seed, ())| *seed == wanted);
        let one = |some: &[(u64, ())]| match has(some, 77) {
            true => Err(format!("{} kernels", some.len())),
            false => Ok(()),
        };
        let fault = guilty(&numbers(0..100), &one).unwrap();
        assert_eq!((fault.seeds, &fault.message[..]), (vec![77], "1 kernels"));
        assert!(guilty(&numbers(0..77), &one).is_none());
        let panics = |some: &[(u64, ())]| {
            assert!(!has(some, 3), "three");
            Ok(())
        };
        let fault = guilty(&numbers(0..9), &panics).unwrap();
        assert_eq!(
            (fault.seeds, &fault.message[..]),
            (vec![3], "a panic: three")
        );
        let pair = |some: &[(u64, ())]| match has(some, 1) && has(some, 2) {
            true => Err("together".into()),
            false => Ok(()),
        };
        assert_eq!(guilty(&numbers(0..4), &pair).unwrap().seeds, [0, 1, 2, 3]);
    }

    #[test]
    fn every_target_is_taken() {
        let taken: std::collections::BTreeSet<_> = (0..1000).map(|n| Plan::of(n).target).collect();
        assert_eq!(taken.len(), TARGETS.len());
    }
}
