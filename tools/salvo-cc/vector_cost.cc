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
 * are estimates in instructions; a loop's body counts eight times. How many lanes are active is
 * estimated too (vector_active.cc).
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

/*
 * For each lane: gathers and scatters take as long for a few as for all, these three times what a
 * store takes.
 */
static const double masked_gather = 1.5, masked_scatter = 3;

/* For each lane of an atomic operation under a mask: its bit, its operands, its result */
static const double masked_atomic = 7;

/* The part of the times that what a rare branch leads to runs */
static const double rarely = 1. / 16;

/* Bytes between neighbours in the same line of the cache, or the next one */
static const int64_t near = 64;

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
	       !is_vector_function(*callee) &&
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
	if (is_vector_call(inst))
		return vector_call_cost(inst);
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
	if (!load && masked && has_one_address(cast<StoreInst>(inst)))
		return 6;
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
	if (load ? masked && can_load_reversed(pointer, type, align) : is_reversed(pointer, type))
		return (masked ? 3 : 2) * registers_of(type);
	if (const unsigned bytes = load && masked ? word_bytes(*load) : 0)
		return 4 * registers_of(IntegerType::get(item.getContext(), 8 * bytes));
	table t;
	if (load && find_table(*load, &t))
		return table_cost(*load, t);
	if (load && !masked && is_wrap(*load))
		return 5 * registers_of(type);
	if (load && find_exchange(*load))
		return (masked ? 8 : 6) * registers_of(type);
	if (load && has_elements(*load) && can_transpose(*load))
		return lanes * (shape_of(pointer).kind == shape::STRIDED && !masked ? 1.5 : 2);
	if (load && has_elements(*load) && can_gather_elements(*load))
		return lanes * std::max(1., type->getPrimitiveSizeInBits() / 64.);
	if (!load && can_scatter(type, align))
		return lanes * (masked ? masked_scatter : 1);
	if (load && can_gather(type, align))
		return lanes * (!can_scatter(type, align) ? avx2_gather :
				masked ? masked_gather : 1);
	if (load && can_gather_words(*load))
		return lanes + 3 * registers_of(Type::getInt32Ty(item.getContext()));
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
	if (is_vector_call(inst))
		return one * registers_of(vector_call_type(inst));
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

/* Of calls that run for one active lane after the other in any case nothing counts. */
const vectoriser::block_cost &vectoriser::cost_of(BasicBlock &block)
{
	auto [at, is_new] = block_costs.try_emplace(&block);

	if (!is_new)
		return at->second;
	for (Instruction &inst : block) {
		if (is_library_call(inst))
			continue;
		at->second.at_once += vector_cost(inst, true);
		at->second.one += scalar_cost(inst);
	}
	return at->second;
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

		const block_cost &cost = cost_of(*block);

		at_once += times * cost.at_once;
		one += times * active * cost.one;
	}
	/* A loop is entered in the one around it. */
	const bool is_loop = loops.isLoopHeader(blocks[0]);
	const double entered = times_of(*blocks[0]) / (is_loop ? loop_weight : 1);
	const double overhead = (lane_overhead + (is_loop ? 0 : mispredicted)) * entered;
	return at_once - part * lanes * (one + overhead);
}

/* What iterations of @loop wait for the ones before */
double vectoriser::waits_of(const Loop &loop)
{
	return (leaves_by_gather(loop) + stacks_of(loop)) * wait * weight_of(loop.getLoopDepth());
}

/* The region that gains most, its first block first, or none. */
SmallVector<BasicBlock *> vectoriser::find_outlined()
{
	TargetLibraryInfoImpl names((Triple(item.getParent()->getTargetTriple())));
	TargetLibraryInfo library(names);
	AssumptionCache assumptions(item);
	ScalarEvolution evolution(item, library, assumptions, dt, loops);
	DenseMap<const Loop *, double> parts;
	SmallVector<std::pair<const Loop *, double>> waits;
	SmallVector<BasicBlock *> best;
	double most = 0;

	for (const Loop *loop : loops.getLoopsInPreorder()) {
		parts[loop] = is_divergent_loop(loop) ? active_part(*loop, evolution) : 1;
		if (is_divergent_loop(loop))
			waits.push_back({ loop, waits_of(*loop) });
	}
	auto consider = [&](ArrayRef<BasicBlock *> blocks, double part) {
		SmallPtrSet<BasicBlock *, 16> set(blocks.begin(), blocks.end());

		if (!only_exit(set) || !can_outline(blocks))
			return;
		double gain = 0;
		for (auto [loop, wait] : waits)
			if (set.contains(loop->getHeader()))
				gain += wait;
		gain += gain_of(blocks, part, parts);
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
			consider(inside, part_of(branch, *next));
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
	count_splits();
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

/* A block for one work-item of a row is skipped otherwise. A barrier is between regions. */
double vectoriser::cost()
{
	double sum = 0;

	if (!prepare())
		return 0;
	find_divergent_loops();
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
bool accesses_columns(Function &item, Argument &x, Argument &y, unsigned least_bits,
		      unsigned lanes, TargetMachine &target)
{
	const TargetTransformInfo costs = target.getTargetTransformInfo(item);
	SmallPtrSet<const Instruction *, 16> same[2], next[2];

	vectoriser(item, x, lanes, costs).find_near(same[0], next[0]);
	vectoriser(item, y, lanes, costs).find_near(same[1], next[1]);
	return any_of(next[1], [&](const Instruction *inst) {
		return !same[0].contains(inst) && !next[0].contains(inst) &&
		       inst->getAccessType()->getPrimitiveSizeInBits() >= least_bits;
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
