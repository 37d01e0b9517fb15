// SPDX-License-Identifier: MIT
/*
 * separate.cc - barriers that kernels leave out because their work-groups run in lockstep
 *
 * Work-items of a GPU's wave run side by side, so all of them have tested the condition of a loop
 * before one of them writes the variable:
 *
 *	while (*next < tasks) {			next: local
 *		...
 *		if (get_local_id(0) == 0)
 *			*next = atomic_inc(taken);
 *		barrier();
 *	}
 *
 * Here a region runs for one work-item (or some lanes) after the other, and the second would test
 * what the first has written, and leave the loop while the first waits at the barrier. The kernel
 * is wrong by the rules of OpenCL, but runs on most GPUs. So a barrier is put in front of the
 * branch that chooses who writes (where all work-items pass) if
 *
 *  - the ways of a branch on what was loaded from an address that is the same for all work-items
 *    lead to different barriers, and
 *  - a write to the same address follows with no barrier in between.
 *
 * Work-items may also clear local memory all alike, each all of it, and then write what is theirs:
 *
 *	for (i = 0; i < SIZE; i++)		buffer: local
 *		buffer[i] = 0;
 *	buffer[get_local_id(0)] = x;
 *	barrier();
 *
 * Here the second would clear what the first has written. So a barrier is put behind such a store
 * (where all work-items pass, out of its loops) if
 *
 *  - all work-items store one value to one address, and
 *  - a write to the same variable or argument that is not of this kind may follow with no barrier
 *    in between: of one that some work-items do not reach, or to an address or of a value that
 *    depends on the work-item, or by an atomic operation. If the first store is not in a loop, its
 *    address is not in one that it fills, and the write must be to the same address.
 *
 * And they may leave out the barriers of iterations in which only one wave has work left:
 *
 *	while (n > 1) {				sums: local
 *		n /= 2;
 *		if (x < n)
 *			sums[x] += sums[x + n];
 *		if (n > 32)
 *			barrier();
 *	}
 *
 * Here the first would do all of these iterations before the second has begun. So a barrier is put
 * at the end of an iteration that may be without one if
 *
 *  - there is one in the loop, and all work-items take part in each iteration, and
 *  - the loop writes local memory, and reads the same variable or argument at another address, both
 *    of which depend on the work-item.
 *
 * Or they leave out the one behind a loop, where others may still read what the loop reads:
 *
 *	for (;;) {				flags: local
 *		flags[get_local_id(0)] = x;
 *		barrier();
 *		for (i = 0; i < SIZE; i++) {
 *			while (i < SIZE && !flags[i])
 *				i++;
 *			if (i < SIZE)
 *				barrier();
 *		}
 *	}
 *
 * Here the second would find flags of the next round. So a barrier is put behind a loop with a
 * barrier (where all work-items pass) if
 *
 *  - it reads local memory, and a write to the same variable or argument, not in the loop, may
 *    follow with no barrier in between, and
 *  - they are not one address that depends on the work-item.
 *
 * In a kernel without such a race there is none to put, but for the last two: they cost a loop
 * another region, if work-items read and write what is their own at several addresses.
 */
#include "separate.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>

#include "vectoriser.h"

using namespace llvm;

namespace {

struct address {
	const Value *base = nullptr;
	APInt offset;

	address(const Value *pointer, const DataLayout &layout)
		: offset(layout.getIndexTypeSizeInBits(pointer->getType()), 0)
	{
		base = pointer->stripAndAccumulateConstantOffsets(layout, offset, true);
	}

	bool operator==(const address &other) const
	{
		return base == other.base && offset == other.offset;
	}
};

class separator {
public:
	separator(Function &f, divergence &differing, const SmallPtrSetImpl<BasicBlock *> &ends)
		: f(f), differing(differing), ends(ends), dt(f), pdt(f), loops(dt)
	{
	}

	Instruction *place_between(BranchInst &branch, Instruction &write);
	Instruction *place_behind(Instruction &common, Instruction &write);
	void place_in_loops(SmallVectorImpl<Instruction *> &places);
	void place_behind_loops(SmallVectorImpl<Instruction *> &places);
	bool all_pass(BasicBlock *block);

private:
	bool leads_to(BasicBlock *from, BasicBlock *to, const BasicBlock *around);
	bool has_barrier(const Loop &loop) const;
	bool hands_on(const Loop &loop);
	bool is_written_behind(const Loop &loop, BasicBlock *exit, ArrayRef<Instruction *> writes);

	Function &f;
	divergence &differing;
	const SmallPtrSetImpl<BasicBlock *> &ends;	/* blocks that begin with a barrier */
	DominatorTree dt;
	PostDominatorTree pdt;
	LoopInfo loops;
};

} /* namespace */

/* Is there a way from the end of @from to @to, with no barrier on it, that avoids @around? */
bool separator::leads_to(BasicBlock *from, BasicBlock *to, const BasicBlock *around)
{
	SmallVector<BasicBlock *> open(successors(from));
	SmallPtrSet<BasicBlock *, 16> seen;

	while (!open.empty()) {
		BasicBlock *block = open.pop_back_val();

		if (block == around || ends.contains(block) || !seen.insert(block).second)
			continue;
		if (block == to)
			return true;
		open.append(succ_begin(block), succ_end(block));
	}
	return false;
}

/*
 * Does @block depend on no branch that work-items take in different ways? Nor may the branches that
 * it depends on depend on one:
 *
 *	if (get_local_id(0) == 0)
 *		if (refill)		the same for all
 *			*next = ...
 */
bool separator::all_pass(BasicBlock *block)
{
	SmallSetVector<BasicBlock *, 8> open;

	open.insert(block);
	for (unsigned i = 0; i < open.size(); i++)
		for (BasicBlock &other : f) {
			if (pdt.properlyDominates(open[i], &other) ||
			    none_of(successors(&other), [&](BasicBlock *next) {
				    return pdt.dominates(open[i], next);
			    }))
				continue;
			if (differing.splits(other))
				return false;
			open.insert(&other);
		}
	return true;
}

/* Where a barrier separates @branch from @write, or NULL if no place is passed by all. */
Instruction *separator::place_between(BranchInst &branch, Instruction &write)
{
	BasicBlock *from = branch.getParent(), *to = write.getParent(), *place = to;

	if (!leads_to(from, to, nullptr))
		return nullptr;
	while (!all_pass(place)) {
		DomTreeNode *above = dt.getNode(place)->getIDom();

		if (!above)
			return nullptr;
		place = above->getBlock();
	}
	if (place == to)
		return &write;
	if (place == from || leads_to(from, to, place))
		return nullptr;
	return place->getTerminator();
}

static Value *written(Instruction &inst)
{
	Value *pointer = nullptr;

	if (auto *store = dyn_cast<StoreInst>(&inst))
		pointer = store->getPointerOperand();
	else if (isa<AtomicRMWInst>(inst) || isa<AtomicCmpXchgInst>(inst))
		pointer = inst.getOperand(0);
	return pointer && pointer->getType()->getPointerAddressSpace() == LOCAL ? pointer :
		nullptr;
}

/* Does @pointer differ from iteration to iteration of @loop? */
static bool varies(const Loop *loop, const Value *pointer)
{
	return loop && !loop->isLoopInvariant(pointer);
}

/*
 * Where a barrier separates @common, which all work-items do alike, from @write, or NULL if it does
 * not write what may be the same.
 */
Instruction *separator::place_behind(Instruction &common, Instruction &write)
{
	BasicBlock *from = common.getParent(), *to = write.getParent();
	Value *first = written(common), *second = written(write);
	Loop *left = nullptr;

	if (getUnderlyingObject(first) != getUnderlyingObject(second) ||
	    !((from == to && common.comesBefore(&write)) || leads_to(from, to, nullptr)))
		return nullptr;
	for (Loop *loop = loops.getLoopFor(from); loop && !loop->contains(to);
	     loop = loop->getParentLoop())
		left = loop;
	if (!varies(left, first) &&
	    !(address(first, f.getDataLayout()) == address(second, f.getDataLayout())))
		return nullptr;
	if (!left)
		return common.getNextNode();
	BasicBlock *exit = left->getExitBlock();
	return exit && !ends.contains(exit) && all_pass(exit) ? &*exit->getFirstInsertionPt() :
		nullptr;
}

bool separator::has_barrier(const Loop &loop) const
{
	return any_of(loop.blocks(), [&](BasicBlock *block) { return ends.contains(block); });
}

/* May work-items read in @loop what others write there, to local memory? */
bool separator::hands_on(const Loop &loop)
{
	SmallVector<Value *> stored, loaded;

	for (BasicBlock *block : loop.blocks())
		for (Instruction &inst : *block) {
			auto *load = dyn_cast<LoadInst>(&inst);
			Value *pointer = load ? load->getPointerOperand() : written(inst);

			if (pointer && pointer->getType()->getPointerAddressSpace() == LOCAL &&
			    differing.differs(pointer))
				(load ? loaded : stored).push_back(pointer);
		}
	return any_of(stored, [&](Value *to) {
		return any_of(loaded, [&](Value *from) {
			return from != to && getUnderlyingObject(from) == getUnderlyingObject(to);
		});
	});
}

void separator::place_in_loops(SmallVectorImpl<Instruction *> &places)
{
	for (Loop *loop : loops.getLoopsInPreorder()) {
		BasicBlock *header = loop->getHeader(), *latch = loop->getLoopLatch();

		if (latch && has_barrier(*loop) && !ends.contains(header) &&
		    leads_to(header, latch, header) && all_pass(header) && all_pass(latch) &&
		    hands_on(*loop))
			places.push_back(latch->getTerminator());
	}
}

/* May one of @writes overwrite what others still read in @loop, which they leave to @exit? */
bool separator::is_written_behind(const Loop &loop, BasicBlock *exit,
				  ArrayRef<Instruction *> writes)
{
	auto meets = [&](LoadInst &load, Instruction &write) {
		Value *from = load.getPointerOperand(), *to = written(write);
		BasicBlock *block = write.getParent();

		return !loop.contains(block) && (from != to || !differing.differs(to)) &&
		       getUnderlyingObject(from) == getUnderlyingObject(to) &&
		       leads_to(load.getParent(), exit, nullptr) &&
		       (block == exit || leads_to(exit, block, nullptr));
	};

	for (BasicBlock *block : loop.blocks())
		for (Instruction &inst : *block) {
			auto *load = dyn_cast<LoadInst>(&inst);

			if (load && load->getPointerAddressSpace() == LOCAL &&
			    any_of(writes, [&](Instruction *write) {
				    return meets(*load, *write);
			    }))
				return true;
		}
	return false;
}

void separator::place_behind_loops(SmallVectorImpl<Instruction *> &places)
{
	SmallVector<Instruction *> writes;

	for (Instruction &inst : instructions(f))
		if (written(inst))
			writes.push_back(&inst);
	for (Loop *loop : loops.getLoopsInPreorder()) {
		SmallVector<BasicBlock *> exits;

		if (!has_barrier(*loop))
			continue;
		loop->getUniqueExitBlocks(exits);
		for (BasicBlock *exit : exits)
			if (!ends.contains(exit) && is_written_behind(*loop, exit, writes) &&
			    all_pass(exit))
				places.push_back(&*exit->getFirstInsertionPt());
	}
}

/* The loads from local memory that @value is computed from. */
static void find_loads(Value *value, SmallPtrSetImpl<LoadInst *> &loads, unsigned depth = 6)
{
	auto *inst = dyn_cast<Instruction>(value);

	if (!inst || isa<PHINode>(inst) || !depth)
		return;
	if (auto *load = dyn_cast<LoadInst>(inst)) {
		if (load->getPointerAddressSpace() == LOCAL)
			loads.insert(load);
		return;
	}
	for (Value *operand : inst->operands())
		find_loads(operand, loads, depth - 1);
}

SmallVector<Instruction *> find_separations(Function &f, divergence &differing,
					    const SmallPtrSetImpl<BasicBlock *> &ends,
					    ArrayRef<BranchInst *> branches)
{
	SmallSetVector<Instruction *, 4> places;
	std::unique_ptr<separator> between;

	for (BranchInst *branch : branches) {
		SmallPtrSet<LoadInst *, 4> loads;

		find_loads(branch->getCondition(), loads);
		for (LoadInst *load : loads) {
			const address tested(load->getPointerOperand(), f.getDataLayout());

			for (Instruction &inst : instructions(f)) {
				Value *pointer = written(inst);

				if (!pointer || differing.differs(pointer) ||
				    !(address(pointer, f.getDataLayout()) == tested))
					continue;
				if (!between)
					between = std::make_unique<separator>(f, differing, ends);
				if (Instruction *place = between->place_between(*branch, inst))
					places.insert(place);
			}
		}
	}
	return places.takeVector();
}

SmallVector<Instruction *> find_clears(Function &f, divergence &differing,
				       const SmallPtrSetImpl<BasicBlock *> &ends)
{
	SmallVector<Instruction *> common, own, places;
	std::unique_ptr<separator> behind;

	for (Instruction &inst : instructions(f)) {
		Value *pointer = written(inst);
		auto *store = dyn_cast<StoreInst>(&inst);

		if (!pointer)
			continue;
		if (store && !differing.differs(pointer) &&
		    !differing.differs(store->getValueOperand()))
			common.push_back(&inst);
		else
			own.push_back(&inst);
	}
	if (common.empty())
		return places;
	behind = std::make_unique<separator>(f, differing, ends);
	for (Instruction *store : common)
		if (!behind->all_pass(store->getParent()))
			own.push_back(store);
	erase_if(common, [&](Instruction *store) { return is_contained(own, store); });
	/* The last first: what is before it in a block needs no barrier of its own. */
	for (Instruction *store : reverse(common))
		for (Instruction *write : own) {
			Instruction *place = behind->place_behind(*store, *write);

			if (place && none_of(places, [&](Instruction *other) {
				    return other == place ||
					   (other->getParent() == place->getParent() &&
					    place->comesBefore(other) &&
					    (write->getParent() != place->getParent() ||
					     other->comesBefore(write) || other == write));
			    }))
				places.push_back(place);
		}
	return places;
}

SmallVector<Instruction *> find_loop_ends(Function &f, divergence &differing,
					  const SmallPtrSetImpl<BasicBlock *> &ends)
{
	SmallVector<Instruction *> places;
	separator of_loops(f, differing, ends);

	of_loops.place_in_loops(places);
	of_loops.place_behind_loops(places);
	return places;
}
