// SPDX-License-Identifier: MIT
/*
 * flatten.cc - inlines functions into the kernels that call them
 *
 * A function that asks for its work-item's ids, waits at a barrier or uses static local
 * memory needs the context of its kernel. Inlined, it has it; so is every function
 * that is not large, because the vectoriser sees through no call. A large one
 * without need of context stays a function, or a few of them called from many
 * places would make kernels of millions of instructions. So do the library's functions
 * whose names say so.
 *
 * OpenCL C forbids recursion and function pointers, so this always ends; recursion
 * is looked for first. A kernel that another kernel calls is inlined from a copy:
 * it keeps its own entry for the host.
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

/* Instructions of a function and of all that it calls; more than that is large. */
static const uint64_t large = 3000;

struct shape {
	uint64_t size = 0;
	bool needs_context = false;
};

/* Each function is measured once, after those that it calls. */
static shape measure(Function &f, DenseMap<Function *, shape> &known)
{
	auto found = known.find(&f);
	shape result;

	if (found != known.end())
		return found->second;
	for (Instruction &inst : instructions(f)) {
		auto *call = dyn_cast<CallBase>(&inst);
		Function *callee = call ? call->getCalledFunction() : nullptr;

		result.size++;
		for (Value *operand : inst.operands())
			if (auto *c = dyn_cast<Constant>(operand))
				result.needs_context |= c->getType()->isPointerTy() &&
					c->getType()->getPointerAddressSpace() == LOCAL &&
					!c->isNullValue();
		if (!callee || callee->isIntrinsic())
			continue;
		if (callee->isDeclaration()) {
			result.needs_context = true;
			continue;
		}
		shape inner = measure(*callee, known);
		result.size += inner.size;
		result.needs_context |= inner.needs_context;
	}
	known[&f] = result;
	return result;
}

static bool is_outline(const Function &f)
{
	return f.getName().starts_with("salvo_outline");
}

void flatten_calls(Module &m)
{
	DenseMap<Function *, shape> known;
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
		shape seen = measure(f, known);
		if (!seen.needs_context && (seen.size > large || is_outline(f)))
			continue;
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
