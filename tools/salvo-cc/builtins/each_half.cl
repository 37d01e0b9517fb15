// SPDX-License-Identifier: MIT
/*
 * each_half.cl - functions on half that depend on its format, 6.12.2 and 6.12.6
 *
 * Included once for each width. H: half, B and UB: short and ushort, all of N elements; COMPARED:
 * the type of a comparison's result.
 */
#define MAGNITUDE(x)	(__builtin_astype(x, B) & (B)0x7fff)

OVERLOAD JOIN(double, N) JOIN(convert_double, N)(H);
OVERLOAD H JOIN(convert_half, N)(JOIN(double, N));

/* Where the sum in double is not exact it is far from the middle between two halves. */
OVERLOAD H fma(H x, H y, H z)
{
	return JOIN(convert_half, N)(JOIN(convert_double, N)(x) * JOIN(convert_double, N)(y) +
				     JOIN(convert_double, N)(z));
}

OVERLOAD COMPARED isnormal(H x)
{
	return (MAGNITUDE(x) < (B)0x7c00) & (MAGNITUDE(x) >= (B)0x0400);
}

OVERLOAD H nan(UB code)
{
	return __builtin_astype((UB)(code | (UB)0x7e00), H);
}

/* As integers in the same order */
static OVERLOAD B in_order(H x)
{
	B bits = __builtin_astype(x, B);

	return (B)(bits < (B)0 ? (B)((B)-0x8000 - bits) : bits);
}

OVERLOAD H nextafter(H x, H y)
{
	B from = in_order(x), next = from + (B)(in_order(y) > from ? (B)1 : (B)-1);
	B sign = __builtin_astype(x, B) & (B)-0x8000;
	B bits = (B)(next == (B)0 ? sign : (B)(next < (B)0 ? (B)((B)-0x8000 - next) : next));
	H result = __builtin_astype(bits, H);

	return (x != x) | (y != y) ? x + y : x == y ? y : result;
}

#define FRACT(SPACE) \
	OVERLOAD H fract(H x, SPACE H *whole) \
	{ \
		H w = __builtin_elementwise_floor(x), r = x - w; \
		*whole = w; \
		r = r >= (H)1 ? (H)0x1.ffcp-1f : r; \
		return (x == (H)0) | (MAGNITUDE(x) == (B)0x7c00) ? \
			__builtin_elementwise_copysign((H)0, x) : r; \
	}
FRACT(global)
FRACT(local)
FRACT(private)
#undef FRACT
#undef MAGNITUDE
