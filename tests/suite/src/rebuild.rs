//! Building a kernel again by calls of the builder, and printing these calls as Rust: one macro does both, so that what
//! is printed is what was called.

use kernite::builder::{BufferOptions, KernelBuilder, Memory, Scan};
use kernite::kernel::{
    Buffer, Inst, Kernel, Mem, Ordering, ParamRef, Private, Scalar, Shared, SharedLen, Table,
    Value, Var,
};
use kernite::op::{Op, Operand};
use kernite::types::{Access, Const, Type};
use kernite::verify::VerifyError;
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;

/// What the printed functions need in scope.
pub const PRELUDE: &str = "\
use kernite::builder::{BufferOptions, KernelBuilder, Scan};
use kernite::kernel::{Kernel, Ordering};
use kernite::types::{Access, Const, Order, Scalar, Scope, Type};
";

/// A Rust function of this name that builds the kernel; [`PRELUDE`] stands before it.
pub fn rust(name: &str, kernel: &Kernel) -> String {
    let mut rebuild = Rebuild::new(kernel);
    rebuild.everything();
    format!(
        "fn {name}() -> Kernel {{\n{}    b.finish().unwrap()\n}}\n",
        rebuild.text
    )
}

/// The kernel, built anew.
///
/// # Errors
/// The verifier's, which would be a fault here.
pub fn rebuilt(kernel: &Kernel) -> Result<Kernel, VerifyError> {
    let mut rebuild = Rebuild::new(kernel);
    rebuild.everything();
    rebuild.b.finish()
}

/// An argument of a call: how it is written, and what it is.
#[derive(Clone)]
struct Written<T>(String, T);

/// The same of something that is written as it prints.
fn plain<T: std::fmt::Display>(value: T) -> Written<T> {
    Written(value.to_string(), value)
}

fn of_type(ty: Type) -> Written<Type> {
    let text = match ty.scalar() {
        Some(scalar) if ty.lanes() > 1 => {
            format!("Type::vector(Scalar::{scalar:?}, {}).unwrap()", ty.lanes())
        }
        Some(scalar) => format!("Type::{}", scalar.name().to_uppercase()),
        None => "Type::NONE".into(),
    };
    Written(text, ty)
}

fn of_constant(ty: Type, bits: u64) -> Written<Const> {
    let text = match ty {
        Type::BOOL => format!("{}", bits != 0),
        Type::U32 => format!("{bits}u32"),
        Type::I32 => format!("{}i32", bits as u32 as i32),
        Type::U64 => format!("{bits}u64"),
        _ => format!("Const::new({}, {bits:#x}).unwrap()", of_type(ty).0),
    };
    let value = Const::new(ty, bits).unwrap_or(Const::from(false));
    Written(text, value)
}

fn of_ordering(word: u32) -> Written<Ordering> {
    let o = Ordering::from_word(word).unwrap_or(Ordering::RELAXED);
    let text = format!(
        "Ordering {{ order: Order::{:?}, scope: Scope::{:?} }}",
        o.order, o.scope
    );
    Written(text, o)
}

fn of_scan(flags: u8) -> Written<Scan> {
    let scan = match flags & (Inst::INCLUSIVE | Inst::EXCLUSIVE) {
        0 => Scan::Reduce,
        Inst::INCLUSIVE => Scan::Inclusive,
        _ => Scan::Exclusive,
    };
    Written(format!("Scan::{scan:?}"), scan)
}

/// Calls a method of the builder and writes the call.
macro_rules! call {
    ($r:expr, $method:ident($($arg:expr),*)) => {{
        let texts: Vec<String> = std::iter::empty()$(.chain([$arg.0.to_string()]))*.collect();
        $r.call = format!("b.{}({})", stringify!($method), texts.join(", "));
        $r.b.$method($($arg.1.clone()),*)
    }};
}

/// Calls the method of an opcode with values; `None` for opcodes that are not in the list.
macro_rules! method_of {
    ($r:expr, $op:expr, $args:tt: $($name:ident = $method:ident),* $(,)?) => {
        match $op {
            $(Op::$name => Some(call!($r, $method $args)),)*
            _ => None,
        }
    };
}

/// A kernel on its way to be built again.
pub struct Rebuild<'k> {
    kernel: &'k Kernel,
    /// The builder; for other calls in between.
    pub b: KernelBuilder,
    values: HashMap<u32, Value>,
    vars: HashMap<u32, Var>,
    buffers: Vec<Buffer>,
    scalars: Vec<Scalar>,
    shared: Vec<Shared>,
    private: Vec<Private>,
    tables: Vec<Table>,
    /// Values and variables that something uses.
    used: BTreeSet<u32>,
    text: String,
    depth: usize,
    call: String,
}

impl<'k> Rebuild<'k> {
    /// Declares what the kernel declares.
    pub fn new(kernel: &'k Kernel) -> Rebuild<'k> {
        let mut used = BTreeSet::new();
        for inst in kernel.insts() {
            let operands = inst.op.row().operands.iter();
            for (&word, operand) in kernel.words(inst).iter().zip(operands) {
                match operand {
                    Operand::Mem
                    | Operand::Buffer
                    | Operand::Offset
                    | Operand::Ordering
                    | Operand::Param
                    | Operand::Bits => {}
                    _ => drop(used.insert(word)),
                }
            }
        }
        let mut r = Rebuild {
            kernel,
            b: KernelBuilder::new(kernel.name(), kernel.workgroup_size()),
            values: HashMap::new(),
            vars: HashMap::new(),
            buffers: Vec::new(),
            scalars: Vec::new(),
            shared: Vec::new(),
            private: Vec::new(),
            tables: Vec::new(),
            used,
            text: String::new(),
            depth: 1,
            call: String::new(),
        };
        let size = kernel.workgroup_size();
        r.line(&format!(
            "let mut b = KernelBuilder::new({:?}, {size:?});",
            kernel.name()
        ));
        r.declare();
        r
    }

    fn line(&mut self, line: &str) {
        let indent = 4 * self.depth;
        // Writing to a string does not fail.
        let _ = writeln!(self.text, "{:indent$}{line}", "");
    }

    /// The call just made, as a statement.
    fn statement(&mut self, binding: Option<String>) {
        let line = match binding {
            Some(name) => format!("let {name} = {};", self.call),
            None => format!("{};", self.call),
        };
        self.line(&line);
    }

    fn declare(&mut self) {
        let kernel = self.kernel;
        let name = |n| {
            let name = kernel.name_of(n);
            Written(format!("{name:?}"), name)
        };
        if kernel.contract() {
            call!(self, allow_contraction());
            self.statement(None);
        }
        if let Some(size) = kernel.required_subgroup_size() {
            call!(self, require_subgroup_size(plain(size)));
            self.statement(None);
        }
        for param in kernel.params() {
            match *param {
                ParamRef::Buffer(n) => {
                    let d = kernel.buffers()[n as usize];
                    let mut options = BufferOptions::new().binding(d.set, d.binding);
                    let mut text =
                        format!("BufferOptions::new().binding({}, {})", d.set, d.binding);
                    if d.may_alias {
                        options = options.may_alias();
                        text += ".may_alias()";
                    }
                    let access = Written(format!("Access::{:?}", d.access), d.access);
                    let _: &Access = &access.1;
                    let options = Written(text, options);
                    let made = call!(
                        self,
                        buffer_with(name(d.name), of_type(d.elem), access, options)
                    );
                    self.buffers.push(made);
                    self.statement(Some(format!("buf{n}")));
                }
                ParamRef::Scalar(n) => {
                    let d = kernel.scalars()[n as usize];
                    let made = call!(self, scalar(name(d.name), of_type(d.ty)));
                    self.scalars.push(made);
                    self.statement(Some(format!("arg{n}")));
                }
            }
        }
        for (n, d) in kernel.shared().iter().enumerate() {
            let (name, ty) = (name(d.name), of_type(d.elem));
            let made = match d.len {
                SharedLen::Dynamic => call!(self, shared_dynamic(name, ty)),
                SharedLen::Static(len) if d.zeroed => {
                    call!(self, shared_zeroed(name, ty, plain(len)))
                }
                SharedLen::Static(len) => call!(self, shared(name, ty, plain(len))),
            };
            self.shared.push(made);
            self.statement(Some(format!("shared{n}")));
        }
        for (n, d) in kernel.private().iter().enumerate() {
            let made = call!(self, private(name(d.name), of_type(d.elem), plain(d.len)));
            self.private.push(made);
            self.statement(Some(format!("private{n}")));
        }
        for (n, d) in kernel.tables().iter().enumerate() {
            let size = d.elem.bytes() as usize;
            let bits = kernel.table_bytes(d).chunks(size).map(|c| {
                let mut all = [0; 8];
                all[..size].copy_from_slice(c);
                u64::from_le_bytes(all)
            });
            let bits: Vec<u64> = bits.collect();
            let ty = of_type(d.elem);
            let constants: Vec<Const> =
                bits.iter().filter_map(|&b| Const::new(d.elem, b)).collect();
            let text = format!(
                "&{bits:#x?}.map(|bits| Const::new({}, bits).unwrap())",
                ty.0
            );
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let elements = Written(text, &constants[..]);
            let made = call!(self, table(name(d.name), ty, elements));
            self.tables.push(made);
            self.statement(Some(format!("table{n}")));
        }
    }

    /// Every instruction.
    fn everything(&mut self) {
        for at in 0..self.kernel.insts().len() {
            self.instruction(at);
        }
    }

    /// The value here that stands for one of the kernel.
    pub fn value(&self, of: u32) -> Option<Value> {
        self.values.get(&of).copied()
    }

    fn v(&self, word: u32) -> Written<Value> {
        // What was left out is an id from elsewhere, which the builder refuses.
        let value = self
            .value(word)
            .unwrap_or_else(|| KernelBuilder::new("elsewhere", [1, 1, 1]).constant(0u32));
        Written(format!("v{word}"), value)
    }

    fn var(&self, word: u32) -> Written<Var> {
        let elsewhere = || {
            let mut b = KernelBuilder::new("elsewhere", [1, 1, 1]);
            let zero = b.constant(0u32);
            b.var(zero)
        };
        let var = self.vars.get(&word).copied().unwrap_or_else(elsewhere);
        Written(format!("var{word}"), var)
    }

    fn memory(&self, word: u32) -> Option<Written<Memory>> {
        let (mem, memory): (Mem, Memory) = match Mem::from_word(word)? {
            mem @ Mem::Buffer(n) => (mem, self.buffers.get(n as usize).copied()?.into()),
            mem @ Mem::Shared(n) => (mem, self.shared.get(n as usize).copied()?.into()),
            mem @ Mem::Private(n) => (mem, self.private.get(n as usize).copied()?.into()),
            mem @ Mem::Table(n) => (mem, self.tables.get(n as usize).copied()?.into()),
            _ => return None,
        };
        Some(Written(mem.to_string(), memory))
    }

    /// Builds an instruction of the kernel again.
    ///
    /// # Panics
    /// For an opcode that this module does not know.
    pub fn instruction(&mut self, at: usize) {
        let inst = self.kernel.insts()[at];
        let number = at as u32;
        if matches!(inst.op, Op::Else | Op::Continuing | Op::End) {
            self.depth = self.depth.saturating_sub(1).max(1);
        }
        if inst.op == Op::Var {
            let start = self.v(inst.a);
            let var = call!(self, var(start));
            self.vars.insert(number, var);
            let binding = self.used.contains(&number).then(|| format!("var{number}"));
            return self.statement(binding);
        }
        let made = self.plain_value(&inst).or_else(|| self.of_memory(&inst));
        let made = made.or_else(|| self.of_subgroup(&inst));
        if let Some(made) = made {
            self.values.insert(number, made);
            let binding = self.used.contains(&number).then(|| format!("v{number}"));
            return self.statement(binding);
        }
        assert!(self.no_value(&inst), "{} is not rebuilt", inst.op);
        self.statement(None);
        if matches!(inst.op, Op::If | Op::Else | Op::Loop | Op::Continuing) {
            self.depth += 1;
        }
    }

    /// Constants, parameters, built-ins, and everything that is made of values.
    fn plain_value(&mut self, inst: &Inst) -> Option<Value> {
        let words = self.kernel.words(inst);
        let axis = plain(inst.flags);
        let op = inst.op;
        match op {
            Op::Const => {
                let c = of_constant(inst.ty, inst.const_bits());
                return Some(call!(self, constant(c)));
            }
            Op::Param => {
                let n = inst.a as usize;
                let scalar = Written(format!("arg{n}"), self.scalars[n]);
                return Some(call!(self, param(scalar)));
            }
            Op::Convert | Op::Bitcast => {
                let (v, ty) = (self.v(inst.a), of_type(inst.ty));
                return method_of!(self, op, (v, ty): Convert = convert, Bitcast = bitcast);
            }
            Op::Unpack => {
                let (v, ty) = (self.v(inst.a), of_type(inst.ty));
                return Some(match inst.flags {
                    0 => call!(self, unpack_low(v, ty)),
                    _ => call!(self, unpack_high(v, ty)),
                });
            }
            Op::Construct2 | Op::Construct4 => {
                let all: Vec<Written<Value>> = words.iter().map(|&w| self.v(w)).collect();
                let texts: Vec<&str> = all.iter().map(|w| w.0.as_str()).collect();
                let values: Vec<Value> = all.iter().map(|w| w.1).collect();
                let elements = Written(format!("&[{}]", texts.join(", ")), &values[..]);
                return Some(call!(self, construct(elements)));
            }
            Op::Extract => {
                let v = self.v(inst.a);
                return Some(call!(self, extract(v, axis)));
            }
            Op::ArrayLength => {
                let n = inst.a as usize;
                let buffer = Written(format!("buf{n}"), self.buffers[n]);
                return Some(match inst.ty {
                    Type::U64 => call!(self, array_length_u64(buffer)),
                    _ => call!(self, array_length(buffer)),
                });
            }
            _ => {}
        }
        let by_axis = method_of!(self, op, (axis): GlobalId = global_id, LocalId = local_id,
            WorkgroupId = workgroup_id, WorkgroupSize = workgroup_size, NumWorkgroups = num_workgroups,
            GlobalSize = global_size);
        let alone = by_axis.or_else(|| {
            method_of!(self, op, (): LocalIndex = local_index, SubgroupSize = subgroup_size, Lane = lane,
                SubgroupId = subgroup_id)
        });
        if alone.is_some() {
            return alone;
        }
        let row = op.row();
        let by_value = |o: &Operand| matches!(o, Operand::T | Operand::Bool | Operand::U32);
        if !row.operands.iter().all(by_value) {
            return None;
        }
        let all: Vec<Written<Value>> = words.iter().map(|&w| self.v(w)).collect();
        match &all[..] {
            [a] => self.of_one(op, inst.flags, a),
            [a, b] => self.of_two(op, inst.flags, a, b),
            [a, b, c] => {
                method_of!(self, op, (a, b, c): Clamp = clamp, MulAdd = mul_add, Fma = fma, Dot4Add = dot4_add,
                    BitfieldExtract = bitfield_extract, FunnelShl = funnel_shl, FunnelShr = funnel_shr,
                    Select = select)
            }
            [a, b, c, d] => {
                method_of!(self, op, (a, b, c, d): BitfieldInsert = bitfield_insert)
            }
            _ => None,
        }
    }

    fn of_one(&mut self, op: Op, flags: u8, a: &Written<Value>) -> Option<Value> {
        let fast = op.row().flags == Inst::FAST && flags == Inst::FAST;
        if fast {
            return method_of!(self, op, (a): Sqrt = sqrt_fast, Rsqrt = rsqrt_fast, Rcp = rcp_fast,
                Exp = exp_fast, Exp2 = exp2_fast, Log = log_fast, Log2 = log2_fast, Sin = sin_fast,
                Cos = cos_fast, Tan = tan_fast, Tanh = tanh_fast, Erf = erf_fast);
        }
        method_of!(self, op, (a): AssumeUniform = assume_uniform, Neg = neg, Abs = abs, Not = not, Clz = clz,
            Ctz = ctz, Popcount = popcount, ReverseBits = reverse_bits, Sqrt = sqrt, Rsqrt = rsqrt, Rcp = rcp,
            Floor = floor, Ceil = ceil, Trunc = trunc, RoundEven = round_even, Exp = exp, Exp2 = exp2, Log = log,
            Log2 = log2, Sin = sin, Cos = cos, Tan = tan, Tanh = tanh, Erf = erf, Fract = fract, IsNan = is_nan,
            IsInf = is_inf, Ballot = ballot, Any = any, All = all)
    }

    fn of_two(
        &mut self,
        op: Op,
        flags: u8,
        a: &Written<Value>,
        b: &Written<Value>,
    ) -> Option<Value> {
        if flags == Inst::FAST {
            return method_of!(self, op, (a, b): Div = div_fast, Pow = pow_fast);
        }
        method_of!(self, op, (a, b): Add = add, Sub = sub, Mul = mul, MulHi = mul_hi, Div = div, Rem = rem,
            Min = min, Max = max, MinNan = min_nan, MaxNan = max_nan, AddSat = add_sat, SubSat = sub_sat,
            And = and, Or = or, Xor = xor, Shl = shl, Shr = shr, RotateLeft = rotate_left,
            RotateRight = rotate_right, Eq = eq, Ne = ne, Lt = lt, Le = le, Gt = gt, Ge = ge, Pack = pack,
            Pow = pow, Copysign = copysign, Shuffle = shuffle, ShuffleXor = shuffle_xor, ShuffleUp = shuffle_up,
            ShuffleDown = shuffle_down, Broadcast = broadcast)
    }

    /// Reads of variables and memory, and atomics.
    fn of_memory(&mut self, inst: &Inst) -> Option<Value> {
        let op = inst.op;
        if op == Op::VarGet {
            let var = self.var(inst.a);
            return Some(call!(self, get(var)));
        }
        let words = self.kernel.words(inst);
        if inst.op.row().operands.first() != Some(&Operand::Mem) {
            return None;
        }
        let mem = self.memory(inst.a)?;
        let at = self.v(inst.b);
        match (op, &words[2..]) {
            (Op::Load, &[offset]) => Some(match (offset, inst.flags) {
                (0, 0) => call!(self, load(mem, at)),
                (_, 0) => call!(self, load_offset(mem, at, plain(offset))),
                _ => call!(self, load_with(mem, at, plain(offset), plain(inst.flags))),
            }),
            (Op::AtomicLoad, &[offset, o]) => Some(call!(
                self,
                atomic_load(mem, at, plain(offset), of_ordering(o))
            )),
            (Op::AtomicCompareExchange, &[from, to, offset, o]) => {
                let (from, to) = (self.v(from), self.v(to));
                let (offset, o) = (plain(offset), of_ordering(o));
                Some(call!(
                    self,
                    atomic_compare_exchange_with(mem, at, offset, from, to, o)
                ))
            }
            (_, &[value, offset, o]) if op != Op::AtomicStore => {
                let (value, offset, o) = (self.v(value), plain(offset), of_ordering(o));
                method_of!(self, op, (mem, at, offset, value, o): AtomicAdd = atomic_add_with,
                    AtomicSub = atomic_sub_with, AtomicMin = atomic_min_with, AtomicMax = atomic_max_with,
                    AtomicAnd = atomic_and_with, AtomicOr = atomic_or_with, AtomicXor = atomic_xor_with,
                    AtomicExchange = atomic_exchange_with)
            }
            _ => None,
        }
    }

    fn of_subgroup(&mut self, inst: &Inst) -> Option<Value> {
        let op = inst.op;
        if op == Op::Elect {
            return Some(call!(self, elect()));
        }
        let (a, scan) = (self.v(inst.a), of_scan(inst.flags));
        if op == Op::SubgroupAdd && inst.flags & Inst::NATIVE_ORDER != 0 {
            return Some(call!(self, subgroup_add_native_order(a, scan)));
        }
        method_of!(self, op, (a, scan): SubgroupAdd = subgroup_add, SubgroupMin = subgroup_min,
            SubgroupMax = subgroup_max, SubgroupAnd = subgroup_and, SubgroupOr = subgroup_or,
            SubgroupXor = subgroup_xor)
    }

    /// What makes no value; whether it is known.
    fn no_value(&mut self, inst: &Inst) -> bool {
        let words = self.kernel.words(inst);
        match inst.op {
            Op::VarSet => {
                let (var, v) = (self.var(inst.a), self.v(inst.b));
                call!(self, set(var, v));
            }
            Op::Store => {
                let (Some(mem), at, v) = (self.memory(inst.a), self.v(inst.b), self.v(words[2]))
                else {
                    return false;
                };
                let offset = if inst.has_side() { words[3] } else { 0 };
                match (offset, inst.flags & !Inst::OFFSET) {
                    (0, 0) => call!(self, store(mem, at, v)),
                    (_, 0) => call!(self, store_offset(mem, at, plain(offset), v)),
                    (_, flags) => {
                        call!(self, store_with(mem, at, plain(offset), v, plain(flags)))
                    }
                }
            }
            Op::AtomicStore => {
                let (Some(mem), at, v) = (self.memory(inst.a), self.v(inst.b), self.v(words[2]))
                else {
                    return false;
                };
                let (offset, o) = (plain(words[3]), of_ordering(words[4]));
                call!(self, atomic_store(mem, at, offset, v, o));
            }
            Op::MemoryFence => {
                use kernite::types::Scope;
                let scope = match inst.flags {
                    Inst::DEVICE => Scope::Device,
                    _ => Scope::Workgroup,
                };
                let scope = Written(format!("Scope::{scope:?}"), scope);
                call!(self, memory_fence(scope));
            }
            Op::If => {
                let condition = self.v(inst.a);
                call!(self, begin_if(condition));
            }
            op => {
                return method_of!(self, op, (): WorkgroupBarrier = workgroup_barrier,
                    SubgroupBarrier = subgroup_barrier, Else = begin_else, End = end, Loop = begin_loop,
                    Continuing = begin_continuing, Break = break_, Continue = continue_, Return = return_)
                .is_some();
            }
        }
        true
    }
}
