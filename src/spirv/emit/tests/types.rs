//! Narrow types, vectors, tables, subgroups and checked bounds: what is declared for them and what is not.

use super::*;
use crate::builder::Scan;
use crate::kernel::{Bounds, DeviceFeature};
use crate::spirv::emit::{FloatAtomics, Fma, Lengths, Version};
use spirv::{Decoration, StorageClass};

/// The integer widths that a module declares.
fn widths(found: &Decoded) -> BTreeSet<u32> {
    found.all(Op::TypeInt).iter().map(|i| i[1]).collect()
}

#[test]
fn narrow_integers_are_narrow_in_buffers_alone() {
    let mut b = KernelBuilder::new("main", [64, 1, 1]);
    let data = b.buffer("data", Type::I8, Access::ReadWrite);
    let tile = b.shared("tile", Type::I8, 64);
    let own = b.private("own", Type::U16, 4);
    let i = b.local_index();
    let x = b.load(data, i);
    let sum = b.add(x, x);
    b.store(tile, i, sum);
    let zero = b.constant(0u32);
    let y = b.convert(sum, Type::U16);
    b.store(own, zero, y);
    b.store(data, i, sum);
    let found = decode(&b.finish().unwrap(), &Options::default());
    assert_eq!(widths(&found), [8, 32].into());
    let needed = capabilities([Capability::Shader, Capability::StorageBuffer8BitAccess]);
    assert_eq!(found.capabilities(), needed);
    // The load is widened by its sign, the sum cut again.
    assert_eq!(found.count(Op::SConvert), 2);
    assert_eq!(found.count(Op::BitFieldSExtract), 1);
    let strides = found.all(Op::Decorate);
    let strides = strides
        .iter()
        .filter(|d| d[1] == Decoration::ArrayStride as u32);
    assert_eq!(strides.map(|d| d[2]).collect::<Vec<_>>(), [1]);
}

#[test]
fn bytes_in_buffers_are_an_extension_before_1_5() {
    let kernel = binary(Type::U8, |b, [x, y]| b.add(x, y));
    for (version, extension) in [
        (Version::V1_3, true),
        (Version::V1_4, true),
        (Version::V1_5, false),
    ] {
        let found = decode(&kernel, &with(|o| o.version = version));
        let has = found
            .extensions()
            .iter()
            .any(|e| e == "SPV_KHR_8bit_storage");
        assert_eq!(has, extension, "{version:?}");
    }
}

#[test]
fn vectors_have_strides_of_their_size() {
    for (ty, stride) in [("u8x4", 4), ("f16x2", 4), ("bf16x4", 8), ("f64x4", 32)] {
        let ty = Type::parse(ty).unwrap();
        let mut b = KernelBuilder::new("main", [1, 1, 1]);
        let data = b.buffer("data", ty, Access::ReadWrite);
        let zero = b.constant(0u32);
        let x = b.load(data, zero);
        b.store_offset(data, zero, 1, x);
        let found = decode(&b.finish().unwrap(), &Options::default());
        let all = found.all(Op::Decorate);
        let found = all.iter().find(|d| d[1] == Decoration::ArrayStride as u32);
        assert_eq!(found.map(|d| d[2]), Some(stride), "{ty}");
    }
}

#[test]
fn tables_are_private_variables_named_from_1_4_on() {
    let mut b = KernelBuilder::new("main", [64, 1, 1]);
    let table = b.table("table", Type::U16, &[1u16, 2, 3]);
    let out = b.buffer("out", Type::U32, Access::Write);
    let i = b.local_index();
    let n = b.constant(3u32);
    let at = b.rem(i, n);
    let x = b.load(table, at);
    let x = b.convert(x, Type::U32);
    b.store(out, i, x);
    let kernel = b.finish().unwrap();
    for (version, named) in [(Version::V1_3, false), (Version::V1_6, true)] {
        let found = decode(&kernel, &with(|o| o.version = version));
        let variables = found.all(Op::Variable);
        let table = variables
            .iter()
            .find(|v| v[2] == StorageClass::Private as u32)
            .expect("the table");
        assert_eq!(table.len(), 4, "it has an initialiser");
        let entry = &found.all(Op::EntryPoint)[0];
        assert_eq!(entry[4..].contains(&table[1]), named, "{version:?}");
    }
}

#[test]
fn shuffles_take_the_lane_itself_where_there_is_no_other() {
    let mut b = KernelBuilder::new("main", [64, 1, 1]);
    let data = b.buffer("data", Type::U32, Access::ReadWrite);
    let i = b.local_index();
    let x = b.load(data, i);
    let y = b.shuffle(x, x);
    b.store(data, i, y);
    let found = decode(&b.finish().unwrap(), &Options::default());
    let needed = capabilities([
        Capability::Shader,
        Capability::GroupNonUniform,
        Capability::GroupNonUniformShuffle,
    ]);
    assert_eq!(found.capabilities(), needed);
    let shuffle = &found.all(Op::GroupNonUniformShuffle)[0];
    assert_eq!(found.constant(shuffle[2]), 3, "the scope is the subgroup");
    assert!(
        found.all(Op::Select).iter().any(|s| s[1] == shuffle[4]),
        "the lane is chosen"
    );
}

#[test]
fn reductions_need_arithmetic_and_ordered_sums_shuffles() {
    let reduce = |ty: Type, native: bool| {
        let mut b = KernelBuilder::new("main", [64, 1, 1]);
        b.require_subgroup_size(32);
        let data = b.buffer("data", ty, Access::ReadWrite);
        let i = b.local_index();
        let x = b.load(data, i);
        let y = if native {
            b.subgroup_add_native_order(x, Scan::Reduce)
        } else {
            b.subgroup_add(x, Scan::Reduce)
        };
        b.store(data, i, y);
        decode(&b.finish().unwrap(), &Options::default())
    };
    assert_eq!(reduce(Type::I32, false).count(Op::GroupNonUniformIAdd), 1);
    assert_eq!(reduce(Type::F32, true).count(Op::GroupNonUniformFAdd), 1);
    let ordered = reduce(Type::F32, false);
    assert_eq!(ordered.count(Op::GroupNonUniformShuffleDown), 5);
    assert_eq!(ordered.count(Op::GroupNonUniformBroadcast), 1);
}

/// A kernel that stores to a buffer what it loads from it, at an index plus 5.
fn copy(ty: Type, index: Type) -> Kernel {
    let mut b = KernelBuilder::new("main", [64, 1, 1]);
    let data = b.buffer("data", ty, Access::ReadWrite);
    let i = b.global_id(0);
    let i = b.convert(i, index);
    let x = b.load_offset(data, i, 5);
    b.store_offset(data, i, 5, x);
    b.finish().unwrap()
}

#[test]
fn checked_accesses_are_branches_on_a_length() {
    let checked = with(|o| o.bounds = Bounds::Checked);
    let found = decode(&copy(Type::F32, Type::U32), &checked);
    assert_eq!(found.count(Op::ArrayLength), 1, "it is kept");
    assert_eq!(found.count(Op::SelectionMerge), 2);
    assert_eq!(found.count(Op::Phi), 1);
    assert!(!found.capabilities().contains(&(Capability::Int64 as u32)));
    let wide = decode(&copy(Type::F32, Type::U64), &checked);
    let compared = wide.all(Op::ULessThan);
    assert_eq!(compared.len(), 2);
    // The sum of an index in bounds and the offset fits 32 bits.
    assert_eq!(wide.count(Op::UConvert), 1 + 2 * 2);

    let filled = with(|o| {
        o.bounds = Bounds::Checked;
        o.lengths = Lengths::HostFilled;
    });
    let found = decode(&copy(Type::F32, Type::U32), &filled);
    assert_eq!(found.count(Op::ArrayLength), 0);
    let signature = copy(Type::F32, Type::U32).signature_with(Bounds::Checked);
    assert_eq!(signature.lengths.len(), 1);
    assert_eq!(signature.push_constant_bytes_with_lengths, 4);
}

#[test]
fn no_check_where_an_index_is_in_range() {
    let mut b = KernelBuilder::new("main", [64, 1, 1]);
    let tile = b.shared("tile", Type::U32, 64);
    let i = b.local_index();
    b.store(tile, i, i);
    let mask = b.constant(31u32);
    let low = b.and(i, mask);
    let x = b.load_offset(tile, low, 32);
    b.store(tile, low, x);
    let found = decode(&b.finish().unwrap(), &with(|o| o.bounds = Bounds::Checked));
    assert_eq!(found.count(Op::ULessThan), 0);
    assert_eq!(found.count(Op::SelectionMerge), 0);
}

#[test]
fn float_atomics_by_their_options() {
    let kernel = |min: bool| {
        let mut b = KernelBuilder::new("main", [64, 1, 1]);
        let data = b.buffer("data", Type::F32, Access::ReadWrite);
        let (i, x) = (b.constant(0u32), b.constant(1.0f32));
        b.atomic_add(data, i, x);
        if min {
            b.atomic_min(data, i, x);
        }
        b.finish().unwrap()
    };
    let add = decode(&kernel(false), &Options::default());
    assert_eq!(add.count(Op::AtomicFAddEXT), 1);
    // An array that one atomic treats as integers is one of integers to the others.
    let both = decode(&kernel(true), &Options::default());
    assert_eq!(both.count(Op::AtomicFAddEXT), 0);
    assert_eq!(both.count(Op::AtomicCompareExchange), 2);
    assert!(kernel(true).signature().features.is_empty());
    let native = decode(
        &kernel(true),
        &with(|o| o.float_min_max_atomics = FloatAtomics::Native),
    );
    assert_eq!(native.count(Op::AtomicFMinEXT), 1);
    assert_eq!(
        kernel(false).signature().features,
        [DeviceFeature::ShaderBufferFloat32AtomicAdd]
    );
}

#[test]
fn recipes_share_their_tables_and_fuse_as_asked() {
    let mut b = KernelBuilder::new("main", [64, 1, 1]);
    let data = b.buffer("data", Type::F32, Access::ReadWrite);
    let i = b.local_index();
    let x = b.load(data, i);
    let (s, c) = (b.sin(x), b.cos(x));
    let fast = b.exp2_fast(s);
    let sum = b.add(fast, c);
    b.store(data, i, sum);
    let kernel = b.finish().unwrap();
    let found = decode(&kernel, &Options::default());
    let private = |v: &&&[u32]| v[2] == StorageClass::Private as u32;
    assert_eq!(found.all(Op::Variable).iter().filter(private).count(), 1);
    let exp2 = spirv::GlslStd450Op::Exp2 as u32;
    assert_eq!(found.extended().iter().filter(|&&e| e == exp2).count(), 1);
    let exact = decode(&kernel, &with(|o| o.fma = Fma::Exact));
    let fma = spirv::GlslStd450Op::Fma as u32;
    assert!(found.extended().contains(&fma));
    assert!(!exact.extended().contains(&fma));
}
