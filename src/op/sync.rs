//! Barriers and fences.

macro_rules! sync {
    ([$($rows:tt)*] $next:ident $($more:ident)*) => {
        $next! { [$($rows)*
            WorkgroupBarrier = 170 "workgroup_barrier" [] Inline -> Nothing, TypeSet::NONE, 0, Barrier, Divergent, ptx(TypeSet::NONE, TypeSet::NONE), spirv(TypeSet::NONE, TypeSet::NONE),
                "Waits for every thread of the workgroup; what each wrote before it, to shared memory and to buffers, the others see after it.", "Needs workgroup-uniform control flow.";
            MemoryFence = 171 "memory_fence" [] Inline -> Nothing, TypeSet::NONE, 1, Fence, Divergent, ptx(TypeSet::NONE, TypeSet::NONE), spirv(TypeSet::NONE, TypeSet::NONE),
                "Orders this thread's accesses before it and those after it, as seen by the threads of the scope (acquire and release).", "Flag 0: workgroup, 1: device. Waits for nobody.";
        ] $($more)* }
    };
}
