// SPDX-License-Identifier: MIT
/*
 * common_stores.cc - one store where both ways of a branch end in one to the same address
 *
 * Lanes would store under a mask twice:
 *
 *	if (c)	a[x] = v		if (c)	s = v
 *	else	a[x] = w		else	s = w
 *					a[x] = s
 *
 * LLVM does so where nothing else leads to what follows, which a branch around both is.
 */
#include "salvo_cc.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

using namespace llvm;

/* The last access of @block if that is a plain store, behind which nothing can observe it */
static StoreInst *last_store(BasicBlock &block)
{
	for (Instruction &inst : reverse(block)) {
		auto *store = dyn_cast<StoreInst>(&inst);

		if (store && store->isSimple())
			return store;
		if (inst.mayReadOrWriteMemory() || isa<PHINode>(inst) ||
		    !isGuaranteedToTransferExecutionToSuccessor(&inst))
			return nullptr;
	}
	return nullptr;
}

/* The block that both ways of @branch lead to, after a block of each's own, or NULL */
static BasicBlock *join_of(const BranchInst &branch)
{
	BasicBlock *one = branch.getSuccessor(0), *other = branch.getSuccessor(1);

	return one != other && one->getSinglePredecessor() && other->getSinglePredecessor() &&
	       one->getSingleSuccessor() == other->getSingleSuccessor() ?
		one->getSingleSuccessor() : nullptr;
}

/* Operations of an address, one of another */
static const unsigned max_depth = 6;

/* Are @v and @w of @way and @other_way the same, computed from what was there before the branch? */
static bool is_same(const Value *v, const Value *w, const BasicBlock *way,
		    const BasicBlock *other_way, unsigned depth)
{
	auto *inst = dyn_cast<Instruction>(v), *other = dyn_cast<Instruction>(w);

	if (v == w)
		return !inst || inst->getParent() != way;
	if (!inst || !other || !depth || inst->getParent() != way ||
	    other->getParent() != other_way || !inst->isSameOperationAs(other) ||
	    isa<PHINode>(inst) || inst->mayReadOrWriteMemory() ||
	    !isSafeToSpeculativelyExecute(inst))
		return false;
	for (unsigned i = 0; i < inst->getNumOperands(); i++)
		if (!is_same(inst->getOperand(i), other->getOperand(i), way, other_way, depth - 1))
			return false;
	return true;
}

/*
 * Moves what @v is computed from in @way before @branch, also for @w, which is the same on the
 * other way.
 */
static void hoist(Value *v, Value *w, const BasicBlock *way, BranchInst &branch)
{
	auto *inst = dyn_cast<Instruction>(v);

	if (!inst || inst->getParent() != way)
		return;
	auto *other = cast<Instruction>(w);
	for (unsigned i = 0; i < inst->getNumOperands(); i++)
		hoist(inst->getOperand(i), other->getOperand(i), way, branch);
	inst->andIRFlags(other);
	inst->moveBefore(&branch);
	/* The next stores' addresses are computed from the same. */
	other->replaceAllUsesWith(inst);
	other->eraseFromParent();
}

static void merge(StoreInst &one, StoreInst &other, BasicBlock *join)
{
	BasicBlock *ways[] = { one.getParent(), other.getParent() };

	if (join->hasNPredecessorsOrMore(3))
		join = SplitBlockPredecessors(join, ways, ".stores");
	Value *value = one.getValueOperand();
	if (value != other.getValueOperand()) {
		PHINode *phi = PHINode::Create(value->getType(), 2, "", join->begin());

		phi->addIncoming(value, ways[0]);
		phi->addIncoming(other.getValueOperand(), ways[1]);
		value = phi;
	}
	one.moveBefore(*join, join->getFirstInsertionPt());
	one.setOperand(0, value);
	one.setAlignment(std::min(one.getAlign(), other.getAlign()));
	one.setAAMetadata(one.getAAMetadata().merge(other.getAAMetadata()));
	one.applyMergedLocation(one.getDebugLoc(), other.getDebugLoc());
	other.eraseFromParent();
}

/* Are the last accesses on both ways stores to the same address, of the same type? */
static bool find_stores(const BranchInst &branch, StoreInst *&one, StoreInst *&other)
{
	one = last_store(*branch.getSuccessor(0));
	other = one ? last_store(*branch.getSuccessor(1)) : nullptr;
	return other && one->getValueOperand()->getType() == other->getValueOperand()->getType() &&
	       is_same(one->getPointerOperand(), other->getPointerOperand(), one->getParent(),
		       other->getParent(), max_depth);
}

bool merge_common_stores(Function &f)
{
	SmallVector<BranchInst *> branches;
	bool changed = false;

	for (BasicBlock &block : f)
		if (auto *branch = dyn_cast<BranchInst>(block.getTerminator()))
			if (branch->isConditional())
				branches.push_back(branch);
	for (BranchInst *branch : reverse(branches)) {
		StoreInst *one, *other;

		for (BasicBlock *join = join_of(*branch); join && find_stores(*branch, one, other);
		     join = join_of(*branch)) {
			hoist(one->getPointerOperand(), other->getPointerOperand(),
			      one->getParent(), *branch);
			merge(*one, *other, join);
			changed = true;
		}
	}
	return changed;
}
