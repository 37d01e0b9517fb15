// SPDX-License-Identifier: MIT
/*
 * vector_words.cc - loads of parts of words: bytes, shorts, or halves of eight bytes
 *
 * An aligned word is in the same page as each of its parts, so that all of it can be loaded. Lanes
 * that are a word apart load words that follow on each other, under their mask; others gather the
 * words that their bytes or shorts are in.
 */
#include "places.h"
#include "vectoriser.h"

using namespace llvm;

/* Loads of bytes and shorts that lanes make one by one */
static const unsigned most_single_parts = 32;

/*
 * May more of a page be loaded than @load asks for? Not of private arrays, as they were just
 * written in smaller parts, nor in checked mode, where it may be outside of the buffer.
 */
bool vectoriser::may_load_more(const LoadInst &load) const
{
	const unsigned space = load.getPointerAddressSpace();

	return (space == GLOBAL || space == CONSTANT) && !in_checked_mode(item);
}

/*
 * Bytes and shorts of a table are gathered as parts of aligned words: such a word is in the same
 * page as its part. A table in local memory was written some time ago.
 */
bool vectoriser::can_gather_words(const LoadInst &load) const
{
	Type *type = load.getType(), *word = Type::getInt32Ty(item.getContext());

	return (type->isIntegerTy(8) || (type->isIntegerTy(16) && load.getAlign() >= 2)) &&
	       (may_load_more(load) ||
		(load.getPointerAddressSpace() == LOCAL && !in_checked_mode(item))) &&
	       can_gather(word, Align(4));
}

/*
 * Are words gathered faster than bytes or shorts are loaded one by one? 16 bytes of a table that is
 * in the first cache take 23 cycles on an EPYC of Zen 5, 15 one by one. Not of inactive lanes. The
 * code of many single loads would take long to optimise.
 */
bool vectoriser::gains_from_words()
{
	return mask || has_fast_gathers(item) || single_parts++ >= most_single_parts;
}

/*
 * What extends the lanes' indices to 64 bits, if @pointer is to elements of an array that begins
 * at the same address for all of them; otherwise NULL.
 */
CastInst *vectoriser::extended_index(const Value *pointer) const
{
	auto *gep = dyn_cast<GetElementPtrInst>(pointer);

	if (!gep || gep->getNumIndices() != 1 ||
	    shape_of(gep->getPointerOperand()).kind != shape::UNIFORM)
		return nullptr;
	auto *index = dyn_cast<CastInst>(gep->getOperand(1));

	return index && (isa<SExtInst>(index) || isa<ZExtInst>(index)) &&
	       shape_of(index).kind != shape::UNIFORM ? index : nullptr;
}

/*
 * The index of 32 bits of what the lanes load from an array that begins at @base, or NULL: with
 * those one gather has all lanes. One without a sign may be above 2^31 if that of its word is not.
 */
Value *vectoriser::narrow_index(LoadInst &load, Value *&base)
{
	auto *gep = dyn_cast<GetElementPtrInst>(load.getPointerOperand());
	CastInst *index = extended_index(load.getPointerOperand());

	if (!index || gep->getSourceElementType() != load.getType() ||
	    !index->getSrcTy()->isIntegerTy(32) ||
	    (isa<ZExtInst>(index) && !index->hasNonNeg() && !load.getType()->isIntegerTy(8)))
		return nullptr;
	base = scalar(gep->getPointerOperand());
	return vector(index->getOperand(0));
}

/*
 * Element n of each word. Indices are those of words from the one on that @base is in: offsets in
 * bytes might not be in 32 bits.
 */
Value *vectoriser::gather_words(LoadInst &load)
{
	Type *type = load.getType(), *word = widen(b.getInt32Ty());
	const unsigned bytes = type->getIntegerBitWidth() / 8, last = 4 / bytes - 1;
	const unsigned shift = bytes == 1 ? 2 : 1;	/* from elements to words */
	Value *base = nullptr, *index = narrow_index(load, base), *pointer, *n;

	if (index) {
		Value *address = b.CreatePtrToInt(base, b.getInt64Ty());
		Value *first = b.CreateAnd(b.CreateTrunc(address, b.getInt32Ty()), 3);

		n = b.CreateAdd(b.CreateAnd(index, last),
				splat(b.CreateLShr(first, bytes / 2)));
		index = b.CreateAdd(isa<ZExtInst>(extended_index(load.getPointerOperand())) ?
					    b.CreateLShr(index, shift) :
					    b.CreateAShr(index, shift),
				    b.CreateLShr(n, shift));
		n = b.CreateAnd(n, last);
		base = b.CreateIntToPtr(b.CreateAnd(address, ~3ull), base->getType());
		pointer = b.CreateGEP(b.getInt32Ty(), base,
				      b.CreateSExt(index, widen(b.getInt64Ty())));
	} else {
		Type *number = widen(b.getInt64Ty());

		pointer = vector(load.getPointerOperand());
		Value *address = b.CreatePtrToInt(pointer, number);
		Value *start = b.CreateAnd(address, ConstantInt::get(number, ~3ull));
		pointer = b.CreateIntToPtr(start, pointer->getType());
		n = b.CreateLShr(b.CreateAnd(b.CreateTrunc(address, word), 3), bytes / 2);
	}
	Value *words = b.CreateMaskedGather(word, pointer, Align(4), full(mask),
					    Constant::getNullValue(word), load.getName());
	words = b.CreateLShr(words, b.CreateShl(n, 2 + bytes));
	return b.CreateTrunc(words, widen(type));
}

/*
 * The bytes of the words that active lanes load parts of, or 0: lanes are a word apart, and
 * the words follow on each other. They are in the pages of their parts, as in can_gather_words().
 */
unsigned vectoriser::word_bytes(const LoadInst &load) const
{
	const shape s = shape_of(const_cast<Value *>(load.getPointerOperand()));
	const uint64_t bits = layout.getTypeSizeInBits(load.getType()).getFixedValue();

	if (s.kind != shape::STRIDED || s.stride < 2 || s.stride > 8 ||
	    !isPowerOf2_64(s.stride) || !can_choose(load.getType()) ||
	    bits >= 8 * (uint64_t)s.stride || load.getAlign().value() * 8 < bits ||
	    !may_load_more(load))
		return 0;
	Type *words = widen(IntegerType::get(item.getContext(), 8 * s.stride));
	return target.isLegalMaskedLoad(words, Align(s.stride)) ? s.stride : 0;
}

/*
 * Loads the words of @bytes that the lanes load parts of, under the mask: the parts are at the same
 * place in all of them.
 *
 *	if (c) in[2 * x + 1]	w = load(in + 1 & ~7, mask), (int)(w >> 8 * (in + 1 & 7))
 */
Value *vectoriser::load_words(LoadInst &load, unsigned bytes)
{
	Type *type = load.getType(), *number = b.getInt64Ty(), *word = b.getIntNTy(8 * bytes);
	const unsigned bits = layout.getTypeSizeInBits(type).getFixedValue();
	Value *pointer = masked_pointer(load.getPointerOperand());
	Value *address = b.CreatePtrToInt(pointer, number);
	Value *shift = b.CreateShl(b.CreateAnd(address, bytes - 1), 3);

	pointer = b.CreateIntToPtr(b.CreateAnd(address, -(uint64_t)bytes), pointer->getType());
	Value *words = b.CreateMaskedLoad(widen(word), pointer, Align(bytes), full(mask),
					  Constant::getNullValue(widen(word)), load.getName());
	words = b.CreateLShr(words, splat(b.CreateTrunc(shift, word)));
	return b.CreateBitCast(b.CreateTrunc(words, widen(b.getIntNTy(bits))), widen(type));
}
