/* SPDX-License-Identifier: MIT */
/*
 * command_buffer.h - command buffers, and their commands that can be changed
 */
#ifndef SALVO_CL_COMMAND_BUFFER_H
#define SALVO_CL_COMMAND_BUFFER_H

#include "extensions.h"
#include "ndrange.h"
#include "submission.h"

/** struct salvo_cl_sync_point - What a sync point stands for: commands of part @part. */
struct salvo_cl_sync_point {
	unsigned int part;
	unsigned int first;
	unsigned int count;
};

/**
 * struct _cl_command_buffer_khr - A command buffer.
 */
struct _cl_command_buffer_khr {
	struct salvo_cl_object base;
	/** @queue: Of the application; @recorder: the queue that records, see queue.h. */
	cl_command_queue queue;
	cl_command_queue recorder;
	cl_command_buffer_properties_khr *properties;
	size_t property_count;
	bool is_mutable;
	/** @final: It is not recorded any more. The context's lock protects what follows. */
	bool final;
	/** @parts: That are full; what is recorded goes to the recorder's, the last part. */
	struct salvo_cl_submission **parts;
	unsigned int part_count;
	struct salvo_cl_sync_point *points;
	unsigned int point_count;
	unsigned int point_capacity;
	cl_mutable_command_khr commands;
};

/**
 * struct _cl_mutable_command_khr - A dispatch in a command buffer; lives as long as that.
 */
struct _cl_mutable_command_khr {
	struct salvo_cl_object base;
	cl_mutable_command_khr next;
	cl_command_buffer_khr buffer;
	/** @kernel: A clone of @original, with the arguments of this dispatch. */
	cl_kernel kernel;
	cl_kernel original;
	struct salvo_kernel *salvo;
	/** @part: In which it is recorded; @index: of the dispatch in its batch. */
	struct salvo_cl_submission *part;
	unsigned int index;
	cl_command_properties_khr *properties;
	size_t property_count;
	cl_mutable_dispatch_fields_khr fields;
	struct salvo_cl_grid grid;
	/** @given: The local size was given, not chosen. */
	bool given;
};

/** struct salvo_cl_sync - The parameters that all clCommand*KHR() have. */
struct salvo_cl_sync {
	cl_command_queue queue;
	const cl_command_properties_khr *properties;
	cl_uint count;
	const cl_sync_point_khr *waits;
	cl_sync_point_khr *point;
	cl_mutable_command_khr *handle;
};

/**
 * salvo_cl_buffer_check() - The checks that come first in all clCommand*KHR().
 *
 * Begins another part if the last one is full: the next command goes there.
 */
cl_int salvo_cl_buffer_check(cl_command_buffer_khr buffer, const struct salvo_cl_sync *sync);
/**
 * salvo_cl_buffer_add() - What was recorded from @start on is one command.
 * @err: Of recording.
 */
cl_int salvo_cl_buffer_add(cl_command_buffer_khr buffer, const struct salvo_cl_sync *sync,
			   unsigned int start, cl_int err);
/** salvo_cl_buffer_count() - Commands that are in the last part. */
unsigned int salvo_cl_buffer_count(cl_command_buffer_khr buffer);

/** salvo_cl_buffer_is_complete() - Are all arguments of its kernels set? */
bool salvo_cl_buffer_is_complete(const struct _cl_command_buffer_khr *buffer);
/** salvo_cl_mutable_destroy() - Free a command that is in no list. */
void salvo_cl_mutable_destroy(cl_mutable_command_khr command);

/* Entry points of the two extensions; Debian's header declares older ones. */
extern const struct salvo_cl_extension_entry salvo_cl_buffer_entries[];
extern const struct salvo_cl_extension_entry salvo_cl_buffer_command_entries[];
extern const struct salvo_cl_extension_entry salvo_cl_mutable_entries[];

#endif /* SALVO_CL_COMMAND_BUFFER_H */
