// SPDX-License-Identifier: MIT
/*
 * quotients.cc - divisions of x by what is the same for a row
 *
 * Kernels that take the number of a work-item apart divide it by the width of the data, the size
 * of the work-group or that of a warp:
 *
 *	y = get_global_id(0) / w, x = get_global_id(0) % w		a[y * pitch + x]
 *
 * For most lanes in a row the quotient is the same: it changes at multiples of the divisor. Between
 * two of them, in a segment, it is that of the first lane, and the remainder is x plus an
 * invariant, so that accesses are contiguous. The version for the interior (interior.cc) computes
 * them so, and runs where all lanes are in one segment; others run the general version.
 *
 *	q = udiv(x + a, d)		q = udiv(first(x + a), d)
 *	r = urem(x + a, d)		r = x + a - q * d
 *
 * Without versions lanes are known to be in one segment whose length is a power of two and no less
 * than the number of lanes, if rows begin with x = 0: x of the first lane is a multiple of lanes.
 * Of a number that has the bits of the lane at [shift, shift + log2(lanes)), and others that are
 * the same for all lanes, a mask keeps or removes the lane:
 *
 *	j = x >> 4			j = first(x) >> 4
 *	i = x & 15			i = x - (first(x) & ~15)
 *
 * "salvo.first" returns its argument in the first lane, which need not be active: the argument only
 * depends on x and invariants. To uniformity analysis its result is uniform.
 */
#include "quotients.h"

#include "interior.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>

using namespace llvm;

static const char prefix[] = "salvo.first.";
static const unsigned max_quotients = 8;

/* Segments whose length is known have at least so many work-items: lanes fit into no shorter. */
static const unsigned least_segment = 8;

bool is_first_lane(const Instruction &inst)
{
	auto *call = dyn_cast<CallInst>(&inst);
	const Function *callee = call ? call->getCalledFunction() : nullptr;

	return callee && callee->getName().starts_with(prefix);
}

Value *first_lane(IRBuilder<> &b, Value *v)
{
	Type *type = v->getType();
	const std::string name = (prefix + Twine("i") + Twine(type->getIntegerBitWidth())).str();
	auto *f = cast<Function>(b.GetInsertBlock()->getModule()->getOrInsertFunction(
		name, FunctionType::get(type, { type }, false)).getCallee());

	f->setDoesNotAccessMemory();
	f->setDoesNotThrow();
	f->setWillReturn();
	return b.CreateCall(f, { v }, "first");
}

/* What is left are calls in code that runs for one lane. */
void lower_first_lanes(Module &m)
{
	for (Function &f : make_early_inc_range(m)) {
		if (!f.getName().starts_with(prefix))
			continue;
		while (!f.use_empty()) {
			auto *call = cast<CallInst>(f.user_back());

			call->replaceAllUsesWith(call->getArgOperand(0));
			call->eraseFromParent();
		}
		f.eraseFromParent();
	}
}

/* The divisor of @inst, which may be a shift or a mask; NULL if it is no division. */
static Value *divisor_of(const BinaryOperator &inst)
{
	auto *number = dyn_cast<ConstantInt>(inst.getOperand(1));
	const unsigned bits = inst.getType()->isIntegerTy() ?
		inst.getType()->getIntegerBitWidth() : 0;
	uint64_t length = 0;

	if (bits != 32 && bits != 64)
		return nullptr;
	if (!number)
		return inst.isIntDivRem() ? inst.getOperand(1) : nullptr;
	if (inst.isIntDivRem())
		length = number->getZExtValue();
	else if (inst.getOpcode() == Instruction::LShr || inst.getOpcode() == Instruction::AShr)
		length = number->getValue().ult(31) ? 1ull << number->getZExtValue() : 0;
	else if (inst.getOpcode() == Instruction::And && number->getValue().isMask() &&
		 number->getValue().getActiveBits() < 31)
		length = number->getZExtValue() + 1;
	return length >= least_segment ? ConstantInt::get(inst.getType(), length) : nullptr;
}

void interior::find_quotients(function_ref<bool(Value *)> is_dividend,
			      function_ref<bool(Value *)> is_invariant)
{
	for (Instruction &inst : instructions(item)) {
		auto *division = dyn_cast<BinaryOperator>(&inst);
		Value *divisor = division ? divisor_of(*division) : nullptr;

		if (divisor && quotients.size() < max_quotients && is_invariant(divisor) &&
		    is_dividend(division->getOperand(0)))
			quotients.push_back({ division, divisor });
	}
}

/* In @copy, for lanes of one segment. */
void interior::specialise_quotients(ValueToValueMapTy &map) const
{
	for (const row_quotient &q : quotients) {
		auto *inst = cast<Instruction>(&*map[q.inst]);
		IRBuilder<> b(inst);
		Value *dividend = inst->getOperand(0), *divisor = inst->getOperand(1);
		Value *first = first_lane(b, dividend);
		Value *value = nullptr;

		switch (inst->getOpcode()) {
		case Instruction::URem:
		case Instruction::SRem: {
			const bool is_signed = inst->getOpcode() == Instruction::SRem;
			Value *times = is_signed ? b.CreateSDiv(first, divisor) :
						   b.CreateUDiv(first, divisor);
			value = b.CreateSub(dividend, b.CreateMul(times, divisor));
			break;
		}
		case Instruction::And:
			value = b.CreateSub(dividend, b.CreateAnd(first, b.CreateNot(divisor)));
			break;
		default:
			value = b.CreateBinOp(cast<BinaryOperator>(inst)->getOpcode(), first,
					      divisor);
		}
		inst->replaceAllUsesWith(value);
		inst->eraseFromParent();
	}
}

/*
 * A dividend that may be negative, or wrap around, has no segments, nor has a divisor that is not
 * positive: the general version divides by it, if at all.
 */
Value *interior::emit_segment(IRBuilder<> &b, ArrayRef<Value *> call_args, Value *row_length,
			      Value *at)
{
	Value *least = row_length, *zero = b.getInt64(0), *one = b.getInt64(1);

	if (quotients.empty())
		return nullptr;
	args = call_args;
	length = row_length;
	origin = at;
	holds = b.getTrue();
	known.clear();
	for (const row_quotient &q : quotients) {
		const bool narrow = q.inst->getType()->getIntegerBitWidth() == 32;
		Value *most = b.CreateSub(b.getInt64(narrow ? INT32_MAX : INT64_MAX / 4), length);
		Value *from = b.CreateSExt(evaluate(b, q.inst->getOperand(0)), b.getInt64Ty());
		Value *by = b.CreateSExt(evaluate(b, q.divisor), b.getInt64Ty());

		holds = b.CreateAnd(holds, b.CreateICmpSGE(from, zero));
		holds = b.CreateAnd(holds, b.CreateICmpSLT(from, most));
		holds = b.CreateAnd(holds, b.CreateICmpSGT(by, zero));
		by = b.CreateBinaryIntrinsic(Intrinsic::smax, by, one);
		Type *type = q.inst->getType();
		Value *past = b.CreateURem(b.CreateTrunc(from, type), b.CreateTrunc(by, type));
		Value *left = b.CreateSub(by, b.CreateZExt(past, b.getInt64Ty()));
		least = b.CreateBinaryIntrinsic(Intrinsic::smin, least, left);
	}
	origin = nullptr;
	return b.CreateAdd(at, b.CreateSelect(holds, least, zero), "segment");
}

/* Operations from a number to x, and from an addend to what it is computed from */
static const unsigned max_depth = 6;

/* Is it computed from other arguments only? */
static bool is_independent(const Value *v, const Argument &x, unsigned depth)
{
	auto *inst = dyn_cast<Instruction>(v);

	if (!inst)
		return v != &x;
	return depth && (isa<BinaryOperator>(inst) || isa<CastInst>(inst)) &&
	       all_of(inst->operand_values(), [&](const Value *operand) {
		       return is_independent(operand, x, depth - 1);
	       });
}

namespace {

/* Numbers whose bits are the same for all of some lanes, but for those of the lane. */
class lane_bits {
public:
	lane_bits(const Argument &x, unsigned lanes, const DataLayout &layout)
		: x(x), length(Log2_32(lanes)), layout(layout)
	{
	}

	/* Is @v one? Then @at is where its bits of the lane are. */
	bool find(const Value *v, APInt &at, unsigned depth = max_depth) const;

private:
	const Argument &x;
	const unsigned length;
	const DataLayout &layout;
};

} /* namespace */

bool lane_bits::find(const Value *v, APInt &at, unsigned depth) const
{
	auto *inst = dyn_cast<Instruction>(v);
	const unsigned bits = v->getType()->isIntegerTy() ? v->getType()->getIntegerBitWidth() : 0;

	if (bits != 32 && bits != 64)
		return false;
	if (v == &x) {
		at = APInt::getLowBitsSet(bits, length);
		return true;
	}
	if (!inst || !depth || isa<PHINode>(inst))
		return false;
	const Value *left = inst->getOperand(0);
	if (isa<TruncInst>(inst) || isa<ZExtInst>(inst) || isa<SExtInst>(inst)) {
		if (!find(left, at, depth - 1) || at.getActiveBits() > bits)
			return false;
		at = at.zextOrTrunc(bits);
		return true;
	}
	if (!isa<BinaryOperator>(inst))
		return false;
	const Value *right = inst->getOperand(1);
	auto *number = dyn_cast<ConstantInt>(right);
	switch (inst->getOpcode()) {
	case Instruction::Shl:
		if (!number || number->getValue().uge(bits) || !find(left, at, depth - 1) ||
		    number->getZExtValue() > at.countl_zero())
			return false;
		at <<= number->getZExtValue();
		return true;
	case Instruction::And:
		return number && find(left, at, depth - 1) && at.isSubsetOf(number->getValue());
	case Instruction::Add:
	case Instruction::Or:
		/* Addends that are no constants may be on either side. */
		if (is_independent(left, x, max_depth))
			std::swap(left, right);
		[[fallthrough]];
	case Instruction::Sub:
		return is_independent(right, x, max_depth) && find(left, at, depth - 1) &&
		       computeKnownBits(right, layout).countMinTrailingZeros() >=
		       at.getActiveBits();
	default:
		return false;
	}
}

void separate_lanes(Function &item, const Argument &x, unsigned lanes)
{
	const lane_bits numbers(x, lanes, item.getDataLayout());
	SmallVector<std::pair<BinaryOperator *, APInt>> found;
	APInt at;

	for (Instruction &inst : instructions(item)) {
		const unsigned opcode = inst.getOpcode();

		if ((opcode == Instruction::And || opcode == Instruction::LShr ||
		     opcode == Instruction::AShr) && isa<ConstantInt>(inst.getOperand(1)) &&
		    numbers.find(inst.getOperand(0), at))
			found.push_back({ cast<BinaryOperator>(&inst), at });
	}
	for (const auto &[inst, lane] : found) {
		Value *left = inst->getOperand(0), *right = inst->getOperand(1), *made;
		const APInt &number = cast<ConstantInt>(right)->getValue();
		IRBuilder<> b(inst);

		if (inst->getOpcode() == Instruction::And && lane.isSubsetOf(number))
			made = b.CreateSub(left, b.CreateAnd(first_lane(b, left), ~number), "",
					   true, true);
		else if (inst->getOpcode() == Instruction::And ? !lane.intersects(number) :
			 number.uge(lane.getActiveBits()) && number.ult(lane.getBitWidth()))
			made = b.CreateBinOp(inst->getOpcode(), first_lane(b, left), right);
		else
			continue;
		inst->replaceAllUsesWith(made);
		inst->eraseFromParent();
	}
}
