// SPDX-License-Identifier: MIT
/*
 * full_masks.cc - plain stores where all lanes of a masked one are active
 *
 * Before AVX-512 a store under a mask takes processors of AMD eight times as long as a plain one,
 * and what it stores is not forwarded to loads. Masks mostly keep out what is beyond a border, or
 * what takes a rare branch, so the store branches:
 *
 *	store(p, v, m)		if (all(m))	store(p, v)
 *				else		store(p, v, m)
 *
 * Runs when the code is optimised: LLVM knows by then which masks are constant. Stores under the
 * same mask that nothing between them can observe share a branch.
 */
#include "salvo_cc.h"

#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

using namespace llvm;

static IntrinsicInst *masked_store(Instruction &inst)
{
	auto *call = dyn_cast<IntrinsicInst>(&inst);

	return call && call->getIntrinsicID() == Intrinsic::masked_store &&
	       !isa<Constant>(call->getArgOperand(3)) ? call : nullptr;
}

/* The mask that @mask repeats for the elements of each lane, or itself */
static Value *mask_of_lanes(Value *mask)
{
	auto *repeat = dyn_cast<ShuffleVectorInst>(mask);

	if (!repeat)
		return mask;
	Value *lanes = repeat->getOperand(0);
	const int count = cast<FixedVectorType>(lanes->getType())->getNumElements();
	SmallBitVector used(count);
	for (int from : repeat->getShuffleMask()) {
		if (from < 0 || from >= count)
			return mask;
		used.set(from);
	}
	return used.all() ? lanes : mask;
}

/* @stores: of one block, under masks that repeat @lanes, and nothing between observes them */
static void branch(ArrayRef<IntrinsicInst *> stores, Value *lanes)
{
	IntrinsicInst *last = stores.back();
	IRBuilder<> b(last);
	Type *bits = b.getIntNTy(cast<FixedVectorType>(lanes->getType())->getNumElements());
	Instruction *all, *some;

	/* To branch on an undefined value is undefined, to mask by it is not. */
	Value *set = b.CreateBitCast(b.CreateFreeze(lanes), bits);
	SplitBlockAndInsertIfThenElse(b.CreateICmpEQ(set, Constant::getAllOnesValue(bits)), last,
				      &all, &some);
	for (IntrinsicInst *store : stores) {
		b.SetInsertPoint(all);
		StoreInst *plain = b.CreateAlignedStore(
			store->getArgOperand(0), store->getArgOperand(1),
			cast<ConstantInt>(store->getArgOperand(2))->getAlignValue());
		plain->setAAMetadata(store->getAAMetadata());
		plain->setDebugLoc(store->getDebugLoc());
		store->moveBefore(some);
	}
}

void branch_masked_stores(Module &m, TargetMachine &target)
{
	for (Function &f : m) {
		SmallVector<std::pair<SmallVector<IntrinsicInst *>, Value *>> groups;

		if (f.isDeclaration() ||
		    target.getTargetTransformInfo(f).getRegisterBitWidth(
			TargetTransformInfo::RGK_FixedWidthVector).getFixedValue() > 256)
			continue;
		for (BasicBlock &block : f) {
			Value *open = nullptr;

			for (Instruction &inst : block) {
				IntrinsicInst *store = masked_store(inst);
				Value *lanes = nullptr;

				if (store)
					lanes = mask_of_lanes(store->getArgOperand(3));

				if (store && lanes == open)
					groups.back().first.push_back(store);
				else if (store)
					groups.push_back({ { store }, lanes });
				if (store || inst.mayReadOrWriteMemory())
					open = lanes;
			}
		}
		for (auto &[stores, lanes] : groups)
			branch(stores, lanes);
	}
}
