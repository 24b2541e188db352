//! Graphs: a sequence of launches, copies and fills that is started as one.

use super::Context;
use super::function::Function;
use super::launch::{Arg, ArgKind, LaunchConfig, LaunchError, Plan};
use super::memory::{Allocation, DeviceSlice, DeviceSliceMut, Pattern, View};
use super::result::{Error, Result, call};
use super::shared::Shared;
use super::stream::Stream;
use super::sys::{
    CUDA_KERNEL_NODE_PARAMS_v2, CUDA_MEMCPY3D, CUDA_MEMSET_NODE_PARAMS, CUcontext, CUgraph,
    CUgraphExec, CUgraphNode, CopyEnd,
};
use bytemuck::Pod;
use core::ffi::c_void;
use core::fmt;
use std::sync::Arc;

/// A sequence under construction. Each step runs after the one before.
///
/// The steps are put together as nodes (`cuGraphAddKernelNode`). [`Stream::capture`] makes a graph of code that was written
/// for a stream.
#[derive(Debug)]
pub struct GraphBuilder {
    raw: RawGraph,
    last: Option<CUgraphNode>,
    steps: Vec<Step>,
}

/// A launch in a graph, whose arguments can be exchanged ([`Graph::set_launch`]).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct GraphLaunch {
    graph: CUgraph,
    step: usize,
}

/// What a step uses.
#[derive(Default)]
pub(super) struct Step {
    /// `None` where nothing is to be done: an empty grid, no elements. Of captured steps only launches have one.
    pub node: Option<CUgraphNode>,
    pub function: Option<Function>,
    pub memory: Vec<Arc<Allocation>>,
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Step")
            .field("node", &self.node)
            .finish_non_exhaustive()
    }
}

struct RawGraph {
    shared: Arc<Shared>,
    graph: CUgraph,
}

impl fmt::Debug for RawGraph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.graph.fmt(f)
    }
}

impl Drop for RawGraph {
    fn drop(&mut self) {
        match self.shared.enter_anyhow() {
            Ok(_entered) => {
                // SAFETY: the graph is ours; what was instantiated from it does not need it.
                let destroyed = unsafe { call!(self.shared.api, cuGraphDestroy(self.graph)) };
                self.shared.keep_failure(destroyed);
            }
            Err(error) => self.shared.keep(error),
        }
    }
}

impl Context {
    /// An empty sequence.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn graph(&self) -> Result<GraphBuilder> {
        let shared = &self.shared;
        let _entered = shared.enter()?;
        let mut graph = CUgraph::NULL;
        // SAFETY: the pointer is to a live handle, which the call fills.
        unsafe { call!(shared.api, cuGraphCreate(&mut graph, 0)) }.map_err(|e| shared.note(e))?;
        Ok(GraphBuilder {
            raw: RawGraph {
                shared: shared.clone(),
                graph,
            },
            last: None,
            steps: Vec::new(),
        })
    }
}

/// The memory that a graph keeps for a launch with these arguments.
pub(super) fn kept(args: &[Arg<'_>]) -> Result<Vec<Arc<Allocation>>> {
    let mut memory = Vec::new();
    for (index, arg) in args.iter().enumerate() {
        if let ArgKind::Buffer { view, .. } = &arg.0
            && let Some(owner) = view.owner
        {
            if owner.host_visible() {
                return Err(LaunchError::ManagedInGraph { index }.into());
            }
            memory.push(owner.clone());
        }
    }
    Ok(memory)
}

/// Checks a launch and hands its parameters to `act`; nothing happens for an empty grid.
fn with_params(
    shared: &Arc<Shared>,
    function: &Function,
    config: &LaunchConfig,
    args: &[Arg<'_>],
    act: impl FnOnce(&CUDA_KERNEL_NODE_PARAMS_v2) -> Result<()>,
) -> Result<Vec<Arc<Allocation>>> {
    let inner = &*function.inner;
    let plan: &Plan = inner.plan.as_ref().ok_or(LaunchError::NoSignature)?;
    if !Arc::ptr_eq(shared, &inner.module.shared) {
        return Err(LaunchError::OtherContext { what: "graph" }.into());
    }
    let memory = kept(args)?;
    inner.check_plan(plan, config)?;
    let dynamic = inner.check_config(config, plan.moved_shared_bytes)?;
    plan.with_arguments(shared, args, None, |params: *mut *mut c_void, _| {
        if config.is_empty() {
            return Ok(());
        }
        act(&CUDA_KERNEL_NODE_PARAMS_v2 {
            func: inner.raw,
            grid: config.grid,
            block: config.block,
            shared_mem_bytes: dynamic,
            kernel_params: params,
            extra: core::ptr::null_mut(),
            kern: core::ptr::null_mut(),
            ctx: CUcontext::NULL,
        })
    })?;
    Ok(memory)
}

fn refuse_unchecked(function: &Function) -> Result<()> {
    if function.is_checked() {
        return Ok(());
    }
    let assumes = function
        .signature()
        .is_some_and(|signature| signature.assumes_uniform);
    Err(match function.signature() {
        None => LaunchError::NoSignature,
        Some(_) if assumes => LaunchError::AssumesUniform,
        Some(_) => LaunchError::Unchecked,
    }
    .into())
}

impl GraphBuilder {
    /// Adds a launch, checked as [`Function::launch`] checks it. The graph keeps its buffers' memory.
    ///
    /// # Errors
    /// As [`Function::launch`]; [`LaunchError::ManagedInGraph`] for managed memory.
    pub fn launch(
        &mut self,
        function: &Function,
        config: &LaunchConfig,
        args: &[Arg<'_>],
    ) -> Result<GraphLaunch> {
        refuse_unchecked(function)?;
        // SAFETY: the kernel checks the bounds of every access, and the arguments are checked against its signature.
        unsafe { self.launch_unchecked(function, config, args) }
    }

    /// Adds a launch of a kernel whose accesses are not checked.
    ///
    /// # Safety
    /// As [`Function::launch_unchecked`], each time that the graph is launched.
    ///
    /// # Errors
    /// As [`GraphBuilder::launch`].
    pub unsafe fn launch_unchecked(
        &mut self,
        function: &Function,
        config: &LaunchConfig,
        args: &[Arg<'_>],
    ) -> Result<GraphLaunch> {
        let (shared, graph) = (&self.raw.shared, self.raw.graph);
        let (before, count) = before(&self.last);
        let mut node = None;
        let memory = with_params(shared, function, config, args, |params| {
            let mut made = CUgraphNode::NULL;
            let _entered = shared.enter()?;
            // SAFETY: graph and node before are alive; the driver copies the arguments, which live until this returns.
            unsafe {
                call!(
                    shared.api,
                    cuGraphAddKernelNode_v2(&mut made, graph, before, count, params)
                )
            }
            .map_err(|e| shared.note(e))?;
            node = Some(made);
            Ok(())
        })?;
        self.add(Step {
            node,
            function: Some(function.clone()),
            memory,
        });
        Ok(GraphLaunch {
            graph: self.raw.graph,
            step: self.steps.len() - 1,
        })
    }

    /// Adds a copy on the device. The graph keeps both buffers' memory.
    ///
    /// # Errors
    /// As [`Stream::copy`]; [`Error::Unsupported`] for managed memory.
    pub fn copy<'s, 'd, T: Pod>(
        &mut self,
        from: impl Into<DeviceSlice<'s, T>>,
        to: impl Into<DeviceSliceMut<'d, T>>,
    ) -> Result<()> {
        let (from, to) = (from.into().view, to.into().view);
        if from.len != to.len {
            return Err(Error::LengthMismatch {
                call: "GraphBuilder::copy",
                source_len: from.len,
                destination_len: to.len,
            });
        }
        let memory = [self.keep(&from)?, self.keep(&to)?]
            .into_iter()
            .flatten()
            .collect();
        let bytes = from.len * size_of::<T>();
        let mut step = Step {
            memory,
            ..Step::default()
        };
        if bytes != 0 {
            let params = CUDA_MEMCPY3D {
                src: CopyEnd::device(from.ptr, bytes),
                dst: CopyEnd::device(to.ptr, bytes),
                width_in_bytes: bytes,
                height: 1,
                depth: 1,
            };
            let (shared, graph) = (&self.raw.shared, self.raw.graph);
            let (before, count) = before(&self.last);
            let mut made = CUgraphNode::NULL;
            let _entered = shared.enter()?;
            let context = shared.raw;
            // SAFETY: graph, node before and context are alive; the structure is laid out as in the header, and both ends
            // are `bytes` long and kept by the graph.
            unsafe {
                call!(
                    shared.api,
                    cuGraphAddMemcpyNode(&mut made, graph, before, count, &params, context)
                )
            }
            .map_err(|e| shared.note(e))?;
            step.node = Some(made);
        }
        self.add(step);
        Ok(())
    }

    /// Adds a fill. The graph keeps the buffer's memory.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for managed memory, and for values of which no 1, 2 or 4 bytes repeat; [`Error::OtherContext`];
    /// what the driver answers.
    pub fn fill<'d, T: Pod>(
        &mut self,
        to: impl Into<DeviceSliceMut<'d, T>>,
        value: T,
    ) -> Result<()> {
        let to = to.into().view;
        let mut step = Step {
            memory: self.keep(&to)?.into_iter().collect(),
            ..Step::default()
        };
        let bytes = to.len * size_of::<T>();
        if bytes != 0 {
            let (value, element_size, width) = match Pattern::of(bytemuck::bytes_of(&value)) {
                Pattern::One(v) => (u32::from(v), 1, bytes),
                Pattern::Two(v) => (u32::from(v), 2, bytes / 2),
                Pattern::Four(v) => (v, 4, bytes / 4),
                Pattern::Other => {
                    return Err(Error::Unsupported(
                        "a graph fills with values of which 1, 2 or 4 bytes repeat",
                    ));
                }
            };
            let params = CUDA_MEMSET_NODE_PARAMS {
                dst: to.ptr,
                pitch: bytes,
                value,
                element_size,
                width,
                height: 1,
            };
            let (shared, graph) = (&self.raw.shared, self.raw.graph);
            let (before, count) = before(&self.last);
            let mut made = CUgraphNode::NULL;
            let _entered = shared.enter()?;
            let context = shared.raw;
            // SAFETY: as in `copy`.
            unsafe {
                call!(
                    shared.api,
                    cuGraphAddMemsetNode(&mut made, graph, before, count, &params, context)
                )
            }
            .map_err(|e| shared.note(e))?;
            step.node = Some(made);
        }
        self.add(step);
        Ok(())
    }

    /// A sequence that was captured. The graph is ours from now on.
    pub(super) fn captured(shared: &Arc<Shared>, graph: CUgraph, steps: Vec<Step>) -> GraphBuilder {
        GraphBuilder {
            raw: RawGraph {
                shared: shared.clone(),
                graph,
            },
            last: None,
            steps,
        }
    }

    /// Makes the sequence one that can be launched.
    ///
    /// # Errors
    /// What the driver answers.
    pub fn instantiate(self) -> Result<Graph> {
        let shared = self.raw.shared.clone();
        let mut exec = CUgraphExec::NULL;
        let entered = shared.enter()?;
        // SAFETY: the graph is alive; the pointer is to a live handle, which the call fills.
        unsafe {
            call!(
                shared.api,
                cuGraphInstantiateWithFlags(&mut exec, self.raw.graph, 0)
            )
        }
        .map_err(|e| shared.note(e))?;
        drop(entered);
        Ok(Graph {
            exec,
            raw: self.raw,
            steps: self.steps,
        })
    }

    fn add(&mut self, step: Step) {
        self.last = step.node.or(self.last);
        self.steps.push(step);
    }

    fn keep(&self, view: &View<'_>) -> Result<Option<Arc<Allocation>>> {
        if !Arc::ptr_eq(&self.raw.shared, view.shared) {
            return Err(Error::OtherContext {
                call: "GraphBuilder",
                what: "the buffer",
            });
        }
        match view.owner {
            Some(owner) if owner.host_visible() => Err(Error::Unsupported(
                "a graph holds no managed memory: its launches could race with the host",
            )),
            owner => Ok(owner.cloned()),
        }
    }
}

/// The node before as the driver takes it.
fn before(last: &Option<CUgraphNode>) -> (*const CUgraphNode, usize) {
    match last {
        Some(node) => (node, 1),
        None => (core::ptr::null(), 0),
    }
}

/// A sequence that can be launched again and again, faster than its steps one by one.
///
/// It keeps the memory of the buffers that its steps use and the modules of its functions.
#[derive(Debug)]
pub struct Graph {
    exec: CUgraphExec,
    raw: RawGraph,
    steps: Vec<Step>,
}

impl Graph {
    /// Launches the sequence in the order of a stream. A launch waits for the one before, on whatever stream.
    ///
    /// # Errors
    /// [`Error::OtherContext`], and what the driver answers. Failures of the steps come later.
    pub fn launch(&mut self, stream: &Stream) -> Result<()> {
        let shared = &self.raw.shared;
        if !Arc::ptr_eq(shared, &stream.inner.shared) {
            return Err(Error::OtherContext {
                call: "Graph::launch",
                what: "the stream",
            });
        }
        stream.inner.must_run("cuGraphLaunch")?;
        let _entered = shared.enter()?;
        let mut last = None;
        for step in &self.steps {
            for memory in &step.memory {
                memory.use_on(&stream.inner)?;
            }
            if let Some(function) = &step.function {
                function.inner.module.uses.mark(stream.inner.slot);
                last = Some(function);
            }
        }
        // SAFETY: graph and stream are alive and of the context that is current; what the steps use is kept by the graph
        // and marked as used on the stream. No other thread launches it at the same time: the borrow is exclusive.
        unsafe { call!(shared.api, cuGraphLaunch(self.exec, stream.inner.raw)) }
            .map_err(|e| shared.note(e))?;
        if let Some(function) = last {
            function.mark_launched();
        }
        Ok(())
    }

    /// The launches in it, in order, those with an empty grid left out: what [`Graph::set_launch`] takes.
    pub fn launches(&self) -> impl Iterator<Item = GraphLaunch> {
        let graph = self.raw.graph;
        let steps = self.steps.iter().enumerate();
        let launches = steps.filter(|(_, step)| step.function.is_some() && step.node.is_some());
        launches.map(move |(step, _)| GraphLaunch { graph, step })
    }

    /// Exchanges the arguments of a launch, and its grid, for the launches of the graph to come.
    ///
    /// # Errors
    /// As [`GraphBuilder::launch`]; [`Error::Unsupported`] where the launch had or gets an empty grid, or is another graph's.
    pub fn set_launch(
        &mut self,
        launch: GraphLaunch,
        config: &LaunchConfig,
        args: &[Arg<'_>],
    ) -> Result<()> {
        let step = self.steps.get(launch.step);
        if let Some(function) = step.and_then(|step| step.function.as_ref()) {
            refuse_unchecked(function)?;
        }
        // SAFETY: the kernel checks the bounds of every access.
        unsafe { self.set_launch_unchecked(launch, config, args) }
    }

    /// The same for a kernel whose accesses are not checked.
    ///
    /// # Safety
    /// As [`GraphBuilder::launch_unchecked`].
    ///
    /// # Errors
    /// As [`Graph::set_launch`].
    pub unsafe fn set_launch_unchecked(
        &mut self,
        launch: GraphLaunch,
        config: &LaunchConfig,
        args: &[Arg<'_>],
    ) -> Result<()> {
        let (shared, exec) = (&self.raw.shared, self.exec);
        if launch.graph != self.raw.graph {
            return Err(Error::Unsupported("the launch is another graph's"));
        }
        let step = self.steps.get_mut(launch.step);
        let (Some(step), false) = (step, config.is_empty()) else {
            return Err(Error::Unsupported(
                "a launch of a graph cannot become empty",
            ));
        };
        let (Some(node), Some(function)) = (step.node, step.function.as_ref()) else {
            return Err(Error::Unsupported(
                "this step of the graph launches nothing",
            ));
        };
        let memory = with_params(shared, function, config, args, |params| {
            let _entered = shared.enter()?;
            // SAFETY: graph and node are alive; the driver copies the arguments, which live until this returns. Launches
            // under way keep the old ones, whose memory is marked as used.
            unsafe {
                call!(
                    shared.api,
                    cuGraphExecKernelNodeSetParams_v2(exec, node, params)
                )
            }
            .map_err(|e| shared.note(e))
        })?;
        step.memory = memory;
        Ok(())
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        let shared = &self.raw.shared;
        match shared.enter_anyhow() {
            Ok(_entered) => {
                // SAFETY: the graph is ours; one that is running is destroyed by the driver once it has ended.
                let destroyed = unsafe { call!(shared.api, cuGraphExecDestroy(self.exec)) };
                shared.keep_failure(destroyed);
            }
            Err(error) => shared.keep(error),
        }
    }
}
