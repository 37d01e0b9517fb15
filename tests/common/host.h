/* SPDX-License-Identifier: MIT */
/*
 * host.h - a test in the VM sends a request to the script that runs it
 */
#ifndef HOST_H
#define HOST_H

/** ask_host() - Print "# host: @what"; returns when that has left the VM. */
void ask_host(const char *what);

/**
 * sleep_until_woken() - Suspend to idle until the host presses a key.
 * @request: What the host is asked for before; it presses keys until "let sleep".
 *
 * Return: 0, or a negative error code.
 */
int sleep_until_woken(const char *request);

#endif /* HOST_H */
