// SPDX-License-Identifier: MIT
/*
 * memory.c - frames that the GPU uses in place
 *
 * A frame whose memory is a dma-buf, or on the embedded GPU a memfd, is imported once and
 * looked up by its inode, since pools reuse a few buffers. The import holds a reference to the
 * memory, so that its inode is not reused meanwhile. The elements also offer such memory
 * to the elements upstream: dma-bufs in video memory, or memfds for the embedded GPU.
 */
#include <gst/allocators/allocators.h>
#include <gst/video/video.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugin.h"

#define MAX_IMPORTS	64u
#define PAGE_BYTES	4096u

/* --- the device --------------------------------------------------------------- */

struct salvo_frames *salvo_frames_open(GstElement *element, const gchar *device)
{
	struct salvo_frames *frames = g_atomic_rc_box_new0(struct salvo_frames);
	struct salvo_device_info info;
	int err = salvo_device_open(device, &frames->device);

	if (err) {
		GST_ELEMENT_ERROR(element, RESOURCE, OPEN_READ_WRITE,
				  ("%s: %s", device ? device : "no device", g_strerror(-err)),
				  (NULL));
		g_atomic_rc_box_release(frames);
		return NULL;
	}
	salvo_device_get_info(frames->device, &info);
	frames->soft = !strcmp(info.name, "soft");
	return frames;
}

static void close_device(gpointer frames)
{
	salvo_device_close(((struct salvo_frames *)frames)->device);
}

void salvo_frames_put(struct salvo_frames *frames)
{
	if (frames)
		g_atomic_rc_box_release_full(frames, close_device);
}

/* --- the allocators ----------------------------------------------------------- */

#define SALVO_TYPE_MEMFD_ALLOCATOR salvo_memfd_allocator_get_type()
G_DECLARE_FINAL_TYPE(SalvoMemfdAllocator, salvo_memfd_allocator, SALVO, MEMFD_ALLOCATOR,
		     GstFdAllocator)

struct _SalvoMemfdAllocator {
	GstFdAllocator parent;
};

G_DEFINE_TYPE(SalvoMemfdAllocator, salvo_memfd_allocator, GST_TYPE_FD_ALLOCATOR)

#define SALVO_TYPE_VRAM_ALLOCATOR salvo_vram_allocator_get_type()
G_DECLARE_FINAL_TYPE(SalvoVramAllocator, salvo_vram_allocator, SALVO, VRAM_ALLOCATOR,
		     GstDmaBufAllocator)

struct _SalvoVramAllocator {
	GstDmaBufAllocator parent;
	struct salvo_frames *frames;
};

G_DEFINE_TYPE(SalvoVramAllocator, salvo_vram_allocator, GST_TYPE_DMABUF_ALLOCATOR)

/* Whole pages, with some bytes past the frame for kernels that read whole vectors. */
static gsize room_for(gsize size, const GstAllocationParams *params)
{
	return (params->prefix + size + params->padding + PAGE_BYTES) / PAGE_BYTES * PAGE_BYTES +
	       PAGE_BYTES;
}

/* Resizes @memory to what was requested; closes the descriptor if it was not created. */
static GstMemory *finish_memory(GstMemory *memory, int fd, gsize size,
				const GstAllocationParams *params)
{
	if (!memory)
		close(fd);
	else
		gst_memory_resize(memory, params->prefix, size);
	return memory;
}

static GstMemory *memfd_alloc(GstAllocator *allocator, gsize size, GstAllocationParams *params)
{
	const gsize all = room_for(size, params);
	int fd = memfd_create("salvo-frame", MFD_CLOEXEC);

	if (fd < 0)
		return NULL;
	if (ftruncate(fd, all)) {
		close(fd);
		return NULL;
	}
	return finish_memory(gst_fd_allocator_alloc(allocator, fd, all,
						    GST_FD_MEMORY_FLAG_KEEP_MAPPED),
			     fd, size, params);
}

/* The dma-buf keeps the buffer alive. If video memory is full, system memory is allocated. */
static GstMemory *vram_alloc(GstAllocator *allocator, gsize size, GstAllocationParams *params)
{
	struct salvo_frames *frames = SALVO_VRAM_ALLOCATOR(allocator)->frames;
	const gsize all = room_for(size, params);
	struct salvo_bo *bo;
	int fd = -1;

	if (!salvo_bo_create(frames->device, all, 0, &bo)) {
		salvo_bo_export_dmabuf(bo, &fd);
		salvo_bo_destroy(bo);
	}
	if (fd < 0)
		return gst_allocator_alloc(NULL, size, params);
	return finish_memory(gst_dmabuf_allocator_alloc_with_flags(allocator, fd, all,
								   GST_FD_MEMORY_FLAG_KEEP_MAPPED),
			     fd, size, params);
}

static void vram_finalize(GObject *object)
{
	salvo_frames_put(SALVO_VRAM_ALLOCATOR(object)->frames);
	G_OBJECT_CLASS(salvo_vram_allocator_parent_class)->finalize(object);
}

static void salvo_memfd_allocator_class_init(SalvoMemfdAllocatorClass *class)
{
	GST_ALLOCATOR_CLASS(class)->alloc = memfd_alloc;
}

static void salvo_memfd_allocator_init(SalvoMemfdAllocator *allocator)
{
	GST_OBJECT_FLAG_UNSET(allocator, GST_ALLOCATOR_FLAG_CUSTOM_ALLOC);
}

static void salvo_vram_allocator_class_init(SalvoVramAllocatorClass *class)
{
	G_OBJECT_CLASS(class)->finalize = vram_finalize;
	GST_ALLOCATOR_CLASS(class)->alloc = vram_alloc;
}

static void salvo_vram_allocator_init(SalvoVramAllocator *allocator)
{
	GST_OBJECT_FLAG_UNSET(allocator, GST_ALLOCATOR_FLAG_CUSTOM_ALLOC);
}

static GstAllocator *create_allocator(struct salvo_frames *frames)
{
	SalvoVramAllocator *vram;

	if (frames->soft)
		return gst_object_ref_sink(g_object_new(SALVO_TYPE_MEMFD_ALLOCATOR, NULL));
	vram = g_object_new(SALVO_TYPE_VRAM_ALLOCATOR, NULL);
	vram->frames = g_atomic_rc_box_acquire(frames);
	return gst_object_ref_sink(vram);
}

void salvo_frames_offer(struct salvo_frames *frames, GstQuery *query)
{
	GstAllocationParams params;
	GstAllocator *allocator;
	GstVideoInfo video;
	GstBufferPool *pool;
	GstStructure *config;
	GstCaps *caps;

	gst_query_parse_allocation(query, &caps, NULL);
	if (!caps || !gst_video_info_from_caps(&video, caps))
		return;
	allocator = create_allocator(frames);
	gst_allocation_params_init(&params);
	pool = gst_video_buffer_pool_new();
	config = gst_buffer_pool_get_config(pool);
	gst_buffer_pool_config_set_params(config, caps, GST_VIDEO_INFO_SIZE(&video), 2, 0);
	gst_buffer_pool_config_set_allocator(config, allocator, &params);
	if (gst_buffer_pool_set_config(pool, config))
		gst_query_add_allocation_pool(query, pool, GST_VIDEO_INFO_SIZE(&video), 2, 0);
	gst_query_add_allocation_param(query, allocator, &params);
	gst_object_unref(pool);
	gst_object_unref(allocator);
}

/* --- imports ------------------------------------------------------------------- */

struct import {
	dev_t device;
	ino_t inode;
	struct salvo_bo *bo;
	gboolean readonly;
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

static struct import *find_import(struct salvo_imports *imports, const struct stat *stat)
{
	unsigned int i;

	for (i = 0; i < imports->count; i++)
		if (imports->known[i].inode == stat->st_ino &&
		    imports->known[i].device == stat->st_dev)
			return &imports->known[i];
	return NULL;
}

/* Replaces the oldest if all slots are used. */
static struct import *add_import(struct salvo_imports *imports, int fd, const struct stat *stat)
{
	struct import *import, fresh = { .device = stat->st_dev, .inode = stat->st_ino };

	if (salvo_bo_import_dmabuf(imports->device, fd, 0, &fresh.bo)) {
		fresh.readonly = TRUE;
		if (salvo_bo_import_dmabuf(imports->device, fd, SALVO_BO_READONLY, &fresh.bo))
			return NULL;
	}
	if (imports->count < MAX_IMPORTS) {
		import = &imports->known[imports->count++];
	} else {
		import = &imports->known[imports->oldest++ % MAX_IMPORTS];
		salvo_bo_destroy(import->bo);
	}
	*import = fresh;
	return import;
}

struct salvo_bo *salvo_imports_get(struct salvo_imports *imports, GstBuffer *frame,
				   gboolean write, uint64_t *offset)
{
	GstMemory *memory = gst_buffer_peek_memory(frame, 0);
	struct import *import;
	struct stat stat;
	int fd;

	if (gst_buffer_n_memory(frame) != 1 || !gst_is_fd_memory(memory))
		return NULL;
	fd = gst_fd_memory_get_fd(memory);
	if (fd < 0 || fstat(fd, &stat))
		return NULL;
	import = find_import(imports, &stat);
	if (!import)
		import = add_import(imports, fd, &stat);
	if (!import || (write && import->readonly))
		return NULL;
	*offset = memory->offset;
	return import->bo;
}
