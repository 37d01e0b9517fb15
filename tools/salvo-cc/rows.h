/* SPDX-License-Identifier: MIT */
/*
 * rows.h - loops over the rows of a work-group
 */
#ifndef SALVO_CC_ROWS_H
#define SALVO_CC_ROWS_H

#include "interior.h"
#include "items.h"

/**
 * struct row - The functions that run a row.
 * @lanes: Work-items that run side by side.
 * @item: Of one work-item.
 * @wide: Of several, or NULL.
 * @inner: Of several in the interior.
 * @more: Of @more_lanes in the interior (everywhere, if there is no interior).
 * @half: Of half as many, for what is left of a row; in the interior, if no lanes run outside of it
 *	  or it has segments.
 * @rest: Of up to half as many there, for the same, or NULL. Two more arguments are the first
 *	  work-item and the number of work-items.
 * @idle: What work-items do that are not run, or NULL. It is done once for the group.
 * @range: The interior, if @inner exists, or guards keep work-items from being run.
 * @seldom: Few work-items are left for @item.
 * @guarded: If there is none, for guards that are the same for a row, or NULL.
 */
struct row {
	unsigned lanes = 1, more_lanes = 0;
	llvm::Function *item = nullptr, *wide = nullptr, *inner = nullptr;
	llvm::Function *more = nullptr, *half = nullptr, *rest = nullptr;
	llvm::Function *idle = nullptr;
	bool seldom = false;
	std::unique_ptr<interior> range, guarded;

	unsigned lanes_of(const llvm::Function *f) const
	{
		if (f == item)
			return 1;
		if (f == more)
			return more_lanes;
		return f == half || f == rest ? lanes / 2 : lanes;
	}

	bool has_lanes() const { return wide || inner; }

	/* For guards that are the same for a row, or NULL */
	interior *guards() const { return range ? range.get() : guarded.get(); }

	/* Work-items of the interior from which on several run at a time */
	unsigned least() const { return half && !has_half_of_all() ? lanes / 2 : lanes; }

	/* Does @half run outside of the interior, too? */
	bool has_half_of_all() const { return inner && wide && !range->has_quotients(); }
};

/* Iterations of a loop that weigh its operations, when nothing is known of them */
constexpr double average_iterations = 8;

/* Work-items that run side by side, unless they have long vectors. */
unsigned lanes_of(const options &opts);

/*
 * @d: The dimension of the row. @skip: work-items that do nothing need not be called. @short_rows:
 * rows may be short.
 */
row make_row(const items &of, llvm::Function &item, unsigned d, bool skip, bool short_rows,
	     llvm::TargetMachine &target, const options &opts);

/*
 * long_vectors.cc: with vectors of half of the registers, at most @lanes; 1 if lanes gain nothing
 */
unsigned lanes_for(llvm::Function &f, unsigned lanes, const options &opts);

/*
 * rests.cc: a copy of @item that does nothing in some lanes, with two more arguments: the first
 * lane's work-item, and the number of lanes that run.
 */
llvm::Function *mask_rest(const items &of, llvm::Function &item, unsigned d);

/* chains.cc: the largest of @values of the operands of @inst, 0 for those without one */
unsigned largest_of_operands(const llvm::Instruction &inst,
			     const llvm::DenseMap<const llvm::Value *, unsigned> &values);

/* Does @inst compute or access memory? */
bool is_operation(const llvm::Instruction &inst);

/* How many cycles are from the operands of an operation to its result? */
unsigned cycles_of(const llvm::Instruction &inst);

/* Does a second vector of work-items help, because one waits for its own results? */
bool is_bound_by_chains(llvm::Function &f);
bool has_short_chains(llvm::Function &f);

/* doubles.cc: does it compute with many doubles, and little else? A cheap test for the next one. */
bool has_doubles(const llvm::Function &f);

/* doubles.cc: do half of the lanes, one register of doubles, help with AVX-512? */
bool gains_from_fewer_lanes(const llvm::Function &f);

/* equalities.cc: what is computed from x, where that is compared with what it is equal to */
void use_equalities(llvm::Function &item, llvm::Argument &x);

using tail_function = llvm::SmallVector<llvm::Value *>(llvm::Value *y, llvm::Value *z);

/*
 * Calls for all work-items; @tail makes the arguments after the ids. What they return is added to
 * the bits of *@result, which may be NULL. @block: The work-items of each row that run before those
 * of the next row, or NULL for all. @some: If that is NULL, from where to where work-items of each
 * row run; all if it is empty.
 */
void emit_rows(llvm::IRBuilder<> &b, const items &of, const row &r, const group_values &v,
	       llvm::Value *length, llvm::Value *block, llvm::function_ref<tail_function> tail,
	       llvm::Value *result, llvm::ArrayRef<llvm::Value *> some = {});

/*
 * int_ids.cc: the same for rows without lanes, in parts within which global ids as ints do not wrap
 * around. Returns false, and nothing is emitted, if @r.item uses none, or others.
 */
bool emit_int_rows(llvm::IRBuilder<> &b, const items &of, const row &r, const group_values &v,
		   llvm::Value *length, llvm::function_ref<tail_function> tail);

/* Work-items of a row that run before those of the next one, for a kernel that gains from blocks */
llvm::Value *emit_block(llvm::IRBuilder<> &b, const group_values &v, llvm::Value *length);

/* row_costs.cc: what @test says of the form of @item that is vectorised */
bool is_so(llvm::Function &item, llvm::TargetMachine &target,
	   llvm::function_ref<bool(llvm::Function &)> test);

/* row_costs.cc: do divisions by what is the same for a row keep accesses from being contiguous? */
bool gains_from_segments(const items &of, llvm::Function &item, interior &range, unsigned lanes,
			 llvm::TargetMachine &target);

/* row_costs.cc: is @r.inner, of @special, worth what it takes to build beside @r.wide, of @item? */
bool gains_from_interior(const items &of, const row &r, llvm::Function &item,
			 llvm::Function &special, unsigned d, llvm::TargetMachine &target);

/*
 * row_costs.cc: has @wide, of the border of a row whose interior has a version, more instructions
 * than its work-items one after the other?
 */
bool is_vain_border(const llvm::Function &wide, const llvm::Function &item, unsigned lanes);

/*
 * Work-items along y from which on lanes run along y. If they are fewer than lanes they run one
 * after the other, which still is faster than lanes that gather and scatter.
 */
constexpr unsigned least_columns = 4;

/* row_costs.cc: does it access contiguous memory along y, and not along x? */
bool gains_from_columns(const items &of, llvm::TargetMachine &target, unsigned lanes);

/* row_costs.cc: accesses to larger private arrays would be gathers. */
bool has_few_apart(llvm::Function &item, llvm::Argument &x, unsigned lanes,
		   llvm::TargetMachine &target);

/* row_costs.cc: does it access contiguous memory along y in one place, and along x in another? */
bool gains_from_blocks(const items &of, llvm::TargetMachine &target, unsigned lanes);

/* Instructions of a work-item up to which it has a version for what is left of a row */
constexpr unsigned max_half = 600;

/* A version with lanes along y, for work-groups that are not flat; @b goes on with the others. */
row build_columns(llvm::IRBuilder<> &b, const items &of, const group_values &v,
		  llvm::Value *length, llvm::TargetMachine &target, const options &opts);

/*
 * tiles.cc: a version for a kernel with such a block, whose lanes are neighbours in y and have
 * several work-items of a row each, for work-groups that are high enough; @b goes on with the
 * others. False if there is none.
 */
bool build_tiles(llvm::IRBuilder<> &b, const items &of, const group_values &v, llvm::Value *length,
		 llvm::TargetMachine &target, unsigned lanes);

/* The function of @lanes work-items along @d, or NULL. */
llvm::Function *make_lanes_along(const items &of, llvm::Function &item, unsigned d,
				 llvm::TargetMachine &target, unsigned lanes);

/*
 * for (i = from; i + step <= to; i += step) each(i); returns the first i that is not run. It is
 * computed before the loop, so that no value of the loop is live after it.
 */
llvm::Value *make_loop(llvm::IRBuilder<> &b, llvm::Value *from, llvm::Value *to, uint64_t step,
		       const llvm::Twine &name, llvm::function_ref<void(llvm::Value *)> each,
		       bool seldom = false);

/* Inline all calls, and remove the functions. */
void inline_calls(llvm::Function &callee);
void inline_row(const row &r);

/* Has @kernel a version with lanes along y, once it is built? And does z take the place of y? */
bool has_columns(const llvm::Function &kernel);
bool has_planes(const llvm::Function &kernel);

#endif /* SALVO_CC_ROWS_H */
