// SPDX-License-Identifier: MIT
/*
 * vector_wraps.cc - loads of lanes that are neighbours, unless their row wraps around among them
 *
 * Images that continue at their other side, and rings, have indices with a mask that is the same
 * for all work-items:
 *
 *	in[y * width + ((x + 1) & (width - 1))]
 *
 * It is found out at run time whether what is left of them still follows on each other. Then one
 * load has all lanes; else they gather. Where the mask is a constant of lower bits, rows have segments
 * instead (quotients.cc).
 */
#include "vectoriser.h"

#include <llvm/IR/MDBuilder.h>

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

/* The masked index of which @v, which varies, is the sum with what is the same for all, or NULL */
Instruction *vectoriser::find_masked_index(Value *v, unsigned depth) const
{
	auto *inst = dyn_cast<Instruction>(v);
	auto is = [&](const Value *of, auto kind) { return shape_of(of).kind == kind; };

	if (!inst || depth == max_depth || !is(v, shape::VARYING))
		return nullptr;
	if (inst->getOpcode() == Instruction::And) {
		for (unsigned i = 0; i < 2; i++) {
			const shape s = shape_of(inst->getOperand(i));

			if (s.kind == shape::STRIDED && s.stride == 1 &&
			    is(inst->getOperand(1 - i), shape::UNIFORM) &&
			    !isa<Constant>(inst->getOperand(1 - i)))
				return inst;
		}
		return nullptr;
	}
	if (!keeps_distances(*inst))
		return nullptr;
	if (inst->getOpcode() == Instruction::Sub && !is(inst->getOperand(1), shape::UNIFORM))
		return nullptr;
	for (unsigned i = 0; i < inst->getNumOperands(); i++)
		if (inst->getNumOperands() == 1 || is(inst->getOperand(1 - i), shape::UNIFORM))
			return find_masked_index(inst->getOperand(i), depth + 1);
	return nullptr;
}

/* That of what @load loads, if it may be one load for all lanes, or NULL */
Instruction *vectoriser::find_wrap(const LoadInst &load) const
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
	return find_masked_index(*std::prev(gep->idx_end()), 0);
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

Value *vectoriser::load_wrap(LoadInst &load, Instruction &index)
{
	LLVMContext &context = b.getContext();
	BasicBlock *near = BasicBlock::Create(context, "neighbours", out);
	BasicBlock *far = BasicBlock::Create(context, "wrapped", out);
	BasicBlock *next = BasicBlock::Create(context, "loaded", out);
	SmallVector<Constant *> steps;

	for (unsigned i = 0; i < lanes; i++)
		steps.push_back(ConstantInt::get(index.getType(), i));
	Value *follow = b.CreateAdd(splat(lane_0(&index)), ConstantVector::get(steps));
	b.CreateCondBr(b.CreateAndReduce(b.CreateICmpEQ(vector(&index), follow)), near, far,
		       MDBuilder(context).createLikelyBranchWeights());
	b.SetInsertPoint(near);
	LoadInst *all = b.CreateAlignedLoad(widen(load.getType()),
					    lane_0(load.getPointerOperand()),
					    load.getAlign(), load.getName());
	all->setMetadata(LLVMContext::MD_tbaa, load.getMetadata(LLVMContext::MD_tbaa));
	b.CreateBr(next);
	b.SetInsertPoint(far);
	Value *some = load_apart(load);
	far = b.GetInsertBlock();
	b.CreateBr(next);
	b.SetInsertPoint(next);
	PHINode *made = b.CreatePHI(all->getType(), 2);
	made->addIncoming(all, near);
	made->addIncoming(some, far);
	return made;
}
