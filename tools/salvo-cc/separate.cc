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
 *    may lead to different barriers, and
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
 * Or they leave out the one between reading what others have written and writing there again:
 *
 *	for (;;) {				rows: local
 *		rows[get_local_id(0)] = x;
 *		barrier();
 *		sum += rows[0] + rows[1];
 *	}
 *
 * Here the second would read what the first has written for the next iteration. So a barrier is put
 * in front of a store (where all work-items pass) if
 *
 *  - a read of the same variable or argument comes before it with no barrier in between,
 *  - what is written, and where, is not computed from what was read, as in a sum or a sort,
 *  - it is not the work-item's own: their addresses, sums of products with constants, are the
 *    same for all work-items, or differ by something that depends on the work-item or by as much
 *    as neighbours are apart,
 *  - the address of the store does not change from iteration to iteration of a loop around both,
 *    and there is no lock, that is no atomic operation whose result is used.
 *
 * In a kernel without such a race there is none to put, but for the last three: they cost another
 * region where work-items read and write what is their own and the addresses do not tell.
 */
#include "separate.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Operator.h>

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
	void place_before_writes(SmallVectorImpl<Instruction *> &places);
	bool all_pass(BasicBlock *block);

private:
	bool leads_to(BasicBlock *from, BasicBlock *to, const BasicBlock *around);
	void find_ends(BasicBlock *from, const BasicBlock *around,
		       SmallPtrSetImpl<BasicBlock *> &found);
	bool all_come(BasicBlock *block);
	bool has_barrier(const Loop &loop) const;
	bool hands_on(const Loop &loop);
	bool is_written_behind(const Loop &loop, BasicBlock *exit, ArrayRef<Instruction *> writes);
	Instruction *where_all_pass(Instruction &inst);
	bool is_own(Value *pointer);
	bool is_of_others(LoadInst &read, Instruction &write);
	bool follows_read(Instruction &place, Instruction &write,
			  const SmallPtrSetImpl<Instruction *> &placed);

	Function &f;
	divergence &differing;
	const SmallPtrSetImpl<BasicBlock *> &ends;	/* blocks that begin with a barrier */
	DominatorTree dt;
	PostDominatorTree pdt;
	LoopInfo loops;
	DenseMap<BasicBlock *, bool> passed;	/* what all_pass() has found */
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

/* Finds the barriers and ends of the kernel that ways from @from lead to that avoid @around. */
void separator::find_ends(BasicBlock *from, const BasicBlock *around,
			  SmallPtrSetImpl<BasicBlock *> &found)
{
	SmallVector<BasicBlock *> open = { from };
	SmallPtrSet<BasicBlock *, 16> seen;

	while (!open.empty()) {
		BasicBlock *block = open.pop_back_val();

		if (block == around || !seen.insert(block).second)
			continue;
		if (ends.contains(block) || succ_empty(block))
			found.insert(block);
		else
			open.append(succ_begin(block), succ_end(block));
	}
}

/*
 * Do all work-items come to @block, and once, as they must all reach the same barrier, and it is
 * the only way to those that it leads to?
 *
 *	while (!atomic_or(stop, 0) && atomic_or(next, 0) < tasks) {
 *		...				both may differ, as far as the compiler can see
 *		barrier();
 *	}
 */
bool separator::all_come(BasicBlock *block)
{
	SmallVector<BasicBlock *> starts = { &f.getEntryBlock() };
	SmallPtrSet<BasicBlock *, 4> behind;

	if (ends.contains(block) || leads_to(block, block, nullptr))
		return false;
	find_ends(block, nullptr, behind);
	for (BasicBlock *end : ends)
		starts.append(succ_begin(end), succ_end(end));
	return none_of(starts, [&](BasicBlock *start) {
		SmallPtrSet<BasicBlock *, 4> besides;

		if (start == block || !leads_to(start, block, nullptr))
			return false;
		find_ends(start, block, besides);
		return any_of(besides, [&](BasicBlock *end) { return behind.contains(end); });
	});
}

/*
 * Does @block depend on no branch that work-items take in different ways? Nor may the branches that
 * it depends on depend on one, up to a block to which all come:
 *
 *	if (get_local_id(0) == 0)
 *		if (refill)		the same for all
 *			*next = ...
 */
bool separator::all_pass(BasicBlock *block)
{
	auto [known, is_new] = passed.try_emplace(block, false);
	SmallSetVector<BasicBlock *, 8> open;

	if (!is_new)
		return known->second;
	open.insert(block);
	for (unsigned i = 0; i < open.size(); i++) {
		SmallVector<BasicBlock *> branches;

		for (BasicBlock &other : f)
			if (!pdt.properlyDominates(open[i], &other) &&
			    any_of(successors(&other), [&](BasicBlock *next) {
				    return pdt.dominates(open[i], next);
			    }))
				branches.push_back(&other);
		if (branches.empty() || all_come(open[i]))
			continue;
		if (any_of(branches, [&](BasicBlock *other) { return differing.splits(*other); }))
			return false;
		open.insert(branches.begin(), branches.end());
	}
	known->second = true;
	return true;
}

/* Where a barrier separates @branch from @write, or NULL if no place is passed by all. */
Instruction *separator::place_between(BranchInst &branch, Instruction &write)
{
	BasicBlock *from = branch.getParent(), *to = write.getParent();

	if (!leads_to(from, to, nullptr))
		return nullptr;
	Instruction *place = where_all_pass(write);
	if (place == &write)
		return place;
	if (!place || place->getParent() == from || leads_to(from, to, place->getParent()))
		return nullptr;
	return place;
}

/* Does @inst only read? Of an atomic operation that changes nothing LLVM makes an or with 0. */
static bool only_reads(const Instruction &inst)
{
	auto *rmw = dyn_cast<AtomicRMWInst>(&inst);
	auto *operand = rmw ? dyn_cast<Constant>(rmw->getValOperand()) : nullptr;

	return isa<LoadInst>(inst) ||
	       (operand && rmw->getOperation() == AtomicRMWInst::Or && operand->isNullValue());
}

static Value *written(Instruction &inst)
{
	Value *pointer = nullptr;

	if (auto *store = dyn_cast<StoreInst>(&inst))
		pointer = store->getPointerOperand();
	else if ((isa<AtomicRMWInst>(inst) || isa<AtomicCmpXchgInst>(inst)) && !only_reads(inst))
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

/* A sum of values, each times a constant */
struct terms {
	MapVector<const Value *, int64_t> factors;
	int64_t constant = 0;

	void add(const Value *v, int64_t factor, unsigned depth = 8);
	void add_pointer(const Value *pointer, int64_t factor, const DataLayout &layout);
};

void terms::add(const Value *v, int64_t factor, unsigned depth)
{
	auto *inst = dyn_cast<Operator>(v);
	auto *by = inst && inst->getNumOperands() == 2 ?
		dyn_cast<ConstantInt>(inst->getOperand(1)) : nullptr;
	const unsigned code = inst && depth ? inst->getOpcode() : 0;

	if (auto *number = dyn_cast<ConstantInt>(v)) {
		constant += factor * number->getSExtValue();
	} else if (code == Instruction::SExt || code == Instruction::ZExt ||
		   code == Instruction::Trunc) {
		add(inst->getOperand(0), factor, depth - 1);
	} else if (code == Instruction::Add || code == Instruction::Sub ||
		   (code == Instruction::Or && cast<PossiblyDisjointInst>(v)->isDisjoint())) {
		add(inst->getOperand(0), factor, depth - 1);
		add(inst->getOperand(1), code == Instruction::Sub ? -factor : factor, depth - 1);
	} else if (code == Instruction::Mul && by) {
		add(inst->getOperand(0), factor * by->getSExtValue(), depth - 1);
	} else if (code == Instruction::Shl && by && by->getValue().ult(32)) {
		add(inst->getOperand(0), factor * ((int64_t)1 << by->getZExtValue()), depth - 1);
	} else {
		factors[v] += factor;
	}
}

/* Without the variable or argument that it points into */
void terms::add_pointer(const Value *pointer, int64_t factor, const DataLayout &layout)
{
	while (auto *gep = dyn_cast<GEPOperator>(pointer)) {
		const unsigned bits = layout.getIndexTypeSizeInBits(gep->getType());
		MapVector<Value *, APInt> offsets;
		APInt offset(bits, 0);

		if (!gep->collectOffset(layout, bits, offsets, offset))
			break;
		constant += factor * offset.getSExtValue();
		for (auto &[value, scale] : offsets)
			add(value, factor * scale.getSExtValue());
		pointer = gep->getPointerOperand();
	}
	if (!isa<Argument>(pointer) && !isa<GlobalVariable>(pointer))
		factors[pointer] += factor;
}

/* Does the work-item write to @pointer, which is no other's? */
bool separator::is_own(Value *pointer)
{
	return differing.differs(pointer) && any_of(pointer->users(), [&](User *user) {
		return written(*cast<Instruction>(user)) == pointer;
	});
}

/* Does @read read what other work-items write by @write? */
bool separator::is_of_others(LoadInst &read, Instruction &write)
{
	const DataLayout &layout = f.getDataLayout();
	Value *from = read.getPointerOperand(), *to = written(write);
	uint64_t apart = UINT64_MAX;	/* between neighbours */
	bool differ = false, is_known = true;
	terms between, own;

	if (getUnderlyingObject(from) != getUnderlyingObject(to) || is_own(from))
		return false;
	between.add_pointer(from, 1, layout);
	between.add_pointer(to, -1, layout);
	own.add_pointer(to, 1, layout);
	for (auto &[value, factor] : own.factors) {
		auto *inst = dyn_cast<Instruction>(value);
		Loop *loop = inst ? loops.getLoopFor(inst->getParent()) : nullptr;

		if (loop && loop->contains(&read))
			return false;
		if (factor && differing.differs(const_cast<Value *>(value)))
			apart = std::min<uint64_t>(apart, std::abs(factor));
	}
	if (apart == UINT64_MAX)
		return true;
	for (auto &[value, factor] : between.factors)
		if (factor && differing.differs(const_cast<Value *>(value)))
			differ = true;
		else if (factor)
			is_known = false;
	if (!differ)
		return is_known && (uint64_t)std::abs(between.constant) >= apart;
	/* The first may read alone what it has written itself, as a sum of all. */
	return !is_known || between.constant || differing.differs(from) ||
	       all_pass(read.getParent());
}

/* Is what @inst does computed from @value? */
static bool comes_from(const Instruction &inst, const Value &value)
{
	SmallPtrSet<const User *, 16> seen;
	SmallVector<const User *> open(value.users());

	while (!open.empty()) {
		const User *user = open.pop_back_val();

		if (user == &inst)
			return true;
		if (seen.insert(user).second)
			open.append(user->user_begin(), user->user_end());
	}
	return false;
}

/*
 * Does a read of what others write by @write come before @place, with no barrier in between, nor
 * before one of @placed?
 */
bool separator::follows_read(Instruction &place, Instruction &write,
			     const SmallPtrSetImpl<Instruction *> &placed)
{
	SmallPtrSet<BasicBlock *, 16> seen;
	SmallVector<BasicBlock *> open;
	BasicBlock *block = place.getParent();
	Instruction *inst = &place;

	for (;;) {
		while (inst && !placed.contains(inst)) {
			auto *load = dyn_cast<LoadInst>(inst);

			if (load && load->getPointerAddressSpace() == LOCAL &&
			    is_of_others(*load, write) && !comes_from(write, *load))
				return true;
			inst = inst->getPrevNode();
		}
		if (!inst && !ends.contains(block))
			open.append(pred_begin(block), pred_end(block));
		do {
			if (open.empty())
				return false;
			block = open.pop_back_val();
		} while (!seen.insert(block).second);
		inst = block->getTerminator();
	}
}

/* @inst, or the end of the last block before it that all work-items pass, or NULL */
Instruction *separator::where_all_pass(Instruction &inst)
{
	BasicBlock *place = inst.getParent();

	while (!all_pass(place)) {
		DomTreeNode *above = dt.getNode(place)->getIDom();

		if (!above)
			return nullptr;
		place = above->getBlock();
	}
	return place == inst.getParent() ? &inst : place->getTerminator();
}

void separator::place_before_writes(SmallVectorImpl<Instruction *> &places)
{
	SmallPtrSet<Instruction *, 8> placed(places.begin(), places.end());

	/* A work-item that holds a lock must not wait. */
	for (Instruction &inst : instructions(f))
		if ((isa<AtomicRMWInst>(inst) || isa<AtomicCmpXchgInst>(inst)) && !inst.use_empty())
			return;
	for (BasicBlock *block : ReversePostOrderTraversal<Function *>(&f))
		for (Instruction &inst : *block) {
			Instruction *place = isa<StoreInst>(inst) && written(inst) ?
				where_all_pass(inst) : nullptr;

			if (place && follows_read(*place, inst, placed)) {
				places.push_back(place);
				placed.insert(place);
			}
		}
}

/* The addresses in local memory of what @value is computed from, in this or another iteration */
static void find_reads(Value *value, SmallPtrSetImpl<Value *> &from,
		       SmallPtrSetImpl<const PHINode *> &seen, unsigned depth = 8)
{
	auto *inst = dyn_cast<Instruction>(value);
	auto *phi = dyn_cast<PHINode>(value);

	if (!inst || !depth || (phi && !seen.insert(phi).second))
		return;
	if (only_reads(*inst)) {
		Value *pointer = inst->getOperand(0);

		if (pointer->getType()->getPointerAddressSpace() == LOCAL)
			from.insert(pointer);
		return;
	}
	for (Value *operand : inst->operands())
		find_reads(operand, from, seen, depth - 1);
}

SmallVector<Instruction *> find_separations(Function &f, divergence &differing,
					    const SmallPtrSetImpl<BasicBlock *> &ends,
					    ArrayRef<BranchInst *> branches)
{
	SmallSetVector<Instruction *, 4> places;
	std::unique_ptr<separator> between;

	for (BranchInst *branch : branches) {
		SmallPtrSet<Value *, 4> reads;
		SmallPtrSet<const PHINode *, 8> seen;

		find_reads(branch->getCondition(), reads, seen);
		for (Value *read : reads) {
			const address tested(read, f.getDataLayout());

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

SmallVector<Instruction *> find_reuses(Function &f, divergence &differing,
				       const SmallPtrSetImpl<BasicBlock *> &ends)
{
	SmallVector<Instruction *> places;
	separator between(f, differing, ends);

	between.place_in_loops(places);
	between.place_behind_loops(places);
	between.place_before_writes(places);
	return places;
}
