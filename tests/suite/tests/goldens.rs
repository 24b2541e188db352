//! What is emitted for the example kernels, byte for byte. `BLESS=1` rewrites the files; read the diff.

use kernite::{ptx, spirv};
use kernite_suite::kernels;
use std::path::PathBuf;

fn check(name: &str, extension: &str, text: &str) -> Result<(), String> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("goldens")
        .join(name)
        .with_extension(extension);
    if std::env::var_os("BLESS").is_some_and(|v| v == "1") {
        std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    let golden = std::fs::read_to_string(&path)
        .map_err(|e| format!("{}: {e}; BLESS=1 writes it", path.display()))?;
    if golden == text {
        return Ok(());
    }
    let line = golden.lines().zip(text.lines()).position(|(a, b)| a != b);
    let line = line.unwrap_or_else(|| golden.lines().count().min(text.lines().count()));
    Err(format!(
        "{name}.{extension} line {}: expected {:?}, emitted {:?}; BLESS=1 rewrites it",
        line + 1,
        golden.lines().nth(line).unwrap_or(""),
        text.lines().nth(line).unwrap_or("")
    ))
}

#[test]
fn emitted_code_is_what_the_goldens_say() {
    let mut faults = Vec::new();
    // One emitter for all: what it emitted before must not show.
    let (mut ptx_emitter, mut spirv_emitter) = (ptx::Emitter::new(), spirv::Emitter::new());
    for (name, make) in kernels::ALL
        .iter()
        .filter(|(name, _)| !name.starts_with("straight"))
    {
        let kernel = make();
        let (mut text, mut words) = (Vec::new(), Vec::new());
        let target = ptx::Target::parse("sm_80").unwrap();
        ptx_emitter
            .emit(&kernel, &ptx::Options::new(target), &mut text)
            .unwrap();
        spirv_emitter
            .emit(&kernel, &spirv::Options::default(), &mut words)
            .unwrap();
        let disassembled = kernite_testkit::rspirv::disassemble(&words).unwrap();
        faults.extend(check(name, "ptx", &String::from_utf8(text).unwrap()).err());
        faults.extend(check(name, "spvasm", &(disassembled + "\n")).err());
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
