//! Random kernels with random inputs, through every oracle and every executor.

use crate::choices::{Choices, SplitMix};
use crate::generate::{self, ATOMIC_LEN, Config, PER_THREAD};
use crate::run::{Case, Value};
use crate::specials::{special_bits, without_subnormal};
use kernite::kernel::ParamRef;
use kernite::types::{Access, Const, Type};
use kernite::verify::VerifyError;

/// How many seeds a test takes: `KERNITE_SEEDS`, or what the test thinks is enough.
///
/// # Panics
/// Where the variable is no number.
pub fn seeds(enough: u64) -> u64 {
    match std::env::var("KERNITE_SEEDS") {
        Ok(n) => n
            .parse()
            .unwrap_or_else(|e| panic!("KERNITE_SEEDS={n}: {e}")),
        Err(_) => enough,
    }
}

/// The case of a list of decisions: a kernel, a grid that is not the same along its axes, and inputs with every special
/// value among them.
///
/// # Errors
/// The verifier's, which would be a fault of the generator.
pub fn case(name: &str, decisions: &[u32], config: Config) -> Result<Case, VerifyError> {
    let mut choices = Choices::new(decisions);
    let grid = [1 + choices.below(3) as u32, 1 + choices.below(2) as u32, 1];
    // Inputs come from a stream of their own, so that shrinking the kernel leaves them be.
    let inputs = SplitMix::decisions(u64::from(choices.word()), 1 << 13);
    let mut inputs = Choices::new(&inputs);
    let kernel = generate::kernel(name, &mut choices, config)?;
    let threads = kernel.workgroup_threads() * grid.iter().product::<u32>();
    let mut bits = |ty: Type| {
        let bits = special_bits(ty, &mut inputs);
        if config.subnormals {
            bits
        } else {
            without_subnormal(ty, bits)
        }
    };
    let mut args = Vec::new();
    for param in kernel.params() {
        args.push(match *param {
            ParamRef::Buffer(n) => {
                let decl = kernel.buffers()[n as usize];
                let len = match (decl.access, kernel.name_of(decl.name)) {
                    (Access::Read, _) => threads,
                    (_, "counter") => ATOMIC_LEN,
                    _ => threads * PER_THREAD,
                };
                let size = decl.elem.bytes() as usize;
                Value::Bytes(
                    (0..len)
                        .flat_map(|_| bits(decl.elem).to_le_bytes().into_iter().take(size))
                        .collect(),
                )
            }
            ParamRef::Scalar(n) => {
                let decl = kernel.scalars()[n as usize];
                let ty = decl.ty;
                let bits = if kernel.name_of(decl.name) == "zero" {
                    0
                } else {
                    bits(ty)
                };
                let value = Const::new(ty, bits).unwrap_or(Const::from(false));
                Value::Scalar(value)
            }
        });
    }
    Ok(Case {
        kernel,
        grid,
        args,
        dynamic_shared: 0,
    })
}
