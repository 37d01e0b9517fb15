/* SPDX-License-Identifier: MIT */
/*
 * walks.h - addresses that move from iteration to iteration of a loop of one block
 */
#ifndef SALVO_CC_WALKS_H
#define SALVO_CC_WALKS_H

#include "salvo_cc.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLFunctionalExtras.h>

namespace llvm { class AAResults; class Loop; class SCEV; class ScalarEvolution; }

/* Is it a load or store that is neither volatile nor atomic? */
bool is_simple_access(const llvm::Instruction &inst);

/* Where @inst, a load or store, accesses memory, if no index of 32 bits or more wraps around */
const llvm::SCEV *address_in_loop(llvm::Instruction &inst, llvm::ScalarEvolution &evolution);

/* Bytes by which @address moves in each iteration of @loop, none if they differ. */
std::optional<int64_t> step_in_loop(const llvm::SCEV *address, const llvm::Loop &loop,
				    llvm::ScalarEvolution &evolution);

/*
 * @v of the first iteration of the loop that @header begins, computed at the end of @before, or
 * NULL. @known: what has been so
 */
llvm::Value *first_in_loop(llvm::Value *v, llvm::BasicBlock &header, llvm::BasicBlock &before,
			   llvm::DenseMap<llvm::Value *, llvm::Value *> &known);

/* Does nothing else in @block write what @inst loads, or access what it stores, but for some? */
bool is_alone(llvm::Instruction &inst, llvm::BasicBlock &block, llvm::AAResults &aliases,
	      llvm::function_ref<bool(llvm::Instruction &other)> but_for);

/* Bytes from @one to @other, if that is the same for all */
std::optional<int64_t> bytes_apart(const llvm::SCEV *one, const llvm::SCEV *other,
				   llvm::ScalarEvolution &evolution);

/*
 * Do two accesses that move alongside each other find and leave the same if so many iterations of
 * the block that @loop is do all loads of each first, and all stores last?
 */
bool keep_order(llvm::Instruction &one, llvm::Instruction &other, const llvm::Loop &loop,
		llvm::ScalarEvolution &evolution, int64_t iterations);

/* vector_overlaps.cc: can it be found out before @loop whether what it stores to is apart? */
bool can_version(const llvm::Loop &loop, llvm::ScalarEvolution &evolution,
		 llvm::AAResults &aliases);

#endif /* SALVO_CC_WALKS_H */
