// SPDX-License-Identifier: MIT
/*
 * common_stores.cc - one store where several ways of a branch end in one to the same address
 *
 * Lanes would store under a mask twice:
 *
 *	if (c)	a[x] = v		if (c)	s = v
 *	else	a[x] = w		else	s = w
 *					a[x] = s
 *
 * LLVM does so where nothing else leads to what follows, which a branch around both is. Ways
 * may branch again, as those of "else if" and "||", and those of a switch do. Others may have no
 * such store, as a switch without a default: those that have one come together before the join,
 * and lanes store once under the mask of all of them.
 */
#include "salvo_cc.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/DomTreeUpdater.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
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

/*
 * The type whose values @value's ways choose between: short vectors of parts of words are words,
 * of which lanes choose one with a mask bit and not one for each part.
 */
static Type *chosen_type(Type *type)
{
	unsigned bits = type->getPrimitiveSizeInBits();

	return type->isVectorTy() && type->getScalarSizeInBits() < bits &&
	       type->getScalarSizeInBits() < 32 && (bits == 32 || bits == 64) ?
		       Type::getIntNTy(type->getContext(), bits) : type;
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
		Type *type = chosen_type(value->getType());
		PHINode *phi = PHINode::Create(type, ways.size(), "", join->begin());

		for (StoreInst *store : stores) {
			IRBuilder<> builder(store);

			phi->addIncoming(builder.CreateBitCast(store->getValueOperand(), type),
					 store->getParent());
		}
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

/* Do both store the same type to the same address, known before @branch? */
static bool is_common(const StoreInst &store, const StoreInst &other, const Instruction &branch,
		      const DominatorTree &tree)
{
	return store.getValueOperand()->getType() == other.getValueOperand()->getType() &&
	       is_same(store.getPointerOperand(), other.getPointerOperand(), branch, tree,
		       max_depth);
}

/*
 * Finds the first of the stores that are the last accesses of ways from @branch to @join whose
 * address several of them have, and these.
 */
static bool find_stores(const Instruction &branch, BasicBlock *join, const DominatorTree &tree,
			SmallVectorImpl<StoreInst *> &stores)
{
	SmallVector<StoreInst *> last;

	for (BasicBlock *way : predecessors(join)) {
		StoreInst *store = nullptr;

		if (way->getSingleSuccessor() && tree.dominates(branch.getParent(), way))
			store = last_store(*way);
		if (store)
			last.push_back(store);
	}
	for (size_t i = 0; i < last.size(); i++) {
		stores.assign(1, last[i]);
		for (StoreInst *other : drop_begin(last, i + 1))
			if (is_common(*last[i], *other, branch, tree))
				stores.push_back(other);
		if (stores.size() > 1)
			return true;
	}
	return false;
}

/* The next block that all ways from @branch lead to, or NULL */
static BasicBlock *join_of(const Instruction &branch, const PostDominatorTree &tree)
{
	auto *node = tree.getNode(branch.getParent());

	return node && node->getIDom() ? node->getIDom()->getBlock() : nullptr;
}

/*
 * Stores that are merged in a function, times its blocks: the trees of a thousand returns are made
 * from scratch for each.
 */
static const uint64_t most_work = 50000;

bool merge_common_stores(Function &f)
{
	DominatorTree tree(f);
	PostDominatorTree after(f);
	DomTreeUpdater trees(tree, after, DomTreeUpdater::UpdateStrategy::Eager);
	SmallVector<Instruction *> branches;
	SmallVector<StoreInst *> stores;
	uint64_t merged = 0;

	/* Branches within the ways of another come before it. */
	for (auto *node : post_order(&tree))
		if (node->getBlock()->getTerminator()->getNumSuccessors() > 1)
			branches.push_back(node->getBlock()->getTerminator());
	for (Instruction *branch : branches) {
		BasicBlock *join;

		while (merged * f.size() <= most_work && (join = join_of(*branch, after)) &&
		       find_stores(*branch, join, tree, stores)) {
			for (StoreInst *store : drop_begin(stores))
				hoist(stores[0]->getPointerOperand(), store->getPointerOperand(),
				      *branch, tree);
			merge(stores, join, trees);
			merged++;
		}
	}
	return merged;
}
