//! Functions of floats.

macro_rules! float {
    ([$($rows:tt)*] $next:ident $($more:ident)*) => {
        $next! { [$($rows)*
            Sqrt = 90 "sqrt" [T] Inline -> T, TypeSet::FLOATS, 0, Pure, Operands, ptx(TypeSet::FLOATS, TypeSet::NONE), spirv(TypeSet::FLOATS, TypeSet::NONE),
                "The square root, rounded to nearest even.", "Of less than zero: NaN; of -0.0: -0.0. Vulkan allows a driver more error.";
            Rsqrt = 91 "rsqrt" [T] Inline -> T, TypeSet::FLOATS, 0, Pure, Operands, ptx(TypeSet::NONE, TypeSet::FLOATS), spirv(TypeSet::NONE, TypeSet::FLOATS),
                "1 / sqrt(a), the root rounded and then the quotient.", "Of +0.0: +inf; of -0.0: -inf; of less than zero: NaN.";
            Rcp = 92 "rcp" [T] Inline -> T, TypeSet::FLOATS, 0, Pure, Operands, ptx(TypeSet::FLOATS, TypeSet::NONE), spirv(TypeSet::NONE, TypeSet::FLOATS),
                "1 / a, rounded to nearest even.", "Of +0.0: +inf; of -0.0: -inf.";
            Floor = 93 "floor" [T] Inline -> T, TypeSet::FLOATS, 0, Pure, Operands, ptx(TypeSet::FLOATS, TypeSet::NONE), spirv(TypeSet::FLOATS, TypeSet::NONE),
                "The greatest integer not above a.", "Keeps -0.0 and infinities.";
            Ceil = 94 "ceil" [T] Inline -> T, TypeSet::FLOATS, 0, Pure, Operands, ptx(TypeSet::FLOATS, TypeSet::NONE), spirv(TypeSet::FLOATS, TypeSet::NONE),
                "The least integer not below a.", "Between -1 and 0 it is -0.0.";
            Trunc = 95 "trunc" [T] Inline -> T, TypeSet::FLOATS, 0, Pure, Operands, ptx(TypeSet::FLOATS, TypeSet::NONE), spirv(TypeSet::FLOATS, TypeSet::NONE),
                "a without its fraction.", "Keeps the sign, of zero too.";
            RoundEven = 96 "round_even" [T] Inline -> T, TypeSet::FLOATS, 0, Pure, Operands, ptx(TypeSet::FLOATS, TypeSet::NONE), spirv(TypeSet::FLOATS, TypeSet::NONE),
                "The integer nearest to a, the even one of two.", "Keeps the sign, of zero too: round_even(-0.5) = -0.0.";
        ] $($more)* }
    };
}
