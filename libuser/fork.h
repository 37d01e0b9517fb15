/* SPDX-License-Identifier: MIT */
/*
 * fork.h - recognise objects that a child has inherited over fork()
 */
#ifndef SALVO_LIB_FORK_H
#define SALVO_LIB_FORK_H

/** salvo_fork_generation() - A number that differs in a child of fork(). */
unsigned int salvo_fork_generation(void);

#endif /* SALVO_LIB_FORK_H */
