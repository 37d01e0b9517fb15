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

/*
 * What the lanes of @v, which varies, differ by: an @opcode of lanes that follow on each other and
 * of what is the same for all of them, or NULL
 */
Instruction *vectoriser::inner_index(Value *v, unsigned opcode, unsigned depth) const
{
	auto *inst = dyn_cast<Instruction>(v);
	auto is = [&](const Value *of, auto kind) { return shape_of(of).kind == kind; };

	if (!inst || depth == max_depth || !is(v, shape::VARYING))
		return nullptr;
	if (inst->getOpcode() == opcode) {
		for (unsigned i = 0; i < 2; i++) {
			const shape s = shape_of(inst->getOperand(i));

			if (s.kind == shape::STRIDED && s.stride == 1 &&
			    is(inst->getOperand(1 - i), shape::UNIFORM))
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
			return inner_index(inst->getOperand(i), opcode, depth + 1);
	return nullptr;
}

/* That of the index of what @load loads, if it may be one load for all lanes */
Instruction *vectoriser::inner_index(const LoadInst &load, unsigned opcode) const
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
	return inner_index(last_index(*gep), opcode);
}

/* Has @load a masked index, which its lanes need not wrap around at? */
bool vectoriser::is_wrap(const LoadInst &load) const
{
	Instruction *index = inner_index(load, Instruction::And);

	return index && !isa<Constant>(index->getOperand(0)) &&
	       !isa<Constant>(index->getOperand(1));
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

/* Do @first and the numbers that follow on it for the other lanes do so, too, after @cast? */
Value *vectoriser::extends_in_step(CastInst &cast, Value *first)
{
	Value *last = b.CreateAdd(first, ConstantInt::get(first->getType(), lanes - 1));
	auto extend = [&](Value *v) {
		return b.CreateCast(cast.getOpcode(), v, cast.getType());
	};
	Value *end = b.CreateAdd(extend(first), ConstantInt::get(cast.getType(), lanes - 1));

	return b.CreateICmpEQ(extend(last), end);
}

/* Do the lanes of @index follow on each other, also in fewer bits, before it is extended? */
Value *vectoriser::are_neighbours(Value *index)
{
	auto *cast = dyn_cast<CastInst>(index);
	Value *number = cast ? cast->getOperand(0) : index, *first = lane_0(number);
	Value *row = b.CreateAdd(splat(first), steps(number->getType()));
	Value *all = b.CreateAndReduce(b.CreateICmpEQ(vector(number), row));

	return cast ? b.CreateAnd(all, extends_in_step(*cast, first)) : all;
}

Value *vectoriser::load_wrap(LoadInst &load)
{
	Value *index = last_index(cast<GetElementPtrInst>(*load.getPointerOperand()));
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
