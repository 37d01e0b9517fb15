// SPDX-License-Identifier: MIT
/*
 * series.cc - several work-groups of a kernel with barriers in one call
 *
 * Where work-groups are small, as tiles of 8 x 8 work-items, a call takes as long as what they do:
 * to load the arguments, and to make vectors of constants. So a short kernel runs one work-group
 * after the other, up to the end of the row or the last one of full size, with what does not depend
 * on the group id taken out of the loop:
 *
 *	do
 *		regions of the group
 *	while (++ran < run && ++group_id[0] is of a group of the same size)
 *
 * The group id is in memory, where the unit finds out which work-group it is if one faults.
 */
#include "items.h"

#include <cstddef>

#include <llvm/ADT/SetVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

#include "salvo_kernel.h"

using namespace llvm;

/* Work-groups of a call: the unit looks if it shall stop between calls. */
static const unsigned most_groups = 16;

/* The only return of @f, or NULL */
static ReturnInst *only_return(Function &f)
{
	ReturnInst *found = nullptr;

	for (BasicBlock &block : f)
		if (auto *ret = dyn_cast<ReturnInst>(block.getTerminator())) {
			if (found)
				return nullptr;
			found = ret;
		}
	return found;
}

/* What @entry computes from @id, in order */
static SmallVector<Instruction *> computed_from(Instruction &id, BasicBlock &entry)
{
	SmallSetVector<Instruction *, 16> found;

	found.insert(&id);
	for (Instruction &inst : make_range(std::next(id.getIterator()),
					    entry.getTerminator()->getIterator()))
		if (any_of(inst.operands(), [&](const Use &use) {
			    auto *operand = dyn_cast<Instruction>(use.get());

			    return operand && found.contains(operand);
		    }))
			found.insert(&inst);
	return found.takeVector();
}

void run_in_series(Function &f, const group_values &v)
{
	auto *id = cast<LoadInst>(v.group_id[0]);
	BasicBlock &entry = f.front();
	ReturnInst *ret = only_return(f);
	IRBuilder<> b(entry.getTerminator());
	auto field = [&](size_t offset) {
		return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), v.group, offset);
	};

	if (!ret || any_of(entry, [](const Instruction &inst) {
		return inst.mayHaveSideEffects() && !inst.isTerminator();
	}))
		return;
	const SmallVector<Instruction *> moved = computed_from(*id, entry);
	if (any_of(moved, [](const Instruction *inst) { return isa<AllocaInst>(inst); }))
		return;
	Value *most = b.CreateBinaryIntrinsic(Intrinsic::umin, v.run, b.getInt32(most_groups));
	BasicBlock *group = entry.splitBasicBlock(entry.getTerminator(), "group");
	b.SetInsertPoint(group, group->begin());
	PHINode *ran = b.CreatePHI(b.getInt32Ty(), 2, "ran");
	for (Instruction *inst : moved)
		inst->moveBefore(group->getTerminator());
	id->setVolatile(true);

	BasicBlock *next = ret->getParent();
	BasicBlock *done = next->splitBasicBlock(ret, "done");
	BasicBlock *more = BasicBlock::Create(f.getContext(), "more", &f, done);
	next->getTerminator()->eraseFromParent();
	b.SetInsertPoint(next);
	Value *now = b.CreateAdd(ran, b.getInt32(1), "", true, true);
	Value *next_id = b.CreateAdd(id, b.getInt64(1), "", true, true);
	Value *behind = b.CreateMul(b.CreateAdd(next_id, b.getInt64(1), "", true, true),
				    v.local_size[0], "", true, true);
	b.CreateCondBr(b.CreateAnd(b.CreateICmpULT(now, most),
				   b.CreateICmpULE(behind, v.global_size[0])), more, done);
	b.SetInsertPoint(more);
	b.CreateStore(next_id, field(offsetof(salvo_group, group_id)), true);
	b.CreateBr(group);
	ran->addIncoming(b.getInt32(0), &entry);
	ran->addIncoming(now, more);
	b.SetInsertPoint(ret);
	b.CreateStore(now, field(offsetof(salvo_group, ran)));
}
