// SPDX-License-Identifier: MIT
/*
 * intrinsics.cc - built-in functions that map to one or two LLVM instructions
 *
 * For every element type and width alike. The mangled name tells whether the
 * elements are signed; a scalar beside vectors stands for a vector of it.
 */
#include "salvo_cc.h"

#include <llvm/IR/Intrinsics.h>

using namespace llvm;

static const struct float_function {
	const char *name;
	unsigned args;
	Intrinsic::ID id;
} float_functions[] = {
	{ "floor", 1, Intrinsic::floor },	{ "ceil", 1, Intrinsic::ceil },
	{ "trunc", 1, Intrinsic::trunc },	{ "rint", 1, Intrinsic::rint },
	{ "round", 1, Intrinsic::round },	{ "fabs", 1, Intrinsic::fabs },
	{ "sqrt", 1, Intrinsic::sqrt },		{ "fmin", 2, Intrinsic::minnum },
	{ "fmax", 2, Intrinsic::maxnum },	{ "copysign", 2, Intrinsic::copysign },
	{ "fma", 3, Intrinsic::fma },		{ "mad", 3, Intrinsic::fmuladd },
};

static Value *make_float(IRBuilder<> &b, StringRef name, ArrayRef<Value *> x)
{
	if (name == "native_sqrt" || name == "half_sqrt") {
		FastMathFlags approximate;

		approximate.setApproxFunc();
		b.setFastMathFlags(approximate);
		return b.CreateUnaryIntrinsic(Intrinsic::sqrt, x[0]);
	}
	for (const float_function &f : float_functions)
		if (name == f.name && x.size() == f.args)
			return b.CreateIntrinsic(f.id, { x[0]->getType() }, x);

	/* These need not care for NaN, unlike fmin() and fmax(). */
	auto lesser = [&](Value *p, Value *q) {
		return b.CreateSelect(b.CreateFCmpOLT(q, p), q, p);
	};
	auto greater = [&](Value *p, Value *q) {
		return b.CreateSelect(b.CreateFCmpOLT(p, q), q, p);
	};
	if (name == "min" && x.size() == 2)
		return lesser(x[0], x[1]);
	if (name == "max" && x.size() == 2)
		return greater(x[0], x[1]);
	if (name == "clamp" && x.size() == 3)
		return lesser(greater(x[0], x[1]), x[2]);
	return nullptr;
}

/* a * b + c fits twice the bits. */
static Value *make_mad_sat(IRBuilder<> &b, ArrayRef<Value *> x, bool is_signed)
{
	Type *type = x[0]->getType(), *wide = type->getExtendedType();
	const unsigned bits = type->getScalarSizeInBits();
	const APInt least = is_signed ? APInt::getSignedMinValue(bits) : APInt::getMinValue(bits);
	const APInt most = is_signed ? APInt::getSignedMaxValue(bits) : APInt::getMaxValue(bits);
	auto widen = [&](Value *v) { return b.CreateIntCast(v, wide, is_signed); };
	auto limit = [&](const APInt &number) { return widen(ConstantInt::get(type, number)); };
	Value *all = b.CreateAdd(b.CreateMul(widen(x[0]), widen(x[1])), widen(x[2]));

	all = b.CreateBinaryIntrinsic(is_signed ? Intrinsic::smin : Intrinsic::umin, all,
				      limit(most));
	if (is_signed)
		all = b.CreateBinaryIntrinsic(Intrinsic::smax, all, limit(least));
	return b.CreateTrunc(all, type);
}

static Value *make_int(IRBuilder<> &b, StringRef name, ArrayRef<Value *> x, bool is_signed)
{
	Intrinsic::ID min = is_signed ? Intrinsic::smin : Intrinsic::umin;
	Intrinsic::ID max = is_signed ? Intrinsic::smax : Intrinsic::umax;
	Type *type = x[0]->getType();

	if (x.size() == 1) {
		if (name == "clz" || name == "ctz")
			return b.CreateIntrinsic(name == "clz" ? Intrinsic::ctlz : Intrinsic::cttz,
						 { type }, { x[0], b.getFalse() });
		if (name == "popcount")
			return b.CreateUnaryIntrinsic(Intrinsic::ctpop, x[0]);
		if (name == "abs")
			return is_signed ? b.CreateBinaryIntrinsic(Intrinsic::abs, x[0],
								   b.getFalse()) : x[0];
	} else if (x.size() == 2) {
		if (name == "min" || name == "max")
			return b.CreateBinaryIntrinsic(name == "min" ? min : max, x[0], x[1]);
		if (name == "add_sat")
			return b.CreateBinaryIntrinsic(is_signed ? Intrinsic::sadd_sat :
						       Intrinsic::uadd_sat, x[0], x[1]);
		if (name == "sub_sat")
			return b.CreateBinaryIntrinsic(is_signed ? Intrinsic::ssub_sat :
						       Intrinsic::usub_sat, x[0], x[1]);
		if (name == "rotate")
			return b.CreateIntrinsic(Intrinsic::fshl, { type }, { x[0], x[0], x[1] });
		if (name == "mul24")
			return b.CreateMul(x[0], x[1]);
	} else if (x.size() == 3) {
		if (name == "clamp")
			return b.CreateBinaryIntrinsic(
				min, b.CreateBinaryIntrinsic(max, x[0], x[1]), x[2]);
		if (name == "mad24")
			return b.CreateAdd(b.CreateMul(x[0], x[1]), x[2]);
		if (name == "mad_sat")
			return make_mad_sat(b, x, is_signed);
	}
	return nullptr;
}

/* Defines @f if it is one: _Z<length><name><first argument's type>... */
bool define_intrinsic(Function &f)
{
	StringRef name = f.getName();
	unsigned length, lanes;

	if (!name.consume_front("_Z") || name.consumeInteger(10, length) ||
	    length >= name.size() || f.arg_empty())
		return false;
	StringRef mangled = name.drop_front(length);
	name = name.take_front(length);
	if (mangled.consume_front("Dv")) {
		mangled.consumeInteger(10, lanes);
		mangled.consume_front("_");
	}
	bool is_signed = StringRef("csilx").contains(mangled.front());

	BasicBlock *block = BasicBlock::Create(f.getContext(), "", &f);
	IRBuilder<> b(block);
	SmallVector<Value *, 3> args;
	Value *result = nullptr;
	bool ok = true;
	for (Argument &arg : f.args()) {
		Value *value = &arg;
		auto *vector = dyn_cast<FixedVectorType>(f.getReturnType());
		if (vector && value->getType() == vector->getElementType())
			value = b.CreateVectorSplat(vector->getNumElements(), value);
		ok = ok && value->getType() == f.getReturnType();
		args.push_back(value);
	}
	if (ok && f.getReturnType()->isFPOrFPVectorTy())
		result = make_float(b, name, args);
	else if (ok && f.getReturnType()->isIntOrIntVectorTy())
		result = make_int(b, name, args, is_signed);
	if (!result) {
		f.deleteBody();
		return false;
	}
	b.CreateRet(result);
	return true;
}
