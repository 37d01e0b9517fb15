// SPDX-License-Identifier: MIT
/*
 * target.cc - from spir64 to x86-64
 *
 * Both have the same data layout, so only triple, layout string, calling conventions and the
 * features of each function change. What the library asks of the target (salvo_has_fma() in
 * builtins/types.h) becomes a constant. Debug information for spir64 uses address spaces, which
 * debuggers for x86-64 do not know: every "xderef" is removed.
 */
#include "error.h"
#include "salvo_cc.h"
#include "salvo_march.h"

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
	return opts.aarch64 ? "generic" : salvo_march(std::min(opts.isa_level, 4u));
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

static CallingConv::ID convention_of(const Function &f)
{
	if (f.getCallingConv() != CallingConv::SPIR_FUNC)
		return f.getCallingConv();
	/*
	 * The library's rare functions save all registers, so that a caller needs not keep what is
	 * in registers elsewhere for a call that is hardly ever made.
	 */
	return f.hasFnAttribute(Attribute::Cold) && is_outline(f) ? CallingConv::PreserveAll :
								    CallingConv::C;
}

static const char features[] = "target-features";

void add_feature(Function &f, StringRef feature)
{
	std::string all = f.getFnAttribute(features).getValueAsString().str();

	f.addFnAttr(features, all.empty() ? feature : StringRef(all += "," + feature.str()));
}

void remove_feature(Function &f, StringRef feature)
{
	StringRef all = f.getFnAttribute(features).getValueAsString();

	all.consume_back(feature);
	all.consume_back(",");
	if (all.empty())
		f.removeFnAttr(features);
	else
		f.addFnAttr(features, all);
}

static void set_features(Function &f, const options &opts)
{
	f.addFnAttr("target-cpu", cpu_name(opts));
	if (opts.aarch64)
		return;
	if (opts.isa_level >= SALVO_LEVEL_POPCNT) {
		add_feature(f, "+avx512vpopcntdq");
		add_feature(f, "+avx512bitalg");
	}
	f.addFnAttr("prefer-vector-width", opts.isa_level > 3 ? "512" : "256");
	/*
	 * LLVM's step from an estimate of 12 bits leaves quotients off by 3 units, and those by a
	 * square root NaN where it is 0 or infinite. estimates.cc has steps of ours.
	 */
	f.addFnAttr("reciprocal-estimates", "!vec-divf,!sqrtf,!vec-sqrtf");
	/* LLVM would clear upper halves of registers that such a function has to preserve. */
	if (f.getCallingConv() == CallingConv::PreserveAll)
		add_feature(f, "-vzeroupper");
}

static void set_conventions(Function &f)
{
	for (Instruction &inst : instructions(f)) {
		auto *call = dyn_cast<CallBase>(&inst);

		if (call && call->getCalledFunction())
			call->setCallingConv(call->getCalledFunction()->getCallingConv());
	}
}

bool is_target_query(const Function &f)
{
	return is_placeholder_of(f, "has_fma");
}

static void answer_queries(Module &m, const options &opts)
{
	for (Function &f : make_early_inc_range(m)) {
		if (!is_target_query(f))
			continue;
		Constant *answer = ConstantInt::get(f.getReturnType(),
						    opts.aarch64 || opts.isa_level > 2);
		for (User *user : make_early_inc_range(f.users())) {
			auto *call = cast<CallInst>(user);
			call->replaceAllUsesWith(answer);
			call->eraseFromParent();
		}
		f.eraseFromParent();
	}
}

void retarget(Module &m, TargetMachine &target, const options &opts)
{
	answer_queries(m, opts);
	m.setTargetTriple(triple_of(opts));
	m.setDataLayout(target.createDataLayout());

	for (GlobalVariable &g : m.globals())
		flatten_debug(g);
	for (Function &f : m) {
		if (f.isIntrinsic())
			continue;
		flatten_debug(f);
		f.setCallingConv(convention_of(f));
		/* LLVM would give it a section of its own. */
		f.removeFnAttr(Attribute::Cold);
		f.setDSOLocal(true);
		f.addFnAttr(Attribute::NoUnwind);
		set_features(f, opts);
	}
	for (Function &f : m)
		set_conventions(f);
}
