//! Fuzz bodies: plain functions over bytes, run briefly by the tests and at length by whoever likes.

use crate::calls;
use crate::choices::{Choices, SplitMix};
use crate::generate::{self, Config};
use kernite::kernel::{Bounds, Kernel};
use kernite::limits::Limits;
use kernite::reference::{Arg, Buffer, Executor, Launch, Options as RunOptions};
use kernite::types::Const;
use kernite::{kernel::ParamRef, ptx, spirv, text};

/// Any bytes: `from_bytes` gives an error, or a kernel that every emitter takes without a panic, whose SPIR-V is valid,
/// and that prints, reads back and stores as the same bytes. Whether the bytes were a kernel.
///
/// # Panics
/// Where one of that does not hold.
pub fn kernel_bytes(bytes: &[u8]) -> bool {
    let Ok(kernel) = Kernel::from_bytes(bytes) else {
        return false;
    };
    assert_eq!(kernel.to_bytes(), bytes, "the form is canonical");
    emit(&kernel);
    true
}

/// Any bytes: the text form gives an error, or kernels that print as what reads back to them.
///
/// # Panics
/// Where that does not hold.
pub fn kernel_text(bytes: &[u8]) -> bool {
    let Ok(source) = std::str::from_utf8(bytes) else {
        return false;
    };
    let Ok(kernels) = text::parse(source) else {
        return false;
    };
    kernels.iter().for_each(emit);
    true
}

/// Any calls of a builder, misuse among them, give faults or a kernel that emits. After a byte of 255 the rest is read as
/// decisions, which give a kernel that verifies and emits. Whether there was a kernel.
///
/// # Panics
/// Where that does not hold.
pub fn builder(bytes: &[u8]) -> bool {
    if let [255, rest @ ..] = bytes {
        let kernel = generate::kernel("k", &mut Choices::new(&words(rest)), Config::default());
        emit(&kernel.unwrap_or_else(|e| panic!("{e}")));
        return true;
    }
    match calls::run(bytes) {
        Ok(kernel) => {
            emit(&kernel);
            true
        }
        Err(faults) => {
            assert!(!faults.to_string().is_empty());
            false
        }
    }
}

fn words(bytes: &[u8]) -> Vec<u32> {
    let quads = bytes.as_chunks::<4>().0.iter();
    quads.map(|q| u32::from_le_bytes(*q)).collect()
}

/// What must hold for every kernel, with the emitters' defaults and with options drawn from its bytes.
fn emit(kernel: &Kernel) {
    let printed = kernel.to_string();
    match text::parse(&printed).as_deref() {
        Ok([read]) => assert_eq!(read.to_bytes(), kernel.to_bytes(), "{printed}"),
        other => panic!("{other:?}\n{printed}"),
    }
    let mut spirv = spirv::Options::default();
    spirv.dynamic_shared_len = Some(16);
    with(kernel, &ptx::Options::default(), &spirv);
    // FNV-1a, so that the options depend on every byte.
    let mix = |h: u64, b: &u8| (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01B3);
    let hash = kernel.to_bytes().iter().fold(0xCBF2_9CE4_8422_2325, mix);
    let mut stream = SplitMix::new(hash);
    let (ptx, spirv) = options(&mut || stream.next_u64() as usize);
    with(kernel, &ptx, &spirv);
    let _ = kernel.signature().to_string();
}

/// Options of both emitters.
fn options(draw: &mut dyn FnMut() -> usize) -> (ptx::Options, spirv::Options) {
    use spirv::*;
    fn one<T: Copy>(draw: &mut dyn FnMut() -> usize, of: &[T]) -> T {
        of[draw() % of.len()]
    }
    let bounds = one(draw, &[Bounds::Checked, Bounds::Unchecked]);
    let targets: Vec<ptx::Target> = ptx::Target::all().collect();
    let ptx = ptx::Options::new(one(draw, &targets)).with_bounds(bounds);
    let atomics = [FloatAtomics::Native, FloatAtomics::CompareExchange];
    let binding = Overflow::Uniform { set: 3, binding: 9 };
    let mut o = Options::default();
    o.version = one(
        draw,
        &[Version::V1_3, Version::V1_4, Version::V1_5, Version::V1_6],
    );
    o.memory_model = one(draw, &[MemoryModel::Glsl450, MemoryModel::Vulkan]);
    o.float_mode = one(draw, &[FloatMode::Strict, FloatMode::Relaxed]);
    o.denorm_preserve = one(draw, &[0, 16, 32, 64, 112, u32::MAX]);
    o.fma = one(draw, &[Fma::Native, Fma::Exact]);
    o.dynamic_shared_len = one(draw, &[Some(16), Some(0), None, Some(1 << 20)]);
    o.overflow = one(draw, &[Overflow::Error, binding]);
    o.lengths = one(draw, &[Lengths::ArrayLength, Lengths::HostFilled]);
    o.float_atomics = one(draw, &atomics);
    o.float_min_max_atomics = one(draw, &atomics);
    o.float64_atomics = one(draw, &atomics);
    o.dot_products = one(draw, &[DotProducts::Native, DotProducts::Expanded]);
    o.bounds = bounds;
    o.zero_shared = one(draw, &[ZeroShared::Initializer, ZeroShared::Loop]);
    o.names = one(draw, &[true, false]);
    o.descriptor_set_base = one(draw, &[0, 1, u32::MAX]);
    o.limits = one(draw, &[Limits::VULKAN, Limits::CUDA, Limits::VULKAN_MIN]);
    (ptx, o)
}

fn with(kernel: &Kernel, ptx: &ptx::Options, spirv: &spirv::Options) {
    // Limits and targets may refuse it; that is no fault.
    let _ = ptx::Emitter::new().emit(kernel, ptx, &mut Vec::new());
    let mut words = Vec::new();
    if spirv::Emitter::new()
        .emit(kernel, spirv, &mut words)
        .is_ok()
    {
        let verdict = spirv::Validator::new().words(&words);
        assert!(verdict.is_valid(), "{verdict}\n{spirv:?}\n{kernel}");
    }
}

/// A stored kernel, or one of the decisions that the bytes are, through [`twice`].
///
/// # Panics
/// Where what it promises does not hold.
pub fn differential(bytes: &[u8]) {
    match Kernel::from_bytes(bytes) {
        Ok(kernel) => twice(&kernel),
        Err(_) => {
            let config = Config {
                statements: 12,
                ..Config::default()
            };
            let kernel = generate::kernel("k", &mut Choices::new(&words(bytes)), config);
            twice(&kernel.unwrap_or_else(|e| panic!("{e}")));
        }
    }
}

/// Runs a kernel twice on the reference executor on made-up arguments, for a short while: it never panics, and what it
/// computes or reports is the same both times.
///
/// # Panics
/// Where that does not hold.
pub fn twice(kernel: &Kernel) {
    let mut options = RunOptions::default();
    options.step_limit = 20_000;
    options.limits.scratch_bytes = 1 << 26;
    let args = || -> Option<Vec<Arg>> {
        kernel
            .params()
            .iter()
            .map(|param| match *param {
                ParamRef::Buffer(n) => {
                    let elem = kernel.buffers().get(n as usize)?.elem;
                    let bytes: Vec<u8> = (0..64 * elem.bytes()).map(|i| (i * 7) as u8).collect();
                    Some(Arg::Buffer(Buffer::from_bytes(elem, &bytes).ok()?))
                }
                ParamRef::Scalar(n) => {
                    let ty = kernel.scalars().get(n as usize)?.ty;
                    Const::new(ty, 1).map(Arg::Scalar)
                }
            })
            .collect()
    };
    let run = |mut args: Vec<Arg>| {
        let dynamic = kernel.signature().dynamic_shared.map_or(0, |_| 16);
        let launch = Launch::new([2, 1, 1]).dynamic_shared(dynamic);
        let result = Executor::new(options).run(kernel, launch, &mut args);
        (format!("{result:?}"), args)
    };
    if let (Some(first), Some(second)) = (args(), args()) {
        assert_eq!(run(first), run(second));
    }
}

/// A change to a stored kernel that leaves its lengths alone, for a fuzzer that wants more kernels that verify than changed
/// bytes give: words change a little or are copied, and whole instructions are.
pub fn change(bytes: &[u8], stream: &mut SplitMix) -> Vec<u8> {
    let mut changed = bytes.to_vec();
    let words = bytes.len() / 4;
    if words == 0 {
        return changed;
    }
    let mut below = |n: usize| (stream.next_u64() % n as u64) as usize;
    for _ in 0..=below(2) {
        let (at, from) = (below(words) * 4, below(words) * 4);
        let word = |at: usize| bytes.get(at..at + 4).and_then(|w| w.try_into().ok());
        let word = |at: usize| u32::from_le_bytes(word(at).unwrap_or_default());
        let old = word(at);
        let new = match below(8) {
            0 => old ^ 1 << below(32),
            1 => old.wrapping_add(1),
            2 => old.wrapping_sub(1),
            3 => below(64) as u32,
            4 => [0, 1, 0x7FFF_FFFF, 0x8000_0000, u32::MAX][below(5)],
            5 => word(from),
            // A byte, which may be a type or flags, or half an opcode.
            6 => {
                let shift = 8 * below(4);
                old & !(255 << shift) | (below(16) as u32) << shift
            }
            _ => {
                // An instruction is 16 bytes.
                let from = from / 16 * 16 + at % 16;
                if let (Some(source), Some(target)) =
                    (bytes.get(from..from + 16), changed.get_mut(at..at + 16))
                {
                    target.copy_from_slice(source);
                }
                continue;
            }
        };
        if let Some(place) = changed.get_mut(at..at + 4) {
            place.copy_from_slice(&new.to_le_bytes());
        }
    }
    changed
}
