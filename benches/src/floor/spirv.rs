//! The kernels as SPIR-V 1.3 for Vulkan, in SSA form, written once against [`Assembler`]. Scalars are the members of a
//! uniform block at binding 0; the buffers are at the bindings from 1 on.

use super::words::{Assembler, Id, Words};
use kernite_stages::Case;
use spirv::{BuiltIn, Capability, Decoration, Op, StorageClass};

/// Words pushed into a fresh vector: the yardstick.
pub fn fresh(case: Case) -> Vec<u32> {
    kept(case, Vec::new())
}

/// Words pushed into a vector that the caller keeps.
pub fn kept(case: Case, words: Vec<u32>) -> Vec<u32> {
    let mut out = Words::on(words);
    write(&mut out, case);
    out.finish()
}

/// Memory semantics of the barriers: AcquireRelease | WorkgroupMemory.
const WORKGROUP_SEMANTICS: u32 = 0x108;

/// What a kernel's body needs of the declarations.
struct Module<'a, A> {
    out: &'a mut A,
    main: Id,
    void: Id,
    function: Id,
    boolean: Id,
    word: Id,
    float: Id,
    vector: Id,
    element: Id,
    uniform_word: Id,
    uniform_float: Id,
    glsl: Id,
    zero: Id,
    one: Id,
    global_id: Id,
    local_id: Id,
    workgroup_id: Id,
    uniforms: Id,
    buffers: [Id; 3],
}

/// Writes a kernel.
#[inline(never)]
pub fn write<A: Assembler>(out: &mut A, case: Case) {
    let mut m = Module::declare(out, case);
    match case {
        Case::VectorAdd | Case::Saxpy => m.elementwise(case),
        Case::Straight(n) => m.straight(n),
        Case::Reduce256 => m.reduce256(),
        Case::Matmul16 => m.matmul16(),
    }
}

impl<'a, A: Assembler> Module<'a, A> {
    fn declare(out: &'a mut A, case: Case) -> Self {
        let [main, global_id, local_id, workgroup_id] = ids(out);
        let [array, block, uniform_block, uniforms] = ids(out);
        let mut buffers = [0; 3];
        let buffers_used = &mut buffers[..case.buffers()];
        buffers_used.iter_mut().for_each(|b| *b = out.id());
        let has_uniforms = !matches!(case, Case::Straight(_));
        let inputs: &[(Id, BuiltIn)] = match case {
            Case::VectorAdd | Case::Saxpy | Case::Straight(_) => {
                &[(global_id, BuiltIn::GlobalInvocationId)]
            }
            Case::Matmul16 => &[
                (global_id, BuiltIn::GlobalInvocationId),
                (local_id, BuiltIn::LocalInvocationId),
            ],
            Case::Reduce256 => &[
                (global_id, BuiltIn::GlobalInvocationId),
                (local_id, BuiltIn::LocalInvocationId),
                (workgroup_id, BuiltIn::WorkgroupId),
            ],
        };

        out.capability(Capability::Shader);
        let glsl = out.import_glsl();
        out.memory_model();
        let interface = [global_id, local_id, workgroup_id];
        out.entry_point(main, "main", &interface[..inputs.len()]);
        out.local_size(
            main,
            if case == Case::Matmul16 {
                [16, 16, 1]
            } else {
                [256, 1, 1]
            },
        );
        for &(input, built_in) in inputs {
            out.built_in(input, built_in);
        }
        out.decorate(array, Decoration::ArrayStride, Some(4));
        out.decorate(block, Decoration::Block, None);
        out.offset(block, 0, 0);
        if has_uniforms {
            out.decorate(uniform_block, Decoration::Block, None);
            out.offset(uniform_block, 0, 0);
            if case == Case::Saxpy {
                out.offset(uniform_block, 1, 4);
            }
            out.decorate(uniforms, Decoration::DescriptorSet, Some(0));
            out.decorate(uniforms, Decoration::Binding, Some(0));
        }
        for (&mut buffer, binding) in buffers_used.iter_mut().zip(1..) {
            out.decorate(buffer, Decoration::DescriptorSet, Some(0));
            out.decorate(buffer, Decoration::Binding, Some(binding));
        }

        let void = out.scalar_type(Op::TypeVoid, &[]);
        let function = out.function_type(void);
        let word = out.scalar_type(Op::TypeInt, &[32, 0]);
        let float = out.scalar_type(Op::TypeFloat, &[32]);
        let boolean = out.scalar_type(Op::TypeBool, &[]);
        let vector = out.vector_type(word, 3);
        let input = out.pointer_type(StorageClass::Input, vector);
        out.runtime_array_type(array, float);
        out.struct_type(block, &[array]);
        let buffer = out.pointer_type(StorageClass::StorageBuffer, block);
        let element = out.pointer_type(StorageClass::StorageBuffer, float);
        let zero = out.constant(word, 0);
        for &(id, _) in inputs {
            out.variable(id, input, StorageClass::Input);
        }
        let (mut one, mut uniform_word, mut uniform_float) = (0, 0, 0);
        if has_uniforms {
            uniform_word = out.pointer_type(StorageClass::Uniform, word);
            if case == Case::Saxpy {
                one = out.constant(word, 1);
                uniform_float = out.pointer_type(StorageClass::Uniform, float);
                out.struct_type(uniform_block, &[word, float]);
            } else {
                out.struct_type(uniform_block, &[word]);
            }
            let pointer = out.pointer_type(StorageClass::Uniform, uniform_block);
            out.variable(uniforms, pointer, StorageClass::Uniform);
        }
        for id in buffers_used {
            out.variable(*id, buffer, StorageClass::StorageBuffer);
        }
        Module {
            out,
            main,
            void,
            function,
            boolean,
            word,
            float,
            vector,
            element,
            uniform_word,
            uniform_float,
            glsl,
            zero,
            one,
            global_id,
            local_id,
            workgroup_id,
            uniforms,
            buffers,
        }
    }

    fn begin(&mut self) {
        self.out.function(self.main, self.void, self.function);
    }

    fn input(&mut self, variable: Id) -> Id {
        self.out.load(self.vector, variable)
    }

    fn part(&mut self, vector: Id, dimension: u32) -> Id {
        self.out.extract(self.word, vector, dimension)
    }

    fn count(&mut self) -> Id {
        let at = self
            .out
            .access(self.uniform_word, self.uniforms, &[self.zero]);
        self.out.load(self.word, at)
    }

    fn address(&mut self, buffer: usize, index: Id) -> Id {
        let path = [self.zero, index];
        self.out.access(self.element, self.buffers[buffer], &path)
    }

    fn element(&mut self, buffer: usize, index: Id) -> Id {
        let at = self.address(buffer, index);
        self.out.load(self.float, at)
    }

    fn elementwise(&mut self, case: Case) {
        self.begin();
        let [entry, body, end] = ids(self.out);
        self.out.label(entry);
        let global = self.input(self.global_id);
        let i = self.part(global, 0);
        let n = self.count();
        let inside = self.out.binary(Op::ULessThan, self.boolean, i, n);
        self.out.selection_merge(end);
        self.out.branch_if(inside, body, end);
        self.out.label(body);
        if case == Case::VectorAdd {
            let x = self.element(0, i);
            let y = self.element(1, i);
            let sum = self.out.binary(Op::FAdd, self.float, x, y);
            let at = self.address(2, i);
            self.out.store(at, sum);
        } else {
            let at = self
                .out
                .access(self.uniform_float, self.uniforms, &[self.one]);
            let a = self.out.load(self.float, at);
            let x = self.element(0, i);
            let at = self.address(1, i);
            let old = self.out.load(self.float, at);
            let new = self.out.fma(self.float, self.glsl, [a, x, old]);
            self.out.store(at, new);
        }
        self.out.branch(end);
        self.out.label(end);
        self.out.end();
    }

    fn straight(&mut self, n: u32) {
        self.begin();
        let entry = self.out.id();
        self.out.label(entry);
        let global = self.input(self.global_id);
        let i = self.part(global, 0);
        let (x, y) = (self.element(0, i), self.element(1, i));
        let mut v = x;
        for step in 0..n {
            v = match step % 3 {
                0 => self.out.fma(self.float, self.glsl, [v, x, y]),
                1 => self.out.binary(Op::FAdd, self.float, v, x),
                _ => self.out.binary(Op::FMul, self.float, v, y),
            };
        }
        let at = self.address(2, i);
        self.out.store(at, v);
        self.out.end();
    }

    fn reduce256(&mut self) {
        let (word, float, boolean, zero) = (self.word, self.float, self.boolean, self.zero);
        let [size, half, one, workgroup, semantics] =
            [256, 128, 1, 2, WORKGROUP_SEMANTICS].map(|bits| self.out.constant(word, bits));
        let nothing = self.out.constant(float, 0);
        let array = self.out.array_type(float, size);
        let array = self.out.pointer_type(StorageClass::Workgroup, array);
        let shared = self.out.pointer_type(StorageClass::Workgroup, float);
        let tile = self.out.id();
        self.out.variable(tile, array, StorageClass::Workgroup);

        self.begin();
        let [
            entry,
            read,
            filled,
            head,
            body,
            adds,
            added,
            next,
            after,
            first,
            end,
        ] = ids(self.out);
        let halved = self.out.id();
        self.out.label(entry);
        let global = self.input(self.global_id);
        let i = self.part(global, 0);
        let local = self.input(self.local_id);
        let thread = self.part(local, 0);
        let group = self.input(self.workgroup_id);
        let group = self.part(group, 0);
        let n = self.count();
        let inside = self.out.binary(Op::ULessThan, boolean, i, n);
        self.out.selection_merge(filled);
        self.out.branch_if(inside, read, filled);
        self.out.label(read);
        let element = self.element(0, i);
        self.out.branch(filled);
        self.out.label(filled);
        let element = self.out.phi(float, [(element, read), (nothing, entry)]);
        let mine = self.out.access(shared, tile, &[thread]);
        self.out.store(mine, element);
        self.out.barrier(workgroup, workgroup, semantics);
        self.out.branch(head);

        self.out.label(head);
        let stride = self.out.phi(word, [(half, filled), (halved, next)]);
        let more = self.out.binary(Op::UGreaterThan, boolean, stride, zero);
        self.out.loop_merge(after, next);
        self.out.branch_if(more, body, after);
        self.out.label(body);
        let active = self.out.binary(Op::ULessThan, boolean, thread, stride);
        self.out.selection_merge(added);
        self.out.branch_if(active, adds, added);
        self.out.label(adds);
        let x = self.out.load(float, mine);
        let partner = self.out.binary(Op::IAdd, word, thread, stride);
        let theirs = self.out.access(shared, tile, &[partner]);
        let y = self.out.load(float, theirs);
        let sum = self.out.binary(Op::FAdd, float, x, y);
        self.out.store(mine, sum);
        self.out.branch(added);
        self.out.label(added);
        self.out.barrier(workgroup, workgroup, semantics);
        self.out.branch(next);
        self.out.label(next);
        self.out
            .binary_as(halved, Op::ShiftRightLogical, word, stride, one);
        self.out.branch(head);

        self.out.label(after);
        let is_first = self.out.binary(Op::IEqual, boolean, thread, zero);
        self.out.selection_merge(end);
        self.out.branch_if(is_first, first, end);
        self.out.label(first);
        let at = self.out.access(shared, tile, &[zero]);
        let sum = self.out.load(float, at);
        let at = self.address(1, group);
        self.out.store(at, sum);
        self.out.branch(end);
        self.out.label(end);
        self.out.end();
    }

    fn matmul16(&mut self) {
        let (word, float, boolean, zero) = (self.word, self.float, self.boolean, self.zero);
        let [size, sixteen, one, workgroup, four, semantics] =
            [256, 16, 1, 2, 4, WORKGROUP_SEMANTICS].map(|bits| self.out.constant(word, bits));
        let nothing = self.out.constant(float, 0);
        let array = self.out.array_type(float, size);
        let array = self.out.pointer_type(StorageClass::Workgroup, array);
        let shared = self.out.pointer_type(StorageClass::Workgroup, float);
        let [left_tile, right_tile] = ids(self.out);
        self.out.variable(left_tile, array, StorageClass::Workgroup);
        self.out
            .variable(right_tile, array, StorageClass::Workgroup);

        self.begin();
        let [entry, head, body, step_head, step_body] = ids(self.out);
        let [step_next, step_end, next, end] = ids(self.out);
        let [next_tile, next_step, step_sum] = ids(self.out);
        self.out.label(entry);
        let global = self.input(self.global_id);
        let (column, row) = (self.part(global, 0), self.part(global, 1));
        let local = self.input(self.local_id);
        let (x, y) = (self.part(local, 0), self.part(local, 1));
        let n = self.count();
        let tiles = self.out.binary(Op::ShiftRightLogical, word, n, four);
        let row_start = self.out.binary(Op::IMul, word, row, n);
        let tile_row = self.out.binary(Op::IMul, word, y, sixteen);
        let here = self.out.binary(Op::IAdd, word, tile_row, x);
        let left_start = self.out.binary(Op::IAdd, word, row_start, x);
        let left_mine = self.out.access(shared, left_tile, &[here]);
        let right_mine = self.out.access(shared, right_tile, &[here]);
        self.out.branch(head);

        self.out.label(head);
        let tile = self.out.phi(word, [(zero, entry), (next_tile, next)]);
        let sum = self.out.phi(float, [(nothing, entry), (step_sum, next)]);
        let more = self.out.binary(Op::ULessThan, boolean, tile, tiles);
        self.out.loop_merge(end, next);
        self.out.branch_if(more, body, end);
        self.out.label(body);
        let first = self.out.binary(Op::IMul, word, tile, sixteen);
        let index = self.out.binary(Op::IAdd, word, left_start, first);
        let element = self.element(0, index);
        self.out.store(left_mine, element);
        let right_row = self.out.binary(Op::IAdd, word, first, y);
        let right_row = self.out.binary(Op::IMul, word, right_row, n);
        let index = self.out.binary(Op::IAdd, word, right_row, column);
        let element = self.element(1, index);
        self.out.store(right_mine, element);
        self.out.barrier(workgroup, workgroup, semantics);
        self.out.branch(step_head);

        self.out.label(step_head);
        let step = self.out.phi(word, [(zero, body), (next_step, step_next)]);
        let added = self.out.id();
        self.out
            .phi_as(step_sum, float, [(sum, body), (added, step_next)]);
        let more = self.out.binary(Op::ULessThan, boolean, step, sixteen);
        self.out.loop_merge(step_end, step_next);
        self.out.branch_if(more, step_body, step_end);
        self.out.label(step_body);
        let index = self.out.binary(Op::IAdd, word, tile_row, step);
        let at = self.out.access(shared, left_tile, &[index]);
        let p = self.out.load(float, at);
        let index = self.out.binary(Op::IMul, word, step, sixteen);
        let index = self.out.binary(Op::IAdd, word, index, x);
        let at = self.out.access(shared, right_tile, &[index]);
        let q = self.out.load(float, at);
        self.out.fma_as(added, float, self.glsl, [p, q, step_sum]);
        self.out.branch(step_next);
        self.out.label(step_next);
        self.out.binary_as(next_step, Op::IAdd, word, step, one);
        self.out.branch(step_head);

        self.out.label(step_end);
        self.out.barrier(workgroup, workgroup, semantics);
        self.out.branch(next);
        self.out.label(next);
        self.out.binary_as(next_tile, Op::IAdd, word, tile, one);
        self.out.branch(head);

        self.out.label(end);
        let index = self.out.binary(Op::IAdd, word, row_start, column);
        let at = self.address(2, index);
        self.out.store(at, sum);
        self.out.end();
    }
}

fn ids<const N: usize>(out: &mut impl Assembler) -> [Id; N] {
    std::array::from_fn(|_| out.id())
}
