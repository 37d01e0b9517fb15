// SPDX-License-Identifier: MIT
/*
 * short_indices.cc - indices of gathers and scatters in 32 bits
 *
 * InstCombine computes in 64 bits what is extended to 64, if its operands are extended, too. Lanes
 * of such indices need twice the registers and two gathers, and come out of the vector one by one.
 * Where it shows that an index has 32 bits, as behind a mask, they are computed in these.
 *
 *	t[(zext(in[i]) * 3 + i) & 255]	t[zext((zext32(in[i]) * 3 + (int)i) & 255)]
 */
#include "short_indices.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/PatternMatch.h>

using namespace llvm;
using namespace llvm::PatternMatch;

/* Instructions between an index and what it is computed from */
static const unsigned deepest = 8;

static Type *with_words(Value *v)
{
	return v->getType()->getWithNewBitWidth(32);
}

/* Do the lower 32 bits of the operands of @inst decide about those of its result? */
static bool is_modular(const Instruction &inst)
{
	const APInt *amount;

	switch (inst.getOpcode()) {
	case Instruction::Add:
	case Instruction::Sub:
	case Instruction::Mul:
	case Instruction::And:
	case Instruction::Or:
	case Instruction::Xor:
		return true;
	case Instruction::Shl:
		return match(inst.getOperand(1), m_APInt(amount)) && amount->ult(32);
	default:
		return false;
	}
}

/* Is there an extension that gets shorter, or none at all? Each leaf else is cut off. */
static bool has_extension(Value *v, unsigned depth)
{
	auto *inst = dyn_cast<Instruction>(v);
	Value *from;

	if (match(v, m_ZExtOrSExt(m_Value(from))))
		return from->getType()->getScalarSizeInBits() <= 32;
	return inst && depth < deepest && is_modular(*inst) &&
	       any_of(inst->operands(), [&](Value *of) { return has_extension(of, depth + 1); });
}

Value *short_indices::lower_half(Value *v, unsigned depth)
{
	auto *inst = dyn_cast<Instruction>(v);
	Value *from, *scalar = const_cast<Value *>(getSplatValue(v));

	if (auto *constant = dyn_cast<Constant>(v))
		return ConstantExpr::getTrunc(constant, with_words(v));
	if (!inst)
		return nullptr;
	Value *&known = made[v];
	if (known)
		return known;
	IRBuilder<> b(inst->getContext());
	if (auto after = inst->getInsertionPointAfterDef())
		b.SetInsertPoint(*after);
	else
		return nullptr;
	if (scalar)
		return known = b.CreateVectorSplat(
			cast<FixedVectorType>(v->getType())->getNumElements(),
			b.CreateTrunc(scalar, b.getInt32Ty()));
	if (match(v, m_ZExtOrSExt(m_Value(from))) && from->getType()->getScalarSizeInBits() <= 32)
		return known = isa<ZExtInst>(v) ? b.CreateZExt(from, with_words(v)) :
						  b.CreateSExt(from, with_words(v));
	if (depth == deepest || !is_modular(*inst))
		return known = b.CreateTrunc(v, with_words(v));
	Value *first = lower_half(inst->getOperand(0), depth + 1);
	Value *second = lower_half(inst->getOperand(1), depth + 1);
	if (!first || !second)
		return nullptr;
	return made[v] = b.CreateBinOp((Instruction::BinaryOps)inst->getOpcode(), first, second);
}

void short_indices::shorten(Value *pointers)
{
	auto *gep = dyn_cast<GetElementPtrInst>(pointers);
	auto *index = gep ? dyn_cast<Instruction>(last_index(*gep)) : nullptr;

	if (!index || !index->getType()->isVectorTy() || !is_modular(*index) ||
	    index->getType()->getScalarSizeInBits() != 64 || !has_extension(index, 0))
		return;
	const DataLayout &layout = index->getDataLayout();
	const bool is_positive = computeKnownBits(index, layout).countMinLeadingZeros() > 32;
	if (!is_positive && ComputeNumSignBits(index, layout) <= 32)
		return;
	Value *low = lower_half(index, 0);
	if (!low)
		return;
	IRBuilder<> b(gep);
	std::prev(gep->idx_end())->set(is_positive ? b.CreateZExt(low, index->getType()) :
						     b.CreateSExt(low, index->getType()));
}
