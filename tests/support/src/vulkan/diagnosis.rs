//! What a person needs to know where no device is found: mostly it is a library that a driver wants and nobody has.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use ash::{Entry, vk};

use super::info;

/// The variables that steer Vulkan's loader and the dynamic one.
const VARIABLES: [&str; 7] = [
    "VK_DRIVER_FILES",
    "VK_ICD_FILENAMES",
    "VK_ADD_DRIVER_FILES",
    "VK_LOADER_DRIVERS_SELECT",
    "VK_LOADER_DEBUG",
    "LD_LIBRARY_PATH",
    "DISPLAY",
];

/// Where drivers' manifests are looked for on Linux, when no variable names them.
const FOLDERS: [&str; 4] = [
    "/usr/local/etc/vulkan/icd.d",
    "/usr/local/share/vulkan/icd.d",
    "/etc/vulkan/icd.d",
    "/usr/share/vulkan/icd.d",
];

/// The loader's version, the environment, and each driver's manifest with what the dynamic loader says of its library.
pub(super) fn report(entry: &Entry) -> String {
    let mut out = String::new();
    // SAFETY: the entry's functions are loaded.
    let version = match unsafe { entry.try_enumerate_instance_version() } {
        Ok(Some(raw)) => {
            let (major, minor, patch) = info::version(raw);
            format!("{major}.{minor}.{patch}")
        }
        Ok(None) => "1.0, which has no such call".into(),
        Err(code) => format!("{code:?}"),
    };
    let _ = write!(out, "\n  vkEnumerateInstanceVersion: {version}");
    for name in VARIABLES {
        if let Some(value) = std::env::var_os(name) {
            let _ = write!(out, "\n  {name}={}", value.display());
        }
    }
    let manifests = manifests();
    if manifests.is_empty() {
        let _ = write!(
            out,
            "\n  no driver's manifest in {}; VK_DRIVER_FILES may name one elsewhere",
            FOLDERS.join(", ")
        );
    }
    for manifest in manifests {
        let _ = write!(out, "\n  {}: {}", manifest.display(), driver(&manifest));
    }
    for device in ["/dev/nvidiactl", "/dev/nvidia0", "/dev/dri"] {
        let there = if Path::new(device).exists() {
            "is there"
        } else {
            "is not there"
        };
        let _ = write!(out, "\n  {device} {there}");
    }
    out.push_str("\n  VK_LOADER_DEBUG=all has the loader tell more");
    out
}

/// The manifests that the loader looks at.
fn manifests() -> Vec<PathBuf> {
    let named = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"]
        .into_iter()
        .find_map(std::env::var_os);
    let places: Vec<PathBuf> = match named {
        Some(value) => std::env::split_paths(&value).collect(),
        None => FOLDERS.iter().map(PathBuf::from).collect(),
    };
    let mut found = Vec::new();
    for place in places {
        match std::fs::read_dir(&place) {
            Ok(entries) => found.extend(
                entries
                    .filter_map(|entry| Some(entry.ok()?.path()))
                    .filter(|path| path.extension().is_some_and(|e| e == "json")),
            ),
            // A file, or nothing at all, which is told of it.
            Err(_) if !FOLDERS.iter().any(|folder| place == Path::new(folder)) => found.push(place),
            Err(_) => {}
        }
    }
    found.sort();
    found
}

/// What comes of the library that a manifest names.
fn driver(manifest: &Path) -> String {
    let text = match std::fs::read_to_string(manifest) {
        Ok(text) => text,
        Err(error) => return error.to_string(),
    };
    let Some(library) = library(&text) else {
        return "names no library_path".into();
    };
    // A path with a slash is relative to the manifest; a bare name is the dynamic loader's to find.
    let path = match manifest.parent() {
        Some(folder) if library.contains('/') => folder.join(library),
        _ => PathBuf::from(library),
    };
    // SAFETY: a driver's library is what Vulkan's loader opens too; it does nothing else when opened, and stays open.
    match unsafe { libloading::Library::new(&path) } {
        Ok(opened) => {
            std::mem::forget(opened);
            format!("{} opens", path.display())
        }
        Err(error) => {
            let why =
                std::error::Error::source(&error).map_or(String::new(), |e| format!(" ({e})"));
            format!("{error}{why}")
        }
    }
}

/// The `library_path` of a manifest, which is JSON.
fn library(text: &str) -> Option<&str> {
    let (_, behind) = text.split_once("\"library_path\"")?;
    let (_, behind) = behind.split_once('"')?;
    let (path, _) = behind.split_once('"')?;
    Some(path)
}

/// A device that does not do, and why.
pub(super) fn unfit(name: &str, api_version: u32, computes: bool) -> String {
    let (major, minor, _) = info::version(api_version);
    if api_version < vk::API_VERSION_1_2 {
        format!("{name} (speaks Vulkan {major}.{minor}; 1.2 is needed)")
    } else if !computes {
        format!("{name} (has no queue that computes)")
    } else {
        name.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::{library, unfit};
    use ash::vk;

    #[test]
    fn manifests_are_read() {
        let text =
            r#"{ "ICD": { "api_version": "1.4.312", "library_path" : "libGLX_nvidia.so.0" } }"#;
        assert_eq!(library(text), Some("libGLX_nvidia.so.0"));
        assert_eq!(library("{}"), None);
    }

    #[test]
    fn unfit_devices_say_why() {
        assert_eq!(unfit("a", vk::API_VERSION_1_3, true), "a");
        assert!(unfit("a", vk::API_VERSION_1_1, true).contains("1.1; 1.2 is needed"));
        assert!(unfit("a", vk::API_VERSION_1_3, false).contains("no queue"));
    }
}
