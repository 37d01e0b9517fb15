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
 * struct salvo_frames - A device, for an element and for the memory that it offers to others.
 *
 * The allocator of that memory may outlive the element; both hold a reference.
 */
struct salvo_frames {
	struct salvo_device *device;
	gboolean soft;
};

/** salvo_frames_open() - Open a device for @element. Return: NULL after an error on its bus. */
struct salvo_frames *salvo_frames_open(GstElement *element, const gchar *device);
/** salvo_frames_put() - Drop a reference; @frames may be NULL. */
void salvo_frames_put(struct salvo_frames *frames);
/**
 * salvo_frames_offer() - Add a pool and an allocator to an allocation query, of memory that the
 * GPU uses in place.
 */
void salvo_frames_offer(struct salvo_frames *frames, GstQuery *query);

struct salvo_imports;

/** salvo_imports_new() - A cache of buffers that import the memory of frames. */
struct salvo_imports *salvo_imports_new(struct salvo_device *device);
void salvo_imports_free(struct salvo_imports *imports);
/**
 * salvo_imports_get() - The buffer of a frame whose memory is one dma-buf or memfd.
 * @write: The GPU writes to it.
 * @offset: Out: byte offset of the frame in the buffer.
 *
 * Return: NULL if the memory is of another kind, or the device cannot use it.
 */
struct salvo_bo *salvo_imports_get(struct salvo_imports *imports, GstBuffer *frame,
				   gboolean write, uint64_t *offset);

#endif /* GST_SALVO_PLUGIN_H */
