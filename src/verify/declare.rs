//! The rules of declarations.

use super::fault::{Fault, FaultKind};
use crate::kernel::{Draft, Mem, Name, SharedLen};
use crate::types::{Type, TypeSet};

/// The greatest length of a name, in bytes.
pub const MAX_NAME: usize = 4096;

/// The kinds of declarations that have names, in the order of a kernel's names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) enum Kind {
    #[default]
    Kernel,
    Buffer,
    Scalar,
    Shared,
    Private,
}

/// What is known of declarations as they come, so that those of most kernels are beyond doubt when they are complete. All
/// others the thorough checks decide, which alone know the rules of tables, of bindings that are given, and of what has no
/// kind here.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Declared {
    in_doubt: bool,
    /// That of the last declaration.
    last: Kind,
}

impl Declared {
    pub(crate) const IN_DOUBT: Declared = Declared {
        in_doubt: true,
        last: Kind::Kernel,
    };

    /// Begins a kernel with its name and the size of its workgroups.
    #[inline(always)]
    pub(crate) fn kernel(name: &str, workgroup_size: [u32; 3]) -> Declared {
        Declared {
            in_doubt: name.is_empty() || threads(workgroup_size).is_none(),
            last: Kind::Kernel,
        }
    }

    /// Notes a declaration by its kind, its type being one of these or not.
    #[inline(always)]
    pub(crate) fn note(&mut self, kind: Kind, of: Type, types: TypeSet) {
        self.in_doubt |= kind < self.last || !types.contains(of);
        self.last = kind;
    }

    /// Notes that only the thorough checks know.
    #[inline(always)]
    pub(crate) fn doubt(&mut self, doubt: bool) {
        self.in_doubt |= doubt;
    }

    /// Whether all is beyond doubt, and the names in order.
    #[inline(always)]
    pub(super) fn sound(self, draft: &Draft) -> bool {
        let Draft {
            params,
            shared,
            private,
            insts,
            side,
            ..
        } = draft;
        // What has no limit of its own; names are longer than few only where they are too long.
        let most = params.len() | shared.len() | private.len() | insts.len() | side.len();
        !self.in_doubt && most < FEW && proper(&draft.names)
    }
}

/// So few of everything that no limit is near.
const FEW: usize = 1 << 24;

/// Whether the thorough checks find nothing, and the names are in order.
pub(super) fn is_sound(draft: &Draft) -> bool {
    let mut faults = Vec::new();
    check(draft, &mut Vec::new(), &mut faults);
    faults.is_empty() && draft.has_ordered_names()
}

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
    if threads(draft.workgroup_size).is_none() {
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
            SharedLen::Static(len) => length(mem, d.elem, len, &mut bad),
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
        length(mem, d.elem, d.len, &mut bad);
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
        // What was asked for as 0, which stands for any size, is kept as the greatest number.
        bad(FaultKind::SubgroupSize(if size == u32::MAX {
            0
        } else {
            size
        }));
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

/// The threads of a workgroup, where there are any and not too many.
#[inline(always)]
fn threads([x, y, z]: [u32; 3]) -> Option<u32> {
    let threads = x.checked_mul(y)?.checked_mul(z)?;
    (threads != 0).then_some(threads)
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

/// Whether a name is not too long and has no NUL; whether that is so of all names, if it is of all together.
fn proper(name: &str) -> bool {
    name.len() <= MAX_NAME && !has_zero(name.as_bytes())
}

/// Whether a byte is zero: eight at a time ("Determine if a word has a zero byte" of Anderson's "Bit Twiddling Hacks"), the
/// last of them twice where they do not come out even.
#[inline(always)]
fn has_zero(bytes: &[u8]) -> bool {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    let zeros = |eight: [u8; 8]| {
        let word = u64::from_ne_bytes(eight);
        word.wrapping_sub(ONES) & !word & (ONES << 7)
    };
    let Some(&last) = bytes.last_chunk() else {
        return bytes.contains(&0);
    };
    let (eights, _) = bytes.as_chunks();
    eights
        .iter()
        .fold(zeros(last), |all, &eight| all | zeros(eight))
        != 0
}

fn array(mem: Mem, elem: Type, bad: &mut impl FnMut(FaultKind)) {
    if !TypeSet::ELEMENTS.contains(elem) {
        bad(FaultKind::DeclType {
            what: mem.to_string(),
            ty: elem,
        });
    }
}

fn length(mem: Mem, elem: Type, len: u32, bad: &mut impl FnMut(FaultKind)) {
    if !sized(elem, len) {
        bad(FaultKind::ArrayLen { mem, len });
    }
}

/// Whether an array can have so many elements.
#[inline(always)]
pub(crate) fn sized(elem: Type, len: u32) -> bool {
    len != 0 && len.checked_mul(elem.bytes()).is_some()
}
