// SPDX-License-Identifier: MIT
/*
 * memory.c - frames that the GPU uses where they are
 *
 * A frame whose memory is a dma-buf, or on the embedded GPU a memfd, is imported
 * once and found again by its inode, since pools use the same few buffers again and
 * again. The import keeps the memory, so an inode cannot come back for another file
 * meanwhile. The allocator lets elements upstream write frames into such memory.
 */
#include <gst/allocators/allocators.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugin.h"

#define MAX_IMPORTS	64u
#define PAGE_BYTES	4096u

/* --- the allocator ------------------------------------------------------------ */

#define SALVO_TYPE_MEMFD_ALLOCATOR salvo_memfd_allocator_get_type()
G_DECLARE_FINAL_TYPE(SalvoMemfdAllocator, salvo_memfd_allocator, SALVO, MEMFD_ALLOCATOR,
		     GstFdAllocator)

struct _SalvoMemfdAllocator {
	GstFdAllocator parent;
};

G_DEFINE_TYPE(SalvoMemfdAllocator, salvo_memfd_allocator, GST_TYPE_FD_ALLOCATOR)

/* Whole pages, and always some bytes behind the frame, for kernels that read whole vectors. */
static GstMemory *memfd_alloc(GstAllocator *allocator, gsize size, GstAllocationParams *params)
{
	const gsize all = (params->prefix + size + params->padding + PAGE_BYTES) / PAGE_BYTES *
			  PAGE_BYTES + PAGE_BYTES;
	GstMemory *memory;
	int fd = memfd_create("salvo-frame", MFD_CLOEXEC);

	if (fd < 0)
		return NULL;
	if (ftruncate(fd, all)) {
		close(fd);
		return NULL;
	}
	memory = gst_fd_allocator_alloc(allocator, fd, all, GST_FD_MEMORY_FLAG_KEEP_MAPPED);
	if (!memory)
		close(fd);
	else
		gst_memory_resize(memory, params->prefix, size);
	return memory;
}

static void salvo_memfd_allocator_class_init(SalvoMemfdAllocatorClass *class)
{
	GST_ALLOCATOR_CLASS(class)->alloc = memfd_alloc;
}

static void salvo_memfd_allocator_init(SalvoMemfdAllocator *allocator)
{
	GST_OBJECT_FLAG_UNSET(allocator, GST_ALLOCATOR_FLAG_CUSTOM_ALLOC);
}

GstAllocator *salvo_memfd_allocator_new(void)
{
	return gst_object_ref_sink(g_object_new(SALVO_TYPE_MEMFD_ALLOCATOR, NULL));
}

/* --- imports ------------------------------------------------------------------- */

struct import {
	dev_t device;
	ino_t inode;
	struct salvo_bo *bo;
};

struct salvo_imports {
	struct salvo_device *device;
	struct import known[MAX_IMPORTS];
	unsigned int count;
	unsigned int oldest;
};

struct salvo_imports *salvo_imports_new(struct salvo_device *device)
{
	struct salvo_imports *imports = g_new0(struct salvo_imports, 1);

	imports->device = device;
	return imports;
}

void salvo_imports_free(struct salvo_imports *imports)
{
	unsigned int i;

	if (!imports)
		return;
	for (i = 0; i < imports->count; i++)
		salvo_bo_destroy(imports->known[i].bo);
	g_free(imports);
}

struct salvo_bo *salvo_imports_get(struct salvo_imports *imports, GstBuffer *frame,
				   uint64_t *offset)
{
	GstMemory *memory = gst_buffer_peek_memory(frame, 0);
	struct import *import;
	struct salvo_bo *bo;
	struct stat stat;
	unsigned int i;
	int fd;

	if (gst_buffer_n_memory(frame) != 1 || !gst_is_fd_memory(memory))
		return NULL;
	fd = gst_fd_memory_get_fd(memory);
	if (fd < 0 || fstat(fd, &stat))
		return NULL;
	*offset = memory->offset;
	for (i = 0; i < imports->count; i++)
		if (imports->known[i].inode == stat.st_ino &&
		    imports->known[i].device == stat.st_dev)
			return imports->known[i].bo;
	if (salvo_bo_import_dmabuf(imports->device, fd, 0, &bo) &&
	    salvo_bo_import_dmabuf(imports->device, fd, SALVO_BO_READONLY, &bo))
		return NULL;
	if (imports->count < MAX_IMPORTS) {
		import = &imports->known[imports->count++];
	} else {
		import = &imports->known[imports->oldest++ % MAX_IMPORTS];
		salvo_bo_destroy(import->bo);
	}
	*import = (struct import){ .device = stat.st_dev, .inode = stat.st_ino, .bo = bo };
	return bo;
}
