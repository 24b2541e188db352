//! Running a launch through the CUDA driver: emitted with checked bounds, launched by the safe function.

use crate::on_cuda::{Given, launch, open};
use crate::run::{Case, Value};
use kernite::cuda::{Context, Error, Stream};
use std::sync::OnceLock;

/// The first device's context, or nothing, with a counted skip, where there is none.
pub fn context() -> Option<&'static (Context, Stream)> {
    static FOUND: OnceLock<Result<(Context, Stream), String>> = OnceLock::new();
    match FOUND.get_or_init(|| open(0).map_err(|e| e.to_string())) {
        Ok(found) => Some(found),
        Err(why) => {
            kernite_testkit::skip::no_gpu(why);
            None
        }
    }
}

impl Case {
    /// The contents of every buffer after a run on the GPU.
    ///
    /// # Errors
    /// The driver's or the launch's.
    pub fn cuda(&self, device: &(Context, Stream)) -> Result<Vec<Vec<u8>>, Error> {
        let given: Vec<Given<'_>> = self
            .args
            .iter()
            .map(|value| match value {
                Value::Bytes(bytes) => Given::Bytes(bytes),
                Value::Scalar(value) => Given::Scalar(*value),
            })
            .collect();
        launch(device, &self.kernel, self.grid, self.dynamic_shared, &given)
    }
}
