//! A kernel's module read by naga, written as WGSL, and that read and validated again.
#![forbid(unsafe_code)]

use kernite::kernel::ParameterKind;
use kernite::spirv;
use kernite_interop_tests::saxpy;
use kernite_testkit::naga::{read, to_wgsl};
use naga::valid::{Capabilities, ValidationFlags, Validator};
use naga::{AddressSpace, ShaderStage, StorageAccess};

#[test]
fn naga_writes_a_kernel_as_wgsl() {
    let case = saxpy();
    let signature = case.kernel.signature();
    // naga reads neither float controls nor what came to SPIR-V after 1.3.
    let mut options = spirv::Options::default();
    options.version = spirv::Version::V1_3;
    options.float_mode = spirv::FloatMode::Relaxed;
    let words = spirv::emit(&case.kernel, &options).unwrap();

    let module = read(&words).unwrap();
    let text = to_wgsl(&module).unwrap();
    let again = naga::front::wgsl::parse_str(&text)
        .unwrap_or_else(|e| panic!("{}\n{text}", e.emit_to_string(&text)));
    Validator::new(ValidationFlags::all(), Capabilities::all())
        .validate(&again)
        .unwrap_or_else(|e| panic!("{e:?}\n{text}"));

    let [entry] = &again.entry_points[..] else {
        panic!("one entry point:\n{text}");
    };
    assert_eq!(entry.name, signature.name);
    assert_eq!(entry.stage, ShaderStage::Compute);
    assert_eq!(entry.workgroup_size, signature.workgroup_size);
    // The interface is that of the signature.
    let mut buffers = 0;
    for param in &signature.params {
        let ParameterKind::Buffer {
            set,
            binding,
            access,
            ..
        } = param.kind
        else {
            continue;
        };
        let found = again.global_variables.iter().find(|(_, variable)| {
            let at = variable.binding.map(|b| (b.group, b.binding));
            at == Some((set, binding))
        });
        let (_, variable) = found.unwrap_or_else(|| panic!("no {set}.{binding}:\n{text}"));
        let AddressSpace::Storage { access: storage } = variable.space else {
            panic!("{:?} is no storage buffer", variable.space);
        };
        assert_eq!(storage.contains(StorageAccess::STORE), access.writes());
        buffers += 1;
    }
    assert_eq!(buffers, 2);
    let immediates = again.global_variables.iter();
    let immediates = immediates.filter(|(_, v)| v.space == AddressSpace::Immediate);
    assert_eq!(immediates.count(), 1, "the scalars' block:\n{text}");
}
