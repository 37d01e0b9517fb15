// SPDX-License-Identifier: MIT
/*
 * contention.cc - kernels whose work-groups may write to the same cache lines
 *
 * Two units that count in one table, or scatter into one array, can take longer than one of them.
 * The GPU measures that and may give such a dispatch to one unit (device/queue/contention.c), but
 * only if no work-group waits for another one, which then might never run.
 *
 * A unit that has the dispatch for itself while all others are idle says so to the kernel. Then
 * nobody else updates memory, and plain operations do, which take a tenth of the time of one that
 * locks its cache line. Each atomic operation of OpenCL C 1 becomes
 *
 *	old = excludes ? *p, *p += v : atomic_add(p, v)
 *
 * Those of OpenCL C 3.0 stay as they are: other threads and devices may take part in them.
 *
 * A kernel may contend if it has an atomic operation on global memory, or stores where a
 * loaded value says. It may wait where a loop that no count ends can see what others write
 * meanwhile: by an atomic or volatile access, or by a load in a loop with a barrier or fence. Any
 * other load the compiler may have moved out of the loop, so the source cannot rely on it.
 */
#include "salvo_cc.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/LowerAtomic.h>

#include "salvo_kernel.h"

using namespace llvm;

/* Values that an address is computed from, which are looked at */
static const unsigned max_values = 64;

static bool is_shared(const Value *pointer)
{
	const unsigned space = pointer->getType()->getPointerAddressSpace();

	return space == GLOBAL || space == GENERIC;
}

/* Is it computed from something that was loaded? */
static bool depends_on_load(const Value *address)
{
	SmallSetVector<const Value *, 16> values;

	values.insert(address);
	for (unsigned i = 0; i < values.size(); i++) {
		if (isa<LoadInst>(values[i]) || i == max_values)
			return true;
		if (auto *inst = dyn_cast<Instruction>(values[i]))
			values.insert(inst->value_op_begin(), inst->value_op_end());
	}
	return false;
}

static bool may_contend(const Instruction &inst)
{
	if (auto *update = dyn_cast<AtomicRMWInst>(&inst))
		return is_shared(update->getPointerOperand());
	if (auto *exchange = dyn_cast<AtomicCmpXchgInst>(&inst))
		return is_shared(exchange->getPointerOperand());
	auto *store = dyn_cast<StoreInst>(&inst);
	return store && is_shared(store->getPointerOperand()) &&
	       depends_on_load(store->getPointerOperand());
}

/* Is it a count of the iterations, with a constant step? */
static bool is_count(const Value *value, const Loop &loop)
{
	auto *add = dyn_cast<BinaryOperator>(value);
	auto *phi = dyn_cast<PHINode>(add ? add->getOperand(0) : value);

	if (add && (add->getOpcode() != Instruction::Add || !isa<ConstantInt>(add->getOperand(1))))
		return false;
	if (!phi || phi->getParent() != loop.getHeader())
		return false;
	add = dyn_cast<BinaryOperator>(phi->getIncomingValueForBlock(loop.getLoopLatch()));
	auto *step = add && add->getOpcode() == Instruction::Add && add->getOperand(0) == phi ?
		dyn_cast<ConstantInt>(add->getOperand(1)) : nullptr;
	return step && !step->isZero();
}

/* Does a count that goes up or down end it, whatever else happens in it? */
static bool is_bounded(const Loop &loop, const DominatorTree &tree)
{
	const BasicBlock *latch = loop.getLoopLatch();
	SmallVector<BasicBlock *, 4> exits;

	loop.getExitingBlocks(exits);
	return latch && any_of(exits, [&](const BasicBlock *block) {
		auto *branch = dyn_cast<BranchInst>(block->getTerminator());
		auto *compare = branch ? dyn_cast<ICmpInst>(branch->getCondition()) : nullptr;

		if (!compare || !tree.dominates(block, latch))
			return false;
		const bool fixed = all_of(compare->operands(), [&](const Value *operand) {
			return is_count(operand, loop) || loop.isLoopInvariant(operand);
		});
		return (fixed || compare->isRelational()) &&
		       any_of(compare->operands(), [&](const Value *operand) {
			       return is_count(operand, loop);
		       });
	});
}

/* Can the loop see what other work-groups write meanwhile? */
static bool may_wait(const Loop &loop, const DominatorTree &tree)
{
	bool loads = false, fences = false;

	if (is_bounded(loop, tree))
		return false;
	for (const BasicBlock *block : loop.blocks())
		for (const Instruction &inst : *block) {
			auto *load = dyn_cast<LoadInst>(&inst);

			if (load && is_shared(load->getPointerOperand())) {
				loads = true;
				fences |= load->isVolatile() || load->isAtomic();
			} else if (isa<FenceInst>(inst)) {
				fences = true;
			} else if (inst.isAtomic() && !inst.use_empty() &&
				   may_contend(inst)) {
				return true;
			} else if (auto *call = dyn_cast<CallInst>(&inst)) {
				fences |= call->mayReadOrWriteMemory();
			}
		}
	return loads && fences;
}

bool contends(Function &kernel)
{
	SmallSetVector<Function *, 16> functions;
	bool found = false;

	add_callees_first(kernel, functions);
	for (Function *f : functions) {
		const DominatorTree tree(*f);
		const LoopInfo loops(tree);

		if (any_of(loops.getLoopsInPreorder(), [&](const Loop *loop) {
			    return may_wait(*loop, tree);
		    }))
			return false;
		found |= any_of(instructions(*f), may_contend);
	}
	return found;
}

/* An atomic operation of OpenCL C 1 on global memory, with an operation that a plain one can do */
static bool may_be_plain(const Instruction &inst)
{
	if (auto *update = dyn_cast<AtomicRMWInst>(&inst))
		return is_shared(update->getPointerOperand()) && !update->isVolatile() &&
		       update->getOrdering() == AtomicOrdering::Monotonic;
	auto *exchange = dyn_cast<AtomicCmpXchgInst>(&inst);
	return exchange && is_shared(exchange->getPointerOperand()) && !exchange->isVolatile() &&
	       exchange->getSuccessOrdering() == AtomicOrdering::Monotonic;
}

/* Did the GPU say that nobody else updates memory meanwhile? */
static Value *load_excludes(Function &kernel)
{
	IRBuilder<> b(&*kernel.getEntryBlock().getFirstInsertionPt());
	Value *at = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), kernel.getArg(1),
						 offsetof(salvo_group, ran));

	return b.CreateICmpSLT(b.CreateLoad(b.getInt32Ty(), at), b.getInt32(0), "excludes");
}

void add_plain_atomics(Function &kernel)
{
	SmallVector<Instruction *> found;

	for (Instruction &inst : instructions(kernel))
		if (may_be_plain(inst))
			found.push_back(&inst);
	if (found.empty())
		return;
	Value *excludes = load_excludes(kernel);
	for (Instruction *inst : found) {
		Instruction *plain, *locked;

		SplitBlockAndInsertIfThenElse(excludes, inst->getIterator(), &plain, &locked);
		Instruction *copy = inst->clone();
		copy->insertBefore(plain->getIterator());
		inst->moveBefore(locked);
		if (!inst->use_empty()) {
			auto *both = PHINode::Create(inst->getType(), 2);

			both->insertBefore(plain->getSuccessor(0)->begin());
			inst->replaceAllUsesWith(both);
			both->addIncoming(copy, copy->getParent());
			both->addIncoming(inst, inst->getParent());
		}
		if (auto *update = dyn_cast<AtomicRMWInst>(copy))
			lowerAtomicRMWInst(update);
		else
			lowerAtomicCmpXchgInst(cast<AtomicCmpXchgInst>(copy));
	}
}
