// SPDX-License-Identifier: MIT
/*
 * counters.cc - tests of x plus the counter of a loop
 *
 * A filter whose radius is an argument runs a loop over its taps. For nearly all of a row no tap
 * comes to the border:
 *
 *	for (i = -r; i <= r; i++)
 *		sum += a[clamp(x + i, 0, w - 1)] * taps[i + r]		a[x + i]
 *
 * If the loop runs as many iterations for a whole row, its counter is in a range that is computed
 * before the row is run. What is tested is linear in the counter, so that the test has the same
 * outcome in all iterations if it has it in the first and in the last: those are two tests of x
 * plus an invariant (interior.cc). A tested sum that wraps around in between is found by its second
 * value: the last is as many times as far from the first as there are iterations, in 64 bits.
 *
 * A test of x with the counter itself is none of a border: for (i = 0; i < n; i++) if (i < x)
 */
#include "analyses.h"
#include "interior.h"

#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

using namespace llvm;
using namespace llvm::PatternMatch;

static const unsigned max_depth = 12, max_tests = 64;

struct loop_analyses {
	DominatorTree dt;
	LoopInfo loops;
	access_analyses all;

	explicit loop_analyses(Function &f) : dt(f), loops(dt), all(f, dt, loops) {}
};

bool interior::is_invariant(const SCEV *s)
{
	return !isa<SCEVCouldNotCompute>(s) && !SCEVExprContains(s, [this](const SCEV *part) {
		auto *value = dyn_cast<SCEVUnknown>(part);
		auto *quotient = dyn_cast<SCEVUDivExpr>(part);

		return isa<SCEVAddRecExpr>(part) ||
		       (quotient && !isa<SCEVConstant>(quotient->getRHS())) ||
		       (value && !can_evaluate(value->getValue(), max_depth));
	});
}

/* Iterations after the first, unless the loop ends before; NULL if that may differ in a row. */
const SCEV *interior::find_times(const Loop &loop)
{
	ScalarEvolution &evolution = analyses->all.evolution;
	SmallVector<BasicBlock *> exiting;

	loop.getExitingBlocks(exiting);
	for (BasicBlock *block : exiting) {
		const SCEV *times = evolution.getExitCount(&loop, block);

		if (is_invariant(times) && analyses->dt.dominates(block, loop.getLoopLatch()))
			return times;
	}
	return nullptr;
}

/* @phi as a counter, if it is one, or NULL */
const SCEVAddRecExpr *interior::find_counter(PHINode *phi)
{
	if (!phi->getType()->isIntegerTy())
		return nullptr;
	const Loop *loop = analyses->loops.getLoopFor(phi->getParent());
	if (!loop || loop->getHeader() != phi->getParent() ||
	    !loop->getLoopPredecessor() || !loop->getLoopLatch())
		return nullptr;
	ScalarEvolution &evolution = analyses->all.evolution;
	auto *counter = dyn_cast<SCEVAddRecExpr>(evolution.getSCEV(phi));
	counting = false;
	const bool found = counter && counter->getLoop() == loop && counter->isAffine() &&
			   is_invariant(counter->getStart()) &&
			   is_invariant(counter->getStepRecurrence(evolution)) &&
			   find_times(*loop);
	counting = true;
	return found ? counter : nullptr;
}

/* Is it x, or not, plus invariants, and a multiple of @counter if that is one, once? */
bool interior::is_linear(Value *v, PHINode *&counter, unsigned depth)
{
	Value *p, *q;

	if (v == &x || can_evaluate(v, depth))
		return true;
	if (!depth)
		return false;
	if (auto *phi = dyn_cast<PHINode>(v)) {
		const bool first = !counter;

		counter = phi;
		return first;
	}
	if (const row_test *clamp = find_clamp(v))
		return is_linear(clamp->step, counter, depth - 1);
	if (match(v, m_Not(m_Value(p))) || match(v, m_Trunc(m_Value(p))) ||
	    match(v, m_ZExtOrSExt(m_Value(p))))
		return v->getType()->getIntegerBitWidth() >= 32 &&
		       p->getType()->getIntegerBitWidth() >= 32 &&
		       is_linear(p, counter, depth - 1);
	if (match(v, m_AddLike(m_Value(p), m_Value(q))) || match(v, m_Sub(m_Value(p), m_Value(q))))
		return is_linear(p, counter, depth - 1) && is_linear(q, counter, depth - 1);
	if (match(v, m_Mul(m_Value(p), m_Value(q))) && can_evaluate(p, depth))
		std::swap(p, q);
	else if (!match(v, m_Mul(m_Value(p), m_Value(q))) &&
		 !match(v, m_Shl(m_Value(p), m_Value(q))))
		return false;
	return can_evaluate(q, depth) && is_linear(p, counter, depth - 1);
}

/* Find the counter that is in @t, and compute its values before the loop; false if it cannot be. */
bool interior::add_counter(row_test &t)
{
	if (!is_linear(t.step, t.counter, max_depth))
		return false;
	if (!t.counter || counters.contains(t.counter))
		return !t.counter || !t.mirrored;
	counting = true;
	const SCEVAddRecExpr *counter = find_counter(t.counter);
	counting = false;
	if (!counter || t.mirrored)
		return false;

	ScalarEvolution &evolution = analyses->all.evolution;
	Instruction *before = counter->getLoop()->getLoopPredecessor()->getTerminator();
	SCEVExpander expander(evolution, item.getDataLayout(), "counter");
	auto expand = [&](const SCEV *s) {
		return expander.expandCodeFor(s, s->getType(), before);
	};
	const SCEV *times = find_times(*counter->getLoop());
	const SCEV *next = evolution.getAddExpr(counter->getStart(),
						counter->getStepRecurrence(evolution));
	const row_counter made = {
		expand(counter->getStart()), expand(next),
		expand(counter->evaluateAtIteration(times, evolution)), expand(times)
	};
	if (!can_evaluate(made.first, max_depth) || !can_evaluate(made.next, max_depth) ||
	    !can_evaluate(made.last, max_depth) || !can_evaluate(made.times, max_depth))
		return false;
	counters[t.counter] = made;
	return true;
}

void interior::find_tests()
{
	std::optional<loop_analyses> found;

	if (has_loops(item))
		analyses = &found.emplace(item);
	for (Instruction &inst : instructions(item))
		if (tests.size() < max_tests)
			add_test(inst);
	analyses = nullptr;
}

/*
 * What @t tests in the first iteration and in the last, in 64 bits. @holds says, too, that
 * it does not wrap around in between.
 */
std::array<Value *, 2> interior::emit_counted(IRBuilder<> &b, const row_test &t)
{
	const row_counter &counter = counters.find(t.counter)->second;
	auto step_at = [&](Value *count) {
		Value *at = evaluate(b, count);
		const auto saved = known;

		known[t.counter] = at;
		counting = true;
		Value *step = b.CreateSExtOrTrunc(evaluate(b, t.step), b.getInt64Ty());
		counting = false;
		known = saved;
		return step;
	};
	Value *first = step_at(counter.first), *last = step_at(counter.last);
	Value *apart = b.CreateSub(step_at(counter.next), first);
	Value *times = b.CreateZExtOrTrunc(evaluate(b, counter.times), b.getInt64Ty());
	Value *is_int = b.CreateICmpEQ(apart, b.CreateSExt(b.CreateTrunc(apart, b.getInt32Ty()),
							   b.getInt64Ty()));

	for (Value *is : { is_int, b.CreateICmpULT(times, b.getInt64(INT32_MAX)),
			   b.CreateICmpEQ(b.CreateSub(last, first), b.CreateMul(apart, times)) })
		holds = b.CreateAnd(holds, is);
	return { first, last };
}
