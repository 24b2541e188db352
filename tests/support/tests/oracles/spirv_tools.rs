//! SPIRV-Tools: accepting, refusing, and going to text and back.

use kernite_testkit::spirv_tools::{Env, SpirvAs, SpirvDis, SpirvVal};

use super::shaders;

#[test]
fn a_valid_module_is_accepted() {
    let Some(val) = SpirvVal::get() else { return };
    let words = shaders::vector_add(64);
    for env in [Env::Vulkan1_1, Env::Vulkan1_3, Env::Universal1_3] {
        assert_eq!(val.validate(&words, env), Ok(()), "{}", env.name());
    }
    // SPIR-V 1.3 is too new for Vulkan 1.0.
    assert!(val.validate(&words, Env::Vulkan1_0).is_err());
    assert_eq!(
        val.validate(&shaders::push_constant(), Env::Vulkan1_1),
        Ok(())
    );
}

#[test]
fn an_ill_typed_module_is_refused_at_its_line() {
    let Some(val) = SpirvVal::get() else { return };
    let refused = val
        .validate(&shaders::ill_typed(), Env::Vulkan1_3)
        .unwrap_err();
    assert!(refused.message.contains("IAdd"), "{refused}");
    assert!(refused.line.is_some(), "{refused}");
}

#[test]
fn the_validator_is_new_enough_for_barrier_semantics() {
    let Some(val) = SpirvVal::get() else { return };
    let words = shaders::barrier_without_class();
    assert!(val.validate(&words, Env::Vulkan1_3).is_err());
}

#[test]
fn bytes_that_are_no_module_are_refused() {
    let Some(val) = SpirvVal::get() else { return };
    for bytes in [&b""[..], b"abc", b"\x03\x02\x23\x07"] {
        assert!(val.validate_bytes(bytes, Env::Vulkan1_3, &[]).is_err());
    }
}

#[test]
fn many_modules_keep_their_order() {
    let Some(val) = SpirvVal::get() else { return };
    let (good, bad) = (shaders::vector_add(1), shaders::ill_typed());
    let env = Env::Vulkan1_3;
    let results = val.validate_all(&[(&good, env), (&bad, env), (&good, env)]);
    let ok: Vec<_> = results.iter().map(Result::is_ok).collect();
    assert_eq!(ok, [true, false, true]);
}

#[test]
fn text_goes_there_and_back() {
    let (Some(dis), Some(asm)) = (SpirvDis::get(), SpirvAs::get()) else {
        return;
    };
    let words = shaders::vector_add(64);
    let text = dis.disassemble(&words).unwrap();
    assert!(text.contains("LocalSize 64 1 1"), "{text}");
    let again = asm.assemble(&text, Env::Universal1_3).unwrap();
    // All but the header, where the assembler names itself as the generator.
    assert_eq!(again[5..], words[5..]);
    assert!(asm.assemble("OpNonsense", Env::Universal1_3).is_err());
    assert!(dis.disassemble(&words[..9]).is_err());
}

#[test]
fn environments_follow_the_version() {
    let envs: Vec<_> = (0..=7).map(|m| Env::vulkan_for(m).map(Env::name)).collect();
    let vulkan11 = Some("vulkan1.1");
    assert_eq!(
        envs,
        [
            Some("vulkan1.0"),
            vulkan11,
            vulkan11,
            vulkan11,
            Some("vulkan1.1spv1.4"),
            Some("vulkan1.2"),
            Some("vulkan1.3"),
            None
        ]
    );
}
