// SPDX-License-Identifier: MIT
/*
 * terms.cc - terms that cancel out
 *
 * What a work-item has in common with its neighbours may be written with the id in which they
 * differ, on both sides of a difference or a comparison:
 *
 *	(int)get_global_id(0) - (int)get_local_id(0)	(int)first
 *	for (i = x - r; i <= x + r; i++)		for (j = 0; j <= r + r; j++)
 *
 * LLVM does not cancel them: ids are truncated to int, and it counts a loop from where it begins.
 * But then accesses are contiguous, the loop runs as many iterations for all lanes, and tests of i
 * are those of x plus a counter (counters.cc). Sums of ints do not overflow, but what is left of
 * them may: it is compared in 64 bits. Terms that are not made of an id stay.
 */
#include "salvo_cc.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Local.h>

using namespace llvm;
using namespace llvm::PatternMatch;

/* Operations of a sum that are followed */
static const unsigned max_depth = 4;

/* @sum without @term, whose lower bits are enough if @sum is truncated, or NULL */
static Value *without(IRBuilder<> &b, Value *sum, Value *term, unsigned depth)
{
	Value *p, *q;

	if (match(sum, m_Trunc(m_Value(p)))) {
		Value *rest = without(b, p, term, depth);
		return rest ? b.CreateTrunc(rest, sum->getType()) : nullptr;
	}
	if (depth && match(sum, m_Sub(m_Value(p), m_Value(q)))) {
		if (p == term)
			return b.CreateNeg(q);
		Value *rest = without(b, p, term, depth - 1);
		return rest ? b.CreateSub(rest, q) : nullptr;
	}
	if (!depth || !match(sum, m_Add(m_Value(p), m_Value(q))))
		return nullptr;
	if (p == term || q == term)
		return p == term ? q : p;
	if (Value *rest = without(b, p, term, depth - 1))
		return b.CreateAdd(rest, q);
	Value *rest = without(b, q, term, depth - 1);
	return rest ? b.CreateAdd(p, rest) : nullptr;
}

namespace {

/* @term plus @other, or minus that, or only @term */
struct two_terms {
	Value *term, *other = nullptr;
	bool minus = false;
};

/* Comparisons, and loops between places, that have a term in common which is made of an id */
class common_terms {
public:
	common_terms(ArrayRef<Value *> ids, const BasicBlock *entry) : ids(ids), entry(entry) {}

	void cancel_sides(ICmpInst &compare) const;
	bool count_from_0(PHINode &phi, unsigned index) const;

private:
	bool is_computed(Value *v, unsigned depth, bool &of_id) const;
	SmallVector<two_terms, 2> terms_of(Value *v) const;
	bool have_common(Value *p, Value *q, two_terms &left, two_terms &right) const;
	void find_tests(Value &v, Value *start, SmallVectorImpl<ICmpInst *> &tests) const;
	void test_count(ICmpInst &test, Value &v, Value *start, Value *count) const;

	const ArrayRef<Value *> ids;
	const BasicBlock *const entry;
};

} /* namespace */

/* Is @v computed from ids, @of_id, and what is the same for all work-items, without memory? */
bool common_terms::is_computed(Value *v, unsigned depth, bool &of_id) const
{
	auto *inst = dyn_cast<Instruction>(v);

	if (is_contained(ids, v))
		return of_id = true;
	if (!inst || inst->getParent() == entry)
		return true;
	return depth && (isa<BinaryOperator>(inst) || isa<CastInst>(inst)) &&
	       all_of(inst->operand_values(), [&](Value *operand) {
		       return is_computed(operand, depth - 1, of_id);
	       });
}

/* The ways in which @v is a sum, without overflow, of such a term and another */
SmallVector<two_terms, 2> common_terms::terms_of(Value *v) const
{
	SmallVector<two_terms, 2> found;
	Value *p, *q;

	if (match(v, m_NSWAdd(m_Value(p), m_Value(q))))
		found = { { p, q }, { q, p } };
	else if (match(v, m_NSWSub(m_Value(p), m_Value(q))))
		found = { { p, q, true } };
	else
		found = { { v } };
	erase_if(found, [&](const two_terms &each) {
		bool of_id = false;

		return !is_computed(each.term, max_depth, of_id) || !of_id;
	});
	return found;
}

/* Have @p and @q, of up to 32 bits, a term in common? @left and @right say what else they are. */
bool common_terms::have_common(Value *p, Value *q, two_terms &left, two_terms &right) const
{
	if (!p->getType()->isIntegerTy() || p->getType()->getIntegerBitWidth() > 32)
		return false;
	for (const two_terms &one : terms_of(p))
		for (const two_terms &other : terms_of(q))
			if (one.term == other.term) {
				left = one;
				right = other;
				return true;
			}
	return false;
}

/* @sum without its term, in 64 bits */
static Value *emit_other(IRBuilder<> &b, const two_terms &sum)
{
	if (!sum.other)
		return b.getInt64(0);
	Value *other = b.CreateSExt(sum.other, b.getInt64Ty());
	return sum.minus ? b.CreateNSWSub(b.getInt64(0), other) : other;
}

/* Compares what differs in the sides of @compare. */
void common_terms::cancel_sides(ICmpInst &compare) const
{
	two_terms left, right;
	IRBuilder<> b(&compare);

	if (compare.isUnsigned() ||
	    !have_common(compare.getOperand(0), compare.getOperand(1), left, right))
		return;
	Value *p = emit_other(b, left), *q = emit_other(b, right);
	compare.setOperand(0, p);
	compare.setOperand(1, q);
}

/* Tests of @v and a bound that has a term in common with @start */
void common_terms::find_tests(Value &v, Value *start, SmallVectorImpl<ICmpInst *> &tests) const
{
	two_terms left, right;

	for (User *user : v.users()) {
		auto *test = dyn_cast<ICmpInst>(user);

		if (test && !test->isUnsigned() &&
		    have_common(start, test->getOperand(test->getOperand(0) == &v), left, right))
			tests.push_back(test);
	}
}

/* @test of @v, which is @start + @count, as one of @count */
void common_terms::test_count(ICmpInst &test, Value &v, Value *start, Value *count) const
{
	two_terms from, to;
	const bool swapped = test.getOperand(0) != &v;
	IRBuilder<> b(&test);

	have_common(start, test.getOperand(!swapped), from, to);
	Value *apart = b.CreateNSWSub(emit_other(b, to), emit_other(b, from));
	test.setOperand(swapped, count);
	test.setOperand(!swapped, apart);
}

/*
 * Counts a loop upwards from 0, if it begins, and is left, at places with a common term. @index: of
 * what @phi becomes after an iteration.
 */
bool common_terms::count_from_0(PHINode &phi, unsigned index) const
{
	auto *next = dyn_cast<Instruction>(phi.getIncomingValue(index));
	Value *start = phi.getIncomingValue(1 - index);
	SmallVector<ICmpInst *> tests, later;
	const APInt *step;

	if (!next || !match(next, m_NSWAdd(m_Specific(&phi), m_APInt(step))) ||
	    !step->isStrictlyPositive())
		return false;
	find_tests(phi, start, tests);
	find_tests(*next, start, later);
	if (tests.empty() && later.empty())
		return false;

	IRBuilder<> b(&phi);
	PHINode *count = b.CreatePHI(b.getInt64Ty(), 2);
	b.SetInsertPoint(next);
	Value *counted = b.CreateNSWAdd(count, b.getInt64(step->getSExtValue()));
	count->addIncoming(b.getInt64(0), phi.getIncomingBlock(1 - index));
	count->addIncoming(counted, phi.getIncomingBlock(index));
	for (ICmpInst *test : tests)
		test_count(*test, phi, start, count);
	for (ICmpInst *test : later)
		test_count(*test, *next, start, counted);
	b.SetInsertPoint(phi.getIncomingBlock(1 - index)->getTerminator());
	Value *from = b.CreateSExt(start, b.getInt64Ty());
	b.SetInsertPoint(phi.getParent(), phi.getParent()->getFirstInsertionPt());
	phi.replaceAllUsesWith(b.CreateTrunc(b.CreateNSWAdd(from, count), phi.getType(), "",
					     false, true));
	phi.eraseFromParent();
	return true;
}

void cancel_terms(Function &f, ArrayRef<Value *> ids, const BasicBlock *entry)
{
	const common_terms common(ids, entry);
	SmallVector<WeakTrackingVH> replaced;
	Value *sum, *term;

	for (BasicBlock &block : f)
		for (PHINode &phi : make_early_inc_range(block.phis()))
			if (phi.getNumIncomingValues() == 2 && !common.count_from_0(phi, 0))
				common.count_from_0(phi, 1);
	for (Instruction &inst : instructions(f)) {
		IRBuilder<> b(&inst);

		if (auto *compare = dyn_cast<ICmpInst>(&inst))
			common.cancel_sides(*compare);
		if (!match(&inst, m_Sub(m_Value(sum), m_Value(term))) || !isa<Instruction>(term))
			continue;
		Value *rest = without(b, sum, term, max_depth);
		if (!rest && match(term, m_Trunc(m_Value(term))))
			rest = without(b, sum, term, max_depth);
		if (rest) {
			inst.replaceAllUsesWith(rest);
			replaced.push_back(&inst);
		}
	}
	RecursivelyDeleteTriviallyDeadInstructionsPermissive(replaced);
}
