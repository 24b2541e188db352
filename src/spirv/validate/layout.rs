//! Explicit layout: offsets, strides, alignments (§2.16.2; Vulkan, "Offset and Stride
//! Assignment").
//!
//! Alignments and sizes of types are worked out once, in the order of their declarations. A
//! structure is then checked once for each place modulo 32 that it is found at, the largest
//! alignment that there is.

use super::check::Checker;
use super::error::{Note, Unsupported};
use super::rules::Rule;
use super::state::{Idx, Kind, Module, Type, WHOLE, flag};
use spirv::{Decoration as D, Op, StorageClass as S};

/// How a matrix is laid out: by the member that holds it.
#[derive(Clone, Copy, Debug, Default)]
struct Constraint {
    row_major: bool,
    stride: u32,
    has_stride: bool,
    has_order: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Shape {
    /// Alignments: extended (uniform blocks), base (other blocks), scalar.
    extended: u32,
    base: u32,
    scalar: u32,
    /// Bytes, without a matrix's own where it is an array of matrices.
    size: u64,
    /// Of an array: what its innermost element is.
    inner: Idx,
    /// Of an array: the array of that.
    last_array: Idx,
    /// Per set of rules: the offsets modulo 32 that were checked.
    seen: [u32; 3],
    /// Per set of rules: whether the array itself was checked.
    array_seen: u8,
}

#[derive(Clone, Copy, Debug, Default)]
struct Member {
    offset: Option<u32>,
    constraint: Constraint,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rules {
    Extended = 0,
    Base = 1,
    Scalar = 2,
}

/// Scratch memory of the layout checks.
#[derive(Debug, Default)]
pub(super) struct Layouts {
    shapes: Vec<Shape>,
    members: Vec<Member>,
    order: Vec<u32>,
    work: Vec<(Idx, Rules, u32)>,
}

fn round_up(value: u64, to: u32) -> u64 {
    value
        .checked_next_multiple_of(u64::from(to.max(1)))
        .unwrap_or(u64::MAX)
}

/// The alignment of what stands in a uniform block.
fn extended(alignment: u32) -> u32 {
    alignment.checked_next_multiple_of(16).unwrap_or(u32::MAX)
}

fn multiple(value: u32, of: u32) -> bool {
    of == 0 || value.is_multiple_of(of)
}

impl Layouts {
    fn shape(&self, m: &Module, ty: Idx) -> Shape {
        let at = m.def(ty).type_at as usize;
        let mut shape = self.shapes.get(at).copied().unwrap_or_default();
        if m.kind(ty) == Kind::None {
            // A pointer that is declared later.
            shape = Shape {
                extended: 8,
                base: 8,
                scalar: 8,
                size: 8,
                ..shape
            };
        }
        shape
    }

    fn alignment(&self, m: &Module, ty: Idx, rules: Rules, constraint: Constraint) -> u32 {
        let shape = self.shape(m, ty);
        let inner = if shape.inner != 0 { shape.inner } else { ty };
        let matrix = m.ty(inner);
        if matrix.kind == Kind::Matrix {
            let column = m.num(matrix.elem);
            let bytes = u32::from(column.width / 8);
            if rules == Rules::Scalar {
                return bytes;
            }
            let rows = if constraint.row_major {
                matrix.count
            } else {
                column.dim
            };
            let base = bytes.saturating_mul(if rows == 3 { 4 } else { rows });
            return if rules == Rules::Extended {
                extended(base)
            } else {
                base
            };
        }
        match rules {
            Rules::Extended => shape.extended,
            Rules::Base => shape.base,
            Rules::Scalar => shape.scalar,
        }
    }

    fn size(&self, m: &Module, ty: Idx, constraint: Constraint) -> u64 {
        let shape = self.shape(m, ty);
        let inner = if shape.inner != 0 { shape.inner } else { ty };
        let matrix = m.ty(inner);
        if matrix.kind != Kind::Matrix {
            return shape.size;
        }
        let column = m.num(matrix.elem);
        let stride = u64::from(constraint.stride);
        let own = if constraint.row_major {
            let rows = u64::from(column.dim.saturating_sub(1)).saturating_mul(stride);
            rows.saturating_add(u64::from(matrix.count) * u64::from(column.width / 8))
        } else {
            u64::from(matrix.count).saturating_mul(stride)
        };
        shape.size.saturating_add(own)
    }
}

impl Checker<'_> {
    pub(super) fn layouts(&mut self, l: &mut Layouts) {
        let m = self.m;
        l.shapes.clear();
        l.shapes.resize(m.types.len(), Shape::default());
        l.work.clear();
        let mut needed = false;
        for &var in &m.globals {
            let def = m.def(var);
            let class = S::from_u32(self.word_at(def.word, 3));
            needed |= matches!(class, Some(S::Uniform | S::PushConstant | S::StorageBuffer));
        }
        needed |= m.addressing != 0;
        if !needed {
            return;
        }
        for ty in m.types.iter().skip(1) {
            self.declare_shape(l, ty.def);
        }
        for i in 0..m.globals.len() {
            let Some(&var) = m.globals.get(i) else { break };
            self.block_layout(l, var);
        }
        if m.addressing != 0 {
            self.physical_layouts(l);
        }
        while let Some((ty, rules, offset)) = l.work.pop() {
            self.structure_layout(l, ty, rules, offset);
        }
    }

    /// Sizes and alignments, from parts that were declared before.
    fn declare_shape(&mut self, l: &mut Layouts, idx: Idx) {
        let m = self.m;
        let ty = m.ty(idx);
        let bytes = u32::from(ty.width / 8);
        let shape = match ty.kind {
            Kind::Int | Kind::Float | Kind::OddFloat => Shape {
                extended: bytes,
                base: bytes,
                scalar: bytes,
                size: u64::from(bytes),
                ..Shape::default()
            },
            Kind::Vector => {
                let aligned = bytes.saturating_mul(if ty.count == 3 { 4 } else { ty.count });
                Shape {
                    extended: aligned,
                    base: aligned,
                    scalar: bytes,
                    size: u64::from(bytes) * u64::from(ty.count),
                    ..Shape::default()
                }
            }
            Kind::Pointer => Shape {
                extended: 8,
                base: 8,
                scalar: 8,
                size: 8,
                ..Shape::default()
            },
            Kind::Array | Kind::RuntimeArray => {
                let elem = l.shape(m, ty.elem);
                let stride = u64::from(self.array_stride(idx));
                let inner = if elem.inner != 0 { elem.inner } else { ty.elem };
                let count = u64::from(ty.count).saturating_sub(1);
                let spread = if ty.kind == Kind::Array && ty.count != 0 {
                    count.saturating_mul(stride).saturating_add(elem.size)
                } else {
                    0
                };
                Shape {
                    extended: extended(elem.extended),
                    base: elem.base,
                    scalar: elem.scalar,
                    size: spread,
                    inner,
                    last_array: if elem.last_array != 0 {
                        elem.last_array
                    } else {
                        idx
                    },
                    ..Shape::default()
                }
            }
            Kind::Struct => self.struct_shape(l, idx),
            _ => Shape::default(),
        };
        if let Some(slot) = l.shapes.get_mut(m.def(idx).type_at as usize) {
            *slot = shape;
        }
    }

    fn struct_shape(&mut self, l: &mut Layouts, idx: Idx) -> Shape {
        let m = self.m;
        self.gather(l, idx);
        let mut shape = Shape {
            extended: 1,
            base: 1,
            scalar: 1,
            ..Shape::default()
        };
        let ids = self.members(idx);
        for (i, &id) in ids.iter().enumerate() {
            let ty = m.ids.get(id);
            let member = l.members.get(i).copied().unwrap_or_default();
            let align = |rules| l.alignment(m, ty, rules, member.constraint);
            shape.extended = shape.extended.max(align(Rules::Extended));
            shape.base = shape.base.max(align(Rules::Base));
            shape.scalar = shape.scalar.max(align(Rules::Scalar));
            if i + 1 == ids.len() {
                let offset = u64::from(member.offset.unwrap_or(0));
                shape.size = offset.saturating_add(l.size(m, ty, member.constraint));
            }
        }
        shape.extended = extended(shape.extended);
        shape
    }

    fn array_stride(&self, array: Idx) -> u32 {
        self.m
            .decoration(array, D::ArrayStride)
            .map_or(0, |d| d.value)
    }

    /// What the decorations say of each member.
    fn gather(&mut self, l: &mut Layouts, ty: Idx) {
        l.members.clear();
        l.members.resize(self.members(ty).len(), Member::default());
        for decor in self.m.decorations_of(ty) {
            if decor.member == WHOLE {
                continue;
            }
            let Some(member) = l.members.get_mut(decor.member as usize) else {
                continue;
            };
            match decor.kind {
                // The largest number stands for none.
                D::Offset => member.offset = Some(decor.value).filter(|o| *o != u32::MAX),
                D::RowMajor => {
                    member.constraint.row_major = true;
                    member.constraint.has_order = true;
                }
                D::ColMajor => member.constraint.has_order = true,
                D::MatrixStride => {
                    member.constraint.stride = decor.value;
                    member.constraint.has_stride = true;
                }
                _ => {}
            }
        }
    }

    fn block_layout(&mut self, l: &mut Layouts, var: Idx) {
        let m = self.m;
        let def = m.def(var);
        let class = S::from_u32(self.word_at(def.word, 3));
        let pointee = m.ty(def.ty).elem;
        let inner = match m.kind(pointee) {
            Kind::Array | Kind::RuntimeArray => m.ty(pointee).elem,
            _ => pointee,
        };
        if m.kind(inner) != Kind::Struct {
            return;
        }
        let flags = m.def(inner).flags;
        let block = flags & flag::BLOCK != 0;
        let buffer = flags & flag::BUFFER_BLOCK != 0;
        let uniform = class == Some(S::Uniform);
        if uniform && block {
            l.work.push((inner, self.rules(true), 0));
        }
        if (uniform && buffer)
            || (matches!(class, Some(S::PushConstant | S::StorageBuffer)) && block)
        {
            l.work.push((inner, self.rules(false), 0));
        }
    }

    fn rules(&self, uniform: bool) -> Rules {
        if self.options.scalar_block_layout {
            Rules::Scalar
        } else if uniform && !self.options.uniform_buffer_standard_layout {
            Rules::Extended
        } else {
            Rules::Base
        }
    }

    /// What physical pointers that are made lead to.
    fn physical_layouts(&mut self, l: &mut Layouts) {
        let m = self.m;
        for i in 1..m.defs.len() {
            let def = m.def(u32::try_from(i).unwrap_or(0));
            if def.op == Op::Variable || m.class(def.ty) != Some(S::PhysicalStorageBuffer) {
                continue;
            }
            let pointee = m.ty(def.ty).elem;
            if m.kind(pointee) == Kind::Struct {
                l.work.push((pointee, self.rules(false), 0));
            }
        }
    }

    fn structure_layout(&mut self, l: &mut Layouts, ty: Idx, rules: Rules, offset: u32) {
        let m = self.m;
        let at = m.def(ty).type_at as usize;
        let Some(shape) = l.shapes.get_mut(at) else {
            return;
        };
        let bit = 1u32 << (offset % 32);
        let seen = &mut shape.seen[rules as usize];
        if *seen & bit != 0 {
            return;
        }
        *seen |= bit;
        self.gather(l, ty);
        let word = m.def(ty).word;
        let ids = self.members(ty);
        l.order.clear();
        l.order.extend(0..u32::try_from(ids.len()).unwrap_or(0));
        let members = std::mem::take(&mut l.members);
        let offset_of = |i: u32| members.get(i as usize).and_then(|m| m.offset);
        if (0..ids.len()).any(|i| members.get(i).is_none_or(|m| m.offset.is_none())) {
            self.fault(Rule::LayoutOffset, word, Note::Id(m.def(ty).id));
            l.members = members;
            return;
        }
        l.order.sort_by_key(|&i| offset_of(i));
        let order = std::mem::take(&mut l.order);
        let mut next = 0u64;
        for (k, &i) in order.iter().enumerate() {
            let member_ty = ids.get(i as usize).map_or(0, |&id| m.ids.get(id));
            let Some(&member) = members.get(i as usize) else {
                continue;
            };
            let member_offset = member.offset.unwrap_or(0);
            let place = Place {
                word,
                member: i,
                rules,
                offset: member_offset.wrapping_add(offset),
            };
            if u64::from(member_offset) < next {
                let note = Note::Limit(u64::from(member_offset), next);
                self.fault(Rule::LayoutOverlap, word, note);
            }
            let kind = m.kind(member_ty);
            if kind == Kind::RuntimeArray && k + 1 != order.len() {
                self.fault(Rule::TypeRuntimeMember, word, Note::Value(i));
            }
            let alignment = self.member_layout(l, place, member_ty, member.constraint);
            next = u64::from(member_offset).saturating_add(l.size(m, member_ty, member.constraint));
            if rules != Rules::Scalar && matches!(kind, Kind::Array | Kind::Struct) {
                next = round_up(next, alignment);
            }
        }
        l.members = members;
        l.order = order;
    }

    fn member_layout(&mut self, l: &mut Layouts, p: Place, ty: Idx, c: Constraint) -> u32 {
        let m = self.m;
        let kind = m.kind(ty);
        let alignment = l.alignment(m, ty, p.rules, c);
        let relaxed = p.rules != Rules::Scalar && self.options.relaxed();
        if relaxed && kind == Kind::Vector {
            let scalar = u32::from(m.ty(ty).width / 8);
            if !multiple(p.offset, scalar) {
                self.misaligned(p, scalar);
            }
            let size = l.size(m, ty, c);
            let last = u64::from(p.offset).saturating_add(size.saturating_sub(1));
            let straddles = if size <= 16 {
                u64::from(p.offset) >> 4 != last >> 4
            } else {
                !p.offset.is_multiple_of(16)
            };
            if straddles {
                self.fault(Rule::LayoutStraddle, p.word, Note::Value(p.member));
            }
        } else if !multiple(p.offset, alignment) {
            self.misaligned(p, alignment);
        }
        match kind {
            Kind::Struct => l.work.push((ty, p.rules, p.offset % 32)),
            Kind::Matrix => self.matrix_layout(p, c, alignment),
            Kind::Array | Kind::RuntimeArray => self.arrays(l, p, ty, c),
            _ => {}
        }
        alignment
    }

    fn misaligned(&mut self, p: Place, alignment: u32) {
        let note = Note::Limit(u64::from(p.offset), u64::from(alignment));
        self.fault(Rule::LayoutAlignment, p.word, note);
    }

    fn matrix_layout(&mut self, p: Place, c: Constraint, alignment: u32) {
        if !c.has_stride || !c.has_order {
            self.fault(Rule::LayoutMatrix, p.word, Note::Value(p.member));
        } else if !multiple(c.stride, alignment) {
            let note = Note::Limit(u64::from(c.stride), u64::from(alignment));
            self.fault(Rule::LayoutAlignment, p.word, note);
        }
    }

    /// An array and the arrays in it.
    fn arrays(&mut self, l: &mut Layouts, p: Place, ty: Idx, c: Constraint) {
        let m = self.m;
        let shape = l.shape(m, ty);
        let inner = shape.inner;
        let matrices = m.kind(inner) == Kind::Matrix;
        if matrices {
            let alignment = l.alignment(m, ty, p.rules, c);
            self.matrix_layout(p, c, alignment);
        }
        if m.kind(inner) == Kind::Struct {
            // Its elements, at every place modulo 32 that they come to stand at.
            let last = shape.last_array;
            let stride = self.array_stride(last);
            let count = match m.ty(last).count {
                0 => 1,
                n => n.min(32),
            };
            for i in 0..count {
                let offset = p.offset.wrapping_add(i.wrapping_mul(stride)) % 32;
                l.work.push((inner, p.rules, offset));
            }
        }
        let mut at = ty;
        loop {
            let Type { kind, elem, .. } = *m.ty(at);
            if !matches!(kind, Kind::Array | Kind::RuntimeArray) {
                break;
            }
            let slot = l.shapes.get_mut(m.def(at).type_at as usize);
            if let Some(slot) = slot.filter(|_| !matrices) {
                let bit = 1 << p.rules as u8;
                if slot.array_seen & bit != 0 {
                    break;
                }
                slot.array_seen |= bit;
            }
            if self.budget == 0 {
                let what = Unsupported::named(p.word as usize, "", "arrays nested this deep");
                return self.out.unsupported(what);
            }
            self.budget -= 1;
            let stride = self.array_stride(at);
            let alignment = l.alignment(m, at, p.rules, c);
            let size = l.size(m, elem, c);
            if stride == 0 {
                self.fault(Rule::LayoutStride, p.word, Note::Id(m.def(at).id));
            } else if !multiple(stride, alignment) {
                let note = Note::Limit(u64::from(stride), u64::from(alignment));
                self.fault(Rule::LayoutAlignment, p.word, note);
            } else if size > u64::from(stride) {
                let note = Note::Limit(size, u64::from(stride));
                self.fault(Rule::LayoutStride, p.word, note);
            }
            at = elem;
        }
    }
}

/// A member on its way through the checks.
#[derive(Clone, Copy)]
struct Place {
    word: u32,
    member: u32,
    rules: Rules,
    offset: u32,
}
