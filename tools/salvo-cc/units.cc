// SPDX-License-Identifier: MIT
/*
 * units.cc - products of x by a stride that is an argument, but is one for most calls
 *
 * Libraries pass the strides of an array in all of its dimensions, so that one kernel serves arrays
 * and parts of them in any order:
 *
 *	a[x * strides[0] + y * strides[1]]
 *
 * Lanes gather, although strides[0] is one unless the array is transposed. The version for the
 * interior (interior.cc) takes such strides as one, so that what neighbours access is contiguous;
 * in rows where one of them is not, the interior is empty and all work-items run the general code.
 *
 * In most sums of products that are indices some dimension has neighbours in memory. It is not
 * that of x where another part of the sum changes without such a factor, as in x * height + y or
 * x * n + i, and hardly where the same product is used with several constants, as the channels of a
 * pixel in x * channels + 2. Where nothing else in the sum changes, as in x * n + column, the
 * factor may as well be the length of a row. Then it mostly is used for something else too, as in
 * x < n, and else the stride of a vector: y[x * incy + offset].
 */
#include "interior.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallSet.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

using namespace llvm;

/* Operations from an address to what it is computed from, and from a product to an address */
static const unsigned max_depth = 16;

/* Instructions of a work-item up to which a version is made */
static const unsigned max_item = 2000;

static const unsigned max_units = 8;

/* Sums and addresses that a product is part of */
static const unsigned max_sums = 64;

namespace {

/* How something in an index changes from work-item to work-item, or in a loop */
enum change { NONE, SCALED, UNIT };

/* What the parts of an address other than one product do */
class address_parts {
public:
	address_parts(const Argument &x, const Instruction &product) : x(x), product(product) {}

	change of(const Value *v, unsigned depth = max_depth) const;

private:
	bool is_id(const Value *v) const
	{
		auto *arg = dyn_cast<Argument>(v);

		return arg && arg->getArgNo() >= x.getArgNo() &&
		       arg->getArgNo() <= x.getArgNo() + 2;
	}

	const Argument &x;
	const Instruction &product;
};

} /* namespace */

change address_parts::of(const Value *v, unsigned depth) const
{
	auto *inst = dyn_cast<Instruction>(v);

	if (is_id(v))
		return UNIT;
	if (!inst || inst == &product)
		return NONE;
	if (!depth)
		return UNIT;
	if (inst->getOpcode() == Instruction::Mul) {
		const change left = of(inst->getOperand(0), depth - 1);
		const change right = of(inst->getOperand(1), depth - 1);

		if (left == NONE && right == NONE)
			return NONE;
		if (isa<Constant>(inst->getOperand(1)))
			return left;
		return left == NONE || right == NONE ? SCALED : UNIT;
	}
	if (isa<PHINode>(inst) || inst->mayReadOrWriteMemory())
		return UNIT;
	change all = NONE;
	for (const Value *operand : inst->operand_values())
		all = std::max(all, of(operand, depth - 1));
	return all;
}

/* A shift by 0 marks an id that is cut to fewer bits (extensions.cc). */
static bool is_marked_shift(const Instruction &inst)
{
	auto *bits = inst.getOpcode() == Instruction::Shl ?
		dyn_cast<ConstantInt>(inst.getOperand(1)) : nullptr;

	return bits && bits->isZero();
}

static Value *before_casts(Value *v)
{
	while (isa<SExtInst>(v) || isa<ZExtInst>(v) || isa<TruncInst>(v))
		v = cast<CastInst>(v)->getOperand(0);
	return v;
}

/*
 * The addresses in global memory that @product is part of; false if there are none, or if several
 * differ by constants only.
 */
static bool find_addresses(const Instruction &product, SetVector<const GetElementPtrInst *> &found)
{
	SmallMapVector<const Instruction *, int64_t, 16> sums;
	SmallSet<int64_t, 4> constants;

	sums.insert({ &product, 0 });
	for (unsigned i = 0; i < sums.size() && i < max_sums; i++) {
		const auto [sum, offset] = *(sums.begin() + i);

		for (const User *user : sum->users()) {
			auto *inst = cast<Instruction>(user);
			const unsigned opcode = inst->getOpcode();
			auto *number = inst->getNumOperands() == 2 ?
				dyn_cast<ConstantInt>(inst->getOperand(1)) : nullptr;
			const int64_t next = offset + (number ? number->getSExtValue() : 0);

			if (opcode == Instruction::Add || opcode == Instruction::Sub) {
				sums.insert({ inst, next });
			} else if (isa<SExtInst>(inst) || isa<ZExtInst>(inst) ||
				   isa<TruncInst>(inst) || is_marked_shift(*inst)) {
				sums.insert({ inst, offset });
			} else if (auto *gep = dyn_cast<GetElementPtrInst>(inst)) {
				if (gep->getPointerAddressSpace() != GLOBAL &&
				    gep->getPointerAddressSpace() != CONSTANT)
					return false;
				sums.insert({ gep, next });
				if (any_of(gep->users(), [](const User *u) {
					    return isa<LoadInst>(u) || isa<StoreInst>(u);
				    })) {
					found.insert(gep);
					constants.insert(next);
				}
			}
		}
	}
	return !found.empty() && constants.size() < 2;
}

/* Is @v, a stride or a cast of one, for nothing but elements in global memory that are it apart? */
bool interior::only_strides(Value &v)
{
	return all_of(v.users(), [&](User *user) {
		auto *inst = cast<Instruction>(user);
		SetVector<const GetElementPtrInst *> addresses;

		if (isa<SExtInst>(inst) || isa<ZExtInst>(inst) || isa<TruncInst>(inst))
			return only_strides(*inst);
		if (inst->getOpcode() != Instruction::Mul)
			return false;
		const address_parts parts(x, *inst);
		return (scale_of(inst->getOperand(0), max_depth) ||
			scale_of(inst->getOperand(1), max_depth)) &&
		       find_addresses(*inst, addresses) &&
		       none_of(addresses, [&](const GetElementPtrInst *gep) {
			       return parts.of(gep) == UNIT;
		       });
	});
}

void interior::find_units()
{
	if (item.getInstructionCount() > max_item)
		return;
	for (Instruction &inst : instructions(item)) {
		auto *product = dyn_cast<BinaryOperator>(&inst);
		SetVector<const GetElementPtrInst *> addresses;

		if (!product || product->getOpcode() != Instruction::Mul ||
		    !product->getType()->isIntegerTy() || units.size() == max_units)
			continue;
		const address_parts parts(x, *product);
		for (unsigned i = 0; i < 2; i++) {
			Value *factor = product->getOperand(i);
			Value *stride = product->getOperand(1 - i);

			if (isa<Constant>(stride) || !can_evaluate(stride, max_depth) ||
			    parts.of(stride) != NONE || !scale_of(factor, max_depth) ||
			    !find_addresses(*product, addresses))
				continue;
			if (all_of(addresses, [&](const GetElementPtrInst *gep) {
				    return parts.of(gep) == SCALED;
			    }) || only_strides(*before_casts(stride)))
				units.push_back({ product, factor, stride });
			break;
		}
	}
}

/* In a copy of the work-item, where all of them are one */
void interior::specialise_units(ValueToValueMapTy &map) const
{
	for (const row_unit &u : units)
		map[u.product]->replaceAllUsesWith(map.lookup(u.factor) ? &*map[u.factor] :
						   u.factor);
}

/* Code for whether all of them are one */
Value *interior::emit_units(IRBuilder<> &b)
{
	Value *all = b.getTrue();

	for (const row_unit &u : units) {
		Value *stride = evaluate(b, u.stride);
		Constant *one = ConstantInt::get(stride->getType(), 1);

		all = b.CreateAnd(all, b.CreateICmpEQ(stride, one));
	}
	return all;
}
