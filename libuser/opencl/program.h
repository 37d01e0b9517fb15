/* SPDX-License-Identifier: MIT */
/*
 * program.h - programs
 */
#ifndef SALVO_CL_PROGRAM_H
#define SALVO_CL_PROGRAM_H

#include "context.h"

/**
 * struct salvo_cl_code - A program in a GPU's memory. Kernels and commands hold references.
 */
struct salvo_cl_code {
	struct salvo_cl_object base;
	struct salvo_program *salvo;
	/** @next: Of the parts of a program. */
	struct salvo_cl_code *next;
};

/**
 * struct salvo_cl_build - A program on one of its devices. The program's lock protects it.
 */
struct salvo_cl_build {
	cl_device_id device;
	cl_build_status status;
	char *options;
	char *log;
	/** @object: What was built or loaded last, or NULL. */
	struct salvo_object *object;
	/** @code: Of a program that can run, once salvo_cl_build_code() has loaded it. */
	struct salvo_cl_code *code;
	/** @described: Its kernels before that, if the compiler was to go on; or NULL. */
	struct salvo_cl_code *described;
	/** @parts: Loaded ones, with the kernels that were wanted before there was more. */
	struct salvo_cl_code *parts;
	/** @uniform: Work-groups must have one size. */
	bool uniform;
};

/**
 * struct _cl_program - A program.
 */
struct _cl_program {
	struct salvo_cl_object base;
	cl_context context;
	/** @source: All its strings, or NULL. */
	char *source;
	/** @linked: Made by clLinkProgram(). */
	bool linked;
	struct salvo_cl_build *builds;
	unsigned int build_count;
	/** @kernels: Kernels that exist: the program cannot be built again. */
	atomic_uint kernels;
	/** @lock: Protects @builds and @releases. */
	pthread_mutex_t lock;
	struct salvo_cl_notify *releases;
};

/** salvo_cl_program_build_for() - The program on a device, or NULL. */
struct salvo_cl_build *salvo_cl_program_build_for(cl_program program, cl_device_id device);
/**
 * salvo_cl_program_create() - A program without a source for some devices of a context.
 * @devices: @count of them, with references of their own; NULL: all.
 */
cl_program salvo_cl_program_create(cl_context context, cl_uint count, const cl_device_id *devices);
/** salvo_cl_build_reset() - Forget what was built. The program's lock is held, or nobody has it. */
void salvo_cl_build_reset(struct salvo_cl_build *build);
/**
 * salvo_cl_build_code() - The code of a program that was built, or NULL. The lock is held.
 *
 * Waits for the compiler, which goes on when a build is done. If it fails then, so has the build.
 */
struct salvo_cl_code *salvo_cl_build_code(struct salvo_cl_build *build);
/**
 * salvo_cl_build_move() - Give a kernel of @build->described its code.
 *
 * Waits for no more than it needs. Return: the code, or NULL.
 */
struct salvo_cl_code *salvo_cl_build_move(struct salvo_cl_build *build,
					  struct salvo_kernel *kernel, const char *name);
/**
 * salvo_cl_build_kernels() - The same, or the description of its kernels instead of waiting.
 *
 * It stays as long as the program has kernels.
 */
struct salvo_cl_code *salvo_cl_build_kernels(struct salvo_cl_build *build);
/** salvo_cl_program_kernels() - That of any device, or NULL. The lock is held. */
struct salvo_cl_code *salvo_cl_program_kernels(cl_program program);
/** salvo_cl_build_describe() - Describe the kernels of @build->object, if there is no code yet. */
void salvo_cl_build_describe(struct salvo_cl_build *build);
/** salvo_cl_build_load() - Load the program in @build->object. Return: 0 or a negative errno. */
int salvo_cl_build_load(struct salvo_cl_build *build);
/** salvo_cl_build_type() - CL_PROGRAM_BINARY_TYPE_*. */
cl_program_binary_type salvo_cl_build_type(const struct salvo_cl_build *build);

#endif /* SALVO_CL_PROGRAM_H */
