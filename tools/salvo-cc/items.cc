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
#include <llvm/Analysis/ValueTracking.h>
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

/* Does the entry know it? */
static bool is_known(const Value *value, const BasicBlock &entry)
{
	auto *inst = dyn_cast<Instruction>(value);

	return inst ? inst->getParent() == &entry : isa<Argument>(value);
}

static bool converts_to_integer(const User *user)
{
	return isa<FPToSIInst>(user) || isa<FPToUIInst>(user);
}

/* An integer, or a number that is only converted to integers */
static bool is_size(const LoadInst &load)
{
	return load.getType()->isIntegerTy() ||
	       (load.getType()->isFloatingPointTy() && all_of(load.users(), converts_to_integer));
}

/* So many fit into registers. More are coefficients. */
static const unsigned max_sizes = 8;

/*
 * Sizes and the like that a kernel takes from a structure in constant memory are loaded at its
 * entry: as values that are the same for all work-items, tests of them have an interior, and
 * quotients by them are computed once a row. Coefficients stay where they are: lanes multiply by
 * them in memory.
 */
static void hoist_sizes(const kernel &k, BasicBlock &entry, BasicBlock &body)
{
	SmallPtrSet<const Value *, max_sizes> sizes;

	if (k.checked)
		return;
	for (Instruction &inst : make_early_inc_range(body)) {
		auto *load = dyn_cast<LoadInst>(&inst);

		if (!isGuaranteedToTransferExecutionToSuccessor(&inst))
			break;
		if (converts_to_integer(&inst) || isa<FreezeInst>(inst)) {
			if (sizes.contains(inst.getOperand(0))) {
				inst.moveBefore(entry, entry.end());
				sizes.insert(&inst);
			}
			continue;
		}
		if (!load || !load->isSimple() || load->getPointerAddressSpace() != CONSTANT ||
		    !is_size(*load) || sizes.size() >= max_sizes)
			continue;
		auto *element = dyn_cast<GetElementPtrInst>(load->getPointerOperand());
		if (element && element->getParent() == &body && element->hasAllConstantIndices() &&
		    is_known(element->getPointerOperand(), entry))
			element->moveBefore(entry, entry.end());
		if (is_known(load->getPointerOperand(), entry)) {
			load->moveBefore(entry, entry.end());
			sizes.insert(load);
		}
	}
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
	cancel_terms(f, ids, &entry);

	for (Instruction &inst : entry)
		if (auto *alloca = dyn_cast<AllocaInst>(&inst))
			private_memory.push_back(alloca);
	for (AllocaInst *alloca : private_memory)
		alloca->moveBefore(*body, body->begin());
	hoist_sizes(k, entry, *body);

	for (BasicBlock &block : drop_begin(f))
		for (Instruction &inst : block)
			for (Value *operand : inst.operands())
				if (is_known(operand, entry))
					used.insert(operand);
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
