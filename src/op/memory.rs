//! Variables, buffers, shared and private arrays.

macro_rules! memory {
    ([$($rows:tt)*] $next:ident $($more:ident)*) => {
        $next! { [$($rows)*
            Load = 130 "load" [Mem Index Offset] Inline -> T, TypeSet::ELEMENTS, ACCESS, Reads, Load, ptx(TypeSet::ELEMENTS, TypeSet::NONE), spirv(TypeSet::ELEMENTS, TypeSet::NONE),
                "The element of a at index b plus the constant c.", "index + offset does not wrap. Keeps every bit. Flags: volatile, coherent (buffers only).";
            Store = 131 "store" [Mem Index T Offset] Store -> Nothing, TypeSet::ELEMENTS, ACCESS, Writes, Divergent, ptx(TypeSet::ELEMENTS, TypeSet::NONE), spirv(TypeSet::ELEMENTS, TypeSet::NONE),
                "Stores c as the element of a at index b plus the constant d.", "index + offset does not wrap. Keeps every bit. Flags: volatile, coherent (buffers only).";
            ArrayLength = 132 "array_length" [Buffer] Inline -> T, TypeSet::INDEX, 0, Pure, Workgroup, ptx(TypeSet::INDEX, TypeSet::NONE), spirv(TypeSet::U32, TypeSet::just(Type::U64)),
                "The number of elements of a buffer.", "As u32 the launch refuses buffers of 2^32 elements and more.";
            Var = 135 "var" [T] Inline -> Var, TypeSet::ALL, 0, Writes, Divergent, ptx(TypeSet::ALL, TypeSet::NONE), spirv(TypeSet::ALL, TypeSet::NONE),
                "Makes a variable of type T that holds a.", "Lives in its block; executed again, it starts again from a.";
            VarGet = 136 "var_get" [Var] Inline -> T, TypeSet::ALL, 0, Reads, Operands, ptx(TypeSet::ALL, TypeSet::NONE), spirv(TypeSet::ALL, TypeSet::NONE),
                "What the variable holds now.", "Keeps every bit.";
            VarSet = 137 "var_set" [Var T] Inline -> Nothing, TypeSet::ALL, 0, Writes, Divergent, ptx(TypeSet::ALL, TypeSet::NONE), spirv(TypeSet::ALL, TypeSet::NONE),
                "Makes the variable hold b.", "Keeps every bit.";
        ] $($more)* }
    };
}
