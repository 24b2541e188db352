//! Where a device cannot judge: one table. A row that turns out to work fails the test that looks.

use crate::generate::Config;
use crate::run::{Case, Value};
use kernite::builder::{KernelBuilder, Scan};
use kernite::kernel::{Bounds, Kernel, Ordering, Value as Id};
use kernite::spirv;
use kernite::types::{Access, Scope, Type};
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
    /// A kernel that shows it, with its inputs.
    pub shows: fn() -> Case,
}

/// A kernel that stores what `body` makes of two f32 from buffers.
fn shown(inputs: [u32; 2], body: fn(&mut KernelBuilder, [Id; 2]) -> Id) -> Case {
    let mut b = KernelBuilder::new("gap", [1, 1, 1]);
    let (x, y) = (
        b.buffer("x", Type::F32, Access::Read),
        b.buffer("y", Type::F32, Access::Read),
    );
    let out = b.buffer("out", Type::F32, Access::Write);
    let i = b.global_id(0);
    let loaded = [b.load(x, i), b.load(y, i)];
    let made = body(&mut b, loaded);
    b.store(out, i, made);
    let kernel: Kernel = b.finish().unwrap_or_else(|e| panic!("{e}"));
    let args = vec![
        Value::of(&[inputs[0]]),
        Value::of(&[inputs[1]]),
        Value::of(&[0u32]),
    ];
    Case {
        kernel,
        grid: [1, 1, 1],
        args,
        dynamic_shared: 0,
        bounds: Bounds::Unchecked,
    }
}

/// Every gap of every device that the tests have met.
pub const GAPS: &[Gap] = &[
    Gap {
        what: "x * 0, x + 0, x - x and x / x of constants are folded as if there were no NaN",
        why: "a fault of Mesa's gallivm, whatever NoContraction and the float controls say",
        has: |device| device.info().is_lavapipe(),
        avoid: |config| config.honest_floats = false,
        shows: || {
            shown([0x7F80_0000, 0], |b, [x, _]| {
                let zero = b.constant(0.0f32);
                b.mul(x, zero)
            })
        },
    },
    Gap {
        what: "fma rounds twice",
        why: "Vulkan does not promise that Fma fuses; probed",
        has: |device| !device.fma().f32,
        avoid: |_| {},
        shows: || shown([0x3F80_0800, 0xBF80_1000], |b, [x, y]| b.fma(x, x, y)),
    },
    Gap {
        what: "a subgroup holds threads of one row of the workgroup only",
        why: "Vulkan promises full subgroups only where the workgroup's x is a multiple of their size",
        has: |device| device.info().is_lavapipe(),
        avoid: |config| config.across_rows = false,
        shows: || {
            let mut b = KernelBuilder::new("gap", [4, 2, 1]);
            let out = b.buffer("out", Type::U32, Access::Write);
            let (i, one) = (b.local_index(), b.constant(1u32));
            let lanes = b.subgroup_add(one, Scan::Reduce);
            b.store(out, i, lanes);
            Case {
                kernel: b.finish().unwrap_or_else(|e| panic!("{e}")),
                grid: [1, 1, 1],
                args: vec![Value::of(&[0u32; 8])],
                dynamic_shared: 0,
                bounds: Bounds::Unchecked,
            }
        },
    },
    Gap {
        what: "a fence where not every subgroup of the workgroup comes mixes up the subgroups",
        why: "a fault of Mesa 22.3's gallivm, which takes every fence for a barrier",
        has: |device| device.info().is_lavapipe(),
        avoid: |config| config.divergent_fences = false,
        shows: || {
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
            Case {
                kernel: b.finish().unwrap_or_else(|e| panic!("{e}")),
                grid: [1, 1, 1],
                args: vec![Value::of(&[0u32])],
                dynamic_shared: 0,
                bounds: Bounds::Unchecked,
            }
        },
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
    let case = (gap.shows)();
    let expected = case.reference(device.info().subgroups.size)?;
    let got = case.vulkan(device, &spirv::Options::default())?;
    Ok(case.difference(&expected, &got).is_some())
}
