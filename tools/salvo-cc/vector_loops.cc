// SPDX-License-Identifier: MIT
/*
 * vector_loops.cc - work-items with loops that LLVM vectorises
 *
 * A work-item that walks along a row of a matrix accesses contiguous memory from iteration to
 * iteration, while lanes would gather from as many rows. Such a kernel stays scalar, and LLVM's
 * loop vectoriser finds the loop. It does not reorder additions of floating-point numbers, so a
 * loop that sums them up is not one of these.
 *
 * Some loops along rows are faster one work-item after the other without vectors, too: those that
 * compute little from iteration to iteration, whose time on lanes is that of gathers and scatters.
 * So are loops that mostly gather and scatter elsewhere, as to a histogram of each work-item. For
 * these, cycles are estimated.
 */
#include "analyses.h"
#include "vectoriser.h"
#include "items.h"
#include "walks.h"

#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/BasicAliasAnalysis.h>
#include <llvm/Analysis/IVDescriptors.h>
#include <llvm/Analysis/LoopAccessAnalysis.h>
#include <llvm/Analysis/LoopIterator.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Triple.h>

using namespace llvm;

/* What loops must cost at most, as a part of what lanes cost */
static const double gain_of_loops = .7;

/* What walks of one work-item after the other must cost at most, as a part of what lanes cost */
static const double gain_of_walks = .8;

/* What loops with scatters must cost so, and those of them that may be walks */
static const double gain_of_scatters = .5, gain_of_steps = .7;

/* Bytes from lane to lane from which on each is in another line, and from iteration to iteration */
static const int64_t cache_line = 64, max_walk = 16;

/* Iterations that a walk is taken to have; those of a constant number from which on it is one */
static const unsigned walked = 16, least_walked = 16;

/*
 * Instructions that a processor issues in a cycle; cycles from one division to the next, those that
 * it loses at a branch that it often predicts wrongly, and for a lane's line that is not
 * prefetched. Stores wait for their lines one after the other; local memory is in the cache.
 */
static const double issue_width = 6, divider = 6, unpredictable = 6, missed = 1, missed_store = 4;

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

/* Does LLVM know what an iteration takes over from the one before: counts, sums, the last value? */
static bool is_vectorised(PHINode &phi, const Loop &loop, PredicatedScalarEvolution &evolution,
			  DominatorTree &dt)
{
	Loop *in = const_cast<Loop *>(&loop);
	InductionDescriptor induction;
	RecurrenceDescriptor sum;

	return !phi.getType()->isFPOrFPVectorTy() &&
	       (InductionDescriptor::isInductionPHI(&phi, in, evolution, induction) ||
		RecurrenceDescriptor::isReductionPHI(&phi, in, sum, nullptr, nullptr, &dt) ||
		RecurrenceDescriptor::isFixedOrderRecurrence(&phi, in, &dt));
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
				if (!is_vectorised(cast<PHINode>(inst), loop, predicated, dt))
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

/* Is @pointer to another line for each lane? Private arrays of lanes are neighbours. */
bool vectoriser::is_apart(Value &pointer) const
{
	const shape s = shape_of(&pointer);

	return s.kind != shape::UNIFORM && !isa<AllocaInst>(getUnderlyingObject(&pointer)) &&
	       (s.kind != shape::STRIDED || std::abs(s.stride) >= cache_line);
}

/*
 * Does each lane walk along memory of its own in @loop? So many streams at once are more than the
 * processor prefetches, and rows some powers of 2 apart share the sets of its cache. With @any_step
 * it may do so, as the step of an iteration is an argument.
 */
bool vectoriser::is_walk(Instruction &inst, const Loop &loop, ScalarEvolution &evolution,
			 bool any_step)
{
	Value *pointer = getLoadStorePointerOperand(&inst);
	bool moves = false, known = true;

	if (!is_apart(*pointer))
		return false;
	auto follow = [&](const SCEV *part) {
		auto *moving = dyn_cast<SCEVAddRecExpr>(part);
		auto *unknown = dyn_cast<SCEVUnknown>(part);

		if (moving && moving->getLoop() == &loop) {
			auto *step = dyn_cast<SCEVConstant>(moving->getStepRecurrence(evolution));

			moves = true;
			known &= any_step || (step && step->getAPInt().abs().ule(max_walk));
		}
		if (unknown)
			known &= evolution.isLoopInvariant(unknown, &loop);
		return false;
	};
	SCEVExprContains(evolution.getSCEV(pointer), follow);
	return moves && known;
}

/* May all that @loop stores elsewhere than to private arrays be such walks? */
bool vectoriser::may_walk(const Loop &loop, ScalarEvolution &evolution)
{
	return all_of(loop.blocks(), [&](BasicBlock *block) {
		return all_of(*block, [&](Instruction &inst) {
			auto *store = dyn_cast<StoreInst>(&inst);

			return !store || !is_apart(*store->getPointerOperand()) ||
			       is_walk(inst, loop, evolution, true);
		});
	});
}

/*
 * Does each lane of @loop store to a place of its own that it computes or loads, and not to a
 * private array? Gathers and scatters access one element after the other, as work-items do.
 */
bool vectoriser::scatters(const Loop &loop)
{
	return any_of(loop.blocks(), [&](BasicBlock *block) {
		return any_of(*block, [&](Instruction &inst) {
			auto *store = dyn_cast<StoreInst>(&inst);
			Value *pointer = store ? store->getPointerOperand() : nullptr;

			return pointer && !isa<AllocaInst>(getUnderlyingObject(pointer)) &&
			       shape_of(pointer).kind == shape::VARYING && !is_linear(pointer);
		});
	});
}

/*
 * Do lanes leave @loop where a number that is a stride apart from lane to lane passes a bound of
 * all of them? They leave it about together: work-items share the iterations of a group or range.
 */
bool vectoriser::counts_to_bound(const Loop &loop)
{
	SmallVector<BasicBlock *> leaving;

	loop.getExitingBlocks(leaving);
	return all_of(leaving, [&](BasicBlock *block) {
		auto *branch = dyn_cast<BranchInst>(block->getTerminator());
		auto *compare = branch && branch->isConditional() ?
			dyn_cast<ICmpInst>(branch->getCondition()) : nullptr;

		return !splits(block) ||
		       (compare && shape_of(compare->getOperand(0)).kind == shape::STRIDED &&
			shape_of(compare->getOperand(1)).kind == shape::UNIFORM);
	});
}

/* Cycles of a lane for a vector of several iterations: it is loaded and transposed, or stored. */
static const double walk_cost = 1;

/* Cycles of a lane for a gather or scatter; single accesses in the cache take half of one. */
static const double gather_cost = 1.25;

/* Cycles from a value to the next operation on it */
static double latency_of(const Instruction &inst)
{
	if (isa<PHINode>(inst) || isa<GetElementPtrInst>(inst) || isa<TruncInst>(inst) ||
	    isa<ZExtInst>(inst) || isa<FreezeInst>(inst))
		return 0;
	if (isa<LoadInst>(inst))
		return 4;
	if (inst.isIntDivRem() || inst.getOpcode() == Instruction::FDiv)
		return 12;
	if (auto *call = dyn_cast<IntrinsicInst>(&inst))
		return call->getIntrinsicID() == Intrinsic::fmuladd ||
		       call->getIntrinsicID() == Intrinsic::fma ? 4 : 2;
	if (isa<CallBase>(inst))
		return 20;
	if (inst.getType()->isFPOrFPVectorTy() || isa<FCmpInst>(inst) ||
	    inst.getOpcode() == Instruction::Mul)
		return isa<SelectInst>(inst) ? 1 : 3;
	return 1;
}

/* Cycles that an iteration of the innermost @loop waits for the one before. */
static double recurrence_of(const Loop &loop, const LoopInfo &loops)
{
	LoopBlocksRPO blocks(const_cast<Loop *>(&loop));
	double longest = 0;

	blocks.perform(&loops);
	for (PHINode &phi : loop.getHeader()->phis()) {
		DenseMap<const Value *, double> at;

		at[&phi] = 0;
		for (BasicBlock *block : blocks)
			for (Instruction &inst : *block) {
				double last = -1;

				if (isa<PHINode>(inst) && block == loop.getHeader())
					continue;
				for (Value *operand : inst.operands())
					if (auto known = at.find(operand); known != at.end())
						last = std::max(last, known->second);
				if (last >= 0)
					at[&inst] = last + latency_of(inst);
			}
		longest = std::max(longest, at.lookup(phi.getIncomingValueForBlock(
						    loop.getLoopLatch())));
	}
	return longest;
}

/* Does a condition in @loop depend on data, rather than on the iteration alone? */
static bool depends_on_data(const Value *condition, const Loop &loop, ScalarEvolution &evolution)
{
	auto *compare = dyn_cast<ICmpInst>(condition);

	return !compare || any_of(compare->operands(), [&](Value *operand) {
		return SCEVExprContains(evolution.getSCEV(operand), [&](const SCEV *part) {
			return isa<SCEVUnknown>(part) && !evolution.isLoopInvariant(part, &loop);
		});
	});
}

/* Cycles of @lanes work-items, one after the other, in an iteration of the innermost @loop. */
double vectoriser::cycles_of_items(const Loop &loop, ScalarEvolution &evolution)
{
	double issued = 0, branches = 0;

	for (BasicBlock *block : loop.blocks()) {
		auto *branch = dyn_cast<BranchInst>(block->getTerminator());

		if (rare_blocks.contains(block))
			continue;
		for (Instruction &inst : *block)
			issued += inst.isIntDivRem() ? divider * issue_width :
				  isa<IntrinsicInst>(inst) ? std::min(scalar_cost(inst), 1.) :
							     scalar_cost(inst);
		if (branch && branch->isConditional() && splits(block) &&
		    !loop.isLoopExiting(block) &&
		    depends_on_data(branch->getCondition(), loop, evolution))
			branches += unpredictable;
	}
	return lanes * (std::max(issued / issue_width, recurrence_of(loop, loops)) + branches);
}

/*
 * The same of all lanes at once. What they scatter to private arrays, or to a place that they
 * load and compute, such as a counter, is in the cache before they gather from there: stores of
 * single elements are forwarded to loads, those of lanes are not.
 */
double vectoriser::cycles_of_lanes(const Loop &loop, ScalarEvolution &evolution,
				   AAResults &aliases, bool walks_along)
{
	const SmallVector<walk> walks = can_version(loop, evolution, aliases) ?
		find_walks(loop, evolution) : find_walks(loop, evolution, aliases);
	SmallPtrSet<const Value *, 4> loaded, stored;
	double sum = 0;

	auto cycles_of_access = [&](Instruction &inst) {
		const Align align = getLoadStoreAlignment(&inst);
		Type *type = getLoadStoreType(&inst);
		auto *load = dyn_cast<LoadInst>(&inst);

		if (walks_along)
			return 1.;
		return (load ? can_gather(type, align) || can_gather_words(*load) :
			       can_scatter(type, align)) ? gather_cost : .5;
	};

	for (BasicBlock *block : loop.blocks()) {
		if (rare_blocks.contains(block))
			continue;
		for (Instruction &inst : *block) {
			const bool access = isa<LoadInst>(inst) || isa<StoreInst>(inst);
			Value *pointer = access ? getLoadStorePointerOperand(&inst) : nullptr;
			const bool apart = access && shape_of(pointer).kind == shape::VARYING;

			auto walked = find_if(walks, [&](const walk &w) {
				return w.inst == &inst;
			});
			sum += walked != walks.end() ? walk_cost * lanes / walked->elements() :
			       vector_cost(inst, false) * (apart ? cycles_of_access(inst) : .5);
			if (access && is_walk(inst, loop, evolution))
				sum += missed * lanes;
			else if (isa<StoreInst>(inst) && is_apart(*pointer) &&
				 pointer->getType()->getPointerAddressSpace() == GLOBAL &&
				 evolution.isLoopInvariant(evolution.getSCEV(pointer), &loop))
				sum += missed_store * lanes;
			if (!apart || is_walk(inst, loop, evolution, true))
				continue;
			const Value *array = getUnderlyingObject(pointer);
			(isa<LoadInst>(inst) ? loaded : stored)
				.insert(isa<AllocaInst>(array) ? array : pointer);
		}
	}
	for (const Value *place : stored)
		if (loaded.contains(place))
			sum += missed * lanes;
	return sum;
}

bool vectoriser::gains_from_walks()
{
	access_analyses all(item, dt, loops);
	ScalarEvolution &evolution = all.evolution;
	double one = 0, at_once = 0;
	SmallPtrSet<const Loop *, 8> walks, scattered;

	for (const Loop *loop : loops.getLoopsInPreorder()) {
		const unsigned times = evolution.getSmallConstantTripCount(loop);

		/* Lists of different lengths are find_outlined()'s. */
		if (!loop->isInnermost() ||
		    (is_divergent_loop(loop) && !counts_to_bound(*loop)))
			continue;
		if (scatters(*loop))
			scattered.insert(loop);
		if (is_divergent_loop(loop) || (times && times < least_walked))
			continue;
		for (BasicBlock *block : loop->blocks())
			for (Instruction &inst : *block)
				if ((isa<LoadInst>(inst) || isa<StoreInst>(inst)) &&
				    is_walk(inst, *loop, evolution))
					walks.insert(loop);
	}
	const bool walks_along = !walks.empty();
	const auto &chosen = walks_along ? walks : scattered;
	if (chosen.empty())
		return false;
	const double gain = walks_along ? gain_of_walks :
			    all_of(chosen, [&](const Loop *loop) {
				    return may_walk(*loop, evolution);
			    }) ? gain_of_steps : gain_of_scatters;
	for (const Loop *loop : loops.getLoopsInPreorder())
		if (chosen.contains(loop)) {
			const double times = weight_of(loop->getLoopDepth() - 1) * walked;

			one += times * cycles_of_items(*loop, evolution);
			at_once += times * cycles_of_lanes(*loop, evolution, all.aliases,
							   walks_along);
		}
	for (BasicBlock &block : item)
		if (!chosen.contains(loops.getLoopFor(&block)))
			for (Instruction &inst : block) {
				const double times = times_of(block);

				one += times * lanes * scalar_cost(inst) / issue_width;
				at_once += times * .5 * vector_cost(inst, false);
			}
	return one < gain * at_once;
}

bool vectoriser::gains_from_loops()
{
	TargetLibraryInfoImpl names((Triple(item.getParent()->getTargetTriple())));
	TargetLibraryInfo library(names);
	AssumptionCache assumptions(item);
	double one = 0, at_once = 0;

	if (!has_loops(item) || !prepare())
		return false;
	find_divergent_loops();
	ScalarEvolution evolution(item, library, assumptions, dt, loops);
	SmallPtrSet<const Loop *, 8> vector_loops;
	for (const Loop *loop : loops.getLoopsInPreorder())
		if (is_vector_loop(*loop, evolution, library))
			vector_loops.insert(loop);
	if (vector_loops.empty())
		return gains_from_walks();
	for (BasicBlock &block : item) {
		const Loop *loop = loops.getLoopFor(&block);
		const bool fast = vector_loops.contains(loop);
		const double times = fast ? weight_of(loop->getLoopDepth() - 1) * iterations :
					    times_of(block);

		for (Instruction &inst : block) {
			one += times * scalar_cost(inst) * (fast ? 1 : lanes);
			at_once += times * vector_cost(inst, false);
		}
	}
	return one < gain_of_loops * at_once || gains_from_walks();
}

bool gains_from_inner_loops(Function &item, Argument &x, unsigned lanes, TargetMachine &target)
{
	const TargetTransformInfo costs = target.getTargetTransformInfo(item);

	return vectoriser(item, x, lanes, costs).gains_from_loops();
}

/* Work in a loop that is short beside how long an iteration waits for the one before */
static const double waits_for_itself = 3.5;

/*
 * Do lanes store along rows of their own, while each iteration waits for the one before? Rows some
 * powers of 2 apart share the sets of the first cache, which have 8 to 12 ways: those of 16 lanes
 * evict each other. Half of the lanes take no longer where rows do not, as they wait as long.
 */
bool vectoriser::waits_along_rows()
{
	if (!has_loops(item) || !prepare())
		return false;
	find_divergent_loops();
	access_analyses all(item, dt, loops);
	return any_of(loops.getLoopsInPreorder(), [&](const Loop *loop) {
		double cost = 0;
		bool walks = false;

		if (!loop->isInnermost())
			return false;
		for (BasicBlock *block : loop->blocks())
			for (Instruction &inst : *block) {
				cost += scalar_cost(inst);
				walks |= isa<StoreInst>(inst) &&
					 is_walk(inst, *loop, all.evolution);
			}
		return walks && cost <= waits_for_itself * recurrence_of(*loop, loops);
	});
}

bool waits_along_rows(Function &item, Argument &x, unsigned lanes, TargetMachine &target)
{
	const TargetTransformInfo costs = target.getTargetTransformInfo(item);

	return vectoriser(item, x, lanes, costs).waits_along_rows();
}
