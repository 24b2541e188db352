//! The runtime info: `PSVRuntimeInfo0` to `4`.
#![forbid(unsafe_code)]

use crate::dxbc::{
    FourCc, ReadError, WriteError,
    bytes::{Cursor, len},
    part::{ShaderKind, expect},
};
use std::borrow::Cow;

/// Versions of `PSV0`, told apart by the size of the runtime info.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum PsvVersion {
    /// 24 bytes, validator 1.0.
    V0,
    /// 36 bytes, validators 1.1 to 1.5: stage, signatures, dependencies.
    V1,
    /// 48 bytes, validators 1.6 and 1.7: workgroup size; resource kinds.
    V2,
    /// 52 bytes, validators 1.8 and 1.9: entry name.
    V3,
    /// 56 bytes, validator 1.10: group-shared bytes.
    V4,
}

impl PsvVersion {
    /// Bytes of the runtime info.
    #[must_use]
    pub const fn info_size(self) -> u32 {
        match self {
            Self::V0 => 24,
            Self::V1 => 36,
            Self::V2 => 48,
            Self::V3 => 52,
            Self::V4 => 56,
        }
    }

    /// Bytes of a resource record.
    #[must_use]
    pub const fn resource_size(self) -> u32 {
        match self {
            Self::V0 | Self::V1 => 16,
            Self::V2 | Self::V3 | Self::V4 => 24,
        }
    }

    /// The version that a validator wants (DXC `GetPSVVersion`).
    ///
    /// ```
    /// use kernite::dxbc::part::PsvVersion;
    /// assert_eq!(PsvVersion::for_validator(1, 5), PsvVersion::V1);
    /// assert_eq!(PsvVersion::for_validator(1, 10), PsvVersion::V4);
    /// ```
    #[must_use]
    pub const fn for_validator(major: u16, minor: u16) -> Self {
        match (major, minor) {
            (0, _) | (1, 0) => Self::V0,
            (1, 1..=5) => Self::V1,
            (1, 6 | 7) => Self::V2,
            (1, 8 | 9) => Self::V3,
            _ => Self::V4,
        }
    }
}

/// The runtime info.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PsvInfo<'a> {
    /// The stage's own fields: see [`PsvStage`].
    pub stage_info: [u8; 16],
    /// Least lane count, 0 if any will do.
    pub minimum_wave_lanes: u32,
    /// Most lanes, `u32::MAX` if any will do.
    pub maximum_wave_lanes: u32,
    /// Version 1.
    pub v1: Option<PsvInfo1>,
    /// Version 2: threads of a workgroup in x, y, z; zero for stages without.
    pub num_threads: Option<[u32; 3]>,
    /// Version 3: offset of the entry function's name in the string table.
    pub entry_function_name: Option<u32>,
    /// Version 4: bytes of group-shared memory.
    pub group_shared_bytes: Option<u32>,
    /// Bytes of a version that is not known.
    pub extra: Cow<'a, [u8]>,
}

/// What version 1 adds. The element counts are those of [`Psv`](super::Psv)'s lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PsvInfo1 {
    /// Shader kind.
    pub shader_stage: u8,
    /// Not 0 if the shader reads the view ID.
    pub uses_view_id: u8,
    /// Geometry: the most vertices, a `u16`. Hull and domain: byte 0 is the number of
    /// patch-constant vectors. Mesh: byte 0 primitive vectors, byte 1 topology.
    pub stage_info: [u8; 2],
    /// Input vectors.
    pub input_vectors: u8,
    /// Output vectors by stream.
    pub output_vectors: [u8; 4],
}

impl Default for PsvInfo<'_> {
    /// Version 0 without any demand.
    fn default() -> Self {
        Self {
            stage_info: [0; 16],
            minimum_wave_lanes: 0,
            maximum_wave_lanes: u32::MAX,
            v1: None,
            num_threads: None,
            entry_function_name: None,
            group_shared_bytes: None,
            extra: Cow::Borrowed(&[]),
        }
    }
}

impl<'a> PsvInfo<'a> {
    /// The highest version whose fields are there.
    #[must_use]
    pub fn version(&self) -> PsvVersion {
        if self.group_shared_bytes.is_some() {
            PsvVersion::V4
        } else if self.entry_function_name.is_some() {
            PsvVersion::V3
        } else if self.num_threads.is_some() {
            PsvVersion::V2
        } else if self.v1.is_some() {
            PsvVersion::V1
        } else {
            PsvVersion::V0
        }
    }

    /// The stage's own fields, for a stage given: version 0 does not store which it is.
    #[must_use]
    pub fn stage(&self, kind: ShaderKind) -> PsvStage {
        PsvStage::from_bytes(kind, self.stage_info)
    }

    /// Bytes of the info, unknown ones included.
    pub(super) fn size(&self) -> u64 {
        u64::from(self.version().info_size()) + len(&self.extra)
    }

    /// Patch-constant or primitive vectors, which only some stages have.
    pub(super) fn patch_vectors(&self) -> u8 {
        match &self.v1 {
            Some(v) => match ShaderKind(v.shader_stage.into()) {
                ShaderKind::HULL | ShaderKind::DOMAIN | ShaderKind::MESH => v.stage_info[0],
                _ => 0,
            },
            None => 0,
        }
    }

    /// Reads `bytes`, which are the info and nothing else; gives the element counts too.
    pub(super) fn read(bytes: &'a [u8], at: u64) -> Result<(Self, [u8; 3]), ReadError> {
        let mut c = Cursor::new(FourCc::PSV0, bytes);
        let info = Self::read_fields(&mut c, bytes);
        info.map_err(|e| e.in_part(FourCc::PSV0, at))
    }

    fn read_fields(c: &mut Cursor<'a>, bytes: &[u8]) -> Result<(Self, [u8; 3]), ReadError> {
        let has = |v: PsvVersion| len(bytes) >= v.info_size().into();
        let mut info = Self::default();
        info.stage_info
            .copy_from_slice(c.take(16, "PSVRuntimeInfo0")?);
        info.minimum_wave_lanes = c.u32("MinimumExpectedWaveLaneCount")?;
        info.maximum_wave_lanes = c.u32("MaximumExpectedWaveLaneCount")?;
        let mut counts = [0; 3];
        if has(PsvVersion::V1) {
            let mut v1 = PsvInfo1 {
                shader_stage: c.u8("ShaderStage")?,
                uses_view_id: c.u8("UsesViewID")?,
                ..PsvInfo1::default()
            };
            v1.stage_info.copy_from_slice(c.take(2, "MaxVertexCount")?);
            counts.copy_from_slice(c.take(3, "SigInputElements")?);
            v1.input_vectors = c.u8("SigInputVectors")?;
            v1.output_vectors
                .copy_from_slice(c.take(4, "SigOutputVectors")?);
            info.v1 = Some(v1);
        }
        if has(PsvVersion::V2) {
            let mut n = || c.u32("NumThreads");
            info.num_threads = Some([n()?, n()?, n()?]);
        }
        if has(PsvVersion::V3) {
            info.entry_function_name = Some(c.u32("EntryFunctionName")?);
        }
        if has(PsvVersion::V4) {
            info.group_shared_bytes = Some(c.u32("NumBytesGroupSharedMemory")?);
        }
        info.extra = c.rest().into();
        Ok((info, counts))
    }

    /// Appends the info.
    pub(super) fn write(&self, counts: [u8; 3], out: &mut Vec<u8>) -> Result<(), WriteError> {
        // Fields of one version need those of all before.
        let chain = [
            self.v1.is_some(),
            self.num_threads.is_some(),
            self.entry_function_name.is_some(),
            self.group_shared_bytes.is_some(),
        ];
        let there = chain.iter().filter(|&&b| b).count() as u64;
        let reach = chain.iter().take_while(|&&b| b).count() as u64;
        expect(FourCc::PSV0, 4, "PSVRuntimeInfo", there, reach)?;
        // Extra bytes must not be long enough to be read as the next version's fields.
        let next = usize::try_from(reach).ok();
        let next = next.and_then(|n| [12, 12, 4, 4].get(n).copied());
        if let Some(next) = next.filter(|&n| len(&self.extra) >= n) {
            expect(
                FourCc::PSV0,
                0,
                "PSVRuntimeInfoSize",
                next - 1,
                len(&self.extra),
            )?;
        }
        out.extend_from_slice(&self.stage_info);
        out.extend_from_slice(&self.minimum_wave_lanes.to_le_bytes());
        out.extend_from_slice(&self.maximum_wave_lanes.to_le_bytes());
        if let Some(v1) = &self.v1 {
            out.extend_from_slice(&[v1.shader_stage, v1.uses_view_id]);
            out.extend_from_slice(&v1.stage_info);
            out.extend_from_slice(&counts);
            out.push(v1.input_vectors);
            out.extend_from_slice(&v1.output_vectors);
        }
        for word in self
            .num_threads
            .iter()
            .flatten()
            .chain(&self.entry_function_name)
            .chain(&self.group_shared_bytes)
        {
            out.extend_from_slice(&word.to_le_bytes());
        }
        out.extend_from_slice(&self.extra);
        Ok(())
    }
}

/// The stage's own fields of the runtime info, typed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum PsvStage {
    /// Vertex.
    Vertex {
        /// It writes the position.
        output_position_present: bool,
    },
    /// Pixel.
    Pixel {
        /// It writes the depth.
        depth_output: bool,
        /// It runs once a sample.
        sample_frequency: bool,
    },
    /// Hull.
    Hull {
        /// Control points read.
        input_control_points: u32,
        /// Control points written.
        output_control_points: u32,
        /// Tessellator domain.
        domain: u32,
        /// Tessellator output primitive.
        output_primitive: u32,
    },
    /// Domain.
    Domain {
        /// Control points read.
        input_control_points: u32,
        /// It writes the position.
        output_position_present: bool,
        /// Tessellator domain.
        domain: u32,
    },
    /// Geometry.
    Geometry {
        /// Input primitive.
        input_primitive: u32,
        /// Output topology.
        output_topology: u32,
        /// Streams written.
        output_stream_mask: u32,
        /// It writes the position.
        output_position_present: bool,
    },
    /// Mesh.
    Mesh {
        /// Bytes of group-shared memory.
        group_shared_bytes: u32,
        /// Of these, how many depend on the view ID.
        group_shared_bytes_view_id: u32,
        /// Bytes of the payload.
        payload_bytes: u32,
        /// Most vertices.
        max_vertices: u16,
        /// Most primitives.
        max_primitives: u16,
    },
    /// Amplification.
    Amplification {
        /// Bytes of the payload.
        payload_bytes: u32,
    },
    /// Compute and all other stages have no fields here.
    Other,
}

impl PsvStage {
    /// Reads the fields of a stage.
    #[must_use]
    pub fn from_bytes(kind: ShaderKind, b: [u8; 16]) -> Self {
        let [
            b0,
            b1,
            b2,
            b3,
            b4,
            b5,
            b6,
            b7,
            b8,
            b9,
            ba,
            bb,
            bc,
            bd,
            be,
            bf,
        ] = b;
        let words = [
            [b0, b1, b2, b3],
            [b4, b5, b6, b7],
            [b8, b9, ba, bb],
            [bc, bd, be, bf],
        ];
        let [w0, w1, w2, w3] = words.map(u32::from_le_bytes);
        let halves = [[bc, bd], [be, bf]];
        let [h0, h1] = halves.map(u16::from_le_bytes);
        match kind {
            ShaderKind::VERTEX => Self::Vertex {
                output_position_present: b0 != 0,
            },
            ShaderKind::PIXEL => Self::Pixel {
                depth_output: b0 != 0,
                sample_frequency: b1 != 0,
            },
            ShaderKind::HULL => Self::Hull {
                input_control_points: w0,
                output_control_points: w1,
                domain: w2,
                output_primitive: w3,
            },
            ShaderKind::DOMAIN => Self::Domain {
                input_control_points: w0,
                output_position_present: b4 != 0,
                domain: w2,
            },
            ShaderKind::GEOMETRY => Self::Geometry {
                input_primitive: w0,
                output_topology: w1,
                output_stream_mask: w2,
                output_position_present: bc != 0,
            },
            ShaderKind::MESH => Self::Mesh {
                group_shared_bytes: w0,
                group_shared_bytes_view_id: w1,
                payload_bytes: w2,
                max_vertices: h0,
                max_primitives: h1,
            },
            ShaderKind::AMPLIFICATION => Self::Amplification { payload_bytes: w0 },
            _ => Self::Other,
        }
    }

    /// The fields as stored, unused bytes zero.
    #[must_use]
    pub fn to_bytes(self) -> [u8; 16] {
        let words = |w: [u32; 4]| {
            let mut b = [0; 16];
            for (b, w) in b.chunks_exact_mut(4).zip(w) {
                b.copy_from_slice(&w.to_le_bytes());
            }
            b
        };
        match self {
            Self::Vertex {
                output_position_present,
            } => words([output_position_present.into(), 0, 0, 0]),
            Self::Pixel {
                depth_output,
                sample_frequency,
            } => words([
                u32::from(depth_output) | u32::from(sample_frequency) << 8,
                0,
                0,
                0,
            ]),
            Self::Hull {
                input_control_points,
                output_control_points,
                domain,
                output_primitive,
            } => words([
                input_control_points,
                output_control_points,
                domain,
                output_primitive,
            ]),
            Self::Domain {
                input_control_points,
                output_position_present,
                domain,
            } => words([
                input_control_points,
                output_position_present.into(),
                domain,
                0,
            ]),
            Self::Geometry {
                input_primitive,
                output_topology,
                output_stream_mask,
                output_position_present,
            } => words([
                input_primitive,
                output_topology,
                output_stream_mask,
                output_position_present.into(),
            ]),
            Self::Mesh {
                group_shared_bytes,
                group_shared_bytes_view_id,
                payload_bytes,
                max_vertices,
                max_primitives,
            } => words([
                group_shared_bytes,
                group_shared_bytes_view_id,
                payload_bytes,
                u32::from(max_vertices) | u32::from(max_primitives) << 16,
            ]),
            Self::Amplification { payload_bytes } => words([payload_bytes, 0, 0, 0]),
            Self::Other => [0; 16],
        }
    }
}
