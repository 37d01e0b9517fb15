// SPDX-License-Identifier: MIT
/*
 * vector_ops.cc - widening of instructions other than memory accesses
 *
 * An operation on a varying value becomes the same operation on a vector of all lanes. A
 * vector type of the source, such as float4, keeps its elements together, lane after lane:
 * element-wise operations need no change, shuffles are repeated for each lane.
 *
 *	float4 v = in[x] * 2;		<32 x float> v = load(in + x) * 2
 *	out[x] = v.x + v.y;		v[0, 4, 8, ...] + v[1, 5, 9, ...]
 */
#include "agree.h"
#include "division.h"
#include "quotients.h"
#include "vectoriser.h"

#include <llvm/Analysis/VectorUtils.h>

using namespace llvm;

static unsigned elements_of(const Type *type)
{
	auto *vector = dyn_cast<FixedVectorType>(type);

	return vector ? vector->getNumElements() : 1;
}

Type *vectoriser::widen(Type *type) const
{
	if (auto *s = dyn_cast<StructType>(type)) {
		SmallVector<Type *> members;
		for (Type *member : s->elements())
			members.push_back(widen(member));
		return StructType::get(type->getContext(), members);
	}
	return FixedVectorType::get(type->getScalarType(), lanes * elements_of(type));
}

AllocaInst *vectoriser::make_slot(Type *type, const Twine &name)
{
	IRBuilder<> at(start[order[0]], start[order[0]]->begin());

	return at.CreateAlloca(type, nullptr, name + ".slot");
}

Value *vectoriser::scalar(Value *v)
{
	if (isa<Constant>(v) || isa<MetadataAsValue>(v))
		return v;
	return scalars.lookup(v);
}

/* @v in every lane. */
Value *vectoriser::splat(Value *v)
{
	if (auto *s = dyn_cast<StructType>(v->getType())) {
		Value *all = PoisonValue::get(widen(s));
		for (unsigned i = 0; i < s->getNumElements(); i++)
			all = b.CreateInsertValue(all, splat(b.CreateExtractValue(v, i)), i);
		return all;
	}
	unsigned n = elements_of(v->getType());
	if (n == 1 && !v->getType()->isVectorTy())
		return b.CreateVectorSplat(lanes, v);
	SmallVector<int> pick;
	for (unsigned i = 0; i < lanes * n; i++)
		pick.push_back(i % n);
	return b.CreateShuffleVector(v, pick);
}

/* 0, @stride, 2 * @stride, ... */
Constant *vectoriser::steps(Type *number, int64_t stride) const
{
	SmallVector<Constant *> all;

	for (unsigned i = 0; i < lanes; i++)
		all.push_back(ConstantInt::get(number, (uint64_t)stride * i));
	return ConstantVector::get(all);
}

/* All lanes of @v. */
Value *vectoriser::vector(Value *v)
{
	if (Value *known = vectors.lookup(v))
		return known;

	Value *base = scalar(v);
	shape s = shape_of(v);
	if (s.kind == shape::UNIFORM)
		return splat(base);

	/* Strided, and the lanes are exact: see emit(). */
	Type *type = v->getType();
	if (type->isPointerTy())
		return b.CreateGEP(b.getInt8Ty(), base, steps(b.getInt64Ty(), s.stride));
	return b.CreateAdd(splat(base), steps(type, s.stride));
}

/* @v of one lane. */
Value *vectoriser::lane(Value *v, unsigned i)
{
	shape s = shape_of(v);

	if (s.kind == shape::UNIFORM)
		return scalar(v);
	if (s.kind == shape::STRIDED && !s.address_only) {
		if (v->getType()->isPointerTy())
			return b.CreateConstGEP1_64(b.getInt8Ty(), scalar(v), s.stride * i);
		return b.CreateAdd(scalar(v), ConstantInt::get(v->getType(),
							       (uint64_t)s.stride * i));
	}
	Value *all = vector(v);
	if (auto *type = dyn_cast<StructType>(v->getType())) {
		Value *one = PoisonValue::get(type);
		for (unsigned m = 0; m < type->getNumElements(); m++)
			one = b.CreateInsertValue(one, b.CreateExtractElement(
				b.CreateExtractValue(all, m), i), m);
		return one;
	}
	unsigned n = elements_of(v->getType());
	if (!v->getType()->isVectorTy())
		return b.CreateExtractElement(all, i);
	SmallVector<int> pick;
	for (unsigned e = 0; e < n; e++)
		pick.push_back(i * n + e);
	return b.CreateShuffleVector(all, pick);
}

/* @all with @one as its lane @i. */
Value *vectoriser::insert_lane(Value *all, Value *one, unsigned i)
{
	if (auto *type = dyn_cast<StructType>(one->getType())) {
		for (unsigned m = 0; m < type->getNumElements(); m++)
			all = b.CreateInsertValue(all, b.CreateInsertElement(
				b.CreateExtractValue(all, m), b.CreateExtractValue(one, m), i), m);
		return all;
	}
	if (!one->getType()->isVectorTy())
		return b.CreateInsertElement(all, one, i);
	unsigned n = elements_of(one->getType());
	for (unsigned e = 0; e < n; e++)
		all = b.CreateInsertElement(all, b.CreateExtractElement(one, e), i * n + e);
	return all;
}

/* Each lane's bit repeated @times. */
Value *vectoriser::repeat_mask(Value *bits, unsigned times)
{
	SmallVector<int> pick;

	if (times == 1)
		return bits;
	for (unsigned i = 0; i < lanes * times; i++)
		pick.push_back(i / times);
	return b.CreateShuffleVector(bits, pick);
}

/* The same instruction on vectors. */
Value *vectoriser::emit_elements(Instruction &inst)
{
	Instruction *wide = inst.clone();

	for (unsigned i = 0; i < inst.getNumOperands(); i++)
		wide->setOperand(i, vector(inst.getOperand(i)));
	if (mask && is_faulting_division(inst)) {
		Value *divisor = wide->getOperand(1);
		Value *used = repeat_mask(mask, elements_of(inst.getType()));
		wide->setOperand(1, b.CreateSelect(used, divisor,
						   ConstantInt::get(divisor->getType(), 1)));
	}
	if (isa<SelectInst>(inst) && !inst.getOperand(0)->getType()->isVectorTy())
		wide->setOperand(0, repeat_mask(wide->getOperand(0),
						elements_of(inst.getType())));
	wide->mutateType(widen(inst.getType()));
	wide->dropUnknownNonDebugMetadata({ LLVMContext::MD_fpmath });
	return b.Insert(wide, inst.getName());
}

Value *vectoriser::emit_shuffle(ShuffleVectorInst &shuffle)
{
	int from = elements_of(shuffle.getOperand(0)->getType());
	SmallVector<int> pick;

	for (unsigned i = 0; i < lanes; i++)
		for (int e : shuffle.getShuffleMask()) {
			if (e < 0)
				pick.push_back(-1);
			else if (e < from)
				pick.push_back(i * from + e);
			else
				pick.push_back(lanes * from + i * from + e - from);
		}
	return b.CreateShuffleVector(vector(shuffle.getOperand(0)), vector(shuffle.getOperand(1)),
				     pick);
}

Value *vectoriser::emit_extract(ExtractElementInst &extract)
{
	unsigned n = elements_of(extract.getVectorOperandType());
	auto *which = dyn_cast<ConstantInt>(extract.getIndexOperand());
	SmallVector<int> pick;

	if (auto apart = elements.find(extract.getVectorOperand()); apart != elements.end())
		return apart->second[which->getZExtValue()];
	if (!which)
		return emit_lanes(extract);
	for (unsigned i = 0; i < lanes; i++)
		pick.push_back(which->getValue().ult(n) ? i * n + which->getZExtValue() : -1);
	return b.CreateShuffleVector(vector(extract.getVectorOperand()), pick);
}

Value *vectoriser::emit_insert(InsertElementInst &insert)
{
	unsigned n = elements_of(insert.getType());
	auto *which = dyn_cast<ConstantInt>(insert.getOperand(2));
	SmallVector<int> spread, pick;

	if (!which || which->getValue().uge(n))
		return emit_lanes(insert);
	for (unsigned i = 0; i < lanes * n; i++) {
		bool here = i % n == which->getZExtValue();
		spread.push_back(here ? i / n : -1);
		pick.push_back(here ? lanes * n + i : i);
	}
	Value *elements = b.CreateShuffleVector(vector(insert.getOperand(1)), spread);
	if (isa<PoisonValue>(insert.getOperand(0)))
		return elements;
	return b.CreateShuffleVector(vector(insert.getOperand(0)), elements, pick);
}

/* NULL if the intrinsic has no vector form. */
Value *vectoriser::emit_intrinsic(IntrinsicInst &call)
{
	Intrinsic::ID id = call.getIntrinsicID();
	SmallVector<Value *> args;
	SmallVector<Type *> types;

	if (!isTriviallyVectorizable(id))
		return nullptr;
	if (isVectorIntrinsicWithOverloadTypeAtArg(id, -1))
		types.push_back(widen(call.getType()));
	for (unsigned i = 0; i < call.arg_size(); i++) {
		Value *arg = call.getArgOperand(i);

		if (isVectorIntrinsicWithScalarOpAtArg(id, i)) {
			if (shape_of(arg).kind != shape::UNIFORM)
				return nullptr;
			args.push_back(scalar(arg));
		} else {
			args.push_back(vector(arg));
		}
		if (isVectorIntrinsicWithOverloadTypeAtArg(id, i))
			types.push_back(args.back()->getType());
	}
	Function *wide = Intrinsic::getDeclaration(item.getParent(), id, types);
	CallInst *made = b.CreateCall(wide, args);
	if (isa<FPMathOperator>(call))
		made->copyFastMathFlags(&call);
	return made;
}

Value *vectoriser::emit_vector(Instruction &inst)
{
	if (auto *shuffle = dyn_cast<ShuffleVectorInst>(&inst))
		return emit_shuffle(*shuffle);
	if (auto *extract = dyn_cast<ExtractElementInst>(&inst))
		return emit_extract(*extract);
	if (auto *insert = dyn_cast<InsertElementInst>(&inst))
		return emit_insert(*insert);
	if (auto *extract = dyn_cast<ExtractValueInst>(&inst))
		return b.CreateExtractValue(vector(extract->getAggregateOperand()),
					    extract->getIndices());
	if (auto *insert = dyn_cast<InsertValueInst>(&inst))
		return b.CreateInsertValue(vector(insert->getAggregateOperand()),
					   vector(insert->getInsertedValueOperand()),
					   insert->getIndices());
	if (auto *gep = dyn_cast<GetElementPtrInst>(&inst)) {
		SmallVector<Value *> operands;
		for (Value *operand : gep->operands())
			operands.push_back(shape_of(operand).kind == shape::UNIFORM ?
					   scalar(operand) : vector(operand));
		return b.CreateGEP(gep->getSourceElementType(), operands[0],
				   ArrayRef(operands).drop_front(), inst.getName());
	}
	if (auto *call = dyn_cast<IntrinsicInst>(&inst))
		if (Value *made = emit_intrinsic(*call))
			return made;
	if (isa<BitCastInst>(inst) && inst.getType()->isIntegerTy() &&
	    inst.getOperand(0)->getType()->getScalarType()->isIntegerTy(1))
		return emit_lanes(inst);
	if (auto *cast = dyn_cast<BitCastInst>(&inst))
		if (Value *made = emit_word(*cast))
			return made;
	if (can_divide(inst))
		return emit_division(inst);
	if (isa<CastInst>(inst) || isa<BinaryOperator>(inst) || isa<UnaryOperator>(inst) ||
	    isa<CmpInst>(inst) || isa<SelectInst>(inst) || isa<FreezeInst>(inst))
		return emit_elements(inst);
	return emit_lanes(inst);
}

/* The scalar form: a uniform value, or the base of a strided one. */
void vectoriser::emit_scalar(Instruction &inst)
{
	const bool strided = shape_of(&inst).kind == shape::STRIDED;
	/* The base is that of lane 0; if that is inactive the operands need not be disjoint. */
	Instruction *copy = strided && inst.getOpcode() == Instruction::Or ?
		BinaryOperator::CreateAdd(inst.getOperand(0), inst.getOperand(1)) : inst.clone();

	for (unsigned i = 0; i < inst.getNumOperands(); i++)
		copy->setOperand(i, scalar(inst.getOperand(i)));
	/* The base is that of lane 0, which may be inactive. */
	if (mask || strided)
		copy->dropPoisonGeneratingFlags();
	if (mask && is_faulting_division(inst))
		copy->setOperand(1, b.CreateSelect(some_lane(), copy->getOperand(1),
						   ConstantInt::get(inst.getType(), 1)));
	copy->dropUnknownNonDebugMetadata({ LLVMContext::MD_fpmath });
	shape s = shape_of(&inst);
	if (strided && isa<ZExtInst>(copy) && s.stride > 0) {
		/*
		 * The value of an inactive lane 0 may be negative, where zext wraps around:
		 * extend the value of the last lane.
		 */
		Value *from = copy->getOperand(0);
		int64_t step = s.stride * (lanes - 1);
		copy->setOperand(0, b.CreateAdd(from, ConstantInt::get(from->getType(), step)));
		b.Insert(copy, inst.getName());
		scalars[&inst] = b.CreateSub(copy, ConstantInt::get(copy->getType(), step));
		return;
	}
	b.Insert(copy, inst.getName());
	scalars[&inst] = copy;
}

void vectoriser::emit(Instruction &inst)
{
	shape s = shape_of(&inst);

	b.SetCurrentDebugLocation(inst.getDebugLoc());
	if (inst.isLifetimeStartOrEnd() || isa<AssumeInst>(inst) ||
	    isa<NoAliasScopeDeclInst>(inst) || isa<DbgInfoIntrinsic>(inst))
		return;
	if (auto *alloca = dyn_cast<AllocaInst>(&inst)) {
		emit_alloca(*alloca);
	} else if (auto *store = dyn_cast<StoreInst>(&inst); store && !store->isAtomic()) {
		emit_store(*store);
	} else if (is_vector_call(inst)) {
		auto &call = cast<CallInst>(inst);
		if (s.kind == shape::UNIFORM)
			scalars[&inst] = emit_uniform_call(call);
		else
			vectors[&inst] = emit_vector_call(call);
	} else if (is_outlined(inst) || is_library_call(inst)) {
		Value *made = emit_lane_loop(cast<CallInst>(inst));
		if (made)
			vectors[&inst] = made;
	} else if (is_agreement(inst)) {
		scalars[&inst] = emit_agreement(inst.getOperand(0));
	} else if (is_first_lane(inst)) {
		scalars[&inst] = lane(inst.getOperand(0), 0);
	} else if (is_of_every_lane(inst)) {
		scalars[&inst] = emit_every(inst.getOperand(0));
	} else if (isa<FenceInst>(inst)) {
		b.Insert(inst.clone());
	} else if (needs_lanes(inst)) {
		Value *made = can_merge(inst) ? emit_merged(cast<AtomicRMWInst>(inst)) :
						emit_lanes(inst);
		if (!inst.getType()->isVoidTy())
			vectors[&inst] = made;
	} else if (auto *load = dyn_cast<LoadInst>(&inst)) {
		if (s.kind == shape::UNIFORM)
			emit_scalar_memory(inst);
		else if (has_elements(*load))
			emit_load_elements(*load);
		else
			vectors[&inst] = emit_load(*load);
	} else if (s.kind == shape::VARYING) {
		vectors[&inst] = emit_vector(inst);
	} else {
		emit_scalar(inst);
		if (s.address_only)
			vectors[&inst] = emit_vector(inst);
	}
}
