//! Reading and writing `PSV0` from front to back.
#![forbid(unsafe_code)]

use super::{Psv, PsvDependencies, PsvElement, PsvInfo, PsvResource, PsvResourceExtension};
use crate::dxbc::{
    FourCc, ReadError, ReadErrorKind as K, WriteError,
    bytes::{Cursor, len},
    part::{
        InterpolationMode, ResourceKind, ResourceType, SemanticKind, ShaderKind, expect, fit_u32,
        put_words,
    },
};

/// Bytes of version 0 of a resource record, with what version 2 adds, and of an element.
const RESOURCE_0: u32 = 16;
const RESOURCE_1: u32 = 24;
const ELEMENT_0: u32 = 16;

/// How many words each dependency table has.
struct Shape {
    view_id_outputs: [u64; 4],
    view_id_patch: u64,
    input_to_outputs: [u64; 4],
    input_to_patch: u64,
    patch_to_outputs: u64,
}

/// Words of a mask over `vectors`.
fn mask_words(vectors: u8) -> u64 {
    u64::from(vectors).div_ceil(8)
}

/// Words of a table with one mask for each component of the inputs.
fn table_words(inputs: u8, outputs: u8) -> u64 {
    mask_words(outputs) * u64::from(inputs) * 4
}

impl Shape {
    fn of(info: &PsvInfo) -> Self {
        let v1 = info.v1.unwrap_or_default();
        let stage = ShaderKind(v1.shader_stage.into());
        let patch = info.patch_vectors();
        let streams = if stage == ShaderKind::GEOMETRY { 4 } else { 1 };
        let mut shape = Self {
            view_id_outputs: [0; 4],
            view_id_patch: 0,
            input_to_outputs: [0; 4],
            input_to_patch: 0,
            patch_to_outputs: 0,
        };
        let tables = shape.view_id_outputs.iter_mut();
        let tables = tables.zip(&mut shape.input_to_outputs);
        for (&out, (masks, table)) in v1.output_vectors.iter().zip(tables).take(streams) {
            if v1.uses_view_id != 0 {
                *masks = mask_words(out);
            }
            if stage != ShaderKind::MESH {
                *table = table_words(v1.input_vectors, out);
            }
        }
        if v1.uses_view_id != 0 && matches!(stage, ShaderKind::HULL | ShaderKind::MESH) {
            shape.view_id_patch = mask_words(patch);
        }
        if stage == ShaderKind::HULL {
            shape.input_to_patch = table_words(v1.input_vectors, patch);
        }
        if stage == ShaderKind::DOMAIN {
            shape.patch_to_outputs = table_words(patch, v1.output_vectors[0]);
        }
        shape
    }

    fn read(&self, c: &mut Cursor) -> Result<PsvDependencies, ReadError> {
        let mut d = PsvDependencies::default();
        for (list, &n) in d.view_id_outputs.iter_mut().zip(&self.view_id_outputs) {
            *list = c.words(n, "ViewIDOutputMask")?;
        }
        d.view_id_patch_constants = c.words(self.view_id_patch, "ViewIDPCOrPrimOutputMask")?;
        for (list, &n) in d.input_to_outputs.iter_mut().zip(&self.input_to_outputs) {
            *list = c.words(n, "InputToOutputTable")?;
        }
        d.input_to_patch_constants = c.words(self.input_to_patch, "InputToPCOutputTable")?;
        d.patch_constant_to_outputs = c.words(self.patch_to_outputs, "PCInputToOutputTable")?;
        Ok(d)
    }

    fn write(
        &self,
        d: &PsvDependencies,
        out: &mut Vec<u8>,
        start: usize,
    ) -> Result<(), WriteError> {
        let mut put = |field, list: &[u32], n: u64| {
            let at = (out.len() - start) as u64;
            expect(FourCc::PSV0, at, field, n, list.len() as u64)?;
            put_words(out, list);
            Ok(())
        };
        for (list, &n) in d.view_id_outputs.iter().zip(&self.view_id_outputs) {
            put("ViewIDOutputMask", list, n)?;
        }
        put(
            "ViewIDPCOrPrimOutputMask",
            &d.view_id_patch_constants,
            self.view_id_patch,
        )?;
        for (list, &n) in d.input_to_outputs.iter().zip(&self.input_to_outputs) {
            put("InputToOutputTable", list, n)?;
        }
        put(
            "InputToPCOutputTable",
            &d.input_to_patch_constants,
            self.input_to_patch,
        )?;
        put(
            "PCInputToOutputTable",
            &d.patch_constant_to_outputs,
            self.patch_to_outputs,
        )
    }
}

impl<'a> Psv<'a> {
    /// Decodes the part's data.
    ///
    /// # Errors
    /// A size smaller than its structure's version 0, a string table of no whole words, or anything
    /// that ends past the part. References into the tables are not followed here.
    pub fn read(data: &'a [u8]) -> Result<Self, ReadError> {
        let mut c = Cursor::new(FourCc::PSV0, data);
        let size = c.u32("PSVRuntimeInfoSize")?;
        if size < super::PsvVersion::V0.info_size() {
            let value = size.into();
            return Err(c.error(K::BadValue { value }, 0, "PSVRuntimeInfoSize"));
        }
        let at = c.pos();
        let bytes = c.take(size.into(), "PSVRuntimeInfo")?;
        let (info, counts) = PsvInfo::read(bytes, at)?;
        let mut psv = Self {
            info,
            ..Self::default()
        };
        psv.read_resources(&mut c)?;
        if psv.info.v1.is_some() {
            psv.read_signatures(&mut c, counts)?;
            psv.dependencies = Shape::of(&psv.info).read(&mut c)?;
        }
        psv.trailing = c.rest().into();
        Ok(psv)
    }

    fn read_resources(&mut self, c: &mut Cursor<'a>) -> Result<(), ReadError> {
        let count = c.u32("ResourceCount")?;
        if count == 0 {
            return Ok(());
        }
        let at = c.pos();
        let stride = c.u32("PSVResourceBindInfoSize")?;
        if stride < RESOURCE_0 {
            let value = stride.into();
            return Err(c.error(K::BadValue { value }, at, "PSVResourceBindInfoSize"));
        }
        let bytes = c.take(u64::from(count) * u64::from(stride), "PSVResourceBindInfo")?;
        for record in bytes.chunks_exact(usize::try_from(stride).unwrap_or(usize::MAX)) {
            let mut c = Cursor::new(FourCc::PSV0, record);
            let mut resource = PsvResource {
                ty: ResourceType(c.u32("ResType")?),
                space: c.u32("Space")?,
                lower_bound: c.u32("LowerBound")?,
                upper_bound: c.u32("UpperBound")?,
                ..PsvResource::default()
            };
            if stride >= RESOURCE_1 {
                resource.extension = Some(PsvResourceExtension {
                    kind: ResourceKind(c.u32("ResKind")?),
                    flags: c.u32("ResFlags")?,
                });
            }
            resource.extra = c.rest().into();
            self.resources.push(resource);
        }
        Ok(())
    }

    fn read_signatures(&mut self, c: &mut Cursor<'a>, counts: [u8; 3]) -> Result<(), ReadError> {
        let at = c.pos();
        let size = c.u32("StringTableSize")?;
        if !size.is_multiple_of(4) {
            let kind = K::Misaligned {
                value: size.into(),
                align: 4,
            };
            return Err(c.error(kind, at, "StringTableSize"));
        }
        self.string_table = c.take(size.into(), "StringTable")?.into();
        let entries = c.u32("SemanticIndexTableEntries")?;
        self.semantic_indexes = c.words(entries.into(), "SemanticIndexTable")?;
        if counts == [0; 3] {
            return Ok(());
        }
        let at = c.pos();
        let stride = c.u32("PSVSignatureElementSize")?;
        if stride < ELEMENT_0 {
            let value = stride.into();
            return Err(c.error(K::BadValue { value }, at, "PSVSignatureElementSize"));
        }
        let lists = [
            &mut self.inputs,
            &mut self.outputs,
            &mut self.patch_constants,
        ];
        for (list, count) in lists.into_iter().zip(counts) {
            for _ in 0..count {
                let bytes = c.take(stride.into(), "PSVSignatureElement")?;
                list.push(PsvElement::read(bytes)?);
            }
        }
        Ok(())
    }

    /// Appends the part's data.
    ///
    /// # Errors
    /// Records of different sizes, more than 255 elements of a kind, fields of a later version than
    /// the info's, or tables of other sizes than the info's vectors give.
    pub fn write(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        let part = FourCc::PSV0;
        let start = out.len();
        let lists = [&self.inputs, &self.outputs, &self.patch_constants];
        let mut counts = [0; 3];
        for (count, list) in counts.iter_mut().zip(lists) {
            *count = u8::try_from(list.len()).map_err(|_| WriteError::TooLarge {
                part,
                offset: 32,
                field: "SigInputElements",
                value: list.len() as u64,
                limit: u8::MAX.into(),
            })?;
        }
        let size = fit_u32(part, 0, "PSVRuntimeInfoSize", self.info.size())?;
        out.extend_from_slice(&size.to_le_bytes());
        self.info.write(counts, out)?;
        self.write_resources(out, start)?;
        if self.info.v1.is_some() {
            self.write_signatures(out, start, lists)?;
            Shape::of(&self.info).write(&self.dependencies, out, start)?;
        } else {
            let at = (out.len() - start) as u64;
            let more = len(&self.string_table)
                + self.semantic_indexes.len() as u64
                + self.elements().count() as u64;
            expect(part, at, "StringTable", 0, more)?;
            let none = PsvDependencies::default();
            expect(
                part,
                at,
                "ViewIDOutputMask",
                0,
                u64::from(self.dependencies != none),
            )?;
        }
        out.extend_from_slice(&self.trailing);
        Ok(())
    }

    fn write_resources(&self, out: &mut Vec<u8>, start: usize) -> Result<(), WriteError> {
        let part = FourCc::PSV0;
        let at = (out.len() - start) as u64;
        let count = fit_u32(part, at, "ResourceCount", self.resources.len() as u64)?;
        out.extend_from_slice(&count.to_le_bytes());
        let Some(first) = self.resources.first() else {
            return Ok(());
        };
        let at = at + 4;
        let stride = fit_u32(part, at, "PSVResourceBindInfoSize", first.stride())?;
        // Extra bytes must not be long enough to be read as the extension.
        let known = if stride >= RESOURCE_1 {
            RESOURCE_1
        } else {
            RESOURCE_0
        };
        out.extend_from_slice(&stride.to_le_bytes());
        for r in &self.resources {
            let at = (out.len() - start) as u64;
            let extra = u64::from(stride - known);
            expect(part, at, "PSVResourceBindInfo", extra, len(&r.extra))?;
            expect(part, at, "PSVResourceBindInfo", stride.into(), r.stride())?;
            put_words(out, &[r.ty.0, r.space, r.lower_bound, r.upper_bound]);
            if let Some(e) = r.extension {
                put_words(out, &[e.kind.0, e.flags]);
            }
            out.extend_from_slice(&r.extra);
        }
        Ok(())
    }

    fn write_signatures(
        &self,
        out: &mut Vec<u8>,
        start: usize,
        lists: [&Vec<PsvElement>; 3],
    ) -> Result<(), WriteError> {
        let part = FourCc::PSV0;
        let at = (out.len() - start) as u64;
        let size = len(&self.string_table);
        expect(part, at, "StringTableSize", size.next_multiple_of(4), size)?;
        let size = fit_u32(part, at, "StringTableSize", size)?;
        out.extend_from_slice(&size.to_le_bytes());
        out.extend_from_slice(&self.string_table);
        let at = (out.len() - start) as u64;
        let entries = self.semantic_indexes.len() as u64;
        let entries = fit_u32(part, at, "SemanticIndexTableEntries", entries)?;
        out.extend_from_slice(&entries.to_le_bytes());
        put_words(out, &self.semantic_indexes);
        let Some(first) = lists.iter().find_map(|l| l.first()) else {
            return Ok(());
        };
        let at = (out.len() - start) as u64;
        let stride = u64::from(ELEMENT_0) + len(&first.extra);
        let size = fit_u32(part, at, "PSVSignatureElementSize", stride)?;
        out.extend_from_slice(&size.to_le_bytes());
        for e in lists.into_iter().flatten() {
            let at = (out.len() - start) as u64;
            let found = u64::from(ELEMENT_0) + len(&e.extra);
            expect(part, at, "PSVSignatureElement", stride, found)?;
            e.write(out);
        }
        Ok(())
    }
}

impl<'a> PsvElement<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, ReadError> {
        let mut c = Cursor::new(FourCc::PSV0, bytes);
        Ok(Self {
            semantic_name: c.u32("SemanticName")?,
            semantic_indexes: c.u32("SemanticIndexes")?,
            rows: c.u8("Rows")?,
            start_row: c.u8("StartRow")?,
            cols_and_start: c.u8("ColsAndStart")?,
            semantic_kind: SemanticKind(c.u8("SemanticKind")?),
            component_type: c.u8("ComponentType")?,
            interpolation_mode: InterpolationMode(c.u8("InterpolationMode")?),
            dynamic_mask_and_stream: c.u8("DynamicMaskAndStream")?,
            reserved: c.u8("Reserved")?,
            extra: c.rest().into(),
        })
    }

    fn write(&self, out: &mut Vec<u8>) {
        put_words(out, &[self.semantic_name, self.semantic_indexes]);
        out.extend_from_slice(&[
            self.rows,
            self.start_row,
            self.cols_and_start,
            self.semantic_kind.0,
            self.component_type,
            self.interpolation_mode.0,
            self.dynamic_mask_and_stream,
            self.reserved,
        ]);
        out.extend_from_slice(&self.extra);
    }
}
