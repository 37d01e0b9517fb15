// SPDX-License-Identifier: MIT
/*
 * powers.cc - powers with a constant exponent
 *
 * pow(), powr() and pown() take a hundred instructions. Small exponents, also with a half, are a
 * few multiplications, a square root and a division:
 *
 *	pow(x, 2.0f)	x * x
 *	pow(x, -1.5f)	1 / x * (1 / sqrt(x))
 *
 * Products are of powers between 1 and the result, so that none overflows or loses bits as a
 * subnormal number unless the result does. The result is off by 8 units in the last place at most,
 * of 16 that OpenCL C allows. Runs before the library is linked, on literal exponents.
 */
#include "salvo_cc.h"

#include <cmath>

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/PatternMatch.h>

using namespace llvm;
using namespace llvm::PatternMatch;

static const double max_exponent = 8;

/* The part of the mangled @name before its arguments, if they are of float or double */
static StringRef function_of(StringRef name)
{
	unsigned length;

	if (!name.consume_front("_Z") || name.consumeInteger(10, length) || length >= name.size())
		return "";
	StringRef types = name.drop_front(length);
	if (types.consume_front("Dv")) {
		unsigned lanes;
		if (types.consumeInteger(10, lanes) || !types.consume_front("_"))
			return "";
	}
	return types.starts_with("f") || types.starts_with("d") ? name.take_front(length) : "";
}

static bool exponent_of(Value *v, double *exponent)
{
	const APFloat *real;
	const APInt *whole;

	if (match(v, m_APFloat(real)))
		*exponent = real->convertToDouble();
	else if (match(v, m_APInt(whole)))
		*exponent = whole->getSExtValue();
	else
		return false;
	return *exponent && std::fabs(*exponent) <= max_exponent &&
	       *exponent * 2 == std::trunc(*exponent * 2);
}

/* @x to the power of @n, NULL for 0 */
static Value *multiply(IRBuilder<> &b, Value *x, unsigned n)
{
	Value *product = nullptr;

	for (; n; n >>= 1) {
		if (n & 1)
			product = product ? b.CreateFMul(product, x) : x;
		if (n > 1)
			x = b.CreateFMul(x, x);
	}
	return product;
}

/* @positive: Powers of negative numbers are NaN, as those of powr(). */
static Value *make_power(IRBuilder<> &b, Value *x, double exponent, bool positive)
{
	Type *type = x->getType();
	const double size = std::fabs(exponent);
	const bool half = size != std::trunc(size);
	Value *zero = ConstantFP::getZero(type), *one = ConstantFP::get(type, 1);
	Value *infinity = ConstantFP::getInfinity(type);

	/* The root of -0 is 0, and that of -infinity infinity, unlike sqrt(). */
	if (half && !positive)
		x = b.CreateSelect(b.CreateFCmpOEQ(x, b.CreateFNeg(infinity)), infinity, x);
	if (positive)
		x = b.CreateSelect(b.CreateFCmpOLT(x, zero), ConstantFP::getNaN(type), x);
	if (half || positive)
		x = b.CreateFAdd(x, zero);
	Value *root = half ? b.CreateUnaryIntrinsic(Intrinsic::sqrt, x) : nullptr;
	if (exponent < 0) {
		if (root)
			root = b.CreateFDiv(one, root);
		if (size >= 1)
			x = b.CreateFDiv(one, x);
	}
	Value *whole = multiply(b, x, size);
	return whole && root ? b.CreateFMul(whole, root) : whole ? whole : root;
}

void expand_powers(Module &m)
{
	SmallVector<CallInst *> found;

	for (Function &f : m) {
		const StringRef name = f.isDeclaration() ? function_of(f.getName()) : "";

		if (name != "pow" && name != "pown" && !name.ends_with("powr"))
			continue;
		for (User *user : f.users())
			if (auto *call = dyn_cast<CallInst>(user))
				found.push_back(call);
	}
	for (CallInst *call : found) {
		const StringRef name = function_of(call->getCalledFunction()->getName());
		IRBuilder<> b(call);
		double exponent;

		if (call->arg_size() != 2 || !exponent_of(call->getArgOperand(1), &exponent))
			continue;
		b.setFastMathFlags(call->getFastMathFlags());
		call->replaceAllUsesWith(make_power(b, call->getArgOperand(0), exponent,
						    name.ends_with("powr")));
		call->eraseFromParent();
	}
}
