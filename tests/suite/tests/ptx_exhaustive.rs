//! ptxas assembles what the PTX emitter writes for every opcode on every type, for every generation of GPUs.

use kernite::kernel::{Bounds, Kernel, Module};
use kernite::op::Op;
use kernite::ptx::{Emitter, Options, Target};
use kernite_suite::ptx_cases as every;
use kernite_testkit::ptxas::{self, Ptxas};

fn module(kernels: Vec<Kernel>) -> Module {
    let mut module = Module::new();
    for kernel in kernels {
        module.push(kernel).expect("a name of its own");
    }
    module
}

#[test]
fn the_kernels_hold_every_opcode_on_every_type() {
    let found = every::covered(&every::all());
    for op in Op::ALL {
        let types = op.row().types;
        if types.is_empty() {
            assert!(found.iter().any(|&(o, _)| o == op), "{op}");
        }
        for ty in types.iter() {
            assert!(found.contains(&(op, ty)), "{op} on {ty}");
        }
    }
}

#[test]
fn everything_assembles() {
    let Some(ptxas) = Ptxas::get() else { return };
    let strict = module(every::all());
    let contracting = module(every::values(true));
    let mut emitter = Emitter::new();
    let mut texts = Vec::new();
    let targets = [
        "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120",
    ];
    for name in targets {
        for (module, bounds) in [
            (&strict, Bounds::Unchecked),
            (&strict, Bounds::Checked),
            (&contracting, Bounds::Unchecked),
        ] {
            // Neither depends on the finer differences.
            let coarse = ["sm_75", "sm_90"].contains(&name);
            if !coarse && (bounds == Bounds::Checked || core::ptr::eq(module, &contracting)) {
                continue;
            }
            let target = Target::parse(name).expect("a target");
            let options = Options::new(target).with_bounds(bounds);
            let mut text = Vec::new();
            emitter
                .emit_module(module, &options, &mut text)
                .expect("every opcode has a form");
            texts.push((String::from_utf8(text).expect("ASCII"), name));
        }
    }
    let jobs: Vec<(&str, &str)> = texts.iter().map(|(t, name)| (t.as_str(), *name)).collect();
    let options = ptxas::Options {
        opt_level: Some(0),
        ..ptxas::Options::default()
    };
    for (result, (text, name)) in ptxas.assemble_all(&jobs, &options).into_iter().zip(&texts) {
        if let Err(error) = result {
            let lines = error.message().unwrap_or_default();
            let shown: Vec<&str> = lines.lines().take(8).collect();
            panic!("{name}, {} bytes: {}", text.len(), shown.join("\n"));
        }
    }
}
