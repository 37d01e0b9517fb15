// SPDX-License-Identifier: MIT
/*
 * vector_linear.cc - addresses that are the same distance apart from lane to lane
 *
 * Strides that are known when the kernel is compiled are shapes (vector_shape.cc). Others are
 * values of the kernel, such as the height of a matrix that is transposed:
 *
 *	out[x * h + y] = v	at = out + x * h + y
 *				at[0] = v[0], at[h] = v[1], at[2 * h] = v[2]
 *
 * Where lanes are accessed one after the other, adding to a scalar is cheaper than taking each
 * address out of a vector. An index of 32 bits is added up in 32 bits, where it may wrap around,
 * and extended for each lane.
 */
#include "vectoriser.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/PatternMatch.h>

using namespace llvm;

/* Operations from an index to what it is computed from */
static const unsigned max_depth = 8;

/* The index of lane 0, how much is added for each lane (NULL: nothing), and what it is part of */
struct vectoriser::linear {
	Value *first = nullptr, *step = nullptr;
	Value *base = nullptr;
	extension how = NONE;
	int64_t size = 0;
};

Value *vectoriser::extended(Value *v, extension how)
{
	return how == SIGNED ? b.CreateSExt(v, b.getInt64Ty()) :
	       how == UNSIGNED ? b.CreateZExt(v, b.getInt64Ty()) : v;
}

/* An operation on operands that are linear, of which one is the same for all lanes in a product */
static bool is_linear_operation(const Instruction &inst)
{
	return inst.getOpcode() == Instruction::Add || inst.getOpcode() == Instruction::Sub ||
	       inst.getOpcode() == Instruction::Mul ||
	       (inst.getOpcode() == Instruction::Shl && isa<ConstantInt>(inst.getOperand(1)));
}

/*
 * Is @v linear? If so, and @made exists, it is computed at the insertion point. @how says how an
 * integer of 32 bits will be extended, NONE that it has 64.
 */
bool vectoriser::find_linear(Value *v, extension how, unsigned depth, linear *made)
{
	const shape s = shape_of(v);
	auto *inst = dyn_cast<Instruction>(v);
	Value *inverted;

	if (!v->getType()->isIntegerTy(how == NONE ? 64 : 32))
		return false;
	if (s.kind != shape::VARYING) {
		if (made) {
			made->first = scalar(v);
			made->step = s.kind == shape::STRIDED ?
				     ConstantInt::get(v->getType(), s.stride, true) : nullptr;
		}
		return true;
	}
	if (!inst || !depth)
		return false;
	if (PatternMatch::match(v, PatternMatch::m_Not(PatternMatch::m_Value(inverted)))) {
		if (!find_linear(inverted, how, depth - 1, made))
			return false;
		if (made) {
			made->first = b.CreateNot(made->first);
			made->step = made->step ? b.CreateNeg(made->step) : nullptr;
		}
		return true;
	}
	if (!is_linear_operation(*inst))
		return false;
	Value *left = inst->getOperand(0), *right = inst->getOperand(1);
	const bool is_product = inst->getOpcode() == Instruction::Mul ||
				inst->getOpcode() == Instruction::Shl;
	if (inst->getOpcode() == Instruction::Mul && shape_of(right).kind != shape::UNIFORM)
		std::swap(left, right);
	if (is_product && shape_of(right).kind != shape::UNIFORM)
		return false;
	linear p, q;
	if (!find_linear(left, how, depth - 1, made ? &p : nullptr) ||
	    !find_linear(right, how, depth - 1, made ? &q : nullptr))
		return false;
	if (!made)
		return true;
	const auto opcode = (Instruction::BinaryOps)inst->getOpcode();
	Value *zero = ConstantInt::get(v->getType(), 0);
	made->first = b.CreateBinOp(opcode, p.first, q.first);
	made->step = is_product ? p.step : p.step || q.step ? p.step ? p.step : zero : nullptr;
	if (made->step)
		made->step = b.CreateBinOp(opcode, made->step,
					   is_product ? q.first : q.step ? q.step : zero);
	return true;
}

/* Is @gep as far from an address of each lane for all of them? */
bool vectoriser::is_offset_of_lanes(const GetElementPtrInst &gep) const
{
	return shape_of(gep.getPointerOperand()).kind == shape::VARYING &&
	       all_of(gep.indices(), [&](const Use &index) {
		       return shape_of(index).kind == shape::UNIFORM;
	       });
}

/* @pointer with the offset of @gep, whose indices are the same for all lanes */
Value *vectoriser::offset_by(Value *pointer, GetElementPtrInst &gep)
{
	SmallVector<Value *> indices;

	for (Value *index : gep.indices())
		indices.push_back(scalar(index));
	return b.CreateGEP(gep.getSourceElementType(), pointer, indices);
}

/* The same for @pointer, which no shape has been found for. */
bool vectoriser::find_linear_pointer(Value *pointer, linear *made)
{
	auto *gep = dyn_cast<GetElementPtrInst>(pointer);
	APInt offset(64, 0);
	MapVector<Value *, APInt> parts;
	extension how = NONE;

	if (!gep || gep->getType()->isVectorTy() || shape_of(pointer).kind != shape::VARYING)
		return false;
	if (is_offset_of_lanes(*gep)) {
		if (!find_linear_pointer(gep->getPointerOperand(), made))
			return false;
		if (made)
			made->base = offset_by(made->base, *gep);
		return true;
	}
	if (shape_of(gep->getPointerOperand()).kind != shape::UNIFORM ||
	    layout.getIndexTypeSizeInBits(gep->getType()) != 64 ||
	    !cast<GEPOperator>(gep)->collectOffset(layout, 64, parts, offset) || parts.size() != 1)
		return false;
	Value *index = parts.front().first;
	if (isa<SExtInst>(index) || isa<ZExtInst>(index)) {
		how = isa<SExtInst>(index) ? SIGNED : UNSIGNED;
		index = cast<Instruction>(index)->getOperand(0);
	}
	if (!find_linear(index, how, max_depth, made))
		return false;
	if (made) {
		made->how = how;
		made->size = parts.front().second.getSExtValue();
		made->base = b.CreateGEP(b.getInt8Ty(), scalar(gep->getPointerOperand()),
					 b.getInt64(offset.getSExtValue()));
	}
	return true;
}

bool vectoriser::is_linear(Value *pointer)
{
	return find_linear_pointer(pointer, nullptr);
}

Value *hidden_copy(IRBuilder<> &b, Value *v)
{
	auto *type = FunctionType::get(v->getType(), { v->getType() }, false);
	CallInst *copy = b.CreateCall(InlineAsm::get(type, "", "=r,0", false), { v });

	copy->setDoesNotThrow();
	copy->setDoesNotAccessMemory();
	return copy;
}

/* The addresses of all lanes of a linear @pointer */
SmallVector<Value *> vectoriser::linear_pointers(Value *pointer)
{
	SmallVector<Value *> all;
	linear at;

	find_linear_pointer(pointer, &at);
	/*
	 * Where LLVM sees that it counts in a loop it makes a counter of each lane's, and has
	 * registers for a few of them.
	 */
	at.first = hidden_copy(b, at.first);
	for (unsigned i = 0; i < lanes; i++) {
		Value *bytes = b.CreateMul(extended(at.first, at.how), b.getInt64(at.size));

		all.push_back(b.CreateGEP(b.getInt8Ty(), at.base, bytes));
		if (at.step)
			at.first = b.CreateAdd(at.first, at.step);
	}
	return all;
}

/* The addresses of all lanes, as scalars. What they have in common is added to the scalars. */
SmallVector<Value *> vectoriser::lane_pointers(Value *pointer)
{
	auto *gep = dyn_cast<GetElementPtrInst>(pointer);
	SmallVector<Value *> all;

	if (is_linear(pointer))
		return linear_pointers(pointer);
	if (gep && is_offset_of_lanes(*gep)) {
		all = lane_pointers(gep->getPointerOperand());
		for (Value *&one : all)
			one = offset_by(one, *gep);
		return all;
	}
	for (unsigned i = 0; i < lanes; i++)
		all.push_back(lane(pointer, i));
	return all;
}
