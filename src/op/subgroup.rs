//! Operations among the lanes of a subgroup.

macro_rules! subgroup {
    ([$($rows:tt)*] $next:ident $($more:ident)*) => {
        $next! { [$($rows)*
            Shuffle = 180 "shuffle" [T U32] Inline -> T, TypeSet::ALL, 0, Collective, Divergent, ptx(TypeSet::INTS_32, TypeSet::ALL.minus(TypeSet::INTS_32)), spirv(TypeSet::ALL, TypeSet::NONE),
                "The value that lane b has.", "From a lane that is inactive or out of range: the caller's own value.";
            ShuffleXor = 181 "shuffle_xor" [T U32] Inline -> T, TypeSet::ALL, 0, Collective, Divergent, ptx(TypeSet::INTS_32, TypeSet::ALL.minus(TypeSet::INTS_32)), spirv(TypeSet::ALL, TypeSet::NONE),
                "The value of the lane whose number is the own one xor b.", "From a lane that is inactive or out of range: the caller's own value.";
            ShuffleUp = 182 "shuffle_up" [T U32] Inline -> T, TypeSet::ALL, 0, Collective, Divergent, ptx(TypeSet::INTS_32, TypeSet::ALL.minus(TypeSet::INTS_32)), spirv(TypeSet::ALL, TypeSet::NONE),
                "The value of the lane b below.", "From a lane that is inactive or out of range: the caller's own value.";
            ShuffleDown = 183 "shuffle_down" [T U32] Inline -> T, TypeSet::ALL, 0, Collective, Divergent, ptx(TypeSet::INTS_32, TypeSet::ALL.minus(TypeSet::INTS_32)), spirv(TypeSet::ALL, TypeSet::NONE),
                "The value of the lane b above.", "From a lane that is inactive or out of range: the caller's own value.";
            Broadcast = 184 "broadcast" [T U32] Inline -> T, TypeSet::ALL, 0, Collective, Subgroup, ptx(TypeSet::INTS_32, TypeSet::ALL.minus(TypeSet::INTS_32)), spirv(TypeSet::ALL, TypeSet::NONE),
                "The value of lane b, in every lane.", "The result is subgroup-uniform where b is. From a lane that is inactive or out of range: the caller's own value.";
            Ballot = 185 "ballot" [Bool] Inline -> U32x4, TypeSet::NONE, 0, Collective, Subgroup, ptx(TypeSet::NONE, TypeSet::NONE), spirv(TypeSet::NONE, TypeSet::NONE),
                "One bit for each lane, set where a is true: lane n is bit n % 32 of element n / 32.", "Bits of inactive lanes and beyond the subgroup are 0.";
            Any = 186 "any" [Bool] Inline -> Bool, TypeSet::NONE, 0, Collective, Subgroup, ptx(TypeSet::NONE, TypeSet::NONE), spirv(TypeSet::NONE, TypeSet::NONE),
                "Whether a is true in some lane.", "";
            All = 187 "all" [Bool] Inline -> Bool, TypeSet::NONE, 0, Collective, Subgroup, ptx(TypeSet::NONE, TypeSet::NONE), spirv(TypeSet::NONE, TypeSet::NONE),
                "Whether a is true in every active lane.", "";
            Elect = 188 "elect" [] Inline -> Bool, TypeSet::NONE, 0, Collective, Divergent, ptx(TypeSet::NONE, TypeSet::NONE), spirv(TypeSet::NONE, TypeSet::NONE),
                "True in the lowest active lane alone.", "";
            SubgroupAdd = 190 "subgroup_add" [T] Inline -> T, TypeSet::NUMERIC, SCAN, Collective, Divergent, ptx(TypeSet::INTS_32, TypeSet::NUMERIC.minus(TypeSet::INTS_32)), spirv(TypeSet::NUMERIC, TypeSet::NONE),
                "The sum over the active lanes.", "Flags 0: reduce, 1: inclusive scan, 2: exclusive scan, whose first lane has the identity. Floats follow the documented tree order unless flag 4 asks for the native one.";
            SubgroupMin = 191 "subgroup_min" [T] Inline -> T, TypeSet::NUMERIC, SCAN, Collective, Divergent, ptx(TypeSet::INTS_32, TypeSet::NUMERIC.minus(TypeSet::INTS_32)), spirv(TypeSet::NUMERIC, TypeSet::NONE),
                "The least over the active lanes, as `min` orders.", "Flags 0: reduce, 1: inclusive scan, 2: exclusive scan, whose first lane has the identity. ";
            SubgroupMax = 192 "subgroup_max" [T] Inline -> T, TypeSet::NUMERIC, SCAN, Collective, Divergent, ptx(TypeSet::INTS_32, TypeSet::NUMERIC.minus(TypeSet::INTS_32)), spirv(TypeSet::NUMERIC, TypeSet::NONE),
                "The greatest over the active lanes, as `max` orders.", "Flags 0: reduce, 1: inclusive scan, 2: exclusive scan, whose first lane has the identity. ";
            SubgroupAnd = 193 "subgroup_and" [T] Inline -> T, TypeSet::INTS.or(TypeSet::BOOL), SCAN, Collective, Divergent, ptx(TypeSet::INTS_32, TypeSet::INTS.or(TypeSet::BOOL).minus(TypeSet::INTS_32)), spirv(TypeSet::INTS.or(TypeSet::BOOL), TypeSet::NONE),
                "Bitwise and over the active lanes.", "Flags 0: reduce, 1: inclusive scan, 2: exclusive scan, whose first lane has the identity. ";
            SubgroupOr = 194 "subgroup_or" [T] Inline -> T, TypeSet::INTS.or(TypeSet::BOOL), SCAN, Collective, Divergent, ptx(TypeSet::INTS_32, TypeSet::INTS.or(TypeSet::BOOL).minus(TypeSet::INTS_32)), spirv(TypeSet::INTS.or(TypeSet::BOOL), TypeSet::NONE),
                "Bitwise or over the active lanes.", "Flags 0: reduce, 1: inclusive scan, 2: exclusive scan, whose first lane has the identity. ";
            SubgroupXor = 195 "subgroup_xor" [T] Inline -> T, TypeSet::INTS.or(TypeSet::BOOL), SCAN, Collective, Divergent, ptx(TypeSet::INTS_32, TypeSet::INTS.or(TypeSet::BOOL).minus(TypeSet::INTS_32)), spirv(TypeSet::INTS.or(TypeSet::BOOL), TypeSet::NONE),
                "Bitwise exclusive or over the active lanes.", "Flags 0: reduce, 1: inclusive scan, 2: exclusive scan, whose first lane has the identity. ";
            SubgroupBarrier = 196 "subgroup_barrier" [] Inline -> Nothing, TypeSet::NONE, 0, Collective, Divergent, ptx(TypeSet::NONE, TypeSet::NONE), spirv(TypeSet::NONE, TypeSet::NONE),
                "Waits for every lane of the subgroup; what each wrote before it, to shared memory and to buffers, the others see after it.", "Needs subgroup-uniform control flow.";
        ] $($more)* }
    };
}
