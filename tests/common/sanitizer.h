/* SPDX-License-Identifier: MIT */
/*
 * sanitizer.h - skips tests that cannot run under a sanitizer
 */
#ifndef TEST_SANITIZER_H
#define TEST_SANITIZER_H

#include "skip.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZER_RUNS	1
#else
#define SANITIZER_RUNS	0
#endif

/*
 * The process of an address space maps nothing but its bindings, so the shadow memory of
 * AddressSanitizer and ThreadSanitizer is missing and instrumented code faults. For a test or a
 * FIXTURE_SETUP().
 */
#define NEED_SANDBOX()	do { \
	if (SANITIZER_RUNS) \
		SKIP_TEST("a sandboxed process has no memory of the sanitizer"); \
} while (0)

/* ThreadSanitizer delivers signals in libc calls only: a kernel without one cannot be stopped. */
#ifdef __SANITIZE_THREAD__
#define SIGNALS_ARE_LATE 1
#else
#define SIGNALS_ARE_LATE 0
#endif
#define NEED_SIGNALS()	do { \
	if (SIGNALS_ARE_LATE) \
		SKIP(return, "ThreadSanitizer delays signals to kernels"); \
} while (0)

/* Switches between user-level threads look to it as calls that never return. */
#define NEED_SHALLOW_STACKS() do { \
	if (SIGNALS_ARE_LATE) \
		SKIP(return, "ThreadSanitizer keeps at most 65,536 frames of a thread"); \
} while (0)

/* After fork() in a process with threads the sanitizers' allocators may stay locked. */
#define NEED_MALLOC_AFTER_FORK() do { \
	if (SANITIZER_RUNS) \
		SKIP(return, "the sanitizer's allocator may be locked after fork()"); \
} while (0)

/* With the AC flag set an unaligned access faults. */
#define NEED_ALIGNED_ACCESSES() do { \
	if (SANITIZER_RUNS) \
		SKIP(return, "the sanitizer's memory is accessed without alignment"); \
} while (0)

/* The sanitizers read the affinity to find the stack of a new thread. */
#define NEED_NO_AFFINITY() do { \
	if (SANITIZER_RUNS) \
		SKIP(return, "the sanitizer reads the affinity of each new thread"); \
} while (0)

/* gcc's AddressSanitizer considers the stack of a cancelled thread to be in use. */
#define NEED_CANCEL() do { \
	if (SANITIZER_RUNS) \
		SKIP(return, "the sanitizer does not know pthread_cancel()"); \
} while (0)

#endif /* TEST_SANITIZER_H */
