// SPDX-License-Identifier: MIT
/*
 * sums.cc - sums of products that a loop waits for
 *
 * A fused multiply-add takes four cycles from each of its operands to the result, an addition two
 * or three. Where a loop waits for a sum from iteration to iteration, products that do not depend
 * on it are computed ahead, and only the additions are waited for:
 *
 *	sum = fma(a[i], b[i], sum)	product = a[i] * b[i], sum = sum + product
 *
 * A loop of many sums, or of much else, keeps the processor busy while each sum waits. It would
 * only have more to do, and stays what it is.
 *
 * This is for mad(), and for what the source allows to contract; fma() is always one operation.
 * It is decided before work-items become lanes, so that all of them round alike, and done after
 * that, as lanes weigh operations. In between the flag for reciprocals (arcp), which means nothing
 * for a multiply-add and which vectors keep, tells those that become two.
 */
#include "rows.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/LoopIterator.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

using namespace llvm;

/* Loops with more are busy */
static const unsigned most_instructions = 2000, most_phis = 32;

/* What processors begin in a cycle: operations on numbers, and of any kind */
static const unsigned begun_numbers = 2, begun = 4;

/* Operations of a call */
static const unsigned long_call = 100;

/* What a processor has to begin on the longest way to a place in a loop */
struct work {
	unsigned numbers = 0, all = 0;

	void join(const work &other)
	{
		numbers = std::max(numbers, other.numbers);
		all = std::max(all, other.all);
	}
};

struct fused {
	Value *x = nullptr, *y = nullptr, *addend = nullptr;
};

static bool is_multiply_add(const Instruction &inst)
{
	auto *call = dyn_cast<IntrinsicInst>(&inst);

	return call && call->getIntrinsicID() == Intrinsic::fmuladd;
}

/* The operands of a product and a sum that become one instruction; none, if @inst is no such sum */
static fused as_fused(const Instruction &inst)
{
	/* Of halves each operation is two conversions, too. */
	if (inst.getType()->getScalarType()->isHalfTy())
		return {};
	if (is_multiply_add(inst))
		return { inst.getOperand(0), inst.getOperand(1), inst.getOperand(2) };
	if ((inst.getOpcode() != Instruction::FAdd && inst.getOpcode() != Instruction::FSub) ||
	    !inst.hasAllowContract())
		return {};
	for (unsigned i : { 0, 1 }) {
		auto *product = dyn_cast<Instruction>(inst.getOperand(i));

		if (product && product->getOpcode() == Instruction::FMul &&
		    product->hasAllowContract() && product->hasOneUse())
			return { product->getOperand(0), product->getOperand(1),
				 inst.getOperand(1 - i) };
	}
	return {};
}

/* Is @inst the first element of what is repeated in all elements? */
static bool begins_splat(const Instruction &inst)
{
	return isa<InsertElementInst>(inst) && isa<PoisonValue>(inst.getOperand(0));
}

static void add(work &sum, const Instruction &inst)
{
	const bool is_part = begins_splat(inst) ||
		(isa<ExtractElementInst>(inst) && all_of(inst.users(), [](const User *user) {
			return begins_splat(*cast<Instruction>(user));
		}));

	if ((!is_operation(inst) && !inst.isTerminator()) || is_part)
		return;
	/* Lanes transpose what they load. Functions that are left are long. */
	auto *loaded = isa<LoadInst>(inst) ? dyn_cast<FixedVectorType>(inst.getType()) : nullptr;
	const bool is_long = isa<CallInst>(inst) && !isa<IntrinsicInst>(inst);
	sum.all += loaded ? loaded->getNumElements() : is_long ? long_call : 1;
	sum.numbers += inst.getType()->isFPOrFPVectorTy() && !isa<LoadInst>(inst) &&
		       !isa<ShuffleVectorInst>(inst);
}

namespace {

/* An innermost loop */
class summing_loop {
public:
	summing_loop(Loop &loop, LoopInfo &loops) : loop(loop), order(&loop)
	{
		order.perform(&loops);
	}

	/* Are sums what an iteration waits for, also if each of them is two operations? */
	bool waits();
	void mark();

private:
	work longest_way() const;
	void follow(PHINode &sum);

	Loop &loop;
	LoopBlocksRPO order;
	unsigned cycles = 0;
	SetVector<Instruction *> sums;
};

work summing_loop::longest_way() const
{
	DenseMap<const BasicBlock *, work> until;
	work longest;

	for (BasicBlock *block : order) {
		work sum;

		for (const BasicBlock *from : predecessors(block))
			sum.join(until.lookup(from));
		for (const Instruction &inst : *block)
			add(sum, inst);
		until[block] = sum;
		longest.join(sum);
	}
	return longest;
}

/* The cycles from @sum to its value in the next iteration, and the sums on the way */
void summing_loop::follow(PHINode &sum)
{
	DenseMap<const Value *, unsigned> ready = { { &sum, 0 } };
	auto *next = dyn_cast<Instruction>(sum.getIncomingValueForBlock(loop.getLoopLatch()));
	auto depends = [&](const Value *v) { return ready.count(v) > 0; };
	SetVector<Instruction *> way;

	for (BasicBlock *block : order)
		for (Instruction &inst : *block)
			if (&inst != &sum && any_of(inst.operands(), depends))
				ready[&inst] = largest_of_operands(inst, ready) + cycles_of(inst);
	if (!next || !depends(next))
		return;
	cycles = std::max(cycles, ready[next]);
	way.insert(next);
	for (unsigned i = 0; i < way.size(); i++) {
		Instruction &inst = *way[i];
		const fused of = as_fused(inst);

		if (&inst == &sum)
			continue;
		if (of.addend && depends(of.addend) && !depends(of.x) && !depends(of.y))
			sums.insert(&inst);
		for (Value *operand : inst.operands())
			if (depends(operand))
				way.insert(cast<Instruction>(operand));
	}
}

bool summing_loop::waits()
{
	const work longest = longest_way();
	unsigned phis = 0;

	if (!loop.getLoopLatch() || longest.all > most_instructions)
		return false;
	for (PHINode &phi : loop.getHeader()->phis())
		if (phi.getType()->isFPOrFPVectorTy() && phis++ < most_phis)
			follow(phi);
	return !sums.empty() && longest.numbers + sums.size() <= begun_numbers * cycles &&
	       longest.all + sums.size() <= begun * cycles;
}

void summing_loop::mark()
{
	for (Instruction *sum : sums)
		if (isa<CallInst>(sum))
			sum->setHasAllowReciprocal(true);
		else
			sum->setHasAllowContract(false);
}

} // namespace

static void mark_sums(Function &f)
{
	const DominatorTree dt(f);
	LoopInfo loops(dt);

	for (Instruction &inst : instructions(f))
		if (is_multiply_add(inst))
			inst.setHasAllowReciprocal(false);
	for (Loop *loop : loops.getLoopsInPreorder()) {
		if (!loop->isInnermost())
			continue;
		summing_loop summing(*loop, loops);
		if (summing.waits())
			summing.mark();
	}
}

void mark_sums(Module &m)
{
	for (Function &f : m)
		if (!f.isDeclaration())
			mark_sums(f);
}

void split_sums(Module &m)
{
	for (Function &f : m)
		for (Instruction &inst : make_early_inc_range(instructions(f))) {
			if (!is_multiply_add(inst) || !inst.hasAllowReciprocal())
				continue;
			FastMathFlags flags = inst.getFastMathFlags();
			flags.setAllowContract(false);
			IRBuilder<> b(&inst);
			b.setFastMathFlags(flags);
			Value *product = b.CreateFMul(inst.getOperand(0), inst.getOperand(1));
			inst.replaceAllUsesWith(b.CreateFAdd(product, inst.getOperand(2)));
			inst.eraseFromParent();
		}
}
