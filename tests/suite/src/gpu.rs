//! Running a launch through the CUDA driver: emitted with checked bounds, launched by the safe function.

use crate::run::{Case, Value};
use kernite::cuda::{
    Arg, BF16, Context, DeviceBuffer, Driver, Element, Error, F16, LaunchConfig, LoadOptions,
    Stream,
};
use kernite::kernel::ParamRef;
use kernite::types::Type;
use std::sync::OnceLock;

/// The first device's context, or nothing, with a counted skip, where there is none.
pub fn context() -> Option<&'static (Context, Stream)> {
    static FOUND: OnceLock<Result<(Context, Stream), String>> = OnceLock::new();
    let open = || -> Result<(Context, Stream), Error> {
        let context = Driver::load()?.device(0)?.primary_context()?;
        let stream = context.stream()?;
        Ok((context, stream))
    };
    match FOUND.get_or_init(|| open().map_err(|e| e.to_string())) {
        Ok(found) => Some(found),
        Err(why) => {
            kernite_testkit::skip::no_gpu(why);
            None
        }
    }
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

fn upload<T: Element + bytemuck::Pod>(
    context: &Context,
    bytes: &[u8],
) -> Result<Box<dyn Held>, Error> {
    let chunks = bytes.chunks_exact(size_of::<T>());
    let elements: Vec<T> = chunks.map(bytemuck::pod_read_unaligned).collect();
    Ok(Box::new(context.upload(&elements)?))
}

/// As [`upload`], of vectors of so many lanes.
fn upload_lanes<T>(context: &Context, bytes: &[u8], lanes: u32) -> Result<Box<dyn Held>, Error>
where
    T: Element + bytemuck::Pod,
    [T; 2]: Element,
    [T; 4]: Element,
{
    match lanes {
        2 => upload::<[T; 2]>(context, bytes),
        4 => upload::<[T; 4]>(context, bytes),
        _ => upload::<T>(context, bytes),
    }
}

impl Case {
    /// The contents of every buffer after a run on the GPU.
    ///
    /// # Errors
    /// The driver's or the launch's.
    ///
    /// # Panics
    /// Arguments that are not those of the kernel.
    pub fn cuda(&self, context: &Context, stream: &Stream) -> Result<Vec<Vec<u8>>, Error> {
        let function = context.load_kernel_checked(&self.kernel, &LoadOptions::new())?;
        let mut held = Vec::new();
        for (decl, value) in self
            .kernel
            .buffers()
            .iter()
            .zip(self.args.iter().filter_map(|v| match v {
                Value::Bytes(bytes) => Some(bytes),
                Value::Scalar(_) => None,
            }))
        {
            let scalar = decl.elem.scalar().map_or(Type::NONE, Type::of);
            let lanes = decl.elem.lanes();
            held.push(match scalar {
                Type::U8 => upload_lanes::<u8>(context, value, lanes)?,
                Type::I8 => upload_lanes::<i8>(context, value, lanes)?,
                Type::U16 => upload_lanes::<u16>(context, value, lanes)?,
                Type::I16 => upload_lanes::<i16>(context, value, lanes)?,
                Type::F16 => upload_lanes::<F16>(context, value, lanes)?,
                Type::BF16 => upload_lanes::<BF16>(context, value, lanes)?,
                Type::U32 => upload_lanes::<u32>(context, value, lanes)?,
                Type::I32 => upload_lanes::<i32>(context, value, lanes)?,
                Type::F32 => upload_lanes::<f32>(context, value, lanes)?,
                Type::U64 => upload_lanes::<u64>(context, value, lanes)?,
                Type::I64 => upload_lanes::<i64>(context, value, lanes)?,
                Type::F64 => upload_lanes::<f64>(context, value, lanes)?,
                other => panic!("no buffer has elements of {other}"),
            });
        }
        let mut buffers = held.iter_mut().zip(self.kernel.buffers());
        let mut args = Vec::new();
        for (param, value) in self.kernel.params().iter().zip(&self.args) {
            args.push(match (param, value) {
                (ParamRef::Buffer(_), _) => match buffers.next() {
                    Some((buffer, decl)) => buffer.arg(decl.access.writes()),
                    None => panic!("fewer buffers than parameters say"),
                },
                (ParamRef::Scalar(_), Value::Scalar(c)) => Arg::from(*c),
                (ParamRef::Scalar(_), Value::Bytes(_)) => panic!("a buffer for a scalar"),
            });
        }
        let element = self.kernel.signature().dynamic_shared;
        let shared = self.dynamic_shared * element.map_or(0, |ty| ty.bytes());
        let config =
            LaunchConfig::new(self.grid, self.kernel.workgroup_size()).dynamic_shared_bytes(shared);
        function.launch(stream, &config, &args)?;
        drop(args);
        stream.synchronize()?;
        held.iter().map(|buffer| buffer.bytes()).collect()
    }
}
