// SPDX-License-Identifier: MIT
/*
 * vector_loops.cc - work-items with loops that LLVM vectorises
 *
 * A work-item that walks along a row of a matrix accesses contiguous memory from iteration to
 * iteration, while lanes would gather from as many rows. Such a kernel stays scalar, and LLVM's
 * loop vectoriser finds the loop. It does not reorder additions of floating-point numbers, so a
 * loop that sums them up is not one of these.
 */
#include "vectoriser.h"
#include "items.h"

#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopAccessAnalysis.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Triple.h>

using namespace llvm;

/* What loops must cost at most, as a part of what lanes cost */
static const double gain_of_loops = .7;

/* How often the body of such a loop is taken to run. Short loops cost little in either way. */
static const double iterations = 64;

/*
 * Loads and stores of @loop, in each iteration the next or previous element or always the same;
 * @evolution may assume what LLVM checks before the loop, as that an index does not wrap around.
 */
static bool is_regular(Instruction &inst, const Loop &loop, PredicatedScalarEvolution &evolution)
{
	Value *pointer = getLoadStorePointerOperand(&inst);

	if (evolution.getSE()->isLoopInvariant(evolution.getSCEV(pointer), &loop))
		return isa<LoadInst>(inst);
	const SCEVAddRecExpr *moving = evolution.getAsAddRec(pointer);
	if (!moving || !moving->isAffine())
		return false;
	auto *step = dyn_cast<SCEVConstant>(moving->getStepRecurrence(*evolution.getSE()));
	return step && step->getAPInt().abs() ==
		inst.getDataLayout().getTypeStoreSize(getLoadStoreType(&inst)).getFixedValue();
}

/* Will LLVM vectorise it, and would lanes gather in it? */
bool vectoriser::is_vector_loop(const Loop &loop, ScalarEvolution &evolution,
				const TargetLibraryInfo &library)
{
	PredicatedScalarEvolution predicated(evolution, const_cast<Loop &>(loop));
	bool gathers = false, stores = false;

	if (!loop.isInnermost() || !loop.getLoopPreheader() ||
	    isa<SCEVCouldNotCompute>(evolution.getBackedgeTakenCount(&loop)))
		return false;
	for (BasicBlock *block : loop.blocks())
		for (Instruction &inst : *block) {
			if (isa<LoadInst>(inst) || isa<StoreInst>(inst)) {
				Value *pointer = getLoadStorePointerOperand(&inst);

				if (!is_regular(inst, loop, predicated))
					return false;
				stores |= isa<StoreInst>(inst);
				gathers |= shape_of(pointer).kind != shape::UNIFORM &&
					   !is_contiguous(pointer, getLoadStoreType(&inst));
			} else if (isa<PHINode>(inst) && block == loop.getHeader()) {
				if (inst.getType()->isFPOrFPVectorTy())
					return false;
			} else if (inst.mayReadOrWriteMemory()) {
				return false;
			}
		}
	if (!gathers || !stores)
		return gathers;
	AAResults aliases(library);
	return LoopAccessInfo(const_cast<Loop *>(&loop), &evolution, &target, &library, &aliases,
			      &dt, &loops).canVectorizeMemory();
}

bool vectoriser::gains_from_loops()
{
	TargetLibraryInfoImpl names((Triple(item.getParent()->getTargetTriple())));
	TargetLibraryInfo library(names);
	AssumptionCache assumptions(item);
	double one = 0, at_once = 0;

	dt.recalculate(item);
	loops.analyze(dt);
	if (!can_run())
		return false;
	pdt.recalculate(item);
	find_shapes();
	find_divergent_loops();
	ScalarEvolution evolution(item, library, assumptions, dt, loops);
	SmallPtrSet<const Loop *, 8> vector_loops;
	for (const Loop *loop : loops.getLoopsInPreorder())
		if (is_vector_loop(*loop, evolution, library))
			vector_loops.insert(loop);
	if (vector_loops.empty())
		return false;
	for (BasicBlock &block : item) {
		const Loop *loop = loops.getLoopFor(&block);
		const bool fast = vector_loops.contains(loop);
		const double times = fast ? weight_of(loop->getLoopDepth() - 1) * iterations :
					    weight_of(loops.getLoopDepth(&block));

		for (Instruction &inst : block) {
			one += times * scalar_cost(inst) * (fast ? 1 : lanes);
			at_once += times * vector_cost(inst, false);
		}
	}
	return one < gain_of_loops * at_once;
}

bool gains_from_inner_loops(Function &item, Argument &x, unsigned lanes, TargetMachine &target)
{
	const TargetTransformInfo costs = target.getTargetTransformInfo(item);

	return vectoriser(item, x, lanes, costs).gains_from_loops();
}
