// SPDX-License-Identifier: MIT
/*
 * long_vectors.cc - lanes of kernels with vectors of 8 or 16
 *
 * Long vectors fill registers without lanes, which only help where a loop waits for the result of
 * the operation before: where vectors go through it from iteration to iteration, element by
 * element. So do the operations of such a loop that was unrolled. Lanes that load long vectors
 * transpose them: not in such a loop, and not before one of a few cycles. What takes the elements
 * one by one gains from lanes as if there were no long vectors.
 */
#include "rows.h"

#include <algorithm>
#include <cmath>

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

using namespace llvm;

/* Elements of a vector up to which there are as many lanes as of scalars */
static const unsigned max_elements = 4;

static bool is_long(const Type *type)
{
	auto *vector = dyn_cast<FixedVectorType>(type);

	return vector && vector->getNumElements() > max_elements;
}

/*
 * Operations on long vectors that wait for one another from which on work-items overlap little, and
 * operations for each of them from which on there is enough to do meanwhile
 */
static const unsigned long_chain = 64, enough = 2;

/* Do those of @f, of a loop that was unrolled, mostly wait for the one before? */
static bool is_one_chain(const Function &f)
{
	DenseMap<const Value *, unsigned> length;
	unsigned operations = 0, longest = 0;

	for (const Instruction &inst : instructions(f)) {
		if (!is_long(inst.getType()))
			continue;
		const unsigned before = largest_of_operands(inst, length);
		length[&inst] = before + 1;
		longest = std::max(longest, before + 1);
		operations++;
	}
	return longest >= long_chain && operations < enough * longest;
}

/* Of the element that @extract takes of a vector of parts of elements: the part of that element */
static Value *part_of_element(ExtractElementInst &extract, Value *vector)
{
	auto *type = cast<FixedVectorType>(vector->getType());
	const unsigned parts = cast<FixedVectorType>(extract.getVectorOperandType())
			       ->getNumElements() / type->getNumElements();
	const uint64_t i = cast<ConstantInt>(extract.getIndexOperand())->getZExtValue();
	const unsigned bits = type->getScalarSizeInBits();
	IRBuilder<> b(&extract);
	Value *element = b.CreateExtractElement(vector, i / parts);

	element = b.CreateBitCast(element, b.getIntNTy(bits));
	element = b.CreateLShr(element, i % parts * (bits / parts));
	return b.CreateBitCast(b.CreateTrunc(element, b.getIntNTy(bits / parts)),
			       extract.getType());
}

/*
 * InstCombine makes of a part of an element one of a long vector, which it would not be otherwise:
 *
 *	(ushort)v.x	((ushort8)v).s0
 */
static void restore_elements_of(Function &f)
{
	SmallVector<BitCastInst *> casts;

	for (Instruction &inst : instructions(f)) {
		auto *cast = dyn_cast<BitCastInst>(&inst);
		auto *from = cast ? dyn_cast<FixedVectorType>(cast->getSrcTy()) : nullptr;
		auto *to = from ? dyn_cast<FixedVectorType>(cast->getDestTy()) : nullptr;

		if (to && !is_long(from) && is_long(to) &&
		    to->getNumElements() % from->getNumElements() == 0 &&
		    all_of(cast->users(), [](const User *user) {
			    auto *extract = dyn_cast<ExtractElementInst>(user);

			    return extract && isa<ConstantInt>(extract->getIndexOperand());
		    }))
			casts.push_back(cast);
	}
	for (BitCastInst *cast : casts) {
		for (User *user : make_early_inc_range(cast->users())) {
			auto *extract = llvm::cast<ExtractElementInst>(user);

			extract->replaceAllUsesWith(part_of_element(*extract, cast->getOperand(0)));
			extract->eraseFromParent();
		}
		cast->eraseFromParent();
	}
}

void restore_elements(Module &m)
{
	for (Function &f : m)
		restore_elements_of(f);
}

/*
 * Cycles of operations on long vectors in loops from which on they take longer than to transpose
 * the vectors that lanes load before
 */
static const unsigned least_cycles = 8;

static bool has_long_chains(const Function &f, const LoopInfo &loops)
{
	unsigned cycles = 0;
	bool found = false, loads = false;

	for (const Instruction &inst : instructions(f)) {
		auto *call = dyn_cast<IntrinsicInst>(&inst);
		const bool repeats = loops.getLoopFor(inst.getParent());

		if (!is_long(inst.getType()))
			continue;
		if (isa<PHINode>(inst))
			found |= loops.isLoopHeader(inst.getParent());
		else if ((isa<LoadInst>(inst) && repeats) ||
			 (isa<CallBase>(inst) &&
			  (!call || !isTriviallyVectorizable(call->getIntrinsicID()))))
			return false;
		loads |= isa<LoadInst>(inst);
		cycles += repeats ? cycles_of(inst) : 0;
	}
	return (found && (!loads || cycles >= least_cycles)) || is_one_chain(f);
}

/* Operations on single values from which on, and for each on long vectors, they are what counts */
static const double least_single = 64, single_for_long = 8;

/* Is @inst a load from elsewhere than the work-item's own variables? */
static bool is_load_of_others(const Instruction &inst)
{
	auto *load = dyn_cast<LoadInst>(&inst);

	return load && !isa<AllocaInst>(getUnderlyingObject(load->getPointerOperand()));
}

/*
 * Does @f mostly compute with single values in loops, as functions take the elements one by one?
 * Not if a loop loads the long vectors, as tables of what to do with single values, nor if it calls
 * functions that do more than compute.
 */
static bool is_mostly_single(const Function &f, const LoopInfo &loops)
{
	double single = 0, of_long = 0;

	for (const Instruction &inst : instructions(f)) {
		const unsigned depth = loops.getLoopDepth(inst.getParent());
		const double times = std::pow(average_iterations, depth);

		if (is_long(inst.getType()) && depth && is_load_of_others(inst))
			return false;
		if (isa<CallInst>(inst) && !isa<IntrinsicInst>(inst) && inst.mayWriteToMemory())
			return false;
		if (is_long(inst.getType()) && !isa<InsertElementInst>(inst))
			of_long += times;
		else if (depth && (isa<BinaryOperator>(inst) || isa<CallBase>(inst)))
			single += times;
	}
	return single >= least_single && single >= single_for_long * of_long;
}

unsigned lanes_for(Function &f, unsigned lanes, const options &opts)
{
	unsigned bits = 0;

	for (const Instruction &inst : instructions(f))
		if (is_long(inst.getType()))
			bits = std::max<unsigned>(bits, inst.getType()->getPrimitiveSizeInBits());
	if (!bits)
		return lanes;
	const DominatorTree dt(f);
	const LoopInfo loops(dt);
	if (is_mostly_single(f, loops))
		return lanes;
	if (!has_long_chains(f, loops))
		return 1;
	return std::clamp(lanes * max_elements * (opts.isa_level >= 4 ? 64 : 32) / bits, 1u, lanes);
}
