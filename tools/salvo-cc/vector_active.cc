// SPDX-License-Identifier: MIT
/*
 * vector_active.cc - which part of the lanes is active, on average
 *
 * What few lanes do costs all of them as much as if they all did it. Estimates of the cost
 * (vector_cost.cc) ask here how many there are behind a branch, and in a loop that lanes leave at
 * different times.
 */
#include "vectoriser.h"

#include <llvm/ADT/DepthFirstIterator.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/PatternMatch.h>

using namespace llvm;

/* Operations of a loop between what a lane loads and what it compares */
static const unsigned max_depth = 8;

/*
 * Is @v computed in this or the last iteration of @loop from what each lane gathers? Not by a
 * choice, as the bounds of a search are.
 */
bool vectoriser::is_gathered(Value *v, const Loop &loop, unsigned depth)
{
	auto *inst = dyn_cast<Instruction>(v);

	if (!inst || !depth || !loop.contains(inst))
		return false;
	if (auto *load = dyn_cast<LoadInst>(inst))
		return shape_of(load->getPointerOperand()).kind != shape::UNIFORM &&
		       !is_contiguous(load->getPointerOperand(), load->getType());
	if (auto *phi = dyn_cast<PHINode>(inst))
		return phi->getParent() == loop.getHeader() && loop.getLoopLatch() &&
		       is_gathered(phi->getIncomingValueForBlock(loop.getLoopLatch()), loop,
				   depth - 1);
	return (isa<BinaryOperator>(inst) || isa<UnaryOperator>(inst) || isa<CastInst>(inst)) &&
	       any_of(inst->operands(), [&](Value *operand) {
		       return is_gathered(operand, loop, depth - 1);
	       });
}

/*
 * Is @v the number of the way that an iteration took, and one of the branches on it compares such a
 * value? clang numbers the ways out of a block with variables, as those by a break.
 */
bool vectoriser::tells_gathered(const Value *v, const Loop &loop, unsigned depth)
{
	auto *phi = dyn_cast<PHINode>(v);

	return phi && loop.contains(phi) && phi->getParent() != loop.getHeader() &&
	       all_of(phi->incoming_values(), [](const Use &way) { return isa<Constant>(way); }) &&
	       any_of(phi->blocks(), [&](BasicBlock *from) {
		       auto *branch = dyn_cast<BranchInst>(from->getTerminator());

		       return branch && branch->isConditional() &&
			      compares_gathered(branch->getCondition(), loop, depth - 1);
	       });
}

/* Is one of the comparisons that @condition combines of such a value? */
bool vectoriser::compares_gathered(Value *condition, const Loop &loop, unsigned depth)
{
	auto *inst = dyn_cast<Instruction>(condition);

	return inst && depth && loop.contains(inst) &&
	       (isa<CmpInst>(inst) || isa<BinaryOperator>(inst) || isa<SelectInst>(inst)) &&
	       any_of(inst->operands(), [&](Value *operand) {
		       return isa<CmpInst>(inst) ? is_gathered(operand, loop, max_depth) ||
						   tells_gathered(operand, loop, depth) :
						   compares_gathered(operand, loop, depth - 1);
	       });
}

/* Do lanes leave @loop by comparing what each loads from an address of its own? */
bool vectoriser::leaves_by_gather(const Loop &loop)
{
	SmallVector<BasicBlock *> exiting;

	loop.getExitingBlocks(exiting);
	return any_of(exiting, [&](BasicBlock *block) {
		auto *branch = dyn_cast<BranchInst>(block->getTerminator());

		return branch && branch->isConditional() &&
		       compares_gathered(branch->getCondition(), loop, max_depth);
	});
}

/* Is @v computed from what an iteration of @loop takes over from the last one? */
static bool is_carried(const Value *v, const Loop &loop, unsigned depth)
{
	auto *inst = dyn_cast<Instruction>(v);

	if (!inst || !depth || !loop.contains(inst))
		return false;
	if (isa<PHINode>(inst))
		return inst->getParent() == loop.getHeader();
	return (isa<BinaryOperator>(inst) || isa<CastInst>(inst) || isa<GetElementPtrInst>(inst)) &&
	       any_of(inst->operands(), [&](const Value *operand) {
		       return is_carried(operand, loop, depth - 1);
	       });
}

/* The private array of which @inst accesses an element that a lane has come to, or NULL */
const Value *vectoriser::stack_of(const Instruction &inst, const Loop &loop) const
{
	const Value *pointer = getLoadStorePointerOperand(&inst);
	const Value *array = pointer ? getUnderlyingObject(pointer) : nullptr;

	return array && isa<AllocaInst>(array) && shape_of(pointer).kind == shape::VARYING &&
	       is_carried(pointer, loop, max_depth) ? array : nullptr;
}

/*
 * The private arrays in which each lane keeps a stack, as a search that goes back. What was
 * scattered is gathered soon, and must have left the store buffer then.
 */
unsigned vectoriser::stacks_of(const Loop &loop) const
{
	SmallPtrSet<const Value *, 8> stored, loaded;

	for (const BasicBlock *block : loop.blocks())
		for (const Instruction &inst : *block)
			if (const Value *stack = stack_of(inst, loop))
				(isa<StoreInst>(inst) ? stored : loaded).insert(stack);
	return count_if(stored, [&](const Value *stack) { return loaded.contains(stack); });
}

/*
 * Does each lane load @v for itself, or compute it from that in fewer than @depth operations? Two
 * neighbours, as the places where a list begins and where the next one does, are one vector.
 */
bool vectoriser::is_loaded(const Value *v, unsigned depth) const
{
	auto *element = dyn_cast<ExtractElementInst>(v);
	auto *inst = dyn_cast<Instruction>(element ? element->getVectorOperand() : v);

	if (!inst || !depth || isa<PHINode>(inst) || shape_of(inst).kind == shape::UNIFORM)
		return false;
	return isa<LoadInst>(inst) || any_of(inst->operands(), [&](const Value *operand) {
		return is_loaded(operand, depth - 1);
	});
}

/* @depth: for what LLVM's analysis has no form, such as a remainder */
bool vectoriser::depends_on_load(const SCEV *value, unsigned depth) const
{
	return !isa<SCEVCouldNotCompute>(value) && SCEVExprContains(value, [&](const SCEV *part) {
		auto *unknown = dyn_cast<SCEVUnknown>(part);

		return unknown && is_loaded(unknown->getValue(), depth);
	});
}

/*
 * Does @loop walk along a list whose place and length each lane loads? Lengths of lists that have
 * no places of their own, as rows of a table, differ less.
 */
bool vectoriser::walks_list(const Loop &loop, ScalarEvolution &evolution) const
{
	return depends_on_load(evolution.getBackedgeTakenCount(&loop), 1) &&
	       any_of(loop.getHeader()->phis(), [&](PHINode &phi) {
		       auto *moving = evolution.isSCEVable(phi.getType()) ?
			       dyn_cast<SCEVAddRecExpr>(evolution.getSCEV(&phi)) : nullptr;

		       return moving && moving->getLoop() == &loop &&
			      depends_on_load(moving->getStart(), 1);
	       });
}

/*
 * The part of the lanes that is active in @loop on average. Where what a lane loads may end it in
 * any iteration, the last of 16 leaves after three times as many as the mean (1 + 1/2 + .. + 1/16).
 * Of lists, such as neighbours of a graph's node, the longest is as many times as long, and gathers
 * of the few that are left take as long as those of all.
 */
double vectoriser::active_part(const Loop &loop, ScalarEvolution &evolution)
{
	const SCEV *times = evolution.getBackedgeTakenCount(&loop);

	if (leaves_by_gather(loop))
		return .3;
	if (stacks_of(loop))
		return .5;
	if (walks_list(loop, evolution))
		return .2;
	return isa<SCEVCouldNotCompute>(times) || depends_on_load(times, max_depth) ? .75 : 1;
}

/* The branches on the way from @top to @block that also lead past it, each with its target */
vectoriser::edges vectoriser::branches_between(const BasicBlock *top, BasicBlock *block) const
{
	edges found;

	while (block != top && dt.getNode(block)->getIDom()) {
		BasicBlock *up = dt.getNode(block)->getIDom()->getBlock();

		if (!pdt.dominates(block, up))
			found.push_back({ up, block });
		block = up;
	}
	return found;
}

/* The part of the lanes at @top that comes to @block, if each branch between sends half of them */
double vectoriser::branch_part(BasicBlock *block, const BasicBlock *top) const
{
	double part = 1;

	for (auto [branch, target] : branches_between(top, block)) {
		const Loop *loop = loops.getLoopFor(target);

		if (!(loop && loop->contains(branch) && loop->isLoopExiting(branch)))
			part *= .5;
	}
	return part;
}

/* Fills in how many branches that some lanes take, others not, are on the way to each block. */
void vectoriser::count_splits()
{
	for (const DomTreeNode *node : depth_first(&dt)) {
		BasicBlock *block = node->getBlock();
		BasicBlock *up = node->getIDom() ? node->getIDom()->getBlock() : nullptr;

		splits_above[block] = up ? splits_above.lookup(up) +
					   (!pdt.dominates(block, up) && splits(up)) : 0;
	}
}

/* Is there one on the way from @top, which dominates it, to @block? */
bool vectoriser::is_behind_split(const BasicBlock *block, const BasicBlock *top) const
{
	return splits_above.lookup(block) > splits_above.lookup(top);
}

/*
 * The part of the lanes that is active in @block on average, of those that are in a region that
 * begins with @entry: half of them where they part on the way to it, and in each loop its part. A
 * search that goes back comes to what many branches lead to seldom.
 */
double vectoriser::active_part(BasicBlock *block, BasicBlock *entry,
			       const SmallPtrSetImpl<BasicBlock *> &region,
			       const DenseMap<const Loop *, double> &parts)
{
	const Loop *loop = loops.getLoopFor(block);
	double part = 1;

	while (loop && region.contains(loop->getHeader())) {
		part *= parts.lookup(loop);
		if (is_divergent_loop(loop) && stacks_of(*loop))
			part *= branch_part(block, loop->getHeader());
		else if (!dt.dominates(block, loop->getLoopLatch()) &&
			 is_behind_split(block, loop->getHeader()))
			part *= .5;
		block = loop->getHeader();
		loop = loop->getParentLoop();
	}
	return pdt.dominates(block, entry) || !is_behind_split(block, entry) ? part : .5 * part;
}

/*
 * Does the branch to @next only keep lanes out of a loop that would run no iteration, or those
 * whose ids are beyond the end of the data? Then all of them take it, as a rule.
 */
bool vectoriser::is_guard(const BranchInst &branch, const BasicBlock &next) const
{
	const BasicBlock *after = next.getSingleSuccessor();
	auto *compare = dyn_cast<ICmpInst>(branch.getCondition());

	if (after && loops.isLoopHeader(after) &&
	    loops.getLoopFor(after) != loops.getLoopFor(&next))
		return true;
	if (!compare || !compare->isRelational())
		return false;
	const shape p = shape_of(compare->getOperand(0)), q = shape_of(compare->getOperand(1));
	return p.kind != shape::VARYING && q.kind != shape::VARYING;
}

/*
 * Is @block behind a test of a lane's number for equality with one that is the same for all, as
 * x == 0? Then it runs for one work-item of a row.
 */
bool vectoriser::is_for_one(const BasicBlock &block) const
{
	const BasicBlock *before = block.getSinglePredecessor();
	auto *branch = before ? dyn_cast<BranchInst>(before->getTerminator()) : nullptr;
	auto *test = branch && branch->isConditional() ?
		dyn_cast<ICmpInst>(branch->getCondition()) : nullptr;

	if (!test || !test->isEquality() ||
	    branch->getSuccessor(test->getPredicate() == ICmpInst::ICMP_NE) != &block)
		return false;
	const auto p = shape_of(test->getOperand(0)).kind;
	const auto q = shape_of(test->getOperand(1)).kind;
	return (p == shape::STRIDED && q == shape::UNIFORM) ||
	       (q == shape::STRIDED && p == shape::UNIFORM);
}

/* Is a loop behind @block, and only there? */
bool vectoriser::leads_to_loop(const BasicBlock &block) const
{
	return any_of(loops.getLoopsInPreorder(), [&](const Loop *loop) {
		return dt.dominates(&block, loop->getHeader());
	});
}

/* How much more often a number is finite than infinite or NaN, at least */
static const double finite = 16;

/* The part of the lanes for which @condition, a test for infinity or NaN, holds; or 0 */
static double part_of_special(Value *condition)
{
	using namespace PatternMatch;
	FCmpInst::Predicate predicate;
	const bool is_test = match(condition, m_FCmp(predicate, m_Value(), m_Inf()));
	auto *compare = dyn_cast<FCmpInst>(condition);

	if (!compare)
		return 0;
	switch (compare->getPredicate()) {
	case FCmpInst::FCMP_UNO:
		return 1 / finite;
	case FCmpInst::FCMP_ORD:
		return 1 - 1 / finite;
	case FCmpInst::FCMP_OEQ:
	case FCmpInst::FCMP_UEQ:
		return is_test ? 1 / finite : 0;
	case FCmpInst::FCMP_ONE:
	case FCmpInst::FCMP_UNE:
		return is_test ? 1 - 1 / finite : 0;
	default:
		return 0;
	}
}

/*
 * The part of the lanes that @branch leads to @next, half of them as a rule. Where a loop runs for
 * one work-item of a row, it is one of the lanes. Few numbers are infinite or NaN. Where a
 * remainder of a constant, or some of the lowest bits, are compared with a constant, all remainders
 * are as frequent.
 */
double vectoriser::part_of(const BranchInst &branch, const BasicBlock &next) const
{
	using namespace PatternMatch;
	CmpInst::Predicate predicate;
	const APInt *divisor, *bits, *rest;
	double part;

	if (is_for_one(next) && leads_to_loop(next))
		return 1. / lanes;
	if (is_guard(branch, next))
		return 1;
	if (const double special = part_of_special(branch.getCondition()))
		return branch.getSuccessor(0) == &next ? special : 1 - special;
	if (match(branch.getCondition(),
		  m_ICmp(predicate, m_CombineOr(m_URem(m_Value(), m_APInt(divisor)),
						m_SRem(m_Value(), m_APInt(divisor))),
			 m_APInt(rest))))
		part = divisor->isZero() ? .5 : 1 / divisor->abs().roundToDouble();
	else if (match(branch.getCondition(),
		       m_ICmp(predicate, m_And(m_Value(), m_APInt(bits)), m_APInt(rest))) &&
		 bits->isMask())
		part = 1 / (bits->roundToDouble() + 1);
	else
		return .5;
	if (!ICmpInst::isEquality(predicate))
		return .5;
	return (predicate == ICmpInst::ICMP_EQ) == (branch.getSuccessor(0) == &next) ? part :
										1 - part;
}
