//! Structured control flow.

use super::*;

#[test]
fn a_while_has_its_condition_in_the_body() {
    let mut b = KernelBuilder::new("main", [1, 1, 1]);
    let data = b.buffer("data", Type::U32, Access::ReadWrite);
    let i = b.global_id(0);
    let zero = b.constant(0u32);
    b.while_(
        |b| {
            let x = b.load(data, i);
            b.ne(x, zero)
        },
        |b| b.store(data, i, zero),
    );
    let found = decode(&b.finish().unwrap(), &Options::default());
    let merge = found.all(Op::LoopMerge)[0].to_vec();
    // The continue target does nothing but go back to the header.
    let at = found
        .insts
        .iter()
        .position(|i| i.0 == Op::Label && i.1 == [merge[1]])
        .unwrap();
    assert_eq!(found.insts[at + 1].0, Op::Branch);
    let header = found.insts[at + 1].1[0];
    let at = found
        .insts
        .iter()
        .position(|i| i.0 == Op::Label && i.1 == [header])
        .unwrap();
    assert_eq!(found.insts[at + 1].0, Op::LoopMerge);
    assert_ne!(merge[0], merge[1]);
}

#[test]
fn merges_that_nothing_reaches_are_unreachable() {
    let mut b = KernelBuilder::new("main", [1, 1, 1]);
    let i = b.global_id(0);
    let zero = b.constant(0u32);
    let c = b.eq(i, zero);
    b.loop_(|b| {
        b.when(c, |b| b.continue_());
        b.if_else(c, |b| b.continue_(), |b| b.return_());
    });
    let found = decode(&b.finish().unwrap(), &Options::default());
    // Of the if with else, and of the loop; the function ends with the latter.
    assert_eq!(found.count(Op::Unreachable), 2);
    let end = found.code();
    assert_eq!(
        end[end.len() - 3..],
        [Op::Label, Op::Unreachable, Op::FunctionEnd]
    );
}

#[test]
fn an_if_without_else_branches_to_its_merge() {
    let mut b = KernelBuilder::new("main", [1, 1, 1]);
    let data = b.buffer("data", Type::U32, Access::Write);
    let i = b.global_id(0);
    let c = b.eq(i, i);
    b.when(c, |b| b.store(data, i, i));
    let found = decode(&b.finish().unwrap(), &Options::default());
    let merge = found.all(Op::SelectionMerge)[0][0];
    assert_eq!(found.all(Op::BranchConditional)[0][2], merge);
    let code = found.code();
    let labels = code.iter().filter(|op| **op == Op::Label).count();
    let ends = code
        .iter()
        .filter(|op| {
            matches!(
                op,
                Op::Branch | Op::BranchConditional | Op::Return | Op::Unreachable
            )
        })
        .count();
    assert_eq!((labels, ends), (3, 3), "every block ends once");
}

#[test]
fn variables_stand_behind_the_first_label() {
    let mut b = KernelBuilder::new("main", [1, 1, 1]);
    let data = b.buffer("data", Type::U32, Access::Write);
    let i = b.global_id(0);
    b.store(data, i, i);
    let c = b.eq(i, i);
    let truth = b.constant(true);
    b.when(c, |b| {
        let late = b.var(i);
        let flag = b.var(truth);
        let array = b.private("array", Type::U32, 4);
        let zero = b.constant(0u32);
        let x = b.get(late);
        b.store(array, zero, x);
        let y = b.load(array, zero);
        b.store(data, i, y);
        let not = b.get(flag);
        let not = b.not(not);
        b.set(flag, not);
    });
    let found = decode(&b.finish().unwrap(), &Options::default());
    let code = found.code();
    assert_eq!(
        code[..4],
        [Op::Label, Op::Variable, Op::Variable, Op::Variable]
    );
    assert!(!code[4..].contains(&Op::Variable));
    // The initial stores stand where the kernel makes the variables.
    let branch = code
        .iter()
        .position(|op| *op == Op::BranchConditional)
        .unwrap();
    assert_eq!(code[branch + 2..branch + 4], [Op::Store, Op::Store]);
}
