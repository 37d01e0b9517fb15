// SPDX-License-Identifier: MIT
/*
 * vector_memory.cc - loads, stores and operations that are replicated for each lane
 *
 * Contiguous lanes are one wide access, with a mask if not all of them are active, and so are
 * those in reverse order (vector_reversed.cc). Lanes a few elements apart load all that is between
 * them, under a mask if they are a word apart (vector_words.cc). Others are a gather or a scatter
 * where the target has those (AVX-512, and AVX2 for some of the lanes), unless all lanes are
 * active and equally far apart, else one access for each lane. There an inactive lane uses a
 * scratch buffer, which is cheaper than a branch; only calls and locked operations are branched
 * around.
 *
 * Private arrays are laid out lane after lane, or element after element (vector_arrays.cc). Atomic
 * operations keep the order of the lanes; those on one address for all lanes become one operation.
 */
#include "agree.h"
#include "division.h"
#include "places.h"
#include "quotients.h"
#include "vectoriser.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/MDBuilder.h>

using namespace llvm;

bool vectoriser::needs_lanes(const Instruction &inst)
{
	if (isa<LoadInst>(inst))
		return cast<LoadInst>(inst).isAtomic() || cast<LoadInst>(inst).isVolatile();
	if (is_agreement(inst) || is_first_lane(inst) || is_of_every_lane(inst) ||
	    is_vector_call(inst))
		return false;
	/* Inactive lanes must not call a function, whatever it does. */
	if (isa<CallBase>(inst) && (inst.mayReadOrWriteMemory() || !isa<IntrinsicInst>(inst)))
		return true;
	return inst.mayHaveSideEffects() && !isa<FenceInst>(inst);
}

/* Atomic operations on local memory are none in the end (groups.cc). */
static bool is_locked(const Instruction &inst)
{
	return (isa<AtomicRMWInst>(inst) || isa<AtomicCmpXchgInst>(inst)) &&
	       inst.getOperand(0)->getType()->getPointerAddressSpace() != LOCAL;
}

/* @mask as an integer. */
Value *vectoriser::active_bits()
{
	if (!mask_bits)
		mask_bits = b.CreateBitCast(mask, b.getIntNTy(lanes));
	return mask_bits;
}

/*
 * Is lane @i of @mask active? A test of a bit: without AVX-512 LLVM would extract an element from
 * the comparison that the mask comes from, which it would repeat for each of them.
 */
Value *vectoriser::is_active(unsigned i)
{
	Value *bit = b.CreateAnd(active_bits(), b.getInt(APInt::getOneBitSet(lanes, i)));
	return b.CreateIsNotNull(bit);
}

/* @pointer if @condition, else the scratch buffer. */
Value *vectoriser::safe_pointer(Value *pointer, Value *condition)
{
	Value *other = b.CreateAddrSpaceCast(nowhere, pointer->getType()->getScalarType());

	return b.CreateSelect(condition, pointer,
			      pointer->getType()->isVectorTy() ? splat(other) : other);
}

/*
 * The same for each lane under a mask. They are chosen as vectors, which is fewer instructions, but
 * one by one where bounds.cc looks for what an active lane accesses.
 */
SmallVector<Value *> vectoriser::safe_pointers(Value *pointer)
{
	const bool checked = in_checked_mode(item);
	Value *safe = checked ? nullptr : safe_pointer(vector(pointer), mask);
	SmallVector<Value *> all;

	for (unsigned i = 0; i < lanes; i++)
		all.push_back(checked ? safe_pointer(lane(pointer, i), is_active(i)) :
					b.CreateExtractElement(safe, i));
	return all;
}

void vectoriser::emit_alloca(AllocaInst &alloca)
{
	IRBuilder<> at(start[order[0]], start[order[0]]->begin());
	AllocaInst *all = at.CreateAlloca(ArrayType::get(private_type(alloca), lanes), nullptr,
					  alloca.getName());

	all->setAlignment(std::max(alloca.getAlign(),
				   Align(interleaved_bytes(alloca) ? 64 : 32)));
	scalars[&alloca] = all;
}

/* Are the lanes contiguous in memory? */
bool vectoriser::is_contiguous(Value *pointer, Type *type) const
{
	shape s = shape_of(pointer);
	TypeSize bits = layout.getTypeSizeInBits(type);

	if (s.kind != shape::STRIDED || layout.getTypeSizeInBits(type->getScalarType()) % 8)
		return false;
	return s.stride > 0 && (uint64_t)s.stride * 8 == bits.getFixedValue();
}

/* Elements from lane to lane up to which all between them is loaded */
static const int64_t max_step = 4;

/* The number of elements from lane to lane if loading all between them is worth it, or 0. */
int64_t vectoriser::step_of(Value *pointer, Type *type) const
{
	const shape s = shape_of(pointer);
	const int64_t bits = layout.getTypeSizeInBits(type).getFixedValue();

	if (s.kind != shape::STRIDED || type->isVectorTy() || type->isPointerTy() || bits % 8 ||
	    s.stride * 8 % bits)
		return 0;
	const int64_t step = s.stride * 8 / bits;
	return std::abs(step) <= max_step && step != 1 ? step : 0;
}

/*
 * Loads what lies between the first and the last lane, in pieces of as many elements as lanes. Each
 * of its pages has an element of a lane. The last piece ends with the last lane: where the lanes
 * have the alignment of a structure it is aligned less.
 *
 *	in[3 * x]	p = load(in + 3 * x), q = load(in + 3 * x + 8), r = load(in + 3 * x + 14)
 *			p[0], p[3], p[6], q[1], q[4], q[7], r[4], r[7]
 */
Value *vectoriser::load_steps(LoadInst &load, int64_t step)
{
	Type *type = load.getType(), *wide = widen(type);
	const unsigned count = std::abs(step), last = (lanes - 1) * count;
	const uint64_t bytes = layout.getTypeStoreSize(type).getFixedValue();
	Value *base = scalar(load.getPointerOperand()), *made = nullptr;

	if (step < 0)
		base = b.CreateConstGEP1_64(type, base, step * (int64_t)(lanes - 1));
	for (unsigned p = 0; p < count; p++) {
		const unsigned from = p == count - 1 ? last + 1 - lanes : p * lanes;
		const Align align = commonAlignment(load.getAlign(), from * bytes);
		SmallVector<int> pick;

		LoadInst *piece = b.CreateAlignedLoad(wide, b.CreateConstGEP1_64(type, base, from),
						      align, load.getName());
		piece->setMetadata(LLVMContext::MD_tbaa, load.getMetadata(LLVMContext::MD_tbaa));
		for (unsigned i = 0; i < lanes; i++) {
			const unsigned at = (step < 0 ? lanes - 1 - i : i) * count;
			const unsigned owner = std::min(at / lanes, count - 1);

			pick.push_back(owner == p ? (p ? lanes : 0) + at - from :
				       owner < p ? (p > 1 ? i : at) : -1);
		}
		if (p == 0 && count > 1)
			made = piece;
		else
			made = b.CreateShuffleVector(p ? made : piece, piece, pick);
	}
	return made;
}

/* A small vector is accessed as an integer of its size, for which masked accesses exist. */
static Type *masked_unit(Type *type)
{
	unsigned bits = type->getPrimitiveSizeInBits();

	if (type->isVectorTy() && (bits == 32 || bits == 64))
		return IntegerType::get(type->getContext(), bits);
	return type->getScalarType();
}

/* Does the processor load from one address for each lane, and is that worth an instruction? */
bool vectoriser::can_gather(Type *type, Align align) const
{
	return !type->isVectorTy() && target.isLegalMaskedGather(widen(type), align);
}

/* Where addresses are equal the last lane's value stays, as in a sequence of stores. */
bool vectoriser::can_scatter(Type *type, Align align) const
{
	return !type->isVectorTy() && target.isLegalMaskedScatter(widen(type), align);
}

/* Without such instructions: does gathers.cc choose between addresses for all lanes at once? */
bool vectoriser::can_choose(Type *type) const
{
	const uint64_t bits = layout.getTypeSizeInBits(type).getFixedValue();

	return (type->isIntegerTy() || type->isFloatingPointTy()) && bits >= 8 &&
	       bits <= 64 && isPowerOf2_64(bits);
}

/* Does @v subtract without its sign, so that it may wrap around to a large number? */
static bool may_wrap(const Value *v, unsigned depth)
{
	auto *inst = dyn_cast<BinaryOperator>(v);
	auto *number = inst ? dyn_cast<ConstantInt>(inst->getOperand(1)) : nullptr;

	if (!inst || !depth)
		return false;
	if (inst->getOpcode() == Instruction::Sub && !inst->hasNoUnsignedWrap())
		return true;
	if (inst->getOpcode() != Instruction::Add && inst->getOpcode() != Instruction::Sub)
		return false;
	return (number && number->isNegative() && !inst->hasNoUnsignedWrap()) ||
	       may_wrap(inst->getOperand(0), depth - 1) ||
	       may_wrap(inst->getOperand(1), depth - 1);
}

/*
 * The address of contiguous lanes under a mask. Where an index wraps around in the lanes that a
 * comparison keeps out, and no lane is active, it may be gigabytes away. The processor suppresses
 * the fault, but takes a hundred times as long as for an access.
 *
 *	if (x >= i) in[x - i]
 */
Value *vectoriser::masked_pointer(Value *pointer)
{
	bool far = false;

	for (auto *gep = dyn_cast<GetElementPtrInst>(pointer); gep && !far;
	     gep = dyn_cast<GetElementPtrInst>(gep->getPointerOperand()))
		far = any_of(gep->indices(), [](const Use &index) {
			auto *extension = dyn_cast<ZExtInst>(index);

			return extension && may_wrap(extension->getOperand(0), 4);
		});
	if (!far)
		return scalar(pointer);
	Value *active = some_lane();
	return safe_pointer(scalar(pointer), active);
}

/* Bytes of which some are in a page that is there, if all of them are in one page */
static const uint64_t page_bytes = 4096;

/*
 * Contiguous bytes and shorts, which AVX2 does not load under a mask: where they are in one page,
 * and a lane is active, all are loaded. Those of the others are not used.
 */
Value *vectoriser::load_in_page(LoadInst &load)
{
	Type *wide = widen(load.getType());
	const uint64_t bytes = layout.getTypeStoreSize(wide).getFixedValue();
	Value *pointer = scalar(load.getPointerOperand());
	BasicBlock *near = BasicBlock::Create(out->getContext(), "page", out);
	BasicBlock *far = BasicBlock::Create(out->getContext(), "pages", out);
	BasicBlock *after = BasicBlock::Create(out->getContext(), "loaded", out);

	Value *active = some_lane();
	Value *offset = b.CreateAnd(b.CreatePtrToInt(pointer, b.getInt64Ty()), page_bytes - 1);
	Value *inside = b.CreateICmpULE(offset, b.getInt64(page_bytes - bytes));
	b.CreateCondBr(b.CreateAnd(active, inside), near, far);
	b.SetInsertPoint(near);
	LoadInst *all = b.CreateAlignedLoad(wide, pointer, load.getAlign(), load.getName());
	all->setMetadata(LLVMContext::MD_tbaa, load.getMetadata(LLVMContext::MD_tbaa));
	b.CreateBr(after);
	b.SetInsertPoint(far);
	Instruction *some = gather(load);
	mark_lanes(*some);
	b.CreateBr(after);
	b.SetInsertPoint(after);
	PHINode *phi = b.CreatePHI(wide, 2);
	phi->addIncoming(all, near);
	phi->addIncoming(some, far);
	return phi;
}

/* Is it one of those? */
bool vectoriser::can_load_in_page(const LoadInst &load) const
{
	Type *type = load.getType();

	return (type->isIntegerTy(8) || type->isIntegerTy(16)) && lanes > 1 &&
	       may_load_more(load) && !target.isLegalMaskedLoad(widen(type), load.getAlign());
}

Instruction *vectoriser::gather(LoadInst &load)
{
	Type *wide = widen(load.getType());

	return b.CreateMaskedGather(wide, vector(load.getPointerOperand()), load.getAlign(),
				    full(mask), Constant::getNullValue(wide), load.getName());
}

/* All lanes of a narrow index become single accesses, two of which share an extraction. */
bool vectoriser::has_cheap_lanes(const Value *pointer, Type *type) const
{
	const CastInst *index = extended_index(pointer);

	return can_choose(type) && pointer->getType()->getPointerAddressSpace() != PRIVATE &&
	       index && index->getSrcTy()->getScalarSizeInBits() <= 32 &&
	       shape_of(index).kind == shape::VARYING;
}

/* Is a gather made of @load, for now (gathers.cc)? */
bool vectoriser::gathers(const LoadInst &load) const
{
	if (can_gather(load.getType(), load.getAlign()))
		return true;
	return mask ? can_choose(load.getType()) :
		      has_cheap_lanes(load.getPointerOperand(), load.getType());
}

/*
 * Contiguous lanes of three elements or so under a mask, in that many pieces: of a mask whose
 * length is no power of two LLVM makes each bit alone.
 */
Value *vectoriser::load_pieces(LoadInst &load, Type *unit, unsigned units)
{
	Type *wide = FixedVectorType::get(unit, lanes);
	Value *bits = repeat_mask(mask, units);
	Value *pointer = masked_pointer(load.getPointerOperand());
	const uint64_t bytes = layout.getTypeStoreSize(wide).getFixedValue();
	SmallVector<Value *> pieces;

	for (unsigned p = 0; p < units; p++) {
		CallInst *piece = b.CreateMaskedLoad(
			wide, b.CreateConstGEP1_64(wide, pointer, p),
			commonAlignment(load.getAlign(), p * bytes), piece_of(bits, p * lanes),
			Constant::getNullValue(wide), load.getName());
		piece->setMetadata(LLVMContext::MD_tbaa, load.getMetadata(LLVMContext::MD_tbaa));
		pieces.push_back(piece);
	}
	return b.CreateBitCast(concatenateVectors(b, pieces), widen(load.getType()));
}

/* The same for a store */
void vectoriser::store_pieces(StoreInst &store, Value *all, unsigned units)
{
	Type *wide = FixedVectorType::get(all->getType()->getScalarType(), lanes);
	Value *bits = repeat_mask(mask, units);
	Value *pointer = masked_pointer(store.getPointerOperand());
	const uint64_t bytes = layout.getTypeStoreSize(wide).getFixedValue();

	for (unsigned p = 0; p < units; p++) {
		CallInst *piece = b.CreateMaskedStore(
			piece_of(all, p * lanes), b.CreateConstGEP1_64(wide, pointer, p),
			commonAlignment(store.getAlign(), p * bytes), piece_of(bits, p * lanes));
		piece->setMetadata(LLVMContext::MD_tbaa,
				   store.getMetadata(LLVMContext::MD_tbaa));
	}
}

/* What @usual makes if @condition holds, as it mostly does, or else @other */
Value *vectoriser::emit_likely(Value *condition, function_ref<Value *()> usual,
			       function_ref<Value *()> other)
{
	LLVMContext &context = b.getContext();
	BasicBlock *near = BasicBlock::Create(context, "usual", out);
	BasicBlock *far = BasicBlock::Create(context, "other", out);
	BasicBlock *next = BasicBlock::Create(context, "next", out);
	std::pair<Value *, BasicBlock *> made[2];

	b.CreateCondBr(condition, near, far, MDBuilder(context).createLikelyBranchWeights());
	b.SetInsertPoint(near);
	made[0] = { usual(), b.GetInsertBlock() };
	b.CreateBr(next);
	b.SetInsertPoint(far);
	made[1] = { other(), b.GetInsertBlock() };
	b.CreateBr(next);
	b.SetInsertPoint(next);
	PHINode *all = b.CreatePHI(made[0].first->getType(), 2);
	for (auto [value, from] : made)
		all->addIncoming(value, from);
	return all;
}

/* From addresses of which nothing is known */
Value *vectoriser::load_apart(LoadInst &load)
{
	if (!mask && is_linear(load.getPointerOperand()))
		return emit_lanes(load);
	if (can_gather_words(load) && gains_from_words())
		return gather_words(load);
	if (!gathers(load))
		return emit_lanes(load);
	Instruction *made = gather(load);
	mark_lanes(*made);
	made->setMetadata(LLVMContext::MD_tbaa, load.getMetadata(LLVMContext::MD_tbaa));
	made->setMetadata(LLVMContext::MD_invariant_load,
			  load.getMetadata(LLVMContext::MD_invariant_load));
	return made;
}

Value *vectoriser::emit_load(LoadInst &load)
{
	Type *type = load.getType(), *wide = widen(type);
	Value *pointer = load.getPointerOperand();
	Instruction *made;
	table t;

	if (!is_contiguous(pointer, type)) {
		if (const int64_t step = mask ? 0 : step_of(pointer, type))
			return load_steps(load, step);
		if (can_load_reversed(pointer, type, load.getAlign()))
			return load_reversed(load);
		if (const unsigned bytes = mask ? word_bytes(load) : 0)
			return load_words(load, bytes);
		if (find_table(load, &t))
			return load_table(load, t);
		if (!mask && is_wrap(load))
			return load_wrap(load);
		if (Instruction *exchange = find_exchange(load))
			return load_exchange(load, *exchange);
		return load_apart(load);
	}
	if (!mask) {
		made = b.CreateAlignedLoad(wide, scalar(pointer), load.getAlign(), load.getName());
		tag_row(*made, lanes);
	} else if (can_load_in_page(load)) {
		return load_in_page(load);
	} else {
		Type *unit = masked_unit(type);
		unsigned units = layout.getTypeSizeInBits(type) / layout.getTypeSizeInBits(unit);
		Type *as = FixedVectorType::get(unit, lanes * units);
		if (!isPowerOf2_32(units))
			return load_pieces(load, unit, units);
		made = b.CreateMaskedLoad(as, masked_pointer(pointer), load.getAlign(),
					  repeat_mask(mask, units), Constant::getNullValue(as));
	}
	made->setMetadata(LLVMContext::MD_tbaa, load.getMetadata(LLVMContext::MD_tbaa));
	made->setMetadata(LLVMContext::MD_invariant_load,
			  load.getMetadata(LLVMContext::MD_invariant_load));
	return b.CreateBitCast(made, wide);
}

/* @all: what the lanes store, lane after lane, a lane in one or several elements */
void vectoriser::store_lanes(StoreInst &store, Value *all)
{
	Value *pointer = store.getPointerOperand();
	const unsigned units = cast<FixedVectorType>(all->getType())->getNumElements() / lanes;
	Type *type = store.getValueOperand()->getType();
	Instruction *made;

	if (can_store_reversed(pointer, type, store.getAlign())) {
		made = store_reversed(store, all);
	} else if (!is_contiguous(pointer, type)) {
		made = b.CreateMaskedScatter(all, vector(pointer), store.getAlign(), full(mask));
		mark_lanes(*made);
	} else if (!mask) {
		made = b.CreateAlignedStore(all, scalar(pointer), store.getAlign());
		tag_row(*made, lanes);
	} else if (!isPowerOf2_32(units)) {
		store_pieces(store, all, units);
		return;
	} else {
		made = b.CreateMaskedStore(all, masked_pointer(pointer), store.getAlign(),
					   repeat_mask(mask, units));
	}
	made->setMetadata(LLVMContext::MD_tbaa, store.getMetadata(LLVMContext::MD_tbaa));
}

/* Stores where a lane is active: a block in which ways meet is run without one, too. */
void vectoriser::store_if_any(StoreInst &store)
{
	BasicBlock *some = BasicBlock::Create(out->getContext(), "some", out);
	BasicBlock *after = BasicBlock::Create(out->getContext(), "stored", out);

	Value *active = some_lane();
	active_bits();	/* both ways have it */
	b.CreateCondBr(active, some, after);
	b.SetInsertPoint(some);
	store_each(store);
	b.CreateBr(after);
	b.SetInsertPoint(after);
}

void vectoriser::emit_store(StoreInst &store)
{
	Value *pointer = store.getPointerOperand(), *value = store.getValueOperand();
	const bool same = shape_of(pointer).kind == shape::UNIFORM;
	const bool apart = !same && !is_contiguous(pointer, value->getType());

	if (same && shape_of(value).kind == shape::UNIFORM && !store.isVolatile())
		emit_scalar_memory(store);
	else if (mask && apart && !store.isVolatile() &&
		 store.getParent()->hasNPredecessorsOrMore(2))
		store_if_any(store);
	else
		store_each(store);
}

/* Is @store, under a mask, one to the same address for all lanes, of values that differ? */
bool vectoriser::has_one_address(const StoreInst &store) const
{
	const Value *pointer = store.getPointerOperand(), *value = store.getValueOperand();

	return !store.isVolatile() && !in_checked_mode(item) && !value->getType()->isVectorTy() &&
	       shape_of(pointer).kind == shape::UNIFORM && shape_of(value).kind != shape::UNIFORM;
}

/* Such a store leaves the value of the last active lane. */
void vectoriser::store_last(StoreInst &store)
{
	Value *all = vector(store.getValueOperand()), *bits = active_bits();
	Value *before = b.CreateBinaryIntrinsic(Intrinsic::ctlz, bits, b.getFalse());
	Value *last = b.CreateAnd(b.CreateNot(before), lanes - 1);
	Value *value = b.CreateExtractElement(all, last);
	Value *pointer = safe_pointer(scalar(store.getPointerOperand()), some_lane());
	StoreInst *made = b.CreateAlignedStore(value, pointer, store.getAlign());

	made->setMetadata(LLVMContext::MD_tbaa, store.getMetadata(LLVMContext::MD_tbaa));
}

/* Stores what is not the same for all lanes. */
void vectoriser::store_each(StoreInst &store)
{
	Value *pointer = store.getPointerOperand(), *value = store.getValueOperand();
	Type *type = value->getType();

	if (!store.isVolatile() && emit_store_elements(store))
		return;
	if (mask && has_one_address(store))
		return store_last(store);
	const bool contiguous = is_contiguous(pointer, type);
	const bool at_once = contiguous || can_store_reversed(pointer, type, store.getAlign());
	const bool scatters = can_scatter(type, store.getAlign()) &&
			      (mask || !is_linear(pointer));
	const bool chooses = mask ? can_choose(type) :
				    !is_linear(pointer) && has_cheap_lanes(pointer, type);
	if (store.isVolatile() || (!at_once && !scatters && !chooses)) {
		emit_lanes(store);
		return;
	}
	Value *all = vector(value);
	if (contiguous && mask) {
		Type *unit = masked_unit(type);
		const unsigned units = layout.getTypeSizeInBits(type) /
				       layout.getTypeSizeInBits(unit);
		all = b.CreateBitCast(all, FixedVectorType::get(unit, lanes * units));
	}
	store_lanes(store, all);
}

/*
 * A flag that work-items set on a condition: the store of a constant to one address. Most of them
 * find it set, and a store would take its cache line from the other units each time.
 */
static bool is_flag(const Instruction &inst)
{
	auto *store = dyn_cast<StoreInst>(&inst);
	auto *value = store ? dyn_cast<ConstantInt>(store->getValueOperand()) : nullptr;

	return value && store->isSimple() && store->getPointerAddressSpace() == GLOBAL &&
	       isPowerOf2_32(value->getBitWidth()) && value->getBitWidth() >= 8 &&
	       value->getBitWidth() <= std::min<uint64_t>(64, 8 * store->getAlign().value());
}

/* A uniform load or store. */
void vectoriser::emit_scalar_memory(Instruction &inst)
{
	const unsigned at = isa<LoadInst>(inst) ? 0 : 1;

	emit_scalar(inst);
	/* A store defines no value, but is found under its instruction. */
	auto *copy = cast<Instruction>(scalars[&inst]);
	copy->setMetadata(LLVMContext::MD_tbaa, inst.getMetadata(LLVMContext::MD_tbaa));
	copy->setMetadata(LLVMContext::MD_invariant_load,
			  inst.getMetadata(LLVMContext::MD_invariant_load));
	if (!mask) {
		tag_lane(*copy, 0);
		return;
	}
	b.SetInsertPoint(copy);
	Value *pointer = safe_pointer(copy->getOperand(at), some_lane());
	if (is_flag(inst)) {
		auto &store = *cast<StoreInst>(copy);
		Value *value = store.getValueOperand();
		LoadInst *now = b.CreateAlignedLoad(value->getType(), pointer, store.getAlign());

		now->setAtomic(AtomicOrdering::Unordered);	/* other units may set it */
		pointer = safe_pointer(pointer, b.CreateICmpNE(now, value));
	}
	copy->setOperand(at, pointer);
	b.SetInsertPoint(copy->getParent());
}

/* Can one atomic operation do those of all lanes? They are at one address, and in any order. */
bool vectoriser::can_merge(const Instruction &inst) const
{
	auto *rmw = dyn_cast<AtomicRMWInst>(&inst);

	if (!rmw || rmw->isVolatile() || !rmw->getType()->isIntegerTy() ||
	    shape_of(rmw->getPointerOperand()).kind != shape::UNIFORM)
		return false;
	switch (rmw->getOperation()) {
	case AtomicRMWInst::Add:
		return true;
	case AtomicRMWInst::And:
	case AtomicRMWInst::Or:
	case AtomicRMWInst::Xor:
	case AtomicRMWInst::Max:
	case AtomicRMWInst::Min:
	case AtomicRMWInst::UMax:
	case AtomicRMWInst::UMin:
		return rmw->use_empty();
	default:
		return false;
	}
}

/* For each lane the sum of @values of the lanes before it. */
Value *vectoriser::sum_before(Value *values)
{
	Value *zero = Constant::getNullValue(values->getType()), *sum = values;

	for (unsigned step = 1; step < lanes; step *= 2) {
		SmallVector<int> pick;

		for (unsigned i = 0; i < lanes; i++)
			pick.push_back(i < step ? lanes : i - step);
		sum = b.CreateAdd(sum, b.CreateShuffleVector(sum, zero, pick));
	}
	return b.CreateSub(sum, values);
}

static Value *reduce(IRBuilder<> &b, AtomicRMWInst::BinOp operation, Value *values)
{
	switch (operation) {
	case AtomicRMWInst::Add:
		return b.CreateAddReduce(values);
	case AtomicRMWInst::And:
		return b.CreateAndReduce(values);
	case AtomicRMWInst::Or:
		return b.CreateOrReduce(values);
	case AtomicRMWInst::Xor:
		return b.CreateXorReduce(values);
	case AtomicRMWInst::Max:
	case AtomicRMWInst::Min:
		return operation == AtomicRMWInst::Max ? b.CreateIntMaxReduce(values, true) :
							 b.CreateIntMinReduce(values, true);
	default:
		return operation == AtomicRMWInst::UMax ? b.CreateIntMaxReduce(values) :
							  b.CreateIntMinReduce(values);
	}
}

/* An operand that changes nothing */
static APInt neutral(AtomicRMWInst::BinOp operation, unsigned bits)
{
	switch (operation) {
	case AtomicRMWInst::And:
	case AtomicRMWInst::UMin:
		return APInt::getAllOnes(bits);
	case AtomicRMWInst::Max:
		return APInt::getSignedMinValue(bits);
	case AtomicRMWInst::Min:
		return APInt::getSignedMaxValue(bits);
	default:
		return APInt::getZero(bits);
	}
}

/* One operation for all active lanes, whose results are those of one lane after the other. */
Value *vectoriser::emit_merged(AtomicRMWInst &rmw)
{
	const AtomicRMWInst::BinOp operation = rmw.getOperation();
	Value *values = vector(rmw.getValOperand()), *none;
	BasicBlock *before = nullptr, *after = nullptr;
	auto *copy = cast<AtomicRMWInst>(rmw.clone());

	none = ConstantInt::get(values->getType(),
				neutral(operation, rmw.getType()->getIntegerBitWidth()));
	if (mask) {
		BasicBlock *now = BasicBlock::Create(out->getContext(), "merged", out);

		values = b.CreateSelect(mask, values, none);
		after = BasicBlock::Create(out->getContext(), "next", out);
		before = b.GetInsertBlock();
		b.CreateCondBr(any(mask), now, after);
		b.SetInsertPoint(now);
	}
	copy->setOperand(0, scalar(rmw.getPointerOperand()));
	copy->setOperand(1, reduce(b, operation, values));
	copy->dropUnknownNonDebugMetadata({ LLVMContext::MD_tbaa });
	b.Insert(copy);
	Value *old = copy;
	if (mask) {
		BasicBlock *now = b.GetInsertBlock();

		b.CreateBr(after);
		b.SetInsertPoint(after);
		PHINode *phi = b.CreatePHI(rmw.getType(), 2);
		phi->addIncoming(Constant::getNullValue(rmw.getType()), before);
		phi->addIncoming(copy, now);
		old = phi;
	}
	if (rmw.use_empty())
		return PoisonValue::get(values->getType());
	return b.CreateAdd(splat(old), sum_before(values));
}

/* Replicates the instruction for each lane; returns the vector of results. */
Value *vectoriser::emit_lanes(Instruction &inst)
{
	const bool memory = isa<LoadInst>(inst) || isa<StoreInst>(inst) ||
			    isa<AtomicRMWInst>(inst) || isa<AtomicCmpXchgInst>(inst);
	/* A locked operation on scratch memory costs more than a branch. */
	const bool branch = mask && (isa<CallBase>(inst) ? needs_lanes(inst) : is_locked(inst));
	const unsigned at = isa<StoreInst>(inst) ? 1 : 0;
	const bool linear = memory && is_linear(inst.getOperand(at));
	Type *type = inst.getType();
	const bool freezes = isa<LoadInst>(inst) && can_gather(type, Align(1));
	Value *all = type->isVoidTy() ? nullptr : PoisonValue::get(widen(type));

	SmallVector<Value *> pointers;
	if (linear)
		pointers = linear_pointers(inst.getOperand(at));
	for (unsigned i = 0; i < lanes; i++) {
		Value *runs = mask ? is_active(i) : nullptr;
		BasicBlock *before = nullptr, *after = nullptr;
		Instruction *copy = inst.clone();

		if (branch) {
			BasicBlock *now = BasicBlock::Create(out->getContext(), "lane", out);

			after = BasicBlock::Create(out->getContext(), "next", out);
			before = b.GetInsertBlock();
			b.CreateCondBr(runs, now, after);
			b.SetInsertPoint(now);
		}
		for (unsigned o = 0; o < inst.getNumOperands(); o++) {
			Value *operand = inst.getOperand(o);
			if (linear && o == at)
				copy->setOperand(o, pointers[i]);
			else if (!isa<Function>(operand) && !isa<MetadataAsValue>(operand))
				copy->setOperand(o, lane(operand, i));
		}
		if (memory && mask && !branch)
			copy->setOperand(at, safe_pointer(copy->getOperand(at), runs));
		if (mask && is_faulting_division(inst))
			copy->setOperand(1, b.CreateSelect(runs, copy->getOperand(1),
							   ConstantInt::get(type, 1)));
		copy->dropUnknownNonDebugMetadata({ LLVMContext::MD_tbaa, LLVMContext::MD_fpmath,
						    LLVMContext::MD_invariant_load });
		/* A function that was too large to be inlined once (flatten.cc) */
		if (auto *call = dyn_cast<CallInst>(copy))
			call->setIsNoInline();
		b.Insert(copy);
		if (memory)
			tag_lane(*copy, i);
		Value *next = all ? insert_lane(all, freezes ? b.CreateFreeze(copy) : copy, i) :
				    nullptr;
		if (branch) {
			BasicBlock *now = b.GetInsertBlock();

			b.CreateBr(after);
			b.SetInsertPoint(after);
			if (all) {
				PHINode *phi = b.CreatePHI(all->getType(), 2);
				phi->addIncoming(all, before);
				phi->addIncoming(next, now);
				next = phi;
			}
		}
		all = next;
	}
	return all;
}
