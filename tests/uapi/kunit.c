// SPDX-License-Identifier: MIT
/*
 * kunit.c - runs the KUnit module, if there is one, and prints its results
 *
 * make check-debug puts salvo-kunit.ko into the guest; Debian's kernel has no KUnit.
 */
#include "kselftest_harness.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "system.h"

#define MODULE	"/root/salvo-kunit.ko"
#define RESULTS	"/sys/kernel/debug/kunit/salvo/results"

TEST(every_case_in_the_kernel_passes)
{
	unsigned int passed = 0, failed = 0;
	char line[512];
	FILE *file;

	if (access(MODULE, R_OK))
		SKIP(return, "no " MODULE);
	ASSERT_EQ(load_module(MODULE, ""), 0);
	file = fopen(RESULTS, "re");
	ASSERT_NE(file, NULL);
	while (fgets(line, sizeof(line), file)) {
		const char *at = line + strspn(line, " ");

		printf("# %s", line);
		/* Those of the cases; the suite's own line is not indented. */
		if (at == line)
			continue;
		passed += !strncmp(at, "ok ", 3);
		failed += !strncmp(at, "not ok ", 7);
	}
	fflush(stdout);
	fclose(file);
	EXPECT_EQ(failed, 0);
	EXPECT_GE(passed, 9);
	EXPECT_EQ(unload_module("salvo_kunit"), 0);
}

TEST_HARNESS_MAIN
