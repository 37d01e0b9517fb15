// SPDX-License-Identifier: MIT
/*
 * batch.c - the element salvobatch: run a batch that is written as text on each frame
 *
 * The file (libuser/text.c describes the language) is built once. Each frame's bytes
 * are written into its buffer "input", the batch is submitted, and the bytes of its buffer
 * "output" become the frame. Without an output the frame goes on as it was.
 */
#include <errno.h>
#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>
#include <stdlib.h>
#include <string.h>

#include "plugin.h"
#include "text_build.h"

GST_DEBUG_CATEGORY_STATIC(salvobatch_debug);
#define GST_CAT_DEFAULT salvobatch_debug

/* A batch that takes longer than this has hung. */
#define TIMEOUT_NS 60000000000ll

#define SALVO_TYPE_GST_BATCH salvo_gst_batch_get_type()
G_DECLARE_FINAL_TYPE(SalvoGstBatch, salvo_gst_batch, SALVO, GST_BATCH, GstBaseTransform)

struct _SalvoGstBatch {
	GstBaseTransform parent;

	/* Properties */
	gchar *device_name;
	gchar *location;
	gchar *kernels;
	gchar *input;
	gchar *output;

	/* From start to stop; only the streaming thread touches them. */
	struct salvo_device *device;
	struct salvo_queue *queue;
	struct salvo_text *text;
	struct salvo_text_build *build;
	guint8 *in, *out;
	guint64 in_bytes, out_bytes;
};

G_DEFINE_TYPE(SalvoGstBatch, salvo_gst_batch, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(salvobatch, "salvobatch", GST_RANK_NONE, SALVO_TYPE_GST_BATCH)

enum { PROP_DEVICE = 1, PROP_LOCATION, PROP_KERNELS, PROP_INPUT, PROP_OUTPUT, PROP_COUNT };

static GstStaticPadTemplate sink_template =
	GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
				GST_STATIC_CAPS("video/x-raw"));
static GstStaticPadTemplate src_template =
	GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS("video/x-raw"));

/* --- from start to stop ----------------------------------------------------------- */

static gboolean refuse(SalvoGstBatch *self, const struct salvo_text_error *error)
{
	GST_ELEMENT_ERROR(self, RESOURCE, SETTINGS, ("%s:%u:%u: %s", self->location, error->line,
						     error->column, error->message), (NULL));
	return FALSE;
}

static gboolean find_buffer(SalvoGstBatch *self, const gchar *name, guint8 **map, guint64 *bytes)
{
	unsigned int i;

	for (i = 0; i < self->text->buffer_count; i++) {
		if (strcmp(self->text->buffers[i].name, name))
			continue;
		*map = self->build->maps[i];
		*bytes = self->text->buffers[i].bytes;
		return TRUE;
	}
	GST_ELEMENT_ERROR(self, RESOURCE, SETTINGS, ("%s: there is no buffer %s", self->location,
						     name), (NULL));
	return FALSE;
}

static gboolean build_batch(SalvoGstBatch *self)
{
	struct salvo_text_error error;
	const char *dirs[3] = { NULL };
	gchar *source, *folder;
	GError *failure = NULL;
	gsize bytes;
	int err;

	if (!g_file_get_contents(self->location, &source, &bytes, &failure)) {
		GST_ELEMENT_ERROR(self, RESOURCE, OPEN_READ, ("%s", failure->message), (NULL));
		g_error_free(failure);
		return FALSE;
	}
	err = salvo_text_parse(source, bytes, &self->text, &error);
	g_free(source);
	if (err)
		return refuse(self, &error);
	folder = g_path_get_dirname(self->location);
	dirs[0] = folder;
	dirs[1] = self->kernels;
	err = salvo_text_build(self->text, self->device, dirs, folder, &self->build, &error);
	g_free(folder);
	if (err)
		return refuse(self, &error);
	return find_buffer(self, self->input, &self->in, &self->in_bytes) &&
	       (!self->output || find_buffer(self, self->output, &self->out, &self->out_bytes));
}

static gboolean stop(GstBaseTransform *base)
{
	SalvoGstBatch *self = SALVO_GST_BATCH(base);

	salvo_text_build_destroy(self->build);
	salvo_text_destroy(self->text);
	salvo_queue_destroy(self->queue);
	salvo_device_close(self->device);
	self->build = NULL;
	self->text = NULL;
	self->queue = NULL;
	self->device = NULL;
	self->in = NULL;
	self->out = NULL;
	return TRUE;
}

static gboolean start(GstBaseTransform *base)
{
	SalvoGstBatch *self = SALVO_GST_BATCH(base);
	int err;

	if (!self->location) {
		GST_ELEMENT_ERROR(self, RESOURCE, SETTINGS, ("location is not set"), (NULL));
		return FALSE;
	}
	err = salvo_device_open(self->device_name, &self->device);
	if (!err)
		err = salvo_queue_create(self->device, 0, &self->queue);
	if (err)
		GST_ELEMENT_ERROR(self, RESOURCE, OPEN_READ_WRITE,
				  ("%s: %s", self->device_name ? self->device_name : "no device",
				   g_strerror(-err)), (NULL));
	if (!err && build_batch(self))
		return TRUE;
	stop(base);
	return FALSE;
}

static gboolean set_caps(GstBaseTransform *base, GstCaps *in, GstCaps *out)
{
	SalvoGstBatch *self = SALVO_GST_BATCH(base);
	GstVideoInfo info;

	if (!gst_video_info_from_caps(&info, in))
		return FALSE;
	if (GST_VIDEO_INFO_SIZE(&info) <= self->in_bytes &&
	    (!self->out || GST_VIDEO_INFO_SIZE(&info) <= self->out_bytes))
		return TRUE;
	GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("a frame has %" G_GSIZE_FORMAT " bytes, more than "
						 "the buffers of %s", GST_VIDEO_INFO_SIZE(&info),
						 self->location), (NULL));
	return FALSE;
}

/* --- a frame ------------------------------------------------------------------------ */

static int run_batch(SalvoGstBatch *self)
{
	struct salvo_fence *fence;
	int err;

	err = salvo_queue_submit(self->queue, self->build->batch, NULL, 0, &fence);
	if (err)
		return err;
	err = salvo_fence_wait(fence, TIMEOUT_NS);
	salvo_fence_destroy(fence);
	return err;
}

static GstFlowReturn transform_ip(GstBaseTransform *base, GstBuffer *frame)
{
	SalvoGstBatch *self = SALVO_GST_BATCH(base);
	GstMapInfo map;
	int err;

	if (!gst_buffer_map(frame, &map, self->out ? GST_MAP_READWRITE : GST_MAP_READ)) {
		GST_ELEMENT_ERROR(self, STREAM, FAILED, ("a frame cannot be mapped"), (NULL));
		return GST_FLOW_ERROR;
	}
	memcpy(self->in, map.data, MIN(map.size, self->in_bytes));
	err = run_batch(self);
	if (!err && self->out)
		memcpy(map.data, self->out, MIN(map.size, self->out_bytes));
	gst_buffer_unmap(frame, &map);
	if (!err)
		return GST_FLOW_OK;
	GST_ELEMENT_ERROR(self, STREAM, FAILED, ("%s: %s", self->location, g_strerror(-err)),
			  ("%s", salvo_batch_error(self->build->batch)));
	return GST_FLOW_ERROR;
}

/* --- the class ------------------------------------------------------------------------ */

static gchar **string_of(SalvoGstBatch *self, guint id)
{
	switch (id) {
	case PROP_DEVICE:
		return &self->device_name;
	case PROP_LOCATION:
		return &self->location;
	case PROP_KERNELS:
		return &self->kernels;
	case PROP_INPUT:
		return &self->input;
	default:
		return &self->output;
	}
}

static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
	gchar **string = string_of(SALVO_GST_BATCH(object), id);

	g_free(*string);
	*string = g_value_dup_string(value);
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec)
{
	g_value_set_string(value, *string_of(SALVO_GST_BATCH(object), id));
}

static void finalize(GObject *object)
{
	guint id;

	for (id = PROP_DEVICE; id < PROP_COUNT; id++)
		g_free(*string_of(SALVO_GST_BATCH(object), id));
	G_OBJECT_CLASS(salvo_gst_batch_parent_class)->finalize(object);
}

static void install_string(GObjectClass *object, guint id, const char *name, const char *what,
			   const char *fallback)
{
	g_object_class_install_property(object, id,
		g_param_spec_string(name, name, what, fallback,
				    G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS));
}

static void salvo_gst_batch_class_init(SalvoGstBatchClass *class)
{
	GstElementClass *element = GST_ELEMENT_CLASS(class);
	GstBaseTransformClass *base = GST_BASE_TRANSFORM_CLASS(class);
	GObjectClass *object = G_OBJECT_CLASS(class);

	GST_DEBUG_CATEGORY_INIT(salvobatch_debug, "salvobatch", 0, "Batches on a Salvo GPU");
	object->set_property = set_property;
	object->get_property = get_property;
	object->finalize = finalize;
	install_string(object, PROP_DEVICE, "device", "soft or a render node; else the first Salvo "
		       "render node, or soft", NULL);
	install_string(object, PROP_LOCATION, "location", "The batch, as for salvo-submit", NULL);
	install_string(object, PROP_KERNELS, "kernels", "Where program files are, besides the "
		       "batch's folder", NULL);
	install_string(object, PROP_INPUT, "input", "Buffer that gets the frame", "frame");
	install_string(object, PROP_OUTPUT, "output", "Buffer that becomes the frame; none: the "
		       "frame stays", NULL);
	gst_element_class_set_static_metadata(element, "Batch on a Salvo GPU", "Filter/Effect/Video",
		"Runs a batch of GPU workloads, written as text, on each frame", "Salvo");
	gst_element_class_add_static_pad_template(element, &sink_template);
	gst_element_class_add_static_pad_template(element, &src_template);
	base->start = start;
	base->stop = stop;
	base->set_caps = set_caps;
	base->transform_ip = transform_ip;
}

static void salvo_gst_batch_init(SalvoGstBatch *self)
{
	self->input = g_strdup("frame");
}
