/* SPDX-License-Identifier: MIT */
/*
 * leaves.h - the leaves that the work-stealing pools of a command run
 */
#ifndef SUBMIT_LEAVES_H
#define SUBMIT_LEAVES_H

#include "options.h"

/** leaves_run() - Run a command, and show what its pools ran through slots. Return: exit code. */
int leaves_run(const struct options *options);

#endif /* SUBMIT_LEAVES_H */
