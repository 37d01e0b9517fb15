// SPDX-License-Identifier: MIT
/*
 * tiles.cc - kernels that access contiguous memory along x in one place and along y in another
 *
 * Lanes of a transposition load a row and store to as many lines of the cache, or the other way
 * round; where rows are a multiple of 4 KiB apart, those lines displace one another. So a version
 * of the work-item runs four of a row, and its lanes are neighbours in y: each lane accesses 128
 * bits of its row at once, which are transposed (vector_groups.cc), and all lanes access a line
 * together.
 *
 *	out[y + height * x] =		v = (float4 at in[x + width * y])
 *		in[x + width * y];	out[y + height * x] = v.x
 *					out[y + height * (x + 1)] = v.y, ...
 *
 * Lanes may be neighbours from the last one to the first, as those of a rotation are. It is for
 * work-items of one block that load before they store. Each step is made for all four
 * before the next one: without a barrier work-items must not depend on each other.
 */
#include "rows.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/Cloning.h>

using namespace llvm;

/* Work-items of a row that a tile has */
static const unsigned width = 4;

/* Lanes of the version for what is left of a column, if there is one */
static const unsigned least_half = 4;

/* Instructions of a work-item */
static const unsigned max_item = 80;

using strides = DenseMap<const Instruction *, int64_t>;

static bool can_tile(const Function &f)
{
	bool stored = false;

	if (f.size() != 1 || f.getInstructionCount() > max_item)
		return false;
	for (const Instruction &inst : f.front()) {
		auto *load = dyn_cast<LoadInst>(&inst);
		auto *store = dyn_cast<StoreInst>(&inst);

		if (isa<AllocaInst>(inst))
			return false;
		if (!inst.mayReadOrWriteMemory() && !inst.mayHaveSideEffects())
			continue;
		if (!(load && load->isSimple() && !stored) && !(store && store->isSimple()))
			return false;
		stored |= store != nullptr;
	}
	return stored;
}

/* Do lanes along x and along y each gain in one place, and lose in no other? */
static bool gains_from_tiles(Function &f, const strides &x, const strides &y)
{
	bool rows = false, columns = false;

	for (Instruction &inst : f.front()) {
		if (!isa<LoadInst>(inst) && !isa<StoreInst>(inst))
			continue;
		const Type *type = getLoadStoreType(&inst);
		const int64_t bits = type->getPrimitiveSizeInBits();
		auto is_near = [&](const strides &of, bool reversed) {
			auto at = of.find(&inst);

			return at != of.end() && (at->second == 0 || at->second == bits / 8 ||
						  (reversed && at->second == -bits / 8));
		};

		const bool near_x = is_near(x, false), near_y = is_near(y, true);
		if (type->isVectorTy() || (bits != 32 && bits != 64) || (!near_x && !near_y))
			return false;
		rows |= !near_y;
		columns |= !near_x;
	}
	return rows && columns;
}

/* Makes @f, one work-item, @width of a row. */
static void widen(Function &f, Argument &x, const strides &along)
{
	SmallVector<Instruction *> all;
	ValueToValueMapTy maps[width];
	IRBuilder<> b(&f.front(), f.front().begin());

	for (Instruction &inst : f.front())
		if (!inst.isTerminator())
			all.push_back(&inst);
	for (unsigned i = 1; i < width; i++)
		maps[i][&x] = b.CreateAdd(&x, b.getInt64(i), "", true, true);
	for (Instruction *inst : all) {
		const unsigned place = isa<StoreInst>(inst) ? 1 : 0;
		auto stride = along.find(inst);

		b.SetInsertPoint(inst->getNextNode());
		b.SetCurrentDebugLocation(inst->getDebugLoc());
		for (unsigned i = 1; i < width; i++) {
			Instruction *copy = inst->clone();

			RemapInstruction(copy, maps[i], RF_IgnoreMissingLocals |
							RF_NoModuleLevelChanges);
			if (stride != along.end())
				copy->setOperand(place, b.CreateGEP(b.getInt8Ty(),
					inst->getOperand(place),
					b.getInt64(i * stride->second)));
			b.Insert(copy);
			maps[i][inst] = copy;
		}
	}
}

/* The work-item where tests of @d hold, and the range where they do */
static Function *specialise(const items &of, Function &f, unsigned d, TargetMachine &target,
			    std::unique_ptr<interior> &range)
{
	ValueToValueMapTy map;

	range = std::make_unique<interior>(f, *of.id(f, d), true);
	range->drop_quotients();
	Function *made = range->is_whole() ? CloneFunction(&f, map) : range->specialise();
	tidy(*made, target);
	return made;
}

namespace {

struct tiles {
	Function *wide = nullptr, *half = nullptr, *along_x = nullptr;
	std::unique_ptr<interior> x, y;
	unsigned lanes = 0;

	/* Work-items of a column from which on it is used */
	unsigned least() const { return half ? lanes / 2 : lanes; }
};

/* The ranges of a group, or of a strip, where tiles are */
struct part {
	row_range x, y;
};

} /* namespace */

static tiles make_tiles(const items &of, unsigned lanes, TargetMachine &target)
{
	tiles made;

	made.lanes = lanes;
	made.along_x = specialise(of, *of.function, 0, target, made.x);
	Function *item = specialise(of, *made.along_x, 1, target, made.y);
	canonicalise(*item, target);
	if (can_tile(*item)) {
		const strides along = strides_of(*item, *of.id(*item, 0), lanes, target);

		if (gains_from_tiles(*item, along,
				     strides_of(*item, *of.id(*item, 1), lanes, target))) {
			widen(*item, *of.id(*item, 0), along);
			made.wide = make_lanes_along(of, *item, 1, target, lanes);
			if (lanes / 2 >= least_half)
				made.half = make_lanes_along(of, *item, 1, target, lanes / 2);
		}
	}
	item->eraseFromParent();
	return made;
}

/* False if the ranges are not the same for all rows and columns. */
static bool emit_ranges(IRBuilder<> &b, const items &of, const tiles &t, const group_values &v,
			Value *length, part &made)
{
	SmallVector<Value *> args(of.values);
	Instruction *ids[3];
	bool same = true;

	for (Instruction *&id : ids) {
		id = b.Insert(new FreezeInst(PoisonValue::get(b.getInt64Ty())));
		args.push_back(id);
	}
	made.x = t.x->emit(b, args, length);
	made.y = t.y->emit(b, args, v.extent[1]);
	for (Instruction *id : ids) {
		same &= id->use_empty();
		id->replaceAllUsesWith(b.getInt64(0));
		id->eraseFromParent();
	}
	return same;
}

/* for (i = @from; i < @to) and for (i = @again; i < @end), by one copy of @each */
static void loop_on_sides(IRBuilder<> &b, Value *from, Value *to, Value *again, Value *end,
			  function_ref<void(Value *)> each)
{
	make_loop(b, b.getInt64(0), b.getInt64(2), 1, "side", [&](Value *side) {
		Value *first = b.CreateICmpEQ(side, b.getInt64(0));

		make_loop(b, b.CreateSelect(first, from, again), b.CreateSelect(first, to, end), 1,
			  "beside", each);
	});
}

static void emit_tiles(IRBuilder<> &b, const items &of, const tiles &t, const part &in,
		       const group_values &v, Value *length)
{
	Value *zero = b.getInt64(0);

	make_loop(b, zero, v.extent[2], 1, "z", [&](Value *z) {
		auto call = [&](Function *f, Value *x, Value *y) {
			SmallVector<Value *> all(of.values);

			all.append({ x, y, z });
			b.CreateCall(f, all);
		};
		Value *right = make_loop(b, in.x.low, in.x.high, width, "tile", [&](Value *x) {
			Value *below = make_loop(b, in.y.low, in.y.high, t.lanes, "inner",
						 [&](Value *y) { call(t.wide, x, y); });
			if (t.half)
				below = make_loop(b, below, in.y.high, t.lanes / 2, "half",
						  [&](Value *y) { call(t.half, x, y); });
			loop_on_sides(b, zero, in.y.low, below, v.extent[1], [&](Value *y) {
				make_loop(b, x, b.CreateAdd(x, b.getInt64(width)), 1, "x",
					  [&](Value *at) { call(of.function, at, y); });
			});
		});
		loop_on_sides(b, zero, in.x.low, right, length, [&](Value *x) {
			make_loop(b, zero, v.extent[1], 1, "y",
				  [&](Value *y) { call(of.function, x, y); });
		});
	});
}

bool build_tiles(IRBuilder<> &b, const items &of, const group_values &v, Value *length,
		 TargetMachine &target, unsigned lanes)
{
	Function &f = *b.GetInsertBlock()->getParent();
	tiles t;
	part in;

	if (in_checked_mode(*of.function))
		return false;
	t = make_tiles(of, lanes, target);
	const bool made = t.wide && (!of.group[1] || of.group[1] >= t.least()) &&
			  emit_ranges(b, of, t, v, length, in);
	if (made) {
		BasicBlock *tiled = BasicBlock::Create(f.getContext(), "tiled", &f);
		BasicBlock *rows = BasicBlock::Create(f.getContext(), "rows", &f);

		b.CreateCondBr(b.CreateICmpUGE(v.extent[1], b.getInt64(t.least())), tiled, rows);
		b.SetInsertPoint(tiled);
		emit_tiles(b, of, t, in, v, length);
		b.CreateRetVoid();
		b.SetInsertPoint(rows);
	}
	for (Function *one : { t.wide, t.half })
		if (one)
			inline_calls(*one);
	t.along_x->eraseFromParent();
	return made;
}
