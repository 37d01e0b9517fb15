// SPDX-License-Identifier: MIT
/*
 * append.cc - work-items that append to one list in global memory
 *
 * Units that add to one counter wait for its cache line, each time for as long as dozens of
 * work-items take:
 *
 *	if (in[i] > bound)
 *		out[atomic_inc(count)] = in[i];
 *
 * So a work-group adds once, and its work-items divide what it got, by way of local memory:
 *
 *	taken = in[i] > bound
 *	share[local id] = taken ? 1 : 0
 *	barrier
 *	local id 0: replaces each share but 0 by 2^30 + the sum of those before it,
 *		    and *first = atomic_add(count, sum of all) - 2^30
 *	barrier
 *	if (share[local id] != 0)
 *		out[*first + share[local id]] = in[i]
 *
 * All ways that do not lead to the operation pass the barriers too, and go on where they were
 * going; if to several places, a number tells where to. The counter is added to if any work-item
 * comes to the operation: it may be NULL else. As an addend may be 0, bits above it in its share
 * tell that there is one, where it is not a constant. This is for kernels without barriers and
 * local memory, in which no work-item waits for another: no loop has an atomic operation or a
 * volatile access. The counter is an argument, so that it is the same for all work-items.
 * Work-groups of a strip (strips.cc) do all this as one: the ids and sizes above are those of its
 * rows.
 */
#include "scratch.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include "salvo_hw.h"

using namespace llvm;

/* In a share of 64 bits, above all sums of addends: how many work-items come to the operation. */
static const unsigned takers = 48;

/* Larger kernels take longer than a counter's cache line. */
static const unsigned max_instructions = 1000;

/* Operations that a work-item repeats rather than keep what they gave while it waits */
static const unsigned max_again = 4;

static bool is_simple_call(const CallInst &call)
{
	const Function *callee = call.getCalledFunction();

	return isa<IntrinsicInst>(call) ||
	       (callee && (is_placeholder(*callee) || callee->doesNotAccessMemory() ||
			   is_outline(*callee)));
}

static bool uses_local(const Instruction &inst)
{
	return any_of(inst.operands(), [](const Use &operand) {
		auto *type = dyn_cast<PointerType>(operand->getType());

		return type && type->getAddressSpace() == LOCAL;
	});
}

static bool is_append(const Instruction &inst, const LoopInfo &loops)
{
	auto *rmw = dyn_cast<AtomicRMWInst>(&inst);

	if (!rmw || rmw->getOperation() != AtomicRMWInst::Add || rmw->isVolatile() ||
	    rmw->use_empty() || !rmw->getType()->isIntegerTy(32) ||
	    rmw->getPointerAddressSpace() != GLOBAL || loops.getLoopFor(rmw->getParent()))
		return false;
	return isa<Argument>(rmw->getPointerOperand()->stripInBoundsConstantOffsets());
}

/* The operation of @f that appends, if it is the only one, or NULL. */
static AtomicRMWInst *find_append(Function &f)
{
	DominatorTree dt(f);
	const LoopInfo loops(dt);
	AtomicRMWInst *found = nullptr;

	if (f.getInstructionCount() > max_instructions)
		return nullptr;
	for (Instruction &inst : instructions(f)) {
		auto *call = dyn_cast<CallInst>(&inst);

		if (isa<AllocaInst>(inst) || uses_local(inst) || (call && !is_simple_call(*call)))
			return nullptr;
		if (loops.getLoopFor(inst.getParent()) && (inst.isAtomic() || inst.isVolatile()))
			return nullptr;
		if (!is_append(inst, loops))
			continue;
		if (found)
			return nullptr;
		found = cast<AtomicRMWInst>(&inst);
	}
	return found;
}

namespace {

class appender {
public:
	appender(Function &f, AtomicRMWInst &add) : f(f), add(add), b(f.getContext()) {}

	void run();

private:
	void find_before();
	void redirect();
	unsigned way_to(BasicBlock &from, BasicBlock &next);
	Value *own_share();
	void emit_loop(Value *items, PHINode *&i, function_ref<void()> body);
	Value *counter();
	Value *emit_shares();
	void go_on();
	Value *again(Instruction &inst, Instruction &use, const DominatorTree &dt, unsigned depth);
	void repair();
	Value *id(const Twine &name);

	Function &f;
	AtomicRMWInst &add;
	IRBuilder<> b;
	SmallSetVector<BasicBlock *, 16> before;	/* blocks that lead to the operation */
	Type *type = nullptr;			/* of a share */
	BasicBlock *meeting = nullptr;		/* where all ways come together */
	PHINode *way = nullptr, *value = nullptr;
	Value *own = nullptr;			/* the share of a work-item, after the barriers */
	SmallVector<BasicBlock *> ways;		/* where each goes on */
};

} /* namespace */

void appender::find_before()
{
	SmallVector<BasicBlock *> open = { add.getParent() };

	while (!open.empty()) {
		BasicBlock *block = open.pop_back_val();

		if (before.insert(block))
			open.append(pred_begin(block), pred_end(block));
	}
}

/* What a work-item adds, for which @type is chosen */
Value *appender::own_share()
{
	auto *constant = dyn_cast<ConstantInt>(add.getValOperand());

	/* The sum of a work-group is not 0 in 32 bits. */
	if (constant && !constant->isZero() && isInt<20>(constant->getSExtValue())) {
		type = add.getType();
		return constant;
	}
	type = b.getInt64Ty();
	b.SetInsertPoint(&add);
	return b.CreateOr(b.CreateZExt(add.getValOperand(), type), b.getInt64(1ull << takers));
}

/* Leads the end of the block of the operation, and all ways that miss it, to the meeting. */
void appender::redirect()
{
	LLVMContext &context = f.getContext();
	Value *share = own_share();
	BasicBlock *last = add.getParent();
	BasicBlock *after = last->splitBasicBlock(&add, "append.after");

	meeting = BasicBlock::Create(context, "append", &f, after);
	b.SetInsertPoint(meeting);
	way = b.CreatePHI(b.getInt32Ty(), 2, "way");
	value = b.CreatePHI(type, 2, "value");
	cast<BranchInst>(last->getTerminator())->setSuccessor(0, meeting);
	way->addIncoming(b.getInt32(0), last);
	value->addIncoming(share, last);
	ways.push_back(after);
	for (BasicBlock *block : before) {
		Instruction *end = block->getTerminator();

		for (unsigned i = 0; block != last && i < end->getNumSuccessors(); i++) {
			if (before.contains(end->getSuccessor(i)))
				continue;
			BasicBlock *to = BasicBlock::Create(context, "append.miss", &f, meeting);

			way->addIncoming(b.getInt32(way_to(*block, *end->getSuccessor(i))), to);
			value->addIncoming(ConstantInt::get(type, 0), to);
			end->setSuccessor(i, to);
			BranchInst::Create(meeting, to);
		}
	}
}

/* The number of the way that goes on to @next, where @from went to */
unsigned appender::way_to(BasicBlock &from, BasicBlock &next)
{
	const bool same = next.phis().empty();

	for (unsigned i = 1; same && i < ways.size(); i++)
		if (ways[i]->getSingleSuccessor() == &next)
			return i;
	BasicBlock *on = BasicBlock::Create(f.getContext(), "append.on", &f, ways[0]);

	BranchInst::Create(&next, on);
	ways.push_back(on);
	/* One of the phi's entries for the block, if there are several. */
	for (PHINode &phi : next.phis())
		phi.setIncomingBlock(phi.getBasicBlockIndex(&from), on);
	return ways.size() - 1;
}

Value *appender::id(const Twine &name)
{
	return work_item_id(b, name.str());
}

/* for (i = 0; i < items; i++) body(); */
void appender::emit_loop(Value *items, PHINode *&i, function_ref<void()> body)
{
	BasicBlock *from = b.GetInsertBlock();
	BasicBlock *loop = BasicBlock::Create(f.getContext(), "shares", &f);
	BasicBlock *end = BasicBlock::Create(f.getContext(), "shares.end", &f);

	b.CreateBr(loop);
	b.SetInsertPoint(loop);
	i = b.CreatePHI(b.getInt64Ty(), 2, "i");
	i->addIncoming(b.getInt64(0), from);
	body();
	Value *next = b.CreateAdd(i, b.getInt64(1), "", true, true);
	i->addIncoming(next, b.GetInsertBlock());
	b.CreateCondBr(b.CreateICmpULT(next, items), loop, end);
	b.SetInsertPoint(end);
}

/* The address of the counter, which work-items that miss the operation may not have computed */
Value *appender::counter()
{
	const DataLayout &layout = f.getDataLayout();
	Value *pointer = add.getPointerOperand();
	APInt offset(layout.getIndexTypeSizeInBits(pointer->getType()), 0);

	pointer = pointer->stripAndAccumulateInBoundsConstantOffsets(layout, offset);
	return b.CreateGEP(b.getInt8Ty(), pointer, b.getInt64(offset.getSExtValue()));
}

/* What the operation returns to each work-item; @b is at the end of the meeting. */
Value *appender::emit_shares()
{
	LLVMContext &context = f.getContext();
	Type *result = add.getType();
	Value *zero = ConstantInt::get(type, 0), *bias = ConstantInt::get(type, 1ull << 30);
	Value *shares = scratch_array(*f.getParent(), type->getIntegerBitWidth() / 8);
	Value *first = b.CreateConstGEP1_64(type, shares, SALVO_MAX_GROUP_ITEMS);
	Value *size[] = { id("row_size.0"), id("extent.1"), id("extent.2") };
	Value *plane = b.CreateMul(id("local_id.2"), size[1], "", true, true);
	Value *row = b.CreateAdd(plane, id("local_id.1"), "", true, true);
	Value *item = b.CreateAdd(b.CreateMul(row, size[0], "", true, true), id("row_id.0"), "",
				  true, true);
	BasicBlock *count = BasicBlock::Create(context, "append.count", &f);
	BasicBlock *some = BasicBlock::Create(context, "append.some", &f);
	BasicBlock *done = BasicBlock::Create(context, "append.done", &f);
	PHINode *i = nullptr, *sum = nullptr;
	auto share = [&] { return b.CreateGEP(type, shares, i); };
	auto begin_sum = [&](BasicBlock *from, Value *start) {
		sum = b.CreatePHI(type, 2, "sum");
		sum->addIncoming(start, from);
	};

	b.CreateStore(value, b.CreateGEP(type, shares, item));
	create_barrier(b);
	b.CreateCondBr(b.CreateICmpEQ(item, b.getInt64(0)), count, done);

	b.SetInsertPoint(count);
	Value *items = b.CreateMul(b.CreateMul(size[0], size[1], "", true, true), size[2], "",
				   true, true);
	b.CreateStore(zero, first);
	Value *total = nullptr;
	emit_loop(items, i, [&] {
		begin_sum(count, zero);
		total = b.CreateAdd(sum, b.CreateLoad(type, share()));
		sum->addIncoming(total, b.GetInsertBlock());
	});
	b.CreateCondBr(b.CreateIsNotNull(total), some, done);

	b.SetInsertPoint(some);
	auto *all = cast<AtomicRMWInst>(add.clone());
	all->setOperand(0, counter());
	all->setOperand(1, b.CreateTrunc(total, result));
	b.Insert(all);
	b.CreateStore(b.CreateSub(b.CreateZExt(all, type), bias), first);
	emit_loop(items, i, [&] {
		begin_sum(some, bias);
		Value *adds = b.CreateLoad(type, share());
		b.CreateStore(b.CreateSelect(b.CreateIsNull(adds), zero, sum), share());
		sum->addIncoming(b.CreateAdd(sum, adds), b.GetInsertBlock());
	});
	b.CreateBr(done);

	b.SetInsertPoint(done);
	create_barrier(b);
	own = b.CreateLoad(type, b.CreateGEP(type, shares, item));
	return b.CreateTrunc(b.CreateAdd(b.CreateLoad(type, first), own), result);
}

/* Each work-item goes on its way. Its share tells it, if all that miss the operation have one. */
void appender::go_on()
{
	if (ways.size() == 2) {
		b.CreateCondBr(b.CreateIsNull(own), ways[1], ways[0]);
		way->eraseFromParent();
		return;
	}
	SwitchInst *on = b.CreateSwitch(way, ways[0], ways.size() - 1);
	for (unsigned i = 1; i < ways.size(); i++)
		on->addCase(b.getInt32(i), ways[i]);
}

/* @inst computed for @use as well, or NULL if that depends on more than ids, sizes and arguments */
Value *appender::again(Instruction &inst, Instruction &use, const DominatorTree &dt, unsigned depth)
{
	if (dt.dominates(&inst, &use))
		return &inst;
	if (depth == max_again || isa<PHINode>(inst) || inst.mayReadOrWriteMemory() ||
	    !isSafeToSpeculativelyExecute(&inst))
		return nullptr;

	SmallVector<Value *> operands;
	for (Value *operand : inst.operands()) {
		auto *from = dyn_cast<Instruction>(operand);
		Value *made = from ? again(*from, use, dt, depth + 1) : operand;

		if (!made)
			return nullptr;
		operands.push_back(made);
	}
	Instruction *copy = inst.clone();
	for (unsigned i = 0; i < operands.size(); i++)
		copy->setOperand(i, operands[i]);
	copy->dropPoisonGeneratingAnnotations();
	copy->insertBefore(use.getIterator());
	return copy;
}

/* Before which instruction the value of @use is needed */
static Instruction &place_of(const Use &use)
{
	auto *user = cast<Instruction>(use.getUser());
	auto *phi = dyn_cast<PHINode>(user);

	return phi ? *phi->getIncomingBlock(use)->getTerminator() : *user;
}

/*
 * Values that no longer dominate all of their uses are computed again, or go through memory, until
 * SROA.
 */
void appender::repair()
{
	DominatorTree dt(f);
	SmallVector<Instruction *> values;

	for (BasicBlock *block : before)
		for (Instruction &inst : *block)
			values.push_back(&inst);
	for (Instruction *inst : values) {
		SmallVector<Use *> uses;

		for (Use &use : inst->uses())
			if (!dt.dominates(inst, use))
				uses.push_back(&use);
		erase_if(uses, [&](Use *use) {
			Value *made = again(*inst, place_of(*use), dt, 0);

			if (made)
				use->set(made);
			return made;
		});
		if (uses.empty())
			continue;
		b.SetInsertPoint(&f.getEntryBlock(), f.getEntryBlock().begin());
		AllocaInst *memory = b.CreateAlloca(inst->getType());
		b.SetInsertPoint(inst->getParent(), *inst->getInsertionPointAfterDef());
		b.CreateStore(inst, memory);
		for (Use *use : uses) {
			b.SetInsertPoint(&place_of(*use));
			use->set(b.CreateLoad(inst->getType(), memory));
		}
	}
}

void appender::run()
{
	find_before();
	redirect();
	Value *result = emit_shares();
	go_on();
	add.replaceAllUsesWith(result);
	add.eraseFromParent();
	repair();
}

static const char shared_appends[] = "salvo-shared-appends";

bool has_shared_appends(const Function &kernel)
{
	return kernel.hasFnAttribute(shared_appends);
}

void share_appends(Module &m, TargetMachine &target)
{
	for (Function &f : m) {
		if (f.isDeclaration() || f.getCallingConv() != CallingConv::SPIR_KERNEL)
			continue;
		AtomicRMWInst *add = find_append(f);
		if (!add)
			continue;
		appender(f, *add).run();
		f.addFnAttr(shared_appends);
		tidy(f, target);
	}
}
