// SPDX-License-Identifier: MIT
/*
 * strips.cc - work-groups of a row that may run as one
 *
 * In a strip the group id is that of its first work-group, and the local id goes on through all of
 * them. This is right for a kernel without local memory that uses both ids in dimension 0 only to
 * number the work-items of all work-groups:
 *
 *	group_id * local_size + local_id
 *
 * Kernels for several images, or matrices, launch the work-groups of one after those of another
 * and divide the group id by the work-groups that each has, a batch:
 *
 *	batch = group_id / n, x = (group_id - batch * n) * local_size + local_id
 *
 * The quotient is the same for a strip that ends with the batch, and so is what is taken from the
 * group id. @n must be the same for all work-items, so that the kernel's entry can compute it.
 *
 * Kernels whose work-groups are too many for one dimension of the first GPUs number them in two:
 *
 *	(group_id + group_id(1) * num_groups) * local_size + local_id
 *
 * Where a row has one work-group, those of several rows run as one, if the kernel uses neither
 * local nor group ids in dimension 1.
 *
 * What append.cc adds to a kernel has local memory and barriers, but divides the places of a list
 * among all work-items of a strip. That has no more of them than a work-group may have.
 */
#include "items.h"

#include "division.h"

#include <cstddef>

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>

#include "salvo_hw.h"
#include "salvo_kernel.h"

using namespace llvm;
using namespace llvm::PatternMatch;

/* Operations from what is the same for a row to constants and ids */
static const unsigned max_depth = 8;

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

static Value *before_casts(Value *v)
{
	while (keeps_numbers(v))
		v = cast<CastInst>(v)->getOperand(0);
	return v;
}

/* Does @is hold for all users of @v, and of what it is cast to? */
static bool all_users(Value &v, function_ref<bool(const Use &)> is)
{
	return all_of(v.uses(), [&](const Use &use) {
		return keeps_numbers(use.getUser()) ? all_users(*use.getUser(), is) : is(use);
	});
}

/* The other operand of the user, if that is an instruction of @opcode */
static Value *other_operand(const Use &use, unsigned opcode)
{
	auto *user = cast<Instruction>(use.getUser());

	return user->getOpcode() == opcode ?
	       before_casts(user->getOperand(1 - use.getOperandNo())) : nullptr;
}

static bool is_group_id(Value *v)
{
	return is_id(before_casts(v), "group_id.0");
}

static bool is_local_size(Value *v)
{
	v = before_casts(v);
	return is_id(v, "extent.0") || is_id(v, "local_size.0");
}

/* What is divided by @v, which may have been kept from being 0. */
static Value *divisor(Value *v)
{
	Value *n;

	v = before_casts(v);
	return match(v, m_UMax(m_Value(n), m_One())) ? before_casts(n) : v;
}

/* The divisor of a quotient of the group id, or NULL */
static Value *divides_group_id(Value *v)
{
	Value *id, *n;

	if (!match(before_casts(v), m_IDiv(m_Value(id), m_Value(n))) || !is_group_id(id))
		return nullptr;
	return divisor(n);
}

/* group_id - group_id / n * n */
static bool is_rest(Value &v)
{
	Value *id, *product, *a, *b;

	if (!match(&v, m_Sub(m_Value(id), m_Value(product))) || !is_group_id(id) ||
	    !match(before_casts(product), m_Mul(m_Value(a), m_Value(b))))
		return false;
	return divides_group_id(a) == divisor(b) || divides_group_id(b) == divisor(a);
}

static Value *before_truncs(Value *v)
{
	while (auto *trunc = dyn_cast<TruncInst>(v))
		v = trunc->getOperand(0);
	return v;
}

/* Is it the same for all work-groups of a row? */
static bool is_of_row(const Value *v, unsigned depth)
{
	auto *inst = dyn_cast<Instruction>(v);

	if (!inst)
		return true;
	if (!depth || is_id(inst, "global_id.0") || is_id(inst, "local_id.0") ||
	    is_id(inst, "group_id.0"))
		return false;
	if (isa<PHINode>(inst) || inst->mayReadFromMemory())	/* an argument? */
		return inst->getParent() == &inst->getFunction()->getEntryBlock();
	return all_of(inst->operand_values(), [depth](const Value *operand) {
		return is_of_row(operand, depth - 1);
	});
}

/* The group id plus what is the same for the row, in the bits that are left in the end */
static bool is_of_rows(Value *v)
{
	Value *a, *b;

	return match(before_truncs(v), m_Add(m_Value(a), m_Value(b))) &&
	       ((is_group_id(a) && is_of_row(b, max_depth)) ||
		(is_group_id(b) && is_of_row(a, max_depth)));
}

/* The group id, or what a division by the length of a batch leaves of it */
static bool is_place(Value *v)
{
	Value *id;

	v = before_casts(v);
	if (match(v, m_IRem(m_Value(id), m_Value())))
		return is_group_id(id);
	return is_group_id(v) || is_rest(*v);
}

/* The number of the work-group's first work-item, in the batch or of all */
static bool is_first_item(Value *v)
{
	Value *a, *b;

	if (match(before_truncs(v), m_Mul(m_Value(a), m_Value(b))) &&
	    ((is_of_rows(a) && is_local_size(b)) || (is_of_rows(b) && is_local_size(a))))
		return true;
	return match(before_casts(v), m_Mul(m_Value(a), m_Value(b))) &&
	       ((is_place(a) && is_local_size(b)) || (is_place(b) && is_local_size(a)));
}

/* Does @use multiply the place of a work-group by its size, for nothing but numbers of items? */
static bool makes_numbers(const Use &use)
{
	Value *size = other_operand(use, Instruction::Mul);

	return size && is_local_size(size) && all_users(*use.getUser(), [](const Use &sum) {
		Value *local = other_operand(sum, Instruction::Add);
		return local && is_id(local, "local_id.0");
	});
}

namespace {
class strip_finder {
	BasicBlock &entry;
	SmallVector<Value *> &batches;

	Value *in_entry(Value *v, unsigned depth);
	bool add_batch(Instruction &division);
	bool is_number(const Use &use);

public:
	strip_finder(BasicBlock &at, SmallVector<Value *> &found) : entry(at), batches(found) {}

	bool find(const kernel &k);
};
}

/* @v computed by the entry, or NULL if that is another value in each work-item or group */
Value *strip_finder::in_entry(Value *v, unsigned depth)
{
	auto *inst = dyn_cast<Instruction>(v);

	if (!inst || inst->getParent() == &entry)
		return isa<Constant>(v) || isa<Argument>(v) || inst ? v : nullptr;
	for (StringRef id : { "global_id.0", "local_id.0", "group_id.0", "global_id.1", "local_id.1",
			      "global_id.2", "local_id.2" })
		if (is_id(inst, id))
			return nullptr;
	if (depth == max_depth || isa<PHINode>(inst) || inst->mayReadFromMemory() ||
	    !isSafeToSpeculativelyExecute(inst))
		return nullptr;

	Instruction *copy = inst->clone();
	for (Use &operand : copy->operands()) {
		Value *made = in_entry(operand, depth + 1);

		if (!made) {
			copy->deleteValue();
			return nullptr;
		}
		operand = made;
	}
	copy->dropPoisonGeneratingAnnotations();
	copy->insertInto(&entry, entry.end());
	return copy;
}

/* The entry computes by what @division divides, but no 0. */
bool strip_finder::add_batch(Instruction &division)
{
	Value *n = in_entry(division.getOperand(1), 0);
	IRBuilder<> b(&entry);

	if (!n)
		return false;
	if (is_signed_division(division))
		n = b.CreateBinaryIntrinsic(Intrinsic::abs, n, b.getFalse());
	n = b.CreateZExtOrTrunc(n, b.getInt64Ty());
	batches.push_back(b.CreateBinaryIntrinsic(Intrinsic::umax, n, b.getInt64(1)));
	return true;
}

/* Is this use of the group id right in a strip that ends with the batch? */
bool strip_finder::is_number(const Use &use)
{
	auto *user = cast<Instruction>(use.getUser());

	switch (user->getOpcode()) {
	case Instruction::Mul:
		return makes_numbers(use);
	case Instruction::UDiv:
	case Instruction::SDiv:
		return use.getOperandNo() == 0 && add_batch(*user);
	case Instruction::URem:
	case Instruction::SRem:
		return use.getOperandNo() == 0 && all_users(*user, makes_numbers) &&
		       add_batch(*user);
	case Instruction::Sub:
		return is_rest(*user) && all_users(*user, makes_numbers);
	case Instruction::Add:
		return is_of_rows(user) && all_users(*user, makes_numbers);
	default:
		return false;
	}
}

bool strip_finder::find(const kernel &k)
{
	for (const kernel_arg &arg : k.args)
		if (arg.kind == SALVO_ARG_LOCAL)
			return false;
	if (k.local_bytes && !has_shared_appends(*k.function))
		return false;
	return all_of(instructions(*k.function), [&](Instruction &inst) {
		auto *call = dyn_cast<CallInst>(&inst);

		if (!call || !call->getCalledFunction())
			return true;
		if (is_id(call, "group_id.0"))
			return all_users(*call, [&](const Use &use) { return is_number(use); });
		if (is_id(call, "local_id.0"))
			return all_users(*call, [](const Use &use) {
				Value *first = other_operand(use, Instruction::Add);
				return first && is_first_item(first);
			});
		return !is_barrier(*call) || has_shared_appends(*k.function);
	});
}

static bool uses_id(const Function &f, StringRef id)
{
	return any_of(instructions(f), [id](const Instruction &inst) {
		return is_id(&inst, id);
	});
}

/* Work-groups of which the strip consists */
static Value *strip_groups(IRBuilder<> &b, const kernel &k, const items &of, const group_values &v)
{
	Value *one = b.getInt64(1), *run = b.CreateZExt(v.run, b.getInt64Ty());
	Value *rest = b.CreateSub(v.global_size[0], v.first_id[0], "", true, true);
	auto at_most = [&](Value *groups) {
		run = b.CreateBinaryIntrinsic(Intrinsic::umin, run, groups);
	};

	/* Work-items read the size of their work-group: a smaller last one runs alone. */
	if (uses_id(*k.function, "extent.0"))
		at_most(b.CreateBinaryIntrinsic(Intrinsic::umax,
						b.CreateUDiv(rest, v.local_size[0]), one));
	if (has_shared_appends(*k.function)) {
		Value *items = b.CreateMul(v.local_size[1], v.local_size[2], "", true, true);

		items = b.CreateMul(items, v.local_size[0], "", true, true);
		at_most(b.CreateUDiv(b.getInt64(SALVO_MAX_GROUP_ITEMS), items));
	}
	for (Value *batch : of.batches)
		at_most(b.CreateSub(batch, b.CreateURem(v.group_id[0], batch)));
	return run;
}

/* Does the kernel number its work-items in dimension 1 by global ids alone? */
static bool has_plain_columns(const Function &f)
{
	return uses_id(f, "global_id.1") && !uses_id(f, "local_id.1") &&
	       !uses_id(f, "group_id.1") && !uses_id(f, "extent.1");
}

void find_strips(const kernel &k, BasicBlock &entry, group_values &v, items &of)
{
	IRBuilder<> b(&entry);
	auto length_of = [&](unsigned d, Value *run) {
		Value *rest = b.CreateSub(v.global_size[d], v.first_id[d], "", true, true);
		Value *most = b.CreateMul(run, v.local_size[d], "", true, true);

		return b.CreateBinaryIntrinsic(Intrinsic::umin, most, rest);
	};

	of.strips = strip_finder(entry, of.batches).find(k);
	of.run = b.getInt64(1);
	if (of.strips) {
		of.run = strip_groups(b, k, of, v);
		v.row_size = length_of(0, of.run);
	}
	if (!k.barriers && !k.local_bytes && has_plain_columns(*k.function)) {
		/* 0 from a GPU that is older than the field */
		Value *rows = b.CreateBinaryIntrinsic(Intrinsic::umax,
						      b.CreateZExt(v.rows, b.getInt64Ty()),
						      b.getInt64(1));

		v.extent[1] = length_of(1, rows);
		of.run = b.CreateBinaryIntrinsic(Intrinsic::umax, of.run, rows);
	}
}

void store_ran(IRBuilder<> &b, const items &of, const group_values &v)
{
	if (!isa<Constant>(of.run))
		b.CreateStore(b.CreateTrunc(of.run, b.getInt32Ty()),
			      b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), v.group,
							   offsetof(salvo_group, ran)));
}

void keep_groups(items &of, group_values &v)
{
	of.strips = false;
	of.run = ConstantInt::get(of.run->getType(), 1);
	v.row_size->replaceAllUsesWith(v.extent[0]);
	std::replace(of.values.begin(), of.values.end(), v.row_size, v.extent[0]);
	v.row_size = v.extent[0];
}
