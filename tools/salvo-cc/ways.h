/* SPDX-License-Identifier: MIT */
/*
 * ways.h - regions that all work-items of a group leave on one way
 */
#ifndef SALVO_CC_WAYS_H
#define SALVO_CC_WAYS_H

#include <llvm/IR/IRBuilder.h>

#include "items.h"

/* @variable: Where a region stores a value that is the same for all work-items. */
void mark_common(llvm::Argument &variable);
bool is_common_store(const llvm::Instruction &inst);

/* The branch of the region @f that chooses its way for all work-items, if that is known, or NULL */
llvm::BranchInst *find_ways(const items &of, llvm::Function &f);
/* Its condition in a call with @args */
llvm::Value *evaluate_way(llvm::IRBuilder<> &b, const llvm::BranchInst &branch,
			  llvm::ArrayRef<llvm::Value *> args);
/* The region where @branch takes its @first way, or the other one */
llvm::Function *take_way(llvm::BranchInst &branch, bool first, llvm::TargetMachine &target);

/* What the region @f returns, if it always is the same, or NULL */
llvm::ConstantInt *only_way(const llvm::Function &f);

#endif /* SALVO_CC_WAYS_H */
