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
 * With AVX-512 lanes take vectors of 128 bits from, or to, addresses of their own one by one and
 * transpose them, which only pays if there is enough to compute in between.
 *
 *	sum += in[row * pitch + x % width + i] * filter[i]	of float4
 *
 * A loop of sums of such vectors may have as many as there are registers. Lanes would need one for
 * each element, and load and store most of them in each iteration.
 *
 *	for (k = 0; k < n; k++) for (i = 0; i < 16; i++) sums[i] += a[k * pitch + x] * b[16 * k + i]
 *
 * Neither do lanes gain where all of them come to a loop that runs for one after the other
 * (vector_cost.cc), and what is before and after it is little, or gathers.
 *
 *	while (label != parent[label]) label = parent[label]
 */
#include "items.h"
#include "vectoriser.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

using namespace llvm;

/* Operations on such vectors for each access, from which on lanes hide their latency */
static const double least_work = 8;

/* The same, what a work-item has of them for each access whose vectors lanes transpose */
static const double least_transposed_work = 6;

/*
 * Cycles of an operation, of which work-items have more at the same time than vectors do, and of a
 * division or root of one of them
 */
static const double scalar_cycles = 1. / 6, vector_cycles = .5, divider = 5;

/* Registers of AVX-512, and how many of them values from the iteration before may take */
static const unsigned registers = 32, most_kept = 24;

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

/*
 * Are all that lanes access vectors of 128 bits from addresses of their own, with little to
 * compute? What all lanes access alike does not count.
 */
bool vectoriser::transposes_all()
{
	double accesses = 0, operations = 0;

	for (Instruction &inst : instructions(item)) {
		const double times = times_of(*inst.getParent());

		if (is_access(inst)) {
			Value *pointer = getLoadStorePointerOperand(&inst);
			const unsigned bits = bits_of(inst);

			if (shape_of(pointer).kind == shape::UNIFORM)
				continue;
			if (bits <= 64 || bits > 128 || is_linear(pointer) ||
			    shape_of(pointer).kind == shape::STRIDED)
				return false;
			accesses += times;
		} else if (!isa<PHINode>(inst) && !isa<GetElementPtrInst>(inst) &&
			   !isa<CastInst>(inst) && !inst.getType()->isVoidTy() &&
			   shape_of(&inst).kind == shape::VARYING) {
			operations += times * scalar_cost(inst);
		}
	}
	return accesses && operations < least_transposed_work * accesses;
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

/*
 * Does a loop keep vectors in registers, which lanes transpose and keep in memory? They would still
 * gain if they had more than twice as many elements in a register.
 */
bool vectoriser::spills_vectors(unsigned bits)
{
	return any_of(loops.getLoopsInPreorder(), [&](const Loop *loop) {
		unsigned vectors = 0, elements = 0;
		bool transposes = false;

		for (const PHINode &phi : loop->getHeader()->phis()) {
			auto *type = dyn_cast<FixedVectorType>(phi.getType());
			const unsigned width = lanes * phi.getType()->getScalarSizeInBits();

			if (!type || width > 2 * bits_of(phi))
				continue;
			vectors += divideCeil(bits_of(phi), bits);
			elements += type->getNumElements() * divideCeil(width, bits);
		}
		if (vectors > most_kept || elements <= registers)
			return false;
		for (BasicBlock *block : loop->blocks())
			for (Instruction &inst : *block) {
				Value *pointer = isa<LoadInst>(inst) ?
					getLoadStorePointerOperand(&inst) : nullptr;

				transposes |= pointer && bits_of(inst) > 64 &&
					      shape_of(pointer).kind != shape::UNIFORM &&
					      !is_linear(pointer);
			}
		return transposes;
	});
}

bool vectoriser::gains_from_items(bool whole)
{
	const unsigned bits = target.getRegisterBitWidth(
		TargetTransformInfo::RGK_FixedWidthVector).getFixedValue();

	if ((bits > 256 && accesses_images(item)) || !prepare())
		return false;
	find_divergent_loops();
	if (bits > 256)
		return (whole && transposes_all()) || spills_vectors(bits);
	return fills_registers(256) || blends_vectors(128);
}

/* What @call takes and gives through memory, for one lane after the other and for all at once */
unsigned vectoriser::lane_accesses(const CallInst &call) const
{
	return !call.getType()->isVoidTy() + count_if(call.args(), [&](Value *arg) {
		return shape_of(arg).kind == shape::VARYING;
	});
}

double vectoriser::cycles_of_item(Instruction &inst)
{
	auto *call = dyn_cast<IntrinsicInst>(&inst);
	const bool is_root = call && call->getIntrinsicID() == Intrinsic::sqrt;

	return is_root || inst.isIntDivRem() || inst.getOpcode() == Instruction::FDiv ?
		divider : scalar_cost(inst) * scalar_cycles;
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
			/* What only leads to the call asks whether its loop has an iteration. */
			for (auto [up, next] : branches_between(&item.front(), block))
				if (splits(up) && next->getSingleSuccessor() != block &&
				    !is_guard(*cast<BranchInst>(up->getTerminator()), *next))
					return false;
			saved -= times_of(*block) * lanes * vector_cycles *
				 lane_accesses(cast<CallInst>(inst));
		}
		if (inst.getType()->isVoidTy() || shape_of(&inst).kind == shape::VARYING)
			saved += times_of(*block) *
				(lanes * cycles_of_item(inst) -
				 vector_cost(inst, false) * vector_cycles);
	}
	return saved < 0;
}

bool loses_by_outlined(Function &item, Argument &x, unsigned lanes, TargetMachine &target)
{
	const TargetTransformInfo costs = target.getTargetTransformInfo(item);

	return vectoriser(item, x, lanes, costs).loses_by_outlined();
}

bool gains_from_items(Function &item, Argument &x, unsigned lanes, bool whole,
		      TargetMachine &target)
{
	const TargetTransformInfo costs = target.getTargetTransformInfo(item);

	return vectoriser(item, x, lanes, costs).gains_from_items(whole);
}
