// SPDX-License-Identifier: MIT
/*
 * target.cc - from spir64 to x86-64
 *
 * The two lay out memory alike, so only the names change: triple, data layout,
 * calling convention, and on each function the processor it is made for.
 */
#include "salvo_cc.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>

using namespace llvm;

static const char triple[] = "x86_64-pc-linux-gnu";

static std::string cpu_name(unsigned isa_level)
{
	return "x86-64-v" + std::to_string(isa_level);
}

std::unique_ptr<TargetMachine> make_target(const options &opts)
{
	InitializeNativeTarget();
	InitializeNativeTargetAsmPrinter();

	std::string error;
	const Target *target = TargetRegistry::lookupTarget(triple, error);
	if (!target) {
		print_error(error);
		return nullptr;
	}
	TargetOptions target_options;
	target_options.EmitStackSizeSection = true;
	return std::unique_ptr<TargetMachine>(target->createTargetMachine(
		triple, cpu_name(opts.isa_level), "", target_options, Reloc::PIC_, std::nullopt,
		opts.opt_level ? CodeGenOptLevel::Aggressive : CodeGenOptLevel::None));
}

void retarget(Module &m, TargetMachine &target, const options &opts)
{
	m.setTargetTriple(triple);
	m.setDataLayout(target.createDataLayout());

	for (Function &f : m) {
		if (f.isIntrinsic())
			continue;
		if (f.getCallingConv() == CallingConv::SPIR_FUNC)
			f.setCallingConv(CallingConv::C);
		f.setDSOLocal(true);
		f.addFnAttr(Attribute::NoUnwind);
		f.addFnAttr("target-cpu", cpu_name(opts.isa_level));
		f.addFnAttr("prefer-vector-width", opts.isa_level > 3 ? "512" : "256");
		for (Instruction &inst : instructions(f))
			if (auto *call = dyn_cast<CallBase>(&inst))
				if (call->getCallingConv() == CallingConv::SPIR_FUNC)
					call->setCallingConv(CallingConv::C);
	}
}
