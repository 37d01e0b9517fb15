// SPDX-License-Identifier: MIT
/*
 * opaque.cc - lowers images, samplers and events to plain types
 *
 * clang gives them target extension types, target("spirv.Image", ...) and so on. In every
 * function they are replaced:
 *
 *	image	a pointer to its struct salvo_image_view, which lies among the arguments
 *	sampler	its 32 bits
 *	event	32 bits without a meaning
 *
 * The library's image functions get at them through salvo_image() and salvo_sampler(),
 * which are the identity from then on. Runs after linking and before inlining.
 */
#include "salvo_cc.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

using namespace llvm;

class plain_types : public ValueMapTypeRemapper {
public:
	Type *remapType(Type *type) override
	{
		LLVMContext &context = type->getContext();

		if (auto *opaque = dyn_cast<TargetExtType>(type))
			return opaque->getName() == "spirv.Image" ?
				(Type *)PointerType::get(context, CONSTANT) :
				(Type *)Type::getInt32Ty(context);
		if (auto *array = dyn_cast<ArrayType>(type))
			return ArrayType::get(remapType(array->getElementType()),
					      array->getNumElements());
		if (auto *function = dyn_cast<FunctionType>(type)) {
			SmallVector<Type *> params;
			for (Type *param : function->params())
				params.push_back(remapType(param));
			return FunctionType::get(remapType(function->getReturnType()), params,
						 function->isVarArg());
		}
		return type;
	}
};

static bool is_identity(const Function &f)
{
	return f.getName() == "__translate_sampler_initializer" ||
	       f.getName().starts_with("_Z11salvo_image") ||
	       f.getName().starts_with("_Z13salvo_sampler");
}

void lower_opaque_types(Module &m)
{
	ValueToValueMapTy map;
	plain_types types;
	SmallVector<Function *> old, identities;
	SmallVector<CallInst *> calls;

	for (Function &f : m)
		if (types.remapType(f.getFunctionType()) != f.getFunctionType())
			old.push_back(&f);
	if (old.empty())
		return;
	for (Function *f : old) {
		auto *type = cast<FunctionType>(types.remapType(f->getFunctionType()));
		Function *plain = retype(*f, type);

		for (Argument &arg : f->args())
			map[&arg] = plain->getArg(arg.getArgNo());
		map[f] = plain;
	}
	for (Function &f : m)
		if (!f.isDeclaration())
			RemapFunction(f, map, RF_IgnoreMissingLocals | RF_ReuseAndMutateDistinctMDs,
				      &types);
	for (Function *f : old)
		f->eraseFromParent();

	for (Function &f : m)
		if (is_identity(f))
			for (User *user : f.users())
				if (auto *call = dyn_cast<CallInst>(user))
					calls.push_back(call);
	for (CallInst *call : calls) {
		call->replaceAllUsesWith(call->getArgOperand(0));
		call->eraseFromParent();
	}
}
