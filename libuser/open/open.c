// SPDX-License-Identifier: MIT
/*
 * open.c - open a GPU: choose its back end, and apply what the environment asks for
 *
 * This is the top of the library: the only file that knows both back ends and the observer that
 * writes batches to files.
 */
#include <errno.h>
#include <limits.h>
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
	const long milliseconds = text ? strtol(text, NULL, 10) : 0;

	if (milliseconds > 0 && milliseconds < INT32_MAX)
		salvo_device_set_timeout(device, milliseconds * 1000000ll);
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
