// SPDX-License-Identifier: MIT
/*
 * rejoin.cc - indices that were taken apart and are put together again
 *
 * Kernels divide the number of a work-item to know where it is, and often access that place:
 *
 *	x = i % w, y = i / w;	a[y * w + x]			a[i]
 *				a[(c * h + y) * w + x]		a[c * h * w + i]
 *
 * LLVM does not see that this is i again, since the divisor is another value once it is guarded
 * (division.cc): 1 where w is 0 or -1. If w is 0 both results are unspecified; if it is -1 they are
 * -i and 0. So the sum may be i in any case, and the access is contiguous.
 */
#include "division.h"
#include "salvo_cc.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/PatternMatch.h>

using namespace llvm;
using namespace llvm::PatternMatch;

static const unsigned max_terms = 8;

using terms = SmallVector<Value *, max_terms>;

static void add_terms(Value *sum, terms &found)
{
	Value *x, *y;

	if (found.size() < max_terms && match(sum, m_Add(m_Value(x), m_Value(y)))) {
		add_terms(x, found);
		add_terms(y, found);
	} else {
		found.push_back(sum);
	}
}

/* Is @v the quotient of what @rest is the remainder of? A signed one has another value for -1. */
static bool is_quotient_of(Value *v, const Instruction &rest)
{
	Value *quotient, *negative;

	if (match(v, m_Select(m_Value(), m_Value(negative), m_Value(quotient))) &&
	    match(negative, m_Neg(m_Specific(quotient))))
		v = quotient;
	auto *inst = dyn_cast<Instruction>(v);

	return inst && inst->isIntDivRem() && !is_remainder(*inst) &&
	       is_signed_division(*inst) == is_signed_division(rest) &&
	       inst->getOperand(0) == rest.getOperand(0) &&
	       inst->getOperand(1) == rest.getOperand(1);
}

static Value *sum_of(IRBuilder<> &b, const terms &all, Value *first)
{
	for (Value *term : all)
		first = b.CreateAdd(first, term);
	return first;
}

/* @sum, of @rest and others, without the division, or NULL */
static Value *join(BinaryOperator &sum, const terms &all, Instruction &rest)
{
	Value *guarded = guarded_divisor(rest), *factor;
	Value *divisor = guarded ? guarded : rest.getOperand(1);

	for (Value *product : all) {
		terms factors;

		if (!match(product, m_c_Mul(m_Specific(divisor), m_Value(factor))))
			continue;
		add_terms(factor, factors);
		auto quotient = find_if(factors, [&](Value *v) { return is_quotient_of(v, rest); });
		if (quotient == factors.end())
			continue;
		IRBuilder<> b(&sum);
		terms others(make_filter_range(all, [&](Value *v) {
			return v != product && v != &rest;
		}));
		if (others.size() + 2 != all.size())
			continue;
		factors.erase(quotient);
		Value *joined = sum_of(b, others, rest.getOperand(0));
		if (factors.empty())
			return joined;
		Value *more = sum_of(b, terms(drop_begin(factors)), factors.front());
		return b.CreateAdd(b.CreateMul(more, divisor), joined);
	}
	return nullptr;
}

void rejoin_indices(Function &f)
{
	SmallVector<BinaryOperator *> sums;

	for (Instruction &inst : instructions(f))
		if (inst.getOpcode() == Instruction::Add)
			sums.push_back(cast<BinaryOperator>(&inst));
	/* The whole sum before its parts */
	for (BinaryOperator *sum : reverse(sums)) {
		Value *joined = nullptr;
		terms all;

		add_terms(sum, all);
		for (Value *term : all) {
			auto *rest = dyn_cast<Instruction>(term);

			if (!joined && rest && is_remainder(*rest))
				joined = join(*sum, all, *rest);
		}
		if (joined)
			sum->replaceAllUsesWith(joined);
	}
}
