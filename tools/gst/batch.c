// SPDX-License-Identifier: MIT
/*
 * batch.c - the element salvobatch: run a batch that is written as text on each frame
 *
 * The file, in the language of salvo-submit(1), is built once. Its buffer "input" holds the frame;
 * its buffer "output" is the frame that goes downstream, which is a new one unless both are the same
 * buffer. Without an output the frame goes downstream unchanged.
 *
 * A frame in memory that the GPU can use (memory.c) is bound in the place of the buffer and
 * not copied; the element offers such memory upstream and allocates its output there. Other
 * frames are copied into the buffer, or out of it. A frame is also copied if the batch writes to
 * its input and that is not the output, since others may hold the frame.
 */
#include <errno.h>
#include <gst/allocators/allocators.h>
#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>
#include <stdlib.h>
#include <string.h>

#include "plugin.h"
#include "text_build.h"

GST_DEBUG_CATEGORY_STATIC(salvobatch_debug);
#define GST_CAT_DEFAULT salvobatch_debug

/* Time limit of a batch. */
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
	struct salvo_frames *memory;
	struct salvo_imports *imports;
	struct salvo_queue *queue;
	struct salvo_text *text;
	struct salvo_text_build *build;
	guint in, out;		/* indices of the buffers; @out is @in if there is no output */
	gboolean writes_in;	/* the batch writes to its input */
	guint64 frames;
	guint64 in_place;	/* frames that were not copied */
};

G_DEFINE_TYPE(SalvoGstBatch, salvo_gst_batch, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(salvobatch, "salvobatch", GST_RANK_NONE, SALVO_TYPE_GST_BATCH)

enum {
	PROP_DEVICE = 1, PROP_LOCATION, PROP_KERNELS, PROP_INPUT, PROP_OUTPUT, PROP_STRINGS,
	PROP_IN_PLACE = PROP_STRINGS,
};

/* In any memory that can be mapped. */
#define CAPS GST_STATIC_CAPS("video/x-raw; video/x-raw(memory:DMABuf)")

static GstStaticPadTemplate sink_template =
	GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS, CAPS);
static GstStaticPadTemplate src_template =
	GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, CAPS);

/* --- from start to stop ----------------------------------------------------------- */

static gboolean refuse(SalvoGstBatch *self, const struct salvo_text_error *error)
{
	GST_ELEMENT_ERROR(self, RESOURCE, SETTINGS, ("%s:%u:%u: %s", self->location, error->line,
						     error->column, error->message), (NULL));
	return FALSE;
}

static gboolean find_buffer(SalvoGstBatch *self, const gchar *name, guint *index)
{
	for (*index = 0; *index < self->text->buffer_count; (*index)++)
		if (!strcmp(self->text->buffers[*index].name, name))
			return TRUE;
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
	err = salvo_text_build(self->text, self->memory->device, dirs, folder, &self->build,
			       &error);
	g_free(folder);
	if (err)
		return refuse(self, &error);
	if (!find_buffer(self, self->input, &self->in) ||
	    !find_buffer(self, self->output ? self->output : self->input, &self->out))
		return FALSE;
	self->writes_in = salvo_text_writes(self->build, self->in);
	return TRUE;
}

static gboolean stop(GstBaseTransform *base)
{
	SalvoGstBatch *self = SALVO_GST_BATCH(base);

	GST_INFO_OBJECT(self, "%" G_GUINT64_FORMAT " frames, %" G_GUINT64_FORMAT " in place",
			self->frames, self->in_place);
	salvo_text_build_destroy(self->build);
	salvo_text_destroy(self->text);
	salvo_queue_destroy(self->queue);
	salvo_imports_free(self->imports);
	salvo_frames_put(self->memory);
	self->build = NULL;
	self->text = NULL;
	self->queue = NULL;
	self->imports = NULL;
	self->memory = NULL;
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
	self->frames = 0;
	self->in_place = 0;
	self->memory = salvo_frames_open(GST_ELEMENT(self), self->device_name);
	if (!self->memory)
		return FALSE;
	self->imports = salvo_imports_new(self->memory->device);
	err = salvo_queue_create(self->memory->device, 0, &self->queue);
	if (err)
		GST_ELEMENT_ERROR(self, RESOURCE, FAILED, ("no queue: %s", g_strerror(-err)), (NULL));
	if (err || !build_batch(self)) {
		stop(base);
		return FALSE;
	}
	gst_base_transform_set_passthrough(base, !self->output);
	gst_base_transform_set_in_place(base, self->in == self->out);
	return TRUE;
}

static gboolean set_caps(GstBaseTransform *base, GstCaps *in, GstCaps *out)
{
	SalvoGstBatch *self = SALVO_GST_BATCH(base);
	GstVideoInfo info;

	if (!gst_video_info_from_caps(&info, in))
		return FALSE;
	if (GST_VIDEO_INFO_SIZE(&info) <= self->text->buffers[self->in].bytes &&
	    GST_VIDEO_INFO_SIZE(&info) <= self->text->buffers[self->out].bytes)
		return TRUE;
	GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("a frame has %" G_GSIZE_FORMAT " bytes, more than "
						 "the buffers of %s", GST_VIDEO_INFO_SIZE(&info),
						 self->location), (NULL));
	return FALSE;
}

/* No video meta: the batch expects rows without gaps. */
static gboolean propose_allocation(GstBaseTransform *base, GstQuery *decided, GstQuery *query)
{
	salvo_frames_offer(SALVO_GST_BATCH(base)->memory, query);
	return TRUE;
}

/* Takes the allocator of downstream if its memory has a descriptor, else our own. */
static gboolean decide_allocation(GstBaseTransform *base, GstQuery *query)
{
	GstAllocator *allocator = NULL;
	gboolean usable;

	if (gst_query_get_n_allocation_params(query))
		gst_query_parse_nth_allocation_param(query, 0, &allocator, NULL);
	usable = allocator && GST_IS_FD_ALLOCATOR(allocator);
	if (allocator)
		gst_object_unref(allocator);
	if (!usable) {
		while (gst_query_get_n_allocation_pools(query))
			gst_query_remove_nth_allocation_pool(query, 0);
		while (gst_query_get_n_allocation_params(query))
			gst_query_remove_nth_allocation_param(query, 0);
		salvo_frames_offer(SALVO_GST_BATCH(base)->memory, query);
	}
	return GST_BASE_TRANSFORM_CLASS(salvo_gst_batch_parent_class)
		->decide_allocation(base, query);
}

/* --- a frame ------------------------------------------------------------------------ */

/* Binds the frame's memory in the place of a buffer. Return: whether the GPU can use it. */
static gboolean bind(SalvoGstBatch *self, guint buffer, GstBuffer *frame, gboolean write)
{
	uint64_t offset = 0;
	struct salvo_bo *bo = salvo_imports_get(self->imports, frame, write, &offset);

	if (bo && !salvo_text_bind(self->build, buffer, bo, offset))
		return TRUE;
	salvo_text_bind(self->build, buffer, NULL, 0);
	return FALSE;
}

/* Copies the frame into the batch's own buffer, or back. */
static gboolean copy(SalvoGstBatch *self, guint buffer, GstBuffer *frame, gboolean back)
{
	guint8 *own = self->build->maps[buffer];
	GstMapInfo map;
	gsize bytes;

	if (!gst_buffer_map(frame, &map, back ? GST_MAP_WRITE : GST_MAP_READ)) {
		GST_ELEMENT_ERROR(self, STREAM, FAILED, ("a frame cannot be mapped"), (NULL));
		return FALSE;
	}
	bytes = MIN(map.size, self->text->buffers[buffer].bytes);
	memcpy(back ? map.data : own, back ? own : map.data, bytes);
	gst_buffer_unmap(frame, &map);
	return TRUE;
}

static gboolean run_batch(SalvoGstBatch *self)
{
	struct salvo_fence *fence;
	int err;

	err = salvo_queue_submit(self->queue, self->build->batch, NULL, 0, &fence);
	if (!err) {
		err = salvo_fence_wait(fence, TIMEOUT_NS);
		salvo_fence_destroy(fence);
	}
	if (err)
		GST_ELEMENT_ERROR(self, STREAM, FAILED, ("%s: %s", self->location,
							 g_strerror(-err)),
				  ("%s", salvo_batch_error(self->build->batch)));
	return !err;
}

/* @out is @in if the batch works in place. */
static GstFlowReturn transform(GstBaseTransform *base, GstBuffer *in, GstBuffer *out)
{
	SalvoGstBatch *self = SALVO_GST_BATCH(base);
	const gboolean keeps = self->output && self->in == self->out;
	gboolean in_bound = FALSE, out_bound;

	if (keeps || !self->writes_in)
		in_bound = bind(self, self->in, in, keeps);
	if (!in_bound && !copy(self, self->in, in, FALSE))
		return GST_FLOW_ERROR;
	out_bound = self->in == self->out ? in_bound : bind(self, self->out, out, TRUE);
	if (!run_batch(self))
		return GST_FLOW_ERROR;
	if (self->output && !out_bound && !copy(self, self->out, out, TRUE))
		return GST_FLOW_ERROR;
	self->frames++;
	self->in_place += in_bound && out_bound;
	return GST_FLOW_OK;
}

static GstFlowReturn transform_ip(GstBaseTransform *base, GstBuffer *frame)
{
	return transform(base, frame, frame);
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
	SalvoGstBatch *self = SALVO_GST_BATCH(object);

	if (id == PROP_IN_PLACE)
		g_value_set_uint64(value, self->in_place);
	else
		g_value_set_string(value, *string_of(self, id));
}

static void finalize(GObject *object)
{
	guint id;

	for (id = PROP_DEVICE; id < PROP_STRINGS; id++)
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
	g_object_class_install_property(object, PROP_IN_PLACE,
		g_param_spec_uint64("in-place", "in-place", "Frames that needed no copy", 0,
				    G_MAXUINT64, 0, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
	gst_element_class_set_static_metadata(element, "Batch on a Salvo GPU", "Filter/Effect/Video",
		"Runs a batch of GPU workloads, written as text, on each frame", "Salvo");
	gst_element_class_add_static_pad_template(element, &sink_template);
	gst_element_class_add_static_pad_template(element, &src_template);
	base->start = start;
	base->stop = stop;
	base->set_caps = set_caps;
	base->propose_allocation = propose_allocation;
	base->decide_allocation = decide_allocation;
	base->transform = transform;
	base->transform_ip = transform_ip;
	base->transform_ip_on_passthrough = TRUE;
}

static void salvo_gst_batch_init(SalvoGstBatch *self)
{
	self->input = g_strdup("frame");
}
