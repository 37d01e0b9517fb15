// SPDX-License-Identifier: MIT
/*
 * interior.cc - index-set splitting of a row by comparisons of x
 *
 * Image kernels test x against the border and clamp what they read to it:
 *
 *	if (x < 1 || x >= w - 1) return;	a[x - 1] + a[x + 1]
 *	a[clamp(x + k, 0, w - 1)]		a[x + k]
 *	a[min(abs(x + k), 2 * (w - 1) - x - k)]	a[x + k]
 *	a[max(w - 1 - x, 0)]			a[w - 1 - x]
 *
 * For nearly all of a row the outcome is the same. A test compares x, or a small multiple of it as
 * in 3 * x + 2 < n, plus a value that is invariant in the row, or such a value minus x, with
 * another invariant value, or x with one minus x. So it holds in a range of x that is computed
 * before the row is run; so it does for x plus the counter of a loop (counters.cc). Where all
 * tests hold, the interior, a specialised copy of the work-item runs in which they are constants:
 * no lane is masked, and clamped addresses are contiguous. A guard is a test whose other outcome
 * means that the work-item does nothing: there nothing is run.
 *
 * Invariant are the arguments, the other ids, what every work-item loads first from an address that
 * is, as the width of an image in a batch, and what is computed from those.
 *
 * The range is computed in 64 bits, with a check for x + invariant wrapping around in its own
 * type; if it may, the interior is empty and the whole row runs the general code.
 */
#include "interior.h"

#include "division.h"
#include "ways.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/FunctionComparator.h>

using namespace llvm;
using namespace llvm::PatternMatch;

static const unsigned max_depth = 12, max_tests = 64, max_scale = 32;

/* By a constant it is a multiplication or a shift, as of the length of a row of float4: n / 4 */
static bool is_slow_division(const Instruction &inst)
{
	return inst.isIntDivRem() && !isa<Constant>(inst.getOperand(1));
}

/* Is it the same for a work-group, whose entry computes it once? */
bool interior::is_of_group(const Value *v, unsigned depth) const
{
	if (auto *arg = dyn_cast<Argument>(v))
		return arg->getArgNo() < x.getArgNo();
	auto *inst = dyn_cast<Instruction>(v);
	if (!inst)
		return true;
	return depth && !inst->mayReadFromMemory() &&
	       all_of(inst->operand_values(), [&](const Value *operand) {
		       return is_of_group(operand, depth - 1);
	       });
}

/*
 * Does every work-item load it, before it writes anything? Then it may as well be loaded before
 * the row: a work-item that changes what others load, with no barrier in between, races with them.
 */
static bool loads_first(const Instruction &inst)
{
	auto *load = dyn_cast<LoadInst>(&inst);

	if (!load || !load->isSimple() || !load->getParent()->isEntryBlock() ||
	    (load->getPointerAddressSpace() != GLOBAL &&
	     load->getPointerAddressSpace() != CONSTANT))
		return false;
	for (const Instruction *before = load; before; before = before->getPrevNode())
		if (before->mayWriteToMemory() && !before->isLifetimeStartOrEnd() &&
		    !isa<AssumeInst>(before))
			return false;
	return true;
}

/* Is it invariant in the row and free of side effects? */
bool interior::can_evaluate(Value *v, unsigned depth)
{
	auto *inst = dyn_cast<Instruction>(v);

	if (v == &x || !depth)
		return false;
	if (!inst)
		return isa<Argument>(v) || isa<Constant>(v);
	if (auto *phi = dyn_cast<PHINode>(inst))
		return counting && (analyses ? !!find_counter(phi) : counters.contains(phi));
	if (loads_first(*inst) || (loading && isa<LoadInst>(inst)))
		return can_evaluate(inst->getOperand(0), depth - 1);
	if (isa<AllocaInst>(inst) || isa<FreezeInst>(inst) ||
	    inst->mayReadOrWriteMemory() ||
	    (is_slow_division(*inst) ? !guarded_divisor(*inst) || !is_of_group(inst, depth) :
				       !isSafeToSpeculativelyExecute(inst)))
		return false;
	for (Value *operand : inst->operands())
		if (!isa<Function>(operand) && !can_evaluate(operand, depth - 1))
			return false;
	return true;
}

/* The test that @v, a minimum, maximum or absolute value, is; or NULL. */
const row_test *interior::find_clamp(Value *v) const
{
	auto test = find_if(tests, [&](const row_test &t) { return t.test == v; });

	return test != tests.end() && isa<IntrinsicInst>(v) ? &*test : nullptr;
}

/* The number of times x, plus an invariant, that it is where the tests hold, or 0 */
int64_t interior::scale_of(Value *v, unsigned depth)
{
	auto *inst = dyn_cast<Instruction>(v);
	Value *p, *q;
	const APInt *number;

	if (v == &x)
		return 1;
	if (!inst || !depth || !v->getType()->isIntegerTy())
		return 0;
	if (match(inst, m_AddLike(m_Value(p), m_Value(q)))) {
		if (can_evaluate(p, depth))
			std::swap(p, q);
		return can_evaluate(q, depth) ? scale_of(p, depth - 1) : 0;
	}
	if (match(inst, m_Sub(m_Value(p), m_Value(q))))
		return can_evaluate(q, depth) ? scale_of(p, depth - 1) : 0;
	if (match(inst, m_Mul(m_Value(p), m_APInt(number))) ||
	    match(inst, m_Shl(m_Value(p), m_APInt(number)))) {
		const bool is_shift = inst->getOpcode() == Instruction::Shl;
		const uint64_t times = number->getLimitedValue(max_scale + 1);
		const uint64_t factor = is_shift && times <= max_scale ? 1ull << times : times;
		const int64_t scale = factor && factor <= max_scale ? scale_of(p, depth - 1) : 0;

		return scale * factor <= max_scale ? scale * factor : 0;
	}
	switch (inst->getOpcode()) {
	case Instruction::Trunc:
		return v->getType()->getIntegerBitWidth() >= 32 ?
			scale_of(inst->getOperand(0), depth - 1) : 0;
	case Instruction::SExt:
	case Instruction::ZExt:
		return inst->getOperand(0)->getType()->getIntegerBitWidth() >= 32 ?
			scale_of(inst->getOperand(0), depth - 1) : 0;
	case Instruction::Call:
		/* Clamped: in the interior it is what is clamped. */
		if (const row_test *clamp = find_clamp(inst))
			return clamp->falling || !can_follow(*clamp) ? 0 : clamp->scale;
		return 0;
	default:
		return 0;
	}
}

/* Is it an invariant minus x, where the tests hold? */
bool interior::is_mirror(Value *v, unsigned depth)
{
	Value *p, *q;

	if (!depth || !v->getType()->isIntegerTy())
		return false;
	if (const row_test *clamp = find_clamp(v))
		return clamp->falling && can_follow(*clamp);
	if (match(v, m_Trunc(m_Value(p))))
		return v->getType()->getIntegerBitWidth() >= 32 && is_mirror(p, depth - 1);
	if (match(v, m_Not(m_Value(p))))
		return is_step(p, depth - 1);
	if (match(v, m_Sub(m_Value(p), m_Value(q))))
		return (can_evaluate(p, depth) && is_step(q, depth - 1)) ||
		       (can_evaluate(q, depth) && is_mirror(p, depth - 1));
	if (match(v, m_Add(m_Value(p), m_Value(q))))
		return (can_evaluate(p, depth) && is_mirror(q, depth - 1)) ||
		       (can_evaluate(q, depth) && is_mirror(p, depth - 1));
	return false;
}

/*
 * What @v is known to be when @test has @outcome: 0, 1, or -1 for unknown. Each of two ways may
 * have its own copy of a comparison.
 */
static int outcome_of(Value *v, Instruction *test, bool outcome, unsigned depth)
{
	auto *compare = dyn_cast<ICmpInst>(v);
	Value *p, *q;

	if (v == test || (compare && compare->isIdenticalTo(test)))
		return outcome;
	if (auto *constant = dyn_cast<ConstantInt>(v))
		return constant->isOne();
	if (!depth)
		return -1;
	if (match(v, m_Not(m_Value(p)))) {
		int inner = outcome_of(p, test, outcome, depth - 1);
		return inner < 0 ? inner : !inner;
	}
	if (match(v, m_LogicalAnd(m_Value(p), m_Value(q))) ||
	    match(v, m_LogicalOr(m_Value(p), m_Value(q)))) {
		const int decides = match(v, m_LogicalOr());
		int left = outcome_of(p, test, outcome, depth - 1);
		int right = outcome_of(q, test, outcome, depth - 1);

		/* The second one may be poison if the first decides otherwise: it is not asked. */
		if (left == decides || right == decides)
			return decides;
		return left < 0 || right < 0 ? -1 : !decides;
	}
	return -1;
}

/* The blocks that a work-item may come to if @test has @outcome */
static SmallSetVector<BasicBlock *, 8> blocks_if(Function &item, Instruction *test, bool outcome)
{
	SmallSetVector<BasicBlock *, 8> seen;

	seen.insert(&item.getEntryBlock());
	for (unsigned i = 0; i < seen.size(); i++) {
		auto *branch = dyn_cast<BranchInst>(seen[i]->getTerminator());
		int way = branch && branch->isConditional() ?
			outcome_of(branch->getCondition(), test, outcome, 6) : -1;

		if (way >= 0)
			seen.insert(branch->getSuccessor(!way));
		else
			seen.insert(succ_begin(seen[i]), succ_end(seen[i]));
	}
	return seen;
}

/* Does a work-item do nothing if @test has @outcome, but for what all of them do alike? */
bool interior::does_nothing(Instruction *test, bool outcome)
{
	return all_of(blocks_if(item, test, outcome), [this](BasicBlock *block) {
		return all_of(*block, [this](Instruction &inst) {
			return inst.isTerminator() || !inst.mayHaveSideEffects() ||
			       inst.isLifetimeStartOrEnd() || (skip && is_common_store(inst));
		});
	});
}

/* Instructions of a work-item if @test has @outcome */
unsigned interior::work_if(Instruction *test, bool outcome) const
{
	unsigned sum = 0;

	for (const BasicBlock *block : blocks_if(item, test, outcome))
		sum += block->size();
	return sum;
}

/*
 * Does @t, if it holds, keep a work-item from half of the instructions or more, or one with the
 * counter of a loop from any of an iteration?
 */
bool interior::skips_most(const row_test &t) const
{
	const unsigned left = work_if(t.test, true), all = work_if(t.test, false);

	return t.counter ? left < all : 2 * left <= all;
}

/*
 * The outcome of @test for which what it chooses moves with x, where it is the same for a row
 * otherwise: x < n ? x : n - 1. None if it chooses something else.
 */
std::optional<bool> interior::moves_if(Instruction *test)
{
	std::optional<bool> found;

	for (User *user : test->users()) {
		auto *select = dyn_cast<SelectInst>(user);

		if (!select || select->getCondition() != test)
			return std::nullopt;
		const bool moves = !can_evaluate(select->getTrueValue(), max_depth);
		if (moves != can_evaluate(select->getFalseValue(), max_depth) ||
		    (found && *found != moves))
			return std::nullopt;
		found = moves;
	}
	return found;
}

/* Is @v made of the kernel's arguments and ids? What else is passed may not be initialised yet. */
bool interior::is_known(Value *v) const
{
	if (auto *arg = dyn_cast<Argument>(v))
		return arg->getArgNo() <= x.getArgNo() + 2;
	auto *inst = dyn_cast<Instruction>(v);
	return !inst || all_of(inst->operands(), [this](Value *u) { return is_known(u); });
}

/* Stores that are done once for the group, for those that do nothing else, are not in rows. */
void interior::find_row_guards()
{
	unsigned left = max_tests;

	if (!skip || any_of(instructions(item), is_common_store))
		return;
	for (Instruction &inst : instructions(item)) {
		auto *compare = dyn_cast<ICmpInst>(&inst);

		if (!compare || !can_evaluate(compare, max_depth) || !is_known(compare))
			continue;
		if (!left--)
			return;
		for (const bool needed : { true, false })
			if (does_nothing(compare, !needed)) {
				row_guards.push_back({ compare, needed });
				break;
			}
	}
}

/* @t of @left and @right, where one is a multiple of x plus an invariant */
bool interior::find_sides(row_test &t, Value *left, Value *right)
{
	auto find_step = [&] {
		counting = analyses;
		t.scale = scale_of(t.step, max_depth);
		t.falling = !t.scale && is_mirror(t.step, max_depth);
		t.scale += t.falling;
		counting = false;
		return t.scale != 0;
	};

	t.step = left;
	t.bound = right;
	if (!find_step() || (t.falling && !can_evaluate(t.bound, max_depth))) {
		std::swap(t.step, t.bound);
		find_step();
		if (isa<ICmpInst>(t.test))
			t.predicate = CmpInst::getSwappedPredicate(t.predicate);
	}
	if (!t.step->getType()->isIntegerTy() || t.step->getType()->getIntegerBitWidth() < 32 ||
	    t.step->getType()->getIntegerBitWidth() > 64 || !t.scale)
		return false;
	/* Twice x is compared, in one range only where that is signed. */
	t.mirrored = t.scale == 1 && !t.falling && ICmpInst::isSigned(t.predicate) &&
		     is_mirror(t.bound, max_depth);
	return (t.mirrored || can_evaluate(t.bound, max_depth)) && add_counter(t);
}

/* Is @v computed from a clamp, which is what is clamped in the interior only? */
bool interior::has_clamp(Value *v) const
{
	SmallSetVector<Value *, 16> seen;

	seen.insert(v);
	for (unsigned i = 0; i < seen.size(); i++) {
		auto *inst = dyn_cast<Instruction>(seen[i]);

		if (find_clamp(seen[i]))
			return true;
		if (inst)
			seen.insert(inst->op_begin(), inst->op_end());
	}
	return false;
}

/* The outcome of a comparison in the interior */
void interior::choose_side(row_test &t)
{
	const CmpInst::Predicate inverse = CmpInst::getInversePredicate(t.predicate);
	auto *number = dyn_cast<ConstantInt>(t.bound);

	if (!t.counter && does_nothing(t.test, false)) {
		t.guard = true;
	} else if (!t.counter && does_nothing(t.test, true)) {
		t.guard = true;
		t.predicate = inverse;
	} else if (CmpInst::isEquality(t.predicate)) {
		t.predicate = CmpInst::ICMP_NE;
	} else if (const std::optional<bool> moves = moves_if(t.test)) {
		if (!*moves)
			t.predicate = inverse;
	} else if (number && number->getValue().getSignificantBits() < 8 &&
		   (ICmpInst::isLT(t.predicate) || ICmpInst::isLE(t.predicate))) {
		/* x < 1: the border, most likely. */
		t.predicate = inverse;
	} else if (!number && skips_most(t)) {
		/* x >= w - 1, and then only a border is stored */
		t.predicate = inverse;
	}
	/*
	 * Where two are not equal is no one range, nor where one is above the other unsigned: only
	 * a part of it is the interior, and all is run. So it is where a clamp is compared, which
	 * may hold elsewhere, too.
	 */
	t.guard = t.guard && t.predicate != CmpInst::ICMP_NE &&
		  t.predicate != CmpInst::ICMP_UGT && t.predicate != CmpInst::ICMP_UGE &&
		  !has_clamp(t.step) && !has_clamp(t.bound);
}

void interior::add_test(Instruction &inst)
{
	row_test t = { &inst, nullptr, nullptr, CmpInst::BAD_ICMP_PREDICATE, false, false,
		       false, 0, nullptr };
	Value *p;

	if (auto *clamp = dyn_cast<MinMaxIntrinsic>(&inst)) {
		t.predicate = CmpInst::getNonStrictPredicate(clamp->getPredicate());
		if (find_sides(t, clamp->getLHS(), clamp->getRHS()))
			tests.push_back(t);
	} else if (match(&inst, m_Intrinsic<Intrinsic::abs>(m_Value(p)))) {
		t.predicate = CmpInst::ICMP_SGE;
		if (find_sides(t, p, Constant::getNullValue(p->getType())))
			tests.push_back(t);
	} else if (auto *compare = dyn_cast<ICmpInst>(&inst)) {
		t.predicate = compare->getPredicate();
		if (!find_sides(t, compare->getOperand(0), compare->getOperand(1)) ||
		    (t.counter && compare->isEquality()))
			return;
		choose_side(t);
		tests.push_back(t);
	}
}

/* What @t is in the interior */
static Value *outcome_of(const row_test &t)
{
	auto *compare = dyn_cast<ICmpInst>(t.test);

	if (!compare)
		return t.step;
	return ConstantInt::getBool(t.test->getType(), t.predicate == (
		t.step == compare->getOperand(0) ? compare->getPredicate() :
						   compare->getSwappedPredicate()));
}

/*
 * Tests that the interior does not come to, as they are behind a comparison of x, do not make it
 * smaller.
 */
void interior::drop_unreachable()
{
	SmallSetVector<BasicBlock *, 8> seen;

	seen.insert(&item.getEntryBlock());
	for (unsigned i = 0; i < seen.size(); i++) {
		auto *branch = dyn_cast<BranchInst>(seen[i]->getTerminator());
		Value *way = nullptr;

		for (const row_test &t : tests)
			if (branch && branch->isConditional() && branch->getCondition() == t.test)
				way = outcome_of(t);
		if (way)
			seen.insert(branch->getSuccessor(cast<Constant>(way)->isNullValue()));
		else
			seen.insert(succ_begin(seen[i]), succ_end(seen[i]));
	}
	erase_if(tests, [&](const row_test &t) { return !seen.contains(t.test->getParent()); });
}

interior::interior(Function &item, Argument &x, bool skip) : item(item), x(x), skip(skip)
{
	find_tests();
	if (!skip)
		for (row_test &t : tests)
			t.guard = false;
	drop_unreachable();
	find_quotients([this](Value *v) { return is_step(v, max_depth); },
		       [this](Value *v) { return can_evaluate(v, max_depth); });
	find_row_guards();
}

bool interior::has_borders() const
{
	return has_units() || any_of(tests, [](const row_test &t) { return !t.guard; });
}

bool interior::take_other_side()
{
	if (tests.size() != 1 || tests[0].guard || !isa<ICmpInst>(tests[0].test) ||
	    ICmpInst::isEquality(tests[0].predicate))
		return false;
	tests[0].predicate = CmpInst::getInversePredicate(tests[0].predicate);
	return true;
}

bool interior::has_guards() const
{
	return any_of(tests, [](const row_test &t) { return t.guard; });
}

/*
 * Is a global id as an int not negative? It may only be where ids come near 2^31. The sum of the
 * group's first id, an argument, and of x does not wrap around; the kernel's own offsets do.
 */
bool interior::is_sign(const row_test &t) const
{
	Value *id, *from;

	if (!((t.predicate == CmpInst::ICMP_SGE && match(t.bound, m_Zero())) ||
	      (t.predicate == CmpInst::ICMP_SGT && match(t.bound, m_AllOnes()))) ||
	    !match(t.step, m_Trunc(m_Value(id))))
		return false;
	if (match(id, m_NUWAdd(m_Specific(&x), m_Value(from))) ||
	    match(id, m_NUWAdd(m_Value(from), m_Specific(&x))))
		return isa<Argument>(from);
	return id == &x;
}

bool interior::has_likely_borders() const
{
	return has_units() || any_of(tests, [this](const row_test &t) {
		return !t.guard && !is_sign(t);
	});
}

Function *interior::specialise()
{
	ValueToValueMapTy map;
	Function *copy = CloneFunction(&item, map);

	for (const row_test &t : tests) {
		Value *value = outcome_of(t);

		if (Value *copied = map.lookup(value))
			value = copied;
		map[t.test]->replaceAllUsesWith(value);
	}
	specialise_quotients(map);
	specialise_units(map);
	return copy;
}

Function *interior::make_idle(const items &of, TargetMachine &target)
{
	Function *idle = nullptr;
	bool same = true;

	for (const row_test &t : tests) {
		ValueToValueMapTy map;

		if (!t.guard || !same)
			continue;
		Function *copy = CloneFunction(&item, map);
		auto *holds = cast<ConstantInt>(outcome_of(t));
		map[t.test]->replaceAllUsesWith(ConstantInt::getBool(holds->getType(),
								     holds->isZero()));
		tidy(*copy, target);
		GlobalNumberState numbers;
		same = copy->size() == 1 && all_of(copy->args(), [&](const Argument &arg) {
			return !of.is_of_item(arg) || arg.use_empty();
		}) && none_of(instructions(*copy), [](const Instruction &inst) {
			return inst.mayReadFromMemory();
		}) && (!idle || !FunctionComparator(idle, copy, &numbers).compare());
		if (idle)
			copy->eraseFromParent();
		else
			idle = copy;
	}
	if (same || !idle)
		return idle;
	idle->eraseFromParent();
	return nullptr;
}

/* @v where x is 0, or the origin of a segment, and the tests hold. */
Value *interior::evaluate(IRBuilder<> &b, Value *v)
{
	if (v == &x)
		return origin ? origin : b.getInt64(0);
	if (auto *arg = dyn_cast<Argument>(v))
		return args[arg->getArgNo()];
	auto *inst = dyn_cast<Instruction>(v);
	if (!inst)
		return v;
	if (Value *done = known.lookup(v))
		return done;

	Value *made;
	if (const row_test *clamp = find_clamp(inst)) {
		made = evaluate(b, clamp->step);
	} else {
		Instruction *copy = inst->clone();
		for (unsigned i = 0; i < inst->getNumOperands(); i++)
			copy->setOperand(i, evaluate(b, inst->getOperand(i)));
		copy->dropPoisonGeneratingFlags();
		made = b.Insert(copy);
		const int64_t scale = isa<SExtInst>(inst) || isa<ZExtInst>(inst) ?
			scale_of(inst, max_depth) : 0;
		if (scale) {
			/* It must not wrap around before it is extended. */
			Value *from = b.CreateSExt(copy->getOperand(0), b.getInt64Ty());
			Value *last = b.CreateAdd(from, b.CreateMul(length, b.getInt64(scale)));
			holds = b.CreateAnd(holds, b.CreateICmpSLT(last, b.getInt64(INT32_MAX)));
			if (isa<ZExtInst>(inst))
				holds = b.CreateAnd(holds, b.CreateICmpSGE(from, b.getInt64(0)));
		}
	}
	known[v] = made;
	return made;
}

Value *interior::emit_row_guards(IRBuilder<> &b, ArrayRef<Value *> call_args)
{
	Value *all = nullptr;

	args = call_args;
	known.clear();
	for (auto [compare, needed] : row_guards) {
		Value *one = evaluate(b, compare);

		one = needed ? one : b.CreateNot(one);
		all = all ? b.CreateAnd(all, one) : one;
	}
	return all;
}

row_range interior::emit(IRBuilder<> &b, ArrayRef<Value *> call_args, Value *row_length)
{
	Value *zero = b.getInt64(0);
	Value *first = zero, *end = row_length, *low = zero, *high = row_length;
	auto later = [&](Value *p, Value *q) {
		return b.CreateBinaryIntrinsic(Intrinsic::smax, p, q);
	};
	auto earlier = [&](Value *p, Value *q) {
		return b.CreateBinaryIntrinsic(Intrinsic::smin, p, q);
	};

	args = call_args;
	length = row_length;
	holds = b.getTrue();
	known.clear();
	auto hold = [&](const row_test &t, Value *step) {
		const bool narrow = t.step->getType()->getIntegerBitWidth() <= 32;
		const int64_t most = narrow ? INT32_MAX : INT64_MAX / 4;
		Value *bound = b.CreateSExtOrTrunc(evaluate(b, t.bound), b.getInt64Ty());
		Value *from = nullptr, *to = nullptr;
		Value *at = t.falling ? b.CreateSub(step, bound) : b.CreateSub(bound, step);

		if (t.mirrored) {
			/* x + step < bound - x where x < (bound - step + 1) / 2 */
			const bool up = t.predicate == CmpInst::ICMP_SLT ||
					t.predicate == CmpInst::ICMP_SGE;
			at = b.CreateAShr(b.CreateAdd(at, b.getInt64(up)), 1);
			holds = b.CreateAnd(holds, b.CreateICmpSGT(b.CreateSub(bound, length),
								   b.getInt64(-most)));
		}
		auto divided = [&](Value *v, bool up) -> Value * {
			if (t.scale == 1)
				return v;
			Value *rest = b.CreateSRem(v, b.getInt64(t.scale));
			Value *more = up ? b.CreateICmpSGT(rest, zero) :
					   b.CreateICmpSLT(rest, zero);
			Value *quotient = b.CreateSDiv(v, b.getInt64(t.scale));

			more = b.CreateZExt(more, b.getInt64Ty());
			return up ? b.CreateAdd(quotient, more) : b.CreateSub(quotient, more);
		};
		Value *after = b.CreateAdd(divided(at, false), b.getInt64(1));
		Value *last = b.CreateMul(length, b.getInt64(t.scale));
		at = divided(at, true);
		Value *inside = t.falling ?
			b.CreateICmpSGT(step, b.CreateSub(last, b.getInt64(most))) :
			b.CreateICmpSLT(step, b.CreateSub(b.getInt64(most), last));
		holds = b.CreateAnd(holds, inside);
		if (!narrow) {
			holds = b.CreateAnd(holds, b.CreateICmpSGT(step, b.getInt64(-most)));
			holds = b.CreateAnd(holds, b.CreateICmpSLT(step, b.getInt64(most)));
			holds = b.CreateAnd(holds, b.CreateICmpSGT(bound, b.getInt64(-most)));
			holds = b.CreateAnd(holds, b.CreateICmpSLT(bound, b.getInt64(most)));
		}
		if (CmpInst::isUnsigned(t.predicate)) {
			if (t.falling)
				to = b.CreateAdd(step, b.getInt64(1));
			else
				from = divided(b.CreateNeg(step), true);
			holds = b.CreateAnd(holds, b.CreateICmpSGE(bound, zero));
		}
		switch (t.falling ? CmpInst::getSwappedPredicate(t.predicate) : t.predicate) {
		case CmpInst::ICMP_SLT:
		case CmpInst::ICMP_ULT:
			to = at;
			break;
		case CmpInst::ICMP_SLE:
		case CmpInst::ICMP_ULE:
			to = after;
			break;
		case CmpInst::ICMP_SGT:
		case CmpInst::ICMP_UGT:
			from = after;
			break;
		case CmpInst::ICMP_SGE:
		case CmpInst::ICMP_UGE:
			from = at;
			break;
		case CmpInst::ICMP_NE:
			/* The part after that x, or before it if it is not the first. */
			from = b.CreateSelect(b.CreateICmpEQ(at, zero), after, zero);
			to = b.CreateSelect(b.CreateICmpSGT(at, zero), at, row_length);
			break;
		default:
			from = at;
			to = after;
		}
		if (from) {
			low = later(low, from);
			first = t.guard ? later(first, from) : first;
		}
		if (to) {
			high = earlier(high, to);
			end = t.guard ? earlier(end, to) : end;
		}
	};
	for (const row_test &t : tests) {
		if (t.counter) {
			for (Value *step : emit_counted(b, t))
				hold(t, step);
		} else {
			hold(t, b.CreateSExtOrTrunc(evaluate(b, t.step), b.getInt64Ty()));
		}
	}
	first = b.CreateSelect(holds, earlier(first, row_length), zero);
	end = later(b.CreateSelect(holds, end, row_length), first);
	if (has_units())
		holds = b.CreateAnd(holds, emit_units(b));
	low = b.CreateSelect(holds, earlier(low, row_length), end);
	high = later(b.CreateSelect(holds, high, first), first);
	return { first, end, low, high };
}

/* Is @v made of the first @count arguments, and of @x? Regions may write before what is loaded. */
static bool is_made_of(Value *v, const Argument &x, unsigned count)
{
	SmallSetVector<Value *, 8> parts;

	parts.insert(v);
	for (unsigned i = 0; i < parts.size(); i++) {
		auto *arg = dyn_cast<Argument>(parts[i]);

		if ((arg && arg != &x && arg->getArgNo() >= count) || isa<PHINode>(parts[i]))
			return false;
		if (auto *inst = dyn_cast<Instruction>(parts[i])) {
			if (inst->mayReadFromMemory())
				return false;
			parts.insert(inst->op_begin(), inst->op_end());
		}
	}
	return true;
}

Value *interior::emit_some(IRBuilder<> &b, ArrayRef<Value *> values, Value *row_length)
{
	if (!has_guards() || has_units())
		return nullptr;
	interior guards = *this;

	/* Counters of loops are in no guard. */
	erase_if(guards.tests, [](const row_test &t) { return t.counter; });
	if (!all_of(guards.tests, [&](const row_test &t) {
		return is_made_of(t.step, x, values.size()) &&
		       is_made_of(t.bound, x, values.size());
	}))
		return nullptr;
	row_range range = guards.emit(b, values, row_length);
	return b.CreateICmpULT(range.first, range.end);
}
