//! The example kernels: every oracle accepts what is emitted, and every device computes what the reference does.

use kernite::{ptx, spirv, text};
use kernite_suite::kernels;
use kernite_suite::launches::launch;
use kernite_testkit::naga;
use kernite_testkit::ptxas::{Options, Ptxas};
use kernite_testkit::spirv_tools::{Env, SpirvVal};
use kernite_testkit::vulkan::Context;

/// The targets that `.version 8.0` is enough for, and two that need more.
const TARGETS: [&str; 7] = [
    "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120",
];

#[test]
fn ptxas_assembles_them() {
    let Some(ptxas) = Ptxas::get() else { return };
    let mut jobs = Vec::new();
    for (name, make) in kernels::ALL {
        // Long straight lines take ptxas seconds; the short one says the same.
        if *name == "straight_10000" {
            continue;
        }
        for target in TARGETS {
            let parsed = ptx::Target::parse(target).unwrap();
            let text = ptx::emit(&make(), &ptx::Options::new(parsed)).unwrap();
            if parsed.first_version() <= ptx::Version::V8_0 {
                assert!(text.starts_with(".version 8.0\n"), "{name} for {target}");
            }
            jobs.push((format!("{name} for {target}"), text, target));
        }
    }
    let texts: Vec<_> = jobs
        .iter()
        .map(|(_, text, target)| (text.as_str(), *target))
        .collect();
    let results = ptxas.assemble_all(&texts, &Options::default());
    for ((what, ..), result) in jobs.iter().zip(results) {
        if let Err(e) = result {
            panic!("{what}: {e}");
        }
    }
}

#[test]
fn spirv_val_rspirv_and_naga_accept_them() {
    let versions = [
        (spirv::Version::V1_3, Env::Vulkan1_1),
        (spirv::Version::V1_4, Env::Vulkan1_1Spirv1_4),
        (spirv::Version::V1_5, Env::Vulkan1_2),
        (spirv::Version::V1_6, Env::Vulkan1_3),
    ];
    let val = SpirvVal::get();
    for (name, make) in kernels::ALL {
        for (version, env) in versions {
            let mut options = spirv::Options::default();
            options.version = version;
            let words = spirv::emit(&make(), &options).unwrap();
            if let Some(val) = val
                && let Err(e) = val.validate(&words, env)
            {
                panic!("{name} at {version:?}: {e}");
            }
            if let Err(e) = kernite_testkit::rspirv::load(&words) {
                panic!("{name} at {version:?}: {e}");
            }
            let verdict = spirv::Validator::new().words(&words);
            assert!(verdict.is_valid(), "{name} at {version:?}: {verdict}");
        }
        // naga knows none of the float controls nor atomics on floats; the kernels without them it must read.
        let mut options = spirv::Options::default();
        options.version = spirv::Version::V1_3;
        options.float_mode = spirv::FloatMode::Relaxed;
        options.float_atomics = spirv::FloatAtomics::CompareExchange;
        options.zero_shared = spirv::ZeroShared::Loop;
        let words = spirv::emit(&make(), &options).unwrap();
        if let Err(e) = naga::read(&words) {
            panic!("{name}: {e}");
        }
    }
}

#[test]
fn lavapipe_computes_what_the_reference_does() {
    let Some(device) = Context::get() else { return };
    for (name, _) in kernels::ALL {
        // LLVM below lavapipe takes minutes for it; the short one says the same.
        if *name == "straight_10000" {
            continue;
        }
        for seed in 0..4 {
            let case = launch(name, seed);
            let expected = case
                .reference(32)
                .unwrap_or_else(|e| panic!("{name} {seed}: {e}"));
            let got = case.vulkan(device, &case.options_for(device));
            let got = got.unwrap_or_else(|e| panic!("{name} {seed}: {e}"));
            if let Some((buffer, difference)) = case.difference(&expected, &got) {
                panic!("{name} {seed}: buf{buffer}: {difference}");
            }
        }
    }
}

#[test]
fn the_text_form_reads_back_to_the_same_bytes() {
    for (name, make) in kernels::ALL {
        let kernel = make();
        let printed = kernel.to_string();
        let read = text::parse(&printed).unwrap_or_else(|e| panic!("{name}: {e}\n{printed}"));
        assert_eq!(read.as_slice(), std::slice::from_ref(&kernel), "{name}");
    }
}
