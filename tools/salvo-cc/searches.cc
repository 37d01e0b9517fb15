// SPDX-License-Identifier: MIT
/*
 * searches.cc - branches for the choices of a search
 *
 * What the next iteration of a search loads depends on what this one did. If a conditional move
 * makes the choice, each load waits for the one before. Behind a branch the processor goes on with
 * the load that it predicts, which brings the line from memory even where it is wrong.
 *
 *	low = a[mid] < key ? mid + 1 : low		if (a[mid] < key)
 *								low = mid + 1
 *
 *	i += a[i] <= b[j]				if (a[i] <= b[j])
 *								i++
 *
 * A step to the next element, or none, waits for a load that is in the cache most likely. Intel's
 * processors from Sapphire Rapids on lose more by a branch that they predict wrongly every other
 * time, as in the merge of two lists: with --tune sapphirerapids there is none. Other choices stay
 * selects (tune_llvm()).
 */
#include "salvo_cc.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

using namespace llvm;

/* Operations between what a search remembers and the address that it loads from */
static const unsigned max_depth = 6;

/* Does @v depend on one of @phis, by arithmetic in @loop? */
static bool depends_on(const Value *v, ArrayRef<const PHINode *> phis, const Loop &loop,
		       unsigned depth)
{
	auto *inst = dyn_cast<Instruction>(v);

	if (!inst || !loop.contains(inst) || !depth)
		return false;
	if (auto *phi = dyn_cast<PHINode>(inst))
		return is_contained(phis, phi);
	return !inst->mayReadOrWriteMemory() &&
	       any_of(inst->operands(), [&](const Value *operand) {
		       return depends_on(operand, phis, loop, depth - 1);
	       });
}

/* The phis of the header of @loop that take @value, or a sum with it, to the next iteration */
static SmallVector<const PHINode *> next_values(const Instruction &value, const Loop &loop)
{
	SmallVector<const PHINode *> phis;
	SmallVector<const Value *> reached = { &value };

	for (unsigned i = 0; i < reached.size() && i < max_depth; i++)
		for (const User *user : reached[i]->users()) {
			auto *phi = dyn_cast<PHINode>(user);

			if (phi && phi->getParent() == loop.getHeader())
				phis.push_back(phi);
			else if (phi || isa<SelectInst>(user) || isa<BinaryOperator>(user))
				reached.push_back(user);
		}
	return phis;
}

/* Is @value, a select or a condition as a number, such a choice? */
static bool is_choice(const Instruction &value, const Loop &loop, const options &opts)
{
	const bool is_step = isa<ZExtInst>(value) || isa<SExtInst>(value);
	const bool chooses = isa<SelectInst>(value) || (is_step && !opts.sapphire_rapids);
	auto *compare = chooses ? dyn_cast<CmpInst>(value.getOperand(0)) : nullptr;

	if (!compare || value.getType()->isVectorTy() || compare->getType()->isVectorTy())
		return false;
	const SmallVector<const PHINode *> phis = next_values(value, loop);
	return any_of(compare->operands(), [&](const Value *operand) {
		auto *load = dyn_cast<LoadInst>(operand);

		return load && loop.contains(load) &&
		       depends_on(load->getPointerOperand(), phis, loop, max_depth);
	});
}

/*
 * Makes a branch of the first of @choices and those behind it with the same condition. To branch on
 * an undefined value is undefined, to select by it is not.
 */
static void branch(SmallVectorImpl<SelectInst *> &choices)
{
	SelectInst *first = choices.front();
	auto *condition = cast<CmpInst>(first->getCondition());
	IRBuilder<> b(first);
	Value *defined = b.CreateCmp(condition->getPredicate(),
				     b.CreateFreeze(condition->getOperand(0)),
				     b.CreateFreeze(condition->getOperand(1)));
	Instruction *then = SplitBlockAndInsertIfThen(defined, first, false);
	BasicBlock *way = then->getParent(), *before = way->getSinglePredecessor();
	BasicBlock *join = first->getParent();
	auto is_behind = [&](const Value *v) {
		auto *inst = dyn_cast<Instruction>(v);

		return inst && inst->getParent() == join;
	};

	erase_if(choices, [&](SelectInst *select) {
		if (select->getCondition() != condition || select->getParent() != join ||
		    (select != first && (is_behind(select->getTrueValue()) ||
					 is_behind(select->getFalseValue()))))
			return false;
		PHINode *phi = PHINode::Create(select->getType(), 2, "", join->begin());
		phi->addIncoming(select->getTrueValue(), way);
		phi->addIncoming(select->getFalseValue(), before);
		select->replaceAllUsesWith(phi);
		phi->takeName(select);
		select->eraseFromParent();
		return true;
	});
}

/* @value as a select */
static SelectInst *select_of(Instruction &value)
{
	if (auto *select = dyn_cast<SelectInst>(&value))
		return select;
	auto *yes = ConstantInt::getSigned(value.getType(), isa<ZExtInst>(value) ? 1 : -1);
	auto *no = ConstantInt::get(value.getType(), 0);
	auto *select =
		SelectInst::Create(value.getOperand(0), yes, no, "", value.getIterator());

	select->setDebugLoc(value.getDebugLoc());
	value.replaceAllUsesWith(select);
	value.eraseFromParent();
	return select;
}

void branch_searches(Module &m, const options &opts)
{
	for (Function &f : m) {
		SmallVector<Instruction *> found;
		SmallVector<SelectInst *> choices;

		if (f.isDeclaration())
			continue;
		const DominatorTree dt(f);
		const LoopInfo loops(dt);
		for (Instruction &inst : instructions(f)) {
			const Loop *loop = loops.getLoopFor(inst.getParent());

			if (loop && is_choice(inst, *loop, opts))
				found.push_back(&inst);
		}
		for (Instruction *value : found)
			choices.push_back(select_of(*value));
		while (!choices.empty())
			branch(choices);
	}
}
