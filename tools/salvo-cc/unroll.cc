// SPDX-License-Identifier: MIT
/*
 * unroll.cc - loops that index private arrays, short ones with exits, and loops around barriers
 *
 * An array of each work-item is in registers if all of its indices are constants. Else it is in
 * memory, and lanes gather and scatter its elements. So the loops whose counters are indices are
 * unrolled as a whole, further than LLVM would for the sake of their own instructions:
 *
 *	float sum[32];
 *	for (int i = 0; i < 32; i++)
 *		out[i * pitch + x] = scale * sum[i];
 *
 * That is in vain if another access to the array has an index that is not known then: such an array
 * stays in memory, and its loops as they are.
 *
 * LLVM leaves a loop that may end before its last iteration as it is, where the lanes of a vector
 * would take each turn together and merge what they hold at its end. Few and short iterations are
 * unrolled as well, so that a lane that is done is masked off, and the rest are jumped over:
 *
 *	for (int i = -1; i <= 1 && is_maximum; i++)
 *		if (row[x + i] > row[x])
 *			is_maximum = false;
 *
 * Lanes that go on from where what they loaded leads gather: they stay in a loop, of which it is
 * known that few of them are in it in the end (vector_cost.cc).
 *
 * Each copy of a barrier begins a region (split.cc), whose rows of work-items take long to compile.
 * So a loop of many barriers stays a loop, also where the source asks for it to be unrolled.
 */
#include "unroll.h"

#include "salvo_cc.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

using namespace llvm;

static const uint64_t max_bytes = 512;		/* of an array */
static const uint64_t max_unrolled = 2048;	/* instructions of a loop with those inside it */
static const uint64_t max_in_all = 8192;	/* of all loops of a function */
static const uint64_t max_barriers = 32;	/* of a loop that is unrolled */

/* How often a loop with other exits begins an iteration or ends, and instructions of all of that */
static const unsigned max_short_trips = 6;
static const uint64_t max_short = 512;

namespace {

class array_loops {
public:
	array_loops(LoopInfo &loops, ScalarEvolution &scev) : loops(loops), scev(scev) {}

	void find(AllocaInst &array);
	bool mark();

private:
	bool find_accesses(Value &pointer, SmallVectorImpl<Instruction *> &accesses);
	bool find_indexing(AllocaInst &array, Instruction &access, SetVector<Loop *> &indexing);
	uint64_t unrolled_size(Loop &of, const SetVector<Loop *> &unrolled);

	LoopInfo &loops;
	ScalarEvolution &scev;
	SetVector<Loop *> found;
};

} /* namespace */

/* False if @pointer has users that are neither loads nor stores. */
bool array_loops::find_accesses(Value &pointer, SmallVectorImpl<Instruction *> &accesses)
{
	for (User *user : pointer.users()) {
		auto *inst = cast<Instruction>(user);

		if (isa<GetElementPtrInst>(inst)) {
			if (!find_accesses(*inst, accesses))
				return false;
		} else if (getLoadStorePointerOperand(inst) == &pointer) {
			if (auto *store = dyn_cast<StoreInst>(inst))
				if (store->getValueOperand() == &pointer)
					return false;
			accesses.push_back(inst);
		} else if (!inst->isLifetimeStartOrEnd() && !isa<MemIntrinsic>(inst)) {
			return false;
		}
	}
	return true;
}

/* False if the index of @access is not known once the loops that it changes in are unrolled. */
bool array_loops::find_indexing(AllocaInst &array, Instruction &access,
				SetVector<Loop *> &indexing)
{
	const SCEV *pointer = scev.getSCEV(getLoadStorePointerOperand(&access));
	const SCEV *index = scev.getMinusSCEV(pointer, scev.getSCEV(&array));

	if (isa<SCEVCouldNotCompute>(index) ||
	    SCEVExprContains(index, [](const SCEV *s) { return isa<SCEVUnknown>(s); }))
		return false;
	for (Loop *loop = loops.getLoopFor(access.getParent()); loop;
	     loop = loop->getParentLoop()) {
		if (scev.isLoopInvariant(index, loop))
			continue;
		if (!scev.getSmallConstantTripCount(loop))
			return false;
		indexing.insert(loop);
	}
	return true;
}

uint64_t array_loops::unrolled_size(Loop &of, const SetVector<Loop *> &unrolled)
{
	uint64_t size = 0;

	for (BasicBlock *block : of.blocks()) {
		uint64_t copies = 1;

		for (Loop *loop = loops.getLoopFor(block); loop != of.getParentLoop();
		     loop = loop->getParentLoop())
			if (unrolled.contains(loop) && copies <= max_unrolled)
				copies *= scev.getSmallConstantTripCount(loop);
		size += copies * block->size();
	}
	return size;
}

void array_loops::find(AllocaInst &array)
{
	const std::optional<TypeSize> bytes = array.getAllocationSize(array.getDataLayout());
	SmallVector<Instruction *> accesses;
	SetVector<Loop *> indexing;

	if (!array.getAllocatedType()->isAggregateType() || !bytes || *bytes > max_bytes ||
	    !find_accesses(array, accesses))
		return;
	for (Instruction *access : accesses)
		if (!find_indexing(array, *access, indexing))
			return;
	/* Other arrays may have chosen loops inside of these, or around them. */
	indexing.insert(found.begin(), found.end());
	uint64_t size = 0;
	for (Loop *loop : indexing) {
		const uint64_t of_loop = unrolled_size(*loop, indexing);

		if (of_loop > max_unrolled)
			return;
		size += loop->getParentLoop() && indexing.contains(loop->getParentLoop()) ?
			0 : of_loop;
	}
	if (size <= max_in_all)
		found = indexing;
}

bool array_loops::mark()
{
	for (Loop *loop : found)
		addStringMetadataToLoop(loop, "llvm.loop.unroll.full");
	return !found.empty();
}

bool mark_array_loops(Function &f, LoopInfo &loops, ScalarEvolution &scev)
{
	array_loops of(loops, scev);

	for (Instruction &inst : f.getEntryBlock())
		if (auto *array = dyn_cast<AllocaInst>(&inst))
			of.find(*array);
	return of.mark();
}

/* Does @block load from where what was loaded, or computed from that, leads? */
static bool follows_data(const BasicBlock &block, ScalarEvolution &scev)
{
	return any_of(block, [&](const Instruction &inst) {
		auto *load = dyn_cast<LoadInst>(&inst);

		return load && SCEVExprContains(
			scev.getSCEV(const_cast<Value *>(load->getPointerOperand())),
			[](const SCEV *s) {
				auto *unknown = dyn_cast<SCEVUnknown>(s);

				return unknown && isa<Instruction>(unknown->getValue()) &&
				       !isa<CallInst>(unknown->getValue());
			});
	});
}

/* Instructions of @loop unrolled, with those inside it; more than max_short if it is not */
static uint64_t mark_short(Loop &loop, ScalarEvolution &scev, const LoopInfo &loops)
{
	const unsigned known = scev.getSmallConstantTripCount(&loop);
	const unsigned trips = known ? known : scev.getSmallConstantMaxTripCount(&loop);
	uint64_t size = 0;
	bool follows = false;

	for (Loop *inner : loop)
		size += mark_short(*inner, scev, loops);
	for (const BasicBlock *block : loop.blocks())
		if (loops.getLoopFor(block) == &loop) {
			size += block->size();
			follows |= follows_data(*block, scev);
		}
	if (!trips || trips > max_short_trips || size * trips > max_short || follows)
		return max_short + 1;
	if (!known)
		addStringMetadataToLoop(&loop, "llvm.loop.unroll.enable", true);
	return size * trips;
}

void mark_short_loops(LoopInfo &loops, ScalarEvolution &scev)
{
	for (Loop *loop : loops)
		mark_short(*loop, scev, loops);
}

static uint64_t barriers_of(const BasicBlock &block)
{
	return count_if(block, [](const Instruction &inst) {
		auto *call = dyn_cast<CallInst>(&inst);

		return call && is_barrier(*call);
	});
}

/* Keeps @loop and those inside it; how many barriers it has with those that are unrolled. */
static uint64_t keep_loop(Loop &loop, LoopInfo &loops, ScalarEvolution &scev)
{
	uint64_t barriers = 0;

	for (Loop *inner : loop)
		barriers += keep_loop(*inner, loops, scev);
	for (const BasicBlock *block : loop.blocks())
		if (loops.getLoopFor(block) == &loop)
			barriers += barriers_of(*block);
	const uint64_t trips = barriers ? scev.getSmallConstantTripCount(&loop) : 0;
	if (!trips)
		return barriers;
	if (trips <= max_barriers / barriers)
		return barriers * trips;
	addStringMetadataToLoop(&loop, "llvm.loop.unroll.disable", true);
	return barriers;
}

void keep_barrier_loops(LoopInfo &loops, ScalarEvolution &scev)
{
	for (Loop *loop : loops)
		keep_loop(*loop, loops, scev);
}
