//! Any calls of a builder, misuse among them, as a list of bytes describes them.
//!
//! [`crate::generate`] builds kernels that are valid by construction; here nothing is: ids of another builder, operands of
//! any type, blocks that are never closed. Operands are drawn so that some calls fit, or nothing would ever verify.

use kernite::builder::{BufferOptions, KernelBuilder, Memory, Scan};
use kernite::kernel::{Kernel, Ordering, Scalar as ScalarId, Value, Var};
use kernite::op::{Effect, Makes, Op, Operand};
use kernite::types::{Access, Const, Order, Scalar, Scope, Type};
use kernite::verify::VerifyError;

/// Names of every kind: usual, reserved, refused.
const NAMES: [&str; 12] = [
    "a",
    "k",
    "",
    "_",
    "WARP_SZ",
    "a.b",
    "1a",
    "é",
    "%k",
    "main",
    "a\0b",
    "a name with blanks\n",
];

/// Whether [`KernelBuilder::apply`] takes the opcode.
fn by_value(op: Op) -> bool {
    let row = op.row();
    let value = |o: &Operand| matches!(o, Operand::T | Operand::Bool | Operand::U32);
    row.effect == Effect::Pure
        && !row.operands.is_empty()
        && row.operands.iter().all(value)
        && (row.makes != Makes::T || row.operands.contains(&Operand::T))
}

struct Calls<'a> {
    bytes: std::slice::Iter<'a, u8>,
    b: KernelBuilder,
    values: Vec<Value>,
    memory: Vec<Memory>,
    vars: Vec<Var>,
    scalars: Vec<ScalarId>,
    /// About how many blocks are open.
    open: usize,
}

/// Makes the calls and finishes: a kernel, or the builder's faults.
///
/// # Errors
/// Those of [`KernelBuilder::finish`].
pub fn run(bytes: &[u8]) -> Result<Kernel, VerifyError> {
    let mut calls = Calls {
        bytes: bytes.iter(),
        b: KernelBuilder::new("other", [1, 1, 1]),
        values: Vec::new(),
        memory: Vec::new(),
        vars: Vec::new(),
        scalars: Vec::new(),
        open: 0,
    };
    // Ids of a kernel that is gone by the time they are used.
    let stale = calls.b.constant(1u32);
    calls.values.push(stale);
    let var = calls.b.var(stale);
    calls.vars.push(var);
    let scalar = calls.b.scalar("s", Type::U32);
    calls.scalars.push(scalar);
    let buffer = calls.b.buffer("b", Type::U32, Access::ReadWrite);
    calls.memory.push(buffer.into());
    let name = calls.name();
    let size = calls.size();
    calls.b.reset(name, size);
    let close = calls.byte() < 240;
    calls.declarations();
    while !calls.bytes.as_slice().is_empty() {
        calls.call();
    }
    for _ in 0..if close { calls.open } else { 0 } {
        calls.b.end();
    }
    calls.b.finish()
}

impl Calls<'_> {
    fn byte(&mut self) -> u8 {
        self.bytes.next().copied().unwrap_or(0)
    }

    fn word(&mut self) -> u32 {
        let kind = self.byte();
        match kind {
            0..=127 => u32::from(kind),
            128..=191 => 1 << (kind & 31),
            192..=223 => (1 << (kind & 31)) - 1,
            _ => u32::from_le_bytes([self.byte(), self.byte(), self.byte(), self.byte()]),
        }
    }

    fn size(&mut self) -> [u32; 3] {
        match self.byte() {
            0..=127 => [8, 2, 1],
            128..=239 => [32, 1, 1],
            _ => [self.word(), self.word(), self.word()],
        }
    }

    fn name(&mut self) -> &'static str {
        // The first two are ordinary, and most.
        let n = usize::from(self.byte());
        if n < 200 {
            NAMES[n % 2]
        } else {
            NAMES[n % NAMES.len()]
        }
    }

    fn ty(&mut self) -> Type {
        let byte = self.byte();
        let scalar = Scalar::ALL[usize::from(byte & 31) % Scalar::ALL.len()];
        match byte >> 5 {
            0..=4 => Type::of(scalar),
            5 => Type::vector(scalar, 2).unwrap_or(Type::NONE),
            6 => Type::vector(scalar, 4).unwrap_or(Type::NONE),
            _ => Type::from_code(self.byte()).unwrap_or(Type::NONE),
        }
    }

    /// A value: mostly one of the last, or the last of the type asked for.
    fn value(&mut self, like: Option<Type>) -> Value {
        let byte = usize::from(self.byte());
        let last = self.values.len() - 1;
        if byte < 200
            && let Some(ty) = like
        {
            let fits = self.values.iter().rev();
            let mut fits = fits.filter(|v| self.b.type_of(**v) == ty);
            // Made where there is none.
            return match fits.nth(byte % 4) {
                Some(v) => *v,
                None => self.constant(ty),
            };
        }
        self.values[last - byte % 16 % self.values.len()]
    }

    fn any(&mut self) -> Value {
        self.value(None)
    }

    fn constant(&mut self, ty: Type) -> Value {
        let bits = u64::from(self.word()) | u64::from(self.byte()) << 56;
        let lane = ty.scalar().map_or(Type::NONE, Type::of);
        let one = self
            .b
            .constant(Const::new(lane, bits).unwrap_or(Const::from(true)));
        self.values.push(one);
        if ty.lanes() <= 1 {
            return one;
        }
        let lanes = vec![one; ty.lanes() as usize];
        let value = self.b.construct(&lanes);
        self.values.push(value);
        value
    }

    fn memory(&mut self) -> Memory {
        let byte = usize::from(self.byte());
        // The first is of another builder.
        let last = self.memory.len() - 1;
        self.memory[last - byte % self.memory.len()]
    }

    fn ordering(&mut self) -> Ordering {
        let byte = self.byte();
        Ordering {
            order: Order::from_code(u32::from(byte & 3)).unwrap_or(Order::Relaxed),
            scope: Scope::from_code(u32::from(byte >> 2 & 1)).unwrap_or(Scope::Device),
        }
    }

    fn declarations(&mut self) {
        for _ in 0..self.byte() % 12 {
            self.declare();
        }
    }

    fn declare(&mut self) {
        let kind = self.byte();
        let (name, ty) = (self.name(), self.ty());
        let access = [Access::ReadWrite, Access::Read, Access::Write];
        match kind % 8 {
            0 | 1 => {
                let access = access[usize::from(kind >> 3) % 3];
                let id = self.b.buffer(name, ty, access);
                self.memory.push(id.into());
            }
            2 => {
                let mut options = BufferOptions::new();
                if kind & 8 != 0 {
                    options = options.may_alias();
                }
                if kind & 16 != 0 {
                    options = options.binding(u32::from(kind >> 6), self.word());
                }
                let access = access[usize::from(kind >> 3) % 3];
                let id = self.b.buffer_with(name, ty, access, options);
                self.memory.push(id.into());
            }
            3 => {
                let id = self.b.scalar(name, ty);
                self.scalars.push(id);
            }
            4 => {
                let len = self.word();
                let id = match kind >> 3 & 3 {
                    0 => self.b.shared_zeroed(name, ty, len),
                    1 => self.b.shared_dynamic(name, ty),
                    _ => self.b.shared(name, ty, len),
                };
                self.memory.push(id.into());
            }
            5 => {
                let len = self.word();
                let id = self.b.private(name, ty, len);
                self.memory.push(id.into());
            }
            6 => {
                let elements: Vec<Const> = (0..kind >> 3)
                    .filter_map(|n| Const::new(ty, u64::from(n)))
                    .collect();
                let id = self.b.table(name, ty, &elements);
                self.memory.push(id.into());
            }
            _ if kind == 255 => {
                let size = u32::from(self.byte());
                self.b.require_subgroup_size(size);
            }
            _ if kind == 247 => self.b.allow_contraction(),
            _ => {
                let id = self.b.scalar(name, Type::U32);
                self.scalars.push(id);
            }
        }
    }

    fn call(&mut self) {
        let kind = self.byte();
        let value = match kind {
            0..=15 => {
                let ty = self.ty();
                Some(self.constant(ty))
            }
            16..=87 => Some(self.apply()),
            88..=103 => Some(self.built_in()),
            104..=119 => Some(self.converted()),
            120..=175 => self.access(),
            176..=199 => self.variable(),
            200..=223 => Some(self.subgroup()),
            224..=251 => {
                self.control();
                None
            }
            252 => {
                self.declare();
                None
            }
            253 => {
                self.b.workgroup_barrier();
                None
            }
            254 => {
                let scope = self.ordering().scope;
                self.b.memory_fence(scope);
                None
            }
            255 => {
                self.b.subgroup_barrier();
                None
            }
        };
        self.values.extend(value);
    }

    fn apply(&mut self) -> Value {
        let (byte, how) = (self.byte(), self.byte());
        let mut op = Op::ALL[usize::from(byte) % Op::ALL.len()];
        let mut count = op.row().operands.len();
        if how >= 250 {
            // Any opcode at all, with any number of operands.
            count = usize::from(how % 6);
        } else if !by_value(op) {
            op = Op::Add;
            count = 2;
        }
        let first = if how < 200 && op != Op::Select {
            let types = op.row().types;
            let mut fits = self.values.iter().rev();
            let known = fits.find(|v| types.contains(self.b.type_of(**v)));
            match known.copied() {
                Some(value) => value,
                None => {
                    let n = usize::from(self.byte());
                    let ty = types.iter().nth(n % 8).or(types.iter().next());
                    self.constant(ty.unwrap_or(Type::F32))
                }
            }
        } else {
            let like = (how < 200).then_some(Type::BOOL);
            self.value(like)
        };
        let like = self.b.type_of(first);
        let mut operands = vec![first];
        // Booleans come first, and amounts last.
        for n in 1..count {
            let ty = match op {
                Op::Shl | Op::Shr | Op::RotateLeft | Op::RotateRight => Type::U32,
                Op::FunnelShl | Op::FunnelShr if n == 2 => Type::U32,
                Op::BitfieldExtract => Type::U32,
                Op::BitfieldInsert if n > 1 => Type::U32,
                Op::Select if n == 2 => self.b.type_of(operands[1]),
                _ => like,
            };
            let loose = op == Op::Select && n == 1;
            let next = self.value((!loose && !ty.is_none()).then_some(ty));
            operands.push(next);
        }
        operands.truncate(count);
        self.b.apply(op, &operands)
    }

    fn built_in(&mut self) -> Value {
        let byte = self.byte();
        let axis = if byte >= 240 { byte } else { byte >> 4 & 1 };
        match byte % 12 {
            0 => self.b.global_id(axis),
            1 => self.b.local_id(axis),
            2 => self.b.workgroup_id(axis),
            3 => self.b.workgroup_size(axis),
            4 => self.b.num_workgroups(axis),
            5 => self.b.global_size(axis),
            6 => self.b.local_index(),
            7 => self.b.subgroup_size(),
            8 => self.b.lane(),
            9 => self.b.subgroup_id(),
            _ => {
                let n = usize::from(self.byte()) % self.scalars.len();
                let last = self.scalars.len() - 1;
                self.b.param(self.scalars[last - n])
            }
        }
    }

    fn converted(&mut self) -> Value {
        let (kind, a) = (self.byte(), self.any());
        match kind % 8 {
            0..=2 => {
                let ty = self.ty();
                self.b.convert(a, ty)
            }
            3 => {
                let ty = self.ty();
                self.b.bitcast(a, ty)
            }
            4 => self.b.unpack_low(a, Type::F16),
            5 => {
                let ty = self.ty();
                self.b.unpack_high(a, ty)
            }
            6 => {
                let count = [2, 4, 2, 4, 0, 1, 3, 5][usize::from(kind >> 5)];
                let like = self.b.type_of(a);
                let lanes: Vec<Value> = (0..count).map(|_| self.value(Some(like))).collect();
                self.b.construct(&lanes)
            }
            _ => {
                let lane = self.byte();
                let lane = if lane < 250 { lane % 2 } else { lane };
                self.b.extract(a, lane)
            }
        }
    }

    fn access(&mut self) -> Option<Value> {
        let (kind, memory) = (self.byte(), self.memory());
        let index_type = if kind & 32 == 0 { Type::U32 } else { Type::U64 };
        let index = self.value(Some(index_type));
        let offset = if kind & 64 == 0 { 0 } else { self.word() };
        let b = &mut self.b;
        Some(match kind % 16 {
            0..=3 => b.load_offset(memory, index, offset),
            4 => {
                let flags = self.byte();
                self.b.load_with(memory, index, offset, flags)
            }
            5..=8 => {
                // What is loaded from it tells its type.
                let old = b.load(memory, index);
                let like = b.type_of(old);
                let value = self.value((!like.is_none()).then_some(like));
                if kind & 128 == 0 {
                    self.b.store_offset(memory, index, offset, value);
                } else {
                    let flags = self.byte();
                    self.b.store_with(memory, index, offset, value, flags);
                }
                return None;
            }
            9 => match memory {
                Memory::Buffer(id) if kind & 32 == 0 => b.array_length(id),
                Memory::Buffer(id) => b.array_length_u64(id),
                _ => return None,
            },
            10 => {
                let ordering = self.ordering();
                self.b.atomic_load(memory, index, offset, ordering)
            }
            _ => {
                let ordering = self.ordering();
                let old = self.b.atomic_load(memory, index, 0, Ordering::RELAXED);
                let like = self.b.type_of(old);
                let value = self.value((!like.is_none()).then_some(like));
                let (b, m, i, n, o) = (&mut self.b, memory, index, offset, ordering);
                match (kind % 16, kind >> 5) {
                    (11, _) => b.atomic_add_with(m, i, n, value, o),
                    (12, 0) => b.atomic_sub_with(m, i, n, value, o),
                    (12, 1..=3) => b.atomic_min_with(m, i, n, value, o),
                    (12, _) => b.atomic_max_with(m, i, n, value, o),
                    (13, 0) => b.atomic_and_with(m, i, n, value, o),
                    (13, 1..=3) => b.atomic_or_with(m, i, n, value, o),
                    (13, _) => b.atomic_xor_with(m, i, n, value, o),
                    (14, 0..=3) => b.atomic_exchange_with(m, i, n, value, o),
                    (14, _) => {
                        b.atomic_store(m, i, n, value, o);
                        return None;
                    }
                    (_, _) => b.atomic_compare_exchange_with(m, i, n, old, value, o),
                }
            }
        })
    }

    fn variable(&mut self) -> Option<Value> {
        let kind = self.byte();
        let last = self.vars.len() - 1;
        let var = self.vars[last - usize::from(kind >> 2) % self.vars.len()];
        match kind % 4 {
            0 => {
                let value = self.any();
                let var = self.b.var(value);
                self.vars.push(var);
                None
            }
            1 | 2 => Some(self.b.get(var)),
            _ => {
                let old = self.b.get(var);
                let like = self.b.type_of(old);
                let value = self.value((!like.is_none()).then_some(like));
                self.b.set(var, value);
                None
            }
        }
    }

    fn subgroup(&mut self) -> Value {
        let kind = self.byte();
        let a = self.any();
        let scan = [Scan::Reduce, Scan::Inclusive, Scan::Exclusive, Scan::Reduce];
        let scan = scan[usize::from(kind >> 6)];
        match kind % 16 {
            0..=4 => {
                let by = self.value(Some(Type::U32));
                match kind % 16 {
                    0 => self.b.shuffle(a, by),
                    1 => self.b.shuffle_xor(a, by),
                    2 => self.b.shuffle_up(a, by),
                    3 => self.b.shuffle_down(a, by),
                    _ => self.b.broadcast(a, by),
                }
            }
            5..=7 => {
                let vote = self.value(Some(Type::BOOL));
                match kind % 16 {
                    5 => self.b.ballot(vote),
                    6 => self.b.any(vote),
                    _ => self.b.all(vote),
                }
            }
            8 => self.b.elect(),
            9 => self.b.subgroup_add(a, scan),
            10 => self.b.subgroup_add_native_order(a, scan),
            11 => self.b.subgroup_min(a, scan),
            12 => self.b.subgroup_max(a, scan),
            13 => self.b.subgroup_and(a, scan),
            14 => self.b.subgroup_or(a, scan),
            _ => self.b.subgroup_xor(a, scan),
        }
    }

    fn control(&mut self) {
        let kind = self.byte();
        match kind % 16 {
            0..=3 => {
                let condition = self.value(Some(Type::BOOL));
                self.b.begin_if(condition);
                self.open += 1;
            }
            4 => self.b.begin_else(),
            5 => {
                self.b.begin_loop();
                self.open += 1;
            }
            6 => self.b.begin_continuing(),
            7..=11 => self.end(kind),
            leave @ 12..=14 => {
                match leave {
                    12 => self.b.break_(),
                    13 => self.b.continue_(),
                    _ => self.b.return_(),
                }
                // Nothing may follow.
                self.end(kind);
            }
            _ => {
                let (start, end) = (self.value(Some(Type::U32)), self.value(Some(Type::U32)));
                let mut made = None;
                self.b.for_range(start, end, |_, i| made = Some(i));
                // Out of its scope.
                if kind >= 128 {
                    self.values.extend(made);
                }
            }
        }
    }

    fn end(&mut self, kind: u8) {
        // Now and then where there is nothing to end.
        if self.open > 0 || kind >= 240 {
            self.b.end();
            self.open = self.open.saturating_sub(1);
        }
    }
}
