/* SPDX-License-Identifier: MIT */
/*
 * interior.h - the part of a row where comparisons of x have a known outcome
 */
#ifndef SALVO_CC_INTERIOR_H
#define SALVO_CC_INTERIOR_H

#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include "items.h"

namespace llvm { class Loop; class SCEV; class SCEVAddRecExpr; }

/**
 * struct row_test - A comparison of scale * x + invariant with an invariant, or a clamp.
 * @step: That sum.
 * @scale: A positive number.
 * @predicate: That holds in the interior, of @step and @bound.
 * @guard: Where it does not hold the work-item does nothing.
 * @mirrored: @bound is an invariant - x.
 * @falling: @step is an invariant - x.
 * @counter: A loop's counter that is a part of @step, or NULL; to evaluate that it must be known.
 */
struct row_test {
	llvm::Instruction *test;
	llvm::Value *step, *bound;
	llvm::CmpInst::Predicate predicate;
	bool guard, mirrored, falling;
	int64_t scale;
	llvm::PHINode *counter;
};

/**
 * struct row_counter - What counts the iterations of a loop, which are as many for a whole row.
 * @first: In the first iteration.
 * @next: In the second.
 * @last: In the last, or in one that would come after that.
 * @times: That is so many iterations after the first.
 */
struct row_counter {
	llvm::Value *first, *next, *last, *times;
};

/**
 * struct row_quotient - A quotient or remainder of x + invariant by an invariant.
 * @inst: A division, or the shift or mask that is one.
 */
struct row_quotient {
	llvm::BinaryOperator *inst;
	llvm::Value *divisor;
};

/**
 * struct row_unit - A product of x plus an invariant with an invariant that may well be @one.
 * @factor: What is multiplied by @stride.
 * @one: 1, or the bytes of an element.
 */
struct row_unit {
	llvm::BinaryOperator *product;
	llvm::Value *factor, *stride;
	unsigned one;
};

/**
 * struct row_range - Where the tests hold: @low <= x < @high. Outside of @first <= x < @end,
 * which contains it, nothing is to be done.
 */
struct row_range {
	llvm::Value *first, *end, *low, *high;
};

struct loop_analyses;

class interior {
public:
	/* @skip: work-items that do nothing need not be called. */
	interior(llvm::Function &item, llvm::Argument &x, bool skip);

	bool is_whole() const { return tests.empty() && quotients.empty() && units.empty(); }
	bool has_borders() const;
	bool has_guards() const;
	/* Of rows along x, for which @x is the first of the three ids. */
	void find_units();
	bool has_units() const { return !units.empty(); }
	bool has_quotients() const { return !quotients.empty(); }
	void drop_quotients() { quotients.clear(); }
	/* Are there any that rows usually have? */
	bool has_likely_borders() const;

	/* What one test keeps out of the interior becomes the interior; false if it cannot. */
	bool take_other_side();

	/* The work-item for the interior; the caller owns it. */
	llvm::Function *specialise();
	/*
	 * What a work-item does that a guard keeps from the rest, if it is the same for all of
	 * them; else NULL. The caller owns it.
	 */
	llvm::Function *make_idle(const items &of, llvm::TargetMachine &target);
	/*
	 * Comparisons that are the same for a row, and otherwise than which a work-item does
	 * nothing: code for whether all of them hold, or NULL if there are none.
	 */
	llvm::Value *emit_row_guards(llvm::IRBuilder<> &b, llvm::ArrayRef<llvm::Value *> args);
	/* Code for the range in a row of @length, whose work-items would get @args. */
	row_range emit(llvm::IRBuilder<> &b, llvm::ArrayRef<llvm::Value *> args,
		       llvm::Value *length);
	/*
	 * Code for whether guards leave something of rows of @length, if that depends on nothing
	 * but the arguments of all work-items, @values, or NULL.
	 */
	llvm::Value *emit_some(llvm::IRBuilder<> &b, llvm::ArrayRef<llvm::Value *> values,
			       llvm::Value *length);
	/*
	 * Code for the end of the segment that begins with work-item @at, which is @at if there is
	 * none: in it all quotients are the same (quotients.cc). NULL if there are no quotients.
	 */
	llvm::Value *emit_segment(llvm::IRBuilder<> &b, llvm::ArrayRef<llvm::Value *> args,
				  llvm::Value *length, llvm::Value *at);

private:
	void find_quotients(llvm::function_ref<bool(llvm::Value *)> is_dividend,
			    llvm::function_ref<bool(llvm::Value *)> is_invariant);
	bool follows_x(llvm::Value *v);
	bool only_strides(llvm::Value &v);
	void specialise_units(llvm::ValueToValueMapTy &map) const;
	llvm::Value *emit_units(llvm::IRBuilder<> &b);
	void specialise_quotients(llvm::ValueToValueMapTy &map) const;
	bool is_invariant(const llvm::SCEV *s);
	const llvm::SCEV *find_times(const llvm::Loop &loop);
	const llvm::SCEVAddRecExpr *find_counter(llvm::PHINode *phi);
	bool is_linear(llvm::Value *v, llvm::PHINode *&counter, unsigned depth);
	bool add_counter(row_test &t);
	const row_test *find_clamp(llvm::Value *v) const;
	/* What is not evaluated for each end of a loop has no counter, in clamps neither. */
	bool can_follow(const row_test &clamp) const { return counting || !clamp.counter; }
	bool has_clamp(llvm::Value *v) const;
	int64_t scale_of(llvm::Value *v, unsigned depth);
	bool is_step(llvm::Value *v, unsigned depth) { return scale_of(v, depth) == 1; }
	bool is_of_group(const llvm::Value *v, unsigned depth) const;
	bool can_evaluate(llvm::Value *v, unsigned depth);
	bool is_mirror(llvm::Value *v, unsigned depth);
	bool find_sides(row_test &t, llvm::Value *left, llvm::Value *right);
	bool is_sign(const row_test &t) const;
	void add_test(llvm::Instruction &inst);
	void find_tests();
	void choose_side(row_test &t);
	void drop_unreachable();
	bool is_known(llvm::Value *v) const;
	void find_row_guards();
	bool does_nothing(llvm::Instruction *test, bool outcome);
	unsigned work_if(llvm::Instruction *test, bool outcome) const;
	bool skips_most(const row_test &t) const;
	std::optional<bool> moves_if(llvm::Instruction *test);
	llvm::Value *evaluate(llvm::IRBuilder<> &b, llvm::Value *v);
	std::array<llvm::Value *, 2> emit_counted(llvm::IRBuilder<> &b, const row_test &t);

	llvm::Function &item;
	llvm::Argument &x;
	const bool skip;
	std::vector<row_test> tests;
	std::vector<row_quotient> quotients;
	std::vector<row_unit> units;
	llvm::DenseMap<llvm::PHINode *, row_counter> counters;
	/* With the outcome that is needed */
	std::vector<std::pair<llvm::ICmpInst *, bool>> row_guards;
	/* While tests are found. */
	loop_analyses *analyses = nullptr;
	/* May a counter be part of what is evaluated? */
	bool counting = false;
	/* Or what is loaded at any time? Then nothing is evaluated of it. */
	bool loading = false;
	/* While code is emitted. */
	llvm::ArrayRef<llvm::Value *> args;
	llvm::Value *length = nullptr, *holds = nullptr, *origin = nullptr;
	llvm::DenseMap<llvm::Value *, llvm::Value *> known;
};

#endif /* SALVO_CC_INTERIOR_H */
