/* SPDX-License-Identifier: MIT */
/*
 * salvo_confine.h - give up privileges and system calls
 */
#ifndef SALVO_CONFINE_H
#define SALVO_CONFINE_H

#include <stdbool.h>

/**
 * salvo_confine() - Restrict the process to the system calls that a running device needs.
 * @kernels: Kernels run in this process, so memory may become executable.
 *
 * For all threads, irreversibly. Other calls fail with EPERM. Not for the embedded GPU, which
 * lives in an application. Needs PR_SET_NO_NEW_PRIVS.
 *
 * Return: 0 or -errno.
 */
int salvo_confine(bool kernels);

/**
 * salvo_confine_drop_user() - Stop being root, drop all capabilities, and set no_new_privs.
 *
 * Where root is only that of a user namespace without other users, the user stays, but without
 * capabilities.
 *
 * Return: 0 or -errno.
 */
int salvo_confine_drop_user(void);

#endif /* SALVO_CONFINE_H */
