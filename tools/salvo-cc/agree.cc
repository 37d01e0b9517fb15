// SPDX-License-Identifier: MIT
/*
 * agree.cc - conditions on which all work-items of a group must agree
 *
 * OpenCL requires that all work-items of a group reach a barrier or none, so those that come to a
 * branch whose ways lead to different barriers take the same way, whether or not the compiler can
 * see that:
 *
 *	if (row < rows) {	row is the same for all work-items of a group
 *		...
 *		barrier();
 *	}
 *
 * The condition of such a branch goes through a function "salvo.agreed". To uniformity analysis
 * its result is uniform, so that neither code that depends on the branch has masks nor values
 * that depend on it are carried over barriers for each work-item. The vectoriser compares the
 * lanes, and where they differ ends the region with a value of its own (disagreed). Rows merge what
 * their work-items return, and groups.cc raises a fault if those differ. A work-item alone has
 * nothing to compare, so for it the function returns its argument.
 */
#include "agree.h"

using namespace llvm;

static const char name[] = "salvo.agreed";

bool is_agreement(const Instruction &inst)
{
	auto *call = dyn_cast<CallInst>(&inst);
	const Function *callee = call ? call->getCalledFunction() : nullptr;

	return callee && callee->getName() == name;
}

void agree(BranchInst &branch)
{
	IRBuilder<> b(&branch);
	FunctionType *type = FunctionType::get(b.getInt1Ty(), { b.getInt1Ty() }, false);
	auto *f = cast<Function>(branch.getModule()->getOrInsertFunction(name, type).getCallee());

	/* Not speculatable: where no lane is active the lanes have nothing to agree on. */
	f->setDoesNotAccessMemory();
	f->setDoesNotThrow();
	f->setWillReturn();
	branch.setCondition(b.CreateCall(f, { branch.getCondition() }, "agreed"));
}

void lower_agreements(Module &m)
{
	Function *f = m.getFunction(name);

	if (!f)
		return;
	while (!f->use_empty()) {
		auto *call = cast<CallInst>(f->user_back());

		call->replaceAllUsesWith(call->getArgOperand(0));
		call->eraseFromParent();
	}
	f->eraseFromParent();
}
