/* SPDX-License-Identifier: MIT */
/*
 * script_compiler.h - a shell's commands in the place of salvo-cc, as one that dies or is slow
 */
#ifndef TEST_SCRIPT_COMPILER_H
#define TEST_SCRIPT_COMPILER_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/** define ANNOUNCE_NOTHING - salvo-cc --announce for a program whose kernels are not described */
#define ANNOUNCE_NOTHING "printf '\\0\\0\\0\\0' >&3\n"

/**
 * use_script() - Compile by a script from now on.
 * @path: That of mkstemp().
 * @commands: See the compiler's arguments, and its input; file descriptor 3 is for --announce.
 */
static inline bool use_script(char *path, const char *commands)
{
	const int fd = mkstemp(path);
	const bool made = fd >= 0 && dprintf(fd, "#!/bin/sh\n%s\n", commands) > 0 &&
			  !fchmod(fd, 0700);

	if (fd >= 0)
		close(fd);
	return made && !setenv("SALVO_CC", path, 1);
}

/** forget_script() - Compile by salvo-cc again, and remove the script. */
static inline void forget_script(const char *path)
{
	unsetenv("SALVO_CC");
	unlink(path);
}

#endif /* TEST_SCRIPT_COMPILER_H */
