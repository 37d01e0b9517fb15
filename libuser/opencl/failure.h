/* SPDX-License-Identifier: MIT */
/*
 * failure.h - commands that fail: their events' status, and the context's notification
 */
#ifndef SALVO_CL_FAILURE_H
#define SALVO_CL_FAILURE_H

#include "submission.h"

/** define SALVO_CL_CANCELLED - The status of a command that failed because another one did. */
#define SALVO_CL_CANCELLED	CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST

/** salvo_cl_failure_dropped() - A batch is not run: what it should have written is not there. */
void salvo_cl_failure_dropped(const struct salvo_cl_submission *submission);
/** salvo_cl_failure_rejected() - The library did not accept a batch: notify the application. */
void salvo_cl_failure_rejected(const struct salvo_cl_submission *submission, int err);
/**
 * salvo_cl_failure_found() - A batch has failed: notify the application, and set the status of the
 * event whose command it was, and of those that completed.
 * @all: All of its commands wait for others that failed before; else those in its @lost, if any.
 *
 * Return: The status of the others.
 */
cl_int salvo_cl_failure_found(struct salvo_cl_submission *submission,
			      const struct salvo_error *error, bool all);
/**
 * salvo_cl_failure_inherited() - Some commands of a batch, its @lost, wait for others that failed
 * before: set the status of the events of those that do not.
 *
 * Return: The status of the others.
 */
cl_int salvo_cl_failure_inherited(const struct salvo_cl_submission *submission);

#endif /* SALVO_CL_FAILURE_H */
