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
#include "salvo_cc.h"

#include <llvm/ADT/StringSwitch.h>
#include <llvm/IR/Instructions.h>

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
