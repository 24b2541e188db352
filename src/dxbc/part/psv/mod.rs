//! `PSV0`: pipeline state validation (DXC `DxilPipelineStateValidation.h`).
//!
//! In order: runtime info, resources, and from version 1 on string table, semantic-index table,
//! signature elements, view-ID masks and input-to-output dependency tables. Each structure's size
//! is stored, versions only append fields, and a reader keeps what it does not know.
#![forbid(unsafe_code)]

mod info;
mod io;
mod table;

pub use info::{PsvInfo, PsvInfo1, PsvStage, PsvVersion};
pub use table::StringTable;

use super::{
    ComponentType, InterpolationMode, ResourceKind, ResourceType, SemanticKind, ShaderKind,
};
use crate::dxbc::{
    FourCc, ReadError, ReadErrorKind as K,
    bytes::{c_str, len},
};
use std::borrow::Cow;

/// The `PSV0` part.
///
/// Names and index runs are references into the part's own tables and are looked up when asked for:
/// a bad one spoils only itself.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Psv<'a> {
    /// What the pipeline needs to know about the shader.
    pub info: PsvInfo<'a>,
    /// Bound resources: constant buffers, samplers, SRVs, UAVs, as DXC orders them.
    pub resources: Vec<PsvResource<'a>>,
    /// Version 1: names, each with its NUL.
    pub string_table: Cow<'a, [u8]>,
    /// Version 1: runs of semantic indices.
    pub semantic_indexes: Vec<u32>,
    /// Version 1: input elements.
    pub inputs: Vec<PsvElement<'a>>,
    /// Version 1: output elements.
    pub outputs: Vec<PsvElement<'a>>,
    /// Version 1: patch-constant or primitive elements.
    pub patch_constants: Vec<PsvElement<'a>>,
    /// Version 1: which outputs depend on what.
    pub dependencies: PsvDependencies,
    /// Bytes after everything that the sizes describe. DXC's validator wants none.
    pub trailing: Cow<'a, [u8]>,
}

/// A bound resource (`PSVResourceBindInfo0`, `1`).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PsvResource<'a> {
    /// Its type.
    pub ty: ResourceType,
    /// Register space.
    pub space: u32,
    /// First register.
    pub lower_bound: u32,
    /// Last register, or `u32::MAX` where there is no end. Kept as stored, even if it is below the
    /// first: see [`count`](Self::count).
    pub upper_bound: u32,
    /// The fields that records of 24 bytes add (version 2).
    pub extension: Option<PsvResourceExtension>,
    /// Bytes that a newer version added to the record.
    pub extra: Cow<'a, [u8]>,
}

/// What records of 24 bytes add.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PsvResourceExtension {
    /// Its kind.
    pub kind: ResourceKind,
    /// Bit 0: used by 64-bit atomics.
    pub flags: u32,
}

impl PsvResourceExtension {
    /// The only known flag.
    pub const USED_BY_ATOMIC64: u32 = 1;
}

impl PsvResource<'_> {
    /// Number of registers; `None` where there is no end, or where the last is below the first.
    ///
    /// ```
    /// use kernite::dxbc::part::PsvResource;
    /// let r = PsvResource { lower_bound: 2, upper_bound: 5, ..Default::default() };
    /// assert_eq!(r.count(), Some(4));
    /// let bad = PsvResource { lower_bound: 5, upper_bound: 2, ..Default::default() };
    /// assert_eq!(bad.count(), None);
    /// ```
    #[must_use]
    pub fn count(&self) -> Option<u32> {
        if self.upper_bound == u32::MAX {
            return None;
        }
        self.upper_bound
            .checked_sub(self.lower_bound)
            .and_then(|n| n.checked_add(1))
    }
}

/// A signature element (`PSVSignatureElement0`).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PsvElement<'a> {
    /// Offset of the name in the string table; 0 for system values.
    pub semantic_name: u32,
    /// First entry of its run in the semantic-index table; the run has `rows` entries.
    pub semantic_indexes: u32,
    /// Rows (registers).
    pub rows: u8,
    /// First row.
    pub start_row: u8,
    /// Bits 0 to 3 columns, 4 and 5 first column, 6 allocated.
    pub cols_and_start: u8,
    /// What it means.
    pub semantic_kind: SemanticKind,
    /// Component type, numbered as [`ComponentType`]: see [`component_type`](Self::component_type).
    pub component_type: u8,
    /// Interpolation.
    pub interpolation_mode: InterpolationMode,
    /// Bits 0 to 3 dynamically indexed columns, 4 and 5 the stream.
    pub dynamic_mask_and_stream: u8,
    /// Zero.
    pub reserved: u8,
    /// Bytes that a newer version added to the element.
    pub extra: Cow<'a, [u8]>,
}

impl PsvElement<'_> {
    /// Number of columns.
    #[must_use]
    pub fn cols(&self) -> u8 {
        self.cols_and_start & 0xf
    }

    /// First column.
    #[must_use]
    pub fn start_col(&self) -> u8 {
        (self.cols_and_start >> 4) & 3
    }

    /// True if the element has a place in the signature.
    #[must_use]
    pub fn is_allocated(&self) -> bool {
        self.cols_and_start & 0x40 != 0
    }

    /// Output stream.
    #[must_use]
    pub fn stream(&self) -> u8 {
        (self.dynamic_mask_and_stream >> 4) & 3
    }

    /// Component type.
    #[must_use]
    pub fn component_type(&self) -> ComponentType {
        ComponentType(self.component_type.into())
    }
}

/// View-ID masks and dependency tables, empty where the shader has none.
///
/// A mask has four bits a vector (eight vectors a word); a dependency table has one mask for each
/// component of the input. Only geometry shaders use streams 1 to 3.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PsvDependencies {
    /// Outputs that depend on the view ID, by stream.
    pub view_id_outputs: [Vec<u32>; 4],
    /// Patch constants (hull) or primitive outputs (mesh) that depend on the view ID.
    pub view_id_patch_constants: Vec<u32>,
    /// Outputs by input, by stream.
    pub input_to_outputs: [Vec<u32>; 4],
    /// Hull: patch constants by input.
    pub input_to_patch_constants: Vec<u32>,
    /// Domain: outputs by patch constant.
    pub patch_constant_to_outputs: Vec<u32>,
}

impl<'a> Psv<'a> {
    /// The version that the size of the runtime info gives.
    #[must_use]
    pub fn version(&self) -> PsvVersion {
        self.info.version()
    }

    /// The shader stage; version 0 does not store it.
    #[must_use]
    pub fn stage(&self) -> Option<ShaderKind> {
        self.info
            .v1
            .as_ref()
            .map(|v| ShaderKind(v.shader_stage.into()))
    }

    /// A string of the table.
    ///
    /// # Errors
    /// An offset outside the table, or no NUL before the table's end. The error's offset is that
    /// of the table, or of the string in it.
    pub fn string(&self, offset: u32) -> Result<&[u8], ReadError> {
        let table = self.string_table_offset();
        let limit = len(&self.string_table);
        if u64::from(offset) >= limit {
            let at = table;
            let kind = K::OutOfBounds {
                end: offset.into(),
                limit,
            };
            return Err(ReadError::new(kind, at, Some(FourCc::PSV0), "StringTable"));
        }
        c_str(&self.string_table, offset.into()).ok_or_else(|| {
            let at = table + u64::from(offset);
            ReadError::new(K::UnterminatedString, at, Some(FourCc::PSV0), "StringTable")
        })
    }

    /// The entry function's name, from version 3 on.
    ///
    /// # Errors
    /// As [`string`](Self::string).
    pub fn entry_name(&self) -> Result<Option<&[u8]>, ReadError> {
        self.info
            .entry_function_name
            .map(|o| self.string(o))
            .transpose()
    }

    /// An element's name; empty for system values.
    ///
    /// # Errors
    /// As [`string`](Self::string).
    pub fn element_name(&self, element: &PsvElement) -> Result<&[u8], ReadError> {
        self.string(element.semantic_name)
    }

    /// An element's semantic indices, one a row.
    ///
    /// # Errors
    /// A run that leaves the table, whose offset the error has.
    pub fn element_indexes(&self, element: &PsvElement) -> Result<&[u32], ReadError> {
        let start = u64::from(element.semantic_indexes);
        let end = start + u64::from(element.rows);
        usize::try_from(start)
            .ok()
            .zip(usize::try_from(end).ok())
            .and_then(|(s, e)| self.semantic_indexes.get(s..e))
            .ok_or_else(|| {
                let limit = self.semantic_indexes.len() as u64;
                let table = self.string_table_offset() + len(&self.string_table) + 4;
                ReadError::new(
                    K::OutOfBounds { end, limit },
                    table,
                    Some(FourCc::PSV0),
                    "SemanticIndexTable",
                )
            })
    }

    /// All elements: inputs, outputs, patch constants.
    pub fn elements(&self) -> impl Iterator<Item = &PsvElement<'a>> {
        self.inputs
            .iter()
            .chain(&self.outputs)
            .chain(&self.patch_constants)
    }

    /// Where the n-th element of [`elements`](Self::elements) begins in the part.
    pub(crate) fn element_offset(&self, n: u64) -> u64 {
        let stride = 16 + self.elements().next().map_or(0, |e| len(&e.extra));
        let indexes = 4 + 4 * self.semantic_indexes.len() as u64;
        self.string_table_offset() + len(&self.string_table) + indexes + 4 + n * stride
    }

    /// Where the n-th resource begins in the part.
    pub(crate) fn resource_offset(&self, n: u64) -> u64 {
        let stride = self.resources.first().map_or(0, PsvResource::stride);
        4 + self.info.size() + 8 + n * stride
    }

    /// Where the string table's bytes begin in the part.
    pub(crate) fn string_table_offset(&self) -> u64 {
        let resources = match self.resources.first() {
            Some(r) => 4 + self.resources.len() as u64 * r.stride(),
            None => 0,
        };
        4 + self.info.size() + 4 + resources + 4
    }
}

impl PsvResource<'_> {
    /// Bytes of the record.
    fn stride(&self) -> u64 {
        let known = if self.extension.is_some() { 24 } else { 16 };
        known + len(&self.extra)
    }
}
