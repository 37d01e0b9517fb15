// SPDX-License-Identifier: MIT
/*
 * atomics.cc - atomic_add() and the like, generated on demand
 *
 * For 32 and 64 bits in global and local memory, under both their names (atomic_
 * and the older atom_). The order is relaxed, as OpenCL C 1.2 has it.
 */
#include "salvo_cc.h"

#include <llvm/ADT/StringSwitch.h>
#include <llvm/IR/Instructions.h>

using namespace llvm;

static Value *make_atomic(IRBuilder<> &b, StringRef name, Function &f, bool is_signed)
{
	const AtomicOrdering order = AtomicOrdering::Monotonic;
	Type *type = f.getReturnType();
	Value *pointer = f.getArg(0);

	if (name == "cmpxchg" && f.arg_size() == 3)
		return b.CreateExtractValue(
			b.CreateAtomicCmpXchg(pointer, f.getArg(1), f.getArg(2), MaybeAlign(),
					      order, order), 0);

	auto operation = StringSwitch<AtomicRMWInst::BinOp>(name)
		.Cases("add", "inc", AtomicRMWInst::Add)
		.Cases("sub", "dec", AtomicRMWInst::Sub)
		.Case("and", AtomicRMWInst::And)
		.Case("or", AtomicRMWInst::Or)
		.Case("xor", AtomicRMWInst::Xor)
		.Case("xchg", AtomicRMWInst::Xchg)
		.Case("min", is_signed ? AtomicRMWInst::Min : AtomicRMWInst::UMin)
		.Case("max", is_signed ? AtomicRMWInst::Max : AtomicRMWInst::UMax)
		.Default(AtomicRMWInst::BAD_BINOP);
	bool one = name == "inc" || name == "dec";
	if (operation == AtomicRMWInst::BAD_BINOP || f.arg_size() != (one ? 1 : 2) ||
	    (type->isFloatTy() && operation != AtomicRMWInst::Xchg))
		return nullptr;
	Value *value = one ? (Value *)ConstantInt::get(type, 1) : f.getArg(1);
	return b.CreateAtomicRMW(operation, pointer, value, MaybeAlign(), order);
}

/* Defines @f if it is one: _Z<length>atomic_<name><pointer>V<type>... */
bool define_atomic(Function &f)
{
	StringRef name = f.getName();
	unsigned length;

	if (!name.consume_front("_Z") || name.consumeInteger(10, length) ||
	    length >= name.size() || f.arg_empty() || !f.getArg(0)->getType()->isPointerTy())
		return false;
	StringRef types = name.drop_front(length);
	name = name.take_front(length);
	if (!name.consume_front("atomic_") && !name.consume_front("atom_"))
		return false;
	/* The pointer's type: P U3AS<n> V <type>. */
	size_t at = types.find('V');
	if (at == StringRef::npos || at + 1 >= types.size())
		return false;
	bool is_signed = types[at + 1] == 'i' || types[at + 1] == 'l';

	BasicBlock *block = BasicBlock::Create(f.getContext(), "", &f);
	IRBuilder<> b(block);
	Value *result = make_atomic(b, name, f, is_signed);
	if (!result) {
		f.deleteBody();
		return false;
	}
	b.CreateRet(result);
	return true;
}
