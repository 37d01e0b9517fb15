/* SPDX-License-Identifier: MIT */
/*
 * places.h - which work-item an instruction of a kernel works for
 */
#ifndef SALVO_CC_PLACES_H
#define SALVO_CC_PLACES_H

#include "salvo_cc.h"

#include <llvm/CodeGen/AsmPrinter.h>
#include <llvm/CodeGen/MachineFunctionPass.h>

/*
 * marks.cc: from here on, until end_index(), code works for the @lanes work-items that have
 * @index and those after it as their ids in dimension @d.
 */
void begin_index(llvm::IRBuilder<> &b, unsigned d, llvm::Value *index, unsigned lanes);
void end_index(llvm::IRBuilder<> &b, unsigned d);
/* A copy of @index that the optimiser does not see through, where it would take another form. */
llvm::Value *keep_index(llvm::IRBuilder<> &b, llvm::Value *index);

/* What is known of an access that several lanes' code makes: more than that it is one of theirs. */
struct lane_tag {
	bool row;		/* all lanes, @bytes each, side by side; else @lane alone */
	unsigned lane;
	uint64_t bytes;
};

void tag_lane(llvm::Instruction &access, unsigned lane);
void tag_row(llvm::Instruction &access, unsigned lanes);
bool read_tag(const llvm::Instruction &access, lane_tag &tag);
llvm::MDNode *get_tag(const llvm::Instruction &access);
/* For the loads and stores through @pointer that have none; @tag may be NULL. */
void set_tag(llvm::Value &pointer, llvm::MDNode *tag);

/* Marks become debug information that the optimiser leaves alone; before it runs. */
void lower_marks(llvm::Module &m, const std::vector<kernel> &kernels);
/* What they tell stays to be found in registers or on the stack; after it has run. */
void keep_indices(llvm::Module &m);

/* The dimension that a variable of lower_marks() stands for, MARK_LANES, or -1. */
enum { MARK_LANES = 3, MARKS };
int mark_of(const llvm::DILocalVariable &variable);

/* The symbol of the table that the pass of places.cc writes. */
inline constexpr char items_name[] = "salvo.items";

/* places.cc: the pass that finds them in machine code, and gives @printer the table to write. */
llvm::MachineFunctionPass *find_places(llvm::AsmPrinter &printer, bool debug);

#endif /* SALVO_CC_PLACES_H */
