//! Each entry's head and prologue: parameters, declarations, addresses (PTX ISA sections 5.1 and 11.4).

use super::access::{LD_GLOBAL_NC, LD_LOCAL, LD_SHARED};
use super::body::Body;
use super::memory::{BUFFERS, Bound, Len, Object, PRIVATE, SHARED};
use super::mnemonic::{CLASS_COUNT, Class, Kind, Mnemonic, piece};
use super::names;
use super::template::template;
use super::writer::{ITEM, Piece, Tail, Token};
use super::{Options, STATIC_SHARED_MAX, dynamic_shared_base};
use crate::kernel::{Bounds, BufferUse, Kernel, ParamRef, SharedLen};
use crate::op::Op;
use crate::types::{Access, Type};

/// Whether the length of a buffer is a hidden parameter.
pub(super) fn has_length(used: BufferUse, options: &Options) -> bool {
    used.length || options.bounds == Bounds::Checked && used.any()
}

/// Where the shared arrays of a kernel lie.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    /// Of all static arrays; `None` above 2^32.
    pub static_bytes: Option<u32>,
    /// All arrays lie in the dynamic block.
    one_block: bool,
    /// There is a dynamic array.
    dynamic_array: bool,
    /// Where it begins in the dynamic block.
    dynamic_base: u32,
}

impl Layout {
    pub fn of(kernel: &Kernel) -> Layout {
        let static_bytes = kernel.static_shared_bytes();
        let bytes = static_bytes.unwrap_or(u32::MAX);
        Layout {
            static_bytes,
            one_block: bytes > STATIC_SHARED_MAX,
            dynamic_array: kernel.shared().iter().any(|d| d.len == SharedLen::Dynamic),
            dynamic_base: dynamic_shared_base(bytes),
        }
    }

    pub fn dynamic(self) -> bool {
        self.one_block || self.dynamic_array
    }
}

/// The declaration of a parameter by the kind of what it holds, but for its number.
static PARAM: Mnemonic = Mnemonic::with_all(
    [
        "\n\t.param .u8 $p",
        "\n\t.param .s32 $p",
        "\n\t.param .u32 $p",
        "\n\t.param .f32 $p",
        "\n\t.param .s64 $p",
        "\n\t.param .u64 $p",
        "\n\t.param .f64 $p",
    ],
    [
        "\n\t.param .s8 $p",
        "\n\t.param .u8 $p",
        "\n\t.param .s16 $p",
        "\n\t.param .u16 $p",
    ],
    ["\n\t.param .b16 $p", "\n\t.param .b16 $p"],
);

/// The declaration of the registers of each class, but for their number.
static REGISTERS: [Piece; CLASS_COUNT] = [
    Piece::new("\t.reg .pred %p<"),
    Piece::new("\t.reg .b32 %r<"),
    Piece::new("\t.reg .b64 %rd<"),
    Piece::new("\t.reg .f32 %f<"),
    Piece::new("\t.reg .f64 %fd<"),
    Piece::new("\t.reg .b16 %h<"),
];

/// The dynamic block. No entry has such a name: see [`super::entry_name`].
const DYNAMIC: Token = Token::symbol("$dyn");

impl Body<'_, '_> {
    /// Writes what stands behind the head and the declarations of registers, with the closing brace.
    pub fn whole(&mut self, layout: Layout) {
        self.prologue(layout);
        self.run();
        // A label may stand before the end, and the last block may be left open.
        let returned = self.insts.last().is_some_and(|i| i.op == Op::Return);
        if returned {
            self.w.piece(piece!("}\n"));
        } else {
            self.w.piece(piece!("\tret;\n}\n"));
        }
    }

    /// The entry's name, its parameters, the size of its workgroups and the registers that were used.
    pub fn head(&mut self) {
        let kernel = self.kernel;
        let name = kernel.name().as_bytes();
        self.w.piece(piece!("\n.visible .entry "));
        if names::is_plain(name) {
            self.w.text(name);
        } else {
            names::escape(name, |byte| self.w.line().bytes(&[byte]).done());
        }
        self.w.piece(piece!("("));
        let items = kernel.params().len() + kernel.buffers().len() + CLASS_COUNT;
        let mut lines = self.w.lines_of(items.saturating_mul(ITEM));
        let before = lines.left();
        for (number, param) in (0u32..).zip(kernel.params()) {
            let declaration = match *param {
                ParamRef::Buffer(_) => PARAM.of(Kind::U64),
                ParamRef::Scalar(n) => {
                    let scalar = kernel.scalars().get(n as usize);
                    // A scalar has a type.
                    let kind = scalar.and_then(|d| Kind::of(d.ty)).unwrap_or(Kind::U32);
                    PARAM.of(kind)
                }
            };
            lines.item(declaration, Token::decimal(number), Tail::LISTED);
        }
        for (number, &used) in (0u32..).zip(kernel.buffer_uses()) {
            if has_length(used, self.options) {
                let declaration = piece!("\n\t.param .u64 $n");
                lines.item(declaration, Token::decimal(number), Tail::LISTED);
            }
        }
        let mut left = lines.left();
        if left < before {
            // No separator behind the last one.
            left += 1;
        }
        self.w.resume(left);
        let [x, y, z] = kernel.workgroup_size().map(Token::decimal);
        let mut lines = self.w.lines_of(items.saturating_mul(ITEM));
        if let Some(line) = lines.line() {
            let line = line.piece(piece!("\n)\n.reqntid "), x);
            let end = line.operand(y).operand(z).tail(Tail::OPENED);
            lines.next(end);
        }
        for (registers, declaration) in self.registers.iter().zip(&REGISTERS) {
            let bound = registers.number();
            if bound > 1 {
                lines.item(declaration, Token::decimal(bound), Tail::COUNTED);
            }
        }
        let left = lines.left();
        self.w.resume(left);
    }

    /// Arrays, addresses of buffers and arrays, and the clearing of zeroed arrays.
    fn prologue(&mut self, layout: Layout) {
        let kernel = self.kernel;
        // The tables are there, from the first place on.
        let tables = self.s.objects.len();
        let shared = tables.saturating_add(kernel.buffers().len());
        self.s.starts[BUFFERS] = tables;
        self.s.starts[SHARED] = shared;
        self.s.starts[PRIVATE] = shared.saturating_add(kernel.shared().len());
        self.s.objects.resize(shared, Object::NONE);
        if self.checked {
            let arrays = kernel.shared().len().saturating_add(kernel.private().len());
            self.s
                .bounds
                .resize(shared.saturating_add(arrays), Bound::NONE);
        }
        if !kernel.shared().is_empty() {
            self.declare_shared(layout);
        }
        if !kernel.private().is_empty() {
            self.declare_private();
        }
        self.parameters();
        if tables > 0 {
            self.table_bases(tables);
        }
        self.find_active();
        self.find_used();
        for place in shared..self.s.objects.len() {
            self.array_base(place);
        }
        if kernel.shared().iter().any(|d| d.zeroed) {
            self.clear_shared();
        }
    }

    #[inline(never)]
    fn declare_shared(&mut self, layout: Layout) {
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
            self.set_len(self.s.objects.len(), len);
            let object = Object::new(symbol, symbol_offset, &LD_SHARED);
            self.s.objects.push(object);
        }
    }

    #[inline(never)]
    fn declare_private(&mut self) {
        for (number, d) in (0u32..).zip(self.kernel.private()) {
            let symbol = Token::numbered("$l", number);
            self.declare_array(piece!("\t.local .align 16 .b8 "), symbol, d.len, d.elem);
            self.set_len(self.s.objects.len(), self.checked_len(d.len));
            self.s.objects.push(Object::new(symbol, 0, &LD_LOCAL));
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
        let mut bytes = self.dynamic_size();
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

    /// The addresses of the tables, which are the first objects.
    #[inline(never)]
    fn table_bases(&mut self, count: usize) {
        for n in 0..count {
            let Some(&Object { symbol, .. }) = self.s.objects.get(n) else {
                continue;
            };
            let base = self.unary(piece!("\tmov.u64 "), Kind::U64, symbol);
            let len = self.kernel.tables().get(n).map_or(0, |d| d.len);
            self.set_len(n, self.checked_len(len));
            if let Some(object) = self.s.objects.get_mut(n) {
                object.base = base;
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
    fn array_base(&mut self, place: usize) {
        let mov = piece!("\tmov.u32 ");
        let base = self.register(Kind::U32);
        let Some(object) = self.s.objects.get_mut(place) else {
            return;
        };
        object.base = base;
        let (symbol, offset) = (object.symbol, object.symbol_offset);
        if offset == 0 {
            return self.line2(mov, base, symbol);
        }
        let line = self.w.line().begin(mov, base).operand(symbol);
        line.bytes(b"+").number(offset).end();
    }

    /// Notes the parameter of each scalar; loads the address of each buffer that is loaded from or stored to.
    fn parameters(&mut self) {
        let kernel = self.kernel;
        let (buffers, uses) = (kernel.buffers(), kernel.buffer_uses());
        self.s.scalars.resize(kernel.scalars().len(), 0);
        let start = self.s.starts[BUFFERS];
        for (number, param) in (0u32..).zip(kernel.params()) {
            let n = match *param {
                ParamRef::Buffer(n) => n,
                ParamRef::Scalar(n) => {
                    if let Some(scalar) = self.s.scalars.get_mut(n as usize) {
                        *scalar = number;
                    }
                    continue;
                }
            };
            let at = n as usize;
            let (Some(d), Some(used)) = (buffers.get(at), uses.get(at)) else {
                continue;
            };
            if !used.read && !used.written {
                continue;
            }
            // As many counters as classes.
            let base_number = self.registers[Class::B64 as usize].number();
            let base = self.register(Kind::U64);
            let address = template!(
                "\tld.param.u64 %rd\x01, [$p\0];\n\tcvta.to.global.u64 %rd\x01, %rd\x01;\n"
            );
            self.w.line().fill(address, [number, base_number]).done();
            let place = start.saturating_add(at);
            if self.checked {
                self.buffer_length(place, n);
            }
            if let Some(object) = self.s.objects.get_mut(place) {
                object.base = base;
                object.symbol = base;
                if d.access == Access::Read && !d.may_alias && !used.written {
                    object.load = &LD_GLOBAL_NC;
                }
            }
        }
    }

    #[inline(never)]
    fn buffer_length(&mut self, place: usize, number: u32) {
        let len = self.register(Kind::U64);
        self.load_param(piece!("\tld.param.u64 "), len, piece!(", [$n"), number);
        self.set_len(place, Len::In(len));
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
            let object = self.s.objects.get(self.s.starts[SHARED].saturating_add(n));
            let base = object.map_or(Token::NONE, |o| o.base);
            // Behind a static array there is room up to a multiple of four, behind the dynamic one there is nothing.
            let mut step = 4;
            let end = match d.len {
                SharedLen::Static(len) => {
                    let bytes = Self::imm(len.saturating_mul(d.elem.bytes()));
                    self.binary(add, Kind::U32, base, bytes)
                }
                SharedLen::Dynamic => {
                    step = d.elem.bytes().min(4);
                    let size = self.dynamic_size();
                    let start = self.register(Kind::U32);
                    self.line2(piece!("\tmov.u32 "), start, DYNAMIC);
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
            self.line3(add, word, word, stride);
            self.branch(next);
            self.label(done);
        }
        self.workgroup_barrier();
    }
}
