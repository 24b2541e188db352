//! The words where they were made: one emitter for modules of all sizes, one after the other.

use super::*;
use crate::kernel::Module;
use crate::spirv::emit::{Emitter, Fma, emit_module};

/// A kernel with many constants, and as many sums that are not contracted.
fn constants(count: u32) -> Kernel {
    binary(Type::F32, |b, [mut x, _]| {
        for n in 0..count {
            let c = b.constant(f32::from_bits(n));
            x = b.add(x, c);
        }
        x
    })
}

#[test]
fn what_precedes_a_function_finds_room_in_front_of_it() {
    let options = Options::default();
    let mut emitter = Emitter::new();
    for count in [0, 3000, 1, 9000, 9000, 2] {
        let kernel = constants(count);
        let expected = emit(&kernel, &options).unwrap();
        let found = Decoded::new(expected.clone());
        assert_eq!(found.count(Op::Decorate), 5 + count as usize);
        assert_eq!(emitter.words(&kernel, &options), Ok(&expected[..]));
    }
}

#[test]
fn decorations_keep_their_order() {
    // A built-in variable is decorated between the sums.
    let kernel = binary(Type::F32, |b, [x, y]| {
        let sum = b.add(x, y);
        let index = b.local_index();
        let other = b.convert(index, Type::F32);
        let product = b.mul(sum, other);
        b.sub(product, x)
    });
    let found = decode(&kernel, &Options::default());
    let kinds: Vec<u32> = found.all(Op::Decorate).iter().map(|d| d[1]).collect();
    let exact = spirv::Decoration::NoContraction as u32;
    let built_in = spirv::Decoration::BuiltIn as u32;
    assert_eq!(kinds[kinds.len() - 4..], [exact, built_in, exact, exact]);
}

/// A kernel with a function of its own and a variable made late.
fn late_variable(name: &str) -> Kernel {
    let mut b = KernelBuilder::new(name, [64, 1, 1]);
    let out = b.buffer("", Type::F64, Access::ReadWrite);
    let i = b.global_id(0);
    let x = b.load(out, i);
    let y = b.fma(x, x, x);
    let kept = b.var(y);
    let y = b.get(kept);
    b.store(out, i, y);
    b.finish().unwrap()
}

#[test]
fn every_function_begins_with_its_variables() {
    let options = with(|o| o.fma = Fma::Exact);
    let mut module = Module::new();
    for name in ["first", "second", "third"] {
        module.push(late_variable(name)).unwrap();
    }
    let words = emit_module(&module, &options).unwrap();
    let mut emitter = Emitter::new();
    for _ in 0..2 {
        assert_eq!(emitter.module_words(&module, &options), Ok(&words[..]));
    }
    let found = Decoded::new(words);
    let ops: Vec<Op> = found.insts.iter().map(|i| i.0).collect();
    let mut functions = ops.split(|op| *op == Op::Function).skip(1);
    for function in functions.by_ref().take(3) {
        assert_eq!(function[..3], [Op::Label, Op::Variable, Op::Load]);
        assert_eq!(function.last(), Some(&Op::FunctionEnd));
        assert!(!function[2..].contains(&Op::Variable));
    }
    let exact = functions.next().expect("the function of fma");
    assert_eq!(
        exact[..4],
        [[Op::FunctionParameter; 3], [Op::Label; 3]].concat()[..4]
    );
    assert_eq!(functions.next(), None);
}

#[test]
fn entry_points_precede_all_execution_modes() {
    let mut module = Module::new();
    for name in ["first", "second", "third"] {
        module.push(late_variable(name)).unwrap();
    }
    let found = Decoded::new(emit_module(&module, &Options::default()).unwrap());
    let entries = found.all(Op::EntryPoint);
    let names: Vec<String> = entries.iter().map(|e| string(&e[2..])).collect();
    assert_eq!(names, ["first", "second", "third"]);
    let modes = found.all(Op::ExecutionMode);
    let named: Vec<u32> = modes.iter().map(|m| m[0]).collect();
    let each = modes.len() / 3;
    assert!(entries.iter().flat_map(|e| vec![e[1]; each]).eq(named));
    let last = found.insts.iter().rposition(|i| i.0 == Op::EntryPoint);
    let first = found.insts.iter().position(|i| i.0 == Op::ExecutionMode);
    assert!(last < first);
}
