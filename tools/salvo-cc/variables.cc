// SPDX-License-Identifier: MIT
/*
 * variables.cc - the checked mode: accesses outside of variables and images
 *
 * Arrays and other variables of the source, private, local and constant, have sizes that are known
 * when the kernel is compiled. Where an access may leave all variables that its address may be
 * derived from, a comparison precedes it, and an access to an address that is never mapped and
 * contains the kind of memory and the offset:
 *
 *	array[i] = x	if (i * 4 > sizeof(array) - 4)
 *				*(volatile char *)(SALVO_STRAY + i * 4) = 0;
 *			array[i] = x
 *
 * This runs before the first pass that removes or moves accesses, so that one outside of a variable
 * is still there. The vectoriser takes it for a rare branch: the access itself stays contiguous.
 * LLVM removes the comparisons whose result it knows, as those of unrolled loops.
 *
 * The image functions of the library make such an access themselves (image.cl); what they ask the
 * compiler is answered here.
 */
#include "bounds.h"

#include <algorithm>

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Support/MathExtras.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "salvo_kernel.h"

using namespace llvm;

static const char is_variable[] = "salvo.variable", is_checked[] = "salvo.checked";

static void mark(GlobalVariable &g)
{
	g.addAttribute(is_variable);
}

static void mark(Instruction &inst, StringRef kind)
{
	inst.setMetadata(kind, MDNode::get(inst.getContext(), {}));
}

void mark_variables(Module &m)
{
	for (GlobalVariable &g : m.globals())
		if (!g.isDeclaration() || g.getAddressSpace() == LOCAL)
			mark(g);
	for (Function &f : m)
		for (Instruction &inst : instructions(f))
			if (isa<AllocaInst>(inst))
				mark(inst, is_variable);
}

void mark_address(Instruction &address, uint64_t bytes)
{
	LLVMContext &context = address.getContext();
	Constant *count = ConstantInt::get(Type::getInt64Ty(context), bytes);

	address.setMetadata(is_variable, MDNode::get(context, ConstantAsMetadata::get(count)));
}

uint64_t stray_address(unsigned object, uint64_t bytes)
{
	/* Arguments that have no code of their own share the last. */
	if (object > SALVO_STRAY_POINTER)
		object = SALVO_STRAY_PRIVATE - 1;
	return SALVO_STRAY_BASE | (uint64_t)object << SALVO_STRAY_ARGUMENT_SHIFT |
	       (uint64_t)std::min(Log2_64_Ceil(bytes), 7u) << SALVO_STRAY_SIZE_SHIFT;
}

namespace {

struct variable {
	Value *base;
	uint64_t bytes;
	unsigned code;		/* SALVO_STRAY_PRIVATE and so on */
};

class variable_checker {
public:
	variable_checker(Function &f);
	void run();

private:
	void add(Value &base, uint64_t bytes, unsigned code);
	void add(Value &base, Type *type, uint64_t count, unsigned code);
	bool is_inside(Value *pointer, const Value *bytes) const;
	void check(Instruction &access, Value *pointer, Value *bytes, bool write);
	void check(Instruction &access);

	Function &f;
	const DataLayout &layout;
	SmallVector<variable> variables;
	origin_search search;
};

} /* namespace */

void variable_checker::add(Value &base, uint64_t bytes, unsigned code)
{
	search.objects[&base] = variables.size();
	variables.push_back({ &base, bytes, code });
}

void variable_checker::add(Value &base, Type *type, uint64_t count, unsigned code)
{
	if (type->isSized())
		add(base, count * layout.getTypeAllocSize(type).getFixedValue(), code);
}

variable_checker::variable_checker(Function &f) : f(f), layout(f.getDataLayout())
{
	for (GlobalVariable &g : f.getParent()->globals())
		if (g.hasAttribute(is_variable))
			add(g, g.getValueType(), 1, g.getAddressSpace() == LOCAL ?
			    SALVO_STRAY_LOCAL : SALVO_STRAY_CONSTANT);
	for (Instruction &inst : instructions(f)) {
		auto *alloca = dyn_cast<AllocaInst>(&inst);
		auto *count = alloca ? dyn_cast<ConstantInt>(alloca->getArraySize()) : nullptr;
		const MDNode *bytes = alloca ? nullptr : inst.getMetadata(is_variable);

		if (bytes)
			add(inst, mdconst::extract<ConstantInt>(bytes->getOperand(0))
					  ->getZExtValue(), SALVO_STRAY_CONSTANT);

		if (count && alloca->hasMetadata(is_variable))
			add(*alloca, alloca->getAllocatedType(), count->getZExtValue(),
			    SALVO_STRAY_PRIVATE);
	}
}

/* A constant offset, as most accesses have */
bool variable_checker::is_inside(Value *pointer, const Value *bytes) const
{
	APInt offset(64, 0);
	const Value *base = pointer->stripAndAccumulateConstantOffsets(layout, offset, true);
	auto found = search.objects.find(base);
	auto *length = dyn_cast<ConstantInt>(bytes);

	return found != search.objects.end() && length &&
	       offset.ule(variables[found->second].bytes) &&
	       length->getZExtValue() <= variables[found->second].bytes - offset.getZExtValue();
}

void variable_checker::check(Instruction &access, Value *pointer, Value *bytes, bool write)
{
	if (is_inside(pointer, bytes))
		return;
	const origin from = search.find(pointer);
	if (from.unknown || from.loaded || from.objects.empty())
		return;
	mark(access, is_checked);

	IRBuilder<> b(&access);
	const unsigned first = *std::min_element(from.objects.begin(), from.objects.end());
	auto *constant = dyn_cast<ConstantInt>(bytes);
	Value *address = b.CreatePtrToInt(pointer, b.getInt64Ty());
	Value *outside = constant ? b.getTrue() : b.CreateIsNotNull(bytes), *first_offset = nullptr;
	for (unsigned i : from.objects) {
		const variable &v = variables[i];
		Value *offset = b.CreateSub(address, b.CreatePtrToInt(v.base, b.getInt64Ty()));
		Value *size = b.getInt64(v.bytes);
		Value *leaves = b.CreateOr(
			b.CreateICmpUGT(bytes, size),
			b.CreateICmpUGT(offset, b.CreateSub(size, bytes)));
		outside = b.CreateAnd(outside, leaves);
		if (i == first)
			first_offset = offset;
	}
	Instruction *end = SplitBlockAndInsertIfThen(
		outside, &access, false, MDBuilder(f.getContext()).createUnlikelyBranchWeights());
	b.SetInsertPoint(end);
	b.SetCurrentDebugLocation(access.getDebugLoc());
	Value *place = b.CreateAnd(b.CreateAdd(first_offset, b.getInt64(SALVO_STRAY_ZERO)),
				   b.getInt64(2 * SALVO_STRAY_ZERO - 1));
	place = b.CreateAdd(place, b.getInt64(stray_address(
		variables[first].code, constant ? constant->getZExtValue() : 1)));
	place = b.CreateIntToPtr(place, b.getPtrTy(GLOBAL));
	if (write)
		b.CreateStore(b.getInt8(0), place, true);
	else
		b.CreateLoad(b.getInt8Ty(), place, true);
}

void variable_checker::check(Instruction &access)
{
	IRBuilder<> b(f.getContext());
	auto size_of = [&](Type *type) {
		return b.getInt64(layout.getTypeStoreSize(type).getFixedValue());
	};

	if (auto *load = dyn_cast<LoadInst>(&access)) {
		check(access, load->getPointerOperand(), size_of(load->getType()), false);
	} else if (auto *store = dyn_cast<StoreInst>(&access)) {
		check(access, store->getPointerOperand(),
		      size_of(store->getValueOperand()->getType()), true);
	} else if (isa<AtomicRMWInst>(access) || isa<AtomicCmpXchgInst>(access)) {
		check(access, access.getOperand(0), size_of(access.getOperand(1)->getType()), true);
	} else if (auto *memory = dyn_cast<MemIntrinsic>(&access)) {
		b.SetInsertPoint(&access);
		Value *length = b.CreateZExt(memory->getLength(), b.getInt64Ty());

		check(access, memory->getRawDest(), length, true);
		if (auto *transfer = dyn_cast<MemTransferInst>(memory))
			check(access, transfer->getRawSource(), length, false);
	}
}

void variable_checker::run()
{
	SmallVector<Instruction *> all;

	if (variables.empty())
		return;
	for (Instruction &inst : instructions(f))
		if (inst.mayReadOrWriteMemory() && !inst.hasMetadata(is_checked))
			all.push_back(&inst);
	for (Instruction *inst : all)
		check(*inst);
}

void check_variable_accesses(Module &m)
{
	for (Function &f : m)
		if (!f.isDeclaration())
			variable_checker(f).run();
}

static void replace_calls(Module &m, StringRef name, function_ref<Value *(CallInst &)> value)
{
	Function *f = m.getFunction(name);

	while (f && !f->use_empty()) {
		auto *call = cast<CallInst>(f->user_back());

		call->replaceAllUsesWith(value(*call));
		call->eraseFromParent();
	}
}

void choose_checks(Module &m, bool checked)
{
	replace_calls(m, "salvo_checked", [&](CallInst &call) {
		return ConstantInt::get(call.getType(), checked);
	});
}

/* OpenCL C knows no variables that are images, but functions with parameters have some. */
void name_images(Module &m)
{
	replace_calls(m, "salvo_argument", [&](CallInst &call) -> Value * {
		origin_search search;

		for (Argument &arg : call.getFunction()->args())
			search.objects[&arg] = arg.getArgNo();
		const origin from = search.find(call.getArgOperand(0));
		return ConstantInt::get(call.getType(), from.objects.empty() ?
					SALVO_STRAY_POINTER : *from.objects.begin());
	});
}
