// SPDX-License-Identifier: MIT
/*
 * split.cc - splits a kernel at its barriers into regions without (M2 of CN102576314)
 *
 * A region is the code from the start of the kernel, or from a barrier, to the next
 * barrier or the end. Each becomes a function of one work-item that returns the region
 * that follows: 0 at the end of the kernel, else the number of the region that begins at
 * the barrier (or rather a bit for it, so that lanes and rows can merge what they return).
 * groups.cc runs a region for all work-items, then the next.
 *
 *	a = f(x); barrier(); out[x] = g(a);
 *
 *	region 0:  frame_a[item] = f(x); return 1;
 *	region 1:  out[x] = g(frame_a[item]); return 0;
 *
 * Regions may overlap, as those of a loop with two barriers do: each is a copy of all
 * blocks that are reachable from its start.
 *
 * A value that is live across a barrier is rematerialised if that takes only arithmetic
 * on ids, arguments and, if it is divergent, uniform values. Else it is spilled: a uniform one to
 * one variable, whose value at the start of a region is an argument of it; a divergent one to an
 * array with an element for each work-item, as are private variables in memory. A phi of a loop
 * shares its array with the value of the next iteration if only one of them is live at a time.
 *
 * All work-items must reach the same barrier, so those that come to a branch whose ways lead to
 * different barriers must agree on its condition (agree.cc). Where uniformity analysis cannot
 * prove that, the condition is checked when it is evaluated: a work-group that breaks the rule ends
 * with a fault at the end of the region.
 */
#include "split.h"

#include <llvm/ADT/BitVector.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>

#include "agree.h"
#include "separate.h"
#include "steps.h"
#include "vectoriser.h"
#include "ways.h"

using namespace llvm;

/*
 * Instructions that rematerialising a value may take: divergent ones, and uniform ones, which are
 * hoisted out of the loops over work-items.
 */
struct budget {
	unsigned divergent = 16, uniform = 64;
};
static const unsigned max_blocks = 2000;
static const unsigned max_next = 31;	/* regions that may follow one; see disagreed */

namespace {

class splitter {
public:
	splitter(items &of) : of(of), f(*of.function) {}

	bool run(TargetMachine &target, regions &made);

private:
	void find_barriers();
	void find_starts();
	void find_divergence();
	void find_agreements();
	void find_regions();
	bool separate();
	const SmallPtrSetImpl<BasicBlock *> &without(BasicBlock *def);
	bool crosses(const Use &use);
	bool differs(Value *v) const { return differing->differs(v) || copies.lookup(v); }
	SmallVector<Use *> crossing(Instruction &value);
	void find_offsets();
	bool can_compute_again(Value *v, budget &left, SmallPtrSetImpl<Value *> &leaves);
	Value *compute_again(Value *v, Instruction *before, ValueToValueMapTy &done);
	void find_shared();
	AllocaInst *memory_of(Instruction &value);
	void carry(Instruction &value, ArrayRef<Use *> uses);
	bool is_carried(AllocaInst &alloca) const;
	void carry_arrays();
	void carry_values();
	SmallVector<BasicBlock *> blocks_of(unsigned number);
	std::vector<unsigned> variables_of(ArrayRef<BasicBlock *> blocks);
	void copy_blocks(ArrayRef<BasicBlock *> blocks, Function &made, ValueToValueMapTy &map);
	Function *declare_region(unsigned number, ArrayRef<unsigned> used, ValueToValueMapTy &map);
	bool make_region(unsigned number, TargetMachine &target, regions &made);

	items &of;
	Function &f;
	std::unique_ptr<divergence> differing;
	SmallVector<CallInst *> barriers;
	SmallVector<BasicBlock *> starts;	/* of regions */
	SmallVector<BranchInst *> apart;	/* branches whose ways may lead to different ends */
	SmallPtrSet<BasicBlock *, 8> ends;	/* blocks that begin with a barrier */
	DenseMap<BasicBlock *, unsigned> number_behind;	/* of the region, for each of @ends */
	DenseMap<BasicBlock *, SmallPtrSet<BasicBlock *, 16>> reached;
	struct variable {
		AllocaInst *memory;
		bool uniform;
	};
	SmallVector<variable> variables;
	DenseMap<AllocaInst *, unsigned> numbers;	/* of the variables */
	SmallVector<AllocaInst *> own;	/* private variables that a region does not leave behind */
	DenseMap<Value *, bool> copies;	/* of what was computed again: are they divergent? */
	DenseMap<Instruction *, PHINode *> shared;	/* phis whose variable values have */
	DenseMap<Instruction *, AllocaInst *> memory;	/* of values and phis that share */
};

} /* namespace */

void splitter::find_barriers()
{
	for (Instruction &inst : instructions(f)) {
		auto *call = dyn_cast<CallInst>(&inst);
		if (call && is_barrier(*call))
			barriers.push_back(call);
	}
}

void splitter::find_divergence()
{
	SmallPtrSet<const Value *, 3> ids;

	for (unsigned d = 0; d < 3; d++)
		ids.insert(of.id(f, d));
	differing = std::make_unique<divergence>(f, ids);
}

void splitter::find_starts()
{
	starts.push_back(&f.getEntryBlock());
	for (CallInst *barrier : barriers) {
		BasicBlock *end = barrier->getParent()->splitBasicBlock(barrier, "barrier");

		ends.insert(end);
		number_behind[end] = starts.size();
		starts.push_back(end->splitBasicBlock(barrier->getNextNode(), "region"));
	}
}

/*
 * Marks the conditions on which work-items must agree: those of branches whose ways have no end of
 * a region in common.
 */
void splitter::find_agreements()
{
	DenseMap<BasicBlock *, BitVector> ends_of;	/* barriers, and 0 for the end */
	SmallVector<BranchInst *> agreed;
	bool changed = true;

	for (BasicBlock &block : f)
		ends_of[&block].resize(barriers.size() + 1);
	for (unsigned i = 0; i < barriers.size(); i++)
		ends_of[barriers[i]->getParent()].set(i + 1);
	while (changed) {
		changed = false;
		for (BasicBlock *block : post_order(&f)) {
			BitVector &ends_here = ends_of[block];
			const unsigned before = ends_here.count();

			if (ends.contains(block))
				continue;
			if (isa<ReturnInst>(block->getTerminator()))
				ends_here.set(0);
			for (BasicBlock *next : successors(block))
				ends_here |= ends_of[next];
			changed |= ends_here.count() != before;
		}
	}
	for (BasicBlock &block : f) {
		auto *branch = dyn_cast<BranchInst>(block.getTerminator());

		if (!branch || !branch->isConditional())
			continue;
		const BitVector &one = ends_of[branch->getSuccessor(0)];
		const BitVector &other = ends_of[branch->getSuccessor(1)];
		if (one != other)
			apart.push_back(branch);
		if (!one.anyCommon(other) && differing->splits(block))
			agreed.push_back(branch);
	}
	for (BranchInst *branch : agreed)
		agree(*branch);
	if (!agreed.empty())
		find_divergence();
}

void splitter::find_regions()
{
	barriers.clear();
	starts.clear();
	ends.clear();
	number_behind.clear();
	apart.clear();
	find_barriers();
	find_starts();
	find_divergence();
	find_agreements();
}

/* Puts barriers where the kernel relies on lockstep (separate.cc). */
bool splitter::separate()
{
	SmallVector<Instruction *> places = find_separations(f, *differing, ends, apart);

	for (auto *find : { find_clears, find_reuses })
		for (Instruction *place : find(f, *differing, ends))
			if (!is_contained(places, place))
				places.push_back(place);
	for (Instruction *place : places)
		barriers[0]->clone()->insertBefore(place);
	return !places.empty();
}

/* Blocks that are reachable from the start of a region without passing @def. */
const SmallPtrSetImpl<BasicBlock *> &splitter::without(BasicBlock *def)
{
	auto [found, is_new] = reached.try_emplace(def);
	SmallVector<BasicBlock *> open;

	if (!is_new)
		return found->second;
	SmallPtrSetImpl<BasicBlock *> &set = found->second;
	for (BasicBlock *start : starts)
		if (start != def && set.insert(start).second)
			open.push_back(start);
	while (!open.empty()) {
		BasicBlock *block = open.pop_back_val();

		if (ends.contains(block))
			continue;
		for (BasicBlock *next : successors(block))
			if (next != def && set.insert(next).second)
				open.push_back(next);
	}
	return set;
}

static BasicBlock *block_of(const Use &use)
{
	auto *user = cast<Instruction>(use.getUser());

	if (auto *phi = dyn_cast<PHINode>(user))
		return phi->getIncomingBlock(use);
	return user->getParent();
}

/* May @use be in a region that does not contain the definition? */
bool splitter::crosses(const Use &use)
{
	BasicBlock *def = cast<Instruction>(use.get())->getParent();

	return block_of(use) != def && without(def).contains(block_of(use));
}

SmallVector<Use *> splitter::crossing(Instruction &value)
{
	SmallVector<Use *> found;

	for (Use &use : value.uses())
		if (crosses(use))
			found.push_back(&use);
	return found;
}

/* @leaves: gets the uniform values that are to be carried */
bool splitter::can_compute_again(Value *v, budget &left, SmallPtrSetImpl<Value *> &leaves)
{
	auto *inst = dyn_cast<Instruction>(v);

	if (!inst)
		return true;
	/* freeze may choose another value for poison the next time, which ids never are. */
	if (isa<PHINode>(inst) ||
	    (isa<FreezeInst>(inst) && !isa<Argument>(inst->getOperand(0))) ||
	    inst->mayReadOrWriteMemory() ||
	    isa<AllocaInst>(inst) || inst->isIntDivRem() || !isSafeToSpeculativelyExecute(inst))
		return false;
	const bool is_divergent = differs(inst);
	unsigned &of_kind = is_divergent ? left.divergent : left.uniform;
	if (!of_kind)
		return false;
	of_kind--;
	for (Value *operand : inst->operands()) {
		if (leaves.contains(operand) || can_compute_again(operand, left, leaves))
			continue;
		/* A copy is not among the values that are carried. */
		if (!is_divergent || differs(operand) || copies.contains(operand))
			return false;
		leaves.insert(operand);
	}
	return true;
}

/* @done: begins with the leaves as they are */
Value *splitter::compute_again(Value *v, Instruction *before, ValueToValueMapTy &done)
{
	auto *inst = dyn_cast<Instruction>(v);

	if (!inst)
		return v;
	if (Value *known = done.lookup(v))
		return known;
	Instruction *copy = inst->clone();
	copies[copy] = differs(inst);
	for (unsigned i = 0; i < inst->getNumOperands(); i++)
		copy->setOperand(i, compute_again(inst->getOperand(i), before, done));
	copy->insertBefore(before);
	done[v] = copy;
	return copy;
}

/* Values that loops with barriers advance by the same for all work-items (steps.cc) */
void splitter::find_offsets()
{
	auto has_barrier = [&](const Loop &loop) {
		return any_of(ends, [&](BasicBlock *end) { return loop.contains(end); });
	};
	auto can_start = [&](Value *v) {
		SmallPtrSet<Value *, 4> leaves;
		budget left;

		return can_compute_again(v, left, leaves);
	};

	if (split_steps(f, *differing, has_barrier, can_start))
		find_divergence();
}

/* Blocks that are reachable from the end of @from, but not beyond the start of @stop. */
static SmallPtrSet<BasicBlock *, 16> reachable(BasicBlock *from, const BasicBlock *stop)
{
	SmallPtrSet<BasicBlock *, 16> found;
	SmallVector<BasicBlock *> open(successors(from));

	while (!open.empty()) {
		BasicBlock *block = open.pop_back_val();

		if (block != stop && found.insert(block).second)
			open.append(succ_begin(block), succ_end(block));
	}
	return found;
}

/* Is @v used behind the definition of @other, where that may have been written over it? */
static bool is_live_after(const Instruction &v, Instruction &other)
{
	BasicBlock *block = other.getParent();
	const auto behind = reachable(block, v.getParent());

	return any_of(v.uses(), [&](const Use &use) {
		auto *user = cast<Instruction>(use.getUser());

		if (behind.contains(block_of(use)))
			return true;
		return block_of(use) == block && (isa<PHINode>(user) || other.comesBefore(user));
	});
}

/*
 * A loop's phi and the value of the next iteration have one variable where neither is live when the
 * other is defined: what would be copied from one to the other in each iteration is there.
 */
void splitter::find_shared()
{
	DominatorTree dt(f);
	LoopInfo loops(dt);

	for (Loop *loop : loops.getLoopsInPreorder()) {
		BasicBlock *latch = loop->getLoopLatch();

		if (!latch)
			continue;
		for (PHINode &phi : loop->getHeader()->phis()) {
			auto *next = dyn_cast<Instruction>(phi.getIncomingValueForBlock(latch));

			if (!next || !loop->contains(next) ||
			    next->getParent() == phi.getParent() ||
			    !differing->differs(&phi) || !differing->differs(next) ||
			    shared.contains(next) || shared.contains(&phi) ||
			    is_live_after(phi, *next) || is_live_after(*next, phi))
				continue;
			shared[next] = &phi;
			shared[&phi] = &phi;
		}
	}
}

/* The variable of a value that is to be carried */
AllocaInst *splitter::memory_of(Instruction &value)
{
	IRBuilder<> at_start(&f.getEntryBlock(), f.getEntryBlock().begin());
	Instruction *owner = shared.contains(&value) ? shared[&value] : &value;
	AllocaInst *&made = memory[owner];

	if (!made) {
		/* A byte for a truth value: those of several work-items are a vector of bytes. */
		const bool is_bool = value.getType()->isIntegerTy(1);

		made = at_start.CreateAlloca(is_bool ? at_start.getInt8Ty() : value.getType(),
					     nullptr, value.getName() + ".carried");
		variables.push_back({ made, !differing->differs(&value) });
	}
	return made;
}

/* Spills @value, and reloads it for @uses in other regions. */
void splitter::carry(Instruction &value, ArrayRef<Use *> uses)
{
	IRBuilder<> b(f.getContext());
	const bool is_bool = value.getType()->isIntegerTy(1);
	AllocaInst *memory = memory_of(value);

	for (Use *use : uses) {
		auto *user = cast<Instruction>(use->getUser());

		b.SetInsertPoint(isa<PHINode>(user) ? block_of(*use)->getTerminator() : user);
		Value *loaded = b.CreateLoad(memory->getAllocatedType(), memory, value.getName());
		use->set(is_bool ? b.CreateTrunc(loaded, value.getType()) : loaded);
	}
	b.SetInsertPoint(value.getParent(), *value.getInsertionPointAfterDef());
	b.CreateStore(is_bool ? b.CreateZExt(&value, b.getInt8Ty()) : &value, memory);
}

/* @block and the blocks that it comes to, or only those that come to it */
static SmallPtrSet<BasicBlock *, 32> blocks_along(BasicBlock *block, bool forward)
{
	SmallSetVector<BasicBlock *, 32> seen;

	if (forward)
		seen.insert(block);
	else
		seen.insert(pred_begin(block), pred_end(block));
	for (unsigned i = 0; i < seen.size(); i++)
		if (forward)
			seen.insert(succ_begin(seen[i]), succ_end(seen[i]));
		else
			seen.insert(pred_begin(seen[i]), pred_end(seen[i]));
	return SmallPtrSet<BasicBlock *, 32>(seen.begin(), seen.end());
}

/*
 * Is there a barrier with uses of @alloca, or of addresses in it, both before and behind it? Else
 * it is a variable of its region, where the lanes of an element may lie side by side
 * (vector_arrays.cc) or be in registers.
 */
bool splitter::is_carried(AllocaInst &alloca) const
{
	SmallSetVector<Instruction *, 16> addresses;
	SmallSetVector<BasicBlock *, 16> users;

	addresses.insert(&alloca);
	for (unsigned i = 0; i < addresses.size(); i++)
		for (User *user : addresses[i]->users()) {
			auto *inst = cast<Instruction>(user);

			if (isa<GetElementPtrInst>(inst))
				addresses.insert(inst);
			else if (!isa<LoadInst>(inst) && !isa<MemIntrinsic>(inst) &&
				 !(isa<StoreInst>(inst) &&
				   !addresses.contains(dyn_cast<Instruction>(inst->getOperand(0)))))
				return true;
			users.insert(inst->getParent());
		}
	auto is_used = [&](const SmallPtrSet<BasicBlock *, 32> &blocks) {
		return any_of(users, [&](BasicBlock *user) { return blocks.contains(user); });
	};
	return any_of(drop_begin(starts), [&](BasicBlock *start) {
		return is_used(blocks_along(start, false)) && is_used(blocks_along(start, true));
	});
}

/* Arrays of a region, unless it would have no lanes for their size. */
void splitter::carry_arrays()
{
	const DataLayout &layout = f.getDataLayout();
	uint64_t left = max_private;

	for (Instruction &inst : instructions(f)) {
		auto *alloca = dyn_cast<AllocaInst>(&inst);

		if (!alloca)
			continue;
		const uint64_t bytes = layout.getTypeAllocSize(alloca->getAllocatedType());
		if (bytes > left || is_carried(*alloca)) {
			variables.push_back({ alloca, false });
		} else {
			own.push_back(alloca);
			left -= bytes;
		}
	}
}

void splitter::carry_values()
{
	SmallVector<Instruction *> values;

	carry_arrays();
	for (Instruction &inst : instructions(f))
		if (!isa<AllocaInst>(inst) && !inst.getType()->isVoidTy())
			values.push_back(&inst);
	find_shared();
	for (Instruction *value : values) {
		const SmallVector<Use *> uses = crossing(*value);
		SmallPtrSet<Value *, 4> leaves;
		budget left;

		if (uses.empty() || !can_compute_again(value, left, leaves))
			continue;
		for (Use *use : uses) {
			auto *user = cast<Instruction>(use->getUser());
			ValueToValueMapTy done;

			for (Value *leaf : leaves)
				done[leaf] = leaf;
			use->set(compute_again(value, isa<PHINode>(user) ?
					       block_of(*use)->getTerminator() : user, done));
		}
	}
	/* What is left, and the leaves of what is computed again */
	for (Instruction *value : values) {
		const SmallVector<Use *> uses = crossing(*value);

		if (!uses.empty())
			carry(*value, uses);
	}
}

/* The blocks that are reachable from the start of region @number, in their order in the kernel */
SmallVector<BasicBlock *> splitter::blocks_of(unsigned number)
{
	SmallSetVector<BasicBlock *, 16> seen;
	SmallVector<BasicBlock *> found;

	seen.insert(starts[number]);
	for (unsigned i = 0; i < seen.size(); i++)
		if (!ends.contains(seen[i]))
			seen.insert(succ_begin(seen[i]), succ_end(seen[i]));
	for (BasicBlock &block : f)
		if (seen.contains(&block))
			found.push_back(&block);
	return found;
}

/* The numbers of the variables that @blocks use */
std::vector<unsigned> splitter::variables_of(ArrayRef<BasicBlock *> blocks)
{
	std::set<unsigned> used;

	for (BasicBlock *block : blocks)
		for (Instruction &inst : *block)
			for (Value *operand : inst.operands())
				if (auto *alloca = dyn_cast<AllocaInst>(operand))
					if (auto found = numbers.find(alloca);
					    found != numbers.end())
						used.insert(found->second);
	return std::vector<unsigned>(used.begin(), used.end());
}

/*
 * Copies @blocks to @made. A block with a barrier returns the number of the region that it begins.
 * Operands of the copies are those of the originals yet.
 */
void splitter::copy_blocks(ArrayRef<BasicBlock *> blocks, Function &made, ValueToValueMapTy &map)
{
	IRBuilder<> b(f.getContext());

	for (BasicBlock *block : blocks) {
		const unsigned behind = number_behind.lookup(block);
		BasicBlock *copy = behind ? BasicBlock::Create(f.getContext(), block->getName(),
							       &made) :
					    CloneBasicBlock(block, map, "", &made);

		map[block] = copy;
		if (behind)
			ReturnInst::Create(f.getContext(), b.getInt32(behind), copy);
		else if (auto *ret = dyn_cast<ReturnInst>(copy->getTerminator()))
			ReplaceInstWithInst(ret, ReturnInst::Create(f.getContext(),
								    b.getInt32(0)));
	}
}

/* The operands of the copies of @blocks become those that @map has. */
static void map_operands(ArrayRef<BasicBlock *> blocks, ValueToValueMapTy &map)
{
	for (BasicBlock *block : blocks) {
		auto *copy = cast<BasicBlock>(map[block]);

		for (PHINode &phi : copy->phis())
			phi.removeIncomingValueIf([&](unsigned i) {
				return !map.lookup(phi.getIncomingBlock(i));
			}, false);
		for (Instruction &inst : *copy) {
			RemapInstruction(&inst, map, RF_NoModuleLevelChanges);
			RemapDbgRecordRange(copy->getModule(), inst.getDbgRecordRange(), map,
					    RF_NoModuleLevelChanges);
		}
	}
}

/* An empty function for region @number, which uses @used */
Function *splitter::declare_region(unsigned number, ArrayRef<unsigned> used,
				   ValueToValueMapTy &map)
{
	LLVMContext &context = f.getContext();
	SmallVector<Type *> types(f.getFunctionType()->params());
	SmallVector<std::pair<unsigned, MDNode *>> all;

	types.push_back(Type::getInt64Ty(context));
	for (unsigned n : used) {
		types.push_back(PointerType::get(context, 0));
		if (variables[n].uniform)
			types.push_back(variables[n].memory->getAllocatedType());
	}
	auto *type = FunctionType::get(Type::getInt32Ty(context), types, false);
	auto *made = Function::Create(type, GlobalValue::InternalLinkage,
				      f.getName() + "." + Twine(number), f.getParent());
	made->copyAttributesFrom(&f);
	f.getAllMetadata(all);
	for (auto [kind, node] : all)
		made->addMetadata(kind, *node);
	for (Argument &arg : f.args()) {
		map[&arg] = made->getArg(arg.getArgNo());
		made->getArg(arg.getArgNo())->setName(arg.getName());
	}
	return made;
}

/*
 * The function of region @number: a copy of the blocks reachable from its start. False if too many
 * regions may follow.
 */
bool splitter::make_region(unsigned number, TargetMachine &target, regions &made)
{
	const SmallVector<BasicBlock *> blocks = blocks_of(number);
	ValueToValueMapTy map;
	region r;

	r.variables = variables_of(blocks);
	r.function = declare_region(number, r.variables, map);
	BasicBlock *start = BasicBlock::Create(f.getContext(), "start", r.function);
	IRBuilder<> b(start);
	copy_blocks(blocks, *r.function, map);
	if (!number)
		for (Instruction &inst : make_early_inc_range(*cast<BasicBlock>(map[starts[0]])))
			if (isa<AllocaInst>(inst))
				inst.eraseFromParent();

	for (AllocaInst *alloca : own)
		map[alloca] = b.Insert(alloca->clone(), alloca->getName());
	unsigned at = f.arg_size();
	Value *item = b.CreateAdd(r.function->getArg(at++), of.id(*r.function, 0), "item", true,
				  true);
	SmallVector<std::pair<AllocaInst *, Argument *>> uniform;
	for (unsigned n : r.variables) {
		const variable &v = variables[n];
		Argument *shared = r.function->getArg(at++);

		if (!v.uniform) {
			map[v.memory] = b.CreateGEP(private_type(*v.memory), shared, item);
			continue;
		}
		/* A region reads the value at its start: stores must not be seen by other items. */
		mark_common(*shared);
		AllocaInst *own = b.CreateAlloca(v.memory->getAllocatedType());
		b.CreateStore(r.function->getArg(at++), own);
		map[v.memory] = own;
		uniform.push_back({ own, shared });
	}
	map_operands(blocks, map);
	for (auto [own, shared] : uniform) {
		SmallVector<StoreInst *> stores;

		for (User *user : own->users())
			if (auto *store = dyn_cast<StoreInst>(user))
				if (store->getParent() != start)
					stores.push_back(store);
		for (StoreInst *store : stores)
			new StoreInst(store->getValueOperand(), shared, store);
	}
	b.CreateBr(cast<BasicBlock>(map[starts[number]]));

	SmallVector<ReturnInst *> returns;
	for (BasicBlock &block : *r.function)
		if (auto *ret = dyn_cast<ReturnInst>(block.getTerminator()))
			returns.push_back(ret);
	auto number_of = [](ReturnInst *ret) {
		return cast<ConstantInt>(ret->getReturnValue())->getZExtValue();
	};
	for (ReturnInst *ret : returns)
		r.next.insert(number_of(ret));
	for (ReturnInst *ret : returns) {
		auto bit = std::distance(r.next.begin(), r.next.find(number_of(ret)));
		ret->setOperand(0, b.getInt32(1u << bit % max_next));
	}
	/* What the region shares is in memory, and much is computed more than once. */
	tidy(*r.function, target);
	made.all.push_back(std::move(r));
	return made.all.back().next.size() <= max_next;
}

bool splitter::run(TargetMachine &target, regions &made)
{
	SmallVector<Instruction *> lifetimes;

	canonicalise(f, target);
	/* Private memory is live from the first region to the last. */
	for (Instruction &inst : instructions(f))
		if (inst.isLifetimeStartOrEnd())
			lifetimes.push_back(&inst);
	for (Instruction *inst : lifetimes)
		inst->eraseFromParent();
	for (Instruction &inst : instructions(f))
		if (auto *alloca = dyn_cast<AllocaInst>(&inst))
			if (!isa<ConstantInt>(alloca->getArraySize()) ||
			    alloca->getParent() != &f.getEntryBlock())
				return false;
	if (f.size() > max_blocks)
		return false;
	find_regions();
	if (separate())
		find_regions();
	find_offsets();
	carry_values();

	const DataLayout &layout = f.getDataLayout();
	for (const variable &v : variables) {
		numbers[v.memory] = made.variables.size();
		made.variables.push_back({ v.memory->getAllocatedType(), v.uniform,
					   layout.getTypeAllocSize(private_type(*v.memory)) });
	}
	for (unsigned i = 0; i < starts.size(); i++)
		if (!make_region(i, target, made))
			return false;
	return true;
}

bool split_items(items &of, TargetMachine &target, regions &made)
{
	return splitter(of).run(target, made);
}
