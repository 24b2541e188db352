//! Graphs: only what their nodes touch is kept.

use crate::state::Kind;
use crate::{INVALID_VALUE, entry};
use std::ffi::c_void;

/// `CUDA_KERNEL_NODE_PARAMS_v2`.
#[repr(C)]
pub struct KernelNode {
    func: usize,
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    params: *mut *mut c_void,
    extra: *mut *mut c_void,
    kern: usize,
    ctx: usize,
}

/// `CUDA_MEMSET_NODE_PARAMS`.
#[repr(C)]
pub struct MemsetNode {
    dst: u64,
    pitch: usize,
    value: u32,
    element_size: u32,
    width: usize,
    height: usize,
}

/// One end of a `CUDA_MEMCPY3D`.
#[repr(C)]
pub struct End {
    x: usize,
    y: usize,
    z: usize,
    lod: usize,
    kind: u32,
    host: usize,
    device: u64,
    array: usize,
    reserved: usize,
    pitch: usize,
    height: usize,
}

/// `CUDA_MEMCPY3D`.
#[repr(C)]
pub struct CopyNode {
    src: End,
    dst: End,
    width: usize,
    height: usize,
    depth: usize,
}

impl crate::state::State {
    pub fn node(
        &mut self,
        graph: usize,
        addresses: Vec<u64>,
        depends: *const usize,
        count: usize,
    ) -> Result<usize, u32> {
        self.object(graph, Kind::Graph)?;
        for n in 0..count {
            // SAFETY: the caller passes `count` nodes.
            let before = unsafe { depends.add(n).read() };
            self.object(before, Kind::Node)?;
        }
        for &address in &addresses {
            if self.find(address).is_none_or(|(_, memory)| memory.freed) {
                self.violation(format!("a node of {address:#x}, which is no memory"));
            }
        }
        let context = self.context()?;
        let node = self.add(Kind::Node, context);
        let object = self.object(node, Kind::Node)?;
        object.parent = graph;
        object.addresses.clone_from(&addresses);
        self.object(graph, Kind::Graph)?.addresses.extend(addresses);
        Ok(node)
    }
}

entry! {
    fn cuGraphCreate(to: *mut usize, _flags: u32) |state| {
        let context = state.context()?;
        let graph = state.add(Kind::Graph, context);
        // SAFETY: the caller passes a pointer to a handle.
        unsafe { to.write(graph) };
        Ok(())
    }

    fn cuGraphAddKernelNode_v2(
        to: *mut usize, graph: usize, depends: *const usize, count: usize, params: *const KernelNode,
    ) |state| {
        // SAFETY: the caller passes a pointer to the structure.
        let params = unsafe { &*params };
        let (entry, _) = state.entry_of(params.func)?;
        if params.grid.contains(&0) || params.block.contains(&0) {
            return Err(INVALID_VALUE);
        }
        // SAFETY: the caller passes a pointer for each parameter.
        let addresses = unsafe { state.arguments(&entry.params, params.params) };
        let node = state.node(graph, addresses, depends, count)?;
        // SAFETY: the caller passes a pointer to a handle.
        unsafe { to.write(node) };
        Ok(())
    }

    fn cuGraphAddMemcpyNode(
        to: *mut usize, graph: usize, depends: *const usize, count: usize, params: *const CopyNode, _context: usize,
    ) |state| {
        // SAFETY: the caller passes a pointer to the structure.
        let params = unsafe { &*params };
        if (params.src.kind, params.dst.kind, params.height, params.depth) != (2, 2, 1, 1) || params.width == 0 {
            return Err(INVALID_VALUE);
        }
        let node = state.node(graph, vec![params.src.device, params.dst.device], depends, count)?;
        // SAFETY: the caller passes a pointer to a handle.
        unsafe { to.write(node) };
        Ok(())
    }

    fn cuGraphAddMemsetNode(
        to: *mut usize, graph: usize, depends: *const usize, count: usize, params: *const MemsetNode, _context: usize,
    ) |state| {
        // SAFETY: the caller passes a pointer to the structure.
        let params = unsafe { &*params };
        if params.height != 1 || params.width == 0 || ![1, 2, 4].contains(&params.element_size) {
            return Err(INVALID_VALUE);
        }
        let node = state.node(graph, vec![params.dst], depends, count)?;
        // SAFETY: the caller passes a pointer to a handle.
        unsafe { to.write(node) };
        Ok(())
    }

    fn cuGraphInstantiateWithFlags(to: *mut usize, graph: usize, _flags: u64) |state| {
        let addresses = state.object(graph, Kind::Graph)?.addresses.clone();
        let context = state.context()?;
        let exec = state.add(Kind::Exec, context);
        state.object(exec, Kind::Exec)?.addresses = addresses;
        // SAFETY: the caller passes a pointer to a handle.
        unsafe { to.write(exec) };
        Ok(())
    }

    fn cuGraphExecKernelNodeSetParams_v2(exec: usize, node: usize, params: *const KernelNode) |state| {
        // SAFETY: the caller passes a pointer to the structure.
        let params = unsafe { &*params };
        let (entry, _) = state.entry_of(params.func)?;
        let before = state.object(node, Kind::Node)?.addresses.clone();
        // SAFETY: the caller passes a pointer for each parameter.
        let addresses = unsafe { state.arguments(&entry.params, params.params) };
        state.object(node, Kind::Node)?.addresses.clone_from(&addresses);
        let kept = &mut state.object(exec, Kind::Exec)?.addresses;
        for address in before {
            if let Some(at) = kept.iter().position(|&a| a == address) {
                kept.swap_remove(at);
            }
        }
        kept.extend(addresses);
        Ok(())
    }

    fn cuGraphLaunch(exec: usize, stream: usize) |state| {
        state.check_running(stream)?;
        let addresses = state.object(exec, Kind::Exec)?.addresses.clone();
        let operation = state.operation(stream);
        state.object(exec, Kind::Exec)?.uses.push(operation);
        addresses.iter().try_for_each(|&address| state.touch(address, 1, stream, operation))
    }
}

entry! {
    gives back
    fn cuGraphDestroy(graph: usize) |state| {
        state.objects.retain(|_, object| object.kind != Kind::Node || object.parent != graph);
        state.remove(graph, Kind::Graph)
    }

    fn cuGraphExecDestroy(exec: usize) |state| {
        state.remove(exec, Kind::Exec)
    }
}
