// SPDX-License-Identifier: MIT
/*
 * each_special.cl - error and gamma functions: of float by way of double, of vectors
 * element by element where there are branches (double.cl); sincos() of both
 */
OVERLOAD F erf(F x) { return JOIN(convert_float, N)(erf(JOIN(convert_double, N)(x))); }
OVERLOAD F erfc(F x) { return JOIN(convert_float, N)(erfc(JOIN(convert_double, N)(x))); }

#if LANES > 1
OVERLOAD D tgamma(D x)
{
	D r;

	for (uint i = 0; i < LANES; i++)
		((double *)&r)[i] = tgamma(((double *)&x)[i]);
	return r;
}
#endif

static OVERLOAD D each_lgamma(D x, I *sign)
{
	D r;

	for (uint i = 0; i < LANES; i++)
		((double *)&r)[i] = lgamma_sign(((double *)&x)[i], (int *)sign + i);
	return r;
}

OVERLOAD D lgamma(D x)
{
	I sign;

	return each_lgamma(x, &sign);
}

OVERLOAD F tgamma(F x) { return JOIN(convert_float, N)(tgamma(JOIN(convert_double, N)(x))); }
OVERLOAD F lgamma(F x) { return JOIN(convert_float, N)(lgamma(JOIN(convert_double, N)(x))); }

#define RESULT_POINTERS(SPACE) \
	OVERLOAD D sincos(D x, SPACE D *c) { *c = cos(x); return sin(x); } \
	OVERLOAD F sincos(F x, SPACE F *c) { *c = cos(x); return sin(x); } \
	OVERLOAD D lgamma_r(D x, SPACE I *sign) \
	{ \
		I s; \
		D r = each_lgamma(x, &s); \
		*sign = s; \
		return r; \
	} \
	OVERLOAD F lgamma_r(F x, SPACE I *sign) \
	{ return JOIN(convert_float, N)(lgamma_r(JOIN(convert_double, N)(x), sign)); }
RESULT_POINTERS(global)
RESULT_POINTERS(local)
RESULT_POINTERS(private)
#undef RESULT_POINTERS
