// SPDX-License-Identifier: MIT
/*
 * priority.c - compilers yield to others only if their callers do not soon want what they make
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "lib_test.h"

/* Statements of a kernel whose code takes seconds to make */
#define STATEMENTS	3000

FIXTURE(priority) {
	pid_t compiler;
	int fd;
};

static int long_source(void)
{
	const int fd = memfd_create("source", 0);
	unsigned int i;

	dprintf(fd, "kernel void k(global int *a)\n{\n\tint x = get_global_id(0), s = a[x];\n");
	for (i = 0; i < STATEMENTS; i++)
		dprintf(fd, "\tif (s > %u) {\n\t\ts += a[x + %u];\n\t\ta[x ^ %u] = s;\n\t}\n", i, i, i);
	dprintf(fd, "}\n");
	lseek(fd, 0, SEEK_SET);
	return fd;
}

/* Until the compiler has announced that the source has no errors */
FIXTURE_SETUP(priority)
{
	char notes[4096];
	int ends[2], source, nowhere;
	uint32_t bytes;

	if (!compiles_fast())
		return;
	source = long_source();
	nowhere = open("/dev/null", O_RDWR);
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	self->fd = ends[0];
	self->compiler = fork();
	if (!self->compiler) {
		dup2(source, 0);
		dup2(nowhere, 1);
		dup2(ends[1], 3);
		execl(kernel_path("../bin/salvo-cc"), "salvo-cc", "--announce", "3", "--take-turns",
		      "-o", "-", "-", NULL);
		_exit(127);
	}
	close(ends[1]);
	close(source);
	close(nowhere);
	ASSERT_EQ(sizeof(bytes), recv(self->fd, &bytes, sizeof(bytes), MSG_WAITALL));
	ASSERT_LT(bytes, sizeof(notes));
	ASSERT_EQ((ssize_t)bytes, recv(self->fd, notes, bytes, MSG_WAITALL));
}

FIXTURE_TEARDOWN(priority)
{
	if (self->compiler <= 0)
		return;
	kill(self->compiler, SIGKILL);
	waitpid(self->compiler, NULL, 0);
	close(self->fd);
}

TEST_F(priority, that_of_the_caller_where_it_wants_the_program)
{
	if (!self->compiler)
		SKIP(return, "no compiler, or a slow one");
	/* Longer than it takes to begin with the code */
	usleep(20000);
	ASSERT_EQ(1, write(self->fd, "", 1));
	usleep(400000);
	ASSERT_EQ(0, waitpid(self->compiler, NULL, WNOHANG));
	EXPECT_EQ(getpriority(PRIO_PROCESS, 0), getpriority(PRIO_PROCESS, self->compiler));
}

TEST_F(priority, less_where_nobody_wants_it)
{
	const int mine = getpriority(PRIO_PROCESS, 0);
	int i;

	if (!self->compiler)
		SKIP(return, "no compiler, or a slow one");
	if (mine > 14)
		SKIP(return, "there is no lower priority");
	/* Other compilers may have all turns for a while. */
	for (i = 0; i < 1000 && getpriority(PRIO_PROCESS, self->compiler) == mine; i++)
		usleep(20000);
	EXPECT_EQ(0, waitpid(self->compiler, NULL, WNOHANG));
	EXPECT_EQ(mine + 5, getpriority(PRIO_PROCESS, self->compiler));
}

TEST_HARNESS_MAIN
