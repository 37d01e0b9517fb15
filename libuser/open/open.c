// SPDX-License-Identifier: MIT
/*
 * open.c - open a GPU: choose its back end, and apply what the environment asks for
 *
 * This is the top of the library: the only file that knows both back ends and the observer that
 * writes batches to files.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "dump.h"
#include "winsys.h"

static int open_back_end(const char *name, struct salvo_device **out)
{
	int err;

	if (name && !strcmp(name, "soft"))
		return salvo_soft_open(out);
	err = salvo_drm_open(name, out);
	return !name && err == -ENODEV ? salvo_soft_open(out) : err;
}

/* SALVO_TIMEOUT_MS: a time limit for programs that do not set one. */
static void set_timeout_from_environment(struct salvo_device *device)
{
	const char *text = getenv("SALVO_TIMEOUT_MS");
	long milliseconds;
	char *end;

	if (!text || !*text)
		return;
	errno = 0;
	milliseconds = strtol(text, &end, 10);
	if (errno || *end || milliseconds < 0 || milliseconds > INT32_MAX)
		fprintf(stderr, "libsalvo: SALVO_TIMEOUT_MS: %s is not a number from 0 to %d\n",
			text, INT32_MAX);
	else if (milliseconds)
		salvo_device_set_timeout(device, milliseconds * 1000000ll);
}

int salvo_device_enumerate(unsigned int index, char *name, size_t size)
{
	const char *found = "soft";
	char node[SALVO_NODE_BYTES];
	int err = salvo_drm_find(&index, node);

	if (!err)
		found = node;
	else if (index)
		return -ENOENT;
	if (strlen(found) >= size)
		return -ENOSPC;
	strcpy(name, found);
	return 0;
}

int salvo_device_open(const char *name, struct salvo_device **out)
{
	int err;

	*out = NULL;
	err = open_back_end(name, out);
	if (err)
		return err;
	(*out)->observer = salvo_dump_open();
	set_timeout_from_environment(*out);
	return 0;
}
