// SPDX-License-Identifier: MIT
/*
 * equalities.cc - blocks that one work-item of a row runs
 *
 * Behind a comparison of x with what is the same for a row there is one work-item at most. A tile
 * with a border is filled like that:
 *
 *	at = y * w + x				at = y * w + x
 *	if (x == 15)				if (x == 15)
 *		tile[16] = in[at + 1]			tile[16] = in[y * w + 15 + 1]
 *
 * LLVM puts the number in the place of x there, but not in that of what was computed from it
 * before. So that is computed again from what x is equal to: then it is the same for all lanes, and
 * loaded and stored once, where one of several active lanes would gather.
 */
#include "rows.h"

#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>

using namespace llvm;
using namespace llvm::PatternMatch;

/* Operations from x to what is computed again */
static const unsigned max_depth = 8;

namespace {

class equality {
public:
	equality(Argument &x, Value &number) : x(x), number(number) {}

	/* In @block and the blocks that it dominates */
	void apply(BasicBlock &block, const DominatorTree &dt);

private:
	bool is_again(Value *v, unsigned depth, bool &uses_x) const;
	Value *again(IRBuilder<> &b, Value *v);

	Argument &x;
	Value &number;
	DenseMap<Value *, Value *> known;
};

} /* namespace */

/* Can @v be computed from arguments and numbers, @uses_x if x is one of them? */
bool equality::is_again(Value *v, unsigned depth, bool &uses_x) const
{
	auto *inst = dyn_cast<Instruction>(v);

	if (!inst) {
		uses_x |= v == &x;
		return isa<Argument>(v) || isa<Constant>(v);
	}
	if (!depth || !(isa<BinaryOperator>(inst) || isa<CastInst>(inst) || isa<CmpInst>(inst) ||
			isa<GetElementPtrInst>(inst) || isa<SelectInst>(inst) ||
			isa<MinMaxIntrinsic>(inst)))
		return false;
	return all_of(inst->operands(), [&](Value *operand) {
		return isa<Function>(operand) || is_again(operand, depth - 1, uses_x);
	});
}

Value *equality::again(IRBuilder<> &b, Value *v)
{
	auto *inst = dyn_cast<Instruction>(v);

	if (v == &x)
		return &number;
	if (!inst)
		return v;
	Value *&made = known[v];
	if (made)
		return made;
	Instruction *copy = inst->clone();
	for (Use &operand : copy->operands())
		if (!isa<Function>(operand))
			operand.set(again(b, operand));
	b.Insert(copy);
	return known[v] = copy;
}

void equality::apply(BasicBlock &block, const DominatorTree &dt)
{
	SmallVector<BasicBlock *> inside;
	IRBuilder<> b(&block, block.getFirstInsertionPt());

	dt.getDescendants(&block, inside);
	for (BasicBlock *each : inside)
		for (Instruction &inst : *each) {
			if (isa<PHINode>(inst))
				continue;
			for (Use &operand : inst.operands()) {
				auto *before = dyn_cast<Instruction>(operand);
				bool uses_x = false;

				if (before && !dt.dominates(&block, before->getParent()) &&
				    is_again(before, max_depth, uses_x) && uses_x)
					operand.set(again(b, before));
			}
		}
}

/* What x is where @v, x or a sum of it and arguments, is @number; NULL if that is not known */
static Value *solve(IRBuilder<> &b, Value *v, Value *number, const Argument &x)
{
	Value *inner, *term;

	if (v == &x)
		return number;
	if (match(v, m_NUWTrunc(m_Value(inner))))
		return solve(b, inner, b.CreateZExt(number, inner->getType()), x);
	if (match(v, m_c_Add(m_Value(inner), m_Value(term))) && isa<Argument>(term) && term != &x)
		return solve(b, inner, b.CreateSub(number, term), x);
	return nullptr;
}

/* The same for all work-items of a row */
static bool is_of_row(const Value *v, const Argument &x)
{
	return v != &x && (isa<Argument>(v) || isa<Constant>(v));
}

/* What x is equal to if @condition has @outcome, computed in front of @at, or NULL */
static Value *find_number(Instruction &at, Value *condition, bool outcome, const Argument &x)
{
	CmpInst::Predicate predicate;
	Value *p, *q;

	if (outcome ? match(condition, m_LogicalAnd(m_Value(p), m_Value(q))) :
		      match(condition, m_LogicalOr(m_Value(p), m_Value(q)))) {
		Value *number = find_number(at, p, outcome, x);

		return number ? number : find_number(at, q, outcome, x);
	}
	if (!match(condition, m_ICmp(predicate, m_Value(p), m_Value(q))) ||
	    predicate != (outcome ? CmpInst::ICMP_EQ : CmpInst::ICMP_NE))
		return nullptr;
	if (is_of_row(p, x))
		std::swap(p, q);
	IRBuilder<> b(&at);
	return is_of_row(q, x) ? solve(b, p, q, x) : nullptr;
}

void use_equalities(Function &item, Argument &x)
{
	std::optional<DominatorTree> dt;

	for (BasicBlock &block : item) {
		auto *branch = dyn_cast<BranchInst>(block.getTerminator());

		for (unsigned i = 0; branch && branch->isConditional() && i < 2; i++) {
			BasicBlock *then = branch->getSuccessor(i);

			if (then->getSinglePredecessor() != &block)
				continue;
			Value *number = find_number(*branch, branch->getCondition(), !i, x);
			if (!number)
				continue;
			if (!dt)
				dt.emplace(item);
			equality(x, *number).apply(*then, *dt);
		}
	}
}
