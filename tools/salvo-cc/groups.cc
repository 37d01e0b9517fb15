// SPDX-License-Identifier: MIT
/*
 * groups.cc - work-item loops: a function that runs a whole work-group
 *
 * In a row the function of several work-items is called while that many are left, then the
 * scalar one for the remainder. The interior of the row, if its bounds can be computed
 * (interior.cc), has a version of its own.
 *
 *	for z, y:	x = 0
 *			while (x + 16 <= length)	twice(x, y, z), x += 16		(short ones)
 *			while (x + 8 <= length)		lanes(x, y, z), x += 8
 *			while (x < length)		item(x, y, z), x += 1
 *
 * A kernel that accesses contiguous memory along y but not along x has a second version, with x and
 * y exchanged, for work-groups that are not flat.
 *
 * A kernel that cannot distinguish a row of work-groups from one long work-group (items.cc)
 * runs as many of them in a call as its unit allows, a strip, so that rows are long even where
 * work-groups are small.
 *
 * A kernel with barriers runs as regions (split.cc), one after the other.
 */
#include "interior.h"
#include "places.h"
#include "split.h"

#include <cstddef>

#include <llvm/Analysis/CFG.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/LowerAtomic.h>

#include "salvo_hw.h"
#include "salvo_kernel.h"

using namespace llvm;

/*
 * LLVM shall neither vectorise nor unroll work-item loops: the remainder of a row is short, the
 * others are vector code, and an instruction must belong to one iteration (marks.cc).
 */
static MDNode *keep_simple(LLVMContext &context)
{
	auto *no = ConstantAsMetadata::get(ConstantInt::getFalse(context));
	MDNode *vectorise = MDNode::get(context, {
		MDString::get(context, "llvm.loop.vectorize.enable"), no });
	MDNode *unroll = MDNode::get(context, {
		MDString::get(context, "llvm.loop.unroll.disable") });
	MDNode *id = MDNode::getDistinct(context, { nullptr, vectorise, unroll });

	id->replaceOperandWith(0, id);
	return id;
}

/*
 * for (i = from; i + step <= to; i += step) each(i); returns the first i that is not run. It is
 * computed before the loop, so that no value of the loop is live after it.
 */
static Value *make_loop(IRBuilder<> &b, Value *from, Value *to, uint64_t step, const Twine &name,
			function_ref<void(Value *)> each)
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
	again->setMetadata(LLVMContext::MD_loop, keep_simple(context));
	b.SetInsertPoint(exit);
	return end;
}

static unsigned lanes_of(const options &opts)
{
	return opts.isa_level >= 4 ? 16 : opts.isa_level == 3 ? 8 : 4;
}

/* Work-items of the row; stores for the unit how many work-groups the strip has. */
static Value *row_length(IRBuilder<> &b, const items &of, const group_values &v)
{
	if (!of.strips)
		return v.extent[0];
	b.CreateStore(v.run, b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), v.group,
							  offsetof(salvo_group, ran)));
	Value *most = b.CreateMul(b.CreateZExt(v.run, b.getInt64Ty()), v.local_size[0], "", true,
				  true);
	Value *rest = b.CreateSub(v.global_size[0], v.first_id[0], "", true, true);
	return b.CreateBinaryIntrinsic(Intrinsic::umin, most, rest);
}

static void inline_calls(Function &callee)
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

/* Private arrays of a work-item, in bytes, up to which it is vectorised */
static const uint64_t max_private = 1024;

/*
 * A kernel that uses long vector types has nothing to gain from lanes. Accesses to large private
 * arrays would be gathers.
 */
static bool gains_from_lanes(const Function &f)
{
	uint64_t bytes = 0;

	for (const Instruction &inst : instructions(f)) {
		if (auto *type = dyn_cast<FixedVectorType>(inst.getType()))
			if (type->getNumElements() > 4)
				return false;
		if (auto *alloca = dyn_cast<AllocaInst>(&inst))
			bytes += f.getDataLayout().getTypeAllocSize(alloca->getAllocatedType());
	}
	return bytes <= max_private;
}

/* @d: The dimension of the lanes. Parts that are outlined have marks for lanes along x only. */
static Function *make_lanes(const items &of, Function &item, unsigned d, TargetMachine &target,
			    unsigned lanes)
{
	ValueToValueMapTy map;

	Function *copy = CloneFunction(&item, map);
	tidy(*copy, target);
	if (!gains_from_lanes(*copy)) {
		copy->eraseFromParent();
		return nullptr;
	}
	canonicalise(*copy, target);
	if (d == 0)
		outline_regions(*copy, *of.id(*copy, 0), lanes, target);
	Function *wide = vectorise(*copy, *of.id(*copy, d), lanes, target);
	copy->eraseFromParent();
	return wide;
}

/* Limits for a version with twice the lanes: instructions of a work-item, regions of its kernel */
static const unsigned max_twice = 150, max_twice_regions = 6;

/*
 * Loops are bound by the latency of their dependence chains, which a second vector hides. Rows
 * of 16 are common where a work-group is not part of a strip. Other code is bound by memory.
 */
static bool gains_from_twice(const Function &f, bool short_rows, const options &opts)
{
	SmallVector<std::pair<const BasicBlock *, const BasicBlock *>> back;

	FindFunctionBackedges(f, back);
	return opts.isa_level < 4 && f.getInstructionCount() <= max_twice &&
	       (!back.empty() || short_rows);
}

/* The vector part of a row: in the interior by @inner, outside of it by @wide. */
static Value *emit_lanes(IRBuilder<> &b, const row_range &range, unsigned lanes,
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
	b.CreateCondBr(b.CreateAnd(b.CreateICmpUGE(x, range.low),
				   b.CreateICmpULE(next, range.high)),
		       inside, outside);
	x->addIncoming(range.first, before);

	b.SetInsertPoint(inside);
	Value *left = inner(x, range.high);
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
 * The functions that run a row: of one work-item, of several, of several in the interior, of
 * twice as many there (everywhere, if there is no interior).
 */
struct row {
	Function *item, *wide = nullptr, *inner = nullptr, *twice = nullptr;
	std::unique_ptr<interior> range;

	unsigned lanes_of(const Function *f, unsigned lanes) const
	{
		return f == item ? 1 : f == twice ? 2 * lanes : lanes;
	}
};

/* Does the work-item gain more from its own loops than from lanes? */
static bool prefers_loops(const items &of, Function &item, unsigned d, TargetMachine &target,
			  unsigned lanes)
{
	ValueToValueMapTy map;
	Function *copy = CloneFunction(&item, map);

	tidy(*copy, target);
	canonicalise(*copy, target);
	const bool prefers = gains_from_inner_loops(*copy, *of.id(*copy, d), lanes, target);
	copy->eraseFromParent();
	return prefers;
}

/*
 * @d: The dimension of the row. @skip: work-items that do nothing need not be called. @short_rows:
 * rows may be short.
 */
static row make_row(const items &of, Function &item, unsigned d, bool skip, bool short_rows,
		    TargetMachine &target, const options &opts)
{
	row made = { .item = &item, .range = nullptr };
	auto range = std::make_unique<interior>(item, *of.id(item, d), skip);
	const unsigned lanes = lanes_of(opts);

	if (prefers_loops(of, item, d, target, lanes))
		return made;
	Function *special = range->is_whole() ? &item : range->specialise();

	if (range->is_whole() || range->has_borders())
		made.wide = make_lanes(of, item, d, target, lanes);
	if (special != &item)
		made.inner = make_lanes(of, *special, d, target, lanes);
	if (made.inner)
		made.range = std::move(range);
	if ((made.inner || special == &item) && gains_from_twice(*special, short_rows, opts))
		made.twice = make_lanes(of, *special, d, target, 2 * lanes);
	if (special != &item)
		special->eraseFromParent();
	return made;
}

static void emit_row(IRBuilder<> &b, const row &r, unsigned lanes, Value *length,
		     function_ref<void(Function *, Value *)> call,
		     function_ref<SmallVector<Value *>(Value *)> args)
{
	Value *x = b.getInt64(0), *end = length;
	auto wide = [&](Value *at) { call(r.wide, at); };
	auto one = [&](Value *at) { call(r.item, at); };
	auto inner = [&](Value *from, Value *to) {
		if (r.twice)
			from = make_loop(b, from, to, 2 * lanes, "twice",
					 [&](Value *at) { call(r.twice, at); });
		return make_loop(b, from, to, lanes, "inner",
				 [&](Value *at) { call(r.range ? r.inner : r.wide, at); });
	};

	if (r.range) {
		const row_range range = r.range->emit(b, args(x), length);

		end = range.end;
		if (r.wide) {
			x = emit_lanes(b, range, lanes, inner, wide);
		} else {
			x = range.first;
			/* If all tests are guards nothing is run before the interior. */
			if (r.range->has_borders())
				x = make_loop(b, x, range.low, 1, "border", one);
			x = inner(x, range.high);
		}
	} else if (r.wide) {
		x = inner(x, length);
	}
	make_loop(b, x, end, 1, "x", one);
}

/* Calls for all work-items; @tail makes the arguments after the ids from y and z. */
static void emit_rows(IRBuilder<> &b, const items &of, const row &r, unsigned lanes,
		      const group_values &v, Value *length,
		      function_ref<SmallVector<Value *>(Value *, Value *)> tail, Value *result)
{
	Value *zero = b.getInt64(0);

	make_loop(b, zero, v.extent[2], 1, "z", [&](Value *z) {
		make_loop(b, zero, v.extent[1], 1, "y", [&](Value *y) {
			SmallVector<Value *> rest = tail(y, z);
			auto args = [&](Value *x) {
				SmallVector<Value *> all(of.values);
				all.append({ x, y, z });
				all.append(rest);
				return all;
			};
			emit_row(b, r, lanes, length, [&](Function *f, Value *x) {
				begin_index(b, 2, z, 1);
				begin_index(b, 1, y, 1);
				begin_index(b, 0, x, r.lanes_of(f, lanes));
				Value *next = b.CreateCall(f, args(x));
				end_index(b, 0);
				if (result)
					b.CreateStore(next, result);
			}, args);
			end_index(b, 1);
		});
		end_index(b, 2);
	});
}

static void inline_row(const row &r)
{
	if (r.wide)
		inline_calls(*r.wide);
	if (r.inner)
		inline_calls(*r.inner);
	if (r.twice)
		inline_calls(*r.twice);
	inline_calls(*r.item);
}

/*
 * Work-items along y from which on that version is used. If they are fewer than lanes they run one
 * after the other, which still is faster than lanes that gather and scatter.
 */
static const unsigned least_columns = 4;

/* Lanes along y must cost less than this part of what lanes along x cost. */
static const double gain_of_columns = .6;

/* A kernel that accesses contiguous memory along y, and along x does not */
static bool gains_from_columns(const items &of, TargetMachine &target, unsigned lanes)
{
	ValueToValueMapTy map;
	double cost[2];

	if (of.id(*of.function, 1)->use_empty())
		return false;
	Function *copy = CloneFunction(of.function, map);
	tidy(*copy, target);
	canonicalise(*copy, target);
	for (unsigned d = 0; d < 2; d++)
		cost[d] = cost_of_lanes(*copy, *of.id(*copy, d), lanes, target);
	copy->eraseFromParent();
	return cost[1] > 0 && cost[1] < gain_of_columns * cost[0];
}

/*
 * Calls for all work-items with lanes along y, for each x. There are no marks, whose lanes are
 * work-items of a row: a fault in this code is reported without its work-item.
 */
static void emit_columns(IRBuilder<> &b, const items &of, const row &r, unsigned lanes,
			 const group_values &v, Value *length)
{
	Value *zero = b.getInt64(0);

	make_loop(b, zero, v.extent[2], 1, "z", [&](Value *z) {
		make_loop(b, zero, length, 1, "x", [&](Value *x) {
			auto args = [&](Value *y) {
				SmallVector<Value *> all(of.values);
				all.append({ x, y, z });
				return all;
			};
			emit_row(b, r, lanes, v.extent[1],
				 [&](Function *f, Value *y) { b.CreateCall(f, args(y)); }, args);
		});
	});
}

/* A version with lanes along y, for work-groups that are not flat; @b goes on with the others. */
static row build_columns(IRBuilder<> &b, const items &of, const group_values &v, Value *length,
			 TargetMachine &target, const options &opts)
{
	Function &f = *b.GetInsertBlock()->getParent();
	const unsigned lanes = lanes_of(opts);
	BasicBlock *columns = BasicBlock::Create(f.getContext(), "columns", &f);
	BasicBlock *rows = BasicBlock::Create(f.getContext(), "rows", &f);
	ValueToValueMapTy map;
	row r = make_row(of, *CloneFunction(of.function, map), 1, true, true, target, opts);

	b.CreateCondBr(b.CreateICmpUGE(v.extent[1], b.getInt64(least_columns)), columns, rows);
	b.SetInsertPoint(columns);
	emit_columns(b, of, r, lanes, v, length);
	b.CreateRetVoid();
	b.SetInsertPoint(rows);
	return r;
}

static void build_plain(kernel &k, const items &of, const group_values &v, TargetMachine &target,
			const options &opts)
{
	IRBuilder<> b(&k.function->front());
	const unsigned lanes = lanes_of(opts);
	Value *length = row_length(b, of, v);
	row columns = { .item = nullptr, .range = nullptr };

	if (gains_from_columns(of, target, lanes))
		columns = build_columns(b, of, v, length, target, opts);
	row r = make_row(of, *of.function, 0, true, !of.strips, target, opts);
	emit_rows(b, of, r, lanes, v, length,
		  [](Value *, Value *) { return SmallVector<Value *>(); }, nullptr);
	b.CreateRetVoid();
	inline_row(r);
	if (columns.item)
		inline_row(columns);
}

/* Stack, in bytes, for all arrays of a split kernel */
static const uint64_t max_frames = 256 << 10;

static bool fits_stack(const kernel &k, const regions &split)
{
	uint64_t count = SALVO_MAX_GROUP_ITEMS, bytes = 0;

	if (k.required_group[0])
		count = (uint64_t)k.required_group[0] * k.required_group[1] * k.required_group[2];
	for (const carried &variable : split.variables)
		if (!variable.uniform)
			bytes += alignTo(count * variable.bytes, 64);
	return bytes <= max_frames;
}

/* Runs region after region, each for all work-items. */
static void build_split(kernel &k, const items &of, const regions &split, const group_values &v,
			TargetMachine &target, const options &opts)
{
	Function &f = *k.function;
	IRBuilder<> b(&f.front());
	Value *plane = b.CreateMul(v.extent[0], v.extent[1], "", true, true);
	Value *count = b.CreateMul(plane, v.extent[2], "", true, true);
	AllocaInst *next = b.CreateAlloca(b.getInt32Ty(), nullptr, "next");
	SmallVector<AllocaInst *> memory;
	SmallVector<BasicBlock *> blocks;
	std::vector<row> rows;

	for (const carried &variable : split.variables) {
		Value *bytes = b.CreateMul(count, b.getInt64(variable.bytes), "", true, true);
		memory.push_back(variable.uniform ? b.CreateAlloca(variable.type) :
						    b.CreateAlloca(b.getInt8Ty(), bytes));
		memory.back()->setAlignment(Align(128));
	}
	for (unsigned i = 0; i < split.all.size(); i++)
		blocks.push_back(BasicBlock::Create(f.getContext(), "region", &f));
	BasicBlock *end = BasicBlock::Create(f.getContext(), "end", &f);
	ReturnInst::Create(f.getContext(), end);
	b.CreateBr(blocks[0]);

	for (unsigned i = 0; i < split.all.size(); i++) {
		const region &r = split.all[i];
		SmallVector<Value *> shared;

		rows.push_back(make_row(of, *r.function, 0, r.next.size() == 1,
					split.all.size() <= max_twice_regions, target, opts));

		b.SetInsertPoint(blocks[i]);
		for (unsigned n = 0; n < memory.size(); n++) {
			shared.push_back(memory[n]);
			if (split.variables[n].uniform)
				shared.push_back(b.CreateLoad(split.variables[n].type, memory[n]));
		}
		const unsigned lanes = lanes_of(opts);

		emit_rows(b, of, rows.back(), lanes, v, v.extent[0], [&](Value *y, Value *z) {
			SmallVector<Value *> rest;
			Value *row = b.CreateMul(y, v.extent[0], "", true, true);
			rest.push_back(b.CreateAdd(row, b.CreateMul(z, plane, "", true, true), "",
						   true, true));
			rest.append(shared);
			return rest;
		}, r.next.size() > 1 ? next : nullptr);

		if (r.next.empty()) {
			b.CreateUnreachable();
			continue;
		}
		unsigned first = *r.next.begin();
		BasicBlock *after = first ? blocks[first] : end;
		if (r.next.size() == 1) {
			b.CreateBr(after);
			continue;
		}
		SwitchInst *way = b.CreateSwitch(b.CreateLoad(b.getInt32Ty(), next), after);
		for (unsigned to : r.next)
			if (to != first)
				way->addCase(b.getInt32(to), blocks[to]);
	}
	for (const row &r : rows)
		inline_row(r);
	of.function->eraseFromParent();
}

/* The fallback where split_items() fails: a user-level thread for each work-item. */
static void build_thread(kernel &k, const items &of, const group_values &v)
{
	IRBuilder<> b(&k.function->front());
	SmallVector<Value *> args(of.values);
	Value *ids[3];

	load_local_id(b, v, ids);
	args.append({ ids[0], ids[1], ids[2] });
	b.CreateCall(of.function, args);
	b.CreateRetVoid();
	inline_calls(*of.function);
	call_barriers(*k.function, v);
}

/* A work-group runs on one core: atomics on local memory need no locked instruction. */
static void relax_local_atomics(Function &f)
{
	SmallVector<Instruction *> atomics;

	for (Instruction &inst : instructions(f))
		if ((isa<AtomicRMWInst>(inst) || isa<AtomicCmpXchgInst>(inst)) &&
		    inst.getOperand(0)->getType()->getPointerAddressSpace() == LOCAL)
			atomics.push_back(&inst);
	for (Instruction *inst : atomics) {
		Value *pointer = inst->getOperand(0);
		MDNode *tag = get_tag(*inst);

		if (auto *rmw = dyn_cast<AtomicRMWInst>(inst))
			lowerAtomicRMWInst(rmw);
		else
			lowerAtomicCmpXchgInst(cast<AtomicCmpXchgInst>(inst));
		set_tag(*pointer, tag);
	}
}

void build_groups(kernel &k, BasicBlock *body, const group_values &v, TargetMachine &target,
		  const options &opts)
{
	items of = build_items(k, body, v);
	regions split;

	if (!k.barriers) {
		build_plain(k, of, v, target, opts);
	} else if (split_items(of, target, split) && fits_stack(k, split)) {
		build_split(k, of, split, v, target, opts);
		k.split = true;
	} else {
		for (const region &r : split.all)
			r.function->eraseFromParent();
		build_thread(k, of, v);
	}
	relax_local_atomics(*k.function);
}
