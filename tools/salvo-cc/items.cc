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
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "salvo_kernel.h"

using namespace llvm;

static bool is_id(const Value *v, StringRef id)
{
	auto *call = dyn_cast<CallInst>(v);
	const Function *callee = call ? call->getCalledFunction() : nullptr;

	return callee && is_placeholder_of(*callee, id);
}

/* Casts that keep every number of a work-item, which has 31 bits in a strip. */
static bool keeps_numbers(const Value *v)
{
	return (isa<TruncInst>(v) || isa<ZExtInst>(v) || isa<SExtInst>(v)) &&
	       v->getType()->isIntegerTy() && v->getType()->getIntegerBitWidth() >= 32;
}

static const Value *before_casts(const Value *v)
{
	while (keeps_numbers(v))
		v = cast<CastInst>(v)->getOperand(0);
	return v;
}

/* Does @is hold for all users of @v, or of what it is cast to, with @v as one of two operands? */
static bool all_uses(const Value &v, unsigned opcode, function_ref<bool(const Value *)> is)
{
	return all_of(v.uses(), [&](const Use &use) {
		auto *user = cast<Instruction>(use.getUser());

		if (keeps_numbers(user))
			return all_uses(*user, opcode, is);
		return user->getOpcode() == opcode &&
		       is(before_casts(user->getOperand(1 - use.getOperandNo())));
	});
}

/* group_id * local_size, the number of the work-group's first work-item */
static bool is_first_item(const Value *v)
{
	auto *product = dyn_cast<Instruction>(v);

	if (!product || product->getOpcode() != Instruction::Mul)
		return false;
	for (unsigned i = 0; i < 2; i++) {
		const Value *size = before_casts(product->getOperand(1 - i));

		if (is_id(before_casts(product->getOperand(i)), "group_id.0") &&
		    (is_id(size, "extent.0") || is_id(size, "local_size.0")))
			return true;
	}
	return false;
}

/*
 * Is @id, a local or group id of dimension 0, only part of group_id * local_size + local_id? In a
 * strip that is the same sum of the first group's id and of the place in the strip.
 */
static bool is_part_of_number(const CallInst &id)
{
	if (is_id(&id, "local_id.0"))
		return all_uses(id, Instruction::Add, is_first_item);
	return all_uses(id, Instruction::Mul, [](const Value *size) {
		return is_id(size, "extent.0") || is_id(size, "local_size.0");
	}) && all_of(id.users(), [](const User *user) {
		while (keeps_numbers(user) && user->hasOneUse())
			user = *user->user_begin();
		return is_first_item(user) && all_uses(*user, Instruction::Add, [](const Value *v) {
			return is_id(v, "local_id.0");
		});
	});
}

/*
 * Work-groups of a row may be run as one long group, a strip, if the kernel has no local memory and
 * reads local ids and group ids of dimension 0 only to number the work-items of all groups.
 */
static bool can_strip(const kernel &k)
{
	for (const kernel_arg &arg : k.args)
		if (arg.kind == SALVO_ARG_LOCAL)
			return false;
	if (k.local_bytes)
		return false;
	return all_of(instructions(*k.function), [](const Instruction &inst) {
		auto *call = dyn_cast<CallInst>(&inst);

		if (!call || !call->getCalledFunction())
			return true;
		if (is_id(call, "local_id.0") || is_id(call, "group_id.0"))
			return is_part_of_number(*call);
		return !is_barrier(*call);
	});
}

static bool reads_extent(const kernel &k)
{
	return any_of(instructions(*k.function), [](const Instruction &inst) {
		return is_id(&inst, "extent.0");
	});
}

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

void turn_items(items &of)
{
	Argument *x = of.id(*of.function, 0), *y = of.id(*of.function, 1);
	SmallVector<Use *> of_x;

	for (Use &use : x->uses())
		of_x.push_back(&use);
	y->replaceAllUsesWith(x);
	for (Use *use : of_x)
		use->set(y);
	std::swap(of.group[0], of.group[1]);
	of.turned = !of.turned;
}

items build_items(kernel &k, BasicBlock *body, const group_values &v)
{
	Function &f = *k.function;
	BasicBlock &entry = f.front();
	IRBuilder<> b(&entry);
	SmallSetVector<Value *, 16> used;
	SmallVector<Type *> types;
	SmallVector<AllocaInst *> private_memory;
	Value *ids[3];
	items made;

	made.strips = can_strip(k);
	made.even = reads_extent(k);
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
