// SPDX-License-Identifier: MIT
/*
 * host.c - a test in the VM sends a request to the script that runs it
 *
 * Standard output goes through another process of the guest, which may be frozen before it forwards
 * the line; so the request goes to the serial port directly.
 */
#include "host.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <termios.h>
#include <unistd.h>

#include "system.h"

#define PORT	"/dev/ttyS1"
#define KEYBOARD	"/sys/devices/platform/i8042/serio0"

/* A key that is pressed while the system suspends aborts the suspend. */
#define TRIES	5

void ask_host(const char *what)
{
	int fd = open(PORT, O_WRONLY | O_NOCTTY | O_CLOEXEC);

	fflush(stdout);
	if (fd < 0 || dprintf(fd, "# host: %s\n", what) < 0 || tcdrain(fd))
		perror(PORT);
	if (fd >= 0)
		close(fd);
}

int sleep_until_woken(const char *request)
{
	int i, err = write_file(KEYBOARD "/power/wakeup", "enabled");

	if (err)
		return err;
	ask_host(request);
	for (err = -EBUSY, i = 0; i < TRIES && err == -EBUSY; i++)
		err = write_file("/sys/power/state", "freeze");
	ask_host("let sleep");
	return err;
}
