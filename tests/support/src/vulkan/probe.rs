//! Whether the device rounds an `Fma` once or twice.
#![forbid(unsafe_code)]

use ::rspirv::binary::Assemble as _;
use ::rspirv::dr::{self, Builder, Operand};
use ::rspirv::spirv::{
    AddressingModel, Capability, Decoration, ExecutionMode, ExecutionModel, FunctionControl,
    MemoryModel, StorageClass, Word,
};

use super::context::Context;
use super::{BufferArg, Dispatch, Error};

/// GLSL.std.450 `Fma`.
const FMA: Word = 50;

/// Whether GLSL.std.450 `Fma` is one rounding, by the width of the floats. Vulkan
/// lets a device do either; lavapipe 22.3.6 rounds twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FmaProbe {
    /// For 16-bit floats; `None` where the device lacks them.
    pub f16: Option<bool>,
    /// For 32-bit floats.
    pub f32: bool,
    /// For 64-bit floats; `None` where the device lacks them.
    pub f64: Option<bool>,
}

impl Context {
    /// Whether the device fuses an `Fma`, asked once a process with three numbers
    /// whose exact result differs from the twice rounded one, 0.
    ///
    /// # Panics
    /// The device cannot run a shader of a dozen instructions.
    pub fn fma(&self) -> &FmaProbe {
        self.fma.get_or_init(|| {
            let features = &self.info().features;
            let probe = || -> Result<FmaProbe, Error> {
                Ok(FmaProbe {
                    // 1 + 2^-6 squared, less 1 + 2^-5: exactly 2^-12.
                    f16: features
                        .shader_float16
                        .then(|| self.fuses(16, [0x3C10, 0x3C10, 0xBC20], 0x0C00))
                        .transpose()?,
                    // 1 + 2^-12 squared, less 1 + 2^-11: exactly 2^-24.
                    f32: self.fuses(32, [0x3F80_0800, 0x3F80_0800, 0xBF80_1000], 0x3380_0000)?,
                    // 1 + 2^-27 squared, less 1 + 2^-26: exactly 2^-54.
                    f64: features
                        .shader_float64
                        .then(|| {
                            let one = 0x3FF0_0000_0000_0000_u64;
                            let a = one | 1 << (52 - 27);
                            let c = one | 1 << (52 - 26) | 1 << 63;
                            self.fuses(64, [a, a, c], (1023 - 54) << 52)
                        })
                        .transpose()?,
                })
            };
            probe().unwrap_or_else(|error| panic!("the fma probe does not run: {error}"))
        })
    }

    fn fuses(&self, width: u32, inputs: [u64; 3], fused: u64) -> Result<bool, Error> {
        let words = module(width);
        let mut dispatch = Dispatch::new(&words, "main");
        // 16-bit floats travel in the low halves of 32-bit words.
        let bytes = (width as usize / 8).max(4);
        let mut buffer = Vec::new();
        for input in inputs {
            buffer.extend_from_slice(&input.to_le_bytes()[..bytes]);
        }
        buffer.resize(4 * bytes, 0xFF);
        dispatch.buffers = vec![BufferArg::storage(0, buffer)];
        let result = self.run(&dispatch)?.concat();
        let mut value = [0; 8];
        value[..bytes].copy_from_slice(&result[3 * bytes..]);
        let value = u64::from_le_bytes(value);
        assert!(
            value == fused || value == 0,
            "fma of {inputs:x?} is {value:#x}, neither {fused:#x} nor 0"
        );
        Ok(value == fused)
    }
}

/// A module that stores `fma(x[0], x[1], x[2])` to `x[3]` of the buffer at set 0,
/// binding 0. 16-bit floats are the low halves of its 32-bit words.
fn module(width: u32) -> Vec<u32> {
    // `emit` only fails where an instruction is put outside a block, which the
    // straight line of calls below never does.
    emit(width).unwrap_or_else(|error| panic!("malformed probe: {error}"))
}

fn emit(width: u32) -> Result<Vec<u32>, dr::Error> {
    let mut b = Builder::new();
    b.set_version(1, 3);
    b.capability(Capability::Shader);
    match width {
        16 => b.capability(Capability::Float16),
        64 => b.capability(Capability::Float64),
        _ => {}
    }
    let glsl = b.ext_inst_import("GLSL.std.450");
    b.memory_model(AddressingModel::Logical, MemoryModel::GLSL450);

    let void = b.type_void();
    let u32_ = b.type_int(32, 0);
    let float = b.type_float(width, None);
    let element = if width == 16 { u32_ } else { float };
    let array = b.type_runtime_array(element);
    let stride = if width == 64 { 8 } else { 4 };
    b.decorate(
        array,
        Decoration::ArrayStride,
        [Operand::LiteralBit32(stride)],
    );
    let block = b.type_struct([array]);
    b.decorate(block, Decoration::Block, []);
    b.member_decorate(block, 0, Decoration::Offset, [Operand::LiteralBit32(0)]);
    let class = StorageClass::StorageBuffer;
    let block_pointer = b.type_pointer(None, class, block);
    let pointer = b.type_pointer(None, class, element);
    let buffer = b.variable(block_pointer, None, class, None);
    b.decorate(
        buffer,
        Decoration::DescriptorSet,
        [Operand::LiteralBit32(0)],
    );
    b.decorate(buffer, Decoration::Binding, [Operand::LiteralBit32(0)]);
    let index: Vec<_> = (0..4).map(|i| b.constant_bit32(u32_, i)).collect();
    let pair = (width == 16).then(|| b.type_vector(float, 2));

    let signature = b.type_function(void, []);
    let main = b.begin_function(void, None, FunctionControl::NONE, signature)?;
    b.begin_block(None)?;
    let mut inputs = Vec::new();
    for &i in &index[..3] {
        let place = b.access_chain(pointer, None, buffer, [index[0], i])?;
        let word = b.load(element, None, place, None, [])?;
        let value = match pair {
            Some(pair) => {
                let halves = b.bitcast(pair, None, word)?;
                b.composite_extract(float, None, halves, [0])?
            }
            None => word,
        };
        inputs.push(Operand::IdRef(value));
    }
    let result = b.ext_inst(float, None, glsl, FMA, inputs)?;
    let word = match pair {
        Some(pair) => {
            let zero = b.constant_null(float);
            let halves = b.composite_construct(pair, None, [result, zero])?;
            b.bitcast(u32_, None, halves)?
        }
        None => result,
    };
    let place = b.access_chain(pointer, None, buffer, [index[0], index[3]])?;
    b.store(place, word, None, [])?;
    b.ret()?;
    b.end_function()?;
    b.entry_point(ExecutionModel::GLCompute, main, "main", []);
    b.execution_mode(main, ExecutionMode::LocalSize, [1, 1, 1]);
    Ok(b.module().assemble())
}

#[cfg(test)]
mod tests {
    use crate::spirv_tools::{Env, SpirvVal};

    #[test]
    fn the_probes_are_valid() {
        let Some(val) = SpirvVal::get() else { return };
        for width in [16, 32, 64] {
            assert_eq!(val.validate(&super::module(width), Env::Vulkan1_1), Ok(()));
        }
    }
}
