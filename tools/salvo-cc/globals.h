/* SPDX-License-Identifier: MIT */
/*
 * globals.h - variables of a program in global memory
 */
#ifndef SALVO_CC_GLOBALS_H
#define SALVO_CC_GLOBALS_H

#include "salvo_cc.h"

/* Replaces them by memory that the library allocates; false after an error. */
bool lower_globals(llvm::Module &m, bool checked);

/* Finds the kernels that use some, once functions are inlined. */
void find_global_users(llvm::Module &m);
bool uses_globals(const llvm::Function &kernel);

/* The variable of @m that holds the address of that memory; NULL if there is none. */
llvm::GlobalVariable *find_global_base(llvm::Module &m);
bool is_global_base(const llvm::Value *v);
/* Bytes of that memory. */
uint64_t global_bytes(llvm::Module &m);

/* Leaves what describes the memory to the first instruction set of several. */
void share_globals(llvm::Module &m, bool first);
/* The contents of the note SALVO_NOTE_VARIABLES; nothing if there are no variables. */
std::string describe_globals(const llvm::Module &m);
/* note.cc */
void add_global_note(llvm::Module &notes, const std::string &text);

#endif /* SALVO_CC_GLOBALS_H */
