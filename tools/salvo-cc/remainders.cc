// SPDX-License-Identifier: MIT
/*
 * remainders.cc - compares remainders of constants without dividing
 *
 * Whether lanes have a number whose remainder of a constant is another constant takes one product:
 * d * k has the quotient k where it is multiplied by the inverse of d modulo 2^32, and what is no
 * multiple of d becomes more than any of these quotients. An even d has its factors of two rotated
 * out of the product.
 *
 *	x % 7 == 3 (unsigned)	(x - 3) * 0xb6db6db7 <= (2^32 - 1 - 3) / 7
 *	x % 7 == 3 (signed)	(x - 3) * 0xb6db6db7 <= (2^31 - 1 - 3) / 7
 *	x % 7 == 0 (signed)	x * 0xb6db6db7 + (2^31 - 1) / 7 <= 2 * ((2^31 - 1) / 7)
 *
 * LLVM's code generator does the same in a block, if the remainder is 0. But lanes use the mask in
 * the blocks behind the comparison, too, where its preparation repeats the comparison, and a
 * remainder that is used twice is computed. Runs when the code is optimised.
 */
#include "salvo_cc.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/PatternMatch.h>

using namespace llvm;
using namespace llvm::PatternMatch;

/* @x + @more, times @inverse, without @twos factors of two, is at most @most. */
struct test {
	APInt more, inverse, after, most;
	unsigned twos;
};

/* The test for the remainder @rest of @divisor, which is not negative; false if there is none */
static bool find_test(const APInt &divisor, const APInt &rest, bool is_signed, struct test &found)
{
	const unsigned bits = divisor.getBitWidth();
	const APInt greatest = is_signed ? APInt::getSignedMaxValue(bits) :
					   APInt::getMaxValue(bits);

	if (divisor.ult(3) || divisor.isPowerOf2() || divisor.isNegative() || rest.uge(divisor))
		return false;
	found.twos = divisor.countr_zero();
	const APInt odd = divisor.lshr(found.twos);
	found.inverse = odd.multiplicativeInverse();
	found.more = -rest;
	found.after = APInt(bits, 0);
	found.most = (greatest - rest).udiv(divisor);
	if (is_signed && rest.isZero()) {
		found.after = greatest.udiv(odd);
		found.after.clearLowBits(found.twos);
		found.most = found.after.shl(1).lshr(found.twos);
	}
	return true;
}

static void replace(ICmpInst &compare)
{
	Type *type = compare.getType();
	const APInt *divisor, *rest;
	struct test test;
	Value *x;

	if (!type->isVectorTy() || !compare.isEquality() || !compare.getOperand(0)->hasOneUse() ||
	    compare.getOperand(0)->getType()->getScalarSizeInBits() < 32 ||
	    !match(compare.getOperand(0), m_IRem(m_Value(x), m_APInt(divisor))) ||
	    !match(compare.getOperand(1), m_APInt(rest)))
		return;
	auto *remainder = cast<BinaryOperator>(compare.getOperand(0));
	if (!find_test(*divisor, *rest, remainder->getOpcode() == Instruction::SRem, test))
		return;
	IRBuilder<> b(&compare);
	type = x->getType();
	auto number = [type](const APInt &n) { return ConstantInt::get(type, n); };
	Value *v = b.CreateAdd(b.CreateMul(b.CreateAdd(x, number(test.more)),
					   number(test.inverse)), number(test.after));
	if (test.twos)
		v = b.CreateIntrinsic(Intrinsic::fshr, { type },
				      { v, v, ConstantInt::get(type, test.twos) });
	v = b.CreateICmp(compare.getPredicate() == ICmpInst::ICMP_EQ ? ICmpInst::ICMP_ULE :
			 ICmpInst::ICMP_UGT, v, number(test.most));
	compare.replaceAllUsesWith(v);
	compare.eraseFromParent();
	remainder->eraseFromParent();
}

void compare_remainders(Module &m)
{
	SmallVector<ICmpInst *> compares;

	for (Function &f : m)
		for (Instruction &inst : instructions(f))
			if (auto *compare = dyn_cast<ICmpInst>(&inst))
				compares.push_back(compare);
	for (ICmpInst *compare : compares)
		replace(*compare);
}
