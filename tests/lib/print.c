// SPDX-License-Identifier: MIT
/* print.c - printf() of kernels: conversions against the host's own, many items, a full buffer */
#include <sys/mman.h>

#include "kselftest_harness.h"
#include "lib_test.h"

FIXTURE(print) {
	struct bench b;
	struct salvo_program *program;
	int fd;
};

FIXTURE_SETUP(print)
{
	ASSERT_EQ(0, bench_open(&self->b));
	ASSERT_EQ(0, salvo_program_load_file(self->b.device, kernel_path("print.salvo"),
					     &self->program));
	self->fd = memfd_create("printed", MFD_CLOEXEC);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(print)
{
	close(self->fd);
	salvo_program_destroy(self->program);
	bench_close(&self->b);
}

/* Returns all that was printed so far; the caller frees it. */
static char *printed(int fd)
{
	off_t size = lseek(fd, 0, SEEK_END);
	char *text = calloc(1, size + 1);

	if (pread(fd, text, size, 0) != size)
		perror("pread");
	return text;
}

TEST_F(print, conversions)
{
	const int i = 42;
	const long l = 1l << 40;
	const float f = 3.25f;
	const uint8_t c[4] = { 1, 200, 3, 255 };
	const float v[4] = { 1.5f, -2, 3.25f, 0 };
	const int16_t s[2] = { -7, 8 };
	const uint32_t one = 1;
	struct salvo_kernel *kernel;
	char want[2048], *got;
	int n = 0;

	ASSERT_EQ(0, salvo_kernel_create(self->program, "numbers", &kernel));
	ASSERT_EQ(0, salvo_kernel_set_value(kernel, 0, &i, 4));
	ASSERT_EQ(0, salvo_kernel_set_value(kernel, 1, &l, 8));
	ASSERT_EQ(0, salvo_kernel_set_value(kernel, 2, &f, 4));
	ASSERT_EQ(0, salvo_kernel_set_value(kernel, 3, c, 4));
	ASSERT_EQ(0, salvo_kernel_set_value(kernel, 4, v, 16));
	ASSERT_EQ(0, salvo_kernel_set_value(kernel, 5, s, 4));
	EXPECT_EQ(-EINVAL, salvo_kernel_set_value(kernel, 6, &l, 8));
	ASSERT_EQ(0, salvo_kernel_set_grid(kernel, 1, &one, NULL));
	ASSERT_EQ(0, salvo_batch_dispatch(self->b.batch, kernel));
	ASSERT_EQ(0, bench_run(&self->b));
	ASSERT_EQ(0, salvo_batch_print(self->b.batch, self->fd));

	n += sprintf(want + n, "%d|%5d|%-5d|%05d|%+d|%x|%#X|%o|%u\n", i, i, i, i, i, i, i, i, i);
	n += sprintf(want + n, "%ld|%lx|%lu|%d|%d|%c|%%\n", l, l, l, i, i, 'A' + i % 26);
	n += sprintf(want + n, "%f|%.2f|%8.3f|%e|%g|%a\n", f, f, f, f, f, f);
	n += sprintf(want + n, "1,200,3,255|1.500000,-2.000000,3.250000|1.5,-2.0,3.2|-7,8|"
		     "0x1,0xc8,0x3,0xff\n");
	n += sprintf(want + n, "1.500000,-2.000000,3.250000|1.5,-2.0,3.2,1.0|-7,8|1.500000,-2.000000\n");
	sprintf(want + n, "even|   right|left    |cu|(null)|end\n");
	got = printed(self->fd);
	EXPECT_STREQ(want, got);
	free(got);

	/* Printed once per run */
	ASSERT_EQ(0, salvo_batch_print(self->b.batch, self->fd));
	ASSERT_EQ(0, bench_run(&self->b));
	ASSERT_EQ(0, salvo_batch_print(self->b.batch, self->fd));
	got = printed(self->fd);
	EXPECT_EQ(2 * strlen(want), strlen(got));
	free(got);
	salvo_kernel_destroy(kernel);
}

/* Is each third number below @count there once, in any order? */
static bool each_third(const char *text, unsigned int count)
{
	unsigned int found = 0, i;
	char *seen = calloc(count, 1);

	while (sscanf(text, "item %u\n", &i) == 1 && i < count && i % 3 == 0 && !seen[i]) {
		seen[i] = 1;
		found++;
		text = strchr(text, '\n') + 1;
	}
	free(seen);
	return !*text && found == (count + 2) / 3;
}

TEST_F(print, from_every_work_item)
{
	static const char *const names[] = { "items", "barrier_items", "function_items" };
	const uint32_t count = 1000, group = 50;
	struct salvo_batch *outer;
	struct salvo_fence *fence;
	unsigned int i, k;

	for (i = 0; i < count; i++)
		self->b.map[i] = i;
	ASSERT_EQ(0, salvo_batch_create(self->b.device, &outer));
	for (k = 0; k < 3; k++) {
		struct salvo_kernel *kernel;
		char *text;

		ASSERT_EQ(0, salvo_kernel_create(self->program, names[k], &kernel));
		ASSERT_EQ(0, salvo_kernel_set_bo(kernel, 0, self->b.bo, 0));
		if (k == 1)
			ASSERT_EQ(0, salvo_kernel_set_local(kernel, 1, group * 4));
		ASSERT_EQ(0, salvo_kernel_set_grid(kernel, 1, &count, &group));
		salvo_batch_reset(self->b.batch);
		ASSERT_EQ(0, salvo_batch_dispatch(self->b.batch, kernel));
		/* Appended to another batch, whose print buffer is used then. */
		salvo_batch_reset(outer);
		ASSERT_EQ(0, salvo_batch_append(outer, self->b.batch));
		ASSERT_EQ(0, salvo_queue_submit(self->b.queue, outer, NULL, 0, &fence));
		ASSERT_EQ(0, salvo_fence_wait(fence, -1));
		salvo_fence_destroy(fence);
		ASSERT_EQ(0, ftruncate(self->fd, 0));
		ASSERT_EQ(0, lseek(self->fd, 0, SEEK_SET));
		EXPECT_EQ(0, salvo_batch_print(self->b.batch, self->fd));
		EXPECT_EQ(0, lseek(self->fd, 0, SEEK_CUR));
		EXPECT_EQ(0, salvo_batch_print(outer, self->fd));
		text = printed(self->fd);
		EXPECT_TRUE(each_third(text, count)) TH_LOG("%s: %s", names[k], text);
		free(text);
		salvo_kernel_destroy(kernel);
	}
	salvo_batch_destroy(outer);
}

TEST_F(print, a_full_buffer_loses_the_rest)
{
	const uint32_t count = 120000;
	struct salvo_kernel *kernel;
	unsigned int lines = 0;
	char *text, *at;
	int lost;

	ASSERT_EQ(0, salvo_kernel_create(self->program, "flood", &kernel));
	ASSERT_EQ(0, salvo_kernel_set_grid(kernel, 1, &count, NULL));
	ASSERT_EQ(0, salvo_batch_dispatch(self->b.batch, kernel));
	ASSERT_EQ(0, bench_run(&self->b));
	lost = salvo_batch_print(self->b.batch, self->fd);
	EXPECT_LT(0, lost);
	text = printed(self->fd);
	for (at = text; *at; at++)
		lines += *at == '\n';
	EXPECT_EQ(count, lines + lost);
	free(text);
	EXPECT_EQ(0, salvo_batch_print(self->b.batch, self->fd));
	EXPECT_EQ(-EBADF, (bench_run(&self->b), salvo_batch_print(self->b.batch, -1)));
	salvo_kernel_destroy(kernel);
}

TEST_HARNESS_MAIN
