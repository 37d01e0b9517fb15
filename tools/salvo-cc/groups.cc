// SPDX-License-Identifier: MIT
/*
 * groups.cc - a function that runs a whole work-group
 *
 * A kernel without barriers is a loop over the rows of its work-items (rows.cc). One that cannot
 * distinguish a row of work-groups from one long work-group (strips.cc) runs as many of them in a
 * call as its unit allows, a strip, so that rows are long even where work-groups are small.
 *
 * A kernel with barriers runs as regions (split.cc), one after the other. It has one version, whose
 * rows are along y where it does not depend on the local id in dimension 0, but on that in 1, or
 * only local memory does not, as it is meant for work-groups that are one work-item wide, as one
 * for each column of a matrix; and where it accesses contiguous memory along y and not along x, as
 * one whose x is the row of a matrix.
 */
#include "rows.h"

#include "agree.h"
#include "places.h"
#include "quotients.h"
#include "split.h"
#include "ways.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/CFG.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/CodeExtractor.h>
#include <llvm/Transforms/Utils/LowerAtomic.h>

#include "salvo_hw.h"
#include "salvo_kernel.h"

using namespace llvm;

static const char with_columns[] = "salvo-columns", with_planes[] = "salvo-planes";

bool has_columns(const Function &kernel)
{
	return kernel.hasFnAttribute(with_columns);
}

bool has_planes(const Function &kernel)
{
	return kernel.hasFnAttribute(with_planes);
}

/*
 * Is an index @id plus something, or with @parts a multiple or remainder of that? A cheap test
 * before those of what lanes and blocks gain.
 */
static bool is_index(const Argument &id, bool parts = false)
{
	SmallSetVector<const Value *, 16> sums;

	sums.insert(&id);
	for (unsigned i = 0; i < sums.size(); i++)
		for (const Use &use : sums[i]->uses()) {
			auto *user = cast<Instruction>(use.getUser());
			auto *element = dyn_cast<GetElementPtrInst>(user);

			if (element && !element->getResultElementType()->isAggregateType() &&
			    use.getOperandNo() == element->getNumOperands() - 1)
				return true;
			const unsigned opcode = user->getOpcode();
			const bool of_dividend = opcode == Instruction::URem ||
				opcode == Instruction::SRem || opcode == Instruction::Shl;

			if (isa<CastInst>(user) || isa<PHINode>(user) ||
			    opcode == Instruction::Add || opcode == Instruction::Sub ||
			    opcode == Instruction::Or ||
			    (parts && of_dividend && !use.getOperandNo()))
				sums.insert(user);
		}
	return false;
}

static void exchange_planes(items &of, group_values &v)
{
	turn_items(of, 1, 2);
	std::swap(v.extent[1], v.extent[2]);
}

static void build_plain(kernel &k, items &of, group_values &v, TargetMachine &target,
			const options &opts)
{
	IRBuilder<> b(&k.function->front());
	const unsigned lanes = lanes_of(opts);
	bool along_y = false, blocks = false;
	row columns;

	store_ran(b, of, v);
	auto gains = [&] {
		along_y = gains_from_columns(of, target, lanes);
		blocks = !along_y && gains_from_blocks(of, target, lanes);
		return along_y || blocks;
	};
	/* What is contiguous along z alone needs the same, with z in the place of y. */
	if (!gains() && is_index(*of.id(*of.function, 2), true)) {
		exchange_planes(of, v);
		if (!gains())
			exchange_planes(of, v);
	}
	const bool turned = of.dimension[1] != 1;
	if (turned)
		k.function->addFnAttr(with_planes);
	if (along_y)
		columns = build_columns(b, of, v, v.row_size, target, opts);
	Value *block = blocks ? emit_block(b, v, v.row_size) : nullptr;
	if (block && build_tiles(b, of, v, v.row_size, target, lanes) && !turned)
		k.function->addFnAttr(with_columns);
	row r = make_row(of, *of.function, 0, true, !of.strips, target, opts);
	auto no_tail = [](Value *, Value *) { return SmallVector<Value *>(); };
	if (block || !emit_int_rows(b, of, r, v, v.row_size, no_tail))
		emit_rows(b, of, r, v, v.row_size, block, no_tail, nullptr);
	b.CreateRetVoid();
	if (r.has_lanes())
		k.function->addFnAttr(all_lanes);
	inline_row(r);
	if (columns.item) {
		inline_row(columns);
		k.function->addFnAttr(with_columns);
	}
}

/*
 * Regions of a kernel up to which its rows may be short, as those of 8 x 8 work-items, and have
 * versions with half the lanes and with twice as many, and the same for one that uses dimension 1
 */
static const unsigned max_short_regions = 6, max_short_planes = 40;

/* Is it worth it to build more versions for the rows of its regions? */
static bool has_short_rows(const items &of, const regions &split)
{
	return split.all.size() <= max_short_regions ||
	       (split.all.size() <= max_short_planes &&
		any_of(split.all, [&](const region &r) {
			return !of.id(*r.function, 1)->use_empty();
		}));
}

/* Instructions of a work-item of a kernel whose work-groups follow one another in a call */
static const unsigned max_in_series = 200;

/*
 * Are work-groups so short that a call for each takes a good part of their time? Not with loops, be
 * it over barriers: the unit looks between calls if it shall stop.
 */
static bool gains_from_series(const kernel &k, const items &of, const regions &split,
			      const options &opts)
{
	unsigned instructions = 0;

	for (unsigned i = 0; i < split.all.size(); i++) {
		const region &r = split.all[i];

		instructions += r.function->getInstructionCount();
		if (has_loops(*r.function) ||
		    any_of(r.next, [i](unsigned n) { return n && n <= i; }))
			return false;
	}
	return instructions <= max_in_series && !of.strips && !k.checked && !opts.debug;
}

/* Stack, in bytes, for all arrays of a split kernel */
static const uint64_t max_frames = 2 << 20;

static bool fits_stack(const kernel &k, const items &of, const regions &split)
{
	uint64_t count = SALVO_MAX_GROUP_ITEMS, bytes = 0;

	if (k.required_group[0] && !of.strips)
		count = (uint64_t)k.required_group[0] * k.required_group[1] * k.required_group[2];
	for (const carried &variable : split.variables)
		if (!variable.uniform)
			bytes += alignTo(count * variable.bytes, 64);
	return bytes <= max_frames;
}

/* Ways of a region of which each is a function */
static const unsigned max_ways = 3;

/*
 * Runs a region for all work-items: of those ways that all of them leave it on, the one that they
 * take. What they return is in *@ways if there are several. @make makes the row of a way.
 */
static void emit_region(IRBuilder<> &b, const items &of, const region &r, const group_values &v,
			function_ref<tail_function> tail,
			function_ref<const row &(Function &, bool)> make, Value *ways,
			TargetMachine &target)
{
	LLVMContext &context = b.getContext();
	Function *f = b.GetInsertBlock()->getParent();
	const bool several = r.next.size() > 1;
	SmallVector<Value *> none(of.values);
	std::vector<std::pair<Function *, BasicBlock *>> open;
	BasicBlock *after = BasicBlock::Create(context, "after", f);

	none.append(3, b.getInt64(0));
	none.append(tail(b.getInt64(0), b.getInt64(0)));
	open.push_back({ r.function, b.GetInsertBlock() });
	for (unsigned i = 0; i < open.size(); i++) {
		Function *part = open[i].first;
		BranchInst *branch = several && open.size() < 2 * max_ways - 1 ?
			find_ways(of, *part) : nullptr;

		b.SetInsertPoint(open[i].second);
		if (branch) {
			Value *way = evaluate_way(b, *branch, none);
			BasicBlock *to[2];

			for (unsigned n = 0; n < 2; n++) {
				to[n] = BasicBlock::Create(context, "way", f);
				open.push_back({ take_way(*branch, !n, target), to[n] });
			}
			b.CreateCondBr(way, to[0], to[1]);
			part->eraseFromParent();
			continue;
		}
		ConstantInt *only = several ? only_way(*part) : nullptr;
		const row &made = make(*part, !several || only);
		if (several)
			b.CreateStore(only ? only : b.getInt32(0), ways);
		if (made.idle)
			b.CreateCall(made.idle, none);
		emit_rows(b, of, made, v, v.extent[0], nullptr, tail,
			  several && !only ? ways : nullptr);
		b.CreateBr(after);
	}
	b.SetInsertPoint(after);
}

/*
 * Some of LLVM's passes take the square of the loops of a function, or of its blocks. So a kernel
 * of more than @max_chunk regions runs them by functions of that many each, its chunks:
 *
 *	next = 0
 *	do			chunk of 0 to 31 (next):	do
 *		switch (next)						switch (next)
 *			chunk of next (&next)					region of next
 *	while (next)						while (next is of this chunk)
 *
 * The passes of checked mode, and what describes a function to a debugger, are for kernels only.
 */
static const unsigned max_chunk = 32;

static const Align variable_align(128);

namespace {

/* Runs region after region, each for all work-items. */
class split_builder {
public:
	split_builder(kernel &k, const items &of, const regions &split, const group_values &v,
		      TargetMachine &target, const options &opts);

	void build();

private:
	unsigned chunk_of(unsigned number) const { return joined ? 0 : number / max_chunk; }
	BasicBlock *new_block(const Twine &name) const
	{
		return BasicBlock::Create(f.getContext(), name, &f);
	}
	void emit_memory();
	void emit(unsigned number);
	BasicBlock *way_to(unsigned number, unsigned from);
	void emit_next(unsigned number);
	void emit_chunk(unsigned first, unsigned behind);
	Function *outline(BasicBlock &first);
	void emit_chunks();

	const items &of;
	const regions &split;
	group_values v;
	TargetMachine &target;
	const options &opts;
	Function &f;
	IRBuilder<> b;
	const bool joined, short_rows;
	Value *plane = nullptr;
	AllocaInst *ways = nullptr;	/* bits of what a region returned */
	AllocaInst *next = nullptr;	/* the number of a region, or 0 for the end */
	SmallVector<AllocaInst *> memory;	/* of the variables */
	SmallVector<BasicBlock *> blocks;	/* where regions begin, until they are outlined */
	BasicBlock *end = nullptr, *dispatch = nullptr;
	SmallVector<Function *> chunks;
	std::vector<row> rows;
};

} /* namespace */

split_builder::split_builder(kernel &k, const items &of, const regions &split,
			     const group_values &values, TargetMachine &target,
			     const options &opts)
	: of(of), split(split), v(values), target(target), opts(opts), f(*k.function),
	  b(&f.front()), joined(split.all.size() <= max_chunk || k.checked || opts.debug),
	  short_rows(has_short_rows(of, split)), blocks(split.all.size())
{
	v.extent[0] = v.row_size;
	if (of.dimension[0])
		std::swap(v.extent[0], v.extent[1]);
}

void split_builder::emit_memory()
{
	store_ran(b, of, v);
	plane = b.CreateMul(v.extent[0], v.extent[1], "", true, true);
	Value *count = b.CreateMul(plane, v.extent[2], "", true, true);

	ways = b.CreateAlloca(b.getInt32Ty(), nullptr, "ways");
	for (const carried &variable : split.variables) {
		Value *bytes = b.CreateMul(count, b.getInt64(variable.bytes), "", true, true);
		memory.push_back(variable.uniform ? b.CreateAlloca(variable.type) :
						    b.CreateAlloca(b.getInt8Ty(), bytes));
		memory.back()->setAlignment(variable_align);
	}
}

/* Where region @from goes on with region @number, or the end */
BasicBlock *split_builder::way_to(unsigned number, unsigned from)
{
	if (joined && !number)
		return end;
	if (number && chunk_of(number) == chunk_of(from))
		return blocks[number];
	BasicBlock *leave = new_block("leave");
	IRBuilder<> to(leave);
	to.CreateStore(b.getInt32(number), next);
	to.CreateBr(dispatch);
	return leave;
}

/*
 * Goes on with the region that all work-items returned; @ways has the bits of what they returned.
 * If those are several some work-items wait at a barrier that others do not reach. The runtime's
 * barrier ends such a work-group with a fault.
 */
void split_builder::emit_next(unsigned number)
{
	const std::set<unsigned> &to = split.all[number].next;
	unsigned bit = 1;

	if (to.empty()) {
		b.CreateUnreachable();
		return;
	}
	if (to.size() == 1) {
		b.CreateBr(way_to(*to.begin(), number));
		return;
	}
	BasicBlock *missed = new_block("missed");
	SwitchInst *way = b.CreateSwitch(b.CreateLoad(b.getInt32Ty(), ways), missed, to.size());
	for (unsigned n : to) {
		way->addCase(b.getInt32(bit), way_to(n, number));
		bit <<= 1;
	}
	b.SetInsertPoint(missed);
	b.CreateCall(FunctionType::get(b.getVoidTy(), { b.getPtrTy() }, false), v.barrier,
		     { v.group });
	b.CreateBr(way_to(0, number));
}

void split_builder::emit(unsigned number)
{
	const region &r = split.all[number];
	SmallVector<Value *> shared;

	b.SetInsertPoint(blocks[number]);
	for (unsigned n : r.variables) {
		shared.push_back(memory[n]);
		if (split.variables[n].uniform)
			shared.push_back(b.CreateLoad(split.variables[n].type, memory[n]));
	}
	auto tail = [&](Value *y, Value *z) {
		SmallVector<Value *> rest;
		Value *row = b.CreateMul(y, v.extent[0], "", true, true);
		rest.push_back(b.CreateAdd(row, b.CreateMul(z, plane, "", true, true), "", true,
					   true));
		rest.append(shared);
		return rest;
	};
	auto make = [&](Function &part, bool skip) -> const row & {
		rows.push_back(make_row(of, part, 0, skip, short_rows, target, opts));
		return rows.back();
	};
	emit_region(b, of, r, v, tail, make, ways, target);
	emit_next(number);
}

/* What is known of the range of @passed is known of @arg. */
static void add_range(Argument &arg, const Value &passed)
{
	const SimplifyQuery query(arg.getParent()->getDataLayout());
	const ConstantRange range = computeConstantRangeIncludingKnownBits(&passed, false, query);

	if (!range.isFullSet() && !range.isEmptySet())
		arg.addAttrs(AttrBuilder(arg.getContext()).addRangeAttr(range));
}

/* Makes a function of the blocks from @first on. */
Function *split_builder::outline(BasicBlock &first)
{
	SmallVector<BasicBlock *> part;

	for (BasicBlock &block : make_range(first.getIterator(), f.end()))
		part.push_back(&block);
	CodeExtractorAnalysisCache cache(f);
	Function *made = CodeExtractor(part).extractCodeRegion(cache);
	auto *call = cast<CallInst>(made->user_back());
	made->addFnAttr(Attribute::NoInline);
	for (Argument &arg : made->args()) {
		Value *passed = call->getArgOperand(arg.getArgNo());

		if (passed->getType()->isIntegerTy())
			add_range(arg, *passed);
		/* Nothing else accesses variables while it runs. */
		if (is_contained(memory, passed))
			arg.addAttrs(AttrBuilder(f.getContext())
					     .addAttribute(Attribute::NoAlias)
					     .addAlignmentAttr(variable_align));
	}
	return made;
}

/* The regions from @first up to @behind, the one of @next first */
void split_builder::emit_chunk(unsigned first, unsigned behind)
{
	BasicBlock *begin = new_block("chunk");

	b.CreateBr(begin);
	b.SetInsertPoint(begin);
	for (unsigned i = first; i < behind; i++)
		blocks[i] = new_block("region");
	SwitchInst *entry = b.CreateSwitch(b.CreateLoad(b.getInt32Ty(), next), blocks[first]);
	for (unsigned i = first + 1; i < behind; i++)
		entry->addCase(b.getInt32(i), blocks[i]);
	for (unsigned i = first; i < behind; i++)
		emit(i);
	chunks.push_back(outline(*begin));
}

void split_builder::emit_chunks()
{
	next = b.CreateAlloca(b.getInt32Ty(), nullptr, "next");
	b.CreateStore(b.getInt32(0), next);
	dispatch = new_block("dispatch");
	IRBuilder<> at_dispatch(dispatch);
	SwitchInst *way = at_dispatch.CreateSwitch(at_dispatch.CreateLoad(b.getInt32Ty(), next),
						   end);
	for (unsigned first = 0; first < split.all.size(); first += max_chunk) {
		const unsigned behind = std::min<unsigned>(first + max_chunk, split.all.size());
		BasicBlock *call = new_block("call");

		if (!first)
			b.CreateBr(call);
		for (unsigned i = std::max(first, 1u); i < behind; i++)
			way->addCase(b.getInt32(i), call);
		b.SetInsertPoint(call);
		emit_chunk(first, behind);
	}
}

void split_builder::build()
{
	emit_memory();
	if (joined) {
		for (BasicBlock *&block : blocks)
			block = new_block("region");
		b.CreateBr(blocks[0]);
	}
	end = new_block("end");
	ReturnInst::Create(f.getContext(), end);
	if (!joined)
		emit_chunks();
	for (unsigned i = 0; joined && i < split.all.size(); i++)
		emit(i);
	const bool all_wide = all_of(rows, [](const row &r) { return r.has_lanes(); });
	for (const row &r : rows)
		inline_row(r);
	chunks.push_back(&f);
	for (Function *part : chunks) {
		if (all_wide)
			part->addFnAttr(all_lanes);
		if (of.dimension[0])
			drop_marks(*part);
	}
	if (of.dimension[0])
		f.addFnAttr(with_columns);
	of.function->eraseFromParent();
}

/* The fallback where split_items() fails: a user-level thread for each work-item. */
static void build_thread(kernel &k, const items &of, const group_values &v)
{
	IRBuilder<> b(&k.function->front());
	SmallVector<Value *> args(of.values);
	Value *ids[3];

	load_local_id(b, v, ids);
	for (unsigned d : of.dimension)
		args.push_back(ids[d]);
	b.CreateCall(of.function, args);
	b.CreateRetVoid();
	inline_calls(*of.function);
	call_barriers(*k.function, v);
}

/*
 * A work-group runs on one core: atomics on local memory need no locked instruction, in no function
 * that it calls, such as regions that lanes do not gain from (vector_cost.cc).
 */
static void relax_local_atomics(Function &kernel)
{
	SmallSetVector<Function *, 8> called;
	SmallVector<Instruction *> atomics;

	called.insert(&kernel);
	for (unsigned i = 0; i < called.size(); i++)
		for (Instruction &inst : instructions(*called[i])) {
			auto *call = dyn_cast<CallInst>(&inst);

			if (call && call->getCalledFunction())
				called.insert(call->getCalledFunction());
			if ((isa<AtomicRMWInst>(inst) || isa<AtomicCmpXchgInst>(inst)) &&
			    inst.getOperand(0)->getType()->getPointerAddressSpace() == LOCAL)
				atomics.push_back(&inst);
		}
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

/* All that is computed from @id. @bounds: also from whether it is less than something. */
static SmallPtrSet<const Value *, 32> computed_from(const Argument &id, bool bounds = true)
{
	SmallSetVector<const Value *, 32> found;

	found.insert(&id);
	for (unsigned i = 0; i < found.size(); i++)
		for (const User *user : found[i]->users()) {
			auto *test = dyn_cast<ICmpInst>(user);

			if (!user->getType()->isVoidTy() &&
			    (bounds || !test || !test->isRelational()))
				found.insert(user);
		}
	return { found.begin(), found.end() };
}

/*
 * Each work-item writes to local memory where its neighbours in @d do, x or y, but not those in the
 * other: so work-groups have one work-item in @d. Not where a condition chooses one of those. A
 * bound may choose the first ones in x, but in y it mostly is that of the range.
 */
static bool shares_local_memory_along(const items &of, unsigned d)
{
	Function &f = *of.function;
	const auto of_d = computed_from(*of.id(f, d), d == 0);
	const auto of_other = computed_from(*of.id(f, 1 - d));
	SmallVector<const BasicBlock *> written, chosen;

	for (const Instruction &inst : instructions(f)) {
		const Value *pointer = getLoadStorePointerOperand(&inst);
		auto *branch = dyn_cast<BranchInst>(&inst);

		if (branch && branch->isConditional() && of_d.contains(branch->getCondition()))
			chosen.push_back(branch->getParent());
		if (isa<AtomicRMWInst>(inst) || isa<AtomicCmpXchgInst>(inst))
			pointer = inst.getOperand(0);
		if (!pointer || pointer->getType()->getPointerAddressSpace() != LOCAL)
			continue;
		if (of_d.contains(pointer))
			return false;
		if (isa<StoreInst>(inst) && of_other.contains(pointer))
			written.push_back(inst.getParent());
	}
	if (written.empty())
		return false;
	PostDominatorTree behind(f);
	return none_of(written, [&](const BasicBlock *block) {
		return any_of(chosen, [&](const BasicBlock *from) {
			return !behind.dominates(block, from) &&
			       isPotentiallyReachable(from, block);
		});
	});
}

static bool has_rows_along_y(const kernel &k, const items &of, TargetMachine &target,
			     const options &opts)
{
	const Argument &x = *of.id(*of.function, 0), &y = *of.id(*of.function, 1);

	if (!k.barriers || k.checked || of.strips || y.use_empty())
		return false;
	return x.use_empty() || shares_local_memory_along(of, 0) ||
	       (is_index(y) && !shares_local_memory_along(of, 1) &&
		gains_from_columns(of, target, lanes_of(opts)));
}

void build_groups(kernel &k, BasicBlock *body, group_values v, TargetMachine &target,
		  const options &opts)
{
	items of = build_items(k, body, v);
	regions split;

	if (has_rows_along_y(k, of, target, opts))
		turn_items(of, 0, 1);
	if (!k.barriers) {
		build_plain(k, of, v, target, opts);
	} else if (split_items(of, target, split) && fits_stack(k, of, split)) {
		const bool in_series = gains_from_series(k, of, split, opts);

		split_builder(k, of, split, v, target, opts).build();
		if (in_series)
			run_in_series(*k.function, v);
		k.split = true;
	} else {
		for (const region &r : split.all)
			r.function->eraseFromParent();
		if (of.strips)
			keep_groups(of, v);
		build_thread(k, of, v);
	}
	lower_agreements(*k.function->getParent());
	lower_first_lanes(*k.function->getParent());
	relax_local_atomics(*k.function);
}
