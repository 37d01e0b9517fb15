// SPDX-License-Identifier: MIT
/*
 * half.cc - built-in functions on half, by way of those on float
 *
 *	half4 sin(half4 x)		(half4)sin((float4)x)
 *
 * The mangled name of the one gives that of the other: "Dh" stands for half, "f" for float, and the
 * numbering of substitutions is the same. Where a result is exact in float, or has twice half's
 * digits and two, rounding it again is rounding it once (fdim, fmod, sqrt and so on); of the others
 * float's error is far below half's. What depends on half's format is in builtins/half.cl; loads,
 * stores, shuffles, conversions and copies are generated for any type.
 *
 * Comparisons of half vectors give vectors of short, those of float of int.
 */
#include "salvo_cc.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

using namespace llvm;

static bool is_half(const Type *type)
{
	return type->getScalarType()->isHalfTy();
}

static bool takes_half(const Function &f)
{
	return is_half(f.getReturnType()) || any_of(f.args(), [](const Argument &arg) {
		return is_half(arg.getType());
	});
}

static bool is_made_elsewhere(StringRef name)
{
	static const StringRef prefixes[] = { "convert_", "vload", "vstore", "shuffle", "async_" };
	static const StringRef names[] = {
		"fma", "isnormal", "nan", "nextafter", "fract", "select", "bitselect", "prefetch",
	};

	return is_contained(names, name) || any_of(prefixes, [&](StringRef prefix) {
		return name.starts_with(prefix);
	});
}

/* Types in a mangled name: float for half, and private memory for where a result is stored. */
static std::string float_types(StringRef mangled, bool is_pointer)
{
	std::string types;

	while (!mangled.empty()) {
		if (mangled.consume_front("Dh")) {
			types += 'f';
		} else if (is_pointer && mangled.starts_with("PU3AS") && mangled.size() > 6) {
			types += 'P';
			mangled = mangled.drop_front(6);
		} else {
			types += mangled.front();
			mangled = mangled.drop_front();
		}
	}
	return types;
}

static Type *float_type(Type *type)
{
	Type *element = type->getScalarType();

	if (element->isHalfTy())
		return type->getWithNewType(Type::getFloatTy(type->getContext()));
	if (type->isVectorTy() && element->isIntegerTy(16))
		return type->getWithNewType(Type::getInt32Ty(type->getContext()));
	return type;
}

/* The name as float has it: read_imagef() for read_imageh(). */
static std::string float_name(StringRef name)
{
	if (name == "read_imageh" || name == "write_imageh")
		return name.drop_back().str() + "f";
	return name.str();
}

static void define_by_float(Function &f, StringRef name, StringRef mangled)
{
	/* The functions that store a half where an argument points to */
	const bool stores = name == "modf" || name == "sincos";
	IRBuilder<> b(BasicBlock::Create(f.getContext(), "", &f));
	Type *wide = float_type(f.getReturnType());
	SmallVector<Value *, 4> args;
	SmallVector<Type *, 4> types;
	Value *stored = nullptr;
	std::string full = float_name(name);

	for (Argument &arg : f.args()) {
		Value *value = &arg;
		if (is_half(arg.getType()))
			value = b.CreateFPExt(value, float_type(arg.getType()));
		else if (stores && arg.getType()->isPointerTy())
			value = stored = b.CreateAlloca(wide);
		args.push_back(value);
		types.push_back(value->getType());
	}
	full = "_Z" + std::to_string(full.size()) + full + float_types(mangled, stores);
	CallInst *call = b.CreateCall(f.getParent()->getOrInsertFunction(
		full, FunctionType::get(wide, types, false)), args);
	call->setCallingConv(CallingConv::SPIR_FUNC);
	cast<Function>(call->getCalledOperand())->setCallingConv(CallingConv::SPIR_FUNC);
	if (stored)
		b.CreateStore(b.CreateFPTrunc(b.CreateLoad(wide, stored), f.getReturnType()),
			      f.getArg(f.arg_size() - 1));
	if (wide->isVoidTy())
		b.CreateRetVoid();
	else if (is_half(f.getReturnType()))
		b.CreateRet(b.CreateFPTrunc(call, f.getReturnType()));
	else
		b.CreateRet(b.CreateIntCast(call, f.getReturnType(), true));
}

void define_half_functions(Module &m)
{
	SmallVector<Function *> missing;

	for (Function &f : m)
		if (f.isDeclaration() && !f.isIntrinsic() && takes_half(f))
			missing.push_back(&f);
	for (Function *f : missing) {
		StringRef name = f->getName();
		unsigned length;

		if (!name.consume_front("_Z") || name.consumeInteger(10, length) ||
		    length >= name.size() || is_made_elsewhere(name.take_front(length)))
			continue;
		define_by_float(*f, name.take_front(length), name.drop_front(length));
	}
}

/* LLVM would call __truncdfhf2(), or convert 64 bits element by element. */
static Value *lower_cast(CastInst &cast)
{
	IRBuilder<> b(&cast);
	Value *x = cast.getOperand(0);
	Type *from = x->getType(), *to = cast.getType();

	switch (cast.getOpcode()) {
	case Instruction::FPTrunc:
		return is_half(to) && from->getScalarType()->isDoubleTy() ?
			round_to_half(b, x, "") : nullptr;
	case Instruction::SIToFP:
	case Instruction::UIToFP:
		if (!is_half(to))
			return nullptr;
		return b.CreateFPTrunc(b.CreateCast(cast.getOpcode(), x, float_type(to)), to);
	case Instruction::FPToSI:
	case Instruction::FPToUI:
		if (!is_half(from))
			return nullptr;
		return b.CreateCast(cast.getOpcode(), b.CreateFPExt(x, float_type(from)), to);
	default:
		return nullptr;
	}
}

/*
 * What LLVM narrows to half again, where it finds that the arguments are halves: the code generator
 * would call functions of libm for some of it.
 */
static Value *widen_intrinsic(IntrinsicInst &call)
{
	IRBuilder<> b(&call);
	SmallVector<Value *, 3> args;
	Type *wide = float_type(call.getType());

	switch (call.getIntrinsicID()) {
	case Intrinsic::minnum: case Intrinsic::maxnum:
	case Intrinsic::minimum: case Intrinsic::maximum:
	case Intrinsic::floor: case Intrinsic::ceil: case Intrinsic::trunc:
	case Intrinsic::rint: case Intrinsic::nearbyint:
	case Intrinsic::round: case Intrinsic::roundeven:
	case Intrinsic::sqrt: case Intrinsic::fmuladd:
		break;
	default:
		return nullptr;
	}
	if (!is_half(call.getType()))
		return nullptr;
	for (Value *arg : call.args())
		args.push_back(b.CreateFPExt(arg, wide));
	return b.CreateFPTrunc(b.CreateIntrinsic(call.getIntrinsicID(), { wide }, args),
			       call.getType());
}

/*
 * The code generator compares halves of vectors element by element, and calls fminf() or fmaxf()
 * where the smaller or the larger of two halves is chosen.
 */
static Value *widen_compare(FCmpInst &compare)
{
	IRBuilder<> b(&compare);
	Type *type = compare.getOperand(0)->getType();

	if (!is_half(type))
		return nullptr;
	return b.CreateFCmp(compare.getPredicate(),
			    b.CreateFPExt(compare.getOperand(0), float_type(type)),
			    b.CreateFPExt(compare.getOperand(1), float_type(type)));
}

void lower_half(Module &m)
{
	for (Function &f : m)
		for (Instruction &inst : make_early_inc_range(instructions(f))) {
			auto *cast = dyn_cast<CastInst>(&inst);
			auto *call = dyn_cast<IntrinsicInst>(&inst);
			auto *compare = dyn_cast<FCmpInst>(&inst);
			Value *made = cast ? lower_cast(*cast) :
				      call ? widen_intrinsic(*call) :
				      compare ? widen_compare(*compare) : nullptr;

			if (!made)
				continue;
			inst.replaceAllUsesWith(made);
			inst.eraseFromParent();
		}
}
