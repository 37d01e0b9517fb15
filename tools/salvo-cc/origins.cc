// SPDX-License-Identifier: MIT
/*
 * origins.cc - what an address may be derived from
 *
 * An address is followed through arithmetic, choices, lanes and private memory, where pointers are
 * before LLVM has put them into registers, to the objects that are asked for.
 */
#include "bounds.h"
#include "globals.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>

using namespace llvm;

/* All that is stored to private memory. */
void origin_search::follow_stored(AllocaInst &slot, SmallPtrSetImpl<Value *> &seen,
				  origin &found) const
{
	SmallVector<Value *> addresses = { &slot };

	while (!addresses.empty())
		for (User *user : addresses.pop_back_val()->users()) {
			auto *store = dyn_cast<StoreInst>(user);

			if (store && store->getValueOperand()->getType()->isPtrOrPtrVectorTy())
				follow(store->getValueOperand(), seen, found);
			else if (isa<GetElementPtrInst>(user) || isa<AddrSpaceCastInst>(user))
				addresses.push_back(user);
			else if (isa<MemTransferInst>(user))
				found.loaded = true;
			else if (!isa<LoadInst>(user) && !user->getType()->isVoidTy())
				found.unknown = true;
		}
}

/* A pointer, or the pointers of several lanes, of @type from memory at @address. */
void origin_search::follow_load(Value *address, Type *type, SmallPtrSetImpl<Value *> &seen,
				origin &found) const
{
	const Value *memory = getUnderlyingObject(address);
	const unsigned space = type->getScalarType()->getPointerAddressSpace();

	/* What is derived from it is checked by itself, as the variables of LLVM are. */
	if (is_global_base(memory))
		found.unknown = true;
	else if (auto *slot = dyn_cast<AllocaInst>(memory))
		follow_stored(*const_cast<AllocaInst *>(slot), seen, found);
	else if (!isa<Argument>(memory) && (space == GLOBAL || space == CONSTANT || space == LOCAL))
		found.loaded = true;
	else
		found.unknown = true;
}

void origin_search::follow(Value *pointer, SmallPtrSetImpl<Value *> &seen, origin &found) const
{
	auto known = objects.find(pointer);
	auto *call = dyn_cast<IntrinsicInst>(pointer);

	if (!seen.insert(pointer).second || isa<ConstantPointerNull>(pointer) ||
	    isa<UndefValue>(pointer) || isa<ConstantAggregateZero>(pointer))
		return;
	if (known != objects.end()) {
		found.objects.insert(known->second);
	} else if (auto *gep = dyn_cast<GEPOperator>(pointer)) {
		follow(gep->getPointerOperand(), seen, found);
	} else if (auto *load = dyn_cast<LoadInst>(pointer)) {
		follow_load(load->getPointerOperand(), load->getType(), seen, found);
	} else if (call && (call->getIntrinsicID() == Intrinsic::masked_gather ||
			    call->getIntrinsicID() == Intrinsic::masked_load)) {
		follow_load(call->getArgOperand(0), call->getType(), seen, found);
		follow(call->getArgOperand(3), seen, found);
	} else if (auto *select = dyn_cast<SelectInst>(pointer)) {
		follow(select->getTrueValue(), seen, found);
		follow(select->getFalseValue(), seen, found);
	} else if (auto *phi = dyn_cast<PHINode>(pointer)) {
		for (Value *value : phi->incoming_values())
			follow(value, seen, found);
	} else if (isa<InsertElementInst>(pointer) || isa<ShuffleVectorInst>(pointer)) {
		follow(cast<User>(pointer)->getOperand(0), seen, found);
		follow(cast<User>(pointer)->getOperand(1), seen, found);
	} else if (isa<ExtractElementInst>(pointer) || isa<AddrSpaceCastOperator>(pointer) ||
		   isa<FreezeInst>(pointer) || isa<BitCastOperator>(pointer)) {
		follow(cast<User>(pointer)->getOperand(0), seen, found);
	} else if (!pointer->getType()->isPtrOrPtrVectorTy()) {
		return;		/* the lane of an insertion */
	} else {
		found.unknown = true;
	}
}

origin origin_search::find(Value *pointer) const
{
	SmallPtrSet<Value *, 16> seen;
	origin found;

	follow(pointer, seen, found);
	return found;
}
