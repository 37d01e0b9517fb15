// SPDX-License-Identifier: MIT
/*
 * rows.cc - loops over the rows of a work-group
 *
 * In a row the function of several work-items is called while that many are left, then the
 * scalar one for the remainder. The interior of the row, if its bounds can be computed
 * (interior.cc), has a version of its own.
 *
 *	for z, y:	x = 0
 *			while (x + 16 <= length)	more(x, y, z), x += 16	(some kernels)
 *			while (x + 8 <= length)		lanes(x, y, z), x += 8
 *			while (x + 4 <= length)		half(x, y, z), x += 4	(short ones)
 *			while (x < length)		item(x, y, z), x += 1
 *
 * With AVX-512, where all accesses are contiguous and there are no loops, so that masks cost
 * little, all that is left is run by half of the lanes under a mask:
 *
 *			while (x < length)		rest(x, y, z, x, length - x), x += 8
 *
 * A kernel that accesses contiguous memory along y but not along x has a second version, with x and
 * y exchanged, for work-groups that are not flat. One that does both, as a transposition, runs a
 * strip of work-groups in blocks of some columns, so that what neighbours in y share
 * is in the cache.
 * With z in the place of y (groups.cc) both are for what is contiguous along z alone.
 */
#include "rows.h"

#include "places.h"
#include "quotients.h"
#include "vectoriser.h"
#include "ways.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

using namespace llvm;

static const char seldom_run[] = "salvo.loop.seldom";

MDNode *keep_simple(LLVMContext &context, bool seldom)
{
	auto *no = ConstantAsMetadata::get(ConstantInt::getFalse(context));
	MDNode *vectorise = MDNode::get(context, {
		MDString::get(context, "llvm.loop.vectorize.enable"), no });
	MDNode *unroll = MDNode::get(context, {
		MDString::get(context, "llvm.loop.unroll.disable") });
	SmallVector<Metadata *> all = { nullptr, vectorise, unroll };

	if (seldom)
		all.push_back(MDNode::get(context, { MDString::get(context, seldom_run) }));
	MDNode *id = MDNode::getDistinct(context, all);
	id->replaceOperandWith(0, id);
	return id;
}

bool is_seldom_run(const Loop &loop)
{
	return findOptionMDForLoop(&loop, seldom_run);
}

bool is_kept_simple(const Loop &loop)
{
	return findOptionMDForLoop(&loop, "llvm.loop.vectorize.enable") &&
	       findOptionMDForLoop(&loop, "llvm.loop.unroll.disable");
}

Value *make_loop(IRBuilder<> &b, Value *from, Value *to, uint64_t step, const Twine &name,
		 function_ref<void(Value *)> each, bool seldom)
{
	Function *f = b.GetInsertBlock()->getParent();
	LLVMContext &context = b.getContext();
	BasicBlock *header = BasicBlock::Create(context, name, f);
	BasicBlock *body = BasicBlock::Create(context, name + ".body", f);
	BasicBlock *exit = BasicBlock::Create(context, name + ".end", f);
	BasicBlock *before = b.GetInsertBlock();

	Value *end = b.CreateBinaryIntrinsic(Intrinsic::umax, to, from);
	if (step > 1) {
		Value *rest = b.CreateSub(end, from, "", true, true);
		end = b.CreateSub(end, b.CreateURem(rest, b.getInt64(step)), name + ".last", true,
				  true);
	}
	b.CreateBr(header);
	b.SetInsertPoint(header);
	PHINode *i = b.CreatePHI(b.getInt64Ty(), 2, name);
	b.CreateCondBr(b.CreateICmpULT(i, end), body, exit);
	b.SetInsertPoint(body);
	each(i);
	i->addIncoming(from, before);
	i->addIncoming(b.CreateAdd(i, b.getInt64(step), "", true, true), b.GetInsertBlock());
	BranchInst *again = b.CreateBr(header);
	again->setMetadata(LLVMContext::MD_loop, keep_simple(context, seldom));
	b.SetInsertPoint(exit);
	return end;
}

unsigned lanes_of(const options &opts)
{
	return opts.isa_level >= 4 ? 16 : opts.isa_level == 3 ? 8 : 4;
}

void inline_calls(Function &callee)
{
	SmallVector<CallBase *> calls;

	for (User *user : callee.users())
		calls.push_back(cast<CallBase>(user));
	for (CallBase *call : calls) {
		InlineFunctionInfo info;
		InlineFunction(*call, info);
	}
	callee.eraseFromParent();
}

/* Work-items of a row below which lanes gain little */
static const unsigned least_lanes = 4;

/* As many lanes as the rows have work-items, if the kernel requires short ones. */
static unsigned lanes_in(const items &of, unsigned d, unsigned lanes)
{
	const uint32_t length = of.group[d];

	if (!length || length >= lanes || (d == 0 && of.strips))
		return lanes;
	return length < least_lanes ? 1 : bit_floor(length);
}

/*
 * Instructions of a vector version: LLVM takes a second for 10,000 of them. Accesses and calls that
 * lanes have none for are repeated for each lane, so that a large work-item becomes several times
 * as large and gains little. It stays scalar beyond the limit, unless most of its instructions are
 * vector ones. Where the interior has a version of its own the border does not need a large one.
 *
 * A smaller version that has nearly as many instructions as its work-items one after the other
 * gains less than it takes to build: the branches of each lane, gathers and scatters in AVX2.
 */
static const unsigned max_version = 8000, max_border = 4000, max_growth = 2;
static const unsigned large_version = 3000;

static bool is_too_large(const Function &wide, unsigned item, unsigned lanes, unsigned most)
{
	const unsigned size = wide.getInstructionCount() - instructions_of_tables(wide);

	return size > most || (size > large_version && size > item * lanes / 2);
}

static void arrange_accesses(Function &item, Argument &x, unsigned lanes, TargetMachine &target)
{
	interleave_arrays(item, x, lanes, target);
	load_on_ways(item, x, lanes, target);
	if (version_walks(item, x, lanes, target))
		hoist(item, target);
	if (unroll_walks(item, x, lanes, target))
		canonicalise(item, target);
	const bool apart = version_blocks(item, x, lanes, target);
	group_accesses(item, x, lanes, target);
	if (apart)
		forget_apart(item);
}

/* make_lanes() of @copy, which is changed, at any size */
static Function *make_version(const items &of, Function &copy, unsigned d, TargetMachine &target,
			      unsigned lanes, bool aligned)
{
	if (aligned)
		separate_lanes(copy, *of.id(copy, d), lanes);
	use_equalities(copy, *of.id(copy, d));
	cancel_terms(copy, of.id(copy, d));
	canonicalise(copy, target);
	arrange_accesses(copy, *of.id(copy, d), lanes, target);
	if (d == 0)
		outline_regions(copy, *of.id(copy, 0), lanes, target);
	if (loses_by_outlined(copy, *of.id(copy, d), lanes, target))
		return nullptr;
	run_together(copy, *of.id(copy, d), lanes, target);
	return vectorise(copy, *of.id(copy, d), lanes, target);
}

/*
 * @d: The dimension of the lanes. Parts that are outlined have marks for lanes along x only. NULL
 * if the version would have more than @most instructions. @aligned: each begins with a multiple of
 * lanes. A vector that is loaded under a mask stays one with a branch for each lane: where that
 * makes the version too large its elements become vectors of all lanes, without branches.
 */
static Function *make_lanes(const items &of, Function &item, unsigned d, TargetMachine &target,
			    unsigned lanes, unsigned most, bool aligned)
{
	for (bool elements : { false, true }) {
		ValueToValueMapTy map;
		Function *copy = CloneFunction(&item, map);

		tidy(*copy, target);
		const unsigned size = copy->getInstructionCount();
		if (elements)
			ask_for_elements(*copy);
		Function *wide = has_few_apart(*copy, *of.id(*copy, d), lanes, target) ?
			make_version(of, *copy, d, target, lanes, aligned) : nullptr;
		copy->eraseFromParent();
		if (!wide || !is_too_large(*wide, size, lanes, most))
			return wide;
		wide->eraseFromParent();
		if (!has_short_vectors(item) || needs_elements(item))
			break;
	}
	return nullptr;
}

Function *make_lanes_along(const items &of, Function &item, unsigned d, TargetMachine &target,
			   unsigned lanes)
{
	return make_lanes(of, item, d, target, lanes, max_version, false);
}

/*
 * Instructions of a work-item up to which it has a version with twice the lanes, and up to which
 * it has one where dependence chains bound it
 */
static const unsigned max_twice = 150, max_chain = 4000;

/*
 * Loops are bound by the latency of their dependence chains, which a second vector hides. Rows
 * of 16 are common where a work-group is not part of a strip. Other code is bound by memory: with
 * vectors of 512 bits that is so where 32 lanes access as many lines of the cache.
 */
static bool gains_from_twice(const items &of, Function &f, unsigned d, unsigned lanes,
			     bool short_rows, TargetMachine &target, const options &opts)
{
	if (f.getInstructionCount() <= max_chain && is_bound_by_chains(f))
		return true;
	if (f.getInstructionCount() > max_twice)
		return false;
	if (opts.isa_level < 4)
		return has_loops(f) || short_rows;
	return has_loops(f) && is_so(f, target, [&](Function &copy) {
		return has_even_loops(copy, *of.id(copy, d), lanes, target);
	});
}

/* Do they gain from four vectors? */
static bool gains_from_four(const items &of, Function &f, unsigned d, unsigned lanes,
			    TargetMachine &target, const options &opts)
{
	return opts.isa_level >= 3 && lanes == lanes_of(opts) &&
	       f.getInstructionCount() <= max_twice && has_loops(f) &&
	       is_so(f, target, [&](Function &copy) {
		       return has_short_chains(copy) &&
			      has_even_loops(copy, *of.id(copy, d), lanes, target);
	       });
}

/* Instructions of a work-item up to which it has a version with as many lanes as bytes fill */
static const unsigned max_narrow = 400;

/*
 * What an item costs on more lanes must be less than this part of what it costs on others: on as
 * many as bytes fill, if hardly anything needs more bits.
 */
static const double gain_of_narrow = .7, gain_of_bytes = .68;

/* Not of private memory, where booleans that are live across a barrier are bytes. */
static bool accesses_narrow(Function &f)
{
	return any_of(instructions(f), [](Instruction &inst) {
		const Value *pointer = getLoadStorePointerOperand(&inst);

		if (!pointer || pointer->getType()->getPointerAddressSpace() == PRIVATE)
			return false;
		const unsigned bits = getLoadStoreType(&inst)->getScalarSizeInBits();
		return bits >= 8 && bits <= 16;
	});
}

/*
 * Bytes and shorts of the usual lanes fill a part of a register: twice or four times as many, with
 * which bytes fill it, cost little more. 0 if they gain too little.
 */
static unsigned narrow_lanes(const items &of, Function &f, unsigned d, unsigned lanes,
			     bool aligned, TargetMachine &target)
{
	auto cost = [&](unsigned n) {
		double sum = 0;

		is_so(f, target, [&](Function &copy) {
			Argument &x = *of.id(copy, d);

			if (aligned)
				separate_lanes(copy, x, n);
			arrange_accesses(copy, x, n, target);
			sum = cost_of_lanes(copy, x, n, target);
			return true;
		});
		return sum / n;
	};
	const unsigned most = 4 * lanes;
	double least = cost(lanes);
	unsigned best = 0;

	for (unsigned more = 2 * lanes; more <= most && least; more *= 2) {
		const double next = cost(more);

		if (next > (more < most ? gain_of_narrow : gain_of_bytes) * least)
			break;
		least = next;
		best = more;
	}
	return best;
}

/* The form of @item whose arithmetic has no more bits than it needs */
static Function *make_narrow(const items &of, Function &item, unsigned d, TargetMachine &target)
{
	ValueToValueMapTy map;
	Function *copy = CloneFunction(&item, map);

	tidy(*copy, target);
	canonicalise(*copy, target);
	if (narrow_integers(*copy, *of.id(*copy, d)))
		tidy(*copy, target);
	return copy;
}

/* A version of @item with more lanes, if it gains from one. @narrow: also for bytes and shorts. */
static void add_more(row &made, const items &of, Function &item, unsigned d, bool short_rows,
		     bool narrow, unsigned most, bool aligned, TargetMachine &target,
		     const options &opts)
{
	if (narrow && made.lanes == lanes_of(opts) &&
	    item.getInstructionCount() <= max_narrow && accesses_narrow(item)) {
		Function *form = make_narrow(of, item, d, target);

		made.more_lanes = narrow_lanes(of, *form, d, made.lanes, aligned, target);
		if (made.more_lanes && gains_from_four(of, *form, d, made.lanes, target, opts))
			made.more_lanes = 4 * made.lanes;
		if (made.more_lanes)
			made.more = make_lanes(of, *form, d, target, made.more_lanes, most,
					       aligned);
		form->eraseFromParent();
	}
	if (made.more)
		return;
	if (gains_from_four(of, item, d, made.lanes, target, opts))
		made.more_lanes = 4 * made.lanes;
	else if (gains_from_twice(of, item, d, made.lanes, short_rows, target, opts))
		made.more_lanes = 2 * made.lanes;
	else
		return;
	made.more = make_lanes(of, item, d, target, made.more_lanes, most, aligned);
}

/*
 * The version for what is left of a row, where rows are many or short. Each lane must access what
 * is beside that of its neighbours: gathers of a few lanes take as long as those of all. In loops
 * a mask costs more than what is left of a row.
 */
static Function *make_rest(const items &of, Function &item, unsigned d, unsigned lanes,
			   unsigned most, bool aligned, TargetMachine &target, const options &opts)
{
	if (opts.isa_level < 4 || lanes < least_lanes || !item.getReturnType()->isVoidTy() ||
	    item.getInstructionCount() > max_half || has_loops(item) ||
	    !is_so(item, target, [&](Function &copy) {
		    return is_side_by_side(copy, *of.id(copy, d), lanes, target);
	    }))
		return nullptr;
	Function *masked = mask_rest(of, item, d);
	Function *made = make_lanes(of, *masked, d, target, lanes, most, aligned);
	masked->eraseFromParent();
	return made;
}

/*
 * Short rows end with up to lanes - 1 work-items that would run one after the other, or have no
 * more than those: work-groups of 8 x 8 are common.
 */
static bool gains_from_half(const items &of, const Function &f, unsigned d, unsigned lanes,
			    bool short_rows, const options &opts)
{
	return opts.isa_level >= 4 && short_rows && lanes / 2 >= least_lanes &&
	       f.getInstructionCount() <= max_half &&
	       (!of.group[d] || of.group[d] % lanes >= lanes / 2);
}

/*
 * The vector part of a row: in the interior by @inner, outside of it by @wide. @segment: where the
 * segment that begins with a work-item ends, NULL if there are none.
 */
static Value *emit_lanes(IRBuilder<> &b, const row_range &range, unsigned lanes, unsigned least,
			 function_ref<Value *(Value *)> segment,
			 function_ref<Value *(Value *, Value *)> inner,
			 function_ref<void(Value *)> wide)
{
	Function *f = b.GetInsertBlock()->getParent();
	LLVMContext &context = b.getContext();
	BasicBlock *before = b.GetInsertBlock();
	BasicBlock *part = BasicBlock::Create(context, "part", f);
	BasicBlock *inside = BasicBlock::Create(context, "inside", f);
	BasicBlock *outside = BasicBlock::Create(context, "outside", f);
	BasicBlock *border = BasicBlock::Create(context, "border", f);
	BasicBlock *done = BasicBlock::Create(context, "done", f);

	b.CreateBr(part);
	b.SetInsertPoint(part);
	PHINode *x = b.CreatePHI(b.getInt64Ty(), 3, "x");
	Value *next = b.CreateAdd(x, b.getInt64(lanes), "", true, true);
	Value *some = b.CreateAdd(x, b.getInt64(least), "", true, true);
	Value *high = segment(x);
	high = high ? b.CreateBinaryIntrinsic(Intrinsic::smin, high, range.high) : range.high;
	b.CreateCondBr(b.CreateAnd(b.CreateICmpUGE(x, range.low), b.CreateICmpULE(some, high)),
		       inside, outside);
	x->addIncoming(range.first, before);

	b.SetInsertPoint(inside);
	Value *left = inner(x, high);
	x->addIncoming(left, b.GetInsertBlock());
	b.CreateBr(part);

	b.SetInsertPoint(outside);
	b.CreateCondBr(b.CreateICmpULE(next, range.end), border, done);
	b.SetInsertPoint(border);
	wide(x);
	x->addIncoming(next, b.GetInsertBlock());
	b.CreateBr(part);

	b.SetInsertPoint(done);
	return x;
}

/*
 * The interior by @inner, what is before and after it one work-item after the other: by one loop
 * that comes twice, as a second copy of a large work-item takes long to build.
 */
static void emit_sides(IRBuilder<> &b, const row_range &range,
		       function_ref<Value *(Value *, Value *)> inner,
		       function_ref<void(Value *)> one)
{
	Function *f = b.GetInsertBlock()->getParent();
	BasicBlock *before = b.GetInsertBlock();
	BasicBlock *part = BasicBlock::Create(b.getContext(), "part", f);
	BasicBlock *done = BasicBlock::Create(b.getContext(), "done", f);

	b.CreateBr(part);
	b.SetInsertPoint(part);
	PHINode *x = b.CreatePHI(b.getInt64Ty(), 2, "x");
	x->addIncoming(range.first, before);
	Value *left = b.CreateICmpULT(x, range.low);
	Value *from = inner(x, b.CreateSelect(left, x, range.high));
	Value *to = b.CreateSelect(left, range.low, range.end);
	Value *next = make_loop(b, from, to, 1, "border", one);
	x->addIncoming(next, b.GetInsertBlock());
	b.CreateCondBr(b.CreateICmpULT(next, range.end), part, done);
	b.SetInsertPoint(done);
}

row make_row(const items &of, Function &item, unsigned d, bool skip, bool short_rows,
	     TargetMachine &target, const options &opts)
{
	auto range = std::make_unique<interior>(item, *of.id(item, d), skip);
	unsigned lanes = lanes_for(item, lanes_in(of, d, lanes_of(opts)), opts);
	const bool fewer = lanes == lanes_of(opts) && opts.isa_level >= 4 &&
		((has_doubles(item) && is_so(item, target, gains_from_fewer_lanes)) ||
		 (has_loops(item) && is_so(item, target, [&](Function &copy) {
			 return waits_along_rows(copy, *of.id(copy, d), lanes, target);
		 })));
	if (fewer)
		lanes /= 2;
	row made = { .lanes = lanes, .item = &item, .range = nullptr, .guarded = nullptr };

	if (range->has_guards() && any_of(instructions(item), is_common_store)) {
		made.idle = range->make_idle(of, target);
		if (!made.idle)
			range = std::make_unique<interior>(item, *of.id(item, d), false);
	}

	if (lanes > 1 && !d)
		range->find_units();
	if (lanes == 1 || d > 0 || !gains_from_segments(of, item, *range, lanes, target))
		range->drop_quotients();
	/* Rows without a range begin with 0. */
	const bool aligned = range->is_whole();
	const unsigned most = std::max(max_version, max_growth * item.getInstructionCount());
	/* Without a version for lanes of several segments there is none for those of one. */
	if (range->has_quotients()) {
		made.wide = make_lanes(of, item, d, target, lanes, max_border, false);
		if (!made.wide)
			range->drop_quotients();
	}
	Function *special = range->is_whole() ? &item : range->specialise();
	/* A region between barriers has more arguments. */
	const bool is_whole = item.arg_size() == of.values.size() + 3;
	auto gains_from_one = [&](Function &f) {
		return is_so(f, target, [&](Function &copy) {
			Argument &x = *of.id(copy, d);

			if (aligned)
				separate_lanes(copy, x, lanes);
			interleave_arrays(copy, x, lanes, target);
			return gains_from_inner_loops(copy, x, lanes, target) ||
			       gains_from_items(copy, x, lanes, is_whole, target);
		});
	};
	const bool one = !made.wide && (lanes == 1 || gains_from_one(item));
	/* Is only one side of a test run one after the other? Then the other is the interior. */
	bool sides = one && lanes > 1 && range->has_borders();
	if (sides && gains_from_one(*special)) {
		sides = range->take_other_side();
		if (sides) {
			special->eraseFromParent();
			special = range->specialise();
			sides = !gains_from_one(*special);
		}
	}
	if (one)
		widen_indices(item);
	if (one && !sides) {
		if (special != &item)
			special->eraseFromParent();
		(range->has_guards() ? made.range : made.guarded) = std::move(range);
		return made;
	}

	if (special != &item)
		made.inner = make_lanes(of, *special, d, target, lanes, most, false);
	/* It is as large as that of the interior, or larger. */
	if (!made.wide && !sides &&
	    (made.inner ? range->has_likely_borders() &&
				  made.inner->getInstructionCount() <= max_border :
			  range->is_whole() || range->has_borders()))
		made.wide = make_lanes(of, item, d, target, lanes, made.inner ? max_border : most,
				       aligned);
	if (made.wide && made.inner && !range->has_quotients() &&
	    !gains_from_interior(of, made, item, *special, d, target)) {
		made.inner->eraseFromParent();
		made.inner = nullptr;
	}
	if (made.wide && made.inner && !range->has_quotients() &&
	    is_vain_border(*made.wide, item, lanes)) {
		made.wide->eraseFromParent();
		made.wide = nullptr;
	}
	/* Segments are short. */
	const bool narrow = !range->has_quotients();
	if (made.inner || (!made.wide && range->has_guards()))
		made.range = std::move(range);
	/* These would be of functions with as many lanes, or as few. */
	const bool calls = has_vector_calls(item);
	if ((made.inner || special == &item) && !fewer && !calls)
		add_more(made, of, *special, d, short_rows, narrow, most, aligned, target, opts);
	const bool many_rows = short_rows || !of.id(item, 1)->use_empty();
	const bool rests = !of.group[d] || of.group[d] % lanes || made.range;
	if ((made.inner ? !made.wide : special == &item && made.wide) && many_rows && rests &&
	    !calls)
		made.rest = make_rest(of, *special, d, lanes / 2, most, aligned, target, opts);
	if (!made.rest && !calls && (made.inner || (special == &item && made.wide)) &&
	    gains_from_half(of, *special, d, lanes, short_rows, opts))
		made.half = make_lanes(of, made.has_half_of_all() ? item : *special, d, target,
				       lanes / 2, most, aligned);
	if (special != &item)
		special->eraseFromParent();
	if (!made.range)
		made.guarded = std::move(range);
	made.seldom = made.has_lanes() &&
		(made.half || made.rest || !short_rows || of.group[d] >= made.lanes);
	return made;
}

/* The part of a range from @from up to @to */
static row_range part_of(IRBuilder<> &b, const row_range &range, Value *from, Value *to)
{
	auto inside = [&](Value *at) {
		Value *least = b.CreateBinaryIntrinsic(Intrinsic::smax, at, from);

		return b.CreateBinaryIntrinsic(Intrinsic::smin, least, to);
	};

	return { inside(range.first), inside(range.end), inside(range.low), inside(range.high) };
}

/* What is left of a row, from @from up to @to, under a mask */
static Value *emit_rest(IRBuilder<> &b, const row &r, Value *from, Value *to,
			function_ref<void(Function *, Value *, ArrayRef<Value *>)> call)
{
	const unsigned lanes = r.lanes_of(r.rest);

	make_loop(b, from, b.CreateAdd(to, b.getInt64(lanes - 1)), lanes, "rest", [&](Value *at) {
		Value *left = b.CreateTrunc(b.CreateSub(to, at), b.getInt32Ty());

		call(r.rest, at, { at, left });
	});
	return b.CreateBinaryIntrinsic(Intrinsic::umax, from, to);
}

/* @part: Two values, from where to where work-items of the row run; all if it is empty. */
static void emit_row(IRBuilder<> &b, const row &r, Value *length, ArrayRef<Value *> part,
		     function_ref<void(Function *, Value *, ArrayRef<Value *>)> call,
		     function_ref<SmallVector<Value *>(Value *)> args)
{
	Value *x = part.empty() ? b.getInt64(0) : part[0], *end = part.empty() ? length : part[1];
	const unsigned lanes = r.lanes;
	auto wide = [&](Value *at) { call(r.wide, at, {}); };
	auto one = [&](Value *at) { call(r.item, at, {}); };
	auto half = [&](Value *from, Value *to) {
		return make_loop(b, from, to, lanes / 2, "half",
				 [&](Value *at) { call(r.half, at, {}); });
	};
	auto inner = [&](Value *from, Value *to) {
		if (r.more)
			from = make_loop(b, from, to, r.more_lanes, "more",
					 [&](Value *at) { call(r.more, at, {}); });
		from = make_loop(b, from, to, lanes, "inner",
				 [&](Value *at) { call(r.range ? r.inner : r.wide, at, {}); });
		if (r.half && !r.has_half_of_all())
			from = half(from, to);
		return r.rest ? emit_rest(b, r, from, to, call) : from;
	};

	if (r.range) {
		row_range range = r.range->emit(b, args(b.getInt64(0)), length);

		if (!part.empty())
			range = part_of(b, range, x, end);
		end = range.end;
		if (!r.inner) {
			make_loop(b, range.first, end, 1, "x", one);
			return;
		}
		/* If all tests are guards nothing is run before the interior. */
		if (!r.wide && r.range->has_borders())
			return emit_sides(b, range, inner, one);
		auto segment = [&](Value *at) {
			return r.range->emit_segment(b, args(b.getInt64(0)), length, at);
		};
		x = r.wide ? emit_lanes(b, range, lanes, r.least(), segment, inner, wide) :
			     inner(range.first, range.high);
		if (r.half && r.has_half_of_all())
			x = half(x, end);
	} else if (r.wide) {
		x = inner(x, end);
	}
	make_loop(b, x, end, 1, "x", one, r.seldom);
}

/* @emit if @condition holds, or always if that is NULL */
static void emit_if(IRBuilder<> &b, Value *condition, function_ref<void()> emit)
{
	Function *f = b.GetInsertBlock()->getParent();

	if (!condition)
		return emit();
	BasicBlock *run = BasicBlock::Create(b.getContext(), "guarded", f);
	BasicBlock *after = BasicBlock::Create(b.getContext(), "next", f);
	b.CreateCondBr(condition, run, after);
	b.SetInsertPoint(run);
	emit();
	b.CreateBr(after);
	b.SetInsertPoint(after);
}

/* @emit if something is left of rows of @length by the guards that are the same for all rows */
static void emit_some(IRBuilder<> &b, const items &of, const row &r, Value *length,
		      function_ref<void()> emit)
{
	emit_if(b, r.range ? r.range->emit_some(b, of.values, length) : nullptr, emit);
}

void emit_rows(IRBuilder<> &b, const items &of, const row &r, const group_values &v,
	       Value *length, Value *block, function_ref<tail_function> tail, Value *result,
	       ArrayRef<Value *> some)
{
	Value *zero = b.getInt64(0);
	auto emit_plane = [&](Value *z, ArrayRef<Value *> part) {
		make_loop(b, zero, v.extent[1], 1, "y", [&](Value *y) {
			SmallVector<Value *> rest = tail(y, z);
			auto args = [&](Value *x) {
				SmallVector<Value *> all(of.values);
				all.append({ x, y, z });
				all.append(rest);
				return all;
			};
			auto call = [&](Function *f, Value *x, ArrayRef<Value *> more) {
				SmallVector<Value *> all = args(x);
				all.append(more.begin(), more.end());
				begin_index(b, of.dimension[2], z, 1);
				begin_index(b, of.dimension[1], y, 1);
				begin_index(b, 0, x, r.lanes_of(f));
				Value *next = b.CreateCall(f, all);
				end_index(b, 0);
				if (result)
					b.CreateStore(b.CreateOr(next, b.CreateLoad(next->getType(),
										    result)),
						      result);
			};
			interior *guards = r.guards();
			emit_if(b, guards ? guards->emit_row_guards(b, args(zero)) : nullptr,
				[&] { emit_row(b, r, length, part, call, args); });
			end_index(b, of.dimension[1]);
		});
		end_index(b, of.dimension[2]);
	};

	auto emit_planes = [&](Value *z) {
		if (!block)
			return emit_plane(z, some);
		Value *more = b.CreateAdd(length, b.CreateSub(block, b.getInt64(1)));
		make_loop(b, zero, b.CreateUDiv(more, block), 1, "block", [&](Value *i) {
			Value *from = b.CreateMul(i, block);
			Value *to = b.CreateAdd(from, block);

			emit_plane(z, { from, b.CreateBinaryIntrinsic(Intrinsic::umin, to,
								      length) });
		});
	};
	emit_some(b, of, r, length,
		  [&] { make_loop(b, zero, v.extent[2], 1, "z", emit_planes); });
}

/* Work-items of a row up to which the lines that they access in columns stay in the cache */
static const unsigned column_block = 16;

Value *emit_block(IRBuilder<> &b, const group_values &v, Value *length)
{
	return b.CreateSelect(b.CreateICmpUGT(v.extent[1], b.getInt64(1)),
			      b.getInt64(column_block),
			      b.CreateBinaryIntrinsic(Intrinsic::umax, length, b.getInt64(1)));
}

void inline_row(const row &r)
{
	if (r.wide)
		inline_calls(*r.wide);
	if (r.inner)
		inline_calls(*r.inner);
	if (r.more)
		inline_calls(*r.more);
	if (r.half)
		inline_calls(*r.half);
	if (r.rest)
		inline_calls(*r.rest);
	if (r.idle)
		inline_calls(*r.idle);
	inline_calls(*r.item);
}

/*
 * Calls for all work-items with lanes along y, for each x. There are no marks, whose lanes are
 * work-items of a row: a fault in this code is reported without its work-item.
 */
static void emit_columns(IRBuilder<> &b, const items &of, const row &r, const group_values &v,
			 Value *length)
{
	Value *zero = b.getInt64(0);

	auto emit_plane = [&](Value *z) {
		make_loop(b, zero, length, 1, "x", [&](Value *x) {
			auto args = [&](Value *y) {
				SmallVector<Value *> all(of.values);
				all.append({ x, y, z });
				return all;
			};
			auto call = [&](Function *f, Value *y, ArrayRef<Value *> more) {
				SmallVector<Value *> all = args(y);
				all.append(more.begin(), more.end());
				b.CreateCall(f, all);
			};
			interior *guards = r.guards();
			emit_if(b, guards ? guards->emit_row_guards(b, args(zero)) : nullptr,
				[&] { emit_row(b, r, v.extent[1], {}, call, args); });
		});
	};
	emit_some(b, of, r, v.extent[1],
		  [&] { make_loop(b, zero, v.extent[2], 1, "z", emit_plane); });
}

row build_columns(IRBuilder<> &b, const items &of, const group_values &v, Value *length,
		  TargetMachine &target, const options &opts)
{
	Function &f = *b.GetInsertBlock()->getParent();
	BasicBlock *columns = BasicBlock::Create(f.getContext(), "columns", &f);
	BasicBlock *rows = BasicBlock::Create(f.getContext(), "rows", &f);
	ValueToValueMapTy map;
	row r = make_row(of, *CloneFunction(of.function, map), 1, true, true, target, opts);

	b.CreateCondBr(b.CreateICmpUGE(v.extent[1], b.getInt64(least_columns)), columns, rows);
	b.SetInsertPoint(columns);
	emit_columns(b, of, r, v, length);
	b.CreateRetVoid();
	b.SetInsertPoint(rows);
	return r;
}
