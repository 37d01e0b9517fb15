// SPDX-License-Identifier: MIT
/*
 * gathers.cc - single accesses in the place of gathers and scatters
 *
 * AVX-512 has an instruction that loads from an address for each lane. It takes longer than a load
 * and an insertion for each of them where the addresses are scalars at once: if they differ by
 * constants, or have an index of 32 bits, of which two come out of the vector at a time and are
 * extended by a shift or by a move. What is loaded from neighbours in memory is loaded again, one
 * by one, where it is an index, be it as a byte of a word.
 *
 *	gather(in, index)	pair = index[0..1]
 *				in[(int)pair], in[pair >> 32], ...
 *
 * Without AVX-512, scatters of such indices are stores of single elements, too.
 *
 * It stays where some lanes may be inactive. Processors without AVX-512 have no scatter, and
 * AVX2's gather is faster than that only if one has all lanes: words, whose indices have 32 bits.
 * Elsewhere inactive lanes load from an address that has zero, and store to one that nobody reads:
 * one choice for all lanes at once. 8 words take 4.9 ns on an EPYC of AVX2, 8.2 by two gathers, 4.0
 * by one.
 *
 * Intel's processors from Sapphire Rapids on gather 16 floats in 3 ns, and load them one by one in
 * 8 if their indices come out of a vector: with --tune sapphirerapids only gathers whose addresses
 * differ by constants become single loads. They scatter 16 floats in 7.5 ns, and store them one by
 * one in 9.5, as 16 addresses do not fit in the registers.
 *
 *	gather(p, mask)		q = mask ? p : zero
 *				*q[0], *q[1], ...
 *
 * Runs when the code is optimised: there are many times as many instructions then, and LLVM would
 * make the gather again, or choose for one lane after the other.
 */
#include "places.h"
#include "short_indices.h"

#include <map>

#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>

using namespace llvm;
using namespace llvm::PatternMatch;

/* Marks gathers and scatters whose elements are the lanes. */
static const char kind[] = "salvo.lanes";

static bool is_vector(const Value *v)
{
	return v->getType()->isVectorTy();
}

/* What is extended to the indices @v, if that has at most 32 bits, or NULL */
static Value *narrow_index(Value *v)
{
	Value *index;

	return match(v, m_ZExtOrSExt(m_Value(index))) &&
	       index->getType()->getScalarSizeInBits() <= 32 ? index : nullptr;
}

Value *last_index(const GetElementPtrInst &gep)
{
	return gep.getOperand(gep.getNumOperands() - 1);
}

/* Bytes of what was loaded, from @at on: an integer of @bits */
struct loaded_part {
	LoadInst *load;
	uint64_t at;
	unsigned bits;
};

/* Is @load's memory unchanged at @access? */
static bool holds_until(const LoadInst &load, const Instruction &access)
{
	const Instruction *inst = &load;

	if (!load.isSimple() || load.getParent() != access.getParent())
		return false;
	while (inst && inst != &access && !inst->mayWriteToMemory())
		inst = inst->getNextNode();
	return inst == &access;
}

/*
 * Where element @i of the integers @v was loaded from, as a whole or as bytes of a word, such as
 * channels of a colour; no load if it was not.
 */
static loaded_part find_part(Value *v, unsigned i, const Instruction &access)
{
	uint64_t bits = v->getType()->getScalarSizeInBits(), shift = 0;
	const APInt *number;
	Value *from;

	while (!isa<LoadInst>(v)) {
		const uint64_t size = v->getType()->getScalarSizeInBits();

		if (auto *shuffle = dyn_cast<ShuffleVectorInst>(v)) {
			const int pick = shuffle->getMaskValue(i);
			const int count = cast<FixedVectorType>(shuffle->getOperand(0)->getType())
						  ->getNumElements();

			if (pick < 0)
				return {};
			v = shuffle->getOperand(pick >= count);
			i = pick % count;
		} else if (match(v, m_Trunc(m_Value(from)))) {
			v = from;
		} else if (!shift && match(v, m_And(m_Value(from), m_APInt(number))) &&
			   number->isMask()) {
			bits = std::min<uint64_t>(bits, number->popcount());
			v = from;
		} else if (!shift && match(v, m_LShr(m_Value(from), m_APInt(number))) &&
			   number->ult(size)) {
			shift = number->getZExtValue();
			bits = std::min(bits, size - shift);
			v = from;
		} else {
			return {};
		}
	}
	auto *load = cast<LoadInst>(v);
	const uint64_t size = load->getType()->getScalarSizeInBits();
	if (size % 8 || shift % 8 || bits < 8 || !isPowerOf2_64(bits) ||
	    !holds_until(*load, access))
		return {};
	return { load, (i * size + shift) / 8, (unsigned)bits };
}

/* Where the elements of @indices, which are extended, were loaded from; none if one was not */
static SmallVector<loaded_part> find_parts(Value *indices, unsigned lanes,
					   const Instruction &access)
{
	SmallVector<loaded_part> made;

	for (unsigned i = 0; i < lanes; i++) {
		made.push_back(find_part(narrow_index(indices), i, access));
		if (!made.back().load)
			return {};
	}
	return made;
}

/* Are addresses of single lanes cheap? They are elements of arrays, with one such index at most. */
static bool has_cheap_lanes(Value *pointers)
{
	unsigned narrow = 0;

	while (is_vector(pointers)) {
		auto *gep = dyn_cast<GetElementPtrInst>(pointers);

		if (!gep || any_of(drop_end(gep->indices()), is_vector))
			return false;
		Value *index = last_index(*gep);
		if (is_vector(index) && !isa<Constant>(index) && (!narrow_index(index) || narrow++))
			return false;
		pointers = gep->getPointerOperand();
	}
	return true;
}

/*
 * Has a variable with a type, as tables and arrays in local memory, an index that was not loaded?
 * Single accesses gain little there: a quarter on Zen 5, half between masked stores.
 */
static bool gains_little(Value *pointers, unsigned lanes, const Instruction &access)
{
	while (is_vector(pointers)) {
		auto *gep = cast<GetElementPtrInst>(pointers);
		Value *index = last_index(*gep);

		if (is_vector(index) && !isa<Constant>(index) && gep->getNumIndices() > 1 &&
		    find_parts(index, lanes, access).empty())
			return true;
		pointers = gep->getPointerOperand();
	}
	return false;
}

/* Do the addresses of lanes differ by constants? For those that have cheap lanes */
static bool has_constant_steps(Value *pointers)
{
	while (is_vector(pointers)) {
		auto *gep = cast<GetElementPtrInst>(pointers);
		Value *index = last_index(*gep);

		if (is_vector(index) && !isa<Constant>(index))
			return false;
		pointers = gep->getPointerOperand();
	}
	return true;
}

/*
 * The elements of @indices, which are extended from what was loaded: they are loaded again one by
 * one, and need not come out of a vector. None if one of them was not.
 */
static SmallVector<Value *> load_indices(IRBuilder<> &b, Value *indices, unsigned lanes,
					 const Instruction &access)
{
	const unsigned width = narrow_index(indices)->getType()->getScalarSizeInBits();
	SmallVector<Value *> made;
	unsigned lane = 0;

	for (const auto &[load, at, bits] : find_parts(indices, lanes, access)) {
		const bool is_signed = isa<SExtInst>(indices) && bits == width;
		Value *pointer = b.CreateConstGEP1_64(b.getInt8Ty(), load->getPointerOperand(), at);
		LoadInst *one = b.CreateAlignedLoad(b.getIntNTy(bits), pointer,
						    commonAlignment(load->getAlign(), at));

		one->setAAMetadata(load->getAAMetadata());
		tag_lane(*one, lane++);
		made.push_back(is_signed ? b.CreateSExt(one, b.getInt64Ty()) :
					   b.CreateZExt(one, b.getInt64Ty()));
	}
	return made;
}

/*
 * The elements of @indices, which are extended from a narrow index. A pair is hidden, as LLVM 19
 * takes the upper half of one whose halves are clamped by a minimum and a maximum for zero.
 */
static SmallVector<Value *> extract_pairs(IRBuilder<> &b, Value *indices, unsigned lanes)
{
	const bool is_signed = isa<SExtInst>(indices);
	Type *pairs = FixedVectorType::get(b.getInt64Ty(), lanes / 2);
	Type *words = FixedVectorType::get(b.getInt32Ty(), lanes);
	Value *all = narrow_index(indices);
	SmallVector<Value *> made;

	all = is_signed ? b.CreateSExt(all, words) : b.CreateZExt(all, words);
	all = b.CreateBitCast(all, pairs);
	for (unsigned i = 0; i < lanes; i += 2) {
		Value *pair = hidden_copy(b, b.CreateExtractElement(all, i / 2));
		Value *low = b.CreateTrunc(pair, b.getInt32Ty());

		made.push_back(is_signed ? b.CreateSExt(low, b.getInt64Ty()) :
					   b.CreateZExt(low, b.getInt64Ty()));
		made.push_back(is_signed ? b.CreateAShr(pair, 32) : b.CreateLShr(pair, 32));
	}
	return made;
}

/* Indices that came out of vectors, with the block where they did */
using index_map = std::map<std::pair<Value *, BasicBlock *>, SmallVector<Value *>>;

/* The addresses of all lanes. What follows in a block uses the indices in @known again. */
static SmallVector<Value *> addresses(IRBuilder<> &b, Value *pointers, unsigned lanes,
				      const Instruction &access, index_map &known)
{
	auto *gep = cast<GetElementPtrInst>(pointers);
	Value *base = gep->getPointerOperand(), *index = last_index(*gep);
	SmallVector<Value *> bases(lanes, base), indices(lanes, index), list(gep->indices()), made;

	if (is_vector(base))
		bases = addresses(b, base, lanes, access, known);
	if (is_vector(index) && !isa<Constant>(index)) {
		SmallVector<Value *> &all = known[{ index, b.GetInsertBlock() }];

		if (all.empty())
			all = load_indices(b, index, lanes, access);
		if (all.empty())
			all = extract_pairs(b, index, lanes);
		indices = all;
	}
	for (unsigned i = 0; i < lanes; i++) {
		list.back() = is_vector(indices[i]) ? b.CreateExtractElement(index, i) :
						    indices[i];
		made.push_back(b.CreateGEP(gep->getSourceElementType(), bases[i], list));
	}
	return made;
}

static Align align_of(const IntrinsicInst &access, unsigned operand)
{
	return cast<ConstantInt>(access.getArgOperand(operand))->getMaybeAlignValue().valueOrOne();
}

static Value *load_singles(IRBuilder<> &b, const IntrinsicInst &gather, ArrayRef<Value *> pointers)
{
	auto *type = cast<FixedVectorType>(gather.getType());
	const Align align = align_of(gather, 1);
	Value *all = PoisonValue::get(type);

	for (unsigned i = 0; i < pointers.size(); i++) {
		LoadInst *one = b.CreateAlignedLoad(type->getElementType(), pointers[i], align);

		one->setAAMetadata(gather.getAAMetadata());
		tag_lane(*one, i);
		all = b.CreateInsertElement(all, one, i);
	}
	return all;
}

/*
 * Moves the address of @store to @before, and the load of its index, if load_indices() made that
 * for nothing else.
 */
static void sink_address(const StoreInst &store, Instruction &before)
{
	SmallVector<Instruction *> chain;
	Value *v = store.getOperand(1);

	do {
		auto *inst = dyn_cast<Instruction>(v);

		if (!inst || !inst->hasOneUse() || isa<PHINode>(inst))
			return;
		chain.push_back(inst);
		v = inst->getOperand(inst->getNumOperands() - 1);
	} while (!isa<LoadInst>(chain.back()));
	for (Instruction *inst : reverse(chain))
		inst->moveBefore(&before);
}

/* Lanes whose addresses are computed at once, if their indices are loaded */
static const unsigned stored_at_once = 4;

/* In the order of the lanes: the last one stays where addresses are equal. */
static void store_singles(IRBuilder<> &b, const IntrinsicInst &scatter, ArrayRef<Value *> pointers)
{
	const Align align = align_of(scatter, 2);
	StoreInst *first = nullptr;

	for (unsigned i = 0; i < pointers.size(); i++) {
		Value *value = b.CreateExtractElement(scatter.getArgOperand(0), i);
		StoreInst *one = b.CreateAlignedStore(value, pointers[i], align);

		one->setAAMetadata(scatter.getAAMetadata());
		tag_lane(*one, i);
		if (i % stored_at_once == 0)
			first = one;
		if (i >= stored_at_once)
			sink_address(*one, *first);
	}
}

/* LLVM keeps the mark where it makes a simpler instruction of one. */
static bool is_marked(const Instruction &inst)
{
	auto *call = dyn_cast<IntrinsicInst>(&inst);

	return call && call->getMetadata(kind) &&
	       (call->getIntrinsicID() == Intrinsic::masked_gather ||
		call->getIntrinsicID() == Intrinsic::masked_scatter);
}

void mark_lanes(Instruction &access)
{
	access.setMetadata(kind, MDNode::get(access.getContext(), {}));
}

/*
 * Loads of single lanes that LLVM would make a gather of are frozen until then (vector_memory.cc).
 */
static void thaw_loads(Function &f)
{
	for (Instruction &inst : make_early_inc_range(instructions(f)))
		if (isa<FreezeInst>(inst) && isa<LoadInst>(inst.getOperand(0))) {
			inst.replaceAllUsesWith(inst.getOperand(0));
			inst.eraseFromParent();
		}
}

/* What inactive lanes of a function access: zero where they load, anything where they store. */
struct scratch_pair {
	AllocaInst *zero = nullptr, *nowhere = nullptr;
};

/* An element of up to 64 bits, in the entry of @f */
static AllocaInst *make_scratch(Function &f, bool loads)
{
	IRBuilder<> b(&f.front(), f.front().getFirstNonPHIOrDbgOrAlloca());
	AllocaInst *made = b.CreateAlloca(b.getInt64Ty());

	if (loads)
		b.CreateStore(b.getInt64(0), made);
	return made;
}

/* The addresses of all lanes, those of inactive ones in @scratch */
static SmallVector<Value *> chosen_addresses(IRBuilder<> &b, Value *pointers, Value *mask,
					     AllocaInst *scratch)
{
	auto *type = cast<FixedVectorType>(pointers->getType());
	Value *other = b.CreateAddrSpaceCast(scratch, type->getElementType());
	SmallVector<Value *> made;

	if (!match(mask, m_AllOnes()))
		pointers = b.CreateSelect(mask, pointers,
					  b.CreateVectorSplat(type->getNumElements(), other));
	for (unsigned i = 0; i < type->getNumElements(); i++)
		made.push_back(b.CreateExtractElement(pointers, i));
	return made;
}

/* One index of 32 bits for each address */
static bool has_narrow_index(Value *pointers)
{
	auto *gep = dyn_cast<GetElementPtrInst>(pointers);

	return gep && gep->getNumIndices() == 1 && !is_vector(gep->getPointerOperand()) &&
	       narrow_index(gep->getOperand(1));
}

static bool is_private(const Value *pointers)
{
	return pointers->getType()->getPointerAddressSpace() == PRIVATE;
}

/* Has the processor no instruction for @access that is faster? */
static bool gains_from_choice(const IntrinsicInst &access, bool loads, TargetMachine &target)
{
	const TargetTransformInfo costs =
		target.getTargetTransformInfo(*access.getFunction());
	Type *type = loads ? access.getType() : access.getArgOperand(0)->getType();
	const Align align = align_of(access, loads ? 1 : 2);
	Value *pointers = access.getArgOperand(loads ? 0 : 1);

	if (!loads)
		return !costs.isLegalMaskedScatter(type, align);
	/* emit_code() enables AVX2's gather; for its masks there are other loads, too. */
	return !costs.isLegalMaskedGather(type, align) &&
	       (is_private(pointers) || type->getScalarSizeInBits() < 32 ||
		!costs.isLegalMaskedLoad(type, align) || !has_narrow_index(pointers));
}

/* Lanes whose addresses fit in the general registers, if they do not differ by constants */
static const unsigned most_singles = 8;

/* Accesses of a function that become single ones for little: dwt2d's take a sixth of its build. */
static const unsigned most_for_little = 16;

/* Are single accesses to all lanes faster than @access? @little: how many were for little */
static bool gains_from_singles(const IntrinsicInst &access, Value *pointers, unsigned lanes,
			       TargetMachine &target, const options &opts, unsigned &little)
{
	const TargetTransformInfo costs =
		target.getTargetTransformInfo(*access.getFunction());
	const bool loads = access.getIntrinsicID() == Intrinsic::masked_gather;

	if (lanes % 2 || !has_cheap_lanes(pointers))
		return false;
	if (gains_little(pointers, lanes, access) &&
	    (opts.sapphire_rapids || little++ >= most_for_little))
		return false;
	if (!opts.sapphire_rapids || has_constant_steps(pointers))
		return true;
	if (loads)
		return !costs.isLegalMaskedGather(access.getType(), align_of(access, 1));
	return lanes <= most_singles ||
	       !costs.isLegalMaskedScatter(access.getArgOperand(0)->getType(),
					   align_of(access, 2));
}

void expand_gathers(Module &m, TargetMachine &target, const options &opts)
{
	SmallVector<IntrinsicInst *> found, expanded;
	DenseMap<Function *, scratch_pair> scratch;
	DenseMap<Function *, unsigned> little;
	short_indices indices;
	index_map known;

	for (Function &f : m) {
		thaw_loads(f);
		for (Instruction &inst : instructions(f))
			if (is_marked(inst))
				found.push_back(cast<IntrinsicInst>(&inst));
	}
	for (IntrinsicInst *access : found) {
		const bool loads = access->getIntrinsicID() == Intrinsic::masked_gather;
		Value *pointers = access->getArgOperand(loads ? 0 : 1);
		Value *mask = access->getArgOperand(loads ? 2 : 3);
		const unsigned lanes = cast<FixedVectorType>(pointers->getType())->getNumElements();
		const bool all = match(mask, m_AllOnes());
		IRBuilder<> b(access);
		SmallVector<Value *> singles;

		indices.shorten(pointers);
		if (all && gains_from_singles(*access, pointers, lanes, target, opts,
					      little[access->getFunction()])) {
			singles = addresses(b, pointers, lanes, *access, known);
		} else if (gains_from_choice(*access, loads, target)) {
			scratch_pair &pair = scratch[access->getFunction()];
			AllocaInst *&other = loads ? pair.zero : pair.nowhere;

			if (!other)
				other = make_scratch(*access->getFunction(), loads);
			singles = chosen_addresses(b, pointers, mask, other);
		} else {
			continue;
		}
		if (!loads) {
			store_singles(b, *access, singles);
		} else {
			Value *made = load_singles(b, *access, singles);
			Value *rest = access->getArgOperand(3);

			if (!all && !isa<UndefValue>(rest) && !match(rest, m_Zero()))
				made = b.CreateSelect(mask, made, rest);
			access->replaceAllUsesWith(made);
		}
		expanded.push_back(access);
	}
	/* Now, as the maps may have them. */
	for (IntrinsicInst *access : expanded)
		access->eraseFromParent();
}
