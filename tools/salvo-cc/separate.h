/* SPDX-License-Identifier: MIT */
/*
 * separate.h - barriers that kernels leave out because their work-groups run in lockstep
 */
#ifndef SALVO_CC_SEPARATE_H
#define SALVO_CC_SEPARATE_H

#include "vectoriser.h"

/*
 * Instructions of @f in front of which barriers are missing after @branches, on whose conditions
 * work-items agree. @ends are the blocks that begin with a barrier.
 */
llvm::SmallVector<llvm::Instruction *>
find_separations(llvm::Function &f, divergence &differing,
		 const llvm::SmallPtrSetImpl<llvm::BasicBlock *> &ends,
		 llvm::ArrayRef<llvm::BranchInst *> branches);

/*
 * Instructions of @f in front of which barriers are missing behind stores by which all work-items
 * clear local memory.
 */
llvm::SmallVector<llvm::Instruction *>
find_clears(llvm::Function &f, divergence &differing,
	    const llvm::SmallPtrSetImpl<llvm::BasicBlock *> &ends);

/*
 * The ends of iterations of @f in which a barrier of the loop is missing, and writes in front of
 * which one is, behind reads of what others write there.
 */
llvm::SmallVector<llvm::Instruction *>
find_reuses(llvm::Function &f, divergence &differing,
	    const llvm::SmallPtrSetImpl<llvm::BasicBlock *> &ends);

#endif /* SALVO_CC_SEPARATE_H */
