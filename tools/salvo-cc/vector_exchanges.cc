// SPDX-License-Identifier: MIT
/*
 * vector_exchanges.cc - loads of lanes that exchange elements
 *
 *	other = shared[local_id ^ distance]
 *
 * Sorting networks, butterflies and reductions have such indices, where the distance is the same
 * for all work-items. If the lanes begin at a multiple of their number, they load the elements of
 * one aligned block in another order: the block is loaded at once, and permuted. Else they gather.
 *
 * Not all elements of the block are loaded if some lanes are inactive. Those may be in a page that
 * is not there, unless the block is in one page, of which an active lane loads.
 */
#include "vectoriser.h"

using namespace llvm;

static bool is_sum(const Value *v)
{
	auto *inst = dyn_cast<BinaryOperator>(v);

	return inst && (inst->getOpcode() == Instruction::Add ||
			inst->getOpcode() == Instruction::Sub);
}

/*
 * The exclusive or in the index of @load, or NULL. What is added to it may make it wrap around
 * before it is extended for the last time (extends_in_step()), but not earlier.
 */
Instruction *vectoriser::find_exchange(const LoadInst &load) const
{
	Type *type = load.getType();

	if (load.getPointerAddressSpace() != LOCAL || in_checked_mode(item) || !permuted_words() ||
	    lanes < permuted_words() || !(type->isIntegerTy(32) || type->isFloatTy()))
		return nullptr;
	Instruction *exchange = inner_index(load, Instruction::Xor);
	if (!exchange || any_of(exchange->operands(), [&](Value *v) {
		    return shape_of(v).address_only;
	    }))
		return nullptr;
	Value *v = last_index(cast<GetElementPtrInst>(*load.getPointerOperand()));
	if (auto *cast = dyn_cast<CastInst>(v))
		v = cast->getOperand(0);
	while (is_sum(v)) {
		auto *sum = cast<Instruction>(v);

		v = sum->getOperand(shape_of(sum->getOperand(0)).kind == shape::UNIFORM ? 1 : 0);
	}
	while (auto *cast = dyn_cast<CastInst>(v))
		v = cast->getOperand(0);
	return v == exchange ? exchange : nullptr;
}

/* Elements of 32 bits, whose index has @exchange */
Value *vectoriser::load_exchange(LoadInst &load, Instruction &exchange)
{
	const bool swapped = shape_of(exchange.getOperand(0)).kind == shape::UNIFORM;
	Value *index = last_index(cast<GetElementPtrInst>(*load.getPointerOperand()));
	Value *id = scalar(exchange.getOperand(swapped ? 1 : 0));
	Value *distance = scalar(exchange.getOperand(swapped ? 0 : 1));
	Type *number = b.getInt32Ty();

	auto within = [&](Value *v) { return b.CreateAnd(b.CreateTrunc(v, number), lanes - 1); };
	/* How far lane 0 is from the beginning of the block */
	Value *low = within(distance);
	Value *fits = b.CreateICmpEQ(within(id), ConstantInt::get(number, 0));
	if (auto *cast = dyn_cast<CastInst>(index)) {
		Value *first = lane_0(cast->getOperand(0));

		first = b.CreateSub(first, b.CreateZExtOrTrunc(low, first->getType()));
		fits = b.CreateAnd(fits, extends_in_step(*cast, first));
	}
	Value *block = b.CreateGEP(load.getType(), lane_0(load.getPointerOperand()),
				   b.CreateNeg(b.CreateZExt(low, b.getInt64Ty())));
	if (mask)
		fits = b.CreateAnd(b.CreateAnd(fits, is_in_page(block, lanes)), some_lane());
	auto at_once = [&] {
		Value *pick = b.CreateXor(steps(number), splat(low));

		return b.CreateBitCast(pick_words(block, lanes, pick), widen(load.getType()));
	};
	return emit_likely(fits, at_once, [&] { return load_apart(load); });
}
