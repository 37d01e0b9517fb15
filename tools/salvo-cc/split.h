/* SPDX-License-Identifier: MIT */
/*
 * split.h - a kernel split at its barriers into regions
 */
#ifndef SALVO_CC_SPLIT_H
#define SALVO_CC_SPLIT_H

#include <set>

#include "items.h"

/**
 * struct region - A part of a kernel between barriers.
 * @function: Of one work-item: (values..., x, y, z, first, then for each of @variables its
 *	memory and, if it is uniform, its value). The row's work-items are first + x. Returns bit i
 *	if the region that follows is the i-th of @next, and other bits if work-items disagree.
 * @variables: The numbers of those that it uses.
 * @next: All that may follow: 0 for nothing, else the number of a region.
 */
struct region {
	llvm::Function *function = nullptr;
	std::vector<unsigned> variables;
	std::set<unsigned> next;
};

/**
 * struct carried - A value that is live across a barrier.
 * @uniform: One for all work-items, else an array of them.
 * @bytes: Of one.
 */
struct carried {
	llvm::Type *type;
	bool uniform;
	uint64_t bytes;
};

struct regions {
	std::vector<region> all;	/* the kernel starts with the first */
	std::vector<carried> variables;
};

/* split.cc: false if @of is left to user-level threads. */
bool split_items(items &of, llvm::TargetMachine &target, regions &made);

#endif /* SALVO_CC_SPLIT_H */
