// SPDX-License-Identifier: MIT
/*
 * divergence.cc - which values and branches differ between work-items
 *
 * LLVM's uniformity analysis finds what depends on the sources of divergence: through operands,
 * and through branches. A phi differs where two disjoint paths from a divergent branch meet, and so
 * does what leaves a loop from which some work-items go in another iteration than others.
 *
 * The analysis of LLVM 19 may end its search for such joins while two labels are still on their
 * way: those of a block with both ends of the region below it,
 *
 *	a -> b, c	divergent
 *	b -> t, e	c -> t, e	uniform
 *	t .. j		e .. j		each with divergent branches on the way
 *
 * miss j. So the joins of each divergent branch are searched for once more here, to the end, and
 * phis that differ but were not found are sources of divergence for another analysis. Nor does it
 * find phis of constants at the exit of a loop that work-items leave in different iterations and on
 * different edges.
 */
#include "agree.h"
#include "quotients.h"
#include "vectoriser.h"

#include <map>

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/TargetTransformInfoImpl.h>
#include <llvm/IR/PassInstrumentation.h>

using namespace llvm;

namespace {

class sources_of_divergence
	: public TargetTransformInfoImplCRTPBase<sources_of_divergence> {
public:
	sources_of_divergence(const DataLayout &layout,
			      const SmallPtrSetImpl<const Value *> &sources)
		: TargetTransformInfoImplCRTPBase(layout), sources(sources)
	{
	}

	bool hasBranchDivergence(const Function *f = nullptr) const { return true; }

	bool isSourceOfDivergence(const Value *v) const
	{
		auto *inst = dyn_cast<Instruction>(v);

		if (sources.contains(v))
			return true;
		return inst && !inst->getType()->isVoidTy() &&
		       (isa<AllocaInst>(inst) || vectoriser::needs_lanes(*inst));
	}

	bool isAlwaysUniform(const Value *v) const
	{
		auto *inst = dyn_cast<Instruction>(v);

		return inst && (is_agreement(*inst) || is_first_lane(*inst) ||
				is_of_every_lane(*inst));
	}

private:
	const SmallPtrSetImpl<const Value *> &sources;
};

/*
 * The joins of divergent branches. Each way of a branch has a label, which the blocks that it leads
 * to take over; one that gets different labels is a join, and its own label from there on.
 *
 * Blocks are visited in an order in which all that lead to a block come before it. In the loops
 * around the branch the header comes last, since work-items of the next iteration are those that
 * have met in it: its label goes to the exits of the loop. An exit with another label is one that
 * work-items leave in different iterations. Where one block is left to visit all have met in it,
 * and one label goes on: what is after the region below the branch is not searched.
 */
class joins {
public:
	explicit joins(Function &f);

	void find(BasicBlock &branching);

	SmallPtrSet<BasicBlock *, 8> met;
	SmallSetVector<std::pair<BasicBlock *, const Loop *>, 4> left;	/* exit, of which loop */

private:
	using position = std::pair<unsigned, unsigned>;

	position position_of(BasicBlock *block);
	bool label(BasicBlock *block, BasicBlock *with);
	ArrayRef<BasicBlock *> exits_of(const Loop &loop);

	DominatorTree dt;
	LoopInfo loops;
	DenseMap<BasicBlock *, unsigned> index;
	BasicBlock *from = nullptr;
	DenseMap<const Loop *, SmallVector<BasicBlock *>> exits;
	DenseMap<BasicBlock *, BasicBlock *> labels;
	std::map<position, BasicBlock *> open;
};

} /* namespace */

joins::joins(Function &f) : dt(f), loops(dt)
{
	ReversePostOrderTraversal<Function *> blocks(&f);

	for (BasicBlock *block : blocks)
		index[block] = index.size();
}

/* Loops around the branch from inside to outside; in each, its header last. */
joins::position joins::position_of(BasicBlock *block)
{
	const Loop *around = loops.getLoopFor(from);

	while (around && !around->contains(block))
		around = around->getParentLoop();
	const unsigned outward = ~(around ? around->getLoopDepth() : 0);

	return { outward, around && around->getHeader() == block ? ~0u : index[block] };
}

/* Returns whether @block is a join. */
bool joins::label(BasicBlock *block, BasicBlock *with)
{
	BasicBlock *&now = labels[block];

	if (now == with)
		return false;
	const bool is_join = now;
	BasicBlock *next = is_join ? block : with;
	if (now != next)
		open[position_of(block)] = block;
	now = next;
	return is_join;
}

ArrayRef<BasicBlock *> joins::exits_of(const Loop &loop)
{
	auto [at, is_new] = exits.try_emplace(&loop);

	if (is_new)
		loop.getUniqueExitBlocks(at->second);
	return at->second;
}

void joins::find(BasicBlock &branching)
{
	from = &branching;
	labels.clear();
	open.clear();
	for (BasicBlock *next : successors(from)) {
		for (Loop *loop = loops.getLoopFor(from); loop && !loop->contains(next);
		     loop = loop->getParentLoop())
			left.insert({ next, loop });
		if (label(next, next))
			met.insert(next);
	}
	while (open.size() > 1) {
		BasicBlock *block = open.begin()->second, *with = labels[block];
		const Loop *loop = loops.getLoopFor(block);

		open.erase(open.begin());
		if (loop && loop->getHeader() == block && loop->contains(from)) {
			for (BasicBlock *exit : exits_of(*loop))
				if (label(exit, with))
					left.insert({ exit, loop });
			continue;
		}
		if (block == from)
			continue;
		for (BasicBlock *next : successors(block))
			if (label(next, with))
				met.insert(next);
	}
}

divergence::divergence(Function &f, const SmallPtrSetImpl<const Value *> &sources)
	: sources(sources.begin(), sources.end())
{
	analyses.registerPass([this] {
		return TargetIRAnalysis([this](const Function &f) {
			return TargetTransformInfo(sources_of_divergence(f.getDataLayout(),
									 this->sources));
		});
	});
	analyses.registerPass([] { return DominatorTreeAnalysis(); });
	analyses.registerPass([] { return CycleAnalysis(); });
	analyses.registerPass([] { return UniformityInfoAnalysis(); });
	analyses.registerPass([] { return PassInstrumentationAnalysis(); });
	do {
		analyses.clear();
		info = &analyses.getResult<UniformityInfoAnalysis>(f);
	} while (add_missed(f));
}

/* May @phi have a value that differs between iterations of @loop? */
static bool is_of_iteration(const PHINode &phi, const Loop &loop)
{
	return any_of(phi.incoming_values(), [&](const Value *value) {
		auto *inst = dyn_cast<Instruction>(value);

		return inst && loop.contains(inst);
	});
}

/* Makes phis that differ, but were not found to, sources; false if there are none. */
bool divergence::add_missed(Function &f)
{
	const size_t before = sources.size();

	/* The search takes the square of the branches. */
	auto has_same = [&](BasicBlock &block) {
		return any_of(block.phis(), [&](PHINode &phi) { return !differs(&phi); });
	};
	if (none_of(f, has_same) || none_of(f, [&](BasicBlock &block) { return splits(block); }))
		return false;
	joins all(f);
	for (BasicBlock &block : f)
		if (splits(block))
			all.find(block);
	auto add_phis = [&](BasicBlock &block, const Loop *left) {
		for (PHINode &phi : block.phis())
			if (!differs(&phi) && (!phi.hasConstantOrUndefValue() ||
					       (left && is_of_iteration(phi, *left))))
				sources.insert(&phi);
	};
	for (BasicBlock *join : all.met)
		add_phis(*join, nullptr);
	for (auto [exit, loop] : all.left)
		add_phis(*exit, loop);
	return sources.size() > before;
}
