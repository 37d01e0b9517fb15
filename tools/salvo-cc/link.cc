// SPDX-License-Identifier: MIT
/*
 * link.cc - objects to a program, by lld, and the program to its file
 *
 * lld reads memfds and writes the program to a pipe. The output file is replaced
 * atomically: it is written under a temporary name in the same folder, then renamed.
 */
#include "salvo_cc.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;

bool write_all(int fd, StringRef data)
{
	while (!data.empty()) {
		ssize_t n = write(fd, data.data(), data.size());
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		data = data.drop_front(n);
	}
	return true;
}

/* A file in memory that a child process opens by the path in @path. */
static int make_memory_file(StringRef data, std::string &path)
{
	int fd = memfd_create("salvo-cc", 0);

	if (fd < 0 || !write_all(fd, data)) {
		print_error(Twine("cannot make a memory file: ") + strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	path = "/proc/self/fd/" + std::to_string(fd);
	return fd;
}

static bool write_output(const std::string &path, StringRef data)
{
	std::string temporary = path + ".XXXXXX";
	sigset_t all, before;
	bool done;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	int fd = mkostemp(temporary.data(), O_CLOEXEC);
	done = fd >= 0;
	if (done) {
		mode_t mask = umask(0);
		umask(mask);
		done = write_all(fd, data) && !fchmod(fd, 0777 & ~mask);
		done = !close(fd) && done;
		done = done && !rename(temporary.c_str(), path.c_str());
	}
	if (!done) {
		print_error("cannot write '" + path + "': " + strerror(errno));
		if (fd >= 0)
			unlink(temporary.c_str());
	}
	sigprocmask(SIG_SETMASK, &before, nullptr);
	return done;
}

bool link_program(const std::vector<bytes> &objects, const options &opts)
{
	std::vector<std::string> command = {
		SALVO_CC_LLVM_BIN "/ld.lld", "-m", opts.aarch64 ? "aarch64linux" : "elf_x86_64",
		"-shared", "-o", "-", "--gc-sections", "-z", "defs", "-z", "norelro",
		"-z", "noexecstack", "--hash-style=both", "--build-id=sha1",
	};
	std::vector<int> fds;
	bytes program;
	bool ok = true;

	/* libsalvo moves the addresses in debug sections to where it loads the program. */
	if (opts.debug)
		command.push_back("--emit-relocs");
	else
		command.push_back("--strip-debug");

	for (const bytes &object : objects) {
		std::string path;
		int fd = make_memory_file(StringRef(object.data(), object.size()), path);
		if (fd < 0) {
			ok = false;
			break;
		}
		fds.push_back(fd);
		command.push_back(path);
	}
	ok = ok && run_process(command, program);
	for (int fd : fds)
		close(fd);
	if (ok && opts.output == "-")
		return write_all(STDOUT_FILENO, StringRef(program.data(), program.size()));
	return ok && write_output(opts.output, StringRef(program.data(), program.size()));
}
