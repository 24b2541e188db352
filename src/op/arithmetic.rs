//! Arithmetic on integers and floats.

macro_rules! arithmetic {
    ([$($rows:tt)*] $next:ident $($more:ident)*) => {
        $next! { [$($rows)*
            Add = 20 "add" [T T] Inline -> T, TypeSet::NUMERIC, 0, Pure, Operands, ptx(NATIVE, NARROW), spirv(NATIVE, NARROW),
                "a + b.", "Integers wrap; floats round to nearest even and are not contracted unless the kernel asks for it.";
            Sub = 21 "sub" [T T] Inline -> T, TypeSet::NUMERIC, 0, Pure, Operands, ptx(NATIVE, NARROW), spirv(NATIVE, NARROW),
                "a - b.", "As `add`.";
            Mul = 22 "mul" [T T] Inline -> T, TypeSet::NUMERIC, 0, Pure, Operands, ptx(NATIVE, NARROW), spirv(NATIVE, NARROW),
                "a * b.", "As `add`; integers keep the low half.";
            MulHi = 23 "mul_hi" [T T] Inline -> T, TypeSet::INTS, 0, Pure, Operands, ptx(TypeSet::INTS_WIDE, TypeSet::INTS_NARROW), spirv(TypeSet::NONE, TypeSet::INTS),
                "The high half of the double-width product a * b.", "Signed by the type.";
            Div = 24 "div" [T T] Inline -> T, TypeSet::NUMERIC, FAST, Pure, Operands, ptx(TypeSet::FLOATS_WIDE, TypeSet::INTS.or(TypeSet::HALVES)), spirv(TypeSet::FLOATS_WIDE, TypeSet::INTS.or(TypeSet::HALVES)),
                "a / b; integers towards zero.", "Integers: x / 0 = x, MIN / -1 = MIN. Floats are rounded to nearest even (Vulkan allows 2.5 ULP for f32). Flag fast: 2 ULP for f32 (`div.full`).";
            Rem = 25 "rem" [T T] Inline -> T, TypeSet::NUMERIC, 0, Pure, Operands, ptx(TypeSet::NONE, TypeSet::NUMERIC), spirv(TypeSet::NONE, TypeSet::NUMERIC),
                "The remainder of a / b, with the sign of a.", "Integers: x % 0 = 0, MIN % -1 = 0. Floats: exact (C `fmod`); of an infinity or by zero NaN, by an infinity a.";
            Neg = 26 "neg" [T] Inline -> T, TypeSet::NUMERIC, 0, Pure, Operands, ptx(NATIVE, NARROW), spirv(NATIVE, NARROW),
                "-a.", "Integers wrap (-MIN = MIN). Floats flip the sign, of zero too; a NaN stays some NaN.";
            Abs = 27 "abs" [T] Inline -> T, TypeSet::NUMERIC, 0, Pure, Operands, ptx(TypeSet::of(&[Type::I32, Type::I64]).or(TypeSet::FLOATS_WIDE), TypeSet::UNSIGNED.or(TypeSet::of(&[Type::I8, Type::I16])).or(TypeSet::HALVES)), spirv(TypeSet::of(&[Type::I32, Type::I64]).or(TypeSet::FLOATS_WIDE), TypeSet::UNSIGNED.or(TypeSet::of(&[Type::I8, Type::I16])).or(TypeSet::HALVES)),
                "The magnitude of a.", "Integers wrap (|MIN| = MIN); unsigned ones are themselves. A NaN stays some NaN.";
            Min = 28 "min" [T T] Inline -> T, TypeSet::NUMERIC, 0, Pure, Operands, ptx(NATIVE, NARROW), spirv(TypeSet::INTS_WIDE, TypeSet::INTS_NARROW.or(TypeSet::FLOATS)),
                "The lesser of a and b.", "Floats: the other operand when one is NaN; -0.0 is less than +0.0.";
            Max = 29 "max" [T T] Inline -> T, TypeSet::NUMERIC, 0, Pure, Operands, ptx(NATIVE, NARROW), spirv(TypeSet::INTS_WIDE, TypeSet::INTS_NARROW.or(TypeSet::FLOATS)),
                "The greater of a and b.", "Floats: the other operand when one is NaN; -0.0 is less than +0.0.";
            MinNan = 30 "min_nan" [T T] Inline -> T, TypeSet::FLOATS, 0, Pure, Operands, ptx(TypeSet::just(Type::F32), TypeSet::just(Type::F64).or(TypeSet::HALVES)), spirv(TypeSet::NONE, TypeSet::FLOATS),
                "The lesser of a and b, or NaN when either is NaN.", "-0.0 is less than +0.0. PTX: `min.NaN.f32` from sm_80, compare and select before it and for f64.";
            MaxNan = 31 "max_nan" [T T] Inline -> T, TypeSet::FLOATS, 0, Pure, Operands, ptx(TypeSet::just(Type::F32), TypeSet::just(Type::F64).or(TypeSet::HALVES)), spirv(TypeSet::NONE, TypeSet::FLOATS),
                "The greater of a and b, or NaN when either is NaN.", "-0.0 is less than +0.0. PTX: `max.NaN.f32` from sm_80, compare and select before it and for f64.";
            Clamp = 32 "clamp" [T T T] Inline -> T, TypeSet::NUMERIC, 0, Pure, Operands, ptx(TypeSet::NONE, TypeSet::NUMERIC), spirv(TypeSet::INTS_WIDE, TypeSet::INTS_NARROW.or(TypeSet::FLOATS)),
                "min(max(a, b), c): a kept between b and c.", "Where b > c, c; a NaN a gives b, as `max` and `min` do.";
            MulAdd = 33 "mul_add" [T T T] Inline -> T, TypeSet::NUMERIC, 0, Pure, Operands, ptx(TypeSet::INTS_WIDE, TypeSet::INTS_NARROW.or(TypeSet::FLOATS)), spirv(TypeSet::NONE, TypeSet::NUMERIC),
                "a * b + c, the product rounded and then the sum.", "Two roundings for floats; integers wrap.";
            Fma = 34 "fma" [T T T] Inline -> T, TypeSet::FLOATS, 0, Pure, Operands, ptx(TypeSet::FLOATS_WIDE, TypeSet::HALVES), spirv(TypeSet::FLOATS_WIDE, TypeSet::HALVES),
                "a * b + c with one rounding.", "PTX `fma.rn`. SPIR-V by the emitter's `Fma` mode: Vulkan does not promise that `Fma` fuses.";
            AddSat = 35 "add_sat" [T T] Inline -> T, TypeSet::INTS, 0, Pure, Operands, ptx(TypeSet::just(Type::I32), TypeSet::INTS.minus(TypeSet::just(Type::I32))), spirv(TypeSet::NONE, TypeSet::INTS),
                "a + b, kept within the type.", "Saturates at MIN and MAX.";
            SubSat = 36 "sub_sat" [T T] Inline -> T, TypeSet::INTS, 0, Pure, Operands, ptx(TypeSet::just(Type::I32), TypeSet::INTS.minus(TypeSet::just(Type::I32))), spirv(TypeSet::NONE, TypeSet::INTS),
                "a - b, kept within the type.", "Saturates at MIN and MAX; at 0 for unsigned types.";
            Dot4Add = 37 "dot4_add" [U32 U32 T] Inline -> T, TypeSet::INTS_32, 0, Pure, Operands, ptx(TypeSet::INTS_32, TypeSet::NONE), spirv(TypeSet::NONE, TypeSet::INTS_32),
                "c plus the sum of the products of the four bytes of a and of b, signed or unsigned by T.", "Wraps. PTX `dp4a`, SPIR-V `OpSDot`/`OpUDot` on packed 4x8-bit vectors.";
        ] $($more)* }
    };
}
