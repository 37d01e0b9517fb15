// SPDX-License-Identifier: MIT
/*
 * target.cc - from spir64 to x86-64
 *
 * Both have the same data layout, so only triple, layout string, calling convention and the
 * target-cpu of each function change. Debug information for spir64 uses address spaces, which
 * debuggers for x86-64 do not know: every "xderef" is removed.
 */
#include "error.h"
#include "salvo_cc.h"

#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>

using namespace llvm;

static const char *triple_of(const options &opts)
{
	return opts.aarch64 ? "aarch64-linux-gnu" : "x86_64-pc-linux-gnu";
}

static std::string cpu_name(const options &opts)
{
	return opts.aarch64 ? "generic" : "x86-64-v" + std::to_string(opts.isa_level);
}

static bool register_targets()
{
	InitializeAllTargetInfos();
	InitializeAllTargets();
	InitializeAllTargetMCs();
	InitializeAllAsmPrinters();
	return true;
}

std::unique_ptr<TargetMachine> make_target(const options &opts)
{
	[[maybe_unused]] static const bool registered = register_targets();
	std::string error;
	const Target *target = TargetRegistry::lookupTarget(triple_of(opts), error);
	if (!target) {
		print_error(error);
		return nullptr;
	}
	TargetOptions target_options;
	target_options.EmitStackSizeSection = true;
	return std::unique_ptr<TargetMachine>(target->createTargetMachine(
		triple_of(opts), cpu_name(opts), "", target_options, Reloc::PIC_, std::nullopt,
		opts.opt_level ? CodeGenOptLevel::Aggressive : CodeGenOptLevel::None));
}

/* @e without its tail (constu SPACE, swap, xderef). */
static DIExpression *flat_expression(DIExpression *e)
{
	ArrayRef<uint64_t> ops = e->getElements();
	SmallVector<uint64_t> kept;

	for (size_t i = 0; i < ops.size(); i++) {
		if (i + 3 < ops.size() && ops[i] == dwarf::DW_OP_constu &&
		    ops[i + 2] == dwarf::DW_OP_swap && ops[i + 3] == dwarf::DW_OP_xderef)
			i += 3;
		else
			kept.push_back(ops[i]);
	}
	return DIExpression::get(e->getContext(), kept);
}

static void flatten_debug(Function &f)
{
	for (Instruction &inst : instructions(f)) {
		for (DbgVariableRecord &record : filterDbgVars(inst.getDbgRecordRange()))
			record.setExpression(flat_expression(record.getExpression()));
		if (auto *call = dyn_cast<DbgVariableIntrinsic>(&inst))
			call->setExpression(flat_expression(call->getExpression()));
	}
}

static void flatten_debug(GlobalVariable &g)
{
	SmallVector<DIGlobalVariableExpression *> variables;

	g.getDebugInfo(variables);
	g.eraseMetadata(LLVMContext::MD_dbg);
	for (DIGlobalVariableExpression *v : variables)
		g.addDebugInfo(DIGlobalVariableExpression::get(
			g.getContext(), v->getVariable(), flat_expression(v->getExpression())));
}

void retarget(Module &m, TargetMachine &target, const options &opts)
{
	m.setTargetTriple(triple_of(opts));
	m.setDataLayout(target.createDataLayout());

	for (GlobalVariable &g : m.globals())
		flatten_debug(g);
	for (Function &f : m) {
		if (f.isIntrinsic())
			continue;
		flatten_debug(f);
		if (f.getCallingConv() == CallingConv::SPIR_FUNC)
			f.setCallingConv(CallingConv::C);
		f.setDSOLocal(true);
		f.addFnAttr(Attribute::NoUnwind);
		f.addFnAttr("target-cpu", cpu_name(opts));
		if (!opts.aarch64) {
			f.addFnAttr("prefer-vector-width", opts.isa_level > 3 ? "512" : "256");
			/*
			 * A step from the processor's estimate leaves quotients off by 3 units, and
			 * those by a square root NaN where it is 0 or infinite.
			 */
			f.addFnAttr("reciprocal-estimates", "!vec-divf,!sqrtf,!vec-sqrtf");
		}
		for (Instruction &inst : instructions(f))
			if (auto *call = dyn_cast<CallBase>(&inst))
				if (call->getCallingConv() == CallingConv::SPIR_FUNC)
					call->setCallingConv(CallingConv::C);
	}
}
