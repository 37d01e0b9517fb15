/* SPDX-License-Identifier: MIT */
/*
 * quotients.h - what the first of several lanes computes
 */
#ifndef SALVO_CC_QUOTIENTS_H
#define SALVO_CC_QUOTIENTS_H

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

/* Is it the value of the first lane, the same for all? */
bool is_first_lane(const llvm::Instruction &inst);

/* @v, an integer, of the first lane */
llvm::Value *first_lane(llvm::IRBuilder<> &b, llvm::Value *v);

/* In @item, whose @lanes lanes begin with a multiple of them, a power of two, as @x */
void separate_lanes(llvm::Function &item, const llvm::Argument &x, unsigned lanes);

void lower_first_lanes(llvm::Module &m);

#endif /* SALVO_CC_QUOTIENTS_H */
