//! Scalars, vectors, access modes and constants: the vocabulary of every other module.
#![forbid(unsafe_code)]

use core::fmt;

/// A scalar type. The discriminants are part of the bytecode format and never change meaning.
///
/// Signedness is part of the type, as in the PTX ISA (section 5.2, Types) and unlike SPIR-V's instructions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
#[non_exhaustive]
pub enum Scalar {
    /// Truth value; has no size in memory and cannot be a buffer element.
    Bool = 1,
    /// 8-bit signed integer.
    I8 = 2,
    /// 16-bit signed integer.
    I16 = 3,
    /// 32-bit signed integer.
    I32 = 4,
    /// 64-bit signed integer.
    I64 = 5,
    /// 8-bit unsigned integer.
    U8 = 6,
    /// 16-bit unsigned integer.
    U16 = 7,
    /// 32-bit unsigned integer.
    U32 = 8,
    /// 64-bit unsigned integer.
    U64 = 9,
    /// IEEE 754 binary16.
    F16 = 10,
    /// bfloat16: binary32 cut to 16 bits.
    BF16 = 11,
    /// IEEE 754 binary32.
    F32 = 12,
    /// IEEE 754 binary64.
    F64 = 13,
}

impl Scalar {
    /// Every scalar, in discriminant order.
    pub const ALL: [Scalar; 13] = [
        Scalar::Bool,
        Scalar::I8,
        Scalar::I16,
        Scalar::I32,
        Scalar::I64,
        Scalar::U8,
        Scalar::U16,
        Scalar::U32,
        Scalar::U64,
        Scalar::F16,
        Scalar::BF16,
        Scalar::F32,
        Scalar::F64,
    ];

    /// Size of one element in memory, in bytes; `bool` has none and answers 0.
    #[inline]
    pub const fn bytes(self) -> u32 {
        match self {
            Scalar::Bool => 0,
            Scalar::I8 | Scalar::U8 => 1,
            Scalar::I16 | Scalar::U16 | Scalar::F16 | Scalar::BF16 => 2,
            Scalar::I32 | Scalar::U32 | Scalar::F32 => 4,
            Scalar::I64 | Scalar::U64 | Scalar::F64 => 8,
        }
    }

    /// Width in bits; `bool` answers 1.
    #[inline]
    pub const fn bits(self) -> u32 {
        match self {
            Scalar::Bool => 1,
            _ => self.bytes() * 8,
        }
    }

    /// Whether this is an integer (`bool` is none).
    #[inline]
    pub const fn is_int(self) -> bool {
        self.is_signed() || self.is_unsigned()
    }

    /// Whether this is a signed integer.
    #[inline]
    pub const fn is_signed(self) -> bool {
        matches!(self, Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64)
    }

    /// Whether this is an unsigned integer.
    #[inline]
    pub const fn is_unsigned(self) -> bool {
        matches!(self, Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64)
    }

    /// Whether this is a floating-point type.
    #[inline]
    pub const fn is_float(self) -> bool {
        matches!(self, Scalar::F16 | Scalar::BF16 | Scalar::F32 | Scalar::F64)
    }

    /// The name in the text form: `bool`, `i32`, `f64`.
    pub const fn name(self) -> &'static str {
        match self {
            Scalar::Bool => "bool",
            Scalar::I8 => "i8",
            Scalar::I16 => "i16",
            Scalar::I32 => "i32",
            Scalar::I64 => "i64",
            Scalar::U8 => "u8",
            Scalar::U16 => "u16",
            Scalar::U32 => "u32",
            Scalar::U64 => "u64",
            Scalar::F16 => "f16",
            Scalar::BF16 => "bf16",
            Scalar::F32 => "f32",
            Scalar::F64 => "f64",
        }
    }

    const fn from_code(code: u8) -> Option<Scalar> {
        if code == 0 || code > 13 {
            return None;
        }
        Some(Scalar::ALL[code as usize - 1])
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The type of a value: a scalar, a vector of two or four scalars, or nothing.
///
/// One byte: the scalar's discriminant in the low four bits, log2 of the lanes above. `Type::NONE` (0) is the type of
/// instructions that make no value.
///
/// ```
/// use kernite::types::{Scalar, Type};
/// assert_eq!(Type::F32.scalar(), Some(Scalar::F32));
/// assert_eq!(Type::vector(Scalar::F32, 4).unwrap().to_string(), "f32x4");
/// assert_eq!(Type::vector(Scalar::F32, 3), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Type(u8);

macro_rules! scalar_types {
    ($($name:ident = $scalar:ident),*) => {
        impl Type {
            $(#[doc = concat!("The scalar type `", stringify!($scalar), "`.")]
              pub const $name: Type = Type(Scalar::$scalar as u8);)*
        }
    };
}
scalar_types!(
    BOOL = Bool,
    I8 = I8,
    I16 = I16,
    I32 = I32,
    I64 = I64,
    U8 = U8,
    U16 = U16,
    U32 = U32,
    U64 = U64,
    F16 = F16,
    BF16 = BF16,
    F32 = F32,
    F64 = F64
);

impl Type {
    /// No value.
    pub const NONE: Type = Type(0);

    /// A vector of four `u32`: what a ballot makes.
    pub const U32X4: Type = Type(Scalar::U32 as u8 | 2 << 4);

    /// The scalar type `scalar`.
    #[inline]
    pub const fn of(scalar: Scalar) -> Type {
        Type(scalar as u8)
    }

    /// The vector of `lanes` (2 or 4; 1 gives the scalar) of `scalar`; other counts give `None`.
    pub const fn vector(scalar: Scalar, lanes: u32) -> Option<Type> {
        match lanes {
            1 => Some(Type(scalar as u8)),
            2 => Some(Type(scalar as u8 | 1 << 4)),
            4 => Some(Type(scalar as u8 | 2 << 4)),
            _ => None,
        }
    }

    /// The element: the scalar itself for a scalar type, `None` for [`Type::NONE`].
    #[inline]
    pub const fn scalar(self) -> Option<Scalar> {
        Scalar::from_code(self.0 & 15)
    }

    /// 1 for scalars and [`Type::NONE`], 2 or 4 for vectors.
    #[inline]
    pub const fn lanes(self) -> u32 {
        1 << (self.0 >> 4)
    }

    /// Whether there is no value.
    #[inline]
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Size in memory in bytes, which is also the alignment; 0 for `bool` and [`Type::NONE`].
    #[inline]
    pub const fn bytes(self) -> u32 {
        match self.scalar() {
            Some(s) => s.bytes() * self.lanes(),
            None => 0,
        }
    }

    /// The byte that stands for this type in bytecode.
    #[inline]
    pub const fn code(self) -> u8 {
        self.0
    }

    /// The type of a bytecode byte, or `None` if the byte stands for no type.
    pub const fn from_code(code: u8) -> Option<Type> {
        const SCALARS: u64 = TypeSet::ALL.0;
        const CODES: u64 = 1 | SCALARS | SCALARS << 16 | SCALARS << 32;
        if code < 64 && CODES >> code & 1 != 0 {
            Some(Type(code))
        } else {
            None
        }
    }

    /// The type of a code that came from [`Type::code`]; the caller knows that it did.
    #[inline(always)]
    pub(crate) const fn from_seen_code(code: u8) -> Type {
        Type(code)
    }

    /// Parses the text form (`f32`, `u8x4`), or `None`.
    pub fn parse(text: &str) -> Option<Type> {
        let (name, lanes) = match text.split_once('x') {
            Some((name, "2")) => (name, 2),
            Some((name, "4")) => (name, 4),
            Some(_) => return None,
            None => (text, 1),
        };
        let scalar = Scalar::ALL.into_iter().find(|s| s.name() == name)?;
        Type::vector(scalar, lanes)
    }
}

impl From<Scalar> for Type {
    fn from(s: Scalar) -> Type {
        Type::of(s)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.scalar() {
            None => f.write_str("none"),
            Some(s) if self.lanes() == 1 => f.write_str(s.name()),
            Some(s) => write!(f, "{}x{}", s.name(), self.lanes()),
        }
    }
}

impl fmt::Debug for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A set of types: one bit for each scalar at each lane count.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TypeSet(u64);

impl TypeSet {
    /// No type.
    pub const NONE: TypeSet = TypeSet(0);
    /// `bool`.
    pub const BOOL: TypeSet = TypeSet::just(Type::BOOL);
    /// Signed integers.
    pub const SIGNED: TypeSet = TypeSet::of(&[Type::I8, Type::I16, Type::I32, Type::I64]);
    /// Unsigned integers.
    pub const UNSIGNED: TypeSet = TypeSet::of(&[Type::U8, Type::U16, Type::U32, Type::U64]);
    /// All integers.
    pub const INTS: TypeSet = TypeSet::SIGNED.or(TypeSet::UNSIGNED);
    /// Integers of 32 bits.
    pub const INTS_32: TypeSet = TypeSet::of(&[Type::I32, Type::U32]);
    /// Integers of 64 bits.
    pub const INTS_64: TypeSet = TypeSet::of(&[Type::I64, Type::U64]);
    /// Integers of 32 and 64 bits: those that have atomics.
    pub const INTS_WIDE: TypeSet = TypeSet::INTS_32.or(TypeSet::INTS_64);
    /// Integers of 8 and 16 bits.
    pub const INTS_NARROW: TypeSet = TypeSet::INTS.minus(TypeSet::INTS_WIDE);
    /// The 16-bit floats.
    pub const HALVES: TypeSet = TypeSet::of(&[Type::F16, Type::BF16]);
    /// The floats of 32 and 64 bits.
    pub const FLOATS_WIDE: TypeSet = TypeSet::of(&[Type::F32, Type::F64]);
    /// All floats.
    pub const FLOATS: TypeSet = TypeSet::HALVES.or(TypeSet::FLOATS_WIDE);
    /// Integers and floats.
    pub const NUMERIC: TypeSet = TypeSet::INTS.or(TypeSet::FLOATS);
    /// Every scalar, `bool` included.
    pub const ALL: TypeSet = TypeSet::NUMERIC.or(TypeSet::BOOL);
    /// `u32` alone.
    pub const U32: TypeSet = TypeSet::just(Type::U32);
    /// `u32` and `u64`: what an index may be.
    pub const INDEX: TypeSet = TypeSet::of(&[Type::U32, Type::U64]);
    /// Vectors of 2 and of 4 of every number.
    pub const VECTORS: TypeSet = TypeSet(TypeSet::NUMERIC.0 << 16 | TypeSet::NUMERIC.0 << 32);
    /// Vectors of 2.
    pub const VECTORS_2: TypeSet = TypeSet(TypeSet::NUMERIC.0 << 16);
    /// Vectors of 4.
    pub const VECTORS_4: TypeSet = TypeSet(TypeSet::NUMERIC.0 << 32);
    /// What memory holds: numbers and vectors of them.
    pub const ELEMENTS: TypeSet = TypeSet::NUMERIC.or(TypeSet::VECTORS);

    /// Whatever it is, types or not.
    pub(crate) const EVERY: TypeSet = TypeSet(u64::MAX);

    /// The set of one type ([`Type::NONE`] gives the empty set).
    pub const fn just(ty: Type) -> TypeSet {
        if ty.0 == 0 {
            TypeSet(0)
        } else {
            TypeSet(1 << TypeSet::bit(ty))
        }
    }

    /// The set of these types.
    pub const fn of(types: &[Type]) -> TypeSet {
        let mut set = TypeSet::NONE;
        let mut i = 0;
        while i < types.len() {
            set = set.or(TypeSet::just(types[i]));
            i += 1;
        }
        set
    }

    const fn bit(ty: Type) -> u32 {
        // Sixteen bits a lane count; a Type holds at most 2 above bit 4, so this stays below 48.
        (ty.0 & 15) as u32 + 16 * (ty.0 >> 4) as u32
    }

    /// The union.
    pub const fn or(self, other: TypeSet) -> TypeSet {
        TypeSet(self.0 | other.0)
    }

    /// The types in both.
    pub const fn and(self, other: TypeSet) -> TypeSet {
        TypeSet(self.0 & other.0)
    }

    /// What is here and not in `other`.
    pub const fn minus(self, other: TypeSet) -> TypeSet {
        TypeSet(self.0 & !other.0)
    }

    /// Whether `ty` is in the set; [`Type::NONE`] never is.
    #[inline]
    pub const fn contains(self, ty: Type) -> bool {
        self.0 >> TypeSet::bit(ty) & 1 != 0
    }

    /// The bits, by the codes of the types.
    pub(crate) const fn bits(self) -> u64 {
        self.0
    }

    /// As [`TypeSet::contains`] of a byte that may be no type's: six bits of it, which are in no set then.
    #[inline(always)]
    pub(crate) const fn has_code(self, code: u8) -> bool {
        self.0 >> (code & 63) & 1 != 0
    }

    /// Whether there is nothing in it.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The members, scalars first, in discriminant order.
    pub fn iter(self) -> impl Iterator<Item = Type> {
        (0..48u8).filter_map(move |bit| {
            let ty = Type::from_code((bit % 16) | ((bit / 16) << 4))?;
            self.contains(ty).then_some(ty)
        })
    }
}

impl fmt::Display for TypeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, ty) in self.iter().enumerate() {
            write!(f, "{}{ty}", if i == 0 { "" } else { " " })?;
        }
        Ok(())
    }
}

/// How a kernel uses a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Access {
    /// Loads only. SPIR-V: `NonWritable`; PTX: may use `ld.global.nc`.
    Read = 1,
    /// Stores only. SPIR-V: `NonReadable`.
    Write = 2,
    /// Loads, stores and atomics.
    ReadWrite = 3,
}

impl Access {
    /// Whether loads are allowed.
    #[inline]
    pub const fn reads(self) -> bool {
        self as u8 & 1 != 0
    }

    /// Whether stores are allowed.
    #[inline]
    pub const fn writes(self) -> bool {
        self as u8 & 2 != 0
    }

    /// The name in the text form: `read`, `write`, `read_write`.
    pub const fn name(self) -> &'static str {
        match self {
            Access::Read => "read",
            Access::Write => "write",
            Access::ReadWrite => "read_write",
        }
    }

    /// The access of a bytecode byte or `None`.
    pub const fn from_code(code: u8) -> Option<Access> {
        match code {
            1 => Some(Access::Read),
            2 => Some(Access::Write),
            3 => Some(Access::ReadWrite),
            _ => None,
        }
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A constant: a type and its bits, kept exactly (NaN payloads, −0.0, subnormals).
///
/// Bits above the type's width are zero; `bool` is 0 or 1.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Const {
    ty: Type,
    bits: u64,
}

impl Const {
    /// The constant of `ty` (a scalar) with these bits, or `None` when `ty` is no scalar or bits stand above its width.
    ///
    /// ```
    /// use kernite::types::{Const, Type};
    /// assert!(Const::new(Type::F32, 0x7F80_0001).is_some(), "a signalling NaN is kept as it is");
    /// assert!(Const::new(Type::BOOL, 2).is_none());
    /// ```
    pub const fn new(ty: Type, bits: u64) -> Option<Const> {
        match ty.scalar() {
            Some(s) if ty.lanes() == 1 && (s.bits() == 64 || bits >> s.bits() == 0) => {
                Some(Const { ty, bits })
            }
            _ => None,
        }
    }

    /// Its type.
    #[inline]
    pub const fn ty(self) -> Type {
        self.ty
    }

    /// Its bits, zero-extended.
    #[inline]
    pub const fn bits(self) -> u64 {
        self.bits
    }
}

impl fmt::Debug for Const {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{:#x}", self.ty, self.bits)
    }
}

macro_rules! const_from {
    ($($t:ty => $ty:ident, $v:ident => $bits:expr;)*) => {$(
        impl From<$t> for Const {
            #[inline]
            fn from($v: $t) -> Const {
                Const { ty: Type::$ty, bits: $bits }
            }
        }
    )*};
}
// Signed integers go through the unsigned type of their width, so that no sign bits stand above it.
const_from! {
    bool => BOOL, v => u64::from(v);
    i8 => I8, v => u64::from(v.cast_unsigned());
    i16 => I16, v => u64::from(v.cast_unsigned());
    i32 => I32, v => u64::from(v.cast_unsigned());
    i64 => I64, v => v.cast_unsigned();
    u8 => U8, v => u64::from(v);
    u16 => U16, v => u64::from(v);
    u32 => U32, v => u64::from(v);
    u64 => U64, v => v;
    f32 => F32, v => u64::from(v.to_bits());
    f64 => F64, v => v.to_bits();
    half::f16 => F16, v => u64::from(v.to_bits());
    half::bf16 => BF16, v => u64::from(v.to_bits());
}

/// Memory scope of an atomic or a fence (SPIR-V section 3.27, Scope; PTX section 8.5, Scope).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Scope {
    /// The threads of one workgroup. PTX `.cta`, SPIR-V `Workgroup`.
    Workgroup = 0,
    /// All threads of the device. PTX `.gpu`, SPIR-V `Device`.
    Device = 1,
}

impl Scope {
    /// The name in the text form.
    pub const fn name(self) -> &'static str {
        match self {
            Scope::Workgroup => "workgroup",
            Scope::Device => "device",
        }
    }

    /// The scope of a bytecode number or `None`.
    pub const fn from_code(code: u32) -> Option<Scope> {
        match code {
            0 => Some(Scope::Workgroup),
            1 => Some(Scope::Device),
            _ => None,
        }
    }
}

/// Memory ordering of an atomic (SPIR-V section 3.25, Memory Semantics; PTX section 8.9).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Order {
    /// Atomic, and nothing more.
    Relaxed = 0,
    /// Later accesses of this thread are not seen before it. Not for stores.
    Acquire = 1,
    /// Earlier accesses of this thread are seen before it. Not for loads.
    Release = 2,
    /// Both. Not for loads and stores.
    AcqRel = 3,
}

impl Order {
    /// The name in the text form.
    pub const fn name(self) -> &'static str {
        match self {
            Order::Relaxed => "relaxed",
            Order::Acquire => "acquire",
            Order::Release => "release",
            Order::AcqRel => "acq_rel",
        }
    }

    /// The order of a bytecode number or `None`.
    pub const fn from_code(code: u32) -> Option<Order> {
        match code {
            0 => Some(Order::Relaxed),
            1 => Some(Order::Acquire),
            2 => Some(Order::Release),
            3 => Some(Order::AcqRel),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_names_round_trip() {
        let mut seen = 0;
        for code in 0..=255u8 {
            if let Some(ty) = Type::from_code(code) {
                seen += 1;
                assert_eq!(ty.code(), code);
                if !ty.is_none() {
                    assert_eq!(Type::parse(&ty.to_string()), Some(ty));
                    assert!(TypeSet::just(ty).contains(ty));
                    assert_eq!(TypeSet::just(ty).iter().collect::<Vec<_>>(), [ty]);
                }
            }
        }
        assert_eq!(seen, 1 + 13 * 3);
        assert_eq!(Type::parse("f32x3"), None);
        assert_eq!(Type::parse("x2"), None);
        assert!(!TypeSet::ALL.contains(Type::NONE));
    }

    #[test]
    fn constants_keep_their_bits() {
        assert_eq!(Const::from(-0.0f32).bits(), 0x8000_0000);
        assert_eq!(Const::from(-1i32).bits(), 0xFFFF_FFFF);
        assert_eq!(Const::from(i64::MIN).bits(), 1 << 63);
        assert_eq!(Const::from(f64::NAN).bits(), f64::NAN.to_bits());
        assert_eq!(Const::new(Type::U8, 256), None);
        assert_eq!(Const::new(Type::NONE, 0), None);
    }
}
