/* SPDX-License-Identifier: MIT */
/*
 * options.h - the options of clBuildProgram(), clCompileProgram() and clLinkProgram()
 */
#ifndef SALVO_CL_OPTIONS_H
#define SALVO_CL_OPTIONS_H

#include <stdbool.h>

/**
 * struct salvo_cl_options - Options, checked.
 */
struct salvo_cl_options {
	/** @words: For salvo-cc; free() it. */
	char *words;
	/** @uniform: Work-groups must have one size. */
	bool uniform;
	/** @library: -create-library. */
	bool library;
};

enum salvo_cl_step { SALVO_CL_COMPILE, SALVO_CL_LINK };

/**
 * salvo_cl_options_read() - Check options against those that OpenCL has.
 * @text: May be NULL.
 * @step: What they are for; a build takes those of SALVO_CL_COMPILE.
 *
 * Return: 0, -EINVAL (an unknown one, or one without its value), -ENOMEM.
 */
int salvo_cl_options_read(struct salvo_cl_options *options, const char *text,
			  enum salvo_cl_step step);

#endif /* SALVO_CL_OPTIONS_H */
