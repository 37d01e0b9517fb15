/* SPDX-License-Identifier: MIT */
/*
 * host.h - a test in the VM sends a request to the script that runs it
 */
#ifndef HOST_H
#define HOST_H

/** ask_host() - Print "# host: @what"; returns when that has left the VM. */
void ask_host(const char *what);

#endif /* HOST_H */
