//! Where a device cannot judge: one table. A row that turns out to work fails the test that looks.
//!
//! A row speaks of a device by what that says of itself (features, float controls) or by what a probe shows, and by its
//! name only where the driver is at fault.

use crate::choices::SplitMix;
use crate::generate::Config;
use crate::run::{Case, Value, preserved};
use kernite::builder::{KernelBuilder, Scan};
use kernite::kernel::{Bounds, Ordering, Value as Id};
use kernite::types::{Access, Const, Scope, Type};
use kernite_testkit::vulkan::Context;

/// Something that a device does otherwise than the reference executor, and is allowed to or known to.
pub struct Gap {
    /// What it is.
    pub what: &'static str,
    /// Where it comes from: the feature or limit asked for, or the fault of a driver.
    pub why: &'static str,
    /// Whether the device says or is known to have it.
    pub has: fn(&Context) -> bool,
    /// What the random kernels leave out on such a device.
    pub avoid: fn(&mut Config),
    /// A kernel that shows it, with its inputs; `None` where nothing runs that would: the device lacks a feature, or no small
    /// kernel is known.
    pub shows: Option<fn() -> Case>,
}

/// The launch of a kernel without checks.
fn launch(mut b: KernelBuilder, grid: [u32; 3], args: Vec<Value>) -> Case {
    Case {
        kernel: b.finish().unwrap_or_else(|e| panic!("{e}")),
        grid,
        args,
        dynamic_shared: 0,
        bounds: Bounds::Unchecked,
    }
}

/// A kernel that stores what `body` makes of two floats from buffers, a workgroup an element.
fn shown(ty: Type, inputs: &[[u64; 2]], body: fn(&mut KernelBuilder, [Id; 2]) -> Id) -> Case {
    let mut b = KernelBuilder::new("gap", [1, 1, 1]);
    let (x, y) = (
        b.buffer("x", ty, Access::Read),
        b.buffer("y", ty, Access::Read),
    );
    let out = b.buffer("out", ty, Access::Write);
    let i = b.global_id(0);
    let loaded = [b.load(x, i), b.load(y, i)];
    let made = body(&mut b, loaded);
    b.store(out, i, made);
    let size = ty.bytes() as usize;
    let column = |n: usize| -> Vec<u8> {
        let bits = inputs.iter().map(|pair| pair[n].to_le_bytes());
        bits.flat_map(|bits| bits.into_iter().take(size)).collect()
    };
    let zeros = vec![0; inputs.len() * size];
    launch(
        b,
        [inputs.len() as u32, 1, 1],
        [column(0), column(1), zeros].map(Value::Bytes).into(),
    )
}

/// Pairs of positive floats between 1/16 and 16, all bits of their fractions in use.
fn pairs(ty: Type) -> Vec<[u64; 2]> {
    let mut stream = SplitMix::new(7);
    let mut float = || {
        let bits = stream.next_u64();
        let exponent = bits % 8;
        match ty {
            Type::F64 => (1019 + exponent) << 52 | bits >> 12,
            _ => (123 + exponent) << 23 | bits >> 41,
        }
    };
    (0..256).map(|_| [float(), float()]).collect()
}

fn is_nvidia(device: &Context) -> bool {
    device.info().driver == "NVIDIA"
}

/// Whether the device differs from the reference in what a kernel shows.
fn differs(device: &Context, case: &Case) -> Result<bool, crate::run::Error> {
    let expected = case.reference(case.lanes(device))?;
    let mut options = case.options_for(device);
    // The row of fma is of the native one.
    options.fma = kernite::spirv::Fma::Native;
    let got = case.vulkan(device, &options)?;
    Ok(case.difference(&expected, &got).is_some())
}

/// The same as a row's probe; a device that cannot run the kernel has other rows for that.
fn probed(device: &Context, shows: fn() -> Case) -> bool {
    let case = shows();
    case.lacks(device).is_none()
        && differs(device, &case).unwrap_or_else(|e| panic!("a probe does not run: {e}"))
}

fn flushes_f32() -> Case {
    shown(Type::F32, &[[0x0040_0000, 0x4000_0000]], |b, [x, y]| {
        b.mul(x, y)
    })
}

fn flushes_f64() -> Case {
    let (least, two) = (1 << 51, 0x4000_0000_0000_0000);
    shown(Type::F64, &[[least, two]], |b, [x, y]| b.mul(x, y))
}

/// The same of arguments, which a compiler may compute with apart from what comes from buffers.
fn flushes_arguments() -> Case {
    let mut b = KernelBuilder::new("gap", [1, 1, 1]);
    let (x, y) = (b.scalar("x", Type::F32), b.scalar("y", Type::F32));
    let product = b.buffer("product", Type::F32, Access::Write);
    let equal = b.buffer("equal", Type::U32, Access::Write);
    let (i, zero) = (b.local_index(), b.constant(0.0f32));
    let (x, y) = (b.param(x), b.param(y));
    let made = b.mul(x, y);
    b.store(product, i, made);
    let made = b.eq(x, zero);
    let made = b.convert(made, Type::U32);
    b.store(equal, i, made);
    let (least, log) = (b.constant(f32::from_bits(0x0008_0000)), b.constant(2.0f32));
    let (sum, log) = (b.add(least, least), b.log(log));
    let made = b.fma(sum, log, x);
    b.store_offset(product, i, 1, made);
    launch(
        b,
        [1, 1, 1],
        vec![
            Value::Scalar(Const::from(f32::from_bits(0x0040_0000))),
            Value::Scalar(Const::from(2.0f32)),
            Value::of(&[0u32; 2]),
            Value::of(&[0u32]),
        ],
    )
}

fn divides_f32() -> Case {
    shown(Type::F32, &pairs(Type::F32), |b, [x, y]| b.div(x, y))
}

fn divides_f64() -> Case {
    shown(Type::F64, &pairs(Type::F64), |b, [x, y]| b.div(x, y))
}

fn roots_f32() -> Case {
    shown(Type::F32, &pairs(Type::F32), |b, [x, _]| b.sqrt(x))
}

fn roots_f64() -> Case {
    shown(Type::F64, &pairs(Type::F64), |b, [x, _]| b.sqrt(x))
}

/// A subgroup in two rows of the workgroup counts its lanes.
fn counts_lanes() -> Case {
    let mut b = KernelBuilder::new("gap", [4, 2, 1]);
    let out = b.buffer("out", Type::U32, Access::Write);
    let (i, one) = (b.local_index(), b.constant(1u32));
    let lanes = b.subgroup_add(one, Scan::Reduce);
    b.store(out, i, lanes);
    launch(b, [1, 1, 1], vec![Value::of(&[0u32; 8])])
}

/// Subgroups add their numbers in turn, each until it was the first.
fn fences_in_turn() -> Case {
    let mut b = KernelBuilder::new("gap", [16, 1, 1]);
    let sum = b.buffer("sum", Type::U32, Access::ReadWrite);
    let (i, zero) = (b.local_index(), b.constant(0u32));
    let expected = b.atomic_load(sum, zero, 0, Ordering::RELAXED);
    let expected = b.var(expected);
    b.loop_(|b| {
        let old = b.get(expected);
        let new = b.add(old, i);
        let found = b.atomic_compare_exchange(sum, zero, old, new);
        b.memory_fence(Scope::Workgroup);
        let done = b.eq(found, old);
        b.when(done, KernelBuilder::break_);
        b.set(expected, found);
    });
    launch(b, [1, 1, 1], vec![Value::of(&[0u32])])
}

/// The bits of a signalling NaN.
fn keeps_signalling() -> Case {
    let mut b = KernelBuilder::new("gap", [1, 1, 1]);
    let out = b.buffer("out", Type::U32, Access::Write);
    let (i, nan) = (b.local_index(), b.constant(f32::from_bits(0x7F80_0001)));
    let bits = b.bitcast(nan, Type::U32);
    b.store(out, i, bits);
    launch(b, [1, 1, 1], vec![Value::of(&[0u32])])
}

/// Every gap of every device that the tests have met.
pub const GAPS: &[Gap] = &[
    Gap {
        what: "x * 0, x + 0, x - x and x / x of constants are folded as if there were no NaN",
        why: "a fault of Mesa's gallivm, whatever NoContraction and the float controls say",
        has: |device| device.info().is_lavapipe(),
        avoid: |config| config.honest_floats = false,
        shows: Some(|| {
            shown(Type::F32, &[[0x7F80_0000, 0]], |b, [x, _]| {
                let zero = b.constant(0.0f32);
                b.mul(x, zero)
            })
        }),
    },
    Gap {
        what: "fma rounds twice",
        why: "Vulkan does not promise that Fma fuses; probed",
        has: |device| !device.fma().f32,
        avoid: |_| {},
        shows: Some(|| {
            shown(Type::F32, &[[0x3F80_0800, 0xBF80_1000]], |b, [x, y]| {
                b.fma(x, x, y)
            })
        }),
    },
    Gap {
        what: "a subgroup holds threads of one row of the workgroup only",
        why: "Vulkan promises more only where the workgroup's x is a multiple of a subgroup; probed",
        has: |device| probed(device, counts_lanes),
        avoid: |config| config.across_rows = false,
        shows: Some(counts_lanes),
    },
    Gap {
        what: "a fence where not every subgroup of the workgroup comes mixes up the subgroups",
        why: "a fault of Mesa 22.3's gallivm, which takes every fence for a barrier",
        has: |device| device.info().is_lavapipe(),
        avoid: |config| config.divergent_fences = false,
        shows: Some(fences_in_turn),
    },
    Gap {
        what: "subnormal f32 become zero",
        why: "the device has no shaderDenormPreserveFloat32; probed",
        has: |device| {
            preserved(&device.info().float_controls) & 32 == 0 && probed(device, flushes_f32)
        },
        avoid: |config| config.subnormals = false,
        shows: Some(flushes_f32),
    },
    Gap {
        what: "subnormal f32 become zero where they come from constants or arguments",
        why: "the device has no shaderDenormPreserveFloat32, and NVIDIA's compiler folds without them",
        has: |device| preserved(&device.info().float_controls) & 32 == 0 && is_nvidia(device),
        avoid: |config| config.subnormals = false,
        shows: Some(flushes_arguments),
    },
    Gap {
        what: "subnormal f64 become zero",
        why: "the device has no shaderDenormPreserveFloat64; probed",
        has: |device| {
            preserved(&device.info().float_controls) & 64 == 0 && probed(device, flushes_f64)
        },
        avoid: |config| config.subnormals = false,
        shows: Some(flushes_f64),
    },
    Gap {
        what: "signalling NaNs of f32 constants become quiet",
        why: "Vulkan lets a device change NaNs; NVIDIA's compiler",
        has: is_nvidia,
        avoid: |_| {},
        shows: Some(keeps_signalling),
    },
    Gap {
        what: "saturating addition and subtraction of constants and arguments of u64 are wrong",
        why: "a fault of NVIDIA's compiler (580), in some kernels and not in smaller ones",
        has: is_nvidia,
        avoid: |config| config.saturating_64 = false,
        shows: None,
    },
    Gap {
        what: "the rounding to f16 between two functions that are computed in f32 is dropped",
        why: "a fault of NVIDIA's compiler (580), in some kernels and not in smaller ones",
        has: is_nvidia,
        avoid: |config| config.rounded_f16 = false,
        shows: None,
    },
    Gap {
        what: "an integer divided by two packed f16 constants ends the process",
        why: "a fault of NVIDIA's compiler (580), which nothing can show that lives on",
        has: is_nvidia,
        avoid: |config| config.packed_constants = false,
        shows: None,
    },
    Gap {
        what: "division of f32 is not rounded to nearest even",
        why: "Vulkan allows 2.5 ULP; probed",
        has: |device| probed(device, divides_f32),
        avoid: |config| config.exact_division = false,
        shows: Some(divides_f32),
    },
    Gap {
        what: "division of f64 is not rounded to nearest even",
        why: "Vulkan leaves its precision to the device; probed",
        has: |device| probed(device, divides_f64),
        avoid: |config| config.exact_division = false,
        shows: Some(divides_f64),
    },
    Gap {
        what: "square roots of f32 are not rounded to nearest even",
        why: "Vulkan takes them for 1 / inversesqrt, which has 2 ULP; probed",
        has: |device| probed(device, roots_f32),
        avoid: |config| config.exact_division = false,
        shows: Some(roots_f32),
    },
    Gap {
        what: "square roots of f64 are not rounded to nearest even",
        why: "Vulkan takes them for 1 / inversesqrt; probed",
        has: |device| probed(device, roots_f64),
        avoid: |config| config.exact_division = false,
        shows: Some(roots_f64),
    },
    Gap {
        what: "no 64-bit integer atomics",
        why: "the device has no shaderBufferInt64Atomics",
        has: |device| !device.info().features.shader_buffer_int64_atomics,
        avoid: |config| config.atomics_64 = false,
        shows: None,
    },
    Gap {
        what: "not every subgroup operation, or no full subgroups",
        why: "the device says so of its subgroups",
        has: |device| {
            let info = device.info();
            let s = &info.subgroups;
            let all =
                s.basic && s.vote && s.arithmetic && s.ballot && s.shuffle && s.shuffle_relative;
            !(s.in_compute && all && info.features.compute_full_subgroups)
        },
        avoid: |config| config.subgroups = false,
        shows: None,
    },
];

/// The kernels that a device can judge.
pub fn config_for(device: &Context) -> Config {
    let mut config = Config {
        assume_uniform: true,
        ..Config::default()
    };
    for gap in GAPS.iter().filter(|gap| (gap.has)(device)) {
        (gap.avoid)(&mut config);
    }
    config
}

/// Whether the device still differs in what the gap's kernel shows.
///
/// # Errors
/// What kept the kernel from running.
pub fn still_there(gap: &Gap, device: &Context) -> Result<bool, crate::run::Error> {
    match gap.shows {
        Some(shows) => differs(device, &shows()),
        None => Ok((gap.has)(device)),
    }
}
