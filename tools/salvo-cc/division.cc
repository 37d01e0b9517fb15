// SPDX-License-Identifier: MIT
/*
 * division.cc - integer divisions that never fault
 *
 * OpenCL C, 6.3: a division by zero, or of the least number by -1, causes no exception but has an
 * unspecified result. x86-64 raises one, and to LLVM both are undefined. So the divisor is made 1
 * where it is 0, and in signed divisions where it is -1:
 *
 *	x / d	d' = d + 1 < 2 (unsigned) ? 1 : d, x / d' or, where d is -1, 0 - x / d'
 *	x % d	x % d'
 *
 * LLVM removes what it can prove unnecessary. Constant divisors other than 0 and -1 stay. In
 * checked mode divisions fault, so that their work-item is found.
 *
 * Processors have the upper half of a product of shorts, by which LLVM divides by a constant, but
 * not of bytes, to which it reduces divisions whose operands fit. Vectors of bytes are divided as
 * shorts.
 *
 * Nor do they divide vectors of longs. Most hold sizes and indices, of few bits: where the operands
 * of all lanes are below 2^51, which doubles represent, doubles are divided. Their quotient is
 * rounded, but not up to a whole number: it is at least 1 / d less than that, which is more than
 * the rounding if x < 2^53. So what is left without its fraction is right.
 *
 * For a constant d, by which LLVM would divide longs one by one, x is multiplied with the inverse
 * rounded up, and is below 2^51: the product with that of n * d is not below n, and that of
 * n * d + d - 1, which is less than (n + 1) * (1 + 2^-52) - 1 / d and is rounded up by no more than
 * (n + 1) * 2^-53, is below n + 1.
 */
#include "division.h"
#include "salvo_cc.h"

#include <cmath>

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

using namespace llvm;
using namespace llvm::PatternMatch;

bool is_signed_division(const Instruction &division)
{
	return division.getOpcode() == Instruction::SDiv ||
	       division.getOpcode() == Instruction::SRem;
}

bool is_remainder(const Instruction &division)
{
	return division.getOpcode() == Instruction::URem ||
	       division.getOpcode() == Instruction::SRem;
}

/* The integer divisions of @m of which @test is true. They may be changed then. */
static SmallVector<BinaryOperator *> divisions_of(Module &m,
						  function_ref<bool(const Instruction &)> test)
{
	SmallVector<BinaryOperator *> divisions;

	for (Function &f : m)
		for (Instruction &inst : instructions(f))
			if (test(inst))
				divisions.push_back(cast<BinaryOperator>(&inst));
	return divisions;
}

/* Not by a constant, each of its elements neither 0 nor, if it is signed, -1. */
bool is_faulting_division(const Instruction &inst)
{
	if (!inst.isIntDivRem())
		return false;
	const bool both = is_signed_division(inst);

	auto is_good = [both](const APInt &divisor) {
		return !divisor.isZero() && !(both && divisor.isAllOnes());
	};

	return !match(inst.getOperand(1), m_CheckedInt(is_good));
}

static void guard(BinaryOperator &division)
{
	IRBuilder<> b(&division);
	Value *divisor = division.getOperand(1);
	Type *type = divisor->getType();
	Value *zero = Constant::getNullValue(type), *one = ConstantInt::get(type, 1);

	Value *bad = is_signed_division(division) ?
		b.CreateICmpULT(b.CreateAdd(divisor, one), ConstantInt::get(type, 2)) :
		b.CreateICmpEQ(divisor, zero);
	division.setOperand(1, b.CreateSelect(bad, one, divisor));
	if (division.getOpcode() != Instruction::SDiv)
		return;
	b.SetInsertPoint(division.getNextNode());
	b.SetCurrentDebugLocation(division.getDebugLoc());
	Value *negative = b.CreateNeg(&division);
	Value *minus = b.CreateICmpEQ(divisor, Constant::getAllOnesValue(type));
	Value *result = b.CreateSelect(minus, negative, &division);
	division.replaceUsesWithIf(result, [&](const Use &use) {
		return use.getUser() != negative && use.getUser() != result;
	});
}

void guard_divisions(Module &m)
{
	for (BinaryOperator *division : divisions_of(m, is_faulting_division))
		guard(*division);
}

/* InstCombine makes max(d, 1) of the unsigned guard. */
Value *guarded_divisor(const Instruction &division)
{
	CmpInst::Predicate predicate;
	Value *divisor, *tested, *test;

	if (!division.isIntDivRem())
		return nullptr;
	if (!is_signed_division(division) &&
	    match(division.getOperand(1),
		  m_ZExtOrSExtOrSelf(m_UMax(m_Value(divisor), m_One()))))
		return divisor;
	if (!match(division.getOperand(1), m_Select(m_Value(test), m_One(), m_Value(divisor))) ||
	    !match(test, m_ICmp(predicate, m_Add(m_Value(tested), m_One()), m_SpecificInt(2))))
		return nullptr;
	return predicate == CmpInst::ICMP_ULT && tested == divisor ? divisor : nullptr;
}

static bool is_division_of_bytes(const Instruction &inst)
{
	return inst.isIntDivRem() && inst.getType()->isVectorTy() &&
	       inst.getType()->getScalarSizeInBits() == 8 && isa<Constant>(inst.getOperand(1));
}

void widen_byte_divisions(Module &m)
{
	for (BinaryOperator *division : divisions_of(m, is_division_of_bytes)) {
		IRBuilder<> b(division);
		Type *wide = VectorType::getExtendedElementVectorType(
			cast<VectorType>(division->getType()));
		const auto extend = is_signed_division(*division) ? Instruction::SExt :
								    Instruction::ZExt;
		Value *result = b.CreateBinOp(division->getOpcode(),
			b.CreateCast(extend, division->getOperand(0), wide),
			b.CreateCast(extend, division->getOperand(1), wide));

		division->replaceAllUsesWith(b.CreateTrunc(result, division->getType()));
		division->eraseFromParent();
	}
}

/* By constants only if they are positive and less than 2^49 */
static bool is_division_of_longs(const Instruction &inst)
{
	auto is_small = [](const APInt &d) { return d.isIntN(49) && !d.isZero(); };

	return inst.isIntDivRem() && isa<FixedVectorType>(inst.getType()) &&
	       inst.getType()->getScalarSizeInBits() == 64 &&
	       (!isa<Constant>(inst.getOperand(1)) ||
		match(inst.getOperand(1), m_CheckedInt(is_small)));
}

/* The inverses of the elements of @divisor, rounded up */
static Constant *invert(const Constant &divisor, unsigned elements)
{
	SmallVector<Constant *> inverses;

	for (unsigned i = 0; i < elements; i++) {
		auto *number = cast<ConstantInt>(divisor.getAggregateElement(i));
		const double d = number->getZExtValue(), inverse = 1 / d;

		inverses.push_back(ConstantFP::get(Type::getDoubleTy(divisor.getContext()),
			std::fma(inverse, d, -1) < 0 ? std::nextafter(inverse, 1) : inverse));
	}
	return ConstantVector::get(inverses);
}

/* The quotient as doubles */
static Value *divide_doubles(IRBuilder<> &b, Value *x, Value *divisor)
{
	auto *longs = cast<FixedVectorType>(x->getType());
	Type *doubles = longs->getWithNewType(b.getDoubleTy());
	auto *constant = dyn_cast<Constant>(divisor);

	x = b.CreateSIToFP(x, doubles);
	return constant ? b.CreateFMul(x, invert(*constant, longs->getNumElements())) :
			  b.CreateFDiv(x, b.CreateSIToFP(divisor, doubles));
}

static void divide_small(BinaryOperator &division)
{
	IRBuilder<> b(&division);
	Type *type = division.getType();
	Value *x = b.CreateFreeze(division.getOperand(0)), *divisor = division.getOperand(1);
	const bool is_constant = isa<Constant>(divisor);

	if (!is_constant)
		divisor = b.CreateFreeze(divisor);
	division.setOperand(0, x);
	division.setOperand(1, divisor);
	auto above = [&](Value *v) {
		const unsigned bits = is_constant ? 51 : 52;
		const uint64_t least = is_signed_division(division) ? 1ull << (bits - 1) : 0;

		return b.CreateLShr(b.CreateAdd(v, ConstantInt::get(type, least)), bits);
	};
	Value *all = is_constant ? above(x) : b.CreateOr(above(x), above(divisor));
	Instruction *small_end, *large_end;
	SplitBlockAndInsertIfThenElse(b.CreateIsNull(b.CreateOrReduce(all)), &division, &small_end,
				      &large_end);

	b.SetInsertPoint(small_end);
	Value *result = b.CreateFPToSI(divide_doubles(b, x, divisor), type);
	if (is_remainder(division))
		result = b.CreateSub(x, b.CreateMul(result, divisor));

	b.SetInsertPoint(&division);
	PHINode *either = b.CreatePHI(type, 2);
	division.replaceAllUsesWith(either);
	division.moveBefore(large_end);
	either->addIncoming(result, small_end->getParent());
	either->addIncoming(&division, large_end->getParent());
}

void divide_small_longs(Module &m)
{
	for (BinaryOperator *division : divisions_of(m, is_division_of_longs))
		divide_small(*division);
}

bool hoist_division(Instruction &inst, Loop &loop)
{
	bool moved = false;

	if (!guarded_divisor(inst) || !loop.getLoopPreheader() ||
	    !loop.makeLoopInvariant(inst.getOperand(0), moved) ||
	    !loop.makeLoopInvariant(inst.getOperand(1), moved))
		return moved;
	inst.moveBefore(loop.getLoopPreheader()->getTerminator());
	return true;
}
