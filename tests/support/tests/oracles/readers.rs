//! rspirv's loader and naga's reader.

use kernite_testkit::naga::{self, Gaps, NagaGap, Verdict};
use kernite_testkit::rspirv;

use super::shaders;

#[test]
fn rspirv_loads_what_is_whole() {
    let words = shaders::vector_add(64);
    assert_eq!(rspirv::load(&words).unwrap().entry_points.len(), 1);
    assert!(rspirv::disassemble(&words).unwrap().contains("OpIAdd"));
    let cut = rspirv::load(&words[..words.len() - 1]).unwrap_err();
    assert_ne!(cut.0, "");
    assert!(rspirv::load(&[]).is_err());
}

#[test]
fn naga_reads_and_writes_wgsl() {
    let module = naga::read(&shaders::vector_add(64)).unwrap();
    let wgsl = naga::to_wgsl(&module).unwrap();
    assert!(wgsl.contains("@workgroup_size(64, 1, 1)"), "{wgsl}");
    assert!(naga::read(&[0; 5]).is_err());
}

#[test]
fn a_listed_gap_excuses_and_an_unlisted_one_does_not() {
    let gaps = Gaps::new([NagaGap {
        reason: "no OpenCL kernels",
        matches: |error| error.contains("Capability"),
    }]);
    let words = shaders::kernel_capability();
    match gaps.read(&words) {
        Verdict::Excused(reason) => assert_eq!(reason, "no OpenCL kernels"),
        other => panic!("{other:?}"),
    }
    gaps.assert_all_met();
    assert!(matches!(Gaps::new([]).read(&words), Verdict::Refused(_)));
}

#[test]
#[should_panic(expected = "no module met these gaps")]
fn a_gap_that_no_module_meets_fails() {
    let gaps = Gaps::new([NagaGap {
        reason: "nothing",
        matches: |_| true,
    }]);
    assert!(matches!(
        gaps.read(&shaders::vector_add(1)),
        Verdict::Read(_)
    ));
    gaps.assert_all_met();
}
