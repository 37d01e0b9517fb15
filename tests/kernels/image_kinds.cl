// SPDX-License-Identifier: MIT
/* image_kinds.cl - every kind of image, read, written and both, for tests/lib/image_kinds.c */

#define AT_1D (int)get_global_id(0)
#define AT_2D (int2)(get_global_id(0), get_global_id(1))
#define AT_3D (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0)
#define ONE get_image_width
#define TWO(i) get_image_width(i) + 100 * get_image_height(i)
#define THREE(i) TWO(i) + 10000 * get_image_depth(i)
#define LINES(i) get_image_width(i) + 10000 * (int)get_image_array_size(i)
#define PLANES(i) TWO(i) + 10000 * (int)get_image_array_size(i)

/* from -> to, and both = both + 1; out: what each is asked for */
#define KIND(NAME, IMAGE, AT, ASK) \
	kernel void NAME(read_only IMAGE from, write_only IMAGE to, read_write IMAGE both, \
			 global int *out) \
	{ \
		write_imagei(to, AT, read_imagei(from, AT)); \
		write_imagei(both, AT, read_imagei(both, AT) + 1); \
		if (get_global_linear_id()) \
			return; \
		out[0] = ASK(from); \
		out[1] = ASK(to); \
		out[2] = ASK(both); \
		out[3] = get_image_channel_order(both) << 16 | get_image_channel_data_type(both); \
	}

KIND(kind_1d, image1d_t, AT_1D, ONE)
KIND(kind_1d_buffer, image1d_buffer_t, AT_1D, ONE)
KIND(kind_1d_array, image1d_array_t, AT_2D, LINES)
KIND(kind_2d, image2d_t, AT_2D, TWO)
KIND(kind_2d_array, image2d_array_t, AT_3D, PLANES)
KIND(kind_3d, image3d_t, AT_3D, THREE)

/* A row of pixels of any format to four channels, and back to an image of the same format */
#define FORMAT(NAME, T, READ, WRITE) \
	kernel void NAME(read_only image1d_t from, read_write image1d_t to, global T *out) \
	{ \
		int i = get_global_id(0); \
		out[i] = READ(from, i); \
		WRITE(to, i, out[i]); \
		out[i + get_global_size(0)] = READ(to, i); \
	}

FORMAT(format_f, float4, read_imagef, write_imagef)
FORMAT(format_i, int4, read_imagei, write_imagei)
FORMAT(format_ui, uint4, read_imageui, write_imageui)

constant sampler_t between = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_LINEAR;

/* A quarter of the way from a pixel to the next, from the one before the first on */
kernel void filter(read_only image1d_t from, global float4 *out)
{
	out[get_global_id(0)] = read_imagef(from, between, get_global_id(0) - 0.25f);
}

kernel void beyond(write_only image1d_t to)
{
	uint i = get_global_id(0);

	write_imageui(to, (int)i, (uint4)(i << 9, i << 12, ~i, i));
}

typedef struct {
	int n;
} image_data;

kernel void no_image(global image_data *image)
{
	image->n = 1;
}

/* M(n) for 64 names that begin with n */
#define TIMES_4(M, n) M(n##0) M(n##1) M(n##2) M(n##3)
#define TIMES_16(M, n) TIMES_4(M, n##0) TIMES_4(M, n##1) TIMES_4(M, n##2) TIMES_4(M, n##3)
#define TIMES_64(M, n) TIMES_16(M, n##0) TIMES_16(M, n##1) TIMES_16(M, n##2) TIMES_16(M, n##3)
#define PARAM_READ(n) read_only image1d_t i##n,
#define PARAM_BOTH(n) read_write image1d_t i##n,
#define ADD(n) *sum += read_imagei(i##n, 0).x;
#define INCREMENT(n) write_imagei(i##n, 0, read_imagei(i##n, 0) + 1);

kernel void many_read(TIMES_64(PARAM_READ, 0) TIMES_64(PARAM_READ, 1) global int *sum)
{
	*sum = 0;
	TIMES_64(ADD, 0)
	TIMES_64(ADD, 1)
}

kernel void many_both(TIMES_64(PARAM_BOTH, 0) global int *sum)
{
	*sum = 0;
	TIMES_64(ADD, 0)
	TIMES_64(INCREMENT, 0)
}
