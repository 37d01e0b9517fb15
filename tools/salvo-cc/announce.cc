// SPDX-License-Identifier: MIT
/*
 * announce.cc - tells a caller that the program has no errors, before its code is made
 *
 * Most of the time goes into LLVM's optimiser and code generator, which report no errors of a
 * source. The caller reads from a pipe a byte with the number of parts (parts.cc), and then a byte
 * for each part that was checked. It knows from their number that all is well so far; the
 * compiler's end, or that of the pipe, tells that no more will come.
 */
#include "announce.h"

#include <atomic>
#include <unistd.h>

static int announce_fd = -1;
static std::atomic<unsigned> unchecked;

static void announce_byte(unsigned char byte)
{
	/* A caller that has gone does not matter. */
	if (announce_fd >= 0)
		(void)!write(announce_fd, &byte, 1);
}

void announce_to(int fd)
{
	announce_fd = fd;
}

void announce_parts(unsigned count)
{
	unchecked = count;
	announce_byte(count);
}

void announce_checked()
{
	announce_byte(1);
	if (--unchecked == 0 && announce_fd >= 0)
		close(announce_fd);
}
