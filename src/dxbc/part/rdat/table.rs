//! Tables of `RDAT` and their records.
#![forbid(unsafe_code)]

use super::{RdatArray, RdatBytes, RdatString};
use crate::dxbc::{
    FourCc, ReadError, ReadErrorKind as K, WriteError,
    bytes::Cursor,
    part::{
        FeatureFlags, ResourceClass, ResourceKind, ShaderKind, SubobjectKind, expect, fit_u32,
        put_words,
    },
};
use std::borrow::Cow;

/// A table: records of one size.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RdatTable<'a, T> {
    /// Bytes of a record.
    pub stride: u32,
    /// The records.
    pub records: Vec<RdatRecord<'a, T>>,
    /// Bytes after the last record.
    pub trailing: Cow<'a, [u8]>,
}

/// A record, with the bytes that a newer version added.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RdatRecord<'a, T> {
    /// What is known.
    pub value: T,
    /// The rest of the stride.
    pub extra: Cow<'a, [u8]>,
}

/// `RuntimeDataResourceInfo`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RdatResource {
    /// Class.
    pub class: ResourceClass,
    /// Kind.
    pub kind: ResourceKind,
    /// Number within its class.
    pub id: u32,
    /// Space.
    pub space: u32,
    /// First register.
    pub lower_bound: u32,
    /// Last register.
    pub upper_bound: u32,
    /// Name.
    pub name: RdatString,
    /// `DxilResourceFlag`.
    pub flags: u32,
}

/// `RuntimeDataFunctionInfo`, and `2` from validator 1.8 on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RdatFunction {
    /// Mangled name.
    pub name: RdatString,
    /// Name as written.
    pub unmangled_name: RdatString,
    /// Indices into the resource table.
    pub resources: RdatArray,
    /// Names of functions called, as string offsets.
    pub function_dependencies: RdatArray,
    /// Shader kind; `Library` for plain functions.
    pub shader_kind: u32,
    /// Bytes of payload or parameters.
    pub payload_size: u32,
    /// Bytes of attributes.
    pub attribute_size: u32,
    /// Features needed.
    pub features: FeatureFlags,
    /// Stages it may run in, a bit for each kind.
    pub shader_stage_flag: u32,
    /// Least program version.
    pub min_shader_target: u32,
    /// What records of 52 bytes add.
    pub v2: Option<RdatFunction2>,
}

impl RdatFunction {
    /// The shader kind.
    #[must_use]
    pub fn kind(&self) -> ShaderKind {
        ShaderKind(u16::try_from(self.shader_kind).unwrap_or(u16::MAX))
    }
}

/// What `RuntimeDataFunctionInfo2` adds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RdatFunction2 {
    /// Least lane count.
    pub min_wave_lanes: u8,
    /// Most lanes.
    pub max_wave_lanes: u8,
    /// `DxilShaderFlags`.
    pub shader_flags: u16,
    /// Record of the node or shader table, `u32::MAX` for none.
    pub shader_ref: u32,
}

/// `RuntimeDataSubobjectInfo`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RdatSubobject {
    /// Kind.
    pub kind: SubobjectKind,
    /// Name.
    pub name: RdatString,
    /// Fields by kind: root signature bytes, or exports, or configuration.
    pub fields: [u32; 4],
}

impl RdatSubobject {
    /// The serialised root signature that a root-signature subobject refers to.
    #[must_use]
    pub fn root_signature(&self) -> Option<RdatBytes> {
        let [offset, size, ..] = self.fields;
        matches!(
            self.kind,
            SubobjectKind::GLOBAL_ROOT_SIGNATURE | SubobjectKind::LOCAL_ROOT_SIGNATURE
        )
        .then_some(RdatBytes { offset, size })
    }
}

/// `NodeID` (name, index), `NodeShaderIOAttrib` and `NodeShaderFuncAttrib` (kind, value),
/// `IONode` (flags and kind, attributes).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RdatPair(pub u32, pub u32);

/// `NodeShaderInfo`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RdatNodeInfo {
    /// How nodes are launched.
    pub launch_type: u32,
    /// Bytes of group-shared memory.
    pub group_shared_bytes: u32,
    /// Function attributes.
    pub attributes: RdatArray,
    /// Outputs.
    pub outputs: RdatArray,
    /// Inputs.
    pub inputs: RdatArray,
}

/// Bytes of a function's record with what validator 1.8 added.
const FUNCTION_2: u32 = 52;

/// A record type.
pub(super) trait Row: Copy {
    /// Bytes of the first version.
    const MIN: u32;

    /// Bytes of the fields that a record of this stride has; what follows is of a version that
    /// is not known.
    fn known(_stride: u32) -> u32 {
        Self::MIN
    }

    fn read(c: &mut Cursor, stride: u32) -> Result<Self, ReadError>;
    /// Appends the fields.
    fn write(&self, out: &mut Vec<u8>);
}

impl Row for RdatResource {
    const MIN: u32 = 32;

    fn read(c: &mut Cursor, _: u32) -> Result<Self, ReadError> {
        Ok(Self {
            class: ResourceClass(c.u32("Class")?),
            kind: ResourceKind(c.u32("Kind")?),
            id: c.u32("ID")?,
            space: c.u32("Space")?,
            lower_bound: c.u32("LowerBound")?,
            upper_bound: c.u32("UpperBound")?,
            name: RdatString(c.u32("Name")?),
            flags: c.u32("Flags")?,
        })
    }

    fn write(&self, out: &mut Vec<u8>) {
        put_words(
            out,
            &[
                self.class.0,
                self.kind.0,
                self.id,
                self.space,
                self.lower_bound,
                self.upper_bound,
                self.name.0,
                self.flags,
            ],
        );
    }
}

impl Row for RdatFunction {
    const MIN: u32 = 44;

    fn known(stride: u32) -> u32 {
        if stride >= FUNCTION_2 {
            FUNCTION_2
        } else {
            Self::MIN
        }
    }

    fn read(c: &mut Cursor, stride: u32) -> Result<Self, ReadError> {
        let mut f = Self {
            name: RdatString(c.u32("Name")?),
            unmangled_name: RdatString(c.u32("UnmangledName")?),
            resources: RdatArray(c.u32("Resources")?),
            function_dependencies: RdatArray(c.u32("FunctionDependencies")?),
            shader_kind: c.u32("ShaderKind")?,
            payload_size: c.u32("PayloadSizeInBytes")?,
            attribute_size: c.u32("AttributeSizeInBytes")?,
            features: FeatureFlags(c.u64("FeatureInfo1")?),
            shader_stage_flag: c.u32("ShaderStageFlag")?,
            min_shader_target: c.u32("MinShaderTarget")?,
            v2: None,
        };
        if stride >= FUNCTION_2 {
            f.v2 = Some(RdatFunction2 {
                min_wave_lanes: c.u8("MinimumExpectedWaveLaneCount")?,
                max_wave_lanes: c.u8("MaximumExpectedWaveLaneCount")?,
                shader_flags: c.u16("ShaderFlags")?,
                shader_ref: c.u32("RawShaderRef")?,
            });
        }
        Ok(f)
    }

    fn write(&self, out: &mut Vec<u8>) {
        put_words(
            out,
            &[
                self.name.0,
                self.unmangled_name.0,
                self.resources.0,
                self.function_dependencies.0,
                self.shader_kind,
                self.payload_size,
                self.attribute_size,
            ],
        );
        out.extend_from_slice(&self.features.0.to_le_bytes());
        put_words(out, &[self.shader_stage_flag, self.min_shader_target]);
        if let Some(v2) = &self.v2 {
            out.extend_from_slice(&[v2.min_wave_lanes, v2.max_wave_lanes]);
            out.extend_from_slice(&v2.shader_flags.to_le_bytes());
            put_words(out, &[v2.shader_ref]);
        }
    }
}

impl Row for RdatSubobject {
    const MIN: u32 = 24;

    fn read(c: &mut Cursor, _: u32) -> Result<Self, ReadError> {
        let mut w = || c.u32("Subobject");
        Ok(Self {
            kind: SubobjectKind(w()?),
            name: RdatString(w()?),
            fields: [w()?, w()?, w()?, w()?],
        })
    }

    fn write(&self, out: &mut Vec<u8>) {
        put_words(out, &[self.kind.0, self.name.0]);
        put_words(out, &self.fields);
    }
}

impl Row for RdatPair {
    const MIN: u32 = 8;

    fn read(c: &mut Cursor, _: u32) -> Result<Self, ReadError> {
        Ok(Self(c.u32("first")?, c.u32("second")?))
    }

    fn write(&self, out: &mut Vec<u8>) {
        put_words(out, &[self.0, self.1]);
    }
}

impl Row for RdatNodeInfo {
    const MIN: u32 = 20;

    fn read(c: &mut Cursor, _: u32) -> Result<Self, ReadError> {
        Ok(Self {
            launch_type: c.u32("LaunchType")?,
            group_shared_bytes: c.u32("GroupSharedBytesUsed")?,
            attributes: RdatArray(c.u32("Attribs")?),
            outputs: RdatArray(c.u32("Outputs")?),
            inputs: RdatArray(c.u32("Inputs")?),
        })
    }

    fn write(&self, out: &mut Vec<u8>) {
        put_words(
            out,
            &[
                self.launch_type,
                self.group_shared_bytes,
                self.attributes.0,
                self.outputs.0,
                self.inputs.0,
            ],
        );
    }
}

/// Reads a table.
pub(super) fn read_table<'a, T: Row>(data: &'a [u8]) -> Result<RdatTable<'a, T>, ReadError> {
    let mut c = Cursor::new(FourCc::RDAT, data);
    let count = c.u32("RecordCount")?;
    let stride = c.u32("RecordStride")?;
    let mut records = Vec::new();
    if count > 0 {
        if stride < T::MIN {
            let value = stride.into();
            return Err(c.error(K::BadValue { value }, 4, "RecordStride"));
        }
        let bytes = c.take(u64::from(count) * u64::from(stride), "records")?;
        for record in bytes.chunks_exact(usize::try_from(stride).unwrap_or(usize::MAX)) {
            let mut c = Cursor::new(FourCc::RDAT, record);
            records.push(RdatRecord {
                value: T::read(&mut c, stride)?,
                extra: c.rest().into(),
            });
        }
    }
    Ok(RdatTable {
        stride,
        records,
        trailing: c.rest().into(),
    })
}

/// Appends a table.
pub(super) fn write_table<T: Row>(
    table: &RdatTable<T>,
    out: &mut Vec<u8>,
) -> Result<(), WriteError> {
    let part = FourCc::RDAT;
    let count = fit_u32(part, 0, "RecordCount", table.records.len() as u64)?;
    put_words(out, &[count, table.stride]);
    for r in &table.records {
        let start = out.len();
        r.value.write(out);
        // Else the extra bytes would be read as fields, or fields as extra bytes.
        let known = T::known(table.stride).into();
        expect(part, 4, "RecordStride", known, (out.len() - start) as u64)?;
        out.extend_from_slice(&r.extra);
        let found = (out.len() - start) as u64;
        expect(part, 4, "RecordStride", table.stride.into(), found)?;
    }
    out.extend_from_slice(&table.trailing);
    Ok(())
}
