// SPDX-License-Identifier: MIT
/*
 * row_costs.cc - which versions of a row gain enough, by what their lanes cost
 *
 * The costs are those of vector_cost.cc, of the form of a work-item that is vectorised.
 */
#include "rows.h"

#include "quotients.h"
#include "vectoriser.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/Cloning.h>

using namespace llvm;

bool is_so(Function &item, TargetMachine &target, function_ref<bool(Function &)> test)
{
	ValueToValueMapTy map;
	Function *copy = CloneFunction(&item, map);

	tidy(*copy, target);
	canonicalise(*copy, target);
	const bool is = test(*copy);
	copy->eraseFromParent();
	return is;
}

/*
 * Private arrays, in bytes, up to which lanes have them where they index them mostly alike. A loop
 * to the length of what an array holds leaves the rest of it out of the cache.
 */
static const uint64_t max_alike = 8 << 10;

bool has_few_apart(Function &item, Argument &x, unsigned lanes, TargetMachine &target)
{
	const unsigned d = x.getArgNo();
	uint64_t bytes = 0;

	for (const Instruction &inst : instructions(item))
		if (auto *alloca = dyn_cast<AllocaInst>(&inst))
			bytes += item.getDataLayout().getTypeAllocSize(alloca->getAllocatedType());
	return bytes <= max_private ||
	       (bytes <= max_alike && is_so(item, target, [&](Function &copy) {
			return gathered_bytes(copy, *copy.getArg(d), lanes, target) <= max_private;
		}));
}

/* Lanes of one segment must cost less than this part of what lanes of several cost. */
static const double gain_of_segments = .6;

/* Do divisions by what is the same for a row keep accesses from being contiguous? */
bool gains_from_segments(const items &of, Function &item, interior &range, unsigned lanes,
			 TargetMachine &target)
{
	Function *forms[2];
	double cost[2];

	if (!range.has_quotients() || item.getInstructionCount() > max_half)
		return false;
	forms[1] = range.specialise();
	interior general = range;
	general.drop_quotients();
	forms[0] = general.specialise();
	for (unsigned i = 0; i < 2; i++) {
		is_so(*forms[i], target, [&](Function &copy) {
			if (!i && general.is_whole())
				separate_lanes(copy, *of.id(copy, 0), lanes);
			cost[i] = cost_of_lanes(copy, *of.id(copy, 0), lanes, target);
			return true;
		});
		forms[i]->eraseFromParent();
	}
	return cost[1] > 0 && cost[1] < gain_of_segments * cost[0];
}

/*
 * Instructions of the versions of a row for its interior and around it, from which on that of the
 * interior must cost less than this part of the other: else one version is for all. This is asked
 * where images are accessed, whose formats make both large. The interior gains where neighbours are
 * contiguous there; elsewhere it may gain from what LLVM makes of it later, as private arrays that
 * become registers.
 */
static const unsigned large_row = 1000;
static const double gain_of_interior = .9;

bool gains_from_interior(const items &of, const row &r, Function &item, Function &special,
			 unsigned d, TargetMachine &target)
{
	Function *forms[2] = { &item, &special };
	double cost[2];

	if (r.wide->getInstructionCount() + r.inner->getInstructionCount() < large_row ||
	    !accesses_images(item))
		return true;
	for (unsigned i = 0; i < 2; i++)
		is_so(*forms[i], target, [&](Function &copy) {
			cost[i] = cost_of_lanes(copy, *of.id(copy, d), r.lanes, target);
			return true;
		});
	return cost[1] < gain_of_interior * cost[0];
}

/*
 * Does a work-item load from local memory what others may store there? They should wait at a
 * barrier, but on most GPUs all lanes store before any of them goes on.
 */
static bool shares_without_barrier(const Function &item)
{
	bool loads = false, stores = false;

	for (const Instruction &inst : instructions(item)) {
		const Value *pointer = getLoadStorePointerOperand(&inst);

		if (pointer && pointer->getType()->getPointerAddressSpace() == LOCAL)
			(isa<LoadInst>(inst) ? loads : stores) = true;
	}
	return loads && stores;
}

/* Instructions of the version for the border of a row from which on it must be worth them. */
static const unsigned large_border = 500;

bool is_vain_border(const Function &wide, const Function &item, unsigned lanes)
{
	const unsigned size = wide.getInstructionCount() - instructions_of_tables(wide);

	return size > large_border && size > item.getInstructionCount() * lanes &&
	       !shares_without_barrier(item);
}

/* Lanes along y must cost less than this part of what lanes along x cost. */
static const double gain_of_columns = .6;

/* What lanes along x cost in one segment (quotients.cc), or @general if they do not gain from it */
static double cost_in_segment(const items &of, TargetMachine &target, unsigned lanes,
			      double general)
{
	interior range(*of.function, *of.id(*of.function, 0), true);
	double cost = general;

	if (!gains_from_segments(of, *of.function, range, lanes, target))
		return general;
	Function *special = range.specialise();
	is_so(*special, target, [&](Function &copy) {
		cost = cost_of_lanes(copy, *of.id(copy, 0), lanes, target);
		return true;
	});
	special->eraseFromParent();
	return std::min(cost, general);
}

/* A kernel that accesses contiguous memory along y, and along x does not */
bool gains_from_columns(const items &of, TargetMachine &target, unsigned lanes)
{
	double cost[2];

	if (of.id(*of.function, 1)->use_empty() ||
	    (of.group[1] && of.group[1] < least_columns))
		return false;
	auto gains = [&] {
		return cost[1] > 0 && cost[1] < gain_of_columns * cost[0];
	};
	if (!is_so(*of.function, target, [&](Function &copy) {
		    for (unsigned d = 0; d < 2; d++)
			    cost[d] = cost_of_lanes(copy, *of.id(copy, d), lanes, target);
		    return gains();
	    }))
		return false;
	cost[0] = cost_in_segment(of, target, lanes, cost[0]);
	return gains();
}

/*
 * Bits of an element from which on blocks along z gain: narrow ones stay in the cache, and what
 * depends on z alone, as a quotient, is computed for each row then.
 */
static const unsigned least_plane_bits = 32;

bool gains_from_blocks(const items &of, TargetMachine &target, unsigned lanes)
{
	Function &f = *of.function;
	const unsigned bits = of.dimension[1] == 1 ? 0 : least_plane_bits;
	auto gains = [&](Function &copy) {
		return accesses_columns(copy, *of.id(copy, 0), *of.id(copy, 1), bits, lanes,
					target);
	};

	if (!of.strips || of.id(f, 1)->use_empty())
		return false;
	if (is_so(f, target, gains))
		return true;
	/* Most neighbours in y have one quotient, contiguous remainders, and no clamps. */
	interior range(f, *of.id(f, 1), true);
	if (!range.has_quotients() && !range.has_borders())
		return false;
	Function *special = range.specialise();
	const bool is = is_so(*special, target, gains);
	special->eraseFromParent();
	return is;
}
