//! Types and constants, each declared once.

use super::interner::key;
use super::preamble::cap;
use super::sections::{Writer, head};
use crate::types::{Scalar, Type};
use spirv::{Decoration, Op, StorageClass};

/// Stands for the opcode in the key of a storage-buffer block, which is no plain structure: it is decorated.
const BLOCK: u32 = u32::MAX;

/// The type in which values of a type are computed: integers of 8 and 16 bits in 32, bf16 in f32.
#[inline(always)]
pub(super) const fn register(ty: Type) -> Type {
    const REGISTERS: [Type; 64] = {
        let mut registers = [Type::NONE; 64];
        let mut code = 0;
        while code < 64 {
            if let Some(ty) = Type::from_code(code) {
                registers[code as usize] = wide(ty);
            }
            code += 1;
        }
        registers
    };
    // Codes are below 48.
    REGISTERS[ty.code() as usize & 63]
}

const fn wide(ty: Type) -> Type {
    let scalar = match ty.scalar() {
        Some(Scalar::I8 | Scalar::I16) => Scalar::I32,
        Some(Scalar::U8 | Scalar::U16) => Scalar::U32,
        Some(Scalar::BF16) => Scalar::F32,
        Some(
            Scalar::Bool
            | Scalar::I32
            | Scalar::I64
            | Scalar::U32
            | Scalar::U64
            | Scalar::F16
            | Scalar::F32
            | Scalar::F64,
        )
        | None => return ty,
    };
    match Type::vector(scalar, ty.lanes()) {
        Some(ty) => ty,
        None => Type::of(scalar),
    }
}

impl Writer {
    /// The id of the type in which values of a type are kept; of [`Type::NONE`] that of `OpTypeVoid`.
    #[inline]
    pub(super) fn ty(&mut self, ty: Type) -> u32 {
        // Codes are below 48.
        match self.types.get(ty.code() as usize) {
            Some(&id) if id != 0 => id,
            _ => self.declare_type(ty),
        }
    }

    #[cold]
    fn declare_type(&mut self, ty: Type) -> u32 {
        let wide = register(ty);
        let id = match ty.scalar() {
            Some(_) if wide != ty => self.ty(wide),
            Some(scalar) if ty.lanes() > 1 => {
                let component = self.ty(Type::of(scalar));
                let id = self.id();
                self.globals
                    .put([head(Op::TypeVector, 4), id, component, ty.lanes()]);
                id
            }
            Some(scalar) => self.declare_scalar(scalar),
            None => {
                let id = self.id();
                self.globals.put([head(Op::TypeVoid, 2), id]);
                id
            }
        };
        if let Some(slot) = self.types.get_mut(ty.code() as usize) {
            *slot = id;
        }
        id
    }

    fn declare_scalar(&mut self, scalar: Scalar) -> u32 {
        let (op, words, needs) = match scalar {
            Scalar::Bool => (Op::TypeBool, 2, 0),
            Scalar::I8 | Scalar::I16 | Scalar::I32 => (Op::TypeInt, 4, 0),
            Scalar::U8 | Scalar::U16 | Scalar::U32 => (Op::TypeInt, 4, 0),
            Scalar::I64 | Scalar::U64 => (Op::TypeInt, 4, cap::INT64),
            Scalar::F16 | Scalar::BF16 => (Op::TypeFloat, 3, cap::FLOAT16),
            Scalar::F32 => (Op::TypeFloat, 3, 0),
            Scalar::F64 => (Op::TypeFloat, 3, cap::FLOAT64),
        };
        self.caps |= needs;
        let (id, signed) = (self.id(), u32::from(scalar.is_signed()));
        let all = [head(op, words), id, scalar.bits(), signed];
        self.globals.put_first(all, words as usize);
        id
    }

    /// A type that is declared once for its operands; `operands` of them count.
    fn once(&mut self, op: Op, operands: u32, a: u32, b: u32) -> u32 {
        let key = key(op as u32, a, b, 0);
        if let Some(id) = self.interner.find_or_fill(key, self.next) {
            return id;
        }
        let id = self.id();
        let words = 2 + operands;
        self.globals
            .put_first([head(op, words), id, a, b], words as usize);
        id
    }

    /// A vector of `n` of the type `component`, for those that are no [`Type`].
    pub(super) fn vector(&mut self, component: u32, n: u32) -> u32 {
        self.once(Op::TypeVector, 2, component, n)
    }

    /// The pair that `OpUMulExtended` and `OpSMulExtended` make.
    pub(super) fn pair(&mut self, ty: u32) -> u32 {
        self.once(Op::TypeStruct, 2, ty, ty)
    }

    /// A pointer type.
    pub(super) fn pointer(&mut self, class: StorageClass, to: u32) -> u32 {
        self.once(Op::TypePointer, 2, class as u32, to)
    }

    /// The same where there can be none yet.
    pub(super) fn new_pointer(&mut self, class: StorageClass, to: u32) -> u32 {
        let id = self.id();
        let first = head(Op::TypePointer, 4);
        self.globals.put([first, id, class as u32, to]);
        id
    }

    /// An array type without a layout: for shared and private memory, where Vulkan forbids `ArrayStride`.
    pub(super) fn array(&mut self, elem: u32, len: u32) -> u32 {
        let len = self.u32(len);
        self.once(Op::TypeArray, 2, elem, len)
    }

    /// The function type without parameters that returns nothing, `void`.
    pub(super) fn function_type(&mut self, void: u32) -> u32 {
        if self.function_type == 0 {
            self.function_type = self.id();
            let words = [head(Op::TypeFunction, 3), self.function_type, void];
            self.globals.put(words);
        }
        self.function_type
    }

    /// The type of an element of a storage buffer: narrow integers are narrow there, bf16 is its bits.
    pub(super) fn stored(&mut self, ty: Type) -> u32 {
        let Some(scalar) = ty.scalar() else {
            return self.ty(ty);
        };
        match scalar.bytes() {
            1 => self.caps |= cap::STORAGE_8,
            2 => self.caps |= cap::STORAGE_16,
            _ => {}
        }
        if register(ty) == ty {
            return self.ty(ty);
        }
        let signed = u32::from(scalar.is_signed());
        let component = self.once(Op::TypeInt, 2, scalar.bits(), signed);
        match ty.lanes() {
            1 => component,
            lanes => self.vector(component, lanes),
        }
    }

    /// The type of a pointer to the block of a storage buffer whose elements are `elem_id`: a structure of one runtime
    /// array. One for each element type, decorated once.
    pub(super) fn block(&mut self, elem: Type, elem_id: u32) -> u32 {
        let array = self.next;
        let [block, pointer] = [array.wrapping_add(1), array.wrapping_add(2)];
        let key = key(BLOCK, elem_id, 0, 0);
        if let Some(id) = self.interner.find_or_fill(key, pointer) {
            return id;
        }
        self.next = pointer.wrapping_add(1);
        self.globals.put([
            head(Op::TypeRuntimeArray, 3),
            array,
            elem_id,
            head(Op::TypeStruct, 3),
            block,
            array,
            head(Op::TypePointer, 4),
            pointer,
            StorageClass::StorageBuffer as u32,
            block,
        ]);
        self.annotate([
            head(Op::Decorate, 4),
            array,
            Decoration::ArrayStride as u32,
            elem.bytes(),
            head(Op::Decorate, 3),
            block,
            Decoration::Block as u32,
            head(Op::MemberDecorate, 5),
            block,
            0,
            Decoration::Offset as u32,
            0,
        ]);
        pointer
    }

    /// A scalar constant, as values of its type are kept.
    pub(super) fn constant(&mut self, ty: Type, bits: u64) -> u32 {
        if ty == Type::U32 {
            // It has no more.
            self.u32(bits as u32)
        } else if register(ty) == ty {
            self.interned(ty, bits)
        } else {
            self.wider_constant(ty, bits)
        }
    }

    fn wider_constant(&mut self, ty: Type, bits: u64) -> u32 {
        // Truncations keep the low bits; signs are extended to 32 bits.
        let (ty, bits) = match ty.scalar() {
            Some(Scalar::I8) => (
                Type::I32,
                u64::from(i32::from((bits as u8).cast_signed()).cast_unsigned()),
            ),
            Some(Scalar::I16) => (
                Type::I32,
                u64::from(i32::from((bits as u16).cast_signed()).cast_unsigned()),
            ),
            Some(Scalar::U8) => return self.u32((bits & 0xFF) as u32),
            Some(Scalar::U16) => return self.u32((bits & 0xFFFF) as u32),
            Some(Scalar::BF16) => (Type::F32, (bits & 0xFFFF) << 16),
            Some(
                Scalar::Bool
                | Scalar::I32
                | Scalar::I64
                | Scalar::U32
                | Scalar::U64
                | Scalar::F16
                | Scalar::F32
                | Scalar::F64,
            )
            | None => (ty, bits),
        };
        self.interned(ty, bits)
    }

    /// A constant of a type that is its own register's, other than a small u32.
    fn interned(&mut self, ty: Type, bits: u64) -> u32 {
        let type_id = self.ty(ty);
        // The two halves of the bits.
        let (low, high) = (bits as u32, (bits >> 32) as u32);
        let key = key(Op::Constant as u32, type_id, low, high);
        if let Some(id) = self.interner.find_or_fill(key, self.next) {
            return id;
        }
        let id = self.id();
        if ty == Type::BOOL {
            let op = if bits == 0 {
                Op::ConstantFalse
            } else {
                Op::ConstantTrue
            };
            self.globals.put([head(op, 3), type_id, id]);
        } else if ty.bytes() == 8 {
            let first = head(Op::Constant, 5);
            self.globals.put([first, type_id, id, low, high]);
        } else {
            self.globals.put([head(Op::Constant, 4), type_id, id, low]);
        }
        id
    }

    /// A `u32` constant.
    #[inline]
    pub(super) fn u32(&mut self, value: u32) -> u32 {
        match self.small.get(value) {
            Some(id) => id,
            None if value < 64 => self.declare_small(value),
            None => self.interned(Type::U32, u64::from(value)),
        }
    }

    fn declare_small(&mut self, value: u32) -> u32 {
        let ty = self.ty(Type::U32);
        let id = self.id();
        self.globals.put([head(Op::Constant, 4), ty, id, value]);
        self.small.set(value, id);
        id
    }

    /// A `u64` constant.
    #[inline]
    pub(super) fn u64(&mut self, value: u64) -> u32 {
        self.constant(Type::U64, value)
    }

    /// A constant of `f32` (also for bf16) or `f64` by its bits in either width.
    pub(super) fn float(&mut self, ty: Type, bits32: u32, bits64: u64) -> u32 {
        if ty == Type::F64 {
            self.constant(ty, bits64)
        } else {
            self.constant(Type::F32, u64::from(bits32))
        }
    }

    /// A constant of a type's components that are all `component`; of a scalar that itself.
    pub(super) fn splat(&mut self, ty: u32, lanes: u32, component: u32) -> u32 {
        if lanes == 1 {
            return component;
        }
        let key = key(Op::ConstantComposite as u32, ty, component, lanes);
        if let Some(id) = self.interner.find_or_fill(key, self.next) {
            return id;
        }
        let id = self.id();
        // Two or four of them.
        self.globals
            .put([head(Op::ConstantComposite, 3 + lanes), ty, id]);
        for _ in 0..lanes {
            self.globals.push(component);
        }
        id
    }

    /// The zero of a composite type.
    pub(super) fn null(&mut self, ty: u32) -> u32 {
        let key = key(Op::ConstantNull as u32, ty, 0, 0);
        if let Some(id) = self.interner.find_or_fill(key, self.next) {
            return id;
        }
        let id = self.id();
        self.globals.put([head(Op::ConstantNull, 3), ty, id]);
        id
    }

    /// A global variable.
    pub(super) fn variable(
        &mut self,
        class: StorageClass,
        pointer: u32,
        initializer: Option<u32>,
    ) -> u32 {
        // Each takes an id, of which there are far fewer than 2^32.
        self.variables += 1;
        let id = self.id();
        match initializer {
            Some(initializer) => self.globals.put([
                head(Op::Variable, 5),
                pointer,
                id,
                class as u32,
                initializer,
            ]),
            None => self
                .globals
                .put([head(Op::Variable, 4), pointer, id, class as u32]),
        }
        id
    }
}
