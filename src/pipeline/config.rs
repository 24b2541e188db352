//! What a pipeline may be told.

use super::Policy;
use crate::reference;

/// How a [`super::KernelPipeline`] works.
///
/// ```
/// use kernite::pipeline::{Config, KernelPipeline, Policy};
/// let config = Config::default()
///     .with_policy(Policy::Auto { host_below: 10_000 })
///     .with_profile(true);
/// let pipeline = KernelPipeline::with_config(config);
/// # let _ = pipeline;
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// Who runs kernels: [`Policy::Auto`] unless set.
    pub policy: Policy,
    /// Bytes of artefacts that are kept, kernels and signatures included: 64 MiB unless set. A larger one is made and not
    /// kept; 0 keeps none.
    pub artefact_bytes: u64,
    /// Bytes of PTX whose loaded code is kept for each GPU, each kernel counting 4 KiB more: 64 MiB unless set, some
    /// thousands of kernels.
    pub code_bytes: u64,
    /// How the reference executor runs: as by default, but that accesses out of bounds do what they do on the GPU.
    pub host: reference::Options,
    /// Whether times are measured ([`super::KernelPipeline::take_profile`]); not unless set.
    pub profile: bool,
    /// How PTX is turned into code.
    #[cfg(feature = "cuda")]
    pub load_options: crate::cuda::LoadOptions,
    /// Where assembled code is kept on disk; nowhere unless set.
    #[cfg(feature = "cuda")]
    pub disk_cache: Option<crate::cuda::cache::Cache>,
    /// The context to run in; the primary one of the driver's first device unless set.
    #[cfg(feature = "cuda")]
    pub context: Option<crate::cuda::Context>,
}

impl Default for Config {
    fn default() -> Config {
        let mut host = reference::Options::default();
        host.checks.bounds = false;
        Config {
            policy: Policy::default(),
            artefact_bytes: 64 << 20,
            code_bytes: 64 << 20,
            host,
            profile: false,
            #[cfg(feature = "cuda")]
            load_options: crate::cuda::LoadOptions::new(),
            #[cfg(feature = "cuda")]
            disk_cache: None,
            #[cfg(feature = "cuda")]
            context: None,
        }
    }
}

impl Config {
    /// With a policy.
    #[must_use]
    pub fn with_policy(self, policy: Policy) -> Config {
        Config { policy, ..self }
    }

    /// With so many bytes of artefacts.
    #[must_use]
    pub fn with_artefact_bytes(self, artefact_bytes: u64) -> Config {
        Config {
            artefact_bytes,
            ..self
        }
    }

    /// With so many bytes of loaded code.
    #[must_use]
    pub fn with_code_bytes(self, code_bytes: u64) -> Config {
        Config { code_bytes, ..self }
    }

    /// With the reference executor so.
    #[must_use]
    pub fn with_host(self, host: reference::Options) -> Config {
        Config { host, ..self }
    }

    /// With times measured, or not.
    #[must_use]
    pub fn with_profile(self, profile: bool) -> Config {
        Config { profile, ..self }
    }
}

#[cfg(feature = "cuda")]
impl Config {
    /// With PTX turned into code so.
    #[must_use]
    pub fn with_load_options(self, load_options: crate::cuda::LoadOptions) -> Config {
        Config {
            load_options,
            ..self
        }
    }

    /// With a cache of assembled code on disk, so that the next process needs not assemble it.
    #[must_use]
    pub fn with_disk_cache(self, cache: crate::cuda::cache::Cache) -> Config {
        Config {
            disk_cache: Some(cache),
            ..self
        }
    }

    /// With a context.
    #[must_use]
    pub fn with_context(self, context: crate::cuda::Context) -> Config {
        Config {
            context: Some(context),
            ..self
        }
    }
}
