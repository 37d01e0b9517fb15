/* SPDX-License-Identifier: MIT */
/*
 * cancel.h - keep pthread_cancel() out of a section
 *
 * A thread of the application that is cancelled in write() or close() inside library or GPU would
 * leave a lock locked or an interrupt half handled.
 */
#ifndef SALVO_CANCEL_H
#define SALVO_CANCEL_H

#include <pthread.h>

/** salvo_cancel_disable() - Return: the state for salvo_cancel_restore(). */
static inline int salvo_cancel_disable(void)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	return state;
}

static inline void salvo_cancel_restore(int state)
{
	pthread_setcancelstate(state, NULL);
}

#endif /* SALVO_CANCEL_H */
