//! One dispatch: buffers, pipeline, submission, results.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::sync::atomic::Ordering;
use std::time::Duration;

use ash::{Device, vk};

use super::context::{Context, MESSAGES, call};
use super::{BufferArg, BufferKind, Dispatch, Error};

/// Bytes before and after each buffer that the shader must leave alone. Also the
/// offset at which the descriptor starts, so a multiple of every offset alignment
/// that Vulkan allows a device to ask for (at most 256).
const GUARD: usize = 256;
const GUARD_BYTE: u8 = 0xA5;
const TIMEOUT: Duration = Duration::from_secs(60);

/// A buffer on the device, guarded on both sides.
struct Bound {
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    /// The bytes that the descriptor covers.
    range: usize,
}

/// Everything that a dispatch makes, destroyed together. A handle that was not
/// made yet is null, which Vulkan's destroy calls ignore.
struct Objects<'a> {
    device: &'a Device,
    buffers: Vec<Bound>,
    set_layouts: Vec<vk::DescriptorSetLayout>,
    descriptor_pool: vk::DescriptorPool,
    layout: vk::PipelineLayout,
    module: vk::ShaderModule,
    pipeline: vk::Pipeline,
    command_pool: vk::CommandPool,
    fence: vk::Fence,
}

impl<'a> Objects<'a> {
    fn new(device: &'a Device) -> Self {
        Self {
            device,
            buffers: Vec::new(),
            set_layouts: Vec::new(),
            descriptor_pool: vk::DescriptorPool::null(),
            layout: vk::PipelineLayout::null(),
            module: vk::ShaderModule::null(),
            pipeline: vk::Pipeline::null(),
            command_pool: vk::CommandPool::null(),
            fence: vk::Fence::null(),
        }
    }
}

impl Drop for Objects<'_> {
    fn drop(&mut self) {
        let device = self.device;
        // SAFETY: every handle is null or was made by this device and is destroyed
        // once, here. No submission uses them any more: the fence was waited for, or
        // nothing was submitted (where it never ended, the objects are leaked).
        unsafe {
            device.destroy_fence(self.fence, None);
            device.destroy_command_pool(self.command_pool, None);
            device.destroy_pipeline(self.pipeline, None);
            device.destroy_shader_module(self.module, None);
            device.destroy_pipeline_layout(self.layout, None);
            device.destroy_descriptor_pool(self.descriptor_pool, None);
            for &layout in &self.set_layouts {
                device.destroy_descriptor_set_layout(layout, None);
            }
            for bound in &self.buffers {
                device.destroy_buffer(bound.buffer, None);
                device.free_memory(bound.memory, None);
            }
        }
    }
}

impl Context {
    /// Runs a dispatch to its end and hands back what the buffers then hold, in
    /// the order of [`Dispatch::buffers`], each as long as it was given.
    ///
    /// # Errors
    /// The dispatch is malformed or asks for more than the device has, a call
    /// fails, the dispatch does not end, the shader writes outside a buffer, or
    /// the validation layer (where it is on) finds an error.
    pub fn run(&self, dispatch: &Dispatch<'_>) -> Result<Vec<Vec<u8>>, Error> {
        self.check(dispatch)?;
        // A test that failed while it held the lock left nothing half done: its
        // objects are destroyed by then.
        let _running = self.running.lock().unwrap_or_else(|p| p.into_inner());
        if self.lost.load(Ordering::Relaxed) {
            return Err(Error::Lost);
        }
        let mut objects = Objects::new(&self.device);
        let result = self.run_locked(dispatch, &mut objects);
        if self.lost.load(Ordering::Relaxed) {
            // The device may still be using them.
            std::mem::forget(objects);
        } else {
            drop(objects);
        }
        if self.validating {
            let mut messages = MESSAGES.lock().unwrap_or_else(|p| p.into_inner());
            if !messages.is_empty() {
                return Err(Error::Validation(std::mem::take(&mut messages)));
            }
        }
        result
    }

    fn check(&self, dispatch: &Dispatch<'_>) -> Result<(), Error> {
        let limits = &self.info().limits;
        let features = &self.info().features;
        let within = |what, needed: usize, limit: u32| {
            let (needed, limit) = (needed as u64, u64::from(limit));
            if needed > limit {
                return Err(Error::Limit {
                    what,
                    needed,
                    limit,
                });
            }
            Ok(())
        };
        let push = dispatch.push_constants.len();
        if !push.is_multiple_of(4) {
            return Err(Error::Argument(
                "push constants must be a multiple of 4 bytes",
            ));
        }
        within(
            "bytes of push constants",
            push,
            limits.max_push_constants_size,
        )?;
        for axis in 0..3 {
            let limit = limits.max_compute_work_group_count[axis];
            within("workgroups", dispatch.groups[axis] as usize, limit)?;
        }
        let mut seen = std::collections::BTreeSet::new();
        for arg in &dispatch.buffers {
            if !seen.insert((arg.set, arg.binding)) {
                return Err(Error::Argument("two buffers share set and binding"));
            }
            let sets = (arg.set as usize).saturating_add(1);
            within("descriptor sets", sets, limits.max_bound_descriptor_sets)?;
            let (what, limit) = match arg.kind {
                BufferKind::Storage => {
                    ("bytes of a storage buffer", limits.max_storage_buffer_range)
                }
                BufferKind::Uniform => {
                    ("bytes of a uniform buffer", limits.max_uniform_buffer_range)
                }
            };
            within(what, range(arg), limit)?;
        }
        if dispatch.require_full_subgroups && !features.compute_full_subgroups {
            return Err(Error::Lacks("computeFullSubgroups"));
        }
        if let Some(size) = dispatch.required_subgroup_size {
            let subgroups = &self.info().subgroups;
            if !features.subgroup_size_control || !subgroups.size_may_be_required {
                return Err(Error::Lacks("a required subgroup size in compute shaders"));
            }
            if !size.is_power_of_two() || size < subgroups.min_size || size > subgroups.max_size {
                return Err(Error::Argument("the device has no subgroups of that size"));
            }
        }
        Ok(())
    }

    fn run_locked<'a>(
        &'a self,
        dispatch: &Dispatch<'_>,
        objects: &mut Objects<'a>,
    ) -> Result<Vec<Vec<u8>>, Error> {
        for arg in &dispatch.buffers {
            self.upload(arg, objects)?;
        }
        let sets = self.descriptors(dispatch, objects)?;
        self.pipeline(dispatch, objects)?;
        let commands = self.record(dispatch, objects, &sets)?;
        self.submit(objects, commands)?;
        let args = dispatch.buffers.iter().zip(&objects.buffers);
        args.map(|(arg, bound)| self.download(arg, bound)).collect()
    }

    /// Makes the buffer, guarded on both sides, and fills it.
    fn upload(&self, arg: &BufferArg, objects: &mut Objects<'_>) -> Result<(), Error> {
        let device = &self.device;
        let range = range(arg);
        let usage = match arg.kind {
            BufferKind::Storage => vk::BufferUsageFlags::STORAGE_BUFFER,
            BufferKind::Uniform => vk::BufferUsageFlags::UNIFORM_BUFFER,
        };
        let total = (range + 2 * GUARD) as u64;
        let create = vk::BufferCreateInfo::default().size(total).usage(usage);
        // SAFETY: the structure is complete: an exclusive buffer of a size above 0.
        let buffer =
            unsafe { device.create_buffer(&create, None) }.map_err(call("vkCreateBuffer"))?;
        objects.buffers.push(Bound {
            buffer,
            memory: vk::DeviceMemory::null(),
            range,
        });
        // SAFETY: the buffer is this device's.
        let needs = unsafe { device.get_buffer_memory_requirements(buffer) };
        let allocate = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(self.memory_type(needs.memory_type_bits)?);
        // SAFETY: the memory type is one of the device's.
        let memory =
            unsafe { device.allocate_memory(&allocate, None) }.map_err(call("vkAllocateMemory"))?;
        if let Some(bound) = objects.buffers.last_mut() {
            bound.memory = memory;
        }
        // SAFETY: buffer and memory are this device's and fresh; the memory is as
        // large as the buffer needs, and of a type it allows.
        unsafe { device.bind_buffer_memory(buffer, memory, 0) }
            .map_err(call("vkBindBufferMemory"))?;
        self.mapped(memory, range, |bytes| {
            bytes.fill(GUARD_BYTE);
            let inside = &mut bytes[GUARD..GUARD + range];
            inside.fill(0);
            inside[..arg.bytes.len()].copy_from_slice(&arg.bytes);
        })
    }

    fn download(&self, arg: &BufferArg, bound: &Bound) -> Result<Vec<u8>, Error> {
        let mut result = Vec::new();
        let mut outside = None;
        self.mapped(bound.memory, bound.range, |bytes| {
            result.extend_from_slice(&bytes[GUARD..GUARD + arg.bytes.len()]);
            outside = written_outside(bytes, bound.range);
        })?;
        match outside {
            Some(offset) => Err(Error::WroteOutside {
                set: arg.set,
                binding: arg.binding,
                offset,
            }),
            None => Ok(result),
        }
    }

    /// Calls `f` with the buffer's memory, guards included.
    fn mapped(
        &self,
        memory: vk::DeviceMemory,
        range: usize,
        f: impl FnOnce(&mut [u8]),
    ) -> Result<(), Error> {
        let total = range + 2 * GUARD;
        // SAFETY: the memory is host-visible, at least `total` bytes long and not
        // mapped; the slice ends before it is unmapped, and no submission that uses
        // it is under way, since `running` is held and the fence was waited for.
        // Memory of a fresh allocation holds some bytes, whatever they are.
        unsafe {
            let start = self
                .device
                .map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())
                .map_err(call("vkMapMemory"))?;
            f(std::slice::from_raw_parts_mut(start.cast::<u8>(), total));
            self.device.unmap_memory(memory);
        }
        Ok(())
    }

    /// Memory that the host can see without flushing, cached where there is such.
    fn memory_type(&self, allowed: u32) -> Result<u32, Error> {
        let host = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        let types = self.memory.memory_types_as_slice();
        for wanted in [host | vk::MemoryPropertyFlags::HOST_CACHED, host] {
            for (index, kind) in (0_u32..).zip(types) {
                if allowed & (1 << index) != 0 && kind.property_flags.contains(wanted) {
                    return Ok(index);
                }
            }
        }
        Err(Error::Lacks("coherent host-visible memory for buffers"))
    }

    fn descriptors(
        &self,
        dispatch: &Dispatch<'_>,
        objects: &mut Objects<'_>,
    ) -> Result<Vec<vk::DescriptorSet>, Error> {
        let device = &self.device;
        let mut by_set: BTreeMap<u32, Vec<(usize, &BufferArg)>> = BTreeMap::new();
        for (index, arg) in dispatch.buffers.iter().enumerate() {
            by_set.entry(arg.set).or_default().push((index, arg));
        }
        let count = by_set.keys().next_back().map_or(0, |&last| last + 1);
        for set in 0..count {
            let args = by_set.get(&set).map_or(&[][..], Vec::as_slice);
            let bindings: Vec<_> = args
                .iter()
                .map(|(_, arg)| {
                    vk::DescriptorSetLayoutBinding::default()
                        .binding(arg.binding)
                        .descriptor_type(descriptor_type(arg.kind))
                        .descriptor_count(1)
                        .stage_flags(vk::ShaderStageFlags::COMPUTE)
                })
                .collect();
            let create = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            // SAFETY: the bindings are alive and none occurs twice (`check`).
            let layout = unsafe { device.create_descriptor_set_layout(&create, None) }
                .map_err(call("vkCreateDescriptorSetLayout"))?;
            objects.set_layouts.push(layout);
        }
        if count == 0 {
            return Ok(Vec::new());
        }
        let buffers = u32::try_from(dispatch.buffers.len()).unwrap_or(u32::MAX);
        let sizes = [BufferKind::Storage, BufferKind::Uniform].map(|kind| {
            vk::DescriptorPoolSize::default()
                .ty(descriptor_type(kind))
                .descriptor_count(buffers)
        });
        let create = vk::DescriptorPoolCreateInfo::default()
            .max_sets(count)
            .pool_sizes(&sizes);
        // SAFETY: the structure is complete; there is at least one buffer.
        objects.descriptor_pool = unsafe { device.create_descriptor_pool(&create, None) }
            .map_err(call("vkCreateDescriptorPool"))?;
        let allocate = vk::DescriptorSetAllocateInfo::default()
            .descriptor_pool(objects.descriptor_pool)
            .set_layouts(&objects.set_layouts);
        // SAFETY: pool and layouts are this device's, and the pool is large enough.
        let sets = unsafe { device.allocate_descriptor_sets(&allocate) }
            .map_err(call("vkAllocateDescriptorSets"))?;
        for (arg, bound) in dispatch.buffers.iter().zip(&objects.buffers) {
            let info = [vk::DescriptorBufferInfo::default()
                .buffer(bound.buffer)
                .offset(GUARD as u64)
                .range(bound.range as u64)];
            let write = vk::WriteDescriptorSet::default()
                .dst_set(sets[arg.set as usize])
                .dst_binding(arg.binding)
                .descriptor_type(descriptor_type(arg.kind))
                .buffer_info(&info);
            // SAFETY: set and buffer are this device's, the layout has the binding
            // with this type, and the range lies within the buffer.
            unsafe { device.update_descriptor_sets(&[write], &[]) };
        }
        Ok(sets)
    }

    fn pipeline(&self, dispatch: &Dispatch<'_>, objects: &mut Objects<'_>) -> Result<(), Error> {
        let device = &self.device;
        let entry = CString::new(dispatch.entry)
            .map_err(|_| Error::Argument("the entry point's name holds a NUL"))?;
        let size = u32::try_from(dispatch.push_constants.len()).unwrap_or(u32::MAX);
        let ranges = [vk::PushConstantRange::default()
            .stage_flags(vk::ShaderStageFlags::COMPUTE)
            .size(size)];
        let ranges = if size == 0 { &[][..] } else { &ranges[..] };
        let create = vk::PipelineLayoutCreateInfo::default()
            .set_layouts(&objects.set_layouts)
            .push_constant_ranges(ranges);
        // SAFETY: the layouts are this device's, the range is within its limit and a
        // multiple of 4 (`check`).
        objects.layout = unsafe { device.create_pipeline_layout(&create, None) }
            .map_err(call("vkCreatePipelineLayout"))?;
        let create = vk::ShaderModuleCreateInfo::default().code(dispatch.words);
        // SAFETY: the words are alive. That they are a valid module is what callers
        // are told to have checked; a driver that misbehaves on one that is not
        // fails the test run, which is why this stays in tests.
        objects.module = unsafe { device.create_shader_module(&create, None) }
            .map_err(call("vkCreateShaderModule"))?;
        let mut stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(objects.module)
            .name(&entry);
        if dispatch.require_full_subgroups {
            stage = stage.flags(vk::PipelineShaderStageCreateFlags::REQUIRE_FULL_SUBGROUPS);
        }
        let mut required = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default();
        if let Some(size) = dispatch.required_subgroup_size {
            required.required_subgroup_size = size;
            stage = stage.push_next(&mut required);
        }
        let create = vk::ComputePipelineCreateInfo::default()
            .stage(stage)
            .layout(objects.layout);
        // SAFETY: module and layout are this device's, the name ends in NUL, and
        // what the stage asks of subgroups the device has (`check`).
        let made =
            unsafe { device.create_compute_pipelines(vk::PipelineCache::null(), &[create], None) };
        let pipelines = made.map_err(|(_, code)| Error::Call {
            call: "vkCreateComputePipelines",
            code,
        })?;
        if let [pipeline] = pipelines[..] {
            objects.pipeline = pipeline;
        }
        Ok(())
    }

    fn record(
        &self,
        dispatch: &Dispatch<'_>,
        objects: &mut Objects<'_>,
        sets: &[vk::DescriptorSet],
    ) -> Result<vk::CommandBuffer, Error> {
        let device = &self.device;
        let create = vk::CommandPoolCreateInfo::default().queue_family_index(self.family);
        // SAFETY: the family is the one that the device was made with.
        objects.command_pool = unsafe { device.create_command_pool(&create, None) }
            .map_err(call("vkCreateCommandPool"))?;
        let allocate = vk::CommandBufferAllocateInfo::default()
            .command_pool(objects.command_pool)
            .level(vk::CommandBufferLevel::PRIMARY)
            .command_buffer_count(1);
        // SAFETY: the pool is this device's.
        let commands = unsafe { device.allocate_command_buffers(&allocate) }
            .map_err(call("vkAllocateCommandBuffers"))?;
        let &[commands] = &commands[..] else {
            return Err(Error::Lacks("the command buffer asked for"));
        };
        let begin = vk::CommandBufferBeginInfo::default()
            .flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        let to_host = [vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::SHADER_WRITE)
            .dst_access_mask(vk::AccessFlags::HOST_READ)];
        let [x, y, z] = dispatch.groups;
        let point = vk::PipelineBindPoint::COMPUTE;
        // SAFETY: the command buffer is fresh and recorded by this thread alone;
        // pipeline, layout and sets are this device's and alive until the fence has
        // been waited for; groups and push constants are within limits (`check`).
        unsafe {
            device
                .begin_command_buffer(commands, &begin)
                .map_err(call("vkBeginCommandBuffer"))?;
            device.cmd_bind_pipeline(commands, point, objects.pipeline);
            if !sets.is_empty() {
                device.cmd_bind_descriptor_sets(commands, point, objects.layout, 0, sets, &[]);
            }
            if !dispatch.push_constants.is_empty() {
                device.cmd_push_constants(
                    commands,
                    objects.layout,
                    vk::ShaderStageFlags::COMPUTE,
                    0,
                    &dispatch.push_constants,
                );
            }
            device.cmd_dispatch(commands, x, y, z);
            device.cmd_pipeline_barrier(
                commands,
                vk::PipelineStageFlags::COMPUTE_SHADER,
                vk::PipelineStageFlags::HOST,
                vk::DependencyFlags::empty(),
                &to_host,
                &[],
                &[],
            );
            device
                .end_command_buffer(commands)
                .map_err(call("vkEndCommandBuffer"))?;
        }
        Ok(commands)
    }

    fn submit(&self, objects: &mut Objects<'_>, commands: vk::CommandBuffer) -> Result<(), Error> {
        let device = &self.device;
        // SAFETY: the structure is complete.
        objects.fence = unsafe { device.create_fence(&vk::FenceCreateInfo::default(), None) }
            .map_err(call("vkCreateFence"))?;
        let commands = [commands];
        let submits = [vk::SubmitInfo::default().command_buffers(&commands)];
        let nanoseconds = u64::try_from(TIMEOUT.as_nanos()).unwrap_or(u64::MAX);
        // SAFETY: the command buffer is recorded, queue and fence are this device's
        // and used by this thread alone, since `running` is held.
        let waited = unsafe {
            device
                .queue_submit(self.queue, &submits, objects.fence)
                .map_err(call("vkQueueSubmit"))?;
            device.wait_for_fences(&[objects.fence], true, nanoseconds)
        };
        waited.map_err(|code| {
            // Whatever went wrong, the device may not be done with the objects.
            self.lost.store(true, Ordering::Relaxed);
            match code {
                vk::Result::TIMEOUT => Error::Timeout(TIMEOUT.as_secs()),
                code => Error::Call {
                    call: "vkWaitForFences",
                    code,
                },
            }
        })
    }
}

/// The bytes that a buffer's descriptor covers.
fn range(arg: &BufferArg) -> usize {
    match arg.bytes.len().max(arg.least) {
        0 => 4,
        bytes => bytes,
    }
}

/// The first guard byte that no longer is one, as an offset from the buffer's start.
fn written_outside(bytes: &[u8], range: usize) -> Option<i64> {
    let end = GUARD + range;
    let mut guards = (0..GUARD).chain(end..end + GUARD);
    let at = guards.find(|&at| bytes[at] != GUARD_BYTE)?;
    Some(at as i64 - GUARD as i64)
}

fn descriptor_type(kind: BufferKind) -> vk::DescriptorType {
    match kind {
        BufferKind::Storage => vk::DescriptorType::STORAGE_BUFFER,
        BufferKind::Uniform => vk::DescriptorType::UNIFORM_BUFFER,
    }
}

#[cfg(test)]
mod tests {
    use super::{GUARD, GUARD_BYTE, written_outside};

    #[test]
    fn writes_outside_are_seen_on_both_sides() {
        let range = 5;
        let mut bytes = vec![GUARD_BYTE; range + 2 * GUARD];
        bytes[GUARD..GUARD + range].fill(0);
        assert_eq!(written_outside(&bytes, range), None);
        for offset in [-256, -1, 5, 260] {
            let at = usize::try_from(256 + offset).unwrap();
            bytes[at] = 0;
            assert_eq!(written_outside(&bytes, range), Some(offset));
            bytes[at] = GUARD_BYTE;
        }
    }
}
