/* SPDX-License-Identifier: MIT */
/*
 * program.h - programs
 */
#ifndef SALVO_CL_PROGRAM_H
#define SALVO_CL_PROGRAM_H

#include "context.h"

/**
 * struct _cl_program - A program.
 */
struct _cl_program {
	struct salvo_cl_object base;
	cl_context context;
};

#endif /* SALVO_CL_PROGRAM_H */
