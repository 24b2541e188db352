//! How many threads.

use super::{LaunchError, LaunchLimit};

/// Grid and block of a launch.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct LaunchConfig {
    /// Blocks (workgroups) along x, y, z. Where one is 0 nothing runs, which is no error.
    pub grid: [u32; 3],
    /// Threads of a block along x, y, z; each at least 1, and the kernel's workgroup size where it has one.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared_bytes: u32,
}

impl LaunchConfig {
    /// Grid and block, without dynamic shared memory.
    pub fn new(grid: [u32; 3], block: [u32; 3]) -> LaunchConfig {
        LaunchConfig {
            grid,
            block,
            dynamic_shared_bytes: 0,
        }
    }

    /// As many blocks of `threads` threads along x as it takes for `n` threads or more; none for 0.
    ///
    /// # Errors
    /// [`LaunchError::EmptyBlock`] for 0 threads, [`LaunchError::Limit`] when there would be 2^31 blocks or more.
    ///
    /// ```
    /// use kernite::cuda::LaunchConfig;
    /// assert_eq!(LaunchConfig::for_elements(1000, 256)?.grid, [4, 1, 1]);
    /// assert_eq!(LaunchConfig::for_elements(0, 256)?.grid, [0, 1, 1]);
    /// assert!(LaunchConfig::for_elements(u64::MAX, 256).is_err());
    /// # Ok::<(), kernite::cuda::LaunchError>(())
    /// ```
    pub fn for_elements(n: u64, threads: u32) -> Result<LaunchConfig, LaunchError> {
        LaunchConfig::covering(n, [threads, 1, 1])
    }

    /// The same with a block of more dimensions: its threads along x count.
    pub(crate) fn covering(n: u64, block: [u32; 3]) -> Result<LaunchConfig, LaunchError> {
        if block[0] == 0 {
            return Err(LaunchError::EmptyBlock { block });
        }
        let blocks = n.div_ceil(u64::from(block[0]));
        const MOST: u32 = i32::MAX as u32;
        match u32::try_from(blocks) {
            Ok(x) if x <= MOST => Ok(LaunchConfig::new([x, 1, 1], block)),
            _ => Err(LaunchError::Limit {
                limit: LaunchLimit::GridX,
                needed: blocks,
                available: u64::from(MOST),
            }),
        }
    }

    /// The same with dynamic shared memory.
    #[must_use]
    pub fn dynamic_shared_bytes(self, bytes: u32) -> LaunchConfig {
        LaunchConfig {
            dynamic_shared_bytes: bytes,
            ..self
        }
    }

    /// Threads of a block.
    pub(crate) fn threads(&self) -> u64 {
        // Three 32-bit numbers may pass 64 bits.
        self.block
            .iter()
            .fold(1u64, |n, &d| n.saturating_mul(u64::from(d)))
    }

    /// Whether nothing runs.
    pub(crate) fn is_empty(&self) -> bool {
        self.grid.contains(&0)
    }
}
