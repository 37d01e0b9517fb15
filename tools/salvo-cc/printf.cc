// SPDX-License-Identifier: MIT
/*
 * printf.cc - printf() becomes a record in the print buffer
 *
 *	printf("%d: %v4f\n", i, v)
 *
 * turns, before the library is linked, into
 *
 *	if ((p = reserve(buffer, bytes, the format)))
 *		store i and the elements of v, each in 8 bytes
 *
 * (device/include/salvo_kernel.h has the form). The library of the host makes text of it. After
 * inlining each kernel that prints gets the buffer as one more argument, its last, and so does each
 * function that stays one.
 */
#include "error.h"
#include "salvo_cc.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

using namespace llvm;

static const char buffer_name[] = "salvo_print_buffer";

bool is_print_buffer(const Function &f)
{
	return f.getName() == buffer_name;
}

static CallInst *call_library(IRBuilder<> &b, const char *name, Type *type, ArrayRef<Value *> args)
{
	Module &m = *b.GetInsertBlock()->getModule();
	SmallVector<Type *> types;

	for (Value *arg : args)
		types.push_back(arg->getType());
	CallInst *call = b.CreateCall(
		m.getOrInsertFunction(name, FunctionType::get(type, types, false)), args);
	call->setCallingConv(CallingConv::SPIR_FUNC);
	cast<Function>(call->getCalledOperand())->setCallingConv(CallingConv::SPIR_FUNC);
	return call;
}

/* A number as 64 bits: a floating-point one as double, an integer zero-extended. */
static Value *widen(IRBuilder<> &b, Value *x)
{
	if (x->getType()->isFloatingPointTy())
		return b.CreateBitCast(b.CreateFPExt(x, b.getDoubleTy()), b.getInt64Ty());
	if (x->getType()->isPointerTy())
		return b.CreatePtrToInt(x, b.getInt64Ty());
	return b.CreateZExt(x, b.getInt64Ty());
}

/* Which arguments are strings: those of the conversions %s, in their order. */
static SmallVector<bool> find_strings(StringRef format)
{
	SmallVector<bool> strings;

	for (size_t at = format.find('%'); at != StringRef::npos; at = format.find('%', at)) {
		at = format.find_first_not_of("-+ #0123456789.vhlz", at + 1);
		if (at == StringRef::npos)
			break;
		if (format[at] != '%')
			strings.push_back(format[at] == 's');
		at++;
	}
	return strings;
}

/* The first conversion that OpenCL C does not have, or 0. */
static char find_unknown(StringRef format)
{
	for (size_t at = format.find('%'); at != StringRef::npos; at = format.find('%', at + 1)) {
		at = format.find_first_not_of("-+ #0123456789.vhlz", at + 1);
		if (at == StringRef::npos)
			return '%';
		if (!StringRef("diouxXfFeEgGaAcsp%").contains(format[at]))
			return format[at];
	}
	return 0;
}

static bool lower_call(CallInst *call)
{
	Module &m = *call->getModule();
	StringRef format;

	if (!getConstantStringInfo(call->getArgOperand(0), format)) {
		print_error_at(call->getDebugLoc(), m, "the format of printf() is not a string literal");
		return false;
	}

	if (char unknown = find_unknown(format)) {
		print_error_at(call->getDebugLoc(), m,
			       "printf() has no conversion '%" + Twine(unknown) + "'");
		return false;
	}

	IRBuilder<> b(call);
	Type *i64 = b.getInt64Ty(), *global = b.getPtrTy(GLOBAL), *i8 = b.getInt8Ty();
	SmallVector<bool> strings = find_strings(format);
	uint64_t head = 8, text = alignTo(format.size() + 1, 8), fixed = head + text;
	SmallVector<std::pair<Value *, Value *>> items;	/* a number, or a string and its length */
	Value *total = nullptr;

	for (unsigned i = 1; i < call->arg_size(); i++) {
		Value *arg = call->getArgOperand(i);
		auto *vector = dyn_cast<FixedVectorType>(arg->getType());

		if (i - 1 < strings.size() && strings[i - 1] && arg->getType()->isPointerTy()) {
			arg = b.CreateAddrSpaceCast(arg, b.getPtrTy(CONSTANT));
			Value *bytes = call_library(b, "salvo_outline_print_length", i64, { arg });
			items.push_back({ arg, bytes });
			total = total ? b.CreateAdd(total, bytes) : bytes;
			continue;
		}
		for (unsigned e = 0; e < (vector ? vector->getNumElements() : 1); e++) {
			items.push_back({ widen(b, vector ? b.CreateExtractElement(arg, e) : arg),
					  nullptr });
			fixed += 8;
		}
	}
	Value *size = b.getInt64(fixed);
	if (total)
		size = b.CreateAdd(size, total);
	Value *buffer = call_library(b, buffer_name, global, {});
	Value *from = b.CreateAddrSpaceCast(call->getArgOperand(0), b.getPtrTy(CONSTANT));
	Value *place = call_library(b, "salvo_outline_print_reserve", global,
				    { buffer, size, from, b.getInt32(text) });
	Value *got = b.CreateIsNotNull(place);
	call->replaceAllUsesWith(b.CreateSelect(got, b.getInt32(0), b.getInt32(-1)));

	b.SetInsertPoint(SplitBlockAndInsertIfThen(got, call, false));
	b.SetCurrentDebugLocation(call->getDebugLoc());
	Value *at = b.CreateConstGEP1_64(i8, place, head + text);
	for (auto &[value, bytes] : items) {
		if (bytes)
			call_library(b, "salvo_outline_print_string", b.getVoidTy(), { at, value });
		else
			b.CreateAlignedStore(value, at, Align(8));
		at = bytes ? b.CreateGEP(i8, at, bytes) : b.CreateConstGEP1_64(i8, at, 8);
	}
	call->eraseFromParent();
	return true;
}

static SmallVector<CallInst *> find_calls(Function *callee)
{
	SmallVector<CallInst *> calls;

	if (callee)
		for (User *user : callee->users())
			if (auto *call = dyn_cast<CallInst>(user))
				calls.push_back(call);
	return calls;
}

bool lower_printf(Module &m)
{
	Function *f = m.getFunction("printf");

	if (!f || !f->isDeclaration())
		return true;
	for (CallInst *call : find_calls(f))
		if (!lower_call(call))
			return false;
	return true;
}

/* Gives @old one more argument, the print buffer, which calls of it get by a call of @buffer. */
static void add_argument(Function &old, Function &buffer)
{
	SmallVector<Type *> params(old.getFunctionType()->params());

	params.push_back(PointerType::get(old.getContext(), GLOBAL));
	Function *f = retype(old, FunctionType::get(old.getReturnType(), params, false));

	for (CallInst *call : find_calls(&old)) {
		IRBuilder<> b(call);
		SmallVector<Value *> args(call->args());

		args.push_back(b.CreateCall(&buffer));
		CallInst *longer = b.CreateCall(f, args);
		longer->setCallingConv(call->getCallingConv());
		longer->setAttributes(call->getAttributes());
		call->replaceAllUsesWith(longer);
		call->eraseFromParent();
	}
	for (Argument &arg : old.args())
		arg.replaceAllUsesWith(f->getArg(arg.getArgNo()));
	f->addFnAttr("salvo-prints");
	f->getArg(f->arg_size() - 1)->setName("print_buffer");
	old.eraseFromParent();
}

void add_print_buffers(Module &m)
{
	Function *buffer = m.getFunction(buffer_name);
	SmallSetVector<Function *, 8> printing;

	for (CallInst *call : find_calls(buffer))
		printing.insert(call->getFunction());
	for (unsigned i = 0; i < printing.size(); i++)
		for (CallInst *call : find_calls(printing[i]))
			printing.insert(call->getFunction());
	for (Function *f : printing)
		add_argument(*f, *buffer);
	for (CallInst *call : find_calls(buffer)) {
		Function *f = call->getFunction();
		call->replaceAllUsesWith(f->getArg(f->arg_size() - 1));
		call->eraseFromParent();
	}
}
