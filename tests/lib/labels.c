// SPDX-License-Identifier: MIT
/* labels.c - labels of commands, in errors and dumps, with types and names of arguments */
#include <dirent.h>

#include "kselftest_harness.h"
#include "lib_test.h"

FIXTURE(labels) {
	struct bench b;
	struct salvo_kernel *store;
	char dir[32];
};

FIXTURE_SETUP(labels)
{
	strcpy(self->dir, "/tmp/salvo-labels-XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->dir));
	setenv("SALVO_DUMP", self->dir, 1);
	ASSERT_EQ(0, bench_open(&self->b));
	self->store = bench_kernel(&self->b, "store");
	ASSERT_NE(NULL, self->store);
}

FIXTURE_TEARDOWN(labels)
{
	struct dirent *entry;
	DIR *dir;

	salvo_kernel_destroy(self->store);
	bench_close(&self->b);
	dir = opendir(self->dir);
	while ((entry = readdir(dir)))
		unlinkat(dirfd(dir), entry->d_name, 0);
	closedir(dir);
	rmdir(self->dir);
}

TEST_F(labels, a_label_is_of_a_command)
{
	char label[] = "first frame";

	ASSERT_EQ(0, bench_store(&self->b, self->store, 0, 1));
	EXPECT_EQ(NULL, salvo_batch_get_label(self->b.batch, 0));
	EXPECT_EQ(-EINVAL, salvo_batch_set_label(self->b.batch, 1, label));
	EXPECT_EQ(0, salvo_batch_set_label(self->b.batch, 0, label));
	memset(label, 'x', 5);
	EXPECT_STREQ("first frame", salvo_batch_get_label(self->b.batch, 0));
	EXPECT_EQ(NULL, salvo_batch_get_label(self->b.batch, 1));
	EXPECT_EQ(0, salvo_batch_set_label(self->b.batch, 0, NULL));
	EXPECT_EQ(NULL, salvo_batch_get_label(self->b.batch, 0));
	EXPECT_EQ(0, salvo_batch_set_label(self->b.batch, 0, label));
	salvo_batch_reset(self->b.batch);
	ASSERT_EQ(0, bench_store(&self->b, self->store, 0, 1));
	EXPECT_EQ(NULL, salvo_batch_get_label(self->b.batch, 0));
}

TEST_F(labels, errors_and_fences_have_labels)
{
	struct salvo_kernel *wild = bench_kernel(&self->b, "wild");
	struct salvo_batch *large;
	struct salvo_fence *fence;
	const uint32_t one = 1;

	ASSERT_EQ(0, bench_store(&self->b, self->store, 0, 1));
	salvo_kernel_set_bo(wild, 0, NULL, 0);
	salvo_kernel_set_grid(wild, 1, &one, NULL);
	ASSERT_EQ(1, salvo_batch_dispatch(self->b.batch, wild));
	ASSERT_EQ(0, salvo_batch_set_label(self->b.batch, 1, "blur"));
	/* Labels come along. */
	ASSERT_EQ(0, salvo_batch_create(self->b.device, &large));
	ASSERT_EQ(0, salvo_batch_barrier(large));
	ASSERT_EQ(1, salvo_batch_append(large, self->b.batch));
	EXPECT_STREQ("blur", salvo_batch_get_label(large, 2));
	ASSERT_EQ(0, salvo_queue_submit(self->b.queue, large, NULL, 0, &fence));
	ASSERT_EQ(0, salvo_batch_set_label(large, 2, "sharpen"));
	EXPECT_EQ(-ECANCELED, salvo_fence_wait(fence, 20 * SECOND_NS));
	EXPECT_STREQ("blur", salvo_fence_get_label(fence, 2));
	EXPECT_EQ(NULL, salvo_fence_get_label(fence, 1));
	EXPECT_EQ(NULL, salvo_fence_get_label(fence, 3));
	salvo_fence_destroy(fence);
	EXPECT_EQ(-EIO, salvo_queue_submit(self->b.queue, large, NULL, 0, NULL));
	EXPECT_NE(NULL, strstr(salvo_batch_error(large), "command 2 (blur), kernel wild"));
	salvo_batch_destroy(large);
	salvo_kernel_destroy(wild);
}

/* Does a line of the dump contain this? */
static bool dump_has(const char *dir, const char *text)
{
	char path[64], line[512];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "%s/0001.batch", dir);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		found |= strstr(line, text) != NULL;
	if (file)
		fclose(file);
	return found;
}

TEST_F(labels, dumps_keep_labels_types_and_argument_names)
{
	struct salvo_kernel *mixed = bench_kernel(&self->b, "mixed");
	const float vector[4] = { 0.5, -1, 0, 4 };
	const uint32_t items = 4, group = 4;
	const uint64_t eight = 8;
	const int16_t minus = -3;
	const char c = -1;

	ASSERT_EQ(0, bench_store(&self->b, self->store, 7, 9));
	ASSERT_EQ(0, salvo_batch_set_label(self->b.batch, 0, "first: of 2"));
	salvo_kernel_set_bo(mixed, 0, self->b.bo, 1024);
	salvo_kernel_set_value(mixed, 1, &c, 1);
	salvo_kernel_set_value(mixed, 2, vector, 16);
	salvo_kernel_set_value(mixed, 3, &eight, 8);
	salvo_kernel_set_local(mixed, 4, 128);
	salvo_kernel_set_value(mixed, 5, &minus, 2);
	salvo_kernel_set_local(mixed, 6, 128);
	salvo_kernel_set_bo(mixed, 7, self->b.bo, 0);
	salvo_kernel_set_grid(mixed, 1, &items, &group);
	ASSERT_EQ(1, salvo_batch_dispatch(self->b.batch, mixed));
	ASSERT_EQ(0, bench_run(&self->b));
	EXPECT_TRUE(dump_has(self->dir, "first__of_2_0: dispatch p0.store items 1"));
	EXPECT_TRUE(dump_has(self->dir, "args out=b0 index=u32:7 value=u32:9"));
	EXPECT_TRUE(dump_has(self->dir, "args out=b0[1024] c=i8:-1 v=f32:0.5,-1,0,4 l=u64:8 a=local:128 s=i16:-3 b=local:128 k=b0\n"));
	salvo_kernel_destroy(mixed);
}

TEST_HARNESS_MAIN
