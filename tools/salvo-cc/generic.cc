// SPDX-License-Identifier: MIT
/*
 * generic.cc - pointers without a named address space
 *
 * All memory has one range of addresses, so that an access through a generic pointer is like any
 * other. Once functions are inlined most pointers turn out to be of one address space, which the
 * passes that follow like to know.
 *
 * to_global() and its like, and get_fence(), ask salvo_space() for the address space of a pointer.
 * That is known, too, or is found when the kernel runs: local memory is at group->local, private
 * memory on the stack below the kernel's frame, all else is global.
 */
#include "generic.h"

#include <llvm/ADT/StringSwitch.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Operator.h>
#include <llvm/Transforms/Scalar/InferAddressSpaces.h>
#include <llvm/Transforms/Scalar/SROA.h>

#include "salvo_hw.h"
#include "salvo_kernel.h"

using namespace llvm;

static const char query[] = "salvo_space", generic_name[] = "U3AS4", global_name[] = "U3AS1";

static bool has_global_form(StringRef name)
{
	static const StringRef names[] = {
		"fract", "frexp", "lgamma_r", "modf", "remquo", "sincos",
	};
	unsigned length;

	return name.contains(generic_name) && name.consume_front("_Z") &&
	       !name.consumeInteger(10, length) && length < name.size() &&
	       is_contained(names, name.take_front(length));
}

/* A call of the same function for a pointer to global memory */
static void forward(Function &f)
{
	std::string name = f.getName().str();
	IRBuilder<> b(BasicBlock::Create(f.getContext(), "", &f));
	SmallVector<Value *, 4> args;
	SmallVector<Type *, 4> types;

	name.replace(name.find(generic_name), strlen(generic_name), global_name);
	for (Argument &arg : f.args()) {
		Value *value = &arg;

		if (value->getType()->isPointerTy())
			value = b.CreateAddrSpaceCast(value, b.getPtrTy(GLOBAL));
		args.push_back(value);
		types.push_back(value->getType());
	}
	CallInst *call = b.CreateCall(f.getParent()->getOrInsertFunction(
		name, FunctionType::get(f.getReturnType(), types, false)), args);
	call->setCallingConv(CallingConv::SPIR_FUNC);
	cast<Function>(call->getCalledOperand())->setCallingConv(CallingConv::SPIR_FUNC);
	b.CreateRet(call);
}

void define_generic_functions(Module &m)
{
	SmallVector<Function *> missing;

	for (Function &f : m)
		if (f.isDeclaration() && has_global_form(f.getName()))
			missing.push_back(&f);
	for (Function *f : missing)
		forward(*f);
}

static Value *space_of(IRBuilder<> &b, Module &m, Value *pointer)
{
	FunctionType *type = FunctionType::get(b.getInt32Ty(), { b.getPtrTy(GENERIC) }, false);
	auto *f = cast<Function>(m.getOrInsertFunction(query, type).getCallee());

	f->setDoesNotAccessMemory();
	f->setDoesNotThrow();
	f->setWillReturn();
	return b.CreateCall(f, { pointer });
}

bool define_space_query(Function &f)
{
	const int space = StringSwitch<int>(f.getName())
		.Case("__to_global", GLOBAL)
		.Case("__to_local", LOCAL)
		.Case("__to_private", PRIVATE)
		.Default(-1);

	if (space < 0 && !f.getName().starts_with("_Z9get_fencePU3AS4"))
		return false;
	IRBuilder<> b(BasicBlock::Create(f.getContext(), "", &f));
	Value *pointer = f.getArg(0), *found = space_of(b, *f.getParent(), pointer);
	auto is = [&](unsigned which) { return b.CreateICmpEQ(found, b.getInt32(which)); };
	if (space >= 0) {
		Value *cast = b.CreateAddrSpaceCast(pointer, f.getReturnType());

		b.CreateRet(b.CreateSelect(is(space), cast,
					   Constant::getNullValue(f.getReturnType())));
	} else {
		/* CLK_LOCAL_MEM_FENCE, CLK_GLOBAL_MEM_FENCE */
		b.CreateRet(b.CreateSelect(is(LOCAL), b.getInt32(1),
					   b.CreateSelect(is(GLOBAL), b.getInt32(2),
							  b.getInt32(0))));
	}
	return true;
}

/* The one address space of what @pointer is derived from; else GENERIC. */
static unsigned known_space(Value *pointer, SmallPtrSetImpl<Value *> &seen, unsigned space)
{
	auto both = [&](Value *other) { return known_space(other, seen, space); };

	if (!seen.insert(pointer).second)
		return space;
	if (pointer->getType()->getPointerAddressSpace() != GENERIC) {
		const unsigned own = pointer->getType()->getPointerAddressSpace();

		return space == ~0u || space == own ? own : +GENERIC;
	}
	if (auto *gep = dyn_cast<GEPOperator>(pointer))
		return both(gep->getPointerOperand());
	if (auto *cast = dyn_cast<AddrSpaceCastOperator>(pointer))
		return both(cast->getPointerOperand());
	if (auto *select = dyn_cast<SelectInst>(pointer)) {
		space = both(select->getTrueValue());
		return both(select->getFalseValue());
	}
	if (auto *phi = dyn_cast<PHINode>(pointer)) {
		for (Value *value : phi->incoming_values())
			space = both(value);
		return space;
	}
	return GENERIC;
}

/* Bytes below the kernel's frame that are private memory: a unit's stack, but for what is above */
static const uint64_t stack_bytes = SALVO_UNIT_STACK_BYTES - (64u << 10);

static Value *find_space(IRBuilder<> &b, Value *pointer)
{
	Value *address = b.CreatePtrToInt(pointer, b.getInt64Ty());
	Value *local = b.CreateSub(address, local_memory(b));
	Value *frame = b.CreatePtrToInt(
		b.CreateIntrinsic(Intrinsic::frameaddress, { b.getPtrTy() }, { b.getInt32(0) }),
		b.getInt64Ty());
	Value *below = b.CreateSub(frame, address);

	Value *is_private = b.CreateICmpULE(below, b.getInt64(stack_bytes));
	Value *is_local = b.CreateICmpULT(local, b.getInt64(SALVO_MAX_LOCAL_BYTES));
	return b.CreateSelect(is_local, b.getInt32(LOCAL),
			      b.CreateSelect(is_private, b.getInt32(PRIVATE), b.getInt32(GLOBAL)));
}

static void answer_queries(Module &m)
{
	Function *f = m.getFunction(query);

	while (f && !f->use_empty()) {
		auto *call = cast<CallInst>(f->user_back());
		Value *pointer = call->getArgOperand(0);
		SmallPtrSet<Value *, 8> seen;
		IRBuilder<> b(call);
		const unsigned space = known_space(pointer, seen, ~0u);

		call->replaceAllUsesWith(space < GENERIC && space != CONSTANT ?
					 b.getInt32(space) : find_space(b, pointer));
		call->eraseFromParent();
	}
	if (f)
		f->eraseFromParent();
}

static bool has_generic(const Module &m)
{
	for (const Function &f : m)
		for (const Instruction &inst : instructions(f))
			if (inst.getType()->isPointerTy() &&
			    inst.getType()->getPointerAddressSpace() == GENERIC)
				return true;
	return false;
}

void infer_spaces(Module &m, const options &opts)
{
	if (opts.opt_level && has_generic(m)) {
		ModulePassManager passes;
		FunctionPassManager each;

		each.addPass(SROAPass(SROAOptions::ModifyCFG));
		each.addPass(InferAddressSpacesPass(GENERIC));
		passes.addPass(createModuleToFunctionPassAdaptor(std::move(each)));
		run_passes(m, std::move(passes));
	}
	answer_queries(m);
}
