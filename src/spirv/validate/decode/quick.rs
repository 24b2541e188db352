//! What is settled at first sight: common instructions whose operands are all known, of which a
//! few comparisons show that they break no rule of either pass.
//!
//! What is tested here is sufficient and never a rule of its own: an instruction that does not
//! pass goes the long way, where the rules are. A debug build asks the rules again about all
//! that was settled.

use super::*;
use crate::spirv::validate::ops::Quick;
use crate::spirv::validate::state::{Type, sort};
use crate::spirv::validate::types::vulkan_class;
use spirv::StorageClass;

impl<'a> Decoder<'a> {
    /// Whether an instruction is settled; if so, it has left in the module what it leaves there.
    #[inline]
    pub(super) fn quick(&mut self, row: &'static Row, at: u32, words: &'a [u32]) -> bool {
        if row.quick == Quick::No {
            return false;
        }
        if self.block == 0 {
            return match row.quick {
                Quick::Decorate => self.quick_decoration(at, words),
                Quick::MemberDecorate => self.quick_member_decoration(at, words),
                Quick::Pointer => self.quick_pointer(at, words),
                Quick::Constant => self.quick_constant(row, at, words),
                Quick::Label => self.quick_label(at, words),
                _ => false,
            };
        }
        let crossed = self.m.cross.len();
        let settled = self.quick_in_block(row, at, words);
        if !settled {
            // The long way notes its uses itself.
            self.m.cross.truncate(crossed);
        }
        settled
    }

    /// A decoration without ids on what is not defined yet, in the middle of its section.
    fn quick_decoration(&mut self, at: u32, words: &[u32]) -> bool {
        let &[_, target, kind, ..] = words else {
            return false;
        };
        let allowed = self.may_decorate(target, kind, words.len() - 3);
        if allowed {
            let value = words.get(3).copied().unwrap_or(0);
            self.decorate(at, target, WHOLE, kind, value);
        }
        allowed
    }

    /// The same of a member. Whether the target has any is for the second pass.
    fn quick_member_decoration(&mut self, at: u32, words: &[u32]) -> bool {
        let &[_, target, member, kind, ..] = words else {
            return false;
        };
        let allowed = self.may_decorate(target, kind, words.len() - 4);
        if allowed {
            let value = words.get(4).copied().unwrap_or(0);
            self.decorate(at, target, member.min(WHOLE - 1), kind, value);
            self.m.pending.push(at);
        }
        allowed
    }

    /// Whether a decoration with so many more words is known to be allowed here, on what is not
    /// defined yet.
    #[inline]
    fn may_decorate(&mut self, target: u32, kind: u32, parameters: usize) -> bool {
        if self.section != section::ANNOTATIONS || target == 0 || target >= self.m.bound {
            return false;
        }
        if self.decoration != Some((kind, parameters)) {
            if !self.allowed_decoration(kind, parameters) {
                return false;
            }
            self.decoration = Some((kind, parameters));
        }
        !self.m.def(self.m.ids.get(target)).is_defined()
    }

    /// Whether a decoration takes so many parameters, all of them numbers, and nothing that is
    /// not there.
    fn allowed_decoration(&self, kind: u32, parameters: usize) -> bool {
        let Some(row) = tables::enumerant(K::Decoration, kind) else {
            return false;
        };
        let number = |p: &tables::Operand| {
            p.kind == K::LiteralInteger && p.quantifier == tables::Quantifier::One
        };
        coverage::enumerant(K::Decoration, kind)
            && parameters == row.parameters.len()
            && row.parameters.iter().all(number)
            && self.allowed(row)
    }

    /// A pointer type, in the middle of its section.
    fn quick_pointer(&mut self, at: u32, words: &'a [u32]) -> bool {
        let &[_, id, class, pointee] = words else {
            return false;
        };
        if self.section != section::TYPES {
            return false;
        }
        if self.class != Some(class) {
            if !self.allowed_class(class) {
                return false;
            }
            self.class = Some(class);
        }
        // What is no type is of no kind.
        let pointee = self.m.kind(self.m.ids.get(pointee));
        if matches!(pointee, Kind::None | Kind::Function) {
            return false;
        }
        let result = self.enter(Op::TypePointer, at, words, id, 0, flag::TYPE);
        if result != 0 {
            self.add_type(Op::TypePointer, words, at, result);
        }
        result != 0
    }

    /// Whether a storage class may be named, and by a pointer.
    fn allowed_class(&self, class: u32) -> bool {
        let Some(row) = tables::enumerant(K::StorageClass, class) else {
            return false;
        };
        coverage::enumerant(K::StorageClass, class)
            && StorageClass::from_u32(class).is_some_and(vulkan_class)
            && self.allowed(row)
            && row.parameters.is_empty()
    }

    /// Whether the module declares what an enumerant needs.
    fn allowed(&self, row: &Enumerant) -> bool {
        self.m.caps.any(row.capabilities)
            && row.min_version <= self.m.version
            && row.last_version >= self.m.version
    }

    /// A constant, in the middle of its section.
    fn quick_constant(&mut self, row: &'static Row, at: u32, words: &[u32]) -> bool {
        let &[_, ty, id, literal, ref rest @ ..] = words else {
            return false;
        };
        let idx = self.m.ids.get(ty);
        let ty = self.m.ty(idx);
        self.section == section::TYPES
            && ty.sort & row.sort != 0
            && ty.sort & sort::VECTOR == 0
            && rest.len() == usize::from(ty.width == 64)
            && ty.fits(literal)
            && self.enter(Op::Constant, at, words, id, idx, flag::PLAIN) != 0
    }

    /// A label after the end of a block. Where the block stands in its function is for the
    /// second pass.
    fn quick_label(&mut self, at: u32, words: &[u32]) -> bool {
        let &[_, id] = words else {
            return false;
        };
        if self.func == 0 || self.block != 0 {
            return false;
        }
        let label = self.enter(Op::Label, at, words, id, 0, 0);
        if label == 0 {
            return false;
        }
        self.open_block(at, label);
        self.m.pending.push(at);
        true
    }

    /// A branch to labels of this function, as far as they are known.
    fn branch_to(&mut self, at: u32, targets: &[u32]) -> bool {
        let fits = targets.iter().all(|&id| self.is_target(id));
        if fits {
            for &id in targets {
                self.m.mention(id, at);
            }
            self.close_block(at);
        }
        fits
    }

    /// Whether an id is a label of this function where it belongs, or is not defined yet.
    fn is_target(&self, id: u32) -> bool {
        let def = self.m.def(self.m.ids.get(id));
        let known = def.op == Op::Label && def.func == self.func && def.block == 0;
        id != 0 && id < self.m.bound && (known || !def.is_defined())
    }

    fn quick_store(&mut self, at: u32, pointer: u32, object: u32) -> bool {
        let pointer = self.accessed(at, pointer, flag::WRITABLE);
        let Type { sort, elem, .. } = *self.m.ty(pointer);
        sort & sort::WRITABLE != 0
            && self.m.ty(elem).sort & sort::NUMBERS != 0
            && self.value(at, object) == elem
    }

    /// What stands in a block.
    #[inline]
    fn quick_in_block(&mut self, row: &'static Row, at: u32, words: &'a [u32]) -> bool {
        let (Some(op), &[_, ty, ref rest @ ..]) = (row.op(), words) else {
            return false;
        };
        let idx = self.m.ids.get(ty);
        let result = *self.m.ty(idx);
        let mut flags = flag::PLAIN;
        let settled = match (row.quick, rest) {
            (Quick::Store, &[object]) => return self.quick_store(at, ty, object),
            (Quick::Branch, []) => return self.branch_to(at, &[ty]),
            (Quick::BranchConditional, &[yes, no]) => {
                let ty = self.value(at, ty);
                // No other bits: a scalar.
                let scalar = self.m.ty(ty).sort == sort::BOOL;
                return scalar && yes != no && self.branch_to(at, &[yes, no]);
            }
            (Quick::Unary, &[_, first]) => {
                result.sort & row.sort != 0 && self.value(at, first) == idx
            }
            (Quick::Binary, &[_, first, second]) => {
                result.sort & row.sort != 0
                    && self.value(at, first) == idx
                    && self.value(at, second) == idx
            }
            (Quick::Extended, &[_, set, number, ref operands @ ..]) => {
                self.quick_extended(at, set, number, operands, idx, &result)
            }
            (Quick::Load, &[_, pointer]) => {
                let pointer = self.accessed(at, pointer, flag::READABLE);
                let Type { sort, elem, .. } = *self.m.ty(pointer);
                result.sort & sort::NUMBERS != 0 && sort & sort::POINTER != 0 && elem == idx
            }
            (Quick::Chain, &[_, base, ref indices @ ..]) => {
                match self.quick_chain(at, base, indices, &result) {
                    Some(access) => flags |= access,
                    None => return false,
                }
                true
            }
            (Quick::Compare, &[_, first, second]) => {
                let ty = self.value(at, first);
                let operand = *self.m.ty(ty);
                result.sort & sort::BOOL != 0
                    && operand.sort & row.sort != 0
                    && same_dim(&result, &operand)
                    && self.value(at, second) == ty
            }
            (Quick::Shift, &[_, base, amount]) => {
                result.sort & row.sort != 0
                    && self.value(at, base) == idx
                    && self.quick_amount(at, amount, &result)
            }
            (Quick::Select, &[_, condition, yes, no]) => {
                let condition = self.value(at, condition);
                let condition = *self.m.ty(condition);
                result.sort & sort::NUMBERS != 0
                    && condition.sort & sort::BOOL != 0
                    && same_dim(&result, &condition)
                    && self.value(at, yes) == idx
                    && self.value(at, no) == idx
            }
            (Quick::Convert(to) | Quick::Resize(to), &[_, operand]) => {
                let operand = self.value(at, operand);
                let operand = *self.m.ty(operand);
                result.sort & to != 0
                    && operand.sort & row.sort != 0
                    && same_dim(&result, &operand)
                    && (result.width != operand.width || row.quick == Quick::Convert(to))
            }
            (Quick::Bitcast, &[_, operand]) => {
                let operand = self.value(at, operand);
                let operand = *self.m.ty(operand);
                result.sort & row.sort != 0
                    && operand.sort & row.sort != 0
                    && bits(&result) == bits(&operand)
            }
            (Quick::Extract, &[_, vector, index]) => {
                let vector = self.value(at, vector);
                let vector = *self.m.ty(vector);
                vector.sort & sort::VECTOR != 0 && vector.elem == idx && index < vector.count
            }
            (Quick::Construct, &[_, ref parts @ ..]) => {
                result.sort & sort::VECTOR != 0
                    && parts.len() >= 2
                    && parts.len() == result.count as usize
                    && parts.iter().all(|&p| self.value(at, p) == result.elem)
            }
            _ => false,
        };
        let Some(&id) = rest.first() else {
            return false;
        };
        settled && self.enter(op, at, words, id, idx, flags) != 0
    }

    /// An instruction of GLSL.std.450 on operands of the result's type.
    #[inline]
    fn quick_extended(
        &mut self,
        at: u32,
        set: u32,
        number: u32,
        operands: &[u32],
        idx: Idx,
        result: &Type,
    ) -> bool {
        let set = self.m.ids.get(set);
        let Some(shape) = GLSL.get(number as usize) else {
            return false;
        };
        set != 0
            && set == self.m.glsl
            && result.sort & shape.sort != 0
            && result.width <= shape.width
            && operands.len() == shape.operands
            && operands.iter().all(|&id| self.value(at, id) == idx)
    }

    /// A shift's amount: of the shape of the result, and no more than that if it is known.
    fn quick_amount(&mut self, at: u32, amount: u32, result: &Type) -> bool {
        let ty = self.value(at, amount);
        let ty = self.m.ty(ty);
        if ty.sort & sort::INT == 0 || !same_dim(ty, result) {
            return false;
        }
        let def = self.m.def(self.m.ids.get(amount));
        def.op != Op::Constant
            || self
                .small_constant(def)
                .is_some_and(|by| by < result.width.into())
    }

    /// An access chain through vectors, arrays and structures. Returns what the pointer that it
    /// makes may be used for, as flags.
    fn quick_chain(&mut self, at: u32, base: u32, indices: &[u32], result: &Type) -> Option<u16> {
        const ACCESS: u16 = flag::READABLE | flag::WRITABLE;
        let mut access = self.m.def(self.m.ids.get(base)).flags & ACCESS;
        let base = self.accessed(at, base, ACCESS);
        let base = self.m.ty(base);
        let logical = result.sort & base.sort & sort::POINTER != 0;
        if !logical || base.class != result.class || indices.len() > 255 {
            return None;
        }
        let mut part = base.elem;
        for &index in indices {
            let ty = self.value(at, index);
            let ty = self.m.ty(ty);
            if ty.sort & sort::INT == 0 || ty.sort & sort::VECTOR != 0 {
                return None;
            }
            let def = self.m.def(self.m.ids.get(index));
            let known = if def.op == Op::Constant {
                let value = self.small_constant(def)?;
                if ty.signed && value.cast_signed() < 0 {
                    return None;
                }
                Some(value)
            } else {
                None
            };
            let Type {
                kind, elem, count, ..
            } = *self.m.ty(part);
            part = match kind {
                Kind::Vector | Kind::Array | Kind::RuntimeArray => elem,
                Kind::Struct => {
                    let whole = self.m.def(part);
                    if whole.flags & flag::UNREADABLE_PART != 0 {
                        access &= !flag::READABLE;
                    }
                    if whole.flags & flag::UNWRITABLE_PART != 0 {
                        access &= !flag::WRITABLE;
                    }
                    let member = known.filter(|&member| member < count)?;
                    let member = whole.word as usize + 2 + member as usize;
                    self.m.ids.get(*self.words.get(member)?)
                }
                _ => return None,
            };
        }
        (part == result.elem).then_some(access)
    }

    /// The value of an OpConstant of one word.
    fn small_constant(&self, def: &Def) -> Option<u32> {
        if def.len != 4 {
            return None;
        }
        self.words.get(def.word as usize + 3).copied()
    }

    /// The type of a plain value that is known and may be used here, 0 of all others. A use from
    /// another block is noted.
    #[inline]
    fn value(&mut self, at: u32, id: u32) -> Idx {
        let def = self.m.def(self.m.ids.get(id));
        if def.flags & flag::PLAIN == 0 {
            return 0;
        }
        let ty = def.ty;
        if def.block != self.block && def.func != 0 {
            let (func, block) = (def.func, def.block);
            return self.of_another_block(at, func, block, ty);
        }
        ty
    }

    fn of_another_block(&mut self, at: u32, func: u32, block: u32, ty: Idx) -> Idx {
        if func != self.func {
            return 0;
        }
        if block != 0 {
            self.m.cross.push((block, self.block, at));
        }
        ty
    }

    /// The type of a pointer that leads to a variable with one of these flags, 0 of all others.
    /// Its use is noted.
    #[inline]
    fn accessed(&mut self, at: u32, id: u32, flags: u16) -> Idx {
        let idx = self.m.ids.get(id);
        let func = self.func;
        let Some(def) = self.m.def_mut(idx).filter(|d| d.flags & flags != 0) else {
            return 0;
        };
        let ty = def.ty;
        if def.func == 0 {
            if def.opens != func {
                def.opens = func;
                self.m.uses.push((func, idx));
            }
        } else if def.block != self.block {
            let (func, block) = (def.func, def.block);
            return self.of_another_block(at, func, block, ty);
        }
        ty
    }
}

/// Whether two scalars or vectors have as many components.
fn same_dim(a: &Type, b: &Type) -> bool {
    a.sort & sort::VECTOR == b.sort & sort::VECTOR && a.count == b.count
}

/// The bits of a scalar or vector.
fn bits(ty: &Type) -> u64 {
    let dim = if ty.sort & sort::VECTOR != 0 {
        ty.count
    } else {
        1
    };
    u64::from(ty.width) * u64::from(dim)
}

/// An instruction of GLSL.std.450 whose operands have the type of its result.
#[derive(Clone, Copy)]
struct Shape {
    /// What that is, no bits if it is not so simple.
    sort: u8,
    /// The greatest width of its components.
    width: u16,
    operands: usize,
}

/// By number.
static GLSL: [Shape; 82] = {
    let mut shapes = [Shape {
        sort: 0,
        width: 64,
        operands: 0,
    }; 82];
    const FLOATS: [(&[usize], usize, u16); 6] = [
        (&[1, 2, 3, 4, 6, 8, 9, 10, 31, 32, 69], 1, 64),
        (&[37, 40, 48, 71, 79, 80], 2, 64),
        (&[43, 46, 49, 50, 70, 81], 3, 64),
        // Radians to Atan, Sinh to Atanh, Exp to Log2.
        (&[11, 12, 13, 14, 15, 16, 17, 18], 1, 32),
        (&[19, 20, 21, 22, 23, 24, 27, 28, 29, 30], 1, 32),
        (&[25, 26], 2, 32),
    ];
    const INTS: [(&[usize], usize, u16); 3] = [
        (&[5, 7, 73], 1, 64),
        (&[38, 39, 41, 42], 2, 64),
        (&[44, 45], 3, 64),
    ];
    let mut i = 0;
    while i < FLOATS.len() + INTS.len() {
        let (sort, (numbers, operands, width)) = if i < FLOATS.len() {
            (sort::FLOAT, FLOATS[i])
        } else {
            (sort::INT, INTS[i - FLOATS.len()])
        };
        let mut n = 0;
        while n < numbers.len() {
            shapes[numbers[n]] = Shape {
                sort,
                width,
                operands,
            };
            n += 1;
        }
        i += 1;
    }
    shapes
};

#[cfg(test)]
mod tests {
    use super::*;

    /// A function of one block, which holds the instruction given in words; how many of its
    /// instructions are left to the second pass, and whether the first one found nothing.
    fn left(inst: &[u32]) -> (usize, bool) {
        let mut words = vec![0; 5];
        let mut add = |op: Op, operands: &[u32]| {
            words.push((operands.len() as u32 + 1) << 16 | op as u32);
            words.extend_from_slice(operands);
        };
        add(Op::Capability, &[Capability::Shader as u32]);
        add(Op::MemoryModel, &[0, 1]);
        add(Op::TypeVoid, &[1]);
        add(Op::TypeFunction, &[2, 1]);
        add(Op::TypeFloat, &[3, 32]);
        add(Op::TypeInt, &[4, 32, 0]);
        add(Op::Constant, &[3, 5, 0x3F80_0000]);
        add(Op::Constant, &[4, 6, 40]);
        add(Op::Function, &[1, 7, 0, 2]);
        add(Op::Label, &[8]);
        let op = Op::from_u32(inst[0]).unwrap();
        add(op, &inst[1..]);
        add(Op::Return, &[]);
        add(Op::FunctionEnd, &[]);
        let (mut module, mut out, mut found) = Default::default();
        Module::clear(&mut module, 6, 10, words.len());
        let environment = Environment::Vulkan1_3;
        Decoder::new(&words, &mut module, &mut out, &mut found, environment).run();
        assert!(!module.pending.is_empty());
        (module.pending.len(), out.is_clean())
    }

    #[test]
    fn what_passes_is_settled_and_what_does_not_is_left() {
        let (add, shift) = (Op::FAdd as u32, Op::ShiftLeftLogical as u32);
        let (count, clean) = left(&[add, 3, 9, 5, 5]);
        assert!(clean);
        let is_left = |inst: &[u32]| left(inst) == (count + 1, true);
        // Integers, an operand of another type, a shift past the width.
        assert!(is_left(&[add, 4, 9, 6, 6]));
        assert!(is_left(&[add, 3, 9, 5, 6]));
        assert!(is_left(&[shift, 4, 9, 6, 6]));
        // What the first pass has to say itself: a use of the result, a result defined before.
        assert_eq!(left(&[add, 3, 9, 9, 5]), (count + 1, false));
        assert_eq!(left(&[add, 3, 6, 5, 5]), (count + 1, false));
    }

    #[test]
    fn the_grammar_has_the_shapes_of_extended_instructions() {
        let set = tables::ext_set("GLSL.std.450").unwrap();
        for (number, shape) in (0..).zip(&GLSL) {
            if shape.sort == 0 {
                continue;
            }
            let row = set.instruction(number).unwrap();
            assert_eq!(row.operands.len(), shape.operands, "{}", row.name);
            let id =
                |o: &tables::Operand| o.kind == K::IdRef && o.quantifier == tables::Quantifier::One;
            assert!(row.operands.iter().all(id), "{}", row.name);
            assert!(row.capabilities.is_empty(), "{}", row.name);
        }
    }
}
