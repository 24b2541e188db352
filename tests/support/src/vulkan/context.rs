//! Instance and device: made once, with every feature that the device has.

use std::ffi::{CStr, c_void};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, OnceLock};

use ash::{Device, Entry, Instance, ext, khr, vk};

use super::info::{self, DeviceInfo, Features, RawFeatures};
use super::probe::FmaProbe;
use super::{DEVICE, Error, VALIDATION, diagnosis};

const LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";

/// A device that is ready to run compute shaders. Usable from any thread; the
/// dispatches of all threads run one after another.
pub struct Context {
    // In this order: the device's functions live in the driver that the instance
    // holds, whose loader the entry keeps open. None is ever destroyed, since the
    // one context of a process lives in a static.
    pub(super) device: Device,
    _instance: Instance,
    _entry: Entry,
    pub(super) queue: vk::Queue,
    pub(super) family: u32,
    pub(super) memory: vk::PhysicalDeviceMemoryProperties,
    pub(super) validating: bool,
    /// Held while a dispatch runs: a queue is not to be used from two threads.
    pub(super) running: Mutex<()>,
    pub(super) lost: AtomicBool,
    pub(super) fma: OnceLock<FmaProbe>,
    info: DeviceInfo,
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context")
            .field("info", &self.info)
            .finish_non_exhaustive()
    }
}

/// Names the call that a code comes from.
pub(super) fn call(call: &'static str) -> impl Fn(vk::Result) -> Error {
    move |code| Error::Call { call, code }
}

/// The validation layer's errors since the last dispatch.
pub(super) static MESSAGES: Mutex<Vec<String>> = Mutex::new(Vec::new());

unsafe extern "system" fn on_message(
    _severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _kind: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    _user: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: Vulkan passes a valid structure, whose message is null or a string
    // that ends in NUL, both alive during the call.
    let message = unsafe {
        data.as_ref()
            .filter(|data| !data.p_message.is_null())
            .map(|data| {
                CStr::from_ptr(data.p_message)
                    .to_string_lossy()
                    .into_owned()
            })
    };
    if let (Some(message), Ok(mut messages)) = (message, MESSAGES.lock()) {
        messages.push(message);
    }
    vk::FALSE
}

impl Context {
    /// What the device is and has.
    pub fn info(&self) -> &DeviceInfo {
        &self.info
    }

    /// Makes the device that fits `wanted`, a value of the variable [`DEVICE`].
    pub(super) fn create(wanted: &str) -> Result<Self, Error> {
        // SAFETY: the system's Vulkan loader has no initialisation of its own that
        // could be unsound, and the entry outlives everything made from it.
        let entry = unsafe { Entry::load() }.map_err(|e| Error::NoLoader(e.to_string()))?;
        let validating = std::env::var(VALIDATION).is_ok_and(|value| value == "1");
        let instance = create_instance(&entry, validating).map_err(|error| match error {
            // What the loader answers where no driver could be opened.
            Error::Call {
                call,
                code: code @ vk::Result::ERROR_INCOMPATIBLE_DRIVER,
            } => no_device(&entry, wanted, vec![format!("none: {call} says {code:?}")]),
            error => error,
        })?;
        let (physical, family) = match choose(&instance, wanted)? {
            Ok(chosen) => chosen,
            Err(found) => return Err(no_device(&entry, wanted, found)),
        };
        // SAFETY: the physical device is the instance's.
        let memory = unsafe { instance.get_physical_device_memory_properties(physical) };
        let (device, info) = create_device(&instance, physical, family)?;
        // SAFETY: the device was made with one queue of this family.
        let queue = unsafe { device.get_device_queue(family, 0) };
        Ok(Self {
            device,
            _instance: instance,
            _entry: entry,
            queue,
            family,
            memory,
            validating,
            running: Mutex::new(()),
            lost: AtomicBool::new(false),
            fma: OnceLock::new(),
            info,
        })
    }
}

fn create_instance(entry: &Entry, validating: bool) -> Result<Instance, Error> {
    let app = vk::ApplicationInfo::default()
        .application_name(c"kernite-testkit")
        .api_version(vk::API_VERSION_1_3);
    let mut layers = Vec::new();
    let mut extensions = Vec::new();
    if validating {
        // SAFETY: the entry's functions are loaded.
        let there = unsafe { entry.enumerate_instance_layer_properties() }
            .map_err(call("vkEnumerateInstanceLayerProperties"))?;
        if !there
            .iter()
            .any(|layer| layer.layer_name_as_c_str() == Ok(LAYER))
        {
            return Err(Error::NoValidationLayer);
        }
        layers.push(LAYER.as_ptr());
        extensions.push(ext::debug_utils::NAME.as_ptr());
    }
    let create = vk::InstanceCreateInfo::default()
        .application_info(&app)
        .enabled_layer_names(&layers)
        .enabled_extension_names(&extensions);
    // SAFETY: every pointer in the structure is to something alive here.
    let instance =
        unsafe { entry.create_instance(&create, None) }.map_err(call("vkCreateInstance"))?;
    if validating {
        let messenger = vk::DebugUtilsMessengerCreateInfoEXT::default()
            .message_severity(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR)
            .message_type(vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION)
            .pfn_user_callback(Some(on_message));
        let functions = ext::debug_utils::Instance::new(entry, &instance);
        // SAFETY: the extension is enabled, and the callback touches a static only.
        unsafe { functions.create_debug_utils_messenger(&messenger, None) }
            .map_err(call("vkCreateDebugUtilsMessengerEXT"))?;
    }
    Ok(instance)
}

fn no_device(entry: &Entry, wanted: &str, found: Vec<String>) -> Error {
    Error::NoDevice {
        wanted: wanted.into(),
        found,
        diagnosis: diagnosis::report(entry),
    }
}

/// The device that is asked for; empty when none is.
pub(super) fn wanted() -> String {
    std::env::var(DEVICE).unwrap_or_default()
}

/// How well a device fits what is wanted, the higher the better; `None` where it
/// does not fit.
fn fitness(wanted: &str, name: &str, kind: vk::PhysicalDeviceType) -> Option<u8> {
    let by_kind = match kind {
        vk::PhysicalDeviceType::DISCRETE_GPU => 4,
        vk::PhysicalDeviceType::INTEGRATED_GPU => 3,
        vk::PhysicalDeviceType::VIRTUAL_GPU => 2,
        vk::PhysicalDeviceType::CPU => 0,
        _ => 1,
    };
    let lavapipe = name.contains("llvmpipe");
    match wanted {
        "" => Some(if lavapipe { 5 } else { by_kind }),
        "lavapipe" => lavapipe.then_some(0),
        "gpu" => (by_kind > 0).then_some(by_kind),
        "any" => Some(by_kind),
        part => name
            .to_lowercase()
            .contains(&part.to_lowercase())
            .then_some(0),
    }
}

/// The device that fits best and its family of queues that compute, or the names of those that do not fit.
type Choice = Result<(vk::PhysicalDevice, u32), Vec<String>>;

fn choose(instance: &Instance, wanted: &str) -> Result<Choice, Error> {
    let mut found = Vec::new();
    let mut best: Option<(u8, vk::PhysicalDevice, u32)> = None;
    // SAFETY: the instance is alive.
    let devices = unsafe { instance.enumerate_physical_devices() }
        .map_err(call("vkEnumeratePhysicalDevices"))?;
    for physical in devices {
        // SAFETY: the physical device is the instance's.
        let (properties, families) = unsafe {
            (
                instance.get_physical_device_properties(physical),
                instance.get_physical_device_queue_family_properties(physical),
            )
        };
        let name = info::name(&properties);
        let family = families
            .iter()
            .position(|family| family.queue_flags.contains(vk::QueueFlags::COMPUTE))
            .and_then(|index| u32::try_from(index).ok());
        if let (Some(family), true) = (family, properties.api_version >= vk::API_VERSION_1_2) {
            let fits = fitness(wanted, &name, properties.device_type);
            if let Some(fits) = fits.filter(|&fits| best.is_none_or(|(most, ..)| fits > most)) {
                best = Some((fits, physical, family));
            }
        }
        found.push(diagnosis::unfit(
            &name,
            properties.api_version,
            family.is_some(),
        ));
    }
    Ok(best
        .map(|(_, physical, family)| (physical, family))
        .ok_or(found))
}

fn create_device(
    instance: &Instance,
    physical: vk::PhysicalDevice,
    family: u32,
) -> Result<(Device, DeviceInfo), Error> {
    // SAFETY: the physical device is the instance's.
    let (offered, core) = unsafe {
        (
            instance
                .enumerate_device_extension_properties(physical)
                .map_err(call("vkEnumerateDeviceExtensionProperties"))?,
            instance.get_physical_device_properties(physical),
        )
    };
    let has = |name: &CStr| {
        offered
            .iter()
            .any(|extension| extension.extension_name_as_c_str() == Ok(name))
    };
    let v13 = core.api_version >= vk::API_VERSION_1_3;
    let atomic_float = has(ext::shader_atomic_float::NAME);
    let atomic_float2 = atomic_float && has(ext::shader_atomic_float2::NAME);
    let mut extensions = Vec::new();
    for (wanted, name) in [
        (atomic_float, ext::shader_atomic_float::NAME),
        (atomic_float2, ext::shader_atomic_float2::NAME),
        // Has to be enabled where it is offered.
        (
            has(khr::portability_subset::NAME),
            khr::portability_subset::NAME,
        ),
    ] {
        if wanted {
            extensions.push(name.as_ptr());
        }
    }

    let mut raw = RawFeatures::default();
    let mut query = vk::PhysicalDeviceFeatures2::default()
        .push_next(&mut raw.v11)
        .push_next(&mut raw.v12);
    if v13 {
        query = query.push_next(&mut raw.v13);
    }
    if atomic_float {
        query = query.push_next(&mut raw.atomic_float);
    }
    if atomic_float2 {
        query = query.push_next(&mut raw.atomic_float2);
    }
    // SAFETY: the chain's structures are alive, none occurs twice, and the device
    // knows each of them by its version or extensions.
    unsafe { instance.get_physical_device_features2(physical, &mut query) };
    raw.core = query.features;
    // The structures still point at one another as chained for the query.
    raw.v11.p_next = std::ptr::null_mut();
    raw.v12.p_next = std::ptr::null_mut();
    raw.v13.p_next = std::ptr::null_mut();
    raw.atomic_float.p_next = std::ptr::null_mut();
    raw.atomic_float2.p_next = std::ptr::null_mut();
    // Everything that the device has is enabled, but for what would hide faults of
    // the code under test or bring conditions of its own.
    raw.core.robust_buffer_access = vk::FALSE;
    raw.v11.protected_memory = vk::FALSE;
    raw.v12.buffer_device_address_capture_replay = vk::FALSE;
    raw.v12.buffer_device_address_multi_device = vk::FALSE;
    let features = Features::read(&raw);

    let priorities = [1.0];
    let queues = [vk::DeviceQueueCreateInfo::default()
        .queue_family_index(family)
        .queue_priorities(&priorities)];
    let mut create = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queues)
        .enabled_extension_names(&extensions)
        .enabled_features(&raw.core)
        .push_next(&mut raw.v11)
        .push_next(&mut raw.v12);
    if v13 {
        create = create.push_next(&mut raw.v13);
    }
    if atomic_float {
        create = create.push_next(&mut raw.atomic_float);
    }
    if atomic_float2 {
        create = create.push_next(&mut raw.atomic_float2);
    }
    // SAFETY: as for the query; features and extensions are what the device
    // offers, and all pointers are to things alive here.
    let device = unsafe { instance.create_device(physical, &create, None) }
        .map_err(call("vkCreateDevice"))?;

    let mut properties11 = vk::PhysicalDeviceVulkan11Properties::default();
    let mut properties12 = vk::PhysicalDeviceVulkan12Properties::default();
    let mut properties13 = vk::PhysicalDeviceVulkan13Properties::default();
    let mut query = vk::PhysicalDeviceProperties2::default()
        .push_next(&mut properties11)
        .push_next(&mut properties12);
    if v13 {
        query = query.push_next(&mut properties13);
    }
    // SAFETY: as for the features.
    unsafe { instance.get_physical_device_properties2(physical, &mut query) };
    let info = info::device_info(&core, &properties11, &properties12, &properties13, features);
    Ok((device, info))
}

#[cfg(test)]
mod tests {
    use super::fitness;
    use ash::vk::PhysicalDeviceType as Kind;

    #[test]
    fn devices_are_chosen_by_name_and_kind() {
        let lavapipe = "llvmpipe (LLVM 15.0.6, 256 bits)";
        let gpu = "NVIDIA H200";
        let best = |wanted| {
            let cpu = fitness(wanted, lavapipe, Kind::CPU);
            let gpu = fitness(wanted, gpu, Kind::DISCRETE_GPU);
            (cpu, gpu)
        };
        let (cpu, dgpu) = best("");
        assert!(cpu > dgpu);
        let (cpu, dgpu) = best("any");
        assert!(cpu < dgpu && cpu.is_some());
        assert!(matches!(best("gpu"), (None, Some(_))));
        assert!(matches!(best("lavapipe"), (Some(_), None)));
        assert!(matches!(best("h200"), (None, Some(_))));
        assert_eq!(best("radeon"), (None, None));
    }
}
