// SPDX-License-Identifier: MIT
/*
 * linker.cc - a process that links programs while this one compiles
 *
 * lld resets the settings of all of LLVM and writes to standard output, so that it cannot run
 * beside threads that compile. The process that links is forked before those are started. It reads
 * the number of objects, as a byte, and the objects, and writes a program, or an empty block.
 */
#include "linker.h"
#include "announce.h"
#include "blocks.h"

#include <sys/socket.h>
#include <sys/wait.h>

using namespace llvm;

[[noreturn]] static void serve(int fd, const options &opts)
{
	uint8_t count;

	while (read_all(fd, reinterpret_cast<char *>(&count), 1)) {
		std::vector<bytes> objects(count);
		bytes program;

		for (bytes &object : objects)
			if (!read_block(fd, object))
				_exit(EXIT_FAILURE);
		if (!link_objects(objects, opts, program))
			program.clear();
		if (!write_block(fd, StringRef(program.data(), program.size())))
			break;
	}
	_exit(EXIT_SUCCESS);
}

linker fork_linker(const options &opts)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return {};

	const pid_t pid = fork();

	if (!pid) {
		close(ends[0]);
		close_announcement();
		serve(ends[1], opts);
	}
	close(ends[1]);
	if (pid > 0)
		return { ends[0], pid };
	close(ends[0]);
	return {};
}

bool link_elsewhere(const linker &l, const std::vector<bytes> &objects, bytes &program)
{
	const char count = objects.size();
	bool ok = write_all(l.fd, StringRef(&count, 1));

	for (size_t i = 0; ok && i < objects.size(); i++)
		ok = write_block(l.fd, StringRef(objects[i].data(), objects[i].size()));
	return ok && read_block(l.fd, program) && !program.empty();
}

void end_linker(const linker &l)
{
	if (l.fd < 0)
		return;
	close(l.fd);
	waitpid(l.pid, nullptr, 0);
}
