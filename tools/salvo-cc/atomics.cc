// SPDX-License-Identifier: MIT
/*
 * atomics.cc - the atomic functions of OpenCL C, generated on demand
 *
 * Those of OpenCL C 1 for 32 and 64 bits in global and local memory, under both their names
 * (atomic_add() and the older atom_add()); their order is relaxed. Those of OpenCL C 3.0
 * (6.15.12), with an explicit order and scope or without: on x86-64 a read-modify-write
 * costs the same in every order and for every scope, so each is sequentially consistent. Only
 * a relaxed or releasing store is cheaper, and a fence that is weaker than sequentially
 * consistent, which merely keeps the compiler from moving accesses.
 */
#include "places.h"
#include "salvo_cc.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/StringSwitch.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

using namespace llvm;

/* The value of memory_order_seq_cst. */
static const unsigned sequential = __ATOMIC_SEQ_CST;

static AtomicRMWInst::BinOp find_operation(StringRef name, bool is_signed)
{
	return StringSwitch<AtomicRMWInst::BinOp>(name)
		.Cases("add", "inc", AtomicRMWInst::Add)
		.Cases("sub", "dec", AtomicRMWInst::Sub)
		.Case("and", AtomicRMWInst::And)
		.Case("or", AtomicRMWInst::Or)
		.Case("xor", AtomicRMWInst::Xor)
		.Cases("xchg", "exchange", AtomicRMWInst::Xchg)
		.Case("min", is_signed ? AtomicRMWInst::Min : AtomicRMWInst::UMin)
		.Case("max", is_signed ? AtomicRMWInst::Max : AtomicRMWInst::UMax)
		.Default(AtomicRMWInst::BAD_BINOP);
}

/* Those of OpenCL C 1. */
static Value *make_relaxed(IRBuilder<> &b, StringRef name, Function &f, bool is_signed)
{
	const AtomicOrdering order = AtomicOrdering::Monotonic;
	Type *type = f.getReturnType();
	Value *pointer = f.getArg(0);

	if (name == "cmpxchg" && f.arg_size() == 3)
		return b.CreateExtractValue(
			b.CreateAtomicCmpXchg(pointer, f.getArg(1), f.getArg(2), MaybeAlign(),
					      order, order), 0);

	auto operation = find_operation(name, is_signed);
	bool one = name == "inc" || name == "dec";
	if (operation == AtomicRMWInst::BAD_BINOP || f.arg_size() != (one ? 1 : 2) ||
	    (type->isFloatTy() && operation != AtomicRMWInst::Xchg))
		return nullptr;
	Value *value = one ? (Value *)ConstantInt::get(type, 1) : f.getArg(1);
	return b.CreateAtomicRMW(operation, pointer, value, MaybeAlign(), order);
}

/* Goes on in one of two blocks: where @order is sequentially consistent, and where not. */
static void split_by_order(IRBuilder<> &b, Value *order, function_ref<void(bool)> make)
{
	Function *f = b.GetInsertBlock()->getParent();
	LLVMContext &context = b.getContext();
	BasicBlock *strong = BasicBlock::Create(context, "strong", f);
	BasicBlock *weak = BasicBlock::Create(context, "weak", f);
	BasicBlock *end = BasicBlock::Create(context, "end", f);

	b.CreateCondBr(b.CreateICmpEQ(order, ConstantInt::get(order->getType(), sequential)),
		       strong, weak);
	for (BasicBlock *block : { strong, weak }) {
		b.SetInsertPoint(block);
		make(block == strong);
		b.CreateBr(end);
	}
	b.SetInsertPoint(end);
}

static void make_store(IRBuilder<> &b, Value *pointer, Value *value, Value *order)
{
	const Align align(value->getType()->getPrimitiveSizeInBits() / 8);
	auto make = [&](bool strong) {
		StoreInst *store = b.CreateAlignedStore(value, pointer, align, true);
		store->setAtomic(strong ? AtomicOrdering::SequentiallyConsistent :
					  AtomicOrdering::Release);
	};

	if (order)
		split_by_order(b, order, make);
	else
		make(true);
}

/* The value that was found goes to where the expected one came from. */
static Value *make_compare_exchange(IRBuilder<> &b, Function &f)
{
	const AtomicOrdering order = AtomicOrdering::SequentiallyConsistent;
	Value *pointer = f.getArg(0), *expected = f.getArg(1), *desired = f.getArg(2);
	Type *type = desired->getType(), *bits = type;

	if (type->isFloatingPointTy())
		bits = b.getIntNTy(type->getPrimitiveSizeInBits());
	Value *result = b.CreateAtomicCmpXchg(pointer, b.CreateLoad(bits, expected),
					      b.CreateBitCast(desired, bits), MaybeAlign(), order,
					      order);
	b.CreateStore(b.CreateExtractValue(result, 0), expected);
	return b.CreateExtractValue(result, 1);
}

/* Those of OpenCL C 3.0; @done is set where there is nothing to return. */
static Value *make_ordered(IRBuilder<> &b, StringRef name, Function &f, bool is_signed, bool &done)
{
	const AtomicOrdering order = AtomicOrdering::SequentiallyConsistent;
	const bool has_order = name.consume_back("_explicit");
	Type *type = f.getReturnType();
	Value *pointer = f.getArg(0);
	const unsigned count = f.arg_size();

	if (name == "load") {
		LoadInst *load = b.CreateAlignedLoad(
			type, pointer, Align(type->getPrimitiveSizeInBits() / 8), true);
		load->setAtomic(order);
		return load;
	}
	if (name == "store" || name == "init") {
		done = count >= 2;
		if (done)
			make_store(b, pointer, f.getArg(1),
				   has_order && count > 2 ? f.getArg(2) : nullptr);
		return nullptr;
	}
	if (name == "flag_clear") {
		done = true;
		make_store(b, pointer, b.getInt32(0),
			   has_order && count > 1 ? f.getArg(1) : nullptr);
		return nullptr;
	}
	if (name == "flag_test_and_set")
		return b.CreateIsNotNull(b.CreateAtomicRMW(AtomicRMWInst::Xchg, pointer,
							   b.getInt32(1), MaybeAlign(), order));
	if (name.starts_with("compare_exchange_") && count >= 3)
		return make_compare_exchange(b, f);
	if (!name.consume_front("fetch_") && name != "exchange")
		return nullptr;
	auto operation = find_operation(name, is_signed);
	if (operation == AtomicRMWInst::BAD_BINOP || count < 2 ||
	    (type->isFloatingPointTy() && operation != AtomicRMWInst::Xchg))
		return nullptr;
	return b.CreateAtomicRMW(operation, pointer, f.getArg(1), MaybeAlign(), order);
}

static void make_fence(IRBuilder<> &b, Function &f)
{
	split_by_order(b, f.getArg(1), [&](bool strong) {
		b.CreateFence(strong ? AtomicOrdering::SequentiallyConsistent :
				       AtomicOrdering::AcquireRelease);
	});
}

/* Is the type behind the pointer at @types signed? P U3AS<n> V U7_Atomic <type> */
static bool is_signed_type(StringRef types)
{
	size_t at = types.find('V');

	types = at == StringRef::npos ? "" : types.drop_front(at + 1);
	types.consume_front("U7_Atomic");
	return types.starts_with("i") || types.starts_with("l");
}

/* Defines @f if it is one: _Z<length>atomic_<name><pointer>V<type>... */
bool define_atomic(Function &f)
{
	StringRef name = f.getName();
	unsigned length;
	bool done = false;

	if (!name.consume_front("_Z") || name.consumeInteger(10, length) ||
	    length >= name.size() || f.arg_empty())
		return false;
	const bool is_signed = is_signed_type(name.drop_front(length));
	name = name.take_front(length);
	if (!name.consume_front("atomic_") && !name.consume_front("atom_"))
		return false;
	const bool is_fence = name == "work_item_fence" && f.arg_size() == 3;
	if (!is_fence && !f.getArg(0)->getType()->isPointerTy())
		return false;

	BasicBlock *block = BasicBlock::Create(f.getContext(), "", &f);
	IRBuilder<> b(block);
	Value *result = nullptr;
	if (is_fence) {
		make_fence(b, f);
		done = true;
	} else {
		result = make_relaxed(b, name, f, is_signed);
		if (!result)
			result = make_ordered(b, name, f, is_signed, done);
	}
	if (result) {
		b.CreateRet(result);
	} else if (done) {
		b.CreateRetVoid();
	} else {
		f.deleteBody();
		return false;
	}
	return true;
}

/* Where a minimum or maximum stores another value than it finds. */
static CmpInst::Predicate when_stored(const AtomicRMWInst &rmw)
{
	if (rmw.getOrdering() != AtomicOrdering::Monotonic || rmw.isVolatile())
		return CmpInst::BAD_ICMP_PREDICATE;
	switch (rmw.getOperation()) {
	case AtomicRMWInst::Min:
		return CmpInst::ICMP_SLT;
	case AtomicRMWInst::Max:
		return CmpInst::ICMP_SGT;
	case AtomicRMWInst::UMin:
		return CmpInst::ICMP_ULT;
	case AtomicRMWInst::UMax:
		return CmpInst::ICMP_UGT;
	default:
		return CmpInst::BAD_ICMP_PREDICATE;
	}
}

/* Is the result used, by more than vectors of lanes that are not? */
static bool is_used(const AtomicRMWInst &rmw)
{
	SmallSetVector<const User *, 16> users(rmw.user_begin(), rmw.user_end());

	for (unsigned i = 0; i < users.size(); i++) {
		if (!isa<InsertElementInst>(users[i]) && !isa<PHINode>(users[i]))
			return true;
		users.insert(users[i]->user_begin(), users[i]->user_end());
	}
	return false;
}

/* Do work-items mostly find the same value, or is what they do next a matter of it? */
static bool may_be_vain(const AtomicRMWInst &rmw)
{
	const Value *pointer = rmw.getPointerOperand()->stripInBoundsConstantOffsets();
	auto *inst = dyn_cast<Instruction>(pointer);

	return is_used(rmw) || (inst && inst->getParent()->isEntryBlock());
}

/*
 * Most minima and maxima of many work-items change nothing in the end: those at one address, or of
 * distances in a graph, whose results are compared. A locked operation would still take the cache
 * line from the other units. So it is skipped where a load finds a value that it would leave: as
 * its order is relaxed, it may be that it took place directly after the store of this value. Where
 * each work-item has an address of its own, as in a buffer of depths, the branch would cost more.
 */
void skip_vain_atomics(Module &m)
{
	SmallVector<AtomicRMWInst *> found;

	for (Function &f : m)
		for (Instruction &inst : instructions(f)) {
			auto *rmw = dyn_cast<AtomicRMWInst>(&inst);

			if (rmw && when_stored(*rmw) != CmpInst::BAD_ICMP_PREDICATE &&
			    may_be_vain(*rmw))
				found.push_back(rmw);
		}
	for (AtomicRMWInst *rmw : found) {
		IRBuilder<> b(rmw);
		Value *pointer = rmw->getPointerOperand();
		LoadInst *now = b.CreateAlignedLoad(rmw->getType(), pointer, rmw->getAlign());

		now->setAtomic(AtomicOrdering::Monotonic);
		set_tag(*pointer, get_tag(*rmw));
		Value *stores = b.CreateICmp(when_stored(*rmw), rmw->getValOperand(), now);
		BasicBlock *before = rmw->getParent();
		Instruction *then = SplitBlockAndInsertIfThen(stores, rmw, false);
		BasicBlock *after = rmw->getParent();
		b.SetInsertPoint(after, after->begin());
		PHINode *old = b.CreatePHI(rmw->getType(), 2);
		rmw->replaceAllUsesWith(old);
		rmw->moveBefore(then);
		old->addIncoming(now, before);
		old->addIncoming(rmw, then->getParent());
	}
}
