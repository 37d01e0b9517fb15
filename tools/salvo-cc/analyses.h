/* SPDX-License-Identifier: MIT */
/*
 * analyses.h - LLVM's analyses of what the loops of a work-item access
 */
#ifndef SALVO_CC_ANALYSES_H
#define SALVO_CC_ANALYSES_H

#include "salvo_cc.h"

#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/BasicAliasAnalysis.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Module.h>

/* Local memory is apart from all that work-groups share, which LLVM does not know. */
class space_aliases : public llvm::AAResultBase {
public:
	llvm::AliasResult alias(const llvm::MemoryLocation &a, const llvm::MemoryLocation &b,
				llvm::AAQueryInfo &, const llvm::Instruction *)
	{
		const unsigned p = space_of(a), q = space_of(b);

		return (p == LOCAL && is_shared(q)) || (q == LOCAL && is_shared(p)) ?
		       llvm::AliasResult::NoAlias : llvm::AliasResult::MayAlias;
	}

private:
	static unsigned space_of(const llvm::MemoryLocation &place)
	{
		return place.Ptr->getType()->getPointerAddressSpace();
	}

	static bool is_shared(unsigned space)
	{
		return space == GLOBAL || space == CONSTANT;
	}
};

/* Of @f, with the trees that are there; what else tells of aliases may be added. */
struct access_analyses {
	llvm::TargetLibraryInfoImpl names;
	llvm::TargetLibraryInfo library;
	llvm::AssumptionCache assumptions;
	llvm::ScalarEvolution evolution;
	llvm::BasicAAResult basic;
	space_aliases spaces;
	llvm::AAResults aliases;

	access_analyses(llvm::Function &f, llvm::DominatorTree &dt, llvm::LoopInfo &loops)
		: names(llvm::Triple(f.getParent()->getTargetTriple())), library(names),
		  assumptions(f), evolution(f, library, assumptions, dt, loops),
		  basic(f.getDataLayout(), f, library, assumptions, &dt), aliases(library)
	{
		aliases.addAAResult(basic);
		aliases.addAAResult(spaces);
	}
};

#endif /* SALVO_CC_ANALYSES_H */
