// SPDX-License-Identifier: MIT
/*
 * sums.cc - products that are computed before the sum that they are added to
 *
 * A multiplication fused with the addition of what the iteration before has computed takes four
 * or five cycles, an addition on its own three or less. A loop of few operations waits for its
 * sum, and is faster with more of them.
 *
 *	s = fma(a[i], b[i], s)		p = a[i] * b[i], s = s + p
 *
 * OpenCL C leaves to the compiler what a * b + c and mad() are, but not fma(). Lanes have several
 * sums, and wait less: this is for work-items that run one after the other, be it a part of them
 * (vector_cost.cc), so that all of a row compute the same. It is decided by the cycles of an
 * iteration: those in which the last operation follows the first, and those in which all of them
 * are begun.
 */
#include "rows.h"
#include "vectoriser.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/LoopIterator.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

using namespace llvm;

/* Cycles of operations on floating-point numbers, and of others */
static const unsigned fused_cycles = 4, sum_cycles = 3, product_cycles = 4, other_cycles = 1;

/* Operations that begin in a cycle: on numbers, on vectors of the source, loads, all */
static const double begun = 2, begun_of_vectors = 3, loaded = 2, issued = 4;

/* Registers that are wider have no faster additions. */
static const unsigned max_bits = 256;

/* The part of the cycles that must be gained */
static const double least_gain = .9;

static bool is_sum(const Instruction &inst)
{
	return inst.getOpcode() == Instruction::FAdd || inst.getOpcode() == Instruction::FSub;
}

/* Does the code generator fuse @v, an operand of a sum, with that? */
static bool is_product(const Value *v)
{
	auto *inst = dyn_cast<Instruction>(v);

	return inst && inst->getOpcode() == Instruction::FMul && inst->hasAllowContract() &&
	       inst->hasOneUse();
}

/* The operands of @inst that are multiplied, if it is a sum that is fused with its product */
static SmallVector<const Value *, 2> factors_of(const Instruction &inst)
{
	auto *call = dyn_cast<IntrinsicInst>(&inst);

	if (inst.getType()->getScalarType()->isHalfTy())
		return {};
	if (call && call->getIntrinsicID() == Intrinsic::fmuladd)
		return { call->getArgOperand(0), call->getArgOperand(1) };
	if (is_sum(inst) && inst.hasAllowContract())
		for (const Value *operand : inst.operand_values())
			if (is_product(operand))
				return { operand };
	return {};
}

static unsigned wait_for(const Instruction &inst)
{
	if (isa<PHINode>(inst) || isa<CastInst>(inst))
		return 0;
	if (!factors_of(inst).empty())
		return fused_cycles;
	if (is_sum(inst))
		return sum_cycles;
	return inst.getType()->isFPOrFPVectorTy() && !isa<SelectInst>(inst) ? product_cycles :
									  other_cycles;
}

namespace {

/* An innermost loop, whose instructions are in the order in which they run. */
class sum_loop {
public:
	sum_loop(const Loop &loop, const LoopInfo &loops);

	/* Is a product fused with a sum that an iteration waits for? */
	bool has_fused() const { return !fused.empty(); }

	/* Splits those that are, if that takes fewer cycles. */
	void split();

private:
	void find_chain(const PHINode &sum);

	const Loop &loop;
	SmallVector<Instruction *> order;
	SmallSetVector<Instruction *, 8> fused;
	unsigned wait = 0, wait_if_split = 0;
};

} /* namespace */

sum_loop::sum_loop(const Loop &loop, const LoopInfo &loops) : loop(loop)
{
	LoopBlocksRPO blocks(const_cast<Loop *>(&loop));

	blocks.perform(&loops);
	for (BasicBlock *block : blocks)
		for (Instruction &inst : *block)
			order.push_back(&inst);
	if (!loop.getLoopLatch())
		return;
	for (const PHINode &phi : loop.getHeader()->phis())
		if (phi.getType()->isFPOrFPVectorTy())
			find_chain(phi);
}

/* What depends on @sum, and when it is known after that, as it is and with products split */
void sum_loop::find_chain(const PHINode &sum)
{
	DenseMap<const Value *, std::pair<unsigned, unsigned>> ready;
	SmallSetVector<const Value *, 16> chain;
	Value *last = sum.getIncomingValueForBlock(loop.getLoopLatch());

	auto splits = [&](const Instruction &inst) {
		const auto factors = factors_of(inst);

		return !factors.empty() && none_of(factors, [&](const Value *factor) {
			return ready.contains(factor);
		});
	};

	ready[&sum] = { 0, 0 };
	for (Instruction *inst : order) {
		std::pair<unsigned, unsigned> at = { 0, 0 };
		bool depends = false;

		if (inst == &sum || isa<LoadInst>(inst))
			continue;
		for (const Value *operand : inst->operands()) {
			auto found = ready.find(operand);

			if (found == ready.end())
				continue;
			depends = true;
			at.first = std::max(at.first, found->second.first);
			at.second = std::max(at.second, found->second.second);
		}
		if (!depends)
			continue;
		ready[inst] = { at.first + wait_for(*inst),
				at.second + (splits(*inst) ? sum_cycles : wait_for(*inst)) };
	}
	if (!ready.contains(last))
		return;
	wait = std::max(wait, ready[last].first);
	wait_if_split = std::max(wait_if_split, ready[last].second);
	chain.insert(last);
	for (unsigned i = 0; i < chain.size(); i++) {
		auto *inst = dyn_cast<Instruction>(chain[i]);

		if (!inst || inst == &sum)
			continue;
		for (const Value *operand : inst->operands())
			if (ready.contains(operand))
				chain.insert(operand);
		if (splits(*inst))
			fused.insert(const_cast<Instruction *>(inst));
	}
}

void sum_loop::split()
{
	double numbers = 0, pairs = 0, loads = 0, all = 0;

	if (fused.empty() || any_of(fused, [](const Instruction *inst) {
		    return inst->getType()->getPrimitiveSizeInBits() > max_bits;
	    }))
		return;
	const double rate = fused[0]->getType()->isVectorTy() ? begun_of_vectors : begun;
	for (const Instruction *inst : order) {
		if (isa<PHINode>(inst) || inst->isDebugOrPseudoInst())
			continue;
		loads += isa<LoadInst>(inst);
		numbers += !isa<LoadInst>(inst) && inst->getType()->isFPOrFPVectorTy() &&
			   !isa<ShuffleVectorInst>(inst) && !isa<InsertElementInst>(inst) &&
			   !isa<ExtractElementInst>(inst);
		pairs += is_sum(*inst) && !factors_of(*inst).empty();
		all += !isa<GetElementPtrInst>(inst) && !isa<CastInst>(inst);
	}
	const double more = fused.size();
	const double is = std::max({ double(wait), (numbers - pairs) / begun, loads / loaded,
				     (all - pairs) / issued });
	const double would = std::max({ double(wait_if_split), (numbers - pairs + more) / rate,
					loads / loaded, (all - pairs + more) / issued });
	if (would > least_gain * is)
		return;
	for (Instruction *inst : fused) {
		FastMathFlags flags = inst->getFastMathFlags();

		flags.setAllowContract(false);
		if (is_sum(*inst)) {
			inst->setFastMathFlags(flags);
			continue;
		}
		IRBuilder<> b(inst);
		b.setFastMathFlags(flags);
		Value *product = b.CreateFMul(inst->getOperand(0), inst->getOperand(1));
		inst->replaceAllUsesWith(b.CreateFAdd(product, inst->getOperand(2)));
		inst->eraseFromParent();
	}
}

static void for_each_loop(Function &f, function_ref<void(sum_loop &)> each)
{
	const DominatorTree dt(f);
	const LoopInfo loops(dt);

	for (const Loop *loop : loops.getLoopsInPreorder())
		if (loop->isInnermost()) {
			sum_loop sums(*loop, loops);

			each(sums);
		}
}

void split_products(const row &made)
{
	SmallSetVector<Function *, 8> ones;
	bool fused = false;

	if (none_of(instructions(*made.item), [](const Instruction &inst) {
		    return !factors_of(inst).empty();
	    }))
		return;
	ones.insert(made.item);
	for (Function *f : { made.wide, made.inner, made.more, made.half, made.rest }) {
		if (!f)
			continue;
		for_each_loop(*f, [&](sum_loop &loop) { fused |= loop.has_fused(); });
		for (Instruction &inst : instructions(*f))
			if (is_outlined(inst))
				ones.insert(cast<CallInst>(inst).getCalledFunction());
	}
	if (fused)
		return;
	for (Function *f : ones)
		for_each_loop(*f, [](sum_loop &loop) { loop.split(); });
}
