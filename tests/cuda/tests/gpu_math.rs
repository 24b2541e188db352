//! The precise functions on a GPU, bit for bit what their recipes give on the CPU. `KERNITE_MATH_STEP=N` takes every Nth
//! f32; 1 takes them all.
#![forbid(unsafe_code)]

use kernite::builder::KernelBuilder;
use kernite::cuda::{Context, LaunchConfig, LoadOptions, PinnedBuffer, Stream, args};
use kernite::kernel::{Kernel, Value};
use kernite::math::{Binary, Host, Unary, binary, unary};
use kernite::reference::{self, Arg, Buffer, Executor};
use kernite::types::{Access, Type};
use kernite_cuda_tests::buffers::{self, Given};
use kernite_cuda_tests::gpu::{self, note};
use kernite_suite::choices::SplitMix;
use std::thread::available_parallelism;

type Build = fn(&mut KernelBuilder, Value) -> Value;
type Build2 = fn(&mut KernelBuilder, Value, Value) -> Value;

const UNARY: [(&str, Build, Unary); 10] = [
    ("exp", KernelBuilder::exp, Unary::Exp),
    ("exp2", KernelBuilder::exp2, Unary::Exp2),
    ("log", KernelBuilder::log, Unary::Log),
    ("log2", KernelBuilder::log2, Unary::Log2),
    ("rsqrt", KernelBuilder::rsqrt, Unary::Rsqrt),
    ("sin", KernelBuilder::sin, Unary::Sin),
    ("cos", KernelBuilder::cos, Unary::Cos),
    ("tan", KernelBuilder::tan, Unary::Tan),
    ("tanh", KernelBuilder::tanh, Unary::Tanh),
    ("erf", KernelBuilder::erf, Unary::Erf),
];
const BINARY: [(&str, Build2, Binary); 2] = [
    ("pow", KernelBuilder::pow, Binary::Pow),
    ("rem", KernelBuilder::rem, Binary::Rem),
];

/// What a function of f32 is: its recipe.
fn right32(function: Unary, x: f32) -> f32 {
    unary::<f32, _>(function, &mut Host, x)
}

fn right64(function: Unary, x: f64) -> f64 {
    unary::<f64, _>(function, &mut Host, x)
}

fn same32(a: f32, b: f32) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

fn same64(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

/// `out[i] = f(first + i * step)`, the argument's bits.
fn of_numbers(name: &str, build: Build) -> Kernel {
    let mut b = KernelBuilder::new(name, [256, 1, 1]);
    let out = b.buffer("out", Type::F32, Access::Write);
    let (first, step) = (b.scalar("first", Type::U32), b.scalar("step", Type::U32));
    let i = b.global_id(0);
    let (first, step) = (b.param(first), b.param(step));
    let bits = b.mul_add(i, step, first);
    let x = b.bitcast(bits, Type::F32);
    let y = build(&mut b, x);
    b.store(out, i, y);
    b.finish().unwrap()
}

/// `out[i] = f(a[i], …)`.
fn of_buffers(
    name: &str,
    ty: Type,
    ins: usize,
    build: impl Fn(&mut KernelBuilder, &[Value]) -> Value,
) -> Kernel {
    let mut b = KernelBuilder::new(name, [256, 1, 1]);
    let buffers: Vec<_> = (0..ins).map(|_| b.buffer("", ty, Access::Read)).collect();
    let out = b.buffer("out", ty, Access::Write);
    let i = b.global_id(0);
    let x: Vec<Value> = buffers.iter().map(|&buffer| b.load(buffer, i)).collect();
    let y = build(&mut b, &x);
    b.store(out, i, y);
    b.finish().unwrap()
}

fn read<T: bytemuck::AnyBitPattern>(bytes: &[u8]) -> Vec<T> {
    let elements = bytes.chunks_exact(size_of::<T>());
    elements.map(bytemuck::pod_read_unaligned).collect()
}

fn step() -> u32 {
    match std::env::var("KERNITE_MATH_STEP") {
        Ok(n) => n
            .parse()
            .unwrap_or_else(|e| panic!("KERNITE_MATH_STEP={n}: {e}")),
        Err(_) => 61,
    }
}

/// Results at once.
const CHUNK: usize = 1 << 22;

#[test]
fn f32_functions_of_every_nth_number() {
    let Some(context) = gpu::context() else {
        return;
    };
    let stream = context.stream().unwrap();
    let step = step();
    assert!(step > 0);
    let mut pinned = [
        context.pinned::<f32>(CHUNK).unwrap(),
        context.pinned::<f32>(CHUNK).unwrap(),
    ];
    for (name, build, function) in UNARY {
        let wrong = compare_all(&context, &stream, &mut pinned, name, build, function, step);
        let inputs = (1u64 << 32).div_ceil(u64::from(step));
        note(&format!(
            "{name} of {inputs} numbers of f32: {} differ",
            wrong.len()
        ));
        let shown: Vec<String> = wrong
            .iter()
            .take(5)
            .map(|x| format!("{:08X}", x.to_bits()))
            .collect();
        assert!(wrong.is_empty(), "{name} of {}", shown.join(" "));
    }
}

/// The inputs whose results differ. While the CPU looks at a chunk, the GPU makes the next.
fn compare_all(
    context: &Context,
    stream: &Stream,
    pinned: &mut [PinnedBuffer<f32>; 2],
    name: &str,
    build: Build,
    function: Unary,
    step: u32,
) -> Vec<f32> {
    let kernel = context
        .load_kernel_checked(&of_numbers(name, build), &LoadOptions::new())
        .unwrap();
    let config = kernel.config_for(CHUNK as u64).unwrap();
    let mut out = context.alloc::<f32>(CHUNK).unwrap();
    let inputs = (1u64 << 32).div_ceil(u64::from(step));
    let chunks = inputs.div_ceil(CHUNK as u64);
    let mut enqueue = |chunk: u64, to: &mut PinnedBuffer<f32>| {
        let first = (chunk * CHUNK as u64 * u64::from(step)) as u32;
        kernel
            .launch(stream, &config, &args![&mut out, first, step])
            .unwrap();
        stream.download(&out, to).unwrap();
    };
    let [a, b] = pinned;
    let (mut now, mut next) = (a, b);
    enqueue(0, now);
    let mut wrong = Vec::new();
    for chunk in 0..chunks {
        let results = now.as_slice().unwrap();
        if chunk + 1 < chunks {
            enqueue(chunk + 1, next);
        }
        let first = chunk * CHUNK as u64;
        let many = (inputs - first).min(CHUNK as u64) as usize;
        wrong.extend(differing(&results[..many], first, step, function));
        std::mem::swap(&mut now, &mut next);
    }
    wrong
}

fn differing(results: &[f32], first: u64, step: u32, function: Unary) -> Vec<f32> {
    let workers = available_parallelism().map_or(1, usize::from);
    let each = results.len().div_ceil(workers);
    std::thread::scope(|scope| {
        let parts = results.chunks(each).enumerate().map(|(n, part)| {
            scope.spawn(move || {
                let inputs = (first + (n * each) as u64..)
                    .map(|i| f32::from_bits((i * u64::from(step)) as u32));
                let pairs = inputs
                    .zip(part)
                    .filter(|&(x, &y)| !same32(y, right32(function, x)));
                pairs.map(|(x, _)| x).collect::<Vec<f32>>()
            })
        });
        let parts: Vec<_> = parts.collect();
        parts
            .into_iter()
            .flat_map(|part| part.join().unwrap())
            .collect()
    })
}

/// Bits of all exponents, and special ones.
fn numbers(n: usize, seed: u64) -> Vec<f64> {
    let specials = [
        0,
        1,
        0x3FF << 52,
        0x7FF << 52,
        0x7FF8 << 48,
        0x000F_FFFF_FFFF_FFFF,
        0x0010 << 48,
        0x7FEF_FFFF_FFFF_FFFF,
    ];
    let mut random = SplitMix::new(seed);
    let signed = specials
        .iter()
        .flat_map(|&bits: &u64| [bits, bits | 1 << 63]);
    let mut all: Vec<f64> = signed.map(f64::from_bits).collect();
    while all.len() < n {
        let bits = random.next_u64();
        // Every other one where functions bend.
        all.push(match all.len() % 2 {
            0 => f64::from_bits(bits),
            _ => (bits >> 11) as f64 * 2f64.powi(-53) * 64.0 - 32.0,
        });
    }
    all
}

fn run(context: &Context, stream: &Stream, kernel: &Kernel, ty: Type, ins: &[&[u8]]) -> Vec<u8> {
    let function = context
        .load_kernel_checked(kernel, &LoadOptions::new())
        .unwrap();
    let bytes = ins[0].len();
    let zeros = vec![0; bytes];
    let mut given: Vec<Given<'_>> = ins
        .iter()
        .map(|bytes| Given::Buffer(ty, bytes, false))
        .collect();
    given.push(Given::Buffer(ty, &zeros, true));
    let groups = (bytes as u32 / ty.bytes()).div_ceil(256);
    let config = LaunchConfig::new([groups, 1, 1], kernel.workgroup_size());
    buffers::run(context, stream, &function, &config, &given)
        .unwrap()
        .pop()
        .unwrap()
}

#[test]
fn f64_functions_and_pairs_of_many_numbers() {
    let Some(context) = gpu::context() else {
        return;
    };
    let stream = context.stream().unwrap();
    const N: usize = 1 << 20;
    let (x, y) = (numbers(N, 1), numbers(N + 7, 2));
    let y = &y[7..];
    let narrow = |all: &[f64]| all.iter().map(|&x| x as f32).collect::<Vec<f32>>();
    let (x32, y32) = (narrow(&x), narrow(y));
    let mut faults = Vec::new();
    for (name, build, function) in UNARY {
        let kernel = of_buffers(name, Type::F64, 1, |b, x| build(b, x[0]));
        let got = run(
            &context,
            &stream,
            &kernel,
            Type::F64,
            &[bytemuck::cast_slice(&x)],
        );
        let got: Vec<f64> = read(&got);
        let wrong = x
            .iter()
            .zip(&got)
            .filter(|&(&x, &got)| !same64(got, right64(function, x)));
        faults.extend(wrong.map(|(x, got)| format!("{name}({x:e}) = {got:e}")));
    }
    for (name, build, function) in BINARY {
        let kernel = of_buffers(name, Type::F64, 2, |b, x| build(b, x[0], x[1]));
        let ins = [bytemuck::cast_slice(&x), bytemuck::cast_slice(y)];
        let got: Vec<f64> = read(&run(&context, &stream, &kernel, Type::F64, &ins));
        for ((&x, &y), got) in x.iter().zip(y).zip(got) {
            if !same64(got, binary::<f64, _>(function, &mut Host, x, y)) {
                faults.push(format!("{name}({x:e}, {y:e}) = {got:e}"));
            }
        }
        let kernel = of_buffers(name, Type::F32, 2, |b, x| build(b, x[0], x[1]));
        let ins = [bytemuck::cast_slice(&x32), bytemuck::cast_slice(&y32)];
        let got: Vec<f32> = read(&run(&context, &stream, &kernel, Type::F32, &ins));
        for ((&x, &y), got) in x32.iter().zip(&y32).zip(got) {
            if !same32(got, binary::<f32, _>(function, &mut Host, x, y)) {
                faults.push(format!("{name}({x:e}f32, {y:e}f32) = {got:e}"));
            }
        }
    }
    note(&format!(
        "10 functions of f64 and pow and rem of f32 and f64, {N} arguments each: {} differ",
        faults.len()
    ));
    assert!(
        faults.is_empty(),
        "{} differ: {:?}",
        faults.len(),
        &faults[..faults.len().min(10)]
    );
}

#[test]
fn functions_of_every_f16_and_bf16() {
    let Some(context) = gpu::context() else {
        return;
    };
    let stream = context.stream().unwrap();
    let all: Vec<u16> = (0..=u16::MAX).collect();
    let bytes: &[u8] = bytemuck::cast_slice(&all);
    for ty in [Type::F16, Type::BF16] {
        for (name, build, _) in UNARY {
            let kernel = of_buffers(name, ty, 1, |b, x| build(b, x[0]));
            let got = run(&context, &stream, &kernel, ty, &[bytes]);
            let zeros = vec![0; bytes.len()];
            let buffer = |bytes: &[u8]| Arg::Buffer(Buffer::from_bytes(ty, bytes).unwrap());
            let mut args = [buffer(bytes), buffer(&zeros)];
            Executor::new(reference::Options::default())
                .run(&kernel, [256, 1, 1], &mut args)
                .unwrap();
            let expected = args[1].buffer().unwrap();
            if let Some(difference) = reference::compare(expected.bytes(), &got, ty) {
                panic!("{name} of {ty}: {difference}");
            }
        }
    }
    note("10 functions of every f16 and every bf16: 0 differ");
}
