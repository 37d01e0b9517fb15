// SPDX-License-Identifier: MIT
/*
 * optimise.cc - LLVM's passes before and after ours, and its code generator
 *
 * simplify() canonicalises an inlined kernel, so that the analysis of ids, accesses and loops
 * need only handle canonical forms; it does not vectorise. optimise() is clang's
 * pipeline over the work-item loops.
 */
#include "division.h"
#include "error.h"
#include "items.h"
#include "places.h"
#include "reruns.h"
#include "unroll.h"
#include "vectoriser.h"

#include <llvm/Analysis/CFG.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/CodeGen/AsmPrinter.h>
#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/PassInstrumentation.h>
#include <llvm/MC/MCStreamer.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/CorrelatedValuePropagation.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/InstSimplifyPass.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/Scalarizer.h>
#include <llvm/Transforms/Scalar/IndVarSimplify.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopIdiomRecognize.h>
#include <llvm/Transforms/Scalar/LoopDeletion.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopRotation.h>
#include <llvm/Transforms/Scalar/LoopStrengthReduce.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Scalar/MemCpyOptimizer.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/LowerSwitch.h>
#include <llvm/Transforms/Utils/UnifyFunctionExitNodes.h>
#include <llvm/Transforms/Utils/UnrollLoop.h>

using namespace llvm;

/*
 * Passes that take much of the time over a large function and gain little there: its registers are
 * full, and the front end's code has few redundant loads after EarlyCSE. A kernel that a hundred
 * calls of one macro make up is of this kind.
 */
static bool is_costly(StringRef pass)
{
	static const StringRef costly[] = {
		"AggressiveInstCombinePass", "ConstraintEliminationPass",
		"CorrelatedValuePropagationPass", "DSEPass", "GVNPass", "JumpThreadingPass",
		"SLPVectorizerPass", "SimpleLoopUnswitchPass",
	};

	return is_contained(costly, pass);
}

/* Instructions of a function from which on these passes leave it alone */
static const unsigned large_function = 8000;

/*
 * Instructions of a loop from which on its addresses stay as they are: the formulas that
 * LoopStrengthReduce tries grow with the square of the accesses, up to half the time of a build,
 * and pay off in short loops.
 */
static const unsigned long_loop = 100;

/* Blocks of a loop that is not rotated: the dominator tree is made anew for each of its exits. */
static const unsigned huge_loop = 500;

/*
 * Blocks of a loop whose comparisons stay as they are: whether each follows from all branches ahead
 * of it takes the square of them, in loops that are left at many places most of a build.
 */
static const unsigned branchy_loop = 250;

static unsigned instructions_of(const Loop &loop)
{
	unsigned n = 0;

	for (const BasicBlock *block : loop.blocks())
		n += block->size();
	return n;
}

/*
 * Passes that find little in loops over work-items, and go through all that is in a loop once for
 * it and once for each loop around it. What two of them simplify has just been simplified. The
 * other makes a copy of rows a memcpy(), which is called for few work-items at a time.
 */
static bool is_vain_for_rows(StringRef pass)
{
	return pass == "LoopIdiomRecognizePass" || pass == "LoopInstSimplifyPass" ||
	       pass == "LoopSimplifyCFGPass";
}

/*
 * The loop over the few work-items of a row that lanes leave, and those in it: as much code would
 * be made of them as of the loops over lanes.
 */
static bool is_remainder(const Loop &loop)
{
	const Loop *around = &loop;

	while (around && !is_seldom_run(*around))
		around = around->getParentLoop();
	return around;
}

/*
 * Passes leave some loops alone. What is the same for all iterations of a loop around loops over
 * work-items, say whether a row has a remainder, is tested once a row; SimpleLoopUnswitch would
 * copy all that is inside for each such test.
 */
static bool should_run_over(StringRef pass, const Loop &loop)
{
	if (is_vain_for_rows(pass))
		return !is_kept_simple(loop);
	if (pass == "LoopRotatePass")
		return loop.getNumBlocks() < huge_loop;
	if (pass == "IndVarSimplifyPass")
		return loop.getNumBlocks() < branchy_loop;
	if (pass == "SimpleLoopUnswitchPass")
		return loop.isInnermost() || !is_kept_simple(loop);
	return pass != "LoopStrengthReducePass" ||
	       (instructions_of(loop) < long_loop && !is_remainder(loop));
}

/* What is known of functions for should_run(). */
struct known_functions {
	/* The one whose instructions were counted last: once for all its loops, maybe hundreds. */
	const Function *counted = nullptr;
	unsigned size = 0;
	/* Those with a loop that may load what an iteration before has stored */
	SmallPtrSet<const Function *, 4> with_recurrences;
};

static bool has_allocas(const Function &f)
{
	return any_of(f.getEntryBlock(), [](const Instruction &i) { return isa<AllocaInst>(i); });
}

/* Is there an address that it stores to twice? */
static bool stores_twice(const Function &f)
{
	SmallPtrSet<const Value *, 16> known;

	return any_of(instructions(f), [&](const Instruction &inst) {
		auto *store = dyn_cast<StoreInst>(&inst);

		return store && !known.insert(store->getPointerOperand()).second;
	});
}

/*
 * Stores that later ones overwrite are few but to private memory, or to one address, and the search
 * compares each with all others. Scalars of a function that is all lanes are addresses and what is
 * left of a row.
 */
static bool gains_little(StringRef pass, const Function &f)
{
	return (pass == "DSEPass" && !has_allocas(f) && !stores_twice(f)) ||
	       (pass == "SLPVectorizerPass" && f.hasFnAttribute(all_lanes));
}

static bool should_run(StringRef pass, Any unit, known_functions &known)
{
	auto *loop = llvm::any_cast<const Loop *>(&unit);

	/*
	 * Pointers to functions, which OpenCL C does not have, and constants that functions pass to
	 * each other, of which few are left: what is the same in one is for SCCP. A warning that a
	 * loop with a pragma was not unrolled would have no line: loops are not the source's here.
	 */
	if (pass == "CalledValuePropagationPass" || pass == "IPSCCPPass" ||
	    pass == "WarnMissedTransformationsPass")
		return false;
	if (loop && !should_run_over(pass, **loop))
		return false;
	auto *function = llvm::any_cast<const Function *>(&unit);
	if (pass == "LoopLoadEliminationPass" && function)
		return known.with_recurrences.contains(*function);
	if (!is_costly(pass))
		return true;
	if (function) {
		if (gains_little(pass, **function))
			return false;
		known.counted = *function;
		known.size = (*function)->getInstructionCount();
	} else if (loop) {
		const Function *f = (*loop)->getHeader()->getParent();

		if (f != known.counted) {
			known.counted = f;
			known.size = f->getInstructionCount();
		}
	} else {
		return true;
	}
	return known.size < large_function;
}

/*
 * LLVM does not take a division out of a loop where a condition is ahead of it, with all that
 * depends on it, as it does not know that ours never fault. Of rows of work-items, where a guard
 * of y is tested first, that is a division of the group's number for each.
 */
struct hoist_divisions : PassInfoMixin<hoist_divisions> {
	PreservedAnalyses run(Function &f, FunctionAnalysisManager &fam)
	{
		bool moved = false;

		for (Loop *loop : fam.getResult<LoopAnalysis>(f).getLoopsInPreorder()) {
			if (loop->isInnermost() || !is_kept_simple(*loop))
				continue;
			for (BasicBlock *block : loop->blocks())
				for (Instruction &inst : make_early_inc_range(*block))
					moved |= hoist_division(inst, *loop);
		}
		if (!moved)
			return PreservedAnalyses::all();
		PreservedAnalyses kept;
		kept.preserveSet<CFGAnalyses>();
		return kept;
	}
};

/*
 * Instructions of a loop that LLVM unrolls by a number of iterations that is not constant, and such
 * loops of a function from which on none is: for each, LLVM forgets what it knows of all loops.
 */
static const unsigned short_loop = 75, many_loops = 64;

/* Instructions of a loop that sums up, and iterations of it that follow each other */
static const unsigned max_sum = 16, unrolled_sum = 4;

/* Is @value computed from what was loaded, but for the block of arguments? */
static bool depends_on_data(const SCEV *value)
{
	return !isa<SCEVCouldNotCompute>(value) && SCEVExprContains(value, [](const SCEV *part) {
		auto *unknown = dyn_cast<SCEVUnknown>(part);
		auto *load = unknown ? dyn_cast<LoadInst>(unknown->getValue()) : nullptr;

		return load && !isa<Argument>(getUnderlyingObject(load->getPointerOperand()));
	});
}

/*
 * Does a loop of few instructions add to a number of the iteration before, or the like, which takes
 * longer than the instructions?
 */
static bool waits_for_sums(const Loop &loop)
{
	const BasicBlock *body = loop.getHeader();

	return loop.getNumBlocks() == 1 && body->size() <= max_sum &&
	       any_of(body->phis(), [&](const PHINode &phi) {
		       auto *next = dyn_cast<Instruction>(phi.getIncomingValueForBlock(body));

		       return next && phi.getType()->isFloatingPointTy() &&
			      isa<FPMathOperator>(next) && !next->hasAllowReassoc() &&
			      is_contained(next->operands(), &phi);
	       });
}

/*
 * A loop whose number of iterations was loaded may be short and is entered often. LLVM would run
 * what is left of it by four or eight iterations in a loop of its own ahead, whose end the
 * processor would have to predict each time, too. That is not worth it where there is another such
 * loop around it, as over the pixels under a larger one. A sum, as over a row of a sparse matrix,
 * is unrolled so that each iteration keeps its end: it waits for the sum before, not for a
 * comparison, and with fewer instructions more of the next row is on its way.
 */
struct keep_short_loops : PassInfoMixin<keep_short_loops> {
	PreservedAnalyses run(Function &f, FunctionAnalysisManager &fam)
	{
		LoopInfo &loops = fam.getResult<LoopAnalysis>(f);
		auto &evolution = fam.getResult<ScalarEvolutionAnalysis>(f);
		SmallVector<Loop *> sums;
		auto has_loaded_length = [&](const Loop *loop) {
			return depends_on_data(evolution.getBackedgeTakenCount(loop));
		};
		SmallVector<Loop *> all = loops.getLoopsInPreorder();
		const bool too_many = count_if(all, [](const Loop *loop) {
			return loop->isInnermost() && instructions_of(*loop) <= short_loop;
		}) > many_loops;

		for (Loop *loop : all) {
			const Loop *around = loop->getParentLoop();
			const bool keep = too_many || is_remainder(*loop);

			if (keep)
				addStringMetadataToLoop(loop, "llvm.loop.unroll.runtime.disable");
			if (keep || !loop->isInnermost() || !has_loaded_length(loop))
				continue;
			while (around && !has_loaded_length(around))
				around = around->getParentLoop();
			if (around)
				addStringMetadataToLoop(loop, "llvm.loop.unroll.runtime.disable");
			else if (waits_for_sums(*loop))
				sums.push_back(loop);
		}
		for (Loop *loop : sums)
			unroll(*loop, f, fam);
		return sums.empty() ? PreservedAnalyses::all() : PreservedAnalyses::none();
	}

private:
	static void unroll(Loop &loop, Function &f, FunctionAnalysisManager &fam)
	{
		auto &loops = fam.getResult<LoopAnalysis>(f);
		auto &dt = fam.getResult<DominatorTreeAnalysis>(f);
		auto &evolution = fam.getResult<ScalarEvolutionAnalysis>(f);
		auto &assumptions = fam.getResult<AssumptionAnalysis>(f);
		OptimizationRemarkEmitter remarks(&f);
		UnrollLoopOptions how = {};

		addStringMetadataToLoop(&loop, "llvm.loop.unroll.runtime.disable");
		simplifyLoop(&loop, &dt, &loops, &evolution, &assumptions, nullptr, false);
		formLCSSA(loop, dt, &loops, &evolution);
		how.Count = unrolled_sum;
		how.Force = true;
		UnrollLoop(&loop, how, &loops, &evolution, &dt, &assumptions,
			   &fam.getResult<TargetIRAnalysis>(f), &remarks, true);
	}
};

/*
 * Instructions of a function from which on LoopLoadElimination leaves it alone, and pairs of
 * accesses of its loops: the pass compares each with all others of a loop.
 */
static const unsigned many_accesses = 2000;
static const uint64_t most_pairs = 10000;

static unsigned accesses_of(const Loop &loop)
{
	unsigned n = 0;

	for (const BasicBlock *block : loop.blocks())
		n += count_if(*block, [](const Instruction &i) {
			return isa<LoadInst>(i) || isa<StoreInst>(i);
		});
	return n;
}

/*
 * Finds the functions that LoopLoadElimination may gain something in. Work-items do not depend on
 * each other, so that loops over them do not count.
 */
struct find_recurrences : PassInfoMixin<find_recurrences> {
	explicit find_recurrences(known_functions &known) : known(known)
	{
	}

	PreservedAnalyses run(Function &f, FunctionAnalysisManager &fam)
	{
		uint64_t pairs = 0;
		bool found = false;

		for (const Loop *loop : fam.getResult<LoopAnalysis>(f).getLoopsInPreorder()) {
			if (!loop->isInnermost())
				continue;
			const uint64_t n = accesses_of(*loop);

			pairs += n * n;
			found |= n && !is_kept_simple(*loop);
		}
		if (found && pairs <= most_pairs && f.getInstructionCount() < many_accesses)
			known.with_recurrences.insert(&f);
		return PreservedAnalyses::all();
	}

private:
	known_functions &known;
};

/* LLVM's analysis managers with their proxies. */
struct managers {
	PassInstrumentationCallbacks callbacks;
	known_functions known;
	reruns repeated;
	PassBuilder builder;
	LoopAnalysisManager lam;
	FunctionAnalysisManager fam;
	CGSCCAnalysisManager cgam;
	ModuleAnalysisManager mam;

	managers(TargetMachine *target, const PipelineTuningOptions &tuning)
		: builder(target, tuning, std::nullopt, &callbacks)
	{
		callbacks.registerShouldRunOptionalPassCallback([this](StringRef pass, Any unit) {
			return should_run(pass, unit, known);
		});
		repeated.watch(callbacks);
		builder.registerModuleAnalyses(mam);
		builder.registerCGSCCAnalyses(cgam);
		builder.registerFunctionAnalyses(fam);
		builder.registerLoopAnalyses(lam);
		builder.crossRegisterProxies(lam, fam, cgam, mam);
	}
};

/* Before SROA makes undefined values of them */
struct keep_overreads : PassInfoMixin<keep_overreads> {
	PreservedAnalyses run(Function &f, FunctionAnalysisManager &)
	{
		if (!define_overreads(f))
			return PreservedAnalyses::all();
		PreservedAnalyses kept;
		kept.preserveSet<CFGAnalyses>();
		return kept;
	}
};

void run_passes(Module &m, ModulePassManager passes)
{
	managers all(nullptr, PipelineTuningOptions());

	passes.run(m, all.mam);
}

/* Takes what is the same in all iterations out of loops, and @accesses to memory */
static void add_hoisting(FunctionPassManager &passes, bool accesses)
{
	LICMOptions options;
	LoopPassManager hoist;

	if (!accesses)
		options.MssaNoAccForPromotionCap = 0;
	hoist.addPass(LoopRotatePass());
	hoist.addPass(LICMPass(options));
	passes.addPass(createFunctionToLoopPassAdaptor(std::move(hoist), true));
}

/* Unrolls short loops with a constant trip count, before work-items become lanes. */
static void add_unrolling(FunctionPassManager &passes, int level, bool accesses)
{
	LoopPassManager unroll;

	add_hoisting(passes, accesses);
	unroll.addPass(IndVarSimplifyPass(false));
	unroll.addPass(LoopDeletionPass());
	unroll.addPass(LoopFullUnrollPass(level));
	passes.addPass(createFunctionToLoopPassAdaptor(std::move(unroll)));
	passes.addPass(keep_overreads());
	passes.addPass(SROAPass(SROAOptions::ModifyCFG));
	passes.addPass(EarlyCSEPass(true));
	passes.addPass(InstCombinePass());
	passes.addPass(SimplifyCFGPass());
}

static bool has_arrays(const Function &f)
{
	for (const Instruction &inst : f.getEntryBlock())
		if (auto *alloca = dyn_cast<AllocaInst>(&inst))
			if (alloca->getAllocatedType()->isAggregateType())
				return true;
	return false;
}

bool has_loops(const Function &f)
{
	SmallVector<std::pair<const BasicBlock *, const BasicBlock *>> back;

	FindFunctionBackedges(f, back);
	return !back.empty();
}

static bool has_copies(Function &f)
{
	return any_of(instructions(f), [](const Instruction &i) { return isa<MemCpyInst>(i); });
}

void simplify(Module &m, TargetMachine &target)
{
	managers all(&target, PipelineTuningOptions());
	FunctionPassManager passes, copies;

	passes.addPass(keep_overreads());
	passes.addPass(SROAPass(SROAOptions::ModifyCFG));
	passes.addPass(EarlyCSEPass(true));
	passes.addPass(SimplifyCFGPass());
	passes.addPass(InstCombinePass());
	passes.addPass(CorrelatedValuePropagationPass());
	passes.addPass(SimplifyCFGPass());
	passes.addPass(InstCombinePass());
	FunctionPassManager unroll, again, promote;
	/* A private structure that only passes through: each lane would copy it twice. */
	copies.addPass(MemCpyOptPass());
	add_unrolling(unroll, 2, true);
	/*
	 * Arrays that become registers by this are left in memory until then: LICM would keep an
	 * element that is stored under a condition there and its value in a register too, which
	 * were two registers in the end, in a nest of loops three.
	 */
	add_unrolling(again, 3, false);
	add_hoisting(promote, true);
	for (Function &f : m) {
		if (f.isDeclaration())
			continue;
		passes.run(f, all.fam);
		rejoin_indices(f);
		keep_hidden_divisions(f);
		if (merge_common_stores(f))
			all.fam.invalidate(f, PreservedAnalyses::none());
		if (has_copies(f))
			copies.run(f, all.fam);
		if (shrink_flags(f))
			all.fam.invalidate(f, PreservedAnalyses::none());
		if (!has_loops(f))
			continue;
		keep_barrier_loops(all.fam.getResult<LoopAnalysis>(f),
				   all.fam.getResult<ScalarEvolutionAnalysis>(f));
		mark_short_loops(all.fam.getResult<LoopAnalysis>(f),
				 all.fam.getResult<ScalarEvolutionAnalysis>(f));
		unroll.run(f, all.fam);
		/* Lanes cannot keep an array in registers, unless its indices are constants. */
		if (!has_arrays(f))
			continue;
		again.run(f, all.fam);
		if (has_arrays(f) &&
		    mark_array_loops(f, all.fam.getResult<LoopAnalysis>(f),
				     all.fam.getResult<ScalarEvolutionAnalysis>(f)))
			again.run(f, all.fam);
		promote.run(f, all.fam);
	}
	mark_sums(m);
}

/* The form that the vectoriser requires: no switch, one return, simplified loops, LCSSA. */
void canonicalise(Function &f, TargetMachine &target)
{
	managers all(&target, PipelineTuningOptions());
	FunctionPassManager passes;

	if (needs_elements(f)) {
		passes.addPass(ScalarizerPass(ScalarizerPassOptions{
			.ScalarizeVariableInsertExtract = true, .ScalarizeLoadStore = false,
			.ScalarizeMinBits = {} }));
		passes.addPass(InstSimplifyPass());
		passes.addPass(ADCEPass());
	}
	passes.addPass(LowerSwitchPass());
	passes.addPass(UnifyFunctionExitNodesPass());
	passes.addPass(LoopSimplifyPass());
	passes.addPass(LCSSAPass());
	passes.run(f, all.fam);
}

/* Takes accesses out of loops in which others are known not to overlap them; then the same. */
void hoist(Function &f, TargetMachine &target)
{
	managers all(&target, PipelineTuningOptions());
	FunctionPassManager passes;
	LoopPassManager loops;

	loops.addPass(LICMPass(LICMOptions()));
	passes.addPass(createFunctionToLoopPassAdaptor(std::move(loops), true));
	passes.run(f, all.fam);
	canonicalise(f, target);
}

/*
 * Cleans up after passes of ours that leave values in memory and constant branches. Without
 * InstCombine, which obscures ids once their range is no longer known (extensions.cc).
 */
void tidy(Function &f, TargetMachine &target)
{
	managers all(&target, PipelineTuningOptions());
	FunctionPassManager passes;

	passes.addPass(SROAPass(SROAOptions::ModifyCFG));
	passes.addPass(EarlyCSEPass());
	passes.addPass(InstSimplifyPass());
	passes.addPass(SimplifyCFGPass());
	passes.addPass(ADCEPass());
	passes.run(f, all.fam);
}

/*
 * Settings of LLVM that have no programming interface, for functions of ten thousand instructions:
 * the preparation for the code generator looks at all of such a function again after each change
 * of a branch, unless it counts as huge. To use mask registers for scalars, which few functions
 * gain from, takes a quarter of the time over the rounds of a hash function. A sixth of the
 * register allocator's time goes into weighing where to split ranges over very many blocks. The
 * marks (marks.cc) are a few variables in many registers, which the older analysis of variables
 * handles faster than the one by instruction numbers. reduce_loops() has LoopStrengthReduce instead
 * of the code generator. The scheduler compares each access of a block with all before it, up to
 * 1,000 of them, and looks for each dependence among those that there are: half of the time of an
 * unrolled FFT. It keeps the order of accesses that are 100 apart. GVN looks for what a load may
 * read in up to 200 blocks ahead, a tenth of the time where there are many barriers; in more than
 * 20 it is not found. An inner loop of up to 32 bytes that begins at a multiple of that lies in one
 * line of the cache of decoded instructions.
 */
void tune_llvm(const options &opts)
{
	static const char *const settings[] = {
		"salvo-cc", "-cgpp-huge-func=64", "-x86-cmov-converter=false",
		"-disable-x86-domain-reassignment", "-grow-region-complexity-budget=300",
		"-disable-lsr", "-dag-maps-huge-region=100", "-memdep-block-number-limit=20",
		"-x86-experimental-pref-innermost-loop-alignment=5",
		"-experimental-debug-variable-locations=false",
	};

	cl::ParseCommandLineOptions(std::size(settings) - opts.debug, settings);
	/* The report of a stray access could not name the work-item within a call of memset(). */
	DisableLIRP::Memset = true;
}

/*
 * Single loads of scalar code, such as corners of a sum of areas, would become a gather whose
 * elements are taken out again: it takes longer than the loads. Gathers of lanes exist already.
 */
static void forbid_gathers(Module &m, const options &opts, bool forbid)
{
	if (opts.aarch64 || opts.isa_level < 4)
		return;
	for (Function &f : m)
		if (forbid)
			add_feature(f, "+prefer-no-gather");
		else
			remove_feature(f, "+prefer-no-gather");
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
	managers all(&target, tuning);
	all.repeated.skip_more();
	all.builder.registerScalarOptimizerLateEPCallback(
		[](FunctionPassManager &passes, OptimizationLevel level) {
			if (level.getSpeedupLevel() > 1)
				passes.addPass(hoist_divisions());
		});
	all.builder.registerVectorizerStartEPCallback(
		[&all](FunctionPassManager &passes, OptimizationLevel level) {
			if (level.getSpeedupLevel() <= 1)
				return;
			passes.addPass(find_recurrences(all.known));
			passes.addPass(keep_short_loops());
		});
	ModulePassManager passes = opts.opt_level ?
		all.builder.buildPerModuleDefaultPipeline(levels[opts.opt_level]) :
		all.builder.buildO0DefaultPipeline(levels[0]);
	forbid_gathers(m, opts, true);
	passes.run(m, all.mam);
	forbid_gathers(m, opts, false);
	expand_gathers(m, target, opts);
	if (opts.opt_level)
		branch_masked_stores(m, target);
	restore_offsets(m);
	if (opts.opt_level) {
		prefetch_columns(m);
		compare_remainders(m);
		widen_byte_divisions(m);
		if (opts.isa_level >= 4 && !opts.checked)
			divide_small_longs(m);
		branch_searches(m, opts);
		split_sums(m);
	}
	if (opts.isa_level >= 4 && !opts.aarch64)
		estimate_quotients(m);
	lower_half(m);
}

/* After keep_indices(), whose uses keep the indices of work-items from being replaced. */
void reduce_loops(Module &m, TargetMachine &target)
{
	managers all(&target, PipelineTuningOptions());
	FunctionPassManager passes;

	passes.addPass(createFunctionToLoopPassAdaptor(LoopStrengthReducePass()));
	for (Function &f : m)
		if (!f.isDeclaration())
			passes.run(f, all.fam);
}

/*
 * As LLVMTargetMachine::addPassesToEmitFile(), with a pass of ours on the final machine code
 * before it is printed.
 */
bool emit_code(Module &m, TargetMachine &target, const options &opts, bytes &object)
{
	auto &machine = static_cast<LLVMTargetMachine &>(target);
	auto *info = new MachineModuleInfoWrapperPass(&machine);
	raw_svector_ostream out(object);
	legacy::PassManager passes;
	TargetPassConfig *config = machine.createPassConfig(passes);

	/* Those that are left are meant (vector_memory.cc); LLVM's passes shall make no others. */
	if (!opts.aarch64 && opts.isa_level == 3)
		for (Function &f : m)
			add_feature(f, "+fast-gather");
	config->setDisableVerify(true);
	std::unique_ptr<Pass> prepare(createCodeGenPrepareLegacyPass());
	config->insertPass(prepare->getPassID(), cut_long_blocks());
	passes.add(config);
	passes.add(info);
	auto streamer = machine.createMCStreamer(out, nullptr, CodeGenFileType::ObjectFile,
						 info->getMMI().getContext());
	if (config->addISelPasses() || !streamer) {
		consumeError(streamer.takeError());
		print_error("this LLVM cannot write object files");
		return false;
	}
	if (!opts.aarch64 && opts.isa_level > 3)
		passes.add(mend_ternaries());
	config->addMachinePasses();
	config->setInitialized();
	auto *printer = static_cast<AsmPrinter *>(target.getTarget().createAsmPrinter(
		target, std::move(*streamer)));
	passes.add(find_places(*printer, opts.debug));
	passes.add(printer);
	passes.add(createFreeMachineFunctionPass());
	passes.run(m);
	return true;
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
