//! Every opcode on every type of its row on a GPU, against the reference executor, bit for bit but for what documentation
//! says is approximate. One test a family; each notes how many it ran. `KERNITE_SAMPLE=1` takes one kernel of each pair.
#![forbid(unsafe_code)]

#[path = "every/bounds.rs"]
mod bounds;

use kernite::cuda::{Context, Error, LaunchConfig, LoadOptions, Module, Stream};
use kernite::kernel::{self, Bounds, Kernel};
use kernite::op::Op;
use kernite::ptx;
use kernite::reference::compare;
use kernite::types::Type;
use kernite_cuda_tests::buffers::{self, Given};
use kernite_cuda_tests::gpu::{self, note};
use kernite_suite::every::{self, Unit};
use kernite_suite::opcodes::family;
use kernite_suite::run::Value;
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

macro_rules! families {
    ($($test:ident $family:literal)*) => {
        $(#[test]
        fn $test() {
            run($family);
        })*

        #[test]
        fn every_family_has_its_test() {
            let tested = BTreeSet::from([$($family),*]);
            let all: BTreeSet<&str> = Op::ALL.into_iter().map(family).collect();
            assert_eq!(tested, all);
        }
    };
}

families! {
    values "Values"
    arithmetic "Arithmetic"
    bits "Bits"
    comparison_and_selection "Comparison and selection"
    conversion "Conversion"
    float_functions "Float functions"
    vectors "Vectors"
    memory "Memory"
    atomics "Atomics"
    synchronisation "Synchronisation"
    subgroups "Subgroups"
    control_flow "Control flow"
}

/// Kernels of one module: loading costs more than running.
const BATCH: usize = 32;
/// Threads that load and run, each with a stream of its own.
const WORKERS: usize = 4;

/// What came of a unit.
#[derive(Default)]
struct Tally {
    kernels: usize,
    elements: usize,
    bounded: usize,
    unbounded: usize,
    faults: Vec<String>,
}

/// A unit as it is emitted: which, with which bounds, under a name of its own.
struct Job {
    unit: &'static Unit,
    bounds: Bounds,
    kernel: Kernel,
}

fn run(name: &str) {
    let Some(context) = gpu::context() else {
        return;
    };
    let of_family = |unit: &&Unit| unit.covers.iter().any(|&(op, _)| family(op) == name);
    let mut units: Vec<&'static Unit> = every::units().iter().filter(of_family).collect();
    let pairs: BTreeSet<(Op, Type)> = units.iter().flat_map(|unit| unit.covers.clone()).collect();
    let pairs = pairs
        .into_iter()
        .filter(|&(op, _)| family(op) == name)
        .count();
    assert!(every::missing(every::units()).is_empty());
    let sample = std::env::var("KERNITE_SAMPLE").is_ok_and(|v| v == "1");
    if sample {
        let mut seen = BTreeSet::new();
        // All its pairs are noted, also where the first is new.
        let mut fresh = |unit: &Unit| {
            unit.covers
                .iter()
                .filter(|pair| seen.insert(**pair))
                .count()
        };
        units.retain(|unit| fresh(unit) > 0);
    }
    let mut jobs = Vec::new();
    for unit in units {
        let also = (unit.bounds == Bounds::Unchecked && !sample).then_some(Bounds::Checked);
        for bounds in [unit.bounds].into_iter().chain(also) {
            jobs.push(Job {
                unit,
                bounds,
                kernel: renamed(&unit.kernel, jobs.len()),
            });
        }
    }
    let mut tally = Tally::default();
    for (of, jobs) in by_bounds(&jobs) {
        let done = in_parallel(&context, of, &jobs);
        tally.kernels += done.kernels;
        tally.elements += done.elements;
        tally.bounded += done.bounded;
        tally.unbounded += done.unbounded;
        tally.faults.extend(done.faults);
    }
    let Tally {
        kernels,
        elements,
        bounded,
        unbounded,
        faults,
    } = tally;
    let approximate = if bounded + unbounded > 0 {
        format!(
            "; {bounded} approximate results within their bounds, {unbounded} that nothing bounds"
        )
    } else {
        String::new()
    };
    note(&format!(
        "{name}: {pairs} pairs of opcode and type, {kernels} kernels, {elements} results{approximate}"
    ));
    let shown = faults
        .iter()
        .take(30)
        .cloned()
        .collect::<Vec<_>>()
        .join("\n");
    assert!(faults.is_empty(), "{} of {kernels}:\n{shown}", faults.len());
}

/// The kernel under another name, as it is printed and read.
fn renamed(kernel: &Kernel, number: usize) -> Kernel {
    let text = kernel.to_string();
    let head = format!("kernel {} ", kernel.name());
    let rest = text
        .strip_prefix(&head)
        .unwrap_or_else(|| panic!("{head:?} begins {text}"));
    let renamed = format!("kernel k{number} {rest}");
    renamed.parse().unwrap_or_else(|e| panic!("{e}\n{renamed}"))
}

fn by_bounds(jobs: &[Job]) -> Vec<(Bounds, Vec<&Job>)> {
    let of = |bounds| jobs.iter().filter(|job| job.bounds == bounds).collect();
    [Bounds::Unchecked, Bounds::Checked]
        .map(|bounds| (bounds, of(bounds)))
        .into()
}

fn in_parallel(context: &Context, bounds: Bounds, jobs: &[&Job]) -> Tally {
    let next = AtomicUsize::new(0);
    let all = Mutex::new(Tally::default());
    let batches: Vec<&[&Job]> = jobs.chunks(BATCH).collect();
    std::thread::scope(|scope| {
        for _ in 0..WORKERS.min(batches.len()) {
            scope.spawn(|| {
                let stream = context.stream().unwrap();
                while let Some(batch) = batches.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let mut mine = Tally::default();
                    if let Err(e) = run_batch(context, &stream, bounds, batch, &mut mine) {
                        let names: Vec<_> = batch.iter().map(|job| &job.unit.name[..]).collect();
                        mine.faults.push(format!("{}: {e}", names.join(", ")));
                    }
                    let mut all = all.lock().unwrap();
                    all.kernels += mine.kernels;
                    all.elements += mine.elements;
                    all.bounded += mine.bounded;
                    all.unbounded += mine.unbounded;
                    all.faults.extend(mine.faults);
                }
            });
        }
    });
    all.into_inner().unwrap()
}

fn run_batch(
    context: &Context,
    stream: &Stream,
    bounds: Bounds,
    batch: &[&Job],
    tally: &mut Tally,
) -> Result<(), Error> {
    let mut kernels = kernel::Module::new();
    for job in batch {
        kernels.push(job.kernel.clone()).unwrap();
    }
    let mut text = Vec::new();
    let options = context.ptx_options().with_bounds(bounds);
    ptx::Emitter::new()
        .emit_module(&kernels, &options, &mut text)
        .unwrap();
    let text = String::from_utf8(text).unwrap();
    let module = Module::load(context, &text, &LoadOptions::new())?;
    for job in batch {
        let signature = job.kernel.signature_with(bounds);
        let function = module.kernel(&ptx::entry_name(job.kernel.name()), &signature)?;
        let config = LaunchConfig::new([job.unit.grid, 1, 1], job.kernel.workgroup_size());
        for unit in variants(job.unit) {
            let mut decls = unit.kernel.buffers().iter();
            let given = unit.args.iter().map(|value| match value {
                Value::Scalar(value) => Given::Scalar(*value),
                Value::Bytes(bytes) => {
                    let decl = decls.next().unwrap();
                    Given::Buffer(decl.elem, bytes, decl.access.writes())
                }
            });
            let got = buffers::run(
                context,
                stream,
                &function,
                &config,
                &given.collect::<Vec<_>>(),
            )?;
            let expected = unit.reference(32);
            judge(&unit, bounds, &expected, &got, tally);
        }
        tally.kernels += 1;
    }
    Ok(())
}

/// The unit with inputs that its kernel may have on this device.
fn variants(unit: &Unit) -> Vec<Unit> {
    let op = unit.covers.first().map(|pair| pair.0);
    let is = |ty: Type| unit.covers.first().is_some_and(|pair| pair.1 == ty);
    if op == Some(Op::AssumeUniform) {
        // All threads must bring the same: one run for each of a few inputs.
        let size = unit.kernel.buffers()[0].elem.bytes() as usize;
        let Value::Bytes(all) = &unit.args[0] else {
            return vec![];
        };
        let some = all.chunks(size).step_by((all.len() / size / 8).max(1));
        return some
            .map(|element| {
                let mut unit = unit.clone();
                unit.args[0] = Value::Bytes(element.repeat(all.len() / size));
                unit
            })
            .collect();
    }
    let mut unit = unit.clone();
    if op.is_some_and(|op| (Op::AtomicLoad..=Op::AtomicCompareExchange).contains(&op))
        && is(Type::F32)
    {
        // NVIDIA's sums of f32 in global memory take subnormals for zero.
        for value in &mut unit.args {
            if let Value::Bytes(bytes) = value {
                for element in bytes.chunks_exact_mut(4) {
                    let bits = u32::from_le_bytes([element[0], element[1], element[2], element[3]]);
                    if bits & 0x7F80_0000 == 0 {
                        element.copy_from_slice(&(bits & 0x8000_0000).to_le_bytes());
                    }
                }
            }
        }
    }
    vec![unit]
}

/// Compares every buffer, the inputs among them.
fn judge(unit: &Unit, bounds: Bounds, expected: &[Vec<u8>], got: &[Vec<u8>], tally: &mut Tally) {
    let assumed = unit
        .covers
        .first()
        .is_some_and(|pair| pair.0 == Op::AssumeUniform);
    let decls = unit.kernel.buffers();
    for (n, ((expected, got), decl)) in expected.iter().zip(got).zip(decls).enumerate() {
        let ty = decl.elem;
        if decl.access.writes() {
            tally.elements += got.len() / ty.bytes() as usize;
        }
        let difference = if unit.bits || assumed {
            let size = ty.bytes() as usize;
            let pairs = expected.chunks(size).zip(got.chunks(size));
            pairs
                .enumerate()
                .find(|(_, (e, g))| e != g)
                .map(|(at, (e, g))| format!("element {at} is {g:02x?}, expected {e:02x?}"))
        } else if unit.approximate && decl.access.writes() {
            approximate(unit, ty, expected, got, tally)
        } else {
            compare(expected, got, ty).map(|d| d.to_string())
        };
        if let Some(difference) = difference {
            tally.faults.push(format!(
                "{} ({bounds:?}): buffer {n}: {difference}",
                unit.name
            ));
        }
    }
}

fn element(ty: Type, bytes: &[u8]) -> f64 {
    let mut all = [0; 8];
    all[..bytes.len()].copy_from_slice(bytes);
    bounds::number(ty, u64::from_le_bytes(all))
}

/// The column of numbers of an input.
fn column(unit: &Unit, n: usize) -> Vec<f64> {
    let ty = unit.kernel.buffers()[n].elem;
    let Value::Bytes(bytes) = &unit.args[n] else {
        return vec![];
    };
    bytes
        .chunks(ty.bytes() as usize)
        .map(|e| element(ty, e))
        .collect()
}

/// The first element beyond what the documentation lets it be off.
fn approximate(
    unit: &Unit,
    ty: Type,
    expected: &[u8],
    got: &[u8],
    tally: &mut Tally,
) -> Option<String> {
    let (op, _) = unit.covers[0];
    let size = ty.bytes() as usize;
    let ins = unit.kernel.buffers().len() - 1;
    let columns: Vec<Vec<f64>> = match op {
        Op::SubgroupAdd => vec![column(unit, 0)],
        _ => (0..ins).map(|n| column(unit, n)).collect(),
    };
    let threads = unit.kernel.workgroup_threads() as usize;
    let mut found = None;
    for (at, (e, g)) in expected.chunks(size).zip(got.chunks(size)).enumerate() {
        let (truth, value) = (element(ty, e), element(ty, g));
        let within = if op == Op::SubgroupAdd {
            let lane = at % threads;
            let first = at - lane + lane / 32 * 32;
            let last = (first + 32).min(at - lane + threads);
            sum(ty, &columns[0][first..last], truth, value)
        } else {
            let x: Vec<f64> = columns.iter().map(|c| c[at]).collect();
            bounds::fast(op, ty, &x, truth, value)
        };
        match within {
            Some(true) => tally.bounded += 1,
            None => tally.unbounded += 1,
            Some(false) => {
                let x: Vec<f64> = columns.iter().map(|c| c[at]).collect();
                found = found.or(Some(format!(
                    "element {at}, of {x:?}, is {value:e}, expected about {truth:e}"
                )));
            }
        }
    }
    found
}

/// Whether two sums of these numbers, or of some of them, in different orders may be these.
fn sum(ty: Type, all: &[f64], one: f64, other: f64) -> Option<bool> {
    let total: f64 = all.iter().map(|x| x.abs()).sum();
    let (greatest, ..) = bounds::shape(ty);
    if !total.is_finite() || total > greatest {
        return None;
    }
    Some((one - other).abs() <= 32.0 * bounds::ulp(ty, total))
}

#[test]
fn the_judge_knows_right_from_wrong() {
    let mut seen = BTreeSet::new();
    for unit in every::units() {
        if !seen.insert((unit.covers.clone(), unit.approximate)) {
            continue;
        }
        for unit in variants(unit) {
            let right = unit.reference(32);
            let mut tally = Tally::default();
            judge(&unit, unit.bounds, &right, &right, &mut tally);
            assert_eq!(tally.faults, [""; 0]);
            // What has no bound may be anything.
            if unit.approximate && tally.bounded == 0 {
                continue;
            }
            let mut wrong = right.clone();
            let flipped = wrong.iter_mut().flatten();
            flipped.for_each(|byte| *byte ^= 0x41);
            judge(&unit, unit.bounds, &right, &wrong, &mut tally);
            assert!(!tally.faults.is_empty(), "{}", unit.name);
        }
    }
}
