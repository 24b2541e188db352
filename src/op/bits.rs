//! Bits of integers, and the logic of bools.

macro_rules! bits {
    ([$($rows:tt)*] $next:ident $($more:ident)*) => {
        $next! { [$($rows)*
            And = 50 "and" [T T] Inline -> T, TypeSet::INTS.or(TypeSet::BOOL), 0, Pure, Operands, ptx(TypeSet::INTS_WIDE.or(TypeSet::BOOL), TypeSet::INTS_NARROW), spirv(TypeSet::INTS_WIDE.or(TypeSet::BOOL), TypeSet::INTS_NARROW),
                "Bitwise, or for bools logical, and.", "Both operands are always evaluated.";
            Or = 51 "or" [T T] Inline -> T, TypeSet::INTS.or(TypeSet::BOOL), 0, Pure, Operands, ptx(TypeSet::INTS_WIDE.or(TypeSet::BOOL), TypeSet::INTS_NARROW), spirv(TypeSet::INTS_WIDE.or(TypeSet::BOOL), TypeSet::INTS_NARROW),
                "Bitwise, or for bools logical, or.", "Both operands are always evaluated.";
            Xor = 52 "xor" [T T] Inline -> T, TypeSet::INTS.or(TypeSet::BOOL), 0, Pure, Operands, ptx(TypeSet::INTS_WIDE.or(TypeSet::BOOL), TypeSet::INTS_NARROW), spirv(TypeSet::INTS_WIDE.or(TypeSet::BOOL), TypeSet::INTS_NARROW),
                "Bitwise, or for bools logical, exclusive or.", "For bools the same as `ne`.";
            Not = 53 "not" [T] Inline -> T, TypeSet::INTS.or(TypeSet::BOOL), 0, Pure, Operands, ptx(TypeSet::INTS_WIDE.or(TypeSet::BOOL), TypeSet::INTS_NARROW), spirv(TypeSet::INTS_WIDE.or(TypeSet::BOOL), TypeSet::INTS_NARROW),
                "Every bit flipped; for bools the negation.", "";
            Shl = 54 "shl" [T U32] Inline -> T, TypeSet::INTS, 0, Pure, Operands, ptx(TypeSet::NONE, TypeSet::INTS), spirv(TypeSet::NONE, TypeSet::INTS),
                "a shifted left by b.", "b is taken modulo the width.";
            Shr = 55 "shr" [T U32] Inline -> T, TypeSet::INTS, 0, Pure, Operands, ptx(TypeSet::NONE, TypeSet::INTS), spirv(TypeSet::NONE, TypeSet::INTS),
                "a shifted right by b, filled with the sign for signed types and with zeros for unsigned ones.", "b is taken modulo the width.";
            RotateLeft = 56 "rotate_left" [T U32] Inline -> T, TypeSet::INTS, 0, Pure, Operands, ptx(TypeSet::NONE, TypeSet::INTS), spirv(TypeSet::NONE, TypeSet::INTS),
                "The bits of a rotated left by b.", "b is taken modulo the width.";
            RotateRight = 57 "rotate_right" [T U32] Inline -> T, TypeSet::INTS, 0, Pure, Operands, ptx(TypeSet::NONE, TypeSet::INTS), spirv(TypeSet::NONE, TypeSet::INTS),
                "The bits of a rotated right by b.", "b is taken modulo the width.";
            Clz = 58 "clz" [T] Inline -> U32, TypeSet::INTS, 0, Pure, Operands, ptx(TypeSet::INTS_WIDE, TypeSet::INTS_NARROW), spirv(TypeSet::NONE, TypeSet::INTS),
                "The number of leading zero bits, as a u32.", "Of 0: the width.";
            Ctz = 59 "ctz" [T] Inline -> U32, TypeSet::INTS, 0, Pure, Operands, ptx(TypeSet::NONE, TypeSet::INTS), spirv(TypeSet::NONE, TypeSet::INTS),
                "The number of trailing zero bits, as a u32.", "Of 0: the width.";
            Popcount = 60 "popcount" [T] Inline -> U32, TypeSet::INTS, 0, Pure, Operands, ptx(TypeSet::INTS_WIDE, TypeSet::INTS_NARROW), spirv(TypeSet::INTS_32, TypeSet::INTS_64.or(TypeSet::INTS_NARROW)),
                "The number of one bits, as a u32.", "";
            ReverseBits = 61 "reverse_bits" [T] Inline -> T, TypeSet::INTS, 0, Pure, Operands, ptx(TypeSet::INTS_WIDE, TypeSet::INTS_NARROW), spirv(TypeSet::INTS_32, TypeSet::INTS_64.or(TypeSet::INTS_NARROW)),
                "The bits of a in reverse order.", "";
            BitfieldExtract = 62 "bitfield_extract" [T U32 U32] Inline -> T, TypeSet::INTS, 0, Pure, Operands, ptx(TypeSet::NONE, TypeSet::INTS), spirv(TypeSet::NONE, TypeSet::INTS),
                "The c bits of a that begin at bit b, extended with the field's top bit for signed types and with zeros for unsigned ones.", "With W the width: b counts as min(b, W), c as min(c, W - b). An empty field is 0.";
            BitfieldInsert = 63 "bitfield_insert" [T T U32 U32] Side -> T, TypeSet::INTS, 0, Pure, Operands, ptx(TypeSet::NONE, TypeSet::INTS), spirv(TypeSet::NONE, TypeSet::INTS),
                "a with the d bits that begin at bit c replaced by the low bits of b.", "c and d are bounded as in `bitfield_extract`. An empty field leaves a.";
            FunnelShl = 64 "funnel_shl" [T T U32] Inline -> T, TypeSet::INTS, 0, Pure, Operands, ptx(TypeSet::NONE, TypeSet::INTS), spirv(TypeSet::NONE, TypeSet::INTS),
                "The high half of the double-width a:b (a above b) shifted left by c.", "c is taken modulo the width; by 0 it is a.";
            FunnelShr = 65 "funnel_shr" [T T U32] Inline -> T, TypeSet::INTS, 0, Pure, Operands, ptx(TypeSet::NONE, TypeSet::INTS), spirv(TypeSet::NONE, TypeSet::INTS),
                "The low half of the double-width a:b (a above b) shifted right by c.", "c is taken modulo the width; by 0 it is b.";
        ] $($more)* }
    };
}
