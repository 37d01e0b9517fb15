/* SPDX-License-Identifier: MIT */
/*
 * sanitizer.h - what tests cannot do under a sanitizer
 */
#ifndef TEST_SANITIZER_H
#define TEST_SANITIZER_H

/*
 * A process of an address space maps nothing but its bindings: the shadow memory of
 * AddressSanitizer and ThreadSanitizer is gone, and instrumented code faults.
 */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANDBOX_RUNS	0
#else
#define SANDBOX_RUNS	1
#endif
/* In a test or FIXTURE_SETUP() of the harness */
#define NEED_SANDBOX()	do { \
	if (!SANDBOX_RUNS) \
		SKIP(return, "a sandboxed process has no memory of the sanitizer"); \
} while (0)

#endif /* TEST_SANITIZER_H */
