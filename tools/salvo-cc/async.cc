// SPDX-License-Identifier: MIT
/*
 * async.cc - async_work_group_copy(), its strided form and wait_group_events()
 *
 * Every work-item of a group calls the copy and may use the result only after the
 * wait. So each copies its share at the call, element by element in the order of the local
 * ids, and the wait is a barrier:
 *
 *	for (i = get_local_linear_id(); i < count; i += items of the group)
 *		to[i * to_stride] = from[i * from_stride];
 *
 * Events have no content. They exist for 1- to 16-lane vectors of each type, in both
 * directions; the mangled name tells the type of an element.
 */
#include "salvo_cc.h"

using namespace llvm;

static Value *call_id(IRBuilder<> &b, Module &m, StringRef name, ArrayRef<Value *> args)
{
	SmallVector<Type *> types;

	for (Value *arg : args)
		types.push_back(arg->getType());
	CallInst *call = b.CreateCall(
		m.getOrInsertFunction(name, FunctionType::get(b.getInt64Ty(), types, false)), args);
	call->setCallingConv(CallingConv::SPIR_FUNC);
	return call;
}

/* The pointed-to type in "PU3AS3Dv4_f..." */
static Type *element_type(LLVMContext &context, StringRef mangled)
{
	unsigned space, lanes = 1;

	if (!mangled.consume_front("PU3AS") || mangled.consumeInteger(10, space))
		return nullptr;
	mangled.consume_front("K");
	if (mangled.consume_front("Dv")) {
		if (mangled.consumeInteger(10, lanes) || !mangled.consume_front("_"))
			return nullptr;
	}
	if (mangled.empty())
		return nullptr;
	Type *type = nullptr;
	switch (mangled.front()) {
	case 'c': case 'h': type = Type::getInt8Ty(context); break;
	case 's': case 't': type = Type::getInt16Ty(context); break;
	case 'i': case 'j': type = Type::getInt32Ty(context); break;
	case 'l': case 'm': type = Type::getInt64Ty(context); break;
	case 'f': type = Type::getFloatTy(context); break;
	case 'd': type = Type::getDoubleTy(context); break;
	case 'D': type = Type::getHalfTy(context); break;
	}
	/* A vector of three has the size of four. */
	return type && lanes > 1 ? FixedVectorType::get(type, lanes == 3 ? 4 : lanes) : type;
}

static void build_copy(Function &f, Type *type, bool strided)
{
	Module &m = *f.getParent();
	LLVMContext &context = f.getContext();
	BasicBlock *entry = BasicBlock::Create(context, "", &f);
	BasicBlock *loop = BasicBlock::Create(context, "copy", &f);
	BasicBlock *exit = BasicBlock::Create(context, "done", &f);
	Value *to = f.getArg(0), *from = f.getArg(1), *count = f.getArg(2);
	IRBuilder<> b(entry);

	Value *step = b.getInt64(1);
	for (unsigned i = 0; i < 3; i++)
		step = b.CreateMul(step, call_id(b, m, "_Z14get_local_sizej", { b.getInt32(i) }));
	Value *first = call_id(b, m, "_Z19get_local_linear_idv", {});
	b.CreateCondBr(b.CreateICmpULT(first, count), loop, exit);

	b.SetInsertPoint(loop);
	PHINode *i = b.CreatePHI(b.getInt64Ty(), 2);
	Value *to_at = i, *from_at = i;
	/* The stride is that of the side in global memory. */
	if (strided) {
		Value *far = b.CreateMul(i, f.getArg(3));
		if (to->getType()->getPointerAddressSpace() == GLOBAL)
			to_at = far;
		else
			from_at = far;
	}
	b.CreateStore(b.CreateLoad(type, b.CreateGEP(type, from, from_at)),
		      b.CreateGEP(type, to, to_at));
	Value *next = b.CreateAdd(i, step);
	i->addIncoming(first, entry);
	i->addIncoming(next, loop);
	b.CreateCondBr(b.CreateICmpULT(next, count), loop, exit);

	b.SetInsertPoint(exit);
	b.CreateRet(f.getArg(f.arg_size() - 1));
}

/* Defines @f if it is one of them; types of events have been replaced before. */
bool define_async(Function &f)
{
	StringRef name = f.getName();
	unsigned length;

	if (!name.consume_front("_Z") || name.consumeInteger(10, length) ||
	    length >= name.size())
		return false;
	StringRef mangled = name.drop_front(length);
	name = name.take_front(length);
	if (name == "wait_group_events" && f.arg_size() == 2) {
		IRBuilder<> b(BasicBlock::Create(f.getContext(), "", &f));
		FunctionType *type = FunctionType::get(b.getVoidTy(), { b.getInt32Ty() }, false);
		FunctionCallee barrier = f.getParent()->getOrInsertFunction("_Z7barrierj", type);
		CallInst *call = b.CreateCall(barrier, { b.getInt32(3) });
		call->setCallingConv(CallingConv::SPIR_FUNC);
		call->setConvergent();
		b.CreateRetVoid();
		return true;
	}
	bool strided = name == "async_work_group_strided_copy";
	if ((!strided && name != "async_work_group_copy") || f.arg_size() != (strided ? 5 : 4))
		return false;
	Type *type = element_type(f.getContext(), mangled);
	if (!type)
		return false;
	build_copy(f, type, strided);
	return true;
}
