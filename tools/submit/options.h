/* SPDX-License-Identifier: MIT */
/*
 * options.h - the command line of salvo-submit
 */
#ifndef SUBMIT_OPTIONS_H
#define SUBMIT_OPTIONS_H

#include <stdbool.h>

#define TOOL "salvo-submit"

struct options {
	const char *device;
	const char *kernels;
	const char *file;
	const char *trace;
	const char *timeline;
	const char *dump;
	/** @leaves: Show what the pools of @command run through slots. */
	bool leaves;
	/** @command: With @dump or @leaves: the program and its arguments; ends with NULL. */
	char **command;
	bool json;
	bool stats;
	bool check;
	bool list;
	bool explain;
	double timeout;
};

/** options_parse() - Read the command line. Return: an exit code, or -1 to continue. */
int options_parse(int argc, char **argv, struct options *options);

#endif /* SUBMIT_OPTIONS_H */
