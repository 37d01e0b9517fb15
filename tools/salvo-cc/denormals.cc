// SPDX-License-Identifier: MIT
/*
 * denormals.cc - kernels that take denormal numbers for zero
 *
 * An operation on denormal numbers takes x86-64 a hundred cycles more, also where they lie in
 * elements of a register that no value is in. With -cl-denorms-are-zero a kernel has the processor
 * flush them while it runs:
 *
 *	mxcsr = saved | FTZ | DAZ
 *	...
 *	mxcsr = saved
 *
 * LLVM may move operations across this: they may be flushed, they need not. Not where each
 * work-item is a thread: the next one would take over what the last one has set.
 */
#include "salvo_cc.h"

#include <llvm/IR/IntrinsicsX86.h>

using namespace llvm;

static const char flushes[] = "salvo-flush-denormals";

/* Bits of MXCSR: results, operands */
static const uint32_t ftz = 1 << 15, daz = 1 << 6;

void mark_denormals(Module &m)
{
	for (Function &f : m)
		if (f.getCallingConv() == CallingConv::SPIR_KERNEL)
			f.addFnAttr(flushes);
}

bool flushes_denormals(const Function &kernel)
{
	return kernel.hasFnAttribute(flushes);
}

void flush_denormals(Function &kernel)
{
	IRBuilder<> b(&*kernel.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
	Type *word = b.getInt32Ty();
	Value *saved = b.CreateAlloca(word), *set = b.CreateAlloca(word);

	b.CreateIntrinsic(Intrinsic::x86_sse_stmxcsr, {}, { saved });
	b.CreateStore(b.CreateOr(b.CreateLoad(word, saved), ftz | daz), set);
	b.CreateIntrinsic(Intrinsic::x86_sse_ldmxcsr, {}, { set });
	for (BasicBlock &block : kernel) {
		if (!isa<ReturnInst>(block.getTerminator()))
			continue;
		b.SetInsertPoint(block.getTerminator());
		b.CreateIntrinsic(Intrinsic::x86_sse_ldmxcsr, {}, { saved });
	}
}
