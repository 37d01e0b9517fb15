/* SPDX-License-Identifier: MIT */
/*
 * analyses.h - LLVM's analyses of what the loops of a work-item access
 */
#ifndef SALVO_CC_ANALYSES_H
#define SALVO_CC_ANALYSES_H

#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/BasicAliasAnalysis.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Module.h>

/* Of @f, with the trees that are there; what else tells of aliases may be added. */
struct access_analyses {
	llvm::TargetLibraryInfoImpl names;
	llvm::TargetLibraryInfo library;
	llvm::AssumptionCache assumptions;
	llvm::ScalarEvolution evolution;
	llvm::BasicAAResult basic;
	llvm::AAResults aliases;

	access_analyses(llvm::Function &f, llvm::DominatorTree &dt, llvm::LoopInfo &loops)
		: names(llvm::Triple(f.getParent()->getTargetTriple())), library(names),
		  assumptions(f), evolution(f, library, assumptions, dt, loops),
		  basic(f.getDataLayout(), f, library, assumptions, &dt), aliases(library)
	{
		aliases.addAAResult(basic);
	}
};

#endif /* SALVO_CC_ANALYSES_H */
