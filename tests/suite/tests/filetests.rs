//! The files of `filetests/`; their format is told, and tried, by `filetests/README.kir`.

use kernite::kernel::{Kernel, Module};
use kernite::{ptx, spirv};
use kernite_suite::campaign::guilty;
use kernite_suite::filetest::{BLESS, blessing, check, files, folder, kernels};
use kernite_testkit::parallel;
use kernite_testkit::ptxas::{Options, Ptxas};
use kernite_testkit::spirv_tools::{Env, SpirvVal};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

fn all() -> Vec<PathBuf> {
    let files = files(&folder()).unwrap_or_else(|e| panic!("{}: {e}", folder().display()));
    for file in &files {
        let known = file.extension() == Some(OsStr::new("kir"));
        assert!(known, "{} is no file of tests", file.display());
    }
    assert!(!files.is_empty());
    files
}

fn shown(file: &Path) -> String {
    file.strip_prefix(folder())
        .unwrap_or(file)
        .display()
        .to_string()
}

#[test]
fn files_come_out_as_they_say() {
    let bless = blessing();
    let faults = parallel::map(&all(), |file| {
        let text = std::fs::read_to_string(file).map_err(|e| e.to_string());
        let text = text.unwrap_or_else(|e| panic!("{}: {e}", shown(file)));
        let checked = check(&text, bless);
        if let Some(blessed) = checked.blessed {
            std::fs::write(file, blessed).unwrap_or_else(|e| panic!("{}: {e}", shown(file)));
        }
        let lines = checked.failures.into_iter().map(|f| {
            let bless = if f.blessable {
                format!(" ({BLESS}=1 rewrites it)")
            } else {
                String::new()
            };
            format!("{}:{}: {}{bless}", shown(file), f.line + 1, f.message)
        });
        lines.collect::<Vec<_>>()
    });
    let faults = faults.concat();
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

/// Kernels that can be one module: of different names, and not too many.
fn groups(kernels: impl Iterator<Item = (u64, Kernel)>) -> Vec<Vec<(u64, Kernel)>> {
    const MOST: usize = 50;
    let mut groups: Vec<Vec<(u64, Kernel)>> = Vec::new();
    for (n, kernel) in kernels {
        let fits = groups.iter_mut().find(|group| {
            group.len() < MOST && group.iter().all(|(_, k)| k.name() != kernel.name())
        });
        match fits {
            Some(group) => group.push((n, kernel)),
            None => groups.push(vec![(n, kernel)]),
        }
    }
    groups
}

fn module(kernels: &[(u64, Kernel)]) -> Result<Module, String> {
    let mut module = Module::new();
    for (_, kernel) in kernels {
        module.push(kernel.clone()).map_err(|e| e.to_string())?;
    }
    Ok(module)
}

fn assembles(ptxas: &Ptxas, kernels: &[(u64, Kernel)], target: &str) -> Result<(), String> {
    let options = ptx::Options::new(ptx::Target::parse(target).map_err(|e| e.to_string())?);
    let mut text = Vec::new();
    ptx::Emitter::new()
        .emit_module(&module(kernels)?, &options, &mut text)
        .map_err(|e| e.to_string())?;
    let text = String::from_utf8(text).map_err(|e| e.to_string())?;
    let assembled = ptxas.assemble_with(&text, target, &Options::default());
    assembled.map(drop).map_err(|e| e.to_string())
}

fn validates(
    val: SpirvVal,
    kernels: &[(u64, Kernel)],
    options: &spirv::Options,
) -> Result<(), String> {
    let words = spirv::emit_module(&module(kernels)?, options).map_err(|e| e.to_string())?;
    val.validate(&words, Env::Vulkan1_3)
        .map_err(|e| e.to_string())
}

#[test]
fn the_oracles_accept_every_kernel() {
    let mut valid: Vec<(String, Kernel)> = Vec::new();
    for file in all() {
        // What does not follow the format is told by the other test.
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let found = kernels(&text).unwrap_or_default().into_iter();
        valid.extend(found.map(|k| (shown(&file), k)));
    }
    let numbered = || {
        (0..)
            .zip(&valid)
            .map(|(n, (_, kernel))| (n, kernel.clone()))
    };
    let mut options = spirv::Options::default();
    options.dynamic_shared_len = Some(16);
    // What a target refuses is told by the files.
    let modules = groups(numbered().filter(|(_, k)| spirv::emit(k, &options).is_ok()));
    let mut texts = Vec::new();
    for target in ["sm_75", "sm_90"] {
        let only = ptx::Options::new(ptx::Target::parse(target).unwrap());
        let emitted = groups(numbered().filter(|(_, k)| ptx::emit(k, &only).is_ok()));
        texts.extend(emitted.into_iter().map(|group| (group, target)));
    }
    assert!(!texts.is_empty() && !modules.is_empty());
    let mut faults = Vec::new();
    if let Some(ptxas) = Ptxas::get() {
        faults.extend(parallel::map(&texts, |(group, target)| {
            guilty(group, &|some| assembles(ptxas, some, target))
        }));
    }
    if let Some(val) = SpirvVal::get() {
        faults.extend(parallel::map(&modules, |group| {
            guilty(group, &|some| validates(val, some, &options))
        }));
    }
    let told = faults.into_iter().flatten().map(|fault| {
        let places = fault.seeds.iter().filter_map(|&n| {
            let (file, kernel) = valid.get(n as usize)?;
            Some(format!("{file}, {}", kernel.name()))
        });
        format!(
            "{}: {}",
            places.collect::<Vec<_>>().join("; "),
            fault.message
        )
    });
    let told: Vec<String> = told.collect();
    assert!(told.is_empty(), "{}", told.join("\n"));
}
