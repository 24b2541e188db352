//! The module: what it needs, its head, and its entries one behind the other (PTX ISA sections 5.1 and 11.1).

use super::body::{Body, Scratch};
use super::entry::{Layout, has_length};
use super::error::{Error, VersionNeed};
use super::tables::{self, TableCount};
use super::target::{Target, Variant, Version};
use super::template::template;
use super::writer::{Part, Text, Writer};
use super::{Options, PARAM_BYTES_MAX, PRIVATE_BYTES_MAX};
use crate::kernel::{Kernel, Module, ParamRef};
use crate::limits::{Limit, LimitExceeded, Limits, exceeds};
use crate::types::Type;

/// Writes PTX text; keeps its memory, so that a warm one allocates nothing.
#[derive(Debug, Default)]
pub struct Emitter {
    scratch: Scratch,
    /// The tables of the module's kernels so far.
    tables: TableCount,
    /// The text of one entry.
    text: Text,
}

impl Emitter {
    /// An emitter that has nothing yet.
    pub fn new() -> Emitter {
        Emitter::default()
    }

    /// The text of a module of one kernel, ASCII, without a copy of it: it lies in the emitter until that writes the next.
    ///
    /// ```
    /// use kernite::{builder::KernelBuilder, ptx};
    ///
    /// let kernel = KernelBuilder::new("idle", [32, 1, 1]).finish()?;
    /// let (mut emitter, options) = (ptx::Emitter::new(), ptx::Options::default());
    /// let text = emitter.text(&kernel, &options)?;
    /// assert!(text.starts_with(b".version 8.0\n.target sm_75\n"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the kernel passes a limit, or needs more than the target or the allowed version has.
    pub fn text(&mut self, kernel: &Kernel, options: &Options) -> Result<&[u8], Error> {
        let head = Head::of(core::slice::from_ref(kernel), options)?;
        self.begin();
        let part = self.entry(kernel, options, Some(head))?;
        Ok(self.text.part(part))
    }

    /// Appends the text of a module of one kernel to `out`, which the caller clears or does not.
    ///
    /// # Errors
    /// As [`Emitter::text`]; `out` is then as it was.
    pub fn emit(
        &mut self,
        kernel: &Kernel,
        options: &Options,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        out.extend_from_slice(self.text(kernel, options)?);
        Ok(())
    }

    /// Appends the text of a module to `out`. A module without kernels gives a text without entries, which is valid.
    ///
    /// # Errors
    /// As [`Emitter::emit`]; the error names the kernel.
    pub fn emit_module(
        &mut self,
        module: &Module,
        options: &Options,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let head = Head::of(module.kernels(), options)?;
        self.begin();
        let begin = out.len();
        if module.kernels().is_empty() {
            let mut w = Writer::new(&mut self.text);
            let begin = w.position();
            head.write(&mut w);
            let part = w.assemble(begin, begin);
            out.extend_from_slice(self.text.part(part));
            return Ok(());
        }
        let mut head = Some(head);
        for kernel in module.kernels() {
            match self.entry(kernel, options, head.take()) {
                Ok(part) => out.extend_from_slice(self.text.part(part)),
                Err(error) => {
                    out.truncate(begin);
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Writes every instruction by its method, and none by a pattern.
    #[cfg(test)]
    pub(super) fn without_patterns(mut self) -> Emitter {
        self.scratch.without_patterns = true;
        self
    }

    /// Forgets the module before.
    fn begin(&mut self) {
        self.scratch.recipes.clear();
        self.tables = TableCount::default();
    }

    /// Writes one entry, and what the module needs for it, behind the head of the module where that is given.
    ///
    /// The body comes first; what stands before it in the text is known when it is done, and then placed before it.
    fn entry(
        &mut self,
        kernel: &Kernel,
        options: &Options,
        head: Option<Head>,
    ) -> Result<Part, Error> {
        let mut w = Writer::new(&mut self.text);
        let tables = w.position();
        tables::declare(kernel, &mut self.tables, &mut self.scratch, &mut w);
        let begin = w.position();
        let mut body = Body::new(kernel, options, &mut self.scratch, w);
        body.whole();
        let end = body.w.position();
        if let Some(error) = body.error.take() {
            return Err(error);
        }
        if let Some(head) = head {
            head.write(&mut body.w);
        }
        body.w.repeat(tables, begin);
        body.s.recipes.write(&mut body.w);
        body.head();
        body.declare_registers();
        Ok(body.w.assemble(begin, end))
    }
}

/// What stands before the first entry.
struct Head {
    version: Version,
    target: Target,
    /// There is a dynamic block of shared memory.
    dynamic: bool,
}

impl Head {
    /// What kernels need; checks them.
    fn of(kernels: &[Kernel], options: &Options) -> Result<Head, Error> {
        let mut version = Version::V8_0;
        let mut what = VersionNeed::Crate;
        let mut need = |needed: Version, by: VersionNeed| {
            if needed > version {
                (version, what) = (needed, by);
            }
        };
        need(
            options.target.first_version(),
            VersionNeed::Target(options.target),
        );
        let mut dynamic = false;
        for kernel in kernels {
            let params = check(kernel, options)?;
            if params > u64::from(Limits::CUDA.ptx_param_bytes) {
                need(Version::V8_1, VersionNeed::Parameters);
            }
            dynamic |= Layout::of(kernel).dynamic();
        }
        if let Some(allowed) = options.max_version.filter(|&allowed| version > allowed) {
            return Err(Error::Version {
                what,
                needed: version,
                allowed,
            });
        }
        Ok(Head {
            version,
            target: options.target,
            dynamic,
        })
    }

    fn write(&self, w: &mut Writer<'_>) {
        let head = template!(".version \0.\x01\n.target sm_\x02\x03");
        let (major, minor) = (self.version.major, self.version.minor);
        // Of three digits, the first two are one number.
        let number = self.target.number();
        let numbers = [major.into(), minor.into(), number / 10, number % 10];
        let line = w.line().fill(head, numbers);
        let line = match self.target.variant() {
            Variant::Base => line,
            Variant::Family => line.bytes(b"f"),
            Variant::Architecture => line.bytes(b"a"),
        };
        line.bytes(b"\n.address_size 64\n").done();
        if self.dynamic {
            w.text(b"\n.extern .shared .align 16 .b8 $dyn[];\n");
        }
    }
}

/// Checks everything that makes ptxas refuse a text, and the caller's limits; gives the bytes of the parameters.
fn check(kernel: &Kernel, options: &Options) -> Result<u64, Error> {
    let limited = |limit: LimitExceeded| Error::Limit {
        kernel: kernel.name().into(),
        limit,
    };
    let mut limits = options.limits;
    for (size, most) in limits
        .workgroup_size
        .iter_mut()
        .zip(Limits::CUDA.workgroup_size)
    {
        *size = (*size).min(most);
    }
    limits.workgroup_threads = limits.workgroup_threads.min(Limits::CUDA.workgroup_threads);
    limits.check(kernel).map_err(limited)?;

    // A warp has 32 lanes.
    if let Some(required) = kernel.required_subgroup_size().filter(|&n| n != 32) {
        return Err(Error::SubgroupSize {
            kernel: kernel.name().into(),
            required,
            target: options.target,
        });
    }
    let mut params = 0u64;
    for param in kernel.params() {
        let size = match *param {
            ParamRef::Buffer(_) => 8,
            ParamRef::Scalar(n) => {
                let ty = kernel
                    .scalars()
                    .get(n as usize)
                    .map_or(Type::NONE, |d| d.ty);
                u64::from(ty.bytes().max(1))
            }
        };
        // Fewer than 2^29 parameters of at most 8 bytes, a power of two.
        params = ((params + size - 1) & !(size - 1)) + size;
    }
    for &used in kernel.buffer_uses() {
        if has_length(used, options) {
            params = params.next_multiple_of(8) + 8;
        }
    }
    let most = options.limits.ptx_param_bytes.min(PARAM_BYTES_MAX);
    exceeds(Limit::PtxParamBytes, params, u64::from(most)).map_err(limited)?;

    let mut private = 0u64;
    for d in kernel.private() {
        // Fewer than 2^28 arrays of less than 2^32 bytes.
        private = private.next_multiple_of(16) + u64::from(d.len) * u64::from(d.elem.bytes());
    }
    if private > u64::from(PRIVATE_BYTES_MAX) {
        return Err(Error::PrivateBytes {
            kernel: kernel.name().into(),
            needed: private,
            available: u64::from(PRIVATE_BYTES_MAX),
        });
    }
    Ok(params)
}
