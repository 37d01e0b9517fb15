// SPDX-License-Identifier: MIT
/*
 * int_ids.cc - global ids that kernels take as ints, of work-items that run one after the other
 *
 *	int i = get_global_id(0);	a[i * w]
 *
 * With a global offset ids may be 2^31 and more, where the int wraps around. LLVM then computes
 * each address anew, which takes small work-items half of their time. So a row ends where the int
 * wraps around, which it hardly ever does, and the rest of it is another part. In each part the int
 * is a number of 64 bits plus x, and indices are computed in 64 bits:
 *
 *	wrap = 2^31 - (int)first		from x = 0 up to wrap: id = (int)first + x
 *						from there on: id = (int)first - 2^32 + x
 *
 * The item gets the number in place of the row's first id, which it may use for such ints only.
 */
#include "rows.h"
#include "salvo_cc.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

using namespace llvm;

static const unsigned int_bits = 32;

/* The ints that ids of the row are taken as: what is made of @first and @x, false if others are */
static bool find_ints(Argument &first, Argument &x, SmallVectorImpl<TruncInst *> &found)
{
	for (User *user : first.users()) {
		auto *id = dyn_cast<BinaryOperator>(user);

		if (!id || id->getOpcode() != Instruction::Add ||
		    id->getOperand(id->getOperand(0) == &first) != &x)
			return false;
		for (User *use : id->users()) {
			auto *number = dyn_cast<TruncInst>(use);

			if (!number || !number->getType()->isIntegerTy(int_bits))
				return false;
			found.push_back(number);
		}
	}
	return !found.empty();
}

bool emit_int_rows(IRBuilder<> &b, const items &of, const row &r, const group_values &v,
		   Value *length, function_ref<tail_function> tail)
{
	const Value *origin = v.origin[of.dimension[0]];
	const unsigned n = find(of.values, origin) - of.values.begin();
	SmallVector<TruncInst *> ints;

	if (r.has_lanes() || n == of.values.size() ||
	    !find_ints(*r.item->getArg(n), *of.id(*r.item, 0), ints))
		return false;
	Value *zero = b.getInt64(0);
	Value *first = b.CreateSExt(b.CreateTrunc(of.values[n], b.getInt32Ty()), b.getInt64Ty());
	Value *wrap = b.CreateSub(b.getInt64(1ull << (int_bits - 1)), first);
	Value *wraps = b.CreateICmpULT(wrap, length);

	make_loop(b, zero, b.CreateSelect(wraps, b.getInt64(2), b.getInt64(1)), 1, "ints",
		  [&](Value *i) {
		items part(of);
		Value *begins = b.CreateICmpEQ(i, zero);
		Value *from = b.CreateSelect(begins, zero, wrap);
		Value *to = b.CreateSelect(b.CreateAnd(begins, wraps), wrap, length);

		part.values[n] = b.CreateSub(first, b.CreateShl(i, int_bits));
		emit_rows(b, part, r, v, length, nullptr, tail, nullptr, { from, to });
	});
	for (TruncInst *number : ints) {
		number->setHasNoSignedWrap(true);
		number->setHasNoUnsignedWrap(false);
	}
	widen_indices(*r.item, ints);
	return true;
}
