// SPDX-License-Identifier: MIT
/*
 * cli.c - what the tools' command lines have in common
 */
#include "cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cli_fail(const char *tool, const char *format, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", tool);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	return EXIT_FAILED;
}

int cli_version(const char *tool)
{
	printf("%s (Salvo) %s\n", tool, TOOL_VERSION);
	return cli_finish(tool, EXIT_OK);
}

int cli_usage(const char *tool, const char *usage)
{
	const char *end = strstr(usage, "\n\n");

	fprintf(stderr, "%.*s\n'%s --help' tells more\n", (int)(end - usage), usage, tool);
	return EXIT_USAGE;
}

int cli_other(const char *tool, const char *usage, int option)
{
	switch (option) {
	case 'h':
		fputs(usage, stdout);
		return cli_finish(tool, EXIT_OK);
	case 'V':
		return cli_version(tool);
	default:
		return cli_usage(tool, usage);
	}
}

bool cli_real(const char *tool, const char *option, const char *text, double min, double max,
	      double *out)
{
	char *end;

	*out = strtod(text, &end);
	if (end != text && !*end && *out >= min && *out <= max)
		return true;
	cli_fail(tool, "%s %s: must be a number from %g to %g", option, text, min, max);
	return false;
}

bool cli_count(const char *tool, const char *option, const char *text, unsigned int min,
	       unsigned int max, unsigned int *out)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && !errno && value >= min && value <= max) {
		*out = value;
		return true;
	}
	cli_fail(tool, "%s %s: must be a number from %u to %u", option, text, min, max);
	return false;
}

int cli_open(const char *tool, const char *name, struct salvo_device **device)
{
	int err = salvo_device_open(name, device);

	if (err)
		cli_fail(tool, "%s: %s", name ? name : "no device",
			 err == -ENODEV ? "not a Salvo GPU" : strerror(-err));
	return err;
}

int cli_finish(const char *tool, int code)
{
	if (!fflush(stdout) && !ferror(stdout))
		return code;
	return cli_fail(tool, "writing the results: %s", strerror(errno));
}
