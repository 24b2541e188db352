//! The driver's assembler and linker: options, logs, errors.

use super::DriverVersion;
use super::result::Code;
use super::sys::jit_option as option;
use core::ffi::{c_uint, c_void};
use core::fmt;

/// How PTX is turned into code.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct LoadOptions {
    /// How hard the driver's assembler tries, 0 to 4 (`CU_JIT_OPTIMIZATION_LEVEL`); 4 by default.
    pub optimization_level: u32,
    /// Whether the code says which line of the PTX it came from, for profilers and debuggers.
    pub line_info: bool,
    /// The most registers a thread may use; 0, the default, leaves it to the kernel.
    pub max_registers: u32,
    /// Whether the information log says how many registers and how much memory each kernel takes.
    pub verbose: bool,
    /// Bytes of each log; less than 8 KiB is taken as 8 KiB.
    pub log_bytes: usize,
}

impl Default for LoadOptions {
    fn default() -> LoadOptions {
        LoadOptions {
            optimization_level: 4,
            line_info: false,
            max_registers: 0,
            verbose: false,
            log_bytes: 16 << 10,
        }
    }
}

impl LoadOptions {
    /// The defaults.
    pub fn new() -> LoadOptions {
        LoadOptions::default()
    }

    /// Says which line of the PTX the code came from.
    #[must_use]
    pub fn line_info(self, on: bool) -> LoadOptions {
        LoadOptions {
            line_info: on,
            ..self
        }
    }

    /// Fills the information log.
    #[must_use]
    pub fn verbose(self, on: bool) -> LoadOptions {
        LoadOptions {
            verbose: on,
            ..self
        }
    }

    /// Sets how hard the assembler tries.
    #[must_use]
    pub fn optimization_level(self, level: u32) -> LoadOptions {
        LoadOptions {
            optimization_level: level,
            ..self
        }
    }

    /// Limits the registers of a thread.
    #[must_use]
    pub fn max_registers(self, count: u32) -> LoadOptions {
        LoadOptions {
            max_registers: count,
            ..self
        }
    }

    /// Sets the bytes of each log.
    #[must_use]
    pub fn log_bytes(self, bytes: usize) -> LoadOptions {
        LoadOptions {
            log_bytes: bytes,
            ..self
        }
    }
}

/// Text that the driver's assembler wrote.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Log {
    text: String,
    truncated: bool,
}

impl Log {
    /// The text, without a final NUL. Bytes that are no UTF-8 are replaced.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the buffer was full, so that the end may be missing; see [`LoadOptions::log_bytes`].
    pub fn is_truncated(&self) -> bool {
        self.truncated
    }

    pub(crate) fn of(text: String) -> Log {
        Log {
            text,
            truncated: false,
        }
    }

    fn read(buffer: &[u8], written: usize) -> Log {
        let written = written.min(buffer.len());
        let bytes = buffer.get(..written).unwrap_or_default();
        let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
        Log {
            text: String::from_utf8_lossy(bytes.get(..end).unwrap_or_default()).into_owned(),
            // A full buffer keeps its last byte for the NUL.
            truncated: end.saturating_add(1) >= buffer.len(),
        }
    }
}

impl fmt::Display for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text.trim_end())?;
        if self.truncated {
            f.write_str(" […truncated]")?;
        }
        Ok(())
    }
}

/// The option arrays of one call and the buffers that they point to.
///
/// Options that are numbers are passed in the value slots themselves, and the driver writes the length of a log over the
/// size that was passed in.
pub(crate) struct Request {
    pub keys: [c_uint; 8],
    pub values: [*mut c_void; 8],
    pub count: c_uint,
    info: Vec<u8>,
    error: Vec<u8>,
}

const INFO_SIZE: usize = 1;
const ERROR_SIZE: usize = 3;

impl Request {
    pub fn new(options: &LoadOptions) -> Request {
        // 256 MiB hold every log; the size travels as 32 bits.
        let bytes = options.log_bytes.clamp(8 << 10, 256 << 20);
        let mut request = Request {
            keys: [0; 8],
            values: [core::ptr::null_mut(); 8],
            count: 0,
            info: vec![0; bytes],
            error: vec![0; bytes],
        };
        let (info, error) = (request.info.as_mut_ptr(), request.error.as_mut_ptr());
        let number = |n: usize| core::ptr::without_provenance_mut::<c_void>(n);
        request.push(option::INFO_LOG_BUFFER, info.cast());
        request.push(option::INFO_LOG_BUFFER_SIZE_BYTES, number(bytes));
        request.push(option::ERROR_LOG_BUFFER, error.cast());
        request.push(option::ERROR_LOG_BUFFER_SIZE_BYTES, number(bytes));
        request.push(
            option::OPTIMIZATION_LEVEL,
            number(options.optimization_level.min(4) as usize),
        );
        if options.line_info {
            request.push(option::GENERATE_LINE_INFO, number(1));
        }
        if options.verbose {
            request.push(option::LOG_VERBOSE, number(1));
        }
        if options.max_registers != 0 {
            request.push(
                option::MAX_REGISTERS,
                number(options.max_registers as usize),
            );
        }
        request
    }

    fn push(&mut self, key: c_uint, value: *mut c_void) {
        let at = self.count as usize;
        if let (Some(k), Some(v)) = (self.keys.get_mut(at), self.values.get_mut(at)) {
            (*k, *v) = (key, value);
            self.count += 1;
        }
    }

    /// The logs of a call that has ended: (error, information).
    pub fn logs(&self) -> (Log, Log) {
        // The slot holds a 32-bit number in a pointer's place, so its upper half is whatever it was: zero.
        let written = |slot: usize| (self.values.get(slot).map_or(0, |v| v.addr()) as u32) as usize;
        // Where the driver left the slot alone it wrote nothing, and the buffer still holds the zeroes it was made of.
        let error = Log::read(&self.error, written(ERROR_SIZE));
        let info = Log::read(&self.info, written(INFO_SIZE));
        (error, info)
    }
}

/// Why a module could not be loaded or linked.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JitError {
    /// The driver refused it; its logs say why.
    #[error("{call} failed with {code}{}{}{}{}", if .error_log.text().is_empty() { "" } else { ":\n" }, .error_log, if .code.advice().is_empty() { "" } else { "\n" }, .code.advice())]
    Refused {
        /// The entry point.
        call: &'static str,
        /// What it returned.
        code: Code,
        /// The driver's errors, with the lines of the PTX.
        error_log: Log,
        /// Its remarks.
        info_log: Log,
    },
    /// The text needs a later driver. Found before the driver was asked.
    #[error("PTX {}.{} is newer than the driver, which supports CUDA {driver} and PTX up to {}.{}: update the driver, or emit a .version that it knows", .needs.0, .needs.1, .has.0, .has.1)]
    Version {
        /// The text's `.version`.
        needs: (u32, u32),
        /// The newest that the driver takes.
        has: (u8, u8),
        /// The driver.
        driver: DriverVersion,
    },
    /// The text is for another device. Found before the driver was asked.
    #[error("the PTX is for {target}, the device is sm_{}{}: emit for a target at most the device's", .capability.0, .capability.1)]
    Target {
        /// The text's `.target`.
        target: String,
        /// The device's compute capability.
        capability: (u32, u32),
    },
    /// The text is empty.
    #[error("the PTX is empty")]
    Empty,
    /// The text holds a NUL, behind which the driver would not read.
    #[error("the PTX holds a NUL at byte {at}, behind which the driver would not read")]
    Nul {
        /// Where.
        at: usize,
    },
    /// The bytes are no complete cubin.
    #[error("not a cubin: {0}")]
    Cubin(&'static str),
    /// A name holds a NUL.
    #[error("the name {name:?} holds a NUL")]
    Name {
        /// The name.
        name: String,
    },
    /// The loaded kernel's parameters are not those of the signature.
    #[error(
        "kernel {name:?} does not have the signature's parameters: parameter {index} is {found}, expected {expected}"
    )]
    Parameters {
        /// The kernel.
        name: String,
        /// The parameter.
        index: usize,
        /// What the driver says of it.
        found: Place,
        /// What the signature says.
        expected: Place,
    },
}

/// Where a parameter of a kernel is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Place {
    /// At this offset, this long.
    At {
        /// Offset in bytes.
        offset: u64,
        /// Size in bytes.
        size: u64,
    },
    /// Nowhere: there is no such parameter.
    Missing,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::At { offset, size } => write!(f, "{size} bytes at offset {offset}"),
            Place::Missing => f.write_str("missing"),
        }
    }
}

impl JitError {
    /// What the driver returned, where it was asked.
    pub fn code(&self) -> Option<Code> {
        match self {
            JitError::Refused { code, .. } => Some(*code),
            JitError::Version { .. }
            | JitError::Target { .. }
            | JitError::Empty
            | JitError::Nul { .. }
            | JitError::Cubin(_)
            | JitError::Name { .. }
            | JitError::Parameters { .. } => None,
        }
    }

    /// The driver's errors, where it was asked.
    pub fn error_log(&self) -> Option<&Log> {
        match self {
            JitError::Refused { error_log, .. } => Some(error_log),
            JitError::Version { .. }
            | JitError::Target { .. }
            | JitError::Empty
            | JitError::Nul { .. }
            | JitError::Cubin(_)
            | JitError::Name { .. }
            | JitError::Parameters { .. } => None,
        }
    }

    pub(crate) fn call(&self) -> Option<&'static str> {
        match self {
            JitError::Refused { call, .. } => Some(call),
            JitError::Version { .. }
            | JitError::Target { .. }
            | JitError::Empty
            | JitError::Nul { .. }
            | JitError::Cubin(_)
            | JitError::Name { .. }
            | JitError::Parameters { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_have_the_length_that_was_written() {
        let mut buffer = vec![0u8; 16];
        buffer[..5].copy_from_slice(b"error");
        assert_eq!(Log::read(&buffer, 5).text(), "error");
        assert_eq!(Log::read(&buffer, 6).text(), "error");
        assert_eq!(Log::read(&buffer, 3).text(), "err");
        // Left alone: the size that was passed in stands there still.
        assert_eq!(Log::read(&[0; 16], 16), Log::default());
        assert_eq!(Log::read(&buffer, 0), Log::default());
        assert!(Log::read(&[b'x'; 16], usize::MAX).is_truncated());
        buffer.fill(b'x');
        buffer[15] = 0;
        assert!(Log::read(&buffer, 16).is_truncated());
        assert!(Log::read(&buffer, 16).to_string().ends_with("[…truncated]"));
    }

    #[test]
    fn numbers_are_passed_by_value() {
        let options = LoadOptions::new()
            .line_info(true)
            .max_registers(32)
            .log_bytes(1);
        let request = Request::new(&options);
        assert_eq!(request.count, 7);
        assert_eq!(request.values[INFO_SIZE].addr(), 8192);
        assert_eq!(request.keys[..4], [3, 4, 5, 6]);
        assert_eq!(request.values[6].addr(), 32);
        assert_eq!(request.logs(), (Log::default(), Log::default()));
    }
}
