//! The six kernels that everything here is measured on.

use crate::kernels;
use kernite::builder::KernelBuilder;

/// A kernel, the same work for every contestant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Case {
    /// `c[i] = a[i] + b[i]`, with a bound check.
    VectorAdd,
    /// `y[i] = a * x[i] + y[i]`, with a bound check.
    Saxpy,
    /// So many dependent `f32` operations, `fma`, `add` and `mul` in turn, between two loads and a store.
    Straight(u32),
    /// A tree over 256 elements in shared memory: a loop with barriers.
    Reduce256,
    /// Tiles of 16 × 16 in shared memory: two nested loops with barriers.
    Matmul16,
}

impl Case {
    /// The six.
    pub const ALL: [Case; 6] = [
        Case::VectorAdd,
        Case::Saxpy,
        Case::Straight(1_000),
        Case::Straight(10_000),
        Case::Reduce256,
        Case::Matmul16,
    ];

    /// Its name in reports, and that of its golden files.
    pub fn name(self) -> String {
        match self {
            Case::VectorAdd => "vector_add".to_owned(),
            Case::Saxpy => "saxpy".to_owned(),
            Case::Straight(n) => format!("straight_{n}"),
            Case::Reduce256 => "reduce256".to_owned(),
            Case::Matmul16 => "matmul16".to_owned(),
        }
    }

    /// Describes it to a builder, which it resets.
    #[inline]
    pub fn describe(self, b: &mut KernelBuilder) {
        match self {
            Case::VectorAdd => kernels::vector_add(b),
            Case::Saxpy => kernels::saxpy(b),
            Case::Straight(n) => kernels::straight_line(b, n),
            Case::Reduce256 => kernels::reduce256(b),
            Case::Matmul16 => kernels::matmul16(b),
        }
    }

    /// How many buffers it has.
    pub fn buffers(self) -> usize {
        match self {
            Case::VectorAdd | Case::Straight(_) | Case::Matmul16 => 3,
            Case::Saxpy | Case::Reduce256 => 2,
        }
    }
}
