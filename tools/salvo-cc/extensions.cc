// SPDX-License-Identifier: MIT
/*
 * extensions.cc - extensions and differences that InstCombine has turned into bit arithmetic
 *
 * An index that is computed in 32 bits is extended for the address. InstCombine does the
 * whole computation in 64 bits where it can, and leaves a mask or a pair of shifts:
 *
 *	zext(trunc(x))			and x, 0xffffffff
 *	sext(trunc(x << 8))		ashr (shl x, 40), 32
 *	sext(trunc(x)) << 2		ashr (shl x, 32), 30
 *	sext(trunc(x * 3))		ashr (mul x, 3 << 32), 32
 *	sext(trunc(x + 1))		ashr (add (shl x, 32), 1 << 32), 32
 *	255 - get_local_id(0)		xor x, 255, if there are no more work-items in a group
 *
 * Shapes (vector_shape.cc) and interiors (interior.cc) are found through extensions and
 * differences, so they are put back here.
 *
 * Passes of LLVM that take sums apart forget that those of int do not overflow, and with a global
 * offset it does not know their ranges. It then has to expect that the addresses of a loop wrap
 * around, and the comparison of two of them in front of the loop mostly says that they overlap. So
 * indices in loops that LLVM shall vectorise are computed in 64 bits. A sum that has lost its flags
 * counts as one that does not overflow if the ranges of its terms show it, as with rows of a
 * constant length: a part of it may overflow, as x * 1024 - i does in x * 1024 - i + 1022.
 *
 * It also makes a sign extension of what is not negative a zero extension. A gather with offsets of
 * 32 bits, which the processor sign-extends, has all lanes, but the code generator takes it for
 * sign extensions only. So those of its offsets are put back before code is made.
 */
#include "salvo_cc.h"

#include "analyses.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Local.h>

using namespace llvm;
using namespace llvm::PatternMatch;

static const unsigned narrow_bits = 32, wide_bits = 64;

/* Does "and @x, @mask" keep the low half of @x as it is, and clear the high one? */
static bool keeps_low_half(Value *x, const APInt &mask, const DataLayout &layout)
{
	const APInt zero = computeKnownBits(x, layout).Zero;
	const APInt low = APInt::getLowBitsSet(wide_bits, narrow_bits);

	return !mask.isAllOnes() && low.isSubsetOf(mask | zero) && (~low).isSubsetOf(~mask | zero);
}

/* Operations of a sum that are followed */
static const unsigned max_depth = 4;

/* What @v is 2^32 times of, as arithmetic without that factor, or NULL */
static Value *high_half(IRBuilder<> &b, Value *v, unsigned depth)
{
	const APInt *number;
	Value *x, *y;

	if (match(v, m_APInt(number)) && number->countr_zero() >= narrow_bits)
		return b.getInt(number->lshr(narrow_bits));
	if (match(v, m_Shl(m_Value(x), m_APInt(number))) && number->uge(narrow_bits) &&
	    number->ult(wide_bits))
		return *number == narrow_bits ? x : b.CreateShl(x, *number - narrow_bits);
	if (match(v, m_Mul(m_Value(x), m_APInt(number))) && number->countr_zero() >= narrow_bits)
		return b.CreateMul(x, b.getInt(number->lshr(narrow_bits)));
	const bool is_sum = match(v, m_AddLike(m_Value(x), m_Value(y)));
	if (!depth || !(is_sum || match(v, m_Sub(m_Value(x), m_Value(y)))))
		return nullptr;
	x = high_half(b, x, depth - 1);
	y = x ? high_half(b, y, depth - 1) : nullptr;
	if (!y)
		return nullptr;
	return is_sum ? b.CreateAdd(x, y) : b.CreateSub(x, y);
}

/* The extension that @inst stands for, or NULL. */
static Value *make_extension(Instruction &inst)
{
	IRBuilder<> b(&inst);
	const APInt *mask, *right;
	Value *x;

	if (match(&inst, m_And(m_Value(x), m_APInt(mask)))) {
		if (!keeps_low_half(x, *mask, inst.getDataLayout()))
			return nullptr;
		return b.CreateZExt(b.CreateTrunc(x, b.getInt32Ty()), inst.getType());
	}
	if (!match(&inst, m_Shr(m_Value(x), m_APInt(right))) || right->ugt(narrow_bits))
		return nullptr;
	x = high_half(b, x, max_depth);
	if (!x)
		return nullptr;
	x = b.CreateTrunc(x, b.getInt32Ty());
	x = inst.getOpcode() == Instruction::AShr ? b.CreateSExt(x, inst.getType()) :
						    b.CreateZExt(x, inst.getType());
	return *right == narrow_bits ? x : b.CreateShl(x, narrow_bits - right->getZExtValue());
}

/* The difference from a number that @inst stands for, as nothing is borrowed, or NULL */
static Value *make_difference(Instruction &inst)
{
	const APInt *number;
	Value *x;

	if (!match(&inst, m_Xor(m_Value(x), m_APInt(number))) ||
	    !(~computeKnownBits(x, inst.getDataLayout()).Zero).isSubsetOf(*number))
		return nullptr;
	return IRBuilder<>(&inst).CreateNUWSub(inst.getOperand(1), x);
}

void restore_extensions(Module &m)
{
	SmallVector<WeakTrackingVH> replaced;

	for (Function &f : m)
		for (Instruction &inst : make_early_inc_range(instructions(f))) {
			if (!inst.getType()->isIntegerTy(wide_bits))
				continue;
			Value *made = make_extension(inst);
			if (!made)
				made = make_difference(inst);
			if (made) {
				inst.replaceAllUsesWith(made);
				replaced.push_back(&inst);
			}
		}
	RecursivelyDeleteTriviallyDeadInstructionsPermissive(replaced);
}

/* Indices of a loop, or of a function if there is none, in 64 bits. */
class wide_indices {
public:
	wide_indices(IRBuilder<> &b, const Loop *loop, ScalarEvolution &evolution, Type *type)
		: b(b), loop(loop), evolution(evolution), type(type) {}

	Value *of(Value *v);

	/* @v is @wide in 64 bits. */
	void add(Value *v, Value *wide) { known[v] = wide; }

private:
	IRBuilder<> &b;
	const Loop *loop;
	ScalarEvolution &evolution;
	Type *type;
	DenseMap<Value *, Value *> known;

	bool contains(const BinaryOperator *op) const { return !loop || loop->contains(op); }
	BinaryOperator *sum(Value *v, unsigned depth) const;
	ConstantRange exact_range(Value *v, unsigned depth = 0) const;
	Value *exact(Value *v, unsigned depth = 0);
	Value *combine(const BinaryOperator &op, Value *x, Value *y);
};

Value *wide_indices::combine(const BinaryOperator &op, Value *x, Value *y)
{
	Value *made = b.CreateBinOp(isa<PossiblyDisjointInst>(op) ? Instruction::Add :
								    op.getOpcode(), x, y);
	if (auto *inst = dyn_cast<BinaryOperator>(made))
		inst->setHasNoSignedWrap();
	return made;
}

BinaryOperator *wide_indices::sum(Value *v, unsigned depth) const
{
	auto *op = dyn_cast<BinaryOperator>(v);

	if (!op || depth == max_depth || !contains(op) ||
	    (op->getOpcode() != Instruction::Add && op->getOpcode() != Instruction::Sub))
		return nullptr;
	return op;
}

/* The range of @v if the sums that it is made of do not wrap around */
ConstantRange wide_indices::exact_range(Value *v, unsigned depth) const
{
	const BinaryOperator *op = sum(v, depth);

	if (!op)
		return evolution.getSignedRange(evolution.getSCEV(v)).signExtend(wide_bits);
	const ConstantRange x = exact_range(op->getOperand(0), depth + 1);
	const ConstantRange y = exact_range(op->getOperand(1), depth + 1);
	return op->getOpcode() == Instruction::Add ? x.add(y) : x.sub(y);
}

Value *wide_indices::exact(Value *v, unsigned depth)
{
	const BinaryOperator *op = sum(v, depth);

	if (!op)
		return of(v);
	Value *x = exact(op->getOperand(0), depth + 1);
	Value *y = exact(op->getOperand(1), depth + 1);
	return combine(*op, x, y);
}

/* @v, and sums and products in the loop that it is made of and do not wrap around, in 64 bits */
Value *wide_indices::of(Value *v)
{
	auto *op = dyn_cast<BinaryOperator>(v);
	Value *x, *y, *made;

	if (Value *wide = known.lookup(v))
		return wide;
	if (op && contains(op) && (match(op, m_NSWAddLike(m_Value(x), m_Value(y))) ||
					match(op, m_NSWSub(m_Value(x), m_Value(y))) ||
					match(op, m_NSWMul(m_Value(x), m_Value(y))))) {
		x = of(x);
		y = of(y);
		made = combine(*op, x, y);
	} else if (sum(v, 0) &&
		   exact_range(v).getMinSignedBits() <= v->getType()->getIntegerBitWidth()) {
		made = exact(v);
	} else {
		made = b.CreateSExt(v, type);
	}
	return known[v] = made;
}

static bool is_index(const Instruction &inst)
{
	return inst.getType()->isIntegerTy(wide_bits) && any_of(inst.users(), [](const User *user) {
		return isa<GetElementPtrInst>(user);
	});
}

/* Is @v @term, or computed from it by a few operations? */
static bool depends_on(Value *v, const Value &term, unsigned depth = 0)
{
	auto *op = dyn_cast<BinaryOperator>(v);

	return v == &term || (op && depth < max_depth &&
			      (depends_on(op->getOperand(0), term, depth + 1) ||
			       depends_on(op->getOperand(1), term, depth + 1)));
}

/* Does @inst extend an index that is computed in @loop, an innermost one? */
static bool extends_in_loop(const Instruction &inst, const Loop *loop)
{
	const bool extends = isa<SExtInst>(inst) || (isa<ZExtInst>(inst) && inst.hasNonNeg());

	return loop && loop->isInnermost() && extends && is_index(inst) &&
	       isa<BinaryOperator>(inst.getOperand(0));
}

/* Does @inst extend what is computed from one of @ids? */
static bool extends_id(const Instruction &inst, ArrayRef<TruncInst *> ids)
{
	return isa<SExtInst>(inst) && inst.getType()->isIntegerTy(wide_bits) &&
	       any_of(ids, [&](const TruncInst *id) {
		       return depends_on(inst.getOperand(0), *id);
	       });
}

void widen_indices(Function &item, ArrayRef<TruncInst *> ids)
{
	DominatorTree dt(item);
	LoopInfo loops(dt);
	access_analyses analyses(item, dt, loops);
	SmallVector<WeakTrackingVH> replaced;

	for (Instruction &inst : make_early_inc_range(instructions(item))) {
		const Loop *loop = ids.empty() ? loops.getLoopFor(inst.getParent()) : nullptr;

		if (ids.empty() ? !extends_in_loop(inst, loop) : !extends_id(inst, ids))
			continue;
		IRBuilder<> b(&inst);
		wide_indices wide(b, loop, analyses.evolution, inst.getType());
		for (TruncInst *id : ids)
			wide.add(id, id->getOperand(0));
		inst.replaceAllUsesWith(wide.of(inst.getOperand(0)));
		replaced.push_back(&inst);
	}
	RecursivelyDeleteTriviallyDeadInstructionsPermissive(replaced);
}

void restore_offsets(Module &m)
{
	SmallVector<ZExtInst *> found;

	for (Function &f : m)
		for (Instruction &inst : instructions(f)) {
			auto *extension = dyn_cast<ZExtInst>(&inst);

			if (extension && extension->hasNonNeg() &&
			    extension->getType()->isVectorTy() &&
			    extension->getSrcTy()->getScalarSizeInBits() == narrow_bits &&
			    all_of(extension->users(), [](const User *user) {
				return isa<GetElementPtrInst>(user);
			    }))
				found.push_back(extension);
		}
	for (ZExtInst *extension : found) {
		IRBuilder<> b(extension);

		extension->replaceAllUsesWith(b.CreateSExt(extension->getOperand(0),
							   extension->getType()));
		extension->eraseFromParent();
	}
}
