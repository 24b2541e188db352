//! Tests of the emitter on its words: what a module must hold, and what it must not.

mod control;
mod errors;
mod meaning;
mod module;
mod types;
mod words;

use super::{Options, emit};
use crate::builder::KernelBuilder;
use crate::kernel::Kernel;
use crate::types::{Access, Type};
use spirv::{Capability, Op};
use std::collections::BTreeSet;

/// A module taken apart.
struct Decoded {
    words: Vec<u32>,
    insts: Vec<(Op, Vec<u32>)>,
}

impl Decoded {
    /// Takes a module apart and checks what every module keeps to: word counts, ids below the bound, each made once.
    fn new(words: Vec<u32>) -> Decoded {
        assert_eq!(words[0], spirv::MAGIC_NUMBER);
        assert_eq!((words[2], words[4]), (0, 0));
        let mut insts = Vec::new();
        let mut at = 5;
        while at < words.len() {
            let count = (words[at] >> 16) as usize;
            assert!(count > 0 && at + count <= words.len(), "word {at}");
            let op = Op::from_u32(words[at] & 0xFFFF).expect("an opcode");
            insts.push((op, words[at + 1..at + count].to_vec()));
            at += count;
        }
        let mut made = BTreeSet::new();
        for (op, operands) in &insts {
            if let Some(id) = result(*op, operands) {
                assert!(id > 0 && id < words[3], "{op:?} makes id {id}");
                assert!(made.insert(id), "{op:?} makes id {id} again");
            }
        }
        Decoded { words, insts }
    }

    /// The operands of every instruction of an opcode.
    fn all(&self, op: Op) -> Vec<&[u32]> {
        self.insts
            .iter()
            .filter(|i| i.0 == op)
            .map(|i| &i.1[..])
            .collect()
    }

    fn count(&self, op: Op) -> usize {
        self.all(op).len()
    }

    /// The instructions of the extended set, by number.
    fn extended(&self) -> Vec<u32> {
        self.all(Op::ExtInst).iter().map(|i| i[3]).collect()
    }

    fn capabilities(&self) -> BTreeSet<u32> {
        self.all(Op::Capability).iter().map(|i| i[0]).collect()
    }

    fn extensions(&self) -> Vec<String> {
        self.all(Op::Extension).iter().map(|i| string(i)).collect()
    }

    /// The bits of a constant.
    fn constant(&self, id: u32) -> u64 {
        let all = self.all(Op::Constant);
        let found = all.iter().find(|c| c[1] == id).expect("a constant");
        u64::from(found[2]) | found.get(3).map_or(0, |&high| u64::from(high) << 32)
    }

    /// The opcodes from the first label on.
    fn code(&self) -> Vec<Op> {
        let all = self.insts.iter().map(|i| i.0);
        all.skip_while(|op| *op != Op::Label).collect()
    }
}

/// The id that an instruction makes.
fn result(op: Op, operands: &[u32]) -> Option<u32> {
    match op {
        Op::Capability
        | Op::Extension
        | Op::MemoryModel
        | Op::EntryPoint
        | Op::ExecutionMode
        | Op::Name
        | Op::MemberName
        | Op::Decorate
        | Op::MemberDecorate
        | Op::FunctionEnd
        | Op::Store
        | Op::AtomicStore
        | Op::ControlBarrier
        | Op::MemoryBarrier
        | Op::SelectionMerge
        | Op::LoopMerge
        | Op::Branch
        | Op::BranchConditional
        | Op::Return
        | Op::ReturnValue
        | Op::Unreachable => None,
        Op::ExtInstImport
        | Op::TypeVoid
        | Op::TypeBool
        | Op::TypeInt
        | Op::TypeFloat
        | Op::TypeVector
        | Op::TypeArray
        | Op::TypeRuntimeArray
        | Op::TypeStruct
        | Op::TypePointer
        | Op::TypeFunction
        | Op::Label => operands.first().copied(),
        _ => operands.get(1).copied(),
    }
}

fn string(words: &[u32]) -> String {
    let bytes = words.iter().flat_map(|w| w.to_le_bytes());
    let bytes: Vec<u8> = bytes.take_while(|&b| b != 0).collect();
    String::from_utf8(bytes).expect("UTF-8")
}

/// The default options, changed.
fn with(change: impl FnOnce(&mut Options)) -> Options {
    let mut options = Options::default();
    change(&mut options);
    options
}

fn decode(kernel: &Kernel, options: &Options) -> Decoded {
    Decoded::new(emit(kernel, options).expect("the kernel can be emitted"))
}

/// A kernel that stores `make(x, y)` for two elements of a buffer of `ty`.
fn binary(
    ty: Type,
    make: impl FnOnce(&mut KernelBuilder, [crate::kernel::Value; 2]) -> crate::kernel::Value,
) -> Kernel {
    let mut b = KernelBuilder::new("main", [64, 1, 1]);
    let data = b.buffer("data", ty, Access::ReadWrite);
    let i = b.global_id(0);
    let (x, y) = (b.load(data, i), b.load_offset(data, i, 1));
    let made = make(&mut b, [x, y]);
    b.store(data, i, made);
    b.finish().expect("a valid kernel")
}

fn capabilities<const N: usize>(list: [Capability; N]) -> BTreeSet<u32> {
    list.into_iter().map(|c| c as u32).collect()
}
