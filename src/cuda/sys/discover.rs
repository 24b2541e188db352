//! Where the driver's library may be: a pure function of the system and its environment.

use std::path::PathBuf;

/// The operating systems that differ in where the driver is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum System {
    /// Linux, and what names its libraries as it does.
    Linux,
    /// Linux below Windows (WSL), where Windows' driver brings the library.
    Wsl,
    /// Windows.
    Windows,
}

/// What of a machine decides where the driver is looked for.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Environment {
    /// The operating system.
    pub system: System,
    /// A library to use instead of all others: the environment variable `KERNITE_CUDA_DRIVER`, when it is set and not
    /// empty.
    pub library: Option<PathBuf>,
}

impl Environment {
    /// An environment in which nothing is set.
    pub fn of(system: System) -> Environment {
        Environment {
            system,
            library: None,
        }
    }

    /// This process's environment.
    pub fn current() -> Environment {
        let system = if cfg!(windows) {
            System::Windows
        } else if std::path::Path::new("/usr/lib/wsl/lib").is_dir() {
            System::Wsl
        } else {
            System::Linux
        };
        let library = std::env::var_os("KERNITE_CUDA_DRIVER")
            .filter(|value| !value.is_empty())
            .map(PathBuf::from);
        Environment { system, library }
    }
}

/// The names to try, in order. A bare name is looked up as the system's loader does.
///
/// Linux: `libcuda.so.1`, which the driver's package installs, then `libcuda.so`, which some containers have alone. WSL
/// keeps it in `/usr/lib/wsl/lib`, which the loader may not know. Windows: `nvcuda.dll`.
///
/// ```
/// use kernite::cuda::sys::{Environment, System, candidates};
/// let names = candidates(&Environment::of(System::Linux));
/// assert_eq!(names, ["libcuda.so.1", "libcuda.so"].map(std::path::PathBuf::from));
/// ```
pub fn candidates(environment: &Environment) -> Vec<PathBuf> {
    if let Some(library) = &environment.library {
        return vec![library.clone()];
    }
    let names: &[&str] = match environment.system {
        System::Linux => &["libcuda.so.1", "libcuda.so"],
        System::Wsl => &[
            "libcuda.so.1",
            "/usr/lib/wsl/lib/libcuda.so.1",
            "libcuda.so",
            "/usr/lib/wsl/lib/libcuda.so",
        ],
        System::Windows => &["nvcuda.dll"],
    };
    names.iter().map(PathBuf::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_system_has_its_names() {
        let names = |system| candidates(&Environment::of(system));
        assert_eq!(
            names(System::Linux),
            ["libcuda.so.1", "libcuda.so"].map(PathBuf::from)
        );
        assert_eq!(names(System::Windows), [PathBuf::from("nvcuda.dll")]);
        let wsl = names(System::Wsl);
        assert_eq!(wsl[0], PathBuf::from("libcuda.so.1"));
        assert!(wsl.contains(&PathBuf::from("/usr/lib/wsl/lib/libcuda.so.1")));
    }

    #[test]
    fn a_library_that_is_named_is_the_only_one() {
        let mut environment = Environment::of(System::Linux);
        environment.library = Some("/somewhere/libcuda.so.1".into());
        assert_eq!(
            candidates(&environment),
            [PathBuf::from("/somewhere/libcuda.so.1")]
        );
    }
}
