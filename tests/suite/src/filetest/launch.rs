//! Carrying out `; run` directives: on the reference executor, and on every device at hand.

use super::format::Run;
use crate::gpu;
use crate::run::{Case, Value};
use crate::values::{self, Argument};
use kernite::cuda;
use kernite::kernel::{Bounds, Kernel, ParamRef, Uses};
use kernite::reference::compare;
use kernite::spirv;
use kernite::types::{Access, Type};
use kernite_testkit::skip::skip;
use kernite_testkit::vulkan::Context;

/// What a buffer must hold.
struct Expected {
    buffer: usize,
    ty: Type,
    bytes: Vec<u8>,
}

/// Runs a kernel as the directive says; gives what is wrong.
pub(super) fn run(kernel: &Kernel, run: &Run, text: &str) -> Result<(), String> {
    let (arguments, results) = text
        .split_once("->")
        .ok_or("write `; run: ARGUMENTS -> bufN: VALUE, …`")?;
    let case = Case {
        kernel: kernel.clone(),
        grid: run.grid,
        args: bind(kernel, arguments)?,
        dynamic_shared: run.shared,
        bounds: Bounds::Unchecked,
    };
    let expected = expected(kernel, results)?;
    for size in sizes(kernel, run) {
        let got = case.reference_with(size, run.bounds);
        let got = got.map_err(|e| e.to_string())?;
        agrees(&expected, &got)
            .map_err(|e| format!("on the reference executor, {size} lanes: {e}"))?;
    }
    if let Some(device) = Context::get() {
        on_vulkan(&case, run, device, &expected)?;
    }
    if let Some(device) = gpu::context() {
        on_cuda(&case, run, device, &expected)?;
    }
    Ok(())
}

/// The subgroup sizes that the results are those of, for the reference executor.
fn sizes(kernel: &Kernel, run: &Run) -> Vec<u32> {
    match (run.subgroup.or(kernel.required_subgroup_size()), run.lanes) {
        (Some(size), _) => vec![size],
        (None, Some(least)) => vec![least, least.saturating_mul(2)],
        (None, None) => vec![32],
    }
}

/// The arguments, one for each parameter.
fn bind(kernel: &Kernel, arguments: &str) -> Result<Vec<Value>, String> {
    let given = split(arguments);
    let params = kernel.params();
    if given.len() != params.len() {
        let (n, m) = (params.len(), given.len());
        return Err(format!(
            "the kernel has {n} parameters, {m} arguments are given"
        ));
    }
    let mut args = Vec::new();
    for (param, text) in params.iter().zip(given) {
        let argument = values::parse(text).map_err(|e| format!("{param}: {e}"))?;
        args.push(match (*param, argument) {
            (ParamRef::Buffer(n), Argument::Buffer(ty, bytes))
                if kernel.buffers()[n as usize].elem == ty =>
            {
                Value::Bytes(bytes)
            }
            (ParamRef::Scalar(n), Argument::Scalar(value))
                if kernel.scalars()[n as usize].ty == value.ty() =>
            {
                Value::Scalar(value)
            }
            _ => return Err(format!("`{text}` is of the wrong type for {param}")),
        });
    }
    Ok(args)
}

/// What every buffer that the kernel may write must hold.
fn expected(kernel: &Kernel, results: &str) -> Result<Vec<Expected>, String> {
    let mut expected: Vec<Expected> = Vec::new();
    for result in split(results) {
        let (name, value) = result
            .split_once(':')
            .ok_or_else(|| format!("`{result}` is no `bufN: VALUE`"))?;
        let buffer = name
            .trim()
            .strip_prefix("buf")
            .and_then(|n| n.parse::<usize>().ok())
            .filter(|&n| n < kernel.buffers().len() && expected.iter().all(|e| e.buffer != n));
        let buffer = buffer.ok_or_else(|| format!("`{name}` is no buffer, or named twice"))?;
        let Argument::Buffer(ty, bytes) = values::parse(value).map_err(|e| e.to_string())? else {
            return Err(format!("`{value}` is no buffer"));
        };
        if ty != kernel.buffers()[buffer].elem {
            return Err(format!(
                "buf{buffer} has elements of {}",
                kernel.buffers()[buffer].elem
            ));
        }
        expected.push(Expected { buffer, ty, bytes });
    }
    for (n, decl) in kernel.buffers().iter().enumerate() {
        let named = expected.iter().any(|e| e.buffer == n);
        if decl.access != Access::Read && !named {
            return Err(format!(
                "nothing is said of buf{n}, which the kernel may write"
            ));
        }
    }
    Ok(expected)
}

fn agrees(expected: &[Expected], got: &[Vec<u8>]) -> Result<(), String> {
    for e in expected {
        let got = got.get(e.buffer).map_or(&[][..], |bytes| bytes);
        if let Some(difference) = compare(&e.bytes, got, e.ty) {
            let (buffer, shown) = (e.buffer, values::show(e.ty, got));
            return Err(format!("buf{buffer}: {difference}; it is {shown}"));
        }
    }
    Ok(())
}

fn on_vulkan(
    case: &Case,
    run: &Run,
    device: &Context,
    expected: &[Expected],
) -> Result<(), String> {
    let info = device.info();
    let cannot = |why: &str| skip(&format!("run on {}", info.driver), why);
    let lacks = case
        .lacks(device)
        .or_else(|| lanes_differ(run, case.lanes(device)));
    if let Some(lacks) = lacks {
        cannot(&lacks);
        return Ok(());
    }
    let mut options: spirv::Options = case.options_for(device);
    options.bounds = run.bounds;
    let empty = |arg: &Value| matches!(arg, Value::Bytes(bytes) if bytes.is_empty());
    if run.bounds == Bounds::Checked && case.args.iter().any(empty) {
        // No descriptor is empty, so the length is told.
        options.lengths = spirv::Lengths::HostFilled;
    }
    if run.subnormals {
        let used = |uses| case.kernel.uses().has(uses);
        let needed = [
            (16, used(Uses::F16)),
            (32, used(Uses::F32)),
            (64, used(Uses::F64)),
        ];
        let kept = |width| options.denorm_preserve & width != 0;
        if needed.iter().any(|&(width, used)| used && !kept(width)) {
            cannot("it may flush subnormals");
            return Ok(());
        }
    }
    let got = case.vulkan(device, &options).map_err(|e| e.to_string())?;
    let is = |name: &str| match name {
        "lavapipe" => info.is_lavapipe(),
        name => info.name.contains(name) || info.driver.contains(name),
    };
    judged(run, &info.driver, is, agrees(expected, &got))
}

/// On an NVIDIA GPU through its driver, which is given the text: always with checked bounds, since only such kernels are
/// safe to launch.
fn on_cuda(
    case: &Case,
    run: &Run,
    device: &(cuda::Context, cuda::Stream),
    expected: &[Expected],
) -> Result<(), String> {
    let lacks = if case.kernel.signature().assumes_uniform {
        Some("what is assumed to be uniform only an unsafe launch takes".into())
    } else if case
        .kernel
        .required_subgroup_size()
        .is_some_and(|n| n != WARP)
    {
        Some(format!("subgroups have {WARP} lanes"))
    } else {
        lanes_differ(run, WARP)
    };
    if let Some(lacks) = lacks {
        skip("run on CUDA", &lacks);
        return Ok(());
    }
    let got = case.cuda(device).map_err(|e| e.to_string())?;
    judged(run, "CUDA", |name| name == "cuda", agrees(expected, &got))
}

/// Lanes of a subgroup of every NVIDIA GPU.
const WARP: u32 = 32;

/// Why the results are not those of subgroups of so many lanes.
fn lanes_differ(run: &Run, lanes: u32) -> Option<String> {
    let other = run.subgroup.is_some_and(|n| n != lanes) || run.lanes.is_some_and(|n| n > lanes);
    other.then(|| format!("its subgroups have {lanes} lanes"))
}

/// What a device made of it, in view of what it is known to do wrongly.
fn judged(
    run: &Run,
    device: &str,
    is: impl Fn(&str) -> bool,
    agreed: Result<(), String>,
) -> Result<(), String> {
    let agreed = agreed.map_err(|e| format!("on {device} {e}"));
    match (run.except.iter().find(|name| is(name)), agreed) {
        (None, agreed) => agreed,
        (Some(_), Err(known)) => {
            skip(
                &format!("run on {device}"),
                &format!("known to be wrong: {known}"),
            );
            Ok(())
        }
        (Some(name), Ok(())) => Err(format!("{name} computes the right thing: drop `except`")),
    }
}

/// Splits a list at the commas outside of brackets.
fn split(list: &str) -> Vec<&str> {
    let mut depth = 0usize;
    list.split(|c| {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    })
    .map(str::trim)
    .filter(|part| !part.is_empty())
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_split_outside_of_brackets() {
        assert_eq!(
            split("f32[1, 2], 5u32 ,u8*2=0"),
            ["f32[1, 2]", "5u32", "u8*2=0"]
        );
        assert_eq!(split(" "), [""; 0]);
    }

    #[test]
    fn wrong_values_and_wrong_arguments_fail() {
        let text = "kernel k workgroup 2 1 1 {\n  buffer buf0 u32 read_write set 0 binding 0\n  \
            scalar arg0 u32\n  v0: u32 = global_id.x\n  v1: u32 = param arg0\n  store buf0[v0], v1\n}";
        let kernel: Kernel = text.parse().unwrap();
        let run = Run {
            bounds: Bounds::Unchecked,
            grid: [1; 3],
            shared: 0,
            subgroup: None,
            lanes: None,
            subnormals: false,
            except: Vec::new(),
        };
        let says = |text: &str| super::run(&kernel, &run, text).err().unwrap_or_default();
        assert_eq!(says("u32[0, 0], 5u32 -> buf0: u32[5, 5]"), "");
        for (text, message) in [
            (
                "u32[0, 0], 5u32 -> buf0: u32[5, 6]",
                "on the reference executor, 32 lanes: buf0: element 1 lane 0 is 0x5, expected 0x6; it is u32[5, 5]",
            ),
            (
                "u32[0, 0], 5u32",
                "write `; run: ARGUMENTS -> bufN: VALUE, …`",
            ),
            (
                "u32[0, 0] ->",
                "the kernel has 2 parameters, 1 arguments are given",
            ),
            (
                "f32[0, 0], 5u32 ->",
                "`f32[0, 0]` is of the wrong type for buf0",
            ),
            ("u32[0, 0], 5i32 ->", "`5i32` is of the wrong type for arg0"),
            ("u32[x], 5u32 ->", "buf0: `x` is no constant of type u32"),
            (
                "u32[0, 0], 5u32 ->",
                "nothing is said of buf0, which the kernel may write",
            ),
            (
                "u32[0, 0], 5u32 -> buf1: u32[]",
                "`buf1` is no buffer, or named twice",
            ),
            ("u32[0, 0], 5u32 -> buf0: 5u32", "` 5u32` is no buffer"),
            (
                "u32[0, 0], 5u32 -> buf0: i32[5, 5]",
                "buf0 has elements of u32",
            ),
            ("u32[0, 0], 5u32 -> buf0", "`buf0` is no `bufN: VALUE`"),
        ] {
            assert_eq!(says(text), message, "{text}");
        }
        let outside = says("u32[0], 5u32 -> buf0: u32[5]");
        assert!(outside.starts_with("reference: "), "{outside}");
    }
}
