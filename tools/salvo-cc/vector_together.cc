// SPDX-License-Identifier: MIT
/*
 * vector_together.cc - loops that all lanes run together until the first one leaves
 *
 * Lanes leave a loop in different iterations where its end differs among work-items, as that of a
 * row of a triangular or sparse matrix. Each iteration then has a mask, and what a lane that has
 * left takes along is kept apart. Up to the end of the shortest row neither is needed:
 *
 *	for (j = 0; j < x; j++)			for (j = 0; j < the least x; j++)
 *		sum += a[j * n + x];			sum += a[j * n + x];
 *						for (; j < x; j++)
 *							sum += a[j * n + x];
 *
 * How many iterations a lane has must be known before the loop, and not be loaded: the lengths of
 * sparse rows differ so much that the shortest one of some lanes is soon over.
 */
#include "analyses.h"
#include "items.h"
#include "vectoriser.h"

#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

using namespace llvm;

/* Instructions of such a loop, of all those of a function, and of a function that has any */
static const unsigned max_loop = 64, max_loops = 256, max_function = 1000;

/* A loop of fewer iterations ends too early. */
static const uint64_t least_iterations = 8;

/* Operations of what the iterations of a loop are computed from */
static const unsigned max_depth = 8;

/*
 * Does @loop end with a test that differs among lanes, and do all of them at once what it does?
 * Neither do lanes at once that call a function, nor accesses that are atomic or volatile.
 */
bool vectoriser::can_run_together(const Loop &loop) const
{
	BasicBlock *latch = loop.getLoopLatch();

	return loop.isInnermost() && loop.isLoopSimplifyForm() && is_divergent_loop(&loop) &&
	       loop.getExitingBlock() == latch && loop.isSafeToClone() &&
	       none_of(loop.blocks(), [](BasicBlock *block) {
		       return any_of(*block, [](Instruction &inst) {
			       return needs_lanes(inst) || isa<AllocaInst>(inst);
		       });
	       });
}

/* Puts a copy of @loop in front of it, which goes on @times times. */
static void put_copy_ahead(Loop &loop, Value *times, LoopInfo &loops, DominatorTree &dt)
{
	BasicBlock *before = loop.getLoopPreheader(), *exit = loop.getExitBlock();
	BasicBlock *latch = loop.getLoopLatch(), *header = loop.getHeader();
	ValueToValueMapTy map;
	SmallVector<BasicBlock *> copies;
	SmallVector<Value *> leaves_with;

	for (PHINode &phi : exit->phis())
		leaves_with.push_back(phi.getIncomingValueForBlock(latch));
	SplitBlockPredecessors(exit, { latch }, ".left", &dt, &loops, nullptr, true);
	BasicBlock *ahead = SplitBlock(before, before->getTerminator(), &dt, &loops);
	Loop *copy = cloneLoopWithPreheader(ahead, before, &loop, map, ".together", &loops, &dt,
					    copies);
	remapInstructionsInBlocks(copies, map);
	before->getTerminator()->setSuccessor(0, copy->getLoopPreheader());

	BasicBlock *first = copy->getHeader();
	auto *branch = cast<BranchInst>(copy->getLoopLatch()->getTerminator());
	Value *condition = branch->getCondition();
	const bool stays = branch->getSuccessor(0) == first;
	BasicBlock *apart = BasicBlock::Create(header->getContext(), "apart", header->getParent(),
					       ahead);
	IRBuilder<> b(&first->front());
	PHINode *count = b.CreatePHI(times->getType(), 2, "count");
	b.SetInsertPoint(branch);
	Value *goes = b.CreateICmpULT(count, times);
	count->addIncoming(ConstantInt::get(times->getType(), 0), copy->getLoopPreheader());
	count->addIncoming(b.CreateAdd(count, ConstantInt::get(times->getType(), 1)),
			   branch->getParent());
	branch->setCondition(stays ? goes : b.CreateNot(goes));
	branch->setSuccessor(stays ? 1 : 0, apart);
	BranchInst::Create(stays ? ahead : exit, stays ? exit : ahead, condition, apart);

	auto of_copy = [&](Value *value) {
		Value *copied = map.lookup(value);

		return copied ? copied : value;
	};
	for (PHINode &phi : header->phis())
		phi.setIncomingValueForBlock(ahead, of_copy(phi.getIncomingValueForBlock(latch)));
	for (auto [phi, value] : zip(exit->phis(), leaves_with))
		phi.addIncoming(of_copy(value), apart);
	if (Loop *around = loop.getParentLoop())
		around->addBasicBlockToLoop(apart, loops);
	dt.recalculate(*header->getParent());
	formLCSSA(*copy, dt, &loops, nullptr);
	formLCSSA(loop, dt, &loops, nullptr);
}

void vectoriser::run_together()
{
	unsigned instructions = 0;
	SmallVector<std::pair<Loop *, Value *>> found;

	if (!has_loops(item) || in_checked_mode(item) ||
	    item.getInstructionCount() > max_function || !prepare())
		return;
	find_divergent_loops();
	access_analyses all(item, dt, loops);
	SCEVExpander expander(all.evolution, layout, "times");
	for (Loop *loop : loops.getLoopsInPreorder()) {
		unsigned count = 0;

		for (BasicBlock *block : loop->blocks())
			count += block->size();
		if (count > max_loop || instructions + count > max_loops ||
		    !can_run_together(*loop))
			continue;
		const SCEV *times = all.evolution.getBackedgeTakenCount(loop);
		Instruction *before = loop->getLoopPreheader()->getTerminator();
		if (isa<SCEVCouldNotCompute>(times) || depends_on_load(times, max_depth) ||
		    all.evolution.getUnsignedRangeMax(times).ult(least_iterations) ||
		    !expander.isSafeToExpandAt(times, before))
			continue;
		IRBuilder<> at(before);
		Value *own = expander.expandCodeFor(times, times->getType(), before);
		found.push_back({ loop, of_every_lane(at, own) });
		instructions += count;
	}
	for (auto [loop, times] : found) {
		formLCSSA(*loop, dt, &loops, nullptr);
		put_copy_ahead(*loop, times, loops, dt);
	}
}

void run_together(Function &item, Argument &x, unsigned lanes, TargetMachine &target)
{
	const TargetTransformInfo costs = target.getTargetTransformInfo(item);

	vectoriser(item, x, lanes, costs).run_together();
}
