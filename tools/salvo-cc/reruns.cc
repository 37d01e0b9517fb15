// SPDX-License-Identifier: MIT
/*
 * reruns.cc - no pass a second time over a function where it would find little
 *
 * LLVM's pipeline has InstCombine after each pass that leaves work for it, eight times in all,
 * which is a tenth of the time of a build. Many of these passes, as the vectoriser of loops, change
 * few functions. A pass says whether it has changed anything; those that say so always and leave
 * the instructions as they are do not count. In LLVM's own pipeline, neither do those that move or
 * remove instructions: InstCombine comes three or four times.
 *
 * JumpThreading and CorrelatedValuePropagation come twice. Of a large function the second time
 * changes about a thousandth of the code. InstCombine comes to a large function at first, behind
 * the vectoriser and after loops are unrolled: what it would do in between is done then.
 */
#include "reruns.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/PassInstrumentation.h>

using namespace llvm;

static const StringRef repeated = "InstCombinePass";
static const StringRef vectoriser = "LoopVectorizePass", unroller = "LoopUnrollPass";

/* Instructions of a function from which on it has passes once that come twice */
static const unsigned large_function = 1000;
/* The same for InstCombine before the vectoriser */
static const unsigned larger_function = 2000;

static bool comes_once(StringRef pass)
{
	return pass == "JumpThreadingPass" || pass == "CorrelatedValuePropagationPass";
}

/* Managers, whose passes count themselves, and passes after which InstCombine has no new work. */
static bool changes_nothing(StringRef pass)
{
	static const StringRef passes[] = {
		"DevirtSCCRepeatedPass", "InferAlignmentPass", "InferFunctionAttrsPass",
		"InjectTLIMappings", "LCSSAPass", "LoopSimplifyPass", "ModuleInlinerWrapperPass",
		"PostOrderFunctionAttrsPass", "TailCallElimPass",
	};

	return pass.contains("PassManager") || pass.contains("Adaptor") ||
	       pass.starts_with("RequireAnalysisPass") ||
	       pass.starts_with("InvalidateAnalysisPass") || is_contained(passes, pass);
}

/* Passes that move instructions, or remove some, and make next to none that could be simpler */
static bool leaves_little(StringRef pass)
{
	static const StringRef passes[] = {
		"ADCEPass", "BDCEPass", "ConstraintEliminationPass",
		"CorrelatedValuePropagationPass", "DSEPass", "EarlyCSEPass", "JumpThreadingPass",
		"LICMPass", "LoopDeletionPass", "LoopInstSimplifyPass", "LoopRotatePass",
		"LoopSimplifyCFGPass", "SimplifyCFGPass", "VectorCombinePass", "hoist_divisions",
	};

	return is_contained(passes, pass);
}

/* Blocks without instructions are made for loops even where none is unrolled. */
static unsigned computations(const Function &f)
{
	unsigned n = 0;

	for (const BasicBlock &block : f)
		n += block.size() - 1;
	return n;
}

/* NULL if the pass runs over more than one function. */
static const Function *function_of(Any unit)
{
	if (auto *function = any_cast<const Function *>(&unit))
		return *function;
	if (auto *loop = any_cast<const Loop *>(&unit))
		return (*loop)->getHeader()->getParent();
	return nullptr;
}

bool reruns::should_run(StringRef pass, Any unit)
{
	const Function *f = function_of(unit);

	if (f && comes_once(pass))
		return once.insert({ pass, f }).second ||
		       f->getInstructionCount() < large_function;
	if (pass != repeated || !f)
		return true;
	auto last = ran.find(f);
	if (last == ran.end())
		return true;
	if (skips_more && !past_vectoriser.contains(f) &&
	    f->getInstructionCount() >= larger_function)
		return false;
	return last->second < std::max(changed_all, changed.lookup(f));
}

void reruns::note(StringRef pass, const Function *f, const PreservedAnalyses &kept)
{
	if (f && pass == vectoriser)
		past_vectoriser.insert(f);
	if (changes_nothing(pass) || (skips_more && leaves_little(pass)) ||
	    (f && pass == unroller && computations(*f) == before_unrolling))
		return;
	now++;
	if (pass == repeated && f)
		ran[f] = now;
	else if (!kept.areAllPreserved())
		(f ? changed[f] : changed_all) = now;
}

void reruns::watch(PassInstrumentationCallbacks &callbacks)
{
	callbacks.registerShouldRunOptionalPassCallback(
		[this](StringRef pass, Any unit) { return should_run(pass, unit); });
	callbacks.registerBeforeNonSkippedPassCallback([this](StringRef pass, Any unit) {
		if (pass == unroller)
			before_unrolling = computations(*function_of(unit));
	});
	callbacks.registerAfterPassCallback(
		[this](StringRef pass, Any unit, const PreservedAnalyses &kept) {
			note(pass, function_of(unit), kept);
		});
	/* The unit is gone, as a loop that was unrolled. */
	callbacks.registerAfterPassInvalidatedCallback(
		[this](StringRef pass, const PreservedAnalyses &kept) {
			note(pass, nullptr, PreservedAnalyses::none());
		});
}
