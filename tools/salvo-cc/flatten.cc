// SPDX-License-Identifier: MIT
/*
 * flatten.cc - inlines functions into the kernels that call them
 *
 * A function that reads ids, waits at a barrier or uses static local memory depends on its
 * kernel and must be inlined. So is every other function that is not large, as the vectoriser
 * replicates calls for each lane. Large ones stay functions, because inlining a few of them at
 * many call sites makes kernels of millions of instructions, unless the kernel does not become too
 * large. As they run one work-item after the other, functions of some size that they call more than
 * once, such as the rounds of a hash function, are not inlined into them. The library's functions
 * whose names begin with salvo_outline stay functions too, and LLVM must not inline them later
 * either: a kernel that reads 128 images has 128 calls of those that know all formats. So do those
 * that lanes call at once (vector_calls.cc).
 *
 * OpenCL C forbids recursion and function pointers, so this terminates; recursion is checked
 * for first. A kernel that another kernel calls is inlined from a copy: it keeps its own entry
 * for the host.
 */
#include "error.h"
#include "salvo_cc.h"

#include <map>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LowerExpectIntrinsic.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

using namespace llvm;

enum visit { NEW, OPEN, DONE };

static const char no_assembly[] = "inline assembly is not available";

/* Depth-first search of the call graph; a back edge is recursion. */
static bool check_function(Function &f, DenseMap<Function *, visit> &state)
{
	state[&f] = OPEN;
	for (Instruction &inst : instructions(f)) {
		auto *call = dyn_cast<CallBase>(&inst);
		if (!call)
			continue;
		if (auto *code = dyn_cast<InlineAsm>(call->getCalledOperand())) {
			/* Empty code is a barrier for the compiler. */
			if (code->getAsmString().empty())
				continue;
			print_error_at(call->getDebugLoc(), *f.getParent(), no_assembly);
			return false;
		}
		Function *callee = call->getCalledFunction();
		if (!callee) {
			print_error_at(call->getDebugLoc(), *f.getParent(),
				       "call through a pointer, which OpenCL C forbids");
			return false;
		}
		visit seen = state.lookup(callee);
		if (seen == OPEN) {
			print_error_at(call->getDebugLoc(), *f.getParent(),
				       "function '" + callee->getName() +
				       "' calls itself; recursion is not allowed in OpenCL C");
			return false;
		}
		if (seen == NEW && !callee->isDeclaration() && !check_function(*callee, state))
			return false;
	}
	state[&f] = DONE;
	return true;
}

bool check_calls(Module &m)
{
	DenseMap<Function *, visit> state;

	if (!m.getModuleInlineAsm().empty()) {
		print_error_at(DebugLoc(), m, no_assembly);
		return false;
	}
	for (Function &f : m)
		if (!f.isDeclaration() && state.lookup(&f) == NEW && !check_function(f, state))
			return false;
	return true;
}

static bool is_kernel(const Function &f)
{
	return !f.isDeclaration() && f.getCallingConv() == CallingConv::SPIR_KERNEL;
}

/* Redirects calls of kernel @f to a copy of it that is a plain function. */
static void split_called_kernel(Function &f)
{
	SmallVector<CallBase *> calls;

	for (User *user : f.users())
		if (auto *call = dyn_cast<CallBase>(user))
			calls.push_back(call);
	if (calls.empty())
		return;

	ValueToValueMapTy map;
	Function *copy = CloneFunction(&f, map);
	copy->setName(f.getName() + ".inner");
	copy->setCallingConv(CallingConv::SPIR_FUNC);
	for (CallBase *call : calls) {
		call->setCalledFunction(copy);
		call->setCallingConv(CallingConv::SPIR_FUNC);
	}
}

bool is_outline(const Function &f)
{
	return f.getName().starts_with("salvo_outline");
}

/* Do calls of it stay, wherever they are? */
static bool stays(const Function &f)
{
	return is_outline(f) || is_vector_function(f);
}

/* Instructions of a function, and of callees that are inlined into it, above which it is large */
static const uint64_t large = 1500;

/* The same for a callee of a large function, where it is called from several places */
static const uint64_t large_callee = 300;

/* The same of a kernel and of all kernels, up to which large functions are inlined nevertheless */
static const uint64_t large_kernel = 16000, large_program = 48000;

/* What LLVM may make of the iterations of a loop; estimated */
static const unsigned loop_copies = 8;

/* Loops that copies of one function may bring into a kernel: LLVM's time grows with their square */
static const uint64_t most_loops = 256;

struct call_size {
	uint64_t size = 0;
	uint64_t loops = 0;
	uint64_t unrolled = 0;		/* with the copies of loops */
	uint64_t indexings = 0;		/* of private arrays that stay in memory; so, too */
	bool needs_context = false;
	bool prints = false;
	bool calls_large = false;
	bool indexes = false;		/* private arrays, by what is not constant */
	bool has_wide_vectors = false;
};

/*
 * May what @call's callee indexes be indexed by what is not constant once the call is inlined? The
 * library's functions have no such arrays of their own: they access one of an argument's elements,
 * as the half of a pixel.
 */
static bool may_index(const CallBase &call)
{
	if (!is_of_library(*call.getCalledFunction()))
		return true;
	return any_of(call.args(), [](const Use &arg) {
		auto *pointer = dyn_cast<PointerType>(arg->getType());

		return pointer && pointer->getAddressSpace() == PRIVATE;
	}) && any_of(call.args(), [](const Use &arg) {
		return arg->getType()->isIntegerTy() && !isa<Constant>(arg);
	});
}

/* Of so many instructions a lane may gather one from a private array, and gain nevertheless. */
static const uint64_t few_indexings = 32;

/* Instructions up to which a loop that indexes a private array is unrolled as a whole */
static const uint64_t most_unrolled = 2048;

/* Is @index constant once the loops that it changes in are unrolled, as they will be? */
static bool becomes_constant(Value &index, ScalarEvolution &evolution)
{
	return !SCEVExprContains(evolution.getSCEV(&index), [&](const SCEV *part) {
		auto *counter = dyn_cast<SCEVAddRecExpr>(part);
		uint64_t size = 0;

		if (!counter)
			return isa<SCEVUnknown>(part) || isa<SCEVCouldNotCompute>(part);
		const uint64_t trips = evolution.getSmallConstantTripCount(counter->getLoop());
		for (const BasicBlock *block : counter->getLoop()->blocks())
			size += block->size();
		return !trips || trips * size > most_unrolled;
	});
}

/* Adds what of the private arrays that @f itself indexes is not constant. */
static void count_indexings(Function &f, DominatorTree &dominators, LoopInfo &loops,
			    call_size &result)
{
	SmallVector<Instruction *> places;

	for (Instruction &inst : instructions(f)) {
		auto *place = dyn_cast<GetElementPtrInst>(&inst);

		if (place && place->getPointerAddressSpace() == PRIVATE &&
		    !place->hasAllConstantIndices())
			places.push_back(place);
	}
	if (places.empty())
		return;
	result.indexes = true;
	TargetLibraryInfoImpl none;
	TargetLibraryInfo library(none);
	AssumptionCache assumptions(f);
	ScalarEvolution evolution(f, library, assumptions, dominators, loops);
	for (Instruction *place : places)
		if (any_of(drop_begin(place->operands()), [&](Value *index) {
			return !becomes_constant(*index, evolution);
		}))
			result.indexings += loops.getLoopFor(place->getParent()) ? loop_copies : 1;
}

/*
 * Do lanes gather so often from private arrays that they gain nothing? Vectors that fill a register
 * compute as fast without lanes.
 */
static bool indexes_much(const call_size &of)
{
	return of.has_wide_vectors ? of.indexes : of.indexings * few_indexings > of.unrolled;
}

static bool is_wide_vector(const Type &type)
{
	auto *vector = dyn_cast<FixedVectorType>(&type);

	return vector && vector->getNumElements() >= 8;
}

/* Each function is measured once, after its callees. */
static call_size measure(Function &f, DenseMap<Function *, call_size> &known)
{
	auto found = known.find(&f);
	call_size result;

	if (found != known.end())
		return found->second;
	DominatorTree dominators(f);
	LoopInfo loops(dominators);
	result.loops = loops.getLoopsInPreorder().size();
	count_indexings(f, dominators, loops, result);
	for (Instruction &inst : instructions(f)) {
		auto *call = dyn_cast<CallBase>(&inst);
		Function *callee = call ? call->getCalledFunction() : nullptr;
		const unsigned copies = loops.getLoopFor(inst.getParent()) ? loop_copies : 1;

		result.size++;
		result.unrolled += copies;
		result.has_wide_vectors |= is_wide_vector(*inst.getType());
		for (Value *operand : inst.operands())
			if (auto *c = dyn_cast<Constant>(operand))
				result.needs_context |= c->getType()->isPointerTy() &&
					c->getType()->getPointerAddressSpace() == LOCAL &&
					!c->isNullValue();
		if (!callee || callee->isIntrinsic())
			continue;
		if (is_target_query(*callee))
			continue;
		if (callee->isDeclaration()) {
			(is_print_buffer(*callee) ? result.prints : result.needs_context) = true;
			continue;
		}
		call_size inner = measure(*callee, known);
		result.size += stays(*callee) ? 0 : inner.size;
		result.loops += stays(*callee) ? 0 : inner.loops;
		result.unrolled += stays(*callee) ? 0 : inner.unrolled * copies;
		result.needs_context |= inner.needs_context;
		result.prints |= inner.prints;
		result.calls_large |= !stays(*callee) &&
				      (inner.calls_large || inner.size > large);
		result.has_wide_vectors |= inner.has_wide_vectors && !is_of_library(*callee);
		if (may_index(*call)) {
			result.indexes |= inner.indexes;
			result.indexings += inner.indexings * copies;
		}
	}
	known[&f] = result;
	return result;
}

/*
 * Does it read an image by a sampler that is a constant in all of its calls? Most of its
 * instructions are for others.
 */
static bool has_constant_samplers(const Function &f)
{
	StringRef name = f.getName();

	if (!name.consume_front("_Z") || !name.contains("ocl_sampler") ||
	    !name.drop_while(isDigit).starts_with("read_image"))
		return false;
	return all_of(f.users(), [](const User *user) {
		auto *call = dyn_cast<CallBase>(user);

		return call && isa<ConstantInt>(call->getArgOperand(1));
	});
}

/*
 * Functions that no kernel calls go first, as headers define thousands of them; the others are
 * simplified before they are copied into their callers.
 */
static void prepare(Module &m, const options &opts)
{
	ModulePassManager passes;
	FunctionPassManager each;

	for (Function &f : m)
		if (!f.isDeclaration() && !is_kernel(f))
			f.setLinkage(GlobalValue::InternalLinkage);
	passes.addPass(GlobalDCEPass());
	if (opts.opt_level) {
		each.addPass(LowerExpectIntrinsicPass());
		each.addPass(SROAPass(SROAOptions::ModifyCFG));
		each.addPass(EarlyCSEPass());
		each.addPass(SimplifyCFGPass());
		passes.addPass(createModuleToFunctionPassAdaptor(std::move(each)));
	}
	run_passes(m, std::move(passes));
}

/*
 * A debugger knows the type of a function that has code of its own; where its calls are not
 * inlined, it also shows the value that is returned. But the report of a stray access names the
 * work-item only in inlined code, and structures are not returned as x86-64 does it.
 *
 * Return: true if calls of it stay.
 */
static bool keep_for_debugger(Function &f, const options &opts)
{
	if (!opts.debug || !f.getSubprogram() || f.hasStructRetAttr())
		return false;
	/* A built-in function: its declaration was described, then it was made to measure. */
	if (!f.getSubprogram()->isDistinct()) {
		f.setSubprogram(nullptr);
		return false;
	}
	appendToCompilerUsed(*f.getParent(), { &f });
	return !opts.opt_level && !opts.checked && none_of(f.args(), [](const Argument &arg) {
		return arg.getType()->isPointerTy();
	});
}

/*
 * An inlined function's calls become its callers', so what is marked is the call: one in a large
 * function stays where the callee has several.
 */
static void inline_calls_of(Function &f, const call_size &seen,
			    const SmallPtrSetImpl<Function *> &callers)
{
	DenseMap<Function *, unsigned> calls;

	for (User *user : f.users())
		if (auto *call = dyn_cast<CallBase>(user))
			calls[call->getFunction()]++;
	for (User *user : f.users()) {
		auto *call = dyn_cast<CallBase>(user);

		if (call && (seen.needs_context || seen.prints || seen.unrolled <= large_callee ||
			     !callers.contains(call->getFunction()) ||
			     calls[call->getFunction()] == 1))
			call->addFnAttr(Attribute::AlwaysInline);
	}
}

/* Makes all functions that @f calls its own: calls are of copies, which are added to @copies. */
static void copy_callees(Function &f, DenseMap<Function *, Function *> &copies)
{
	for (Instruction &inst : instructions(f)) {
		auto *call = dyn_cast<CallBase>(&inst);
		Function *callee = call ? call->getCalledFunction() : nullptr;

		if (!callee || callee->isDeclaration() || stays(*callee))
			continue;
		Function *copy = copies.lookup(callee);
		if (!copy) {
			ValueToValueMapTy values;

			copy = CloneFunction(callee, values);
			copies[callee] = copy;
			copy_callees(*copy, copies);
		}
		call->setCalledFunction(copy);
	}
}

/*
 * Lanes gain most from what a large function does, as a hash function or the body of a kernel with
 * variants, unless they gather from private arrays. So kernels that are not too large with all of
 * that inlined get copies of the functions that they call, the smallest kernels first.
 *
 * Return: the copies, which must not stay functions.
 */
static SmallPtrSet<Function *, 16> separate_kernels(SmallVector<Function *> kernels,
						    DenseMap<Function *, call_size> &known)
{
	SmallPtrSet<Function *, 16> separate;
	uint64_t all = 0;

	for (Function *f : kernels)
		measure(*f, known);
	llvm::stable_sort(kernels, [&](Function *a, Function *b) {
		return known[a].size < known[b].size;
	});
	for (Function *f : kernels) {
		DenseMap<Function *, Function *> copies;

		all += known[f].size;
		if (known[f].size > large_kernel || all > large_program)
			break;
		if (!known[f].calls_large || indexes_much(known[f]))
			continue;
		copy_callees(*f, copies);
		for (auto [callee, copy] : copies)
			separate.insert(copy);
	}
	return separate;
}

using call_graph = std::map<Function *, SmallVector<Function *>>;

/* Adds to @copies how many of each function @f would have if all calls were inlined. */
static void count_copies(Function &f, call_graph &graph, DenseMap<Function *, uint64_t> &copies)
{
	auto [at, is_new] = graph.try_emplace(&f);

	if (is_new)
		for (Instruction &inst : instructions(f)) {
			auto *call = dyn_cast<CallBase>(&inst);
			Function *callee = call ? call->getCalledFunction() : nullptr;

			if (callee && !callee->isDeclaration() && !is_vector_function(*callee))
				at->second.push_back(callee);
		}
	for (Function *callee : at->second)
		if (copies[callee]++ < most_loops)
			count_copies(*callee, graph, copies);
}

/*
 * Functions that LLVM takes long for in a kernel and lanes gain nothing from, as in a program that
 * checks each of its results: of which the kernel would have too many copies, and those that print
 * in a large kernel.
 */
static SmallPtrSet<Function *, 8> find_checks(ArrayRef<Function *> kernels,
						DenseMap<Function *, call_size> &known)
{
	SmallPtrSet<Function *, 8> checks;
	call_graph graph;

	for (Function *f : kernels) {
		const bool is_large = measure(*f, known).size > large_kernel;
		DenseMap<Function *, uint64_t> copies;

		count_copies(*f, graph, copies);
		for (auto [callee, count] : copies) {
			const call_size of = measure(*callee, known);

			if ((of.prints && is_large) || (count > 1 && count * of.loops > most_loops))
				checks.insert(callee);
		}
	}
	return checks;
}

void add_callees_first(Function &f, SmallSetVector<Function *, 16> &order)
{
	if (f.isDeclaration() || order.contains(&f))
		return;
	for (Instruction &inst : instructions(f)) {
		auto *call = dyn_cast<CallBase>(&inst);

		if (call && call->getCalledFunction())
			add_callees_first(*call->getCalledFunction(), order);
	}
	order.insert(&f);
}

/* Will it be inlined in one place, and be gone then? */
static bool is_called_once(const Function &f)
{
	auto *call = f.hasOneUse() ? dyn_cast<CallBase>(f.user_back()) : nullptr;

	return !is_kernel(f) && call && call->hasFnAttr(Attribute::AlwaysInline);
}

/* Inlines the marked calls in @f, and those that come with them. */
static void inline_marked(Function &f)
{
	SmallVector<CallBase *> open;

	for (Instruction &inst : instructions(f))
		if (auto *call = dyn_cast<CallBase>(&inst))
			open.push_back(call);
	while (!open.empty()) {
		CallBase *call = open.pop_back_val();
		Function *callee = call->getCalledFunction();
		InlineFunctionInfo info;

		if (!call->hasFnAttr(Attribute::AlwaysInline) || !callee ||
		    callee->isDeclaration() ||
		    !InlineFunction(*call, info, /*MergeAttributes=*/true).isSuccess())
			continue;
		open.append(info.InlinedCallSites.begin(), info.InlinedCallSites.end());
		if (callee->hasLocalLinkage() && callee->use_empty())
			callee->eraseFromParent();
	}
}

/*
 * What is called from several places gets its callees first. What is called from one is inlined
 * there last: a chain of such functions would be copied into each of its members.
 */
static void inline_all_marked(Module &m)
{
	SmallSetVector<Function *, 16> order;
	SmallVector<Function *> several;

	for (Function &f : m)
		add_callees_first(f, order);
	for (Function *f : order)
		if (!is_called_once(*f))
			several.push_back(f);
	for (Function *f : several)
		inline_marked(*f);
}

void flatten_calls(Module &m, const options &opts)
{
	DenseMap<Function *, call_size> known;
	SmallVector<Function *> kernels;

	for (Function &f : m)
		if (is_kernel(f))
			kernels.push_back(&f);
	for (Function *f : kernels)
		split_called_kernel(*f);
	prepare(m, opts);
	if (opts.opt_level && !opts.fibers && !opts.checked && !opts.debug)
		choose_vector_functions(kernels);

	SmallPtrSet<Function *, 16> separate;
	SmallPtrSet<Function *, 8> kept, large_callers;
	const SmallPtrSet<Function *, 8> checks = find_checks(kernels, known);
	if (opts.opt_level)
		separate = separate_kernels(kernels, known);
	for (Function &f : m) {
		/* Objects may have been compiled without optimisation. */
		f.removeFnAttr(Attribute::NoInline);
		f.removeFnAttr(Attribute::OptimizeNone);
		if (f.isDeclaration() || is_kernel(f))
			continue;
		call_size seen = measure(f, known);
		if (is_vector_function(f)) {
			keep_vector_function(f);
			kept.insert(&f);
			continue;
		}
		if (!seen.needs_context && (is_outline(f) || checks.contains(&f))) {
			f.addFnAttr(Attribute::NoInline);
			kept.insert(&f);
			continue;
		}
		const bool is_large = seen.size > large && !separate.contains(&f) &&
				   !has_constant_samplers(f);
		if (!seen.needs_context && !seen.prints &&
		    (is_large || keep_for_debugger(f, opts))) {
			kept.insert(&f);
			if (is_large)
				large_callers.insert(&f);
			continue;
		}
		for (User *user : f.users())
			if (auto *call = dyn_cast<CallBase>(user))
				call->removeFnAttr(Attribute::NoInline);
	}
	for (Function &f : m)
		if (!f.isDeclaration() && !is_kernel(f) && !kept.contains(&f))
			inline_calls_of(f, known[&f], large_callers);

	ModulePassManager passes;
	inline_all_marked(m);
	if (opts.opt_level)
		split_sampling_functions(m);
	passes.addPass(GlobalDCEPass());
	run_passes(m, std::move(passes));
}
