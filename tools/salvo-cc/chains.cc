// SPDX-License-Identifier: MIT
/*
 * chains.cc - work-items that wait for their own results
 *
 * Where each operation needs the result of the one before, as in the rounds of a hash function, a
 * processor that could begin several vector operations in a cycle begins one in each latency of
 * them. Iterations of a loop overlap only as far as the reorder buffer reaches, which long
 * blocks exceed. A second vector of work-items is a chain of its own.
 *
 *	a += f(b, c, d) + k; a = rotate(a, 7) + b; d += f(a, b, c) + k; ...
 *
 * In each long block the longest chain is compared with the number of operations. Lanes of 64 bits
 * or of vectors fill several registers already, and twice as many would be too many.
 *
 * Loops of a few operations that are one chain from iteration to iteration, as a generator of
 * random numbers, leave most of a processor idle even with two vectors; four of them still fit into
 * the registers.
 */
#include "rows.h"

#include <cmath>

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

using namespace llvm;

/* Operations of a block from which on iterations overlap little */
static const unsigned long_block = 250;

/* Operations for each of the longest chain from which on the processor is busy without a second */
static const unsigned enough = 8;

/* Operations for each access to memory below which that is what takes the time */
static const unsigned least_work = 8;

/* Operations and values of a loop whose four vectors are in registers */
static const unsigned most_operations = 40, most_values = 3;

/* Cycles of an operation whose result takes more than one */
static const unsigned product_cycles = 4;

struct block_chain {
	unsigned operations = 0, accesses = 0, long_words = 0, longest = 0;
};

static bool is_operation(const Instruction &inst)
{
	return !isa<PHINode>(inst) && !isa<AllocaInst>(inst) && !isa<GetElementPtrInst>(inst) &&
	       !inst.isTerminator() && !inst.isDebugOrPseudoInst() && !isa<AssumeInst>(inst) &&
	       !inst.isLifetimeStartOrEnd();
}

static block_chain measure(const BasicBlock &block)
{
	DenseMap<const Value *, unsigned> length;
	block_chain sum;

	for (const Instruction &inst : block) {
		unsigned longest = 0;

		if (isa<PHINode>(inst))
			continue;
		for (const Value *operand : inst.operands())
			longest = std::max(longest, length.lookup(operand));
		if (is_operation(inst)) {
			longest++;
			sum.operations++;
			sum.accesses += isa<LoadInst>(inst) || isa<StoreInst>(inst);
			sum.long_words += inst.getType()->getPrimitiveSizeInBits() > 32;
		}
		length[&inst] = longest;
		sum.longest = std::max(sum.longest, longest);
	}
	return sum;
}

bool is_bound_by_chains(Function &f)
{
	const DominatorTree dt(f);
	const LoopInfo loops(dt);
	double bound = 0, operations = 0, accesses = 0;

	for (const BasicBlock &block : f) {
		const block_chain chain = measure(block);
		const double times = std::pow(average_iterations, loops.getLoopDepth(&block));

		operations += times * chain.operations;
		accesses += times * chain.accesses;
		if (chain.operations >= long_block &&
		    chain.operations < enough * chain.longest &&
		    chain.operations >= 2 * chain.long_words)
			bound += times * chain.operations;
	}
	return bound > operations / 2 && operations >= least_work * accesses;
}

unsigned cycles_of(const Instruction &inst)
{
	const bool is_product = inst.getOpcode() == Instruction::Mul ||
				inst.getType()->isFPOrFPVectorTy();

	return !is_operation(inst) ? 0 : is_product ? product_cycles : 1;
}

/* Is @loop, a block, a chain that takes at least half as many cycles as it has operations? */
static bool is_short_chain(const Loop &loop)
{
	const BasicBlock &block = *loop.getHeader();
	DenseMap<const Value *, unsigned> ready;
	unsigned operations = 0, longest = 0, values = 0;

	for (const Instruction &inst : block) {
		if (isa<PHINode>(inst)) {
			values++;
			continue;
		}
		if (inst.mayReadOrWriteMemory() || inst.isIntDivRem() ||
		    inst.getOpcode() == Instruction::FDiv || inst.getType()->isVectorTy() ||
		    inst.getType()->getPrimitiveSizeInBits() > 32)
			return false;
		for (const Value *operand : inst.operands())
			ready[&inst] = std::max(ready.lookup(&inst), ready.lookup(operand));
		ready[&inst] += cycles_of(inst);
		operations += is_operation(inst);
	}
	for (const PHINode &phi : block.phis())
		longest = std::max(longest, ready.lookup(phi.getIncomingValueForBlock(&block)));
	return values <= most_values && operations <= most_operations && operations <= 2 * longest;
}

bool has_short_chains(Function &f)
{
	const DominatorTree dt(f);
	const LoopInfo loops(dt);

	return !loops.empty() && all_of(loops.getLoopsInPreorder(), [](const Loop *loop) {
		return loop->getNumBlocks() == 1 && is_short_chain(*loop);
	});
}
