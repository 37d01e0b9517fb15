// SPDX-License-Identifier: MIT
/*
 * feed.c - a camera's part: frames in dma-bufs of another driver, into GStreamer elements
 *
 *	feed CLIP WIDTH HEIGHT ELEMENTS...
 *
 * Each frame of CLIP (a byte for each pixel) lies in a dma-buf of vgem and is pushed into
 * ELEMENTS, as gst-launch-1.0 takes them. What salvofaces says goes to standard output; then,
 * while the elements still hold what they hold, the kernel's list of dma-bufs. Ends with 4 where
 * there is no vgem.
 */
#include <errno.h>
#include <fcntl.h>
#include <gst/allocators/allocators.h>
#include <gst/gst.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xf86drm.h>

#include "dmabuf.h"

#define SKIP 4

/* The next frame of the clip in a dma-buf; NULL at its end, or if anything is wrong. */
static GstBuffer *next_frame(int vgem, GstAllocator *allocator, FILE *clip, gsize bytes)
{
	GstMemory *memory;
	struct vgem_bo bo;
	GstBuffer *frame;

	if (vgem_create(vgem, bytes, DRM_CLOEXEC | DRM_RDWR, &bo))
		return NULL;
	if (fread(bo.map, 1, bytes, clip) != bytes) {
		vgem_destroy(vgem, &bo);
		return NULL;
	}
	memory = gst_dmabuf_allocator_alloc(allocator, dup(bo.fd), bo.size);
	gst_memory_resize(memory, 0, bytes);
	frame = gst_buffer_new();
	gst_buffer_append_memory(frame, memory);
	/* The dma-buf keeps the memory. */
	vgem_destroy(vgem, &bo);
	return frame;
}

static GstElement *create_pipeline(int width, int height, char **elements)
{
	gchar *rest = g_strjoinv(" ", elements), *line;
	GError *error = NULL;
	GstElement *pipeline;

	line = g_strdup_printf("appsrc name=src format=time ! video/x-raw(memory:DMABuf),"
			       "format=GRAY8,width=%d,height=%d,framerate=25/1 ! %s", width, height,
			       rest);
	pipeline = gst_parse_launch(line, &error);
	if (error) {
		fprintf(stderr, "feed: %s: %s\n", line, error->message);
		g_error_free(error);
	}
	g_free(rest);
	g_free(line);
	return pipeline;
}

/* Prints messages of elements until the end of the stream or an error. Return: is it the end? */
static gboolean watch(GstElement *pipeline)
{
	GstBus *bus = gst_element_get_bus(pipeline);
	GstMessageType type = GST_MESSAGE_ELEMENT;
	GError *error = NULL;
	GstMessage *message;
	gchar *text;

	while (type == GST_MESSAGE_ELEMENT) {
		message = gst_bus_timed_pop_filtered(bus, 60 * GST_SECOND, GST_MESSAGE_ELEMENT |
						     GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
		type = message ? GST_MESSAGE_TYPE(message) : GST_MESSAGE_UNKNOWN;
		if (type == GST_MESSAGE_UNKNOWN) {
			fprintf(stderr, "feed: nothing happens\n");
			break;
		}
		if (type == GST_MESSAGE_ELEMENT) {
			text = gst_structure_to_string(gst_message_get_structure(message));
			puts(text);
			g_free(text);
		} else if (type == GST_MESSAGE_ERROR) {
			gst_message_parse_error(message, &error, NULL);
			fprintf(stderr, "feed: %s\n", error->message);
			g_error_free(error);
		}
		gst_message_unref(message);
	}
	gst_object_unref(bus);
	return type == GST_MESSAGE_EOS;
}

static void print_dmabufs(void)
{
	gchar *list;

	if (g_file_get_contents("/sys/kernel/debug/dma_buf/bufinfo", &list, NULL, NULL)) {
		fputs(list, stdout);
		g_free(list);
	}
}

int main(int argc, char **argv)
{
	int width, height, vgem, result;
	GstFlowReturn flow = GST_FLOW_OK;
	GstElement *pipeline, *source;
	GstAllocator *allocator;
	GstBuffer *frame;
	FILE *clip;

	gst_init(&argc, &argv);
	if (argc < 5) {
		fprintf(stderr, "usage: feed CLIP WIDTH HEIGHT ELEMENTS...\n");
		return 2;
	}
	clip = fopen(argv[1], "rb");
	if (!clip) {
		fprintf(stderr, "feed: %s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	width = atoi(argv[2]);
	height = atoi(argv[3]);
	vgem = vgem_open();
	if (vgem < 0)
		return SKIP;
	allocator = gst_dmabuf_allocator_new();
	pipeline = create_pipeline(width, height, argv + 4);
	if (!pipeline)
		return 1;
	source = gst_bin_get_by_name(GST_BIN(pipeline), "src");
	gst_element_set_state(pipeline, GST_STATE_PLAYING);
	while (flow == GST_FLOW_OK &&
	       (frame = next_frame(vgem, allocator, clip, (gsize)width * height))) {
		g_signal_emit_by_name(source, "push-buffer", frame, &flow);
		gst_buffer_unref(frame);
	}
	g_signal_emit_by_name(source, "end-of-stream", &flow);
	result = watch(pipeline) ? 0 : 1;
	print_dmabufs();
	gst_element_set_state(pipeline, GST_STATE_NULL);
	gst_object_unref(source);
	gst_object_unref(pipeline);
	gst_object_unref(allocator);
	fclose(clip);
	close(vgem);
	return result;
}
