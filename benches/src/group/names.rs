//! What contestants are called; the bars name them so too.

/// kernite: builder calls, verification and emission.
pub const WHOLE: &str = "kernite: build, verify, emit";
/// kernite: builder calls and verification.
pub const BUILD: &str = "kernite: build, verify";
/// kernite: emission of a kernel that is there.
pub const EMIT: &str = "kernite: emit";
/// kernite: the validator.
pub const VALIDATE: &str = "kernite: validate";

/// The PTX template, numbers by `itoa`, a fresh vector.
pub const ITOA: &str = "floor: itoa template, fresh";
/// The PTX template, a table of digits, a kept buffer.
pub const DIGITS: &str = "floor: digit table, kept";
/// The PTX template, numbers by `core::fmt`.
pub const FMT: &str = "floor: core::fmt, fresh";

/// Words pushed into a fresh vector.
pub const PUSH_FRESH: &str = "floor: push words, fresh";
/// Words pushed into a kept vector.
pub const PUSH_KEPT: &str = "floor: push words, kept";
/// rspirv's builder and assembler.
pub const RSPIRV: &str = "rspirv: build, assemble";
/// naga with its module ready: validation and writing.
pub const NAGA: &str = "naga: validate, write";
/// naga with its module validated: writing.
pub const NAGA_WRITE: &str = "naga: write";

/// A walk from instruction to instruction.
pub const HEADERS: &str = "floor: walk the headers";
/// rspirv's parser, doing nothing with what it finds.
pub const RSPIRV_PARSE: &str = "rspirv: parse";
/// naga's parser and validator.
pub const NAGA_PARSE: &str = "naga: parse, validate";
/// SPIRV-Tools in process, its context kept; there where its shared library is.
pub const SPIRV_TOOLS: &str = "SPIRV-Tools: validate";

/// The reference executor with every check off.
pub const UNCHECKED: &str = "kernite: run, unchecked";
/// The reference executor with its default checks.
pub const CHECKED: &str = "kernite: run, checked";
/// The same on two threads. What is taken is the time of all threads together: how much dearer that is.
pub const THREADS: &str = "kernite: run, checked, 2 threads";

/// MD5 by the crate `md-5` of what a container's digest covers.
pub const MD5: &str = "md-5: MD5";
/// The container's digest.
pub const DIGEST: &str = "kernite: digest";
/// The container's digest and the shader hash: what reading and checking computes.
pub const CONTAINER_DIGESTS: &str = "kernite: both digests";
/// Reading a container and checking everything, its digest and shader hash among it.
pub const CONTAINER: &str = "kernite: read, check";
