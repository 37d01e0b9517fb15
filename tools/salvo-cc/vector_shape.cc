// SPDX-License-Identifier: MIT
/*
 * vector_shape.cc - shapes of values: uniform, strided or varying
 *
 * Of the divergent values (divergence.cc) the strided ones are found here: x has stride 1, the
 * sum with a uniform value and the product with a constant are strided too. The shapes of header
 * phis are assumed, then checked, until a fixed point is reached.
 */
#include "vectoriser.h"

#include <llvm/Analysis/CFG.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/InstIterator.h>

using namespace llvm;

static bool can_widen(Type *type)
{
	if (auto *s = dyn_cast<StructType>(type)) {
		for (Type *member : s->elements())
			if (!can_widen(member) || isa<StructType>(member))
				return false;
		return true;
	}
	if (isa<ScalableVectorType>(type))
		return false;
	if (auto *v = dyn_cast<FixedVectorType>(type))
		return !v->getElementType()->isPointerTy() && v->getNumElements() <= 16;
	return VectorType::isValidElementType(type);
}

vectoriser::vectoriser(Function &item, Argument &x, unsigned lanes,
		       const TargetTransformInfo &target)
	: item(item), x(x), lanes(lanes), target(target), layout(item.getDataLayout()),
	  b(item.getContext())
{
}

/*
 * Does an exit condition of @loop depend on an atomic operation or a volatile access? It may
 * spin until another work-item makes progress: the lane that holds a lock would wait at the
 * latch for the lanes that want it.
 */
static bool may_wait(const Loop &loop)
{
	SmallVector<BasicBlock *> leaving;
	SmallSetVector<const Value *, 16> seen;

	loop.getExitingBlocks(leaving);
	for (BasicBlock *block : leaving)
		if (auto *branch = dyn_cast<BranchInst>(block->getTerminator()))
			seen.insert(branch->getCondition());
	for (unsigned i = 0; i < seen.size(); i++) {
		auto *inst = dyn_cast<Instruction>(seen[i]);

		if (!inst || !loop.contains(inst))
			continue;
		if (inst->isAtomic() || inst->isVolatile())
			return true;
		seen.insert(inst->op_begin(), inst->op_end());
	}
	return false;
}

bool vectoriser::can_run()
{
	ReversePostOrderTraversal<Function *> blocks(&item);

	if (containsIrreducibleCFG<BasicBlock *>(blocks, loops))
		return false;
	for (Loop *loop : loops.getLoopsInPreorder())
		if (!loop->isLoopSimplifyForm() || !loop->isLCSSAForm(dt) ||
		    loop->hasNoExitBlocks() || may_wait(*loop))
			return false;
	for (Instruction &inst : instructions(item)) {
		Type *type = inst.getType();

		if (inst.isTerminator() && !isa<BranchInst>(inst) && !isa<ReturnInst>(inst))
			return false;
		if (auto *alloca = dyn_cast<AllocaInst>(&inst))
			if (!isa<ConstantInt>(alloca->getArraySize()) ||
			    alloca->getParent() != &item.getEntryBlock())
				return false;
		if (!type->isVoidTy() && !inst.isTerminator() &&
		    (!can_widen(type) || (isa<StructType>(type) && (isa<PHINode>(inst) ||
								    isa<SelectInst>(inst)))))
			return false;
		if (auto *call = dyn_cast<CallBase>(&inst))
			if (call->isInlineAsm() || !call->getCalledFunction())
				return false;
	}
	return true;
}

shape vectoriser::shape_of(const Value *v) const
{
	auto found = shapes.find(v);

	if (found != shapes.end())
		return found->second;
	if (isa<Instruction>(v))
		return { shape::VARYING };
	return { shape::UNIFORM };
}

static bool is_strided(const shape &s)
{
	return s.kind == shape::STRIDED;
}

static shape make_strided(int64_t stride, bool address_only)
{
	return { shape::STRIDED, stride, address_only };
}

shape vectoriser::find_binary_shape(Instruction &inst)
{
	shape p = shape_of(inst.getOperand(0)), q = shape_of(inst.getOperand(1));
	auto *constant = dyn_cast<ConstantInt>(inst.getOperand(1));
	const bool address_only = p.address_only || q.address_only;

	if (!inst.getType()->isIntegerTy() || p.kind == shape::VARYING || q.kind == shape::VARYING)
		return {};
	switch (inst.getOpcode()) {
	case Instruction::Or:
		if (!cast<PossiblyDisjointInst>(inst).isDisjoint())
			return {};
		[[fallthrough]];
	case Instruction::Add:
		return make_strided(p.stride + q.stride, address_only);
	case Instruction::Sub:
		return make_strided(p.stride - q.stride, address_only);
	case Instruction::Xor:	/* ~p is -1 - p */
		if (!constant || !constant->isMinusOne() || !is_strided(p))
			return {};
		return make_strided(-p.stride, address_only);
	case Instruction::Mul:
		if (!constant || constant->getBitWidth() > 64 || !is_strided(p))
			return {};
		return make_strided(p.stride * constant->getSExtValue(), address_only);
	case Instruction::Shl:
		if (!constant || constant->getZExtValue() > 31 || !is_strided(p))
			return {};
		return make_strided(p.stride << constant->getZExtValue(), address_only);
	default:
		return {};
	}
}

/* Bits of an index from which on its extension is strided where it is part of an address */
static const unsigned least_extended = 32;

/* Strided if the lanes are a constant number of bytes apart. */
shape vectoriser::find_address_shape(GetElementPtrInst &gep)
{
	shape base = shape_of(gep.getPointerOperand());
	int64_t stride = base.stride;

	if (base.kind == shape::VARYING || gep.getType()->isVectorTy())
		return {};
	for (auto it = gep_type_begin(gep); it != gep_type_end(gep); ++it) {
		shape part = shape_of(it.getOperand());

		if (part.kind == shape::VARYING)
			return {};
		if (is_strided(part))
			stride += part.stride *
				  (int64_t)it.getSequentialElementStride(layout).getFixedValue();
	}
	return make_strided(stride, false);
}

/* Of a value that is the same one of @values for all lanes. */
shape vectoriser::find_common_shape(iterator_range<User::value_op_iterator> values) const
{
	shape common = shape_of(*values.begin());

	for (const Value *value : values) {
		const shape next = shape_of(value);

		if (!is_strided(next) || next.stride != common.stride)
			return {};
		common.address_only |= next.address_only;
	}
	return common;
}

/* Do all active lanes come to @block on the same way? */
bool vectoriser::meets_uniformly(BasicBlock &block)
{
	const Loop *loop = loops.getLoopFor(&block);
	BasicBlock *above = level_dominator(&block);

	return above && dt.getNode(&block)->getIDom()->getBlock() == above &&
	       all_of(predecessors(&block), [&](BasicBlock *from) {
		       return loops.getLoopFor(from) == loop;
	       }) && is_uniform_between(above, &block);
}

/* Do all active lanes come to @block from a loop that they leave together? */
bool vectoriser::leave_together(BasicBlock &block)
{
	BasicBlock *from = block.getSinglePredecessor();
	const Loop *left = from ? loops.getLoopFor(from) : nullptr;
	SmallVector<BasicBlock *> exiting;

	if (!left || left->contains(&block) || left->getParentLoop() != loops.getLoopFor(&block))
		return false;
	left->getExitingBlocks(exiting);
	return none_of(exiting, [&](BasicBlock *each) {
		return differing->splits(*each);
	});
}

shape vectoriser::find_shape(Instruction &inst)
{
	if (!differing->differs(&inst))
		return { shape::UNIFORM };
	if (isa<BinaryOperator>(inst))
		return find_binary_shape(inst);
	if (auto *gep = dyn_cast<GetElementPtrInst>(&inst))
		return find_address_shape(*gep);
	if (auto *alloca = dyn_cast<AllocaInst>(&inst)) {
		const uint64_t bytes = interleaved_bytes(*alloca);

		return make_strided(bytes ? bytes :
				    layout.getTypeAllocSize(private_type(*alloca)).getFixedValue(),
				    false);
	}
	shape from = inst.getNumOperands() ? shape_of(inst.getOperand(0)) : shape();
	switch (inst.getOpcode()) {
	case Instruction::Trunc:
		if (!is_strided(from) || inst.getType()->isIntegerTy(1))
			return {};
		/* Extensions to more than 32 bits, which may wrap around, keep the lower ones. */
		return make_strided(from.stride, from.address_only &&
				    inst.getType()->getIntegerBitWidth() > least_extended);
	case Instruction::Freeze:
	case Instruction::AddrSpaceCast:
		return from;
	case Instruction::PtrToInt:
		return layout.getTypeSizeInBits(inst.getType()) == 64 ? from : shape();
	case Instruction::SExt:
	case Instruction::ZExt:
		/* A narrower index, or a larger stride, may wrap around between lanes. */
		if (!is_strided(from) || std::abs(from.stride) > 4096 ||
		    inst.getOperand(0)->getType()->getScalarSizeInBits() < least_extended)
			return {};
		return make_strided(from.stride, true);
	case Instruction::Select:
		if (shape_of(inst.getOperand(0)).kind != shape::UNIFORM)
			return {};
		return find_common_shape(drop_begin(inst.operand_values()));
	case Instruction::PHI:
		if (!loops.isLoopHeader(inst.getParent()))
			return meets_uniformly(*inst.getParent()) ||
					       leave_together(*inst.getParent()) ?
			       find_common_shape(inst.operand_values()) : shape();
		/* Assumed by find_shapes(). */
		return shapes.count(&inst) ? shapes[&inst] : shape();
	default:
		return {};
	}
}

/* Is what has been assumed of the header @phi so? If not another assumption is chosen. */
bool vectoriser::holds(const PHINode &phi, const Loop &loop, instruction_set &extended,
		       instruction_set &refuted) const
{
	const shape now = shape_of(&phi);
	const shape first = shape_of(phi.getIncomingValueForBlock(loop.getLoopPreheader()));
	const shape next = shape_of(phi.getIncomingValueForBlock(loop.getLoopLatch()));

	if (!is_strided(now))
		return true;
	if (!is_strided(next) || next.stride != now.stride) {
		refuted.insert(&phi);
		return false;
	}
	return (!first.address_only && !next.address_only) || !extended.insert(&phi).second;
}

void vectoriser::find_shapes()
{
	SmallPtrSet<const Value *, 1> sources;
	ReversePostOrderTraversal<Function *> blocks(&item);
	bool all_hold;

	sources.insert(&x);
	differing = std::make_unique<divergence>(item, sources);
	shapes[&x] = make_strided(1, false);

	/*
	 * A header phi whose assumption failed stays varying. One that begins as an extension, or
	 * is extended in each iteration, is strided in addresses only.
	 */
	instruction_set refuted, extended;
	do {
		all_hold = true;
		for (BasicBlock *block : blocks)
			for (Instruction &inst : *block) {
				auto *phi = dyn_cast<PHINode>(&inst);
				Loop *loop = phi ? loops.getLoopFor(block) : nullptr;

				if (loop && loop->getHeader() == block && differing->differs(phi)) {
					shape first = shape_of(phi->getIncomingValueForBlock(
						loop->getLoopPreheader()));
					first.address_only = extended.contains(phi);
					shapes[phi] = refuted.contains(phi) || !is_strided(first) ?
						      shape() : first;
				} else {
					shapes[&inst] = find_shape(inst);
				}
			}
		for (Loop *loop : loops.getLoopsInPreorder())
			for (PHINode &phi : loop->getHeader()->phis()) {
				if (!holds(phi, *loop, extended, refuted))
					all_hold = false;
			}
	} while (!all_hold);
}

/* The analyses that all of the vectoriser begins with; false if lanes cannot run the work-item. */
bool vectoriser::prepare()
{
	dt.recalculate(item);
	loops.analyze(dt);
	if (!can_run())
		return false;
	pdt.recalculate(item);
	find_rare_blocks();
	find_shapes();
	return true;
}
