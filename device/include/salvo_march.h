/* SPDX-License-Identifier: MIT */
/*
 * salvo_march.h - the levels of x86-64 for which kernels are compiled
 *
 * A GPU's level is the highest that its processor has: the microarchitecture levels of the
 * System V ABI, and one above them. Each level has all instructions of those below.
 */
#ifndef SALVO_MARCH_H
#define SALVO_MARCH_H

#define SALVO_LEVEL_MIN		2u
/* Level 4 with AVX512_VPOPCNTDQ and AVX512_BITALG, as in Ice Lake and Zen 4 */
#define SALVO_LEVEL_POPCNT	5u
#define SALVO_LEVEL_MAX		5u

/**
 * salvo_march() - The name of a level.
 * @level: Of a GPU or a program; if it is above SALVO_LEVEL_MAX, the name is of the highest.
 */
static inline const char *salvo_march(unsigned int level)
{
	static const char *const names[] = {
		"x86-64-v1", "x86-64-v1", "x86-64-v2", "x86-64-v3", "x86-64-v4", "x86-64-v4+popcnt",
	};

	return names[level < SALVO_LEVEL_MAX ? level : SALVO_LEVEL_MAX];
}

#endif /* SALVO_MARCH_H */
