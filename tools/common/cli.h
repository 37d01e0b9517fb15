/* SPDX-License-Identifier: MIT */
/*
 * cli.h - what the tools' command lines have in common
 *
 * Each tool takes --device NAME, --json, --help and --version where they make
 * sense, writes results to standard output and errors to standard error with its name
 * in front, and ends with one of the exit codes below. With --json an error is also in what is
 * written to standard output: "error": {"message": ...}, in an object of its own or in the
 * object that the tool was writing.
 */
#ifndef TOOLS_CLI_H
#define TOOLS_CLI_H

#include <stdbool.h>

#include "json.h"
#include "salvo.h"

/* TOOL_VERSION comes from the Makefile. */

#define EXIT_OK		0
#define EXIT_FAILED	1	/* the device, the work or the output */
#define EXIT_USAGE	2	/* the command line, or what it names */

/** cli_start() - Call first: with --json on the command line errors are written as JSON too. */
void cli_start(int argc, char **argv);

/** cli_fail() - Print "TOOL: MESSAGE" on standard error. Return: EXIT_FAILED. */
int cli_fail(const char *tool, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** cli_version() - What --version prints. Return: EXIT_OK. */
int cli_version(const char *tool);

/** cli_usage() - Wrong usage: print the head of @usage, up to an empty line. Return: EXIT_USAGE. */
int cli_usage(const char *tool, const char *usage);
/**
 * cli_other() - The default of a switch over options: 'h' is --help, 'V' --version, others are
 * wrong usage.
 * Return: the exit code.
 */
int cli_other(const char *tool, const char *usage, int option);

/** cli_real() - Parse a number from @min to @max; prints an error if @text is none. */
bool cli_real(const char *tool, const char *option, const char *text, double min, double max,
	      double *out);
/** cli_count() - The same for whole numbers. */
bool cli_count(const char *tool, const char *option, const char *text, unsigned int min,
	       unsigned int max, unsigned int *out);

/** cli_open() - salvo_device_open(); prints an error if it fails. Return: 0 or -errno. */
int cli_open(const char *tool, const char *name, struct salvo_device **device);

/** cli_write_error() - Write the last error, if it is not written yet, into an open object. */
void cli_write_error(struct json *json);

/**
 * cli_finish() - Write an error that is not written yet, flush standard output.
 * Return: @code, or EXIT_FAILED if that fails.
 */
int cli_finish(const char *tool, int code);

#endif /* TOOLS_CLI_H */
