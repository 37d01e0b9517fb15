/* SPDX-License-Identifier: MIT */
/*
 * bounds.h - the checked mode
 */
#ifndef SALVO_CC_BOUNDS_H
#define SALVO_CC_BOUNDS_H

#include "salvo_cc.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallSet.h>

/**
 * struct origin - What an address may be derived from.
 * @objects: Numbers that the user of the search has given to values.
 * @loaded: Also a pointer that was loaded from memory.
 * @unknown: Also something else.
 */
struct origin {
	llvm::SmallSet<unsigned, 4> objects;
	bool loaded = false, unknown = false;
};

/* origins.cc: follows addresses to @objects, also through private memory. */
class origin_search {
public:
	llvm::DenseMap<const llvm::Value *, unsigned> objects;

	origin find(llvm::Value *pointer) const;

private:
	void follow(llvm::Value *pointer, llvm::SmallPtrSetImpl<llvm::Value *> &seen,
		    origin &found) const;
	void follow_load(llvm::Value *address, llvm::Type *type,
			 llvm::SmallPtrSetImpl<llvm::Value *> &seen, origin &found) const;
	void follow_stored(llvm::AllocaInst &slot, llvm::SmallPtrSetImpl<llvm::Value *> &seen,
			   origin &found) const;
};

/*
 * variables.cc: mark_variables() marks those of the source, before the library is linked.
 * check_variable_accesses() lets accesses outside of them fault; it runs once before functions are
 * inlined, and once after that for accesses through parameters.
 */
void mark_variables(llvm::Module &m);
void check_variable_accesses(llvm::Module &m);
/* Marks the address of a variable of @bytes that is no variable of LLVM (globals.cc). */
void mark_address(llvm::Instruction &address, uint64_t bytes);

/*
 * variables.cc: what the library's image functions ask. choose_checks() tells them whether the
 * program is checked; name_images() which argument an image is.
 */
void choose_checks(llvm::Module &m, bool checked);
void name_images(llvm::Module &m);

/*
 * variables.cc: the address, still without an offset, of a stray access of @bytes. @object: The
 * index of an argument, or SALVO_STRAY_PRIVATE and so on.
 */
uint64_t stray_address(unsigned object, uint64_t bytes);

/* bounds.cc: lets accesses outside of the buffers of arguments fault, in the finished loops */
void check_bounds(kernel &k);

#endif /* SALVO_CC_BOUNDS_H */
