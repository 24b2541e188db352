//! What is printed reads back to the same bytes.

use super::*;
use crate::builder::{BufferOptions, KernelBuilder};
use crate::kernel::{Module, Ordering};
use crate::types::{Access, Const, Order, Scope, Type, TypeSet};

/// Prints, reads, compares; gives the text.
pub(super) fn round_trip(kernel: &Kernel) -> String {
    let text = kernel.to_string();
    let back: Kernel = text.parse().unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(back.to_bytes(), kernel.to_bytes(), "{text}");
    assert_eq!(&back, kernel);
    assert_eq!(back.to_string(), text);
    text
}

#[test]
fn everything_prints_as_it_was_written() {
    let kernel: Kernel = EVERYTHING.parse().unwrap();
    assert_eq!(kernel.to_string(), EVERYTHING);
    assert_eq!(round_trip(&kernel), EVERYTHING);
    assert_eq!(Kernel::from_bytes(&kernel.to_bytes()).unwrap(), kernel);
    assert_eq!(kernel.name(), "all of it \"\u{7}");
    assert!(kernel.contract());
    assert_eq!(kernel.workgroup_size(), [8, 4, 2]);
    let name = kernel.buffers()[1].name;
    assert_eq!(kernel.name_of(name), "größe; \\ 'x'");
}

#[test]
fn spaces_comments_and_line_ends_mean_nothing() {
    let loose = EVERYTHING
        .replace('\n', " ; comment \" { }\r\n;\r\n\t\r\n")
        .replace(", ", "\t ,")
        .replace(": ", " :")
        .replace(" = ", "=  ")
        .replace(" + ", "+")
        .replace('[', " [ ");
    let expected: Kernel = EVERYTHING.parse().unwrap();
    assert_eq!(loose.parse::<Kernel>(), Ok(expected.clone()));
    // The last line need not end.
    assert_eq!(EVERYTHING.trim_end().parse::<Kernel>(), Ok(expected));
    let flags = EVERYTHING.replace("volatile coherent", "coherent volatile");
    assert!(flags.parse::<Kernel>().is_ok());
}

#[test]
fn names_are_any_strings() {
    let long = "x".repeat(crate::verify::MAX_NAME);
    let names = [
        "k",
        "_1",
        "workgroup",
        "kernel",
        "1a",
        "a b",
        "\"",
        "\\",
        "'",
        "\n\r\t",
        "\u{1}",
        "ü",
        "\u{202E}rtl",
        "\u{301}",
        "🦀",
        ";",
        "}",
        "\u{FFFF}",
        "\u{10FFFF}",
        "\\u{41}",
        &long,
    ];
    for name in names {
        let mut b = KernelBuilder::new(name, [1, 1, 1]);
        // In another order than that of the text.
        b.private(name, Type::U32, 1);
        b.scalar("", Type::F32);
        b.shared(name, Type::U32, 1);
        b.buffer(name, Type::F32, Access::Read);
        b.scalar("last", Type::F64);
        let kernel = b.finish().unwrap();
        let text = round_trip(&kernel);
        let plain = text.bytes().all(|c| c == b'\n' || !c.is_ascii_control());
        assert!(plain, "{text}");
    }
    let word: Kernel = "kernel workgroup workgroup 1 2 3 {\n}".parse().unwrap();
    assert_eq!(word.name(), "workgroup");
    let escaped = "kernel \"\\u{1f980}\\'\\u{41}\" workgroup 1 1 1 {\n}";
    assert_eq!(escaped.parse::<Kernel>().unwrap().name(), "🦀'A");
}

#[test]
fn constants_keep_their_bits() {
    let mut b = KernelBuilder::new("constants", [1, 1, 1]);
    let mut expected = Vec::new();
    for ty in TypeSet::ALL.iter() {
        let width = ty.scalar().map_or(0, |s| s.bits());
        let top = 1u64.checked_shl(width - 1).unwrap_or(0);
        let all = top | top.wrapping_sub(1);
        for bits in [0, 1, 2, 10, top, top | 1, top - 1, all, all - 1] {
            expected.extend(Const::new(ty, bits));
        }
    }
    for bits in [
        0x7FC0_0001u32,
        0xFFC0_0000,
        0x7F80_0001,
        0x7F80_0000,
        0xFF80_0000,
    ] {
        expected.extend(Const::new(Type::F32, u64::from(bits)));
        expected.push(f64::from(f32::from_bits(bits)).into());
    }
    for value in [
        0.1f32,
        1e10,
        16_777_217.0,
        f32::MIN_POSITIVE,
        f32::MAX,
        1.0 / 3.0,
    ] {
        expected.push(value.into());
        expected.push(f64::from(value).into());
    }
    for &constant in &expected {
        b.constant(constant);
    }
    let kernel = b.finish().unwrap();
    let text = round_trip(&kernel);
    for line in [
        "f32 = const 0x7FC00001",
        "f32 = const -0.0",
        "f64 = const inf",
        "bool = const true",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let back: Kernel = text.parse().unwrap();
    let read = back
        .insts()
        .iter()
        .map(|i| Const::new(i.ty, i.const_bits()));
    assert!(read.eq(expected.into_iter().map(Some)));
}

#[test]
fn orders_and_scopes_are_kept() {
    let mut b = KernelBuilder::new("orders", [64, 1, 1]);
    let options = BufferOptions::new().may_alias().binding(u32::MAX, u32::MAX);
    let x = b.buffer_with("x", Type::U64, Access::ReadWrite, options);
    let zero = b.constant(0u64);
    for order in [
        Order::Relaxed,
        Order::Acquire,
        Order::Release,
        Order::AcqRel,
    ] {
        for scope in [Scope::Workgroup, Scope::Device] {
            b.atomic_add_with(x, zero, 0, zero, Ordering { order, scope });
            b.atomic_compare_exchange_with(
                x,
                zero,
                u32::MAX,
                zero,
                zero,
                Ordering { order, scope },
            );
        }
    }
    let text = round_trip(&b.finish().unwrap());
    assert!(text.contains("set 4294967295 binding 4294967295 may_alias\n"));
    assert!(text.contains(" acq_rel workgroup\n"));
    assert!(!text.contains("relaxed device"), "the default is left out");
}

#[test]
fn indentation_stops_so_that_texts_stay_linear() {
    let depth = crate::verify::MAX_DEPTH;
    let mut b = KernelBuilder::new("deep", [1, 1, 1]);
    let yes = b.constant(true);
    (0..depth).for_each(|_| b.begin_if(yes));
    (0..depth).for_each(|_| b.end());
    let text = round_trip(&b.finish().unwrap());
    assert!(text.lines().all(|line| line.len() < 100));
}

#[test]
fn modules_print_their_kernels_in_order() {
    let kernels =
        parse("kernel b workgroup 1 1 1 {\n}\n ; two\nkernel a workgroup 2 1 1 {\n}").unwrap();
    let mut module = Module::new();
    for kernel in kernels.clone() {
        module.push(kernel).unwrap();
    }
    let text = module.to_string();
    assert_eq!(
        text,
        "kernel b workgroup 1 1 1 {\n}\n\nkernel a workgroup 2 1 1 {\n}\n"
    );
    assert_eq!(parse(&text).unwrap(), kernels);
    assert_eq!(parse(" ; nothing\n\n"), Ok(Vec::new()));
}
