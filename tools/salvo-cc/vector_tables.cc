// SPDX-License-Identifier: MIT
/*
 * vector_tables.cc - loads from tables that registers hold
 *
 *	out[x] = table[in[x] & 15]
 *
 * Where the lanes load from one array and their indices are known to be small, the array is loaded
 * at once, and each lane picks its word from the registers (VPERMD); elements of bytes and shorts
 * are shifted out of their words. A gather takes several times as long.
 *
 * What no lane asks for may be in a page that is not there. But one lane asks for something, so a
 * table that is in one page is readable. Whether it is, is tested each time; if not, the lanes
 * gather. Constants of the program are readable in any case.
 */
#include "vectoriser.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/TargetParser/Triple.h>

using namespace llvm;

/* Of a table at most: each more takes a permutation, a comparison and a choice */
static const unsigned max_registers = 4;

static const uint64_t page = 4096, word = 4;

/* Instructions of a lookup of which the optimiser leaves none: branches on one test are merged */
static const unsigned lookup = 8;

/* Words of a register that an instruction permutes, or 0. */
unsigned vectoriser::permuted_words() const
{
	const uint64_t bits = target.getRegisterBitWidth(
		TargetTransformInfo::RGK_FixedWidthVector).getFixedValue();

	return Triple(item.getParent()->getTargetTriple()).isX86() && bits >= 256 ? bits / 32 : 0;
}

/* The largest value that @index can have where @at is run */
static uint64_t greatest(const Value *index, const Instruction &at, const DominatorTree &dt)
{
	const KnownBits bits = computeKnownBits(index, at.getDataLayout(), 0, nullptr, &at, &dt);
	const ConstantRange range = computeConstantRange(index, false, true, nullptr, &at, &dt);

	return std::min(bits.getMaxValue().getLimitedValue(),
			range.getUnsignedMax().getLimitedValue());
}

bool vectoriser::find_table(LoadInst &load, table *made)
{
	Type *type = load.getType();
	const unsigned space = load.getPointerAddressSpace();
	const uint64_t bytes = layout.getTypeStoreSize(type).getFixedValue();
	Value *pointer = load.getPointerOperand();

	if (!permuted_words() || in_checked_mode(item) ||
	    shape_of(pointer).kind != shape::VARYING ||
	    (space != GLOBAL && space != CONSTANT && space != LOCAL) ||
	    !(type->isIntegerTy() || type->isFloatTy() || type->isHalfTy()) ||
	    !isPowerOf2_64(bytes) || bytes > word || type->getPrimitiveSizeInBits() != 8 * bytes)
		return false;
	made->offset = APInt(64, 0);
	auto *gep = dyn_cast<GEPOperator>(pointer);
	while (gep && gep->hasAllConstantIndices() &&
	       gep->accumulateConstantOffset(layout, made->offset))
		gep = dyn_cast<GEPOperator>(gep->getPointerOperand());
	made->gep = dyn_cast_or_null<GetElementPtrInst>(gep);
	if (!made->gep || shape_of(made->gep->getPointerOperand()).kind != shape::UNIFORM ||
	    layout.getTypeAllocSize(made->gep->getResultElementType()) != bytes)
		return false;
	made->index = last_index(*made->gep);
	if (shape_of(made->index).kind == shape::UNIFORM ||
	    any_of(make_range(made->gep->idx_begin(), made->gep->idx_end() - 1),
		   [&](Value *other) { return shape_of(other).kind != shape::UNIFORM; }))
		return false;

	const uint64_t most = max_registers * permuted_words() * word / bytes - 1;
	uint64_t last = greatest(made->index, load, dt);
	auto *constants = dyn_cast<GlobalVariable>(made->gep->getPointerOperand());
	uint64_t room = 0;
	if (constants && constants->isConstant()) {
		const uint64_t size = layout.getTypeAllocSize(constants->getValueType());
		APInt from = made->offset;

		if (all_of(make_range(made->gep->idx_begin(), made->gep->idx_end() - 1),
			   [](Value *other) { return match(other, PatternMatch::m_Zero()); }) &&
		    from.ult(size))
			room = (size - from.getZExtValue()) / bytes;
	}
	if (room)
		last = std::min(last, room - 1);
	if (last > most)
		return false;
	made->words = alignTo((last + 1) * bytes, word) / word;
	made->readable = made->words * word <= room * bytes;
	return made->readable || can_gather(Type::getInt32Ty(item.getContext()), Align(word));
}

/* Registers that hold it. */
unsigned vectoriser::registers_of(const table &t) const
{
	return divideCeil(t.words, permuted_words());
}

/* Instructions for all lanes. */
double vectoriser::table_cost(const LoadInst &load, const table &t) const
{
	Type *unit = Type::getInt32Ty(item.getContext());
	const unsigned parts = load.getType()->getPrimitiveSizeInBits() < 32 ? 3 : 0;

	return 2 + (4 * registers_of(t) - 2 + parts) * registers_of(unit);
}

/* The words at @index of those in @from, for as many lanes as a register has words. */
Value *vectoriser::permute(ArrayRef<Value *> from, Value *index)
{
	const unsigned words = permuted_words();
	const Intrinsic::ID id = words == 16 ? Intrinsic::x86_avx512_permvar_si_512 :
					       Intrinsic::x86_avx2_permd;
	Value *picked = nullptr;

	for (unsigned i = 0; i < from.size(); i++) {
		Value *next = b.CreateIntrinsic(id, {}, { from[i], index });
		Constant *first = ConstantInt::get(index->getType(), i * words);

		picked = i ? b.CreateSelect(b.CreateICmpUGE(index, first), next, picked) : next;
	}
	return picked;
}

/* Elements @from to @from + @count - 1 of @all, or fewer and then any */
static Value *cut(IRBuilder<> &b, Value *all, unsigned from, unsigned count)
{
	const unsigned end = cast<FixedVectorType>(all->getType())->getNumElements();
	SmallVector<int> pick;

	if (!from && count == end)
		return all;
	for (unsigned i = from; i < from + count; i++)
		pick.push_back(i < end ? (int)i : -1);
	return b.CreateShuffleVector(all, pick);
}

/* The word of each lane: @pick, counted from @base; @count: can be asked for. */
Value *vectoriser::pick_words(Value *base, unsigned count, Value *pick)
{
	const unsigned words = permuted_words();
	SmallVector<Value *> from;
	Value *all = nullptr;

	for (unsigned first = 0; first < count; first += words) {
		const unsigned left = std::min(count - first, words);
		Value *at = first ? b.CreateConstGEP1_64(b.getInt32Ty(), base, first) : base;
		auto *type = FixedVectorType::get(b.getInt32Ty(), PowerOf2Ceil(left));
		SmallVector<Constant *> used;

		for (unsigned i = 0; i < type->getNumElements(); i++)
			used.push_back(b.getInt1(i < left));
		Value *part = isPowerOf2_32(left) ?
			(Value *)b.CreateAlignedLoad(type, at, Align(1)) :
			b.CreateMaskedLoad(type, at, Align(1), ConstantVector::get(used));
		from.push_back(cut(b, part, 0, words));
	}
	for (unsigned first = 0; first < lanes; first += words) {
		Value *some = permute(from, cut(b, pick, first, words));
		SmallVector<int> append;

		if (all) {
			for (unsigned i = 0; i < first + words; i++)
				append.push_back(i);
			some = b.CreateShuffleVector(cut(b, all, 0, first),
						     cut(b, some, 0, first), append);
		}
		all = some;
	}
	return cut(b, all, 0, lanes);
}

/* The elements of all lanes; @base: of the table */
Value *vectoriser::pick_elements(LoadInst &load, Value *base, const table &t)
{
	Type *type = load.getType();
	const unsigned bits = type->getPrimitiveSizeInBits();
	const unsigned shift = bits == 8 ? 2 : bits == 16 ? 1 : 0;	/* from elements to words */
	Value *index = b.CreateZExtOrTrunc(vector(t.index), widen(b.getInt32Ty()));
	Value *all = pick_words(base, t.words, shift ? b.CreateLShr(index, shift) : index);

	if (shift) {
		Value *n = b.CreateAnd(index, (1 << shift) - 1);

		all = b.CreateLShr(all, b.CreateMul(n, ConstantInt::get(n->getType(), bits)));
		all = b.CreateTrunc(all, widen(b.getIntNTy(bits)));
	}
	return b.CreateBitCast(all, widen(type));
}

/* Are @words at @base in one page? Those of an argument are asked for once. */
Value *vectoriser::is_in_page(Value *base, unsigned words)
{
	Value *&known = in_page[{ base, words }];

	if (known)
		return known;
	IRBuilder<> at(b.GetInsertBlock(), b.GetInsertPoint());
	if (isa<Argument>(base))
		at.SetInsertPoint(start[order[0]], start[order[0]]->begin());
	Value *place = at.CreateAnd(at.CreatePtrToInt(base, at.getInt64Ty()), page - 1);
	Value *is = at.CreateICmpULE(place, at.getInt64(page - words * word));
	if (isa<Argument>(base))
		known = is;
	return is;
}

/* The address that the indices count from */
Value *vectoriser::table_base(const table &t)
{
	Value *base = scalar(t.gep->getPointerOperand());
	SmallVector<Value *> indices;

	for (Value *index : t.gep->indices())
		indices.push_back(index == t.index ? ConstantInt::get(index->getType(), 0) :
						     scalar(index));
	if (!all_of(indices, [](Value *index) { return match(index, PatternMatch::m_Zero()); }))
		base = b.CreateGEP(t.gep->getSourceElementType(), base, indices);
	return t.offset.isZero() ? base : b.CreateGEP(b.getInt8Ty(), base, b.getInt(t.offset));
}

Value *vectoriser::load_table(LoadInst &load, const table &t)
{
	Value *base = table_base(t);

	if (t.readable)
		return pick_elements(load, base, t);
	Value *fits = is_in_page(base, t.words);
	if (mask)
		fits = b.CreateAnd(fits, some_lane());
	return emit_likely(fits, [&] { return pick_elements(load, base, t); }, [&] {
		return can_gather_words(load) ? gather_words(load) : gather(load);
	});
}

/* Instructions of @f for lookups that are no longer there when LLVM has optimised it */
unsigned instructions_of_tables(const Function &f)
{
	return lookup * count_if(instructions(f), [](const Instruction &inst) {
		auto *call = dyn_cast<IntrinsicInst>(&inst);

		return call && (call->getIntrinsicID() == Intrinsic::x86_avx512_permvar_si_512 ||
				call->getIntrinsicID() == Intrinsic::x86_avx2_permd);
	});
}
