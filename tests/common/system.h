/* SPDX-License-Identifier: MIT */
/*
 * system.h - files in sysfs, debugfs and /proc, and kernel modules
 *
 * Functions return 0 or a negative errno.
 */
#ifndef SYSTEM_H
#define SYSTEM_H

/** write_file() - Write a string into a file of sysfs, debugfs or /proc. */
int write_file(const char *path, const char *text);

/** load_module() - Load a module with @parameters, separated by spaces. */
int load_module(const char *path, const char *parameters);
/** unload_module() - Remove a module, without waiting; fails if it is in use. */
int unload_module(const char *name);

#endif /* SYSTEM_H */
