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
OVERLOAD uchar convert_uchar_sat(uint x);
OVERLOAD char convert_char_sat(int x);
OVERLOAD ushort convert_ushort_sat(uint x);
OVERLOAD short convert_short_sat(int x);

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
 * channels of @bytes, and is loaded as a whole, one of less than a word as a part of that.
 */
static uint4 load_bits(image_t image, uint bytes, uint size, int4 at)
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

#define STORE(V, PUT, IMAGE, X, Y, Z) \
	const uint type = IMAGE->type, count = channels_of(IMAGE->order); \
	const uint bytes = channel_bytes(type); \
	global uchar *p = row_of(IMAGE, (int4)(X, Y, Z, 0)) + (ulong)X * (count * bytes); \
	PUT(p, type, V.x); \
	if (count > 1) \
		PUT(p + bytes, type, V.y); \
	if (count > 2) \
		PUT(p + 2 * bytes, type, V.z); \
	if (count > 3) \
		PUT(p + 3 * bytes, type, V.w)

/* A coordinate that is the same for all lanes is passed as one: they are not a vector. */
float4 salvo_outline_load_f(image_t image, int x, int y, int z)
{
	const uint type = image->type, bytes = channel_bytes(type);
	const uint size = bytes * channels_of(image->order);
	const uint4 bits = load_bits(image, bytes, size, (int4)(x, y, z, 0));

	return place_f(numbers_of(bits, type) * scale_of(type), image->order);
}

int4 salvo_outline_load_i(image_t image, int x, int y, int z)
{
	const uint bytes = channel_bytes(image->type), size = bytes * channels_of(image->order);
	const uint4 bits = load_bits(image, bytes, size, (int4)(x, y, z, 0));

	return place_i(integers_of(bits, image->type), image->order);
}

static ulong to_half(float x)
{
	ushort bits;

	vstore_half(x, 0, (private half *)&bits);
	return bits;
}

static void put_f(global uchar *p, uint type, float x)
{
	switch (type) {
	case CLK_UNORM_INT8: *p = convert_uchar_sat_rte(x * 255.0f); break;
	case CLK_SNORM_INT8: *(global char *)p = convert_char_sat_rte(x * 127.0f); break;
	case CLK_UNORM_INT16: *(global ushort *)p = convert_ushort_sat_rte(x * 65535.0f); break;
	case CLK_SNORM_INT16: *(global short *)p = convert_short_sat_rte(x * 32767.0f); break;
	case CLK_HALF_FLOAT: *(global ushort *)p = to_half(x); break;
	default: *(global float *)p = x; break;
	}
}

static void put_i(global uchar *p, uint type, int x)
{
	switch (type) {
	case CLK_SIGNED_INT8: *(global char *)p = convert_char_sat(x); break;
	case CLK_UNSIGNED_INT8: *p = convert_uchar_sat((uint)x); break;
	case CLK_SIGNED_INT16: *(global short *)p = convert_short_sat(x); break;
	case CLK_UNSIGNED_INT16: *(global ushort *)p = convert_ushort_sat((uint)x); break;
	default: *(global int *)p = x; break;
	}
}

void salvo_outline_store_f(image_t image, int x, int y, int z, float4 color)
{
	float4 v = unplace_f(color, image->order);

	STORE(v, put_f, image, x, y, z);
}

void salvo_outline_store_i(image_t image, int x, int y, int z, int4 color)
{
	int4 v = unplace_i(color, image->order);

	STORE(v, put_i, image, x, y, z);
}

static float4 load_f(image_t image, int4 at)
{
	if (has_format(image, CLK_RGBA, CLK_FLOAT))
		return WIDE_TEXEL(const float4, image, at);
	return salvo_outline_load_f(image, at.x, at.y, at.z);
}

/* Four channels of bytes as (r, g, b, a) */
static bool has_color_bytes(image_t image)
{
	return has_format(image, CLK_RGBA, CLK_UNORM_INT8) ||
	       has_format(image, CLK_BGRA, CLK_UNORM_INT8);
}

/* The same with short cuts for one channel and bytes, too: in a function that reads one texel. */
static float4 load_one_f(image_t image, int4 at)
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
	if (has_format(image, CLK_RGBA, CLK_UNORM_INT16)) {
		ulong v = TEXEL(const ulong, image, at);
		uint low = v, high = v >> 32;

		return (float4)(low & 0xffff, low >> 16, high & 0xffff, high >> 16) *
		       (1.0f / 65535.0f);
	}
	if (has_format(image, CLK_RGBA, CLK_HALF_FLOAT)) {
		const ulong v = TEXEL(const ulong, image, at);

		return (float4)(half_of(v), half_of(v >> 16), half_of(v >> 32), half_of(v >> 48));
	}
	if (has_format(image, CLK_RG, CLK_UNORM_INT8)) {
		uint v = TEXEL(const ushort, image, at);

		return (float4)((v & 0xff) * (1.0f / 255.0f), (v >> 8) * (1.0f / 255.0f), 0.0f,
				1.0f);
	}
	return load_f(image, at);
}

static uint to_unorm(float x)
{
	return convert_uchar_sat_rte(x * 255.0f);
}

static uint to_unorm_16(float x)
{
	return convert_ushort_sat_rte(x * 65535.0f);
}

/* R, RG, RGBA and BGRA share what they convert. */
static void store_bytes(image_t image, int4 at, float4 color)
{
	uint v;

	if (image->order == CLK_BGRA)
		color = color.zyxw;
	v = to_unorm(color.x);

	if (image->order == CLK_R) {
		TEXEL(uchar, image, at) = v;
		return;
	}
	v |= to_unorm(color.y) << 8;
	if (image->order == CLK_RG)
		TEXEL(ushort, image, at) = v;
	else
		TEXEL(uint, image, at) =
			v | to_unorm(color.z) << 16 | to_unorm(color.w) << 24;
}

static void store_f(image_t image, int4 at, float4 color)
{
	if (has_format(image, CLK_RGBA, CLK_FLOAT))
		WIDE_TEXEL(float4, image, at) = color;
	else if (has_format(image, CLK_R, CLK_FLOAT))
		TEXEL(float, image, at) = color.x;
	else if (has_format(image, CLK_RGBA, CLK_UNORM_INT16))
		TEXEL(ulong, image, at) = to_unorm_16(color.x) | to_unorm_16(color.y) << 16 |
			(ulong)(to_unorm_16(color.z) | to_unorm_16(color.w) << 16) << 32;
	else if (has_format(image, CLK_RGBA, CLK_HALF_FLOAT))
		TEXEL(ulong, image, at) = to_half(color.x) | to_half(color.y) << 16 |
			to_half(color.z) << 32 | to_half(color.w) << 48;
	else if (has_color_bytes(image) ||
		 has_format(image, CLK_R, CLK_UNORM_INT8) ||
		 has_format(image, CLK_RG, CLK_UNORM_INT8))
		store_bytes(image, at, color);
	else
		salvo_outline_store_f(image, at.x, at.y, at.z, color);
}

static int4 load_i(image_t image, int4 at)
{
	if (has_format(image, CLK_RGBA, CLK_UNSIGNED_INT8)) {
		uint v = TEXEL(const uint, image, at);

		return (int4)(v & 0xff, v >> 8 & 0xff, v >> 16 & 0xff, v >> 24);
	}
	if (has_format(image, CLK_RGBA, CLK_UNSIGNED_INT16)) {
		ulong v = TEXEL(const ulong, image, at);

		return (int4)(v & 0xffff, v >> 16 & 0xffff, v >> 32 & 0xffff, v >> 48);
	}
	if (has_format(image, CLK_R, CLK_UNSIGNED_INT8))
		return (int4)(TEXEL(const uchar, image, at), 0, 0, 1);
	if (image->order == CLK_RGBA && channel_bytes(image->type) == 4)
		return WIDE_TEXEL(const int4, image, at);
	return salvo_outline_load_i(image, at.x, at.y, at.z);
}

static void store_i(image_t image, int4 at, uint4 color)
{
	if (has_format(image, CLK_RGBA, CLK_UNSIGNED_INT8)) {
		color = color < 0xff ? color : 0xff;
		TEXEL(uint, image, at) =
			color.x | color.y << 8 | color.z << 16 | color.w << 24;
	} else if (has_format(image, CLK_RGBA, CLK_UNSIGNED_INT16)) {
		color = color < 0xffff ? color : 0xffff;
		TEXEL(ulong, image, at) =
			color.x | color.y << 16 | (ulong)(color.z | color.w << 16) << 32;
	} else if (has_format(image, CLK_R, CLK_UNSIGNED_INT8)) {
		TEXEL(uchar, image, at) = convert_uchar_sat(color.x);
	} else {
		salvo_outline_store_i(image, at.x, at.y, at.z, __builtin_astype(color, int4));
	}
}

/* What lies around an image: black, opaque where its pixels have no alpha. */
static float border_alpha(uint order)
{
	const uint opaque = 1 << (CLK_R & 31) | 1 << (CLK_RG & 31) | 1 << (CLK_RGB & 31) |
			    1 << (CLK_LUMINANCE & 31);

	return opaque >> (order & 31) & 1;
}
