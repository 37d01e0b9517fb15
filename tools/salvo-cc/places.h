/* SPDX-License-Identifier: MIT */
/*
 * places.h - maps the instructions of a kernel to work-items
 */
#ifndef SALVO_CC_PLACES_H
#define SALVO_CC_PLACES_H

#include "salvo_cc.h"

namespace llvm {
class AsmPrinter;
class DILocalVariable;
class MachineFunctionPass;
}

/*
 * marks.cc: code from here to end_index() runs the @lanes work-items with the ids @index,
 * @index + 1, ... in dimension @d.
 */
void begin_index(llvm::IRBuilder<> &b, unsigned d, llvm::Value *index, unsigned lanes);
void end_index(llvm::IRBuilder<> &b, unsigned d);
/* @f runs work-items in another order: a fault in it is reported without its work-item. */
void drop_marks(llvm::Function &f);
/* A copy of @index that the optimiser does not see through, where it would take another form. */
llvm::Value *keep_index(llvm::IRBuilder<> &b, llvm::Value *index);

/* Which lanes an access in the code of several lanes is for. */
struct lane_tag {
	bool row;		/* all lanes, contiguous, @bytes each; else @lane alone */
	unsigned lane;
	uint64_t bytes;
};

void tag_lane(llvm::Instruction &access, unsigned lane);
void tag_row(llvm::Instruction &access, unsigned lanes);
bool read_tag(const llvm::Instruction &access, lane_tag &tag);
llvm::MDNode *get_tag(const llvm::Instruction &access);
/* The addresses of the lanes of a row no longer follow from that of the access. */
void drop_row_tag(llvm::Instruction &access);
/* For the loads and stores through @pointer that have none; @tag may be NULL. */
void set_tag(llvm::Value &pointer, llvm::MDNode *tag);

/* Marks become debug information that the optimiser leaves alone; before it runs. */
void lower_marks(llvm::Module &m, const std::vector<kernel> &kernels);
/* Keeps the indices in registers or on the stack; after it has run. */
void keep_indices(llvm::Module &m);

/* The dimension that a variable of lower_marks() stands for, MARK_LANES, or -1. */
enum { MARK_LANES = 3, MARKS };
int mark_of(const llvm::DILocalVariable &variable);

/* The symbol of the table that the pass of places.cc writes. */
inline constexpr char items_name[] = "salvo.items";

/* places.cc: the pass that finds them in machine code, and gives @printer the table to write. */
llvm::MachineFunctionPass *find_places(llvm::AsmPrinter &printer, bool debug);

#endif /* SALVO_CC_PLACES_H */
