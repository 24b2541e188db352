//! Running one launch on every executor at hand: the reference, Vulkan.

use crate::generate::Role;
use kernite::kernel::{Bounds, Kernel, ParamRef, ParameterKind};
use kernite::reference::{self, Arg, Buffer, Difference, Executor, Launch, compare};
use kernite::spirv;
use kernite::types::{Const, Type};
use kernite_testkit::vulkan::{BufferArg, Context, Dispatch};

/// A launch: a kernel and what it is given.
#[derive(Clone, Debug)]
pub struct Case {
    /// The kernel.
    pub kernel: Kernel,
    /// Workgroups along x, y, z.
    pub grid: [u32; 3],
    /// The arguments in the order of the parameters.
    pub args: Vec<Value>,
    /// Elements of the dynamic shared array.
    pub dynamic_shared: u32,
    /// Whether accesses may lie outside of buffers and arrays.
    pub bounds: Bounds,
}

/// An argument.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// A buffer's bytes.
    Bytes(Vec<u8>),
    /// A scalar.
    Scalar(Const),
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Bytes(bytes) => write!(f, "{bytes:02x?}"),
            Value::Scalar(c) => write!(f, "{c:?}"),
        }
    }
}

impl Value {
    /// A buffer of numbers.
    pub fn of<T: bytemuck::NoUninit>(elements: &[T]) -> Value {
        Value::Bytes(bytemuck::cast_slice(elements).to_vec())
    }
}

/// Why a launch did not run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The reference executor found a fault.
    #[error("reference: {0}")]
    Reference(#[from] reference::ExecError),
    /// An argument's bytes do not fit its type.
    #[error("argument: {0}")]
    Argument(#[from] reference::BufferError),
    /// The emitter refused.
    #[error("SPIR-V: {0}")]
    Emit(#[from] spirv::Error),
    /// Vulkan failed.
    #[error("Vulkan: {0}")]
    Vulkan(#[from] kernite_testkit::vulkan::Error),
}

impl Case {
    /// The buffers' element types in order.
    fn types(&self) -> impl Iterator<Item = Type> {
        self.kernel.buffers().iter().map(|b| b.elem)
    }

    /// The contents of every buffer, in order, after a run on the reference executor with every check on.
    ///
    /// # Errors
    /// The executor's.
    pub fn reference(&self, subgroup_size: u32) -> Result<Vec<Vec<u8>>, Error> {
        let mut options = reference::Options::default();
        options.subgroup_size = subgroup_size;
        options.checks.buffer_races = true;
        options.checks.bounds = self.bounds == Bounds::Unchecked;
        let mut args = Vec::with_capacity(self.args.len());
        let mut types = self.types();
        for (param, value) in self.kernel.params().iter().zip(&self.args) {
            args.push(match (param, value) {
                (ParamRef::Buffer(_), Value::Bytes(bytes)) => Arg::Buffer(Buffer::from_bytes(
                    types.next().unwrap_or(Type::NONE),
                    bytes,
                )?),
                (_, Value::Scalar(c)) => Arg::Scalar(*c),
                (ParamRef::Scalar(_), Value::Bytes(_)) => panic!("a buffer for a scalar"),
            });
        }
        let launch = Launch::new(self.grid).dynamic_shared(self.dynamic_shared);
        Executor::new(options).run(&self.kernel, launch, &mut args)?;
        Ok(args
            .iter()
            .filter_map(|a| a.buffer())
            .map(|b| b.bytes().to_vec())
            .collect())
    }

    /// The options with which SPIR-V is emitted for a device.
    pub fn options_for(&self, device: &Context) -> spirv::Options {
        let mut options = spirv::Options::default();
        if !device.fma().f32 {
            options.fma = spirv::Fma::Exact;
        }
        options.dynamic_shared_len = (self.dynamic_shared != 0).then_some(self.dynamic_shared);
        options.bounds = self.bounds;
        // A descriptor cannot be empty, so that its length does not tell.
        let empty = |value: &Value| matches!(value, Value::Bytes(bytes) if bytes.is_empty());
        if self.args.iter().any(empty) {
            options.lengths = spirv::Lengths::HostFilled;
        }
        options
    }

    /// The contents of every buffer after a run on a Vulkan device, from the signature alone.
    ///
    /// # Errors
    /// The emitter's or Vulkan's.
    pub fn vulkan(
        &self,
        device: &Context,
        options: &spirv::Options,
    ) -> Result<Vec<Vec<u8>>, Error> {
        let words = spirv::emit(&self.kernel, options)?;
        let signature = self.kernel.signature_with(options.bounds);
        let mut dispatch = Dispatch::new(&words, &signature.name);
        dispatch.groups = self.grid;
        dispatch.require_full_subgroups = signature.full_subgroups;
        let host_filled = options.lengths == spirv::Lengths::HostFilled;
        let bytes = if host_filled {
            signature.push_constant_bytes_with_lengths
        } else {
            signature.push_constant_bytes
        };
        dispatch.push_constants = vec![0; bytes as usize];
        let mut lengths = Vec::new();
        for (param, value) in signature.params.iter().zip(&self.args) {
            match (param.kind, value) {
                (
                    ParameterKind::Buffer {
                        set, binding, elem, ..
                    },
                    Value::Bytes(bytes),
                ) => {
                    lengths.push(bytes.len() as u32 / elem.bytes());
                    let mut bytes = bytes.clone();
                    if bytes.is_empty() {
                        bytes.resize(16, 0);
                    }
                    let mut buffer = BufferArg::storage(binding, bytes);
                    buffer.set = set;
                    dispatch.buffers.push(buffer);
                }
                (
                    ParameterKind::Scalar {
                        ty,
                        push_constant_offset,
                    },
                    Value::Scalar(c),
                ) => {
                    let at = push_constant_offset as usize;
                    let size = ty.bytes().max(4) as usize;
                    dispatch.push_constants[at..at + size]
                        .copy_from_slice(&c.bits().to_le_bytes()[..size]);
                }
                _ => panic!("an argument of the wrong kind"),
            }
        }
        for length in signature.lengths.iter().filter(|_| host_filled) {
            let at = length.push_constant_offset as usize;
            let n = lengths[length.buffer as usize];
            dispatch.push_constants[at..at + 4].copy_from_slice(&n.to_le_bytes());
        }
        let missing = dispatch.push_constants.len().next_multiple_of(4);
        dispatch.push_constants.resize(missing, 0);
        let mut contents = device.run(&dispatch)?;
        for (bytes, _) in contents.iter_mut().zip(lengths).filter(|(_, n)| *n == 0) {
            bytes.clear();
        }
        Ok(contents)
    }

    /// The first buffer that differs, and where. What the hardware approximates is not looked at.
    pub fn difference(&self, expected: &[Vec<u8>], got: &[Vec<u8>]) -> Option<(usize, Difference)> {
        assert_eq!(expected.len(), got.len());
        let decls = self.kernel.buffers();
        let mut pairs = expected.iter().zip(got).zip(decls).enumerate();
        pairs.find_map(|(i, ((e, g), decl))| {
            if self.kernel.name_of(decl.name) == Role::Approx.name() {
                return None;
            }
            Some((i, compare(e, g, decl.elem)?))
        })
    }
}
