//! Vectors of 2 and 4.

macro_rules! vector {
    ([$($rows:tt)*] $next:ident $($more:ident)*) => {
        $next! { [$($rows)*
            Construct2 = 120 "construct2" [Elem Elem] Inline -> T, TypeSet::VECTORS_2, 0, Pure, Operands, ptx(TypeSet::VECTORS_2, TypeSet::NONE), spirv(TypeSet::VECTORS_2, TypeSet::NONE),
                "The vector of two scalars.", "";
            Construct4 = 121 "construct4" [Elem Elem Elem Elem] Side -> T, TypeSet::VECTORS_4, 0, Pure, Operands, ptx(TypeSet::VECTORS_4, TypeSet::NONE), spirv(TypeSet::VECTORS_4, TypeSet::NONE),
                "The vector of four scalars.", "";
            Extract = 122 "extract" [Vector] Inline -> T, TypeSet::NUMERIC, LANE, Pure, Operands, ptx(TypeSet::NUMERIC, TypeSet::NONE), spirv(TypeSet::NUMERIC, TypeSet::NONE),
                "One element of a vector, by the lane in the flags.", "The lane is a constant below the vector's length.";
        ] $($more)* }
    };
}
