// SPDX-License-Identifier: MIT
/*
 * link.cc - objects to a program, by lld, and the program to its file
 *
 * lld is linked into this program. It reads and writes memfds, so that no temporary file is left
 * behind if this process is killed; where /proc is not mounted or memfds are refused, temporary
 * files, which are removed.
 * The output file is replaced atomically: it is written under a temporary name in the same folder,
 * then renamed. What is no regular file, as /dev/null, is not replaced but written to.
 */
#include "blocks.h"
#include "error.h"
#include "salvo_cc.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lld/Common/Driver.h>
#include <llvm/Support/raw_ostream.h>

LLD_HAS_DRIVER(elf)

using namespace llvm;

/* A file that lld opens by @path, until close_file(). */
struct lld_file {
	int fd = -1;
	std::string path;
	bool temporary = false;
};

static void make_temporary(lld_file &file)
{
	const char *folder = getenv("TMPDIR");

	file.path = std::string(folder && *folder ? folder : "/tmp") + "/salvo-cc.XXXXXX";
	file.fd = mkostemp(file.path.data(), O_CLOEXEC);
	file.temporary = file.fd >= 0;
}

static bool make_file(StringRef data, lld_file &file)
{
	file.fd = memfd_create("salvo-cc", MFD_CLOEXEC);
	file.path = "/proc/self/fd/" + std::to_string(file.fd);
	if (file.fd < 0 || access(file.path.c_str(), R_OK)) {
		if (file.fd >= 0)
			close(file.fd);
		make_temporary(file);
	}
	if (file.fd >= 0 && write_all(file.fd, data))
		return true;
	print_error("cannot make a file '" + file.path + "' for the linker: " + strerror(errno));
	return false;
}

static void close_file(const lld_file &file)
{
	if (file.temporary)
		unlink(file.path.c_str());
	if (file.fd >= 0)
		close(file.fd);
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

static bool write_special(const std::string &path, StringRef data)
{
	int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write_all(fd, data);

	if (!done)
		print_error("cannot write '" + path + "': " + strerror(errno));
	if (fd >= 0)
		close(fd);
	return done;
}

/* To the file that the command line names, or standard output. */
bool write_result(const options &opts, StringRef data)
{
	struct stat st;

	if (opts.output == "-")
		return write_all(STDOUT_FILENO, data);
	if (!stat(opts.output.c_str(), &st) && !S_ISREG(st.st_mode))
		return write_special(opts.output, data);
	return write_output(opts.output, data);
}

/*
 * lld, which prints its own errors. It handles files by their paths only, and writes no file but
 * a new one or standard output, which therefore is @out meanwhile. One link needs no threads.
 */
static bool run_lld(ArrayRef<lld_file> inputs, int out, const options &opts)
{
	static const lld::DriverDef drivers[] = { { lld::Gnu, &lld::elf::link } };
	std::vector<const char *> command = {
		"ld.lld", "-m", opts.aarch64 ? "aarch64linux" : "elf_x86_64", "-shared",
		"-o", "-", "--gc-sections", "-z", "defs", "-z", "norelro", "-z", "noexecstack",
		"--hash-style=both", "--build-id=sha1", "--threads=1",
	};
	int standard = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);

	/* libsalvo moves the addresses in debug sections to where it loads the program. */
	command.push_back(opts.debug ? "--emit-relocs" : "--strip-debug");
	for (const lld_file &input : inputs)
		command.push_back(input.path.c_str());
	bool ok = dup2(out, STDOUT_FILENO) >= 0 &&
		  !lld::lldMain(command, outs(), errs(), drivers).retCode;
	outs().flush();
	if (standard >= 0) {
		dup2(standard, STDOUT_FILENO);
		close(standard);
	}
	return ok;
}

static bool read_whole(int fd, bytes &data)
{
	off_t size = lseek(fd, 0, SEEK_END);

	if (size <= 0)
		return false;
	data.resize_for_overwrite(size);
	return pread(fd, data.data(), size, 0) == size;
}

bool link_objects(const std::vector<bytes> &objects, const options &opts, bytes &program)
{
	std::vector<lld_file> inputs(objects.size());
	lld_file out;
	bool ok = make_file("", out);

	for (size_t i = 0; ok && i < objects.size(); i++)
		ok = make_file(StringRef(objects[i].data(), objects[i].size()), inputs[i]);
	ok = ok && run_lld(inputs, out.fd, opts) && read_whole(out.fd, program);
	for (const lld_file &input : inputs)
		close_file(input);
	close_file(out);
	return ok;
}

bool link_program(const std::vector<bytes> &objects, const options &opts)
{
	bytes program;

	return link_objects(objects, opts, program) &&
	       write_result(opts, StringRef(program.data(), program.size()));
}
