/* SPDX-License-Identifier: MIT */
/*
 * system.h - files in sysfs, debugfs and /proc, and kernel modules
 *
 * Functions that return an int return 0 or a negative errno.
 */
#ifndef SYSTEM_H
#define SYSTEM_H

#include <stdbool.h>

/** write_file() - Write a string into a file of sysfs, debugfs or /proc. */
int write_file(const char *path, const char *text);
/** read_number() - The number in such a file, -1 if there is none. */
long read_number(const char *path);
/** write_number() - Write a number into such a file; false if it is not taken. */
bool write_number(const char *path, long value);

/** load_module() - Load a module with @parameters, separated by spaces. */
int load_module(const char *path, const char *parameters);
/** unload_module() - Remove a module, without waiting; fails if it is in use. */
int unload_module(const char *name);

#endif /* SYSTEM_H */
