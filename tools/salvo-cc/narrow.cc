// SPDX-License-Identifier: MIT
/*
 * narrow.cc - arithmetic of bytes and shorts in as many bits as it needs
 *
 * C computes with 32 bits, of which lanes of bytes mostly need 8 or 16: four times or twice as many
 * of them fit into a register.
 *
 *	out[i] = (a[i] * w[i] + b[i] * (255 - w[i])) >> 8;	16 bits
 *	out[i] = abs(a[i] - b[i]) > limit ? 255 : 0;		16 bits, then 8
 *
 * Two facts decide about a value's bits: the range that it is in, computed from what it is made of,
 * and the lower bits that its users need (a sum's lower bits depend on those of its operands only).
 * In what has fewer bits the needed ones are right, or all of them, if more are needed than it has:
 * then they follow from the range.
 *
 * A comparison with a number that is the same for all work-items, of which nothing is known, is one
 * with the nearest number that fits.
 *
 *	v > limit	(v | (limit < 0 ? 255 : 0)) > clamp(limit, 0, 255)
 */
#include "vectoriser.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/IR/ConstantRange.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/PatternMatch.h>

using namespace llvm;
using namespace llvm::PatternMatch;

static const unsigned sizes[] = { 8, 16 };

/* Operations between two products that are done in as many bits as these */
static const unsigned most_between = 3;

static unsigned bits_of(const Value *v)
{
	return v->getType()->getScalarSizeInBits();
}

static bool is_integer(const Value *v)
{
	Type *type = v->getType();

	return type->isIntOrIntVectorTy() && !isa<ScalableVectorType>(type);
}

static bool is_extension(const Value *v)
{
	return isa<ZExtInst>(v) || isa<SExtInst>(v);
}

static Intrinsic::ID function_of(const Value *v)
{
	auto *call = dyn_cast<IntrinsicInst>(v);

	return call ? call->getIntrinsicID() : Intrinsic::not_intrinsic;
}

static bool is_extreme(const Value *v)
{
	return isa<MinMaxIntrinsic>(v);
}

/* The amount of a shift, or the divisor: one constant for all elements; NULL if it is not. */
static const APInt *constant_of(const Instruction &inst)
{
	const APInt *c = nullptr;

	return match(inst.getOperand(1), m_APInt(c)) ? c : nullptr;
}

namespace {

class narrowing {
public:
	narrowing(Function &f, const SmallPtrSetImpl<const Value *> &sources)
		: f(f), differing(f, sources), b(f.getContext())
	{
	}

	bool run();
	bool keep_between_products();

private:
	ConstantRange range_of(const Value *v);
	unsigned most_of_blend(const Instruction &inst);
	ConstantRange find_range(const Value *v);
	bool fits(const Value *v, unsigned bits, bool is_signed);
	bool is_known(const Value *v, unsigned bits);
	unsigned need_of(const Instruction &inst, const Use &use) const;
	void find_needs();
	bool is_address(const Instruction &inst) const;
	bool can_compute(Instruction &inst, unsigned bits);
	unsigned find_bits(Instruction &inst);
	bool gains(const Instruction &inst) const;
	bool has_others(Instruction &inst);
	void choose();
	Value *at(Value *v, unsigned bits);
	Value *make(Instruction &inst, unsigned bits);
	void fill(PHINode &phi);
	unsigned compared_bits(ICmpInst &compare, bool *is_signed);
	bool replace_compare(ICmpInst &compare);
	bool compare_with(ICmpInst &compare);
	void drop_flags();
	Value *before_cut(Value *v, Type *type, unsigned depth);
	void drop_flags_behind(Instruction &inst);

	Function &f;
	divergence differing;
	IRBuilder<> b;
	DenseMap<const Value *, ConstantRange> ranges;
	/* Lower bits that users need */
	DenseMap<const Value *, unsigned> needs;
	/* Instructions that are made again, and of how many bits */
	MapVector<Instruction *, unsigned> chosen;
	DenseMap<const Value *, Value *> made;
	SmallPtrSet<const Instruction *, 16> addresses;
};

} // namespace

/* The constant that @v is with @part taken off it, 0 if it is not. */
static uint64_t rest_of(Value *v, Value *part)
{
	const APInt *c;

	if (match(v, m_Sub(m_APInt(c), m_Specific(part))))
		return c->getLimitedValue();
	/* 255 - x, where x has 8 bits */
	return match(v, m_Xor(m_Specific(part), m_APInt(c))) && c->isMask() ? c->getLimitedValue() :
									      0;
}

/*
 * The most that a blend of bytes can be, p * w + q * (255 - w), where the ranges of both products
 * would say twice that; 0 if @inst is none, or may wrap around.
 */
unsigned narrowing::most_of_blend(const Instruction &inst)
{
	Value *sides[2], *factors[2][2];

	if (!match(&inst, m_Add(m_Value(sides[0]), m_Value(sides[1]))))
		return 0;
	for (unsigned i = 0; i < 2; i++)
		if (!match(sides[i], m_Mul(m_Value(factors[i][0]), m_Value(factors[i][1]))))
			return 0;
	for (unsigned i = 0; i < 8; i++) {
		Value *w = factors[i / 4][i & 1], *rest = factors[!(i / 4)][(i >> 1) & 1];
		const uint64_t whole = rest_of(rest, w);
		uint64_t most = 0;

		if (!whole || whole > 255 || !fits(w, 8, false) ||
		    range_of(w).getUnsignedMax().ugt(whole))
			continue;
		for (unsigned side = 0; side < 2; side++) {
			Value *p = factors[side][factors[side][0] == (side == i / 4 ? w : rest)];

			if (!fits(p, 16, false))
				return 0;
			most = std::max(most, range_of(p).getUnsignedMax().getLimitedValue());
		}
		return isUIntN(bits_of(&inst) - 1, most * whole) ? most * whole : 0;
	}
	return 0;
}

ConstantRange narrowing::find_range(const Value *v)
{
	const unsigned bits = bits_of(v);
	const ConstantRange full = ConstantRange::getFull(bits);
	const APInt *c;
	auto *inst = dyn_cast<Instruction>(v);

	if (match(v, m_APInt(c)))
		return ConstantRange(*c);
	if (!inst)
		return full;
	if (auto *cast = dyn_cast<CastInst>(inst)) {
		if (!is_integer(cast->getOperand(0)))
			return full;
		if (isa<TruncInst>(cast) || is_extension(cast))
			return range_of(cast->getOperand(0)).castOp(cast->getOpcode(), bits);
		return full;
	}
	if (const unsigned most = most_of_blend(*inst))
		return { APInt(bits, 0), APInt(bits, most + 1) };
	if (auto *op = dyn_cast<BinaryOperator>(inst))
		return range_of(op->getOperand(0)).binaryOp(op->getOpcode(),
							    range_of(op->getOperand(1)));
	if (is_extreme(inst)) {
		const ConstantRange p = range_of(inst->getOperand(0));
		const ConstantRange q = range_of(inst->getOperand(1));
		return ConstantRange::intrinsic(function_of(inst), { p, q });
	}
	if (function_of(inst) == Intrinsic::abs)
		return range_of(inst->getOperand(0)).abs();
	if (isa<SelectInst>(inst)) {
		const ConstantRange p = range_of(inst->getOperand(1));
		return p.unionWith(range_of(inst->getOperand(2)));
	}
	if (auto *phi = dyn_cast<PHINode>(inst)) {
		ConstantRange all = ConstantRange::getEmpty(bits);

		for (const Value *from : phi->incoming_values())
			all = all.unionWith(range_of(from));
		return all;
	}
	return full;
}

/* Of what depends on itself nothing is known. */
ConstantRange narrowing::range_of(const Value *v)
{
	const auto [found, added] = ranges.try_emplace(v, ConstantRange::getFull(bits_of(v)));

	if (!added)
		return found->second;
	const ConstantRange range = find_range(v);
	ranges.find(v)->second = range;
	return range;
}

bool narrowing::fits(const Value *v, unsigned bits, bool is_signed)
{
	const ConstantRange range = range_of(v);

	return (is_signed ? range.getMinSignedBits() : range.getActiveBits()) <= bits;
}

bool narrowing::is_known(const Value *v, unsigned bits)
{
	return fits(v, bits, false) || fits(v, bits, true);
}

/* The lower bits of an operand of @inst that those which its users need depend on. */
unsigned narrowing::need_of(const Instruction &inst, const Use &use) const
{
	const unsigned all = bits_of(use.get());
	const unsigned need = is_integer(&inst) ? needs.lookup(&inst) : 0;
	const APInt *c;

	switch (inst.getOpcode()) {
	case Instruction::Trunc:
	case Instruction::ZExt:
	case Instruction::SExt:
	case Instruction::PHI:
	case Instruction::Add:
	case Instruction::Sub:
	case Instruction::Mul:
	case Instruction::Or:
	case Instruction::Xor:
		return std::min(need, all);
	case Instruction::Select:
		return use.getOperandNo() ? std::min(need, all) : all;
	case Instruction::And:
		c = constant_of(inst);
		return std::min(need, c ? c->getActiveBits() : all);
	case Instruction::Shl:
		c = constant_of(inst);
		if (use.getOperandNo() || !c || c->uge(all))
			return all;
		return need - std::min<unsigned>(need, c->getZExtValue());
	case Instruction::LShr:
	case Instruction::AShr:
		c = constant_of(inst);
		if (use.getOperandNo() || !c || c->uge(all))
			return all;
		return need ? std::min<unsigned>(need + c->getZExtValue(), all) : 0;
	default:
		return all;
	}
}

void narrowing::find_needs()
{
	SmallVector<const Instruction *> left;

	for (const Instruction &inst : instructions(f))
		left.push_back(&inst);
	while (!left.empty()) {
		const Instruction *inst = left.pop_back_val();

		for (const Use &use : inst->operands()) {
			auto *operand = dyn_cast<Instruction>(use.get());
			if (!operand || !is_integer(operand))
				continue;
			const unsigned need = need_of(*inst, use);
			if (need > needs.lookup(operand)) {
				needs[operand] = need;
				left.push_back(operand);
			}
		}
	}
}

/* Other rules expect the indices of accesses in their usual form. */
bool narrowing::is_address(const Instruction &inst) const
{
	return !inst.use_empty() && all_of(inst.users(), [&](const User *user) {
		auto *by = cast<Instruction>(user);

		return isa<GetElementPtrInst>(by) || addresses.contains(by) ||
		       (is_extension(by) && bits_of(by) == 64);
	});
}

/* Do @bits of the operands of @inst decide about those of its result? */
bool narrowing::can_compute(Instruction &inst, unsigned bits)
{
	const APInt *c = inst.getNumOperands() > 1 ? constant_of(inst) : nullptr;
	Value *first = inst.getOperand(0);

	switch (inst.getOpcode()) {
	case Instruction::Mul:
		return bits >= 16;
	case Instruction::Trunc:
	case Instruction::ZExt:
	case Instruction::SExt:
	case Instruction::PHI:
	case Instruction::Select:
	case Instruction::Add:
	case Instruction::Sub:
	case Instruction::And:
	case Instruction::Or:
	case Instruction::Xor:
		return true;
	case Instruction::Shl:
		return c && c->ult(bits);
	case Instruction::LShr:
		if (!c || c->uge(bits))
			return false;
		return fits(first, bits, false) ||
		       needs.lookup(&inst) + c->getZExtValue() <= bits;
	case Instruction::AShr:
		if (!c || c->uge(bits) || bits < 16)
			return false;
		return fits(first, bits, false) || fits(first, bits, true) ||
		       needs.lookup(&inst) + c->getZExtValue() <= bits;
	case Instruction::UDiv:
	case Instruction::URem:
		return c && !c->isZero() && bits >= 16 && c->getActiveBits() <= bits &&
		       fits(first, bits, false);
	case Instruction::Call:
		if (function_of(&inst) == Intrinsic::abs)
			return fits(first, bits, true);
		if (!is_extreme(&inst))
			return false;
		for (const bool is_signed : { false, true })
			if (fits(first, bits, is_signed) &&
			    fits(inst.getOperand(1), bits, is_signed))
				return !is_signed || cast<MinMaxIntrinsic>(inst).isSigned();
		return false;
	default:
		return false;
	}
}

/* The bits that @inst gets, 0 if it stays as it is. */
unsigned narrowing::find_bits(Instruction &inst)
{
	if (!is_integer(&inst) || bits_of(&inst) > 32 || !differing.differs(&inst) ||
	    addresses.contains(&inst))
		return 0;
	for (const unsigned bits : sizes)
		if (bits < bits_of(&inst) &&
		    (needs.lookup(&inst) <= bits || is_known(&inst, bits)) &&
		    can_compute(inst, bits))
			return bits;
	return 0;
}

/* Is there something to gain from, an operand that has few bits? */
bool narrowing::gains(const Instruction &inst) const
{
	return is_extension(&inst) || any_of(inst.operands(), [&](const Use &use) {
		auto *operand = dyn_cast<Instruction>(use.get());

		return operand && chosen.count(const_cast<Instruction *>(operand));
	});
}

/* Does an instruction that stays as it is get to see bits that it need not, and that are wrong? */
bool narrowing::has_others(Instruction &inst)
{
	const unsigned bits = chosen.lookup(&inst);

	if (is_known(&inst, bits))
		return false;
	return any_of(inst.users(), [&](User *user) {
		auto *by = cast<Instruction>(user);

		return !chosen.count(by) && !(isa<TruncInst>(by) && bits_of(by) <= bits);
	});
}

void narrowing::choose()
{
	bool changed = true;

	for (BasicBlock *block : post_order(&f))
		for (Instruction &inst : reverse(*block))
			if (is_integer(&inst) && is_address(inst))
				addresses.insert(&inst);
	for (BasicBlock *block : ReversePostOrderTraversal<Function *>(&f))
		for (Instruction &inst : *block)
			if (const unsigned bits = find_bits(inst))
				chosen[&inst] = bits;
	while (changed) {
		const unsigned before = chosen.size();

		chosen.remove_if([&](const auto &each) {
			return !gains(*each.first) || has_others(*each.first);
		});
		changed = chosen.size() < before;
	}
}

/* The lower @bits of @v */
Value *narrowing::at(Value *v, unsigned bits)
{
	Value *now = made.count(v) ? made[v] : v;
	Type *type = v->getType()->getWithNewBitWidth(bits);

	if (bits_of(now) >= bits)
		return b.CreateTrunc(now, type);
	if (now != v)
		return fits(v, bits_of(now), false) ? b.CreateZExt(now, type) :
						      b.CreateSExt(now, type);
	return b.CreateZExt(now, type);
}

/* Signed operations on what fits without a sign are those without. */
Value *narrowing::make(Instruction &inst, unsigned bits)
{
	Type *type = inst.getType()->getWithNewBitWidth(bits);
	Value *first = inst.getNumOperands() ? inst.getOperand(0) : nullptr;

	if (auto *phi = dyn_cast<PHINode>(&inst))
		return b.CreatePHI(type, phi->getNumIncomingValues());
	if (is_extension(&inst)) {
		if (bits_of(first) >= bits || isa<ZExtInst>(inst) || made.count(first))
			return at(first, bits);
		return b.CreateSExt(first, type);
	}
	if (isa<TruncInst>(inst))
		return at(first, bits);
	if (isa<SelectInst>(inst))
		return b.CreateSelect(first, at(inst.getOperand(1), bits),
				      at(inst.getOperand(2), bits));
	if (function_of(&inst) == Intrinsic::abs)
		return b.CreateBinaryIntrinsic(Intrinsic::abs, at(first, bits), b.getFalse());
	Value *p = at(first, bits), *q = at(inst.getOperand(1), bits);
	if (is_extreme(&inst)) {
		Intrinsic::ID id = function_of(&inst);

		if (fits(first, bits, false) && fits(inst.getOperand(1), bits, false))
			id = id == Intrinsic::smin ? Intrinsic::umin :
			     id == Intrinsic::smax ? Intrinsic::umax : id;
		return b.CreateBinaryIntrinsic(id, p, q);
	}
	auto code = cast<BinaryOperator>(inst).getOpcode();
	if (code == Instruction::AShr && fits(first, bits, false))
		code = Instruction::LShr;
	return b.CreateBinOp(code, p, q);
}

void narrowing::fill(PHINode &phi)
{
	auto *narrow = cast<PHINode>(made[&phi]);

	for (unsigned i = 0; i < phi.getNumIncomingValues(); i++) {
		BasicBlock *from = phi.getIncomingBlock(i);

		b.SetInsertPoint(from->getTerminator());
		narrow->addIncoming(at(phi.getIncomingValue(i), chosen[&phi]), from);
	}
}

/* The bits in which both operands of @compare can be compared, 0 if there are none. */
unsigned narrowing::compared_bits(ICmpInst &compare, bool *is_signed)
{
	for (const unsigned bits : sizes)
		for (const bool as_signed : { false, true })
			if (bits < bits_of(compare.getOperand(0)) &&
			    fits(compare.getOperand(0), bits, as_signed) &&
			    fits(compare.getOperand(1), bits, as_signed)) {
				*is_signed = as_signed;
				return bits;
			}
	return 0;
}

/* Signs of what is extended from few bits keep the order of unsigned numbers, too. */
bool narrowing::replace_compare(ICmpInst &compare)
{
	bool is_signed = false;
	const unsigned bits = compared_bits(compare, &is_signed);

	if (!bits)
		return false;
	b.SetInsertPoint(&compare);
	Value *p = at(compare.getOperand(0), bits), *q = at(compare.getOperand(1), bits);
	const auto predicate = is_signed ? compare.getPredicate() :
					   compare.getUnsignedPredicate();
	compare.replaceAllUsesWith(b.CreateICmp(predicate, p, q));
	return true;
}

/*
 * A comparison with what is the same for all work-items, and may have any value. Where that does
 * not fit, @v is replaced by what compares as all values do.
 */
bool narrowing::compare_with(ICmpInst &compare)
{
	const bool swapped = !made.count(compare.getOperand(0));
	Value *v = compare.getOperand(swapped), *with = compare.getOperand(!swapped);
	CmpInst::Predicate predicate = swapped ? compare.getSwappedPredicate() :
						 compare.getPredicate();
	const bool as_unsigned = CmpInst::isUnsigned(predicate);
	const unsigned all = bits_of(v);

	if (!made.count(v) || differing.differs(with) || !with->getType()->isIntegerTy())
		return false;
	const auto *bits = find_if(sizes, [&](unsigned n) {
		return n < all && (fits(v, n, false) || (!as_unsigned && fits(v, n, true)));
	});
	if (bits == std::end(sizes))
		return false;
	const bool has_sign = !fits(v, *bits, false);
	const APInt low = has_sign ? APInt::getSignedMinValue(*bits).sext(all) :
				     APInt::getZero(all);
	const APInt high = has_sign ? APInt::getSignedMaxValue(*bits).sext(all) :
				      APInt::getMaxValue(*bits).zext(all);

	b.SetInsertPoint(&compare);
	Value *least = b.getInt(low), *most = b.getInt(high), *nearest;
	Value *below = as_unsigned ? b.getFalse() : b.CreateICmpSLT(with, least);
	Value *above = as_unsigned ? b.CreateICmpUGT(with, most) : b.CreateICmpSGT(with, most);
	if (as_unsigned)
		nearest = b.CreateBinaryIntrinsic(Intrinsic::umin, with, most);
	else
		nearest = b.CreateBinaryIntrinsic(Intrinsic::smin, b.CreateBinaryIntrinsic(
			Intrinsic::smax, with, least), most);
	Value *narrow = at(v, *bits);
	nearest = b.CreateTrunc(nearest, narrow->getType());
	if (!has_sign && CmpInst::isSigned(predicate))
		predicate = ICmpInst::getUnsignedPredicate(predicate);
	if (CmpInst::isEquality(predicate)) {
		Value *outside = b.CreateOr(below, above);

		narrow = b.CreateOr(narrow, b.CreateSExt(outside, narrow->getType()));
		nearest = b.CreateSelect(outside, Constant::getNullValue(narrow->getType()),
					 nearest);
	} else if (ICmpInst::isGT(predicate) || ICmpInst::isLE(predicate)) {
		narrow = b.CreateOr(narrow, b.CreateSExt(below, narrow->getType()));
	} else {
		narrow = b.CreateAnd(narrow, b.CreateSExt(b.CreateNot(above), narrow->getType()));
	}
	compare.replaceAllUsesWith(b.CreateICmp(predicate, narrow, nearest));
	return true;
}

/*
 * Instructions that stay get to see other bits than before where they need none of these: what LLVM
 * knows of their results may no longer hold.
 */
void narrowing::drop_flags()
{
	for (auto &each : chosen)
		for (User *user : each.first->users()) {
			auto *by = cast<Instruction>(user);

			if (is_integer(by) && needs.lookup(by) < bits_of(by))
				by->dropPoisonGeneratingFlags();
		}
}

bool narrowing::run()
{
	SmallVector<ICmpInst *> compares;
	SmallVector<TruncInst *> truncs;

	find_needs();
	choose();
	if (chosen.empty())
		return false;
	for (Instruction &inst : instructions(f)) {
		auto *trunc = dyn_cast<TruncInst>(&inst);
		auto *compare = dyn_cast<ICmpInst>(&inst);

		if (compare && is_integer(compare->getOperand(0)))
			compares.push_back(compare);
		else if (trunc && !chosen.count(trunc))
			truncs.push_back(trunc);
	}
	drop_flags();
	for (auto &[inst, bits] : chosen) {
		b.SetInsertPoint(inst);
		made[inst] = make(*inst, bits);
	}
	for (auto &each : chosen)
		if (auto *phi = dyn_cast<PHINode>(each.first))
			fill(*phi);
	for (TruncInst *trunc : truncs)
		if (made.count(trunc->getOperand(0))) {
			b.SetInsertPoint(trunc);
			trunc->replaceAllUsesWith(at(trunc->getOperand(0), bits_of(trunc)));
		}
	for (ICmpInst *compare : compares) {
		if (!made.count(compare->getOperand(0)) && !made.count(compare->getOperand(1)))
			continue;
		if (!replace_compare(*compare))
			compare_with(*compare);
	}
	for (auto &each : chosen) {
		Instruction *inst = each.first;

		if (is_extension(inst))
			continue;
		b.SetInsertPoint(isa<PHINode>(inst) ?
				 &*inst->getParent()->getFirstInsertionPt() : inst);
		inst->replaceAllUsesWith(at(inst, bits_of(inst)));
	}
	return true;
}

/* @v of the bits of @type, as what it was cut off gives it; NULL if it was not cut off. */
Value *narrowing::before_cut(Value *v, Type *type, unsigned depth)
{
	auto *op = dyn_cast<BinaryOperator>(v);

	if (auto *trunc = dyn_cast<TruncInst>(v))
		return bits_of(trunc->getOperand(0)) >= type->getScalarSizeInBits() ?
			b.CreateTrunc(trunc->getOperand(0), type) : nullptr;
	if (!op || !depth || op->isShift() || op->isIntDivRem())
		return nullptr;
	Value *p = before_cut(op->getOperand(0), type, depth - 1);
	Value *q = before_cut(op->getOperand(1), type, depth - 1);
	if (!p && !q)
		return nullptr;
	return b.CreateBinOp(op->getOpcode(), p ? p : b.CreateZExt(op->getOperand(0), type),
			     q ? q : b.CreateZExt(op->getOperand(1), type));
}

/* Flags of what is made of the bits of @inst that nothing needs, and of @inst */
void narrowing::drop_flags_behind(Instruction &inst)
{
	SmallSetVector<Instruction *, 16> left;

	left.insert(&inst);
	for (unsigned i = 0; i < left.size(); i++) {
		left[i]->dropPoisonGeneratingFlags();
		if (needs.lookup(left[i]) == bits_of(left[i]))
			continue;
		for (User *user : left[i]->users())
			if (is_integer(user))
				left.insert(cast<Instruction>(user));
	}
}

/*
 * There is no product of bytes: what is done with one before the next stays in its bits.
 *
 *	y = (char)(x * x) + c; z = (char)(y * y);	y = x * x + c; z = (char)(y * y);
 */
bool narrowing::keep_between_products()
{
	bool changed = false;

	find_needs();
	for (Instruction &inst : instructions(f)) {
		if (inst.getOpcode() != Instruction::Mul || !differing.differs(&inst))
			continue;
		b.SetInsertPoint(&inst);
		for (Use &use : inst.operands()) {
			Value *cut = is_extension(use) ?
				cast<CastInst>(use)->getOperand(0) : nullptr;
			Value *whole = cut && needs.lookup(&inst) <= bits_of(cut) ?
				before_cut(cut, inst.getType(), most_between) : nullptr;

			if (!whole)
				continue;
			use.set(whole);
			drop_flags_behind(inst);
			changed = true;
		}
	}
	return changed;
}

bool narrow_integers(Function &item, Argument &x)
{
	SmallPtrSet<const Value *, 1> sources;

	sources.insert(&x);
	const bool changed = narrowing(item, sources).run();
	/* Afterwards, as it would narrow that again. */
	return narrowing(item, sources).keep_between_products() || changed;
}
