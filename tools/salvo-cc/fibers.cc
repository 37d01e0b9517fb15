// SPDX-License-Identifier: MIT
/*
 * fibers.cc - a kernel with barriers runs one work-item (M2, M3 of CN102576314)
 *
 * The unit calls the function once for each work-item, each time on a stack of its
 * own. A barrier becomes a call of group->barrier, which returns when all
 * work-items have arrived. For the optimiser that call may change any memory, as a barrier
 * must; ids and arguments are values and not affected.
 */
#include "salvo_cc.h"

#include <cstddef>

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include "salvo_hw.h"
#include "salvo_kernel.h"

using namespace llvm;

/* Reads the local ids of the work-item. */
void load_local_id(IRBuilder<> &b, const group_values &v, Value *local_id[3])
{
	for (unsigned i = 0; i < 3; i++) {
		Value *address = b.CreateConstInBoundsGEP1_64(
			b.getInt8Ty(), v.item, offsetof(salvo_item, local_id) + i * 8);
		LoadInst *load = b.CreateLoad(b.getInt64Ty(), address, "local_id");
		load->setMetadata(LLVMContext::MD_range, MDBuilder(b.getContext()).createRange(
			APInt(64, 0), APInt(64, SALVO_MAX_GROUP_ITEMS)));
		local_id[i] = load;
	}
}

void call_barriers(Function &f, const group_values &v)
{
	IRBuilder<> b(f.getContext());
	SmallVector<CallInst *> barriers;

	for (Instruction &inst : instructions(f))
		if (auto *call = dyn_cast<CallInst>(&inst))
			if (is_barrier(*call))
				barriers.push_back(call);
	FunctionType *type = FunctionType::get(b.getVoidTy(), { b.getPtrTy() }, false);
	for (CallInst *call : barriers) {
		b.SetInsertPoint(call);
		CallInst *wait = b.CreateCall(type, v.barrier, { v.group });
		wait->setConvergent();
		wait->setDoesNotThrow();
		call->eraseFromParent();
	}
}

void build_fiber(kernel &k, BasicBlock *body, const group_values &v)
{
	Function &f = *k.function;
	IRBuilder<> b(&f.front());
	Value *local_id[3];

	move_variables(*body, f.front());
	load_local_id(b, v, local_id);
	b.CreateBr(body);
	replace_ids(f, v, local_id);
	call_barriers(f, v);
}
