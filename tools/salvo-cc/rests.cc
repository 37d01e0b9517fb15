// SPDX-License-Identifier: MIT
/*
 * rests.cc - a work-item for what is left of a row
 *
 * Lanes beyond the end of the row do nothing:
 *
 *	item(x)			b[x] = a[x]
 *	rest(x, first, left)	if (x - first < left) b[x] = a[x]
 */
#include "rows.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/Cloning.h>

using namespace llvm;

Function *mask_rest(const items &of, Function &item, unsigned d)
{
	LLVMContext &context = item.getContext();
	SmallVector<Type *> types(item.getFunctionType()->params());
	SmallVector<ReturnInst *> returns;
	ValueToValueMapTy map;

	types.append({ Type::getInt64Ty(context), Type::getInt32Ty(context) });
	Function *made = Function::Create(FunctionType::get(item.getReturnType(), types, false),
					  item.getLinkage(), item.getAddressSpace(),
					  item.getName(), item.getParent());
	for (Argument &arg : item.args())
		map[&arg] = made->getArg(arg.getArgNo());
	CloneFunctionInto(made, &item, map, CloneFunctionChangeType::LocalChangesOnly, returns);

	BasicBlock *entry = &made->front();
	BasicBlock *body = entry->splitBasicBlock(entry->getFirstNonPHIOrDbgOrAlloca(), "some");
	BasicBlock *none = BasicBlock::Create(context, "none", made);
	Argument *first = made->getArg(item.arg_size()), *left = made->getArg(item.arg_size() + 1);
	entry->getTerminator()->eraseFromParent();
	IRBuilder<> b(entry);
	Value *lane = b.CreateTrunc(b.CreateSub(of.id(*made, d), first), b.getInt32Ty());
	b.CreateCondBr(b.CreateICmpULT(lane, left), body, none);
	ReturnInst::Create(context, none);
	return made;
}
