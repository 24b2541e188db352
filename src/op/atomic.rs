//! Atomics on buffers and shared arrays.

macro_rules! atomic {
    ([$($rows:tt)*] $next:ident $($more:ident)*) => {
        $next! { [$($rows)*
            AtomicLoad = 140 "atomic_load" [Mem Index Offset Ordering] Side -> T, TypeSet::INTS_WIDE.or(TypeSet::just(Type::F32)), 0, Reads, Divergent, ptx(TypeSet::INTS_WIDE.or(TypeSet::just(Type::F32)), TypeSet::NONE), spirv(TypeSet::INTS_WIDE.or(TypeSet::just(Type::F32)), TypeSet::NONE),
                "The element, read atomically.", "Order: relaxed or acquire.";
            AtomicStore = 141 "atomic_store" [Mem Index T Offset Ordering] Side -> Nothing, TypeSet::INTS_WIDE.or(TypeSet::just(Type::F32)), 0, Writes, Divergent, ptx(TypeSet::INTS_WIDE.or(TypeSet::just(Type::F32)), TypeSet::NONE), spirv(TypeSet::INTS_WIDE.or(TypeSet::just(Type::F32)), TypeSet::NONE),
                "Stores c atomically.", "Order: relaxed or release.";
            AtomicAdd = 142 "atomic_add" [Mem Index T Offset Ordering] Side -> T, TypeSet::INTS_WIDE.or(TypeSet::FLOATS_WIDE), 0, ReadsWrites, Divergent, ptx(TypeSet::INTS_WIDE.or(TypeSet::FLOATS_WIDE), TypeSet::NONE), spirv(TypeSet::INTS_WIDE.or(TypeSet::just(Type::F32)), TypeSet::just(Type::F64)),
                "Adds c to the element; makes the value before.", "Integers wrap. Floats round to nearest even; NVIDIA's global f32 add flushes subnormals.";
            AtomicSub = 143 "atomic_sub" [Mem Index T Offset Ordering] Side -> T, TypeSet::INTS_WIDE, 0, ReadsWrites, Divergent, ptx(TypeSet::INTS_WIDE, TypeSet::NONE), spirv(TypeSet::INTS_WIDE, TypeSet::NONE),
                "Subtracts c from the element; makes the value before.", "Wraps.";
            AtomicMin = 144 "atomic_min" [Mem Index T Offset Ordering] Side -> T, TypeSet::INTS_WIDE.or(TypeSet::just(Type::F32)), 0, ReadsWrites, Divergent, ptx(TypeSet::INTS_WIDE, TypeSet::just(Type::F32)), spirv(TypeSet::INTS_WIDE, TypeSet::just(Type::F32)),
                "The lesser of the element and c; makes the value before.", "Signed by the type; f32 as `min` and `max` order.";
            AtomicMax = 145 "atomic_max" [Mem Index T Offset Ordering] Side -> T, TypeSet::INTS_WIDE.or(TypeSet::just(Type::F32)), 0, ReadsWrites, Divergent, ptx(TypeSet::INTS_WIDE, TypeSet::just(Type::F32)), spirv(TypeSet::INTS_WIDE, TypeSet::just(Type::F32)),
                "The greater of the element and c; makes the value before.", "Signed by the type; f32 as `min` and `max` order.";
            AtomicAnd = 146 "atomic_and" [Mem Index T Offset Ordering] Side -> T, TypeSet::INTS_WIDE, 0, ReadsWrites, Divergent, ptx(TypeSet::INTS_WIDE, TypeSet::NONE), spirv(TypeSet::INTS_WIDE, TypeSet::NONE),
                "Bitwise and with c; makes the value before.", "";
            AtomicOr = 147 "atomic_or" [Mem Index T Offset Ordering] Side -> T, TypeSet::INTS_WIDE, 0, ReadsWrites, Divergent, ptx(TypeSet::INTS_WIDE, TypeSet::NONE), spirv(TypeSet::INTS_WIDE, TypeSet::NONE),
                "Bitwise or with c; makes the value before.", "";
            AtomicXor = 148 "atomic_xor" [Mem Index T Offset Ordering] Side -> T, TypeSet::INTS_WIDE, 0, ReadsWrites, Divergent, ptx(TypeSet::INTS_WIDE, TypeSet::NONE), spirv(TypeSet::INTS_WIDE, TypeSet::NONE),
                "Bitwise exclusive or with c; makes the value before.", "";
            AtomicExchange = 149 "atomic_exchange" [Mem Index T Offset Ordering] Side -> T, TypeSet::INTS_WIDE.or(TypeSet::just(Type::F32)), 0, ReadsWrites, Divergent, ptx(TypeSet::INTS_WIDE.or(TypeSet::just(Type::F32)), TypeSet::NONE), spirv(TypeSet::INTS_WIDE.or(TypeSet::just(Type::F32)), TypeSet::NONE),
                "Replaces the element by c; makes the value before.", "Keeps every bit.";
            AtomicCompareExchange = 150 "atomic_compare_exchange" [Mem Index T T Offset Ordering] Side -> T, TypeSet::INTS_WIDE, 0, ReadsWrites, Divergent, ptx(TypeSet::INTS_WIDE, TypeSet::NONE), spirv(TypeSet::INTS_WIDE, TypeSet::NONE),
                "Replaces the element by d if it equals the comparand c; makes the value before.", "On failure the order is acquire where it held an acquire, else relaxed.";
        ] $($more)* }
    };
}
