// SPDX-License-Identifier: MIT
/*
 * shifts.cc - halves of sums as sums of halves
 *
 * A work-item of a kernel that makes an image smaller takes every second element of a tile, and
 * divides their places by two:
 *
 *	(get_group_id(0) * get_local_size(0) + 2 * get_local_id(0)) / 2
 *
 * As one addend is a multiple of two nothing is carried from the bits that are shifted out, so
 * that this is the half of the other plus the local id. In this form shapes (vector_shape.cc) and
 * interiors (interior.cc) are found. No addition may wrap around: by its flags, or by the ranges of
 * what is added.
 *
 * So with a sum that is rounded down to a multiple of a power of two,
 *
 *	(4 * get_global_id(0) + offset - radius) & ~3
 *
 * of which what is a multiple already stays outside: 4 * id + ((offset - radius) & ~3). That holds
 * where additions wrap around, too.
 */
#include "shifts.h"

#include <llvm/Analysis/SimplifyQuery.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Local.h>

using namespace llvm;
using namespace llvm::PatternMatch;

static const unsigned max_depth = 6;

namespace {

/* A right shift by a constant, logical or arithmetic */
class shift {
public:
	explicit shift(BinaryOperator &inst);

	/* Another form of its result, or NULL. */
	Value *distribute();

private:
	bool is_exact(Value *v, unsigned depth) const;
	bool never_wraps(BinaryOperator &inst) const;
	Value *quotient(Value *v);
	Value *separate(Value *v, Value *&quotients, unsigned depth);

	BinaryOperator &inst;
	const bool is_signed;
	const uint64_t bits;
	IRBuilder<> b;
};

} /* namespace */

shift::shift(BinaryOperator &inst)
	: inst(inst), is_signed(inst.getOpcode() == Instruction::AShr),
	  bits(cast<ConstantInt>(inst.getOperand(1))->getZExtValue()), b(&inst)
{
}

/* Is what @of computes the exact result, as a signed or an unsigned number? */
bool shift::never_wraps(BinaryOperator &of) const
{
	if (isa<PossiblyDisjointInst>(of))
		return cast<PossiblyDisjointInst>(of).isDisjoint();
	if (is_signed ? of.hasNoSignedWrap() : of.hasNoUnsignedWrap())
		return true;
	if (of.getOpcode() != Instruction::Add)
		return false;
	const SimplifyQuery query(of.getDataLayout(), &of);
	return (is_signed ? computeOverflowForSignedAdd(of.getOperand(0), of.getOperand(1), query) :
			    computeOverflowForUnsignedAdd(of.getOperand(0), of.getOperand(1),
							  query)) == OverflowResult::NeverOverflows;
}

/* Is @v a multiple of what the shift divides by, and its quotient() arithmetic of the same size? */
bool shift::is_exact(Value *v, unsigned depth) const
{
	auto *of = dyn_cast<BinaryOperator>(v);
	const APInt *number;

	if (match(v, m_APInt(number)))
		return number->countr_zero() >= bits;
	if (!depth)
		return false;
	if (isa<SExtInst>(v) ? is_signed : isa<ZExtInst>(v) && !is_signed)
		return is_exact(cast<CastInst>(v)->getOperand(0), depth - 1);
	if (isa<ZExtInst>(v) && cast<ZExtInst>(v)->hasNonNeg())
		return is_exact(cast<CastInst>(v)->getOperand(0), depth - 1);
	if (!of || !never_wraps(*of))
		return false;
	switch (of->getOpcode()) {
	case Instruction::Add:
	case Instruction::Or:
		return is_exact(of->getOperand(0), depth - 1) &&
		       is_exact(of->getOperand(1), depth - 1);
	case Instruction::Shl:
		return match(of->getOperand(1), m_APInt(number)) && number->uge(bits);
	case Instruction::Mul:
		return match(of->getOperand(1), m_APInt(number)) && number->countr_zero() >= bits;
	default:
		return false;
	}
}

/* An exact @v shifted, without the shift */
Value *shift::quotient(Value *v)
{
	auto *of = dyn_cast<BinaryOperator>(v);
	Type *type = v->getType();
	const APInt *number;

	if (match(v, m_APInt(number)))
		return ConstantInt::get(type, is_signed ? number->ashr(bits) : number->lshr(bits));
	if (auto *extension = dyn_cast<CastInst>(v))
		return b.CreateCast(extension->getOpcode(), quotient(extension->getOperand(0)),
				    type);
	Value *left = of->getOperand(0), *right = of->getOperand(1);
	match(right, m_APInt(number));
	switch (of->getOpcode()) {
	case Instruction::Shl:
		if (*number == bits)
			return left;
		return b.CreateShl(left, ConstantInt::get(type, *number - bits), "", !is_signed,
				   is_signed);
	case Instruction::Mul:
		return b.CreateMul(left, quotient(right), "", !is_signed, is_signed);
	default:
		return b.CreateAdd(quotient(left), quotient(right), "", !is_signed, true);
	}
}

/*
 * Separates the sum @v into what is not exact, which is returned, or NULL if all is, and the
 * @quotients of the rest. A part of a sum of unsigned numbers does not wrap around either, but one
 * of signed numbers may.
 */
Value *shift::separate(Value *v, Value *&quotients, unsigned depth)
{
	auto *sum = dyn_cast<BinaryOperator>(v);

	if (is_exact(v, max_depth)) {
		Value *made = quotient(v);
		quotients = quotients ? b.CreateAdd(quotients, made, "", !is_signed, true) : made;
		return nullptr;
	}
	if (!depth || !sum || !never_wraps(*sum) ||
	    (sum->getOpcode() != Instruction::Add && sum->getOpcode() != Instruction::Or))
		return v;
	Value *left = separate(sum->getOperand(0), quotients, is_signed ? 0 : depth - 1);
	Value *right = separate(sum->getOperand(1), quotients, is_signed ? 0 : depth - 1);
	if (left == sum->getOperand(0) && right == sum->getOperand(1))
		return v;
	if (!left || !right)
		return left ? left : right;
	return b.CreateAdd(left, right, "", !is_signed, is_signed);
}

Value *shift::distribute()
{
	Value *quotients = nullptr;
	Value *rest = separate(inst.getOperand(0), quotients, max_depth);

	if (!quotients)
		return nullptr;
	if (!rest)
		return quotients;
	rest = b.CreateBinOp(inst.getOpcode(), rest, inst.getOperand(1));
	return match(rest, m_Zero()) ? quotients : b.CreateAdd(rest, quotients, "", !is_signed,
							       true);
}

/*
 * The addends of the sum @v go to @multiples, if their lowest @bits are zero, or to @rest. Few, as
 * sums with other uses are computed twice; mostly what is left is the same for a row.
 */
static void collect(Value *v, unsigned bits, const SimplifyQuery &query, unsigned depth,
		    SmallVectorImpl<Value *> &multiples, SmallVectorImpl<Value *> &rest)
{
	Value *left, *right;

	if (depth && match(v, m_AddLike(m_Value(left), m_Value(right)))) {
		collect(left, bits, query, depth - 1, multiples, rest);
		collect(right, bits, query, depth - 1, multiples, rest);
	} else if (!isa<Constant>(v) &&
		   computeKnownBits(v, 0, query).countMinTrailingZeros() >= bits) {
		multiples.push_back(v);
	} else {
		rest.push_back(v);
	}
}

/* Another form of @inst if it rounds a sum down to a multiple of a power of two, or NULL */
static Value *distribute_mask(Instruction &inst)
{
	SmallVector<Value *, 8> multiples, rest;
	const APInt *mask;
	Value *sum;

	if (!match(&inst, m_And(m_Value(sum), m_APInt(mask))) || !mask->isNegatedPowerOf2() ||
	    !match(sum, m_AddLike(m_Value(), m_Value())))
		return nullptr;
	collect(sum, mask->countr_zero(), SimplifyQuery(inst.getDataLayout(), &inst), 2, multiples,
		rest);
	if (multiples.empty() || rest.empty())
		return nullptr;
	/* Rounded down the exact sum of two is in their range, too. */
	const bool is_exact = multiples.size() + rest.size() == 2 &&
			      match(sum, m_NSWAdd(m_Value(), m_Value()));
	IRBuilder<> b(&inst);
	Value *rounded = rest[0];
	for (Value *addend : drop_begin(rest))
		rounded = b.CreateAdd(rounded, addend);
	rounded = b.CreateAnd(rounded, inst.getOperand(1));
	for (Value *addend : multiples)
		rounded = b.CreateAdd(addend, rounded, "", false, is_exact);
	return rounded;
}

void distribute_shifts(Module &m)
{
	SmallVector<WeakTrackingVH> replaced;

	for (Function &f : m)
		for (Instruction &inst : make_early_inc_range(instructions(f))) {
			if (Value *made = distribute_mask(inst)) {
				inst.replaceAllUsesWith(made);
				replaced.push_back(&inst);
				continue;
			}
			if (!match(&inst, m_Shr(m_Value(), m_ConstantInt())) ||
			    cast<ConstantInt>(inst.getOperand(1))->getValue().uge(
				    inst.getType()->getIntegerBitWidth()) ||
			    match(inst.getOperand(1), m_Zero()))
				continue;
			if (Value *made = shift(cast<BinaryOperator>(inst)).distribute()) {
				inst.replaceAllUsesWith(made);
				replaced.push_back(&inst);
			}
		}
	RecursivelyDeleteTriviallyDeadInstructionsPermissive(replaced);
}
