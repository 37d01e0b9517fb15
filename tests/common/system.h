/* SPDX-License-Identifier: MIT */
/*
 * system.h - what a test asks of the kernel beside the driver's ioctls
 *
 * Functions return 0 or a negative errno.
 */
#ifndef SYSTEM_H
#define SYSTEM_H

/** write_file() - Write a word into a file of sysfs, debugfs or /proc. */
int write_file(const char *path, const char *text);

int load_module(const char *path);
/** unload_module() - Remove it unless it is in use, without waiting. */
int unload_module(const char *name);

#endif /* SYSTEM_H */
