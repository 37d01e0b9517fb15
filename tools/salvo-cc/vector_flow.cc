// SPDX-License-Identifier: MIT
/*
 * vector_flow.cc - control flow and masks of the vectoriser
 *
 * Partial linearisation (Moll and Hack, PLDI 2018). Blocks are emitted in an order in
 * which each loop, and each dominator subtree, is contiguous. A divergent branch goes to
 * the first of its successors in that order; the others are deferred: recorded at the
 * block where it went, which later branches to the first of them in turn. A uniform branch
 * stays a branch, and both of its edges inherit the deferred successors. Dominance is
 * preserved, so SSA form needs no repair.
 *
 *	   a			a	m = mask(a) & c
 *	  / \  if (c)		|
 *	 b   c			b	mask m
 *	  \ /			c	mask mask(a) & ~c
 *	   d			d	mask(a)
 *
 * Phis are stack slots until SROA: an edge stores the incoming values of its lanes. A block
 * with several predecessors accumulates its mask in the same way, unless it has that of
 * a dominator whose lanes all reach it. Lanes that leave a divergent loop early are deferred
 * from its latch.
 */
#include "vectoriser.h"

#include "agree.h"
#include "items.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/IR/ProfDataUtils.h>

using namespace llvm;

/* How much more often than a rare branch the other one is taken at least */
static const uint64_t rare = 64;

/* What a branch over code that no lane runs costs, mispredicted now and then */
static const double of_branch = 12;

using target_set = SmallSetVector<BasicBlock *, 4>;

/* The header of the outermost loop inside of @level that contains @b, or @b itself. */
static BasicBlock *seen_from(const LoopInfo &loops, const Loop *level, BasicBlock *b)
{
	Loop *loop = loops.getLoopFor(b);

	if (loop == level)
		return b;
	while (loop && loop->getParentLoop() != level)
		loop = loop->getParentLoop();
	return loop ? loop->getHeader() : nullptr;
}

/* Appends the blocks of @level from @head on, each followed by its dominator subtree. */
void vectoriser::order_level(const Loop *level, BasicBlock *head)
{
	auto contains = [&](BasicBlock *block) { return !level || level->contains(block); };
	DenseMap<BasicBlock *, SmallVector<BasicBlock *>> children;

	/* The dominator tree, inner loops as one node. */
	ReversePostOrderTraversal<Function *> blocks(&item);
	for (BasicBlock *block : blocks) {
		if (!contains(block) || seen_from(loops, level, block) != block)
			continue;
		if (block == head)
			continue;
		BasicBlock *above = seen_from(loops, level,
					      dt.getNode(block)->getIDom()->getBlock());
		children[above].push_back(block);
	}

	/* Reverse post-order keeps edges between sibling subtrees forward. */
	std::function<void(BasicBlock *)> append = [&](BasicBlock *node) {
		Loop *inner = loops.getLoopFor(node);

		if (inner != level) {
			order_level(inner, node);
		} else {
			index[node] = order.size();
			order.push_back(node);
		}
		/* lookup(), since [] may move the very children that a caller goes through. */
		for (BasicBlock *child : children.lookup(node))
			append(child);
	};
	append(head);
}

void vectoriser::find_order()
{
	order_level(nullptr, &item.getEntryBlock());
}

/*
 * Is the terminator of @b divergent? An exit of a divergent loop is: lanes that have left before
 * are inactive.
 */
bool vectoriser::splits(BasicBlock *block)
{
	auto *branch = dyn_cast<BranchInst>(block->getTerminator());
	const Loop *loop = loops.getLoopFor(block);

	if (!branch || !branch->isConditional())
		return false;
	return differing->splits(*block) || route(loop, branch->getSuccessor(0)) !=
	       branch->getSuccessor(0) || route(loop, branch->getSuccessor(1)) !=
	       branch->getSuccessor(1);
}

/*
 * A loop is divergent if one of its exiting blocks has a divergent terminator, or may run with
 * only some of the lanes.
 */
void vectoriser::find_divergent_loops()
{
	SmallVector<Loop *> inner_first = loops.getLoopsInPreorder();

	for (Loop *loop : reverse(inner_first)) {
		SmallVector<BasicBlock *> leaving;

		loop->getExitingBlocks(leaving);
		for (BasicBlock *block : leaving) {
			bool partial = splits(block);
			for (Loop *in = loops.getLoopFor(block); in != loop;
			     in = in->getParentLoop())
				partial |= is_divergent_loop(in);
			if (partial || !all_come(loop, block))
				divergent_loops.insert(loop);
		}
	}
}

/* The nearest dominator of @b in the same loop. */
BasicBlock *vectoriser::level_dominator(BasicBlock *block) const
{
	const Loop *level = loops.getLoopFor(block);
	DomTreeNode *node = dt.getNode(block)->getIDom();

	while (node && loops.getLoopFor(node->getBlock()) != level)
		node = node->getIDom();
	return node ? node->getBlock() : nullptr;
}

/*
 * Do all lanes come from @above to @block, in the same iteration of the loops around both? A block
 * post-dominates those also that lead to it by the next iteration only, as a "continue" before the
 * only exit does.
 */
bool vectoriser::follows(BasicBlock *block, BasicBlock *above) const
{
	SmallSetVector<BasicBlock *, 16> seen;

	if (!pdt.dominates(block, above))
		return false;
	seen.insert(succ_begin(above), succ_end(above));
	for (unsigned i = 0; block != above && i < seen.size(); i++) {
		const Loop *loop = loops.getLoopFor(seen[i]);

		if (seen[i] == block)
			continue;
		if (loop && loop->getHeader() == seen[i] && loop->contains(above) &&
		    loop->contains(block))
			return false;
		seen.insert(succ_begin(seen[i]), succ_end(seen[i]));
	}
	return true;
}

/* Has no block on the paths from @from to @to, back edges aside, a divergent terminator? */
bool vectoriser::is_uniform_between(BasicBlock *from, BasicBlock *to)
{
	SmallSetVector<BasicBlock *, 16> seen;

	seen.insert(pred_begin(to), pred_end(to));
	for (unsigned i = 0; i < seen.size(); i++) {
		BasicBlock *block = seen[i];

		if (splits(block))
			return false;
		if (block == from)
			continue;
		seen.insert(pred_begin(block), pred_end(block));
	}
	return true;
}

/* Has @block the lanes of @above, which dominates it, whenever it runs with any? */
bool vectoriser::has_lanes_of(BasicBlock *block, BasicBlock *above)
{
	return follows(block, above) || is_uniform_between(above, block);
}

/*
 * Do the lanes that are active in the header of @loop all come to @block, unless they all leave the
 * loop before?
 */
bool vectoriser::all_come(const Loop *loop, BasicBlock *block)
{
	block = seen_from(loops, loop, block);
	while (block != loop->getHeader()) {
		BasicBlock *above = seen_from(loops, loop,
					      dt.getNode(block)->getIDom()->getBlock());

		if (!has_lanes_of(block, above))
			return false;
		block = above;
	}
	return true;
}

/* The lanes of @mask (NULL for all) for which @condition holds. */
Value *vectoriser::combine(Value *lanes_in, Value *condition)
{
	/* Not "and": the condition of an inactive lane may be poison. */
	return lanes_in ? b.CreateLogicalAnd(lanes_in, condition) : condition;
}

Value *vectoriser::any(Value *lanes_in)
{
	if (!lanes_in)
		return b.getTrue();
	Value *bits = b.CreateBitCast(lanes_in, b.getIntNTy(lanes));
	return b.CreateICmpNE(bits, ConstantInt::get(bits->getType(), 0));
}

/* Is a lane active here? Found once for each block. */
Value *vectoriser::some_lane()
{
	if (!any_lane)
		any_lane = any(mask);
	return any_lane;
}

Value *vectoriser::full(Value *lanes_in)
{
	return lanes_in ? lanes_in :
		Constant::getAllOnesValue(FixedVectorType::get(b.getInt1Ty(), lanes));
}

/* The target of an exit edge from @from to @to: the latch, if the loop is divergent. */
BasicBlock *vectoriser::route(const Loop *from, BasicBlock *to) const
{
	for (; from && !from->contains(to); from = from->getParentLoop())
		if (is_divergent_loop(from))
			return from->getLoopLatch();
	return to;
}

Value *vectoriser::find_mask(BasicBlock *block)
{
	Loop *loop = loops.getLoopFor(block);
	Type *type = FixedVectorType::get(b.getInt1Ty(), lanes);

	if (block == &item.getEntryBlock())
		return nullptr;
	if (loop && loop->getHeader() == block) {
		if (!is_divergent_loop(loop))
			return masks[loop->getLoopPreheader()];
		return b.CreateLoad(type, mask_slots[block], "mask");
	}
	BasicBlock *above = level_dominator(block);
	if (has_lanes_of(block, above))
		return masks[above];
	if (!mask_slots.count(block))
		return edge_masks[{ block->getSinglePredecessor(), block }];
	return b.CreateLoad(type, mask_slots[block], "mask");
}

BasicBlock *vectoriser::first_of(const target_set &targets)
{
	return *std::min_element(targets.begin(), targets.end(), [&](BasicBlock *p, BasicBlock *q) {
		return index[p] < index[q];
	});
}

/* The first of @targets; the others are deferred from there. */
BasicBlock *vectoriser::next_of(const target_set &targets)
{
	BasicBlock *next = first_of(targets);

	for (BasicBlock *target : targets)
		if (target != next)
			deferred[next].insert(target);
	return start[next];
}

/* @value in the lanes of @lanes_in, and @other in those that are not */
Value *vectoriser::choose(Value *lanes_in, Value *value, Value *other)
{
	auto *wide = dyn_cast<FixedVectorType>(value->getType());

	if (wide)
		lanes_in = repeat_mask(lanes_in, wide->getNumElements() / lanes);
	return b.CreateSelect(lanes_in, value, other);
}

/* Mask and incoming values of the edge from @from to @to; @real: all active lanes take it. */
void vectoriser::emit_edge(BasicBlock *from, BasicBlock *to, Value *lanes_in, bool real)
{
	Loop *loop = loops.getLoopFor(to);
	const bool header = loop && loop->getHeader() == to;
	/* The slots have nothing to keep then. They have once lanes may leave a loop for @to. */
	const bool first = reached.insert(to).second && loops.getLoopFor(from) == loop;
	/* Else @from may run without lanes behind what all of them came from. */
	const bool only = real && !to->phis().empty() && meets_uniformly(*to);

	if (AllocaInst *slot = mask_slots.lookup(to)) {
		Value *now = full(lanes_in);
		if (!header)
			now = b.CreateOr(now, b.CreateLoad(now->getType(), slot));
		b.CreateStore(now, slot);
	}
	for (PHINode &phi : to->phis()) {
		AllocaInst *slot = phi_slots[&phi];
		Value *value = phi.getIncomingValueForBlock(from);
		shape s = shape_of(&phi);

		if (left_in.count(&phi) || begins_as.lookup(&phi) == value)
			continue;
		const bool begun = begins_as.count(&phi);
		const bool keeps = header && kept.lookup(&phi) == &phi && loop->contains(from) &&
				   kept.lookup(value) != &phi;
		value = s.kind == shape::VARYING ? vector(value) : scalar(value);
		if (keeps)
			value = choose(mask, value, vectors[&phi]);
		else if (begun)
			value = choose(full(lanes_in), value,
				       b.CreateLoad(value->getType(), slot));
		else if (lanes_in && !header && !first && !(only && s.kind != shape::VARYING)) {
			Value *before = b.CreateLoad(value->getType(), slot);
			value = s.kind == shape::VARYING ? choose(lanes_in, value, before) :
				b.CreateSelect(any(lanes_in), value, before);
		}
		b.CreateStore(value, slot);
		if (AllocaInst *all = lane_slots.lookup(&phi)) {
			value = vector(phi.getIncomingValueForBlock(from));
			if (lanes_in && !header && !first && !only)
				value = b.CreateSelect(lanes_in, value,
						       b.CreateLoad(value->getType(), all));
			b.CreateStore(value, all);
		}
	}
}

void vectoriser::load_phis(BasicBlock *block)
{
	for (PHINode &phi : block->phis()) {
		PHINode *left = left_in.lookup(&phi);
		AllocaInst *slot = phi_slots[left ? left : &phi];
		Value *value = b.CreateLoad(slot->getAllocatedType(), slot, phi.getName());

		if (shape_of(&phi).kind == shape::VARYING)
			vectors[&phi] = value;
		else
			scalars[&phi] = value;
		if (AllocaInst *all = lane_slots.lookup(&phi))
			vectors[&phi] = b.CreateLoad(all->getAllocatedType(), all, phi.getName());
		for (PHINode *other : begins.lookup(&phi))
			b.CreateStore(value, phi_slots[other]);
	}
}

/* Does the source, or the library, tell that the branch to @block is seldom taken? */
bool vectoriser::is_rare(const BasicBlock &block)
{
	const BasicBlock *before = block.getSinglePredecessor();
	auto *branch = before ? dyn_cast<BranchInst>(before->getTerminator()) : nullptr;
	uint64_t weights[2];

	if (!branch || !branch->isConditional() ||
	    !extractBranchWeights(*branch, weights[0], weights[1]))
		return false;
	const unsigned at = branch->getSuccessor(0) != &block;
	return weights[at] * rare < weights[!at];
}

void vectoriser::find_rare_blocks()
{
	for (BasicBlock &block : item) {
		SmallVector<BasicBlock *> inside;

		if (rare_blocks.contains(&block) || !is_rare(block))
			continue;
		dt.getDescendants(&block, inside);
		rare_blocks.insert(inside.begin(), inside.end());
	}
}

/* What running @block and its dominator subtree costs if no lane is active */
double vectoriser::cost_without_lanes(BasicBlock *block)
{
	SmallVector<BasicBlock *> inside;
	double cost = 0;

	dt.getDescendants(block, inside);
	for (BasicBlock *each : inside) {
		if (each->getTerminator()->getNumSuccessors() > 1)
			cost += of_branch;
		for (Instruction &inst : *each) {
			const double all = isa<LoadInst>(inst) || isa<StoreInst>(inst) ?
				access_cost(inst, true) : 0;

			cost += inst.mayReadOrWriteMemory() || isa<CallBase>(inst) ?
				std::max(all, 6.) : 1;
		}
	}
	return cost;
}

/*
 * Is a test for active lanes cheaper than that? The second way from a branch is seldom without any,
 * as lanes that all go the same way mostly do so for long: then the test has to save more.
 */
bool vectoriser::is_worth_skipping(BasicBlock *block, bool second)
{
	return is_rare(*block) || cost_without_lanes(block) > (second ? 3 : 1) * of_branch;
}

/*
 * Does @block store to neighbours in global memory that the work-item does not load? A store of no
 * lanes takes a hundred nanoseconds where the kernel has not touched the page yet, and does not
 * count as touching it: so each time on a page that only the host has written.
 */
bool vectoriser::stores_unread(BasicBlock &block) const
{
	return any_of(block, [&](Instruction &inst) {
		auto *store = dyn_cast<StoreInst>(&inst);

		if (!store || store->getPointerAddressSpace() != GLOBAL)
			return false;
		Value *pointer = store->getPointerOperand();
		return is_contiguous(pointer, store->getValueOperand()->getType()) &&
		       none_of(pointer->users(), [](User *user) { return isa<LoadInst>(user); });
	});
}

void vectoriser::emit_divergent_branch(BasicBlock *block)
{
	auto *branch = cast<BranchInst>(block->getTerminator());
	Value *condition = vector(branch->getCondition());
	const Loop *loop = loops.getLoopFor(block);
	target_set targets = deferred[block];

	for (unsigned i = 0; i < 2; i++) {
		BasicBlock *to = branch->getSuccessor(i);
		Value *goes = combine(mask, i ? b.CreateNot(condition) : condition);

		edge_masks[{ block, to }] = goes;
		emit_edge(block, to, goes, false);
		targets.insert(route(loop, to));
	}

	emit_way(block, targets);
}

/*
 * May the first of @targets be jumped over if it has no lanes? Lanes that have left a loop are
 * deferred from its latch, which must not be skipped. Nor does the way to a latch skip what its
 * values are from.
 */
bool vectoriser::may_skip(BasicBlock *first, const target_set &others)
{
	const Loop *loop = loops.getLoopFor(first);
	BasicBlock *above = dt.getNode(first)->getIDom()->getBlock();
	const bool is_way = first->getSinglePredecessor() == above && splits(above);

	return (is_way || mask_slots.contains(first)) && !others.empty() &&
	       loops.getLoopFor(above) == loop &&
	       (!loop || (loop->getLoopLatch() != first && loop->getHeader() != first)) &&
	       !dt.dominates(first, first_of(others)) &&
	       dt.dominates(dt.getNode(first_of(others))->getIDom()->getBlock(), above);
}

/*
 * Goes from @from to the first of @targets. A branch of lanes leads to one of its ways, and from
 * there to the other one, or to what several branches lead to, as an else of conditions that all
 * have to hold. Each is jumped over if no lane takes it.
 */
void vectoriser::emit_way(BasicBlock *from, const target_set &targets)
{
	BasicBlock *first = first_of(targets), *before = first->getSinglePredecessor();
	target_set others = targets;

	others.remove(first);
	const bool may = may_skip(first, others);
	const bool pays = may && is_worth_skipping(first, before != from);
	if (pays || (may && stores_unread(*first))) {
		BasicBlock *other = next_of(others), *next = next_of(targets);
		MDBuilder weights(out->getContext());
		AllocaInst *slot = mask_slots.lookup(first);
		Value *lanes_in = slot ? b.CreateLoad(slot->getAllocatedType(), slot) :
					 edge_masks[{ before, first }];

		/* Short code that is taken for likely lies on the way to what follows it. */
		b.CreateCondBr(any(lanes_in), next, other,
			       is_rare(*first) ? weights.createUnlikelyBranchWeights() :
			       pays ? nullptr : weights.createLikelyBranchWeights());
	} else {
		b.CreateBr(next_of(targets));
	}
}

/* Loops while a lane is active; then goes to the exits, whenever lanes have left for them. */
void vectoriser::emit_divergent_latch(BasicBlock *block, Loop *loop)
{
	auto *branch = cast<BranchInst>(block->getTerminator());
	target_set targets = deferred[block];
	Value *stay = mask;

	for (unsigned i = 0; i < branch->getNumSuccessors(); i++) {
		BasicBlock *to = branch->getSuccessor(i);
		Value *goes = mask;

		if (branch->isConditional()) {
			Value *condition = vector(branch->getCondition());
			goes = combine(mask, i ? b.CreateNot(condition) : condition);
		}
		edge_masks[{ block, to }] = goes;
		if (to == loop->getHeader())
			stay = goes;
		emit_edge(block, to, goes, false);
	}

	SmallVector<BasicBlock *> left;
	loop->getExitBlocks(left);
	for (BasicBlock *to : left)
		targets.insert(route(loop->getParentLoop(), to));
	b.CreateCondBr(any(stay), start[loop->getHeader()], next_of(targets));
}

void vectoriser::emit_uniform_branch(BasicBlock *block)
{
	auto *branch = cast<BranchInst>(block->getTerminator());
	const Loop *loop = loops.getLoopFor(block);
	SmallVector<BasicBlock *, 2> ways;

	if (branch->isUnconditional()) {
		BasicBlock *to = branch->getSuccessor(0);

		edge_masks[{ block, to }] = mask;
		emit_edge(block, to, mask, true);
		target_set targets = deferred[block];
		targets.insert(route(loop, to));
		if (loop && to == loop->getHeader())
			b.CreateBr(start[to]);
		else
			emit_way(block, targets);
		return;
	}

	/* With no active lane the condition is arbitrary, but a loop must end. */
	Value *condition = scalar(branch->getCondition());
	if (mask) {
		condition = b.CreateFreeze(condition);
		Value *active = some_lane();
		if (loop && !loop->contains(branch->getSuccessor(1)))
			condition = b.CreateAnd(condition, active);
		else if (loop && !loop->contains(branch->getSuccessor(0)))
			condition = b.CreateOr(condition, b.CreateNot(active));
	}
	for (unsigned i = 0; i < 2; i++)
		ways.push_back(BasicBlock::Create(out->getContext(), "", out));
	b.CreateCondBr(condition, ways[0], ways[1]);
	for (unsigned i = 0; i < 2; i++) {
		BasicBlock *to = branch->getSuccessor(i);
		target_set targets = deferred[block];

		b.SetInsertPoint(ways[i]);
		edge_masks[{ block, to }] = mask;
		emit_edge(block, to, mask, true);
		targets.insert(route(loop, to));
		b.CreateBr(loop && to == loop->getHeader() ? start[to] : next_of(targets));
	}
}

/* The outcome of @condition; ends the region if the active lanes do not agree on it. */
Value *vectoriser::emit_agreement(Value *condition)
{
	BasicBlock *split, *agreed;

	if (shape_of(condition).kind == shape::UNIFORM)
		return scalar(condition);
	Value *bits = vector(condition);
	Value *holds = any(combine(mask, bits)), *fails = any(combine(mask, b.CreateNot(bits)));

	split = BasicBlock::Create(out->getContext(), "disagreed", out);
	agreed = BasicBlock::Create(out->getContext(), "agreed", out);
	b.CreateCondBr(b.CreateAnd(holds, fails), split, agreed,
		       MDBuilder(out->getContext()).createUnlikelyBranchWeights());
	b.SetInsertPoint(split);
	b.CreateRet(b.getInt32(disagreed));
	b.SetInsertPoint(agreed);
	return holds;
}

/* What a region returns has a bit for what follows it (split.h). */
void vectoriser::emit_return(ReturnInst &ret)
{
	Value *value = ret.getReturnValue();

	if (!value)
		b.CreateRetVoid();
	else if (shape_of(value).kind == shape::UNIFORM)
		b.CreateRet(scalar(value));
	else
		b.CreateRet(b.CreateOrReduce(vector(value)));
}

void vectoriser::emit_terminator(BasicBlock *block)
{
	Loop *loop = loops.getLoopFor(block);

	if (auto *ret = dyn_cast<ReturnInst>(block->getTerminator())) {
		emit_return(*ret);
	} else if (loop && is_divergent_loop(loop) && loop->getLoopLatch() == block) {
		emit_divergent_latch(block, loop);
	} else if (splits(block)) {
		emit_divergent_branch(block);
	} else {
		emit_uniform_branch(block);
	}
}

void vectoriser::emit_block(BasicBlock *block)
{
	b.SetInsertPoint(start[block]);
	for (BasicBlock *cleared : clears[block])
		b.CreateStore(Constant::getNullValue(FixedVectorType::get(b.getInt1Ty(), lanes)),
			      mask_slots[cleared]);
	mask = masks[block] = find_mask(block);
	any_lane = mask_bits = nullptr;
	load_phis(block);
	for (Instruction &inst : *block)
		if (!inst.isTerminator() && !isa<PHINode>(inst))
			emit(inst);
	emit_terminator(block);
}

Function *vectoriser::run()
{
	if (!prepare())
		return nullptr;
	find_divergent_loops();
	find_order();
	find_kept();

	out = Function::Create(item.getFunctionType(), GlobalValue::InternalLinkage,
			       item.getName() + ".lanes", item.getParent());
	out->copyAttributesFrom(&item);
	for (Argument &arg : item.args())
		scalars[&arg] = out->getArg(arg.getArgNo());
	for (BasicBlock *block : order)
		start[block] = BasicBlock::Create(out->getContext(), block->getName(), out);
	b.SetInsertPoint(start[order[0]]);
	nowhere = b.CreateAlloca(ArrayType::get(b.getInt8Ty(), 256), nullptr, "nowhere");
	nowhere->setAlignment(Align(128));

	Type *mask_type = FixedVectorType::get(b.getInt1Ty(), lanes);
	for (BasicBlock *block : order) {
		Loop *loop = loops.getLoopFor(block);
		const bool header = loop && loop->getHeader() == block;

		for (PHINode &phi : block->phis()) {
			const shape s = shape_of(&phi);

			phi_slots[&phi] = make_slot(
				s.kind == shape::VARYING ? widen(phi.getType()) : phi.getType(),
				phi.getName());
			if (s.address_only)
				lane_slots[&phi] = make_slot(widen(phi.getType()), phi.getName());
		}
		if (header && is_divergent_loop(loop)) {
			mask_slots[block] = make_slot(mask_type, "mask");
		} else if (!header && block != order[0]) {
			BasicBlock *above = level_dominator(block);
			BasicBlock *before = block->getSinglePredecessor();
			if (has_lanes_of(block, above) ||
			    (before && loops.getLoopFor(before) == loop))
				continue;
			mask_slots[block] = make_slot(mask_type, "mask");
			clears[above].push_back(block);
		}
	}
	for (BasicBlock *block : order)
		emit_block(block);
	return out;
}

Function *vectorise(Function &item, Argument &x, unsigned lanes, const TargetMachine &target)
{
	const TargetTransformInfo costs = target.getTargetTransformInfo(item);

	return vectoriser(item, x, lanes, costs).run();
}
