// SPDX-License-Identifier: MIT
/*
 * cli.c - what the tools' command lines have in common
 */
#include "cli.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The last error, if errors are to be written as JSON and it is not written yet. */
static bool errors_as_json;
static char pending[512];
static char **arguments;

void cli_start(int argc, char **argv)
{
	int i;

	arguments = argv;
	/* getopt_long() takes the start of an option's name for the whole. */
	for (i = 1; i < argc && strcmp(argv[i], "--"); i++)
		errors_as_json |= strlen(argv[i]) > 2 &&
				  !strncmp(argv[i], "--json", strlen(argv[i]));
}

int cli_fail(const char *tool, const char *format, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", tool);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	if (errors_as_json) {
		va_start(ap, format);
		vsnprintf(pending, sizeof(pending), format, ap);
		va_end(ap);
	}
	return EXIT_FAILED;
}

void cli_write_error(struct json *json)
{
	if (!*pending)
		return;
	json_object(json, "error");
	json_string(json, "message", pending);
	json_object_end(json);
	*pending = 0;
}

int cli_version(const char *tool)
{
	printf("%s (Salvo) %s\n", tool, TOOL_VERSION);
	return cli_finish(tool, EXIT_OK);
}

static int print_usage(const char *tool, const char *usage)
{
	const char *end = strstr(usage, "\n\n");

	fprintf(stderr, "%.*s\nTry '%s --help'.\n", (int)(end - usage), usage, tool);
	return cli_finish(tool, EXIT_USAGE);
}

int cli_usage(const char *tool, const char *usage)
{
	if (errors_as_json)
		snprintf(pending, sizeof(pending), "%.*s", (int)strcspn(usage, "\n"), usage);
	return print_usage(tool, usage);
}

/* getopt_long() has printed what is wrong. A letter is perhaps one of several in an argument. */
static int refuse_option(const char *tool, const char *usage)
{
	const char letter[] = { '-', optopt, 0 }, *name = letter;

	if (errors_as_json) {
		if (!strncmp(arguments[optind - 1], "--", 2))
			name = arguments[optind - 1];
		snprintf(pending, sizeof(pending), "%s is no option, or lacks its value", name);
	}
	return print_usage(tool, usage);
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
		return refuse_option(tool, usage);
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
	struct json json = { .file = stdout };

	if (*pending) {
		json_object(&json, NULL);
		cli_write_error(&json);
		json_object_end(&json);
		json_line_end(&json);
	}
	if (!fflush(stdout) && !ferror(stdout))
		return code;
	return cli_fail(tool, "writing the results: %s", strerror(errno));
}
