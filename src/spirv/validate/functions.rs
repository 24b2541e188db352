//! Functions, their parameters, calls, and GLSL.std.450.

use super::check::{Checker, Inst};
use super::error::{Note, Unsupported};
use super::rules::Rule;
use super::state::{ImportKind, Kind, Num};
use crate::spirv::tables::decode::Set;
use spirv::{Capability, Op, StorageClass};

impl Checker<'_> {
    pub(super) fn function(&mut self, inst: &Inst<'_>) {
        match inst.op {
            Op::Function => self.function_type(inst),
            Op::FunctionParameter => {}
            _ => self.call(inst),
        }
    }

    fn function_type(&mut self, inst: &Inst<'_>) {
        let m = self.m;
        let ty_idx = self.idx(inst, 4);
        let ty = m.ty(ty_idx);
        if ty.kind != Kind::Function {
            return self.fault(Rule::FunctionType, inst.at, Note::Id(inst.word(4)));
        }
        if ty.elem != inst.ty {
            self.fault(Rule::FunctionType, inst.at, Note::Id(inst.word(1)));
        }
        // Parameters follow, each with the type of its place.
        let def = m.def(ty_idx);
        let mut at = self.next(inst.at);
        let mut count = 0;
        while at < self.end() {
            let param = self.inst(at);
            match param.op {
                Op::FunctionParameter => {
                    let wanted = self.word_at(def.word, 3 + count as usize);
                    if count >= ty.count || m.ids.get(wanted) != param.ty {
                        self.fault(Rule::FunctionType, at, Note::None);
                    }
                    count += 1;
                }
                Op::Line | Op::NoLine | Op::ExtInst => {}
                _ => break,
            }
            at = self.next(at);
        }
        if count < ty.count {
            let note = Note::Limit(u64::from(count), u64::from(ty.count));
            self.fault(Rule::ParameterCount, inst.at, note);
        }
    }

    fn call(&mut self, inst: &Inst<'_>) {
        let m = self.m;
        let callee = self.idx(inst, 3);
        let def = *m.def(callee);
        if def.op != Op::Function {
            return self.fault(Rule::CallTypes, inst.at, Note::Id(inst.word(3)));
        }
        if def.ty != inst.ty {
            self.fault(Rule::CallTypes, inst.at, Note::Id(inst.word(1)));
        }
        if let Some(class) = m.class(def.ty) {
            let allowed = match class {
                StorageClass::PhysicalStorageBuffer => true,
                StorageClass::StorageBuffer => m.has_cap(Capability::VariablePointersStorageBuffer),
                StorageClass::Workgroup => m.has_cap(Capability::VariablePointers),
                _ => false,
            };
            if !allowed {
                self.fault(Rule::CallPointer, inst.at, Note::Id(inst.word(3)));
            }
        }
        let ty_idx = m.ids.get(self.word_at(def.word, 4));
        let ty = *m.ty(ty_idx);
        if ty.kind != Kind::Function {
            return;
        }
        let args = inst.words.get(4..).unwrap_or_default();
        if args.len() != ty.count as usize {
            let note = Note::Limit(args.len() as u64, u64::from(ty.count));
            return self.fault(Rule::CallTypes, inst.at, note);
        }
        let ty_word = m.def(ty_idx).word;
        for (i, &arg) in args.iter().enumerate() {
            let idx = m.ids.get(arg);
            let param = m.ids.get(self.word_at(ty_word, 3 + i));
            if m.type_of(idx) != param {
                self.fault(Rule::CallTypes, inst.at, Note::Id(arg));
            }
            if let Some(class) = m.class(param) {
                self.pointer_argument(inst, arg, class);
            }
        }
    }

    fn pointer_argument(&mut self, inst: &Inst<'_>, arg: u32, class: StorageClass) {
        let m = self.m;
        let passed = match class {
            StorageClass::PhysicalStorageBuffer => return,
            StorageClass::UniformConstant
            | StorageClass::Function
            | StorageClass::Private
            | StorageClass::Workgroup
            | StorageClass::AtomicCounter => true,
            StorageClass::StorageBuffer => m.variable_pointers(),
            _ => false,
        };
        let object = matches!(
            m.def(m.ids.get(arg)).op,
            Op::Variable | Op::FunctionParameter
        );
        let free = match class {
            StorageClass::StorageBuffer => m.has_cap(Capability::VariablePointersStorageBuffer),
            StorageClass::Workgroup => m.has_cap(Capability::VariablePointers),
            StorageClass::UniformConstant => true,
            _ => false,
        };
        if !passed || (!object && !free) {
            self.fault(Rule::CallPointer, inst.at, Note::Id(arg));
        }
    }

    pub(super) fn ext_inst(&mut self, inst: &Inst<'_>) {
        let Some(import) = self.m.import(self.idx(inst, 3)) else {
            return;
        };
        match import.kind {
            ImportKind::Glsl => {
                if let Set::Known { set, .. } = import.set
                    && let Some(row) = set.instruction(inst.word(4))
                    && !self.m.caps.any(row.capabilities)
                {
                    let note = Note::Capabilities(row.capabilities);
                    self.fault(Rule::Capability, inst.at, note);
                }
                self.glsl(inst);
            }
            ImportKind::NonSemantic | ImportKind::DebugInfo => {
                if self.m.kind(inst.ty) != Kind::Void {
                    self.fault(Rule::NonSemanticResult, inst.at, Note::Id(inst.word(1)));
                }
            }
            // Reported where it is imported.
            ImportKind::Foreign => {}
        }
    }

    /// GLSL.std.450, by number.
    fn glsl(&mut self, inst: &Inst<'_>) {
        let m = self.m;
        let number = inst.word(4);
        let result = m.num(inst.ty);
        let x = self.operand_num(inst, 5);
        let x_ty = self.operand_type(inst, 5);
        let plain = |n: Num, base: Kind| n.base == base && !n.cooperative;
        let float = |n: Num| plain(n, Kind::Float);
        let vector = |n: Num, base: Kind, dim, width| {
            n.vector && n.base == base && n.dim == dim && n.width == width
        };
        let scalar = |n: Num, base: Kind, width| !n.vector && plain(n, base) && n.width == width;
        let all_result = (5..inst.len()).all(|i| self.operand_type(inst, i) == inst.ty);
        let fits = match number {
            // Round … Fract, Sqrt, InverseSqrt, FMin, FMax, FClamp, FMix, Step, SmoothStep, Fma,
            // Normalize, FaceForward, Reflect, NMin, NMax, NClamp
            1..=4 | 6 | 8..=10 | 31 | 32 | 37 | 40 | 43 | 46 | 48..=50 | 69..=71 | 79..=81 => {
                float(result) && all_result
            }
            // SAbs, SSign, UMin … SClamp, FindILsb
            5 | 7 | 38 | 39 | 41 | 42 | 44 | 45 | 73..=75 => {
                let same = (5..inst.len()).all(|i| {
                    let n = self.operand_num(inst, i);
                    plain(n, Kind::Int) && n.dim == result.dim && n.width == result.width
                });
                let narrow = matches!(number, 74 | 75) && result.width != 32;
                plain(result, Kind::Int) && same && !narrow
            }
            // Radians … Atan2, Pow … Log2
            11..=30 => float(result) && matches!(result.width, 16 | 32) && all_result,
            33 => {
                let matrix = m.ty(x_ty);
                let column = m.num(matrix.elem);
                matrix.kind == Kind::Matrix
                    && column.dim == matrix.count
                    && column.component == inst.ty
            }
            34 => {
                let matrix = m.ty(inst.ty);
                matrix.kind == Kind::Matrix
                    && m.num(matrix.elem).dim == matrix.count
                    && x_ty == inst.ty
            }
            35 => {
                let pointer = m.ty(self.operand_type(inst, 6));
                float(result)
                    && x_ty == inst.ty
                    && pointer.kind == Kind::Pointer
                    && pointer.elem == inst.ty
            }
            36 | 52 => {
                let members = self.members(inst.ty);
                let types = match members {
                    [a, b] => Some((m.ids.get(*a), m.ids.get(*b))),
                    _ => None,
                };
                types.is_some_and(|(a, b)| {
                    let second = m.num(b);
                    let second_fits = if number == 36 {
                        b == a
                    } else {
                        plain(second, Kind::Int) && second.width == 32 && second.dim == m.num(a).dim
                    };
                    float(m.num(a)) && x_ty == a && second_fits
                })
            }
            51 => {
                let pointer = m.ty(self.operand_type(inst, 6));
                let exponent = m.num(pointer.elem);
                float(result)
                    && x_ty == inst.ty
                    && pointer.kind == Kind::Pointer
                    && plain(exponent, Kind::Int)
                    && exponent.width == 32
                    && exponent.dim == result.dim
            }
            53 => {
                let exponent = self.operand_num(inst, 6);
                float(result)
                    && x_ty == inst.ty
                    && plain(exponent, Kind::Int)
                    && exponent.dim == result.dim
            }
            54 | 55 => scalar(result, Kind::Int, 32) && vector(x, Kind::Float, 4, 32),
            56..=58 => scalar(result, Kind::Int, 32) && vector(x, Kind::Float, 2, 32),
            59 => scalar(result, Kind::Float, 64) && vector(x, Kind::Int, 2, 32),
            60..=62 => vector(result, Kind::Float, 2, 32) && scalar(x, Kind::Int, 32),
            63 | 64 => vector(result, Kind::Float, 4, 32) && scalar(x, Kind::Int, 32),
            65 => vector(result, Kind::Int, 2, 32) && scalar(x, Kind::Float, 64),
            66 => !result.vector && float(result) && float(x) && x.component == inst.ty,
            67 => {
                let y = self.operand_num(inst, 6);
                !result.vector
                    && float(result)
                    && float(x)
                    && x.component == inst.ty
                    && float(y)
                    && y.component == inst.ty
                    && y.dim == x.dim
            }
            68 => result.vector && float(result) && result.dim == 3 && all_result,
            72 => {
                let eta = self.operand_num(inst, 7);
                float(result)
                    && x_ty == inst.ty
                    && self.operand_type(inst, 6) == inst.ty
                    && !eta.vector
                    && float(eta)
            }
            _ => {
                let what =
                    Unsupported::number(inst.at as usize, "GLSL.std.450 instruction", number);
                return self.out.unsupported(what);
            }
        };
        if !fits {
            self.fault(Rule::ExtInstTypes, inst.at, Note::Value(number));
        }
    }
}
