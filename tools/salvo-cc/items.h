/* SPDX-License-Identifier: MIT */
/*
 * items.h - a kernel as the function of one work-item
 */
#ifndef SALVO_CC_ITEMS_H
#define SALVO_CC_ITEMS_H

#include "salvo_cc.h"

/**
 * struct items - The work-items of a kernel.
 * @function: Of one of them: (values..., x, y, z).
 * @values: What its first arguments are, computed in the kernel's entry.
 * @strips: A row of work-groups may be run as one.
 * @batches: It ends before a work-group whose number is a multiple of one of these, computed in the
 *	     kernel's entry.
 * @run: Work-groups of it, or of a column of rows with one each, computed there.
 * @dimension: Of which the function's x, y and z are the local ids: rows may be along y.
 * @group: The work-group's size along these that the kernel requires, or 0.
 */
struct items {
	llvm::Function *function = nullptr;
	llvm::SmallVector<llvm::Value *> values, batches;
	bool strips = false;
	llvm::Value *run = nullptr;
	unsigned dimension[3] = { 0, 1, 2 };
	uint32_t group[3] = { 0, 0, 0 };

	/* The argument that is the local id in dimension @d, of @f and what is made of it. */
	llvm::Argument *id(llvm::Function &f, unsigned d) const
	{
		return f.getArg(values.size() + d);
	}

	/* Is @arg a local id, or the number of a region's first work-item in the row? */
	bool is_of_item(const llvm::Argument &arg) const
	{
		return arg.getArgNo() >= values.size() && arg.getArgNo() <= values.size() + 3;
	}
};

/* items.cc: takes the body out of the kernel, whose entry is left without an end. */
items build_items(kernel &k, llvm::BasicBlock *body, group_values &v);

/*
 * strips.cc: fills in how work-groups of @k, whose body still has ids, run as one, and in @v how
 * many work-items their rows and columns have.
 */
void find_strips(const kernel &k, llvm::BasicBlock &entry, group_values &v, items &of);

/* strips.cc: stores for the unit how many work-groups the strip has. */
void store_ran(llvm::IRBuilder<> &b, const items &of, const group_values &v);

/* strips.cc: after all, each work-group runs alone. */
void keep_groups(items &of, group_values &v);

/* series.cc: runs several work-groups in a call of @f, which is a whole one. */
void run_in_series(llvm::Function &f, const group_values &v);

/* items.cc: exchanges two ids. */
void turn_items(items &of, unsigned a, unsigned b);

/*
 * rows.cc: LLVM shall neither vectorise nor unroll loops over work-items: the remainder of a row is
 * short, the others are vector code, and an instruction must belong to one iteration (marks.cc).
 * @seldom: most work-items are run by other loops.
 */
llvm::MDNode *keep_simple(llvm::LLVMContext &context, bool seldom = false);
bool is_kept_simple(const llvm::Loop &loop);
bool is_seldom_run(const llvm::Loop &loop);

/* narrow.cc: computes in 8 or 16 bits what needs no more; false if there is nothing to do. */
bool narrow_integers(llvm::Function &item, llvm::Argument &x);

/* overreads.cc: makes loads from constant places outside of private arrays 0; false if none are. */
bool define_overreads(llvm::Function &f);

/* An attribute of kernels all of whose rows have lanes */
constexpr char all_lanes[] = "salvo-all-lanes";

/* Private arrays of a work-item that lanes gather from, in bytes, up to which it is vectorised */
constexpr uint64_t max_private = 1024;

/* vector_arrays.cc: makes the lanes of an element of a private array neighbours in memory. */
void interleave_arrays(llvm::Function &item, llvm::Argument &x, unsigned lanes,
		       llvm::TargetMachine &target);

/* vector_arrays.cc: bytes of private arrays that lanes mostly gather from, or scatter to */
uint64_t gathered_bytes(llvm::Function &item, llvm::Argument &x, unsigned lanes,
			llvm::TargetMachine &target);

/* vector_joins.cc: makes a load of each way of one from an address that ways differ in. */
void load_on_ways(llvm::Function &item, llvm::Argument &x, unsigned lanes,
		  llvm::TargetMachine &target);

/*
 * vector_overlaps.cc: makes another version of loops where lanes walk along memory of their own,
 * for lanes none of which stores to it; false if there are none.
 */
bool version_walks(llvm::Function &item, llvm::Argument &x, unsigned lanes,
		   llvm::TargetMachine &target);

/*
 * vector_walks.cc: unrolls loops in which each lane walks along memory of its own; false if there
 * are none.
 */
bool unroll_walks(llvm::Function &item, llvm::Argument &x, unsigned lanes,
		  llvm::TargetMachine &target);

/*
 * vector_apart.cc: makes another version of blocks where lanes would group accesses, for lanes none
 * of which stores to what it loads; false if there are none. Forgets what they say of aliases.
 */
bool version_blocks(llvm::Function &item, llvm::Argument &x, unsigned lanes,
		    llvm::TargetMachine &target);
void forget_apart(llvm::Function &f);

/*
 * vector_together.cc: puts a loop that all lanes run in front of each of those that they leave in
 * different iterations.
 */
void run_together(llvm::Function &item, llvm::Argument &x, unsigned lanes,
		  llvm::TargetMachine &target);

/* vector_groups.cc: makes one access of those of a work-item to neighbours in memory. */
void group_accesses(llvm::Function &item, llvm::Argument &x, unsigned lanes,
		    llvm::TargetMachine &target);

/* vector_cost.cc: moves what lanes do not gain from into functions of one work-item. */
void outline_regions(llvm::Function &item, llvm::Argument &x, unsigned lanes,
		     llvm::TargetMachine &target);

/*
 * vector_cost.cc: is what neighbours in y access, of @least_bits or more, contiguous where that of
 * those in x is not?
 */
bool accesses_columns(llvm::Function &item, llvm::Argument &x, llvm::Argument &y,
		      unsigned least_bits, unsigned lanes, llvm::TargetMachine &target);

/*
 * vector_cost.cc: bytes that neighbours in @x have between what a load or store accesses, of those
 * where that is known
 */
llvm::DenseMap<const llvm::Instruction *, int64_t>
strides_of(llvm::Function &item, llvm::Argument &x, unsigned lanes, llvm::TargetMachine &target);

/*
 * vector_cost.cc: do lanes go through loops together, not along rows of their own, with
 * vectors of a register?
 */
bool has_even_loops(llvm::Function &item, llvm::Argument &x, unsigned lanes,
		    llvm::TargetMachine &target);

/*
 * vector_cost.cc: does each lane only access what is beside that of its neighbours, or the same,
 * and can the processor do that under a mask?
 */
bool is_side_by_side(llvm::Function &item, llvm::Argument &x, unsigned lanes,
		     llvm::TargetMachine &target);

/* vector_cost.cc: estimated instructions of @lanes items side by side, 0 if they cannot run. */
double cost_of_lanes(llvm::Function &item, llvm::Argument &x, unsigned lanes,
		     llvm::TargetMachine &target);

/* vector_loops.cc: are half of the lanes of AVX-512 better for a filter along rows? */
bool waits_along_rows(llvm::Function &item, llvm::Argument &x, unsigned lanes,
		      llvm::TargetMachine &target);

/*
 * vector_loops.cc: does LLVM, which vectorises the loops inside a work-item, make better code than
 * lanes would be?
 */
bool gains_from_inner_loops(llvm::Function &item, llvm::Argument &x, unsigned lanes,
			    llvm::TargetMachine &target);

/* vector_items.cc: is most of what is left an outlined region that all lanes come to? */
bool loses_by_outlined(llvm::Function &item, llvm::Argument &x, unsigned lanes,
		       llvm::TargetMachine &target);

/*
 * vector_items.cc: are @lanes items faster one after the other, for the vectors of the source?
 * @whole: @item is not a region between barriers.
 */
bool gains_from_items(llvm::Function &item, llvm::Argument &x, unsigned lanes, bool whole,
		      llvm::TargetMachine &target);

/* vector_flow.cc: the function of @lanes items side by side, or NULL. */
llvm::Function *vectorise(llvm::Function &item, llvm::Argument &x, unsigned lanes,
			  const llvm::TargetMachine &target);

#endif /* SALVO_CC_ITEMS_H */
