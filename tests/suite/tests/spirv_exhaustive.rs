//! SPIR-V of every opcode on every type: the capabilities and extensions are those needed, SPIRV-Tools accepts it in
//! every version and memory model, and a device computes with it what the reference executor does.

use kernite::kernel::{Bounds, DeviceFeature, Kernel, Uses};
use kernite::op::Op;
use kernite::reference::compare;
use kernite::spirv::{
    self, DotProducts, Emitter, FloatAtomics, FloatMode, Fma, Lengths, MemoryModel, Options,
    Version, ZeroShared,
};
use kernite::types::{Scalar, Type};
use kernite_suite::every::{self, Unit};
use kernite_suite::gaps::config_for;
use kernite_suite::run::Value;
use kernite_testkit::alloc_counter::{self, CountingAllocator};
use kernite_testkit::skip::skip;
use kernite_testkit::spirv_tools::{Env, SpirvVal};
use kernite_testkit::vulkan::Context;
use std::collections::{BTreeMap, BTreeSet};

const VERSIONS: [(Version, Env); 4] = [
    (Version::V1_3, Env::Vulkan1_1),
    (Version::V1_4, Env::Vulkan1_1Spirv1_4),
    (Version::V1_5, Env::Vulkan1_2),
    (Version::V1_6, Env::Vulkan1_3),
];

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn every_opcode_and_type_is_emitted_without_allocations_once_warm() {
    let mut emitter = Emitter::new();
    let mut words = Vec::new();
    let mut round = || {
        for unit in every::units() {
            emitter
                .emit(&unit.kernel, &options(unit), &mut words)
                .unwrap_or_else(|e| panic!("{}: {e}", unit.name));
        }
    };
    round();
    let ((), allocations) = alloc_counter::count(round);
    assert_eq!(allocations, Default::default());
}

#[test]
fn every_opcode_and_type_is_here() {
    let units = every::units();
    assert_eq!(every::missing(units), [""; 0]);
}

/// The default options for a unit.
fn options(unit: &Unit) -> Options {
    let mut options = Options::default();
    options.bounds = unit.bounds;
    options
}

/// The `n`th choice of everything that may be chosen.
fn chosen(unit: &Unit, n: usize) -> (Options, Env) {
    let mut options = options(unit);
    let (version, env) = VERSIONS[n % 4];
    options.version = version;
    if n / 4 % 2 == 1 {
        options.memory_model = MemoryModel::Vulkan;
    }
    match n / 8 % 3 {
        0 => {}
        1 => {
            options.fma = Fma::Exact;
            options.float_atomics = FloatAtomics::CompareExchange;
            options.zero_shared = ZeroShared::Loop;
            options.lengths = Lengths::HostFilled;
            options.dot_products = DotProducts::Expanded;
            options.names = true;
            options.denorm_preserve = 16;
        }
        _ => {
            options.float_mode = FloatMode::Relaxed;
            options.float_min_max_atomics = FloatAtomics::Native;
            options.float64_atomics = FloatAtomics::Native;
            options.bounds = Bounds::Checked;
        }
    }
    (options, env)
}

#[test]
fn spirv_val_accepts_every_opcode_and_type() {
    let Some(val) = SpirvVal::get() else { return };
    let mut seen = BTreeMap::new();
    let units: Vec<&Unit> = every::units()
        .iter()
        .enumerate()
        .filter(|(n, unit)| sampled(*n, unit, &mut seen))
        .map(|(_, unit)| unit)
        .collect();
    let mut emitter = Emitter::new();
    let mut modules = Vec::new();
    for (n, unit) in units.iter().enumerate() {
        // A prime step through the 24 choices, so that neighbours differ and each opcode meets several.
        let (options, env) = chosen(unit, n * 7);
        let mut words = Vec::new();
        emitter
            .emit(&unit.kernel, &options, &mut words)
            .unwrap_or_else(|e| panic!("{}: {e}", unit.name));
        modules.push((words, env, options));
    }
    let all: Vec<(&[u32], Env)> = modules.iter().map(|(w, e, _)| (&w[..], *e)).collect();
    let mut faults = Vec::new();
    for ((result, unit), (_, _, options)) in val.validate_all(&all).iter().zip(&units).zip(&modules)
    {
        if let Err(e) = result {
            faults.push(format!("{}: {e}\n{options:?}", unit.name));
        }
    }
    let shown = faults
        .iter()
        .take(5)
        .cloned()
        .collect::<Vec<_>>()
        .join("\n");
    assert!(
        faults.is_empty(),
        "{} of {}:\n{shown}",
        faults.len(),
        all.len()
    );
}

/// The names of the capabilities of a module.
fn capabilities(words: &[u32]) -> BTreeSet<String> {
    // OpCapability has the number 17 and two words; they come first.
    let declared = words[5..].chunks(2).take_while(|i| i[0] == 2 << 16 | 17);
    declared
        .filter_map(|i| rspirv::spirv::Capability::from_u32(i[1]))
        .map(|c| format!("{c:?}"))
        .collect()
}

/// The features whose need a capability tells.
fn features_of(capability: &str, kernel: &Kernel) -> Vec<DeviceFeature> {
    use DeviceFeature as F;
    let uses = kernel.uses();
    let either = |buffer: (bool, F), shared: (bool, F)| {
        let all = [buffer, shared].into_iter();
        all.filter_map(|(used, feature)| used.then_some(feature))
            .collect()
    };
    match capability {
        "Int64" => vec![F::ShaderInt64],
        "Float64" => vec![F::ShaderFloat64],
        "Float16" => vec![F::ShaderFloat16],
        "StorageBuffer8BitAccess" => vec![F::StorageBuffer8BitAccess],
        "StorageBuffer16BitAccess" => vec![F::StorageBuffer16BitAccess],
        "DotProduct" => vec![F::ShaderIntegerDotProduct],
        "Int64Atomics" => either(
            (
                uses.has(Uses::ATOMIC_64) || uses.has(Uses::ATOMIC_F64_ADD),
                F::ShaderBufferInt64Atomics,
            ),
            (
                uses.has(Uses::ATOMIC_64_SHARED) || uses.has(Uses::ATOMIC_F64_ADD_SHARED),
                F::ShaderSharedInt64Atomics,
            ),
        ),
        "AtomicFloat32AddEXT" => either(
            (
                uses.has(Uses::ATOMIC_F32_ADD),
                F::ShaderBufferFloat32AtomicAdd,
            ),
            (
                uses.has(Uses::ATOMIC_F32_ADD_SHARED),
                F::ShaderSharedFloat32AtomicAdd,
            ),
        ),
        _ => vec![],
    }
}

/// Features that no capability tells.
fn is_told(feature: &DeviceFeature) -> bool {
    use DeviceFeature as F;
    !matches!(
        feature,
        F::ShaderZeroInitializeWorkgroupMemory
            | F::ComputeFullSubgroups
            | F::ShaderBufferFloat32Atomics
            | F::ShaderSharedFloat32Atomics
            | F::SubgroupSizeControl
            | F::ShaderSubgroupExtendedTypes
    )
}

#[test]
fn capabilities_and_features_agree_both_ways() {
    let mut emitter = Emitter::new();
    let mut words = Vec::new();
    for unit in every::units() {
        let options = options(unit);
        emitter
            .emit(&unit.kernel, &options, &mut words)
            .unwrap_or_else(|e| panic!("{}: {e}", unit.name));
        let found: BTreeSet<DeviceFeature> = capabilities(&words)
            .iter()
            .flat_map(|c| features_of(c, &unit.kernel))
            .collect();
        let listed: BTreeSet<DeviceFeature> = unit
            .kernel
            .signature_with(unit.bounds)
            .features
            .into_iter()
            .filter(is_told)
            .collect();
        assert_eq!(
            found, listed,
            "{}: the module, then the signature",
            unit.name
        );
    }
}

#[test]
fn no_capability_is_there_for_nothing() {
    // What each capability is for; with none of it in the module, the module is right without it.
    let Some(val) = SpirvVal::get() else { return };
    let units = every::units();
    let mut emitter = Emitter::new();
    let mut cut = Vec::new();
    let mut seen = BTreeSet::new();
    for unit in units {
        let mut words = Vec::new();
        emitter
            .emit(&unit.kernel, &options(unit), &mut words)
            .unwrap_or_else(|e| panic!("{}: {e}", unit.name));
        let mut at = 5;
        while let Some(&head) = words.get(at) {
            let capability = words.get(at + 1).copied().unwrap_or(0);
            // OpCapability of two words; what float controls and full subgroups need cannot be seen without.
            if head != 2 << 16 | 17 {
                break;
            }
            let first = seen.insert((capability, unit.covers.first().copied()));
            if first && seen.iter().filter(|(c, _)| *c == capability).count() <= 6 {
                let mut without = words.clone();
                without.drain(at..at + 2);
                cut.push((
                    without,
                    format!("{} without capability {capability}", unit.name),
                ));
            }
            at += 2;
        }
    }
    let all: Vec<(&[u32], Env)> = cut.iter().map(|(w, _)| (&w[..], Env::Vulkan1_3)).collect();
    for (result, (_, name)) in val.validate_all(&all).iter().zip(&cut) {
        // GroupNonUniform (61) is implied by the other subgroup capabilities. Vulkan asks for StorageBuffer16BitAccess
        // (4433) where the tool is content with Float16 (9), and for f16 values at all the emitter asks for the latter,
        // also where they are only moved. It does not look at packed operands of dot products (6018) either.
        let implied = [" 61", " 4433", " 9", " 6018"]
            .iter()
            .any(|c| name.ends_with(c));
        assert!(result.is_err() || implied, "{name} is valid");
    }
}

/// What a device lacks for a kernel.
fn lacks(device: &Context, unit: &Unit) -> Option<String> {
    let lacks = unit.case().lacks(device);
    if lacks.is_some() {
        return lacks;
    }
    let uses = unit.kernel.uses();
    let subgroups = &device.info().subgroups;
    let needs = [
        (Uses::VOTE, subgroups.vote, "subgroup votes"),
        (Uses::BALLOT, subgroups.ballot, "subgroup ballots"),
        (
            Uses::SHUFFLE,
            subgroups.shuffle && subgroups.shuffle_relative,
            "subgroup shuffles",
        ),
        (Uses::REDUCE, subgroups.arithmetic, "subgroup arithmetic"),
    ];
    for (used, has, what) in needs {
        if uses.has(used) && !has {
            return Some(what.into());
        }
    }
    // Sums of floats in order, and f64 in steps, are shuffles.
    let stepped = capabilities(&spirv::emit(&unit.kernel, &options(unit)).ok()?);
    if stepped.iter().any(|c| c.contains("Shuffle")) && !subgroups.shuffle_relative {
        return Some("subgroup shuffles".into());
    }
    None
}

/// Whether a unit is among those that run without being asked for all: two of each opcode and type, and every eighth of
/// the rest. `KERNITE_EXHAUSTIVE=1` runs all.
fn sampled(n: usize, unit: &Unit, seen: &mut BTreeMap<(Op, Type), usize>) -> bool {
    if std::env::var("KERNITE_EXHAUSTIVE").is_ok_and(|v| v == "1") {
        return true;
    }
    let count = unit
        .covers
        .first()
        .map(|&pair| seen.entry(pair).or_default());
    let few = count.is_none_or(|count| {
        *count += 1;
        *count <= 2
    });
    few || n.is_multiple_of(8)
}

/// Types that are computed in f32.
fn in_f32(ty: Type) -> bool {
    matches!(ty.scalar(), Some(Scalar::F32 | Scalar::BF16))
}

/// A device that flushes says nothing of an element where a float computed in f32 is, before or after, subnormal or the
/// least normal number, from which less may be subtracted, or a signalling NaN, which it quiets: what it got there becomes
/// what was expected.
fn forgive(unit: &Unit, expected: &[Vec<u8>], got: &mut [Vec<u8>]) {
    let types: Vec<Type> = unit.kernel.buffers().iter().map(|b| b.elem).collect();
    let before = unit.args.iter().filter_map(|arg| match arg {
        Value::Bytes(bytes) => Some(bytes),
        Value::Scalar(_) => None,
    });
    let all = before.zip(&types).chain(expected.iter().zip(&types));
    let all = all.chain(got.iter().zip(&types));
    let mut forgiven = BTreeSet::new();
    for (bytes, ty) in all.filter(|(_, ty)| in_f32(**ty)) {
        let width = ty.scalar().map_or(1, |s| Type::from(s).bytes()) as usize;
        let special = |lane: &[u8]| {
            let mut bits = [0; 4];
            bits[4 - width..].copy_from_slice(lane);
            let magnitude = u32::from_le_bytes(bits) & 0x7FFF_FFFF;
            (1..=0x0080_0000).contains(&magnitude)
                || (0x7F80_0001..0x7FC0_0000).contains(&magnitude)
        };
        for (at, element) in bytes.chunks(ty.bytes() as usize).enumerate() {
            if element.chunks(width).any(special) {
                forgiven.insert(at);
            }
        }
    }
    for ((ty, expected), got) in types.iter().zip(expected).zip(got) {
        let size = ty.bytes() as usize;
        for at in forgiven.iter().map(|at| at * size) {
            if let (Some(from), Some(to)) =
                (expected.get(at..at + size), got.get_mut(at..at + size))
            {
                to.copy_from_slice(from);
            }
        }
    }
}

/// A float's place among the floats of its type.
fn ordered(ty: Type, bits: u64) -> i64 {
    let width = ty.bytes() * 8;
    let sign = bits >> (width - 1) & 1;
    let magnitude = (bits & (u64::MAX >> (65 - width))) as i64;
    if sign == 1 { -magnitude } else { magnitude }
}

/// The first element that is further off than the unit allows.
fn difference(unit: &Unit, expected: &[u8], got: &[u8], ty: Type) -> Option<String> {
    if unit.bits {
        let at = expected.iter().zip(got).position(|(e, g)| e != g)?;
        let size = ty.bytes() as usize;
        let from = at / size * size;
        return Some(format!(
            "element {} is {:02x?}, expected {:02x?}",
            at / size,
            &got[from..from + size],
            &expected[from..from + size]
        ));
    }
    if unit.ulps == 0 {
        return compare(expected, got, ty).map(|d| d.to_string());
    }
    let size = ty.bytes() as usize;
    let word = |chunk: &[u8]| {
        let mut all = [0; 8];
        all[..size].copy_from_slice(chunk);
        u64::from_le_bytes(all)
    };
    for (at, (e, g)) in expected.chunks(size).zip(got.chunks(size)).enumerate() {
        if compare(e, g, ty).is_some() {
            let far = ordered(ty, word(e)).abs_diff(ordered(ty, word(g)));
            if far > unit.ulps {
                return Some(format!("element {at} is {g:02x?}, expected {e:02x?}"));
            }
        }
    }
    None
}

#[test]
fn a_device_computes_every_opcode_and_type_as_the_reference_does() {
    let Some(device) = Context::get() else { return };
    let only = std::env::var("KERNITE_ONLY").unwrap_or_default();
    let mut faults = Vec::new();
    let mut ran = 0;
    let size = device.info().subgroups.size;
    let keeps_subnormals = config_for(device).subnormals;
    let mut seen = BTreeMap::new();
    for (n, unit) in every::units().iter().enumerate() {
        if unit.approximate || !unit.name.contains(&only) || !sampled(n, unit, &mut seen) {
            continue;
        }
        if let Some(what) = lacks(device, unit) {
            skip(&what, "the device does not have it");
            continue;
        }
        let mut options = options(unit);
        if !device.fma().f32 {
            options.fma = Fma::Exact;
        }
        if n % 2 == 1 {
            options.lengths = Lengths::HostFilled;
            options.dot_products = DotProducts::Expanded;
        }
        let expected = unit.reference(size);
        ran += 1;
        let mut got = match unit.case().vulkan(device, &options) {
            Ok(got) => got,
            Err(e) => {
                faults.push(format!("{}: {e}", unit.name));
                continue;
            }
        };
        if !keeps_subnormals {
            forgive(unit, &expected, &mut got);
        }
        let types = unit.kernel.buffers().iter().map(|b| b.elem);
        for (buffer, ((e, g), ty)) in expected.iter().zip(&got).zip(types).enumerate() {
            if let Some(difference) = difference(unit, e, g, ty) {
                faults.push(format!("{}: buffer {buffer}: {difference}", unit.name));
            }
        }
    }
    let shown = faults
        .iter()
        .take(40)
        .cloned()
        .collect::<Vec<_>>()
        .join("\n");
    assert!(faults.is_empty(), "{} of {ran}:\n{shown}", faults.len());
}
