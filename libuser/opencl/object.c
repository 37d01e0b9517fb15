// SPDX-License-Identifier: MIT
/*
 * object.c - handles and their references, and the answers of clGet*Info()
 *
 * A handle is the address of a struct that begins with struct salvo_cl_object. Its kind is checked
 * by every entry point and cleared when the object is destroyed. References are those of the
 * application (clRetain*, clRelease*) and those of other objects; the object lives until all are
 * gone. They are atomic, no lock is needed.
 */
#include "object.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "icd.h"

void salvo_cl_object_init(struct salvo_cl_object *object, enum salvo_cl_kind kind,
			  void (*destroy)(struct salvo_cl_object *object))
{
	object->dispatch = &salvo_cl_dispatch;
	object->kind = kind;
	atomic_init(&object->refs, 1);
	atomic_init(&object->external, 1);
	object->destroy = destroy;
}

void salvo_cl_object_put(struct salvo_cl_object *object)
{
	if (!object || atomic_fetch_sub_explicit(&object->refs, 1, memory_order_acq_rel) != 1)
		return;
	object->kind = SALVO_CL_DEAD;
	object->destroy(object);
}

bool salvo_cl_object_release(struct salvo_cl_object *object)
{
	unsigned int external = atomic_load_explicit(&object->external, memory_order_relaxed);

	do {
		if (!external)
			return false;
	} while (!atomic_compare_exchange_weak_explicit(&object->external, &external, external - 1,
							memory_order_acq_rel,
							memory_order_relaxed));
	salvo_cl_object_put(object);
	return true;
}

int salvo_cl_array_reserve(void *array, unsigned int *capacity, unsigned int want, size_t size)
{
	unsigned int most = *capacity;
	void *old, *more;

	if (want <= most)
		return 0;
	while (most < want)
		most = most * 2 + 4;
	memcpy(&old, array, sizeof(old));
	more = realloc(old, most * size);
	if (!more)
		return -ENOMEM;
	memcpy(array, &more, sizeof(more));
	*capacity = most;
	return 0;
}

cl_int salvo_cl_answer(const struct salvo_cl_answer *answer, const void *value, size_t size)
{
	if (answer->value) {
		if (answer->capacity < size)
			return CL_INVALID_VALUE;
		if (size)
			memcpy(answer->value, value, size);
	}
	if (answer->size_ret)
		*answer->size_ret = size;
	return CL_SUCCESS;
}

cl_int salvo_cl_answer_string(const struct salvo_cl_answer *answer, const char *string)
{
	return salvo_cl_answer(answer, string ? string : "", string ? strlen(string) + 1 : 1);
}

cl_int salvo_cl_error(int err)
{
	switch (err) {
	case 0:
		return CL_SUCCESS;
	case -ENOMEM:
	case -EAGAIN:
	case -EMFILE:
	case -ENFILE:
		return CL_OUT_OF_HOST_MEMORY;
	case -ENOSPC:
		return CL_MEM_OBJECT_ALLOCATION_FAILURE;
	case -EINVAL:
		return CL_INVALID_VALUE;
	default:
		return CL_OUT_OF_RESOURCES;
	}
}
