//! What a SPIR-V module is written through: words pushed into a vector, the floor; or the builder of rspirv.

use spirv::{BuiltIn, Capability, Decoration, ExecutionMode, ExecutionModel, Op, StorageClass};

/// A result id.
pub type Id = u32;

/// The number of `Fma` in GLSL.std.450.
pub(crate) const GLSL_FMA: u32 = 50;

/// Appends instructions, in the order of the sections.
pub trait Assembler {
    /// A new id.
    fn id(&mut self) -> Id;
    /// OpCapability.
    fn capability(&mut self, capability: Capability);
    /// OpExtInstImport of GLSL.std.450.
    fn import_glsl(&mut self) -> Id;
    /// OpMemoryModel Logical GLSL450.
    fn memory_model(&mut self);
    /// OpEntryPoint GLCompute.
    fn entry_point(&mut self, function: Id, name: &str, interface: &[Id]);
    /// OpExecutionMode LocalSize.
    fn local_size(&mut self, function: Id, size: [u32; 3]);
    /// OpDecorate with one word or none.
    fn decorate(&mut self, target: Id, decoration: Decoration, word: Option<u32>);
    /// OpDecorate BuiltIn.
    fn built_in(&mut self, target: Id, built_in: BuiltIn);
    /// OpMemberDecorate Offset.
    fn offset(&mut self, target: Id, member: u32, offset: u32);
    /// A type without operands that are ids, by its opcode and words.
    fn scalar_type(&mut self, op: Op, words: &[u32]) -> Id;
    /// OpTypeVector.
    fn vector_type(&mut self, element: Id, count: u32) -> Id;
    /// OpTypeArray.
    fn array_type(&mut self, element: Id, length: Id) -> Id;
    /// OpTypeRuntimeArray.
    fn runtime_array_type(&mut self, id: Id, element: Id);
    /// OpTypeStruct.
    fn struct_type(&mut self, id: Id, members: &[Id]);
    /// OpTypePointer.
    fn pointer_type(&mut self, class: StorageClass, pointee: Id) -> Id;
    /// OpTypeFunction without parameters.
    fn function_type(&mut self, result: Id) -> Id;
    /// OpConstant of 32 bits.
    fn constant(&mut self, ty: Id, bits: u32) -> Id;
    /// OpVariable.
    fn variable(&mut self, id: Id, pointer: Id, class: StorageClass);
    /// OpFunction.
    fn function(&mut self, id: Id, result: Id, ty: Id);
    /// OpLabel.
    fn label(&mut self, id: Id);
    /// OpLoad.
    fn load(&mut self, ty: Id, pointer: Id) -> Id;
    /// OpStore.
    fn store(&mut self, pointer: Id, value: Id);
    /// OpAccessChain by one index or two.
    fn access(&mut self, pointer: Id, base: Id, indices: &[Id]) -> Id;
    /// OpCompositeExtract of one member.
    fn extract(&mut self, ty: Id, composite: Id, member: u32) -> Id;
    /// An operation on two values, with its id given.
    fn binary_as(&mut self, id: Id, op: Op, ty: Id, a: Id, b: Id);
    /// Fma of GLSL.std.450, with its id given.
    fn fma_as(&mut self, id: Id, ty: Id, glsl: Id, operands: [Id; 3]);
    /// OpPhi of two, with its id given: it may be named before it is made.
    fn phi_as(&mut self, id: Id, ty: Id, from: [(Id, Id); 2]);
    /// OpControlBarrier.
    fn barrier(&mut self, execution: Id, memory: Id, semantics: Id);
    /// OpSelectionMerge.
    fn selection_merge(&mut self, merge: Id);
    /// OpLoopMerge.
    fn loop_merge(&mut self, merge: Id, continuing: Id);
    /// OpBranch.
    fn branch(&mut self, label: Id);
    /// OpBranchConditional.
    fn branch_if(&mut self, condition: Id, then: Id, otherwise: Id);
    /// OpReturn and OpFunctionEnd.
    fn end(&mut self);

    /// An operation on two values.
    #[inline(always)]
    fn binary(&mut self, op: Op, ty: Id, a: Id, b: Id) -> Id {
        let id = self.id();
        self.binary_as(id, op, ty, a, b);
        id
    }

    /// Fma of GLSL.std.450.
    #[inline(always)]
    fn fma(&mut self, ty: Id, glsl: Id, operands: [Id; 3]) -> Id {
        let id = self.id();
        self.fma_as(id, ty, glsl, operands);
        id
    }

    /// OpPhi of two.
    #[inline(always)]
    fn phi(&mut self, ty: Id, from: [(Id, Id); 2]) -> Id {
        let id = self.id();
        self.phi_as(id, ty, from);
        id
    }
}

/// Words pushed into a vector and ids from a counter: the least an assembler can do.
#[derive(Debug)]
pub struct Words {
    words: Vec<u32>,
    next: Id,
}

impl Words {
    /// Begins a module of version 1.3 in this memory.
    pub fn on(mut words: Vec<u32>) -> Words {
        words.clear();
        words.extend_from_slice(&[spirv::MAGIC_NUMBER, 0x0001_0300, 0, 0, 0]);
        Words { words, next: 1 }
    }

    /// The module.
    pub fn finish(mut self) -> Vec<u32> {
        self.words[3] = self.next;
        self.words
    }

    #[inline(always)]
    fn push(&mut self, op: Op, head: &[u32], operands: &[u32]) {
        let count = 1 + head.len() + operands.len();
        self.words.reserve(count);
        self.words.push((count as u32) << 16 | op as u32);
        self.words.extend_from_slice(head);
        self.words.extend_from_slice(operands);
    }

    #[inline(always)]
    fn typed(&mut self, op: Op, ty: Id, operands: &[u32]) -> Id {
        let id = self.id();
        self.push(op, &[ty, id], operands);
        id
    }

    #[inline(always)]
    fn new_type(&mut self, op: Op, operands: &[u32]) -> Id {
        let id = self.id();
        self.push(op, &[id], operands);
        id
    }

    /// An instruction with a string in it.
    fn with_name(&mut self, op: Op, before: &[u32], name: &str, after: &[u32]) {
        let at = self.words.len();
        self.words.push(0);
        self.words.extend_from_slice(before);
        let (quads, rest) = name.as_bytes().as_chunks::<4>();
        self.words
            .extend(quads.iter().map(|q| u32::from_le_bytes(*q)));
        let mut last = [0; 4];
        last[..rest.len()].copy_from_slice(rest);
        self.words.push(u32::from_le_bytes(last));
        self.words.extend_from_slice(after);
        self.words[at] = ((self.words.len() - at) as u32) << 16 | op as u32;
    }
}

impl Assembler for Words {
    #[inline(always)]
    fn id(&mut self) -> Id {
        let id = self.next;
        self.next += 1;
        id
    }

    fn capability(&mut self, capability: Capability) {
        self.push(Op::Capability, &[], &[capability as u32]);
    }

    fn import_glsl(&mut self) -> Id {
        let id = self.id();
        self.with_name(Op::ExtInstImport, &[id], "GLSL.std.450", &[]);
        id
    }

    fn memory_model(&mut self) {
        self.push(Op::MemoryModel, &[], &[0, 1]);
    }

    fn entry_point(&mut self, function: Id, name: &str, interface: &[Id]) {
        let model = ExecutionModel::GLCompute as u32;
        self.with_name(Op::EntryPoint, &[model, function], name, interface);
    }

    fn local_size(&mut self, function: Id, size: [u32; 3]) {
        let mode = ExecutionMode::LocalSize as u32;
        self.push(Op::ExecutionMode, &[function, mode], &size);
    }

    fn decorate(&mut self, target: Id, decoration: Decoration, word: Option<u32>) {
        match word {
            Some(word) => self.push(Op::Decorate, &[target, decoration as u32], &[word]),
            None => self.push(Op::Decorate, &[target, decoration as u32], &[]),
        }
    }

    fn built_in(&mut self, target: Id, built_in: BuiltIn) {
        self.decorate(target, Decoration::BuiltIn, Some(built_in as u32));
    }

    fn offset(&mut self, target: Id, member: u32, offset: u32) {
        let decoration = Decoration::Offset as u32;
        self.push(Op::MemberDecorate, &[target, member], &[decoration, offset]);
    }

    fn scalar_type(&mut self, op: Op, words: &[u32]) -> Id {
        self.new_type(op, words)
    }

    fn vector_type(&mut self, element: Id, count: u32) -> Id {
        self.new_type(Op::TypeVector, &[element, count])
    }

    fn array_type(&mut self, element: Id, length: Id) -> Id {
        self.new_type(Op::TypeArray, &[element, length])
    }

    fn runtime_array_type(&mut self, id: Id, element: Id) {
        self.push(Op::TypeRuntimeArray, &[id], &[element]);
    }

    fn struct_type(&mut self, id: Id, members: &[Id]) {
        self.push(Op::TypeStruct, &[id], members);
    }

    fn pointer_type(&mut self, class: StorageClass, pointee: Id) -> Id {
        self.new_type(Op::TypePointer, &[class as u32, pointee])
    }

    fn function_type(&mut self, result: Id) -> Id {
        self.new_type(Op::TypeFunction, &[result])
    }

    fn constant(&mut self, ty: Id, bits: u32) -> Id {
        self.typed(Op::Constant, ty, &[bits])
    }

    fn variable(&mut self, id: Id, pointer: Id, class: StorageClass) {
        self.push(Op::Variable, &[pointer, id], &[class as u32]);
    }

    fn function(&mut self, id: Id, result: Id, ty: Id) {
        self.push(Op::Function, &[result, id], &[0, ty]);
    }

    fn label(&mut self, id: Id) {
        self.push(Op::Label, &[], &[id]);
    }

    fn load(&mut self, ty: Id, pointer: Id) -> Id {
        self.typed(Op::Load, ty, &[pointer])
    }

    fn store(&mut self, pointer: Id, value: Id) {
        self.push(Op::Store, &[], &[pointer, value]);
    }

    fn access(&mut self, pointer: Id, base: Id, indices: &[Id]) -> Id {
        let id = self.id();
        self.push(Op::AccessChain, &[pointer, id, base], indices);
        id
    }

    fn extract(&mut self, ty: Id, composite: Id, member: u32) -> Id {
        self.typed(Op::CompositeExtract, ty, &[composite, member])
    }

    #[inline(always)]
    fn binary_as(&mut self, id: Id, op: Op, ty: Id, a: Id, b: Id) {
        self.push(op, &[ty, id], &[a, b]);
    }

    #[inline(always)]
    fn fma_as(&mut self, id: Id, ty: Id, glsl: Id, [a, b, c]: [Id; 3]) {
        self.push(Op::ExtInst, &[ty, id], &[glsl, GLSL_FMA, a, b, c]);
    }

    fn phi_as(&mut self, id: Id, ty: Id, [(a, from_a), (b, from_b)]: [(Id, Id); 2]) {
        self.push(Op::Phi, &[ty, id], &[a, from_a, b, from_b]);
    }

    fn barrier(&mut self, execution: Id, memory: Id, semantics: Id) {
        self.push(Op::ControlBarrier, &[], &[execution, memory, semantics]);
    }

    fn selection_merge(&mut self, merge: Id) {
        self.push(Op::SelectionMerge, &[], &[merge, 0]);
    }

    fn loop_merge(&mut self, merge: Id, continuing: Id) {
        self.push(Op::LoopMerge, &[], &[merge, continuing, 0]);
    }

    fn branch(&mut self, label: Id) {
        self.push(Op::Branch, &[], &[label]);
    }

    fn branch_if(&mut self, condition: Id, then: Id, otherwise: Id) {
        self.push(Op::BranchConditional, &[], &[condition, then, otherwise]);
    }

    fn end(&mut self) {
        self.push(Op::Return, &[], &[]);
        self.push(Op::FunctionEnd, &[], &[]);
    }
}
