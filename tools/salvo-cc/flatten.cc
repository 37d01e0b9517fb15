// SPDX-License-Identifier: MIT
/*
 * flatten.cc - inlines every function into the kernels that call it
 *
 * A function that asks for its work-item's ids or waits at a barrier needs the
 * context of its kernel. Inlined, it has it. OpenCL C forbids recursion and
 * function pointers, so this always ends; recursion is looked for first.
 *
 * A kernel that another kernel calls is inlined as well, from a copy: it keeps its
 * own entry for the host.
 */
#include "salvo_cc.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/Utils/Cloning.h>

using namespace llvm;

enum visit { NEW, OPEN, DONE };

/* Depth-first over the calls of @f; meeting an open function is recursion. */
static bool check_function(Function &f, DenseMap<Function *, visit> &state)
{
	state[&f] = OPEN;
	for (Instruction &inst : instructions(f)) {
		auto *call = dyn_cast<CallBase>(&inst);
		if (!call || call->isInlineAsm())
			continue;
		Function *callee = call->getCalledFunction();
		if (!callee) {
			print_error_at(call->getDebugLoc(), *f.getParent(),
				       "call through a pointer, which OpenCL C forbids");
			return false;
		}
		visit seen = state.lookup(callee);
		if (seen == OPEN) {
			print_error_at(call->getDebugLoc(), *f.getParent(),
				       "function '" + callee->getName() +
				       "' calls itself; recursion is not allowed in OpenCL C");
			return false;
		}
		if (seen == NEW && !callee->isDeclaration() && !check_function(*callee, state))
			return false;
	}
	state[&f] = DONE;
	return true;
}

bool check_calls(Module &m)
{
	DenseMap<Function *, visit> state;

	for (Function &f : m)
		if (!f.isDeclaration() && state.lookup(&f) == NEW && !check_function(f, state))
			return false;
	return true;
}

static bool is_kernel(const Function &f)
{
	return !f.isDeclaration() && f.getCallingConv() == CallingConv::SPIR_KERNEL;
}

/* Sends calls of kernel @f to a copy of it that is no kernel. */
static void split_called_kernel(Function &f)
{
	SmallVector<CallBase *> calls;

	for (User *user : f.users())
		if (auto *call = dyn_cast<CallBase>(user))
			calls.push_back(call);
	if (calls.empty())
		return;

	ValueToValueMapTy map;
	Function *copy = CloneFunction(&f, map);
	copy->setName(f.getName() + ".inner");
	copy->setCallingConv(CallingConv::SPIR_FUNC);
	for (CallBase *call : calls) {
		call->setCalledFunction(copy);
		call->setCallingConv(CallingConv::SPIR_FUNC);
	}
}

void flatten_calls(Module &m)
{
	SmallVector<Function *> kernels;

	for (Function &f : m)
		if (is_kernel(f))
			kernels.push_back(&f);
	for (Function *f : kernels)
		split_called_kernel(*f);

	for (Function &f : m) {
		if (f.isDeclaration() || is_kernel(f))
			continue;
		f.setLinkage(GlobalValue::InternalLinkage);
		f.removeFnAttr(Attribute::NoInline);
		f.removeFnAttr(Attribute::OptimizeNone);
		f.addFnAttr(Attribute::AlwaysInline);
		for (User *user : f.users())
			if (auto *call = dyn_cast<CallBase>(user))
				call->removeFnAttr(Attribute::NoInline);
	}

	PassBuilder builder;
	ModuleAnalysisManager mam;
	FunctionAnalysisManager fam;
	LoopAnalysisManager lam;
	CGSCCAnalysisManager cgam;
	builder.registerModuleAnalyses(mam);
	builder.registerCGSCCAnalyses(cgam);
	builder.registerFunctionAnalyses(fam);
	builder.registerLoopAnalyses(lam);
	builder.crossRegisterProxies(lam, fam, cgam, mam);

	ModulePassManager passes;
	passes.addPass(AlwaysInlinerPass());
	passes.addPass(GlobalDCEPass());
	passes.run(m, mam);
}
