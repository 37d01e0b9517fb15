/* SPDX-License-Identifier: MIT */
/*
 * scratch.h - what the library's work-group and sub-group functions need of a kernel
 */
#ifndef SALVO_CC_SCRATCH_H
#define SALVO_CC_SCRATCH_H

#include "salvo_cc.h"

/* Replaces the calls of salvo_scratch() by the addresses of variables in local memory. */
void define_scratch(llvm::Module &m);

/* An array in local memory, of an element of so many bytes for each work-item and two more */
llvm::GlobalVariable *scratch_array(llvm::Module &m, uint64_t element);

/* Finds the kernels that call sub-group functions, once all functions are inlined. */
void find_sub_groups(llvm::Module &m);
bool has_sub_groups(const llvm::Function &kernel);

#endif /* SALVO_CC_SCRATCH_H */
