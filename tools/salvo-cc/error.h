// SPDX-License-Identifier: MIT
/*
 * error.h - errors on the command line, also as JSON
 */
#ifndef ERROR_H
#define ERROR_H

/* With --json: what print_error() prints goes to standard output too. */
void print_errors_as_json();

#endif
