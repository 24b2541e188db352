//! SPIR-V modules put together with rspirv's builder.

use rspirv::binary::Assemble as _;
use rspirv::dr::{Builder, Operand};
use rspirv::spirv::{
    AddressingModel, BuiltIn, Capability, Decoration, ExecutionMode, ExecutionModel,
    FunctionControl, MemoryModel, StorageClass, Word,
};

/// A module under construction whose buffers are arrays of u32.
struct Shader {
    b: Builder,
    u32_: Word,
    zero: Word,
    block: Word,
    element_pointer: Word,
    id: Word,
}

impl Shader {
    /// The module up to its first block: the global invocation id's x is in `id`.
    /// `main` gets the capability and decorations that a buffer shader needs.
    fn new(local_size: u32) -> (Self, Word) {
        let mut b = Builder::new();
        b.set_version(1, 3);
        b.capability(Capability::Shader);
        b.memory_model(AddressingModel::Logical, MemoryModel::GLSL450);
        let void = b.type_void();
        let u32_ = b.type_int(32, 0);
        let uvec3 = b.type_vector(u32_, 3);
        let array = b.type_runtime_array(u32_);
        b.decorate(array, Decoration::ArrayStride, [Operand::LiteralBit32(4)]);
        let block = b.type_struct([array]);
        b.decorate(block, Decoration::Block, []);
        b.member_decorate(block, 0, Decoration::Offset, [Operand::LiteralBit32(0)]);
        let element_pointer = b.type_pointer(None, StorageClass::StorageBuffer, u32_);
        let input = b.type_pointer(None, StorageClass::Input, uvec3);
        let invocation = b.variable(input, None, StorageClass::Input, None);
        b.decorate(
            invocation,
            Decoration::BuiltIn,
            [Operand::BuiltIn(BuiltIn::GlobalInvocationId)],
        );
        let zero = b.constant_bit32(u32_, 0);
        let signature = b.type_function(void, []);
        let main = b
            .begin_function(void, None, FunctionControl::NONE, signature)
            .unwrap();
        b.entry_point(ExecutionModel::GLCompute, main, "main", [invocation]);
        b.execution_mode(main, ExecutionMode::LocalSize, [local_size, 1, 1]);
        b.begin_block(None).unwrap();
        let ids = b.load(uvec3, None, invocation, None, []).unwrap();
        let id = b.composite_extract(u32_, None, ids, [0]).unwrap();
        let shader = Self {
            b,
            u32_,
            zero,
            block,
            element_pointer,
            id,
        };
        (shader, main)
    }

    /// A variable of the module, declared while a block is open.
    fn global(&mut self, pointer: Word, class: StorageClass) -> Word {
        let block = self.b.selected_block();
        self.b.select_block(None).unwrap();
        let variable = self.b.variable(pointer, None, class, None);
        self.b.select_block(block).unwrap();
        variable
    }

    fn buffer(&mut self, set: u32, binding: u32, class: StorageClass) -> Word {
        let pointer = self.b.type_pointer(None, class, self.block);
        let buffer = self.global(pointer, class);
        for (decoration, value) in [
            (Decoration::DescriptorSet, set),
            (Decoration::Binding, binding),
        ] {
            self.b
                .decorate(buffer, decoration, [Operand::LiteralBit32(value)]);
        }
        buffer
    }

    fn load(&mut self, buffer: Word) -> Word {
        let chain = [self.zero, self.id];
        let place = self
            .b
            .access_chain(self.element_pointer, None, buffer, chain)
            .unwrap();
        self.b.load(self.u32_, None, place, None, []).unwrap()
    }

    fn store(&mut self, buffer: Word, value: Word) {
        let chain = [self.zero, self.id];
        let place = self
            .b
            .access_chain(self.element_pointer, None, buffer, chain)
            .unwrap();
        self.b.store(place, value, None, []).unwrap();
    }

    fn finish(mut self) -> Vec<u32> {
        self.b.ret().unwrap();
        self.b.end_function().unwrap();
        self.b.module().assemble()
    }
}

/// `c[i] = a[i] + b[i]`: a and b at bindings 0 and 1 of set 0, c at binding 3 of
/// set 2, so that an empty set and a missing binding lie between.
pub fn vector_add(local_size: u32) -> Vec<u32> {
    let (mut shader, _) = Shader::new(local_size);
    let class = StorageClass::StorageBuffer;
    let a = shader.buffer(0, 0, class);
    let b = shader.buffer(0, 1, class);
    let c = shader.buffer(2, 3, class);
    let (x, y) = (shader.load(a), shader.load(b));
    let sum = shader.b.i_add(shader.u32_, None, x, y).unwrap();
    shader.store(c, sum);
    shader.finish()
}

/// Stores the second word of the push constants to element i of the buffer at
/// set 0, binding 0.
pub fn push_constant() -> Vec<u32> {
    let (mut shader, _) = Shader::new(1);
    let out = shader.buffer(0, 0, StorageClass::StorageBuffer);
    let b = &mut shader.b;
    let class = StorageClass::PushConstant;
    let block = b.type_struct_id(None, [shader.u32_, shader.u32_]);
    b.decorate(block, Decoration::Block, []);
    for member in 0..2 {
        b.member_decorate(
            block,
            member,
            Decoration::Offset,
            [Operand::LiteralBit32(4 * member)],
        );
    }
    let pointer = b.type_pointer(None, class, block);
    let variable = shader.global(pointer, class);
    let b = &mut shader.b;
    let member = b.type_pointer(None, class, shader.u32_);
    let one = b.constant_bit32(shader.u32_, 1);
    let place = b.access_chain(member, None, variable, [one]).unwrap();
    let value = b.load(shader.u32_, None, place, None, []).unwrap();
    shader.store(out, value);
    shader.finish()
}

/// Vector addition whose sum has the type of a pointer: refused by any validator.
pub fn ill_typed() -> Vec<u32> {
    let (mut shader, _) = Shader::new(1);
    let a = shader.buffer(0, 0, StorageClass::StorageBuffer);
    let x = shader.load(a);
    let wrong = shader.element_pointer;
    let sum = shader.b.i_add(wrong, None, x, x).unwrap();
    shader.store(a, sum);
    shader.finish()
}

/// A workgroup barrier whose semantics have an order but no storage class (0x8):
/// SPIRV-Tools 2023.1 takes it, Vulkan does not.
pub fn barrier_without_class() -> Vec<u32> {
    let (mut shader, _) = Shader::new(1);
    let scope = shader.b.constant_bit32(shader.u32_, 2);
    let semantics = shader.b.constant_bit32(shader.u32_, 8);
    shader.b.control_barrier(scope, scope, semantics).unwrap();
    shader.finish()
}

/// A module with a capability that naga does not know.
pub fn kernel_capability() -> Vec<u32> {
    let mut b = Builder::new();
    b.set_version(1, 3);
    b.capability(Capability::Kernel);
    b.capability(Capability::Addresses);
    b.memory_model(AddressingModel::Physical64, MemoryModel::OpenCL);
    b.module().assemble()
}
