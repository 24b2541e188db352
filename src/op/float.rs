//! Functions of floats.

macro_rules! float {
    ([$($rows:tt)*] $next:ident $($more:ident)*) => {
        $next! { [$($rows)*
            Sqrt = 90 "sqrt" [T] Inline -> T, TypeSet::FLOATS, FAST, Pure, Operands, ptx(TypeSet::FLOATS_WIDE, TypeSet::HALVES), spirv(TypeSet::FLOATS_WIDE, TypeSet::HALVES),
                "The square root, rounded to nearest even.", "Of less than zero: NaN; of -0.0: -0.0. Vulkan allows a driver more error.";
            Rsqrt = 91 "rsqrt" [T] Inline -> T, TypeSet::FLOATS, FAST, Pure, Operands, ptx(TypeSet::NONE, TypeSet::FLOATS), spirv(TypeSet::NONE, TypeSet::FLOATS),
                "1 / sqrt(a).", "Bounds: docs/accuracy.md. Of +0.0: +inf; of -0.0: -inf; of less than zero: NaN.";
            Rcp = 92 "rcp" [T] Inline -> T, TypeSet::FLOATS, FAST, Pure, Operands, ptx(TypeSet::FLOATS_WIDE, TypeSet::HALVES), spirv(TypeSet::NONE, TypeSet::FLOATS),
                "1 / a, rounded to nearest even.", "Of +0.0: +inf; of -0.0: -inf.";
            Floor = 93 "floor" [T] Inline -> T, TypeSet::FLOATS, 0, Pure, Operands, ptx(TypeSet::FLOATS_WIDE, TypeSet::HALVES), spirv(TypeSet::FLOATS_WIDE, TypeSet::HALVES),
                "The greatest integer not above a.", "Keeps -0.0 and infinities.";
            Ceil = 94 "ceil" [T] Inline -> T, TypeSet::FLOATS, 0, Pure, Operands, ptx(TypeSet::FLOATS_WIDE, TypeSet::HALVES), spirv(TypeSet::FLOATS_WIDE, TypeSet::HALVES),
                "The least integer not below a.", "Between -1 and 0 it is -0.0.";
            Trunc = 95 "trunc" [T] Inline -> T, TypeSet::FLOATS, 0, Pure, Operands, ptx(TypeSet::FLOATS_WIDE, TypeSet::HALVES), spirv(TypeSet::FLOATS_WIDE, TypeSet::HALVES),
                "a without its fraction.", "Keeps the sign, of zero too.";
            RoundEven = 96 "round_even" [T] Inline -> T, TypeSet::FLOATS, 0, Pure, Operands, ptx(TypeSet::FLOATS_WIDE, TypeSet::HALVES), spirv(TypeSet::FLOATS_WIDE, TypeSet::HALVES),
                "The integer nearest to a, the even one of two.", "Keeps the sign, of zero too: round_even(-0.5) = -0.0.";
            Exp = 97 "exp" [T] Inline -> T, TypeSet::FLOATS, FAST, Pure, Operands, ptx(TypeSet::NONE, TypeSet::FLOATS), spirv(TypeSet::NONE, TypeSet::FLOATS),
                "e to the power of a.", "Of -inf: 0; of +inf: +inf. Bounds: docs/accuracy.md.";
            Exp2 = 98 "exp2" [T] Inline -> T, TypeSet::FLOATS, FAST, Pure, Operands, ptx(TypeSet::NONE, TypeSet::FLOATS), spirv(TypeSet::NONE, TypeSet::FLOATS),
                "2 to the power of a.", "Exact at integers. Of -inf: 0; of +inf: +inf.";
            Log = 99 "log" [T] Inline -> T, TypeSet::FLOATS, FAST, Pure, Operands, ptx(TypeSet::NONE, TypeSet::FLOATS), spirv(TypeSet::NONE, TypeSet::FLOATS),
                "The natural logarithm.", "Of zero: -inf; of less than zero: NaN; of 1: +0.";
            Log2 = 100 "log2" [T] Inline -> T, TypeSet::FLOATS, FAST, Pure, Operands, ptx(TypeSet::NONE, TypeSet::FLOATS), spirv(TypeSet::NONE, TypeSet::FLOATS),
                "The logarithm to base 2.", "Of zero: -inf; of less than zero: NaN; exact at powers of 2.";
            Pow = 101 "pow" [T T] Inline -> T, TypeSet::FLOATS, FAST, Pure, Operands, ptx(TypeSet::NONE, TypeSet::FLOATS), spirv(TypeSet::NONE, TypeSet::FLOATS),
                "a to the power of b.", "As IEEE 754 defines pow: pow(x, 0) = pow(1, y) = 1 also for NaN; negative a needs an integer b, else NaN.";
            Sin = 102 "sin" [T] Inline -> T, TypeSet::FLOATS, FAST, Pure, Operands, ptx(TypeSet::NONE, TypeSet::FLOATS), spirv(TypeSet::NONE, TypeSet::FLOATS),
                "The sine of a in radians.", "Reduced for every finite argument; of an infinity: NaN; keeps -0.0.";
            Cos = 103 "cos" [T] Inline -> T, TypeSet::FLOATS, FAST, Pure, Operands, ptx(TypeSet::NONE, TypeSet::FLOATS), spirv(TypeSet::NONE, TypeSet::FLOATS),
                "The cosine of a in radians.", "Reduced for every finite argument; of an infinity: NaN.";
            Tan = 104 "tan" [T] Inline -> T, TypeSet::FLOATS, FAST, Pure, Operands, ptx(TypeSet::NONE, TypeSet::FLOATS), spirv(TypeSet::NONE, TypeSet::FLOATS),
                "The tangent of a in radians.", "Reduced for every finite argument; of an infinity: NaN; keeps -0.0.";
            Tanh = 105 "tanh" [T] Inline -> T, TypeSet::FLOATS, FAST, Pure, Operands, ptx(TypeSet::NONE, TypeSet::FLOATS), spirv(TypeSet::NONE, TypeSet::FLOATS),
                "The hyperbolic tangent.", "Of an infinity: 1 with its sign; keeps -0.0.";
            Erf = 106 "erf" [T] Inline -> T, TypeSet::FLOATS, FAST, Pure, Operands, ptx(TypeSet::NONE, TypeSet::FLOATS), spirv(TypeSet::NONE, TypeSet::FLOATS),
                "The error function.", "Of an infinity: 1 with its sign; keeps -0.0.";
            Fract = 107 "fract" [T] Inline -> T, TypeSet::FLOATS, 0, Pure, Operands, ptx(TypeSet::NONE, TypeSet::FLOATS), spirv(TypeSet::NONE, TypeSet::FLOATS),
                "a - floor(a), rounded.", "Of a tiny negative number 1 by rounding; of an infinity NaN; of -0.0: +0.0.";
            Copysign = 108 "copysign" [T T] Inline -> T, TypeSet::FLOATS, 0, Pure, Operands, ptx(TypeSet::NONE, TypeSet::FLOATS), spirv(TypeSet::NONE, TypeSet::FLOATS),
                "a with the sign bit of b.", "Keeps every other bit of a, of NaNs too.";
            IsNan = 109 "is_nan" [T] Inline -> Bool, TypeSet::FLOATS, 0, Pure, Operands, ptx(TypeSet::NONE, TypeSet::FLOATS), spirv(TypeSet::NONE, TypeSet::FLOATS),
                "Whether a is NaN.", "";
            IsInf = 110 "is_inf" [T] Inline -> Bool, TypeSet::FLOATS, 0, Pure, Operands, ptx(TypeSet::NONE, TypeSet::FLOATS), spirv(TypeSet::NONE, TypeSet::FLOATS),
                "Whether a is an infinity.", "";
        ] $($more)* }
    };
}
