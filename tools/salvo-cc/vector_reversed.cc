// SPDX-License-Identifier: MIT
/*
 * vector_reversed.cc - contiguous lanes in reverse order
 *
 * The last lane is the first in memory, as in in[n - 1 - x] or left[x] - right[x - disparity] where
 * disparity is the id. All are accessed at once from there, under the mask in reverse order too,
 * and what they load or store is reversed. Without a mask a load is one of lanes a step of -1 apart
 * (vector_memory.cc).
 */
#include "vectoriser.h"

using namespace llvm;

bool vectoriser::is_reversed(Value *pointer, Type *type) const
{
	const shape s = shape_of(pointer);

	return s.kind == shape::STRIDED && !type->isVectorTy() && !type->isPointerTy() &&
	       s.stride * 8 == -(int64_t)layout.getTypeSizeInBits(type).getFixedValue();
}

/* Without masks any vector is stored at once. */
bool vectoriser::can_store_reversed(Value *pointer, Type *type, Align align) const
{
	return is_reversed(pointer, type) &&
	       (!mask || target.isLegalMaskedStore(widen(type), align));
}

bool vectoriser::can_load_reversed(Value *pointer, Type *type, Align align) const
{
	return is_reversed(pointer, type) && target.isLegalMaskedLoad(widen(type), align);
}

/* The address of the last lane: @first is that of lane 0. */
Value *vectoriser::last_in_order(Value *first, Type *type)
{
	return b.CreateConstGEP1_64(type, first, 1 - (int64_t)lanes);
}

/* Under a mask */
Value *vectoriser::load_reversed(LoadInst &load)
{
	Type *wide = widen(load.getType());
	Value *last = last_in_order(masked_pointer(load.getPointerOperand()), load.getType());
	CallInst *made = b.CreateMaskedLoad(wide, last, load.getAlign(),
					    b.CreateVectorReverse(full(mask)),
					    Constant::getNullValue(wide), load.getName());

	made->setMetadata(LLVMContext::MD_tbaa, load.getMetadata(LLVMContext::MD_tbaa));
	return b.CreateVectorReverse(made);
}

/* @all: what the lanes store */
Instruction *vectoriser::store_reversed(StoreInst &store, Value *all)
{
	Type *type = store.getValueOperand()->getType();
	Value *last = last_in_order(scalar(store.getPointerOperand()), type);

	all = b.CreateVectorReverse(all);
	if (!mask)
		return b.CreateAlignedStore(all, last, store.getAlign());
	return b.CreateMaskedStore(all, last, store.getAlign(), b.CreateVectorReverse(full(mask)));
}
