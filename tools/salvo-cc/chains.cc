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
 * In each long block the longest chain is compared with the number of operations, and in shorter
 * ones its cycles with the number of instructions: products and divisions by constants keep the
 * processor waiting longest. Lanes of 64 bits or of vectors fill several registers already, and
 * twice as many would be too many.
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

/*
 * Blocks of fewer that still are worth a second vector, if one keeps the processor from beginning
 * an instruction in each cycle of the longest chain, while as many others wait
 */
static const unsigned short_block = 100, waiting = 64;

struct block_chain {
	unsigned operations = 0, accesses = 0, long_words = 0, longest = 0;
	unsigned instructions = 0, cycles = 0;
};

/* The instructions of an operation, and the cycles from its operands to its result */
struct duration {
	unsigned instructions, cycles;
};

bool is_operation(const Instruction &inst)
{
	return !isa<PHINode>(inst) && !isa<AllocaInst>(inst) && !isa<GetElementPtrInst>(inst) &&
	       !inst.isTerminator() && !inst.isDebugOrPseudoInst() && !isa<AssumeInst>(inst) &&
	       !inst.isLifetimeStartOrEnd();
}

/*
 * Of vectors of 512 bits. Products of 32 bits take two steps; quotients by constants are halves of
 * products. While it divides or takes a root a processor could begin as many others.
 */
static duration duration_of(const Instruction &inst)
{
	auto *call = dyn_cast<IntrinsicInst>(&inst);

	if (!is_operation(inst))
		return { 0, 0 };
	if (inst.getOpcode() == Instruction::FDiv ||
	    (call && call->getIntrinsicID() == Intrinsic::sqrt))
		return { 20, 18 };
	if (inst.getType()->isFPOrFPVectorTy())
		return { 1, 4 };
	switch (inst.getOpcode()) {
	case Instruction::Mul:
		return { 2, 10 };
	case Instruction::UDiv: case Instruction::SDiv:
		return { 7, 12 };
	case Instruction::URem: case Instruction::SRem:
		return { 10, 23 };
	default:
		return { 1, 1 };
	}
}

unsigned largest_of_operands(const Instruction &inst,
			     const DenseMap<const Value *, unsigned> &values)
{
	unsigned largest = 0;

	for (const Value *operand : inst.operands())
		largest = std::max(largest, values.lookup(operand));
	return largest;
}

static block_chain measure(const BasicBlock &block)
{
	DenseMap<const Value *, unsigned> length, ready;
	block_chain sum;

	for (const Instruction &inst : block) {
		if (isa<PHINode>(inst))
			continue;
		const duration lasts = duration_of(inst);
		const unsigned done = largest_of_operands(inst, ready) + lasts.cycles;
		unsigned longest = largest_of_operands(inst, length);

		if (is_operation(inst)) {
			longest++;
			sum.operations++;
			sum.accesses += isa<LoadInst>(inst) || isa<StoreInst>(inst);
			sum.long_words += inst.getType()->getPrimitiveSizeInBits() > 32;
		}
		length[&inst] = longest;
		sum.longest = std::max(sum.longest, longest);
		ready[&inst] = done;
		sum.cycles = std::max(sum.cycles, done);
		sum.instructions += lasts.instructions;
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
		const bool is_long = chain.operations >= long_block &&
				     chain.operations < enough * chain.longest;
		const bool is_slow = chain.instructions >= short_block &&
				     chain.instructions + waiting < chain.cycles;

		if ((is_long || is_slow) && chain.operations >= 2 * chain.long_words)
			bound += times * chain.operations;
	}
	return bound > operations / 2 && operations >= least_work * accesses;
}

unsigned cycles_of(const Instruction &inst)
{
	return duration_of(inst).cycles;
}

/* Is @loop, a block, a chain that takes at least half as many cycles as it has instructions? */
static bool is_short_chain(const Loop &loop)
{
	const BasicBlock &block = *loop.getHeader();
	DenseMap<const Value *, unsigned> ready;
	unsigned operations = 0, instructions = 0, longest = 0, values = 0;

	for (const Instruction &inst : block) {
		if (isa<PHINode>(inst)) {
			values++;
			continue;
		}
		if (inst.mayReadOrWriteMemory() || inst.getType()->isVectorTy() ||
		    (inst.isIntDivRem() && !isa<Constant>(inst.getOperand(1))) ||
		    inst.getType()->getPrimitiveSizeInBits() > 32)
			return false;
		const duration lasts = duration_of(inst);
		ready[&inst] = largest_of_operands(inst, ready) + lasts.cycles;
		operations += is_operation(inst);
		instructions += lasts.instructions;
	}
	for (const PHINode &phi : block.phis())
		longest = std::max(longest, ready.lookup(phi.getIncomingValueForBlock(&block)));
	return values <= most_values && operations <= most_operations &&
	       instructions <= 2 * longest;
}

bool has_short_chains(Function &f)
{
	const DominatorTree dt(f);
	const LoopInfo loops(dt);

	return !loops.empty() && all_of(loops.getLoopsInPreorder(), [](const Loop *loop) {
		return loop->getNumBlocks() == 1 && is_short_chain(*loop);
	});
}
