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

impl Case {
    /// The contents of every buffer after a run on the GPU.
    ///
    /// # Errors
    /// The driver's or the launch's.
    ///
    /// # Panics
    /// For element types that the random and example kernels do not have.
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
            held.push(match decl.elem {
                Type::U8 => upload::<u8>(context, value)?,
                Type::I8 => upload::<i8>(context, value)?,
                Type::U16 => upload::<u16>(context, value)?,
                Type::I16 => upload::<i16>(context, value)?,
                Type::F16 => upload::<F16>(context, value)?,
                Type::BF16 => upload::<BF16>(context, value)?,
                Type::U32 => upload::<u32>(context, value)?,
                Type::I32 => upload::<i32>(context, value)?,
                Type::F32 => upload::<f32>(context, value)?,
                Type::U64 => upload::<u64>(context, value)?,
                Type::I64 => upload::<i64>(context, value)?,
                Type::F64 => upload::<f64>(context, value)?,
                other => panic!("no test has buffers of {other}"),
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
        let config = LaunchConfig::new(self.grid, self.kernel.workgroup_size());
        function.launch(stream, &config, &args)?;
        drop(args);
        stream.synchronize()?;
        held.iter().map(|buffer| buffer.bytes()).collect()
    }
}
