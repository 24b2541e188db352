//! A sink that writes down what a recipe consists of: a hash and a count of operations.

use kernite::math::{Binary, Sink, Table, Unary, Width, binary, unary};
use std::collections::BTreeMap;

/// What a recipe consists of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trace {
    /// FNV-1a over every operation, its operands and every constant.
    pub hash: u64,
    /// How often each operation occurs; a loop's body counts once.
    pub counts: BTreeMap<&'static str, u32>,
    made: u64,
}

/// A value: the number of the operation that made it.
#[derive(Clone, Copy)]
pub struct Made(u64);

impl Trace {
    fn new() -> Trace {
        Trace {
            hash: 0xcbf2_9ce4_8422_2325,
            counts: BTreeMap::new(),
            made: 0,
        }
    }

    /// The recipe of a function of one argument at width `W`.
    pub fn unary<W: Width + Bits>(function: Unary) -> Trace {
        let mut trace = Trace::new();
        let x = trace.value();
        let result = unary::<W, _>(function, &mut trace, x);
        trace.eat(result.0);
        trace
    }

    /// The recipe of a function of two arguments at width `W`.
    pub fn binary<W: Width + Bits>(function: Binary) -> Trace {
        let mut trace = Trace::new();
        let (x, y) = (trace.value(), trace.value());
        let result = binary::<W, _>(function, &mut trace, x, y);
        trace.eat(result.0);
        trace
    }

    /// Operations, without negations and magnitudes of floats (operand modifiers) and changes between a float and its
    /// bits (none).
    pub fn operations(&self) -> u32 {
        let free = ["neg", "abs", "to_bits", "from_bits"];
        let counted = self.counts.iter().filter(|(name, _)| !free.contains(name));
        counted.map(|(_, count)| count).sum()
    }

    /// How often `operation` occurs.
    pub fn count(&self, operation: &str) -> u32 {
        self.counts.get(operation).copied().unwrap_or(0)
    }

    fn eat(&mut self, word: u64) {
        for byte in word.to_le_bytes() {
            self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    fn value(&mut self) -> Made {
        self.made += 1;
        Made(self.made)
    }

    fn op(&mut self, name: &'static str, operands: &[Made]) -> Made {
        *self.counts.entry(name).or_default() += 1;
        for byte in name.bytes() {
            self.eat(u64::from(byte));
        }
        for operand in operands {
            self.eat(operand.0);
        }
        self.value()
    }

    fn constant(&mut self, bits: u64) -> Made {
        self.eat(bits);
        self.value()
    }
}

/// A float's bits.
pub trait Bits {
    /// Zero-extended.
    fn bits(self) -> u64;
}
impl Bits for f32 {
    fn bits(self) -> u64 {
        u64::from(self.to_bits())
    }
}
impl Bits for f64 {
    fn bits(self) -> u64 {
        self.to_bits()
    }
}

macro_rules! operations {
    ($($name:ident($($operand:ident),*);)*) => {
        $(fn $name(&mut self, $($operand: Made),*) -> Made {
            self.op(stringify!($name), &[$($operand),*])
        })*
    };
}

impl<W: Width + Bits> Sink<W> for Trace {
    type F = Made;
    type I = Made;
    type B = Made;

    fn float(&mut self, value: W) -> Made {
        self.constant(value.bits())
    }
    fn int(&mut self, value: u64) -> Made {
        self.constant(value)
    }
    fn table(&mut self, table: &'static Table, index: Made) -> Made {
        for &word in table.words {
            self.eat(word);
        }
        self.op("table", &[index])
    }
    fn repeat(
        &mut self,
        times: Made,
        state: Made,
        mut body: impl FnMut(&mut Self, Made) -> Made,
    ) -> Made {
        let inside = self.op("repeat", &[times, state]);
        let end = body(self, inside);
        self.op("end", &[end])
    }

    operations! {
        add(a, b); sub(a, b); mul(a, b); fma(a, b, c); neg(a); abs(a); min(a, b); max(a, b); trunc(a);
        lt(a, b); le(a, b); eq(a, b); select(p, a, b); select_int(p, a, b); both(a, b); either(a, b);
        to_bits(a); from_bits(a); from_signed(a); from_unsigned(a);
        iadd(a, b); isub(a, b); imul(a, b); umul_hi(a, b); and(a, b); or(a, b); xor(a, b); shl(a, n); shr(a, n);
        ult(a, b); ieq(a, b);
    }
}
