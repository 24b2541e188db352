//! rspirv: its builder and assembler on the floor's module, and its parser.

use crate::floor::spirv::write;
use crate::floor::{Assembler, Id};
use kernite_stages::Case;
use rspirv::binary::{Assemble, Consumer, ParseAction, parse_words};
use rspirv::dr::{Builder, Instruction, ModuleHeader, Operand};
use spirv::{
    AddressingModel, BuiltIn, Capability, Decoration, ExecutionMode, ExecutionModel,
    FunctionControl, LoopControl, MemoryModel, Op, SelectionControl, StorageClass,
};

/// Builds the module and assembles it.
pub fn build(case: Case) -> Vec<u32> {
    let mut b = Builder::new();
    b.set_version(1, 3);
    write(&mut b, case);
    b.module().assemble()
}

/// Parses a module, doing nothing with its instructions; gives their number.
///
/// # Panics
/// Where the module cannot be parsed.
pub fn parse(words: &[u32]) -> usize {
    let mut count = Count(0);
    parse_words(words, &mut count).expect("a module");
    count.0
}

struct Count(usize);

impl Consumer for Count {
    fn initialize(&mut self) -> ParseAction {
        ParseAction::Continue
    }

    fn finalize(&mut self) -> ParseAction {
        ParseAction::Continue
    }

    fn consume_header(&mut self, _: ModuleHeader) -> ParseAction {
        ParseAction::Continue
    }

    fn consume_instruction(&mut self, _: Instruction) -> ParseAction {
        self.0 += 1;
        ParseAction::Continue
    }
}

const IN_A_BLOCK: &str = "the template opens a block before it writes into it";

impl Assembler for Builder {
    #[inline]
    fn id(&mut self) -> Id {
        Builder::id(self)
    }

    fn capability(&mut self, capability: Capability) {
        Builder::capability(self, capability);
    }

    fn import_glsl(&mut self) -> Id {
        self.ext_inst_import("GLSL.std.450")
    }

    fn memory_model(&mut self) {
        Builder::memory_model(self, AddressingModel::Logical, MemoryModel::GLSL450);
    }

    fn entry_point(&mut self, function: Id, name: &str, interface: &[Id]) {
        Builder::entry_point(self, ExecutionModel::GLCompute, function, name, interface);
    }

    fn local_size(&mut self, function: Id, size: [u32; 3]) {
        self.execution_mode(function, ExecutionMode::LocalSize, size);
    }

    fn decorate(&mut self, target: Id, decoration: Decoration, word: Option<u32>) {
        Builder::decorate(self, target, decoration, word.map(Operand::LiteralBit32));
    }

    fn built_in(&mut self, target: Id, built_in: BuiltIn) {
        Builder::decorate(
            self,
            target,
            Decoration::BuiltIn,
            [Operand::BuiltIn(built_in)],
        );
    }

    fn offset(&mut self, target: Id, member: u32, offset: u32) {
        let offset = Operand::LiteralBit32(offset);
        self.member_decorate(target, member, Decoration::Offset, [offset]);
    }

    fn scalar_type(&mut self, op: Op, words: &[u32]) -> Id {
        match (op, words) {
            (Op::TypeVoid, _) => self.type_void(),
            (Op::TypeBool, _) => self.type_bool(),
            (Op::TypeInt, &[width, signed]) => self.type_int(width, signed),
            (Op::TypeFloat, &[width]) => self.type_float(width, None),
            _ => panic!("{op:?} is no scalar type of the templates"),
        }
    }

    fn vector_type(&mut self, element: Id, count: u32) -> Id {
        self.type_vector(element, count)
    }

    fn array_type(&mut self, element: Id, length: Id) -> Id {
        self.type_array(element, length)
    }

    fn runtime_array_type(&mut self, id: Id, element: Id) {
        self.type_runtime_array_id(Some(id), element);
    }

    fn struct_type(&mut self, id: Id, members: &[Id]) {
        self.type_struct_id(Some(id), members.iter().copied());
    }

    fn pointer_type(&mut self, class: StorageClass, pointee: Id) -> Id {
        self.type_pointer(None, class, pointee)
    }

    fn function_type(&mut self, result: Id) -> Id {
        self.type_function(result, [])
    }

    fn constant(&mut self, ty: Id, bits: u32) -> Id {
        self.constant_bit32(ty, bits)
    }

    fn variable(&mut self, id: Id, pointer: Id, class: StorageClass) {
        Builder::variable(self, pointer, Some(id), class, None);
    }

    fn function(&mut self, id: Id, result: Id, ty: Id) {
        self.begin_function(result, Some(id), FunctionControl::NONE, ty)
            .expect("functions do not nest");
    }

    fn label(&mut self, id: Id) {
        self.begin_block(Some(id)).expect("blocks do not nest");
    }

    fn load(&mut self, ty: Id, pointer: Id) -> Id {
        Builder::load(self, ty, None, pointer, None, []).expect(IN_A_BLOCK)
    }

    fn store(&mut self, pointer: Id, value: Id) {
        Builder::store(self, pointer, value, None, []).expect(IN_A_BLOCK);
    }

    fn access(&mut self, pointer: Id, base: Id, indices: &[Id]) -> Id {
        self.access_chain(pointer, None, base, indices.iter().copied())
            .expect(IN_A_BLOCK)
    }

    fn extract(&mut self, ty: Id, composite: Id, member: u32) -> Id {
        self.composite_extract(ty, None, composite, [member])
            .expect(IN_A_BLOCK)
    }

    #[inline]
    fn binary_as(&mut self, id: Id, op: Op, ty: Id, a: Id, b: Id) {
        let id = Some(id);
        match op {
            Op::FAdd => self.f_add(ty, id, a, b),
            Op::FMul => self.f_mul(ty, id, a, b),
            Op::IAdd => self.i_add(ty, id, a, b),
            Op::IMul => self.i_mul(ty, id, a, b),
            Op::IEqual => self.i_equal(ty, id, a, b),
            Op::ULessThan => self.u_less_than(ty, id, a, b),
            Op::UGreaterThan => self.u_greater_than(ty, id, a, b),
            Op::ShiftRightLogical => self.shift_right_logical(ty, id, a, b),
            _ => panic!("{op:?} is not in the templates"),
        }
        .expect(IN_A_BLOCK);
    }

    #[inline]
    fn fma_as(&mut self, id: Id, ty: Id, glsl: Id, operands: [Id; 3]) {
        self.ext_inst(
            ty,
            Some(id),
            glsl,
            crate::floor::GLSL_FMA,
            operands.map(Operand::IdRef),
        )
        .expect(IN_A_BLOCK);
    }

    fn phi_as(&mut self, id: Id, ty: Id, from: [(Id, Id); 2]) {
        Builder::phi(self, ty, Some(id), from).expect(IN_A_BLOCK);
    }

    fn barrier(&mut self, execution: Id, memory: Id, semantics: Id) {
        self.control_barrier(execution, memory, semantics)
            .expect(IN_A_BLOCK);
    }

    fn selection_merge(&mut self, merge: Id) {
        Builder::selection_merge(self, merge, SelectionControl::NONE).expect(IN_A_BLOCK);
    }

    fn loop_merge(&mut self, merge: Id, continuing: Id) {
        Builder::loop_merge(self, merge, continuing, LoopControl::NONE, []).expect(IN_A_BLOCK);
    }

    fn branch(&mut self, label: Id) {
        Builder::branch(self, label).expect(IN_A_BLOCK);
    }

    fn branch_if(&mut self, condition: Id, then: Id, otherwise: Id) {
        self.branch_conditional(condition, then, otherwise, [])
            .expect(IN_A_BLOCK);
    }

    fn end(&mut self) {
        self.ret().expect(IN_A_BLOCK);
        self.end_function().expect("an open function");
    }
}
