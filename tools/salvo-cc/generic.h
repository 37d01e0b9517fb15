/* SPDX-License-Identifier: MIT */
/*
 * generic.h - pointers without a named address space
 */
#ifndef SALVO_CC_GENERIC_H
#define SALVO_CC_GENERIC_H

#include "salvo_cc.h"

/* Defines built-in functions that take one, as far as the library has them for global memory. */
void define_generic_functions(llvm::Module &m);
/* Defines what asks for the address space of one; false if @f is something else. */
bool define_space_query(llvm::Function &f);

/* Gives generic pointers the address space that they have, where that is known. */
void infer_spaces(llvm::Module &m, const options &opts);

/* ids.cc: a number of 64 bits */
llvm::Value *local_memory(llvm::IRBuilder<> &b);

#endif /* SALVO_CC_GENERIC_H */
