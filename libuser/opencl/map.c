// SPDX-License-Identifier: MIT
/*
 * map.c - map and unmap memory objects, migrate them
 *
 * A map is a command of the host that copies nothing: the application gets the address of the
 * memory itself, which is complete when everything before the map is done. Only a shadowed object
 * (memory.c) is copied, to the application's memory by the map and from it by the unmap.
 *
 * The list of mappings is what clEnqueueUnmapMemObject() checks a pointer by; the context's
 * lock protects it.
 */
#include <stdlib.h>

#include "icd.h"
#include "image.h"
#include "map.h"
#include "transfer.h"

#define REQUEST(command, is_blocking) {						\
	.queue = queue, .type = command, .blocking = is_blocking,		\
	.wait_count = wait_count, .waits = waits, .event = event,		\
}

/**
 * struct salvo_cl_mapping - A region that the application has mapped.
 */
struct salvo_cl_mapping {
	struct salvo_cl_mapping *next;
	/** @pointer: What the application got. */
	void *pointer;
	cl_map_flags flags;
	struct salvo_cl_box box;
};

/**
 * struct mapping_command - A map or unmap as a command of the host.
 */
struct mapping_command {
	struct salvo_cl_host host;
	cl_mem mem;
	/** @box: What to copy between memory and shadow, which lie alike. */
	struct salvo_cl_box box;
	bool copies;
	bool to_mem;
	/** @reads: The application is going to read it. */
	bool reads;
};

static cl_int run(struct salvo_cl_host *host)
{
	struct mapping_command *command = (struct mapping_command *)host;
	cl_mem mem = command->mem;

	if (salvo_cl_mem_fetch(mem))
		return CL_OUT_OF_RESOURCES;
	if (command->copies)
		salvo_cl_box_copy(&command->box, salvo_cl_mem_data(mem), mem->host_ptr,
				  command->to_mem);
	return command->reads && salvo_cl_mem_is_damaged(mem) ? CL_OUT_OF_RESOURCES : CL_COMPLETE;
}

static void release(struct salvo_cl_host *host)
{
	free(host);
}

static cl_int enqueue(const struct salvo_cl_request *request, cl_mem mem,
		      const struct salvo_cl_box *box, bool copies, bool to_mem, bool reads)
{
	struct mapping_command *command = malloc(sizeof(*command));

	if (!command)
		return CL_OUT_OF_HOST_MEMORY;
	*command = (struct mapping_command){
		.host = { .run = run, .release = release, .mems = { mem } },
		.mem = mem, .box = *box, .copies = copies, .to_mem = to_mem, .reads = reads,
	};
	return salvo_cl_host_enqueue(&command->host, request->queue, request->type,
				     request->blocking, request->wait_count, request->waits,
				     request->event);
}

cl_int salvo_cl_bring_to_host(const struct salvo_cl_request *request, cl_mem mem)
{
	const struct salvo_cl_box none = { 0 };

	if (mem->context->gpu_count == 1)
		return salvo_cl_nothing(request, mem);
	return enqueue(request, mem, &none, false, false, false);
}

void salvo_cl_mappings_free(struct salvo_cl_mapping *mapping)
{
	struct salvo_cl_mapping *next;

	for (; mapping; mapping = next) {
		next = mapping->next;
		free(mapping);
	}
}

static cl_int check_flags(cl_mem mem, cl_map_flags flags)
{
	const cl_map_flags known = CL_MAP_READ | CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;

	if ((flags & ~known) ||
	    ((flags & CL_MAP_WRITE_INVALIDATE_REGION) && (flags & (CL_MAP_READ | CL_MAP_WRITE))))
		return CL_INVALID_VALUE;
	if ((flags & CL_MAP_READ) &&
	    (mem->flags & (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS)))
		return CL_INVALID_OPERATION;
	if ((flags & ~CL_MAP_READ) &&
	    (mem->flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS)))
		return CL_INVALID_OPERATION;
	return CL_SUCCESS;
}

static void add_mapping(cl_mem mem, struct salvo_cl_mapping *mapping)
{
	pthread_mutex_lock(&mem->context->lock);
	mapping->next = mem->mappings;
	mem->mappings = mapping;
	mem->map_count++;
	pthread_mutex_unlock(&mem->context->lock);
}

static void *map(const struct salvo_cl_request *request, cl_mem mem, cl_map_flags flags,
		 const struct salvo_cl_box *box, cl_int *err)
{
	struct salvo_cl_mapping *mapping = malloc(sizeof(*mapping));
	char *base = mem->root->shadowed ? mem->host_ptr : salvo_cl_mem_data(mem);
	void *pointer = base + box->mem_at;

	if (!mapping) {
		*err = CL_OUT_OF_HOST_MEMORY;
		return NULL;
	}
	mapping->pointer = pointer;
	mapping->flags = flags;
	mapping->box = *box;
	*err = enqueue(request, mem, box,
		       mem->root->shadowed && !(flags & CL_MAP_WRITE_INVALIDATE_REGION), false,
		       flags & CL_MAP_READ);
	if (*err) {
		free(mapping);
		return NULL;
	}
	add_mapping(mem, mapping);
	return pointer;
}

void *salvo_clEnqueueMapBuffer(cl_command_queue queue, cl_mem mem, cl_bool blocking,
			       cl_map_flags flags, size_t offset, size_t size, cl_uint wait_count,
			       const cl_event *waits, cl_event *event, cl_int *errcode_ret)
{
	const struct salvo_cl_request request = REQUEST(CL_COMMAND_MAP_BUFFER, blocking);
	const struct salvo_cl_box box = salvo_cl_box_line(offset, offset, size);
	void *pointer = NULL;
	cl_int err = salvo_cl_request_check(&request, mem, false);

	if (!err && (!size || offset > mem->size || size > mem->size - offset))
		err = CL_INVALID_VALUE;
	if (!err)
		err = check_flags(mem, flags);
	if (!err)
		pointer = map(&request, mem, flags, &box, &err);
	salvo_cl_report(errcode_ret, err);
	return pointer;
}

void *salvo_clEnqueueMapImage(cl_command_queue queue, cl_mem mem, cl_bool blocking,
			      cl_map_flags flags, const size_t *origin, const size_t *region,
			      size_t *row_pitch, size_t *slice_pitch, cl_uint wait_count,
			      const cl_event *waits, cl_event *event, cl_int *errcode_ret)
{
	const struct salvo_cl_request request = REQUEST(CL_COMMAND_MAP_IMAGE, blocking);
	struct salvo_cl_box box;
	void *pointer = NULL;
	cl_int err = salvo_cl_request_check(&request, mem, true);

	if (!err && (!row_pitch || !salvo_cl_image_box(mem, origin, region, &box) ||
		     (!slice_pitch && mem->image->desc.image_slice_pitch)))
		err = CL_INVALID_VALUE;
	if (!err)
		err = check_flags(mem, flags);
	if (!err) {
		box.other_at = box.mem_at;
		box.other_row = box.mem_row;
		box.other_slice = box.mem_slice;
		pointer = map(&request, mem, flags, &box, &err);
	}
	if (pointer) {
		*row_pitch = mem->image->desc.image_row_pitch;
		if (slice_pitch)
			*slice_pitch = mem->image->desc.image_slice_pitch;
	}
	salvo_cl_report(errcode_ret, err);
	return pointer;
}

/* Dequeue the mapping of @pointer that was made last, or NULL. */
static struct salvo_cl_mapping *take_mapping(cl_mem mem, const void *pointer)
{
	struct salvo_cl_mapping **at, *mapping;

	pthread_mutex_lock(&mem->context->lock);
	for (at = &mem->mappings; *at && (*at)->pointer != pointer; at = &(*at)->next)
		;
	mapping = *at;
	if (mapping) {
		*at = mapping->next;
		mem->map_count--;
	}
	pthread_mutex_unlock(&mem->context->lock);
	return mapping;
}

cl_int salvo_clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem mem, void *pointer,
				     cl_uint wait_count, const cl_event *waits, cl_event *event)
{
	const struct salvo_cl_request request = REQUEST(CL_COMMAND_UNMAP_MEM_OBJECT, false);
	struct salvo_cl_mapping *mapping;
	cl_int err;

	err = salvo_cl_request_check(&request, mem, salvo_cl_is(mem, SALVO_CL_MEM) && mem->image);
	if (err)
		return err;
	mapping = take_mapping(mem, pointer);
	if (!mapping)
		return CL_INVALID_VALUE;
	if (mem->root->shadowed && mapping->flags != CL_MAP_READ)
		err = enqueue(&request, mem, &mapping->box, true, true, false);
	else
		err = salvo_cl_nothing(&request, mem);
	if (!err && mapping->flags != CL_MAP_READ)
		salvo_cl_mem_repair(mem);
	/* What was not enqueued leaves it mapped. */
	if (err)
		add_mapping(mem, mapping);
	else
		free(mapping);
	return err;
}

cl_int salvo_clEnqueueMigrateMemObjects(cl_command_queue queue, cl_uint count, const cl_mem *mems,
					cl_mem_migration_flags flags, cl_uint wait_count,
					const cl_event *waits, cl_event *event)
{
	const struct salvo_cl_request request = REQUEST(CL_COMMAND_MIGRATE_MEM_OBJECTS, false);
	cl_int err = salvo_cl_command_check(queue, wait_count, waits);
	cl_uint i;

	if (err)
		return err;
	if (!count || !mems ||
	    (flags & ~(CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED)))
		return CL_INVALID_VALUE;
	for (i = 0; i < count; i++) {
		if (!salvo_cl_is(mems[i], SALVO_CL_MEM))
			return CL_INVALID_MEM_OBJECT;
		if (mems[i]->context != queue->context)
			return CL_INVALID_CONTEXT;
	}
	return salvo_cl_nothing(&request, mems[0]);
}
