//! What cannot be emitted is refused, with its place, what is needed and what there is.

use super::*;
use crate::Module;
use crate::limits::{Limit, LimitExceeded};
use crate::spirv::emit::{Emitter, Error, FloatMode, Fma, Overflow};

fn refused(kernel: &Kernel, change: impl FnOnce(&mut Options)) -> Error {
    let options = with(change);
    let mut out = vec![1, 2, 3];
    let error = Emitter::new()
        .emit(kernel, &options, &mut out)
        .expect_err("it is refused");
    assert!(out.is_empty());
    assert!(!error.to_string().is_empty());
    error
}

fn limit(limit: Limit, needed: u64, available: u64) -> Error {
    Error::Limit {
        kernel: 0,
        source: LimitExceeded {
            limit,
            needed,
            available,
        },
    }
}

#[test]
fn limits_are_checked() {
    let plain = binary(Type::U32, |b, [x, y]| b.add(x, y));
    assert_eq!(
        refused(&plain, |o| o.limits.workgroup_size[0] = 63),
        limit(Limit::WorkgroupX, 64, 63)
    );
    let bound = emit(&plain, &Options::default()).unwrap()[3];
    let options = with(|o| o.limits.id_bound = bound);
    assert!(emit(&plain, &options).is_ok());
    assert_eq!(
        refused(&plain, |o| o.limits.id_bound = bound - 1),
        limit(Limit::IdBound, u64::from(bound), u64::from(bound - 1))
    );
    for low in 0..bound - 1 {
        assert!(matches!(
            refused(&plain, |o| o.limits.id_bound = low),
            Error::Limit {
                source: LimitExceeded {
                    limit: Limit::IdBound,
                    ..
                },
                ..
            }
        ));
    }
    // The function for an exact f64 `fma` counts.
    let fused = binary(Type::F64, |b, [x, y]| b.fma(x, y, y));
    let options = with(|o| o.fma = Fma::Exact);
    let bound = emit(&fused, &options).unwrap()[3];
    assert_eq!(
        refused(&fused, |o| {
            o.fma = Fma::Exact;
            o.limits.id_bound = bound - 1;
        }),
        limit(Limit::IdBound, u64::from(bound), u64::from(bound - 1))
    );
}

#[test]
fn shared_memory_needs_its_length_and_room() {
    let mut b = KernelBuilder::new("main", [1, 1, 1]);
    b.shared("fixed", Type::U32, 3);
    let dynamic = b.shared_dynamic("dynamic", Type::F64);
    let zero = b.constant(0u32);
    let one = b.constant(1.0f64);
    b.store(dynamic, zero, one);
    let kernel = b.finish().unwrap();
    let missing = Error::DynamicLength {
        kernel: 0,
        array: 1,
    };
    assert_eq!(refused(&kernel, |_| {}), missing);
    assert_eq!(
        refused(&kernel, |o| o.dynamic_shared_len = Some(0)),
        missing
    );
    // 12 bytes, aligned to 16, and 4094 times 8.
    let options = with(|o| o.dynamic_shared_len = Some(4094));
    assert!(emit(&kernel, &options).is_ok());
    assert_eq!(
        refused(&kernel, |o| o.dynamic_shared_len = Some(4095)),
        limit(Limit::SharedBytes, 16 + 4095 * 8, 32768)
    );
    assert_eq!(
        refused(&kernel, |o| o.dynamic_shared_len = Some(u32::MAX)),
        limit(Limit::SharedBytes, 16 + u64::from(u32::MAX) * 8, 32768)
    );
}

#[test]
fn scalars_over_the_limit() {
    let mut b = KernelBuilder::new("main", [1, 1, 1]);
    let data = b.buffer("data", Type::F64, Access::Write);
    let scalars: Vec<_> = (0..17).map(|_| b.scalar("", Type::F64)).collect();
    let zero = b.constant(0u32);
    let x = b.param(scalars[16]);
    b.store(data, zero, x);
    let kernel = b.finish().unwrap();
    assert_eq!(
        refused(&kernel, |_| {}),
        limit(Limit::PushConstantBytes, 136, 128)
    );
    assert_eq!(
        refused(&kernel, |o| o.overflow =
            Overflow::Uniform { set: 0, binding: 0 }),
        Error::Binding {
            kernel: 0,
            set: 0,
            binding: 0,
            buffer: 0
        }
    );
    let base = |o: &mut Options| o.descriptor_set_base = u32::MAX;
    assert!(
        emit(
            &kernel,
            &with(|o| {
                o.overflow = Overflow::Uniform { set: 0, binding: 1 };
                base(o);
            })
        )
        .is_ok()
    );
    assert_eq!(
        refused(&kernel, |o| {
            o.overflow = Overflow::Uniform { set: 1, binding: 1 };
            base(o);
        }),
        Error::DescriptorSet {
            kernel: 0,
            set: 1,
            base: u32::MAX
        }
    );
}

#[test]
fn an_exact_fma_needs_strict_floats() {
    let kernel = binary(Type::F32, |b, [x, y]| b.fma(x, y, y));
    let error = refused(&kernel, |o| {
        o.fma = Fma::Exact;
        o.float_mode = FloatMode::Relaxed;
    });
    let Error::Unsupported { at, op, ty, .. } = error else {
        panic!("{error}");
    };
    assert_eq!((kernel.insts()[at as usize].op, ty), (op, Type::F32));
}

#[test]
fn too_many_variables() {
    let mut b = KernelBuilder::new("main", [1, 1, 1]);
    let zero = b.constant(0u32);
    for _ in 0..524_288 {
        b.var(zero);
    }
    let error = refused(&b.finish().unwrap(), |_| {});
    assert_eq!(
        error,
        Error::Universal {
            kernel: 0,
            what: "variables",
            needed: 524_288,
            available: 524_287
        }
    );
}

#[test]
fn global_variables_are_counted_over_the_module() {
    let module = |last: u32| {
        let mut module = Module::new();
        for n in 0..8 {
            let mut b = KernelBuilder::new(&format!("k{n}"), [1, 1, 1]);
            let zero = b.constant(0u32);
            for _ in 0..if n == 7 { last } else { 8192 } {
                let buffer = b.buffer("", Type::U32, Access::Write);
                b.store(buffer, zero, zero);
            }
            module.push(b.finish().unwrap()).unwrap();
        }
        module
    };
    let mut out = Vec::new();
    let mut emitter = Emitter::new();
    let error = emitter.emit_module(&module(8192), &Options::default(), &mut out);
    assert_eq!(
        error,
        Err(Error::Universal {
            kernel: 7,
            what: "global variables in the module",
            needed: 65_536,
            available: 65_535
        })
    );
    assert!(out.is_empty());
    // The emitter starts to count anew.
    assert!(
        emitter
            .emit_module(&module(8191), &Options::default(), &mut out)
            .is_ok()
    );
}
