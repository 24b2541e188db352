//! `pack`: bitcode and an interface into a container.
#![forbid(unsafe_code)]

use crate::{
    args::{self, Args, Failure, Next},
    kernels,
};
use kernite::{
    dxbc::{
        BufferShape, ComputeInterface, ComputePackager, Container, PackRootSignature,
        PushConstantHome, PushConstants, ResourceBinding, SignatureMapping, WaveLanes, WriteDigest,
        part::{FeatureFlags, ResourceKind, ResourceType, RootSignatureVersion},
    },
    kernel::Kernel,
    text,
};
use std::process::ExitCode;

const HELP: &str = "\
pack --bitcode FILE (--kernel NAME | --threads X,Y,Z ...) --shader-model 6.N -o OUT

  --bitcode FILE        LLVM bitcode (42 43 C0 DE), or a container to take it from
  --kernel NAME         a kernel or an interface of those below, or a file with one kernel in
                        kernite's text form
  --raw                 the kernel's buffers are byte-address buffers, not structured ones
  --shader-model 6.N    what the bitcode was compiled for; a container states it itself
  --validator 1.N       the bitcode's dx.valver; decides the version of PSV0 (default: the
                        container's, else 1.8)
  --root-signature W    keep (the container's, default), omit, generate, or a file: a serialised
                        root signature or the data of an RTS0 part
  --digest KIND         retail (default), debug, unsigned, bypass, preview-bypass
  --keep-reflection     keep the container's STAT part

An interface of your own, in place of --kernel or on top of it:
  --entry NAME          entry function (the kernel's name; main without a kernel)
  --threads X,Y,Z       workgroup size
  --wave MIN,MAX        lane counts ([WaveSize])
  --group-shared BYTES  group-shared memory
  --features HEX        SFI0 flags
  --srv R, --uav R      structured buffers      --srv-raw R, --uav-raw R   byte-address buffers
  --cbv R               constant buffer         --sampler R                sampler
                        R is REGISTER or REGISTER,SPACE
  --push WORDS,REGISTER[,SPACE]                 32-bit constants in the root signature
  --push-buffer WORDS,REGISTER[,SPACE]          the same in a constant buffer
Kernels of examples/kernels, with set as register space, binding as register, scalars in b0:
";

/// Interfaces of HLSL with the entry `main` that no example kernel has.
const KERNELS: &[(&str, &str)] = &[
    (
        "vecadd",
        "c[i] = a[i] + b[i]; structured t0, t1, u0; 64 threads",
    ),
    (
        "vecadd_raw",
        "the same over byte-address buffers; 32 x 2 threads",
    ),
    (
        "saxpy_main",
        "y[i] = k * x[i] + y[i]; structured t0, u0; two root constants b0; 128 threads",
    ),
    (
        "reduce",
        "partial sums in group-shared memory; structured t0, u3, space 1; 256 threads",
    ),
];

/// The interface by the value of `--kernel`.
fn kernel(name: &str, buffers: BufferShape) -> Result<ComputeInterface, Failure> {
    let mapping = SignatureMapping {
        buffers,
        ..SignatureMapping::default()
    };
    let of = |k: &Kernel| {
        let interface = ComputeInterface::from_signature(&k.signature(), &mapping);
        interface.map_err(|e| Failure::from(e).of(k.name()))
    };
    if let Some((_, make)) = kernels::ALL.iter().find(|(n, _)| *n == name) {
        return of(&make());
    }
    if let Some(k) = named(name) {
        return Ok(k);
    }
    let text = std::fs::read_to_string(name).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => Failure::usage(format!(
            "`{name}` is neither a kernel's name nor a file; see `pack --help`"
        )),
        _ => Failure::usage(format!("{name}: {e}")),
    })?;
    let k: Kernel = text.parse().map_err(|e: text::ParseError| {
        let text::Place { line, column } = e.place;
        Failure::usage(format!("{name}:{line}:{column}: {}", e.kind))
    })?;
    of(&k)
}

/// An interface in a few words, for `--help`.
fn summary(k: &ComputeInterface) -> String {
    let [x, y, z] = k.workgroup_size;
    let mut text = format!("{x} x {y} x {z} threads");
    for r in &k.resources {
        let letter = r.ty.class().map_or('?', |c| c.register_letter());
        text += &format!(", {letter}{}", r.binding);
    }
    if let Some(p) = k.push_constants {
        text += &format!("; b{}: {} bytes", p.binding, u64::from(p.words) * 4);
    }
    if k.group_shared_bytes > 0 {
        text += &format!("; {} bytes shared", k.group_shared_bytes);
    }
    if k.features != FeatureFlags::default() {
        text += &format!("; {}", k.features);
    }
    text
}

fn help() {
    say!("{}", HELP.trim_end());
    for (name, _) in kernels::ALL {
        let what = match kernel(name, BufferShape::Structured) {
            Ok(k) => summary(&k),
            Err(e) => e.to_string(),
        };
        say!("  {name:15}{what}");
    }
    say!("Other interfaces, of HLSL with the entry `main`:");
    for (name, what) in KERNELS {
        say!("  {name:15}{what}");
    }
}

fn named(name: &str) -> Option<ComputeInterface> {
    let sb = ResourceBinding::structured;
    let raw = ResourceBinding::raw;
    let (threads, resources) = match name {
        "vecadd" => (
            [64, 1, 1],
            vec![sb(false, 0, 0), sb(false, 0, 1), sb(true, 0, 0)],
        ),
        "vecadd_raw" => (
            [32, 2, 1],
            vec![raw(false, 0, 0), raw(false, 0, 1), raw(true, 0, 0)],
        ),
        "saxpy_main" => ([128, 1, 1], vec![sb(false, 0, 0), sb(true, 0, 0)]),
        "reduce" => ([256, 1, 1], vec![sb(false, 1, 0), sb(true, 1, 3)]),
        _ => return None,
    };
    let mut k = ComputeInterface::new("main", threads);
    k.resources = resources;
    if name == "saxpy_main" {
        k.push_constants = Some(PushConstants {
            words: 2,
            home: PushConstantHome::RootConstants,
            set: 0,
            binding: 0,
        });
    }
    if name == "reduce" {
        k.group_shared_bytes = 1024;
    }
    Some(k)
}

/// `a,b,c` as at least `least` and at most `N` numbers; what is not given is `fill`.
fn numbers<const N: usize>(text: &str, least: usize, fill: u32) -> Result<[u32; N], Failure> {
    let bad = || {
        Failure::usage(format!(
            "`{text}`: {least} to {N} numbers with commas between"
        ))
    };
    let mut out = [fill; N];
    let parts: Vec<_> = text.split(',').collect();
    if !(least..=N).contains(&parts.len()) {
        return Err(bad());
    }
    for (o, p) in out.iter_mut().zip(parts) {
        *o = p.trim().parse().map_err(|_| bad())?;
    }
    Ok(out)
}

fn version(text: &str) -> Result<(u16, u16), Failure> {
    text.split_once('.')
        .and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)))
        .ok_or_else(|| Failure::usage(format!("`{text}` is no version, such as 6.0")))
}

fn hex(text: &str) -> Result<u64, Failure> {
    let digits = text.trim_start_matches("0x");
    u64::from_str_radix(digits, 16)
        .map_err(|_| Failure::usage(format!("`{text}` is no hex number")))
}

/// What is changed in the interface, kept until it is known which one.
#[derive(Default)]
struct Changes {
    entry: Option<String>,
    threads: Option<[u32; 3]>,
    waves: Option<[u32; 2]>,
    group_shared: Option<u32>,
    features: Option<u64>,
    resources: Vec<ResourceBinding>,
    push: Option<PushConstants>,
}

impl Changes {
    /// True if `option` was one of the interface's.
    fn take(&mut self, option: &str, args: &mut Args) -> Result<bool, Failure> {
        let resource = match option {
            "srv" => Some(ResourceBinding::structured(false, 0, 0)),
            "uav" => Some(ResourceBinding::structured(true, 0, 0)),
            "srv-raw" => Some(ResourceBinding::raw(false, 0, 0)),
            "uav-raw" => Some(ResourceBinding::raw(true, 0, 0)),
            "cbv" => Some(ResourceBinding::constant_buffer(0, 0)),
            "sampler" => Some(ResourceBinding::sampler(0, 0)),
            _ => None,
        };
        if let Some(mut r) = resource {
            [r.binding, r.set] = numbers(&args.value()?, 1, 0)?;
            self.resources.push(r);
            return Ok(true);
        }
        match option {
            "entry" => self.entry = Some(args.value()?),
            "threads" => self.threads = Some(numbers(&args.value()?, 1, 1)?),
            "wave" => self.waves = Some(numbers(&args.value()?, 2, 0)?),
            "group-shared" => {
                let [n] = numbers(&args.value()?, 1, 0)?;
                self.group_shared = Some(n);
            }
            "features" => self.features = Some(hex(&args.value()?)?),
            "push" | "push-buffer" => {
                let [words, binding, set] = numbers(&args.value()?, 2, 0)?;
                let home = match option {
                    "push" => PushConstantHome::RootConstants,
                    _ => PushConstantHome::ConstantBuffer,
                };
                self.push = Some(PushConstants {
                    words,
                    home,
                    set,
                    binding,
                });
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn apply(self, k: &mut ComputeInterface) {
        k.entry = self.entry.unwrap_or(std::mem::take(&mut k.entry));
        k.workgroup_size = self.threads.unwrap_or(k.workgroup_size);
        if let Some([min, max]) = self.waves {
            k.wave_lanes = Some(WaveLanes { min, max });
        }
        k.group_shared_bytes = self.group_shared.unwrap_or(k.group_shared_bytes);
        k.features = self.features.map_or(k.features, FeatureFlags);
        k.resources.extend(self.resources);
        k.push_constants = self.push.or(k.push_constants);
    }
}

pub fn run(mut args: Args) -> Result<ExitCode, Failure> {
    let (mut bitcode, mut name, mut out) = (None, None, None);
    let (mut model, mut validator) = (None, None);
    let (mut root, mut digest, mut keep) = ("keep".to_owned(), WriteDigest::Retail, false);
    let (mut changes, mut buffers) = (Changes::default(), BufferShape::default());
    while let Some(arg) = args.next()? {
        let Next::Option(option) = arg else {
            return Err(Failure::usage("pack takes options only; try `pack --help`"));
        };
        if changes.take(&option, &mut args)? {
            continue;
        }
        match option.as_str() {
            "help" | "h" | "list" => {
                help();
                return Ok(ExitCode::SUCCESS);
            }
            "bitcode" => bitcode = Some(args.value()?),
            "kernel" => name = Some(args.value()?),
            "raw" => buffers = BufferShape::Raw,
            "shader-model" => model = Some(version(&args.value()?)?),
            "validator" => validator = Some(version(&args.value()?)?),
            "root-signature" => root = args.value()?,
            "digest" => digest = args::digest(&args.value()?)?,
            "keep-reflection" => keep = true,
            "o" | "output" => out = Some(args.value()?),
            o => return Err(args::unknown(o)),
        }
    }
    let program = bitcode.as_deref().map(args::read).transpose()?;
    let mut k = match &name {
        Some(name) => kernel(name, buffers)?,
        None if changes.threads.is_some() => ComputeInterface::new("main", [1; 3]),
        None => {
            return Err(Failure::usage(
                "--kernel NAME or --threads X,Y,Z is missing",
            ));
        }
    };
    changes.apply(&mut k);
    if let (Some(file), Some(bytes)) = (&bitcode, &program) {
        hint(file, bytes, &k);
    }

    let given;
    let mut packager = ComputePackager::new(&k)
        .digest(digest)
        .keep_reflection(keep);
    packager = packager.root_signature(match root.as_str() {
        "keep" => PackRootSignature::Keep,
        "omit" => PackRootSignature::Omit,
        "generate" => PackRootSignature::Generate(RootSignatureVersion::V1_1),
        file => {
            given = args::read(file)?;
            PackRootSignature::Given(&given)
        }
    });
    if let Some(bytes) = &program {
        packager = packager.program(bytes);
    }
    if let Some((major, minor)) = model {
        // What does not fit is no shader model either.
        let byte = |n: u16| u8::try_from(n).unwrap_or(u8::MAX);
        packager = packager.shader_model(byte(major), byte(minor));
    }
    if let Some((major, minor)) = validator {
        packager = packager.validator(major, minor);
    }
    let bytes = packager.pack()?;
    let out = args::need(out, "-o OUT")?;
    args::write(&out, &bytes)?;
    let c = Container::read(&bytes)?;
    say!(
        "{out}: {} bytes, {} parts, digest {}",
        bytes.len(),
        c.part_count(),
        c.digest_kind()
    );
    Ok(ExitCode::SUCCESS)
}

/// A container states resources of kinds that no option here names: say so before the packager
/// refuses.
fn hint(file: &str, bytes: &[u8], k: &ComputeInterface) {
    let Ok(c) = Container::read_lenient(bytes) else {
        return;
    };
    let Ok(Some(psv)) = c.psv() else { return };
    let typed = |ty, kind| {
        matches!(ty, ResourceType::SRV_TYPED | ResourceType::UAV_TYPED)
            && kind != ResourceKind::CBUFFER
    };
    if psv
        .resources
        .iter()
        .any(|r| typed(r.ty, r.extension.unwrap_or_default().kind))
        && !k.resources.iter().any(|r| typed(r.ty, r.kind))
    {
        eprintln!(
            "dxbc: note: {file} has typed resources, which only the library's API can describe"
        );
    }
}
