/* SPDX-License-Identifier: MIT */
/*
 * sanitizer.h - what tests cannot do under a sanitizer
 */
#ifndef TEST_SANITIZER_H
#define TEST_SANITIZER_H

#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZER_RUNS	1
#else
#define SANITIZER_RUNS	0
#endif

/*
 * A process of an address space maps nothing but its bindings: the shadow memory of
 * AddressSanitizer and ThreadSanitizer is gone, and instrumented code faults. In a test or
 * FIXTURE_SETUP() of the harness, which goes on to the test after a SKIP(return).
 */
#define NEED_SANDBOX()	do { \
	if (SANITIZER_RUNS) \
		SKIP(_exit(255), "a sandboxed process has no memory of the sanitizer"); \
} while (0)

/* ThreadSanitizer delivers signals at calls of libc: a kernel that calls none is not ended. */
#ifdef __SANITIZE_THREAD__
#define SIGNALS_ARE_LATE 1
#else
#define SIGNALS_ARE_LATE 0
#endif
#define NEED_SIGNALS()	do { \
	if (SIGNALS_ARE_LATE) \
		SKIP(return, "ThreadSanitizer delays signals to kernels"); \
} while (0)

/* The sanitizers' allocators may stay locked in the child of a process with threads. */
#define NEED_MALLOC_AFTER_FORK() do { \
	if (SANITIZER_RUNS) \
		SKIP(return, "the sanitizer's allocator may be locked after fork()"); \
} while (0)

/* gcc's AddressSanitizer takes the stack of a cancelled thread for one in use. */
#define NEED_CANCEL() do { \
	if (SANITIZER_RUNS) \
		SKIP(return, "the sanitizer does not know pthread_cancel()"); \
} while (0)

#endif /* TEST_SANITIZER_H */
