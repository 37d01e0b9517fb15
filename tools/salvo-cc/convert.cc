// SPDX-License-Identifier: MIT
/*
 * convert.cc - convert_TYPE[_sat][_rte|_rtz|_rtp|_rtn](), generated on demand
 *
 * OpenCL C has some six thousand of them. The mangled name determines the function, so
 * bodies are generated for those that are called.
 *
 * The processor's rounding mode is never changed. A conversion to a floating-point type
 * that does not round to nearest is computed: of an integer, by truncating the digits
 * that do not fit; of a floating-point number, by comparing the nearest
 * result with the argument and taking its neighbour where that is on the wrong side.
 */
#include "salvo_cc.h"

#include <cmath>

#include <llvm/IR/Intrinsics.h>

using namespace llvm;

struct element {
	bool valid = false, is_float = false, is_signed = false;
	unsigned bits = 0;
};

static element element_of_mangled(char c)
{
	switch (c) {
	case 'c': return { true, false, true, 8 };
	case 'h': return { true, false, false, 8 };
	case 's': return { true, false, true, 16 };
	case 't': return { true, false, false, 16 };
	case 'i': return { true, false, true, 32 };
	case 'j': return { true, false, false, 32 };
	case 'l': return { true, false, true, 64 };
	case 'm': return { true, false, false, 64 };
	case 'f': return { true, true, true, 32 };
	case 'd': return { true, true, true, 64 };
	default: return {};
	}
}

static const element half_element = { true, true, true, 16 };

/* The last of @mangled, of a scalar or a vector */
static element last_element(StringRef mangled)
{
	if (mangled.ends_with("Dh"))
		return half_element;
	return mangled.empty() ? element() : element_of_mangled(mangled.back());
}

static element take_element(StringRef &name)
{
	static const struct {
		const char *name;
		char mangled;
	} types[] = {
		{ "uchar", 'h' }, { "ushort", 't' }, { "uint", 'j' }, { "ulong", 'm' },
		{ "char", 'c' }, { "short", 's' }, { "int", 'i' }, { "long", 'l' },
		{ "float", 'f' }, { "double", 'd' },
	};

	for (const auto &type : types)
		if (name.consume_front(type.name))
			return element_of_mangled(type.mangled);
	return name.consume_front("half") ? half_element : element();
}

static Value *int_constant(Type *type, const APInt &value)
{
	return ConstantInt::get(type, value);
}

static Value *int_to_int(IRBuilder<> &b, Value *x, element from, element to, Type *type, bool sat)
{
	if (sat) {
		APInt low = to.is_signed ? APInt::getSignedMinValue(to.bits) : APInt(to.bits, 0);
		APInt high = to.is_signed ? APInt::getSignedMaxValue(to.bits) :
					    APInt::getMaxValue(to.bits);
		/* Signed integers of 66 bits hold the limits of both types. */
		APInt low_wide = to.is_signed ? low.sext(66) : low.zext(66);
		APInt high_wide = to.is_signed ? high.sext(66) : high.zext(66);
		APInt min = from.is_signed ? APInt::getSignedMinValue(from.bits).sext(66) :
					     APInt(66, 0);
		APInt max = from.is_signed ? APInt::getSignedMaxValue(from.bits).sext(66) :
					     APInt::getMaxValue(from.bits).zext(66);
		if (low_wide.sgt(min))
			x = b.CreateBinaryIntrinsic(from.is_signed ? Intrinsic::smax :
						    Intrinsic::umax, x,
						    int_constant(x->getType(),
								 low_wide.trunc(from.bits)));
		if (high_wide.slt(max))
			x = b.CreateBinaryIntrinsic(from.is_signed ? Intrinsic::smin :
						    Intrinsic::umin, x,
						    int_constant(x->getType(),
								 high_wide.trunc(from.bits)));
	}
	return b.CreateIntCast(x, type, from.is_signed);
}

/*
 * LLVM's own saturating conversions are computed element by element on x86-64. A limit above which
 * numbers are not exact is compared with the next power of two.
 */
static Value *float_to_int_sat(IRBuilder<> &b, Value *x, element to, Type *type)
{
	const unsigned digits = x->getType()->getScalarType()->isFloatTy() ? 24 : 53;
	const unsigned limit = to.bits - to.is_signed;
	const double power = std::ldexp(1.0, limit);
	Constant *least = ConstantFP::get(x->getType(), to.is_signed ? -power : 0);
	Constant *most = ConstantFP::get(x->getType(), limit <= digits ? power - 1 : power);
	/* What fits 32 bits is converted to those: vectors have such instructions. */
	Type *made = to.bits < 32 ? type->getWithNewBitWidth(32) : type;
	Value *above = nullptr;

	/* Of NaN @least */
	Value *inside = b.CreateSelect(b.CreateFCmpOGT(x, least), x, least);
	if (limit <= digits) {
		inside = b.CreateSelect(b.CreateFCmpOLT(inside, most), inside, most);
	} else {
		above = b.CreateFCmpOGE(inside, most);
		inside = b.CreateSelect(above, least, inside);
	}
	Value *number = to.is_signed || to.bits < 32 ? b.CreateFPToSI(inside, made) :
						       b.CreateFPToUI(inside, made);
	if (above)
		number = b.CreateSelect(above, int_constant(type, to.is_signed ?
							    APInt::getSignedMaxValue(to.bits) :
							    APInt::getMaxValue(to.bits)), number);
	if (to.is_signed)
		number = b.CreateSelect(b.CreateFCmpORD(x, x), number,
					Constant::getNullValue(made));
	return b.CreateTrunc(number, type);
}

static Value *float_to_int(IRBuilder<> &b, Value *x, element to, Type *type, bool sat,
			   StringRef rounding)
{
	if (rounding == "_rte")
		x = b.CreateUnaryIntrinsic(Intrinsic::roundeven, x);
	else if (rounding == "_rtp")
		x = b.CreateUnaryIntrinsic(Intrinsic::ceil, x);
	else if (rounding == "_rtn")
		x = b.CreateUnaryIntrinsic(Intrinsic::floor, x);
	if (sat)
		return float_to_int_sat(b, x, to, type);
	x = to.is_signed ? b.CreateFPToSI(x, type) : b.CreateFPToUI(x, type);
	return b.CreateFreeze(x);
}

/* The neighbour of @x towards (@away) or away from zero, where @where holds. */
static Value *step_where(IRBuilder<> &b, Value *x, Value *where, bool away)
{
	Type *bits = x->getType()->getWithNewType(b.getIntNTy(x->getType()->getScalarSizeInBits()));
	Value *raw = b.CreateBitCast(x, bits);
	Value *next = away ? b.CreateAdd(raw, ConstantInt::get(bits, 1)) :
			     b.CreateSub(raw, ConstantInt::get(bits, 1));

	return b.CreateBitCast(b.CreateSelect(where, next, raw), x->getType());
}

/* @near, the value nearest to @exact in a smaller type, moved as @rounding wants. */
static Value *round_directed(IRBuilder<> &b, Value *near, Value *exact, StringRef rounding)
{
	Value *wide = b.CreateFPExt(near, exact->getType());
	Value *zero = Constant::getNullValue(exact->getType());

	if (rounding == "_rtz") {
		Value *size = b.CreateUnaryIntrinsic(Intrinsic::fabs, exact);
		Value *beyond = b.CreateFCmpOGT(b.CreateUnaryIntrinsic(Intrinsic::fabs, wide),
						size);
		return step_where(b, near, beyond, false);
	}
	Value *wrong = rounding == "_rtp" ? b.CreateFCmpOLT(wide, exact) :
					    b.CreateFCmpOGT(wide, exact);
	Value *away = rounding == "_rtp" ? b.CreateFCmpOGT(exact, zero) :
					   b.CreateFCmpOLT(exact, zero);
	near = step_where(b, near, b.CreateAnd(wrong, away), true);
	return step_where(b, near, b.CreateAnd(wrong, b.CreateNot(away)), false);
}

/* @x truncated to the digits that a significand of @digits holds. */
static Value *int_to_float_directed(IRBuilder<> &b, Value *x, element from, unsigned digits,
				    Type *type, StringRef rounding)
{
	Type *t = x->getType();
	Value *zero = Constant::getNullValue(t);
	Value *negative = from.is_signed ? b.CreateICmpSLT(x, zero) :
			  Constant::getNullValue(CmpInst::makeCmpResultType(t));
	Value *size = b.CreateSelect(negative, b.CreateNeg(x), x);
	Value *zeros = b.CreateIntrinsic(Intrinsic::ctlz, { t }, { size, b.getFalse() });
	Value *excess = b.CreateBinaryIntrinsic(Intrinsic::usub_sat,
						ConstantInt::get(t, from.bits - digits), zeros);
	Value *kept = b.CreateShl(b.CreateLShr(size, excess), excess);
	Value *cut = b.CreateICmpNE(kept, size);
	Value *result = b.CreateUIToFP(kept, type);

	if (rounding == "_rtp")
		result = step_where(b, result, b.CreateAnd(cut, b.CreateNot(negative)), true);
	else if (rounding == "_rtn")
		result = step_where(b, result, b.CreateAnd(cut, negative), true);
	return b.CreateSelect(negative, b.CreateFNeg(result), result);
}

Value *round_to_half(IRBuilder<> &b, Value *x, StringRef rounding)
{
	Type *t = x->getType(), *half = t->getWithNewType(b.getHalfTy()), *single =
		t->getWithNewType(b.getFloatTy());
	Value *narrow = x;

	/* By way of a truncated float whose last bit is sticky. */
	if (t->getScalarType()->isDoubleTy()) {
		Type *bits = t->getWithNewType(b.getInt32Ty());
		narrow = round_directed(b, b.CreateFPTrunc(x, single), x, "_rtz");
		Value *cut = b.CreateFCmpONE(b.CreateFPExt(narrow, t), x);
		narrow = b.CreateBitCast(b.CreateOr(b.CreateBitCast(narrow, bits),
						    b.CreateZExt(cut, bits)), single);
	}
	Value *near = b.CreateFPTrunc(narrow, half);
	return rounding.empty() || rounding == "_rte" ? near : round_directed(b, near, x, rounding);
}

static Value *to_float(IRBuilder<> &b, Value *x, element from, element to, Type *type,
		       StringRef rounding)
{
	unsigned digits = to.bits == 32 ? 24 : 53;
	bool exact = from.is_float ? from.bits <= to.bits :
				     from.bits - from.is_signed <= digits;
	bool directed = !exact && !rounding.empty() && rounding != "_rte";

	if (from.is_float) {
		Value *near = b.CreateFPCast(x, type);
		return directed ? round_directed(b, near, x, rounding) : near;
	}
	if (directed)
		return int_to_float_directed(b, x, from, digits, type, rounding);
	return from.is_signed ? b.CreateSIToFP(x, type) : b.CreateUIToFP(x, type);
}

/*
 * An integer by way of float: those that float does not hold are beyond half's range, and rounding
 * twice in one direction is rounding once.
 */
static Value *to_half(IRBuilder<> &b, Value *x, element from, StringRef rounding)
{
	if (!from.is_float)
		x = to_float(b, x, from, element_of_mangled('f'),
			     x->getType()->getWithNewType(b.getFloatTy()), rounding);
	return round_to_half(b, x, rounding);
}

/* Defines @f if it is a conversion: _Z<length>convert_<type>[n][_sat][_mode]<from>. */
bool define_conversion(Function &f)
{
	StringRef name = f.getName();
	unsigned length, lanes;

	if (!name.consume_front("_Z") || name.consumeInteger(10, length) ||
	    length > name.size())
		return false;
	StringRef from_name = name.drop_front(length);
	name = name.take_front(length);
	if (!name.consume_front("convert_"))
		return false;
	element to = take_element(name);
	if (name.consumeInteger(10, lanes))
		lanes = 1;
	bool sat = name.consume_front("_sat");
	element from = last_element(from_name);
	if (!to.valid || !from.valid || f.arg_size() != 1 ||
	    (!name.empty() && name != "_rte" && name != "_rtz" && name != "_rtp" && name != "_rtn"))
		return false;

	BasicBlock *block = BasicBlock::Create(f.getContext(), "", &f);
	IRBuilder<> b(block);
	Value *x = f.getArg(0), *result;
	/* Half is converted by way of float, which holds it exactly. */
	if (from.bits == 16 && from.is_float && x->getType() != f.getReturnType()) {
		x = b.CreateFPExt(x, x->getType()->getWithNewType(b.getFloatTy()));
		from = element_of_mangled('f');
	}
	if (x->getType() == f.getReturnType() && to.is_float)
		result = x;
	else if (to.is_float && to.bits == 16)
		result = to_half(b, x, from, name);
	else if (to.is_float)
		result = to_float(b, x, from, to, f.getReturnType(), name);
	else if (from.is_float)
		result = float_to_int(b, x, to, f.getReturnType(), sat, name);
	else
		result = int_to_int(b, x, from, to, f.getReturnType(), sat);
	b.CreateRet(result);
	return true;
}
