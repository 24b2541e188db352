//! The cache of machine code, on a GPU.
#![forbid(unsafe_code)]

use kernite::cuda::cache::{Cache, Source};
use kernite::cuda::{Context, LoadOptions, Module, args};
use kernite::ptx;
use kernite_cuda_tests::gpu;
use kernite_cuda_tests::kernels::{SAXPY, saxpy};
use kernite_suite::kernels::{straight_line, vector_add};
use std::fs;
use std::time::{Duration, Instant};

/// Runs saxpy of a module on a few numbers.
fn runs(context: &Context, module: &Module) {
    let stream = context.stream().unwrap();
    let function = module.kernel("saxpy", &saxpy().signature()).unwrap();
    let (x, mut y) = (
        context.upload(&[1.0f32, 2.0, 3.0]).unwrap(),
        context.upload(&[0.5f32; 3]).unwrap(),
    );
    let config = function.config_for(3).unwrap();
    gpu::launch(&function, &stream, &config, &args![2.0f32, &x, &mut y]).unwrap();
    assert_eq!(y.to_vec().unwrap(), [2.5, 4.5, 6.5]);
}

#[test]
fn cold_warm_and_damaged() {
    let Some(context) = gpu::context() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::open(folder.path()).unwrap();
    let load = || cache.load(&context, SAXPY, &LoadOptions::new()).unwrap();
    let (module, source) = load();
    assert_eq!(source, Source::Assembled);
    runs(&context, &module);
    let (module, source) = load();
    assert_eq!(source, Source::Cache);
    runs(&context, &module);
    let file = fs::read_dir(folder.path())
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let whole = fs::read(&file).unwrap();
    for damage in [whole.len() - 1, whole.len() / 2, 40] {
        let mut bytes = whole.clone();
        bytes[damage] ^= 0x40;
        fs::write(&file, &bytes).unwrap();
        let (module, source) = load();
        assert_eq!(source, Source::Assembled);
        runs(&context, &module);
    }
    fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    assert_eq!(load().1, Source::Assembled);
    assert_eq!(load().1, Source::Cache);
}

#[test]
fn assembled_code_is_a_cubin_with_a_log() {
    let Some(context) = gpu::context() else {
        return;
    };
    let cubin = context.assemble(SAXPY, &LoadOptions::new()).unwrap();
    assert_eq!(&cubin[..4], b"\x7FELF");
    let bad = SAXPY.replace("mul.rn.f32 %f3", "mul.rn.nonsense %f3");
    let error = context.assemble(&bad, &LoadOptions::new()).unwrap_err();
    assert!(error.to_string().contains("line"), "{error}");
    let with_lines = context
        .assemble(SAXPY, &LoadOptions::new().line_info(true))
        .unwrap();
    assert!(with_lines.len() > cubin.len());
}

const MEASURED: &str = "starts_are_measured";
/// How a child loads: by the driver alone, or by way of a cache in the folder named behind.
const BY: &str = "KERNITE_LOAD_BY";

/// The kernels that are loaded, small and large.
fn texts(context: &Context) -> [(&'static str, String); 2] {
    let options = context.ptx_options();
    let small = kernite_suite::kernels::build(vector_add);
    let large = kernite_suite::kernels::build(|b| straight_line(b, 1000));
    [("vector_add", small), ("1000 instructions", large)]
        .map(|(name, kernel)| (name, ptx::emit(&kernel, &options).unwrap()))
}

/// The first load of each text in a process, which says how long it took and where the code came from.
fn load_and_say(context: &Context, by: &str) {
    // What the first load of any text costs is not what is asked.
    let first = SAXPY.replace("saxpy", "first");
    Module::load(context, &first, &LoadOptions::new()).unwrap();
    let cache = by
        .strip_prefix("cache ")
        .map(|folder| Cache::open(folder).unwrap());
    for (name, text) in texts(context) {
        let start = Instant::now();
        let (module, source) = match &cache {
            Some(cache) => {
                let (module, source) = cache.load(context, &text, &LoadOptions::new()).unwrap();
                (module, format!("{source:?}"))
            }
            None => (
                Module::load(context, &text, &LoadOptions::new()).unwrap(),
                "Driver".to_owned(),
            ),
        };
        let took = start.elapsed();
        println!("LOADED {name}: {source} {}", took.as_nanos());
        drop(module);
    }
}

/// What a child said of a kernel: where the code came from, and the time.
fn said(output: &str, name: &str) -> (String, Duration) {
    let head = format!("LOADED {name}: ");
    let line = output.lines().find_map(|line| line.split_once(&head));
    let (source, nanoseconds) = line.unwrap().1.split_once(' ').unwrap();
    let took = Duration::from_nanos(nanoseconds.trim().parse().unwrap());
    (source.to_owned(), took)
}

#[test]
fn starts_are_measured() {
    let Some(context) = gpu::context() else {
        return;
    };
    if gpu::is_child(MEASURED) {
        return load_and_say(&context, &std::env::var(BY).unwrap());
    }
    let (ours, drivers) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let drivers = drivers.path().to_str().unwrap();
    let by_ours = format!("cache {}", ours.path().display());
    let child = |by: &str, environment: [(&str, &str); 2]| {
        let [a, b] = environment;
        gpu::in_a_process_of_its_own(MEASURED, &[(BY, by), a, b])
    };
    let without = [("CUDA_CACHE_DISABLE", "1"), ("CUDA_CACHE_PATH", drivers)];
    let with = [("CUDA_CACHE_DISABLE", "0"), ("CUDA_CACHE_PATH", drivers)];
    let fresh = child("driver", without);
    child("driver", with);
    let driver_warm = child("driver", with);
    let cold = child(&by_ours, without);
    let warm = child(&by_ours, without);
    for (name, _) in texts(&context) {
        assert_eq!(said(&cold, name).0, "Assembled");
        assert_eq!(said(&warm, name).0, "Cache");
        gpu::note(&format!(
            "first load of {name}: {:.2?} as fresh PTX, {:.2?} from the driver's cache; by kernite's disk cache {:.2?} cold, {:.2?} warm",
            said(&fresh, name).1,
            said(&driver_warm, name).1,
            said(&cold, name).1,
            said(&warm, name).1
        ));
    }
}
