//! The validator: bytes in, a [`Verdict`] out.
//!
//! ```
//! use kernite::spirv::{Verdict, validate};
//!
//! let verdict = validate(b"\x03\x02\x23\x07");
//! assert_eq!(
//!     verdict.to_string(),
//!     "invalid at word 1: header-length: a module begins with a header of five words (§2.3)"
//! );
//! ```
//!
//! It covers SPIR-V 1.0 to 1.6 under Vulkan 1.0 to 1.3, for modules whose entry points are
//! compute shaders. There are three verdicts. `Valid` is said only of a module of which every
//! instruction was checked; a module that holds something not covered is `Unsupported`, which
//! names it; a module that breaks a rule is `Invalid`, with every fault. A broken rule outweighs
//! what is not covered, unless an uncovered capability or extension might change the rule. A
//! capability that Vulkan does not have, such as Kernel or Linkage, is such a broken rule.
//!
//! # Rules
//!
//! [`Rule`] lists them, each with the section of the specification and its text:
//! [`Group::Form`] for the binary form, ids and order, [`Group::Meaning`] for everything else
//! that SPIRV-Tools 2025.5 checks too, and [`Group::Beyond`] for what the specification says
//! and SPIRV-Tools does not check; those can be switched off.
//!
//! # Gaps
//!
//! Not covered, hence `Unsupported`: execution models other than GLCompute; decoration groups;
//! untyped pointers; explicit layout of Workgroup memory; sparse images; ray queries; tensors;
//! bfloat16 and 8-bit floats; the extensions of single vendors; derivative groups; the
//! reconvergence modes; extended instructions with forward references; fast-math decorations beyond
//! NoContraction and FPFastMathMode's core bits; variable pointers to floats that come from memory
//! or calls, in a module with pointers into matrices. Not checked, and no rule: what non-semantic
//! instructions say (ids and order are checked), uniformity of control flow, limits of a device,
//! races, values.
//!
//! # Cost
//!
//! Two passes, linear in the module but for sorting decorations, types and uses; the second one
//! visits what the first did not settle. Nothing is allocated for an instruction, nothing is
//! sized by a number from the module but the table of ids: four bytes for each id below the
//! bound, up to as many as the module has words, and four bytes for each 256 ids beyond. Nothing
//! recurses without a limit. A [`Validator`] keeps its memory between modules.
//!
//! What an instruction is checked for is known by its opcode from a table (`ops`). The commonest
//! shapes (arithmetic on one type, loads, stores, access chains, constants, decorations that take
//! numbers) are settled by a few comparisons that are enough for all rules of both passes
//! (`decode::quick`); what they do not show to be right goes the long way, and what that finds is
//! what is reported. A debug build asks the rules about everything.
#![forbid(unsafe_code)]

mod arithmetic;
mod atomics;
mod cfg;
mod chains;
mod check;
mod composites;
mod cooperative;
mod coverage;
mod declare;
mod decode;
mod decorations;
mod dominators;
mod error;
mod functions;
mod groups;
mod images;
mod interface;
mod layout;
mod memory;
mod ops;
mod rules;
mod state;
mod structure;
mod types;

pub use error::{Fault, Faults, MAX_FAULTS, Note, Unsupported, ValidateError, Verdict};
pub use rules::{Group, Rule};

use crate::spirv::tables::decode::Found;
use cfg::Flow;
use check::Checker;
use decode::Decoder;
use error::Sink;
use interface::Interfaces;
use layout::Layouts;
use state::Module;

const HEADER_WORDS: usize = 5;
const MAGIC: u32 = 0x0723_0203;
/// Offsets are 32-bit.
const MAX_WORDS: usize = 0x3FFF_FFFF;
/// §2.17: result ids are below this bound.
const MAX_BOUND: u32 = 0x3F_FFFF;

/// The environment whose rules are checked beside SPIR-V's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Environment {
    /// Vulkan 1.0: SPIR-V 1.0.
    Vulkan1_0,
    /// Vulkan 1.1: SPIR-V up to 1.3.
    Vulkan1_1,
    /// Vulkan 1.2: SPIR-V up to 1.5.
    Vulkan1_2,
    /// Vulkan 1.3: SPIR-V up to 1.6.
    Vulkan1_3,
}

impl Environment {
    fn minor(self) -> u8 {
        match self {
            Environment::Vulkan1_0 => 0,
            Environment::Vulkan1_1 => 1,
            Environment::Vulkan1_2 => 2,
            Environment::Vulkan1_3 => 3,
        }
    }

    /// The newest minor version of SPIR-V 1 that it takes.
    fn newest(self) -> u8 {
        match self {
            Environment::Vulkan1_0 => 0,
            Environment::Vulkan1_1 => 3,
            Environment::Vulkan1_2 => 5,
            Environment::Vulkan1_3 => 6,
        }
    }
}

/// What is checked, and what the device is taken to have.
///
/// ```
/// use kernite::spirv::validate::{Environment, Options};
/// let options = Options { environment: Environment::Vulkan1_1, ..Options::default() };
/// assert!(options.beyond_spirv_val);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The environment; Vulkan 1.3 by default.
    pub environment: Environment,
    /// Whether the rules of [`Group::Beyond`] are checked; they are by default.
    pub beyond_spirv_val: bool,
    /// The feature `scalarBlockLayout`.
    pub scalar_block_layout: bool,
    /// The feature `uniformBufferStandardLayout`.
    pub uniform_buffer_standard_layout: bool,
    /// VK_KHR_relaxed_block_layout under Vulkan 1.0; later versions have it.
    pub relaxed_block_layout: bool,
    /// LocalSizeId below Vulkan 1.3, by the feature `maintenance4`.
    pub allow_local_size_id: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            environment: Environment::Vulkan1_3,
            beyond_spirv_val: true,
            scalar_block_layout: false,
            uniform_buffer_standard_layout: false,
            relaxed_block_layout: false,
            allow_local_size_id: false,
        }
    }
}

impl Options {
    fn relaxed(&self) -> bool {
        self.relaxed_block_layout || self.environment > Environment::Vulkan1_0
    }
}

/// A validator whose memory is kept between modules.
///
/// ```
/// use kernite::spirv::validate::Validator;
/// let mut validator = Validator::new();
/// assert!(validator.words(&[]).is_invalid());
/// assert!(validator.bytes(&[1, 2, 3]).is_invalid());
/// ```
#[derive(Debug, Default)]
pub struct Validator {
    options: Options,
    words: Vec<u32>,
    module: Module,
    found: Vec<Found>,
    flow: Flow,
    order: Vec<u32>,
    implicit: Vec<u32>,
    literals: Vec<u64>,
    interfaces: Interfaces,
    layouts: Layouts,
}

impl Validator {
    /// A validator with the default [`Options`].
    pub fn new() -> Validator {
        Validator::default()
    }

    /// A validator with these options.
    pub fn with_options(options: Options) -> Validator {
        Validator {
            options,
            ..Validator::default()
        }
    }

    /// Its options.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The verdict on a module in bytes, at any alignment and in either byte order.
    ///
    /// An empty slice, or one whose length is no multiple of 4, is invalid.
    pub fn bytes(&mut self, bytes: &[u8]) -> Verdict {
        let mut words = std::mem::take(&mut self.words);
        words.clear();
        let (quads, rest) = bytes.as_chunks::<4>();
        words.extend(quads.iter().map(|q| u32::from_le_bytes(*q)));
        let verdict = if rest.is_empty() {
            if words.first().map(|w| w.swap_bytes()) == Some(MAGIC) {
                words.iter_mut().for_each(|w| *w = w.swap_bytes());
            }
            self.words(&words)
        } else {
            let mut out = Sink::new(self.options.beyond_spirv_val);
            let note = u32::try_from(bytes.len()).map_or(Note::None, Note::Value);
            out.fault(Rule::ByteLength, words.len(), note, &words);
            out.verdict()
        };
        self.words = words;
        verdict
    }

    /// The verdict on a module in words of the machine's byte order.
    ///
    /// A module of the other byte order is invalid here; [`Validator::bytes`] swaps it.
    pub fn words(&mut self, words: &[u32]) -> Verdict {
        let mut out = Sink::new(self.options.beyond_spirv_val);
        if let Some((version, bound)) = self.header(words, &mut out) {
            self.module.clear(version, bound, words.len());
            self.check(words, &mut out);
        }
        out.verdict()
    }

    fn header(&self, words: &[u32], out: &mut Sink) -> Option<(u8, u32)> {
        let &[magic, version, _, bound, schema, ..] = words else {
            out.fault(Rule::HeaderLength, words.len(), Note::None, words);
            return None;
        };
        if magic != MAGIC {
            out.fault(Rule::Magic, 0, Note::Value(magic), words);
            return None;
        }
        if words.len() > MAX_WORDS {
            out.unsupported(Unsupported::named(0, "", "a module of 4 GiB or more"));
            return None;
        }
        let minor = (version >> 8 & 0xFF) as u8;
        if version & 0xFFFF_00FF != 0x0001_0000 || minor > self.options.environment.newest() {
            out.fault(Rule::Version, 1, Note::Value(version), words);
            return None;
        }
        if bound == 0 || bound > MAX_BOUND {
            let note = Note::Limit(u64::from(bound), u64::from(MAX_BOUND));
            out.fault(Rule::Bound, 3, note, words);
            return None;
        }
        if schema != 0 {
            out.fault(Rule::Schema, 4, Note::Value(schema), words);
        }
        Some((minor, bound))
    }

    fn check(&mut self, words: &[u32], out: &mut Sink) {
        Decoder::new(
            words,
            &mut self.module,
            out,
            &mut self.found,
            self.options.environment,
        )
        .run();
        if out.broken {
            return;
        }
        let module = &self.module;
        let mut checker = Checker::new(words, module, out, &self.options);
        checker.implicit = std::mem::take(&mut self.implicit);
        checker.literals = std::mem::take(&mut self.literals);
        checker.implicit.clear();
        checker.implicit.resize(module.functions.len(), 0);
        checker.unique_types(&mut self.order);
        checker.limits();
        checker.instructions();
        checker.control_flow(&mut self.flow);
        checker.decorations(&mut self.order);
        checker.layouts(&mut self.layouts);
        checker.entry_points(&mut self.interfaces);
        self.implicit = std::mem::take(&mut checker.implicit);
        self.literals = std::mem::take(&mut checker.literals);
    }
}

/// The verdict on a module in bytes, with the default [`Options`]: any bytes in, at any
/// alignment and in either byte order. Words, such as [`crate::spirv::emit()`] gives, go to [`Validator::words`].
///
/// ```
/// let verdict = kernite::spirv::validate(&[]);
/// assert!(verdict.is_invalid());
/// ```
pub fn validate(bytes: &[u8]) -> Verdict {
    Validator::new().bytes(bytes)
}
