// SPDX-License-Identifier: MIT
/*
 * prefetch.cc - prefetches what a loop loads at a stride of cache lines
 *
 * Where matrices are stored by columns, as sparse ones in ELLPACK form, lanes load neighbours in
 * memory, and the next ones in the next iteration, a column later:
 *
 *	do {					do {
 *		sum += a[i] * v[column[i]]		prefetch(&a[i + 8 * rows])
 *		i += rows				prefetch(&column[i + 8 * rows])
 *	} while (...)					...
 *
 * The processor's prefetchers do not follow such a stride. One within a page they do, but not at
 * once, and 64 work-items that share a sparse row leave it after a few iterations; the next rows
 * are behind it. Where loads wait for memory the processor executes what is behind them, a few
 * hundred micro-operations; a gather takes some forty of these, so that the loads of about three
 * iterations are on their way at a time. A loop without gathers has those of many iterations, and
 * gains nothing. Loops over lanes in one with gathers, as of atomic operations, do not count.
 *
 * Where the start of each column is in a table (jagged diagonals), as that of the column eight
 * iterations ahead may be past the end of the table, what the next lanes load of the same column is
 * prefetched:
 *
 *	sum += a[start[i] + row] * ...		prefetch(&a[start[i] + row + 16])
 *
 * What is prefetched past the end of the columns or of the buffer is harmless: there are no faults.
 */
#include "salvo_cc.h"

#include "analyses.h"

#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

using namespace llvm;

static const int iterations_ahead = 8;
static const uint64_t cache_line = 64;
static const uint64_t skipped = 2 * cache_line;	/* least stride that is a constant */

static bool is_gather(const Instruction &inst)
{
	auto *call = dyn_cast<IntrinsicInst>(&inst);

	return call && call->getIntrinsicID() == Intrinsic::masked_gather;
}

/* The address of a vector of neighbours in memory, or NULL */
static Value *address_of(Instruction &inst)
{
	auto *call = dyn_cast<IntrinsicInst>(&inst);

	if (call && call->getIntrinsicID() == Intrinsic::masked_load)
		return call->getArgOperand(0);
	return isa<LoadInst>(inst) && inst.getType()->isVectorTy() ?
		getLoadStorePointerOperand(&inst) : nullptr;
}

/* What @value grows by in each iteration of @loop, or NULL if that differs between iterations */
static const SCEV *step_of(const SCEV *value, const Loop &loop, ScalarEvolution &evolution)
{
	const SCEV *step = nullptr;

	if (evolution.isLoopInvariant(value, &loop))
		return evolution.getZero(evolution.getEffectiveSCEVType(value->getType()));
	if (auto *moving = dyn_cast<SCEVAddRecExpr>(value)) {
		if (moving->getLoop() == &loop && moving->isAffine())
			return moving->getStepRecurrence(evolution);
	} else if (auto *sum = dyn_cast<SCEVAddExpr>(value)) {
		SmallVector<const SCEV *> steps;

		for (const SCEV *part : sum->operands())
			if (const SCEV *one = step_of(part, loop, evolution))
				steps.push_back(one);
		if (steps.size() == sum->getNumOperands())
			return evolution.getAddExpr(steps);
	} else if (auto *product = dyn_cast<SCEVMulExpr>(value)) {
		if (isa<SCEVConstant>(product->getOperand(0)) && product->getNumOperands() == 2) {
			step = step_of(product->getOperand(1), loop, evolution);
			return step ? evolution.getMulExpr(product->getOperand(0), step) : nullptr;
		}
	} else if (auto *cast = dyn_cast<SCEVIntegralCastExpr>(value)) {
		step = step_of(cast->getOperand(), loop, evolution);
		/* Wrong for an index that wraps around, which only makes the prefetch useless. */
		return !step || isa<SCEVTruncateExpr>(cast) ? nullptr :
		       evolution.getSignExtendExpr(step, cast->getType());
	}
	return nullptr;
}

/*
 * Is @value a number out of a table that the loop walks through? Where no lane needs it, it is not
 * loaded.
 */
static bool is_of_table(Value *value, const Loop &loop, ScalarEvolution &evolution)
{
	if (auto *phi = dyn_cast<PHINode>(value))
		return loop.contains(phi) && phi->getParent() != loop.getHeader() &&
		       all_of(phi->incoming_values(), [&](Value *one) {
			       return isa<UndefValue>(one) ||
				      (isa<LoadInst>(one) && is_of_table(one, loop, evolution));
		       });
	auto *load = dyn_cast<LoadInst>(value);
	return load && loop.contains(load) && !load->getType()->isVectorTy() &&
	       step_of(evolution.getSCEV(load->getPointerOperand()), loop, evolution);
}

/* Does @value move by what is out of a table, and else by a step? */
static bool follows_table(const SCEV *value, const Loop &loop, ScalarEvolution &evolution)
{
	if (auto *unknown = dyn_cast<SCEVUnknown>(value))
		return is_of_table(unknown->getValue(), loop, evolution);
	if (!isa<SCEVAddExpr, SCEVMulExpr, SCEVIntegralCastExpr>(value))
		return false;
	auto follows = [&](const SCEV *part) { return follows_table(part, loop, evolution); };
	return any_of(value->operands(), follows) &&
	       all_of(value->operands(), [&](const SCEV *part) {
		return follows(part) || step_of(part, loop, evolution);
	});
}

static bool is_far(const SCEV *step)
{
	auto *constant = dyn_cast<SCEVConstant>(step);

	return !constant || constant->getAPInt().abs().uge(skipped);
}

static bool changes_in_loops(const SCEV *value)
{
	return SCEVExprContains(value, [](const SCEV *part) { return isa<SCEVAddRecExpr>(part); });
}

static bool loads_vectors(Loop *loop)
{
	return any_of(loop->blocks(), [](BasicBlock *block) {
		return any_of(*block, [](Instruction &inst) {
			return is_gather(inst) || address_of(inst);
		});
	});
}

/* Has it gathers, and in the loops inside of it, as those over lanes, nothing of the kind? */
static bool waits_for_gathers(const Loop &loop)
{
	return none_of(loop, loads_vectors) && any_of(loop.blocks(), [](BasicBlock *block) {
		return any_of(*block, is_gather);
	});
}

static void prefetch(const Loop &loop, ScalarEvolution &evolution, SCEVExpander &expander)
{
	/* Without a step: by a table */
	SmallVector<std::pair<Instruction *, const SCEV *>> found;
	Instruction *before = loop.getLoopPredecessor()->getTerminator();

	for (BasicBlock *block : loop.blocks())
		for (Instruction &inst : *block) {
			Value *address = address_of(inst);
			const SCEV *moving = address ? evolution.getSCEV(address) : nullptr;
			const SCEV *step = moving ? step_of(moving, loop, evolution) : nullptr;

			if (step ? is_far(step) && !changes_in_loops(step) &&
				   expander.isSafeToExpandAt(step, before) :
				   moving && follows_table(moving, loop, evolution))
				found.push_back({ &inst, step });
		}
	for (auto [load, step] : found) {
		const uint64_t size = load->getDataLayout().getTypeStoreSize(load->getType());
		IRBuilder<> b(load);
		Value *ahead = b.getInt64(size);

		if (step) {
			const SCEV *bytes = evolution.getMulExpr(
				step, evolution.getConstant(step->getType(), iterations_ahead));
			ahead = expander.expandCodeFor(bytes, step->getType(), before);
		}
		Value *next = b.CreatePtrAdd(address_of(*load), ahead);
		for (uint64_t at = 0; at < size; at += cache_line)
			b.CreateIntrinsic(Intrinsic::prefetch, { next->getType() },
					  { b.CreatePtrAdd(next, b.getInt64(at)), b.getInt32(0),
					    b.getInt32(3), b.getInt32(1) });
	}
}

static void prefetch(Function &f)
{
	DominatorTree dt(f);
	LoopInfo loops(dt);
	access_analyses all(f, dt, loops);
	SCEVExpander expander(all.evolution, f.getDataLayout(), "prefetch");

	for (Loop *loop : loops.getLoopsInPreorder())
		if (loop->getLoopPredecessor() && waits_for_gathers(*loop))
			prefetch(*loop, all.evolution, expander);
}

void prefetch_columns(Module &m)
{
	for (Function &f : m)
		if (!f.isDeclaration() && any_of(instructions(f), is_gather))
			prefetch(f);
}
