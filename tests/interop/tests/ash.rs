//! A kernel launched through Vulkan's own calls from its words and its signature alone: which features the device is made
//! with, how sets, push constants and pipeline are laid out, and what is asked of subgroups.
#![allow(unsafe_code)]

use ash::{Device, Entry, Instance, vk};
use kernite::kernel::{DeviceFeature, ParameterKind, Signature};
use kernite::spirv;
use kernite_interop_tests::{Case, push_constants, saxpy, sums};
use kernite_testkit::vulkan::Context;
use std::collections::BTreeMap;
use std::ffi::CString;

/// The features of a device, all off, to switch on what a signature names.
#[derive(Default)]
struct Features {
    core: vk::PhysicalDeviceFeatures,
    v11: vk::PhysicalDeviceVulkan11Features<'static>,
    v12: vk::PhysicalDeviceVulkan12Features<'static>,
    v13: vk::PhysicalDeviceVulkan13Features<'static>,
}

impl Features {
    fn of(signature: &Signature) -> Features {
        let mut on = Features::default();
        for feature in &signature.features {
            match feature {
                DeviceFeature::ShaderInt64 => on.core.shader_int64 = vk::TRUE,
                DeviceFeature::ShaderFloat64 => on.core.shader_float64 = vk::TRUE,
                DeviceFeature::StorageBuffer16BitAccess => {
                    on.v11.storage_buffer16_bit_access = vk::TRUE;
                }
                DeviceFeature::StorageBuffer8BitAccess => {
                    on.v12.storage_buffer8_bit_access = vk::TRUE;
                }
                DeviceFeature::ShaderFloat16 => on.v12.shader_float16 = vk::TRUE,
                DeviceFeature::ShaderBufferInt64Atomics => {
                    on.v12.shader_buffer_int64_atomics = vk::TRUE;
                }
                DeviceFeature::ShaderSharedInt64Atomics => {
                    on.v12.shader_shared_int64_atomics = vk::TRUE;
                }
                DeviceFeature::ShaderSubgroupExtendedTypes => {
                    on.v12.shader_subgroup_extended_types = vk::TRUE;
                }
                DeviceFeature::ComputeFullSubgroups => on.v13.compute_full_subgroups = vk::TRUE,
                DeviceFeature::SubgroupSizeControl => on.v13.subgroup_size_control = vk::TRUE,
                DeviceFeature::ShaderZeroInitializeWorkgroupMemory => {
                    on.v13.shader_zero_initialize_workgroup_memory = vk::TRUE;
                }
                DeviceFeature::ShaderIntegerDotProduct => {
                    on.v13.shader_integer_dot_product = vk::TRUE;
                }
                // Of VK_EXT_shader_atomic_float, which these kernels do without.
                other => panic!("these kernels do not need {other:?}"),
            }
        }
        // Vulkan has the one only with the other.
        on.v13.subgroup_size_control |= on.v13.compute_full_subgroups;
        on
    }
}

/// The device that the other tests use, with nothing but what the signature needs.
fn device(
    instance: &Instance,
    name: &str,
    signature: &Signature,
) -> (vk::PhysicalDevice, Device, u32) {
    // SAFETY: the instance lives.
    let physical = unsafe { instance.enumerate_physical_devices() }.unwrap();
    let physical = physical.into_iter().find(|&physical| {
        // SAFETY: the physical device is the instance's.
        let properties = unsafe { instance.get_physical_device_properties(physical) };
        properties
            .device_name_as_c_str()
            .is_ok_and(|found| found.to_string_lossy() == name)
    });
    let physical = physical.unwrap();
    // SAFETY: as above.
    let families = unsafe { instance.get_physical_device_queue_family_properties(physical) };
    let family = families
        .iter()
        .position(|family| family.queue_flags.contains(vk::QueueFlags::COMPUTE))
        .unwrap() as u32;
    let mut on = Features::of(signature);
    let queues = [vk::DeviceQueueCreateInfo::default()
        .queue_family_index(family)
        .queue_priorities(&[1.0])];
    let create = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queues)
        .enabled_features(&on.core)
        .push_next(&mut on.v11)
        .push_next(&mut on.v12)
        .push_next(&mut on.v13);
    // SAFETY: every pointer is to something alive here; the device has the features (`run` asks).
    let device = unsafe { instance.create_device(physical, &create, None) }.unwrap();
    (physical, device, family)
}

/// Memory that the host sees too.
fn memory_type(memory: &vk::PhysicalDeviceMemoryProperties, allowed: u32) -> u32 {
    let wanted = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
    let found = (0u32..).zip(memory.memory_types_as_slice());
    let mut found =
        found.filter(|(n, ty)| allowed & 1 << n != 0 && ty.property_flags.contains(wanted));
    found.next().unwrap().0
}

/// The buffers' contents after a launch.
fn run(name: &str, subgroup_size: u32, case: &Case) -> Vec<Vec<u8>> {
    let words = spirv::emit(&case.kernel, &spirv::Options::default()).unwrap();
    let signature = case.kernel.signature();
    let compute = vk::ShaderStageFlags::COMPUTE;
    // SAFETY: handles are used with what made them, pointers are to what lives through the call, the module is valid,
    // the buffers are as large as the kernel's accesses need, and nothing is destroyed before the queue is idle.
    unsafe {
        let entry = Entry::load().unwrap();
        let app = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
        let create = vk::InstanceCreateInfo::default().application_info(&app);
        let instance = entry.create_instance(&create, None).unwrap();
        let (physical, device, family) = device(&instance, name, &signature);
        let memory = instance.get_physical_device_memory_properties(physical);

        // A buffer for each buffer parameter, at its set and binding.
        let mut buffers = Vec::new();
        let mut sets: BTreeMap<u32, Vec<(u32, vk::Buffer)>> = BTreeMap::new();
        let mut inputs = case.buffers().into_iter();
        for param in &signature.params {
            let ParameterKind::Buffer { set, binding, .. } = param.kind else {
                continue;
            };
            let bytes = inputs.next().unwrap();
            let create = vk::BufferCreateInfo::default()
                .size(bytes.len() as u64)
                .usage(vk::BufferUsageFlags::STORAGE_BUFFER);
            let buffer = device.create_buffer(&create, None).unwrap();
            let needs = device.get_buffer_memory_requirements(buffer);
            let allocate = vk::MemoryAllocateInfo::default()
                .allocation_size(needs.size)
                .memory_type_index(memory_type(&memory, needs.memory_type_bits));
            let held = device.allocate_memory(&allocate, None).unwrap();
            device.bind_buffer_memory(buffer, held, 0).unwrap();
            let flags = vk::MemoryMapFlags::empty();
            let mapped = device.map_memory(held, 0, vk::WHOLE_SIZE, flags).unwrap();
            let mapped = mapped.cast::<u8>();
            mapped.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            buffers.push((buffer, held, mapped, bytes.len()));
            sets.entry(set).or_default().push((binding, buffer));
        }

        // A layout for every set up to the last, since sets are numbered.
        let last = sets.keys().next_back().map_or(0, |last| last + 1);
        let mut layouts = Vec::new();
        for set in 0..last {
            let bindings: Vec<_> = sets.get(&set).into_iter().flatten().collect();
            let bindings: Vec<_> = bindings
                .iter()
                .map(|(binding, _)| {
                    vk::DescriptorSetLayoutBinding::default()
                        .binding(*binding)
                        .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                        .descriptor_count(1)
                        .stage_flags(compute)
                })
                .collect();
            let create = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            layouts.push(device.create_descriptor_set_layout(&create, None).unwrap());
        }
        let sizes = [vk::DescriptorPoolSize::default()
            .ty(vk::DescriptorType::STORAGE_BUFFER)
            .descriptor_count(buffers.len() as u32)];
        let create = vk::DescriptorPoolCreateInfo::default()
            .max_sets(last)
            .pool_sizes(&sizes);
        let pool = device.create_descriptor_pool(&create, None).unwrap();
        let allocate = vk::DescriptorSetAllocateInfo::default()
            .descriptor_pool(pool)
            .set_layouts(&layouts);
        let descriptors = device.allocate_descriptor_sets(&allocate).unwrap();
        for (&set, bindings) in &sets {
            for &(binding, buffer) in bindings {
                let info = [vk::DescriptorBufferInfo::default()
                    .buffer(buffer)
                    .range(vk::WHOLE_SIZE)];
                let write = vk::WriteDescriptorSet::default()
                    .dst_set(descriptors[set as usize])
                    .dst_binding(binding)
                    .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                    .buffer_info(&info);
                device.update_descriptor_sets(&[write], &[]);
            }
        }

        // The pipeline: the scalars' block, the entry's name, the subgroups.
        let push = push_constants(&signature, &case.args);
        let ranges = [vk::PushConstantRange::default()
            .stage_flags(compute)
            .size(push.len() as u32)];
        let create = vk::PipelineLayoutCreateInfo::default()
            .set_layouts(&layouts)
            .push_constant_ranges(if push.is_empty() { &[] } else { &ranges });
        let layout = device.create_pipeline_layout(&create, None).unwrap();
        let create = vk::ShaderModuleCreateInfo::default().code(&words);
        let module = device.create_shader_module(&create, None).unwrap();
        let entry_name = CString::new(signature.name.clone()).unwrap();
        let mut stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(compute)
            .module(module)
            .name(&entry_name);
        let mut required = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default();
        if let Some(size) = signature.required_subgroup_size {
            required.required_subgroup_size = size;
            stage = stage.push_next(&mut required);
        }
        if signature.full_subgroups {
            // Vulkan takes the flag where the workgroup's x is a multiple of their size.
            assert!(signature.workgroup_size[0].is_multiple_of(subgroup_size));
            stage = stage.flags(vk::PipelineShaderStageCreateFlags::REQUIRE_FULL_SUBGROUPS);
        }
        let create = vk::ComputePipelineCreateInfo::default()
            .stage(stage)
            .layout(layout);
        let pipelines = device.create_compute_pipelines(vk::PipelineCache::null(), &[create], None);
        let pipeline = pipelines.unwrap()[0];

        let create = vk::CommandPoolCreateInfo::default().queue_family_index(family);
        let commands = device.create_command_pool(&create, None).unwrap();
        let allocate = vk::CommandBufferAllocateInfo::default()
            .command_pool(commands)
            .command_buffer_count(1);
        let recorded = device.allocate_command_buffers(&allocate).unwrap()[0];
        let begin = vk::CommandBufferBeginInfo::default();
        device.begin_command_buffer(recorded, &begin).unwrap();
        let point = vk::PipelineBindPoint::COMPUTE;
        device.cmd_bind_pipeline(recorded, point, pipeline);
        device.cmd_bind_descriptor_sets(recorded, point, layout, 0, &descriptors, &[]);
        if !push.is_empty() {
            device.cmd_push_constants(recorded, layout, compute, 0, &push);
        }
        let [x, y, z] = case.grid;
        device.cmd_dispatch(recorded, x, y, z);
        let to_host = [vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::SHADER_WRITE)
            .dst_access_mask(vk::AccessFlags::HOST_READ)];
        device.cmd_pipeline_barrier(
            recorded,
            vk::PipelineStageFlags::COMPUTE_SHADER,
            vk::PipelineStageFlags::HOST,
            vk::DependencyFlags::empty(),
            &to_host,
            &[],
            &[],
        );
        device.end_command_buffer(recorded).unwrap();
        let recorded = [recorded];
        let submit = [vk::SubmitInfo::default().command_buffers(&recorded)];
        let queue = device.get_device_queue(family, 0);
        device
            .queue_submit(queue, &submit, vk::Fence::null())
            .unwrap();
        device.queue_wait_idle(queue).unwrap();

        let contents = buffers
            .iter()
            .map(|&(_, _, mapped, len)| std::slice::from_raw_parts(mapped, len).to_vec());
        let contents = contents.collect();
        device.destroy_command_pool(commands, None);
        device.destroy_pipeline(pipeline, None);
        device.destroy_shader_module(module, None);
        device.destroy_pipeline_layout(layout, None);
        device.destroy_descriptor_pool(pool, None);
        for layout in layouts {
            device.destroy_descriptor_set_layout(layout, None);
        }
        for (buffer, held, ..) in buffers {
            device.destroy_buffer(buffer, None);
            device.free_memory(held, None);
        }
        device.destroy_device(None);
        instance.destroy_instance(None);
        contents
    }
}

#[test]
fn a_signature_is_enough_to_launch() {
    let Some(device) = Context::get() else { return };
    let info = device.info();
    for case in [saxpy(), sums(3)] {
        for feature in case.kernel.signature().features {
            let has = info.features.get(feature.vulkan_name());
            assert_eq!(
                has,
                Some(true),
                "{} on {}",
                feature.vulkan_name(),
                info.name
            );
        }
        let size = info.subgroups.size;
        case.check(&run(&info.name, size, &case), size);
    }
}

#[test]
fn the_kernels_ask_for_what_they_need() {
    let needs = |case: &Case| case.kernel.signature().features;
    assert_eq!(needs(&saxpy()), []);
    assert_eq!(
        needs(&sums(3)),
        [
            DeviceFeature::ShaderFloat64,
            DeviceFeature::ComputeFullSubgroups
        ]
    );
}
