// SPDX-License-Identifier: MIT
/*
 * faces.c - the element salvofaces: find the faces in each frame, with one batch
 *
 * Works on the luma plane of a frame, in place. Each face adds a region-of-interest meta to
 * the frame, each frame posts an element message "salvofaces" on the bus, and with draw=true
 * rectangles are drawn. A frame in memory that the GPU can use is not copied (memory.c);
 * the element offers such memory to the elements upstream.
 */
#include <errno.h>
#include <gst/video/gstvideofilter.h>
#include <gst/video/gstvideometa.h>
#include <gst/video/video.h>
#include <string.h>

#include "cascade.h"
#include "detect.h"
#include "group.h"
#include "options.h"
#include "plugin.h"
#include "pyramid.h"

GST_DEBUG_CATEGORY_STATIC(salvofaces_debug);
#define GST_CAT_DEFAULT salvofaces_debug

#define SALVO_TYPE_FACES salvo_faces_get_type()
G_DECLARE_FINAL_TYPE(SalvoFaces, salvo_faces, SALVO, FACES, GstVideoFilter)

struct _SalvoFaces {
	GstVideoFilter parent;

	/* Properties */
	gchar *device_name;
	gchar *cascade_path;
	gdouble scale_factor;
	gint min_neighbors;
	gint min_size;
	gboolean draw;

	/* From start to stop; only the streaming thread touches them. */
	struct salvo_frames *memory;
	struct salvo_imports *imports;
	struct cascade *cascade;
	struct detector *detector;
	guint8 *grey;
	guint64 frames;
	guint64 in_place;	/* frames that were not copied */
};

G_DEFINE_TYPE(SalvoFaces, salvo_faces, GST_TYPE_VIDEO_FILTER)
GST_ELEMENT_REGISTER_DEFINE(salvofaces, "salvofaces", GST_RANK_NONE, SALVO_TYPE_FACES)

enum {
	PROP_DEVICE = 1, PROP_CASCADE, PROP_SCALE_FACTOR, PROP_MIN_NEIGHBORS, PROP_MIN_SIZE,
	PROP_DRAW, PROP_IN_PLACE,
};

/* Formats whose first plane is luma, a byte for each pixel. */
#define FORMATS "{ GRAY8, I420, YV12, NV12, NV21, Y42B, Y444 }"

/* In any memory that can be mapped. */
#define CAPS GST_STATIC_CAPS(GST_VIDEO_CAPS_MAKE(FORMATS) "; " \
			     GST_VIDEO_CAPS_MAKE_WITH_FEATURES("memory:DMABuf", FORMATS))

static GstStaticPadTemplate sink_template =
	GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS, CAPS);
static GstStaticPadTemplate src_template =
	GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, CAPS);

/* --- from start to stop --------------------------------------------------------- */

static void drop_detector(SalvoFaces *self)
{
	detector_destroy(self->detector);
	self->detector = NULL;
	g_clear_pointer(&self->grey, g_free);
}

static gboolean stop(GstBaseTransform *base)
{
	SalvoFaces *self = SALVO_FACES(base);

	drop_detector(self);
	salvo_imports_free(self->imports);
	self->imports = NULL;
	cascade_free(self->cascade);
	self->cascade = NULL;
	salvo_frames_put(self->memory);
	self->memory = NULL;
	return TRUE;
}

static gboolean start(GstBaseTransform *base)
{
	SalvoFaces *self = SALVO_FACES(base);
	struct faces_error error = { "" };

	self->frames = 0;
	self->in_place = 0;
	self->memory = salvo_frames_open(GST_ELEMENT(self), self->device_name);
	if (!self->memory)
		return FALSE;
	self->imports = salvo_imports_new(self->memory->device);
	if (cascade_load(self->cascade_path, &self->cascade, &error)) {
		GST_ELEMENT_ERROR(self, RESOURCE, OPEN_READ, ("%s", error.text), (NULL));
		stop(base);
		return FALSE;
	}
	return TRUE;
}

static gboolean set_info(GstVideoFilter *filter, GstCaps *in, GstVideoInfo *in_info, GstCaps *out,
			 GstVideoInfo *out_info)
{
	SalvoFaces *self = SALVO_FACES(filter);
	const int width = GST_VIDEO_INFO_WIDTH(in_info), height = GST_VIDEO_INFO_HEIGHT(in_info);
	const int least = self->min_size ? self->min_size : height / 16;
	const struct pyramid_options wanted = {
		.scale_factor = self->scale_factor,
		.min_width = least,
		.min_height = least,
		.max_width = height / 2,
		.max_height = height / 2,
	};
	struct pyramid *pyramid = g_new0(struct pyramid, 1);
	struct faces_error error = { "" };
	int err;

	drop_detector(self);
	err = pyramid_plan(pyramid, self->cascade, &wanted, width, height, &error);
	if (!err)
		err = detector_create(self->memory->device, self->cascade, pyramid, width, height,
				      DETECT_BATCH, &self->detector, &error);
	if (!err && detector_set_timeout(self->detector, DETECT_TIMEOUT_NS))
		err = faces_fail(&error, -EAGAIN, "no thread for the time limit");
	g_free(pyramid);
	if (err) {
		GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("%s", error.text), (NULL));
		return FALSE;
	}
	self->grey = g_malloc((gsize)width * height);
	return TRUE;
}

static gboolean propose_allocation(GstBaseTransform *base, GstQuery *decided, GstQuery *query)
{
	salvo_frames_offer(SALVO_FACES(base)->memory, query);
	gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, NULL);
	return TRUE;
}

/* --- a frame ----------------------------------------------------------------------- */

static int find_faces(SalvoFaces *self, GstVideoFrame *frame, struct face **faces,
		      struct faces_error *error)
{
	const guint8 *plane = GST_VIDEO_FRAME_PLANE_DATA(frame, 0);
	const int width = GST_VIDEO_FRAME_WIDTH(frame), height = GST_VIDEO_FRAME_HEIGHT(frame);
	const gsize stride = GST_VIDEO_FRAME_PLANE_STRIDE(frame, 0);
	uint64_t offset;
	struct salvo_bo *bo = salvo_imports_get(self->imports, frame->buffer, FALSE, &offset);
	int count = -ENOTSUP, y;

	if (bo)
		count = detector_run_bo(self->detector, bo,
					offset + GST_VIDEO_FRAME_PLANE_OFFSET(frame, 0), stride,
					faces, error);
	if (count != -ENOTSUP) {
		self->in_place++;
		return count;
	}
	for (y = 0; y < height; y++)
		memcpy(self->grey + (gsize)y * width, plane + y * stride, width);
	return detector_run(self->detector, self->grey, faces, error);
}

/* A rectangle two pixels thick, white where the picture is dark. */
static void draw_face(GstVideoFrame *frame, const struct face *face)
{
	guint8 *plane = GST_VIDEO_FRAME_PLANE_DATA(frame, 0);
	const gsize stride = GST_VIDEO_FRAME_PLANE_STRIDE(frame, 0);
	int x, y;

	for (y = face->y; y < face->y + face->height; y++) {
		const gboolean edge = y < face->y + 2 || y >= face->y + face->height - 2;

		for (x = face->x; x < face->x + face->width; x++)
			if (edge || x < face->x + 2 || x >= face->x + face->width - 2)
				plane[y * stride + x] = plane[y * stride + x] < 128 ? 235 : 16;
	}
}

static void tell(SalvoFaces *self, GstVideoFrame *frame, const struct face *faces,
		 unsigned int count)
{
	GstStructure *message;
	GValue list = G_VALUE_INIT, value = G_VALUE_INIT;
	unsigned int i;

	g_value_init(&list, GST_TYPE_ARRAY);
	for (i = 0; i < count; i++) {
		gst_buffer_add_video_region_of_interest_meta(frame->buffer, "face", faces[i].x,
							     faces[i].y, faces[i].width,
							     faces[i].height);
		g_value_init(&value, GST_TYPE_STRUCTURE);
		g_value_take_boxed(&value, gst_structure_new("face",
			"x", G_TYPE_INT, faces[i].x, "y", G_TYPE_INT, faces[i].y,
			"width", G_TYPE_INT, faces[i].width,
			"height", G_TYPE_INT, faces[i].height,
			"neighbors", G_TYPE_INT, faces[i].neighbors, NULL));
		gst_value_array_append_and_take_value(&list, &value);
	}
	message = gst_structure_new("salvofaces", "frame", G_TYPE_UINT64, self->frames,
				    "timestamp", G_TYPE_UINT64, GST_BUFFER_PTS(frame->buffer),
				    "count", G_TYPE_UINT, count,
				    "in-place", G_TYPE_UINT64, self->in_place, NULL);
	gst_structure_take_value(message, "faces", &list);
	gst_element_post_message(GST_ELEMENT(self),
				 gst_message_new_element(GST_OBJECT(self), message));
}

static GstFlowReturn transform_frame_ip(GstVideoFilter *filter, GstVideoFrame *frame)
{
	SalvoFaces *self = SALVO_FACES(filter);
	struct face *faces = NULL;
	struct faces_error error = { "" };
	int i, count;

	count = find_faces(self, frame, &faces, &error);
	if (count >= 0)
		count = faces_group(faces, count, self->min_neighbors);
	if (count == -ENOMEM)
		faces_fail(&error, count, "out of memory");
	if (count < 0) {
		GST_ELEMENT_ERROR(self, STREAM, FAILED, ("%s", error.text), (NULL));
		free(faces);
		return GST_FLOW_ERROR;
	}
	count = faces_clip(faces, count, GST_VIDEO_FRAME_WIDTH(frame),
			   GST_VIDEO_FRAME_HEIGHT(frame));
	tell(self, frame, faces, count);
	for (i = 0; self->draw && i < count; i++)
		draw_face(frame, &faces[i]);
	free(faces);
	self->frames++;
	return GST_FLOW_OK;
}

/* --- the class ---------------------------------------------------------------------- */

static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
	SalvoFaces *self = SALVO_FACES(object);

	switch (id) {
	case PROP_DEVICE:
		g_free(self->device_name);
		self->device_name = g_value_dup_string(value);
		break;
	case PROP_CASCADE:
		g_free(self->cascade_path);
		self->cascade_path = g_value_dup_string(value);
		break;
	case PROP_SCALE_FACTOR:
		self->scale_factor = g_value_get_double(value);
		break;
	case PROP_MIN_NEIGHBORS:
		self->min_neighbors = g_value_get_int(value);
		break;
	case PROP_MIN_SIZE:
		self->min_size = g_value_get_int(value);
		break;
	case PROP_DRAW:
		self->draw = g_value_get_boolean(value);
		break;
	default:
		G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
	}
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec)
{
	SalvoFaces *self = SALVO_FACES(object);

	switch (id) {
	case PROP_DEVICE:
		g_value_set_string(value, self->device_name);
		break;
	case PROP_CASCADE:
		g_value_set_string(value, self->cascade_path);
		break;
	case PROP_SCALE_FACTOR:
		g_value_set_double(value, self->scale_factor);
		break;
	case PROP_MIN_NEIGHBORS:
		g_value_set_int(value, self->min_neighbors);
		break;
	case PROP_MIN_SIZE:
		g_value_set_int(value, self->min_size);
		break;
	case PROP_DRAW:
		g_value_set_boolean(value, self->draw);
		break;
	case PROP_IN_PLACE:
		g_value_set_uint64(value, self->in_place);
		break;
	default:
		G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
	}
}

static void finalize(GObject *object)
{
	SalvoFaces *self = SALVO_FACES(object);

	g_free(self->device_name);
	g_free(self->cascade_path);
	G_OBJECT_CLASS(salvo_faces_parent_class)->finalize(object);
}

static void install_properties(GObjectClass *object)
{
	const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;

	g_object_class_install_property(object, PROP_DEVICE,
		g_param_spec_string("device", "Device", "soft or a render node; else the first "
				    "Salvo render node, or soft", NULL, flags));
	g_object_class_install_property(object, PROP_CASCADE,
		g_param_spec_string("cascade", "Cascade", "OpenCV's cascade, LBP or Haar",
				    DEFAULT_CASCADE, flags));
	g_object_class_install_property(object, PROP_SCALE_FACTOR,
		g_param_spec_double("scale-factor", "Scale factor", "From one size of faces to "
				    "the next", 1.01, 10, 1.2, flags));
	g_object_class_install_property(object, PROP_MIN_NEIGHBORS,
		g_param_spec_int("min-neighbors", "Neighbors", "Rectangles that a face needs "
				 "more than; 0: raw rectangles", 0, G_MAXINT, 3, flags));
	g_object_class_install_property(object, PROP_MIN_SIZE,
		g_param_spec_int("min-size", "Least size", "Smallest face in pixels; 0: a "
				 "sixteenth of the height", 0, G_MAXINT, 0, flags));
	g_object_class_install_property(object, PROP_DRAW,
		g_param_spec_boolean("draw", "Draw", "Draw rectangles", TRUE, flags));
	g_object_class_install_property(object, PROP_IN_PLACE,
		g_param_spec_uint64("in-place", "In place", "Frames that needed no copy", 0,
				    G_MAXUINT64, 0, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

static void salvo_faces_class_init(SalvoFacesClass *class)
{
	GstElementClass *element = GST_ELEMENT_CLASS(class);
	GstBaseTransformClass *base = GST_BASE_TRANSFORM_CLASS(class);
	GObjectClass *object = G_OBJECT_CLASS(class);

	GST_DEBUG_CATEGORY_INIT(salvofaces_debug, "salvofaces", 0, "Faces on a Salvo GPU");
	object->set_property = set_property;
	object->get_property = get_property;
	object->finalize = finalize;
	install_properties(object);
	gst_element_class_set_static_metadata(element, "Faces on a Salvo GPU",
		"Filter/Analyzer/Video", "Finds faces in frames, all workloads of a frame in one "
		"batch", "Salvo");
	gst_element_class_add_static_pad_template(element, &sink_template);
	gst_element_class_add_static_pad_template(element, &src_template);
	base->start = start;
	base->stop = stop;
	base->propose_allocation = propose_allocation;
	base->transform_ip_on_passthrough = TRUE;
	GST_VIDEO_FILTER_CLASS(class)->set_info = set_info;
	GST_VIDEO_FILTER_CLASS(class)->transform_frame_ip = transform_frame_ip;
}

static void salvo_faces_init(SalvoFaces *self)
{
	self->cascade_path = g_strdup(DEFAULT_CASCADE);
	self->scale_factor = 1.2;
	self->min_neighbors = 3;
	self->draw = TRUE;
}
