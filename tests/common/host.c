// SPDX-License-Identifier: MIT
/*
 * host.c - a test in the VM sends a request to the script that runs it
 *
 * Standard output goes through another process of the guest, which may be frozen before it forwards
 * the line; so the request goes to the serial port directly.
 */
#include "host.h"

#include <fcntl.h>
#include <stdio.h>
#include <termios.h>
#include <unistd.h>

#define PORT	"/dev/ttyS1"

void ask_host(const char *what)
{
	int fd = open(PORT, O_WRONLY | O_NOCTTY | O_CLOEXEC);

	fflush(stdout);
	if (fd < 0 || dprintf(fd, "# host: %s\n", what) < 0 || tcdrain(fd))
		perror(PORT);
	if (fd >= 0)
		close(fd);
}
