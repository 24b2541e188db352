//! Random kernels with random inputs, through every oracle and every executor.

use crate::choices::{Choices, SplitMix};
use crate::generate::{self, ATOMIC_LEN, Config, PER_THREAD, Role};
use crate::rebuild;
use crate::run::{self, Case, Value};
use crate::shrink::Failure;
use crate::specials::{special_bits, without_subnormal};
use kernite::kernel::{Bounds, Kernel, ParamRef};
use kernite::reference::Difference;
use kernite::types::{Const, Type};
use kernite::verify::VerifyError;
use kernite::{ptx, spirv, text};

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

/// Shapes of grids, not the same along their axes.
pub const GRIDS: [[u32; 3]; 6] = [
    [1, 1, 1],
    [2, 1, 1],
    [3, 1, 1],
    [2, 2, 1],
    [1, 1, 3],
    [1, 2, 2],
];

/// Different elements of a buffer; they repeat after so many.
const DIFFERENT: usize = 251;

/// The case of a list of decisions: a kernel, a grid, and inputs with every special value among them.
///
/// # Errors
/// The verifier's, which would be a fault of the generator.
pub fn case(name: &str, decisions: &[u32], config: Config) -> Result<Case, VerifyError> {
    let mut choices = Choices::new(decisions);
    let grid = choices.pick(&GRIDS);
    // Inputs come from a stream of their own, so that shrinking the kernel leaves them be.
    let seed = u64::from(choices.word());
    let kernel = generate::kernel(name, &mut choices, config)?;
    Ok(launch(kernel, grid, seed, config))
}

/// A launch of a kernel of [`generate`].
pub fn launch(kernel: Kernel, grid: [u32; 3], seed: u64, config: Config) -> Case {
    let threads = kernel.workgroup_threads() * grid.iter().product::<u32>();
    let mut args = Vec::new();
    for (n, param) in kernel.params().iter().enumerate() {
        let words = SplitMix::decisions(seed << 8 | n as u64, 4 * 4 * DIFFERENT);
        let mut inputs = Choices::new(&words);
        let mut bits = |ty: Type| {
            let bits = special_bits(ty, &mut inputs);
            if config.subnormals {
                bits
            } else {
                without_subnormal(ty, bits)
            }
        };
        args.push(match *param {
            ParamRef::Buffer(n) => {
                let decl = kernel.buffers()[n as usize];
                let role = Role::of(kernel.name_of(decl.name));
                let few = (seed >> n & 7) as u32;
                let len = match role {
                    Some(Role::In) | None => threads,
                    Some(Role::Own | Role::Out | Role::Approx) => threads * PER_THREAD,
                    Some(Role::Counter) => ATOMIC_LEN + threads * PER_THREAD,
                    Some(Role::Few | Role::Wild | Role::Scattered) => few,
                };
                let (elem, lanes) = match decl.elem.scalar() {
                    Some(scalar) => (Type::of(scalar), decl.elem.lanes()),
                    None => (decl.elem, 1),
                };
                let numbers = len as usize * lanes as usize;
                let mut different: Vec<u64> = Vec::new();
                different.extend((0..numbers.min(DIFFERENT)).map(|_| bits(elem)));
                let mut all: Vec<u64> = (0..numbers).map(|i| different[i % DIFFERENT]).collect();
                if role == Some(Role::Counter) {
                    exact_sums(elem, &mut all);
                }
                let size = elem.bytes() as usize;
                let bytes = all
                    .into_iter()
                    .flat_map(|bits| bits.to_le_bytes().into_iter().take(size));
                Value::Bytes(bytes.collect())
            }
            ParamRef::Scalar(n) => {
                let decl = kernel.scalars()[n as usize];
                let bits = if kernel.name_of(decl.name) == "zero" {
                    0
                } else {
                    bits(decl.ty)
                };
                Value::Scalar(Const::new(decl.ty, bits).unwrap_or(Const::from(false)))
            }
        });
    }
    let dynamic = kernel.signature().dynamic_shared;
    Case {
        grid,
        args,
        dynamic_shared: dynamic.map_or(0, |_| kernel.workgroup_threads()),
        bounds: if config.wild {
            Bounds::Checked
        } else {
            Bounds::Unchecked
        },
        kernel,
    }
}

/// Makes the counters of floats that are only added to small integers.
fn exact_sums(ty: Type, elements: &mut [u64]) {
    for (i, bits) in (0u32..).zip(elements) {
        let added = i == 0 || i >= ATOMIC_LEN && (i - ATOMIC_LEN).is_multiple_of(PER_THREAD);
        match ty {
            Type::F32 if added => *bits = u64::from(((*bits % 64) as f32).to_bits()),
            Type::F64 if added => *bits = ((*bits % 64) as f64).to_bits(),
            _ => {}
        }
    }
}

/// What went wrong with a case.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// Its decisions gave no valid kernel.
    #[error("verifier: {0}")]
    Verify(#[from] VerifyError),
    /// An executor or emitter refused it.
    #[error(transparent)]
    Run(#[from] run::Error),
    /// The PTX emitter refused it.
    #[error("PTX: {0}")]
    Ptx(#[from] ptx::Error),
    /// The SPIR-V emitter refused it.
    #[error("SPIR-V: {0}")]
    Spirv(#[from] spirv::Error),
    /// What the SPIR-V emitter wrote is not valid.
    #[error("validator: {verdict} with {options:?}")]
    Invalid {
        /// The verdict of our own validator.
        verdict: Box<spirv::Verdict>,
        /// The emitter's options.
        options: Box<spirv::Options>,
    },
    /// The stored or printed form does not read back to it.
    #[error("the {0} does not read back")]
    Form(&'static str),
    /// A device computes something else.
    #[error("buf{buffer}: {difference}")]
    Difference {
        /// The buffer.
        buffer: usize,
        /// Where, and what.
        difference: Difference,
    },
}

/// Everything that needs no other program: the forms, the reference executor, both emitters, our own validator.
#[derive(Default)]
pub struct Static {
    ptx: ptx::Emitter,
    spirv: spirv::Emitter,
    validator: spirv::Validator,
    text: Vec<u8>,
    words: Vec<u32>,
}

/// Targets that differ in what they can.
const TARGETS: [&str; 6] = ["sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120"];

impl Static {
    /// Looks at a case; `n` chooses the target, the options and the size of the subgroups.
    ///
    /// # Errors
    /// The first fault.
    ///
    /// # Panics
    /// Where the library does.
    pub fn check(&mut self, case: &Case, n: u64) -> Result<(), Fault> {
        let kernel = &case.kernel;
        if Kernel::from_bytes(&kernel.to_bytes()).as_ref() != Ok(kernel) {
            return Err(Fault::Form("stored form"));
        }
        match text::parse(&kernel.to_string()).as_deref() {
            Ok([read]) if read == kernel => {}
            _ => return Err(Fault::Form("text form")),
        }
        case.reference(1 << (n % 8))?;
        self.ptx
            .emit(kernel, &ptx_options(n, case.bounds), &mut self.text)?;
        let options = spirv_options(n, case);
        self.spirv.emit(kernel, &options, &mut self.words)?;
        let verdict = self.validator.words(&self.words);
        if !verdict.is_valid() {
            return Err(Fault::Invalid {
                verdict: Box::new(verdict),
                options: Box::new(options),
            });
        }
        Ok(())
    }

    /// What was emitted last.
    pub fn emitted(&self) -> (&[u8], &[u32]) {
        (&self.text, &self.words)
    }
}

/// The `n`th choice of a target.
///
/// # Panics
/// Never: the names are targets.
pub fn ptx_options(n: u64, bounds: Bounds) -> ptx::Options {
    let name = TARGETS[n as usize % TARGETS.len()];
    let target = ptx::Target::parse(name).unwrap_or_else(|e| panic!("{name}: {e}"));
    ptx::Options::new(target).with_bounds(bounds)
}

/// The `n`th choice of everything that may be chosen.
pub fn spirv_options(n: u64, case: &Case) -> spirv::Options {
    use spirv::{DotProducts, FloatAtomics, FloatMode, Fma, Lengths, MemoryModel, Version};
    let mut options = spirv::Options::default();
    options.version = [Version::V1_6, Version::V1_3, Version::V1_4, Version::V1_5][n as usize % 4];
    // A prime step for each, so that every two of them meet.
    if n / 3 % 2 == 1 {
        options.memory_model = MemoryModel::Vulkan;
    }
    if n / 5 % 2 == 1 {
        options.fma = Fma::Exact;
        options.dot_products = DotProducts::Expanded;
        options.lengths = Lengths::HostFilled;
    }
    match n / 7 % 3 {
        0 => {}
        1 => {
            options.float_atomics = FloatAtomics::CompareExchange;
            options.zero_shared = spirv::ZeroShared::Loop;
            options.denorm_preserve = 16 | 32;
        }
        _ => {
            // Exact steps rely on the rounding that the strict mode asks for.
            if options.fma == Fma::Native {
                options.float_mode = FloatMode::Relaxed;
            }
            options.float_min_max_atomics = FloatAtomics::Native;
            options.float64_atomics = FloatAtomics::Native;
        }
    }
    options.names = n / 11 % 2 == 1;
    options.bounds = case.bounds;
    options.limits.push_constant_bytes = 256;
    options.dynamic_shared_len = (case.dynamic_shared != 0).then_some(case.dynamic_shared);
    options
}

/// A failing case for people: the kernel as text and as Rust, the decisions, and what is wrong.
pub fn report(failure: &Failure, config: Config) -> String {
    let head = format!("{}\ndecisions: {:?}", failure.why, failure.decisions);
    match case("k", &failure.decisions, config) {
        Ok(case) => {
            let args: Vec<String> = case.args.iter().map(|a| a.to_string()).collect();
            format!(
                "{head}\n{}\n{}{}\ngrid {:?}, arguments:\n{}",
                case.kernel,
                rebuild::PRELUDE,
                rebuild::rust("k", &case.kernel),
                case.grid,
                args.join("\n")
            )
        }
        Err(e) => format!("{head}\n{e}"),
    }
}
