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
 * A kernel may contend if it has an atomic operation on global memory, or stores where a loaded
 * value says, or to columns, as a transposition: units that run neighbouring rows of work-items
 * write to the same lines there. It may wait where a loop that no count ends can see what others
 * write meanwhile: by an atomic or volatile access, or by a load in a loop with a barrier or fence.
 * Any other load the compiler may have moved out of the loop, so the source cannot rely on it.
 */
#include "salvo_cc.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/LowerAtomic.h>

#include "salvo_kernel.h"

using namespace llvm;
using namespace llvm::PatternMatch;

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

/* Operations between an id and the address that it is in */
static const unsigned max_depth = 16;

using step = std::optional<int64_t>;

static step sum_of(step a, step b)
{
	return a && b ? step(*a + *b) : std::nullopt;
}

static step product_of(step a, const Value *factor)
{
	auto *constant = dyn_cast<ConstantInt>(factor);

	if (!a || !*a)
		return a;
	return constant && constant->getValue().isSignedIntN(32) ?
		step(*a * constant->getSExtValue()) : std::nullopt;
}

/* How far @v is from that of the next work-item along @d, if all of them are as far */
static step step_along(unsigned d, const Value *v, const DataLayout &layout, unsigned depth = 0)
{
	auto *inst = dyn_cast<Instruction>(v);
	auto of = [&](unsigned i) {
		return step_along(d, inst->getOperand(i), layout, depth + 1);
	};

	if (!inst)
		return 0;
	if (depth == max_depth)
		return std::nullopt;
	if (auto *gep = dyn_cast<GEPOperator>(inst)) {
		const unsigned bits = layout.getIndexTypeSizeInBits(gep->getType());
		MapVector<Value *, APInt> indices;
		APInt constant(bits, 0);
		step sum = of(0);

		if (!gep->collectOffset(layout, bits, indices, constant))
			return std::nullopt;
		for (const auto &[index, bytes] : indices)
			sum = sum_of(sum, product_of(step_along(d, index, layout, depth + 1),
						     ConstantInt::get(inst->getContext(), bytes)));
		return sum;
	}
	if (auto *call = dyn_cast<CallInst>(inst)) {
		const Function *callee = call->getCalledFunction();
		auto is = [&](const Twine &name) {
			return is_placeholder_of(*callee, (name + Twine(d)).str());
		};

		if (!callee || !is_placeholder(*callee))
			return std::nullopt;
		return is("global_id.") || is("local_id.") ? 1 : 0;
	}
	Value *shifted;
	const APInt *bits;
	if (match(inst, m_Shl(m_Value(shifted), m_APInt(bits))) && bits->ult(32))
		return product_of(of(0), ConstantInt::get(Type::getInt64Ty(inst->getContext()),
							  1ull << bits->getZExtValue()));
	switch (inst->getOpcode()) {
	case Instruction::Add:
		return sum_of(of(0), of(1));
	case Instruction::Mul:
		return of(1) == 0 ? product_of(of(0), inst->getOperand(1)) :
		       of(0) == 0 ? product_of(of(1), inst->getOperand(0)) : std::nullopt;
	case Instruction::SExt:
	case Instruction::ZExt:
	case Instruction::Trunc:
		return of(0);
	default:
		return std::nullopt;
	}
}

/* Bytes of a cache line */
static const int64_t line = 64;

/* Do neighbours in y store to the same line, and those in x to others? */
static bool stores_to_columns(const StoreInst &store)
{
	const DataLayout &layout = store.getDataLayout();
	const Value *pointer = store.getPointerOperand();
	const step y = step_along(1, pointer, layout);

	if (!y || !*y || std::abs(*y) >= line)
		return false;
	const step x = step_along(0, pointer, layout);
	return !x || std::abs(*x) >= line;
}

static bool may_contend(const Instruction &inst)
{
	if (auto *update = dyn_cast<AtomicRMWInst>(&inst))
		return is_shared(update->getPointerOperand());
	if (auto *exchange = dyn_cast<AtomicCmpXchgInst>(&inst))
		return is_shared(exchange->getPointerOperand());
	auto *store = dyn_cast<StoreInst>(&inst);
	return store && is_shared(store->getPointerOperand()) &&
	       (depends_on_load(store->getPointerOperand()) || stores_to_columns(*store));
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
