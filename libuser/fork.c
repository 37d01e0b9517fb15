// SPDX-License-Identifier: MIT
/*
 * fork.c - recognise objects that a child has inherited over fork()
 *
 * An embedded GPU is threads, which a child does not have: whoever waits for one there waits for
 * ever. A handler of fork() counts generations, so that telling costs no system call.
 */
#include "fork.h"

#include <pthread.h>

static pthread_once_t fork_once = PTHREAD_ONCE_INIT;
static unsigned int fork_generation;

static void in_child(void)
{
	fork_generation++;
}

static void install(void)
{
	pthread_atfork(NULL, NULL, in_child);
}

unsigned int salvo_fork_generation(void)
{
	pthread_once(&fork_once, install);
	return fork_generation;
}
