// SPDX-License-Identifier: MIT
/*
 * vector_elements.cc - loads and stores of short vectors whose elements are used one by one
 *
 * If all that uses a loaded float3 are its elements, each element of all lanes becomes a vector, as
 * if the source had scalars; so do the elements that a stored vector is made of. Only memory has
 * them lane after lane. Vectors of up to 8 bytes are accessed as one integer for each lane.
 *
 *	float3 v = vload3(x, in)	<24 x float> v = load(in + 3 * x)
 *	v.x				v[0, 3, 6, ...]
 *
 *	uchar3 v = vload3(at[x], in)	<8 x int> w = gather(in + 3 * at[x])
 *	v.y				(char)(w >> 8)
 *
 *	float4 v = in[2 * x]		for each lane p[i] = load(in + 2 * (x + i))
 *	v.x, v.y, v.z, v.w		the p transposed, four at a time
 */
#include "places.h"
#include "vectoriser.h"

#include <llvm/ADT/DenseSet.h>
#include <llvm/Analysis/CFG.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/InstIterator.h>

using namespace llvm;

static unsigned bits_of(const Type *type)
{
	return type->getPrimitiveSizeInBits().getFixedValue();
}

/* The integer that holds @type, or NULL. */
static Type *word_of(const Type *type)
{
	const unsigned bits = bits_of(type);

	return bits > 64 ? nullptr : IntegerType::get(type->getContext(), bits > 32 ? 64 : 32);
}

static bool is_whole_word(const Type *type)
{
	return bits_of(type) == 32 || bits_of(type) == 64;
}

/* Are its only users its elements? */
static bool is_taken_apart(const LoadInst &load)
{
	auto *type = dyn_cast<FixedVectorType>(load.getType());

	if (!type || load.isVolatile() || load.isAtomic() || type->getScalarSizeInBits() % 8 ||
	    type->getScalarType()->isPointerTy())
		return false;
	return all_of(load.users(), [&](const User *user) {
		auto *extract = dyn_cast<ExtractElementInst>(user);
		auto *which = extract ? dyn_cast<ConstantInt>(extract->getIndexOperand()) : nullptr;

		return which && which->getValue().ult(type->getNumElements());
	});
}

/* Is @store's vector only copied from where all lanes load it, and a part of a word, as uchar3? */
bool vectoriser::copies_part_of_word(const StoreInst &store) const
{
	auto *load = dyn_cast<LoadInst>(store.getValueOperand());
	auto *type = load ? dyn_cast<FixedVectorType>(load->getType()) : nullptr;

	return type && load->hasOneUse() && load->isSimple() && store.isSimple() &&
	       load->getPointerAddressSpace() != PRIVATE &&
	       store.getPointerAddressSpace() != PRIVATE &&
	       type->getScalarSizeInBits() % 8 == 0 && word_of(type) && !is_whole_word(type) &&
	       shape_of(load->getPointerOperand()).kind == shape::VARYING;
}

/* Lanes of such a vector are gathered if its elements are used one by one. */
void vectoriser::take_copies_apart()
{
	for (Instruction &inst : instructions(item)) {
		auto *store = dyn_cast<StoreInst>(&inst);

		if (!store || !copies_part_of_word(*store))
			continue;
		IRBuilder<> b(store);
		Value *from = store->getValueOperand(), *all = PoisonValue::get(from->getType());
		const unsigned count = cast<FixedVectorType>(from->getType())->getNumElements();

		for (unsigned n = 0; n < count; n++)
			all = b.CreateInsertElement(all, b.CreateExtractElement(from, n), n);
		store->setOperand(0, all);
	}
}

/*
 * @load's vector up to the last element that is used: others may be outside of a buffer. Where the
 * vector is aligned they are in the same page.
 */
static FixedVectorType *used_type(const LoadInst &load)
{
	auto *type = cast<FixedVectorType>(load.getType());
	uint64_t count = 1;

	if (load.getAlign() >= PowerOf2Ceil(bits_of(type) / 8))
		return type;
	for (const User *user : load.users()) {
		auto *which = cast<ConstantInt>(cast<ExtractElementInst>(user)->getIndexOperand());

		count = std::max(count, which->getZExtValue() + 1);
	}
	return FixedVectorType::get(type->getElementType(), count);
}

/*
 * Can the elements be gathered? As parts of an integer, whose other bytes may be outside of a
 * buffer that is checked, and are slow to load where they were just written; or one by one.
 */
bool vectoriser::can_gather_elements(const LoadInst &load) const
{
	Type *type = used_type(load), *word = word_of(type);

	if (!word)
		return can_gather(type->getScalarType(), load.getAlign());
	return can_gather(word, Align(1)) &&
	       (is_whole_word(type) ||
		(!in_checked_mode(item) && load.getPointerAddressSpace() != PRIVATE));
}

bool vectoriser::has_elements(const LoadInst &load) const
{
	Value *pointer = const_cast<Value *>(load.getPointerOperand());

	return is_taken_apart(load) && shape_of(pointer).kind != shape::UNIFORM;
}

/*
 * The offsets of 32 bits from @base, an argument, at which the lanes load, or NULL: with those one
 * gather has all lanes. Less than a word is subtracted from them, so they wrap around only if they
 * are within a word of -2^31.
 */
Value *vectoriser::narrow_offset(LoadInst &load, Value *&base)
{
	auto *gep = dyn_cast<GetElementPtrInst>(load.getPointerOperand());
	auto *index = gep && gep->getNumIndices() == 1 ? dyn_cast<SExtInst>(gep->getOperand(1)) :
							 nullptr;

	if (!index || !isa<Argument>(gep->getPointerOperand()) ||
	    !gep->getSourceElementType()->isIntegerTy(8) ||
	    !index->getOperand(0)->getType()->isIntegerTy(32) ||
	    shape_of(index).kind != shape::VARYING)
		return nullptr;
	base = scalar(gep->getPointerOperand());
	return vector(index->getOperand(0));
}

/*
 * Integers that begin at, or contain, what the lanes load. Such an integer may be larger: it begins
 * where it is aligned if that contains all, and else where both of the pages that it may
 * touch have bytes that are loaded.
 */
Value *vectoriser::gather_elements_word(LoadInst &load)
{
	Type *type = used_type(load), *number = widen(b.getInt64Ty()), *word = widen(word_of(type));
	const unsigned bytes = bits_of(type) / 8, size = word->getScalarSizeInBits() / 8;
	Value *base = nullptr, *offset = narrow_offset(load, base);
	Value *pointer = nullptr, *shift = nullptr;

	if (offset)
		number = offset->getType();
	else
		pointer = vector(load.getPointerOperand());
	if (bytes < size) {
		Value *address = offset ? b.CreateAdd(offset, splat(b.CreatePtrToInt(
						base, number->getScalarType()))) :
					  b.CreatePtrToInt(pointer, number);
		Value *begin = b.CreateAnd(address, ConstantInt::get(number, size - 1));
		Value *fits = b.CreateICmpULE(begin, ConstantInt::get(number, size - bytes));
		shift = b.CreateSelect(fits, begin, Constant::getNullValue(number));
		if (offset)
			offset = b.CreateSub(offset, shift);
		else
			pointer = b.CreateGEP(b.getInt8Ty(), pointer, b.CreateNeg(shift));
		shift = b.CreateZExtOrTrunc(b.CreateShl(shift, 3), word);
	}
	if (offset)
		pointer = b.CreateGEP(b.getInt8Ty(), base, b.CreateSExt(offset,
									widen(b.getInt64Ty())));
	Value *words = b.CreateMaskedGather(word, pointer, Align(1), full(mask),
					    Constant::getNullValue(word), load.getName());
	return shift ? b.CreateLShr(words, shift) : words;
}

/* Element @n of each of @words */
Value *vectoriser::element_of(Value *words, unsigned n, Type *type)
{
	const unsigned bits = type->getScalarSizeInBits();
	Value *part = n ? b.CreateLShr(words, n * bits) : words;

	part = b.CreateTrunc(part, widen(b.getIntNTy(bits)));
	return b.CreateBitCast(part, widen(type->getScalarType()));
}

/* Lanes @from to @from + lanes - 1 of @all, as a vector of that size */
Value *vectoriser::piece_of(Value *all, unsigned from)
{
	SmallVector<int> pick;

	for (unsigned i = 0; i < lanes; i++)
		pick.push_back(from + i);
	return b.CreateShuffleVector(all, pick);
}

/*
 * Element @n of vectors of as many elements as there are @pieces, whose lanes are one after the
 * other in them. Two pieces at a time, as LLVM moves elements one by one between vectors of
 * different lengths.
 */
Value *vectoriser::element_of(ArrayRef<Value *> pieces, unsigned n)
{
	const unsigned count = pieces.size();
	Value *made = pieces[0];

	for (unsigned p = 0; p < count; p++) {
		SmallVector<int> pick;
		bool some = false;

		for (unsigned i = 0; i < lanes; i++) {
			const unsigned at = i * count + n;

			pick.push_back(at / lanes == p ? (p ? lanes : 0) + at % lanes :
				       at / lanes < p ? (p > 1 ? i : at % lanes) : -1);
			some |= at / lanes == p;
		}
		if (p == 1 || (p > 1 && some))
			made = b.CreateShuffleVector(made, pieces[p], pick);
	}
	return made;
}

/* Bits of a part of a register that shuffles do not cross, and that is loaded at once */
static const unsigned part_bits = 128;

/* Is it faster to load the vector of each lane and to transpose them? */
bool vectoriser::can_transpose(const LoadInst &load) const
{
	FixedVectorType *type = used_type(load);
	const unsigned bits = bits_of(type), element = type->getScalarSizeInBits();

	return (element == 32 || element == 64) && bits > 64 && bits <= part_bits &&
	       lanes % (part_bits / element) == 0;
}

/* What one lane loads from its address @pointer, as a vector of 128 bits */
Value *vectoriser::load_lane_part(LoadInst &load, Value *pointer, unsigned i)
{
	FixedVectorType *type = used_type(load);
	const unsigned per = part_bits / type->getScalarSizeInBits();
	SmallVector<int> pick;

	LoadInst *one = b.CreateAlignedLoad(type, pointer, load.getAlign(), load.getName());
	one->setMetadata(LLVMContext::MD_tbaa, load.getMetadata(LLVMContext::MD_tbaa));
	tag_lane(*one, i);
	for (unsigned n = 0; n < per; n++)
		pick.push_back(n < type->getNumElements() ? (int)n : -1);
	return type->getNumElements() == per ? one : b.CreateShuffleVector(one, pick);
}

/* A vector of parts: of each part of @p the elements @of, where those of @q follow on @p's */
Value *vectoriser::pick_in_parts(Value *p, Value *q, ArrayRef<unsigned> of)
{
	const unsigned per = of.size();
	SmallVector<int> pick;

	for (unsigned i = 0; i < lanes; i++) {
		const unsigned from = of[i % per];

		pick.push_back(i / per * per + from % per + (from < per ? 0 : lanes));
	}
	return b.CreateShuffleVector(p, q, pick);
}

/* As many parts of each row as rows, element by element: the squares of parts transposed */
void vectoriser::transpose_parts(ArrayRef<Value *> rows, SmallVectorImpl<Value *> &made)
{
	if (rows.size() == 2) {
		made.push_back(pick_in_parts(rows[0], rows[1], { 0, 2 }));
		made.push_back(pick_in_parts(rows[0], rows[1], { 1, 3 }));
		return;
	}
	for (unsigned half = 0; half < 4; half += 2) {
		const unsigned pairs[] = { half, 4 + half, half + 1, 5 + half };
		Value *p = pick_in_parts(rows[0], rows[1], pairs);
		Value *q = pick_in_parts(rows[2], rows[3], pairs);

		made.push_back(pick_in_parts(p, q, { 0, 1, 4, 5 }));
		made.push_back(pick_in_parts(p, q, { 2, 3, 6, 7 }));
	}
}

/*
 * Are contiguous vectors of @type transposed in parts? Two registers have one shuffle for any
 * elements of both with AVX-512 only.
 */
bool vectoriser::is_in_parts(const FixedVectorType *type) const
{
	const unsigned element = type->getScalarSizeInBits();

	return bits_of(type) == part_bits && (element == 32 || element == 64) &&
	       lanes % (part_bits / element) == 0 &&
	       target.getRegisterBitWidth(TargetTransformInfo::RGK_FixedWidthVector) < 512;
}

/*
 * The elements of all lanes: part k of row j is what lane @per * k + j loads, so that a square of
 * parts transposed is lane after lane. @all: what the lanes have loaded, or NULL.
 */
void vectoriser::load_transposed(LoadInst &load, Value *all, SmallVectorImpl<Value *> &made)
{
	const unsigned per = part_bits / load.getType()->getScalarSizeInBits();
	SmallVector<Value *, 4> rows;
	SmallVector<Value *> pointers;

	if (!all)
		pointers = mask ? safe_pointers(load.getPointerOperand()) :
				  lane_pointers(load.getPointerOperand());
	for (unsigned j = 0; j < per; j++) {
		SmallVector<Value *> parts;
		SmallVector<int> pick;

		for (unsigned i = j; i < lanes; i += per) {
			if (!all)
				parts.push_back(load_lane_part(load, pointers[i], i));
			for (unsigned n = 0; n < per; n++)
				pick.push_back(i * per + n);
		}
		rows.push_back(all ? b.CreateShuffleVector(all, pick) :
				     concatenateVectors(b, parts));
	}
	transpose_parts(rows, made);
}

/* Loads one lane after the other: integers that are returned, or elements for @made. */
Value *vectoriser::emit_lane_elements(LoadInst &load, SmallVectorImpl<Value *> &made)
{
	FixedVectorType *type = used_type(load);
	Type *word = is_whole_word(type) ? word_of(type) : nullptr;
	const unsigned count = type->getNumElements();
	Value *words = word ? PoisonValue::get(widen(word)) : nullptr;

	if (!word)
		made.assign(count, PoisonValue::get(widen(type->getScalarType())));
	for (unsigned i = 0; i < lanes; i++) {
		Value *pointer = lane(load.getPointerOperand(), i);

		if (mask)
			pointer = safe_pointer(pointer, is_active(i));
		LoadInst *one = b.CreateAlignedLoad(word ? word : type, pointer, load.getAlign());
		tag_lane(*one, i);
		if (word) {
			words = b.CreateInsertElement(words, one, i);
			continue;
		}
		for (unsigned n = 0; n < count; n++)
			made[n] = b.CreateInsertElement(made[n], b.CreateExtractElement(one, n), i);
	}
	return words;
}

/* Each element of all lanes */
SmallVector<Value *> vectoriser::load_elements(LoadInst &load)
{
	Value *pointer = load.getPointerOperand(), *words = nullptr;
	const bool contiguous = is_contiguous(pointer, load.getType());
	FixedVectorType *type = contiguous ? cast<FixedVectorType>(load.getType()) :
					     used_type(load);
	SmallVector<Value *> made;
	const unsigned count = type->getNumElements();

	if (contiguous && is_in_parts(type)) {
		load_transposed(load, mask ? emit_load(load) : nullptr, made);
	} else if (contiguous) {
		Value *all = emit_load(load);

		if (is_whole_word(type)) {
			words = b.CreateBitCast(all, widen(word_of(type)));
		} else {
			SmallVector<Value *> pieces;
			for (unsigned n = 0; n < count; n++)
				pieces.push_back(piece_of(all, n * lanes));
			for (unsigned n = 0; n < count; n++)
				made.push_back(element_of(pieces, n));
		}
	} else if (can_transpose(load)) {
		load_transposed(load, nullptr, made);
		made.truncate(count);
	} else if (!can_gather_elements(load)) {
		words = emit_lane_elements(load, made);
	} else if (word_of(type)) {
		words = gather_elements_word(load);
	} else {
		Type *element = type->getScalarType(), *wide = widen(element);
		Value *all = vector(pointer);
		for (unsigned n = 0; n < count; n++)
			made.push_back(b.CreateMaskedGather(wide, b.CreateConstGEP1_64(
				element, all, n), commonAlignment(load.getAlign(),
				n * bits_of(element) / 8), full(mask),
				Constant::getNullValue(wide), load.getName()));
	}
	for (unsigned n = 0; words && n < count; n++)
		made.push_back(element_of(words, n, type));
	return made;
}

/* Is @load in a loop whose iterations have the same active lanes, and whose branches know? */
bool vectoriser::keeps_mask(const LoadInst &load) const
{
	const Loop *loop = loops.getLoopFor(load.getParent());

	return loop && !is_divergent_loop(loop) && masks.lookup(loop->getLoopPreheader()) == mask;
}

/* The same, where a branch finds out whether all lanes are active, which may not access safely */
SmallVector<Value *> vectoriser::load_elements_of_all(LoadInst &load)
{
	LLVMContext &context = out->getContext();
	BasicBlock *every = BasicBlock::Create(context, "every", out);
	BasicBlock *some = BasicBlock::Create(context, "some", out);
	BasicBlock *after = BasicBlock::Create(context, "loaded", out);
	Value *const active = mask, *const known = any_lane;
	SmallVector<Value *> of[2];
	BasicBlock *end[2];

	Value *bits = active_bits();
	b.CreateCondBr(b.CreateICmpEQ(bits, Constant::getAllOnesValue(bits->getType())), every,
		       some);
	for (unsigned i = 0; i < 2; i++) {
		b.SetInsertPoint(i ? some : every);
		mask = i ? active : nullptr;
		of[i] = load_elements(load);
		end[i] = b.GetInsertBlock();
		b.CreateBr(after);
	}
	any_lane = known;
	b.SetInsertPoint(after);
	for (unsigned n = 0; n < of[0].size(); n++) {
		PHINode *phi = b.CreatePHI(of[0][n]->getType(), 2);

		phi->addIncoming(of[0][n], end[0]);
		phi->addIncoming(of[1][n], end[1]);
		of[0][n] = phi;
	}
	return of[0];
}

void vectoriser::emit_load_elements(LoadInst &load)
{
	const bool apart = !is_contiguous(load.getPointerOperand(), load.getType());

	elements[&load] = apart && mask && keeps_mask(load) && can_transpose(load) ?
			  load_elements_of_all(load) : load_elements(load);
}

/*
 * What a vector is made of, element by element, those of a constant too, or nothing if it was made
 * in another way.
 */
static SmallVector<Value *> find_elements(Value *value)
{
	auto *type = dyn_cast<FixedVectorType>(value->getType());
	SmallVector<Value *> made(type ? type->getNumElements() : 0);

	while (auto *insert = dyn_cast<InsertElementInst>(value)) {
		auto *which = dyn_cast<ConstantInt>(insert->getOperand(2));

		if (!which || which->getValue().uge(made.size()))
			return {};
		Value *&element = made[which->getZExtValue()];
		if (!element)
			element = insert->getOperand(1);
		value = insert->getOperand(0);
	}
	auto *base = dyn_cast<Constant>(value);
	if (!base || all_of(made, [](Value *v) { return !v; }))
		return {};
	for (unsigned n = 0; n < made.size(); n++) {
		if (made[n])
			continue;
		made[n] = base->getAggregateElement(n);
		if (!made[n])
			return {};
		if (isa<UndefValue>(made[n]))
			made[n] = PoisonValue::get(type->getScalarType());
	}
	return made;
}

/* Elements @from to @from + lanes - 1 in memory of vectors with these elements */
Value *vectoriser::interleave(ArrayRef<Value *> parts, unsigned from)
{
	const unsigned count = parts.size();
	Value *made = parts[0];

	for (unsigned n = 1; n < count; n++) {
		SmallVector<int> pick;

		for (unsigned i = from; i < from + lanes; i++)
			pick.push_back(i % count == n ? lanes + i / count :
				       i % count > n ? -1 : n > 1 ? i - from : i / count);
		made = b.CreateShuffleVector(made, parts[n], pick);
	}
	return made;
}

/* Stores the parts of 128 bits that the elements @parts of all lanes are transposed to. */
void vectoriser::store_transposed(StoreInst &store, ArrayRef<Value *> parts)
{
	auto *type = cast<FixedVectorType>(store.getValueOperand()->getType());
	const unsigned per = part_bits / type->getScalarSizeInBits();
	SmallVector<Value *, 4> from(parts), rows;

	from.resize(per, PoisonValue::get(widen(type->getScalarType())));
	transpose_parts(from, rows);
	for (unsigned i = 0; i < lanes; i++) {
		Value *pointer = lane(store.getPointerOperand(), i);
		SmallVector<int> pick;

		for (unsigned n = 0; n < type->getNumElements(); n++)
			pick.push_back(i / per * per + n);
		Value *one = b.CreateShuffleVector(rows[i % per], pick);
		StoreInst *made = b.CreateAlignedStore(one, pointer, store.getAlign());
		made->setMetadata(LLVMContext::MD_tbaa, store.getMetadata(LLVMContext::MD_tbaa));
		tag_lane(*made, i);
	}
}

/* Contiguous vectors with these elements, whose parts are transposed */
Value *vectoriser::interleave_parts(ArrayRef<Value *> parts)
{
	const unsigned per = parts.size();
	SmallVector<Value *, 4> rows;
	SmallVector<Value *> pieces;

	transpose_parts(parts, rows);
	for (unsigned from = 0; from < lanes; from += 2) {
		SmallVector<int> pick;

		for (unsigned i = from; i < from + 2; i++)
			for (unsigned n = 0; n < per; n++)
				pick.push_back((i > from ? lanes : 0) + i / per * per + n);
		pieces.push_back(b.CreateShuffleVector(rows[from % per], rows[(from + 1) % per],
						       pick));
	}
	return concatenateVectors(b, pieces);
}

/* Stores one lane after the other. */
void vectoriser::store_lane_elements(StoreInst &store, ArrayRef<Value *> parts)
{
	Type *type = store.getValueOperand()->getType();

	for (unsigned i = 0; i < lanes; i++) {
		Value *pointer = lane(store.getPointerOperand(), i);
		Value *one = PoisonValue::get(type);

		for (unsigned n = 0; n < parts.size(); n++)
			one = b.CreateInsertElement(one, b.CreateExtractElement(parts[n], i), n);
		if (mask)
			pointer = safe_pointer(pointer, is_active(i));
		tag_lane(*b.CreateAlignedStore(one, pointer, store.getAlign()), i);
	}
}

/* Stores each element of all lanes at once. */
void vectoriser::scatter_elements(StoreInst &store, ArrayRef<Value *> parts)
{
	Type *element = store.getValueOperand()->getType()->getScalarType();
	const unsigned bytes = bits_of(element) / 8;
	Value *pointer = vector(store.getPointerOperand());

	for (unsigned n = 0; n < parts.size(); n++)
		if (!isa<PoisonValue>(parts[n]))
			b.CreateMaskedScatter(parts[n], b.CreateConstGEP1_64(element, pointer, n),
					      commonAlignment(store.getAlign(), n * bytes),
					      full(mask));
}

/* The words that vectors with the elements @parts of all lanes are, of type @type in the source */
Value *vectoriser::words_of_parts(ArrayRef<Value *> parts, FixedVectorType *type)
{
	const unsigned bits = type->getScalarSizeInBits();
	Type *word = widen(word_of(type)), *part = widen(b.getIntNTy(bits));
	Value *all = nullptr;

	for (unsigned n = 0; n < parts.size(); n++) {
		if (isa<PoisonValue>(parts[n]))
			continue;
		Value *one = b.CreateShl(b.CreateZExt(b.CreateBitCast(parts[n], part), word),
					 n * bits);
		all = all ? b.CreateOr(all, one) : one;
	}
	return all;
}

/* A word that was made of the elements of a vector, or NULL if @cast is none */
Value *vectoriser::emit_word(BitCastInst &cast)
{
	Value *from = cast.getOperand(0);
	auto *type = dyn_cast<FixedVectorType>(from->getType());
	SmallVector<Value *> parts;

	if (!type || !cast.getType()->isIntegerTy() || type->getScalarSizeInBits() % 8 ||
	    !is_whole_word(type))
		return nullptr;
	for (Value *element : find_elements(from))
		parts.push_back(vector(element));
	return parts.empty() ? nullptr : words_of_parts(parts, type);
}

/* Stores what was made element by element; false if it was not. */
bool vectoriser::emit_store_elements(StoreInst &store)
{
	Value *pointer = store.getPointerOperand(), *value = store.getValueOperand(), *all;
	auto *type = dyn_cast<FixedVectorType>(value->getType());
	SmallVector<Value *> from = find_elements(value), parts;
	const bool contiguous = is_contiguous(pointer, value->getType());

	if (from.empty() || type->getScalarSizeInBits() % 8 ||
	    type->getScalarType()->isPointerTy() || shape_of(pointer).kind == shape::UNIFORM)
		return false;
	Type *word = word_of(type);
	for (Value *element : from)
		parts.push_back(vector(element));
	const unsigned element = type->getScalarSizeInBits();
	if (!contiguous && bits_of(type) > 64 && bits_of(type) <= part_bits && element >= 32) {
		if (!mask && lanes % (part_bits / element) == 0) {
			store_transposed(store, parts);
			return true;
		}
		if (mask && can_scatter(type->getScalarType(), store.getAlign())) {
			scatter_elements(store, parts);
			return true;
		}
	}
	if (!contiguous && (!is_whole_word(type) ||
			    !target.isLegalMaskedScatter(widen(word), Align(1)))) {
		store_lane_elements(store, parts);
		return true;
	}
	if (contiguous && is_in_parts(type)) {
		all = interleave_parts(parts);
	} else if (is_whole_word(type)) {
		all = words_of_parts(parts, type);
	} else {
		all = PoisonValue::get(widen(type));
		for (unsigned n = 0; n < parts.size(); n++)
			all = b.CreateInsertVector(all->getType(), all,
						   interleave(parts, n * lanes),
						   b.getInt64(n * lanes));
	}
	store_lanes(store, all);
	return true;
}

using edge_set = SmallDenseSet<std::pair<const BasicBlock *, const BasicBlock *>>;

/* Is @v what an iteration of a loop takes over from the one before? @back: the edges to it */
static bool is_carried(const Value &v, const edge_set &back)
{
	return any_of(v.uses(), [&](const Use &use) {
		auto *phi = dyn_cast<PHINode>(use.getUser());

		return phi && back.contains({ phi->getIncomingBlock(use), phi->getParent() });
	});
}

/* Of which kind is what @inst does to a vector, if it replaces an element? */
enum replacement { NO, OF_ANOTHER, OF_CARRIED };

static enum replacement find_replacement(const Instruction &inst, const edge_set &back)
{
	const Value *first = &inst, *last = &inst;

	if (!isa<InsertElementInst>(inst))
		return NO;
	while (auto *insert = dyn_cast<InsertElementInst>(first))
		first = insert->getOperand(0);
	while (last->hasOneUse() && isa<InsertElementInst>(last->use_begin()->getUser()))
		last = last->use_begin()->getUser();
	return !isa<Constant>(first) ? OF_ANOTHER : is_carried(*last, back) ? OF_CARRIED : NO;
}

/* Each access has a call for the formats that have no code of their own (builtins/texels.cl). */
bool accesses_images(const Function &f)
{
	return any_of(instructions(f), [](const Instruction &inst) {
		auto *call = dyn_cast<CallInst>(&inst);
		const Function *callee = call ? call->getCalledFunction() : nullptr;

		return callee && (callee->getName().starts_with("salvo_outline_sample_texel") ||
				  callee->getName().starts_with("salvo_outline_load") ||
				  callee->getName().starts_with("salvo_outline_store"));
	});
}

/* Vectors that needs_elements() may take apart */
bool has_short_vectors(const Function &f)
{
	return any_of(instructions(f), [](const Instruction &inst) {
		auto *type = dyn_cast<FixedVectorType>(inst.getType());

		return type && type->getNumElements() <= 4;
	});
}

static const char elements[] = "salvo-elements";

void ask_for_elements(Function &f)
{
	f.addFnAttr(elements);
}

/*
 * Vectors of three elements do not fill registers, and LLVM moves their elements one by one: a
 * function that has some computes with elements only. So does one that mostly replaces elements
 * where branches say so, as each mask would be repeated for all elements of its lane, and one that
 * sums elements up in a loop and does not load them as vectors, which would be transposed there.
 *
 *	if (position.x < left)			sum.x += in[i].x;
 *		position.x = left;		sum.y += in[i].y;
 *
 * So does one that accesses images: most formats make a colour of elements, and are made of them.
 */
bool needs_elements(const Function &f)
{
	SmallVector<std::pair<const BasicBlock *, const BasicBlock *>> edges;
	unsigned replaced = 0, carried = 0, merged = 0, loaded = 0, whole = 0;

	if (f.hasFnAttribute(elements) || accesses_images(f))
		return true;
	FindFunctionBackedges(f, edges);
	const edge_set back(edges.begin(), edges.end());
	for (const Instruction &inst : instructions(f)) {
		auto *type = dyn_cast<FixedVectorType>(inst.getType());

		if (!type || type->getNumElements() > 4)
			continue;
		if (type->getNumElements() == 3)
			return true;
		const enum replacement kind = find_replacement(inst, back);
		replaced += kind == OF_ANOTHER;
		carried += kind == OF_CARRIED;
		merged += isa<PHINode>(inst) ||
			  (isa<SelectInst>(inst) && !inst.getOperand(0)->getType()->isVectorTy());
		if (isa<LoadInst>(inst))
			loaded += bits_of(type) > 64;
		else
			whole += isa<BinaryOperator>(inst) || isa<CmpInst>(inst) ||
				 isa<CallBase>(inst) || isa<UnaryInstruction>(inst);
	}
	return (replaced && merged && replaced + merged > whole + 2 * loaded) ||
	       (carried > whole && !loaded);
}
