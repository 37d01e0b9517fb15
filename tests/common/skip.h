/* SPDX-License-Identifier: MIT */
/*
 * skip.h - SKIP() for a FIXTURE_SETUP()
 *
 * After a SKIP(return) in a FIXTURE_SETUP() the harness of Linux 6.1 runs the test's body all the
 * same, so the process of the test must end. Up to 6.8 the harness takes exit code 255 for a
 * skipped test; since then, when it got priorities for its constructors, KSFT_SKIP.
 */
#ifndef TEST_SKIP_H
#define TEST_SKIP_H

#include <unistd.h>

#ifdef KSELFTEST_PRIO_TEST_F
#define SKIP_TEST(...)	SKIP(_exit(KSFT_SKIP), __VA_ARGS__)
#else
#define SKIP_TEST(...)	SKIP(_exit(255), __VA_ARGS__)
#endif

#endif /* TEST_SKIP_H */
