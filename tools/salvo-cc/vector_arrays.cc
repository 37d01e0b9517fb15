// SPDX-License-Identifier: MIT
/*
 * vector_arrays.cc - the layout of private arrays: element after element, each of all lanes
 *
 * Lane after lane, an element with the same index in all lanes would be gathered and scattered. So
 * the lanes of an element are made neighbours, where all accesses are of whole elements:
 *
 *	float v[65];			v[65][lanes]
 *	v[k] = .5f * v[k + 1]		lane i: v[k * lanes + i] = .5f * v[(k + 1) * lanes + i]
 *
 * An array that no access indexes alike in all lanes, as the counters of a histogram, stays as it
 * is: one lane after the other uses fewer lines of the cache then.
 */
#include "items.h"
#include "vectoriser.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/Target/TargetMachine.h>

using namespace llvm;

static const char layout_kind[] = "salvo.interleaved";

/* Elements up to which memset() becomes a store of each */
static const uint64_t max_set = 64;

uint64_t vectoriser::interleaved_bytes(const AllocaInst &alloca)
{
	MDNode *node = alloca.getMetadata(layout_kind);

	return node ? mdconst::extract<ConstantInt>(node->getOperand(0))->getZExtValue() : 0;
}

struct vectoriser::private_uses {
	SmallVector<GetElementPtrInst *> geps;
	SmallVector<Instruction *> accesses;
	SmallVector<MemSetInst *> sets;
	SmallVector<Instruction *> ends;	/* of its lifetime */
};

/* False if @pointer has other uses than these. */
bool vectoriser::find_private_uses(Value &pointer, private_uses &uses)
{
	for (User *user : pointer.users()) {
		auto *inst = cast<Instruction>(user);
		auto *set = dyn_cast<MemSetInst>(inst);

		if (auto *gep = dyn_cast<GetElementPtrInst>(inst)) {
			if (gep->getType()->isVectorTy() || !find_private_uses(*gep, uses))
				return false;
			uses.geps.push_back(gep);
		} else if (getLoadStorePointerOperand(inst) == &pointer) {
			auto *store = dyn_cast<StoreInst>(inst);

			if (inst->isAtomic() || inst->isVolatile() ||
			    (store && store->getValueOperand() == &pointer))
				return false;
			uses.accesses.push_back(inst);
		} else if (set && !set->isVolatile() && set->getRawDest() == &pointer) {
			uses.sets.push_back(set);
		} else if (inst->isLifetimeStartOrEnd()) {
			uses.ends.push_back(inst);
		} else {
			return false;
		}
	}
	return true;
}

/* The size of the elements that all accesses are of, or 0. */
uint64_t vectoriser::element_size(const private_uses &uses) const
{
	uint64_t bytes = 0;
	auto is_whole = [&](const APInt &offset) { return offset.urem(bytes) == 0; };

	for (Instruction *access : uses.accesses) {
		Type *type = getLoadStoreType(access);
		const TypeSize bits = layout.getTypeSizeInBits(type);
		const uint64_t size = layout.getTypeAllocSize(type).getFixedValue();

		if (size * 8 != bits.getFixedValue() || (bytes && size != bytes) ||
		    type->getScalarType()->isPointerTy() || type->getScalarSizeInBits() % 8)
			return 0;
		bytes = size;
	}
	if (!isPowerOf2_64(bytes))
		return 0;
	for (GetElementPtrInst *gep : uses.geps) {
		MapVector<Value *, APInt> parts;
		APInt constant(64, 0);

		if (!gep->collectOffset(layout, 64, parts, constant) || !is_whole(constant))
			return 0;
		for (auto &[index, scale] : parts)
			if (!is_whole(scale))
				return 0;
	}
	for (MemSetInst *set : uses.sets) {
		auto *length = dyn_cast<ConstantInt>(set->getLength());

		if (!length || !isa<ConstantInt>(set->getValue()) || bytes > 8 ||
		    !is_whole(length->getValue()) ||
		    length->getZExtValue() / bytes > max_set)
			return 0;
	}
	return bytes;
}

void vectoriser::interleave(AllocaInst &alloca, const private_uses &uses, uint64_t bytes)
{
	LLVMContext &context = alloca.getContext();
	Type *element = b.getIntNTy(8 * bytes);

	for (MemSetInst *set : uses.sets) {
		const uint64_t count =
			cast<ConstantInt>(set->getLength())->getZExtValue() / bytes;
		const APInt &byte = cast<ConstantInt>(set->getValue())->getValue();

		b.SetInsertPoint(set);
		for (uint64_t i = 0; i < count; i++)
			b.CreateAlignedStore(b.getInt(APInt::getSplat(8 * bytes, byte)),
					     b.CreateConstGEP1_64(element, set->getRawDest(),
								  i * lanes),
					     Align(bytes));
		set->eraseFromParent();
	}
	for (GetElementPtrInst *gep : uses.geps) {
		MapVector<Value *, APInt> parts;
		APInt constant(64, 0);

		gep->collectOffset(layout, 64, parts, constant);
		b.SetInsertPoint(gep);
		Value *sum = b.getInt64(constant.getSExtValue() / (int64_t)bytes * lanes);
		for (auto &[index, scale] : parts) {
			Value *wide = b.CreateSExtOrTrunc(index, b.getInt64Ty());
			const int64_t step = scale.getSExtValue() / (int64_t)bytes * lanes;

			sum = b.CreateAdd(b.CreateMul(wide, b.getInt64(step)), sum);
		}
		gep->replaceAllUsesWith(b.CreateGEP(element, gep->getPointerOperand(), sum));
		gep->eraseFromParent();
	}
	for (Instruction *access : uses.accesses) {
		const Align align = std::min(getLoadStoreAlignment(access), Align(bytes));

		if (auto *load = dyn_cast<LoadInst>(access))
			load->setAlignment(align);
		else
			cast<StoreInst>(access)->setAlignment(align);
	}
	for (Instruction *end : uses.ends)
		end->eraseFromParent();
	alloca.setMetadata(layout_kind, MDNode::get(context, {
		ConstantAsMetadata::get(b.getInt64(bytes)) }));
}

SmallVector<AllocaInst *> vectoriser::private_arrays() const
{
	SmallVector<AllocaInst *> arrays;

	for (Instruction &inst : item.getEntryBlock())
		if (auto *alloca = dyn_cast<AllocaInst>(&inst))
			if (alloca->getAllocatedType()->isAggregateType())
				arrays.push_back(alloca);
	return arrays;
}

/* Do all lanes index it alike? */
bool vectoriser::is_alike(Instruction &access) const
{
	return shape_of(getLoadStorePointerOperand(&access)).kind == shape::STRIDED;
}

void vectoriser::interleave()
{
	const SmallVector<AllocaInst *> arrays = private_arrays();

	if (arrays.empty() || !prepare())
		return;
	for (AllocaInst *array : arrays) {
		private_uses uses;

		if (!find_private_uses(*array, uses) ||
		    none_of(uses.accesses, [&](Instruction *access) { return is_alike(*access); }))
			continue;
		if (const uint64_t bytes = element_size(uses))
			interleave(*array, uses, bytes);
	}
}

uint64_t vectoriser::gathered_bytes()
{
	uint64_t bytes = 0;

	if (!prepare())
		return UINT64_MAX;
	for (AllocaInst *array : private_arrays()) {
		private_uses uses;
		double alike = 0;

		if (find_private_uses(*array, uses) && element_size(uses))
			for (Instruction *access : uses.accesses)
				alike += is_alike(*access) ? times_of(*access->getParent()) :
							     -times_of(*access->getParent());
		if (alike <= 0)
			bytes += layout.getTypeAllocSize(array->getAllocatedType());
	}
	return bytes;
}

uint64_t gathered_bytes(Function &item, Argument &x, unsigned lanes, TargetMachine &target)
{
	const TargetTransformInfo costs = target.getTargetTransformInfo(item);

	return vectoriser(item, x, lanes, costs).gathered_bytes();
}

void interleave_arrays(Function &item, Argument &x, unsigned lanes, TargetMachine &target)
{
	const TargetTransformInfo costs = target.getTargetTransformInfo(item);

	vectoriser(item, x, lanes, costs).interleave();
}
