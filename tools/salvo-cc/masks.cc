// SPDX-License-Identifier: MIT
/*
 * masks.cc - the bits of a vector comparison in one instruction
 *
 * OpenCL C has no operation for "element i's result as bit i", so kernels write
 * (mask & (1, 2, 4, 8, ...)) and combine the elements with "or", in halves or one
 * by one. That is a select between powers of two and zero, followed by a tree of
 * extracts, shuffles and ors. Where such a tree covers every element it is
 * replaced by a bitcast of the mask to an integer, which is one movmsk.
 */
#include "salvo_cc.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Local.h>

using namespace llvm;
using namespace llvm::PatternMatch;

/* The elements of one select that a value is the "or" of. */
struct element_set {
	Value *choice = nullptr;
	uint64_t set = 0;
	bool ok = true;

	void add(const element_set &other)
	{
		ok = ok && other.ok && (!choice || !other.choice || choice == other.choice);
		choice = choice ? choice : other.choice;
		set |= other.set;
	}
};

/* Does @v select 1 << i or 0 in element i, by @mask? */
static bool is_choice(Value *v, Value *&mask)
{
	Constant *powers;

	if (!isa<FixedVectorType>(v->getType()) ||
	    !match(v, m_Select(m_Value(mask), m_Constant(powers), m_Zero())) ||
	    !mask->getType()->isVectorTy())
		return false;
	unsigned count = cast<FixedVectorType>(v->getType())->getNumElements();
	for (unsigned i = 0; i < count; i++) {
		auto *c = dyn_cast_if_present<ConstantInt>(powers->getAggregateElement(i));
		if (!c || c->getValue() != APInt::getOneBitSet(c->getBitWidth(), i))
			return false;
	}
	return true;
}

static element_set find_elements(Value *v, unsigned element, unsigned depth)
{
	Value *a, *b, *mask;
	ArrayRef<int> shuffle;
	element_set found;

	auto *type = dyn_cast<FixedVectorType>(v->getType());
	if (depth == 0 || !type || element >= type->getNumElements()) {
		found.ok = false;
	} else if (is_choice(v, mask)) {
		found.choice = v;
		found.set = 1ull << element;
	} else if (match(v, m_Or(m_Value(a), m_Value(b)))) {
		found = find_elements(a, element, depth - 1);
		if (found.ok)
			found.add(find_elements(b, element, depth - 1));
	} else if (match(v, m_Shuffle(m_Value(a), m_Value(b), m_Mask(shuffle))) &&
		   shuffle[element] >= 0) {
		unsigned count = cast<FixedVectorType>(a->getType())->getNumElements();
		unsigned from = shuffle[element];
		found = from < count ? find_elements(a, from, depth - 1) :
				       find_elements(b, from - count, depth - 1);
	} else {
		found.ok = false;
	}
	return found;
}

/* The same for a scalar: an "or" of extracted elements. */
static element_set find_scalar_elements(Value *v, unsigned depth)
{
	Value *a, *b;
	uint64_t element;
	element_set found;

	if (depth && match(v, m_Or(m_Value(a), m_Value(b)))) {
		found = find_scalar_elements(a, depth - 1);
		if (found.ok)
			found.add(find_scalar_elements(b, depth - 1));
	} else if (match(v, m_ExtractElt(m_Value(a), m_ConstantInt(element)))) {
		found = find_elements(a, element, 8);
	} else {
		found.ok = false;
	}
	return found;
}

static bool replace(Instruction &root)
{
	element_set found = find_scalar_elements(&root, 16);
	Value *mask;

	if (!found.ok || !found.choice || !is_choice(found.choice, mask))
		return false;
	unsigned count = cast<FixedVectorType>(mask->getType())->getNumElements();
	if (found.set != maskTrailingOnes<uint64_t>(count) ||
	    root.getType()->getIntegerBitWidth() < count)
		return false;
	IRBuilder<> b(&root);
	Value *bits = b.CreateBitCast(mask, b.getIntNTy(count));
	root.replaceAllUsesWith(b.CreateZExt(bits, root.getType()));
	return true;
}

void combine_masks(Module &m)
{
	for (Function &f : m) {
		SmallVector<WeakTrackingVH> replaced;

		for (Instruction &inst : instructions(f))
			if (inst.getOpcode() == Instruction::Or && inst.getType()->isIntegerTy() &&
			    replace(inst))
				replaced.push_back(&inst);
		RecursivelyDeleteTriviallyDeadInstructionsPermissive(replaced);
	}
}
