//! The kernels as PTX 7.8 for sm_80, as a template that is printed: literal pieces, and the numbers of registers and
//! labels, which come from counters at run time.

use super::sink::{Digits, Fmt, Itoa, Sink};
use kernite_stages::Case;
use std::hint::black_box;

/// The template into a fresh vector with `itoa`: the yardstick.
pub fn itoa_fresh(case: Case) -> Vec<u8> {
    let mut out = Itoa::default();
    write(&mut out, case);
    out.0
}

/// The template into a fresh string with `core::fmt`.
pub fn fmt_fresh(case: Case) -> String {
    let mut out = Fmt::default();
    write(&mut out, case);
    out.0
}

/// The template into a kept buffer with a table of digits.
pub fn digits_kept(case: Case, out: &mut Digits) -> usize {
    out.clear();
    write(out, case);
    out.written().len()
}

trait Piece {
    fn put(self, out: &mut impl Sink);
}

impl Piece for &str {
    #[inline(always)]
    fn put(self, out: &mut impl Sink) {
        out.text(self);
    }
}

impl Piece for u32 {
    #[inline(always)]
    fn put(self, out: &mut impl Sink) {
        out.number(self);
    }
}

/// Writes a line from its pieces.
macro_rules! line {
    ($t:expr, $($piece:expr),+) => {{
        $t.out.line();
        $( Piece::put($piece, $t.out); )+
    }};
}

/// The sink, the kernel's name, and the next register of each kind.
struct Template<'a, S> {
    out: &'a mut S,
    name: &'static str,
    predicates: u32,
    floats: u32,
    words: u32,
    wides: u32,
}

#[inline(always)]
fn next(counter: &mut u32) -> u32 {
    let register = *counter;
    *counter += 1;
    register
}

/// Declared registers: predicates, floats, words, wides.
type Registers = [u32; 4];

impl<'a, S: Sink> Template<'a, S> {
    #[inline(always)]
    fn begin(
        out: &'a mut S,
        name: &'static str,
        params: &[&'static str],
        registers: Registers,
    ) -> Self {
        let first = black_box(1);
        let t = Template {
            out,
            name,
            predicates: first,
            floats: first,
            words: first,
            wides: first,
        };
        line!(t, ".version 7.8\n.target sm_80\n.address_size 64\n\n");
        line!(t, ".visible .entry ", name, "(\n");
        for (i, ty) in params.iter().enumerate() {
            let end = if i + 1 < params.len() { ",\n" } else { "\n" };
            line!(t, "\t.param .", *ty, " ", name, "_param_", i as u32, end);
        }
        line!(t, ")\n{\n");
        let kinds = [".pred \t%p<", ".f32 \t%f<", ".b32 \t%r<", ".b64 \t%rd<"];
        for (kind, count) in kinds.into_iter().zip(registers) {
            if count > 0 {
                line!(t, "\t.reg ", kind, count + 1, ">;\n");
            }
        }
        t
    }

    #[inline(always)]
    fn end(self) {
        line!(self, "\tret;\n}\n");
    }

    #[inline(always)]
    fn pointer(&mut self, param: u32) -> u32 {
        let (raw, global) = (next(&mut self.wides), next(&mut self.wides));
        line!(
            self,
            "\tld.param.u64 \t%rd",
            raw,
            ", [",
            self.name,
            "_param_",
            param,
            "];\n"
        );
        line!(
            self,
            "\tcvta.to.global.u64 \t%rd",
            global,
            ", %rd",
            raw,
            ";\n"
        );
        global
    }

    #[inline(always)]
    fn word_param(&mut self, param: u32) -> u32 {
        let d = next(&mut self.words);
        line!(
            self,
            "\tld.param.u32 \t%r",
            d,
            ", [",
            self.name,
            "_param_",
            param,
            "];\n"
        );
        d
    }

    #[inline(always)]
    fn float_param(&mut self, param: u32) -> u32 {
        let d = next(&mut self.floats);
        line!(
            self,
            "\tld.param.f32 \t%f",
            d,
            ", [",
            self.name,
            "_param_",
            param,
            "];\n"
        );
        d
    }

    /// `mov` of a special register, the name of a variable or a number.
    #[inline(always)]
    fn word(&mut self, what: &'static str) -> u32 {
        let d = next(&mut self.words);
        line!(self, "\tmov.u32 \t%r", d, ", ", what, ";\n");
        d
    }

    #[inline(always)]
    fn zero_float(&mut self) -> u32 {
        let d = next(&mut self.floats);
        line!(self, "\tmov.f32 \t%f", d, ", 0f00000000;\n");
        d
    }

    #[inline(always)]
    fn int(&mut self, op: &'static str, a: u32, b: u32) -> u32 {
        let d = next(&mut self.words);
        line!(self, "\t", op, " \t%r", d, ", %r", a, ", %r", b, ";\n");
        d
    }

    #[inline(always)]
    fn int_by(&mut self, op: &'static str, a: u32, number: u32) -> u32 {
        let d = next(&mut self.words);
        line!(self, "\t", op, " \t%r", d, ", %r", a, ", ", number, ";\n");
        d
    }

    /// An operation by a number that overwrites its operand.
    #[inline(always)]
    fn update(&mut self, op: &'static str, a: u32, number: u32) {
        line!(self, "\t", op, " \t%r", a, ", %r", a, ", ", number, ";\n");
    }

    #[inline(always)]
    fn mad(&mut self, a: u32, b: u32, c: u32) -> u32 {
        let d = next(&mut self.words);
        line!(
            self,
            "\tmad.lo.s32 \t%r",
            d,
            ", %r",
            a,
            ", %r",
            b,
            ", %r",
            c,
            ";\n"
        );
        d
    }

    #[inline(always)]
    fn global_id(&mut self) -> u32 {
        let group = self.word("%ctaid.x");
        let size = self.word("%ntid.x");
        let thread = self.word("%tid.x");
        self.mad(group, size, thread)
    }

    /// The address of an element of a buffer.
    #[inline(always)]
    fn address(&mut self, base: u32, index: u32) -> u32 {
        let (offset, address) = (next(&mut self.wides), next(&mut self.wides));
        line!(
            self,
            "\tmul.wide.u32 \t%rd",
            offset,
            ", %r",
            index,
            ", 4;\n"
        );
        line!(
            self,
            "\tadd.s64 \t%rd",
            address,
            ", %rd",
            base,
            ", %rd",
            offset,
            ";\n"
        );
        address
    }

    #[inline(always)]
    fn load_into(&mut self, d: u32, address: u32) {
        line!(self, "\tld.global.f32 \t%f", d, ", [%rd", address, "];\n");
    }

    #[inline(always)]
    fn load(&mut self, base: u32, index: u32) -> u32 {
        let address = self.address(base, index);
        let d = next(&mut self.floats);
        self.load_into(d, address);
        d
    }

    #[inline(always)]
    fn store(&mut self, address: u32, value: u32) {
        line!(
            self,
            "\tst.global.f32 \t[%rd",
            address,
            "], %f",
            value,
            ";\n"
        );
    }

    #[inline(always)]
    fn load_shared(&mut self, address: u32) -> u32 {
        let d = next(&mut self.floats);
        line!(self, "\tld.shared.f32 \t%f", d, ", [%r", address, "];\n");
        d
    }

    #[inline(always)]
    fn store_shared(&mut self, address: u32, value: u32) {
        line!(
            self,
            "\tst.shared.f32 \t[%r",
            address,
            "], %f",
            value,
            ";\n"
        );
    }

    #[inline(always)]
    fn float(&mut self, op: &'static str, a: u32, b: u32) -> u32 {
        let d = next(&mut self.floats);
        line!(self, "\t", op, " \t%f", d, ", %f", a, ", %f", b, ";\n");
        d
    }

    #[inline(always)]
    fn fma_into(&mut self, d: u32, a: u32, b: u32, c: u32) {
        line!(
            self,
            "\tfma.rn.f32 \t%f",
            d,
            ", %f",
            a,
            ", %f",
            b,
            ", %f",
            c,
            ";\n"
        );
    }

    #[inline(always)]
    fn fma(&mut self, a: u32, b: u32, c: u32) -> u32 {
        let d = next(&mut self.floats);
        self.fma_into(d, a, b, c);
        d
    }

    /// Goes to a label if a comparison holds.
    #[inline(always)]
    fn branch_if(&mut self, op: &'static str, a: u32, b: u32, label: u32) {
        let p = next(&mut self.predicates);
        line!(
            self,
            "\tsetp.",
            op,
            ".u32 \t%p",
            p,
            ", %r",
            a,
            ", %r",
            b,
            ";\n"
        );
        line!(self, "\t@%p", p, " bra \t$L__BB0_", label, ";\n");
    }

    /// The same, comparing with a number.
    #[inline(always)]
    fn branch_if_by(&mut self, op: &'static str, a: u32, number: u32, label: u32) {
        let p = next(&mut self.predicates);
        line!(
            self,
            "\tsetp.",
            op,
            ".u32 \t%p",
            p,
            ", %r",
            a,
            ", ",
            number,
            ";\n"
        );
        line!(self, "\t@%p", p, " bra \t$L__BB0_", label, ";\n");
    }

    #[inline(always)]
    fn branch(&mut self, label: u32) {
        line!(self, "\tbra.uni \t$L__BB0_", label, ";\n");
    }

    #[inline(always)]
    fn label(&mut self, label: u32) {
        line!(self, "$L__BB0_", label, ":\n");
    }

    #[inline(always)]
    fn barrier(&mut self) {
        line!(self, "\tbar.sync \t0;\n");
    }
}

/// Prints the template of a kernel.
#[inline(never)]
pub fn write<S: Sink>(out: &mut S, case: Case) {
    match case {
        Case::VectorAdd => vector_add(out),
        Case::Saxpy => saxpy(out),
        Case::Straight(n) => straight(out, n),
        Case::Reduce256 => reduce256(out),
        Case::Matmul16 => matmul16(out),
    }
}

fn vector_add(out: &mut impl Sink) {
    let end = black_box(1);
    let params = ["u64", "u64", "u64", "u32"];
    let mut t = Template::begin(out, "vector_add", &params, [1, 3, 5, 12]);
    let (a, b, c) = (t.pointer(0), t.pointer(1), t.pointer(2));
    let n = t.word_param(3);
    let i = t.global_id();
    t.branch_if("ge", i, n, end);
    let (x, y) = (t.load(a, i), t.load(b, i));
    let sum = t.float("add.rn.f32", x, y);
    let at = t.address(c, i);
    t.store(at, sum);
    t.label(end);
    t.end();
}

fn saxpy(out: &mut impl Sink) {
    let end = black_box(1);
    let params = ["u64", "u64", "f32", "u32"];
    let mut t = Template::begin(out, "saxpy", &params, [1, 4, 5, 8]);
    let (x, y) = (t.pointer(0), t.pointer(1));
    let a = t.float_param(2);
    let n = t.word_param(3);
    let i = t.global_id();
    t.branch_if("ge", i, n, end);
    let x = t.load(x, i);
    let at = t.address(y, i);
    let old = next(&mut t.floats);
    t.load_into(old, at);
    let new = t.fma(a, x, old);
    t.store(at, new);
    t.label(end);
    t.end();
}

fn straight(out: &mut impl Sink, n: u32) {
    let params = ["u64", "u64", "u64"];
    let mut t = Template::begin(out, "straight", &params, [0, n + 2, 4, 12]);
    let (a, b, c) = (t.pointer(0), t.pointer(1), t.pointer(2));
    let i = t.global_id();
    let (x, y) = (t.load(a, i), t.load(b, i));
    let mut v = x;
    for step in 0..n {
        v = match step % 3 {
            0 => t.fma(v, x, y),
            1 => t.float("add.rn.f32", v, x),
            _ => t.float("mul.rn.f32", v, y),
        };
    }
    let at = t.address(c, i);
    t.store(at, v);
    t.end();
}

fn reduce256(out: &mut impl Sink) {
    let first = black_box(1);
    let (filled, again, waits, end) = (first, first + 1, first + 2, first + 3);
    let params = ["u64", "u64", "u32"];
    let mut t = Template::begin(out, "reduce256", &params, [4, 5, 18, 8]);
    line!(t, "\t.shared .align 4 .b8 sdata[1024];\n");
    let (input, sums) = (t.pointer(0), t.pointer(1));
    let n = t.word_param(2);
    let group = t.word("%ctaid.x");
    let size = t.word("%ntid.x");
    let thread = t.word("%tid.x");
    let i = t.mad(group, size, thread);
    let element = t.zero_float();
    t.branch_if("ge", i, n, filled);
    let at = t.address(input, i);
    t.load_into(element, at);
    t.label(filled);
    let offset = t.int_by("shl.b32", thread, 2);
    let tile = t.word("sdata");
    let mine = t.int("add.s32", tile, offset);
    t.store_shared(mine, element);
    t.barrier();
    let stride = t.word("128");
    t.label(again);
    t.branch_if("ge", thread, stride, waits);
    let x = t.load_shared(mine);
    let offset = t.int_by("shl.b32", stride, 2);
    let theirs = t.int("add.s32", mine, offset);
    let y = t.load_shared(theirs);
    let sum = t.float("add.rn.f32", x, y);
    t.store_shared(mine, sum);
    t.label(waits);
    t.barrier();
    t.update("shr.u32", stride, 1);
    t.branch_if_by("ne", stride, 0, again);
    t.branch_if_by("ne", thread, 0, end);
    let sum = t.load_shared(tile);
    let at = t.address(sums, group);
    t.store(at, sum);
    t.label(end);
    t.end();
}

fn matmul16(out: &mut impl Sink) {
    let first = black_box(1);
    let (tiles, steps, end) = (first, first + 1, first + 3);
    let params = ["u64", "u64", "u64", "u32"];
    let mut t = Template::begin(out, "matmul16", &params, [3, 6, 40, 12]);
    line!(t, "\t.shared .align 4 .b8 sa[1024];\n");
    line!(t, "\t.shared .align 4 .b8 sb[1024];\n");
    let (a, b, c) = (t.pointer(0), t.pointer(1), t.pointer(2));
    let n = t.word_param(3);
    let (group_x, group_y) = (t.word("%ctaid.x"), t.word("%ctaid.y"));
    let (x, y) = (t.word("%tid.x"), t.word("%tid.y"));
    let left = t.int_by("shl.b32", group_x, 4);
    let column = t.int("add.s32", left, x);
    let top = t.int_by("shl.b32", group_y, 4);
    let row = t.int("add.s32", top, y);
    let row_start = t.int("mul.lo.s32", row, n);
    let left_start = t.int("add.s32", row_start, x);
    let count = t.int_by("shr.u32", n, 4);
    let y_offset = t.int_by("shl.b32", y, 6);
    let x_offset = t.int_by("shl.b32", x, 2);
    let (left_tile, right_tile) = (t.word("sa"), t.word("sb"));
    let left_row = t.int("add.s32", left_tile, y_offset);
    let left_mine = t.int("add.s32", left_row, x_offset);
    let right_column = t.int("add.s32", right_tile, x_offset);
    let right_mine = t.int("add.s32", right_column, y_offset);
    let sum = t.zero_float();
    let tile = t.word("0");
    t.label(tiles);
    t.branch_if("ge", tile, count, end);
    let start = t.int_by("shl.b32", tile, 4);
    let index = t.int("add.s32", left_start, start);
    let element = t.load(a, index);
    t.store_shared(left_mine, element);
    let right_row = t.int("add.s32", start, y);
    let index = t.mad(right_row, n, column);
    let element = t.load(b, index);
    t.store_shared(right_mine, element);
    t.barrier();
    let step = t.word("0");
    t.label(steps);
    let offset = t.int_by("shl.b32", step, 2);
    let at = t.int("add.s32", left_row, offset);
    let p = t.load_shared(at);
    let offset = t.int_by("shl.b32", step, 6);
    let at = t.int("add.s32", right_column, offset);
    let q = t.load_shared(at);
    t.fma_into(sum, p, q, sum);
    t.update("add.s32", step, 1);
    t.branch_if_by("lt", step, 16, steps);
    t.barrier();
    t.update("add.s32", tile, 1);
    t.branch(tiles);
    t.label(end);
    let index = t.int("add.s32", row_start, column);
    let at = t.address(c, index);
    t.store(at, sum);
    t.end();
}
