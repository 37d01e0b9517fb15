// SPDX-License-Identifier: MIT
/*
 * vector_wraps.cc - loads of lanes that are neighbours, unless their index wraps around among them
 *
 * Images that continue at their other side, and rings, have indices with a mask that is the same
 * for all work-items:
 *
 *	in[y * width + ((x + 1) & (width - 1))]
 *
 * It is found out at run time whether what is left of them still follows on each other. Then one
 * load has all lanes; else they gather. Where the mask is a constant of lower bits, rows have
 * segments instead (quotients.cc).
 */
#include "places.h"
#include "vectoriser.h"

using namespace llvm;

/* Operations between an address and the masked index that it depends on */
static const unsigned max_depth = 6;

static bool keeps_distances(const Instruction &inst)
{
	return inst.getOpcode() == Instruction::Add || inst.getOpcode() == Instruction::Sub ||
	       ((isa<SExtInst>(inst) || isa<ZExtInst>(inst) || isa<TruncInst>(inst)) &&
		inst.getType()->getScalarSizeInBits() >= 32 &&
		inst.getOperand(0)->getType()->getScalarSizeInBits() >= 32);
}

/* Is @v, which varies, a masked index, or the sum of one and of what is the same for all lanes? */
bool vectoriser::is_masked_index(Value *v, unsigned depth) const
{
	auto *inst = dyn_cast<Instruction>(v);
	auto is = [&](const Value *of, auto kind) { return shape_of(of).kind == kind; };

	if (!inst || depth == max_depth || !is(v, shape::VARYING))
		return false;
	if (inst->getOpcode() == Instruction::And) {
		for (unsigned i = 0; i < 2; i++) {
			const shape s = shape_of(inst->getOperand(i));

			if (s.kind == shape::STRIDED && s.stride == 1 &&
			    is(inst->getOperand(1 - i), shape::UNIFORM) &&
			    !isa<Constant>(inst->getOperand(1 - i)))
				return true;
		}
		return false;
	}
	if (!keeps_distances(*inst))
		return false;
	if (inst->getOpcode() == Instruction::Sub && !is(inst->getOperand(1), shape::UNIFORM))
		return false;
	for (unsigned i = 0; i < inst->getNumOperands(); i++)
		if (inst->getNumOperands() == 1 || is(inst->getOperand(1 - i), shape::UNIFORM))
			return is_masked_index(inst->getOperand(i), depth + 1);
	return false;
}

/* The index of what @load loads, if it may be one load for all lanes, or NULL */
Value *vectoriser::find_wrap(const LoadInst &load) const
{
	auto *gep = dyn_cast<GetElementPtrInst>(load.getPointerOperand());
	Type *type = load.getType();

	if (!gep || type->isVectorTy() || type->isPointerTy() ||
	    shape_of(gep->getPointerOperand()).kind != shape::UNIFORM ||
	    layout.getTypeAllocSize(gep->getResultElementType()) != layout.getTypeStoreSize(type) ||
	    any_of(drop_end(gep->indices()), [&](Value *index) {
		    return shape_of(index).kind != shape::UNIFORM;
	    }))
		return nullptr;
	Value *index = *std::prev(gep->idx_end());
	return is_masked_index(index, 0) ? index : nullptr;
}

/* @v of lane 0, which depends on a masked index */
Value *vectoriser::lane_0(Value *v)
{
	auto *inst = dyn_cast<Instruction>(v);

	if (!inst || shape_of(v).kind != shape::VARYING)
		return scalar(v);
	Instruction *copy = inst->clone();
	for (Use &operand : copy->operands())
		operand.set(lane_0(operand));
	copy->dropPoisonGeneratingFlags();
	return b.Insert(copy);
}

/* Do the lanes of @index follow on each other, also in fewer bits, before it is extended? */
Value *vectoriser::are_neighbours(Value *index)
{
	auto *cast = dyn_cast<CastInst>(index);
	Value *number = cast ? cast->getOperand(0) : index;
	Value *first = lane_0(number), *last = ConstantInt::get(number->getType(), lanes - 1);
	SmallVector<Constant *> steps;

	for (unsigned i = 0; i < lanes; i++)
		steps.push_back(ConstantInt::get(number->getType(), i));
	Value *row = b.CreateAdd(splat(first), ConstantVector::get(steps));
	Value *all = b.CreateAndReduce(b.CreateICmpEQ(vector(number), row));
	if (!cast)
		return all;
	auto extend = [&](Value *v) {
		return b.CreateCast(cast->getOpcode(), v, cast->getType());
	};
	Value *end = b.CreateAdd(extend(first), extend(last));
	return b.CreateAnd(all, b.CreateICmpEQ(extend(b.CreateAdd(first, last)), end));
}

Value *vectoriser::load_wrap(LoadInst &load, Value *index)
{
	auto at_once = [&] {
		LoadInst *all = b.CreateAlignedLoad(widen(load.getType()),
						    lane_0(load.getPointerOperand()),
						    load.getAlign(), load.getName());
		all->setMetadata(LLVMContext::MD_tbaa, load.getMetadata(LLVMContext::MD_tbaa));
		all->setMetadata(LLVMContext::MD_invariant_load,
				 load.getMetadata(LLVMContext::MD_invariant_load));
		tag_row(*all, lanes);
		return all;
	};

	return emit_likely(are_neighbours(index), at_once, [&] { return load_apart(load); });
}
