// SPDX-License-Identifier: MIT
/* reruns.h - what passes have changed since a pass ran */
#ifndef SALVO_CC_RERUNS_H
#define SALVO_CC_RERUNS_H

#include <llvm/ADT/Any.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/Analysis.h>
#include <llvm/IR/Function.h>

namespace llvm {
class PassInstrumentationCallbacks;
}

class reruns {
public:
	/* As long as @callbacks are in use this stays where it is. */
	void watch(llvm::PassInstrumentationCallbacks &callbacks);
	/* Nor after passes that leave it little, where no pass of ours needs its canonical form. */
	void skip_more() { skips_more = true; }

private:
	bool should_run(llvm::StringRef pass, llvm::Any unit);
	void note(llvm::StringRef pass, const llvm::Function *f,
		  const llvm::PreservedAnalyses &kept);

	bool skips_more = false;
	/* Numbers of passes, counted as they run: the last that changed a function or any, and the
	 * last that was the repeated one. */
	uint64_t now = 0, changed_all = 0;
	unsigned before_unrolling = 0;	/* instructions of the function but those that end blocks */
	llvm::DenseMap<const llvm::Function *, uint64_t> changed, ran;
	llvm::SmallPtrSet<const llvm::Function *, 4> past_vectoriser;
	llvm::DenseSet<std::pair<llvm::StringRef, const llvm::Function *>> once;
};

#endif /* SALVO_CC_RERUNS_H */
