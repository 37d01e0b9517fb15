// SPDX-License-Identifier: MIT
/*
 * parts.cc - compiles the kernels of a program on all cores
 *
 * Kernels are independent of each other once the functions that they call are inlined. A part is
 * some of them for one instruction set. Each part is compiled by a child process, a copy of this
 * one that forgets all other kernels; it returns its objects in a file in memory. If there is a
 * core for each, this process compiles the smallest one itself.
 *
 * What belongs to a part depends on the program only, so that the result does not depend on the
 * machine. Small programs are one part, as a child costs several milliseconds. There are more
 * parts than cores, and the largest are started first, so that no core is without one until the
 * last parts end.
 *
 * Functions and constants that kernels of several parts use exist once in each part, so kernels
 * that share a large function are one part. Variables must not exist twice: a program that has some
 * is one part.
 */
#include "announce.h"
#include "error.h"
#include "salvo_cc.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

using namespace llvm;

/* Of a part, by cost_of(): what is less is not worth a process. */
static const uint64_t least = 500;
static const unsigned most_parts = 16;

struct part {
	unsigned isa_level = 0;
	bool first = false;		/* of the instruction sets */
	std::vector<std::string> kernels;
	uint64_t size = 0;		/* cost_of() what is in it */
	pid_t child = 0;
	int fd = -1;			/* where the child writes its objects */
};

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
 * large function, which would be compiled in both.
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
	for (const Function &f : m) {
		SetVector<const Function *> callees;
		unsigned at = parts.size() - 1;

		if (!is_kernel(f))
			continue;
		find_callees(f, callees);
		if (parts[at].size >= share && !whole)
			at++;
		for (const Function *callee : callees)
			if (costs[callee] >= least / 2 && part_of.contains(callee))
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

/* Leaves only the kernels of @p, and what they use. */
static void keep_kernels(Module &m, const part &p)
{
	SmallVector<Function *> others;

	for (Function &f : m)
		if (is_kernel(f) && !is_contained(p.kernels, f.getName()))
			others.push_back(&f);
	for (Function *f : others) {
		f->replaceAllUsesWith(PoisonValue::get(f->getType()));
		f->eraseFromParent();
	}
	/* What only those called; functions that call each other would be recursion. */
	for (bool found = true; found;) {
		found = false;
		for (Function &f : make_early_inc_range(m))
			if (f.hasLocalLinkage() && f.use_empty()) {
				f.eraseFromParent();
				found = true;
			}
	}
}

static bool compile_part(Module &m, options opts, const part &p, compile_function compile,
			 std::vector<bytes> &objects)
{
	opts.isa_level = p.isa_level;
	keep_kernels(m, p);
	return compile(m, opts, p.first, objects);
}

/* In the child: each object after its size. */
static bool write_objects(int fd, ArrayRef<bytes> objects)
{
	raw_fd_ostream out(fd, false);

	for (const bytes &object : objects) {
		const uint64_t size = object.size();

		out.write(reinterpret_cast<const char *>(&size), sizeof(size));
		out.write(object.data(), size);
	}
	out.flush();
	return !out.has_error();
}

static bool read_objects(int fd, std::vector<bytes> &objects)
{
	uint64_t size;
	off_t at = 0;

	for (; pread(fd, &size, sizeof(size), at) == sizeof(size); at += size) {
		bytes object;

		at += sizeof(size);
		object.resize_for_overwrite(size);
		if (pread(fd, object.data(), size, at) != (ssize_t)size)
			return false;
		objects.push_back(std::move(object));
	}
	return at > 0;
}

/* A file without a name; on a disk where memfds are refused, as by a container's filter. */
static int make_result()
{
	int fd = memfd_create("salvo-cc", MFD_CLOEXEC);

	if (fd < 0)
		if (FILE *file = tmpfile()) {
			fd = fcntl(fileno(file), F_DUPFD_CLOEXEC, 0);
			fclose(file);
		}
	return fd;
}

static bool start_child(Module &m, const options &opts, part &p, compile_function compile)
{
	p.fd = make_result();
	p.child = p.fd < 0 ? -1 : fork();
	if (p.child < 0) {
		print_error(Twine("cannot start a process: ") + strerror(errno));
		return false;
	}
	if (p.child)
		return true;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	std::vector<bytes> objects;
	const bool ok = compile_part(m, opts, p, compile, objects) && write_objects(p.fd, objects);
	_exit(ok ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* Takes the objects of a child that has ended. */
static bool finish_child(part &p, int status, std::vector<bytes> &objects)
{
	const bool ok = WIFEXITED(status) && !WEXITSTATUS(status) && read_objects(p.fd, objects);

	if (WIFSIGNALED(status))
		print_error(Twine("the compiler died: ") + strsignal(WTERMSIG(status)));
	close(p.fd);
	p.child = 0;
	return ok;
}

/* The next of our children to end; NULL if there is none. */
static part *wait_for_child(std::vector<part> &parts, int &status)
{
	for (;;) {
		const pid_t pid = wait(&status);

		if (pid < 0 && errno != EINTR)
			return nullptr;
		/* Another one is of the shell that this process was. */
		for (part &p : parts)
			if (pid > 0 && p.child == pid)
				return &p;
	}
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
	Module *m = whole.release();
	std::vector<part> parts;
	const unsigned cores = std::max(std::thread::hardware_concurrency(), 1u);
	bool ok = true;

	const std::vector<part> once = divide(*m);
	for (unsigned level : opts.isa_levels)
		for (const part &p : once) {
			parts.push_back(p);
			parts.back().isa_level = level;
			parts.back().first = level == opts.isa_levels.front();
		}
	const std::vector<unsigned> order = largest_first(parts);

	/* If it were ignored no child could be waited for. */
	signal(SIGCHLD, SIG_DFL);
	announce_parts(parts.size());
	size_t started = 0, running = 0;
	std::vector<std::vector<bytes>> results(parts.size());
	/* The smallest one is for this process, unless others wait for a core until then. */
	const size_t children = parts.size() <= cores ? parts.size() - 1 : parts.size();
	bool own = children < parts.size();

	while (running || (ok && (own || started < children))) {
		int status;

		if (ok && started < children && running < cores) {
			ok = start_child(*m, opts, parts[order[started++]], compile);
			running += ok;
		} else if (ok && own) {
			own = false;
			ok = compile_part(*m, opts, parts[order.back()], compile,
					  results[order.back()]);
		} else {
			part *ended = wait_for_child(parts, status);

			if (!ended)
				return false;
			running--;
			ok = finish_child(*ended, status, results[ended - parts.data()]) && ok;
		}
		if (started == children && !own)
			announce_end();
	}
	for (std::vector<bytes> &result : results)
		for (bytes &object : result)
			objects.push_back(std::move(object));
	return ok;
}
