//! Every entry point fails once with every kind of code: nothing panics, nothing leaks, nothing is used after it is gone, and
//! the error says which entry point it was.

use kernite::cuda::{Context, Error, LoadOptions, Module, Stream, args};
use kernite_cuda_tests::fake::Fake;
use kernite_cuda_tests::kernels::{SAXPY, empty_entry, saxpy};

/// Invalid value, out of memory, deinitialised, illegal address (loses the context), unknown to this crate.
const CODES: [u32; 5] = [1, 2, 4, 700, 9999];

/// Uses everything once, and stops at the first error.
fn everything(fake: &Fake) -> Result<(), Error> {
    let device = fake.load()?.device(0)?;
    device.name()?;
    device.total_memory()?;
    device.uuid()?;
    let context = device.primary_context()?;
    context.memory_info()?;
    let result = work(fake, &context);
    // What failed where no error could be returned.
    result.and(context.last_error().map_or(Ok(()), Err))
}

fn work(fake: &Fake, context: &Context) -> Result<(), Error> {
    let (a, b): (Stream, Stream) = (context.stream()?, context.stream()?);
    let module = Module::load(context, SAXPY, &LoadOptions::new())?;
    let function = module.kernel("saxpy", &saxpy().signature())?;
    let config = function.config_for(8)?;
    let (start, end) = (context.event()?, context.event()?);
    let x = a.alloc_zeroed::<f32>(8)?;
    let mut y = context.upload(&[1.0f32; 8])?;
    start.record(&b)?;
    fake.launch(&function, &b, &config, &args![1.0f32, &x, &mut y])?;
    end.record(&b)?;
    a.wait(&end)?;
    a.wait_for(&b)?;
    a.is_idle()?;
    end.is_done()?;
    end.synchronize()?;
    end.since(&start)?;
    let mut pinned = context.pinned_from(&[2.0f32; 8])?;
    b.upload(&pinned, &mut y)?;
    b.download(&x, &mut pinned)?;
    a.copy(&x, &mut y)?;
    a.fill(&mut y, 1.5)?;
    a.fill(&mut context.alloc::<u16>(4)?, 7)?;
    let mut unified = context.unified::<f32>(8)?;
    unified.as_mut_slice()?;
    fake.launch(&function, &a, &config, &args![1.0f32, &x, &mut unified])?;
    unified.as_slice()?;
    y.to_vec()?;
    pinned.as_slice()?;
    context.set_pool_threshold(0)?;
    context.trim_pool(0)?;
    let text = empty_entry("k", "", [32, 1, 1]);
    let raw = Module::load(context, &text, &LoadOptions::new())?.function("k")?;
    raw.suggested_block(0)?;
    raw.blocks_per_multiprocessor(32, 0)?;
    let config = kernite::cuda::LaunchConfig::new([1; 3], [32, 1, 1]).dynamic_shared_bytes(50_000);
    kernite_cuda_tests::fake::launch_raw(&raw, &a, &config)?;
    let checked = fake.checked_kernel(&module, "saxpy", &saxpy().signature())?;
    let config = checked.config_for(8)?;
    let mut graph = context.graph()?;
    graph.fill(&mut y, 1.0)?;
    let launch = graph.launch(&checked, &config, &args![1.0f32, &x, &mut y])?;
    let copied = context.upload(&[0f32; 8])?;
    graph.copy(&copied, &mut y)?;
    let mut graph = graph.instantiate()?;
    graph.launch(&b)?;
    graph.set_launch(launch, &config, &args![2.0f32, &copied, &mut y])?;
    graph.launch(&a)?;
    drop(graph);
    let mut captured = a.capture(|s| {
        s.fill(&mut y, 3.0)?;
        checked.launch(s, &config, &args![1.0f32, &x, &mut y])?;
        s.copy(&x, &mut y)
    })?;
    let launch = captured.launches().next();
    captured.launch(&b)?;
    if let Some(launch) = launch {
        captured.set_launch(launch, &config, &args![2.0f32, &copied, &mut y])?;
    }
    captured.launch(&a)?;
    drop(captured);
    let mut profile = kernite::cuda::Profile::new(&a);
    profile.measure("nothing", || Ok(()))?;
    profile.report()?;
    context.assemble(SAXPY, &LoadOptions::new())?;
    x.free_on(&b).map_err(|e| e.error)?;
    drop(y);
    drop(b);
    a.synchronize()?;
    context.synchronize()
}

/// Entry points that change what current contexts a thread has: where they fail, what was made cannot be given back.
const ABOUT_CONTEXTS: [&str; 3] = [
    "cuCtxGetCurrent",
    "cuCtxPushCurrent_v2",
    "cuCtxPopCurrent_v2",
];

#[test]
fn every_call_can_fail() {
    let clean = Fake::new();
    everything(&clean).unwrap();
    clean.assert_clean();
    let calls = clean.all_calls();
    let mut names = calls.clone();
    names.sort();
    names.dedup();
    assert!(names.len() > 50, "{names:?}");
    let fake = Fake::new();
    for name in &names {
        let count = calls.iter().filter(|call| *call == name).count();
        // The first, the second, one in the middle and the last call.
        let mut places = vec![0, 1, count / 2, count - 1];
        places.retain(|&n| n < count);
        places.sort_unstable();
        places.dedup();
        for code in CODES {
            for &after in &places {
                fake.reset();
                fake.inject(name, after as u32, code);
                let result = everything(&fake);
                let what = format!("{name} call {after} code {code}: {result:?}");
                assert_eq!(fake.pending(), 0, "not reached: {what}");
                assert_eq!(fake.violations(), [""; 0], "{what}");
                assert_eq!(fake.current().1, 0, "{what}");
                let live = fake.live();
                if !ABOUT_CONTEXTS.contains(&name.as_str()) {
                    assert!(live.is_empty(), "{live:?} left by {what}");
                }
                check_error(name, code, &result, &what);
            }
        }
    }
}

fn check_error(name: &str, code: u32, result: &Result<(), Error>, what: &str) {
    if (name, code) == ("cuDeviceGetAttribute", 1) {
        // An attribute that the driver does not know is one that the device lacks.
        return;
    }
    let Err(error) = result else {
        // Errors of giving back at the very end have nobody left to hear them; the context is asked for otherwise, and
        // events that are not ready are waited for.
        let silent = name.contains("Destroy")
            || name.contains("Free")
            || name.contains("Unload")
            || name.contains("Release")
            || ABOUT_CONTEXTS.contains(&name)
            || (name, code) == ("cuFuncGetParamInfo", 1)
            || matches!(
                name,
                "cuEventQuery"
                    | "cuEventCreate"
                    | "cuEventRecord"
                    | "cuEventSynchronize"
                    | "cuStreamWaitEvent"
                    | "cuStreamSynchronize"
            )
            || name == "cuCtxSynchronize";
        assert!(silent, "silent: {what}");
        return;
    };
    if let Error::Jit(refused) = error
        && refused.code().is_none()
    {
        // The parameters could not be read.
        assert_eq!((name, code), ("cuFuncGetParamInfo", 1), "{what}");
        return;
    }
    assert_eq!(error.code().map(|c| c.0), Some(code), "{what}");
    if code == 700 && name.starts_with("cuEventDestroy") {
        // Of events that nobody made by name: the next call tells.
        return;
    }
    assert_eq!(error.call(), Some(name), "{what}");
    let text = error.to_string();
    assert!(
        text.contains(name) && text.contains(&code.to_string()),
        "{text}"
    );
    if code == 700 && !matches!(error, Error::Load(_) | Error::Jit(_)) {
        assert!(text.contains("reported late"), "{text}");
    }
}

#[test]
fn a_device_that_fails_at_any_point_leaves_nothing_behind() {
    let clean = Fake::new();
    everything(&clean).unwrap();
    let launches = clean
        .all_calls()
        .iter()
        .filter(|call| *call == "cuLaunchKernel")
        .count();
    assert!(launches >= 3);
    for code in [700, 702, 716, 719] {
        for name in [
            "cuLaunchKernel",
            "cuMemcpyDtoDAsync_v2",
            "cuStreamSynchronize",
            "cuMemFree_v2",
        ] {
            let fake = Fake::new();
            // From this call on all that touches the device fails.
            fake.set(&format!("fail_at.{name}"), code);
            let result = everything(&fake);
            let error = result.unwrap_err();
            assert_eq!(error.code().map(|c| i64::from(c.0)), Some(code));
            fake.assert_clean();
        }
    }
}
