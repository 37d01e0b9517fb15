/* SPDX-License-Identifier: MIT */
/*
 * host.h - a test in the VM asks the script that runs it for something
 */
#ifndef HOST_H
#define HOST_H

/** ask_host() - Print "# host: @what", which has left the VM when this returns. */
void ask_host(const char *what);

#endif /* HOST_H */
