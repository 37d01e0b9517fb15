// SPDX-License-Identifier: MIT
/*
 * vector_items.cc - work-items that are faster one after the other than side by side
 *
 * Before AVX-512 a vector of the source that is as wide as a register fills it without lanes, and
 * one half as wide gains too little from them to be blended in each iteration of a loop that lanes
 * leave at different times.
 *
 *	while (x >= at) sum += pixels[x - at], at *= 2		of uint4
 *
 * Neither do lanes gain where all of them come to a loop that runs for one after the other
 * (vector_cost.cc), and what is before and after it is little.
 *
 *	while (label != parent[label]) label = parent[label]
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

/* What @call takes and gives through memory, for one lane after the other and for all at once */
unsigned vectoriser::lane_accesses(const CallInst &call) const
{
	return !call.getType()->isVoidTy() + count_if(call.args(), [&](Value *arg) {
		return shape_of(arg).kind == shape::VARYING;
	});
}

/* What a work-item computes of its number is as little work as what all lanes do once. */
bool vectoriser::loses_by_outlined()
{
	double saved = 0;

	if (none_of(instructions(item), is_outlined) || !prepare())
		return false;
	find_divergent_loops();
	for (Instruction &inst : instructions(item)) {
		BasicBlock *block = inst.getParent();

		if (is_outlined(inst)) {
			for (auto [up, next] : branches_between(&item.front(), block))
				if (splits(up) &&
				    !is_guard(*cast<BranchInst>(up->getTerminator()), *next))
					return false;
			saved -= times_of(*block) * lanes * lane_accesses(cast<CallInst>(inst));
		}
		if (inst.getType()->isVoidTy() || shape_of(&inst).kind == shape::VARYING)
			saved += times_of(*block) *
				(lanes * scalar_cost(inst) - vector_cost(inst, false));
	}
	return saved < 0;
}

bool loses_by_outlined(Function &item, Argument &x, unsigned lanes, TargetMachine &target)
{
	const TargetTransformInfo costs = target.getTargetTransformInfo(item);

	return vectoriser(item, x, lanes, costs).loses_by_outlined();
}

bool gains_from_items(Function &item, Argument &x, unsigned lanes, TargetMachine &target)
{
	const TargetTransformInfo costs = target.getTargetTransformInfo(item);

	return vectoriser(item, x, lanes, costs).gains_from_items();
}
