// SPDX-License-Identifier: MIT
/*
 * binding.c - bind and unbind the driver, load and unload the module, as root
 */
#include "binding.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rendernode.h"
#include "system.h"

int driver_function(char *name, size_t bytes)
{
	DIR *dir = opendir(DRIVER);
	struct dirent *entry;
	int err = -ENOENT;

	while (dir && (entry = readdir(dir))) {
		if (strchr(entry->d_name, ':') && strchr(entry->d_name, '.')) {
			snprintf(name, bytes, "%.31s", entry->d_name);
			err = 0;
		}
	}
	if (dir)
		closedir(dir);
	return err;
}

int driver_unbind(const char *function)
{
	return write_file(DRIVER "/unbind", function);
}

int driver_bind(const char *function)
{
	return write_file(DRIVER "/bind", function);
}

int driver_rebind(void)
{
	static char function[32];
	char found[32];
	int err = driver_function(found, sizeof(found));

	if (!err) {
		strcpy(function, found);
		err = driver_unbind(function);
	} else if (function[0]) {
		/* The last attempt to bind has failed. */
		err = 0;
	}
	return err ? err : driver_bind(function);
}

bool driver_wait(void)
{
	int i;

	for (i = 0; i < 500 && !node_path(); i++)
		usleep(10000);
	return node_path();
}

int module_unload_soon(void)
{
	int i, err;

	for (i = 0; i < 200; i++) {
		err = unload_module("salvo");
		if (err != -EWOULDBLOCK)
			break;
		usleep(50000);
	}
	return err;
}
