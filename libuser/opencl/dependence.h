/* SPDX-License-Identifier: MIT */
/*
 * dependence.h - commands that fail if commands of another submission do
 */
#ifndef SALVO_CL_DEPENDENCE_H
#define SALVO_CL_DEPENDENCE_H

#include "command.h"
#include "submission.h"

/**
 * salvo_cl_dependence_add_all() - What a command has recorded depends on others.
 *
 * On those of its events, and on its own part in the submission before. The context's lock is held.
 *
 * Return: 0 or -ENOMEM.
 */
int salvo_cl_dependence_add_all(const struct salvo_cl_command *command);
/**
 * salvo_cl_dependence_failed() - Has anything failed that commands of a submission wait for?
 * @all: Whether each command waits for it, directly or through others.
 *
 * Sets @lost of the submission, which had none: NULL if @all. What is not done has not failed.
 */
bool salvo_cl_dependence_failed(struct salvo_cl_submission *submission, bool *all);
/** salvo_cl_dependence_producer() - The submission of dependence @index. */
struct salvo_cl_submission *
salvo_cl_dependence_producer(const struct salvo_cl_submission *submission, unsigned int index);
/** salvo_cl_dependence_clear() - Forget all of a submission; the context's lock is held. */
void salvo_cl_dependence_clear(struct salvo_cl_submission *submission);

#endif /* SALVO_CL_DEPENDENCE_H */
