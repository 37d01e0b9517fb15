// SPDX-License-Identifier: MIT
/*
 * bounds.cc - the checked mode: an access outside of the buffer of its argument faults
 *
 * The argument block has the size of each buffer (SALVO_KERNEL_CHECKED in salvo_kernel.h). For each
 * access the arguments are found that its address may be derived from. Where the access is not
 * inside the buffer of one of them, its address is replaced by one that is never mapped and
 * tells the argument and the offset:
 *
 *	store(p)	offset = p - argument
 *			store(offset < size - 3 ? p : SALVO_STRAY + offset)
 *
 * The fault is reported in the usual way. This runs on the loops over work-items, after the
 * vectoriser, so that a contiguous access by several lanes needs one check. A pointer to global or
 * local memory that was loaded from memory must be inside the buffer of any argument. Functions
 * that are too large to be inlined are not checked. For variables and images see variables.cc.
 */
#include "bounds.h"
#include "globals.h"
#include "places.h"

#include <cstddef>

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "salvo_kernel.h"

using namespace llvm;

namespace {

class checker {
public:
	checker(kernel &k);
	void run();

private:
	Instruction *find_base(const kernel_arg &a);
	void find_bases();
	void find_local();
	void find_globals();
	SmallVector<unsigned> find_objects(Value *pointer, bool &loaded);
	void check(Instruction &access, unsigned operand, Value *bytes, Value *mask);
	void check(Instruction &access);

	kernel &k;
	Function &f;
	const DataLayout &layout;
	origin_search search;		/* for pointers in the entry, by the arguments' indices */
	DenseMap<unsigned, Value *> bases, sizes;
};

} /* namespace */

checker::checker(kernel &k) : k(k), f(*k.function), layout(f.getDataLayout())
{
}

/* What the entry has loaded of the argument block (entry.cc). */
Instruction *checker::find_base(const kernel_arg &a)
{
	for (Instruction &inst : f.front()) {
		auto *load = dyn_cast<LoadInst>(&inst);
		APInt offset(64, 0);
		Instruction *base = load;

		if (!load || load->getPointerOperand()->stripAndAccumulateConstantOffsets(
				layout, offset, true) != f.getArg(0) || offset != a.offset)
			continue;
		if (a.kind == SALVO_ARG_LOCAL)
			base = load->hasOneUse() ? dyn_cast<GetElementPtrInst>(load->user_back()) :
						   nullptr;
		if (base && !search.objects.contains(base))
			return base;
	}
	return nullptr;
}

void checker::find_bases()
{
	IRBuilder<> b(f.getContext());
	uint32_t at = k.sizes_at;

	for (unsigned i = 0; i < k.args.size(); i++) {
		const kernel_arg &a = k.args[i];

		if (a.kind != SALVO_ARG_GLOBAL && a.kind != SALVO_ARG_CONSTANT &&
		    a.kind != SALVO_ARG_LOCAL)
			continue;
		Instruction *base = find_base(a);
		if (base) {
			b.SetInsertPoint(base->getNextNode());
			Value *size = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), f.getArg(0), at);
			search.objects[base] = i;
			bases[i] = base;
			sizes[i] = b.CreateLoad(b.getInt64Ty(), size, "size");
		}
		at += 8;
	}
}

/* Local variables together: what a pointer may be of beside arguments. */
void checker::find_local()
{
	for (Instruction &inst : f.front()) {
		auto *load = dyn_cast<LoadInst>(&inst);
		APInt offset(64, 0);

		if (!load || load->getPointerOperand()->stripAndAccumulateConstantOffsets(
				layout, offset, true) != f.getArg(1) ||
		    offset != offsetof(salvo_group, local) || !k.local_bytes)
			continue;
		for (User *user : load->users())
			if (isa<AddrSpaceCastInst>(user)) {
				search.objects[user] = SALVO_STRAY_LOCAL;
				bases[SALVO_STRAY_LOCAL] = user;
				sizes[SALVO_STRAY_LOCAL] =
					ConstantInt::get(Type::getInt64Ty(f.getContext()),
							 k.local_bytes);
			}
	}
}

/* The block of the program's variables: what a pointer from memory may be of, too. */
void checker::find_globals()
{
	GlobalVariable *base = find_global_base(*f.getParent());

	if (!base)
		return;
	IRBuilder<> b(&f.front(), f.front().begin());
	bases[SALVO_STRAY_CONSTANT] = b.CreateLoad(b.getPtrTy(GLOBAL), base);
	sizes[SALVO_STRAY_CONSTANT] = b.getInt64(global_bytes(*f.getParent()));
}

/*
 * The objects that must contain an access through @pointer. A pointer from memory is of any
 * argument of its address space.
 */
SmallVector<unsigned> checker::find_objects(Value *pointer, bool &loaded)
{
	const origin from = search.find(pointer);
	const unsigned space = pointer->getType()->getScalarType()->getPointerAddressSpace();
	SmallVector<unsigned> found(from.objects.begin(), from.objects.end());

	loaded = from.loaded;
	if (from.unknown || (loaded && space != GLOBAL && space != LOCAL))
		return {};
	/* Each local variable is checked by itself (variables.cc). */
	if (!loaded && found.size() == 1 && found[0] == SALVO_STRAY_LOCAL)
		return {};
	for (auto &[i, base] : bases)
		if (loaded && base->getType()->getPointerAddressSpace() == space &&
		    !is_contained(found, i))
			found.push_back(i);
	sort(found);
	return found;
}

/*
 * Where @access has its address, or, if inactive lanes use scratch memory, that of active ones. The
 * load and the store of a local atomic operation have it in common, and get one each.
 */
static Use &find_address(Instruction &access, unsigned operand)
{
	Use &use = access.getOperandUse(operand);
	auto *select = dyn_cast<SelectInst>(use.get());

	if (!select || !isa<AllocaInst>(select->getFalseValue()->stripPointerCasts()))
		return use;
	if (!select->hasOneUse()) {
		Instruction *own = select->clone();

		own->insertBefore(access.getIterator());
		use.set(own);
		return own->getOperandUse(1);
	}
	return select->getOperandUse(1);
}

/*
 * @bytes: Of the access, or of each lane of a gather or scatter. @mask: Of a contiguous access by
 * lanes, or NULL.
 */
void checker::check(Instruction &access, unsigned operand, Value *bytes, Value *mask)
{
	Use &use = find_address(access, operand);
	Value *pointer = use.get();
	bool loaded;
	const SmallVector<unsigned> objects = find_objects(pointer, loaded);

	if (objects.empty())
		return;

	IRBuilder<> b(cast<Instruction>(use.getUser()));
	Type *number = b.getInt64Ty();
	auto *lanes = dyn_cast<VectorType>(pointer->getType());
	auto all = [&](Value *v) {
		return lanes ? b.CreateVectorSplat(lanes->getElementCount(), v) : v;
	};
	Value *address = b.CreatePtrToInt(pointer, lanes ? VectorType::get(number, lanes) : number);
	Value *inside = nullptr, *skipped = b.getInt64(0), *none = nullptr;

	if (mask) {
		/* From the first active lane to the last. */
		const unsigned count = cast<FixedVectorType>(mask->getType())->getNumElements();
		Type *bits_type = b.getIntNTy(count);
		Value *bits = b.CreateBitCast(mask, bits_type);
		Value *each = b.CreateUDiv(bytes, b.getInt64(count));
		auto zeros = [&](Intrinsic::ID end) {
			return b.CreateMul(each, b.CreateZExt(b.CreateBinaryIntrinsic(
				end, bits, b.getFalse()), number));
		};

		skipped = zeros(Intrinsic::cttz);
		bytes = b.CreateSub(b.CreateSub(bytes, skipped), zeros(Intrinsic::ctlz));
		none = b.CreateIsNull(bits);
	}
	auto *constant = dyn_cast<ConstantInt>(bytes);
	if (!constant)
		none = none ? none : b.CreateIsNull(bytes);
	for (unsigned i : objects) {
		Value *offset = b.CreateAdd(b.CreateSub(address, all(b.CreatePtrToInt(bases[i],
								     number))), all(skipped));
		Value *room = b.CreateBinaryIntrinsic(Intrinsic::usub_sat, sizes[i],
						      b.CreateSub(bytes, b.getInt64(1)));
		Value *fits = b.CreateICmpULT(offset, all(room));
		inside = inside ? b.CreateOr(inside, fits) : fits;
	}
	if (none)
		inside = b.CreateOr(inside, none);

	const unsigned first = objects[0];
	const uint64_t stray = stray_address(loaded ? SALVO_STRAY_POINTER : first,
					     constant ? constant->getZExtValue() : 1);
	Value *offset = loaded ? all(b.getInt64(0)) :
				 b.CreateSub(address, all(b.CreatePtrToInt(bases[first], number)));
	offset = b.CreateAnd(b.CreateAdd(offset, all(b.getInt64(SALVO_STRAY_ZERO))),
			     all(b.getInt64(2 * SALVO_STRAY_ZERO - 1)));
	Value *outside = b.CreateIntToPtr(b.CreateAdd(offset, all(b.getInt64(stray))),
					  pointer->getType());
	use.set(b.CreateSelect(inside, pointer, outside));
	drop_row_tag(access);
}

void checker::check(Instruction &access)
{
	IRBuilder<> b(f.getContext());
	auto size_of = [&](Type *type) {
		return b.getInt64(layout.getTypeStoreSize(type).getFixedValue());
	};
	auto *call = dyn_cast<IntrinsicInst>(&access);

	if (auto *load = dyn_cast<LoadInst>(&access)) {
		check(access, load->getPointerOperandIndex(), size_of(load->getType()), nullptr);
	} else if (auto *store = dyn_cast<StoreInst>(&access)) {
		check(access, store->getPointerOperandIndex(),
		      size_of(store->getValueOperand()->getType()), nullptr);
	} else if (isa<AtomicRMWInst>(access) || isa<AtomicCmpXchgInst>(access)) {
		check(access, 0, size_of(access.getOperand(1)->getType()), nullptr);
	} else if (auto *memory = dyn_cast<MemIntrinsic>(&access)) {
		Value *length = memory->getLength();

		if (!length->getType()->isIntegerTy(64))
			return;
		check(access, 0, length, nullptr);
		if (isa<MemTransferInst>(memory))
			check(access, 1, length, nullptr);
	} else if (call && call->getIntrinsicID() == Intrinsic::masked_load) {
		check(access, 0, size_of(call->getType()), call->getArgOperand(2));
	} else if (call && call->getIntrinsicID() == Intrinsic::masked_store) {
		check(access, 1, size_of(call->getArgOperand(0)->getType()),
		      call->getArgOperand(3));
	} else if (call && call->getIntrinsicID() == Intrinsic::masked_gather) {
		check(access, 0, size_of(call->getType()->getScalarType()), nullptr);
	} else if (call && call->getIntrinsicID() == Intrinsic::masked_scatter) {
		check(access, 1, size_of(call->getArgOperand(0)->getType()->getScalarType()),
		      nullptr);
	}
}

/* Parts of work-items that vector_cost.cc has outlined */
static bool inline_one(Function &f)
{
	for (Instruction &inst : instructions(f)) {
		auto *call = dyn_cast<CallInst>(&inst);
		Function *callee = call ? call->getCalledFunction() : nullptr;
		InlineFunctionInfo info;

		if (callee && !callee->isDeclaration() &&
		    callee->hasFnAttribute(Attribute::AlwaysInline))
			return InlineFunction(*call, info).isSuccess();
	}
	return false;
}

void checker::run()
{
	SmallVector<Instruction *> all;

	while (inline_one(f))
		;
	find_bases();
	find_local();
	find_globals();
	for (Instruction &inst : instructions(f))
		if (inst.mayReadOrWriteMemory())
			all.push_back(&inst);
	for (Instruction *inst : all)
		check(*inst);
}

void check_bounds(kernel &k)
{
	checker(k).run();
}
