//! Running one launch on every executor at hand: the reference, Vulkan.

use crate::generate::Role;
use kernite::kernel::{Bounds, Kernel, ParamRef, ParameterKind, Signature};
use kernite::reference::{self, Arg, Buffer, Difference, Executor, Launch, compare};
use kernite::spirv;
use kernite::types::{Const, Type};
use kernite_testkit::vulkan::{BufferArg, Context, Dispatch, FloatControls, Independence, Widths};

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
    /// Whether accesses may lie outside of buffers and arrays, which checked code then keeps from harm.
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
        self.reference_with(subgroup_size, self.bounds)
    }

    /// As [`Case::reference`]; with checked bounds an access outside is no fault, and does what checked code does.
    ///
    /// # Errors
    /// The executor's.
    pub fn reference_with(
        &self,
        subgroup_size: u32,
        bounds: Bounds,
    ) -> Result<Vec<Vec<u8>>, Error> {
        let mut options = reference::Options::default();
        options.subgroup_size = subgroup_size;
        options.checks.buffer_races = true;
        options.checks.bounds = bounds == Bounds::Unchecked;
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

    /// What a device lacks of what the signature asks for.
    pub fn lacks(&self, device: &Context) -> Option<String> {
        let info = device.info();
        let signature = self.kernel.signature_with(self.bounds);
        for feature in &signature.features {
            let name = feature.vulkan_name();
            match info.features.get(name) {
                Some(true) => {}
                Some(false) => return Some(format!("the device lacks {name}")),
                None => panic!("the testkit does not read the feature {name}"),
            }
        }
        let lanes = self.lanes(device);
        match signature.required_subgroup_size {
            Some(size) if size != lanes => Some(format!("its subgroups have {lanes} lanes")),
            _ => None,
        }
    }

    /// The lanes of a subgroup on a device: what the kernel requires where the device lets it, else what the device has.
    pub fn lanes(&self, device: &Context) -> u32 {
        let subgroups = &device.info().subgroups;
        match self.kernel.required_subgroup_size() {
            Some(size) if sets_subgroup_size(device, size) => size,
            _ => subgroups.size,
        }
    }

    /// The options with which SPIR-V is emitted for a device, by what it says of itself.
    pub fn options_for(&self, device: &Context) -> spirv::Options {
        let info = device.info();
        let mut options = spirv::Options::default();
        let fma = device.fma();
        if !fma.f32 || fma.f16 == Some(false) || fma.f64 == Some(false) {
            options.fma = spirv::Fma::Exact;
        }
        options.denorm_preserve = preserved(&info.float_controls);
        options.dynamic_shared_len = (self.dynamic_shared != 0).then_some(self.dynamic_shared);
        options.bounds = self.bounds;
        // A descriptor cannot be empty, so that its length does not tell.
        let empty = |value: &Value| matches!(value, Value::Bytes(bytes) if bytes.is_empty());
        if self.args.iter().any(empty) {
            options.lengths = spirv::Lengths::HostFilled;
        }
        options.limits.workgroup_size = info.limits.max_compute_work_group_size;
        options.limits.workgroup_threads = info.limits.max_compute_work_group_invocations;
        options.limits.shared_bytes = info.limits.max_compute_shared_memory_size;
        options.limits.push_constant_bytes = info.limits.max_push_constants_size;
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
        let mut contents = device.run(&self.dispatch(device, options, &words, &signature))?;
        let given = self.args.iter().filter_map(|value| match value {
            Value::Bytes(bytes) => Some(bytes.len()),
            Value::Scalar(_) => None,
        });
        for (bytes, given) in contents.iter_mut().zip(given) {
            bytes.truncate(given);
        }
        Ok(contents)
    }

    fn dispatch<'a>(
        &self,
        device: &Context,
        options: &spirv::Options,
        words: &'a [u32],
        signature: &'a Signature,
    ) -> Dispatch<'a> {
        let mut dispatch = Dispatch::new(words, &signature.name);
        dispatch.groups = self.grid;
        dispatch.required_subgroup_size = signature
            .required_subgroup_size
            .filter(|&size| sets_subgroup_size(device, size));
        // Vulkan takes the flag only where the rows of a workgroup are whole subgroups.
        dispatch.require_full_subgroups = signature.full_subgroups
            && signature.workgroup_size[0].is_multiple_of(self.lanes(device));
        let host_filled = options.lengths == spirv::Lengths::HostFilled;
        let bytes = if host_filled {
            signature.push_constant_bytes_with_lengths
        } else {
            signature.push_constant_bytes
        };
        let mut push = vec![0; bytes.next_multiple_of(4) as usize];
        let mut lengths = Vec::new();
        for (param, value) in signature.params.iter().zip(&self.args) {
            match (param.kind, value) {
                (
                    ParameterKind::Buffer {
                        elem, set, binding, ..
                    },
                    Value::Bytes(bytes),
                ) => {
                    lengths.push(bytes.len() as u32 / elem.bytes().max(1));
                    let mut bytes = bytes.clone();
                    // No more than that: a shader may ask for the length.
                    if bytes.is_empty() {
                        bytes.resize(16, 0);
                    }
                    let mut buffer = BufferArg::storage(binding, bytes);
                    buffer.set = set + options.descriptor_set_base;
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
                    // What lies above a narrow scalar's bits is nobody's business.
                    let bits = if ty.bytes() < 4 && ty.bytes() > 0 {
                        c.bits() | u64::MAX << ty.bits()
                    } else {
                        c.bits()
                    };
                    push[at..at + size].copy_from_slice(&bits.to_le_bytes()[..size]);
                }
                _ => panic!("an argument of the wrong kind"),
            }
        }
        if host_filled {
            for length in &signature.lengths {
                let at = length.push_constant_offset as usize;
                let n = lengths[length.buffer as usize];
                push[at..at + 4].copy_from_slice(&n.to_le_bytes());
            }
        }
        dispatch.push_constants = push;
        dispatch
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

/// Whether a pipeline may ask the device for subgroups of so many lanes.
fn sets_subgroup_size(device: &Context, size: u32) -> bool {
    let info = device.info();
    info.features.subgroup_size_control
        && info.subgroups.size_may_be_required
        && (info.subgroups.min_size..=info.subgroups.max_size).contains(&size)
}

/// The widths of floats for which `DenormPreserve` may be declared; each kernel declares it for those of them that it
/// uses, so where widths may not differ it is all of them or none.
pub fn preserved(controls: &FloatControls) -> u32 {
    let Widths { f16, f32, f64 } = controls.denorm_preserve;
    let (f16, f32, f64) = match controls.denorm_independence {
        Independence::All => (f16, f32, f64),
        Independence::Only32 => (f16 && f64, f32, f16 && f64),
        Independence::None => {
            let all = f16 && f32 && f64;
            (all, all, all)
        }
    };
    [(f16, 16), (f32, 32), (f64, 64)]
        .into_iter()
        .filter_map(|(keeps, width)| keeps.then_some(width))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subnormals_are_asked_for_where_widths_may_differ() {
        let none = Widths::default();
        let mut controls = FloatControls {
            denorm_independence: Independence::All,
            rounding_independence: Independence::All,
            signed_zero_inf_nan_preserve: none,
            denorm_preserve: none,
            denorm_flush_to_zero: none,
            rounding_mode_rte: none,
            rounding_mode_rtz: none,
        };
        assert_eq!(preserved(&controls), 0);
        controls.denorm_preserve.f16 = true;
        assert_eq!(preserved(&controls), 16);
        controls.denorm_independence = Independence::Only32;
        assert_eq!(preserved(&controls), 0);
        controls.denorm_preserve.f32 = true;
        assert_eq!(preserved(&controls), 32);
        controls.denorm_independence = Independence::None;
        assert_eq!(preserved(&controls), 0);
        controls.denorm_preserve.f64 = true;
        assert_eq!(preserved(&controls), 16 + 32 + 64);
    }
}
