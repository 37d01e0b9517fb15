// SPDX-License-Identifier: MIT
/*
 * image.c - images: creation, over memory of their own or of another object, and infos
 *
 * An image is a memory object whose bytes are its pixels, row by row, and a view of them for each
 * GPU, an image of libsalvo. Rows follow each other without a gap, unless the memory is the
 * application's or another object's, whose pitches are kept.
 */
#include "image.h"

#include <errno.h>
#include <stdlib.h>

#include "icd.h"

#define POINTER_FLAGS (CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR)

void salvo_cl_image_fini(cl_mem mem)
{
	struct salvo_cl_image *image = mem->image;
	unsigned int i;

	if (!image)
		return;
	for (i = 0; image->views && i < mem->context->gpu_count; i++)
		salvo_image_destroy(image->views[i]);
	free(image->views);
	free(image);
}

/* --- the descriptor ------------------------------------------------------------------- */

static size_t limit(cl_context context, cl_device_info name)
{
	size_t least = SIZE_MAX, value;
	unsigned int i;

	for (i = 0; i < context->device_count; i++)
		if (!salvo_clGetDeviceInfo(context->devices[i], name, sizeof(value), &value,
					   NULL) &&
		    value < least)
			least = value;
	return least;
}

/* The sizes of the kind that @desc says, 1 for those that it has not; 0: no such kind. */
static unsigned int sizes_of(const cl_image_desc *desc, size_t size[3])
{
	size[0] = desc->image_width;
	size[1] = 1;
	size[2] = 1;
	switch (desc->image_type) {
	case CL_MEM_OBJECT_IMAGE1D:
	case CL_MEM_OBJECT_IMAGE1D_BUFFER:
		return 1;
	case CL_MEM_OBJECT_IMAGE1D_ARRAY:
		size[1] = desc->image_array_size;
		return 2;
	case CL_MEM_OBJECT_IMAGE2D:
		size[1] = desc->image_height;
		return 2;
	case CL_MEM_OBJECT_IMAGE2D_ARRAY:
		size[1] = desc->image_height;
		size[2] = desc->image_array_size;
		return 3;
	case CL_MEM_OBJECT_IMAGE3D:
		size[1] = desc->image_height;
		size[2] = desc->image_depth;
		return 3;
	default:
		return 0;
	}
}

static cl_int check_sizes(cl_context context, const cl_image_desc *desc, const size_t size[3])
{
	size_t most[3] = { limit(context, CL_DEVICE_IMAGE2D_MAX_WIDTH), 1, 1 };

	switch (desc->image_type) {
	case CL_MEM_OBJECT_IMAGE1D_BUFFER:
		most[0] = limit(context, CL_DEVICE_IMAGE_MAX_BUFFER_SIZE);
		break;
	case CL_MEM_OBJECT_IMAGE1D_ARRAY:
		most[1] = limit(context, CL_DEVICE_IMAGE_MAX_ARRAY_SIZE);
		break;
	case CL_MEM_OBJECT_IMAGE2D_ARRAY:
		most[2] = limit(context, CL_DEVICE_IMAGE_MAX_ARRAY_SIZE);
		/* fall through */
	case CL_MEM_OBJECT_IMAGE2D:
		most[1] = limit(context, CL_DEVICE_IMAGE2D_MAX_HEIGHT);
		break;
	case CL_MEM_OBJECT_IMAGE3D:
		most[0] = limit(context, CL_DEVICE_IMAGE3D_MAX_WIDTH);
		most[1] = limit(context, CL_DEVICE_IMAGE3D_MAX_HEIGHT);
		most[2] = limit(context, CL_DEVICE_IMAGE3D_MAX_DEPTH);
		break;
	}
	if (!size[0] || !size[1] || !size[2] || size[0] > most[0] || size[1] > most[1] ||
	    size[2] > most[2])
		return CL_INVALID_IMAGE_SIZE;
	return CL_SUCCESS;
}

/*
 * The pitches of @desc, or the tightest where they are 0.
 * @given: May it have some?
 */
static cl_int set_pitches(struct salvo_cl_image *image, bool given)
{
	const cl_image_desc *desc = &image->desc;
	const bool line = desc->image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
	const bool slices = line || sizes_of(desc, (size_t[3]){ 0 }) == 3;
	size_t row = image->size[0] * image->pixel_bytes, slice, all;

	if (!given && (desc->image_row_pitch || desc->image_slice_pitch))
		return CL_INVALID_IMAGE_DESCRIPTOR;
	if (desc->image_row_pitch) {
		if (desc->image_row_pitch < row || desc->image_row_pitch % image->pixel_bytes)
			return CL_INVALID_IMAGE_DESCRIPTOR;
		row = desc->image_row_pitch;
	}
	if (__builtin_mul_overflow(row, line ? 1 : image->size[1], &slice))
		return CL_INVALID_IMAGE_DESCRIPTOR;
	if (desc->image_slice_pitch && slices) {
		if (desc->image_slice_pitch < slice || desc->image_slice_pitch % row)
			return CL_INVALID_IMAGE_DESCRIPTOR;
		slice = desc->image_slice_pitch;
	}
	/* All of it */
	if (__builtin_mul_overflow(slice, image->size[line ? 1 : 2], &all))
		return CL_INVALID_IMAGE_DESCRIPTOR;
	image->pitch[0] = image->pixel_bytes;
	image->pitch[1] = line ? slice : row;
	image->pitch[2] = line ? all : slice;
	image->desc.image_row_pitch = row;
	image->desc.image_slice_pitch = slices ? slice : 0;
	return CL_SUCCESS;
}

static cl_int create_views(cl_mem mem, struct salvo_cl_image *image)
{
	const bool layers = image->desc.image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY ||
			    image->desc.image_type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
	const bool line = image->desc.image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
	const struct salvo_image_info info = {
		.order = image->format.image_channel_order,
		.type = image->format.image_channel_data_type,
		.width = image->size[0],
		.height = line ? 1 : image->size[1],
		.depth = layers ? 0 : image->size[2],
		.layers = layers ? image->desc.image_array_size : 0,
		.row_pitch = image->desc.image_row_pitch,
		.slice_pitch = image->desc.image_slice_pitch,
	};
	unsigned int i;
	int err = 0;

	image->views = calloc(mem->context->gpu_count, sizeof(struct salvo_image *));
	if (!image->views)
		return CL_OUT_OF_HOST_MEMORY;
	for (i = 0; !err && i < mem->context->gpu_count; i++)
		err = salvo_image_create_from_bo(salvo_cl_mem_bo(mem, i), mem->origin, &info,
						 &image->views[i]);
	return err == -EINVAL ? CL_INVALID_IMAGE_SIZE : salvo_cl_error(err);
}

/* --- creation ------------------------------------------------------------------------- */

/* What @mem_object and the kind of image have to do with each other. */
static cl_int check_parent(cl_context context, const cl_image_desc *desc,
			   const cl_image_format *format)
{
	cl_mem parent = desc->mem_object;

	if (!parent)
		return desc->image_type == CL_MEM_OBJECT_IMAGE1D_BUFFER ?
			       CL_INVALID_IMAGE_DESCRIPTOR : CL_SUCCESS;
	if (!salvo_cl_is(parent, SALVO_CL_MEM))
		return CL_INVALID_IMAGE_DESCRIPTOR;
	if (parent->context != context)
		return CL_INVALID_CONTEXT;
	if (desc->image_type == CL_MEM_OBJECT_IMAGE1D_BUFFER)
		return parent->image ? CL_INVALID_IMAGE_DESCRIPTOR : CL_SUCCESS;
	if (desc->image_type != CL_MEM_OBJECT_IMAGE2D)
		return CL_INVALID_IMAGE_DESCRIPTOR;
	if (!parent->image)
		return CL_SUCCESS;
	if (parent->type != CL_MEM_OBJECT_IMAGE2D ||
	    parent->image->desc.image_width != desc->image_width ||
	    parent->image->desc.image_height != desc->image_height)
		return CL_INVALID_IMAGE_DESCRIPTOR;
	/* Only sRGB formats have another order that they can be seen as. */
	return parent->image->format.image_channel_order != format->image_channel_order ||
	       parent->image->format.image_channel_data_type != format->image_channel_data_type ?
		       CL_INVALID_IMAGE_FORMAT_DESCRIPTOR : CL_SUCCESS;
}

/* Do the flags of an image over memory of another object allow no more than its? */
static bool may_share(cl_mem_flags flags, cl_mem_flags parent)
{
	const cl_mem_flags read =
		CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_KERNEL_READ_AND_WRITE;
	const cl_mem_flags write = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY |
				   CL_MEM_KERNEL_READ_AND_WRITE;

	return !(flags & POINTER_FLAGS) && !((parent & CL_MEM_WRITE_ONLY) && (flags & read)) &&
	       !((parent & CL_MEM_READ_ONLY) && (flags & write)) &&
	       !((parent & CL_MEM_HOST_WRITE_ONLY) && (flags & CL_MEM_HOST_READ_ONLY)) &&
	       !((parent & CL_MEM_HOST_READ_ONLY) && (flags & CL_MEM_HOST_WRITE_ONLY)) &&
	       !((parent & CL_MEM_HOST_NO_ACCESS) &&
		 (flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY)));
}

static cl_int check(cl_context context, const cl_mem_properties *properties, cl_mem_flags flags,
		    const cl_image_format *format, const cl_image_desc *desc, void *host_ptr)
{
	size_t size[3];
	cl_int err;

	if (!salvo_cl_is(context, SALVO_CL_CONTEXT))
		return CL_INVALID_CONTEXT;
	if (properties && properties[0])
		return CL_INVALID_PROPERTY;
	if (salvo_cl_mem_check_flags(flags))
		return CL_INVALID_VALUE;
	if (!format)
		return CL_INVALID_IMAGE_FORMAT_DESCRIPTOR;
	if (!desc || !sizes_of(desc, size) || desc->num_mip_levels || desc->num_samples)
		return CL_INVALID_IMAGE_DESCRIPTOR;
	err = check_parent(context, desc, format);
	if (err)
		return err;
	if (desc->mem_object && !may_share(flags, desc->mem_object->flags))
		return CL_INVALID_VALUE;
	err = check_sizes(context, desc, size);
	if (err)
		return err;
	if (!host_ptr != !(flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)))
		return CL_INVALID_HOST_PTR;
	return salvo_cl_format_is_supported(format) ? CL_SUCCESS : CL_IMAGE_FORMAT_NOT_SUPPORTED;
}

/* Does it lie in its parent? The last row has no padding. */
static bool fits_parent(const struct salvo_cl_image *image, const struct _cl_mem *parent)
{
	const size_t row = image->size[0] * image->pixel_bytes;
	size_t up, over, bytes;

	return !__builtin_mul_overflow(image->size[2] - 1, image->pitch[2], &up) &&
	       !__builtin_mul_overflow(image->size[1] - 1, image->pitch[1], &over) &&
	       !__builtin_add_overflow(up, over, &bytes) &&
	       !__builtin_add_overflow(bytes, row, &bytes) && bytes <= parent->size;
}

/* The memory of an image: its own, filled from @host_ptr, or its parent's. */
static cl_mem create_memory(cl_context context, cl_mem_flags flags, struct salvo_cl_image *image,
			    void *host_ptr, cl_int *err)
{
	const cl_image_desc *desc = &image->desc;
	cl_mem parent = desc->mem_object;
	const size_t bytes = image->pitch[2] * image->size[2];
	struct salvo_cl_image given = *image;
	struct salvo_cl_box box = {
		.width = image->size[0] * image->pixel_bytes, .height = image->size[1],
		.depth = image->size[2], .other_row = given.pitch[1], .other_slice = given.pitch[2],
	};
	cl_mem mem;

	if (parent)
		return salvo_cl_mem_create_part(parent, desc->image_type, flags, 0, bytes, err);
	if (flags & CL_MEM_USE_HOST_PTR)
		return salvo_cl_mem_create(context, desc->image_type, flags, bytes, host_ptr, -1,
					   err);
	/* Memory of its own has no gaps. */
	image->desc.image_row_pitch = 0;
	image->desc.image_slice_pitch = 0;
	set_pitches(image, true);
	mem = salvo_cl_mem_create(context, desc->image_type, flags,
				  image->pitch[2] * image->size[2], NULL, -1, err);
	if (mem && host_ptr) {
		box.mem_row = image->pitch[1];
		box.mem_slice = image->pitch[2];
		salvo_cl_box_copy(&box, salvo_cl_mem_data(mem), host_ptr, true);
	}
	return mem;
}

static cl_mem create(cl_context context, const cl_mem_properties *properties, cl_mem_flags flags,
		     const cl_image_format *format, const cl_image_desc *desc, void *host_ptr,
		     cl_int *err)
{
	struct salvo_cl_image *image = calloc(1, sizeof(*image));
	cl_mem mem = NULL;

	if (!image) {
		*err = CL_OUT_OF_HOST_MEMORY;
		return NULL;
	}
	image->format = *format;
	image->desc = *desc;
	image->pixel_bytes = salvo_cl_format_bytes(format);
	sizes_of(desc, image->size);
	if (desc->mem_object && desc->mem_object->image && !desc->image_row_pitch)
		image->desc.image_row_pitch = desc->mem_object->image->desc.image_row_pitch;
	*err = set_pitches(image, host_ptr || desc->mem_object);
	if (!*err && desc->mem_object && !fits_parent(image, desc->mem_object))
		*err = CL_INVALID_IMAGE_SIZE;
	if (!*err)
		mem = create_memory(context, flags, image, host_ptr, err);
	if (!mem) {
		free(image);
		return NULL;
	}
	mem->image = image;
	*err = create_views(mem, image);
	if (!*err)
		*err = salvo_cl_mem_set_properties(mem, properties, properties ? 1 : 0);
	if (*err) {
		salvo_cl_object_put(&mem->base);
		return NULL;
	}
	return mem;
}

cl_mem salvo_clCreateImageWithProperties(cl_context context, const cl_mem_properties *properties,
					 cl_mem_flags flags, const cl_image_format *format,
					 const cl_image_desc *desc, void *host_ptr,
					 cl_int *errcode_ret)
{
	cl_int err = check(context, properties, flags, format, desc, host_ptr);
	cl_mem mem = NULL;

	if (!err)
		mem = create(context, properties, flags, format, desc, host_ptr, &err);
	salvo_cl_report(errcode_ret, err);
	return mem;
}

cl_mem salvo_clCreateImage(cl_context context, cl_mem_flags flags, const cl_image_format *format,
			   const cl_image_desc *desc, void *host_ptr, cl_int *errcode_ret)
{
	return salvo_clCreateImageWithProperties(context, NULL, flags, format, desc, host_ptr,
						 errcode_ret);
}

cl_mem salvo_clCreateImage2D(cl_context context, cl_mem_flags flags, const cl_image_format *format,
			     size_t width, size_t height, size_t row_pitch, void *host_ptr,
			     cl_int *errcode_ret)
{
	const cl_image_desc desc = {
		.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = width, .image_height = height,
		.image_row_pitch = row_pitch,
	};
	cl_int err;
	cl_mem mem = salvo_clCreateImage(context, flags, format, &desc, host_ptr, &err);

	salvo_cl_report(errcode_ret,
			err == CL_INVALID_IMAGE_DESCRIPTOR ? CL_INVALID_IMAGE_SIZE : err);
	return mem;
}

cl_mem salvo_clCreateImage3D(cl_context context, cl_mem_flags flags, const cl_image_format *format,
			     size_t width, size_t height, size_t depth, size_t row_pitch,
			     size_t slice_pitch, void *host_ptr, cl_int *errcode_ret)
{
	const cl_image_desc desc = {
		.image_type = CL_MEM_OBJECT_IMAGE3D, .image_width = width, .image_height = height,
		.image_depth = depth, .image_row_pitch = row_pitch,
		.image_slice_pitch = slice_pitch,
	};
	cl_int err;
	cl_mem mem = salvo_clCreateImage(context, flags, format, &desc, host_ptr, &err);

	salvo_cl_report(errcode_ret,
			err == CL_INVALID_IMAGE_DESCRIPTOR ? CL_INVALID_IMAGE_SIZE : err);
	return mem;
}

/* --- infos ------------------------------------------------------------------------------ */

cl_int salvo_clGetImageInfo(cl_mem mem, cl_image_info name, size_t size, void *value,
			    size_t *size_ret)
{
	const struct salvo_cl_answer answer = { size, value, size_ret };
	const struct salvo_cl_image *image;
	cl_mem_object_type type;
	bool array;

	if (!salvo_cl_is(mem, SALVO_CL_MEM) || !mem->image)
		return CL_INVALID_MEM_OBJECT;
	image = mem->image;
	type = mem->type;
	array = type == CL_MEM_OBJECT_IMAGE1D_ARRAY || type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
	switch (name) {
	case CL_IMAGE_FORMAT:
		return salvo_cl_answer(&answer, &image->format, sizeof(image->format));
	case CL_IMAGE_ELEMENT_SIZE:
		return SALVO_CL_ANSWER(&answer, size_t, image->pixel_bytes);
	case CL_IMAGE_ROW_PITCH:
		return SALVO_CL_ANSWER(&answer, size_t, image->desc.image_row_pitch);
	case CL_IMAGE_SLICE_PITCH:
		return SALVO_CL_ANSWER(&answer, size_t, image->desc.image_slice_pitch);
	case CL_IMAGE_WIDTH:
		return SALVO_CL_ANSWER(&answer, size_t, image->size[0]);
	case CL_IMAGE_HEIGHT:
		return SALVO_CL_ANSWER(&answer, size_t, type == CL_MEM_OBJECT_IMAGE2D ||
				       type == CL_MEM_OBJECT_IMAGE2D_ARRAY ||
				       type == CL_MEM_OBJECT_IMAGE3D ? image->size[1] : 0);
	case CL_IMAGE_DEPTH:
		return SALVO_CL_ANSWER(&answer, size_t,
				       type == CL_MEM_OBJECT_IMAGE3D ? image->size[2] : 0);
	case CL_IMAGE_ARRAY_SIZE:
		return SALVO_CL_ANSWER(&answer, size_t, array ? image->desc.image_array_size : 0);
	case CL_IMAGE_BUFFER:
		return SALVO_CL_ANSWER(&answer, cl_mem,
				       mem->parent && !mem->parent->image ? mem->parent : NULL);
	case CL_IMAGE_NUM_MIP_LEVELS:
	case CL_IMAGE_NUM_SAMPLES:
		return SALVO_CL_ANSWER(&answer, cl_uint, 0);
	default:
		return CL_INVALID_VALUE;
	}
}
