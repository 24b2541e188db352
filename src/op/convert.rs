//! Conversions.

macro_rules! convert {
    ([$($rows:tt)*] $next:ident $($more:ident)*) => {
        $next! { [$($rows)*
            Convert = 80 "convert" [Any] Inline -> T, TypeSet::ALL, 0, Pure, Operands, ptx(TypeSet::NUMERIC, TypeSet::BOOL), spirv(TypeSet::NONE, TypeSet::ALL),
                "The value of a as a T.", "Integer to integer keeps the low bits and extends by the source's sign; integer to float and f64 to f32 round to nearest even; float to integer truncates, saturates and maps NaN to 0. A bool is 0 or 1; to bool, any value but zero is true, NaN too.";
            Bitcast = 81 "bitcast" [Any] Inline -> T, TypeSet::NUMERIC, 0, Pure, Operands, ptx(NATIVE, NARROW), spirv(NATIVE, NARROW),
                "The bits of a as a T of the same width.", "Keeps every bit. To the same type it is a copy.";
            Pack = 82 "pack" [T T] Inline -> U32, TypeSet::HALVES, 0, Pure, Operands, ptx(TypeSet::HALVES, TypeSet::NONE), spirv(TypeSet::NONE, TypeSet::HALVES),
                "Two 16-bit floats in one u32: a in the low half, b in the high one.", "Keeps every bit.";
            Unpack = 83 "unpack" [U32] Inline -> T, TypeSet::HALVES, HALF, Pure, Operands, ptx(TypeSet::HALVES, TypeSet::NONE), spirv(TypeSet::NONE, TypeSet::HALVES),
                "The 16-bit float in the low half of a u32, or by flag 1 in the high one.", "Keeps every bit.";
        ] $($more)* }
    };
}
