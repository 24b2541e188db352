//! Image types and instructions (§3.49.10).

use super::check::{Checker, Inst};
use super::error::Note;
use super::rules::Rule;
use super::state::{Idx, Kind, Num};
use spirv::{Capability as C, Op, StorageClass as S};

/// Dimensions, by number.
mod dim {
    pub(super) const D1: u32 = 0;
    pub(super) const D2: u32 = 1;
    pub(super) const D3: u32 = 2;
    pub(super) const CUBE: u32 = 3;
    pub(super) const RECT: u32 = 4;
    pub(super) const BUFFER: u32 = 5;
    pub(super) const SUBPASS: u32 = 6;
}

/// An OpTypeImage.
#[derive(Clone, Copy)]
struct Image {
    sampled_type: Idx,
    dim: u32,
    arrayed: u32,
    multisampled: u32,
    sampled: u32,
    format: u32,
}

impl Image {
    /// The components of a coordinate, without its layer.
    fn plane(self) -> u32 {
        match self.dim {
            dim::D1 | dim::BUFFER => 1,
            dim::D3 | dim::CUBE => 3,
            _ => 2,
        }
    }

    fn has_levels(self) -> bool {
        matches!(self.dim, dim::D1 | dim::D2 | dim::D3 | dim::CUBE)
    }
}

fn vector4(n: Num) -> bool {
    n.vector && n.dim == 4 && matches!(n.base, Kind::Int | Kind::Float)
}

fn int(n: Num) -> bool {
    n.base == Kind::Int && !n.cooperative
}

fn float(n: Num) -> bool {
    n.base == Kind::Float && !n.cooperative
}

impl Checker<'_> {
    fn image_of(&self, ty: Idx) -> Option<Image> {
        let def = self.m.def(ty);
        if self.m.kind(ty) != Kind::Image {
            return None;
        }
        let word = |i| self.word_at(def.word, i);
        Some(Image {
            sampled_type: self.m.ids.get(word(2)),
            dim: word(3),
            arrayed: word(5),
            multisampled: word(6),
            sampled: word(7),
            format: word(8),
        })
    }

    /// The image of an operand that is an image.
    fn plain_image(&self, inst: &Inst<'_>, i: usize) -> Option<Image> {
        self.image_of(self.operand_type(inst, i))
    }

    /// The image of an operand that is a sampled image.
    fn combined_image(&self, inst: &Inst<'_>, i: usize) -> Option<Image> {
        let ty = self.m.ty(self.operand_type(inst, i));
        if ty.kind == Kind::SampledImage {
            self.image_of(ty.elem)
        } else {
            None
        }
    }

    fn no_image(&mut self, inst: &Inst<'_>, i: usize) {
        self.fault(Rule::ImageType, inst.at, Note::Id(inst.word(i)));
    }

    fn wrong_image(&mut self, inst: &Inst<'_>) {
        self.fault(Rule::ImageType, inst.at, Note::None);
    }

    pub(super) fn image_type(&mut self, inst: &Inst<'_>) {
        let m = self.m;
        if inst.op == Op::TypeSampledImage {
            let fits = self
                .image_of(self.idx(inst, 2))
                .is_some_and(|i| i.sampled <= 1 && !(m.version >= 6 && i.dim == dim::BUFFER));
            if !fits {
                self.fault(Rule::TypeSampledImage, inst.at, Note::Id(inst.word(2)));
            }
            return;
        }
        let sampled_type = m.ty(self.idx(inst, 2));
        let scalar = match (sampled_type.kind, sampled_type.width) {
            (Kind::Float, 32) | (Kind::Int, 32) => true,
            (Kind::Int, 64) => m.has_cap(C::Int64ImageEXT),
            _ => false,
        };
        let (dim, depth, arrayed, ms, sampled) = (
            inst.word(3),
            inst.word(4),
            inst.word(5),
            inst.word(6),
            inst.word(7),
        );
        let subpass = dim == dim::SUBPASS;
        let fits = scalar
            && depth <= 2
            && arrayed <= 1
            && ms <= 1
            && matches!(sampled, 1 | 2)
            && dim != dim::RECT
            && !(subpass && (sampled != 2 || inst.word(8) != 0 || arrayed != 0))
            && (ms != 1 || sampled != 2 || subpass || m.has_cap(C::StorageImageMultisample));
        if !fits {
            self.fault(Rule::TypeImage, inst.at, Note::None);
        }
    }

    pub(super) fn image(&mut self, inst: &Inst<'_>) {
        match inst.op {
            Op::SampledImage => self.sampled_image(inst),
            Op::ImageTexelPointer => self.texel_pointer(inst),
            Op::ImageSampleImplicitLod
            | Op::ImageSampleExplicitLod
            | Op::ImageSampleDrefImplicitLod
            | Op::ImageSampleDrefExplicitLod => self.sample(inst),
            Op::ImageGather | Op::ImageDrefGather => self.image_gather(inst),
            Op::ImageFetch => self.fetch(inst),
            Op::ImageRead | Op::ImageWrite => self.read_write(inst),
            Op::Image => {
                let sampled = self.m.ty(self.operand_type(inst, 3));
                if self.m.kind(inst.ty) != Kind::Image
                    || sampled.kind != Kind::SampledImage
                    || sampled.elem != inst.ty
                {
                    self.no_image(inst, 3);
                }
            }
            _ => self.query(inst),
        }
        let implicit = matches!(
            inst.op,
            Op::ImageSampleImplicitLod | Op::ImageSampleDrefImplicitLod | Op::ImageQueryLod
        );
        if implicit {
            self.note_implicit(inst.at);
        }
    }

    /// Remembers that the function around takes implicit derivatives.
    fn note_implicit(&mut self, at: u32) {
        let after = self.m.functions.partition_point(|f| f.word <= at);
        let slot = after.checked_sub(1).and_then(|f| self.implicit.get_mut(f));
        if let Some(slot) = slot.filter(|s| **s == 0) {
            *slot = at;
        }
    }

    fn sampled_image(&mut self, inst: &Inst<'_>) {
        let ty = *self.m.ty(inst.ty);
        let image_ty = self.operand_type(inst, 3);
        let Some(image) = self.image_of(image_ty) else {
            return self.no_image(inst, 3);
        };
        if ty.kind != Kind::SampledImage || image.sampled != 1 || image.dim == dim::SUBPASS {
            return self.no_image(inst, 3);
        }
        if ty.elem != image_ty {
            // All but the depth has to be the same.
            let (a, b) = (self.m.def(ty.elem).word, self.m.def(image_ty).word);
            let len = self.m.def(ty.elem).len.max(self.m.def(image_ty).len);
            let differs = (2..usize::from(len))
                .filter(|&i| i != 4)
                .any(|i| self.word_at(a, i) != self.word_at(b, i));
            if differs {
                self.no_image(inst, 3);
            }
        }
        if self.m.kind(self.operand_type(inst, 4)) != Kind::Sampler {
            self.no_image(inst, 4);
        }
    }

    fn texel_pointer(&mut self, inst: &Inst<'_>) {
        let m = self.m;
        let result = *m.ty(inst.ty);
        let pointer = *m.ty(self.operand_type(inst, 3));
        let Some(image) = self.image_of(pointer.elem) else {
            return self.fault(Rule::ImageTexelPointer, inst.at, Note::Id(inst.word(3)));
        };
        let coordinate = self.operand_num(inst, 4);
        let sample = self.idx(inst, 5);
        // Rgba32f … by number: R32f, R32i, R32ui, R64ui, R64i.
        let format = matches!(image.format, 3 | 24 | 33 | 40 | 41);
        let components = image.plane().saturating_add(image.arrayed);
        let components = if image.arrayed == 1 && image.dim == dim::CUBE {
            3
        } else {
            components
        };
        let layered = image.arrayed == 0 || matches!(image.dim, dim::D1 | dim::D2 | dim::CUBE);
        let fits = result.kind == Kind::Pointer
            && result.class == S::Image as u32
            && pointer.kind == Kind::Pointer
            && result.elem == image.sampled_type
            && image.dim != dim::SUBPASS
            && int(coordinate)
            && coordinate.dim == components
            && layered
            && self.is_int(m.type_of(sample))
            && (image.multisampled == 1 || self.const_u64(sample) == Some(0))
            && format;
        if !fits {
            self.fault(Rule::ImageTexelPointer, inst.at, Note::Id(inst.word(3)));
        }
    }

    fn coordinate(&mut self, inst: &Inst<'_>, i: usize, image: Image, kind: Kind) {
        let num = self.operand_num(inst, i);
        let cube = image.dim == dim::CUBE && matches!(inst.op, Op::ImageRead | Op::ImageWrite);
        let needed = if cube {
            3
        } else {
            image.plane().saturating_add(image.arrayed)
        };
        if num.base != kind || num.cooperative || num.dim < needed {
            self.fault(Rule::ImageCoordinate, inst.at, Note::Id(inst.word(i)));
        }
    }

    fn dref(&mut self, inst: &Inst<'_>, image: Image) {
        let num = self.operand_num(inst, 5);
        if num.vector || num.base != Kind::Float || num.width != 32 {
            self.fault(Rule::ImageOperands, inst.at, Note::Id(inst.word(5)));
        }
        if image.dim == dim::D3 {
            self.wrong_image(inst);
        }
    }

    fn sample(&mut self, inst: &Inst<'_>) {
        let dref = matches!(
            inst.op,
            Op::ImageSampleDrefImplicitLod | Op::ImageSampleDrefExplicitLod
        );
        let result = self.m.num(inst.ty);
        let Some(image) = self.combined_image(inst, 3) else {
            return self.no_image(inst, 3);
        };
        let shape = if dref {
            !result.vector && !result.cooperative
        } else {
            vector4(result)
        };
        if !shape || result.component != image.sampled_type {
            self.fault(Rule::ImageResult, inst.at, Note::None);
        }
        if image.multisampled != 0 {
            self.wrong_image(inst);
        }
        self.coordinate(inst, 4, image, Kind::Float);
        if dref {
            self.dref(inst, image);
        }
        self.image_operands(inst, if dref { 6 } else { 5 }, image);
    }

    fn image_gather(&mut self, inst: &Inst<'_>) {
        let result = self.m.num(inst.ty);
        let Some(image) = self.combined_image(inst, 3) else {
            return self.no_image(inst, 3);
        };
        if !vector4(result) || result.component != image.sampled_type {
            self.fault(Rule::ImageResult, inst.at, Note::None);
        }
        if image.multisampled != 0 || !matches!(image.dim, dim::D2 | dim::CUBE | dim::RECT) {
            self.wrong_image(inst);
        }
        self.coordinate(inst, 4, image, Kind::Float);
        if inst.op == Op::ImageDrefGather {
            self.dref(inst, image);
        } else {
            let num = self.operand_num(inst, 5);
            if num.vector
                || num.base != Kind::Int
                || num.width != 32
                || !self.is_constant(self.idx(inst, 5))
            {
                self.fault(Rule::ImageOperands, inst.at, Note::Id(inst.word(5)));
            }
        }
        self.image_operands(inst, 6, image);
    }

    fn fetch(&mut self, inst: &Inst<'_>) {
        let result = self.m.num(inst.ty);
        let Some(image) = self.plain_image(inst, 3) else {
            return self.no_image(inst, 3);
        };
        if !vector4(result) || result.component != image.sampled_type {
            self.fault(Rule::ImageResult, inst.at, Note::None);
        }
        if image.dim == dim::CUBE || image.sampled != 1 {
            self.wrong_image(inst);
        }
        self.coordinate(inst, 4, image, Kind::Int);
        self.image_operands(inst, 5, image);
    }

    fn read_write(&mut self, inst: &Inst<'_>) {
        let read = inst.op == Op::ImageRead;
        let (image_at, coordinate_at) = if read { (3, 4) } else { (1, 2) };
        let Some(image) = self.plain_image(inst, image_at) else {
            return self.no_image(inst, image_at);
        };
        let texel = if read {
            self.m.num(inst.ty)
        } else {
            self.operand_num(inst, 3)
        };
        let shape = (int(texel) || float(texel)) && (!read || texel.dim == 4);
        if !shape || texel.component != image.sampled_type {
            self.fault(Rule::ImageResult, inst.at, Note::None);
        }
        let m = self.m;
        let mut fits = image.dim != dim::SUBPASS;
        if image.sampled == 2 {
            fits &= match image.dim {
                dim::D1 => m.has_cap(C::Image1D),
                dim::BUFFER => m.has_cap(C::ImageBuffer),
                dim::CUBE => image.arrayed == 0 || m.has_cap(C::ImageCubeArray),
                _ => true,
            };
            fits &= image.multisampled == 0 || image.arrayed == 0 || m.has_cap(C::ImageMSArray);
        } else {
            fits = false;
        }
        if !fits {
            self.wrong_image(inst);
        }
        let format = if read {
            C::StorageImageReadWithoutFormat
        } else {
            C::StorageImageWriteWithoutFormat
        };
        if image.format == 0 && !m.has_cap(format) {
            self.wrong_image(inst);
        }
        self.coordinate(inst, coordinate_at, image, Kind::Int);
        self.image_operands(inst, coordinate_at + if read { 1 } else { 2 }, image);
    }

    fn query(&mut self, inst: &Inst<'_>) {
        let result = self.m.num(inst.ty);
        let image = if inst.op == Op::ImageQueryLod {
            self.combined_image(inst, 3)
        } else {
            self.plain_image(inst, 3)
        };
        let Some(image) = image else {
            return self.no_image(inst, 3);
        };
        let (result_fits, image_fits) = match inst.op {
            Op::ImageQuerySizeLod => {
                let plane = match image.dim {
                    dim::D1 => 1,
                    dim::D2 | dim::CUBE => 2,
                    _ => 3,
                };
                let size = image.arrayed.saturating_add(plane);
                if !self.is_int(self.operand_type(inst, 4)) {
                    self.fault(Rule::ImageOperands, inst.at, Note::Id(inst.word(4)));
                }
                (
                    int(result) && result.dim == size,
                    image.has_levels() && image.multisampled == 0 && image.sampled == 1,
                )
            }
            Op::ImageQuerySize => {
                let plane = match image.dim {
                    dim::D1 | dim::BUFFER => 1,
                    dim::D3 => 3,
                    _ => 2,
                };
                let size = image.arrayed.saturating_add(plane);
                let sized = !image.has_levels()
                    || image.multisampled == 1
                    || matches!(image.sampled, 0 | 2);
                (
                    int(result) && result.dim == size,
                    image.dim != dim::SUBPASS && sized,
                )
            }
            Op::ImageQueryLevels => (
                int(result) && !result.vector,
                image.has_levels() && image.sampled == 1,
            ),
            Op::ImageQuerySamples => (
                int(result) && !result.vector,
                image.dim == dim::D2 && image.multisampled == 1,
            ),
            // ImageQueryLod
            _ => {
                let coordinate = self.operand_num(inst, 4);
                if !float(coordinate) || coordinate.dim < image.plane() {
                    self.fault(Rule::ImageCoordinate, inst.at, Note::Id(inst.word(4)));
                }
                (
                    float(result) && result.vector && result.dim == 2,
                    image.has_levels(),
                )
            }
        };
        if !result_fits {
            self.fault(Rule::ImageResult, inst.at, Note::None);
        }
        if !image_fits {
            self.wrong_image(inst);
        }
    }

    /// Image operands, whose mask is at this word; the grammar has counted them.
    fn image_operands(&mut self, inst: &Inst<'_>, at: usize, image: Image) {
        let mask = inst.word(at);
        let note = Note::Value(mask);
        let has = |bit: u32| mask & bit != 0;
        let explicit = matches!(
            inst.op,
            Op::ImageSampleExplicitLod | Op::ImageSampleDrefExplicitLod
        );
        let implicit = matches!(
            inst.op,
            Op::ImageSampleImplicitLod | Op::ImageSampleDrefImplicitLod
        );
        let gathers = matches!(inst.op, Op::ImageGather | Op::ImageDrefGather);
        if image.multisampled == 1 && !has(0x40) {
            self.fault(Rule::ImageOperands, inst.at, note);
        }
        if explicit && !has(2) && !has(4) {
            self.fault(Rule::ImageOperands, inst.at, note);
        }
        if mask == 0 {
            return;
        }
        if (mask & 0x1_0038).count_ones() > 1 || (has(2) && has(4)) {
            self.fault(Rule::ImageOperands, inst.at, note);
        }
        let mut next = at + 1;
        let mut fits = true;
        let scalar = |n: Num, base: Kind| !n.vector && !n.cooperative && n.base == base;
        if has(1) {
            let bias = self.operand_num(inst, next);
            fits &= implicit && scalar(bias, Kind::Float) && image.has_levels();
            next += 1;
        }
        if has(2) {
            let lod = self.operand_num(inst, next);
            let base = if explicit { Kind::Float } else { Kind::Int };
            fits &=
                (explicit || inst.op == Op::ImageFetch) && scalar(lod, base) && image.has_levels();
            next += 1;
        }
        if has(4) {
            for i in next..next + 2 {
                let gradient = self.operand_num(inst, i);
                fits &= explicit && float(gradient) && gradient.dim == image.plane();
            }
            next += 2;
        }
        for (bit, constant) in [(8, true), (0x10, false)] {
            if has(bit) {
                let offset = self.operand_num(inst, next);
                fits &= image.dim != dim::CUBE
                    && int(offset)
                    && offset.dim == image.plane()
                    && (!constant || self.is_constant(self.idx(inst, next)))
                    && (constant || gathers);
                next += 1;
            }
        }
        if has(0x20) {
            let ty = self.m.ty(self.operand_type(inst, next));
            let part = self.m.num(ty.elem);
            fits &= gathers
                && image.dim != dim::CUBE
                && ty.kind == Kind::Array
                && ty.count == 4
                && part.vector
                && int(part)
                && part.dim == 2
                && self.is_constant(self.idx(inst, next));
            next += 1;
        }
        if has(0x40) {
            let sample = self.operand_num(inst, next);
            fits &= matches!(inst.op, Op::ImageFetch | Op::ImageRead | Op::ImageWrite)
                && image.multisampled == 1
                && scalar(sample, Kind::Int);
            next += 1;
        }
        if has(0x80) {
            let lod = self.operand_num(inst, next);
            fits &= (implicit || has(4))
                && scalar(lod, Kind::Float)
                && image.has_levels()
                && image.multisampled == 0;
            next += 1;
        }
        for (bit, op) in [(0x100, Op::ImageWrite), (0x200, Op::ImageRead)] {
            if has(bit) {
                fits &= inst.op == op && has(0x400);
                self.memory_scope(inst, next);
                next += 1;
            }
        }
        if !fits {
            self.fault(Rule::ImageOperands, inst.at, note);
        }
    }
}
