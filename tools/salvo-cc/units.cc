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
 *
 * Strides of bytes, as of tensors, are the size of an element instead.
 */
#include "interior.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallSet.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>

using namespace llvm;
using namespace llvm::PatternMatch;

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
	change of_sum(const PHINode &sum, unsigned depth) const;
	bool is_of_row(const Value *v, unsigned depth) const;
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

/* Elements from which on neighbours are no longer the channels of a pixel, say */
static const uint64_t far = 16;

static bool is_far(const Value *v)
{
	auto *number = dyn_cast<ConstantInt>(v);

	return number && number->getValue().abs().uge(far);
}

/* Is @product, by a constant, one of that many? */
static bool is_of_far(const Instruction &product)
{
	auto *number = dyn_cast<ConstantInt>(product.getOperand(1));

	return product.getOpcode() == Instruction::Shl ?
	       number && number->getLimitedValue(64) >= Log2_64(far) :
	       is_far(product.getOperand(1));
}

/* Is it the same for a row, and in all iterations? */
bool address_parts::is_of_row(const Value *v, unsigned depth) const
{
	auto *inst = dyn_cast<Instruction>(v);

	if (v == &x)
		return false;
	return !inst || (depth && !isa<PHINode>(inst) && !isa<CallInst>(inst) &&
			 all_of(inst->operand_values(), [&](const Value *operand) {
				 return is_of_row(operand, depth - 1);
			 }));
}

/* A sum over the iterations of a loop, as of the places of a pixel's channels in an image */
change address_parts::of_sum(const PHINode &sum, unsigned depth) const
{
	for (unsigned i = 0; i < 2 && sum.getNumIncomingValues() == 2; i++) {
		Value *step;

		if (!match(sum.getIncomingValue(i), m_c_Add(m_Specific(&sum), m_Value(step))))
			continue;
		if (isa<Constant>(step) ? !is_far(step) : of(step, depth - 1) == UNIT)
			return UNIT;
		return std::max(of(sum.getIncomingValue(1 - i), depth - 1), SCALED);
	}
	return UNIT;
}

change address_parts::of(const Value *v, unsigned depth) const
{
	auto *inst = dyn_cast<Instruction>(v);

	if (is_id(v))
		return UNIT;
	if (!inst || inst == &product)
		return NONE;
	if (!depth)
		return UNIT;
	if (inst->getOpcode() == Instruction::Mul || inst->getOpcode() == Instruction::Shl) {
		const change left = of(inst->getOperand(0), depth - 1);
		const change right = of(inst->getOperand(1), depth - 1);

		if (left == NONE && right == NONE)
			return NONE;
		if (isa<Constant>(inst->getOperand(1)))
			return is_of_far(*inst) ? SCALED : left;
		return left == NONE || right == NONE ? SCALED : UNIT;
	}
	if (auto *phi = dyn_cast<PHINode>(inst))
		return of_sum(*phi, depth);
	/* A table of a number for each image, say */
	if (isa<LoadInst>(inst))
		return is_of_row(inst->getOperand(0), depth) ? NONE : UNIT;
	if (inst->mayReadOrWriteMemory())
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

/* Is it the same number in other bits? */
static bool is_resized(const Value *v)
{
	return isa<SExtInst>(v) || isa<ZExtInst>(v) || isa<TruncInst>(v);
}

static Value *before_casts(Value *v)
{
	while (is_resized(v))
		v = cast<CastInst>(v)->getOperand(0);
	return v;
}

/* Scalars are so many units of @unit bytes, of which an index counts; 1 if that is no number. */
static unsigned units_of_scalar(const Instruction &access, unsigned unit, const DataLayout &layout)
{
	Type *type = access.getAccessType()->getScalarType();
	const unsigned bytes = layout.getTypeStoreSize(type).getFixedValue();

	return unit && bytes % unit == 0 ? bytes / unit : 1;
}

/* The bytes that the index of @gep counts, or 0 */
static unsigned unit_of(const GetElementPtrInst &gep, const DataLayout &layout)
{
	return gep.getNumIndices() == 1 ?
	       layout.getTypeAllocSize(gep.getSourceElementType()).getFixedValue() : 0;
}

namespace {

/* A sum or address that a product is part of: what is added to it, and the bytes that it counts */
struct sum_of_product {
	int64_t offset;
	unsigned unit;
};

} /* namespace */

/*
 * The addresses in global memory that @product is part of, and the stride at which @x accesses
 * neighbours there; false if there are none, or if several differ by constants only or in that.
 */
static bool find_addresses(const Instruction &product, SetVector<const GetElementPtrInst *> &found,
			   unsigned *one)
{
	SmallMapVector<const Instruction *, sum_of_product, 16> sums;
	SmallSet<int64_t, 4> constants;
	SmallSet<unsigned, 2> ones;
	const DataLayout &layout = product.getDataLayout();

	sums.insert({ &product, { 0, 0 } });
	for (unsigned i = 0; i < sums.size() && i < max_sums; i++) {
		const Instruction *sum = (sums.begin() + i)->first;
		const auto [offset, unit] = (sums.begin() + i)->second;

		for (const User *user : sum->users()) {
			auto *inst = cast<Instruction>(user);
			const unsigned opcode = inst->getOpcode();
			auto *number = inst->getNumOperands() == 2 ?
				dyn_cast<ConstantInt>(inst->getOperand(1)) : nullptr;
			const int64_t next = offset + (number ? number->getSExtValue() : 0);

			if (opcode == Instruction::Add || opcode == Instruction::Sub) {
				sums.insert({ inst, { next, unit } });
			} else if (isa<PHINode>(inst)) {
				sums.insert({ inst, { offset, unit } });
			} else if (is_resized(inst) || is_marked_shift(*inst)) {
				sums.insert({ inst, { offset, unit } });
			} else if (auto *gep = dyn_cast<GetElementPtrInst>(inst)) {
				if (gep->getPointerAddressSpace() != GLOBAL &&
				    gep->getPointerAddressSpace() != CONSTANT)
					return false;
				const unsigned counts = isa<GetElementPtrInst>(sum) ? unit :
							unit_of(*gep, layout);
				sums.insert({ gep, { next, counts } });
				for (const User *u : gep->users()) {
					if (!isa<LoadInst>(u) && !isa<StoreInst>(u))
						continue;
					found.insert(gep);
					constants.insert(next);
					ones.insert(units_of_scalar(*cast<Instruction>(u), counts,
								    layout));
				}
			}
		}
	}
	if (found.empty() || constants.size() > 1 || ones.size() > 1)
		return false;
	*one = *ones.begin();
	return true;
}

/*
 * Is it x times a constant plus an invariant, or does it begin as one and go on by an invariant
 * in a loop of one block? In others there is more to do than what the stride makes faster.
 */
bool interior::follows_x(Value *v)
{
	auto *phi = dyn_cast<PHINode>(before_casts(v));

	if (scale_of(v, max_depth))
		return true;
	if (!phi || phi->getNumIncomingValues() != 2)
		return false;
	for (unsigned i = 0; i < 2; i++) {
		Value *next = phi->getIncomingValue(1 - i), *step;

		if (phi->getIncomingBlock(1 - i) == phi->getParent() &&
		    scale_of(phi->getIncomingValue(i), max_depth) &&
		    match(next, m_c_Add(m_Specific(phi), m_Value(step))) &&
		    can_evaluate(step, max_depth))
			return true;
	}
	return false;
}

/* Is @v, a stride or a cast of one, for nothing but elements in global memory that are it apart? */
bool interior::only_strides(Value &v)
{
	return all_of(v.users(), [&](User *user) {
		auto *inst = cast<Instruction>(user);
		SetVector<const GetElementPtrInst *> addresses;
		unsigned one;

		if (is_resized(inst))
			return only_strides(*inst);
		if (inst->getOpcode() != Instruction::Mul)
			return false;
		const address_parts parts(x, *inst);
		loading = true;
		const bool follows = follows_x(inst->getOperand(0)) ||
				     follows_x(inst->getOperand(1));
		loading = false;
		return follows && find_addresses(*inst, addresses, &one) &&
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
		unsigned one;

		if (!product || product->getOpcode() != Instruction::Mul ||
		    !product->getType()->isIntegerTy() || units.size() == max_units)
			continue;
		const address_parts parts(x, *product);
		for (unsigned i = 0; i < 2; i++) {
			Value *factor = product->getOperand(i);
			Value *stride = product->getOperand(1 - i);

			if (isa<Constant>(stride) || !can_evaluate(stride, max_depth))
				continue;
			loading = true;
			const bool follows = follows_x(factor);
			loading = false;
			if (parts.of(stride) != NONE || !follows ||
			    !find_addresses(*product, addresses, &one))
				continue;
			if (all_of(addresses, [&](const GetElementPtrInst *gep) {
				    return parts.of(gep) == SCALED;
			    }) || only_strides(*before_casts(stride)))
				units.push_back({ product, factor, stride, one });
			break;
		}
	}
}

/* In a copy of the work-item, where all of them are what makes neighbours */
void interior::specialise_units(ValueToValueMapTy &map) const
{
	for (const row_unit &u : units) {
		auto *product = cast<Instruction>(&*map[u.product]);
		Value *factor = map.lookup(u.factor);

		if (!factor)
			factor = u.factor;
		if (u.one != 1)
			factor = BinaryOperator::CreateMul(
				factor, ConstantInt::get(factor->getType(), u.one), "",
				product->getIterator());
		product->replaceAllUsesWith(factor);
	}
}

/* Code for whether all of them are that */
Value *interior::emit_units(IRBuilder<> &b)
{
	Value *all = b.getTrue();

	for (const row_unit &u : units) {
		Value *stride = evaluate(b, u.stride);
		Constant *one = ConstantInt::get(stride->getType(), u.one);

		all = b.CreateAnd(all, b.CreateICmpEQ(stride, one));
	}
	return all;
}
