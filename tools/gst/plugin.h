/* SPDX-License-Identifier: MIT */
/*
 * plugin.h - the elements of the GStreamer plugin, and what they share
 */
#ifndef GST_SALVO_PLUGIN_H
#define GST_SALVO_PLUGIN_H

#include <gst/gst.h>

#include "salvo.h"

GST_ELEMENT_REGISTER_DECLARE(salvofaces);
GST_ELEMENT_REGISTER_DECLARE(salvobatch);

/**
 * salvo_memfd_allocator_new() - Memory in memfds, which the embedded GPU can use where it is.
 */
GstAllocator *salvo_memfd_allocator_new(void);

struct salvo_imports;

/** salvo_imports_new() - Buffers of a device for the memory of frames, kept for reuse. */
struct salvo_imports *salvo_imports_new(struct salvo_device *device);
void salvo_imports_free(struct salvo_imports *imports);
/**
 * salvo_imports_get() - The buffer of a frame whose memory is one dma-buf or memfd.
 * @offset: Of the frame's first byte in it.
 *
 * Return: NULL if it is not, or the device cannot use it.
 */
struct salvo_bo *salvo_imports_get(struct salvo_imports *imports, GstBuffer *frame,
				   uint64_t *offset);

#endif /* GST_SALVO_PLUGIN_H */
