// SPDX-License-Identifier: MIT
/*
 * vector_division.cc - integer divisions of all lanes at once
 *
 * Processors divide vectors of floating-point numbers only. A quotient of integers of up to 32 bits
 * is that of two doubles, rounded to zero: where it is no integer it is at least 1 / divisor below
 * the next one, and the error is less than 2^-20 / divisor. For up to 16 bits floats suffice.
 *
 * For a divisor that is uniform the product with its reciprocal does, which is rounded up so that
 * the quotient of a multiple is not below an integer. LLVM moves the reciprocal out of loops.
 *
 *	x[i] / d	r = bits(1. / d) + 1
 *			(int)((double)x[i..] * r)
 *
 * The divisor of inactive lanes may be 0: they have some result, and no fault.
 */
#include "division.h"
#include "vectoriser.h"

#include <llvm/IR/PatternMatch.h>

using namespace llvm;

/* In checked mode divisions by zero fault. */
bool vectoriser::can_divide(const Instruction &inst) const
{
	return inst.isIntDivRem() && inst.getType()->getScalarSizeInBits() <= 32 &&
	       !isa<Constant>(inst.getOperand(1)) && !in_checked_mode(item);
}

/* LLVM multiplies by constants' reciprocals itself, by their halves of 64 bits if need be. */
bool vectoriser::multiplies(const Instruction &inst) const
{
	const APInt *divisor;

	return inst.getType()->getScalarSizeInBits() <= 32 &&
	       PatternMatch::match(inst.getOperand(1), PatternMatch::m_APInt(divisor)) &&
	       !divisor->isZero();
}

double vectoriser::division_cost(const Instruction &inst) const
{
	const bool uniform = shape_of(inst.getOperand(1)).kind == shape::UNIFORM;

	return registers_of(inst.getType()) * (uniform ? 8 : 24);
}

Value *vectoriser::emit_division(Instruction &inst)
{
	Type *type = inst.getType(), *wide = widen(type);
	Type *real = type->getWithNewType(type->getScalarSizeInBits() > 16 ? b.getDoubleTy() :
									     b.getFloatTy());
	Value *dividend = vector(inst.getOperand(0)), *divisor = inst.getOperand(1), *quotient;
	auto to_real = [&](Value *v, Type *as) {
		return is_signed_division(inst) ? b.CreateSIToFP(v, as) : b.CreateUIToFP(v, as);
	};

	quotient = to_real(dividend, widen(real));
	if (shape_of(divisor).kind == shape::UNIFORM) {
		Type *bits = type->getWithNewBitWidth(real->getScalarSizeInBits());
		Value *inverse = b.CreateFDiv(ConstantFP::get(real, 1),
					      to_real(scalar(divisor), real));

		inverse = b.CreateAdd(b.CreateBitCast(inverse, bits), ConstantInt::get(bits, 1));
		quotient = b.CreateFMul(quotient, splat(b.CreateBitCast(inverse, real)));
	} else {
		quotient = b.CreateFDiv(quotient, to_real(vector(divisor), widen(real)));
	}
	quotient = is_signed_division(inst) ? b.CreateFPToSI(quotient, wide) :
					      b.CreateFPToUI(quotient, wide);
	if (inst.getOpcode() == Instruction::SDiv || inst.getOpcode() == Instruction::UDiv)
		return quotient;
	return b.CreateSub(dividend, b.CreateMul(quotient, vector(divisor)));
}
