//! Entry points, execution modes, interfaces and the call graph.

use super::check::{Checker, Inst};
use super::error::Note;
use super::rules::Rule;
use super::state::{EntryPoint, Idx, Kind, has};
use crate::spirv::tables::decode;
use spirv::{Capability as C, Decoration, ExecutionMode as M, Op, StorageClass as S};

/// Entry points that are followed through the call graph at a time, one bit each.
const BATCH: usize = 64;

/// Scratch memory of the interface checks.
#[derive(Debug, Default)]
pub(super) struct Interfaces {
    names: Vec<u32>,
    /// (entry point, mode, operand or 0, offset), sorted.
    modes: Vec<(u32, u32, u32, u32)>,
    /// Callees by caller: `callees[starts[f]..starts[f + 1]]`, functions counted from 1.
    starts: Vec<u32>,
    callees: Vec<u32>,
    color: Vec<u8>,
    stack: Vec<(u32, u32)>,
    postorder: Vec<u32>,
    masks: Vec<u64>,
    /// (batch, variable, entry point).
    listed: Vec<(u32, Idx, u32)>,
    /// (variable, function).
    uses: Vec<(Idx, u32)>,
}

impl Checker<'_> {
    pub(super) fn entry_points(&mut self, s: &mut Interfaces) {
        let m = self.m;
        if m.entry_points.is_empty() && !m.has_cap(C::Linkage) {
            let end = self.end();
            self.fault(Rule::EntryPointMissing, end, Note::None);
        }
        self.memory_model();
        for i in 0..m.entry_points.len() {
            let Some(entry) = m.entry_points.get(i) else {
                break;
            };
            self.entry_point(entry);
        }
        self.unique_names(s);
        self.execution_modes(s);
        self.call_graph(s);
        self.interfaces(s);
    }

    fn memory_model(&mut self) {
        let m = self.m;
        let at = m.memory_model_word;
        if at == 0 {
            return;
        }
        if m.addressing != 0 && m.addressing != 5348 {
            self.fault(Rule::AddressingModel, at, Note::Value(m.addressing));
        }
        // 3 is Vulkan; the capability is needed to name it, which the enumerant's row says.
        if m.memory_model != 3 && m.has_cap(C::VulkanMemoryModel) {
            self.fault(Rule::MemoryModelPair, at, Note::Value(m.memory_model));
        }
        if m.has_cap(C::CooperativeMatrixKHR) && !m.has_cap(C::VulkanMemoryModel) {
            self.fault(
                Rule::MemoryModelPair,
                at,
                Note::Name("CooperativeMatrixKHR"),
            );
        }
    }

    fn entry_point(&mut self, entry: &EntryPoint) {
        let m = self.m;
        let function = m.def(entry.function);
        let ty = m.ty(m.ids.get(self.word_at(function.word, 4)));
        let fits = function.op == Op::Function
            && ty.kind == Kind::Function
            && ty.count == 0
            && m.kind(function.ty) == Kind::Void;
        if !fits {
            self.fault(Rule::EntryPointFunction, entry.word, Note::Id(function.id));
        }
        let mut builtins = 0u64;
        let mut pushed = false;
        for i in 0..entry.count {
            let id = self.word_at(entry.ids + i, 0);
            let idx = m.ids.get(id);
            let def = *m.def(idx);
            if def.op != Op::Variable {
                self.fault(Rule::InterfaceVariable, entry.word, Note::Id(id));
                continue;
            }
            let class = S::from_u32(self.word_at(def.word, 3));
            let allowed = if m.version >= 4 {
                class != Some(S::Function)
            } else {
                matches!(class, Some(S::Input | S::Output))
            };
            if !allowed {
                self.fault(Rule::InterfaceVariable, entry.word, Note::Id(id));
            }
            match class {
                Some(S::Output) => {
                    self.fault(Rule::InterfaceStorage, entry.word, Note::Id(id));
                    self.input(entry, idx, id, &mut builtins);
                }
                Some(S::PushConstant) => {
                    if pushed {
                        self.fault(Rule::PushConstantOnce, entry.word, Note::Id(id));
                    }
                    pushed = true;
                }
                Some(S::Input) => self.input(entry, idx, id, &mut builtins),
                Some(S::Workgroup) => {
                    let pointee = m.ty(def.ty).elem;
                    if m.ty(pointee).has & has::BLOCK != 0
                        && !m.has_cap(C::WorkgroupMemoryExplicitLayoutKHR)
                    {
                        self.fault(Rule::WorkgroupBlock, entry.word, Note::Id(id));
                    }
                }
                _ => {}
            }
        }
    }

    fn input(&mut self, entry: &EntryPoint, idx: Idx, id: u32, seen: &mut u64) {
        let pointee = self.m.ty(self.m.type_of(idx)).elem;
        let has = self.m.ty(pointee).has;
        // Built-ins as members are those of a block.
        let block = has::BUILTIN | has::BLOCK;
        if let Some(decor) = self.m.decoration(idx, Decoration::BuiltIn) {
            // The built-ins that are covered lie in two short ranges.
            let bit = match decor.value {
                24..=43 => Some(decor.value - 24),
                4416..=4420 => Some(decor.value - 4416 + 40),
                _ => None,
            };
            if let Some(bit) = bit {
                if *seen >> bit & 1 == 1 {
                    self.fault(Rule::InterfaceBuiltIn, entry.word, Note::Id(id));
                }
                *seen |= 1 << bit;
            }
        } else if !self.m.is_decorated(idx, Decoration::Location) && has & block != block {
            self.fault(Rule::InterfaceLocation, entry.word, Note::Id(id));
        }
        if has & has::PHYSICAL != 0 {
            self.fault(Rule::InterfaceVariable, entry.word, Note::Id(id));
        }
    }

    /// No two entry points of one model have one name.
    fn unique_names(&mut self, s: &mut Interfaces) {
        let m = self.m;
        let words = self.words;
        s.names.clear();
        s.names
            .extend(0..u32::try_from(m.entry_points.len()).unwrap_or(0));
        let name = |i: u32| {
            let entry = m.entry_points.get(i as usize);
            let at = entry.map_or(0, |e| e.name as usize);
            let rest = words.get(at..).unwrap_or_default();
            let len = decode::string_words(rest).unwrap_or(0);
            (
                entry.map_or(0, |e| e.model),
                rest.get(..len).unwrap_or_default(),
            )
        };
        s.names
            .sort_by(|&a, &b| name(a).cmp(&name(b)).then(a.cmp(&b)));
        for i in 1..s.names.len() {
            if let (Some(&a), Some(&b)) = (s.names.get(i - 1), s.names.get(i))
                && name(a) == name(b)
            {
                let word = m.entry_points.get(b as usize).map_or(0, |e| e.word);
                self.fault(Rule::EntryPointName, word, Note::None);
            }
        }
    }

    fn execution_modes(&mut self, s: &mut Interfaces) {
        let m = self.m;
        let mut sized_by_id = false;
        s.modes.clear();
        for i in 0..m.modes.len() {
            let Some(&at) = m.modes.get(i) else { break };
            let inst = self.inst(at);
            let Some(mode) = M::from_u32(inst.word(2)) else {
                continue;
            };
            let entry = self.idx(&inst, 1);
            if m.def(entry).flags & super::state::flag::ENTRY_POINT == 0 {
                self.fault(Rule::ModeTarget, at, Note::Id(inst.word(1)));
            }
            let takes_ids = mode == M::LocalSizeId;
            if takes_ids != (inst.op == Op::ExecutionModeId) {
                self.fault(Rule::ModeOpcode, at, Note::Value(inst.word(2)));
            }
            sized_by_id |= mode == M::LocalSizeId && inst.op == Op::ExecutionModeId;
            self.mode(&inst, mode);
            let float_control = matches!(
                mode,
                M::DenormPreserve
                    | M::DenormFlushToZero
                    | M::SignedZeroInfNanPreserve
                    | M::RoundingModeRTE
                    | M::RoundingModeRTZ
            );
            let key = if float_control { inst.word(3) } else { 0 };
            s.modes.push((entry, mode as u32, key, at));
            // The mode that excludes this one, as if it were set too.
            self.conflicts(s, entry, mode, key, at);
        }
        s.modes.sort_unstable();
        self.mode_faults(s);
        self.sizes(s, sized_by_id);
    }

    /// Marks a mode under the number of what it cannot be set together with.
    fn conflicts(&mut self, s: &mut Interfaces, entry: Idx, mode: M, key: u32, at: u32) {
        let group = match mode {
            M::DenormPreserve | M::DenormFlushToZero => CONFLICT,
            M::RoundingModeRTE | M::RoundingModeRTZ => CONFLICT + 1,
            M::LocalSize | M::LocalSizeId => CONFLICT + 2,
            _ => return,
        };
        s.modes.push((entry, group, key, at));
    }

    fn mode_faults(&mut self, s: &Interfaces) {
        for pair in s.modes.windows(2) {
            let [a, b] = pair else { continue };
            if (a.0, a.1, a.2) != (b.0, b.1, b.2) {
                continue;
            }
            if a.1 < CONFLICT {
                self.fault(Rule::ModeOnce, b.3, Note::Value(b.1));
            } else if self.word_at(a.3, 2) != self.word_at(b.3, 2) {
                let rule = if a.1 == CONFLICT + 2 {
                    Rule::LocalSizeTwice
                } else {
                    Rule::FloatControlConflict
                };
                self.fault(rule, b.3, Note::Value(b.2));
            }
        }
    }

    fn mode(&mut self, inst: &Inst<'_>, mode: M) {
        let at = inst.at;
        match mode {
            M::LocalSize => {
                let product = inst
                    .word(3)
                    .wrapping_mul(inst.word(4))
                    .wrapping_mul(inst.word(5));
                if product == 0 && !self.m.workgroup_size {
                    self.fault(Rule::LocalSizeProduct, at, Note::None);
                }
            }
            M::LocalSizeId => {
                if self.options.environment.minor() < 3 && !self.options.allow_local_size_id {
                    self.fault(Rule::LocalSizeIdEnv, at, Note::None);
                }
                let mut product = Some(1u64);
                for i in 3..6 {
                    let idx = self.idx(inst, i);
                    if !self.is_constant(idx) {
                        self.fault(Rule::ModeOpcode, at, Note::Id(inst.word(i)));
                    }
                    product = match (product, self.const_u64(idx)) {
                        (Some(p), Some(v)) => Some(p.wrapping_mul(v)),
                        _ => None,
                    };
                }
                if product == Some(0) && !self.m.workgroup_size {
                    self.fault(Rule::LocalSizeProduct, at, Note::None);
                }
            }
            M::DenormPreserve
            | M::DenormFlushToZero
            | M::SignedZeroInfNanPreserve
            | M::RoundingModeRTE
            | M::RoundingModeRTZ
                if !matches!(inst.word(3), 16 | 32 | 64) =>
            {
                self.fault(Rule::FloatControlWidth, at, Note::Value(inst.word(3)));
            }
            _ => {}
        }
    }

    /// Every compute entry point has a size.
    fn sizes(&mut self, s: &Interfaces, sized_by_id: bool) {
        let m = self.m;
        if m.workgroup_size || sized_by_id {
            return;
        }
        for i in 0..m.entry_points.len() {
            let Some(entry) = m.entry_points.get(i) else {
                break;
            };
            let key = (entry.function, M::LocalSize as u32, 0, 0);
            let at = s.modes.partition_point(|&mode| mode < key);
            let found = s
                .modes
                .get(at)
                .is_some_and(|&(f, mode, _, _)| f == key.0 && mode == key.1);
            if !found {
                self.fault(Rule::LocalSize, entry.word, Note::None);
            }
        }
    }

    /// Calls by caller, and an order in which callers come before callees.
    fn call_graph(&mut self, s: &mut Interfaces) {
        let m = self.m;
        let n = m.functions.len() + 1;
        s.starts.clear();
        s.starts.resize(n + 1, 0);
        s.callees.clear();
        // Calls stand in the order of their callers.
        let mut caller = 0usize;
        for &(func, callee, at) in &m.calls {
            while caller < func as usize {
                caller += 1;
                if let Some(slot) = s.starts.get_mut(caller) {
                    *slot = u32::try_from(s.callees.len()).unwrap_or(0);
                }
            }
            // The callee may have been defined after the call.
            let id = self.word_at(at, 3);
            let callee = if callee == 0 { m.ids.get(id) } else { callee };
            let def = m.def(callee);
            if def.op == Op::Function {
                s.callees.push(def.func);
                if def.flags & super::state::flag::ENTRY_POINT != 0 {
                    self.fault(Rule::EntryPointCalled, at, Note::Id(def.id));
                }
            }
        }
        let total = u32::try_from(s.callees.len()).unwrap_or(0);
        for slot in s.starts.iter_mut().skip(caller + 1) {
            *slot = total;
        }
        s.color.clear();
        s.color.resize(n, 0);
        s.postorder.clear();
        for i in 0..m.entry_points.len() {
            let root = m.entry_points.get(i).map_or(0, |e| m.def(e.function).func);
            self.walk_calls(s, root);
        }
    }

    fn walk_calls(&mut self, s: &mut Interfaces, root: u32) {
        if root == 0 || s.color.get(root as usize) != Some(&0) {
            return;
        }
        s.stack.clear();
        s.stack.push((root, 0));
        s.color[root as usize] = 1;
        while let Some((f, next)) = s.stack.last_mut() {
            let (f, position) = (*f as usize, *next as usize);
            *next += 1;
            let range = match (s.starts.get(f), s.starts.get(f + 1)) {
                (Some(&a), Some(&b)) => a as usize..b as usize,
                _ => 0..0,
            };
            let callee = s.callees.get(range).and_then(|c| c.get(position)).copied();
            match callee {
                Some(to) => match s.color.get(to as usize) {
                    Some(0) => {
                        s.color[to as usize] = 1;
                        s.stack.push((to, 0));
                    }
                    Some(1) => {
                        let word = self.m.functions.get(f - 1).map_or(0, |f| f.word);
                        self.fault(Rule::Recursion, word, Note::None);
                    }
                    _ => {}
                },
                None => {
                    s.stack.pop();
                    s.color[f] = 2;
                    s.postorder.push(u32::try_from(f).unwrap_or(0));
                }
            }
        }
    }

    /// What each entry point's call tree uses, against what its interface lists.
    fn interfaces(&mut self, s: &mut Interfaces) {
        let m = self.m;
        s.listed.clear();
        for (i, entry) in m.entry_points.iter().enumerate() {
            for k in 0..entry.count {
                let var = m.ids.get(self.word_at(entry.ids + k, 0));
                let batch = u32::try_from(i / BATCH).unwrap_or(0);
                s.listed.push((batch, var, u32::try_from(i).unwrap_or(0)));
            }
        }
        s.listed.sort_unstable();
        if m.version >= 4 {
            for pair in s.listed.windows(2) {
                if let [a, b] = pair
                    && a == b
                {
                    let word = m.entry_points.get(b.2 as usize).map_or(0, |e| e.word);
                    self.fault(Rule::InterfaceVariable, word, Note::Id(m.def(b.1).id));
                }
            }
        }
        s.uses.clear();
        s.uses.extend(m.uses.iter().map(|&(func, var)| (var, func)));
        s.uses.sort_unstable();
        let batches = m.entry_points.len().div_ceil(BATCH);
        for batch in 0..batches {
            self.batch(s, batch);
        }
    }

    fn batch(&mut self, s: &mut Interfaces, batch: usize) {
        let m = self.m;
        s.masks.clear();
        s.masks.resize(m.functions.len() + 1, 0);
        let first = batch * BATCH;
        let entries = m.entry_points.get(first..).unwrap_or_default();
        for (bit, entry) in entries.iter().take(BATCH).enumerate() {
            if let Some(mask) = s.masks.get_mut(m.def(entry.function).func as usize) {
                *mask |= 1 << bit;
            }
        }
        for i in (0..s.postorder.len()).rev() {
            let f = s.postorder[i] as usize;
            let mask = s.masks.get(f).copied().unwrap_or(0);
            if let (Some(&a), Some(&b)) = (s.starts.get(f), s.starts.get(f + 1)) {
                for &to in s.callees.get(a as usize..b as usize).unwrap_or_default() {
                    if let Some(slot) = s.masks.get_mut(to as usize) {
                        *slot |= mask;
                    }
                }
            }
        }
        if let Some(f) = s.masks.first_mut() {
            *f = 0;
        }
        let batch = u32::try_from(batch).unwrap_or(0);
        let mut listed = s.listed.partition_point(|l| l.0 < batch);
        let mut pushed = 0u64;
        let mut i = 0;
        while let Some(&(var, _)) = s.uses.get(i) {
            let mut used = 0u64;
            while let Some(&(_, func)) = s.uses.get(i).filter(|u| u.0 == var) {
                used |= s.masks.get(func as usize).copied().unwrap_or(0);
                i += 1;
            }
            let mut in_interface = 0u64;
            while let Some(&(b, v, entry)) = s.listed.get(listed) {
                if b != batch || v > var {
                    break;
                }
                if v == var {
                    in_interface |= 1 << (entry as usize - first);
                }
                listed += 1;
            }
            let def = *m.def(var);
            let class = S::from_u32(self.word_at(def.word, 3));
            let needed = m.version >= 4 || matches!(class, Some(S::Input | S::Output));
            let missing = used & !in_interface;
            if needed && missing != 0 {
                let entry = entries.get(missing.trailing_zeros() as usize);
                let word = entry.map_or(0, |e| e.word);
                self.fault(Rule::InterfaceMissing, word, Note::Id(def.id));
            }
            if class == Some(S::PushConstant) {
                if pushed & used != 0 {
                    self.fault(Rule::PushConstantOnce, def.word, Note::Id(def.id));
                }
                pushed |= used;
            }
        }
        for i in 0..m.functions.len() {
            let reached = s.masks.get(i + 1).copied().unwrap_or(0) != 0;
            if reached && self.implicit.get(i).is_some_and(|&at| at != 0) {
                let at = self.implicit.get(i).copied().unwrap_or(0);
                self.fault(Rule::ImplicitLod, at, Note::None);
            }
        }
    }
}

/// Above every mode: numbers of groups of modes that exclude each other.
const CONFLICT: u32 = 0x8000_0000;
