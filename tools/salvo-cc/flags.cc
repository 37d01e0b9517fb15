// SPDX-License-Identifier: MIT
/*
 * flags.cc - variables that are true or false
 *
 * C keeps a bool in a byte, and the truth of a comparison in an int. LLVM makes a bit of it where
 * it is tested once, but not where it is carried through loops and branches:
 *
 *	bool found = false;
 *	for (int i = 0; i < n && !found; i++)
 *		if (keys[i] == key) {
 *			place = i;
 *			found = true;
 *		}
 *	if (!found) ...
 *
 * The lanes of a vector would hold bytes then, made of masks, blended by masks, and compared with 0
 * to have the next mask. As one bit the variable is a mask throughout.
 *
 * A flag is merged, selected or combined of nothing but 0, 1, comparisons and other flags. Who
 * wants its number extends the bit.
 */
#include "salvo_cc.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/PatternMatch.h>

using namespace llvm;
using namespace llvm::PatternMatch;

/* Values that are made of each other */
static const unsigned max_flags = 64;

namespace {

class flags {
public:
	explicit flags(PHINode &first) : type(first.getType()) { all.insert(&first); }

	bool find();
	bool are_tested() const;
	void convert();

private:
	bool add(Value *v);
	Value *bit_of(Value *v);
	void replace(Instruction &flag);

	Type *type;
	SetVector<Instruction *> all;
	MapVector<Instruction *, Value *> bits;
};

} /* namespace */

static bool is_combination(const Instruction &inst)
{
	return inst.isBitwiseLogicOp();
}

/* The comparison of a flag with 0 or 1 */
static bool is_test(const User *user)
{
	if (isa<TruncInst>(user))
		return user->getType()->isIntegerTy(1);
	return match(user, m_ICmp(m_Value(), m_ZeroInt())) ||
	       match(user, m_ICmp(m_Value(), m_One()));
}

/* Takes @v, which a flag is made of; false if it may be another number. */
bool flags::add(Value *v)
{
	auto *inst = dyn_cast<Instruction>(v);

	if (isa<Constant>(v))
		return isa<UndefValue>(v) || match(v, m_ZeroInt()) || match(v, m_One());
	if (match(v, m_ZExt(m_Value())))
		return inst->getOperand(0)->getType()->isIntegerTy(1);
	if (!inst || !(isa<PHINode>(inst) || isa<SelectInst>(inst) || is_combination(*inst)))
		return false;
	all.insert(inst);
	return all.size() <= max_flags;
}

bool flags::find()
{
	for (unsigned i = 0; i < all.size(); i++) {
		Instruction *flag = all[i];

		for (Value *from : drop_begin(flag->operands(), isa<SelectInst>(flag)))
			if (!add(from))
				return false;
	}
	return true;
}

bool flags::are_tested() const
{
	return any_of(all, [](const Instruction *flag) { return any_of(flag->users(), is_test); });
}

/* @v as one bit; those of flags that are merged have no operands yet. */
Value *flags::bit_of(Value *v)
{
	Type *bit = Type::getInt1Ty(type->getContext());

	if (isa<UndefValue>(v))
		return UndefValue::get(bit);
	if (auto *number = dyn_cast<ConstantInt>(v))
		return ConstantInt::getBool(bit, !number->isZero());
	auto *inst = cast<Instruction>(v);
	if (isa<ZExtInst>(inst))
		return inst->getOperand(0);
	if (Value *made = bits.lookup(inst))
		return made;
	IRBuilder<> b(inst);
	Value *made;
	if (auto *select = dyn_cast<SelectInst>(inst)) {
		Value *if_true = bit_of(select->getTrueValue());

		made = b.CreateSelect(select->getCondition(), if_true,
				      bit_of(select->getFalseValue()), "", select);
	} else {
		Value *left = bit_of(inst->getOperand(0));

		made = b.CreateBinOp(cast<BinaryOperator>(inst)->getOpcode(), left,
				     bit_of(inst->getOperand(1)));
	}
	bits[inst] = made;
	return made;
}

/* Has those who use @flag use its bit, or a number made of it. */
void flags::replace(Instruction &flag)
{
	Value *bit = bits[&flag];

	for (User *user : make_early_inc_range(flag.users())) {
		auto *inst = cast<Instruction>(user);
		ICmpInst::Predicate how;
		Value *tested = bit;

		if (all.contains(inst))
			continue;
		if (match(inst, m_ICmp(how, m_Value(), m_Value())) && is_test(inst)) {
			if (!ICmpInst::isEquality(how))
				continue;
			const bool is_0 = match(inst->getOperand(1), m_ZeroInt());

			if ((how == ICmpInst::ICMP_EQ) == is_0)
				tested = IRBuilder<>(inst).CreateNot(bit);
		} else if (!is_test(inst)) {
			continue;
		}
		inst->replaceAllUsesWith(tested);
		inst->eraseFromParent();
	}
	const bool is_number = flag.isUsedByMetadata() || any_of(flag.users(), [&](User *user) {
		return !all.contains(cast<Instruction>(user));
	});
	BasicBlock *block = flag.getParent();
	IRBuilder<> b(block, isa<PHINode>(flag) ? block->getFirstInsertionPt() :
						  flag.getIterator());

	flag.replaceAllUsesWith(is_number ? b.CreateZExt(bit, type) : UndefValue::get(type));
}

void flags::convert()
{
	for (Instruction *flag : all)
		if (auto *phi = dyn_cast<PHINode>(flag))
			bits[phi] = PHINode::Create(Type::getInt1Ty(type->getContext()),
						    phi->getNumIncomingValues(), "",
						    phi->getIterator());
	for (Instruction *flag : all)
		bit_of(flag);
	for (Instruction *flag : all)
		if (auto *phi = dyn_cast<PHINode>(flag))
			for (unsigned i = 0; i < phi->getNumIncomingValues(); i++)
				cast<PHINode>(bits[phi])->addIncoming(
					bit_of(phi->getIncomingValue(i)), phi->getIncomingBlock(i));
	for (Instruction *flag : all)
		replace(*flag);
	for (Instruction *flag : all)
		flag->eraseFromParent();
}

bool shrink_flags(Function &f)
{
	SmallVector<WeakTrackingVH> merged;
	bool any = false;

	for (BasicBlock &block : f)
		for (PHINode &phi : block.phis())
			if (phi.getType()->isIntegerTy() && !phi.getType()->isIntegerTy(1))
				merged.push_back(&phi);
	for (const WeakTrackingVH &v : merged) {
		auto *phi = dyn_cast_or_null<PHINode>(v);

		if (!phi)
			continue;
		flags of(*phi);
		if (of.find() && of.are_tested()) {
			of.convert();
			any = true;
		}
	}
	return any;
}
