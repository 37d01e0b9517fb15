// SPDX-License-Identifier: MIT
/*
 * ways.cc - regions that all work-items of a group leave on one way
 *
 * The region behind a barrier in a loop is what is left of the iteration, and then the next one up
 * to its barrier or all that follows the loop. Which of both is known before a work-item runs:
 *
 *	for (s = n / 2; s > 0; s /= 2) {	s /= 2
 *		if (x < s) ...			if (s > 0)
 *		barrier();				if (x < s) ...		1st way
 *	}					else
 *	if (x == 0) ...					if (x == 0) ...		2nd way
 *
 * Each way becomes a function of its own, in which a guard of x keeps work-items from all that is
 * to be done, so that they are not run (interior.cc). Values that are the same for all of them, as
 * s, are then stored once, by a function that is the way of work-items with nothing to do.
 */
#include "ways.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/Cloning.h>

using namespace llvm;

static const unsigned max_depth = 12;

/* Ends of a region: what it returns there, NULL for what is not a constant */
using end_set = SmallPtrSet<const Value *, 4>;

static const char common[] = "salvo-common";

void mark_common(Argument &variable)
{
	variable.addAttr(Attribute::get(variable.getContext(), common));
}

bool is_common_store(const Instruction &inst)
{
	auto *store = dyn_cast<StoreInst>(&inst);
	auto *variable = store ? dyn_cast<Argument>(store->getPointerOperand()) : nullptr;

	return variable && variable->getParent()->getAttributes().hasParamAttr(
				   variable->getArgNo(), common);
}

/* Is it the same for all work-items, and computed from arguments without side effects? */
static bool is_known(const items &of, const Value *v, unsigned depth)
{
	auto *inst = dyn_cast<Instruction>(v);
	auto *arg = dyn_cast<Argument>(v);

	if (arg)
		return !of.is_of_item(*arg);
	if (!inst)
		return isa<Constant>(v);
	return depth && !isa<PHINode>(inst) && !isa<AllocaInst>(inst) && !isa<FreezeInst>(inst) &&
	       !inst->mayReadOrWriteMemory() && isSafeToSpeculativelyExecute(inst) &&
	       all_of(inst->operands(), [&](const Use &operand) {
		       return isa<Function>(operand) || is_known(of, operand, depth - 1);
	       });
}

static end_set ends_behind(const BasicBlock *from, const BasicBlock *block)
{
	SmallSetVector<const BasicBlock *, 16> seen;
	end_set ends;
	auto come = [&](const BasicBlock *before, const BasicBlock *next) {
		auto *ret = dyn_cast<ReturnInst>(next->getTerminator());
		const Value *way = ret ? ret->getReturnValue() : nullptr;
		auto *phi = dyn_cast_or_null<PHINode>(way);

		if (phi && phi->getParent() == next)
			way = phi->getIncomingValueForBlock(before);
		if (ret)
			ends.insert(dyn_cast_or_null<ConstantInt>(way));
		else
			seen.insert(next);
	};

	come(from, block);
	for (unsigned i = 0; i < seen.size(); i++)
		for (const BasicBlock *next : successors(seen[i]))
			come(seen[i], next);
	return ends;
}

BranchInst *find_ways(const items &of, Function &f)
{
	for (BasicBlock &block : f) {
		auto *branch = dyn_cast<BranchInst>(block.getTerminator());

		if (!branch || !branch->isConditional() ||
		    isa<Constant>(branch->getCondition()) ||
		    !is_known(of, branch->getCondition(), max_depth))
			continue;
		const end_set left = ends_behind(&block, branch->getSuccessor(0));
		const end_set right = ends_behind(&block, branch->getSuccessor(1));
		if (left != right)
			return branch;
	}
	return nullptr;
}

static Value *evaluate(IRBuilder<> &b, Value *v, ArrayRef<Value *> args,
		       DenseMap<Value *, Value *> &known)
{
	auto *inst = dyn_cast<Instruction>(v);

	if (auto *arg = dyn_cast<Argument>(v))
		return args[arg->getArgNo()];
	if (!inst)
		return v;
	if (Value *done = known.lookup(v))
		return done;
	Instruction *copy = inst->clone();
	for (unsigned i = 0; i < inst->getNumOperands(); i++)
		copy->setOperand(i, evaluate(b, inst->getOperand(i), args, known));
	copy->dropPoisonGeneratingFlags();
	return known[v] = b.Insert(copy);
}

Value *evaluate_way(IRBuilder<> &b, const BranchInst &branch, ArrayRef<Value *> args)
{
	DenseMap<Value *, Value *> known;

	/* It may be poison where no work-item comes to the branch. */
	return b.CreateFreeze(evaluate(b, branch.getCondition(), args, known));
}

Function *take_way(BranchInst &branch, bool first, TargetMachine &target)
{
	ValueToValueMapTy map;
	Function *copy = CloneFunction(branch.getFunction(), map);

	cast<BranchInst>(map[&branch])->setCondition(ConstantInt::getBool(branch.getContext(),
									   first));
	tidy(*copy, target);
	return copy;
}

ConstantInt *only_way(const Function &f)
{
	ConstantInt *only = nullptr;

	for (const BasicBlock &block : f) {
		auto *ret = dyn_cast<ReturnInst>(block.getTerminator());
		auto *way = ret ? dyn_cast_or_null<ConstantInt>(ret->getReturnValue()) : nullptr;

		if (ret && (!way || (only && only != way)))
			return nullptr;
		if (ret)
			only = way;
	}
	return only;
}
