/* SPDX-License-Identifier: MIT */
/*
 * object.h - what all handles of OpenCL begin with
 */
#ifndef SALVO_CL_OBJECT_H
#define SALVO_CL_OBJECT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cl_khronos.h"

/** enum salvo_cl_kind - The kinds of handle; no small numbers, so that other memory has none. */
enum salvo_cl_kind {
	SALVO_CL_DEAD = 0,
	SALVO_CL_PLATFORM = 0x53430001,
	SALVO_CL_DEVICE,
	SALVO_CL_CONTEXT,
	SALVO_CL_QUEUE,
	SALVO_CL_MEM,
	SALVO_CL_SAMPLER,
	SALVO_CL_PROGRAM,
	SALVO_CL_KERNEL,
	SALVO_CL_CODE,
	SALVO_CL_EVENT,
	SALVO_CL_SEMAPHORE,
	SALVO_CL_COMMAND_BUFFER,
	SALVO_CL_MUTABLE_COMMAND,
	SALVO_CL_STAGING,
};

/**
 * struct salvo_cl_object - The first member of struct _cl_context, _cl_mem, ...
 */
struct salvo_cl_object {
	/** @dispatch: Where the ICD loader finds it: first. */
	const struct _cl_icd_dispatch *dispatch;
	enum salvo_cl_kind kind;
	/** @refs: All references; @external are those of the application among them. */
	atomic_uint refs;
	atomic_uint external;
	/** @mark: The submission that took a reference last; the context's lock protects it. */
	uint64_t mark;
	void (*destroy)(struct salvo_cl_object *object);
};

/**
 * salvo_cl_object_init() - Begin an object with one reference, which is the application's.
 * @destroy: Frees the object when its last reference is gone.
 */
void salvo_cl_object_init(struct salvo_cl_object *object, enum salvo_cl_kind kind,
			  void (*destroy)(struct salvo_cl_object *object));

/** salvo_cl_object_get() - Take a reference of the library's own. Any thread. */
static inline void salvo_cl_object_get(struct salvo_cl_object *object)
{
	atomic_fetch_add_explicit(&object->refs, 1, memory_order_relaxed);
}

/** salvo_cl_object_put() - Drop it; the last one destroys the object. Any thread. */
void salvo_cl_object_put(struct salvo_cl_object *object);

/** salvo_cl_object_retain() - A reference of the application: clRetain*(). */
static inline void salvo_cl_object_retain(struct salvo_cl_object *object)
{
	atomic_fetch_add_explicit(&object->external, 1, memory_order_relaxed);
	salvo_cl_object_get(object);
}

/**
 * salvo_cl_object_release() - Drop a reference of the application: clRelease*().
 * Return: false, if the application has none; nothing was dropped then.
 */
bool salvo_cl_object_release(struct salvo_cl_object *object);

/** salvo_cl_object_count() - The answer to CL_*_REFERENCE_COUNT. */
static inline cl_uint salvo_cl_object_count(const struct salvo_cl_object *object)
{
	return atomic_load_explicit(&object->external, memory_order_relaxed);
}

/** salvo_cl_is() - Is it a live handle of this kind? Any address of an object may be given. */
static inline bool salvo_cl_is(const void *handle, enum salvo_cl_kind kind)
{
	return handle && ((const struct salvo_cl_object *)handle)->kind == kind;
}

/**
 * salvo_cl_array_reserve() - Make room for @want elements of @size bytes.
 * @array: The address of the pointer to them, of any type; NULL at first, from realloc().
 * @capacity: How many there is room for.
 *
 * Return: 0 or -ENOMEM.
 */
int salvo_cl_array_reserve(void *array, unsigned int *capacity, unsigned int want, size_t size);

/** salvo_cl_report() - Store an error code where the application wants one. */
static inline void salvo_cl_report(cl_int *errcode_ret, cl_int err)
{
	if (errcode_ret)
		*errcode_ret = err;
}

/**
 * struct salvo_cl_answer - Where clGet*Info() puts its answer.
 */
struct salvo_cl_answer {
	size_t capacity;
	void *value;
	size_t *size_ret;
};

/** salvo_cl_answer() - Answer with @size bytes. Return: CL_SUCCESS or CL_INVALID_VALUE. */
cl_int salvo_cl_answer(const struct salvo_cl_answer *answer, const void *value, size_t size);
/** salvo_cl_answer_string() - Answer with a string; NULL is "". */
cl_int salvo_cl_answer_string(const struct salvo_cl_answer *answer, const char *string);

/** define SALVO_CL_ANSWER - Answer with a value of type @type. */
#define SALVO_CL_ANSWER(answer, type, ...) \
	salvo_cl_answer(answer, &(const type){ __VA_ARGS__ }, sizeof(type))

/** salvo_cl_error() - The code of OpenCL for a negative errno of libsalvo; 0 is CL_SUCCESS. */
cl_int salvo_cl_error(int err);

#endif /* SALVO_CL_OBJECT_H */
