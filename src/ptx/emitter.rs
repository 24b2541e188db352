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
        let mut head = Head::new(options);
        let layout = head.add(kernel, options)?;
        head.check(options)?;
        self.begin();
        let part = self.entry(kernel, options, layout, Some(head))?;
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
        let mut head = Head::new(options);
        for kernel in module.kernels() {
            head.add(kernel, options)?;
        }
        head.check(options)?;
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
            match self.entry(kernel, options, Layout::of(kernel), head.take()) {
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
        layout: Layout,
        head: Option<Head>,
    ) -> Result<Part, Error> {
        let mut w = Writer::new(&mut self.text);
        let tables = w.position();
        tables::declare(kernel, &mut self.tables, &mut self.scratch, &mut w);
        let begin = w.position();
        let mut body = Body::new(kernel, options, &mut self.scratch, w);
        body.whole(layout);
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
        Ok(body.w.assemble(begin, end))
    }
}

/// What stands before the first entry.
struct Head {
    version: Version,
    /// What needs it.
    what: VersionNeed,
    target: Target,
    /// There is a dynamic block of shared memory.
    dynamic: bool,
}

impl Head {
    fn new(options: &Options) -> Head {
        let mut head = Head {
            version: Version::V8_0,
            what: VersionNeed::Crate,
            target: options.target,
            dynamic: false,
        };
        let target = VersionNeed::Target(options.target);
        head.need(options.target.first_version(), target);
        head
    }

    fn need(&mut self, version: Version, what: VersionNeed) {
        if version > self.version {
            (self.version, self.what) = (version, what);
        }
    }

    /// Checks a kernel, and adds what it needs.
    fn add(&mut self, kernel: &Kernel, options: &Options) -> Result<Layout, Error> {
        let layout = Layout::of(kernel);
        let params = check(kernel, options, layout)?;
        if params > u64::from(Limits::CUDA.ptx_param_bytes) {
            self.need(Version::V8_1, VersionNeed::Parameters);
        }
        self.dynamic |= layout.dynamic();
        Ok(layout)
    }

    /// Whether the version is allowed.
    fn check(&self, options: &Options) -> Result<(), Error> {
        match options.max_version {
            Some(allowed) if self.version > allowed => Err(Error::Version {
                what: self.what,
                needed: self.version,
                allowed,
            }),
            _ => Ok(()),
        }
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

/// Checks everything that makes ptxas refuse a text, and the caller's limits; gives the bytes of the parameters, or more
/// where that does not matter.
fn check(kernel: &Kernel, options: &Options, layout: Layout) -> Result<u64, Error> {
    const CUDA: Limits = Limits::CUDA;
    let limits = &options.limits;
    let [x, y, z] = kernel.workgroup_size();
    let ([a, b, c], [d, e, f]) = (limits.workgroup_size, CUDA.workgroup_size);
    let threads = kernel.workgroup_threads();
    let fits = (x <= a && x <= d && y <= b && y <= e && z <= c && z <= f)
        && (threads <= limits.workgroup_threads && threads <= CUDA.workgroup_threads)
        && layout
            .static_bytes
            .is_some_and(|n| n <= limits.shared_bytes);
    if !fits {
        check_workgroup(kernel, options)?;
    }
    // A warp has 32 lanes.
    if let Some(required) = kernel.required_subgroup_size().filter(|&n| n != 32) {
        return Err(Error::SubgroupSize {
            kernel: kernel.name().into(),
            required,
            target: options.target,
        });
    }
    // None takes more, its alignment included. Fewer than 2^29 parameters.
    let mut params = 8 * (kernel.params().len() as u64 + kernel.buffers().len() as u64);
    if params > u64::from(limits.ptx_param_bytes.min(CUDA.ptx_param_bytes)) {
        params = check_params(kernel, options)?;
    }
    if !kernel.private().is_empty() {
        check_private(kernel)?;
    }
    Ok(params)
}

fn limited(kernel: &Kernel, limit: LimitExceeded) -> Error {
    Error::Limit {
        kernel: kernel.name().into(),
        limit,
    }
}

/// The workgroup's size and its shared memory.
#[cold]
#[inline(never)]
fn check_workgroup(kernel: &Kernel, options: &Options) -> Result<(), Error> {
    let mut limits = options.limits;
    for (size, most) in limits
        .workgroup_size
        .iter_mut()
        .zip(Limits::CUDA.workgroup_size)
    {
        *size = (*size).min(most);
    }
    limits.workgroup_threads = limits.workgroup_threads.min(Limits::CUDA.workgroup_threads);
    limits.check(kernel).map_err(|e| limited(kernel, e))
}

/// The bytes of the parameters, hidden ones included.
#[cold]
#[inline(never)]
fn check_params(kernel: &Kernel, options: &Options) -> Result<u64, Error> {
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
    exceeds(Limit::PtxParamBytes, params, u64::from(most)).map_err(|e| limited(kernel, e))?;
    Ok(params)
}

#[inline(never)]
fn check_private(kernel: &Kernel) -> Result<(), Error> {
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
    Ok(())
}
