//! Buffers whose element type is known at run time alone.

use crate::gpu;
use kernite::cuda::{
    Arg, BF16, Context, DeviceBuffer, Element, Error, F16, Function, LaunchConfig, Stream,
};
use kernite::types::{Const, Type};

/// An argument of a launch.
#[derive(Clone, Copy, Debug)]
pub enum Given<'a> {
    /// A buffer: its element type, its bytes, and whether the kernel may write it.
    Buffer(Type, &'a [u8], bool),
    /// A number.
    Scalar(Const),
}

/// The argument of a buffer of bytes that stands for one of elements of `ty`.
fn arg(buffer: &mut DeviceBuffer<u8>, ty: Type, written: bool) -> Result<Arg<'_>, Error> {
    macro_rules! of {
        ($($t:ty)*) => {$(
            if ty == <$t as Element>::TYPE {
                return Ok(if written {
                    Arg::from(buffer.as_slice_mut().cast::<$t>()?)
                } else {
                    Arg::from(buffer.as_slice().cast::<$t>()?)
                });
            }
        )*};
    }
    macro_rules! of_each { ($($t:ty)*) => { of!($($t [$t; 2] [$t; 4])*) }; }
    of_each!(i8 i16 i32 i64 u8 u16 u32 u64 F16 BF16 f32 f64);
    panic!("no buffer has elements of {ty}")
}

/// Launches one of this workspace's own kernels on these arguments, and gives what its buffers hold then, in their order.
///
/// # Errors
/// The driver's.
pub fn run(
    context: &Context,
    stream: &Stream,
    function: &Function,
    config: &LaunchConfig,
    given: &[Given<'_>],
) -> Result<Vec<Vec<u8>>, Error> {
    let mut held = Vec::new();
    for one in given {
        if let Given::Buffer(_, bytes, _) = one {
            held.push(context.upload(bytes)?);
        }
    }
    let mut buffers = held.iter_mut();
    let mut args = Vec::new();
    for one in given {
        args.push(match *one {
            Given::Scalar(value) => Arg::from(value),
            Given::Buffer(ty, _, written) => match buffers.next() {
                Some(buffer) => arg(buffer, ty, written)?,
                None => continue,
            },
        });
    }
    gpu::launch(function, stream, config, &args)?;
    drop(args);
    stream.synchronize()?;
    held.iter().map(DeviceBuffer::to_vec).collect()
}
