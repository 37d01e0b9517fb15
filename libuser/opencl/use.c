// SPDX-License-Identifier: MIT
/*
 * use.c - the objects that a submission keeps until it is done
 *
 * Each object is kept once: its mark is the serial of the last submission that took it. The
 * context's lock protects all of it.
 */
#include "submission.h"

#include <errno.h>

#include "cl_memory.h"

/* Marks are of no use to a recording: each time it is enqueued its objects get others. */
static bool is_recorded(struct salvo_cl_submission *recording,
			const struct salvo_cl_object *object, uint32_t access)
{
	unsigned int i;

	for (i = 0; i < recording->use_count; i++)
		if (recording->uses[i].object == object) {
			recording->uses[i].access |= access;
			return true;
		}
	return false;
}

int salvo_cl_submission_use(struct salvo_cl_submission *submission,
			    struct salvo_cl_object *object, uint32_t access)
{
	const bool is_mem = object->kind == SALVO_CL_MEM && !submission->recording;

	/* With several GPUs each access counts, for the migration. */
	if (object->mark == submission->serial &&
	    (!is_mem || submission->queue->context->gpu_count == 1))
		return 0;
	if (submission->recording && is_recorded(submission, object, access))
		return 0;
	if (salvo_cl_array_reserve(&submission->uses, &submission->use_capacity,
				   submission->use_count + 1, sizeof(*submission->uses)))
		return -ENOMEM;
	salvo_cl_object_get(object);
	object->mark = submission->serial;
	if (is_mem)
		atomic_fetch_add_explicit(&((cl_mem)object)->root->pending, 1,
					  memory_order_relaxed);
	submission->uses[submission->use_count++] = (struct salvo_cl_use){ object, access };
	return 0;
}
