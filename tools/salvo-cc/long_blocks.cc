// SPDX-License-Identifier: MIT
/*
 * long_blocks.cc - cuts long basic blocks into pieces, before instructions are selected
 *
 * LLVM selects and schedules the instructions of one block at a time, and much of that takes the
 * square of its length: each load is compared with all others, each join of the order of accesses
 * looks through all that it joins. Of a kernel of straight code, as generators and macros make it,
 * this was nearly all of the build.
 *
 * A value that one piece computes and another uses is in a register, as in one block; only the
 * fusion of a load or a comparison with its use ends at a cut. So a block is cut where few values
 * are alive, and no mask or condition.
 *
 * The pass runs after CodeGenPrepare, which would join the pieces. The passes of the code generator
 * that join blocks run when what takes that long is done.
 */
#include "salvo_cc.h"

#include <llvm/IR/Instructions.h>
#include <llvm/Pass.h>

using namespace llvm;

/* Instructions of a piece, at most and at least */
static const unsigned longest = 1000, shortest = 750;
/* What a mask or condition that is alive costs a cut; another value costs 1. */
static const unsigned condition_cost = 1000;

namespace {

class block_cutter : public FunctionPass {
public:
	block_cutter() : FunctionPass(id) {}

	bool runOnFunction(Function &f) override;

private:
	static char id;
};

char block_cutter::id;

} /* namespace */

/* For each instruction of a block: what a cut ahead of it costs */
static std::vector<unsigned> costs_of_cuts(ArrayRef<Instruction *> block)
{
	DenseMap<const Value *, unsigned> places, last_uses;
	std::vector<unsigned> costs(block.size() + 1);
	unsigned alive = 0;

	for (unsigned i = 0; i < block.size(); i++) {
		for (const Value *operand : block[i]->operands())
			if (places.contains(operand))
				last_uses[operand] = i;
		places[block[i]] = i;
	}
	for (auto [value, last] : last_uses) {
		const unsigned cost = value->getType()->isIntOrIntVectorTy(1) ? condition_cost : 1;

		costs[places[value] + 1] += cost;
		costs[last + 1] -= cost;
	}
	for (unsigned &cost : costs)
		cost = alive += cost;
	return costs;
}

/* The instructions of @block ahead of which it is cut */
static SmallVector<Instruction *> find_cuts(BasicBlock &block)
{
	std::vector<Instruction *> all;
	SmallVector<Instruction *> cuts;
	size_t begin = 0;

	for (Instruction &inst : block.instructionsWithoutDebug(false)) {
		all.push_back(&inst);
		/* Private variables stay in the function's first block, PHIs at its beginning. */
		if (isa<PHINode>(inst) || isa<AllocaInst>(inst))
			begin = all.size();
	}
	if (all.size() <= longest)
		return cuts;
	const std::vector<unsigned> costs = costs_of_cuts(all);
	while (all.size() - begin > longest) {
		auto first = costs.begin() + begin + shortest;

		begin = std::min_element(first, first + (longest - shortest)) - costs.begin();
		cuts.push_back(all[begin]);
	}
	return cuts;
}

bool block_cutter::runOnFunction(Function &f)
{
	SmallVector<BasicBlock *> blocks(make_pointer_range(f));
	bool changed = false;

	for (BasicBlock *block : blocks) {
		const SmallVector<Instruction *> cuts = find_cuts(*block);

		/* The last one first, as a cut moves all that is behind it. */
		for (Instruction *cut : reverse(cuts))
			block->splitBasicBlock(cut, "piece");
		changed |= !cuts.empty();
	}
	return changed;
}

FunctionPass *cut_long_blocks()
{
	return new block_cutter();
}
