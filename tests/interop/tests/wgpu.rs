//! A kernel given to wgpu as it is, by passthrough of its SPIR-V, and launched from its signature.
#![allow(unsafe_code)]

use kernite::kernel::{DeviceFeature, ParameterKind, Signature};
use kernite::spirv;
use kernite_interop_tests::{Case, push_constants, saxpy, sums};
use kernite_testkit::vulkan::Context;
use wgpu::util::DeviceExt;
use wgpu::{Backends, BufferUsages, Features, ShaderStages};

/// wgpu's features by kernite's. What wgpu enables by itself where a device has it needs none.
fn features(signature: &Signature) -> Features {
    let mut features = Features::PASSTHROUGH_SHADERS;
    if signature.push_constant_bytes > 0 {
        features |= Features::IMMEDIATES;
    }
    for feature in &signature.features {
        features |= match feature {
            DeviceFeature::ShaderFloat64 => Features::SHADER_F64,
            DeviceFeature::ShaderInt64 => Features::SHADER_INT64,
            DeviceFeature::ShaderFloat16 => Features::SHADER_F16,
            DeviceFeature::ComputeFullSubgroups => Features::SUBGROUP,
            other => panic!("these kernels do not need {other:?}"),
        };
    }
    features
}

/// wgpu's adapter of the device that the other tests use.
fn adapter(name: &str) -> wgpu::Adapter {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = Backends::VULKAN;
    let instance = wgpu::Instance::new(descriptor);
    let adapters = pollster::block_on(instance.enumerate_adapters(Backends::VULKAN));
    let names: Vec<String> = adapters.iter().map(|a| a.get_info().name).collect();
    let found = adapters.into_iter().find(|a| a.get_info().name == name);
    found.unwrap_or_else(|| panic!("wgpu does not find {name}, but {names:?}"))
}

/// The buffers' contents after a launch.
fn run(adapter: &wgpu::Adapter, case: &Case) -> Vec<Vec<u8>> {
    let signature = case.kernel.signature();
    let words = spirv::emit(&case.kernel, &spirv::Options::default()).unwrap();
    let push = push_constants(&signature, &case.args);

    let required_limits = wgpu::Limits {
        max_immediate_size: push.len() as u32,
        ..adapter.limits()
    };
    let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
        required_features: features(&signature),
        required_limits,
        // SAFETY: passthrough is counted among what wgpu does not vouch for; the words are kernite's own.
        experimental_features: unsafe { wgpu::ExperimentalFeatures::enabled() },
        ..Default::default()
    }))
    .unwrap();

    let [x, y, z] = signature.workgroup_size;
    let entry = wgpu::PassthroughShaderEntryPoint {
        name: (&signature.name[..]).into(),
        workgroup_size: (x, y, z),
    };
    // SAFETY: the module is valid, which the other tests ask spirv-val about, and reads and writes within its buffers.
    let module = unsafe {
        device.create_shader_module_passthrough(wgpu::ShaderModuleDescriptorPassthrough {
            label: Some(&signature.name),
            entry_points: [entry].as_slice().into(),
            spirv: Some(words.into()),
            ..Default::default()
        })
    };

    let mut inputs = case.buffers().into_iter();
    let mut buffers = Vec::new();
    let mut sets: Vec<Vec<(u32, usize, bool)>> = Vec::new();
    for param in &signature.params {
        let ParameterKind::Buffer {
            set,
            binding,
            access,
            ..
        } = param.kind
        else {
            continue;
        };
        if sets.len() <= set as usize {
            sets.resize(set as usize + 1, Vec::new());
        }
        sets[set as usize].push((binding, buffers.len(), !access.writes()));
        buffers.push(
            device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
                label: Some(&param.name),
                contents: inputs.next().unwrap(),
                usage: BufferUsages::STORAGE | BufferUsages::COPY_SRC,
            }),
        );
    }
    let mut layouts = Vec::new();
    let mut groups = Vec::new();
    for bindings in &sets {
        let entries: Vec<_> = bindings
            .iter()
            .map(|&(binding, _, read_only)| wgpu::BindGroupLayoutEntry {
                binding,
                visibility: ShaderStages::COMPUTE,
                ty: wgpu::BindingType::Buffer {
                    ty: wgpu::BufferBindingType::Storage { read_only },
                    has_dynamic_offset: false,
                    min_binding_size: None,
                },
                count: None,
            })
            .collect();
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: None,
            entries: &entries,
        });
        let entries: Vec<_> = bindings
            .iter()
            .map(|&(binding, buffer, _)| wgpu::BindGroupEntry {
                binding,
                resource: buffers[buffer].as_entire_binding(),
            })
            .collect();
        groups.push(device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &layout,
            entries: &entries,
        }));
        layouts.push(layout);
    }
    let some: Vec<_> = layouts.iter().map(Some).collect();
    let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: None,
        bind_group_layouts: &some,
        immediate_size: push.len() as u32,
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: Some(&layout),
        module: &module,
        entry_point: Some(&signature.name),
        compilation_options: Default::default(),
        cache: None,
    });

    let mut encoder = device.create_command_encoder(&Default::default());
    {
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&pipeline);
        for (set, group) in (0..).zip(&groups) {
            pass.set_bind_group(set, group, &[]);
        }
        if !push.is_empty() {
            pass.set_immediates(0, &push);
        }
        let [x, y, z] = case.grid;
        pass.dispatch_workgroups(x, y, z);
    }
    let read: Vec<_> = buffers
        .iter()
        .map(|buffer| {
            let read = device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size: buffer.size(),
                usage: BufferUsages::MAP_READ | BufferUsages::COPY_DST,
                mapped_at_creation: false,
            });
            encoder.copy_buffer_to_buffer(buffer, 0, &read, 0, buffer.size());
            read
        })
        .collect();
    queue.submit([encoder.finish()]);
    for buffer in &read {
        buffer.map_async(wgpu::MapMode::Read, .., |mapped| mapped.unwrap());
    }
    device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    let contents = read.iter().map(|buffer| {
        let mapped = buffer.get_mapped_range(..).unwrap();
        mapped.to_vec()
    });
    contents.collect()
}

#[test]
fn wgpu_runs_a_kernel_by_passthrough() {
    let Some(device) = Context::get() else { return };
    let adapter = adapter(&device.info().name);
    // wgpu numbers the bindings of a set anew from 0, so modules that it does not look into have to do the same.
    for case in [saxpy(), sums(1)] {
        case.check(&run(&adapter, &case), device.info().subgroups.size);
    }
}
