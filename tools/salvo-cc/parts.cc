// SPDX-License-Identifier: MIT
/*
 * parts.cc - compiles the kernels of a program on all cores
 *
 * Kernels are independent of each other once the functions that they call are inlined. A part is
 * some of them for one instruction set. Each part but the first is compiled by a child process,
 * a copy of this one that forgets all other kernels; it returns its objects in a file in memory.
 * What belongs to a part depends on the program only, so that the result does not depend on the
 * machine. Small programs are one part, as a child costs several milliseconds.
 *
 * Functions and constants that kernels of several parts use exist once in each part. Variables
 * must not: a program that has some is one part.
 */
#include "announce.h"
#include "error.h"
#include "salvo_cc.h"

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

#include <llvm/Support/raw_ostream.h>

using namespace llvm;

/* Instructions of a part */
static const uint64_t least = 4000;
static const unsigned most_parts = 16;

struct part {
	unsigned isa_level;
	bool first;			/* of the instruction sets */
	std::vector<std::string> kernels;
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

static std::vector<std::vector<std::string>> divide(const Module &m)
{
	std::vector<std::vector<std::string>> groups(1);
	uint64_t total = 0, size = 0;

	for (const Function &f : m)
		total += is_kernel(f) ? f.getInstructionCount() : 0;
	const uint64_t share = std::max(least, total / most_parts);
	const bool whole = has_variables(m);
	for (const Function &f : m) {
		if (!is_kernel(f))
			continue;
		if (size >= share && !whole) {
			groups.emplace_back();
			size = 0;
		}
		groups.back().push_back(f.getName().str());
		size += f.getInstructionCount();
	}
	return groups;
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

/* Waits for the child and takes its objects. */
static bool finish_child(part &p, std::vector<bytes> &objects)
{
	bool ok = false;
	int status;

	if (p.child > 0) {
		while (waitpid(p.child, &status, 0) < 0 && errno == EINTR)
			;
		ok = WIFEXITED(status) && !WEXITSTATUS(status) && read_objects(p.fd, objects);
		if (WIFSIGNALED(status))
			print_error(Twine("the compiler died: ") + strsignal(WTERMSIG(status)));
	}
	if (p.fd >= 0)
		close(p.fd);
	return ok;
}

bool compile_parts(std::unique_ptr<Module> m, const options &opts, compile_function compile,
		   std::vector<bytes> &objects)
{
	const auto groups = divide(*m);
	std::vector<part> parts;
	const unsigned cores = std::max(std::thread::hardware_concurrency(), 1u);
	bool ok = true;

	for (unsigned level : opts.isa_levels)
		for (const std::vector<std::string> &kernels : groups)
			parts.push_back({ level, level == opts.isa_levels.front(), kernels });

	/* If it were ignored no child could be waited for. */
	signal(SIGCHLD, SIG_DFL);
	announce_parts(parts.size());
	/* This process counts as one; its part comes first in the program. */
	size_t started = 1, done = 1;
	std::vector<std::vector<bytes>> results(parts.size());
	while (ok && started < parts.size() && started < cores)
		ok = start_child(*m, opts, parts[started++], compile);
	if (parts.size() <= cores && ok) {
		ok = compile_part(*m, opts, parts[0], compile, results[0]);
	} else if (ok) {
		ok = start_child(*m, opts, parts[0], compile) && finish_child(parts[0], results[0]);
	}
	for (; done < started; done++) {
		if (ok && started < parts.size())
			ok = start_child(*m, opts, parts[started++], compile);
		if (started == parts.size())
			announce_end();
		ok = finish_child(parts[done], results[done]) && ok;
	}
	for (std::vector<bytes> &result : results)
		for (bytes &object : result)
			objects.push_back(std::move(object));
	return ok;
}
