// SPDX-License-Identifier: MIT
/*
 * error.c - error messages of one line
 */
#include <stdarg.h>
#include <stdio.h>

#include "error.h"

int faces_fail(struct faces_error *error, int code, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(error->text, sizeof(error->text), format, ap);
	va_end(ap);
	return code;
}
