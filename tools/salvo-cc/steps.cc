// SPDX-License-Identifier: MIT
/*
 * steps.cc - a value that all work-items advance by the same amount: a start and an offset
 *
 * In a loop with barriers a pointer of each work-item would be spilled, and be reloaded as any
 * address:
 *
 *	a += x				a0 = a + x
 *	do {				offset = 0
 *		v = *a			do {
 *		barrier				v = *(a0 + offset)
 *		a += 4 * n			barrier
 *	} while (...)				offset += 4 * n
 *					} while (...)
 *
 * The start is rematerialised in each region, which shows that neighbours access neighbours; the
 * offset is one variable for all work-items.
 */
#include "steps.h"

#include <llvm/Analysis/Utils/Local.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

using namespace llvm;

/* What @inst adds the same amount to for all work-items, or NULL */
static Value *advanced(Instruction &inst, const divergence &differing)
{
	auto uniform = [&](Value *v) { return !differing.differs(v); };

	if (auto *gep = dyn_cast<GetElementPtrInst>(&inst))
		return all_of(gep->indices(), uniform) ? gep->getPointerOperand() : nullptr;
	if (inst.getOpcode() == Instruction::Sub && uniform(inst.getOperand(1)))
		return inst.getOperand(0);
	if (inst.getOpcode() != Instruction::Add)
		return nullptr;
	if (uniform(inst.getOperand(1)))
		return inst.getOperand(0);
	return uniform(inst.getOperand(0)) ? inst.getOperand(1) : nullptr;
}

/* The instructions that make the next value of @phi, the first one first; none if it is another */
static SmallVector<Instruction *> steps_of(PHINode &phi, Value *next, const divergence &differing)
{
	SmallVector<Instruction *> steps;

	while (next && next != &phi) {
		auto *inst = dyn_cast<Instruction>(next);

		if (!inst || isa<PHINode>(inst))
			return {};
		steps.insert(steps.begin(), inst);
		next = advanced(*inst, differing);
	}
	return next ? steps : SmallVector<Instruction *>();
}

/* @offset behind @step, which adds to @base */
static Value *advance(Value *offset, Instruction &step, Value *base)
{
	IRBuilder<> b(&step);

	if (isa<GetElementPtrInst>(step))
		return b.CreateAdd(offset, emitGEPOffset(&b, step.getDataLayout(), &step));
	if (step.getOpcode() == Instruction::Sub)
		return b.CreateSub(offset, step.getOperand(1));
	return b.CreateAdd(offset, step.getOperand(step.getOperand(0) == base));
}

static bool split_phi(PHINode &phi, const Loop &loop, const divergence &differing,
		      function_ref<bool(Value *)> wanted)
{
	Type *type = phi.getType();
	Value *start = phi.getIncomingValueForBlock(loop.getLoopPreheader());
	Value *next = phi.getIncomingValueForBlock(loop.getLoopLatch());

	if ((!type->isPointerTy() && !type->isIntegerTy()) || !differing.differs(&phi) ||
	    !wanted(start))
		return false;
	const SmallVector<Instruction *> steps = steps_of(phi, next, differing);
	if (steps.empty())
		return false;

	IRBuilder<> b(&phi);
	Type *sum = type->isPointerTy() ? phi.getDataLayout().getIndexType(type) : type;
	PHINode *offset = b.CreatePHI(sum, 2, phi.getName() + ".offset");
	Value *at = offset, *base = &phi;
	for (Instruction *step : steps) {
		at = advance(at, *step, base);
		base = step;
	}
	offset->addIncoming(ConstantInt::get(sum, 0), loop.getLoopPreheader());
	offset->addIncoming(at, loop.getLoopLatch());
	b.SetInsertPoint(phi.getParent(), phi.getParent()->getFirstInsertionPt());
	phi.replaceAllUsesWith(type->isPointerTy() ? b.CreatePtrAdd(start, offset)
						   : b.CreateAdd(start, offset));
	phi.eraseFromParent();
	return true;
}

bool split_steps(Function &f, const divergence &differing,
		 function_ref<bool(const Loop &)> among, function_ref<bool(Value *)> wanted)
{
	DominatorTree dt(f);
	LoopInfo loops(dt);
	bool found = false;

	/* Outer loops first: what an inner one starts with may be computed again, then. */
	for (Loop *loop : loops.getLoopsInPreorder()) {
		if (!loop->getLoopPreheader() || !loop->getLoopLatch() || !among(*loop))
			continue;
		for (PHINode &phi : make_early_inc_range(loop->getHeader()->phis()))
			found |= split_phi(phi, *loop, differing, wanted);
	}
	return found;
}
