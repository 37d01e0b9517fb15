/* SPDX-License-Identifier: MIT */
/*
 * agree.h - conditions on which all work-items of a group must agree
 */
#ifndef SALVO_CC_AGREE_H
#define SALVO_CC_AGREE_H

#include "salvo_cc.h"

/* What the lanes of a region return (split.h) where they do not agree on a condition */
static const unsigned disagreed = 1u << 31;

/* Marks the condition of @branch. */
void agree(llvm::BranchInst &branch);
bool is_agreement(const llvm::Instruction &inst);
/* Replaces what marks the conditions by the conditions. */
void lower_agreements(llvm::Module &m);

#endif /* SALVO_CC_AGREE_H */
