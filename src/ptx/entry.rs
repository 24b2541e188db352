//! The module's head, and each entry's: parameters, declarations, prologue (PTX ISA sections 5.1, 11.1 and 11.4).

use super::body::{Body, Scratch};
use super::error::{Error, VersionNeed};
use super::memory::{Len, Object};
use super::mnemonic::{Kind, piece};
use super::names;
use super::tables::{self, TableCount};
use super::target::Version;
use super::writer::{Piece, Text, Token, Writer};
use super::{Options, PARAM_BYTES_MAX, PRIVATE_BYTES_MAX, STATIC_SHARED_MAX, dynamic_shared_base};
use crate::kernel::{Bounds, BufferUse, Kernel, Module, ParamRef, SharedLen};
use crate::limits::{Limit, LimitExceeded, Limits, exceeds};
use crate::op::Op;
use crate::types::{Access, Type};

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

    /// Appends the text of a module of one kernel to `out`, which the caller clears or does not.
    ///
    /// # Errors
    /// When the kernel passes a limit, or needs more than the target or the allowed version has; `out` is then as it was.
    pub fn emit(
        &mut self,
        kernel: &Kernel,
        options: &Options,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        self.emit_all(core::slice::from_ref(kernel), options, out)
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
        self.emit_all(module.kernels(), options, out)
    }

    /// Writes every instruction by its method, and none by a pattern.
    #[cfg(test)]
    pub(super) fn without_patterns(mut self) -> Emitter {
        self.scratch.without_patterns = true;
        self
    }

    fn emit_all(
        &mut self,
        kernels: &[Kernel],
        options: &Options,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
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
        let begin = out.len();
        let mut w = Writer::new(&mut self.text);
        let version = w
            .line()
            .bytes(b".version ")
            .number(u32::from(version.major))
            .bytes(b".")
            .number(u32::from(version.minor));
        version.bytes(b"\n.target ").done();
        let (name, len) = options.target.name_bytes();
        w.text(name.get(..len).unwrap_or(&name));
        w.line().bytes(b"\n.address_size 64\n").done();
        self.scratch.recipes.clear();
        self.tables = TableCount::default();
        if dynamic {
            w.text(b"\n.extern .shared .align 16 .b8 $dyn[];\n");
        }
        for kernel in kernels {
            let head = w.position();
            tables::declare(kernel, &mut self.tables, &mut self.scratch, &mut w);
            let head = Part {
                from: 0,
                to: head.max(w.position()),
            };
            let mut body = Body::new(kernel, options, &mut self.scratch, w);
            let parts = body.entry(head);
            if let Some(error) = body.error.take() {
                out.truncate(begin);
                return Err(error);
            }
            parts.append(&self.text, out);
            w = Writer::new(&mut self.text);
        }
        // What stands before the first kernel, where there is none.
        let rest = w.position();
        out.extend_from_slice(self.text.part(0, rest));
        Ok(())
    }
}

/// A stretch of the kept text.
#[derive(Clone, Copy)]
struct Part {
    from: usize,
    to: usize,
}

/// Where the parts of an entry lie in the kept text: what stands before it, what its body is found to need of the module,
/// its head, its declarations, its body. Their one copy to the output puts them in this order, which is not that of writing.
struct Parts([Part; 5]);

impl Parts {
    fn append(&self, text: &Text, out: &mut Vec<u8>) {
        out.reserve(self.0.iter().map(|part| part.to - part.from).sum());
        // Most have neither tables before nor recipes behind, so that what was written first is one stretch.
        let mut stretch = Part { from: 0, to: 0 };
        for part in self.0.into_iter().filter(|part| part.from < part.to) {
            if part.from == stretch.to {
                stretch.to = part.to;
            } else {
                out.extend_from_slice(text.part(stretch.from, stretch.to));
                stretch = part;
            }
        }
        out.extend_from_slice(text.part(stretch.from, stretch.to));
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
        // Fewer than 2^29 parameters of at most 8 bytes.
        params = params.next_multiple_of(size) + size;
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

/// Whether the length of a buffer is a hidden parameter.
fn has_length(used: BufferUse, options: &Options) -> bool {
    used.length || options.bounds == Bounds::Checked && used.any()
}

/// Where the shared arrays of a kernel lie.
#[derive(Clone, Copy)]
struct Layout {
    /// All arrays lie in the dynamic block.
    one_block: bool,
    /// There is a dynamic array.
    dynamic_array: bool,
    /// Where it begins in the dynamic block.
    dynamic_base: u32,
}

impl Layout {
    fn of(kernel: &Kernel) -> Layout {
        let bytes = kernel.static_shared_bytes().unwrap_or(u32::MAX);
        Layout {
            one_block: bytes > STATIC_SHARED_MAX,
            dynamic_array: kernel.shared().iter().any(|d| d.len == SharedLen::Dynamic),
            dynamic_base: dynamic_shared_base(bytes),
        }
    }

    fn dynamic(self) -> bool {
        self.one_block || self.dynamic_array
    }
}

/// The dynamic block. No entry has such a name: see [`super::entry_name`].
const DYNAMIC: Token = Token::symbol("$dyn");

impl Body<'_, '_> {
    /// Writes the whole entry.
    fn entry(&mut self, before: Part) -> Parts {
        let head = self.w.position();
        self.head();
        let body = self.w.position();
        self.prologue();
        self.run();
        // A label may stand before the end, and the last block may be left open.
        let returned = self.insts.last().is_some_and(|i| i.op == Op::Return);
        if !returned {
            self.w.line().bytes(b"\tret;\n").done();
        }
        self.w.line().bytes(b"}\n").done();
        let declarations = self.w.position();
        self.declare_registers();
        let module = self.w.position();
        self.s.recipes.write(&mut self.w);
        let part = |from, to| Part { from, to };
        Parts([
            before,
            part(module, self.w.position()),
            part(head, body),
            part(declarations, module),
            part(body, declarations),
        ])
    }

    fn head(&mut self) {
        self.w.line().bytes(b"\n.visible .entry ").done();
        let name = self.kernel.name().as_bytes();
        if names::is_plain(name) {
            self.w.text(name);
        } else {
            names::escape(name, |byte| self.w.line().bytes(&[byte]).done());
        }
        self.w.line().bytes(b"(\n").done();
        let first = self.w.position();
        self.s.scalars.resize(self.kernel.scalars().len(), 0);
        for (number, param) in (0u32..).zip(self.kernel.params()) {
            let declared = match *param {
                ParamRef::Buffer(_) => piece!("\t.param .u64 $p"),
                ParamRef::Scalar(n) => self.scalar(n, number),
            };
            let line = self.w.line().piece(declared).number(number);
            line.bytes(b",\n").done();
        }
        for (number, &used) in (0u32..).zip(self.kernel.buffer_uses()) {
            if has_length(used, self.options) {
                let line = self.w.line().piece(piece!("\t.param .u64 $n"));
                line.number(number).bytes(b",\n").done();
            }
        }
        if self.w.position() > first {
            // No separator behind the last one.
            self.w.take_back(b",\n");
            self.w.line().bytes(b"\n").done();
        }
        let [x, y, z] = self.kernel.workgroup_size().map(Self::imm);
        let line = self.w.line().bytes(b")\n.reqntid ").token(x);
        line.operand(y).operand(z).bytes(b"\n{\n").done();
    }

    /// Notes the parameter of a scalar; gives its declaration.
    fn scalar(&mut self, n: u32, number: u32) -> &'static Piece {
        if let Some(scalar) = self.s.scalars.get_mut(n as usize) {
            *scalar = number;
        }
        let scalar = self.kernel.scalars().get(n as usize);
        match self.kind(scalar.map_or(Type::NONE, |d| d.ty)) {
            Kind::Bool | Kind::U8 => piece!("\t.param .u8 $p"),
            Kind::I8 => piece!("\t.param .s8 $p"),
            Kind::I16 => piece!("\t.param .s16 $p"),
            Kind::U16 => piece!("\t.param .u16 $p"),
            Kind::F16 | Kind::BF16 => piece!("\t.param .b16 $p"),
            Kind::I32 => piece!("\t.param .s32 $p"),
            Kind::U32 => piece!("\t.param .u32 $p"),
            Kind::F32 => piece!("\t.param .f32 $p"),
            Kind::I64 => piece!("\t.param .s64 $p"),
            Kind::U64 => piece!("\t.param .u64 $p"),
            Kind::F64 => piece!("\t.param .f64 $p"),
        }
    }

    /// Arrays, addresses of buffers and arrays, and the clearing of zeroed arrays.
    fn prologue(&mut self) {
        let layout = Layout::of(self.kernel);
        let mut offset = 0;
        for (number, d) in (0u32..).zip(self.kernel.shared()) {
            let symbol = Token::numbered("$s", number);
            let object = match d.len {
                SharedLen::Dynamic => (DYNAMIC, layout.dynamic_base),
                SharedLen::Static(len) if layout.one_block => {
                    // The limits hold the sum far below 2^32.
                    let at = u32::next_multiple_of(offset, 16);
                    offset = at.saturating_add(len.saturating_mul(d.elem.bytes()));
                    (DYNAMIC, at)
                }
                SharedLen::Static(len) => {
                    self.declare_array(piece!("\t.shared .align 16 .b8 "), symbol, len, d.elem);
                    (symbol, 0)
                }
            };
            let (symbol, symbol_offset) = object;
            let len = match d.len {
                SharedLen::Static(len) => self.checked_len(len),
                SharedLen::Dynamic => self.dynamic_len(d.elem, layout.dynamic_base),
            };
            let object = Object::new(Token::NONE, symbol, symbol_offset, false);
            self.s.shared.push(object.with_len(len));
        }
        for (number, d) in (0u32..).zip(self.kernel.private()) {
            let symbol = Token::numbered("$l", number);
            self.declare_array(piece!("\t.local .align 16 .b8 "), symbol, d.len, d.elem);
            let len = self.checked_len(d.len);
            let object = Object::new(Token::NONE, symbol, 0, false);
            self.s.private.push(object.with_len(len));
        }
        self.buffers();
        self.table_bases();
        self.find_active();
        self.find_used();
        for n in 0..self.s.shared.len() {
            if let Some(object) = self.s.shared.get(n).copied() {
                let base = self.address_of(object);
                if let Some(object) = self.s.shared.get_mut(n) {
                    object.base = base;
                }
            }
        }
        for n in 0..self.s.private.len() {
            if let Some(object) = self.s.private.get(n).copied() {
                let base = self.address_of(object);
                if let Some(object) = self.s.private.get_mut(n) {
                    object.base = base;
                }
            }
        }
        if self.kernel.shared().iter().any(|d| d.zeroed) {
            self.clear_shared();
        }
    }

    /// The length of an array or table, where it is asked for.
    fn checked_len(&self, len: u32) -> Len {
        match self.options.bounds {
            Bounds::Unchecked => Len::Unchecked,
            Bounds::Checked => Len::Known(len),
        }
    }

    /// The length of the dynamic array: what the launch gave behind the static ones.
    fn dynamic_len(&mut self, elem: Type, base: u32) -> Len {
        if self.options.bounds == Bounds::Unchecked {
            return Len::Unchecked;
        }
        let mut bytes = self.special(piece!(", %dynamic_smem_size;\n"));
        if base != 0 {
            let base = Self::imm(base);
            bytes = self.binary(piece!("\tmax.u32 "), Kind::U32, bytes, base);
            bytes = self.binary(piece!("\tsub.u32 "), Kind::U32, bytes, base);
        }
        // Sizes are powers of two.
        let log2 = Self::imm(elem.bytes().trailing_zeros());
        let len = self.binary(piece!("\tshr.u32 "), Kind::U32, bytes, log2);
        Len::In(self.unary(piece!("\tcvt.u64.u32 "), Kind::U64, len))
    }

    /// The addresses of the tables.
    fn table_bases(&mut self) {
        for n in 0..self.s.tables.len() {
            let Some(object) = self.s.tables.get(n).copied() else {
                continue;
            };
            let base = self.unary(piece!("\tmov.u64 "), Kind::U64, object.symbol);
            let len = self.kernel.tables().get(n).map_or(0, |d| d.len);
            let len = self.checked_len(len);
            if let Some(object) = self.s.tables.get_mut(n) {
                object.base = base;
                object.len = len;
            }
        }
    }

    fn declare_array(&mut self, head: &Piece, symbol: Token, len: u32, elem: Type) {
        // The verifier holds the product below 2^32, the limits far below. Whole words, since words are cleared.
        let bytes = len.saturating_mul(elem.bytes());
        let bytes = bytes.checked_next_multiple_of(4).unwrap_or(bytes);
        let line = self.w.line().piece(head).token(symbol);
        line.bytes(b"[").number(bytes).bytes(b"];\n").done();
    }

    /// `mov.u32 base, symbol+offset;`
    fn address_of(&mut self, object: Object) -> Token {
        let to = self.register(Kind::U32);
        let mut line = self.w.line().piece(piece!("\tmov.u32 "));
        line = line.token(to).operand(object.symbol);
        if object.symbol_offset != 0 {
            line = line.bytes(b"+").number(object.symbol_offset);
        }
        line.end();
        to
    }

    /// One `cvta` for each buffer that is loaded from or stored to.
    fn buffers(&mut self) {
        self.s
            .buffers
            .resize(self.kernel.buffers().len(), Object::NONE);
        for (number, param) in (0u32..).zip(self.kernel.params()) {
            let ParamRef::Buffer(n) = *param else {
                continue;
            };
            let at = n as usize;
            let (Some(d), Some(used)) = (
                self.kernel.buffers().get(at),
                self.kernel.buffer_uses().get(at),
            ) else {
                continue;
            };
            if !used.read && !used.written {
                continue;
            }
            let base = self.register(Kind::U64);
            self.load_param(piece!("\tld.param.u64 "), base, "$p", number);
            self.line1(piece!("\tcvta.to.global.u64 "), base, base);
            let read_only = d.access == Access::Read && !d.may_alias && !used.written;
            let len = match self.options.bounds {
                Bounds::Unchecked => Len::Unchecked,
                Bounds::Checked => {
                    let len = self.register(Kind::U64);
                    self.load_param(piece!("\tld.param.u64 "), len, "$n", n);
                    Len::In(len)
                }
            };
            if let Some(object) = self.s.buffers.get_mut(at) {
                *object = Object::new(base, base, 0, read_only).with_len(len);
            }
        }
    }

    /// Every thread clears every so many words of the arrays that must be zero; a barrier behind.
    fn clear_shared(&mut self) {
        let mad = piece!("\tmad.lo.u32 ");
        let add = piece!("\tadd.u32 ");
        let thread = self.local_index();
        for (n, d) in self.kernel.shared().iter().enumerate() {
            if !d.zeroed {
                continue;
            }
            let base = self.s.shared.get(n).map_or(Token::NONE, |o| o.base);
            // Behind a static array there is room up to a multiple of four, behind the dynamic one there is nothing.
            let mut step = 4;
            let end = match d.len {
                SharedLen::Static(len) => {
                    let bytes = Self::imm(len.saturating_mul(d.elem.bytes()));
                    self.binary(add, Kind::U32, base, bytes)
                }
                SharedLen::Dynamic => {
                    step = d.elem.bytes().min(4);
                    let size = self.special(piece!(", %dynamic_smem_size;\n"));
                    let start = self.register(Kind::U32);
                    self.line1(piece!("\tmov.u32 "), start, DYNAMIC);
                    self.binary(add, Kind::U32, start, size)
                }
            };
            // At most 1024 threads by the limits.
            let stride = Self::imm(self.kernel.workgroup_threads().saturating_mul(step));
            let word = self.ternary(mad, Kind::U32, thread, Self::imm(step), base);
            let (next, done) = (self.new_label(), self.new_label());
            self.label(next);
            let past = self.binary(piece!("\tsetp.ge.u32 "), Kind::Bool, word, end);
            self.branch_if(past, done);
            let st = match step {
                1 => piece!("\tst.shared.u8 ["),
                2 => piece!("\tst.shared.u16 ["),
                _ => piece!("\tst.shared.u32 ["),
            };
            let line = self.w.line().piece(st);
            line.token(word).bytes(b"], 0;\n").done();
            self.line2(add, word, word, stride);
            self.branch(next);
            self.label(done);
        }
        self.workgroup_barrier();
    }

    /// Declares the registers that were used.
    fn declare_registers(&mut self) {
        let heads = [
            piece!("\t.reg .pred %p<"),
            piece!("\t.reg .b32 %r<"),
            piece!("\t.reg .b64 %rd<"),
            piece!("\t.reg .f32 %f<"),
            piece!("\t.reg .f64 %fd<"),
            piece!("\t.reg .b16 %h<"),
        ];
        for (head, registers) in heads.into_iter().zip(&self.registers) {
            if registers.count() > 0 {
                let line = self.w.line().piece(head).number(registers.count() + 1);
                line.bytes(b">;\n").done();
            }
        }
    }
}
