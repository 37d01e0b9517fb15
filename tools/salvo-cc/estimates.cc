// SPDX-License-Identifier: MIT
/*
 * estimates.cc - quotients and roots from the processor's estimates
 *
 * A division or square root of a register of floats takes as long as ten other operations. AVX-512
 * estimates the reciprocal, and that of a root, to 14 bits, which one step makes 28:
 *
 *	x / y		r = rcp(y), q = x * r		q + r * (x - q * y)
 *	1 / sqrt(x)	r = rsqrt(x)			r + r / 2 * (1 - x * r * r)
 *	sqrt(x)		r = rsqrt(x), s = x * r		s + r / 2 * (x - s * s)
 *
 * The differences are exact but for the rounding of products, and what is left of the error, 2^-28
 * of the result, is less than the rounding of the last sum. The step of what is 0, infinite or no
 * number gives no number; there the estimate stays, or for the root of 0 or infinity that itself.
 *
 * A processor computes other things while it divides: where there is enough of that, the steps of
 * an estimate would only be more of it, and divisions stay what they are.
 *
 * This is for divisions that may be products with a reciprocal (arcp) and roots that may be
 * approximated (afn): in rsqrt(), normalize(), half_ and native_ functions and, but for roots, in
 * relaxed mathematics. Scalars are computed as elements of vectors are, so that work-items have the
 * same result whether they are lanes or not.
 */
#include "salvo_cc.h"

#include <numeric>

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/PatternMatch.h>

using namespace llvm;
using namespace llvm::PatternMatch;

/* Other operations for each division from which on they hide it */
static const unsigned enough = 8;

/* The instruction for a register of @lanes floats */
static Intrinsic::ID estimate_of(bool root, unsigned lanes)
{
	switch (lanes) {
	case 4: return root ? Intrinsic::x86_avx512_rsqrt14_ps_128 :
			      Intrinsic::x86_avx512_rcp14_ps_128;
	case 8: return root ? Intrinsic::x86_avx512_rsqrt14_ps_256 :
			      Intrinsic::x86_avx512_rcp14_ps_256;
	default: return root ? Intrinsic::x86_avx512_rsqrt14_ps_512 :
			       Intrinsic::x86_avx512_rcp14_ps_512;
	}
}

/* The estimate of 1 / @x or, if @root, 1 / sqrt(@x), register by register */
static Value *make_estimate(IRBuilder<> &b, Value *x, bool root)
{
	auto *vector = dyn_cast<FixedVectorType>(x->getType());
	const unsigned count = vector ? vector->getNumElements() : 1;
	const unsigned lanes = count <= 4 ? 4 : count <= 8 ? 8 : 16;
	Value *all = vector ? x : b.CreateInsertElement(
		PoisonValue::get(FixedVectorType::get(x->getType(), 1)), x, uint64_t(0));
	SmallVector<Value *> parts;

	for (unsigned first = 0; first < count; first += lanes) {
		SmallVector<int> elements;

		for (unsigned i = first; i < first + lanes; i++)
			elements.push_back(i < count ? i : PoisonMaskElem);
		Value *part = b.CreateShuffleVector(all, elements);
		Value *mask = Constant::getAllOnesValue(b.getIntNTy(std::max(lanes, 8u)));
		parts.push_back(b.CreateIntrinsic(estimate_of(root, lanes), {},
			{ part, Constant::getNullValue(part->getType()), mask }));
	}
	Value *result = concatenateVectors(b, parts);
	SmallVector<int> elements(count);
	std::iota(elements.begin(), elements.end(), 0);
	return vector ? b.CreateShuffleVector(result, elements) :
			b.CreateExtractElement(result, uint64_t(0));
}

static Value *fma(IRBuilder<> &b, Value *x, Value *y, Value *z)
{
	return b.CreateIntrinsic(Intrinsic::fma, { x->getType() }, { x, y, z });
}

/* Is @v neither 0 nor infinite? */
static Value *is_between(IRBuilder<> &b, Value *v, Value *half)
{
	return b.CreateFCmpUNE(half, v);
}

static Value *halve(IRBuilder<> &b, Value *v)
{
	return b.CreateFMul(v, ConstantFP::get(v->getType(), 0.5));
}

static Value *divide(IRBuilder<> &b, Value *x, Value *y)
{
	Value *r = make_estimate(b, y, false), *q = b.CreateFMul(x, r);
	Value *left = fma(b, b.CreateFNeg(y), q, x);

	return b.CreateSelect(is_between(b, q, halve(b, q)), fma(b, left, r, q), q);
}

static Value *reciprocal_root(IRBuilder<> &b, Value *x)
{
	Value *r = make_estimate(b, x, true), *half = halve(b, r);
	Value *one = ConstantFP::get(x->getType(), 1);
	Value *left = fma(b, b.CreateFNeg(b.CreateFMul(x, r)), r, one);

	return b.CreateSelect(is_between(b, r, half), fma(b, left, half, r), r);
}

static Value *root(IRBuilder<> &b, Value *x)
{
	Value *r = make_estimate(b, x, true), *half = halve(b, r), *s = b.CreateFMul(x, r);
	Value *left = fma(b, b.CreateFNeg(s), s, x);

	return b.CreateSelect(is_between(b, r, half), fma(b, left, half, s), x);
}

static Value *replacement(Instruction &inst)
{
	IRBuilder<> b(&inst);
	Value *x, *y;

	if (!match(&inst, m_FDiv(m_Value(x), m_Value(y))))
		return root(b, inst.getOperand(0));
	Value *squared;
	if (!match(y, m_Intrinsic<Intrinsic::sqrt>(m_Value(squared))))
		return divide(b, x, y);
	Value *inverse = reciprocal_root(b, squared);
	return match(x, m_FPOne()) ? inverse : b.CreateFMul(x, inverse);
}

static bool may_be_estimated(const Instruction &inst)
{
	if (!inst.getType()->getScalarType()->isFloatTy())
		return false;
	if (inst.getOpcode() == Instruction::FDiv)
		return inst.hasAllowReciprocal() && !isa<Constant>(inst.getOperand(1));
	return match(&inst, m_Intrinsic<Intrinsic::sqrt>()) && inst.hasApproxFunc();
}

static bool divides_by_root(const Instruction &inst)
{
	return match(&inst, m_FDiv(m_Value(), m_Intrinsic<Intrinsic::sqrt>()));
}

void keep_hidden_divisions(Function &f)
{
	SmallVector<Instruction *> divisions;
	unsigned others = 0;

	for (Instruction &inst : instructions(f))
		if (may_be_estimated(inst) && !isa<CallInst>(inst) && !divides_by_root(inst))
			divisions.push_back(&inst);
		else
			others += inst.mayReadOrWriteMemory() || isa<BinaryOperator>(inst) ||
				  isa<CallInst>(inst) || isa<SelectInst>(inst);
	if (others < enough * divisions.size())
		return;
	for (Instruction *division : divisions)
		division->setHasAllowReciprocal(false);
}

/*
 * Roots last: those by which something is divided are left without a use, which makes no code of
 * the others either.
 */
void estimate_quotients(Module &m)
{
	SmallVector<Instruction *> divisions, roots;

	for (Function &f : m)
		for (Instruction &inst : instructions(f))
			if (may_be_estimated(inst))
				(isa<CallInst>(inst) ? roots : divisions).push_back(&inst);
	for (Instruction *division : divisions) {
		division->replaceAllUsesWith(replacement(*division));
		division->eraseFromParent();
	}
	for (Instruction *inst : roots) {
		if (!inst->use_empty())
			inst->replaceAllUsesWith(replacement(*inst));
		inst->eraseFromParent();
	}
}
