//! The files of `filetests/`; their format is told, and tried, by `filetests/README.kir`.

use kernite::kernel::Kernel;
use kernite::{ptx, spirv};
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

#[test]
fn the_oracles_accept_every_kernel() {
    let mut valid: Vec<(String, Kernel)> = Vec::new();
    for file in all() {
        // What does not follow the format is told by the other test.
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let found = kernels(&text).unwrap_or_default().into_iter();
        valid.extend(found.map(|k| (shown(&file), k)));
    }
    let mut texts = Vec::new();
    let mut modules = Vec::new();
    for (file, kernel) in &valid {
        let place = format!("{file}, {}", kernel.name());
        for name in ["sm_75", "sm_90"] {
            let options = ptx::Options::new(ptx::Target::parse(name).unwrap());
            if let Ok(text) = ptx::emit(kernel, &options) {
                texts.push((place.clone(), text, name));
            }
        }
        let mut options = spirv::Options::default();
        options.dynamic_shared_len = Some(16);
        if let Ok(words) = spirv::emit(kernel, &options) {
            modules.push((place, words));
        }
    }
    assert!(!texts.is_empty() && !modules.is_empty());
    if let Some(ptxas) = Ptxas::get() {
        let jobs: Vec<_> = texts
            .iter()
            .map(|(_, t, target)| (t.as_str(), *target))
            .collect();
        let results = ptxas.assemble_all(&jobs, &Options::default());
        for ((place, _, target), result) in texts.iter().zip(results) {
            if let Err(e) = result {
                panic!("{place} for {target}: {e}");
            }
        }
    }
    if let Some(val) = SpirvVal::get() {
        let jobs: Vec<_> = modules
            .iter()
            .map(|(_, w)| (w.as_slice(), Env::Vulkan1_3))
            .collect();
        for ((place, _), result) in modules.iter().zip(val.validate_all(&jobs)) {
            if let Err(e) = result {
                panic!("{place}: {e}");
            }
        }
    }
}
