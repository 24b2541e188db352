//! Running shaders on the Vulkan device.

use kernite_testkit::vulkan::{BufferArg, Context, Dispatch, Error};

use super::shaders;

fn bytes(values: impl IntoIterator<Item = u32>) -> Vec<u8> {
    values.into_iter().flat_map(u32::to_le_bytes).collect()
}

fn add(words: &[u32], n: u32) -> Dispatch<'_> {
    let mut dispatch = Dispatch::new(words, "main");
    dispatch.groups = [n / 64, 1, 1];
    let c = BufferArg {
        set: 2,
        ..BufferArg::storage(3, bytes((0..n).map(|_| 7)))
    };
    dispatch.buffers = vec![
        BufferArg::storage(0, bytes(0..n)),
        c,
        BufferArg::storage(1, bytes((0..n).map(|i| i.wrapping_mul(0x9E37_79B9)))),
    ];
    dispatch
}

fn sums(n: u32) -> Vec<u8> {
    bytes((0..n).map(|i| i.wrapping_add(i.wrapping_mul(0x9E37_79B9))))
}

#[test]
fn vectors_are_added() {
    let Some(vulkan) = Context::get() else { return };
    let words = shaders::vector_add(64);
    let dispatch = add(&words, 1024);
    let buffers = vulkan.run(&dispatch).unwrap();
    assert_eq!(buffers[0], dispatch.buffers[0].bytes);
    assert_eq!(buffers[1], sums(1024));
    assert_eq!(buffers[2], dispatch.buffers[2].bytes);
}

#[test]
fn several_threads_share_the_device() {
    let Some(vulkan) = Context::get() else { return };
    let words = shaders::vector_add(64);
    std::thread::scope(|scope| {
        for n in [64, 128, 192, 256] {
            let words = &words;
            scope.spawn(move || {
                assert_eq!(vulkan.run(&add(words, n)).unwrap()[1], sums(n));
            });
        }
    });
}

#[test]
fn no_groups_run_nothing() {
    let Some(vulkan) = Context::get() else { return };
    let words = shaders::vector_add(64);
    let mut dispatch = add(&words, 64);
    dispatch.groups = [0, 1, 1];
    let buffers = vulkan.run(&dispatch).unwrap();
    assert_eq!(buffers[1], dispatch.buffers[1].bytes);
}

#[test]
fn push_constants_arrive() {
    let Some(vulkan) = Context::get() else { return };
    let words = shaders::push_constant();
    let mut dispatch = Dispatch::new(&words, "main");
    dispatch.push_constants = bytes([1, 0xDEAD_BEEF]);
    dispatch.buffers = vec![BufferArg::storage(0, bytes([0, 5]))];
    assert_eq!(vulkan.run(&dispatch).unwrap(), [bytes([0xDEAD_BEEF, 5])]);
}

#[test]
fn an_empty_buffer_is_bound_and_stays_empty() {
    let Some(vulkan) = Context::get() else { return };
    let words = shaders::push_constant();
    let mut dispatch = Dispatch::new(&words, "main");
    dispatch.push_constants = bytes([1, 2]);
    dispatch.buffers = vec![BufferArg::storage(0, [])];
    // The store lands in the four bytes that the descriptor covers at least.
    assert_eq!(vulkan.run(&dispatch).unwrap(), [[]]);
}

#[test]
fn a_malformed_dispatch_is_refused() {
    let Some(vulkan) = Context::get() else { return };
    let words = shaders::vector_add(64);

    let mut dispatch = add(&words, 64);
    dispatch.push_constants = vec![0; 3];
    assert!(matches!(vulkan.run(&dispatch), Err(Error::Argument(_))));

    let mut dispatch = add(&words, 64);
    dispatch.push_constants = vec![0; 1 << 20];
    assert!(matches!(
        vulkan.run(&dispatch),
        Err(Error::Limit {
            needed: 0x10_0000,
            ..
        })
    ));

    let mut dispatch = add(&words, 64);
    dispatch.buffers.push(BufferArg::storage(0, []));
    assert!(matches!(vulkan.run(&dispatch), Err(Error::Argument(_))));

    let mut dispatch = add(&words, 64);
    dispatch.buffers[0].set = u32::MAX;
    assert!(matches!(vulkan.run(&dispatch), Err(Error::Limit { .. })));

    let mut dispatch = add(&words, 64);
    dispatch.required_subgroup_size = Some(3);
    assert!(vulkan.run(&dispatch).is_err());
}

#[test]
fn full_subgroups_are_given_where_the_device_has_them() {
    let Some(vulkan) = Context::get() else { return };
    let info = vulkan.info();
    let words = shaders::vector_add(64);
    let mut dispatch = add(&words, 64);
    dispatch.require_full_subgroups = true;
    match vulkan.run(&dispatch) {
        Ok(buffers) => {
            assert!(info.features.compute_full_subgroups);
            assert_eq!(buffers[1], sums(64));
        }
        Err(error) => {
            assert_eq!(error, Error::Lacks("computeFullSubgroups"));
            assert!(!info.features.compute_full_subgroups);
        }
    }
    if info.features.subgroup_size_control && info.subgroups.size_may_be_required {
        dispatch.require_full_subgroups = false;
        dispatch.required_subgroup_size = Some(info.subgroups.max_size);
        assert_eq!(vulkan.run(&dispatch).unwrap()[1], sums(64));
    }
}

#[test]
fn the_device_is_described() {
    let Some(vulkan) = Context::get() else { return };
    let info = vulkan.info();
    assert!(info.api_version >= (1, 2, 0), "{info:?}");
    // What Vulkan promises at least.
    assert!(info.limits.max_push_constants_size >= 128, "{info:?}");
    assert!(info.limits.max_compute_shared_memory_size >= 16384);
    assert!(info.limits.max_compute_work_group_invocations >= 128);
    assert!(info.subgroups.size.is_power_of_two());
    assert_eq!(
        info.features.get("shaderInt64"),
        Some(info.features.shader_int64)
    );
    assert_eq!(info.features.get("shader_int6"), None);
}

#[test]
fn lavapipe_is_what_was_measured() {
    let Some(vulkan) = Context::get() else { return };
    let info = vulkan.info();
    // Mesa 22.3.6; a newer one may well differ.
    if !info.is_lavapipe() || !info.driver_info.contains("Mesa 22.3.6") {
        return;
    }
    let controls = &info.float_controls;
    for widths in [
        controls.rounding_mode_rte,
        controls.signed_zero_inf_nan_preserve,
    ] {
        assert!(widths.f16 && widths.f32 && widths.f64, "{controls:?}");
    }
    assert_eq!(info.limits.max_compute_shared_memory_size, 32768);
    assert!(info.features.shader_buffer_float32_atomic_add);
    assert!(!info.features.shader_buffer_float64_atomics);
    assert!(!vulkan.fma().f32, "22.3.6 rounds twice");
}

#[test]
fn the_fma_probe_answers_for_each_width_there_is() {
    let Some(vulkan) = Context::get() else { return };
    let features = &vulkan.info().features;
    let fma = vulkan.fma();
    assert_eq!(fma.f16.is_some(), features.shader_float16);
    assert_eq!(fma.f64.is_some(), features.shader_float64);
    if !vulkan.info().software {
        assert!(fma.f32, "GPU drivers fuse: {fma:?}");
    }
}
