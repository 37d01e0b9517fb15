// SPDX-License-Identifier: MIT
/*
 * vector_items.cc - work-items that are faster one after the other than side by side
 *
 * Before AVX-512 a vector of the source that is as wide as a register fills it without lanes, and
 * one half as wide gains too little from them to be blended in each iteration of a loop that lanes
 * leave at different times.
 *
 *	while (x >= at) sum += pixels[x - at], at *= 2		of uint4
 */
#include "items.h"
#include "vectoriser.h"

#include <llvm/IR/InstIterator.h>

using namespace llvm;

/* Operations on such vectors for each access, from which on lanes hide their latency */
static const double least_work = 8;

static unsigned bits_of(const Instruction &inst)
{
	const Type *type = isa<StoreInst>(inst) ? inst.getOperand(0)->getType() : inst.getType();

	return type->isVectorTy() ? type->getPrimitiveSizeInBits() : 0;
}

static bool is_access(const Instruction &inst)
{
	return isa<LoadInst>(inst) || isa<StoreInst>(inst);
}

/* Do vectors of the source fill the registers, with little to compute? */
bool vectoriser::fills_registers(unsigned bits)
{
	double accesses = 0, operations = 0;

	for (Instruction &inst : instructions(item)) {
		const double times = times_of(*inst.getParent());

		if (bits_of(inst) < bits || isa<PHINode>(inst))
			continue;
		(is_access(inst) ? accesses : operations) += times;
	}
	return accesses && operations < least_work * accesses;
}

/* Does a loop that lanes leave at different times load vectors, and take over such ones? */
bool vectoriser::blends_vectors(unsigned bits)
{
	return any_of(loops.getLoopsInPreorder(), [&](const Loop *loop) {
		bool loads = false;

		if (!is_divergent_loop(loop) || none_of(loop->getHeader()->phis(),
				[&](const PHINode &phi) { return bits_of(phi) >= bits; }))
			return false;
		for (const BasicBlock *block : loop->blocks())
			loads |= any_of(*block, [&](const Instruction &inst) {
				return isa<LoadInst>(inst) && bits_of(inst);
			});
		return loads;
	});
}

bool vectoriser::gains_from_items()
{
	const unsigned bits = target.getRegisterBitWidth(
		TargetTransformInfo::RGK_FixedWidthVector).getFixedValue();

	if (bits > 256 || !prepare())
		return false;
	find_divergent_loops();
	return fills_registers(256) || blends_vectors(128);
}

bool gains_from_items(Function &item, Argument &x, unsigned lanes, TargetMachine &target)
{
	const TargetTransformInfo costs = target.getTargetTransformInfo(item);

	return vectoriser(item, x, lanes, costs).gains_from_items();
}
