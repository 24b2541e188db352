//! The rules of declarations.

use super::fault::{Fault, FaultKind};
use crate::kernel::{Draft, Mem, Name, SharedLen};
use crate::types::{Type, TypeSet};

/// The greatest length of a name, in bytes.
pub const MAX_NAME: usize = 4096;

/// Adds the faults of the declarations to `faults`. `scratch` is memory to sort bindings in.
pub(crate) fn check(draft: &Draft, scratch: &mut Vec<(u32, u32)>, faults: &mut Vec<Fault>) {
    let mut bad = |kind| {
        faults.push(Fault {
            at: None,
            op: None,
            kind,
        })
    };
    // One look at the pool of names spares most kernels one at each.
    let plain = proper(&draft.names);
    let name = draft.name_of(draft.name);
    if name.is_empty() || !(plain || proper(name)) {
        bad(FaultKind::Name(name.into()));
    }
    let [x, y, z] = draft.workgroup_size;
    let threads = x.checked_mul(y).and_then(|n| n.checked_mul(z));
    if threads.is_none_or(|n| n == 0) {
        bad(FaultKind::WorkgroupSize(draft.workgroup_size));
    }
    if !draft.is_small() {
        sizes(draft, &mut bad);
    }
    for (i, d) in draft.buffers.iter().enumerate() {
        if !plain {
            named(draft, d.name, &mut bad);
        }
        if !TypeSet::ELEMENTS.contains(d.elem) {
            bad(FaultKind::DeclType {
                what: format!("buf{i}"),
                ty: d.elem,
            });
        }
    }
    for (i, d) in draft.scalars.iter().enumerate() {
        if !plain {
            named(draft, d.name, &mut bad);
        }
        if !TypeSet::ALL.contains(d.ty) {
            bad(FaultKind::DeclType {
                what: format!("arg{i}"),
                ty: d.ty,
            });
        }
    }
    let mut dynamic = false;
    for (i, d) in draft.shared.iter().enumerate() {
        if !plain {
            named(draft, d.name, &mut bad);
        }
        let mem = Mem::Shared(i as u32 & Mem::MAX);
        array(mem, d.elem, &mut bad);
        match d.len {
            SharedLen::Static(len) => sized(mem, d.elem, len, &mut bad),
            SharedLen::Dynamic if dynamic => bad(FaultKind::SecondDynamic(mem)),
            SharedLen::Dynamic => dynamic = true,
        }
    }
    for (i, d) in draft.private.iter().enumerate() {
        if !plain {
            named(draft, d.name, &mut bad);
        }
        let mem = Mem::Private(i as u32 & Mem::MAX);
        array(mem, d.elem, &mut bad);
        sized(mem, d.elem, d.len, &mut bad);
    }
    let mut end = 0u32;
    for (i, d) in draft.tables.iter().enumerate() {
        if !plain {
            named(draft, d.name, &mut bad);
        }
        let mem = Mem::Table(i as u32 & Mem::MAX);
        if !TypeSet::NUMERIC.contains(d.elem) {
            bad(FaultKind::DeclType {
                what: mem.to_string(),
                ty: d.elem,
            });
            continue;
        }
        if d.len == 0 {
            bad(FaultKind::EmptyTable(mem));
        }
        let next = d
            .len
            .checked_mul(d.elem.bytes())
            .and_then(|bytes| end.checked_add(bytes));
        match next {
            Some(next) if d.start == end && next as usize <= draft.data.len() => end = next,
            _ => bad(FaultKind::TableElement(mem)),
        }
    }
    if end as usize != draft.data.len() {
        bad(FaultKind::TooMany("bytes of tables"));
    }
    let size = draft.subgroup_size;
    if size != 0 && (!size.is_power_of_two() || size > 128) {
        bad(FaultKind::SubgroupSize(size));
    }
    let places = draft.buffers.iter();
    let places = places.map(|b| u64::from(b.set) << 32 | u64::from(b.binding));
    if places.is_sorted_by(|a, b| a < b) {
        return;
    }
    scratch.clear();
    scratch.extend(draft.buffers.iter().map(|b| (b.set, b.binding)));
    scratch.sort_unstable();
    for pair in scratch.windows(2) {
        if let [a, b] = pair
            && a == b
        {
            bad(FaultKind::Binding {
                set: a.0,
                binding: a.1,
            });
        }
    }
}

#[cold]
fn named(draft: &Draft, name: Name, bad: &mut impl FnMut(FaultKind)) {
    let name = draft.name_of(name);
    if !proper(name) {
        bad(FaultKind::Name(name.into()));
    }
}

/// The limits of what there is, which only big kernels come near.
#[cold]
fn sizes(draft: &Draft, bad: &mut impl FnMut(FaultKind)) {
    let counts = [
        (draft.params.len(), "parameters"),
        (draft.shared.len(), "shared arrays"),
        (draft.private.len(), "private arrays"),
        (draft.tables.len(), "tables"),
        (draft.data.len(), "bytes of tables"),
        (draft.side.len(), "side words"),
        (draft.names.len(), "bytes of names"),
    ];
    for (count, what) in counts {
        if count > Mem::MAX as usize {
            bad(FaultKind::TooMany(what));
        }
    }
    let bytes = draft.stored_bytes();
    if bytes > u64::from(u32::MAX) {
        bad(FaultKind::StoredBytes(bytes));
    }
}

fn proper(name: &str) -> bool {
    name.len() <= MAX_NAME && name.bytes().fold(true, |proper, byte| proper & (byte != 0))
}

fn array(mem: Mem, elem: Type, bad: &mut impl FnMut(FaultKind)) {
    if !TypeSet::ELEMENTS.contains(elem) {
        bad(FaultKind::DeclType {
            what: mem.to_string(),
            ty: elem,
        });
    }
}

fn sized(mem: Mem, elem: Type, len: u32, bad: &mut impl FnMut(FaultKind)) {
    if len == 0 || len.checked_mul(elem.bytes()).is_none() {
        bad(FaultKind::ArrayLen { mem, len });
    }
}
