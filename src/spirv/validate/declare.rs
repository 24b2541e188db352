//! Type declarations: what later checks ask of a type is worked out once, from its parts, so
//! that no check descends into a type.

use super::decode::Decoder;
use super::state::{Idx, Kind, Type, flag, has, sort};
use spirv::{Decoration, Op, StorageClass};

impl<'a> Decoder<'a> {
    /// Adds the type that an instruction declares; `word` gives its operands.
    pub(super) fn add_type(&mut self, op: Op, words: &'a [u32], at: u32, result: Idx) {
        let word = |i: usize| words.get(i).copied().unwrap_or(0);
        let mut ty = match op {
            Op::TypeVoid => Type {
                kind: Kind::Void,
                has: has::VOID | has::NOT_NULLABLE,
                ..Type::NONE
            },
            Op::TypeBool => Type {
                kind: Kind::Bool,
                has: has::BOOL,
                width: 1,
                ..Type::NONE
            },
            Op::TypeInt => {
                let width = u16::try_from(word(2)).unwrap_or(u16::MAX);
                Type {
                    kind: Kind::Int,
                    signed: word(3) != 0,
                    width,
                    has: match width {
                        8 => has::INT8,
                        16 => has::INT16,
                        _ => 0,
                    },
                    scalar: u8::try_from(width / 8).unwrap_or(0),
                    ..Type::NONE
                }
            }
            Op::TypeFloat => {
                let width = u16::try_from(word(2)).unwrap_or(u16::MAX);
                let odd = words.len() > 3;
                Type {
                    kind: if odd { Kind::OddFloat } else { Kind::Float },
                    signed: true,
                    width,
                    has: if width == 16 && !odd { has::FLOAT16 } else { 0 },
                    scalar: u8::try_from(width / 8).unwrap_or(0),
                    ..Type::NONE
                }
            }
            Op::TypeVector => self.composite(Kind::Vector, word(2), word(3)),
            Op::TypeMatrix => self.composite(Kind::Matrix, word(2), word(3)),
            Op::TypeCooperativeMatrixKHR => {
                let mut ty = self.composite(Kind::CooperativeMatrix, word(2), 0);
                ty.has |= has::COOP;
                ty
            }
            Op::TypeArray => {
                let length = *self.m.def(self.m.ids.get(word(3)));
                let known = match length.op {
                    Op::Constant => {
                        let low = self.at(length.word, 3);
                        let high = if length.len > 4 {
                            self.at(length.word, 4)
                        } else {
                            0
                        };
                        Some(if high == 0 { low } else { u32::MAX })
                    }
                    Op::ConstantNull => Some(0),
                    _ => None,
                };
                let mut ty = self.composite(Kind::Array, word(2), known.unwrap_or(0));
                if known.is_none() {
                    ty.has |= has::SPEC_LENGTH;
                }
                self.stride(&mut ty, result);
                ty
            }
            Op::TypeRuntimeArray => {
                let mut ty = self.composite(Kind::RuntimeArray, word(2), 0);
                ty.has |= has::RUNTIME | has::NOT_NULLABLE;
                self.stride(&mut ty, result);
                ty
            }
            Op::TypeStruct => self.structure(words, result),
            Op::TypePointer => self.pointer(word(2), word(3), result),
            Op::TypeFunction => Type {
                kind: Kind::Function,
                has: has::NOT_NULLABLE,
                elem: self.m.ids.get(word(2)),
                count: u32::try_from(words.len().saturating_sub(3)).unwrap_or(0),
                ..Type::NONE
            },
            Op::TypeImage => Type {
                kind: Kind::Image,
                has: has::OPAQUE | has::NOT_NULLABLE,
                elem: self.m.ids.get(word(2)),
                ..Type::NONE
            },
            Op::TypeSampler => Type {
                kind: Kind::Sampler,
                has: has::OPAQUE | has::NOT_NULLABLE,
                ..Type::NONE
            },
            Op::TypeSampledImage => Type {
                kind: Kind::SampledImage,
                has: has::OPAQUE | has::NOT_NULLABLE,
                elem: self.m.ids.get(word(2)),
                ..Type::NONE
            },
            _ => Type {
                kind: Kind::Other,
                has: has::OPAQUE | has::NOT_NULLABLE,
                ..Type::NONE
            },
        };
        if self.m.def(result).flags & (flag::BLOCK | flag::BUFFER_BLOCK) != 0 {
            ty.has |= has::BLOCK;
        }
        if !matches!(
            op,
            Op::TypeArray | Op::TypeRuntimeArray | Op::TypeStruct | Op::TypePointer
        ) {
            self.m.unique_types.push(at);
        }
        ty.def = result;
        ty.sort = self.sort(&ty);
        let index = u32::try_from(self.m.types.len()).unwrap_or(0);
        self.m.types.push(ty);
        if let Some(def) = self.m.def_mut(result) {
            def.type_at = index;
        }
    }

    /// The bits of [`sort`]. Capabilities stand before types.
    fn sort(&self, ty: &Type) -> u8 {
        let bits = match ty.kind {
            Kind::Bool => sort::BOOL,
            Kind::Int | Kind::Float if !matches!(ty.width, 8 | 16 | 32 | 64) => 0,
            Kind::Int if ty.signed => sort::SIGNED,
            Kind::Int => sort::UNSIGNED,
            Kind::Float if ty.width != 8 => sort::FLOAT,
            Kind::Vector => match self.m.ty(ty.elem).sort {
                scalar if scalar & sort::NUMBERS == scalar && scalar != 0 => scalar | sort::VECTOR,
                _ => 0,
            },
            Kind::Pointer => {
                return match StorageClass::from_u32(ty.class) {
                    Some(
                        StorageClass::StorageBuffer
                        | StorageClass::Workgroup
                        | StorageClass::Function
                        | StorageClass::Private,
                    ) => sort::POINTER | sort::WRITABLE,
                    Some(StorageClass::PhysicalStorageBuffer) | None => 0,
                    Some(_) => sort::POINTER,
                };
            }
            _ => 0,
        };
        if ty.has & self.m.limited == 0 {
            bits
        } else {
            0
        }
    }

    fn at(&self, word: u32, offset: usize) -> u32 {
        self.words.get(word as usize + offset).copied().unwrap_or(0)
    }

    fn composite(&self, kind: Kind, elem: u32, count: u32) -> Type {
        let elem = self.m.ids.get(elem);
        let part = self.m.ty(elem);
        Type {
            kind,
            signed: part.signed,
            width: part.width,
            has: part.has,
            elem,
            count,
            scalar: part.scalar,
            ..Type::NONE
        }
    }

    fn stride(&self, ty: &mut Type, array: Idx) {
        if self.m.is_decorated(array, Decoration::ArrayStride) {
            ty.has |= has::LAYOUT;
        }
    }

    fn structure(&self, words: &[u32], result: Idx) -> Type {
        let members = words.get(2..).unwrap_or_default();
        let mut ty = Type {
            kind: Kind::Struct,
            count: u32::try_from(members.len()).unwrap_or(0),
            ..Type::NONE
        };
        for &member in members {
            let idx = self.m.ids.get(member);
            let part = self.m.ty(idx);
            if part.kind == Kind::None {
                // A forward pointer, which is a physical storage buffer's.
                ty.has |= has::POINTER | has::PHYSICAL | has::NOT_NULLABLE;
                ty.scalar = ty.scalar.max(8);
                continue;
            }
            ty.has |= part.has;
            ty.scalar = ty.scalar.max(part.scalar);
            if part.kind == Kind::Struct {
                ty.depth = ty.depth.max(part.depth);
            }
        }
        ty.depth = ty.depth.saturating_add(1);
        for decor in self.m.decorations_of(result) {
            match decor.kind {
                Decoration::Block
                | Decoration::BufferBlock
                | Decoration::Offset
                | Decoration::ArrayStride
                | Decoration::MatrixStride => ty.has |= has::LAYOUT,
                Decoration::BuiltIn => ty.has |= has::BUILTIN,
                _ => {}
            }
        }
        ty
    }

    fn pointer(&self, class: u32, pointee: u32, result: Idx) -> Type {
        let elem = self.m.ids.get(pointee);
        let storage = StorageClass::from_u32(class);
        let mut ty = Type {
            kind: Kind::Pointer,
            has: has::POINTER,
            elem,
            class,
            scalar: 8,
            ..Type::NONE
        };
        if storage == Some(StorageClass::PhysicalStorageBuffer) {
            ty.has |= has::PHYSICAL | has::NOT_NULLABLE;
        }
        if !self.m.allows_layout(storage)
            && (self.m.ty(elem).has & has::LAYOUT != 0
                || self.m.is_decorated(result, Decoration::ArrayStride))
        {
            ty.has |= has::LAYOUT;
        }
        ty
    }
}
