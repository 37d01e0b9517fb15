// SPDX-License-Identifier: MIT
/*
 * items.cc - outlines the body of a kernel into a function of one work-item
 *
 * Its arguments are the values that the entry has loaded (arguments, sizes) and the
 * local ids of the work-item.
 *
 *	kernel void k(...) { body }	item(values..., x, y, z) { body }
 *					k(args, group) { entry; for z, y, x: item(..., x, y, z); }
 *
 * The vectoriser makes the function of several work-items from it; rows.cc calls both in
 * loops, where they are inlined in the end.
 */
#include "salvo_cc.h"
#include "items.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/Cloning.h>

using namespace llvm;

/* Padded where the source asks for more alignment than the type has. */
Type *private_type(const AllocaInst &alloca)
{
	Type *type = ArrayType::get(alloca.getAllocatedType(),
				    cast<ConstantInt>(alloca.getArraySize())->getZExtValue());
	uint64_t bytes = alloca.getDataLayout().getTypeAllocSize(type);
	uint64_t pad = alignTo(bytes, alloca.getAlign()) - bytes;

	Type *byte = Type::getInt8Ty(type->getContext());

	return pad ? StructType::get(type, ArrayType::get(byte, pad)) : type;
}

void turn_items(items &of, unsigned a, unsigned b)
{
	Argument *first = of.id(*of.function, a), *second = of.id(*of.function, b);
	SmallVector<Use *> of_first;

	for (Use &use : first->uses())
		of_first.push_back(&use);
	second->replaceAllUsesWith(first);
	for (Use *use : of_first)
		use->set(second);
	std::swap(of.group[a], of.group[b]);
	std::swap(of.dimension[a], of.dimension[b]);
}

items build_items(kernel &k, BasicBlock *body, group_values &v)
{
	Function &f = *k.function;
	BasicBlock &entry = f.front();
	IRBuilder<> b(&entry);
	SmallSetVector<Value *, 16> used;
	SmallVector<Type *> types;
	SmallVector<AllocaInst *> private_memory;
	Value *ids[3];
	items made;

	find_strips(k, entry, v, made);
	std::copy_n(k.required_group, 3, made.group);
	/* Stand-ins for the local ids until they are arguments. */
	for (Value *&id : ids)
		id = b.Insert(new FreezeInst(PoisonValue::get(b.getInt64Ty())));
	replace_ids(f, v, ids);

	for (Instruction &inst : entry)
		if (auto *alloca = dyn_cast<AllocaInst>(&inst))
			private_memory.push_back(alloca);
	for (AllocaInst *alloca : private_memory)
		alloca->moveBefore(*body, body->begin());

	for (BasicBlock &block : drop_begin(f))
		for (Instruction &inst : block)
			for (Value *operand : inst.operands()) {
				auto *from = dyn_cast<Instruction>(operand);
				if (isa<Argument>(operand) || (from && from->getParent() == &entry))
					used.insert(operand);
			}
	for (Value *id : ids)
		used.remove(id);
	made.values.assign(used.begin(), used.end());
	for (Value *value : made.values)
		types.push_back(value->getType());
	types.append(3, b.getInt64Ty());

	auto *type = FunctionType::get(b.getVoidTy(), types, false);
	Function *item = Function::Create(type, GlobalValue::InternalLinkage, f.getName() + ".item",
					  f.getParent());
	item->setAttributes(AttributeList::get(f.getContext(), AttributeList::FunctionIndex,
					       AttrBuilder(f.getContext(),
							   f.getAttributes().getFnAttrs())));
	item->splice(item->begin(), &f, body->getIterator(), f.end());
	auto replace = [&](Value *value, Argument *arg) {
		arg->setName(value->getName());
		value->replaceUsesWithIf(arg, [&](Use &use) {
			return cast<Instruction>(use.getUser())->getFunction() == item;
		});
	};
	for (unsigned i = 0; i < made.values.size(); i++)
		replace(made.values[i], item->getArg(i));
	static const char *const names[] = { "x", "y", "z" };
	for (unsigned d = 0; d < 3; d++) {
		Argument *arg = item->getArg(made.values.size() + d);
		replace(ids[d], arg);
		arg->setName(names[d]);
		cast<Instruction>(ids[d])->eraseFromParent();
	}
	made.function = item;
	return made;
}
