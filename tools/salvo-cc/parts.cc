// SPDX-License-Identifier: MIT
/*
 * parts.cc - compiles the kernels of a program on all cores
 *
 * Kernels are independent of each other once the functions that they call are inlined. A part is
 * some of them for one instruction set. Each part is compiled by a thread, from the bitcode of the
 * whole program, as threads cannot share LLVM's modules; no other kernels are read from it. They
 * are threads, not processes, as a process pays with a page fault for each page of the heap that
 * it writes.
 *
 * What belongs to a part depends on the program only, so that the result does not depend on the
 * machine. Small programs are one part, as bitcode costs a few milliseconds. There may be more
 * parts than cores, and the largest are started first, so that no core is without one until the
 * last parts end.
 *
 * A caller that wants a kernel of a large program (announce.cc) gets a program with it before the
 * whole: of the part that has it if that is done, or else of this kernel alone, which the thread
 * that answers compiles.
 *
 * Functions and constants that kernels of several parts use exist once in each part, so kernels
 * that share a large function are one part. Variables must not exist twice: a program that has some
 * is one part.
 */
#include "announce.h"
#include "error.h"
#include "linker.h"
#include "salvo_cc.h"
#include "turns.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <pthread.h>
#include <thread>

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

using namespace llvm;

/* Of a part, by cost_of(): what is less is not worth a thread. */
static const uint64_t least = 50;
static const unsigned most_parts = 16;
/* Of a program: what is less is there so soon that linking a part of it is not worth its time. */
static const uint64_t least_answered = 2000;

struct part {
	unsigned isa_level = 0;
	bool first = false;		/* of the instruction sets */
	std::vector<std::string> kernels;
	uint64_t size = 0;		/* cost_of() what is in it */
	bool started = false, done = false;
	unsigned answered = 0;		/* kernels that were compiled alone */
	std::vector<bytes> objects;
};

/* What the threads share. */
struct job {
	job(const options &opts, compile_function compile, const std::vector<bytes> &runtime)
		: opts(opts), compile(compile), runtime(runtime)
	{
	}

	const options &opts;
	compile_function compile;
	const std::vector<bytes> runtime;	/* objects that each program has */
	bytes bitcode;
	std::vector<part> parts;
	std::vector<unsigned> order;	/* of the parts, as they are started */
	std::mutex lock;		/* protects the states of the parts, and @ok */
	std::condition_variable part_done;
	bool ok = true;
	linker link;
	std::mutex answering;		/* held for an answer, or so that there is none any more */
};

/* Of a thread, as the kernel gives it to a process. */
static const size_t stack_size = 8 << 20;

static bool is_kernel(const Function &f)
{
	return !f.isDeclaration() && f.getCallingConv() == CallingConv::SPIR_KERNEL;
}

static bool has_variables(const Module &m)
{
	for (const GlobalVariable &g : m.globals())
		if (!g.isConstant() && g.getAddressSpace() != LOCAL && !g.isDeclaration())
			return true;
	return false;
}

/* How often the source asks for loops around @block to be unrolled: estimated, 4 times each. */
static uint64_t copies(const BasicBlock &block, const LoopInfo &loops)
{
	uint64_t n = 1;

	for (const Loop *loop = loops.getLoopFor(&block); loop && n < 64;
	     loop = loop->getParentLoop())
		if (hasUnrollTransformation(loop) & TM_Enable)
			n *= 4;
	return n;
}

/* What compiling a function costs, in instructions. */
static uint64_t cost_of(Function &f)
{
	DominatorTree dominators(f);
	const LoopInfo loops(dominators);
	uint64_t cost = 0;

	for (const BasicBlock &block : f)
		cost += block.sizeWithoutDebug() * copies(block, loops);
	return cost;
}

static void find_callees(const Function &f, SetVector<const Function *> &callees)
{
	for (const Instruction &inst : instructions(f))
		if (auto *call = dyn_cast<CallBase>(&inst)) {
			const Function *callee = call->getCalledFunction();

			if (callee && !callee->isDeclaration() && callees.insert(callee))
				find_callees(*callee, callees);
		}
}

/*
 * The parts for one instruction set. A kernel joins the part of another one that calls the same
 * large function, which would be compiled in both. Large is much of a part: nearly all kernels on
 * images call the library's functions that load and store pixels.
 */
static std::vector<part> divide(Module &m)
{
	DenseMap<const Function *, uint64_t> costs;
	DenseMap<const Function *, unsigned> part_of;
	std::vector<part> parts(1);
	uint64_t total = 0;
	const bool whole = has_variables(m);

	for (Function &f : m)
		if (!f.isDeclaration())
			total += costs[&f] = cost_of(f);
	const uint64_t share = std::max(least, total / most_parts);
	const uint64_t large = std::max(least / 2, share / 4);
	for (const Function &f : m) {
		SetVector<const Function *> callees;
		unsigned at = parts.size() - 1;

		if (!is_kernel(f))
			continue;
		find_callees(f, callees);
		if (parts[at].size >= share && !whole)
			at++;
		for (const Function *callee : callees)
			if (costs[callee] >= large && part_of.contains(callee))
				at = part_of[callee];
		if (at == parts.size())
			parts.emplace_back();
		parts[at].kernels.push_back(f.getName().str());
		parts[at].size += costs[&f];
		for (const Function *callee : callees)
			if (part_of.insert({ callee, at }).second)
				parts[at].size += costs[callee];
	}
	return parts;
}

/* Leaves only the kernels of @p, and what they use; the code of no other is read from bitcode. */
static void keep_kernels(Module &m, const part &p)
{
	SmallVector<GlobalValue *, 8> used;
	SmallSetVector<Function *, 32> kept;

	for (const std::string &name : p.kernels)
		kept.insert(m.getFunction(name));
	/* What no kernel calls: functions for the debugger (flatten.cc), and that of globals.cc. */
	for (bool by_compiler : { false, true })
		collectUsedGlobalVariables(m, used, by_compiler);
	for (GlobalValue *value : used)
		if (auto *f = dyn_cast<Function>(value))
			kept.insert(f);
	for (unsigned i = 0; i < kept.size(); i++) {
		cantFail(kept[i]->materialize());
		for (Instruction &inst : instructions(*kept[i]))
			for (Use &operand : inst.operands())
				if (auto *f = dyn_cast<Function>(operand->stripPointerCasts()))
					kept.insert(f);
	}
	for (Function &f : make_early_inc_range(m)) {
		if (kept.contains(&f) || (!is_kernel(f) && !f.hasLocalLinkage()))
			continue;
		f.deleteBody();
		f.replaceAllUsesWith(PoisonValue::get(f.getType()));
		f.eraseFromParent();
	}
}

static bool compile_part(Module &m, options opts, part &p, compile_function compile)
{
	opts.isa_level = p.isa_level;
	keep_kernels(m, p);
	return compile(m, opts, p.first, p.objects);
}

static bool all_started(job &j)
{
	std::lock_guard guard(j.lock);

	return all_of(j.parts, [](const part &p) { return p.started; });
}

/*
 * With a copy of the program, which is freed unless it is the last one of this thread. A kernel
 * that is compiled alone is none of the parts, is never started, and others may follow.
 */
static bool compile_copy(job &j, part &p)
{
	auto context = std::make_unique<LLVMContext>();
	Expected<std::unique_ptr<Module>> m = getLazyBitcodeModule(
		MemoryBufferRef(StringRef(j.bitcode.data(), j.bitcode.size()), "part"), *context);

	if (!m) {
		print_error("internal: " + toString(m.takeError()));
		return false;
	}
	const bool ok = compile_part(**m, j.opts, p, j.compile);

	if (p.started && all_started(j)) {
		m->release();
		context.release();
	}
	return ok;
}

/* Return: false if another thread compiles the part, or all is given up. */
static bool start(job &j, part &p)
{
	std::lock_guard guard(j.lock);

	if (p.started || !j.ok)
		return false;
	p.started = true;
	return true;
}

static void finish(job &j, part &p)
{
	const bool ok = compile_copy(j, p);
	std::lock_guard guard(j.lock);

	p.done = true;
	j.ok &= ok;
	j.part_done.notify_all();
}

/* Compiles one part after the other until all are started or one has failed. */
static void *run_thread(void *arg)
{
	job &j = *static_cast<job *>(arg);

	for (unsigned i : j.order)
		if (start(j, j.parts[i]))
			finish(j, j.parts[i]);
	return nullptr;
}

static void *start_thread(void *arg)
{
	join_yielding();
	return run_thread(arg);
}

static bool is_done(job &j, const part &p)
{
	std::lock_guard guard(j.lock);

	return p.done;
}

static bool wait_for(job &j, const part &p)
{
	std::unique_lock guard(j.lock);

	j.part_done.wait(guard, [&] { return p.done || !j.ok; });
	return j.ok;
}

/*
 * A program with a kernel: of the part that has it, or of the kernel alone if that is not done. At
 * most half of a part's kernels are compiled twice.
 */
static bool link_part(job &j, const std::string &kernel, bytes &program)
{
	auto p = find_if(j.parts, [&](const part &p) { return is_contained(p.kernels, kernel); });

	if (p == j.parts.end())
		return false;
	part alone, *made = &*p;
	if (!is_done(j, *p) && 2 * (p->answered + 1) <= p->kernels.size()) {
		alone.isa_level = p->isa_level;
		alone.first = p->first;
		alone.kernels = { kernel };
		p->answered++;
		if (!compile_copy(j, alone))
			return false;
		made = &alone;
	} else {
		if (start(j, *p))
			finish(j, *p);
		if (!wait_for(j, *p))
			return false;
	}
	std::vector<bytes> objects = j.runtime;

	objects.insert(objects.end(), made->objects.begin(), made->objects.end());
	return link_elsewhere(j.link, objects, program);
}

static bool is_answered(const job &j)
{
	uint64_t size = 0;

	for (const part &p : j.parts)
		size += p.size;
	return is_asked() && j.opts.isa_levels.size() == 1 && size >= least_answered;
}

static void *answer_caller(void *arg)
{
	job &j = *static_cast<job *>(arg);
	std::string kernel;

	while (read_wanted(kernel)) {
		std::lock_guard guard(j.answering);
		bytes program;

		if (kernel.empty()) {
			keep_priority();
			continue;
		}
		if (!link_part(j, kernel, program))
			program.clear();
		answer(StringRef(program.data(), program.size()));
	}
	return nullptr;
}

/*
 * On as many threads as there are parts or cores, and one that answers the caller. It works with
 * fewer if they cannot be had.
 */
static void run_threads(job &j)
{
	const size_t cores = std::max(std::thread::hardware_concurrency(), 1u);
	std::vector<pthread_t> threads;
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, stack_size);
	if (is_answered(j))
		j.link = fork_linker(j.opts);
	if (j.link.fd >= 0 && !pthread_create(&thread, &attributes, answer_caller, &j))
		pthread_detach(thread);
	give_way(j.link.fd >= 0);
	while (threads.size() + 1 < std::min(cores, j.parts.size()) &&
	       !pthread_create(&thread, &attributes, start_thread, &j))
		threads.push_back(thread);
	pthread_attr_destroy(&attributes);
	run_thread(&j);
	for (pthread_t t : threads)
		pthread_join(t, nullptr);
	for (const part &p : j.parts)
		if (!wait_for(j, p))
			break;
	/* For good: the process ends with the thread that answers at rest. */
	j.answering.lock();
	end_linker(j.link);
}

/* In the order in which they are started: a large one that comes last would be waited for alone. */
static std::vector<unsigned> largest_first(const std::vector<part> &parts)
{
	std::vector<unsigned> order(parts.size());

	for (unsigned i = 0; i < order.size(); i++)
		order[i] = i;
	std::stable_sort(order.begin(), order.end(), [&](unsigned a, unsigned b) {
		return parts[a].size > parts[b].size;
	});
	return order;
}

bool compile_parts(std::unique_ptr<Module> whole, const options &opts, compile_function compile,
		   std::vector<bytes> &objects)
{
	Module &m = *whole.release();
	/* The thread that answers has it to the end of the process. */
	job &j = *new job(opts, compile, objects);

	const std::vector<part> once = divide(m);
	for (unsigned level : opts.isa_levels)
		for (const part &p : once) {
			j.parts.push_back(p);
			j.parts.back().isa_level = level;
			j.parts.back().first = level == opts.isa_levels.front();
		}
	if (j.parts.size() == 1) {
		give_way(false);
		j.ok = compile_part(m, opts, j.parts[0], compile);
	} else {
		raw_svector_ostream out(j.bitcode);

		WriteBitcodeToFile(m, out);
		j.order = largest_first(j.parts);
		run_threads(j);
	}
	for (part &p : j.parts)
		for (bytes &object : p.objects)
			objects.push_back(std::move(object));
	return j.ok;
}
