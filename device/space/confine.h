/* SPDX-License-Identifier: MIT */
/*
 * confine.h - the system calls that the device keeps once it runs
 */
#ifndef SALVO_CONFINE_H
#define SALVO_CONFINE_H

#include <stdbool.h>

/**
 * salvo_confine() - From now on the process can do no more than a device that runs needs.
 * @kernels: Kernels run in this process, so memory may become executable.
 *
 * For all threads, for good. Other calls fail with EPERM. Not for the embedded GPU, which
 * lives in an application. Needs PR_SET_NO_NEW_PRIVS.
 *
 * Return: 0 or -errno.
 */
int salvo_confine(bool kernels);

#endif /* SALVO_CONFINE_H */
