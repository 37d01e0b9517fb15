// SPDX-License-Identifier: MIT
/*
 * texels.cl - one pixel of an image, in memory and as a vector
 *
 * An image is the struct salvo_image_view of device/include/salvo_kernel.h. Channel by channel a
 * pixel is read as its type says and put in place as the order says. The functions are
 * large and stay functions (names that begin with salvo_outline); the most usual
 * formats have short cuts before the call.
 */
struct image {
	ulong address, row_pitch, slice_pitch;
	uint width, height, depth, layers, order, type;
};
typedef constant const struct image *image_t;

/* Made to measure by the compiler. */
OVERLOAD float vload_half(size_t at, private const half *p);
OVERLOAD void vstore_half(float x, size_t at, private half *p);
OVERLOAD uchar convert_uchar_sat_rte(float x);
OVERLOAD char convert_char_sat_rte(float x);
OVERLOAD ushort convert_ushort_sat_rte(float x);
OVERLOAD short convert_short_sat_rte(float x);

static uint channels_of(uint order)
{
	switch (order) {
	case CLK_RGBA:
	case CLK_BGRA:
	case CLK_ARGB:
		return 4;
	case CLK_RGB:
	case CLK_RGBx:
		return 3;
	case CLK_RG:
	case CLK_RA:
	case CLK_RGx:
		return 2;
	default:
		return 1;
	}
}

static uint channel_bytes(uint type)
{
	switch (type) {
	case CLK_SNORM_INT8:
	case CLK_UNORM_INT8:
	case CLK_SIGNED_INT8:
	case CLK_UNSIGNED_INT8:
		return 1;
	case CLK_SNORM_INT16:
	case CLK_UNORM_INT16:
	case CLK_SIGNED_INT16:
	case CLK_UNSIGNED_INT16:
	case CLK_HALF_FLOAT:
		return 2;
	default:
		return 4;
	}
}

/*
 * A texel of a type of the source: neighbours are seen to be contiguous, and others have indices of
 * 32 bits where the row is the same for all lanes.
 */
#define TEXEL(TYPE, IMAGE, AT) (((global TYPE *)row_of(IMAGE, AT))[(AT).x])

/* A row has less than 2^31 bytes. Units that gather scale indices by no more than 8 bytes. */
#define WIDE_TEXEL(TYPE, IMAGE, AT) \
	(*(global TYPE *)(row_of(IMAGE, AT) + (AT).x * (int)sizeof(TYPE)))

static global uchar *row_of(image_t image, int4 at)
{
	return (global uchar *)(image->address + (ulong)at.y * image->row_pitch +
				(ulong)at.z * image->slice_pitch);
}

/* Both have 16 bits: one comparison. */
static bool has_format(image_t image, uint order, uint type)
{
	return (image->order << 16 | image->type) == (order << 16 | type);
}

/* Channels as they lie in memory, to (r, g, b, a). */
#define PLACE(V, ORDER, ZERO, ONE, FULL) \
	switch (ORDER) { \
	case CLK_RGBA: return V; \
	case CLK_BGRA: return V.zyxw; \
	case CLK_ARGB: return V.yzwx; \
	case CLK_RGB: case CLK_RGBx: return (FULL)(V.xyz, ONE); \
	case CLK_RG: case CLK_RGx: return (FULL)(V.xy, ZERO, ONE); \
	case CLK_RA: return (FULL)(V.x, ZERO, ZERO, V.y); \
	case CLK_A: return (FULL)(ZERO, ZERO, ZERO, V.x); \
	case CLK_INTENSITY: return V.xxxx; \
	case CLK_LUMINANCE: return (FULL)(V.xxx, ONE); \
	default: return (FULL)(V.x, ZERO, ZERO, ONE); \
	}

static float4 place_f(float4 v, uint order) { PLACE(v, order, 0.0f, 1.0f, float4) }
static int4 place_i(int4 v, uint order) { PLACE(v, order, 0, 1, int4) }

/* And back. */
#define UNPLACE(V, ORDER) \
	switch (ORDER) { \
	case CLK_BGRA: return V.zyxw; \
	case CLK_ARGB: return V.wxyz; \
	case CLK_RA: return V.xwww; \
	case CLK_A: return V.wwww; \
	default: return V; \
	}

static float4 unplace_f(float4 v, uint order) { UNPLACE(v, order) }
static int4 unplace_i(int4 v, uint order) { UNPLACE(v, order) }

/*
 * The bits of the channels of one pixel as they lie in memory: it has @size bytes in 1, 2 or 4
 * channels of @bytes, and is loaded as a whole. @anywhere: lanes load no neighbours, so one of less
 * than a word is loaded as a part of that, which is less code.
 */
static uint4 load_bits(image_t image, uint bytes, uint size, int4 at, bool anywhere)
{
	uint low, high = 0;

	if (size == 16)
		return WIDE_TEXEL(const uint4, image, at);
	if (size == 8) {
		const ulong both = TEXEL(const ulong, image, at);

		low = both;
		high = both >> 32;
	} else if (size == 4) {
		low = TEXEL(const uint, image, at);
	} else if (!anywhere) {
		low = size == 2 ? TEXEL(const ushort, image, at) : TEXEL(const uchar, image, at);
	} else {
		const ulong p = (ulong)row_of(image, at) + (size == 2 ? 2 * at.x : at.x);

		low = *(global const uint *)(p & ~3ul) >> (p & 3) * 8;
	}
	if (bytes == 4)
		return (uint4)(low, high, 0, 0);
	if (bytes == 2)
		return (uint4)(low & 0xffff, low >> 16, high & 0xffff, high >> 16);
	return __builtin_convertvector(__builtin_astype(low, uchar4), uint4);
}

/* The other way round; what is above the bits of a channel is zero. */
static void store_bits(image_t image, int4 at, uint4 bits)
{
	const uint bytes = channel_bytes(image->type), size = bytes * channels_of(image->order);
	uint low = bits.x, high = bits.y;

	if (size == 16) {
		WIDE_TEXEL(uint4, image, at) = bits;
		return;
	}
	if (bytes == 2) {
		low = bits.x | bits.y << 16;
		high = bits.z | bits.w << 16;
	} else if (bytes == 1) {
		low = bits.x | bits.y << 8 | bits.z << 16 | bits.w << 24;
	}
	if (size == 8)
		TEXEL(ulong, image, at) = low | (ulong)high << 32;
	else if (size == 4)
		TEXEL(uint, image, at) = low;
	else if (size == 2)
		TEXEL(ushort, image, at) = low;
	else
		TEXEL(uchar, image, at) = low;
}

static float half_of(uint bits)
{
	const ushort half_bits = bits;

	return vload_half(0, (private const half *)&half_bits);
}

static int4 integers_of(uint4 bits, uint type)
{
	const uint unused = type == CLK_SIGNED_INT8 || type == CLK_SNORM_INT8 ? 24 :
			    type == CLK_SIGNED_INT16 || type == CLK_SNORM_INT16 ? 16 : 0;

	return __builtin_astype(bits << unused, int4) >> unused;
}

/* Numbers of normalised channels are not divided by the greatest yet, see scale_of(). */
static float4 numbers_of(uint4 bits, uint type)
{
	int4 numbers = __builtin_astype(bits, int4), least;

	switch (type) {
	case CLK_SNORM_INT8:
	case CLK_SNORM_INT16:
		least = type == CLK_SNORM_INT8 ? -127 : -32767;
		numbers = __builtin_elementwise_max(integers_of(bits, type), least);
		return __builtin_convertvector(numbers, float4);
	case CLK_UNORM_INT8:
	case CLK_UNORM_INT16:
		return __builtin_convertvector(numbers, float4);
	case CLK_HALF_FLOAT:
		return (float4)(half_of(bits.x), half_of(bits.y), half_of(bits.z), half_of(bits.w));
	default:
		return __builtin_astype(bits, float4);
	}
}

static float scale_of(uint type)
{
	switch (type) {
	case CLK_UNORM_INT8: return 1.0f / 255.0f;
	case CLK_SNORM_INT8: return 1.0f / 127.0f;
	case CLK_UNORM_INT16: return 1.0f / 65535.0f;
	case CLK_SNORM_INT16: return 1.0f / 32767.0f;
	default: return 1.0f;
	}
}

static uint to_half(float x)
{
	ushort bits;

	vstore_half(x, 0, (private half *)&bits);
	return bits;
}

static uint to_unorm(float x) { return convert_uchar_sat_rte(x * 255.0f); }
static uint to_unorm_16(float x) { return convert_ushort_sat_rte(x * 65535.0f); }
static uint to_snorm(float x) { return (uchar)convert_char_sat_rte(x * 127.0f); }
static uint to_snorm_16(float x) { return (ushort)convert_short_sat_rte(x * 32767.0f); }

#define EACH(F, V) (uint4)(F(V.x), F(V.y), F(V.z), F(V.w))

/* The bits of channels of which these are the numbers */
static uint4 bits_of(float4 v, uint type)
{
	switch (type) {
	case CLK_UNORM_INT8: return EACH(to_unorm, v);
	case CLK_SNORM_INT8: return EACH(to_snorm, v);
	case CLK_UNORM_INT16: return EACH(to_unorm_16, v);
	case CLK_SNORM_INT16: return EACH(to_snorm_16, v);
	case CLK_HALF_FLOAT: return EACH(to_half, v);
	default: return __builtin_astype(v, uint4);
	}
}

static uint4 bits_of_integers(int4 v, uint type)
{
	const bool is_byte = type == CLK_SIGNED_INT8 || type == CLK_UNSIGNED_INT8;
	const uint4 mask = is_byte ? 0xff : 0xffff;
	const int4 most = __builtin_astype(mask >> 1, int4);

	switch (type) {
	case CLK_UNSIGNED_INT8:
	case CLK_UNSIGNED_INT16:
		return __builtin_elementwise_min(__builtin_astype(v, uint4), mask);
	case CLK_SIGNED_INT8:
	case CLK_SIGNED_INT16:
		v = __builtin_elementwise_max(__builtin_elementwise_min(v, most), ~most);
		return __builtin_astype(v, uint4) & mask;
	default:
		return __builtin_astype(v, uint4);
	}
}

/*
 * A coordinate that is the same for all lanes is passed as one: they are not a vector. Lanes call
 * this one at the same time, as they do those that filter (image.cl).
 */
float4 salvo_outline_sample_texel(image_t image, int x, int y, int z)
{
	const uint type = image->type, bytes = channel_bytes(type);
	const uint size = bytes * channels_of(image->order);
	const uint4 bits = load_bits(image, bytes, size, (int4)(x, y, z, 0), true);

	return place_f(numbers_of(bits, type) * scale_of(type), image->order);
}

int4 salvo_outline_load_i(image_t image, int x, int y, int z)
{
	const uint bytes = channel_bytes(image->type), size = bytes * channels_of(image->order);
	const uint4 bits = load_bits(image, bytes, size, (int4)(x, y, z, 0), true);

	return place_i(integers_of(bits, image->type), image->order);
}

void salvo_outline_store_f(image_t image, int x, int y, int z, float4 color)
{
	store_bits(image, (int4)(x, y, z, 0),
		   bits_of(unplace_f(color, image->order), image->type));
}

void salvo_outline_store_i(image_t image, int x, int y, int z, int4 color)
{
	store_bits(image, (int4)(x, y, z, 0),
		   bits_of_integers(unplace_i(color, image->order), image->type));
}

/* Its channels are the first ones of (r, g, b, a), in this order. */
static bool has_plain_order(image_t image)
{
	return image->order == CLK_R || image->order == CLK_RG || image->order == CLK_RGBA;
}

/* Four channels of bytes as (r, g, b, a) */
static bool has_color_bytes(image_t image)
{
	return has_format(image, CLK_RGBA, CLK_UNORM_INT8) ||
	       has_format(image, CLK_BGRA, CLK_UNORM_INT8);
}

/* With short cuts for the most usual formats */
static float4 load_f(image_t image, int4 at)
{
	if (has_color_bytes(image)) {
		const uint v = TEXEL(const uint, image, at);
		const uint first = v & 0xff, third = v >> 16 & 0xff;
		const bool is_rgba = image->order == CLK_RGBA;

		return (float4)(is_rgba ? first : third, v >> 8 & 0xff, is_rgba ? third : first,
				v >> 24) * (1.0f / 255.0f);
	}
	if (has_format(image, CLK_R, CLK_UNORM_INT8))
		return (float4)(TEXEL(const uchar, image, at) * (1.0f / 255.0f), 0.0f, 0.0f, 1.0f);
	if (has_format(image, CLK_R, CLK_FLOAT))
		return (float4)(TEXEL(const float, image, at), 0.0f, 0.0f, 1.0f);
	if (has_format(image, CLK_RGBA, CLK_FLOAT))
		return WIDE_TEXEL(const float4, image, at);
	if (has_format(image, CLK_RGBA, CLK_UNORM_INT16)) {
		const ulong v = TEXEL(const ulong, image, at);
		const uint low = v, high = v >> 32;

		return (float4)(low & 0xffff, low >> 16, high & 0xffff, high >> 16) *
		       (1.0f / 65535.0f);
	}
	if (has_format(image, CLK_RGBA, CLK_HALF_FLOAT)) {
		const ulong v = TEXEL(const ulong, image, at);

		return (float4)(half_of(v), half_of(v >> 16), half_of(v >> 32), half_of(v >> 48));
	}
	if (has_format(image, CLK_RG, CLK_UNORM_INT8)) {
		const uint v = TEXEL(const ushort, image, at);

		return (float4)((v & 0xff) * (1.0f / 255.0f), (v >> 8) * (1.0f / 255.0f), 0.0f,
				1.0f);
	}
	return salvo_outline_sample_texel(image, at.x, at.y, at.z);
}

static void store_f(image_t image, int4 at, float4 color)
{
	if (has_format(image, CLK_R, CLK_UNORM_INT8)) {
		TEXEL(uchar, image, at) = to_unorm(color.x);
	} else if (has_format(image, CLK_R, CLK_FLOAT)) {
		TEXEL(float, image, at) = color.x;
	} else if (has_plain_order(image) || has_color_bytes(image)) {
		if (image->order == CLK_BGRA)
			color = color.zyxw;
		store_bits(image, at, bits_of(color, image->type));
	} else {
		salvo_outline_store_f(image, at.x, at.y, at.z, color);
	}
}

static int4 load_i(image_t image, int4 at)
{
	const uint type = image->type, bytes = channel_bytes(type);
	const uint count = channels_of(image->order);
	int4 v;

	if (!has_plain_order(image))
		return salvo_outline_load_i(image, at.x, at.y, at.z);
	v = integers_of(load_bits(image, bytes, count * bytes, at, false), type);
	return (int4)(v.x, v.y, v.z, count == 4 ? v.w : 1);
}

static void store_i(image_t image, int4 at, uint4 color)
{
	const int4 v = __builtin_astype(color, int4);

	if (has_plain_order(image))
		store_bits(image, at, bits_of_integers(v, image->type));
	else
		salvo_outline_store_i(image, at.x, at.y, at.z, v);
}

/* What lies around an image: black, opaque where its pixels have no alpha. */
static float border_alpha(uint order)
{
	const uint opaque = 1 << (CLK_R & 31) | 1 << (CLK_RG & 31) | 1 << (CLK_RGB & 31) |
			    1 << (CLK_LUMINANCE & 31);

	return opaque >> (order & 31) & 1;
}
