// SPDX-License-Identifier: MIT
/*
 * optimise.cc - LLVM's own passes, before and after ours, and its code generator
 *
 * simplify() brings a flat kernel into a form in which ids, accesses and loops are
 * plain to see, and does not yet unroll or vectorise. optimise() is clang's
 * pipeline over the work-item loops.
 */
#include "salvo_cc.h"

#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/CorrelatedValuePropagation.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

using namespace llvm;

/* LLVM's pass managers, wired to each other. */
struct managers {
	PassBuilder builder;
	LoopAnalysisManager lam;
	FunctionAnalysisManager fam;
	CGSCCAnalysisManager cgam;
	ModuleAnalysisManager mam;

	managers(TargetMachine &target, const PipelineTuningOptions &tuning)
		: builder(&target, tuning)
	{
		builder.registerModuleAnalyses(mam);
		builder.registerCGSCCAnalyses(cgam);
		builder.registerFunctionAnalyses(fam);
		builder.registerLoopAnalyses(lam);
		builder.crossRegisterProxies(lam, fam, cgam, mam);
	}
};

void simplify(Module &m, TargetMachine &target)
{
	managers all(target, PipelineTuningOptions());
	FunctionPassManager passes;

	passes.addPass(SROAPass(SROAOptions::ModifyCFG));
	passes.addPass(EarlyCSEPass(true));
	passes.addPass(SimplifyCFGPass());
	passes.addPass(InstCombinePass());
	passes.addPass(CorrelatedValuePropagationPass());
	passes.addPass(SimplifyCFGPass());
	passes.addPass(InstCombinePass());
	for (Function &f : m)
		if (!f.isDeclaration())
			passes.run(f, all.fam);
}

void optimise(Module &m, TargetMachine &target, const options &opts)
{
	static const OptimizationLevel levels[] = {
		OptimizationLevel::O0, OptimizationLevel::O1, OptimizationLevel::O2,
		OptimizationLevel::O3,
	};
	PipelineTuningOptions tuning;
	tuning.LoopVectorization = tuning.LoopInterleaving = opts.opt_level > 1;
	tuning.SLPVectorization = opts.opt_level > 1;
	managers all(target, tuning);
	ModulePassManager passes = opts.opt_level ?
		all.builder.buildPerModuleDefaultPipeline(levels[opts.opt_level]) :
		all.builder.buildO0DefaultPipeline(levels[0]);
	passes.run(m, all.mam);
}

bool emit_object(Module &m, TargetMachine &target, bytes &object)
{
	raw_svector_ostream out(object);
	legacy::PassManager passes;

	if (target.addPassesToEmitFile(passes, out, nullptr, CodeGenFileType::ObjectFile)) {
		print_error("this LLVM cannot write object files");
		return false;
	}
	passes.run(m);
	return true;
}
