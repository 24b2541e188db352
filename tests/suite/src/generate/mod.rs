//! Random kernels, valid by construction, from the opcode table.
//!
//! What a kernel computes is defined on every target: threads write only their own elements, shared memory is read only
//! behind barriers, results of racing atomics go unused, sums of floats by atomics are exact, and a NaN that was computed
//! never becomes an integer by its bits. What the hardware may approximate goes to buffers named `approx`, which nobody
//! compares. Where a device may flush subnormals ([`Config::subnormals`]), results that could be one are replaced by zero.
//!
//! Everything is declared where it is first used, so that a kernel of few statements is small. A buffer's name says what
//! it is for ([`Role`]), and so what a launch has to give for it.

mod atomics;
mod control;
mod lanes;
mod level;
mod memory;
mod values;
mod wild;

use crate::choices::Choices;
use kernite::builder::KernelBuilder;
use kernite::kernel::{Buffer, Kernel, Private, Scalar, Shared, Table, Value, Var};
use kernite::types::{Access, Type, TypeSet};
use kernite::verify::VerifyError;
use level::{Frame, Level};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Elements that each thread owns in the buffers that are written.
pub const PER_THREAD: u32 = 2;
/// Elements of each buffer of counters that threads share, before those that they own.
pub const ATOMIC_LEN: u32 = 10;
/// Buffers that statements declare at most; the kernel's end adds one a scalar type at most. lavapipe binds 32.
const MOST_BUFFERS: usize = 18;
/// The same where accesses are checked, since the length of each is then a parameter.
const MOST_CHECKED_BUFFERS: usize = 8;

/// The scalar types but `bool`.
pub const TYPES: [Type; 12] = [
    Type::U32,
    Type::I32,
    Type::F32,
    Type::U64,
    Type::I64,
    Type::F64,
    Type::U8,
    Type::I8,
    Type::U16,
    Type::I16,
    Type::F16,
    Type::BF16,
];

/// Shapes of workgroups: full subgroups of every size, partial ones, one, two and three dimensions.
const SHAPES: [[u32; 3]; 14] = [
    [8, 2, 1],
    [1, 1, 1],
    [32, 1, 1],
    [64, 1, 1],
    [7, 1, 1],
    [20, 1, 1],
    [33, 1, 1],
    [4, 4, 1],
    [3, 5, 1],
    [4, 4, 4],
    [2, 3, 5],
    [1, 1, 16],
    [1, 40, 1],
    [5, 3, 3],
];

/// What a buffer is for; its name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Role {
    /// Read only, an element a thread.
    In,
    /// Each thread reads and writes elements of its own.
    Own,
    /// Each thread writes elements of its own.
    Out,
    /// Atomics on elements that threads share, then on elements of their own.
    Counter,
    /// Read only, with fewer elements than are read, or none.
    Few,
    /// One thread reads and writes it, at any index.
    Wild,
    /// Atomic additions at any index.
    Scattered,
    /// What the hardware approximates. Not compared.
    Approx,
}

impl Role {
    const ALL: [Role; 8] = [
        Role::In,
        Role::Own,
        Role::Out,
        Role::Counter,
        Role::Few,
        Role::Wild,
        Role::Scattered,
        Role::Approx,
    ];

    /// The buffer's name.
    pub fn name(self) -> &'static str {
        match self {
            Role::In => "in",
            Role::Own => "own",
            Role::Out => "out",
            Role::Counter => "counter",
            Role::Few => "few",
            Role::Wild => "wild",
            Role::Scattered => "scattered",
            Role::Approx => "approx",
        }
    }

    /// What a buffer of this name is for.
    pub fn of(name: &str) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.name() == name)
    }

    fn access(self) -> Access {
        match self {
            Role::In | Role::Few => Access::Read,
            Role::Own | Role::Counter | Role::Wild | Role::Scattered => Access::ReadWrite,
            Role::Out | Role::Approx => Access::Write,
        }
    }
}

/// What a kernel may contain.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Threads of a workgroup along x, y, z; drawn if `None`.
    pub workgroup: Option<[u32; 3]>,
    /// The greatest number of statements.
    pub statements: usize,
    /// Whether subnormal floats may arise.
    pub subnormals: bool,
    /// Whether 64-bit atomics may be used.
    pub atomics_64: bool,
    /// Whether `fma` may be used.
    pub fma: bool,
    /// How many of 16 precise functions drawn are taken.
    pub recipes: u32,
    /// Whether subgroup operations may be used.
    pub subgroups: bool,
    /// Whether division and square roots of floats are rounded to nearest even. If not, there are none.
    pub exact_division: bool,
    /// Whether a subgroup holds threads of consecutive local indices also where they lie in several rows of the workgroup.
    /// If not, kernels with such workgroups have no subgroup operations.
    pub across_rows: bool,
    /// Whether fences, and atomics that order others, may stand where not every thread of the workgroup comes, as in the
    /// loop of a float's atomic.
    pub divergent_fences: bool,
    /// Whether the target computes `x * 0`, `x + 0`, `x - x` and `x / x` of floats, rather than taking them for 0, x, 0
    /// and 1. If not, float constants are hidden behind a parameter, and no float is subtracted from or divided by itself.
    pub honest_floats: bool,
    /// Whether functions of f16 that are computed in f32 are rounded in between. If not, there are none.
    pub rounded_f16: bool,
    /// Whether constants may be packed, and what comes of it be divided by.
    pub packed_constants: bool,
    /// Whether u64 may be added and subtracted with saturation.
    pub saturating_64: bool,
    /// Whether a promise of uniformity may be made. It is kept; but no kernel with one has a safe launch.
    pub assume_uniform: bool,
    /// Whether accesses may lie outside of their buffers and arrays, and buffers may be empty: for `Bounds::Checked`.
    pub wild: bool,
    /// Whether the kernel may allow contraction, so that its results are not comparable.
    pub contract: bool,
}

impl Default for Config {
    /// What every executor computes alike, launched safely.
    fn default() -> Config {
        Config {
            workgroup: None,
            statements: 40,
            subnormals: true,
            atomics_64: true,
            fma: true,
            recipes: 4,
            subgroups: true,
            exact_division: true,
            across_rows: true,
            divergent_fences: true,
            honest_floats: true,
            rounded_f16: true,
            packed_constants: true,
            saturating_64: true,
            assume_uniform: false,
            wild: false,
            contract: false,
        }
    }
}

impl Config {
    /// Everything that can be emitted.
    pub fn everything() -> Config {
        Config {
            assume_uniform: true,
            wild: true,
            contract: true,
            ..Config::default()
        }
    }
}

/// Builds the kernel that the decisions describe.
///
/// # Errors
/// The verifier's, which would be a fault of the generator or the verifier: every list of decisions gives a valid kernel.
pub fn kernel(
    name: &str,
    choices: &mut Choices<'_>,
    config: Config,
) -> Result<Kernel, VerifyError> {
    let mut config = config;
    let workgroup = config
        .workgroup
        .unwrap_or_else(|| choices.pick(&SHAPES[..]));
    let [x, y, z] = workgroup;
    // A device has subgroups of 8 lanes at least, or is not restricted so.
    config.subgroups &= config.across_rows || x.is_multiple_of(8) || y * z == 1;
    let statements = 1 + choices.below(config.statements.max(1));
    let mut b = KernelBuilder::new(name, workgroup);
    if config.contract && choices.chance(1, 8) {
        b.allow_contraction();
    }
    let threads = workgroup.iter().product();
    let dynamic = choices.chance(1, 3);
    let chosen = choices.below(64) as u32;
    let index = linear_id(&mut b, threads);
    let lid = b.local_index();
    let mut g = Generator {
        b,
        choices,
        config,
        scopes: vec![Vec::new()],
        levels: HashMap::new(),
        vars: Vec::new(),
        arrays: Vec::new(),
        buffers: BTreeMap::new(),
        aliased: BTreeSet::new(),
        scalars: BTreeMap::new(),
        zeros: BTreeMap::new(),
        tiles: BTreeMap::new(),
        sums: BTreeMap::new(),
        tables: BTreeMap::new(),
        dynamic,
        threads,
        chosen: chosen % threads,
        index,
        lid,
        frames: Vec::new(),
        left: Level::Workgroup,
    };
    g.made(index, Level::Divergent);
    g.made(lid, Level::Divergent);
    g.block(statements);
    g.write_out();
    g.b.finish()
}

/// The thread's number in the whole grid.
fn linear_id(b: &mut KernelBuilder, threads: u32) -> Value {
    let (x, y, z) = (b.workgroup_id(0), b.workgroup_id(1), b.workgroup_id(2));
    let (nx, ny) = (b.num_workgroups(0), b.num_workgroups(1));
    let row = b.mul_add(z, ny, y);
    let group = b.mul_add(row, nx, x);
    let (size, lid) = (b.constant(threads), b.local_index());
    b.mul_add(group, size, lid)
}

struct Generator<'a, 'c> {
    b: KernelBuilder,
    choices: &'a mut Choices<'c>,
    config: Config,
    /// Values in scope, by block.
    scopes: Vec<Vec<Value>>,
    /// How uniform a value is, by its number. What is not here is divergent.
    levels: HashMap<u32, Level>,
    /// Variables in scope.
    vars: Vec<(Var, Type)>,
    /// Private arrays in scope, every element of them written.
    arrays: Vec<(Private, Type)>,
    buffers: BTreeMap<(Role, Type), Buffer>,
    /// Those of them that are declared to overlap others, perhaps.
    aliased: BTreeSet<(Role, Type)>,
    scalars: BTreeMap<Type, Scalar>,
    /// Scalars that are 0.
    zeros: BTreeMap<Type, Scalar>,
    /// Shared arrays with an element a thread.
    tiles: BTreeMap<Type, Shared>,
    /// Shared arrays for atomics, as the buffers of counters.
    sums: BTreeMap<Type, Shared>,
    tables: BTreeMap<Type, (Table, u32)>,
    /// Whether the next tile has a length that is given at the launch.
    dynamic: bool,
    /// Threads of a workgroup.
    threads: u32,
    /// The thread that does what only one may do.
    chosen: u32,
    index: Value,
    lid: Value,
    frames: Vec<Frame>,
    /// How uniform the returns so far are.
    left: Level,
}

impl Generator<'_, '_> {
    /// Makes a value known, of a type that values can be chosen of.
    fn made(&mut self, value: Value, level: Level) {
        self.levels.insert(value.index(), level);
        if let Some(scope) = self.scopes.last_mut() {
            scope.push(value);
        }
    }

    fn any_type(&mut self) -> Type {
        match self.choices.below(TYPES.len() + 2) {
            n if n < TYPES.len() => TYPES[n],
            _ => Type::BOOL,
        }
    }

    /// What memory can hold: a scalar, or a vector in one of two cases.
    fn element_type(&mut self) -> Type {
        let scalar = TYPES[self.choices.below(TYPES.len())];
        let lanes = self.choices.pick(&[1, 1, 2, 4]);
        scalar
            .scalar()
            .and_then(|s| Type::vector(s, lanes))
            .unwrap_or(scalar)
    }

    /// A value of the type that is known, if there is one.
    fn known(&mut self, ty: Type, most: Level) -> Option<Value> {
        let found: Vec<Value> = self
            .scopes
            .iter()
            .flatten()
            .copied()
            .filter(|&v| self.b.type_of(v) == ty && self.level_of(v) <= most)
            .collect();
        if found.is_empty() {
            return None;
        }
        // Late values more often than early ones, so that chains grow.
        let back = self.choices.below(found.len());
        let back = back.min(self.choices.below(found.len()));
        Some(found[found.len() - 1 - back])
    }

    /// A value of the type: one in scope, a parameter or a constant.
    fn value(&mut self, ty: Type) -> Value {
        self.value_within(ty, Level::Divergent)
    }

    /// A value of the type that is as uniform as `most` at least.
    fn value_within(&mut self, ty: Type, most: Level) -> Value {
        if TypeSet::VECTORS.contains(ty) {
            if self.choices.chance(1, 2)
                && let Some(found) = self.known(ty, most)
            {
                return found;
            }
            let elem = ty.scalar().map_or(Type::NONE, Type::of);
            let elements: Vec<Value> = (0..ty.lanes())
                .map(|_| self.value_within(elem, most))
                .collect();
            return self.with_level_of(&elements, |b| b.construct(&elements));
        }
        match self.choices.below(4) {
            0 | 1 => match self.known(ty, most) {
                Some(found) => found,
                None => self.constant(ty),
            },
            2 => self.scalar(ty),
            _ => self.constant(ty),
        }
    }

    fn block(&mut self, statements: usize) {
        for _ in 0..statements {
            if self.choices.is_empty() {
                return;
            }
            self.statement();
        }
    }

    fn statement(&mut self) {
        self.choices.block();
        match self.choices.below(36) {
            // The simplest statement is none.
            0 => {}
            1..=11 => self.pure(),
            12 | 13 => self.conversion(),
            14 => self.load(),
            15 => self.store(),
            16 | 17 => self.variable(),
            18 | 19 => self.atomic(),
            20 | 21 => self.branch(),
            22 => self.repeat(),
            23 => self.exchange(),
            24 if self.choices.chance(1, 8) => self.guarded_return(),
            25 => self.built_in(),
            26 | 27 => self.subgroup(),
            28 => self.vector(),
            29 => self.array(),
            30 => self.table(),
            31 => self.approximate(),
            32 => self.half(),
            33 => self.assume_uniform(),
            34 | 35 if self.config.wild => self.wild(),
            _ => self.pure(),
        }
    }
}
