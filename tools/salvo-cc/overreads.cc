// SPDX-License-Identifier: MIT
/*
 * overreads.cc - loads outside of private arrays are 0
 *
 * A loop that goes one element too far reads what lies behind the array, on most devices without
 * effect or with a small one. LLVM makes an undefined value of such a load once its index is a
 * constant, and of all that is computed from it: nothing would be stored.
 *
 *	int w[3];
 *	for (i = 0; i <= 3; i++)
 *		sum += w[i] * in[x + i]			+ w[0] * in[x] + ... + 0 * in[x + 3]
 */
#include "items.h"

#include <llvm/IR/InstIterator.h>

using namespace llvm;

static bool is_overread(const LoadInst &load)
{
	const DataLayout &layout = load.getModule()->getDataLayout();
	APInt offset(64, 0);
	auto *array = dyn_cast<AllocaInst>(load.getPointerOperand()->
		stripAndAccumulateConstantOffsets(layout, offset, true));
	const auto size = array ? array->getAllocationSize(layout) : std::nullopt;
	const int64_t at = offset.getSExtValue();

	return size && !load.isVolatile() &&
	       (at < 0 || at + layout.getTypeStoreSize(load.getType()).getFixedValue() >
			       size->getFixedValue());
}

bool define_overreads(Function &f)
{
	bool changed = false;

	for (Instruction &inst : instructions(f)) {
		auto *load = dyn_cast<LoadInst>(&inst);

		if (!load || !is_overread(*load))
			continue;
		load->replaceAllUsesWith(Constant::getNullValue(load->getType()));
		changed = true;
	}
	return changed;
}
