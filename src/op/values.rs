//! Constants, parameters, built-ins.

macro_rules! values {
    ([$($rows:tt)*] $next:ident $($more:ident)*) => {
        $next! { [$($rows)*
            Const = 1 "const" [Bits] Inline -> T, TypeSet::ALL, 0, Pure, Workgroup, ptx(TypeSet::ALL, TypeSet::NONE), spirv(TypeSet::ALL, TypeSet::NONE),
                "The constant of type T with the given bits.", "Every bit reaches the target: NaN payloads, -0.0, subnormals, infinities.";
            Param = 2 "param" [Param] Inline -> T, TypeSet::ALL, 0, Pure, Workgroup, ptx(TypeSet::ALL, TypeSet::NONE), spirv(TypeSet::ALL, TypeSet::NONE),
                "The value of a scalar parameter.", "A `bool` travels as a byte in PTX and as a 32-bit word in SPIR-V; any value but 0 is true.";
            GlobalId = 3 "global_id" [] Inline -> U32, TypeSet::NONE, AXIS, Pure, Divergent, ptx(TypeSet::NONE, TypeSet::NONE), spirv(TypeSet::NONE, TypeSet::NONE),
                "The thread's place in the grid along an axis: workgroup_id * workgroup_size + local_id.", "Wraps at 2^32, as the product and the sum do.";
            LocalId = 4 "local_id" [] Inline -> U32, TypeSet::NONE, AXIS, Pure, Divergent, ptx(TypeSet::NONE, TypeSet::NONE), spirv(TypeSet::NONE, TypeSet::NONE),
                "The thread's place in its workgroup along an axis.", "PTX `%tid`, SPIR-V `LocalInvocationId`.";
            WorkgroupId = 5 "workgroup_id" [] Inline -> U32, TypeSet::NONE, AXIS, Pure, Workgroup, ptx(TypeSet::NONE, TypeSet::NONE), spirv(TypeSet::NONE, TypeSet::NONE),
                "The workgroup's place in the grid along an axis.", "PTX `%ctaid`, SPIR-V `WorkgroupId`.";
            WorkgroupSize = 6 "workgroup_size" [] Inline -> U32, TypeSet::NONE, AXIS, Pure, Workgroup, ptx(TypeSet::NONE, TypeSet::NONE), spirv(TypeSet::NONE, TypeSet::NONE),
                "The number of threads in a workgroup along an axis.", "A constant: the kernel declares it.";
            NumWorkgroups = 7 "num_workgroups" [] Inline -> U32, TypeSet::NONE, AXIS, Pure, Workgroup, ptx(TypeSet::NONE, TypeSet::NONE), spirv(TypeSet::NONE, TypeSet::NONE),
                "The number of workgroups in the grid along an axis.", "PTX `%nctaid`, SPIR-V `NumWorkgroups`.";
            GlobalSize = 8 "global_size" [] Inline -> U32, TypeSet::NONE, AXIS, Pure, Workgroup, ptx(TypeSet::NONE, TypeSet::NONE), spirv(TypeSet::NONE, TypeSet::NONE),
                "The number of threads in the grid along an axis: num_workgroups * workgroup_size.", "Wraps at 2^32.";
            LocalIndex = 9 "local_index" [] Inline -> U32, TypeSet::NONE, 0, Pure, Divergent, ptx(TypeSet::NONE, TypeSet::NONE), spirv(TypeSet::NONE, TypeSet::NONE),
                "The thread's linear place in its workgroup: x + size_x * (y + size_y * z).", "SPIR-V `LocalInvocationIndex`.";
            SubgroupSize = 10 "subgroup_size" [] Inline -> U32, TypeSet::NONE, 0, Pure, Workgroup, ptx(TypeSet::NONE, TypeSet::NONE), spirv(TypeSet::NONE, TypeSet::NONE),
                "The number of lanes in a subgroup.", "32 in PTX; the device's in SPIR-V. Not smaller in a partial subgroup.";
            Lane = 11 "lane" [] Inline -> U32, TypeSet::NONE, 0, Pure, Divergent, ptx(TypeSet::NONE, TypeSet::NONE), spirv(TypeSet::NONE, TypeSet::NONE),
                "The thread's place in its subgroup.", "local_index modulo subgroup_size; needs full subgroups.";
            SubgroupId = 12 "subgroup_id" [] Inline -> U32, TypeSet::NONE, 0, Pure, Subgroup, ptx(TypeSet::NONE, TypeSet::NONE), spirv(TypeSet::NONE, TypeSet::NONE),
                "The subgroup's place in its workgroup.", "local_index divided by subgroup_size; needs full subgroups. Never PTX `%warpid`, which may change.";
            AssumeUniform = 13 "assume_uniform" [T] Inline -> T, TypeSet::ALL, 0, Pure, Workgroup, ptx(TypeSet::ALL, TypeSet::NONE), spirv(TypeSet::ALL, TypeSet::NONE),
                "Its operand, which the caller promises to be the same in every thread of the workgroup.", "Emits nothing. The reference executor checks the promise; a kernel that makes it has no safe launch.";
        ] $($more)* }
    };
}
