//! Types and constants, each declared once.

use super::interner::key;
use super::objects::Form;
use super::preamble::cap;
use super::sections::{SMALL, Writer, head};
use crate::types::{Scalar, Type};
use spirv::{Decoration, Op, StorageClass};

/// Stands for the opcode in the key of a storage-buffer block, which is no plain structure: it is decorated.
const BLOCK: u32 = u32::MAX;

/// What there is to know of a type.
#[derive(Clone, Copy)]
#[repr(align(32))]
pub(super) struct Row {
    /// The type in which its values are computed: integers of 8 and 16 bits in 32, bf16 in f32.
    register: Type,
    /// The first word of its declaration and those behind its id; 0 where others must be declared before.
    first: u32,
    operands: [u32; 2],
    /// What the declaration brings, and a buffer of it.
    caps: u32,
    storage: u32,
    /// The first word of its constants.
    constant: u32,
    /// In what type it is passed as a parameter.
    pub carrier: Type,
    /// How buffers hold it.
    pub form: Form,
    pub bytes: u8,
}

impl Row {
    #[inline(always)]
    pub(super) fn of(ty: Type) -> &'static Row {
        static ROWS: [Row; 64] = {
            let mut rows = [Row::new(Type::NONE); 64];
            let mut code = 0;
            while code < 64 {
                if let Some(ty) = Type::from_code(code) {
                    rows[code as usize] = Row::new(ty);
                }
                code += 1;
            }
            rows
        };
        // Codes are below 48.
        &ROWS[ty.code() as usize & 63]
    }

    /// Where a scalar parameter of this type goes behind `end`, as [`crate::kernel::push_constant_slot`] says: its offset
    /// and the end behind it.
    #[inline(always)]
    pub(super) fn slot(&self, end: u64) -> (u64, u64) {
        // 4 or 8.
        let size = u64::from(self.bytes.max(4));
        let offset = (end + size - 1) & !(size - 1);
        (offset, offset + size)
    }

    const fn new(ty: Type) -> Row {
        let (register, form) = kept(ty);
        let (signed, bits) = match ty.scalar() {
            Some(scalar) => (scalar.is_signed() as u32, scalar.bits()),
            None => (0, 0),
        };
        let (op, words, caps) = match ty.scalar() {
            None => (Op::TypeVoid, 2, 0),
            Some(Scalar::Bool) => (Op::TypeBool, 2, 0),
            Some(Scalar::I8 | Scalar::I16 | Scalar::I32) => (Op::TypeInt, 4, 0),
            Some(Scalar::U8 | Scalar::U16 | Scalar::U32) => (Op::TypeInt, 4, 0),
            Some(Scalar::I64 | Scalar::U64) => (Op::TypeInt, 4, cap::INT64),
            Some(Scalar::F16 | Scalar::BF16) => (Op::TypeFloat, 3, cap::FLOAT16),
            Some(Scalar::F32) => (Op::TypeFloat, 3, 0),
            Some(Scalar::F64) => (Op::TypeFloat, 3, cap::FLOAT64),
        };
        let carrier = match ty.scalar() {
            Some(Scalar::Bool | Scalar::F16 | Scalar::BF16) => Type::U32,
            Some(_) | None => register,
        };
        let alone = ty.lanes() == 1 && register.code() == ty.code();
        Row {
            register,
            first: if alone { head(op, words) } else { 0 },
            operands: [bits, signed],
            caps,
            storage: match bits {
                8 => cap::STORAGE_8,
                16 => cap::STORAGE_16,
                _ => 0,
            },
            constant: head(Op::Constant, if bits == 64 { 5 } else { 4 }),
            carrier,
            form,
            // 64 at most.
            bytes: ty.bytes() as u8,
        }
    }
}

/// The type in which values of a type are computed.
#[inline(always)]
pub(super) fn register(ty: Type) -> Type {
    Row::of(ty).register
}

/// That type, and how buffers hold what is kept in it.
const fn kept(ty: Type) -> (Type, Form) {
    let (scalar, form) = match ty.scalar() {
        Some(Scalar::I8 | Scalar::I16) => (Scalar::I32, Form::Signed),
        Some(Scalar::U8 | Scalar::U16) => (Scalar::U32, Form::Unsigned),
        Some(Scalar::BF16) => (Scalar::F32, Form::Bf16),
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
        | None => return (ty, Form::Same),
    };
    match Type::vector(scalar, ty.lanes()) {
        Some(ty) => (ty, form),
        None => (Type::of(scalar), form),
    }
}

impl Writer {
    /// The id of the type in which values of a type are kept; of [`Type::NONE`] that of `OpTypeVoid`.
    #[inline]
    pub(super) fn ty(&mut self, ty: Type) -> u32 {
        match self.types[usize::from(ty.code())] {
            0 => self.declare_type(ty),
            id => id,
        }
    }

    #[inline(never)]
    fn declare_type(&mut self, ty: Type) -> u32 {
        let row = Row::of(ty);
        if (row.first == 0) | self.globals.lacks(4) {
            return self.declare_slowly(ty);
        }
        let (id, [a, b]) = (self.id(), row.operands);
        self.types[usize::from(ty.code())] = id;
        self.caps |= row.caps;
        let words = (row.first >> 16) as usize;
        self.globals.put_first([row.first, id, a, b], words);
        id
    }

    /// The same of a vector and of a type that is computed in another, and where that takes memory.
    #[cold]
    #[inline(never)]
    fn declare_slowly(&mut self, ty: Type) -> u32 {
        self.globals.reserve(64);
        let id = match ty.scalar() {
            Some(scalar) if register(ty) == ty && ty.lanes() > 1 => {
                let component = self.ty(Type::of(scalar));
                let id = self.id();
                self.globals
                    .put([head(Op::TypeVector, 4), id, component, ty.lanes()]);
                id
            }
            Some(_) if register(ty) != ty => self.ty(register(ty)),
            Some(_) | None => return self.declare_type(ty),
        };
        self.types[usize::from(ty.code())] = id;
        id
    }

    /// A type that is declared once for its operands; `operands` of them count.
    #[inline(never)]
    fn once(&mut self, op: Op, operands: u32, a: u32, b: u32) -> u32 {
        if self.lacks_room() {
            return self.once_slowly(op, operands, a, b);
        }
        let (key, id) = (key(op as u32, a, b, 0), self.next);
        if let Some(id) = self.interner.find_or_fill_one(key, id) {
            return id;
        }
        self.next = id.wrapping_add(1);
        let words = 2 + operands;
        self.globals
            .put_first([head(op, words), id, a, b], words as usize);
        id
    }

    #[cold]
    #[inline(never)]
    fn once_slowly(&mut self, op: Op, operands: u32, a: u32, b: u32) -> u32 {
        self.make_room();
        self.once(op, operands, a, b)
    }

    /// Whether another type or constant would take memory. Asked first, so that nothing else must outlive that.
    #[inline(always)]
    fn lacks_room(&self) -> bool {
        self.interner.is_full() | self.globals.lacks(5)
    }

    #[cold]
    #[inline(never)]
    fn make_room(&mut self) {
        if self.interner.is_full() {
            self.interner.grow();
        }
        self.globals.reserve(64);
    }

    /// A vector of `n` of the type `component`, for those that are no [`Type`].
    pub(super) fn vector(&mut self, component: u32, n: u32) -> u32 {
        self.once(Op::TypeVector, 2, component, n)
    }

    /// The pair that `OpUMulExtended` and `OpSMulExtended` make.
    pub(super) fn pair(&mut self, ty: u32) -> u32 {
        self.once(Op::TypeStruct, 2, ty, ty)
    }

    /// A pointer type. Those to types with small ids, which are most of them, have tables of their own.
    #[inline(always)]
    pub(super) fn pointer(&mut self, class: StorageClass, to: u32) -> u32 {
        // Vulkan's classes are below 16.
        match self.pointers.get_in(class as usize, to) {
            Some(id) => id,
            None => self.declare_pointer(class, to),
        }
    }

    #[inline(never)]
    fn declare_pointer(&mut self, class: StorageClass, to: u32) -> u32 {
        if self.globals.lacks(4) {
            return self.declare_pointer_slowly(class, to);
        }
        let id = self.next;
        if !self.pointers.set_in(class as usize, to, id) {
            return self.once(Op::TypePointer, 2, class as u32, to);
        }
        self.next = id.wrapping_add(1);
        let first = head(Op::TypePointer, 4);
        self.globals.put([first, id, class as u32, to]);
        id
    }

    #[cold]
    #[inline(never)]
    fn declare_pointer_slowly(&mut self, class: StorageClass, to: u32) -> u32 {
        self.globals.reserve(64);
        self.declare_pointer(class, to)
    }

    /// The same where there can be none yet, and a global variable of that type.
    pub(super) fn new_variable(&mut self, class: StorageClass, to: u32) -> u32 {
        self.variables += 1;
        let (pointer, class) = (self.id(), class as u32);
        let id = self.id();
        let (first, second) = (head(Op::TypePointer, 4), head(Op::Variable, 4));
        self.globals
            .put([first, pointer, class, to, second, pointer, id, class]);
        id
    }

    /// An array type without a layout: for shared and private memory, where Vulkan forbids `ArrayStride`.
    pub(super) fn array(&mut self, elem: u32, len: u32) -> u32 {
        let len = self.u32(len);
        self.once(Op::TypeArray, 2, elem, len)
    }

    /// The function type without parameters that returns nothing, behind the type of nothing.
    pub(super) fn function_type(&mut self) -> [u32; 2] {
        let place = usize::from(Type::NONE.code());
        if self.function_type == 0 {
            let (void, ty) = (self.id(), self.id());
            (self.types[place], self.function_type) = (void, ty);
            let (first, second) = (head(Op::TypeVoid, 2), head(Op::TypeFunction, 3));
            self.globals.put([first, void, second, ty, void]);
        }
        [self.types[place], self.function_type]
    }

    /// The type of an element of a storage buffer: narrow integers are narrow there, bf16 is its bits.
    pub(super) fn stored(&mut self, ty: Type) -> u32 {
        let row = Row::of(ty);
        self.caps |= row.storage;
        if row.register == ty {
            return self.ty(ty);
        }
        let [bits, signed] = row.operands;
        let component = self.once(Op::TypeInt, 2, bits, signed);
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
        if let Some(id) = self.blocks.get(elem_id) {
            return id;
        }
        if !self.blocks.set(elem_id, pointer) {
            let key = key(BLOCK, elem_id, 0, 0);
            if let Some(id) = self.interner.find_or_fill(key, pointer) {
                return id;
            }
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
            u32::from(Row::of(elem).bytes),
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
    #[inline(never)]
    fn interned(&mut self, ty: Type, bits: u64) -> u32 {
        let type_id = self.types[usize::from(ty.code())];
        if (type_id == 0) | self.lacks_room() {
            return self.interned_slowly(ty, bits);
        }
        // The two halves of the bits.
        let (low, high) = (bits as u32, (bits >> 32) as u32);
        let (key, id) = (key(Op::Constant as u32, type_id, low, high), self.next);
        if let Some(id) = self.interner.find_or_fill_one(key, id) {
            return id;
        }
        self.next = id.wrapping_add(1);
        let mut first = Row::of(ty).constant;
        if ty == Type::BOOL {
            first = match bits {
                0 => head(Op::ConstantFalse, 3),
                _ => head(Op::ConstantTrue, 3),
            };
        }
        let words = (first >> 16) as usize;
        self.globals
            .put_first([first, type_id, id, low, high], words);
        id
    }

    #[cold]
    #[inline(never)]
    fn interned_slowly(&mut self, ty: Type, bits: u64) -> u32 {
        self.ty(ty);
        self.make_room();
        self.interned(ty, bits)
    }

    /// A `u32` constant.
    #[inline]
    pub(super) fn u32(&mut self, value: u32) -> u32 {
        match self.small.get(value) {
            Some(id) => id,
            None => self.declare_u32(value),
        }
    }

    #[inline(never)]
    fn declare_u32(&mut self, value: u32) -> u32 {
        if value >= SMALL {
            return self.interned(Type::U32, u64::from(value));
        }
        let ty = self.types[usize::from(Type::U32.code())];
        if (ty == 0) | self.globals.lacks(4) {
            return self.declare_u32_slowly(value);
        }
        let id = self.id();
        self.small.set(value, id);
        self.globals.put([head(Op::Constant, 4), ty, id, value]);
        id
    }

    #[cold]
    #[inline(never)]
    fn declare_u32_slowly(&mut self, value: u32) -> u32 {
        self.ty(Type::U32);
        self.make_room();
        self.declare_u32(value)
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
    #[inline]
    pub(super) fn variable(&mut self, class: StorageClass, pointer: u32) -> u32 {
        // Each takes an id, of which there are far fewer than 2^32.
        self.variables += 1;
        let id = self.id();
        let first = head(Op::Variable, 4);
        self.globals.put([first, pointer, id, class as u32]);
        id
    }

    /// The same with its value at the beginning.
    pub(super) fn initialized(&mut self, class: StorageClass, pointer: u32, value: u32) -> u32 {
        self.variables += 1;
        let id = self.id();
        let first = head(Op::Variable, 5);
        self.globals.put([first, pointer, id, class as u32, value]);
        id
    }
}
