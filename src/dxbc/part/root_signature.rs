//! `RTS0`: root signatures 1.0 to 1.2 (DXC `DxilRootSignatureSerializer.cpp`).
#![forbid(unsafe_code)]

use super::{RangeType, ShaderVisibility, expect, fit_u32, put_words};
use crate::dxbc::{
    FourCc, ReadError, ReadErrorKind as K, WriteError,
    bytes::{Cursor, len, slice},
    source_bytes::SourceBytes,
};

const HEADER: u64 = 24;
const PARAMETER: u64 = 12;

/// Versions of root signatures.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum RootSignatureVersion {
    /// 1.0.
    V1_0,
    /// 1.1: flags of descriptors and ranges.
    V1_1,
    /// 1.2: flags of static samplers.
    V1_2,
}

impl RootSignatureVersion {
    fn word(self) -> u32 {
        match self {
            Self::V1_0 => 1,
            Self::V1_1 => 2,
            Self::V1_2 => 3,
        }
    }

    fn range_size(self) -> u64 {
        match self {
            Self::V1_0 => 20,
            Self::V1_1 | Self::V1_2 => 24,
        }
    }

    fn descriptor_size(self) -> u64 {
        match self {
            Self::V1_0 => 8,
            Self::V1_1 | Self::V1_2 => 12,
        }
    }

    fn sampler_size(self) -> u64 {
        match self {
            Self::V1_0 | Self::V1_1 => 52,
            Self::V1_2 => 56,
        }
    }
}

/// The `RTS0` part.
///
/// The serialised form points from parameters to payloads to ranges. Writing lays them out as DXC
/// does, unless the value is still what was read: then the bytes read are written, however they
/// were laid out.
#[derive(Clone, PartialEq, Debug)]
pub struct RootSignature<'a> {
    /// Its version.
    pub version: RootSignatureVersion,
    /// `D3D12_ROOT_SIGNATURE_FLAGS`.
    pub flags: u32,
    /// Parameters.
    pub parameters: Vec<RootParameter>,
    /// Static samplers.
    pub static_samplers: Vec<StaticSampler>,
    source: SourceBytes<'a>,
}

/// A root parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RootParameter {
    /// Who sees it.
    pub visibility: ShaderVisibility,
    /// What it is.
    pub payload: RootPayload,
}

/// What a root parameter is (`D3D12_ROOT_PARAMETER_TYPE`).
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum RootPayload {
    /// A descriptor table.
    Table(Vec<DescriptorRange>),
    /// 32-bit constants.
    Constants {
        /// The `b` register.
        register: u32,
        /// Its space.
        space: u32,
        /// Number of 32-bit values.
        count: u32,
    },
    /// A constant buffer's address.
    Cbv(RootDescriptor),
    /// A read-only buffer's address.
    Srv(RootDescriptor),
    /// A writable buffer's address.
    Uav(RootDescriptor),
}

/// A root descriptor.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RootDescriptor {
    /// Register.
    pub register: u32,
    /// Space.
    pub space: u32,
    /// `D3D12_ROOT_DESCRIPTOR_FLAGS`; 0 in version 1.0, which has no such field.
    pub flags: u32,
}

/// A range of a descriptor table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DescriptorRange {
    /// Type.
    pub ty: RangeType,
    /// Descriptors, `u32::MAX` if there is no end.
    pub count: u32,
    /// First register.
    pub base_register: u32,
    /// Space.
    pub space: u32,
    /// `D3D12_DESCRIPTOR_RANGE_FLAGS`; 0 in version 1.0, which has no such field.
    pub flags: u32,
    /// Offset in the table, `u32::MAX` to append.
    pub offset: u32,
}

/// A static sampler (`D3D12_STATIC_SAMPLER_DESC1`), floats as bits so that every value is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StaticSampler {
    /// Filter.
    pub filter: u32,
    /// Address modes for U, V, W.
    pub address: [u32; 3],
    /// Bits of the level bias.
    pub mip_lod_bias: u32,
    /// Most anisotropy.
    pub max_anisotropy: u32,
    /// Comparison.
    pub comparison: u32,
    /// Border colour.
    pub border_color: u32,
    /// Bits of the least level.
    pub min_lod: u32,
    /// Bits of the greatest level.
    pub max_lod: u32,
    /// Register.
    pub register: u32,
    /// Space.
    pub space: u32,
    /// Who sees it.
    pub visibility: ShaderVisibility,
    /// `D3D12_SAMPLER_FLAGS`; 0 before version 1.2: those versions have no such field.
    pub flags: u32,
}

impl<'a> RootSignature<'a> {
    /// An empty root signature.
    #[must_use]
    pub fn new(version: RootSignatureVersion) -> Self {
        Self {
            version,
            flags: 0,
            parameters: Vec::new(),
            static_samplers: Vec::new(),
            source: SourceBytes::none(),
        }
    }

    /// Decodes the part's data.
    ///
    /// # Errors
    /// A version other than 1, 2 or 3; an unknown parameter type; an array or payload that ends
    /// past the part; or structures that share bytes so often that together they describe more
    /// than four times the part.
    pub fn read(data: &'a [u8]) -> Result<Self, ReadError> {
        let mut reader = Reader { data, described: 0 };
        let mut c = Cursor::new(FourCc::RTS0, data);
        if len(data) < HEADER {
            let (need, have) = (HEADER, len(data));
            return Err(c.error(
                K::TooShort { need, have },
                0,
                "DxilContainerRootSignatureDesc",
            ));
        }
        let version = match c.u32("Version")? {
            1 => RootSignatureVersion::V1_0,
            2 => RootSignatureVersion::V1_1,
            3 => RootSignatureVersion::V1_2,
            v => return Err(c.error(K::UnsupportedVersion(v), 0, "Version")),
        };
        let count = c.u32("NumParameters")?;
        let offset = c.u32("RootParametersOffset")?;
        let mut parameters_c = reader.array(offset, count, PARAMETER, 8, "RootParametersOffset")?;
        let count_samplers = c.u32("NumStaticSamplers")?;
        let at = c.pos();
        let offset_samplers = c.u32("StaticSamplersOffset")?;
        let mut signature = Self::new(version);
        signature.flags = c.u32("Flags")?;
        signature.source = SourceBytes::new(data);
        for i in 0..count {
            let at = u64::from(offset) + PARAMETER * u64::from(i);
            let p = reader.parameter(version, &mut parameters_c, at)?;
            signature.parameters.push(p);
        }
        let size = version.sampler_size();
        let mut c = reader.array(
            offset_samplers,
            count_samplers,
            size,
            at,
            "StaticSamplersOffset",
        )?;
        for _ in 0..count_samplers {
            let s = StaticSampler::read(version, &mut c)?;
            signature.static_samplers.push(s);
        }
        Ok(signature)
    }

    /// Appends the part's data.
    ///
    /// # Errors
    /// Flags that the version has no field for, or more than 4 GiB.
    pub fn write(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        if let Some(bytes) = self.source.if_unchanged(self, Self::read) {
            out.extend_from_slice(bytes);
            return Ok(());
        }
        let part = FourCc::RTS0;
        let start = out.len();
        let v = self.version;
        let count = fit_u32(part, 4, "NumParameters", self.parameters.len() as u64)?;
        // Where each payload goes is known before any is written.
        let mut at = HEADER + PARAMETER * u64::from(count);
        put_words(out, &[v.word(), count, 24]);
        let samplers = self.static_samplers.len() as u64;
        let samplers = fit_u32(part, 12, "NumStaticSamplers", samplers)?;
        let payloads: u64 = self.parameters.iter().map(|p| p.payload.size(v)).sum();
        let samplers_at = fit_u32(part, 16, "StaticSamplersOffset", at + payloads)?;
        put_words(out, &[samplers, samplers_at, self.flags]);
        for p in &self.parameters {
            let payload_at = fit_u32(part, at, "PayloadOffset", at)?;
            put_words(out, &[p.payload.word(), p.visibility.0, payload_at]);
            at += p.payload.size(v);
        }
        for p in &self.parameters {
            p.payload.write(v, out, start)?;
        }
        for s in &self.static_samplers {
            s.write(v, out, start)?;
        }
        Ok(())
    }
}

/// Follows offsets, and counts what they describe: a part in which many parameters point at one
/// long table would else grow without bound.
struct Reader<'a> {
    data: &'a [u8],
    described: u64,
}

impl<'a> Reader<'a> {
    /// A cursor over `count` records of `size` bytes at `offset`, a field read at `at`.
    fn array(
        &mut self,
        offset: u32,
        count: u32,
        size: u64,
        at: u64,
        field: &'static str,
    ) -> Result<Cursor<'a>, ReadError> {
        let error = |kind| ReadError::new(kind, at, Some(FourCc::RTS0), field);
        let bytes = u64::from(count) * size;
        if bytes == 0 {
            return Ok(Cursor::new(FourCc::RTS0, &[]));
        }
        let limit = len(self.data);
        let Some(s) = slice(self.data, offset.into(), bytes) else {
            let end = u64::from(offset) + bytes;
            return Err(error(K::OutOfBounds { end, limit }));
        };
        self.described = self.described.saturating_add(bytes);
        let limit = limit.saturating_mul(4);
        if self.described > limit {
            let size = self.described;
            return Err(error(K::TooLarge { size, limit }));
        }
        Ok(Cursor::new(FourCc::RTS0, s))
    }

    fn parameter(
        &mut self,
        version: RootSignatureVersion,
        c: &mut Cursor<'a>,
        at: u64,
    ) -> Result<RootParameter, ReadError> {
        let ty = c.u32("ParameterType")?;
        let visibility = ShaderVisibility(c.u32("ShaderVisibility")?);
        let offset = c.u32("PayloadOffset")?;
        let mut payload = |size, field| self.array(offset, 1, size, at + 8, field);
        let payload = match ty {
            0 => {
                let mut c = payload(8, "PayloadOffset")?;
                let (count, ranges) = (c.u32("NumDescriptorRanges")?, c.u32("RangesOffset")?);
                let size = version.range_size();
                let at = u64::from(offset) + 4;
                let mut c = self.array(ranges, count, size, at, "DescriptorRangesOffset")?;
                let mut list = Vec::new();
                for _ in 0..count {
                    list.push(DescriptorRange::read(version, &mut c)?);
                }
                RootPayload::Table(list)
            }
            1 => {
                let mut c = payload(12, "PayloadOffset")?;
                RootPayload::Constants {
                    register: c.u32("ShaderRegister")?,
                    space: c.u32("RegisterSpace")?,
                    count: c.u32("Num32BitValues")?,
                }
            }
            2..=4 => {
                let mut c = payload(version.descriptor_size(), "PayloadOffset")?;
                let d = RootDescriptor {
                    register: c.u32("ShaderRegister")?,
                    space: c.u32("RegisterSpace")?,
                    flags: match version {
                        RootSignatureVersion::V1_0 => 0,
                        _ => c.u32("Flags")?,
                    },
                };
                match ty {
                    2 => RootPayload::Cbv(d),
                    3 => RootPayload::Srv(d),
                    _ => RootPayload::Uav(d),
                }
            }
            value => {
                let value = value.into();
                return Err(c.error(K::BadValue { value }, at, "ParameterType"));
            }
        };
        Ok(RootParameter {
            visibility,
            payload,
        })
    }
}

impl RootPayload {
    fn word(&self) -> u32 {
        match self {
            Self::Table(_) => 0,
            Self::Constants { .. } => 1,
            Self::Cbv(_) => 2,
            Self::Srv(_) => 3,
            Self::Uav(_) => 4,
        }
    }

    /// Bytes of the payload, ranges included.
    fn size(&self, v: RootSignatureVersion) -> u64 {
        match self {
            Self::Table(ranges) => 8 + ranges.len() as u64 * v.range_size(),
            Self::Constants { .. } => 12,
            Self::Cbv(_) | Self::Srv(_) | Self::Uav(_) => v.descriptor_size(),
        }
    }

    fn write(
        &self,
        v: RootSignatureVersion,
        out: &mut Vec<u8>,
        start: usize,
    ) -> Result<(), WriteError> {
        let part = FourCc::RTS0;
        let at = (out.len() - start) as u64;
        match self {
            Self::Table(ranges) => {
                let count = fit_u32(part, at, "NumDescriptorRanges", ranges.len() as u64)?;
                let ranges_at = fit_u32(part, at, "RangesOffset", at + 8)?;
                put_words(out, &[count, ranges_at]);
                for r in ranges {
                    let at = (out.len() - start) as u64;
                    put_words(out, &[r.ty.0, r.count, r.base_register, r.space]);
                    put_flags(v, r.flags, at, out)?;
                    put_words(out, &[r.offset]);
                }
            }
            Self::Constants {
                register,
                space,
                count,
            } => put_words(out, &[*register, *space, *count]),
            Self::Cbv(d) | Self::Srv(d) | Self::Uav(d) => {
                put_words(out, &[d.register, d.space]);
                put_flags(v, d.flags, at, out)?;
            }
        }
        Ok(())
    }
}

fn put_flags(
    v: RootSignatureVersion,
    flags: u32,
    at: u64,
    out: &mut Vec<u8>,
) -> Result<(), WriteError> {
    if v == RootSignatureVersion::V1_0 {
        return expect(FourCc::RTS0, at, "Flags", 0, flags.into());
    }
    put_words(out, &[flags]);
    Ok(())
}

impl DescriptorRange {
    fn read(v: RootSignatureVersion, c: &mut Cursor) -> Result<Self, ReadError> {
        Ok(Self {
            ty: RangeType(c.u32("RangeType")?),
            count: c.u32("NumDescriptors")?,
            base_register: c.u32("BaseShaderRegister")?,
            space: c.u32("RegisterSpace")?,
            flags: match v {
                RootSignatureVersion::V1_0 => 0,
                _ => c.u32("Flags")?,
            },
            offset: c.u32("OffsetInDescriptorsFromTableStart")?,
        })
    }
}

impl StaticSampler {
    fn read(v: RootSignatureVersion, c: &mut Cursor) -> Result<Self, ReadError> {
        let mut w = || c.u32("StaticSampler");
        Ok(Self {
            filter: w()?,
            address: [w()?, w()?, w()?],
            mip_lod_bias: w()?,
            max_anisotropy: w()?,
            comparison: w()?,
            border_color: w()?,
            min_lod: w()?,
            max_lod: w()?,
            register: w()?,
            space: w()?,
            visibility: ShaderVisibility(w()?),
            flags: match v {
                RootSignatureVersion::V1_2 => w()?,
                _ => 0,
            },
        })
    }

    fn write(
        &self,
        v: RootSignatureVersion,
        out: &mut Vec<u8>,
        start: usize,
    ) -> Result<(), WriteError> {
        let [u, vv, w] = self.address;
        put_words(out, &[self.filter, u, vv, w]);
        put_words(
            out,
            &[
                self.mip_lod_bias,
                self.max_anisotropy,
                self.comparison,
                self.border_color,
                self.min_lod,
                self.max_lod,
                self.register,
                self.space,
                self.visibility.0,
            ],
        );
        if v == RootSignatureVersion::V1_2 {
            put_words(out, &[self.flags]);
            return Ok(());
        }
        let at = (out.len() - start) as u64;
        expect(FourCc::RTS0, at, "Flags", 0, self.flags.into())
    }
}
