// SPDX-License-Identifier: MIT
/*
 * log.c - messages of salvo-gpu, on stderr
 */
#include "log.h"

#include <stdarg.h>
#include <stdio.h>

bool log_verbose;

static void log_line(const char *format, va_list args)
{
	fputs("salvo-gpu: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
}

void log_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_line(format, args);
	va_end(args);
}

void log_info(const char *format, ...)
{
	va_list args;

	if (!log_verbose)
		return;
	va_start(args, format);
	log_line(format, args);
	va_end(args);
}
