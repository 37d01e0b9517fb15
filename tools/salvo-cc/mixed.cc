// SPDX-License-Identifier: MIT
/*
 * mixed.cc - overloads of built-in functions for scalars of two types
 *
 * OpenCL C declares min(), max() and mul24() for arguments of one type. min(get_local_id(0), 7) has
 * arguments of two, and other compilers than clang accept it: they convert as operators do. When
 * clang finds a call ambiguous, the source is compiled once more with this text before it. Only
 * then, since a program may define functions of these names itself.
 *
 * A declaration of any of these names hides clang's own, so all of them are declared here again.
 */
#include "salvo_cc.h"

static const char head[] = R"(
#define SALVO_ONE(F, T, U) T __attribute__((overloadable, const)) F(T, U);
#define SALVO_EACH(F, T) SALVO_ONE(F, T, T) SALVO_ONE(F, T##2, T##2) SALVO_ONE(F, T##3, T##3) \
	SALVO_ONE(F, T##4, T##4) SALVO_ONE(F, T##8, T##8) SALVO_ONE(F, T##16, T##16)
#define SALVO_SCALAR(F, T) SALVO_ONE(F, T##2, T) SALVO_ONE(F, T##3, T) SALVO_ONE(F, T##4, T) \
	SALVO_ONE(F, T##8, T) SALVO_ONE(F, T##16, T)
#define SALVO_ALL(T) SALVO_EACH(min, T) SALVO_EACH(max, T) SALVO_SCALAR(min, T) \
	SALVO_SCALAR(max, T)
SALVO_ALL(char) SALVO_ALL(uchar) SALVO_ALL(short) SALVO_ALL(ushort) SALVO_ALL(int)
SALVO_ALL(uint) SALVO_ALL(long) SALVO_ALL(ulong) SALVO_ALL(float) SALVO_ALL(double)
#ifdef cl_khr_fp16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
SALVO_ALL(half)
#endif
SALVO_EACH(mul24, int) SALVO_EACH(mul24, uint)
#define SALVO_COMMON(A, B) __typeof__((A)0 + (B)0)
#define SALVO_MIXED(F, T, A, B) \
	static inline __attribute__((overloadable, always_inline)) T F(A a, B b) \
	{ return F((T)a, (T)b); }
)";

static const char tail[] = R"(
#undef SALVO_ONE
#undef SALVO_EACH
#undef SALVO_SCALAR
#undef SALVO_ALL
#undef SALVO_MIXED
#undef SALVO_COMMON
)";

std::string mixed_overloads()
{
	static const char *const integers[] = {
		"char", "uchar", "short", "ushort", "int", "uint", "long", "ulong",
	};
	static const char *const reals[] = { "float", "double" };
	std::string text = head;
	auto add = [&](const char *function, const std::string &type, const char *a,
		       const char *b) {
		text += std::string("SALVO_MIXED(") + function + ", " + type + ", " + a + ", " + b +
			")\n";
	};
	auto add_both = [&](const char *a, const char *b) {
		const std::string type = std::string("SALVO_COMMON(") + a + ", " + b + ")";

		add("min", type, a, b);
		add("max", type, a, b);
	};

	for (const char *a : integers)
		for (const char *b : integers) {
			if (a == b)
				continue;
			add_both(a, b);
			/* Of 24 bits, whatever the types. */
			add("mul24", *a == 'u' || *b == 'u' ? "uint" : "int", a, b);
		}
	for (const char *a : reals)
		for (const char *b : integers) {
			add_both(a, b);
			add_both(b, a);
		}
	add_both(reals[0], reals[1]);
	add_both(reals[1], reals[0]);
	for (const char *a : { "char", "uchar", "short", "ushort", "long", "ulong" })
		add("mul24", *a == 'u' ? "uint" : "int", a, a);
	return text + tail;
}
