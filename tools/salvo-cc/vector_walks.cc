// SPDX-License-Identifier: MIT
/*
 * vector_walks.cc - loops in which each work-item walks along contiguous memory of its own
 *
 * A work-item for each row of a matrix: lanes are a row apart, while each of them comes to the next
 * element in each iteration. It is loaded for one lane after the other, or gathered. Several
 * iterations load a vector of 128 bits of each lane instead, and the vectors are transposed: the
 * loop is unrolled so that an iteration's accesses and those of the next ones are neighbours in
 * memory, which vector_groups.cc makes one vector of.
 *
 *	for (k = 0; k < n; k++)			for (k = 0; k + 3 < n; k += 4)
 *		sum += a[x * n + k] * b[k];		v = (float4 at a[x * n + k])
 *						sum += v.x * b[k], sum += v.y * b[k + 1], ...
 *						one by one for what is left
 *
 * All lanes must run as many iterations, so that each of them has all the elements of its vector.
 * Nothing in the loop may write what is loaded, and what it stores must not be read there, unless
 * by walks alongside, as of a row that is filtered in place: what an iteration loads must not
 * have been stored by those before it that it is unrolled with.
 */
#include "analyses.h"
#include "items.h"
#include "vectoriser.h"
#include "walks.h"

#include <numeric>

#include <llvm/ADT/SmallSet.h>
#include <llvm/Analysis/InstructionSimplify.h>
#include <llvm/Analysis/MemoryLocation.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/ScopedNoAliasAA.h>
#include <llvm/Transforms/Utils/UnrollLoop.h>

using namespace llvm;

/* What several iterations load, or store, of a lane at once */
static const int64_t vector_bytes = 16;

/* Bytes from iteration to iteration, such as those of three doubles */
static const int64_t max_step = 24;

/* Instructions of a loop, which is unrolled up to four times */
static const unsigned max_loop = 150;

/* Accesses of a loop, as each is compared with all others */
static const unsigned max_accesses = 32;

unsigned vectoriser::walk::times() const
{
	return vector_bytes / std::gcd(step, vector_bytes);
}

unsigned vectoriser::walk::elements() const
{
	return vector_bytes / bytes;
}

bool is_alone(Instruction &inst, BasicBlock &block, AAResults &aliases,
	      function_ref<bool(Instruction &other)> but_for)
{
	const MemoryLocation where(getLoadStorePointerOperand(&inst),
				   LocationSize::beforeOrAfterPointer(), inst.getAAMetadata());

	return all_of(block, [&](Instruction &other) {
		if (&other == &inst || !other.mayReadOrWriteMemory() || isa<AssumeInst>(other))
			return true;
		if (isa<LoadInst>(inst) && !other.mayWriteToMemory())
			return true;
		const ModRefInfo how = aliases.getModRefInfo(&other, where);
		return (isa<LoadInst>(inst) ? !isModSet(how) : !isModOrRefSet(how)) ||
		       but_for(other);
	});
}

std::optional<int64_t> bytes_apart(const SCEV *one, const SCEV *other,
				   ScalarEvolution &evolution)
{
	if (evolution.getPointerBase(one) != evolution.getPointerBase(other))
		return {};
	auto *apart = dyn_cast<SCEVConstant>(evolution.getMinusSCEV(other, one));
	if (!apart || apart->getAPInt().getSignificantBits() > 32)
		return {};
	return apart->getAPInt().getSExtValue();
}

bool keep_order(Instruction &one, Instruction &other, const Loop &loop, ScalarEvolution &evolution,
		int64_t iterations)
{
	const SCEV *address[2] = { address_in_loop(one, evolution),
				   address_in_loop(other, evolution) };
	const auto step = step_in_loop(address[0], loop, evolution);
	const auto apart = bytes_apart(address[0], address[1], evolution);
	const DataLayout &layout = one.getDataLayout();
	const int64_t size = layout.getTypeStoreSize(getLoadStoreType(&one));
	const int64_t other_size = layout.getTypeStoreSize(getLoadStoreType(&other));

	if (!step || !*step || !apart || step_in_loop(address[1], loop, evolution) != step)
		return false;
	/* @other @later iterations after @one: before it, if that is negative */
	for (int64_t later = 1 - iterations; later < iterations; later++) {
		const int64_t at = *apart + later * *step;
		const bool comes_later = later > 0 || (!later && one.comesBefore(&other));

		if (at >= size || -at >= other_size)
			continue;
		/* Loads of several iterations are done at the first one, stores at the last one. */
		if (isa<StoreInst>(one) == isa<StoreInst>(other) ||
		    isa<StoreInst>(comes_later ? one : other))
			return false;
	}
	return true;
}

namespace {

/*
 * Takes indices of less than 64 bits that count in a loop, or are a constant from others, for ones
 * that do not wrap around: what is accessed before and behind that would be gigabytes apart.
 */
class without_wraps : public SCEVRewriteVisitor<without_wraps> {
public:
	without_wraps(ScalarEvolution &evolution) : SCEVRewriteVisitor(evolution) {}

	/* Quotients, minima and maxima of what is gigabytes apart may be close together. */
	const SCEV *visit(const SCEV *e)
	{
		return isa<SCEVUDivExpr, SCEVMinMaxExpr, SCEVSequentialMinMaxExpr>(e) ?
			       e : SCEVRewriteVisitor::visit(e);
	}

	const SCEV *visitZeroExtendExpr(const SCEVZeroExtendExpr *e)
	{
		return extend(e->getOperand(), e->getType(), false);
	}

	const SCEV *visitSignExtendExpr(const SCEVSignExtendExpr *e)
	{
		return extend(e->getOperand(), e->getType(), true);
	}

private:
	const SCEV *extend(const SCEV *index, Type *type, bool is_signed)
	{
		auto *moving = dyn_cast<SCEVAddRecExpr>(index);
		auto *sum = dyn_cast<SCEVAddExpr>(index);
		const bool is_index = SE.getTypeSizeInBits(index->getType()) >= 32;

		if (moving && moving->isAffine() && is_index)
			return SE.getAddRecExpr(extend(moving->getStart(), type, is_signed),
						SE.getSignExtendExpr(
							moving->getStepRecurrence(SE), type),
						moving->getLoop(), SCEV::FlagAnyWrap);
		if (sum && isa<SCEVConstant>(sum->getOperand(0)) && is_index) {
			SmallVector<const SCEV *> rest(drop_begin(sum->operands()));

			return SE.getAddExpr(SE.getSignExtendExpr(sum->getOperand(0), type),
					     extend(SE.getAddExpr(rest), type, is_signed));
		}
		return is_signed ? SE.getSignExtendExpr(index, type) :
				   SE.getZeroExtendExpr(index, type);
	}
};

} /* namespace */

bool is_simple_access(const Instruction &inst)
{
	auto *load = dyn_cast<LoadInst>(&inst);
	auto *store = dyn_cast<StoreInst>(&inst);

	return (load && load->isSimple()) || (store && store->isSimple());
}

const SCEV *address_in_loop(Instruction &inst, ScalarEvolution &evolution)
{
	return without_wraps(evolution).visit(evolution.getSCEV(getLoadStorePointerOperand(&inst)));
}

std::optional<int64_t> step_in_loop(const SCEV *address, const Loop &loop,
				    ScalarEvolution &evolution)
{
	auto *moving = dyn_cast<SCEVAddRecExpr>(address);

	if (evolution.isLoopInvariant(address, &loop))
		return 0;
	if (!moving || !moving->isAffine() || moving->getLoop() != &loop)
		return {};
	auto *step = dyn_cast<SCEVConstant>(moving->getStepRecurrence(evolution));
	if (!step || step->getAPInt().getSignificantBits() > 32)
		return {};
	return step->getAPInt().getSExtValue();
}

/* Lanes far apart, each with the next elements of 32 or 64 bits in each iteration of @loop */
bool vectoriser::find_walk(Instruction &inst, const Loop &loop, ScalarEvolution &evolution,
			   walk *made) const
{
	if (!is_simple_access(inst))
		return false;
	Value *pointer = getLoadStorePointerOperand(&inst);
	Type *type = getLoadStoreType(&inst);
	const unsigned bits = type->getPrimitiveSizeInBits();
	const shape s = shape_of(pointer);

	if (pointer->getType()->getPointerAddressSpace() == PRIVATE || type->isVectorTy() ||
	    (bits != 32 && bits != 64) ||
	    !(s.kind == shape::VARYING ||
	      (s.kind == shape::STRIDED && std::abs(s.stride) >= vector_bytes)))
		return false;
	const SCEV *address = address_in_loop(inst, evolution);
	const int64_t step = step_in_loop(address, loop, evolution).value_or(0);
	if (!step || std::abs(step) > max_step || step * 8 % bits)
		return false;
	*made = { &inst, cast<SCEVAddRecExpr>(address)->getStart(), bits / 8, step };
	return true;
}

/* Do @all that are like @one access each element that it steps over? */
bool vectoriser::is_dense(const walk &one, ArrayRef<walk> all, ScalarEvolution &evolution)
{
	SmallSet<int64_t, 4> at;

	for (const walk &other : all) {
		if (other.step != one.step || other.bytes != one.bytes ||
		    isa<LoadInst>(other.inst) != isa<LoadInst>(one.inst))
			continue;
		const auto apart = bytes_apart(one.start, other.start, evolution);
		if (apart && *apart % one.bytes == 0)
			at.insert((*apart % one.step + one.step) % one.step);
	}
	return (int64_t)at.size() == std::abs(one.step) / one.bytes;
}

/* The walks of @loop, if it is one that lanes leave together. */
SmallVector<vectoriser::walk> vectoriser::find_walks(const Loop &loop, ScalarEvolution &evolution)
{
	BasicBlock *block = loop.getHeader();
	SmallVector<walk> found;

	if (loop.getNumBlocks() != 1 || loop.getExitingBlock() != block ||
	    block->size() > max_loop || splits(block) ||
	    isa<SCEVCouldNotCompute>(evolution.getBackedgeTakenCount(&loop)))
		return {};
	for (Instruction &inst : *block) {
		walk w;

		if (find_walk(inst, loop, evolution, &w))
			found.push_back(w);
	}
	if (found.size() > max_accesses)
		return {};
	const SmallVector<walk> all = found;
	erase_if(found, [&](const walk &w) {
		return w.times() == 1 || !is_dense(w, all, evolution);
	});
	return found;
}

/* Those of them whose memory nothing else in @loop changes */
SmallVector<vectoriser::walk> vectoriser::find_walks(const Loop &loop, ScalarEvolution &evolution,
						     AAResults &aliases)
{
	SmallVector<walk> found = find_walks(loop, evolution);
	size_t before;

	/* What is next to a walk that is none is not alone any more. */
	do {
		before = found.size();
		erase_if(found, [&](const walk &w) {
			return !is_alone(*w.inst, *loop.getHeader(), aliases,
					 [&](Instruction &other) {
				return any_of(found, [&](const walk &o) {
					return o.inst == &other;
				}) && keep_order(*w.inst, other, loop, evolution, w.times());
			});
		});
	} while (found.size() != before);
	return found;
}

Value *first_in_loop(Value *v, BasicBlock &header, BasicBlock &before,
		     DenseMap<Value *, Value *> &known)
{
	auto *inst = dyn_cast<Instruction>(v);

	if (!inst || inst->getParent() != &header)
		return v;
	if (auto *phi = dyn_cast<PHINode>(inst))
		return phi->getIncomingValueForBlock(&before);
	if (Value *made = known.lookup(v))
		return made;
	if (inst->mayReadOrWriteMemory() || isa<CallBase>(inst))
		return nullptr;
	Instruction *copy = inst->clone();
	for (Use &operand : copy->operands()) {
		Value *first = first_in_loop(operand, header, before, known);

		if (!first) {
			copy->deleteValue();
			return nullptr;
		}
		operand = first;
	}
	copy->insertBefore(before.getTerminator()->getIterator());
	Value *simple = simplifyInstruction(copy, SimplifyQuery(copy->getDataLayout(), copy));
	if (simple)
		copy->eraseFromParent();
	return known[v] = simple ? simple : copy;
}

/*
 * Makes the addresses of @all those of their lane's first element and a number of bytes that is the
 * same for all lanes, and known to be larger by a constant from iteration to iteration: an index of
 * 32 bits might wrap around between the iterations that an unrolled one is made of.
 */
void vectoriser::count_bytes(ArrayRef<walk> all, const Loop &loop)
{
	BasicBlock *header = loop.getHeader(), *before = loop.getLoopPreheader();
	DenseMap<Value *, Value *> known;
	DenseMap<int64_t, PHINode *> offsets;

	for (const walk &w : all) {
		Value *start = first_in_loop(getLoadStorePointerOperand(w.inst), *header, *before,
					     known);
		PHINode *&offset = offsets[w.step];

		if (!start)
			continue;
		if (!offset) {
			IRBuilder<> b(header, header->begin());

			offset = b.CreatePHI(b.getInt64Ty(), 2);
			offset->addIncoming(b.getInt64(0), before);
			b.SetInsertPoint(header->getTerminator());
			offset->addIncoming(b.CreateAdd(offset, b.getInt64(w.step)), header);
		}
		IRBuilder<> b(w.inst);
		w.inst->setOperand(isa<LoadInst>(w.inst) ? 0 : 1,
				   b.CreateGEP(b.getInt8Ty(), start, offset));
	}
}

bool vectoriser::unroll_walks()
{
	OptimizationRemarkEmitter remarks(&item);
	bool unrolled = false;

	if (!has_loops(item) || in_checked_mode(item) || !prepare())
		return false;
	find_divergent_loops();
	access_analyses all(item, dt, loops);
	ScopedNoAliasAAResult scoped;
	all.aliases.addAAResult(scoped);

	for (Loop *loop : loops.getLoopsInPreorder()) {
		const unsigned count = all.evolution.getSmallConstantTripCount(loop);
		unsigned times = 1;

		if (!loop->isInnermost())
			continue;
		const SmallVector<walk> found = find_walks(*loop, all.evolution, all.aliases);
		for (const walk &w : found)
			times = std::max(times, w.times());
		if (times == 1 || (count && count < times))
			continue;
		count_bytes(found, *loop);
		const UnrollLoopOptions how = {
			.Count = times, .Force = false, .Runtime = !count || count % times,
			.AllowExpensiveTripCount = true, .UnrollRemainder = false,
			.ForgetAllSCEV = false,
		};
		unrolled |= UnrollLoop(loop, how, &loops, &all.evolution, &dt, &all.assumptions,
				       &target, &remarks, true) != LoopUnrollResult::Unmodified;
	}
	return unrolled;
}

bool unroll_walks(Function &item, Argument &x, unsigned lanes, TargetMachine &target)
{
	const TargetTransformInfo costs = target.getTargetTransformInfo(item);

	return vectoriser(item, x, lanes, costs).unroll_walks();
}
