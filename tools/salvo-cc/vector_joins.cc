// SPDX-License-Identifier: MIT
/*
 * vector_joins.cc - loads of what differs between the ways to a block
 *
 * Where ways meet that all end in a load, LLVM makes it one load from an address that depends on
 * the way. Lanes that come on different ways would gather. If each way's address is that of
 * neighbours, or of one element, the way loads again, under its mask:
 *
 *	if (x == 0)	p = left + y		if (x == 0)	v = left[y]
 *	else		p = row + x - 1		else		v = row[x - 1]
 *	v = *p
 */
#include "items.h"
#include "vectoriser.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Local.h>

using namespace llvm;

/* Does each way to the block of @load come to it, with the memory that was there at its end? */
static bool runs_first(const LoadInst &load)
{
	for (const Instruction &inst : *load.getParent()) {
		if (&inst == &load)
			return true;
		if (inst.mayWriteToMemory() || !isGuaranteedToTransferExecutionToSuccessor(&inst))
			return false;
	}
	return false;
}

/* Are lanes that all come on this way neighbours, or do they load the same? */
bool vectoriser::loads_at_once(Value *address, const LoadInst &load) const
{
	return shape_of(address).kind == shape::UNIFORM ||
	       (is_contiguous(address, load.getType()) &&
		target.isLegalMaskedLoad(widen(load.getType()), load.getAlign()));
}

/* Would @load gather from addresses that each way alone loads from at once? */
bool vectoriser::gains_from_ways(LoadInst &load)
{
	Value *address = load.getPointerOperand();
	const BasicBlock *block = load.getParent();
	const Loop *loop = loops.getLoopFor(block);

	if (!load.isSimple() || shape_of(address).kind != shape::VARYING)
		return false;
	if (auto *select = dyn_cast<SelectInst>(address))
		return loads_at_once(select->getTrueValue(), load) &&
		       loads_at_once(select->getFalseValue(), load);
	auto *phi = dyn_cast<PHINode>(address);
	return phi && phi->getParent() == block && !loops.isLoopHeader(block) &&
	       all_of(phi->blocks(), [&](BasicBlock *from) {
		       return loops.getLoopFor(from) == loop &&
			      count(successors(from), block) == 1;
	       }) &&
	       all_of(phi->incoming_values(), [&](Value *way) {
		       return loads_at_once(way, load);
	       }) && runs_first(load);
}

static Value *load_from(Value *address, const LoadInst &load, BasicBlock *way)
{
	Instruction *made = load.clone();

	made->setOperand(LoadInst::getPointerOperandIndex(), address);
	made->insertBefore(way->getTerminator()->getIterator());
	return made;
}

/* To branch on an undefined value is undefined, to select by it is not. */
static PHINode *load_on_ways(LoadInst &load, SelectInst &select)
{
	Instruction *yes, *no;
	IRBuilder<> b(&load);
	Value *condition = b.CreateFreeze(select.getCondition());

	SplitBlockAndInsertIfThenElse(condition, &load, &yes, &no);
	PHINode *all = PHINode::Create(load.getType(), 2, "", load.getIterator());
	all->addIncoming(load_from(select.getTrueValue(), load, yes->getParent()),
			 yes->getParent());
	all->addIncoming(load_from(select.getFalseValue(), load, no->getParent()),
			 no->getParent());
	return all;
}

static PHINode *load_on_ways(LoadInst &load, PHINode &address)
{
	const unsigned ways = address.getNumIncomingValues();
	BasicBlock *block = load.getParent();

	for (unsigned i = 0; i < ways; i++)
		if (!address.getIncomingBlock(i)->getSingleSuccessor())
			SplitEdge(address.getIncomingBlock(i), block);
	PHINode *all = PHINode::Create(load.getType(), ways, "", block->begin());
	for (unsigned i = 0; i < ways; i++) {
		BasicBlock *from = address.getIncomingBlock(i);

		all->addIncoming(load_from(address.getIncomingValue(i), load, from), from);
	}
	return all;
}

void vectoriser::load_on_ways()
{
	SmallVector<LoadInst *> found;
	auto has_ways = [](const Instruction &inst) {
		auto *load = dyn_cast<LoadInst>(&inst);

		return load && (isa<PHINode>(load->getPointerOperand()) ||
				isa<SelectInst>(load->getPointerOperand()));
	};

	if (none_of(instructions(item), has_ways) || !prepare())
		return;
	for (Instruction &inst : instructions(item))
		if (auto *load = dyn_cast<LoadInst>(&inst))
			if (gains_from_ways(*load))
				found.push_back(load);
	for (LoadInst *load : found) {
		auto *address = cast<Instruction>(load->getPointerOperand());
		auto *select = dyn_cast<SelectInst>(address);
		PHINode *all = select ? ::load_on_ways(*load, *select) :
					::load_on_ways(*load, *cast<PHINode>(address));

		all->takeName(load);
		load->replaceAllUsesWith(all);
		load->eraseFromParent();
		RecursivelyDeleteTriviallyDeadInstructions(address);
	}
}

void load_on_ways(Function &item, Argument &x, unsigned lanes, TargetMachine &target)
{
	const TargetTransformInfo costs = target.getTargetTransformInfo(item);

	vectoriser(item, x, lanes, costs).load_on_ways();
}
