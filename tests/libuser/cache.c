// SPDX-License-Identifier: MIT
/* cache.c - the entries of compiled programs, when memory ends */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"

#include "cache.h"
#include "failing_alloc.h"

#define PROGRAM  "program"
#define MESSAGES "k.cl:1:1: warning"

FIXTURE(cache) {
	char folder[32];
};

FIXTURE_SETUP(cache)
{
	strcpy(self->folder, "/tmp/salvo-cache.XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->folder));
	setenv("XDG_CACHE_HOME", self->folder, 1);
	unsetenv("SALVO_CACHE_MIB");
}

FIXTURE_TEARDOWN(cache)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r '%s'", self->folder);
	EXPECT_EQ(0, system(command));
}

/* Reads the entry, with memory for @allocations of it only. */
static int read_entry(const uint8_t *key, int allocations)
{
	struct salvo_text_block program = { 0 }, messages = { 0 };
	int err;

	fail_after = allocations;
	err = salvo_cache_read(key, &program, &messages);
	fail_after = -1;
	if (!err && (strcmp(program.data, PROGRAM) || strcmp(messages.data, MESSAGES)))
		err = -EBADMSG;
	if (!err) {
		free(program.data);
		free(messages.data);
	}
	return err;
}

TEST_F(cache, an_entry_is_read_whole_or_leaves_nothing)
{
	const struct salvo_text_block program = { .data = PROGRAM, .bytes = strlen(PROGRAM) };
	const struct salvo_text_block messages = { .data = MESSAGES, .bytes = strlen(MESSAGES) };
	const uint8_t key[SHA256_DIGEST_LENGTH] = { 1, 2, 3 };
	size_t used;
	int n, i;

	if (!REPLACED)
		SKIP(return, "the sanitizer has its own allocator");
	salvo_cache_write(key, &program, &messages);
	/* What the C library keeps for the next call counts as used: the first read fills that. */
	ASSERT_EQ(0, read_entry(key, -1));
	used = mallinfo2().uordblks;
	for (n = 0; n < 10 && read_entry(key, n); n++)
		for (i = 0; i < 8; i++)
			read_entry(key, n);
	EXPECT_EQ(3, n);
	EXPECT_EQ(used, mallinfo2().uordblks);
}

TEST_HARNESS_MAIN
