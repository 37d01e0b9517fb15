/* SPDX-License-Identifier: MIT */
/*
 * inherit.h - contexts in a child of fork()
 */
#ifndef SALVO_CL_INHERIT_H
#define SALVO_CL_INHERIT_H

#include "context.h"

/** salvo_cl_inherit_generation() - A number that differs in a child of fork(). */
unsigned int salvo_cl_inherit_generation(void);
/** salvo_cl_inherit_add() - fork() is to take care of a context that was made. */
void salvo_cl_inherit_add(cl_context context);
/** salvo_cl_inherit_remove() - It is about to be destroyed. */
void salvo_cl_inherit_remove(cl_context context);
/**
 * salvo_cl_inherit_adopt() - The first use of an @inherited context: end what threads of the parent
 * were at. The lock is held.
 */
void salvo_cl_inherit_adopt(cl_context context);

#endif /* SALVO_CL_INHERIT_H */
