/* SPDX-License-Identifier: MIT */
/*
 * steps.h - values that all work-items advance by the same amount
 */
#ifndef SALVO_CC_STEPS_H
#define SALVO_CC_STEPS_H

#include "vectoriser.h"

/*
 * Makes such values of loops that are @among those of interest the sum of what they start with, if
 * that is @wanted, and of an offset that is the same for all work-items. False if there are none.
 */
bool split_steps(llvm::Function &f, const divergence &differing,
		 llvm::function_ref<bool(const llvm::Loop &)> among,
		 llvm::function_ref<bool(llvm::Value *)> wanted);

#endif /* SALVO_CC_STEPS_H */
