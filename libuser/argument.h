/* SPDX-License-Identifier: MIT */
/*
 * argument.h - the arguments of kernels: their descriptions, and error messages about them
 */
#ifndef SALVO_LIB_ARGUMENT_H
#define SALVO_LIB_ARGUMENT_H

#include "kernel.h"

/** define SALVO_ARGUMENT_WORDS - Room for salvo_argument_describe(). */
#define SALVO_ARGUMENT_WORDS 128

/** salvo_argument_describe() - "argument 2 'k' is float, 4 bytes", or that there is none. */
void salvo_argument_describe(const struct salvo_kernel_info *info, unsigned int index,
			     char words[SALVO_ARGUMENT_WORDS]);

/** salvo_kernel_fail() - Set the message of salvo_kernel_error(). Return: @err. */
int salvo_kernel_fail(struct salvo_kernel *kernel, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** salvo_kernel_fail_argument() - The same, after the argument's description. Return: -EINVAL. */
int salvo_kernel_fail_argument(struct salvo_kernel *kernel, unsigned int index,
			       const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif /* SALVO_LIB_ARGUMENT_H */
