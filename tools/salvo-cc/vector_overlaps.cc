// SPDX-License-Identifier: MIT
/*
 * vector_overlaps.cc - loops that might store to what each work-item walks along
 *
 * Nothing in the source says that a sum in memory is not part of the row that is summed up, so that
 * each element would have to be loaded after the sum was stored (vector_walks.cc). Such a loop has
 * a second version, for lanes none of which stores within the bytes that it loads: a comparison of
 * addresses in front of the loop chooses one for all lanes.
 *
 *	for (k = 0; k < n; k++)			if (y + x is not in a[x * n] to a[x * n + n - 1])
 *		y[x] += a[x * n + k];			sum = y[x]
 *						for (k = 0; k < n; k++)
 *							sum += a[x * n + k];
 *						y[x] = sum;
 *
 * What one lane stores and another one loads needs no comparison: without a barrier the one must
 * not know when the other does. The condition goes through a function "salvo.every", whose result
 * is uniform: that of all active lanes. Of a number it is the least one without sign.
 */
#include "analyses.h"
#include "items.h"
#include "vectoriser.h"
#include "walks.h"

#include <llvm/Analysis/MemoryLocation.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

using namespace llvm;

static const char every[] = "salvo.every.i";

/* Accesses of a loop, and pairs of them that are compared */
static const unsigned max_ranges = 16, max_pairs = 8;

bool is_of_every_lane(const Instruction &inst)
{
	auto *call = dyn_cast<CallInst>(&inst);
	const Function *callee = call ? call->getCalledFunction() : nullptr;

	return callee && callee->getName().starts_with(every);
}

Value *of_every_lane(IRBuilder<> &b, Value *v)
{
	FunctionType *type = FunctionType::get(v->getType(), { v->getType() }, false);
	Module &m = *b.GetInsertBlock()->getModule();
	const std::string name = every + std::to_string(v->getType()->getIntegerBitWidth());
	auto *f = cast<Function>(m.getOrInsertFunction(name, type).getCallee());

	f->setDoesNotAccessMemory();
	f->setDoesNotThrow();
	f->setWillReturn();
	return b.CreateCall(f, { v });
}

/* A function of one lane needs to ask no others. */
void lower_every_lane(Function &f)
{
	for (Instruction &inst : make_early_inc_range(instructions(f)))
		if (is_of_every_lane(inst)) {
			inst.replaceAllUsesWith(inst.getOperand(0));
			inst.eraseFromParent();
		}
}

Value *vectoriser::emit_every(Value *v)
{
	if (shape_of(v).kind == shape::UNIFORM)
		return scalar(v);
	if (v->getType()->isIntegerTy(1))
		return b.CreateNot(any(combine(mask, b.CreateNot(vector(v)))));
	Value *all = vector(v);
	if (!mask)
		return b.CreateIntMinReduce(all);
	all = b.CreateSelect(mask, all, Constant::getAllOnesValue(all->getType()));
	Value *least = b.CreateIntMinReduce(all);
	return b.CreateSelect(some_lane(), least, Constant::getNullValue(v->getType()));
}

namespace {

/* What an access of a loop touches in all iterations */
struct range {
	Instruction *inst;
	const SCEV *address;
	int64_t step;
	uint64_t bytes;
	unsigned place, base;	/* the same for accesses to it, or from it on */

	bool writes() const { return isa<StoreInst>(inst); }
	MemoryLocation where() const
	{
		return MemoryLocation::getBeforeOrAfter(getLoadStorePointerOperand(inst));
	}
};

using range_pair = std::pair<const range *, const range *>;

} /* namespace */

/* The ranges of all accesses of the loop that @block is, or none */
static SmallVector<range> find_ranges(BasicBlock &block, const Loop &loop,
				      ScalarEvolution &evolution)
{
	SmallVector<range> found;

	for (Instruction &inst : block) {
		if (!inst.mayReadOrWriteMemory() || isa<AssumeInst>(inst))
			continue;
		if (!is_simple_access(inst))
			return {};
		const SCEV *address = address_in_loop(inst, evolution);
		const std::optional<int64_t> step = step_in_loop(address, loop, evolution);
		if (!step || found.size() == max_ranges)
			return {};
		unsigned place = 0, base = 0;
		while (place < found.size() && found[place].address != address)
			place++;
		while (base < found.size() && evolution.getPointerBase(found[base].address) !=
					      evolution.getPointerBase(address))
			base++;
		found.push_back({ &inst, address, *step, inst.getDataLayout().getTypeStoreSize(
					getLoadStoreType(&inst)).getFixedValue(), place, base });
	}
	return found;
}

/* Can no iteration store to @p what it or another one accesses in @q? */
static bool is_apart(const range &p, const range &q, ScalarEvolution &evolution, AAResults &aliases)
{
	if (aliases.isNoAlias(p.where(), q.where()))
		return true;
	if (p.step || q.step)
		return false;
	auto *apart = dyn_cast<SCEVConstant>(evolution.getMinusSCEV(q.address, p.address));
	if (!apart || apart->getAPInt().getSignificantBits() > 32)
		return false;
	const int64_t bytes = apart->getAPInt().getSExtValue();
	return bytes >= (int64_t)p.bytes || -bytes >= (int64_t)q.bytes;
}

/* Iterations that walks are unrolled to, at most (vector_walks.cc) */
static const int64_t max_times = 4;

/* Those of @ranges that must not overlap; false if some do. */
static bool find_pairs(ArrayRef<range> ranges, const Loop &loop, ScalarEvolution &evolution,
		       AAResults &aliases, SmallVectorImpl<range_pair> &pairs)
{
	for (const range &p : ranges)
		for (const range &q : ranges.drop_front(&p - ranges.begin() + 1)) {
			if (!p.writes() && !q.writes())
				continue;
			if (keep_order(*p.inst, *q.inst, loop, evolution, max_times))
				continue;
			if (p.place == q.place) {
				if (p.step || p.bytes != q.bytes)
					return false;
				continue;
			}
			if (is_apart(p, q, evolution, aliases))
				continue;
			if (p.base == q.base)
				return false;
			if (none_of(pairs, [&](const range_pair &known) {
				    return known.first->place == p.place &&
					   known.second->place == q.place;
			    }))
				pairs.push_back({ &p, &q });
		}
	return !pairs.empty() && pairs.size() <= max_pairs;
}

bool can_version(const Loop &loop, ScalarEvolution &evolution, AAResults &aliases)
{
	const SmallVector<range> ranges = find_ranges(*loop.getHeader(), loop, evolution);
	SmallVector<range_pair> pairs;

	return loop.getNumBlocks() == 1 && find_pairs(ranges, loop, evolution, aliases, pairs);
}

/* From where to where a lane accesses @r in as many iterations as @last and one more */
static std::pair<Value *, Value *> emit_range(IRBuilder<> &b, const range &r, Value *first,
					      Value *last)
{
	Value *low = b.CreatePtrToInt(first, b.getInt64Ty()), *high = low;

	if (r.step) {
		Value *moved = b.CreateAdd(low, b.CreateMul(last, b.getInt64(r.step)));

		(r.step < 0 ? low : high) = moved;
	}
	return { low, b.CreateAdd(high, b.getInt64(r.bytes)) };
}

/* Says what the condition has found out about the accesses @ranges. */
static void mark_ranges(ArrayRef<range> ranges)
{
	LLVMContext &context = ranges[0].inst->getContext();
	MDBuilder builder(context);
	MDNode *domain = builder.createAnonymousAliasScopeDomain();
	SmallVector<Metadata *> scopes;

	for (unsigned i = 0; i < ranges.size(); i++)
		scopes.push_back(builder.createAnonymousAliasScope(domain));
	for (const range &r : ranges) {
		SmallVector<Metadata *> others;

		for (const range &other : ranges)
			if (other.base != r.base && (other.writes() || r.writes()))
				others.push_back(scopes[other.base]);
		r.inst->setMetadata(LLVMContext::MD_alias_scope,
				    MDNode::get(context, { scopes[r.base] }));
		r.inst->setMetadata(LLVMContext::MD_noalias, MDNode::get(context, others));
	}
}

/* Makes @loop run where @condition, and a copy of it elsewhere. */
static void version(Loop &loop, Value *condition, LoopInfo &loops, DominatorTree &dt)
{
	BasicBlock *before = loop.getLoopPreheader(), *exit = loop.getExitBlock();
	BasicBlock *block = loop.getHeader();
	ValueToValueMapTy map;
	SmallVector<BasicBlock *> copies;

	BasicBlock *ahead = SplitBlock(before, before->getTerminator(), &dt, &loops);
	Loop *copy = cloneLoopWithPreheader(ahead, before, &loop, map, ".others", &loops, &dt,
					    copies);
	remapInstructionsInBlocks(copies, map);
	ReplaceInstWithInst(before->getTerminator(),
			    BranchInst::Create(ahead, copy->getLoopPreheader(), condition));
	for (PHINode &phi : exit->phis()) {
		Value *value = phi.getIncomingValueForBlock(block);
		Value *copied = map.lookup(value);

		phi.addIncoming(copied ? copied : value, copy->getHeader());
	}
	dt.changeImmediateDominator(exit, before);
}

/* Makes a version of @loop, if walks in it gain from knowing that nothing there overlaps. */
bool vectoriser::version_loop(Loop &loop, ScalarEvolution &evolution, AAResults &aliases)
{
	BasicBlock *block = loop.getHeader(), *before = loop.getLoopPreheader();
	const SmallVector<walk> walks = find_walks(loop, evolution);
	SmallVector<range_pair> pairs;
	DenseMap<Value *, Value *> firsts;

	if (find_walks(loop, evolution, aliases).size() == walks.size())
		return false;
	const SmallVector<range> ranges = find_ranges(*block, loop, evolution);
	const SCEV *last = evolution.getNoopOrZeroExtend(
		evolution.getBackedgeTakenCount(&loop), Type::getInt64Ty(item.getContext()));
	SCEVExpander expander(evolution, layout, "last");
	if (ranges.empty() || !find_pairs(ranges, loop, evolution, aliases, pairs) ||
	    !expander.isSafeToExpandAt(last, before->getTerminator()))
		return false;

	IRBuilder<> at(before->getTerminator());
	Value *iterations = expander.expandCodeFor(last, at.getInt64Ty(), before->getTerminator());
	Value *apart = at.getTrue();
	auto range_of = [&](const range &r) {
		Value *first = first_in_loop(getLoadStorePointerOperand(r.inst), *block, *before,
					     firsts);

		return first ? emit_range(at, r, first, iterations) :
			       std::pair<Value *, Value *>();
	};
	for (const auto &[one, other] : pairs) {
		const auto p = range_of(*one), q = range_of(*other);

		if (!p.first || !q.first)
			return false;
		apart = at.CreateAnd(apart, at.CreateOr(at.CreateICmpULE(p.second, q.first),
							at.CreateICmpULE(q.second, p.first)));
	}
	version(loop, of_every_lane(at, apart), loops, dt);
	mark_ranges(ranges);
	return true;
}

bool vectoriser::version_walks()
{
	bool made = false;

	if (!has_loops(item) || in_checked_mode(item) || !prepare())
		return false;
	find_divergent_loops();
	access_analyses all(item, dt, loops);
	for (Loop *loop : loops.getLoopsInPreorder())
		made |= loop->isInnermost() && version_loop(*loop, all.evolution, all.aliases);
	return made;
}

bool version_walks(Function &item, Argument &x, unsigned lanes, TargetMachine &target)
{
	const TargetTransformInfo costs = target.getTargetTransformInfo(item);

	return vectoriser(item, x, lanes, costs).version_walks();
}
