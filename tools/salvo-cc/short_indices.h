/* SPDX-License-Identifier: MIT */
/*
 * short_indices.h - indices of gathers and scatters in 32 bits
 */
#ifndef SALVO_CC_SHORT_INDICES_H
#define SALVO_CC_SHORT_INDICES_H

#include "salvo_cc.h"

/* Of one module; each value is computed in 32 bits once. */
class short_indices {
public:
	/* Gives @pointers, of lanes, an index that is extended from 32 bits if one of 64 fits. */
	void shorten(llvm::Value *pointers);

private:
	/* @v of lanes of 64 bits in 32, or NULL */
	llvm::Value *lower_half(llvm::Value *v, unsigned depth);

	llvm::DenseMap<llvm::Value *, llvm::Value *> made;
};

#endif /* SALVO_CC_SHORT_INDICES_H */
