//! Running a kernel on an NVIDIA GPU with buffers of any type, shared with the tests that run kernels.
//!
//! The kernel is emitted with checked bounds and launched by the safe function: a load outside of its buffer yields zero, a
//! store there does nothing.

use kernite::cuda::{
    Arg, BF16, Context, DeviceBuffer, Driver, Element, Error, F16, LaunchConfig, LoadOptions,
    Stream,
};
use kernite::kernel::Kernel;
use kernite::types::{Const, Type};

/// An argument.
#[derive(Clone, Copy, Debug)]
pub enum Given<'a> {
    /// What a buffer holds before.
    Bytes(&'a [u8]),
    /// A scalar.
    Scalar(Const),
}

/// The context and a stream of a device, by its number.
///
/// # Errors
/// There is no driver, or no such device.
pub fn open(device: u32) -> Result<(Context, Stream), Error> {
    let context = Driver::load()?.device(device)?.primary_context()?;
    let stream = context.stream()?;
    Ok((context, stream))
}

/// What each buffer holds after a launch of `grid` workgroups, with `shared` elements of the dynamic shared array.
///
/// # Errors
/// What the emitter, the driver or the launch refuses, arguments that are not those of the kernel among them.
pub fn launch(
    (context, stream): &(Context, Stream),
    kernel: &Kernel,
    grid: [u32; 3],
    shared: u32,
    given: &[Given<'_>],
) -> Result<Vec<Vec<u8>>, Error> {
    let function = context.load_kernel_checked(kernel, &LoadOptions::new())?;
    let mut decls = kernel.buffers().iter();
    let mut held: Vec<Option<(bool, Box<dyn Held>)>> = Vec::new();
    for given in given {
        held.push(match given {
            Given::Scalar(_) => None,
            Given::Bytes(bytes) => match decls.next() {
                Some(decl) => Some((decl.access.writes(), upload(context, decl.elem, bytes)?)),
                None => None,
            },
        });
    }
    let mut args = Vec::new();
    for (given, held) in given.iter().zip(&mut held) {
        args.push(match (given, held) {
            (_, Some((written, buffer))) => buffer.arg(*written),
            (Given::Scalar(value), None) => Arg::from(*value),
            // More buffers than the kernel has, which the launch refuses by their number.
            (Given::Bytes(_), None) => continue,
        });
    }
    let element = kernel.signature().dynamic_shared.map_or(0, Type::bytes);
    let config = LaunchConfig::new(grid, kernel.workgroup_size())
        .dynamic_shared_bytes(shared.saturating_mul(element));
    function.launch(stream, &config, &args)?;
    drop(args);
    stream.synchronize()?;
    let held = held.into_iter().flatten();
    held.map(|(_, buffer)| buffer.bytes()).collect()
}

/// A buffer of some type on the device.
trait Held {
    fn arg(&mut self, written: bool) -> Arg<'_>;
    fn bytes(&self) -> Result<Vec<u8>, Error>;
}

impl<T: Element + bytemuck::Pod> Held for DeviceBuffer<T> {
    fn arg(&mut self, written: bool) -> Arg<'_> {
        if written {
            Arg::from(self)
        } else {
            Arg::from(&*self)
        }
    }

    fn bytes(&self) -> Result<Vec<u8>, Error> {
        Ok(bytemuck::cast_slice(&self.to_vec()?).to_vec())
    }
}

fn upload(context: &Context, elem: Type, bytes: &[u8]) -> Result<Box<dyn Held>, Error> {
    let lanes = elem.lanes();
    match elem.scalar().map_or(Type::NONE, Type::of) {
        Type::U8 => lanes_of::<u8>(context, bytes, lanes),
        Type::I8 => lanes_of::<i8>(context, bytes, lanes),
        Type::U16 => lanes_of::<u16>(context, bytes, lanes),
        Type::I16 => lanes_of::<i16>(context, bytes, lanes),
        Type::F16 => lanes_of::<F16>(context, bytes, lanes),
        Type::BF16 => lanes_of::<BF16>(context, bytes, lanes),
        Type::U32 => lanes_of::<u32>(context, bytes, lanes),
        Type::I32 => lanes_of::<i32>(context, bytes, lanes),
        Type::F32 => lanes_of::<f32>(context, bytes, lanes),
        Type::U64 => lanes_of::<u64>(context, bytes, lanes),
        Type::I64 => lanes_of::<i64>(context, bytes, lanes),
        // No buffer has elements of any other type.
        _ => lanes_of::<f64>(context, bytes, lanes),
    }
}

fn lanes_of<T>(context: &Context, bytes: &[u8], lanes: u32) -> Result<Box<dyn Held>, Error>
where
    T: Element + bytemuck::Pod,
    [T; 2]: Element,
    [T; 4]: Element,
{
    fn put<T: Element + bytemuck::Pod>(
        context: &Context,
        bytes: &[u8],
    ) -> Result<Box<dyn Held>, Error> {
        let chunks = bytes.chunks_exact(size_of::<T>());
        let elements: Vec<T> = chunks.map(bytemuck::pod_read_unaligned).collect();
        Ok(Box::new(context.upload(&elements)?))
    }
    match lanes {
        2 => put::<[T; 2]>(context, bytes),
        4 => put::<[T; 4]>(context, bytes),
        _ => put::<T>(context, bytes),
    }
}
