// SPDX-License-Identifier: MIT
/*
 * common_stores.cc - one store where all ways of a branch end in one to the same address
 *
 * Lanes would store under a mask twice:
 *
 *	if (c)	a[x] = v		if (c)	s = v
 *	else	a[x] = w		else	s = w
 *					a[x] = s
 *
 * LLVM does so where nothing else leads to what follows, which a branch around both is. Ways
 * may branch again, as those of "else if" and "||", and those of a switch do.
 */
#include "salvo_cc.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/DomTreeUpdater.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
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

/* Operations of an address, one of another */
static const unsigned max_depth = 6;

/* Is @v there before @branch? */
static bool is_before(const Value *v, const Instruction &branch, const DominatorTree &tree)
{
	auto *inst = dyn_cast<Instruction>(v);

	return !inst || tree.dominates(inst, &branch);
}

/* Are @v and @w the same, computed from what is there before @branch? */
static bool is_same(const Value *v, const Value *w, const Instruction &branch,
		    const DominatorTree &tree, unsigned depth)
{
	auto *inst = dyn_cast<Instruction>(v), *other = dyn_cast<Instruction>(w);

	if (v == w)
		return is_before(v, branch, tree);
	if (!inst || !other || !depth || is_before(v, branch, tree) || is_before(w, branch, tree) ||
	    !inst->isSameOperationAs(other) || isa<PHINode>(inst) || inst->mayReadOrWriteMemory() ||
	    !isSafeToSpeculativelyExecute(inst))
		return false;
	for (unsigned i = 0; i < inst->getNumOperands(); i++)
		if (!is_same(inst->getOperand(i), other->getOperand(i), branch, tree, depth - 1))
			return false;
	return true;
}

/* Moves what @v is computed from before @branch, also for @w, which is the same on another way. */
static void hoist(Value *v, Value *w, Instruction &branch, const DominatorTree &tree)
{
	auto *inst = dyn_cast<Instruction>(v), *other = dyn_cast<Instruction>(w);

	if (!inst || inst == other)
		return;
	for (unsigned i = 0; i < inst->getNumOperands(); i++)
		hoist(inst->getOperand(i), other->getOperand(i), branch, tree);
	inst->andIRFlags(other);
	if (!is_before(inst, branch, tree))
		inst->moveBefore(&branch);
	/* The next stores' addresses are computed from the same. */
	other->replaceAllUsesWith(inst);
	other->eraseFromParent();
}

/* Makes one store of @stores, before @join, to which the blocks of all lead. */
static void merge(ArrayRef<StoreInst *> stores, BasicBlock *join, DomTreeUpdater &trees)
{
	SmallVector<BasicBlock *> ways;
	StoreInst *one = stores[0];
	Value *value = one->getValueOperand();

	for (StoreInst *store : stores)
		ways.push_back(store->getParent());
	if (join->hasNPredecessorsOrMore(ways.size() + 1))
		join = SplitBlockPredecessors(join, ways, ".stores", &trees);
	if (any_of(stores, [&](StoreInst *store) { return store->getValueOperand() != value; })) {
		PHINode *phi = PHINode::Create(value->getType(), ways.size(), "", join->begin());

		for (StoreInst *store : stores)
			phi->addIncoming(store->getValueOperand(), store->getParent());
		value = phi;
	}
	one->moveBefore(*join, join->getFirstInsertionPt());
	one->setOperand(0, value);
	for (StoreInst *store : stores.drop_front()) {
		one->setAlignment(std::min(one->getAlign(), store->getAlign()));
		one->setAAMetadata(one->getAAMetadata().merge(store->getAAMetadata()));
		one->applyMergedLocation(one->getDebugLoc(), store->getDebugLoc());
		store->eraseFromParent();
	}
}

/*
 * Are the last accesses on all ways from @branch to @join stores to the same address, of the same
 * type, and are there several?
 */
static bool find_stores(const Instruction &branch, BasicBlock *join, const DominatorTree &tree,
			SmallVectorImpl<StoreInst *> &stores)
{
	stores.clear();
	for (BasicBlock *way : predecessors(join)) {
		StoreInst *store;

		if (!tree.dominates(branch.getParent(), way))
			continue;
		store = way->getTerminator()->getNumSuccessors() == 1 ? last_store(*way) : nullptr;
		if (!store)
			return false;
		if (!stores.empty() &&
		    (store->getValueOperand()->getType() !=
			     stores[0]->getValueOperand()->getType() ||
		     !is_same(stores[0]->getPointerOperand(), store->getPointerOperand(), branch,
			      tree, max_depth)))
			return false;
		stores.push_back(store);
	}
	return stores.size() > 1;
}

/* The next block that all ways from @branch lead to, or NULL */
static BasicBlock *join_of(const Instruction &branch, const PostDominatorTree &tree)
{
	auto *node = tree.getNode(branch.getParent());

	return node && node->getIDom() ? node->getIDom()->getBlock() : nullptr;
}

bool merge_common_stores(Function &f)
{
	DominatorTree tree(f);
	PostDominatorTree after(f);
	DomTreeUpdater trees(tree, after, DomTreeUpdater::UpdateStrategy::Eager);
	SmallVector<Instruction *> branches;
	SmallVector<StoreInst *> stores;
	bool changed = false;

	/* Branches within the ways of another come before it. */
	for (auto *node : post_order(&tree))
		if (node->getBlock()->getTerminator()->getNumSuccessors() > 1)
			branches.push_back(node->getBlock()->getTerminator());
	for (Instruction *branch : branches) {
		BasicBlock *join;

		while ((join = join_of(*branch, after)) &&
		       find_stores(*branch, join, tree, stores)) {
			for (StoreInst *store : drop_begin(stores))
				hoist(stores[0]->getPointerOperand(), store->getPointerOperand(),
				      *branch, tree);
			merge(stores, join, trees);
			changed = true;
		}
	}
	return changed;
}
