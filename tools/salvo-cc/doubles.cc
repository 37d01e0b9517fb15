// SPDX-License-Identifier: MIT
/*
 * doubles.cc - work-items of doubles that are faster on half of the lanes
 *
 * With AVX-512 the lanes of a register of 32 bits need two registers, and two cache lines, for
 * each double. Code without loops, as the rates of a chemical reaction system, has enough other
 * operations for the processor without that, and gains from one of each:
 *
 *	- where more doubles are live at a time than registers hold, which is spilled. They are
 *	  counted in the order of the source, which the scheduler of LLVM mostly keeps;
 *	- where it loads from many places in global memory. Those that it loads from only to store
 *	  there again do not count: updates in place are faster with two lines at a time.
 */
#include "rows.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

using namespace llvm;

/* Vector registers of AVX-512 */
static const unsigned registers = 32;

/* Doubles that are live at a time from which on pairs of registers are spilled all the time */
static const unsigned most_live = 3 * registers / 4;

/* Places that are loaded from, from which on lines count */
static const unsigned many_loads = 16;

/* The most doubles that are live at a time in @block; of other blocks' those that it uses */
static unsigned count_live(const BasicBlock &block)
{
	SmallPtrSet<const Value *, 32> live;
	unsigned most = 0;

	for (const Instruction &inst : block)
		if (inst.getType()->isDoubleTy() && inst.isUsedOutsideOfBlock(&block))
			live.insert(&inst);
	for (const Instruction &inst : reverse(block)) {
		live.erase(&inst);
		if (isa<PHINode>(inst))
			continue;
		for (const Value *operand : inst.operands())
			if (operand->getType()->isDoubleTy() && isa<Instruction>(operand))
				live.insert(operand);
		most = std::max<unsigned>(most, live.size());
	}
	return most;
}

static bool loads_from_many(const Function &f)
{
	SmallPtrSet<const Value *, 32> loads;
	unsigned updates = 0;

	for (const Instruction &inst : instructions(f)) {
		auto *load = dyn_cast<LoadInst>(&inst);

		if (load && load->getType()->isDoubleTy() &&
		    load->getPointerAddressSpace() == GLOBAL)
			loads.insert(load->getPointerOperand());
	}
	for (const Value *pointer : loads)
		updates += any_of(pointer->users(), [&](const User *user) {
			auto *store = dyn_cast<StoreInst>(user);

			return store && store->getPointerOperand() == pointer;
		});
	return loads.size() >= many_loads && 2 * updates <= loads.size();
}

bool has_doubles(const Function &f)
{
	unsigned doubles = 0, others = 0;

	if (f.getInstructionCount() < registers)
		return false;
	for (const Instruction &inst : instructions(f)) {
		doubles += inst.getType()->isDoubleTy();
		others += inst.getType()->isFPOrFPVectorTy() && !inst.getType()->isDoubleTy();
	}
	return doubles > registers && doubles >= 8 * others;
}

bool gains_from_fewer_lanes(const Function &f)
{
	return !has_loops(f) &&
	       (loads_from_many(f) || any_of(f, [](const BasicBlock &block) {
			return count_live(block) >= most_live;
		}));
}
