// SPDX-License-Identifier: MIT
/*
 * scratch.cc - what the library's work-group and sub-group functions need (builtins/collective.cl)
 *
 * OpenCL C has variables in local memory in kernels only, so the library asks for them by
 * salvo_scratch(): an array with an element of the size in its argument for each work-item of the
 * largest work-group, and two more. The functions are inlined, so that lay_out_local() (entry.cc)
 * finds which kernels use which array.
 *
 * Each sub-group function calls salvo_sub_group(), which tells which kernels have sub-groups.
 */
#include "scratch.h"

#include <llvm/IR/Instructions.h>

#include "salvo_hw.h"

using namespace llvm;

GlobalVariable *scratch_array(Module &m, uint64_t element)
{
	const std::string name = "salvo.scratch." + std::to_string(element);

	if (GlobalVariable *known = m.getNamedGlobal(name))
		return known;
	Type *type = ArrayType::get(Type::getIntNTy(m.getContext(), element * 8),
				    SALVO_MAX_GROUP_ITEMS + 2);
	return new GlobalVariable(m, type, false, GlobalValue::InternalLinkage,
				  PoisonValue::get(type), name, nullptr,
				  GlobalValue::NotThreadLocal, LOCAL);
}

void define_scratch(Module &m)
{
	Function *f = m.getFunction("salvo_scratch");

	while (f && !f->use_empty()) {
		auto *call = cast<CallInst>(f->user_back());
		auto *element = cast<ConstantInt>(call->getArgOperand(0));

		call->replaceAllUsesWith(scratch_array(m, element->getZExtValue()));
		call->eraseFromParent();
	}
}

static const char sub_groups[] = "salvo-sub-groups";

void find_sub_groups(Module &m)
{
	Function *f = m.getFunction("salvo_sub_group");

	while (f && !f->use_empty()) {
		auto *call = cast<CallInst>(f->user_back());

		call->getFunction()->addFnAttr(sub_groups);
		call->eraseFromParent();
	}
}

bool has_sub_groups(const Function &kernel)
{
	return kernel.hasFnAttribute(sub_groups);
}
