// SPDX-License-Identifier: MIT
/*
 * vector_apart.cc - blocks that might store to what they load later
 *
 * Nothing in the source says that pixels are not converted in place, so that each channel would
 * have to be loaded after the one before was stored, and none of them as one vector
 * (vector_groups.cc). Such a block has a second version, for lanes none of which stores to what it
 * loads: a comparison of addresses in front of it chooses one for all lanes.
 *
 *	out[3 * i] = f(in[3 * i])			if (out + 3 * i is not in[3 * i - 2] to
 *	out[3 * i + 1] = f(in[3 * i + 1])		    in[3 * i + 2])
 *	out[3 * i + 2] = f(in[3 * i + 2])			v = (in[3 * i] to in[3 * i + 2])
 *								(out[3 * i] ...) = f(v)
 *							else	...
 *
 * As in vector_overlaps.cc what other lanes store needs no comparison. But where the distance of
 * two accesses is not the same for all lanes, what all of them access is compared, which is as
 * little. What it has found is said by scopes of aliases, which are right for a block, but in a
 * loop not for several iterations. So they are removed when the accesses are grouped.
 */
#include "analyses.h"
#include "items.h"
#include "quotients.h"
#include "vectoriser.h"
#include "walks.h"

#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/ScopedNoAliasAA.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>

using namespace llvm;

static const char domain_name[] = "salvo.apart";

/* Instructions of a block, and of a work-item with such blocks, that have two versions */
static const unsigned max_block = 150, max_item = 1000;

/* Accesses that grouping must save */
static const unsigned least_saved = 2;

static const unsigned max_places = 8, max_pairs = 16;

/* Accesses of a block at constant distances from the first one */
struct vectoriser::place {
	const SCEV *address, *base;
	int64_t low, high;	/* bytes from @address that are accessed */
	bool writes;
	SmallVector<Instruction *, 8> accesses;
};

/* The places in global memory that @block accesses, or none if nothing may move there */
std::vector<vectoriser::place> vectoriser::find_places(BasicBlock &block,
						      ScalarEvolution &evolution)
{
	std::vector<place> found;

	for (Instruction &inst : block) {
		if (!inst.mayReadOrWriteMemory() || isa<AssumeInst>(inst))
			continue;
		if (!is_simple_access(inst))
			return {};
		const unsigned space = getLoadStoreAddressSpace(&inst);
		if (space == LOCAL || space == PRIVATE)
			continue;
		if (inst.getMetadata(LLVMContext::MD_alias_scope))
			return {};
		const SCEV *address = address_in_loop(inst, evolution);
		const int64_t bytes = inst.getDataLayout().getTypeStoreSize(
			getLoadStoreType(&inst)).getFixedValue();
		std::optional<int64_t> at;
		auto near = find_if(found, [&](const place &p) {
			at = bytes_apart(p.address, address, evolution);
			return at.has_value();
		});
		if (near == found.end()) {
			if (found.size() == max_places)
				return {};
			found.push_back({ address, evolution.getPointerBase(address), 0, bytes,
					  isa<StoreInst>(inst), { &inst } });
			continue;
		}
		near->low = std::min(near->low, *at);
		near->high = std::max(near->high, *at + bytes);
		near->writes |= isa<StoreInst>(inst);
		near->accesses.push_back(&inst);
	}
	return found;
}

bool vectoriser::must_differ(const place &p, const place &q)
{
	return p.base != q.base && (p.writes || q.writes);
}

/* Says that places with different bases do not overlap. */
void vectoriser::mark(ArrayRef<place> places)
{
	LLVMContext &context = places[0].accesses[0]->getContext();
	MDBuilder builder(context);
	MDNode *domain = builder.createAnonymousAliasScopeDomain(domain_name);
	SmallDenseMap<const SCEV *, Metadata *> scopes;

	for (const place &p : places)
		if (!scopes.count(p.base))
			scopes[p.base] = builder.createAnonymousAliasScope(domain);
	for (const place &p : places) {
		SmallVector<Metadata *> others;

		for (const auto &[base, scope] : scopes)
			if (base != p.base)
				others.push_back(scope);
		for (Instruction *inst : p.accesses) {
			inst->setMetadata(LLVMContext::MD_alias_scope,
					  MDNode::get(context, { scopes[p.base] }));
			inst->setMetadata(LLVMContext::MD_noalias, MDNode::get(context, others));
		}
	}
}

static void forget(Instruction &inst)
{
	inst.setMetadata(LLVMContext::MD_alias_scope, nullptr);
	inst.setMetadata(LLVMContext::MD_noalias, nullptr);
}

void forget_apart(Function &f)
{
	for (Instruction &inst : instructions(f)) {
		MDNode *scopes = inst.getMetadata(LLVMContext::MD_alias_scope);

		if (!scopes || scopes->getNumOperands() != 1)
			continue;
		const MDNode *domain =
			AliasScopeNode(cast<MDNode>(scopes->getOperand(0))).getDomain();
		if (domain->getNumOperands() == 2 &&
		    cast<MDString>(domain->getOperand(1))->getString() == domain_name)
			forget(inst);
	}
}

/* Has @v computed before @at in its block; false if that reads memory. */
static bool move_up(Value *v, Instruction &at)
{
	auto *inst = dyn_cast<Instruction>(v);

	if (!inst || inst->getParent() != at.getParent() || inst->comesBefore(&at))
		return true;
	if (inst == &at || inst->mayReadOrWriteMemory() || isa<CallInst>(inst))
		return false;
	for (Value *operand : inst->operands())
		if (!move_up(operand, at))
			return false;
	inst->moveBefore(&at);
	return true;
}

/* The bytes from @low on, to below @high, that lanes @stride bytes apart access of @p */
std::pair<int64_t, int64_t> vectoriser::span(const place &p, int64_t stride, unsigned lanes)
{
	const int64_t all = stride * (lanes - 1);

	return { p.low + std::min(all, (int64_t)0), p.high + std::max(all, (int64_t)0) };
}

/*
 * Are @p and @q apart in each lane? They are a constant distance apart, or all lanes of one are
 * apart from all of the other, whose strides are known. NULL if that takes more.
 */
Value *vectoriser::emit_apart(IRBuilder<> &at, const place &p, const place &q,
			      ScalarEvolution &evolution)
{
	const SCEV *apart = evolution.getMinusSCEV(evolution.removePointerBase(q.address),
						   evolution.removePointerBase(p.address));
	auto *constant = dyn_cast<SCEVConstant>(apart);
	auto *one = dyn_cast<SCEVUnknown>(p.base), *other = dyn_cast<SCEVUnknown>(q.base);
	Value *from = getLoadStorePointerOperand(p.accesses[0]);
	Value *to = getLoadStorePointerOperand(q.accesses[0]);
	const shape s = shape_of(from), t = shape_of(to);
	auto number = [&](Value *pointer) {
		return first_lane(at, at.CreatePtrToInt(pointer, at.getInt64Ty()));
	};
	auto left = span(p, s.stride, lanes), right = span(q, t.stride, lanes);
	int64_t more = 0;

	if (constant && constant->getAPInt().getSignificantBits() <= 32 && one && other &&
	    shape_of(one->getValue()).kind == shape::UNIFORM &&
	    shape_of(other->getValue()).kind == shape::UNIFORM) {
		from = one->getValue();
		to = other->getValue();
		left = span(p, 0, lanes);
		right = span(q, 0, lanes);
		more = constant->getAPInt().getSExtValue();
	} else if (s.kind == shape::VARYING || t.kind == shape::VARYING) {
		return nullptr;
	}
	Instruction &before = *at.GetInsertPoint();
	if (!move_up(from, before) || !move_up(to, before))
		return nullptr;

	/* to + right.first >= from + left.second or to + right.second <= from + left.first */
	Value *distance = at.CreateSub(number(to), number(from));
	distance = at.CreateAdd(distance, at.getInt64(more + right.second - left.first - 1));
	return at.CreateICmpUGE(distance, at.getInt64(left.second - left.first + right.second -
						      right.first - 1));
}

/* Makes the rest of @at's block from there on run where @condition, and a copy of it elsewhere. */
static void version(Instruction &at, Value *condition)
{
	BasicBlock *before = at.getParent(), *block = SplitBlock(before, &at);
	BasicBlock *after = SplitBlock(block, block->getTerminator());
	ValueToValueMapTy map;
	BasicBlock *copy = CloneBasicBlock(block, map, ".others", block->getParent());

	remapInstructionsInBlocks({ copy }, map);
	ReplaceInstWithInst(before->getTerminator(), BranchInst::Create(block, copy, condition));
	for (Instruction &inst : *block) {
		if (!inst.isUsedOutsideOfBlock(block))
			continue;
		PHINode *phi = PHINode::Create(inst.getType(), 2, "", after->begin());

		inst.replaceUsesOutsideBlock(phi, block);
		phi->addIncoming(&inst, block);
		phi->addIncoming(map[&inst], copy);
	}
	for (Instruction &inst : *copy)
		if (inst.getMetadata(LLVMContext::MD_alias_scope))
			forget(inst);
}

bool vectoriser::version_block(BasicBlock &block, ScalarEvolution &evolution, AAResults &aliases)
{
	const std::vector<place> places = find_places(block, evolution);
	SmallVector<std::pair<const place *, const place *>> pairs;

	if (none_of(places, [](const place &p) { return p.accesses.size() > 1; }))
		return false;
	for (const place &p : places)
		for (const place &q : ArrayRef(places).drop_front(&p - places.data() + 1))
			if (must_differ(p, q))
				pairs.push_back({ &p, &q });
	if (pairs.empty() || pairs.size() > max_pairs)
		return false;

	const unsigned saved = saved_by_groups(block, evolution, aliases);
	mark(places);
	Instruction *at = nullptr;
	for (const place &p : places)
		if (!at || p.accesses[0]->comesBefore(at))
			at = p.accesses[0];
	Value *apart = nullptr;
	if (saved_by_groups(block, evolution, aliases) >= saved + least_saved) {
		IRBuilder<> b(at);

		apart = b.getTrue();
		for (const auto &[p, q] : pairs) {
			Value *is = apart ? emit_apart(b, *p, *q, evolution) : nullptr;
			apart = is ? b.CreateAnd(apart, is) : nullptr;
		}
	}
	if (!apart) {
		for (const place &p : places)
			for (Instruction *inst : p.accesses)
				forget(*inst);
		return false;
	}
	IRBuilder<> b(at);
	version(*at, of_every_lane(b, apart));
	return true;
}

bool vectoriser::version_blocks()
{
	SmallVector<BasicBlock *> blocks;
	bool made = false;

	if (in_checked_mode(item) || item.getInstructionCount() > max_item || !prepare())
		return false;
	access_analyses all(item, dt, loops);
	ScopedNoAliasAAResult scoped;
	all.aliases.addAAResult(scoped);
	for (BasicBlock &block : item)
		if (block.sizeWithoutDebug() <= max_block)
			blocks.push_back(&block);
	for (BasicBlock *block : blocks)
		made |= version_block(*block, all.evolution, all.aliases);
	return made;
}

bool version_blocks(Function &item, Argument &x, unsigned lanes, TargetMachine &target)
{
	const TargetTransformInfo costs = target.getTargetTransformInfo(item);

	return vectoriser(item, x, lanes, costs).version_blocks();
}
