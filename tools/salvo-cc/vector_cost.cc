// SPDX-License-Identifier: MIT
/*
 * vector_cost.cc - parts of a work-item that lanes do not gain from
 *
 * Branches behind which few lanes are active, loops that lanes leave at different times, and
 * accesses without a vector form cost more on lanes than they save. Such a part is a region with
 * one entry and one exit: all that one way of a divergent branch leads to, or a loop. If its cost
 * for all lanes at once is above that for one active lane after the other it is outlined: the
 * vectoriser then calls it in a loop over the set bits of the mask (emit_lane_loop()).
 *
 *	if (mask[x])			m = mask[x..] != 0
 *		visit(x)		while (m) visit(x + cttz(m)), m &= m - 1
 *
 * The region whose outlining saves most goes first, until none is left that saves something. Costs
 * are estimates in instructions; a loop's body counts eight times.
 *
 * Where lanes leave a loop by what they load, each from an address of its own, an iteration of all
 * waits for the one before (load, comparison, mask). That of one work-item does not: the processor
 * predicts the branch.
 */
#include "agree.h"
#include "items.h"
#include "places.h"
#include "quotients.h"
#include "vectoriser.h"

#include <cmath>

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/TargetParser/Triple.h>
#include <llvm/Transforms/Utils/CodeExtractor.h>

using namespace llvm;

static const char outlined[] = "salvo-one-lane";
static const double loop_weight = 8, division = 10, lane_overhead = 6, wait = 64;
/* For each lane: how many of them are active is new to the processor each time. */
static const double mispredicted = 8;
static const unsigned max_outlined = 8;

/* For each lane: AVX2's gather takes twice as long as loads do. */
static const double avx2_gather = 2;

/* For each lane of an atomic operation under a mask: its bit, its operands, its result */
static const double masked_atomic = 7;

/* The part of the times that what a rare branch leads to runs */
static const double rarely = 1. / 16;

/* Bytes between neighbours that share lines of the cache */
static const int64_t near = 16;

bool vectoriser::is_outlined(const Instruction &inst)
{
	auto *call = dyn_cast<CallInst>(&inst);

	const Function *callee = call ? call->getCalledFunction() : nullptr;

	return callee && callee->hasFnAttribute(outlined);
}

/* Calls of such a function for each lane would be much code (see flatten.cc). */
bool vectoriser::is_library_call(const Instruction &inst)
{
	auto *call = dyn_cast<CallInst>(&inst);
	const Function *callee = call ? call->getCalledFunction() : nullptr;

	return callee && callee->hasFnAttribute(Attribute::NoInline) &&
	       !inst.getType()->isIntOrIntVectorTy(1);
}

static bool is_free(const Instruction &inst)
{
	return inst.isLifetimeStartOrEnd() || isa<AssumeInst>(inst) || isa<AllocaInst>(inst) ||
	       isa<NoAliasScopeDeclInst>(inst) || isa<DbgInfoIntrinsic>(inst);
}

/* For one work-item. */
double vectoriser::scalar_cost(const Instruction &inst)
{
	if (is_free(inst))
		return 0;
	if (isa<PHINode>(inst) || isa<GetElementPtrInst>(inst) || isa<CastInst>(inst))
		return .5;
	if (inst.isIntDivRem())
		return division;
	if (is_agreement(inst))
		return 4;
	if (is_first_lane(inst) || is_of_every_lane(inst))
		return 0;
	if (isa<CallBase>(inst))
		return isa<IntrinsicInst>(inst) ? 2 : 20;
	return inst.getOpcode() == Instruction::FDiv ? 4 : 1;
}

double vectoriser::weight_of(unsigned depth)
{
	return std::pow(loop_weight, depth);
}

/* How often @block runs, by the loops around it and the rare branches that lead to it */
double vectoriser::times_of(const BasicBlock &block) const
{
	return weight_of(loops.getLoopDepth(&block)) * (rare_blocks.contains(&block) ? rarely : 1);
}

/* Registers that a value of all lanes takes. */
double vectoriser::registers_of(const Type *type) const
{
	const double bits = target.getRegisterBitWidth(
		TargetTransformInfo::RGK_FixedWidthVector).getFixedValue();
	const unsigned element = std::max(type->isPtrOrPtrVectorTy() ? 64 :
					  type->getScalarSizeInBits(), 8u);
	auto *vector = dyn_cast<FixedVectorType>(type);

	return std::max(1., lanes * element * (vector ? vector->getNumElements() : 1) / bits);
}

double vectoriser::access_cost(Instruction &inst, bool masked)
{
	auto *load = dyn_cast<LoadInst>(&inst);
	Value *pointer = getLoadStorePointerOperand(&inst);
	Type *type = getLoadStoreType(&inst);
	const Align align = getLoadStoreAlignment(&inst);

	if (shape_of(pointer).kind == shape::UNIFORM &&
	    (load || shape_of(inst.getOperand(0)).kind == shape::UNIFORM))
		return masked ? 3 : 1;
	if (is_contiguous(pointer, type)) {
		if (!masked)
			return registers_of(type);
		if (load ? target.isLegalMaskedLoad(widen(type), align) :
			   target.isLegalMaskedStore(widen(type), align))
			return 2 * registers_of(type);
		return 4 * lanes;
	}
	if (const int64_t step = load && !masked ? step_of(pointer, type) : 0)
		return 2 * std::abs(step) * registers_of(type);
	if (const unsigned bytes = load && masked ? word_bytes(*load) : 0)
		return 4 * registers_of(IntegerType::get(item.getContext(), 8 * bytes));
	table t;
	if (load && find_table(*load, &t))
		return table_cost(*load, t);
	if (load && has_elements(*load) && can_transpose(*load))
		return lanes * (shape_of(pointer).kind == shape::STRIDED && !masked ? 1.5 : 2);
	if (load && has_elements(*load) && can_gather_elements(*load))
		return lanes * std::max(1., type->getPrimitiveSizeInBits() / 64.);
	if (load ? can_gather(type, align) : can_scatter(type, align))
		return lanes * (can_scatter(type, align) ? 1 : avx2_gather);
	if (load && can_gather_words(*load))
		return lanes + 3 * registers_of(Type::getInt32Ty(item.getContext()));
	if (!load && is_reversed(pointer, type))
		return (masked ? 3 : 2) * registers_of(type);
	if (is_linear(pointer))
		return lanes * (masked ? 3 : 1.5);
	return lanes * (!masked ? 2.5 : can_choose(type) ? 3 : 4.5);
}

/* For all lanes at once. */
double vectoriser::vector_cost(Instruction &inst, bool masked)
{
	const double one = scalar_cost(inst);

	if (is_free(inst))
		return 0;
	if (is_outlined(inst))
		return lanes * (one + lane_overhead);
	if ((isa<LoadInst>(inst) || isa<StoreInst>(inst)) && !inst.isAtomic() && !inst.isVolatile())
		return access_cost(inst, masked);
	if (can_merge(inst))
		return one + 5 * registers_of(inst.getType());
	if (needs_lanes(inst))
		return lanes * (one + (!masked ? 1 : inst.isAtomic() ? masked_atomic : 3));
	if (auto *branch = dyn_cast<BranchInst>(&inst))
		return branch->isConditional() && splits(inst.getParent()) ?
			4 : 1;
	if (inst.getType()->isVoidTy() || shape_of(&inst).kind != shape::VARYING)
		return one;
	if (inst.isIntDivRem())
		return can_divide(inst) || multiplies(inst) ? division_cost(inst) :
							      lanes * (division + 3);
	return std::max(one, 1.) * registers_of(inst.getType());
}

/* The only block outside of @blocks that they lead to, or NULL. */
static BasicBlock *only_exit(const SmallPtrSetImpl<BasicBlock *> &blocks)
{
	BasicBlock *exit = nullptr;

	for (BasicBlock *block : blocks)
		for (BasicBlock *next : successors(block)) {
			if (blocks.contains(next))
				continue;
			if (exit && exit != next)
				return nullptr;
			exit = next;
		}
	return exit;
}

/* Can each lane have its own copies of what goes in and comes out? */
bool vectoriser::can_outline(ArrayRef<BasicBlock *> blocks) const
{
	for (BasicBlock *block : blocks)
		for (Instruction &inst : *block) {
			if (is_outlined(inst) || is_agreement(inst) || isa<ReturnInst>(inst) ||
			    isa<AllocaInst>(inst) || inst.getType()->isStructTy())
				return false;
			for (Value *operand : inst.operands())
				if (operand->getType()->isStructTy())
					return false;
		}
	return true;
}

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

/* Is one of the comparisons that @condition combines of such a value? */
bool vectoriser::compares_gathered(Value *condition, const Loop &loop, unsigned depth)
{
	auto *inst = dyn_cast<Instruction>(condition);

	return inst && depth && loop.contains(inst) &&
	       (isa<CmpInst>(inst) || isa<BinaryOperator>(inst) || isa<SelectInst>(inst)) &&
	       any_of(inst->operands(), [&](Value *operand) {
		       return isa<CmpInst>(inst) ? is_gathered(operand, loop, max_depth) :
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

/* Does each lane load @v for itself, or compute it from that in fewer than @depth operations? */
bool vectoriser::is_loaded(const Value *v, unsigned depth) const
{
	auto *inst = dyn_cast<Instruction>(v);

	if (!inst || !depth || isa<PHINode>(inst) || shape_of(v).kind == shape::UNIFORM)
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
 * The part of the lanes that is active in @loop on average. Of lists, such as neighbours of a
 * graph's node, the longest of 16 is about three times as long as the mean, and gathers of the few
 * that are left take as long as those of all.
 */
double vectoriser::active_part(const Loop &loop, ScalarEvolution &evolution)
{
	const SCEV *times = evolution.getBackedgeTakenCount(&loop);

	if (leaves_by_gather(loop) || stacks_of(loop))
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

/* Is there a branch on the way from @top to @block that some lanes take, others not? */
bool vectoriser::is_behind_split(BasicBlock *block, const BasicBlock *top)
{
	return any_of(branches_between(top, block),
		      [&](const auto &edge) { return splits(edge.first); });
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

/* What outlining @blocks saves, if @part of the lanes come to them on average. */
double vectoriser::gain_of(ArrayRef<BasicBlock *> blocks, double part,
			   const DenseMap<const Loop *, double> &parts)
{
	SmallPtrSet<BasicBlock *, 16> region(blocks.begin(), blocks.end());
	double at_once = 0, one = 0;

	for (BasicBlock *block : blocks) {
		const double times = times_of(*block);
		const double active = active_part(block, blocks[0], region, parts);

		for (Instruction &inst : *block) {
			/* It runs for one active lane after the other in any case. */
			if (is_library_call(inst))
				continue;
			at_once += times * vector_cost(inst, true);
			one += times * active * scalar_cost(inst);
		}
	}
	/* A loop is entered in the one around it. */
	const bool is_loop = loops.isLoopHeader(blocks[0]);
	const double entered = times_of(*blocks[0]) / (is_loop ? loop_weight : 1);
	const double overhead = (lane_overhead + (is_loop ? 0 : mispredicted)) * entered;
	return at_once - part * lanes * (one + overhead);
}

/* What iterations of loops in @blocks wait for the ones before */
double vectoriser::waits_of(const SmallPtrSetImpl<BasicBlock *> &blocks)
{
	double sum = 0;

	for (const Loop *loop : loops.getLoopsInPreorder())
		if (blocks.contains(loop->getHeader()) && is_divergent_loop(loop))
			sum += (leaves_by_gather(*loop) + stacks_of(*loop)) * wait *
			       weight_of(loop->getLoopDepth());
	return sum;
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

/* The region that gains most, its first block first, or none. */
SmallVector<BasicBlock *> vectoriser::find_outlined()
{
	TargetLibraryInfoImpl names((Triple(item.getParent()->getTargetTriple())));
	TargetLibraryInfo library(names);
	AssumptionCache assumptions(item);
	ScalarEvolution evolution(item, library, assumptions, dt, loops);
	DenseMap<const Loop *, double> parts;
	SmallVector<BasicBlock *> best;
	double most = 0;
	for (const Loop *loop : loops.getLoopsInPreorder())
		parts[loop] = is_divergent_loop(loop) ? active_part(*loop, evolution) : 1;
	auto consider = [&](ArrayRef<BasicBlock *> blocks, double part) {
		SmallPtrSet<BasicBlock *, 16> set(blocks.begin(), blocks.end());

		if (!only_exit(set) || !can_outline(blocks))
			return;
		const double gain = gain_of(blocks, part, parts) + waits_of(set);
		if (gain > most) {
			most = gain;
			best.assign(blocks.begin(), blocks.end());
		}
	};

	for (BasicBlock &block : item)
		for (BasicBlock *next : successors(&block)) {
			SmallVector<BasicBlock *> inside;

			if (!splits(&block) || next->getSinglePredecessor() != &block)
				continue;
			dt.getDescendants(next, inside);
			const auto &branch = *cast<BranchInst>(block.getTerminator());
			consider(inside, is_guard(branch, *next) ? 1 : .5);
		}
	for (Loop *loop : loops.getLoopsInPreorder())
		if (is_divergent_loop(loop))
			consider(loop->getBlocks(), 1);
	return best;
}

bool vectoriser::outline()
{
	if (!prepare())
		return false;
	find_divergent_loops();
	SmallVector<BasicBlock *> blocks = find_outlined();
	if (blocks.empty())
		return false;

	CodeExtractorAnalysisCache cache(item);
	CodeExtractor extractor(blocks, &dt);
	Function *made = extractor.isEligible() ? extractor.extractCodeRegion(cache) : nullptr;
	if (!made)
		return false;
	made->addFnAttr(outlined);
	made->addFnAttr(Attribute::AlwaysInline);
	made->setLinkage(GlobalValue::InternalLinkage);
	lower_every_lane(*made);
	return true;
}

/*
 * A block behind a test of a lane's number for equality, as x == 0, runs for one work-item of a
 * row, and is skipped otherwise. A barrier is between regions.
 */
double vectoriser::cost()
{
	double sum = 0;

	if (!prepare())
		return 0;
	find_divergent_loops();
	auto is_for_one = [&](const BasicBlock &block) {
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
	};
	for (BasicBlock &block : item) {
		const double part = is_for_one(block) ? 1. / lanes : 1;

		for (Instruction &inst : block) {
			auto *call = dyn_cast<CallInst>(&inst);

			if (!call || !is_barrier(*call))
				sum += part * times_of(block) * vector_cost(inst, false);
		}
	}
	return sum;
}

void vectoriser::find_near(SmallPtrSetImpl<const Instruction *> &same,
			   SmallPtrSetImpl<const Instruction *> &next)
{
	if (!prepare())
		return;
	for (Instruction &inst : instructions(item)) {
		if (!isa<LoadInst>(inst) && !isa<StoreInst>(inst))
			continue;
		Value *pointer = getLoadStorePointerOperand(&inst);
		const shape s = shape_of(pointer);

		if (s.kind == shape::UNIFORM)
			same.insert(&inst);
		else if (s.kind == shape::STRIDED && std::abs(s.stride) <= near)
			next.insert(&inst);
	}
}

DenseMap<const Instruction *, int64_t> vectoriser::find_strides()
{
	DenseMap<const Instruction *, int64_t> found;

	if (!prepare())
		return found;
	for (Instruction &inst : instructions(item)) {
		if (!isa<LoadInst>(inst) && !isa<StoreInst>(inst))
			continue;
		const shape s = shape_of(getLoadStorePointerOperand(&inst));

		if (s.kind == shape::UNIFORM)
			found[&inst] = 0;
		else if (s.kind == shape::STRIDED)
			found[&inst] = s.stride;
	}
	return found;
}

bool vectoriser::has_even_loops()
{
	if (!prepare() || loops.empty())
		return false;
	find_divergent_loops();
	if (any_of(loops.getLoopsInPreorder(),
		   [&](const Loop *loop) { return is_divergent_loop(loop); }))
		return false;
	return all_of(instructions(item), [&](Instruction &inst) {
		Value *pointer = getLoadStorePointerOperand(&inst);

		if (!loops.getLoopFor(inst.getParent()))
			return true;
		if (!pointer)
			return !inst.mayReadOrWriteMemory() || isa<AssumeInst>(inst);
		Type *type = getLoadStoreType(&inst);
		const shape s = shape_of(pointer);
		return s.kind == shape::UNIFORM ||
		       (registers_of(type) <= 1 &&
			(is_contiguous(pointer, type) ||
			 (s.kind == shape::VARYING && !is_linear(pointer))));
	});
}

bool vectoriser::is_side_by_side()
{
	if (!prepare())
		return false;
	return all_of(instructions(item), [&](Instruction &inst) {
		Value *pointer = getLoadStorePointerOperand(&inst);

		if (needs_lanes(inst) && !pointer)
			return false;
		if (!pointer || isa<AllocaInst>(getUnderlyingObject(pointer)))
			return !needs_lanes(inst) || isa<StoreInst>(inst);
		if (inst.isAtomic() || inst.isVolatile())
			return false;
		Type *type = getLoadStoreType(&inst);
		if (shape_of(pointer).kind == shape::UNIFORM)
			return isa<LoadInst>(inst) ||
			       shape_of(inst.getOperand(0)).kind == shape::UNIFORM;
		const Align align = getLoadStoreAlignment(&inst);
		return is_contiguous(pointer, type) &&
		       (isa<LoadInst>(inst) ? target.isLegalMaskedLoad(widen(type), align) :
					      target.isLegalMaskedStore(widen(type), align));
	});
}

/* Is memory that neighbours in y access contiguous where that of neighbours in x is far apart? */
bool accesses_columns(Function &item, Argument &x, Argument &y, unsigned lanes,
		      TargetMachine &target)
{
	const TargetTransformInfo costs = target.getTargetTransformInfo(item);
	SmallPtrSet<const Instruction *, 16> same[2], next[2];

	vectoriser(item, x, lanes, costs).find_near(same[0], next[0]);
	vectoriser(item, y, lanes, costs).find_near(same[1], next[1]);
	return any_of(next[1], [&](const Instruction *inst) {
		return !same[0].contains(inst) && !next[0].contains(inst);
	});
}

DenseMap<const Instruction *, int64_t> strides_of(Function &item, Argument &x, unsigned lanes,
						  TargetMachine &target)
{
	return vectoriser(item, x, lanes, target.getTargetTransformInfo(item)).find_strides();
}

bool is_side_by_side(Function &item, Argument &x, unsigned lanes, TargetMachine &target)
{
	const TargetTransformInfo costs = target.getTargetTransformInfo(item);

	return vectoriser(item, x, lanes, costs).is_side_by_side();
}

bool has_even_loops(Function &item, Argument &x, unsigned lanes, TargetMachine &target)
{
	return vectoriser(item, x, lanes, target.getTargetTransformInfo(item)).has_even_loops();
}

double cost_of_lanes(Function &item, Argument &x, unsigned lanes, TargetMachine &target)
{
	const TargetTransformInfo costs = target.getTargetTransformInfo(item);

	return vectoriser(item, x, lanes, costs).cost();
}

void outline_regions(Function &item, Argument &x, unsigned lanes, TargetMachine &target)
{
	const TargetTransformInfo costs = target.getTargetTransformInfo(item);

	for (unsigned i = 0; i < max_outlined; i++) {
		if (!vectoriser(item, x, lanes, costs).outline())
			return;
		canonicalise(item, target);
	}
}

/*
 * A call of an outlined region, or of a function of the library that stays one, for one active
 * lane after the other. What varies goes through memory, from where each lane takes its own.
 *
 * Return: the results of all lanes, or NULL.
 */
Value *vectoriser::emit_lane_loop(CallInst &call)
{
	LLVMContext &context = b.getContext();
	SmallVector<Value *> from;
	Type *bits_type = b.getIntNTy(lanes), *type = call.getType();
	Value *results = type->isVoidTy() ? nullptr : make_slot(widen(type), "results");

	for (Value *arg : call.args()) {
		shape s = shape_of(arg);
		Value *slot = nullptr;

		if (s.kind == shape::VARYING || s.address_only) {
			Value *all = vector(arg);
			if (arg->getType()->isIntOrIntVectorTy(1))
				all = b.CreateZExt(all, all->getType()->getWithNewBitWidth(8));
			slot = make_slot(all->getType(), "lanes");
			b.CreateStore(all, slot);
		}
		from.push_back(slot);
	}

	BasicBlock *before = b.GetInsertBlock();
	BasicBlock *body = BasicBlock::Create(context, "lane", out);
	BasicBlock *after = BasicBlock::Create(context, "lanes.end", out);
	Value *set = b.CreateBitCast(full(mask), bits_type);
	b.CreateCondBr(b.CreateIsNotNull(set), body, after);
	b.SetInsertPoint(body);
	PHINode *left = b.CreatePHI(bits_type, 2, "left");
	left->addIncoming(set, before);
	Value *i = b.CreateZExt(b.CreateBinaryIntrinsic(Intrinsic::cttz, left, b.getTrue()),
				b.getInt64Ty(), "lane");
	begin_index(b, 0, keep_index(b, b.CreateAdd(scalar(&x), i)), 1);

	SmallVector<Value *> args;
	auto slot_of = [&](Value *all, Type *as) {
		const uint64_t bytes = layout.getTypeSizeInBits(as) / 8;

		return b.CreateGEP(b.getInt8Ty(), all, b.CreateMul(i, b.getInt64(bytes)));
	};
	for (unsigned n = 0; n < call.arg_size(); n++) {
		Value *arg = call.getArgOperand(n), *base = scalar(arg);
		Type *type = arg->getType();
		shape s = shape_of(arg);

		if (from[n]) {
			const bool is_bool = type->isIntOrIntVectorTy(1);
			Type *as = is_bool ? type->getWithNewType(b.getInt8Ty()) : type;
			Value *one = b.CreateAlignedLoad(as, slot_of(from[n], as), Align(1));
			args.push_back(is_bool ? b.CreateTrunc(one, type) : one);
		} else if (s.kind == shape::UNIFORM) {
			args.push_back(base);
		} else if (type->isPointerTy()) {
			args.push_back(b.CreateGEP(b.getInt8Ty(), base,
						   b.CreateMul(i, b.getInt64(s.stride))));
		} else {
			Value *step = b.CreateMul(i, b.getInt64(s.stride));
			args.push_back(b.CreateAdd(base, b.CreateZExtOrTrunc(step, type)));
		}
	}
	CallInst *copy = b.CreateCall(call.getCalledFunction(), args);
	copy->setCallingConv(call.getCallingConv());
	if (results)
		b.CreateAlignedStore(copy, slot_of(results, type), Align(1));
	end_index(b, 0);
	Value *rest = b.CreateAnd(left, b.CreateSub(left, ConstantInt::get(bits_type, 1)));
	left->addIncoming(rest, b.GetInsertBlock());
	b.CreateCondBr(b.CreateIsNotNull(rest), body, after)
		->setMetadata(LLVMContext::MD_loop, keep_simple(context));
	b.SetInsertPoint(after);
	begin_index(b, 0, scalar(&x), lanes);
	return results ? b.CreateLoad(widen(type), results) : nullptr;
}
