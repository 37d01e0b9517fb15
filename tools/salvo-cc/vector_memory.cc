// SPDX-License-Identifier: MIT
/*
 * vector_memory.cc - loads, stores and operations that are replicated for each lane
 *
 * Contiguous lanes are one wide access, with a mask if not all of them are
 * active. Others are a gather or a scatter where the target has those (AVX-512), else one
 * access for each lane. There an inactive lane uses a scratch buffer, which is cheaper than a
 * branch; only calls are branched around.
 *
 * Private arrays are laid out lane after lane. Atomic operations keep the order of the lanes.
 */
#include "places.h"
#include "agree.h"
#include "vectoriser.h"

using namespace llvm;

bool vectoriser::needs_lanes(const Instruction &inst)
{
	if (isa<LoadInst>(inst))
		return cast<LoadInst>(inst).isAtomic() || cast<LoadInst>(inst).isVolatile();
	if (is_agreement(inst))
		return false;
	/* Inactive lanes must not call a function, whatever it does. */
	if (isa<CallBase>(inst) && (inst.mayReadOrWriteMemory() || !isa<IntrinsicInst>(inst)))
		return true;
	return inst.mayHaveSideEffects() && !isa<FenceInst>(inst);
}

/* @pointer if @condition, else the scratch buffer. */
Value *vectoriser::safe_pointer(Value *pointer, Value *condition)
{
	return b.CreateSelect(condition, pointer,
			      b.CreateAddrSpaceCast(nowhere, pointer->getType()));
}

void vectoriser::emit_alloca(AllocaInst &alloca)
{
	IRBuilder<> at(start[order[0]], start[order[0]]->begin());
	AllocaInst *all = at.CreateAlloca(ArrayType::get(private_type(alloca), lanes), nullptr,
					  alloca.getName());

	all->setAlignment(std::max(alloca.getAlign(), Align(32)));
	scalars[&alloca] = all;
}

/* Are the lanes contiguous in memory? */
bool vectoriser::is_contiguous(Value *pointer, Type *type) const
{
	shape s = shape_of(pointer);
	TypeSize bits = layout.getTypeSizeInBits(type);

	if (s.kind != shape::STRIDED || type->getScalarType()->isPointerTy() ||
	    type->getScalarSizeInBits() % 8)
		return false;
	return s.stride > 0 && (uint64_t)s.stride * 8 == bits.getFixedValue();
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

Value *vectoriser::emit_load(LoadInst &load)
{
	Type *type = load.getType(), *wide = widen(type);
	Value *pointer = load.getPointerOperand();
	Instruction *made;

	if (!is_contiguous(pointer, type)) {
		if (!can_gather(type, load.getAlign()))
			return emit_lanes(load);
		made = b.CreateMaskedGather(wide, vector(pointer), load.getAlign(), full(mask),
					    Constant::getNullValue(wide), load.getName());
	} else if (!mask) {
		made = b.CreateAlignedLoad(wide, scalar(pointer), load.getAlign(), load.getName());
		tag_row(*made, lanes);
	} else {
		Type *unit = masked_unit(type);
		unsigned units = layout.getTypeSizeInBits(type) / layout.getTypeSizeInBits(unit);
		Type *as = FixedVectorType::get(unit, lanes * units);
		made = b.CreateMaskedLoad(as, scalar(pointer), load.getAlign(),
					  repeat_mask(mask, units), Constant::getNullValue(as));
	}
	made->setMetadata(LLVMContext::MD_tbaa, load.getMetadata(LLVMContext::MD_tbaa));
	made->setMetadata(LLVMContext::MD_invariant_load,
			  load.getMetadata(LLVMContext::MD_invariant_load));
	return b.CreateBitCast(made, wide);
}

void vectoriser::emit_store(StoreInst &store)
{
	Value *pointer = store.getPointerOperand(), *value = store.getValueOperand();
	Type *type = value->getType();
	const bool same = shape_of(pointer).kind == shape::UNIFORM &&
			  shape_of(value).kind == shape::UNIFORM;
	Instruction *made;

	if (same && !store.isVolatile()) {
		emit_scalar_memory(store);
		return;
	}
	const bool contiguous = is_contiguous(pointer, type);
	if (store.isVolatile() || (!contiguous && !can_scatter(type, store.getAlign()))) {
		emit_lanes(store);
		return;
	}
	Value *all = vector(value);
	if (!contiguous) {
		made = b.CreateMaskedScatter(all, vector(pointer), store.getAlign(), full(mask));
	} else if (!mask) {
		made = b.CreateAlignedStore(all, scalar(pointer), store.getAlign());
		tag_row(*made, lanes);
	} else {
		Type *unit = masked_unit(type);
		unsigned units = layout.getTypeSizeInBits(type) / layout.getTypeSizeInBits(unit);
		all = b.CreateBitCast(all, FixedVectorType::get(unit, lanes * units));
		made = b.CreateMaskedStore(all, scalar(pointer), store.getAlign(),
					   repeat_mask(mask, units));
	}
	made->setMetadata(LLVMContext::MD_tbaa, store.getMetadata(LLVMContext::MD_tbaa));
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
	if (!any_lane)
		any_lane = any(mask);
	copy->setOperand(at, safe_pointer(copy->getOperand(at), any_lane));
	b.SetInsertPoint(copy->getParent());
}

/* Replicates the instruction for each lane; returns the vector of results. */
Value *vectoriser::emit_lanes(Instruction &inst)
{
	const bool memory = isa<LoadInst>(inst) || isa<StoreInst>(inst) ||
			    isa<AtomicRMWInst>(inst) || isa<AtomicCmpXchgInst>(inst);
	const bool branch = mask && isa<CallBase>(inst) && needs_lanes(inst);
	const unsigned at = isa<StoreInst>(inst) ? 1 : 0;
	Type *type = inst.getType();
	Value *all = type->isVoidTy() ? nullptr : PoisonValue::get(widen(type));

	for (unsigned i = 0; i < lanes; i++) {
		Value *runs = mask ? b.CreateExtractElement(mask, i) : nullptr;
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
			if (!isa<Function>(operand) && !isa<MetadataAsValue>(operand))
				copy->setOperand(o, lane(operand, i));
		}
		if (memory && mask)
			copy->setOperand(at, safe_pointer(copy->getOperand(at), runs));
		if (mask && inst.isIntDivRem())
			copy->setOperand(1, b.CreateSelect(runs, copy->getOperand(1),
							   ConstantInt::get(type, 1)));
		copy->dropUnknownNonDebugMetadata({ LLVMContext::MD_tbaa, LLVMContext::MD_fpmath });
		b.Insert(copy);
		if (memory)
			tag_lane(*copy, i);
		Value *next = all ? insert_lane(all, copy, i) : nullptr;
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
