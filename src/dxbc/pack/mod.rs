//! Wrapping bitcode that is already compiled.
#![forbid(unsafe_code)]

mod interface;
mod root;
mod signature;

pub use interface::{
    ComputeInterface, PushConstantHome, PushConstants, ResourceBinding, WaveLanes,
};
pub use signature::{BufferShape, SignatureMapping};

use super::{
    Container, ContainerWriter, FourCc, Inconsistency, InconsistencyKind, PackError, ReadError,
    ReadErrorKind, WriteDigest, WriteError,
    bytes::u32_at,
    part::{
        Features, NameLayout, Program, ProgramVersion, Psv, PsvInfo, PsvInfo1, PsvVersion,
        ResourceClass, RootSignatureVersion, ShaderHash, ShaderKind, Signature, StringTable,
    },
    read::BITCODE_MAGIC,
};
use std::borrow::Cow;

/// The root signature of a packed container.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum PackRootSignature<'a> {
    /// That of the container that the program is taken from, if it has one.
    #[default]
    Keep,
    /// None: the application gives one when it makes the pipeline.
    Omit,
    /// One made for the interface: push constants first, then each resource in order, as a root
    /// descriptor where that is possible and as a descriptor table of its own otherwise.
    Generate(RootSignatureVersion),
    /// These bytes: the data of an `RTS0` part, or a container that has one, which is what
    /// Direct3D and DXC call a serialised root signature.
    Given(&'a [u8]),
}

/// Packs DXIL bitcode and a kernel's interface into a complete compute container: `SFI0`, `ISG1`,
/// `OSG1`, `PSV0`, `RTS0` if wanted, `HASH`, `DXIL`, each byte for byte as DXC writes it.
///
/// The bitcode is not read. What it says about itself (entry, threads, resources) has to agree
/// with the interface, or DXC's validator and the runtime refuse the result; where the program
/// comes from a container, that one's `PSV0` and `SFI0` are compared with the interface before
/// anything is signed.
///
/// ```
/// use kernite::dxbc::{ComputeInterface, ComputePackager, Container, DigestKind, ResourceBinding};
/// # let bitcode = b"BC\xc0\xde\0\0\0\0";
/// let mut vecadd = ComputeInterface::new("main", [64, 1, 1]);
/// vecadd.resources = vec![
///     ResourceBinding::structured(false, 0, 0),
///     ResourceBinding::structured(false, 0, 1),
///     ResourceBinding::structured(true, 0, 0),
/// ];
/// let bytes = ComputePackager::new(&vecadd)
///     .program(bitcode)
///     .shader_model(6, 0)
///     .pack()?;
/// assert_eq!(Container::read(&bytes)?.digest_kind(), DigestKind::Retail);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ComputePackager<'a> {
    interface: &'a ComputeInterface,
    program: Option<&'a [u8]>,
    shader_model: Option<(u8, u8)>,
    validator: Option<(u16, u16)>,
    root_signature: PackRootSignature<'a>,
    keep_reflection: bool,
    digest: WriteDigest,
}

/// A program and what its container says beside it.
struct Source<'a> {
    program: Program<'a>,
    container: Option<Container<'a>>,
}

impl<'a> ComputePackager<'a> {
    /// A packager for a kernel. Bitcode has to follow.
    #[must_use]
    pub fn new(interface: &'a ComputeInterface) -> Self {
        Self {
            interface,
            program: None,
            shader_model: None,
            validator: None,
            root_signature: PackRootSignature::Keep,
            keep_reflection: false,
            digest: WriteDigest::Retail,
        }
    }

    /// The program: LLVM bitcode (`42 43 C0 DE`), or a container whose `DXIL` part has it.
    #[must_use]
    pub fn program(mut self, bytes: &'a [u8]) -> Self {
        self.program = Some(bytes);
        self
    }

    /// The shader model that the bitcode was compiled for, 6.0 to 6.15. Needed for bare bitcode; a
    /// container states it.
    #[must_use]
    pub fn shader_model(mut self, major: u8, minor: u8) -> Self {
        self.shader_model = Some((major, minor));
        self
    }

    /// The validator version that the bitcode names in `dx.valver`: it decides the version of
    /// `PSV0` and whether there is a `HASH`. By default that of the container given, as far as
    /// its parts show it, else 1.8.
    #[must_use]
    pub fn validator(mut self, major: u16, minor: u16) -> Self {
        self.validator = Some((major, minor));
        self
    }

    /// The root signature.
    #[must_use]
    pub fn root_signature(mut self, root_signature: PackRootSignature<'a>) -> Self {
        self.root_signature = root_signature;
        self
    }

    /// Keeps the `STAT` part of the container given. By default it is left out: nothing at
    /// run time needs it.
    #[must_use]
    pub fn keep_reflection(mut self, keep: bool) -> Self {
        self.keep_reflection = keep;
        self
    }

    /// The digest to write, [`WriteDigest::Retail`] by default.
    #[must_use]
    pub fn digest(mut self, digest: WriteDigest) -> Self {
        self.digest = digest;
        self
    }

    /// The container.
    ///
    /// # Errors
    /// - [`PackError::Unsupported`] without a program: kernite does not make DXIL
    /// - [`PackError::Program`]: the program is neither bitcode nor a container with a `DXIL` part
    /// - [`PackError::Interface`]: the interface describes no kernel
    /// - [`PackError::Inconsistent`]: program, interface and the program's container disagree; no
    ///   digest has been computed then
    pub fn pack(&self) -> Result<Vec<u8>, PackError> {
        let mut out = Vec::new();
        self.pack_into(&mut out)?;
        Ok(out)
    }

    /// Appends the container to `out`, which is left alone on error.
    ///
    /// # Errors
    /// As [`pack`](Self::pack).
    pub fn pack_into(&self, out: &mut Vec<u8>) -> Result<(), PackError> {
        self.interface.validate()?;
        let source = self.source()?;
        let faults = self.compare(&source)?;
        if !faults.is_empty() {
            return Err(PackError::Inconsistent(faults));
        }
        let validator = match self.validator {
            Some(v) => v,
            None => validator_of(source.container.as_ref())?,
        };

        let mut writer = ContainerWriter::new();
        let mut features = Vec::new();
        Features::new(self.interface.features).write(&mut features)?;
        writer.part(FourCc::SFI0, features);
        let mut empty = Vec::new();
        Signature::build(&[], NameLayout::Shared)?.write(&mut empty)?;
        writer.part(FourCc::ISG1, empty.clone());
        writer.part(FourCc::OSG1, empty);
        let mut psv = Vec::new();
        compute_psv(
            self.interface,
            PsvVersion::for_validator(validator.0, validator.1),
        )?
        .write(&mut psv)?;
        writer.part(FourCc::PSV0, psv);
        if let Some(root) = self.root_part(source.container.as_ref())? {
            writer.part(FourCc::RTS0, root);
        }
        if self.keep_reflection
            && let Some(c) = &source.container
            && let Some(stat) = c.part(FourCc::STAT)?
        {
            writer.part(FourCc::STAT, stat.data);
        }
        if validator >= (1, 5) {
            let mut hash = Vec::new();
            shader_hash(&source)?.write(&mut hash)?;
            writer.part(FourCc::HASH, hash);
        }
        let mut program = Vec::new();
        source.program.write(&mut program)?;
        writer.part(FourCc::DXIL, program);

        // Nothing that contradicts itself leaves here, whoever wrote the part.
        let faults = writer.check();
        if !faults.is_empty() {
            return Err(PackError::Inconsistent(faults));
        }
        writer.assemble_into(self.digest, out)?;
        Ok(())
    }

    fn source(&self) -> Result<Source<'a>, PackError> {
        let Some(bytes) = self.program else {
            return Err(PackError::Unsupported {
                what: "DXIL from a kernel's own instructions",
                why: "kernite emits PTX and SPIR-V; DXIL is LLVM bitcode, which only a compiler such as \
                      DXC makes, so that a precompiled program has to be given",
            });
        };
        if u32_at(bytes, 0) == Some(BITCODE_MAGIC) {
            let Some((major, minor)) = self.shader_model else {
                return Err(PackError::Unsupported {
                    what: "bare bitcode without a shader model",
                    why: "only a container states the shader model outside the bitcode",
                });
            };
            if major != 6 || minor > 15 {
                return Err(PackError::Unsupported {
                    what: "a shader model outside 6.0 to 6.15",
                    why: "DXIL begins with 6.0, and the program header has four bits for the minor number",
                });
            }
            let version = ProgramVersion::new(ShaderKind::COMPUTE, major, minor);
            let dxil_version = 1 << 8 | u32::from(minor);
            return Ok(Source {
                program: Program::new(version, dxil_version, bytes)?,
                container: None,
            });
        }
        let container = Container::read_lenient(bytes)?;
        let Some(program) = container.program()? else {
            return Err(missing(FourCc::DXIL).into());
        };
        Ok(Source {
            program,
            container: Some(container),
        })
    }

    /// Where program and source container contradict the interface and the options.
    fn compare(&self, source: &Source) -> Result<Vec<Inconsistency>, PackError> {
        let mut faults = Vec::new();
        let version = source.program.version;
        let part = source
            .container
            .as_ref()
            .map(|c| c.part(FourCc::DXIL))
            .transpose()?;
        let at = part.flatten().map_or(0, |p| p.data_offset());
        let mut differs = |part, offset, field, found: u64, expected: u64, source_of| {
            if found != expected {
                faults.push(Inconsistency {
                    part,
                    offset,
                    field,
                    kind: InconsistencyKind::Differs {
                        found,
                        expected,
                        source_of,
                    },
                });
            }
        };
        let (found, want) = (version.kind().0, ShaderKind::COMPUTE.0);
        let pair = (u64::from(found), u64::from(want));
        differs(
            FourCc::DXIL,
            at,
            "ProgramVersion kind",
            pair.0,
            pair.1,
            "the interface",
        );
        if let Some((major, minor)) = self.shader_model {
            let (found, want) = (version.0 & 0xff, u32::from(major) << 4 | u32::from(minor));
            let pair = (found.into(), want.into());
            differs(
                FourCc::DXIL,
                at,
                "ProgramVersion",
                pair.0,
                pair.1,
                "the shader model asked for",
            );
        }
        let Some(container) = &source.container else {
            return Ok(faults);
        };
        let by = "the interface";
        if let (Some(raw), Some(features)) = (container.part(FourCc::SFI0)?, container.features()?)
        {
            let at = raw.data_offset();
            let want = self.interface.features.0;
            differs(FourCc::SFI0, at, "FeatureFlags", features.flags.0, want, by);
        }
        let (Some(raw), Some(psv)) = (container.part(FourCc::PSV0)?, container.psv()?) else {
            return Ok(faults);
        };
        let at = raw.data_offset();
        let waves = self.interface.wave_range();
        let found = (psv.info.minimum_wave_lanes, psv.info.maximum_wave_lanes);
        for (at, field, found, want) in [
            (at + 20, "MinimumExpectedWaveLaneCount", found.0, waves.0),
            (at + 24, "MaximumExpectedWaveLaneCount", found.1, waves.1),
        ] {
            differs(FourCc::PSV0, at, field, found.into(), want.into(), by);
        }
        if let Some(found) = psv.info.group_shared_bytes {
            let (at, field) = (at + 56, "NumBytesGroupSharedMemory");
            let want = self.interface.group_shared_bytes;
            differs(FourCc::PSV0, at, field, found.into(), want.into(), by);
        }
        if let Some(threads) = psv.info.num_threads {
            for (i, (found, want)) in threads
                .into_iter()
                .zip(self.interface.workgroup_size)
                .enumerate()
            {
                let at = at + 40 + 4 * i as u64;
                differs(
                    FourCc::PSV0,
                    at,
                    "NumThreads",
                    found.into(),
                    want.into(),
                    by,
                );
            }
        }
        let bindings = self.interface.bindings();
        for class in [
            ResourceClass::CBUFFER,
            ResourceClass::SAMPLER,
            ResourceClass::SRV,
            ResourceClass::UAV,
        ] {
            let found = psv
                .resources
                .iter()
                .filter(|r| r.ty.class() == Some(class))
                .count();
            let want = bindings
                .iter()
                .filter(|r| r.ty.class() == Some(class))
                .count();
            let pair = (found as u64, want as u64);
            let field = match class {
                ResourceClass::CBUFFER => "number of constant buffers",
                ResourceClass::SAMPLER => "number of samplers",
                ResourceClass::SRV => "number of SRVs",
                _ => "number of UAVs",
            };
            differs(
                FourCc::PSV0,
                at + psv.resource_offset(0) - 8,
                field,
                pair.0,
                pair.1,
                by,
            );
        }
        // Records of no class are in none of these numbers.
        let known = psv.resources.iter().filter(|r| r.ty.class().is_some());
        let pair = (psv.resources.len() as u64, known.count() as u64);
        let resources_at = at + psv.resource_offset(0) - 8;
        differs(
            FourCc::PSV0,
            resources_at,
            "ResourceCount",
            pair.0,
            pair.1,
            "the records with a known type",
        );
        // The same number of them: now one by one, what both versions have.
        if psv.resources.len() == bindings.len() {
            for (i, (r, b)) in psv.resources.iter().zip(&bindings).enumerate() {
                let want = b.psv(r.extension.is_some());
                if (r.ty, r.space, r.lower_bound, r.upper_bound, r.extension)
                    != (
                        want.ty,
                        want.space,
                        want.lower_bound,
                        want.upper_bound,
                        want.extension,
                    )
                {
                    let at = at + psv.resource_offset(i as u64);
                    faults.push(Inconsistency {
                        part: FourCc::PSV0,
                        offset: at,
                        field: "PSVResourceBindInfo",
                        kind: InconsistencyKind::Resource {
                            index: i as u64,
                            source_of: by,
                        },
                    });
                }
            }
        }
        if psv
            .entry_name()?
            .is_some_and(|n| n != self.interface.entry.as_bytes())
        {
            faults.push(Inconsistency {
                part: FourCc::PSV0,
                offset: at + 52,
                field: "EntryFunctionName",
                kind: InconsistencyKind::EntryName,
            });
        }
        Ok(faults)
    }

    fn root_part(
        &self,
        container: Option<&Container<'a>>,
    ) -> Result<Option<Cow<'a, [u8]>>, PackError> {
        Ok(match self.root_signature {
            PackRootSignature::Omit => None,
            PackRootSignature::Given(bytes) if bytes.starts_with(&FourCc::DXBC.0) => {
                let given = Container::read_lenient(bytes)?;
                let part = given.part(FourCc::RTS0)?;
                Some(part.ok_or_else(|| missing(FourCc::RTS0))?.data.into())
            }
            PackRootSignature::Given(bytes) => {
                if !bytes.len().is_multiple_of(4) {
                    let (part, size) = (FourCc::RTS0, bytes.len() as u64);
                    return Err(WriteError::Unaligned { part, size }.into());
                }
                Some(bytes.into())
            }
            PackRootSignature::Keep => match container {
                Some(c) => c.part(FourCc::RTS0)?.map(|p| p.data.into()),
                None => None,
            },
            PackRootSignature::Generate(version) => {
                let mut out = Vec::new();
                root::generate(self.interface, version)?.write(&mut out)?;
                Some(out.into())
            }
        })
    }
}

fn missing(part: FourCc) -> ReadError {
    ReadError::new(ReadErrorKind::MissingPart, 0, Some(part), "PartFourCC")
}

/// The hash of the program; one that covers source information, which is no longer there, is kept.
fn shader_hash<'a>(source: &Source<'a>) -> Result<ShaderHash<'a>, PackError> {
    if let Some(c) = &source.container
        && let Some(hash) = c.shader_hash()?
        && hash.flags & ShaderHash::INCLUDES_SOURCE != 0
    {
        return Ok(hash);
    }
    Ok(ShaderHash::of(&source.program.bitcode))
}

/// The earliest validator that writes parts such as this container has.
fn validator_of(container: Option<&Container>) -> Result<(u16, u16), ReadError> {
    let Some(c) = container else {
        return Ok((1, 8));
    };
    let Some(psv) = c.psv()? else {
        return Ok((1, 8));
    };
    Ok(match psv.version() {
        PsvVersion::V0 => (1, 0),
        PsvVersion::V1 if c.part(FourCc::HASH)?.is_some() => (1, 5),
        PsvVersion::V1 => (1, 1),
        PsvVersion::V2 => (1, 6),
        PsvVersion::V3 => (1, 8),
        PsvVersion::V4 => (1, 10),
    })
}

/// `PSV0` of a compute shader as DXC writes it.
///
/// # Errors
/// An entry name with a NUL inside, or of 4 GiB.
fn compute_psv(k: &ComputeInterface, version: PsvVersion) -> Result<Psv<'static>, PackError> {
    let mut info = PsvInfo::default();
    (info.minimum_wave_lanes, info.maximum_wave_lanes) = k.wave_range();
    let mut strings = StringTable::new();
    if version >= PsvVersion::V1 {
        info.v1 = Some(PsvInfo1 {
            // The stage's number is below 256.
            shader_stage: ShaderKind::COMPUTE.0 as u8,
            ..PsvInfo1::default()
        });
    }
    if version >= PsvVersion::V2 {
        info.num_threads = Some(k.workgroup_size);
    }
    if version >= PsvVersion::V3 {
        info.entry_function_name = Some(strings.add(k.entry.as_bytes())?);
    }
    if version >= PsvVersion::V4 {
        info.group_shared_bytes = Some(k.group_shared_bytes);
    }
    let extended = version >= PsvVersion::V2;
    Ok(Psv {
        info,
        resources: k.bindings().iter().map(|b| b.psv(extended)).collect(),
        string_table: match version {
            PsvVersion::V0 => Vec::new(),
            _ => strings.finish(),
        }
        .into(),
        ..Psv::default()
    })
}
