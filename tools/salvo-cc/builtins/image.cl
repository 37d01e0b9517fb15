// SPDX-License-Identifier: MIT
/*
 * image.cl - image functions of OpenCL C, 6.12.14: read, write, ask
 *
 * 8.2 of the specification says how coordinates, addressing mode and filter choose
 * pixels. Every dimension is worked out alike and apart from the others; a
 * coordinate of -1 afterwards means the border. The layer of an array is rounded to
 * the nearest that exists and never filtered. Without a sampler a coordinate out of
 * range is undefined in OpenCL; here it is clamped, and such a write does nothing. In a checked
 * program both fault, as does a read with CLK_ADDRESS_NONE.
 */
#include "salvo_stray.h"

#define ADDRESS_OF(SAMPLER) ((SAMPLER) & 0xe)

/*
 * Of one dimension (int, float) or of all side by side (int4, float4). TO_INT: converts what fits.
 *
 * floor_index(): floor(@u); anything beyond 2^30, and NaN, is far outside.
 * to_pixels(): a coordinate in pixels, brought into the image where the mode repeats it
 * wrap_index(): what is repeated is at most one image away, unless it is NaN or infinite.
 */
#define COORDINATES(INT, FLOAT, TO_INT) \
	OVERLOAD static INT clamp_index(INT i, INT size, uint mode) \
	{ \
		if (mode == CLK_ADDRESS_CLAMP) \
			return (i < 0) | (i >= size) ? (INT)-1 : i; \
		return i < 0 ? (INT)0 : i >= size ? size - 1 : i; \
	} \
	OVERLOAD static INT floor_index(FLOAT u) \
	{ \
		const FLOAT far = 1073741824.0f; \
		\
		u = __builtin_elementwise_floor(u); \
		u = u >= far ? far : u > -far ? u : -far; \
		return TO_INT; \
	} \
	OVERLOAD static FLOAT to_pixels(FLOAT s, FLOAT size, uint sampler) \
	{ \
		uint mode = ADDRESS_OF(sampler); \
		\
		if (!(sampler & CLK_NORMALIZED_COORDS_TRUE)) \
			return s; \
		if (mode == CLK_ADDRESS_REPEAT) \
			s -= __builtin_elementwise_floor(s); \
		else if (mode == CLK_ADDRESS_MIRRORED_REPEAT) \
			s = __builtin_elementwise_abs(s - 2.0f * \
						      __builtin_elementwise_rint(0.5f * s)); \
		return s * size; \
	} \
	OVERLOAD static INT wrap_index(INT i, INT size, uint mode) \
	{ \
		if (mode == CLK_ADDRESS_REPEAT) { \
			i = i < 0 ? i + size : i >= size ? i - size : i; \
			mode = CLK_ADDRESS_CLAMP_TO_EDGE; \
		} \
		return clamp_index(i, size, mode); \
	}

COORDINATES(int, float, (int)u)
COORDINATES(int4, float4, __builtin_convertvector(u, int4))

static int nearest(float s, int size, uint sampler)
{
	return wrap_index(floor_index(to_pixels(s, size, sampler)), size, ADDRESS_OF(sampler));
}

/* Two pixels of one dimension and their weights */
struct pair {
	int low, high;
	float first, second;
};

static struct pair linear(float s, int size, uint sampler)
{
	const float u = to_pixels(s, size, sampler) - 0.5f;
	const float part = u - __builtin_elementwise_floor(u);
	const int i = floor_index(u);
	struct pair at = {
		wrap_index(i, size, ADDRESS_OF(sampler)),
		wrap_index(i + 1, size, ADDRESS_OF(sampler)),
		1.0f - part, part,
	};

	return at;
}

/* One beyond the edge of CLK_ADDRESS_CLAMP has no weight, where the border is all zeros. */
static struct pair inner(struct pair at, uint sampler)
{
	if (ADDRESS_OF(sampler) == CLK_ADDRESS_CLAMP) {
		at.first = at.low < 0 ? 0.0f : at.first;
		at.second = at.high < 0 ? 0.0f : at.second;
		at.low = at.low < 0 ? 0 : at.low;
		at.high = at.high < 0 ? 0 : at.high;
	}
	return at;
}

/* Which pixels are outside of the image is known with this mode only. */
static bool is_border(int4 at, uint sampler)
{
	return ADDRESS_OF(sampler) == CLK_ADDRESS_CLAMP && (at.x | at.y | at.z) < 0;
}

static float4 texel_one(image_t image, uint sampler, int4 at)
{
	if (is_border(at, sampler))
		return (float4)(0.0f, 0.0f, 0.0f, border_alpha(image->order));
	return load_f(image, at);
}

static int layer_of(image_t image, float s)
{
	return clamp_index(floor_index(__builtin_elementwise_rint(s)), image->layers,
			   CLK_ADDRESS_CLAMP_TO_EDGE);
}

/* @dims filtered dimensions; @layer is the dimension that chooses a layer, or 0. */
static int4 pick_nearest(image_t image, uint sampler, float4 s, uint dims, uint layer)
{
	int4 at = 0;

	at.x = nearest(s.x, image->width, sampler);
	if (dims > 1)
		at.y = nearest(s.y, image->height, sampler);
	if (dims > 2)
		at.z = nearest(s.z, image->depth, sampler);
	if (layer)
		at.z = layer_of(image, layer == 1 ? s.y : s.z);
	return at;
}

/* What a coordinate lies between, in each dimension; of one that is not filtered the first pixel */
struct cube {
	struct pair x, y, z;
};

static struct cube pick_linear(image_t image, uint sampler, float4 s, uint dims, uint layer)
{
	struct cube at = { 0 };

	at.x = linear(s.x, image->width, sampler);
	if (dims > 1)
		at.y = linear(s.y, image->height, sampler);
	if (dims > 2)
		at.z = linear(s.z, image->depth, sampler);
	if (layer)
		at.z.low = layer_of(image, layer == 1 ? s.y : s.z);
	return at;
}

/*
 * A function of its own, which all lanes call at once (vector_calls.cc): it knows all kinds of
 * images, formats and modes. What is outside of CLK_ADDRESS_CLAMP's edge is zero; a format without
 * alpha has an alpha of one there, too.
 */
float4 salvo_outline_sample(image_t image, uint sampler, float s_x, float s_y, float s_z, uint dims,
			    uint layer)
{
	const float4 s = (float4)(s_x, s_y, s_z, 0.0f);
	const struct cube at = pick_linear(image, sampler, s, dims, layer);
	const uint type = image->type, bytes = channel_bytes(type);
	const uint size = bytes * channels_of(image->order);
	float4 sum = 0.0f;

#pragma unroll 1
	for (uint i = 0; i < 1u << dims; i++) {
		const int x = i & 1 ? at.x.high : at.x.low, y = i & 2 ? at.y.high : at.y.low;
		const int z = i & 4 ? at.z.high : at.z.low;
		const int4 inside = (int4)(x < 0 ? 0 : x, y < 0 ? 0 : y, z < 0 ? 0 : z, 0);
		float weight = i & 1 ? at.x.second : at.x.first;
		float4 v;

		if (dims > 1)
			weight *= i & 2 ? at.y.second : at.y.first;
		if (dims > 2)
			weight *= i & 4 ? at.z.second : at.z.first;
		v = numbers_of(load_bits(image, bytes, size, inside, true), type);
		if (is_border((int4)(x, y, z, 0), sampler))
			v = 0.0f;
		sum += weight * v;
	}
	return place_f(sum * scale_of(type), image->order);
}

/*
 * One channel, of floats or bytes: so short that it is inlined, unless there would be many copies.
 * Only the loads are there for each type.
 */
struct square {
	float a, b, c, d;
};

#define SQUARE_OF(NAME, TYPE) \
	static struct square NAME(image_t image, struct pair x, struct pair y, int z) \
	{ \
		global const TYPE *low = \
			(global const TYPE *)row_of(image, (int4)(0, y.low, z, 0)); \
		global const TYPE *high = \
			(global const TYPE *)row_of(image, (int4)(0, y.high, z, 0)); \
		struct square at = { low[x.low], low[x.high], high[x.low], high[x.high] }; \
		\
		return at; \
	}

SQUARE_OF(square_of_bytes, uchar)
SQUARE_OF(square_of_floats, float)

static float weigh(struct pair at, float a, float b)
{
	return a * at.first + b * at.second;
}

float salvo_sample_one(image_t image, uint sampler, float s_x, float s_y, float s_z, uint dims)
{
	const struct pair x = inner(linear(s_x, image->width, sampler), sampler);
	const struct pair y = inner(linear(s_y, image->height, sampler), sampler);
	const bool bytes = image->type == CLK_UNORM_INT8;
	struct pair z = { 0, 0, 1.0f, 0.0f };
	float sum = 0.0f;

	if (dims > 2)
		z = inner(linear(s_z, image->depth, sampler), sampler);
	for (uint i = 0; i < (dims > 2 ? 2 : 1); i++) {
		const int plane = i ? z.high : z.low;
		const struct square at = bytes ? square_of_bytes(image, x, y, plane) :
						 square_of_floats(image, x, y, plane);
		const float v = weigh(y, weigh(x, at.a, at.b), weigh(x, at.c, at.d));

		sum = i ? sum + v * z.second : v * z.first;
	}
	return bytes ? sum * (1.0f / 255.0f) : sum;
}

static float4 sample_f(image_t image, uint sampler, float4 s, uint dims, uint layer)
{
	if (!(sampler & CLK_FILTER_LINEAR))
		return texel_one(image, sampler, pick_nearest(image, sampler, s, dims, layer));
	return salvo_outline_sample(image, sampler, s.x, s.y, s.z, dims, layer);
}

/*
 * Of two or three dimensions. Floats with a border are not weighed, as a pixel in place of one
 * beyond the edge may be infinite.
 */
__attribute__((always_inline))
static float4 sample_one_f(image_t image, uint sampler, float4 s, uint dims, uint layer)
{
	if (!(sampler & CLK_FILTER_LINEAR))
		return texel_one(image, sampler, pick_nearest(image, sampler, s, dims, layer));
	if (has_format(image, CLK_R, CLK_UNORM_INT8) ||
	    (has_format(image, CLK_R, CLK_FLOAT) && ADDRESS_OF(sampler) != CLK_ADDRESS_CLAMP))
		return (float4)(salvo_sample_one(image, sampler, s.x, s.y, s.z, dims), 0.0f, 0.0f,
				1.0f);
	return salvo_outline_sample(image, sampler, s.x, s.y, s.z, dims, layer);
}

/* Whole coordinates are never normalised and never filtered. */
static int4 pick_whole(image_t image, uint sampler, int4 s, uint dims, uint layer)
{
	uint mode = ADDRESS_OF(sampler);
	int4 at = 0;

	at.x = clamp_index(s.x, image->width, mode);
	if (dims > 1)
		at.y = clamp_index(s.y, image->height, mode);
	if (dims > 2)
		at.z = clamp_index(s.z, image->depth, mode);
	if (layer)
		at.z = clamp_index(layer == 1 ? s.y : s.z, image->layers,
				   CLK_ADDRESS_CLAMP_TO_EDGE);
	return at;
}

static int4 texel_i(image_t image, uint sampler, int4 at)
{
	if (is_border(at, sampler))
		return (int4)(0, 0, 0, (int)border_alpha(image->order));
	return load_i(image, at);
}

static bool inside(image_t image, int4 at, uint dims, uint layer)
{
	bool ok = (uint)at.x < image->width;

	if (dims > 1)
		ok = ok & ((uint)at.y < image->height);
	if (dims > 2)
		ok = ok & ((uint)at.z < image->depth);
	if (layer)
		ok = ok & ((uint)(layer == 1 ? at.y : at.z) < image->layers);
	return ok;
}

/* The compiler answers these (variables.cc): is the program checked, which argument is @image? */
bool salvo_checked(void);
uint salvo_argument(image_t image);

/* A fault that tells the pixel: see SALVO_STRAY_BASE in device/include/salvo_kernel.h. */
static void stray(image_t image, int4 at, bool write)
{
	uint bytes = channels_of(image->order) * channel_bytes(image->type);
	uint log = bytes <= 1 ? 0 : 32 - __builtin_clz(bytes - 1);
	long offset = (long)at.x * bytes + (long)at.y * (long)image->row_pitch +
		      (long)at.z * (long)image->slice_pitch;
	ulong place = SALVO_STRAY_BASE |
		      (ulong)salvo_argument(image) << SALVO_STRAY_ARGUMENT_SHIFT |
		      (ulong)log << SALVO_STRAY_SIZE_SHIFT |
		      ((ulong)(offset + SALVO_STRAY_ZERO) & (2 * SALVO_STRAY_ZERO - 1));

	if (write)
		*(volatile global uchar *)place = 0;
	else
		(void)*(volatile global uchar *)place;
}

static int4 layered(int4 at, uint layer)
{
	return layer == 1 ? (int4)(at.x, 0, at.y, 0) : at;
}

/* Coordinates outside of the image; its layers are clamped. */
static void check_whole(image_t image, uint sampler, int4 at, uint dims)
{
	if (salvo_checked() && ADDRESS_OF(sampler) == CLK_ADDRESS_NONE &&
	    !inside(image, at, dims, 0))
		stray(image, at, false);
}

static void check_nearest(image_t image, uint sampler, float4 s, uint dims)
{
	int4 at = 0;

	if (!salvo_checked())
		return;
	at.x = floor_index(to_pixels(s.x, image->width, sampler));
	if (dims > 1)
		at.y = floor_index(to_pixels(s.y, image->height, sampler));
	if (dims > 2)
		at.z = floor_index(to_pixels(s.z, image->depth, sampler));
	check_whole(image, sampler, at, dims);
}

/* Without a sampler the layer has to exist, too. */
static int4 checked(image_t image, int4 at, uint dims, uint layer)
{
	if (salvo_checked() && !inside(image, at, dims, layer))
		stray(image, layered(at, layer), false);
	return pick_whole(image, 0, at, dims, layer);
}

/* The compiler makes these the identity (opaque.cc). */
OVERLOAD uint salvo_sampler(sampler_t sampler);

#define WIDE_1(c) (c, 0, 0, 0)
#define WIDE_2(c) (c, 0, 0)
#define WIDE_4(c) (c)

/*
 * IMAGE: its type; CI and CF: types of coordinates; WIDE: to four elements; SAMPLE: reads a
 * float4 by a sampler. ACCESS: of the image; one that is read and written has no functions with
 * a sampler.
 */
#define READ(IMAGE, CI, CF, WIDE, DIMS, LAYER, SAMPLE) \
	OVERLOAD float4 read_imagef(read_only IMAGE image, sampler_t sampler, CF s) \
	{ \
		check_nearest(salvo_image(image), salvo_sampler(sampler), (float4)WIDE(s), DIMS); \
		return SAMPLE(salvo_image(image), salvo_sampler(sampler), (float4)WIDE(s), DIMS, \
			      LAYER); \
	} \
	OVERLOAD float4 read_imagef(read_only IMAGE image, sampler_t sampler, CI s) \
	{ \
		check_whole(salvo_image(image), salvo_sampler(sampler), (int4)WIDE(s), DIMS); \
		return texel_one(salvo_image(image), salvo_sampler(sampler), \
				 pick_whole(salvo_image(image), salvo_sampler(sampler), \
					    (int4)WIDE(s), DIMS, LAYER)); \
	} \
	READ_INTEGER(IMAGE, CI, CF, WIDE, DIMS, LAYER, int4, read_imagei) \
	READ_INTEGER(IMAGE, CI, CF, WIDE, DIMS, LAYER, uint4, read_imageui)
#define READ_WHOLE(ACCESS, IMAGE, CI, WIDE, DIMS, LAYER) \
	OVERLOAD float4 read_imagef(ACCESS IMAGE image, CI s) \
	{ return load_f(salvo_image(image), \
			checked(salvo_image(image), (int4)WIDE(s), DIMS, LAYER)); } \
	OVERLOAD int4 read_imagei(ACCESS IMAGE image, CI s) \
	{ return load_i(salvo_image(image), \
			checked(salvo_image(image), (int4)WIDE(s), DIMS, LAYER)); } \
	OVERLOAD uint4 read_imageui(ACCESS IMAGE image, CI s) \
	{ return as_uint4(read_imagei(image, s)); }
#define READ_INTEGER(IMAGE, CI, CF, WIDE, DIMS, LAYER, T, NAME) \
	OVERLOAD T NAME(read_only IMAGE image, sampler_t sampler, CF s) \
	{ \
		check_nearest(salvo_image(image), salvo_sampler(sampler), (float4)WIDE(s), DIMS); \
		int4 at = pick_nearest(salvo_image(image), salvo_sampler(sampler), \
				       (float4)WIDE(s), DIMS, LAYER); \
		return __builtin_astype(texel_i(salvo_image(image), salvo_sampler(sampler), at), \
					T); \
	} \
	OVERLOAD T NAME(read_only IMAGE image, sampler_t sampler, CI s) \
	{ \
		check_whole(salvo_image(image), salvo_sampler(sampler), (int4)WIDE(s), DIMS); \
		return __builtin_astype(texel_i(salvo_image(image), salvo_sampler(sampler), \
						pick_whole(salvo_image(image), \
							   salvo_sampler(sampler), (int4)WIDE(s), \
							   DIMS, LAYER)), T); \
	}
#define WRITE(ACCESS, IMAGE, CI, WIDE, DIMS, LAYER) \
	OVERLOAD void write_imagef(ACCESS IMAGE image, CI s, float4 color) \
	{ \
		image_t i = salvo_image(image); \
		if (inside(i, (int4)WIDE(s), DIMS, LAYER)) \
			store_f(i, layered((int4)WIDE(s), LAYER), color); \
		else if (salvo_checked()) \
			stray(i, layered((int4)WIDE(s), LAYER), true); \
	} \
	OVERLOAD void write_imagei(ACCESS IMAGE image, CI s, int4 color) \
	{ \
		image_t i = salvo_image(image); \
		if (inside(i, (int4)WIDE(s), DIMS, LAYER)) \
			store_i(i, layered((int4)WIDE(s), LAYER), as_uint4(color)); \
		else if (salvo_checked()) \
			stray(i, layered((int4)WIDE(s), LAYER), true); \
	} \
	OVERLOAD void write_imageui(ACCESS IMAGE image, CI s, uint4 color) \
	{ write_imagei(image, s, as_int4(color)); }
#define ASK(ACCESS, IMAGE) \
	OVERLOAD int get_image_width(ACCESS IMAGE image) { return salvo_image(image)->width; } \
	OVERLOAD int get_image_channel_data_type(ACCESS IMAGE image) \
	{ return salvo_image(image)->type; } \
	OVERLOAD int get_image_channel_order(ACCESS IMAGE image) \
	{ return salvo_image(image)->order; }
#define ASK_HEIGHT(ACCESS, IMAGE) \
	OVERLOAD int get_image_height(ACCESS IMAGE image) { return salvo_image(image)->height; }
#define ASK_DIM(ACCESS, IMAGE) \
	OVERLOAD int2 get_image_dim(ACCESS IMAGE image) \
	{ return (int2)(salvo_image(image)->width, salvo_image(image)->height); }
#define ASK_LAYERS(ACCESS, IMAGE) \
	OVERLOAD size_t get_image_array_size(ACCESS IMAGE image) \
	{ return salvo_image(image)->layers; }

#define ASK_DEPTH(ACCESS, IMAGE) \
	OVERLOAD int get_image_depth(ACCESS IMAGE image) { return salvo_image(image)->depth; } \
	OVERLOAD int4 get_image_dim(ACCESS IMAGE image) \
	{ \
		image_t i = salvo_image(image); \
		return (int4)(i->width, i->height, i->depth, 0); \
	}

/* All that an image of one kind has, for each access; ASKS: what it can be asked. */
#define IMAGE_OF(IMAGE, CI, WIDE, DIMS, LAYER, ASKS) \
	OVERLOAD image_t salvo_image(read_only IMAGE image); \
	OVERLOAD image_t salvo_image(write_only IMAGE image); \
	OVERLOAD image_t salvo_image(read_write IMAGE image); \
	READ_WHOLE(read_only, IMAGE, CI, WIDE, DIMS, LAYER) \
	READ_WHOLE(read_write, IMAGE, CI, WIDE, DIMS, LAYER) \
	WRITE(write_only, IMAGE, CI, WIDE, DIMS, LAYER) \
	WRITE(read_write, IMAGE, CI, WIDE, DIMS, LAYER) \
	ASKS(read_only, IMAGE) \
	ASKS(write_only, IMAGE) \
	ASKS(read_write, IMAGE)
#define ASK_1D_ARRAY(ACCESS, IMAGE) ASK(ACCESS, IMAGE) ASK_LAYERS(ACCESS, IMAGE)
#define ASK_2D(ACCESS, IMAGE) \
	ASK(ACCESS, IMAGE) ASK_HEIGHT(ACCESS, IMAGE) ASK_DIM(ACCESS, IMAGE)
#define ASK_2D_ARRAY(ACCESS, IMAGE) ASK_2D(ACCESS, IMAGE) ASK_LAYERS(ACCESS, IMAGE)
#define ASK_3D(ACCESS, IMAGE) \
	ASK(ACCESS, IMAGE) ASK_HEIGHT(ACCESS, IMAGE) ASK_DEPTH(ACCESS, IMAGE)

IMAGE_OF(image1d_t, int, WIDE_1, 1, 0, ASK)
IMAGE_OF(image1d_buffer_t, int, WIDE_1, 1, 0, ASK)
IMAGE_OF(image1d_array_t, int2, WIDE_2, 1, 1, ASK_1D_ARRAY)
IMAGE_OF(image2d_t, int2, WIDE_2, 2, 0, ASK_2D)
IMAGE_OF(image2d_array_t, int4, WIDE_4, 2, 2, ASK_2D_ARRAY)
IMAGE_OF(image3d_t, int4, WIDE_4, 3, 0, ASK_3D)
READ(image1d_t, int, float, WIDE_1, 1, 0, sample_f)
READ(image1d_array_t, int2, float2, WIDE_2, 1, 1, sample_f)
READ(image2d_t, int2, float2, WIDE_2, 2, 0, sample_one_f)
READ(image2d_array_t, int4, float4, WIDE_4, 2, 2, sample_f)
READ(image3d_t, int4, float4, WIDE_4, 3, 0, sample_one_f)
