/* SPDX-License-Identifier: MIT */
/*
 * salvo_stray.h - addresses of accesses that a checked kernel refuses; also read as OpenCL C
 */
#ifndef SALVO_STRAY_H
#define SALVO_STRAY_H

/*
 * A checked kernel faults at an access outside of the buffer of the argument from which the address
 * is derived. The sizes of the buffers are in the argument block, after the arguments and
 * before the address of the print buffer: a uint64_t, aligned to 8, for each pointer argument to
 * global, constant or local memory, in order. It counts the bytes that may be accessed from the
 * argument's address on.
 *
 * The address of such a fault is never mapped. From SALVO_STRAY_BASE on it has the index of the
 * argument, the logarithm of the size of the access (rounded up, at most 7; 0 if unknown) and the
 * offset from the argument's address plus SALVO_STRAY_ZERO, modulo twice that. The offset in an
 * image is that of the pixel. Indices from SALVO_STRAY_PRIVATE on stand for memory that is no
 * argument; the one before them for all arguments that have no index of their own.
 */
#define SALVO_STRAY_BASE		0xffff800000000000ul
#define SALVO_STRAY_ARGUMENT_SHIFT	37
#define SALVO_STRAY_SIZE_SHIFT		34
#define SALVO_STRAY_ZERO		(1ul << 33)
#define SALVO_STRAY_PRIVATE		1020	/* a private variable */
#define SALVO_STRAY_LOCAL		1021	/* a local variable */
#define SALVO_STRAY_CONSTANT		1022	/* a constant of the program */
#define SALVO_STRAY_POINTER		1023	/* a pointer from memory; without an offset */

#endif /* SALVO_STRAY_H */
