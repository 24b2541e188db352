//! The cache of machine code, on a GPU.
#![forbid(unsafe_code)]

use kernite::cuda::cache::{Cache, Source};
use kernite::cuda::{Context, LoadOptions, Module, args};
use kernite_cuda_tests::gpu;
use kernite_cuda_tests::kernels::{SAXPY, saxpy};
use std::fs;

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
