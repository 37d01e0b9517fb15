// SPDX-License-Identifier: MIT
/*
 * memory.c - memory objects: buffers and sub-buffers, their memory, references and infos
 *
 * A memory object has a buffer of libsalvo on each GPU of its context; a sub-buffer, and an image
 * made from a buffer, is a part of its root's. In a context of several GPUs each byte has an owner,
 * the GPU that has the contents: extents of a root tell which. The CPU accesses the memory of the
 * context's first GPU where it lies: reads, writes and maps need no copy beyond their own.
 *
 * The memory of CL_MEM_USE_HOST_PTR is the GPU's memory where libsalvo can do that. Elsewhere the
 * object is shadowed: its contents are copied to and from the application's memory by maps.
 *
 * The context's lock protects extents, mappings and destructor callbacks; the rest does not
 * change, or belongs to the command that accesses the object.
 */
#include "cl_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "external.h"
#include "icd.h"
#include "pool.h"

/* The alignment of CL_DEVICE_MEM_BASE_ADDR_ALIGN, in bytes */
#define ORIGIN_ALIGN	128
#define HOST_ALIGN	64
#define PAGE_BYTES	4096u
/* Places in a page where objects start, aligned for all types, and from one to the next object */
#define STARTS		(PAGE_BYTES / ORIGIN_ALIGN)
#define START_STEP	19u
#define ACCESS_FLAGS	(CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY)
#define POINTER_FLAGS	(CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR)
#define HOST_FLAGS	(CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS)

static bool has_many(cl_mem_flags flags)
{
	return flags & (flags - 1);
}

cl_int salvo_cl_mem_check_flags(cl_mem_flags flags)
{
	const cl_mem_flags known = ACCESS_FLAGS | POINTER_FLAGS | HOST_FLAGS |
				   CL_MEM_KERNEL_READ_AND_WRITE;

	if ((flags & ~known) || has_many(flags & ACCESS_FLAGS) || has_many(flags & HOST_FLAGS) ||
	    ((flags & CL_MEM_USE_HOST_PTR) &&
	     (flags & (CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR))))
		return CL_INVALID_VALUE;
	return CL_SUCCESS;
}

/* --- creation ----------------------------------------------------------------------- */

static void destroy(struct salvo_cl_object *object)
{
	cl_mem mem = (cl_mem)object;
	cl_context context = mem->context;
	unsigned int i;

	salvo_cl_image_fini(mem);
	for (i = 0; mem->bos && i < context->gpu_count; i++)
		if (!i && mem->foreign)
			salvo_bo_destroy(mem->bos[i]);
		else
			salvo_cl_pool_put(context->pools[i], mem->bos[i]);
	salvo_cl_mappings_free(mem->mappings);
	salvo_cl_notify_run(mem->destructors, mem);
	if (mem->parent)
		salvo_cl_object_put(&mem->parent->base);
	free(mem->properties);
	free(mem->extents);
	free(mem->bos);
	free(mem);
	salvo_cl_object_put(&context->base);
}

static cl_mem allocate(cl_context context, cl_mem_object_type type, cl_mem_flags flags, size_t size)
{
	cl_mem mem = calloc(1, sizeof(*mem));

	if (!mem)
		return NULL;
	salvo_cl_object_init(&mem->base, SALVO_CL_MEM, destroy);
	salvo_cl_object_get(&context->base);
	mem->context = context;
	mem->type = type;
	mem->flags = flags & ACCESS_FLAGS ? flags : flags | CL_MEM_READ_WRITE;
	mem->size = size;
	mem->root = mem;
	return mem;
}

/*
 * Where in its memory an object starts. Processors first compare only the lowest 12 bits of the
 * address of a load with those of the stores before it, and a load that agrees with a store in
 * these waits for it: b[i] must not lie in its page as a[i] does in its own. With a step near the
 * golden ratio the first few objects are far apart, also where rows have half a page, or a quarter.
 *
 * Memory that the application asks for to be mapped starts with a page, as it does elsewhere.
 */
static size_t choose_start(cl_context context, cl_mem_flags flags, size_t size)
{
	unsigned int n;

	if (size < PAGE_BYTES || (flags & (CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR)))
		return 0;
	n = atomic_fetch_add_explicit(&context->starts, 1, memory_order_relaxed);
	return n * START_STEP % STARTS * ORIGIN_ALIGN;
}

/*
 * The application's memory is the GPU's where libsalvo can do that, and where it is aligned for
 * all types: a pointer to double16 in a kernel is one of 64 bytes to the CPU.
 */
static int create_bo(cl_mem mem, unsigned int gpu, int fd)
{
	struct salvo_device *device = mem->context->gpus[gpu];
	int err;

	if (!gpu && fd >= 0) {
		mem->external = true;
		mem->foreign = true;
		err = salvo_bo_import_dmabuf(device, fd, 0, &mem->bos[gpu]);
		if (err == -EACCES && (mem->flags & CL_MEM_READ_ONLY))
			err = salvo_bo_import_dmabuf(device, fd, SALVO_BO_READONLY, &mem->bos[gpu]);
		if (!err && salvo_bo_size(mem->bos[gpu]) < mem->size)
			err = -EINVAL;
		return err;
	}
	if (!gpu && mem->host_ptr && !((uintptr_t)mem->host_ptr % HOST_ALIGN) &&
	    !salvo_bo_create_from_memory(device, mem->host_ptr, mem->size, 0, &mem->bos[gpu])) {
		mem->foreign = true;
		return 0;
	}
	/* As many bytes for each start, so that the pool has memory that fits. */
	return salvo_cl_pool_get(mem->context->pools[gpu],
				 mem->size + (mem->size < PAGE_BYTES ? 0 : PAGE_BYTES),
				 &mem->bos[gpu]);
}

cl_mem salvo_cl_mem_create(cl_context context, cl_mem_object_type type, cl_mem_flags flags,
			   size_t size, void *host_ptr, int fd, cl_int *err)
{
	cl_mem mem = allocate(context, type, flags, size);
	unsigned int i;
	int result = 0;

	if (mem) {
		mem->bos = calloc(context->gpu_count, sizeof(struct salvo_bo *));
		mem->extents = malloc(sizeof(*mem->extents));
	}
	if (!mem || !mem->bos || !mem->extents) {
		if (mem)
			salvo_cl_object_put(&mem->base);
		*err = CL_OUT_OF_HOST_MEMORY;
		return NULL;
	}
	if (fd < 0)
		mem->origin = choose_start(context, flags, size);
	mem->extents[0] = (struct salvo_cl_extent){ .end = mem->origin + size };
	mem->extent_count = 1;
	mem->host_ptr = flags & CL_MEM_USE_HOST_PTR ? host_ptr : NULL;
	for (i = 0; !result && i < context->gpu_count; i++)
		result = create_bo(mem, i, fd);
	if (!result)
		result = salvo_bo_map(mem->bos[0], &mem->data);
	if (result) {
		salvo_cl_object_put(&mem->base);
		*err = salvo_cl_error(result);
		return NULL;
	}
	mem->shadowed = mem->host_ptr && mem->host_ptr != mem->data;
	if (host_ptr && host_ptr != mem->data)
		memcpy(salvo_cl_mem_data(mem), host_ptr, size);
	*err = CL_SUCCESS;
	return mem;
}

cl_mem salvo_cl_mem_create_part(cl_mem parent, cl_mem_object_type type, cl_mem_flags flags,
				size_t origin, size_t size, cl_int *err)
{
	cl_mem mem = allocate(parent->context, type,
			      salvo_cl_mem_inherit_flags(flags, parent->flags), size);

	if (!mem) {
		*err = CL_OUT_OF_HOST_MEMORY;
		return NULL;
	}
	salvo_cl_object_get(&parent->base);
	mem->parent = parent;
	mem->root = parent->root;
	mem->origin = parent->origin + origin;
	if (parent->host_ptr)
		mem->host_ptr = (char *)parent->host_ptr + origin;
	*err = CL_SUCCESS;
	return mem;
}

cl_mem_flags salvo_cl_mem_inherit_flags(cl_mem_flags flags, cl_mem_flags parent)
{
	if (!(flags & ACCESS_FLAGS))
		flags |= parent & ACCESS_FLAGS;
	if (!(flags & HOST_FLAGS))
		flags |= parent & HOST_FLAGS;
	return flags | (parent & POINTER_FLAGS);
}

cl_int salvo_cl_mem_set_properties(cl_mem mem, const cl_mem_properties *properties, size_t count)
{
	if (!count)
		return CL_SUCCESS;
	mem->properties = malloc(count * sizeof(*properties));
	if (!mem->properties)
		return CL_OUT_OF_HOST_MEMORY;
	memcpy(mem->properties, properties, count * sizeof(*properties));
	mem->property_count = count;
	return CL_SUCCESS;
}

/* Let an extent end at @at. Return: the index of the one that begins there. */
static int split_extents(cl_mem root, size_t at)
{
	struct salvo_cl_extent *extents;
	unsigned int i = 0;

	if (!at)
		return 0;
	while (root->extents[i].end < at)
		i++;
	if (root->extents[i].end == at)
		return i + 1;
	extents = realloc(root->extents, (root->extent_count + 1) * sizeof(*extents));
	if (!extents)
		return -ENOMEM;
	memmove(extents + i + 1, extents + i, (root->extent_count - i) * sizeof(*extents));
	extents[i].end = at;
	root->extents = extents;
	root->extent_count++;
	return i + 1;
}

static void merge_extents(cl_mem root)
{
	unsigned int i, count = 1;

	for (i = 1; i < root->extent_count; i++) {
		if (root->extents[i].owner != root->extents[count - 1].owner)
			count++;
		root->extents[count - 1] = root->extents[i];
	}
	root->extent_count = count;
}

static int copy_between(cl_mem root, unsigned int from, unsigned int to, size_t at, size_t bytes)
{
	void *src, *dst;
	int err = salvo_bo_map(root->bos[from], &src);

	if (!err)
		err = salvo_bo_map(root->bos[to], &dst);
	if (!err)
		memcpy((char *)dst + at, (char *)src + at, bytes);
	return err;
}

/* Bytes have one owner at a time, for reads too; parts of a buffer may have different ones. */
int salvo_cl_mem_migrate(cl_mem mem, unsigned int gpu, uint32_t access)
{
	cl_mem root = mem->root;
	int err = 0, i, end;

	(void)access;
	if (mem->context->gpu_count == 1)
		return 0;
	i = split_extents(root, mem->origin);
	end = i < 0 ? i : split_extents(root, mem->origin + mem->size);
	if (end < 0)
		return end;
	for (; !err && i < end; i++) {
		struct salvo_cl_extent *extent = &root->extents[i];
		const size_t at = i ? extent[-1].end : 0;

		if (extent->owner != gpu)
			err = copy_between(root, extent->owner, gpu, at, extent->end - at);
		if (!err)
			extent->owner = gpu;
	}
	merge_extents(root);
	return err;
}

int salvo_cl_mem_fetch(cl_mem mem)
{
	int err;

	if (mem->context->gpu_count == 1)
		return 0;
	pthread_mutex_lock(&mem->context->lock);
	err = salvo_cl_mem_migrate(mem, 0, SALVO_ARGUMENT_READ | SALVO_ARGUMENT_WRITE);
	pthread_mutex_unlock(&mem->context->lock);
	return err;
}

void salvo_cl_mem_damage(cl_mem mem, uint64_t serial)
{
	const size_t end = mem->origin + mem->size;
	cl_mem root = mem->root;

	if (serial < root->damaged)
		return;
	/* What failed before has been written by this submission, as far as it did not fail. */
	if (serial > root->damaged || mem->origin < root->damaged_from)
		root->damaged_from = mem->origin;
	if (serial > root->damaged || end > root->damaged_to)
		root->damaged_to = end;
	root->damaged = serial;
}

void salvo_cl_mem_replace(cl_mem mem)
{
	pthread_mutex_lock(&mem->context->lock);
	/* As if a submission of its own had written it */
	mem->root->writer = ++mem->context->serial;
	pthread_mutex_unlock(&mem->context->lock);
}

bool salvo_cl_mem_is_damaged(cl_mem mem)
{
	cl_mem root = mem->root;
	bool damaged;

	if (!atomic_load_explicit(&root->damaged, memory_order_relaxed))
		return false;
	pthread_mutex_lock(&mem->context->lock);
	/* What was submitted later may have written it since. */
	damaged = root->damaged && root->damaged >= root->writer &&
		  root->damaged_from < mem->origin + mem->size && mem->origin < root->damaged_to;
	pthread_mutex_unlock(&mem->context->lock);
	return damaged;
}

static size_t max_alloc(cl_context context)
{
	cl_ulong least = ~0ull, bytes;
	unsigned int i;

	for (i = 0; i < context->device_count; i++)
		if (!salvo_clGetDeviceInfo(context->devices[i], CL_DEVICE_MAX_MEM_ALLOC_SIZE,
					   sizeof(bytes), &bytes, NULL) && bytes < least)
			least = bytes;
	return least;
}

static cl_mem create_buffer(cl_context context, const cl_mem_properties *properties,
			    cl_mem_flags flags, size_t size, void *host_ptr, cl_int *err)
{
	size_t count;
	cl_mem mem;
	int fd;

	*err = CL_INVALID_CONTEXT;
	if (!salvo_cl_is(context, SALVO_CL_CONTEXT))
		return NULL;
	*err = salvo_cl_external_read(context, properties, &fd, &count);
	if (*err)
		return NULL;
	if (salvo_cl_mem_check_flags(flags) || (fd >= 0 && (flags & POINTER_FLAGS)))
		*err = CL_INVALID_VALUE;
	else if (!size || size > max_alloc(context))
		*err = CL_INVALID_BUFFER_SIZE;
	else if (!host_ptr != !(flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)))
		*err = CL_INVALID_HOST_PTR;
	else
		*err = CL_SUCCESS;
	if (*err)
		return NULL;
	mem = salvo_cl_mem_create(context, CL_MEM_OBJECT_BUFFER, flags, size, host_ptr, fd, err);
	if (mem)
		*err = salvo_cl_mem_set_properties(mem, properties, count);
	if (mem && *err) {
		salvo_cl_object_put(&mem->base);
		mem = NULL;
	}
	return mem;
}

cl_mem salvo_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host_ptr,
			    cl_int *errcode_ret)
{
	return salvo_clCreateBufferWithProperties(context, NULL, flags, size, host_ptr,
						  errcode_ret);
}

cl_mem salvo_clCreateBufferWithProperties(cl_context context, const cl_mem_properties *properties,
					  cl_mem_flags flags, size_t size, void *host_ptr,
					  cl_int *errcode_ret)
{
	cl_int err;
	cl_mem mem = create_buffer(context, properties, flags, size, host_ptr, &err);

	salvo_cl_report(errcode_ret, err);
	return mem;
}

/* Do the flags of a sub-buffer allow no more than its buffer's? */
static bool may_inherit(cl_mem_flags flags, cl_mem_flags parent)
{
	if ((parent & CL_MEM_WRITE_ONLY) && (flags & (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY)))
		return false;
	if ((parent & CL_MEM_READ_ONLY) && (flags & (CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY)))
		return false;
	if ((parent & CL_MEM_HOST_WRITE_ONLY) && (flags & CL_MEM_HOST_READ_ONLY))
		return false;
	if ((parent & CL_MEM_HOST_READ_ONLY) && (flags & CL_MEM_HOST_WRITE_ONLY))
		return false;
	return !(parent & CL_MEM_HOST_NO_ACCESS) ||
	       !(flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY));
}

static cl_int check_region(cl_mem buffer, const cl_buffer_region *region)
{
	if (region->origin > buffer->size || region->size > buffer->size - region->origin)
		return CL_INVALID_VALUE;
	if (!region->size)
		return CL_INVALID_BUFFER_SIZE;
	return region->origin % ORIGIN_ALIGN ? CL_MISALIGNED_SUB_BUFFER_OFFSET : CL_SUCCESS;
}

cl_mem salvo_clCreateSubBuffer(cl_mem buffer, cl_mem_flags flags, cl_buffer_create_type type,
			       const void *info, cl_int *errcode_ret)
{
	const cl_buffer_region *region = info;
	cl_mem mem = NULL;
	cl_int err;

	if (!salvo_cl_is(buffer, SALVO_CL_MEM) || buffer->type != CL_MEM_OBJECT_BUFFER ||
	    buffer->parent)
		err = CL_INVALID_MEM_OBJECT;
	else if (salvo_cl_mem_check_flags(flags) || (flags & POINTER_FLAGS) ||
		 !may_inherit(flags, buffer->flags) || type != CL_BUFFER_CREATE_TYPE_REGION ||
		 !region)
		err = CL_INVALID_VALUE;
	else
		err = check_region(buffer, region);
	if (!err)
		mem = salvo_cl_mem_create_part(buffer, CL_MEM_OBJECT_BUFFER, flags, region->origin,
					       region->size, &err);
	salvo_cl_report(errcode_ret, err);
	return mem;
}

/* --- references and infos --------------------------------------------------------------- */

cl_int salvo_clRetainMemObject(cl_mem mem)
{
	if (!salvo_cl_is(mem, SALVO_CL_MEM))
		return CL_INVALID_MEM_OBJECT;
	salvo_cl_object_retain(&mem->base);
	return CL_SUCCESS;
}

cl_int salvo_clReleaseMemObject(cl_mem mem)
{
	if (!salvo_cl_is(mem, SALVO_CL_MEM) || !salvo_cl_object_release(&mem->base))
		return CL_INVALID_MEM_OBJECT;
	return CL_SUCCESS;
}

cl_int salvo_clSetMemObjectDestructorCallback(cl_mem mem, void(CL_CALLBACK *notify)(cl_mem, void *),
					      void *user_data)
{
	cl_int err;

	if (!salvo_cl_is(mem, SALVO_CL_MEM))
		return CL_INVALID_MEM_OBJECT;
	if (!notify)
		return CL_INVALID_VALUE;
	pthread_mutex_lock(&mem->context->lock);
	err = salvo_cl_notify_add(&mem->destructors, (void (*)(void *, void *))(void *)notify,
				  user_data);
	pthread_mutex_unlock(&mem->context->lock);
	return err;
}

cl_int salvo_clGetMemObjectInfo(cl_mem mem, cl_mem_info name, size_t size, void *value,
				size_t *size_ret)
{
	const struct salvo_cl_answer answer = { size, value, size_ret };

	if (!salvo_cl_is(mem, SALVO_CL_MEM))
		return CL_INVALID_MEM_OBJECT;
	switch (name) {
	case CL_MEM_TYPE:
		return SALVO_CL_ANSWER(&answer, cl_mem_object_type, mem->type);
	case CL_MEM_FLAGS:
		return SALVO_CL_ANSWER(&answer, cl_mem_flags, mem->flags);
	case CL_MEM_SIZE:
		return SALVO_CL_ANSWER(&answer, size_t, mem->size);
	case CL_MEM_HOST_PTR:
		return SALVO_CL_ANSWER(&answer, void *, mem->host_ptr);
	case CL_MEM_MAP_COUNT:
		return SALVO_CL_ANSWER(&answer, cl_uint, mem->map_count);
	case CL_MEM_REFERENCE_COUNT:
		return SALVO_CL_ANSWER(&answer, cl_uint, salvo_cl_object_count(&mem->base));
	case CL_MEM_CONTEXT:
		return SALVO_CL_ANSWER(&answer, cl_context, mem->context);
	case CL_MEM_ASSOCIATED_MEMOBJECT:
		return SALVO_CL_ANSWER(&answer, cl_mem, mem->parent);
	case CL_MEM_OFFSET:
		return SALVO_CL_ANSWER(&answer, size_t, mem->parent && !mem->image ?
				       mem->origin - mem->parent->origin : 0);
	case CL_MEM_USES_SVM_POINTER:
		return SALVO_CL_ANSWER(&answer, cl_bool, CL_FALSE);
	case CL_MEM_PROPERTIES:
		return salvo_cl_answer(&answer, mem->properties,
				       mem->property_count * sizeof(*mem->properties));
	default:
		return CL_INVALID_VALUE;
	}
}
