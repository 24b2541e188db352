//! Comparisons and selection.

macro_rules! compare {
    ([$($rows:tt)*] $next:ident $($more:ident)*) => {
        $next! { [$($rows)*
            Eq = 70 "eq" [T T] Inline -> Bool, TypeSet::ALL, 0, Pure, Operands, ptx(NATIVE.or(TypeSet::BOOL), NARROW), spirv(NATIVE.or(TypeSet::BOOL), NARROW),
                "Whether a equals b.", "False when either is NaN; -0.0 equals +0.0.";
            Ne = 71 "ne" [T T] Inline -> Bool, TypeSet::ALL, 0, Pure, Operands, ptx(NATIVE.or(TypeSet::BOOL), NARROW), spirv(NATIVE.or(TypeSet::BOOL), NARROW),
                "Whether a differs from b.", "True when either is NaN (`setp.neu`, `OpFUnordNotEqual`).";
            Lt = 72 "lt" [T T] Inline -> Bool, TypeSet::NUMERIC, 0, Pure, Operands, ptx(NATIVE, NARROW), spirv(NATIVE, NARROW),
                "Whether a < b.", "False when either is NaN.";
            Le = 73 "le" [T T] Inline -> Bool, TypeSet::NUMERIC, 0, Pure, Operands, ptx(NATIVE, NARROW), spirv(NATIVE, NARROW),
                "Whether a <= b.", "False when either is NaN.";
            Gt = 74 "gt" [T T] Inline -> Bool, TypeSet::NUMERIC, 0, Pure, Operands, ptx(NATIVE, NARROW), spirv(NATIVE, NARROW),
                "Whether a > b.", "False when either is NaN.";
            Ge = 75 "ge" [T T] Inline -> Bool, TypeSet::NUMERIC, 0, Pure, Operands, ptx(NATIVE, NARROW), spirv(NATIVE, NARROW),
                "Whether a >= b.", "False when either is NaN.";
            Select = 76 "select" [Bool T T] Inline -> T, TypeSet::ALL, 0, Pure, Operands, ptx(TypeSet::NUMERIC, TypeSet::BOOL), spirv(TypeSet::ALL, TypeSet::NONE),
                "b where a is true, c where it is false.", "Keeps the bits of NaNs.";
        ] $($more)* }
    };
}
