// SPDX-License-Identifier: MIT
/* soft.c - the embedded GPU: what it exports to salvo-top, and the pages of its memory */
#include <stdio.h>
#include <sys/mman.h>

#include "kselftest_harness.h"
#include "huge.h"
#include "soft_device.h"
#include "lib_test.h"

TEST(imported_memory_is_not_counted_as_video_memory)
{
	struct salvo_device *device;
	struct salvo_bo *own, *imported;
	const uint64_t *used;
	int fd;

	ASSERT_EQ(0, salvo_device_open("soft", &device));
	used = &to_soft_device(device)->public->vram_used;
	EXPECT_EQ(0, *used);
	ASSERT_EQ(0, salvo_bo_create(device, 5000, 0, &own));
	EXPECT_EQ(8192, *used);
	fd = memfd_create("other", MFD_CLOEXEC);
	ASSERT_EQ(0, ftruncate(fd, 65536));
	ASSERT_EQ(0, salvo_bo_import_dmabuf(device, fd, 0, &imported));
	close(fd);
	EXPECT_EQ(8192, *used);
	salvo_bo_destroy(imported);
	EXPECT_EQ(8192, *used);
	salvo_bo_destroy(own);
	EXPECT_EQ(0, *used);
	salvo_device_close(device);
}

#define MIB (1ull << 20)

/* KiB of huge pages in the mapping that holds @address */
static long huge_kib(const void *address)
{
	FILE *file = fopen("/proc/self/smaps", "r");
	unsigned long start, end;
	bool inside = false;
	long kib = -1;
	char line[512];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			inside = (uintptr_t)address >= start && (uintptr_t)address < end;
		else if (inside && sscanf(line, "ShmemPmdMapped: %ld", &kib) == 1)
			break;
	}
	if (file)
		fclose(file);
	return kib;
}

/* Does this system give a file in memory a huge page at all? */
static bool has_huge_pages(void)
{
	const int fd = memfd_create("huge", MFD_CLOEXEC);
	char *start = salvo_huge_reserve(2 * SALVO_HUGE_BYTES, 0);
	bool has = false;

	if (fd >= 0 && start && !ftruncate(fd, 2 * SALVO_HUGE_BYTES) &&
	    mmap(start, 2 * SALVO_HUGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
		 0) == start) {
		salvo_huge_populate(start, SALVO_HUGE_BYTES);
		start[1] = 1;
		has = huge_kib(start) > 0;
	}
	if (start)
		munmap(start, 2 * SALVO_HUGE_BYTES);
	close(fd);
	return has;
}

TEST(a_page_of_a_buffer_faults_once_for_application_and_gpu)
{
	struct salvo_device *device;
	struct salvo_bo *bo, *readonly;
	void *map;

	ASSERT_EQ(0, salvo_device_open("soft", &device));
	ASSERT_EQ(0, salvo_bo_create(device, 5000, 0, &bo));
	ASSERT_EQ(0, salvo_bo_map(bo, &map));
	EXPECT_EQ(salvo_bo_address(bo), (uintptr_t)map);
	memset(map, 1, 5000);
	/* What only the application writes has a mapping for that. */
	ASSERT_EQ(0, salvo_bo_create(device, 5000, SALVO_BO_READONLY, &readonly));
	ASSERT_EQ(0, salvo_bo_map(readonly, &map));
	EXPECT_NE(salvo_bo_address(readonly), (uintptr_t)map);
	memset(map, 2, 5000);
	EXPECT_EQ(0, memcmp(map, (const void *)(uintptr_t)salvo_bo_address(readonly), 5000));
	salvo_bo_destroy(bo);
	salvo_bo_destroy(readonly);
	salvo_device_close(device);
}

TEST(a_reservation_is_aligned_where_it_is_asked_to)
{
	const size_t bytes = 3 * MIB, offset = 5 * 4096;
	char *start = salvo_huge_reserve(bytes, offset);

	ASSERT_NE(NULL, start);
	EXPECT_EQ(0, (uintptr_t)(start + offset) % SALVO_HUGE_BYTES);
	/* All of it is reserved, and no more. */
	EXPECT_EQ(0, mprotect(start, bytes, PROT_READ));
	EXPECT_EQ(0, munmap(start, bytes));
	EXPECT_EQ(NULL, salvo_huge_reserve((size_t)1 << 62, 0));
}

TEST(a_large_buffer_has_huge_pages_and_reads_as_zeros)
{
	struct salvo_device *device;
	struct salvo_bo *small, *large;
	unsigned int round;
	size_t i, wrong;
	char *map;

	if (!has_huge_pages())
		SKIP(return, "no huge pages for files in memory: Linux before 6.1, or switched off");
	ASSERT_EQ(0, salvo_device_open("soft", &device));
	ASSERT_EQ(0, salvo_bo_create(device, 4096, 0, &small));
	for (round = 0; round < 2; round++) {
		ASSERT_EQ(0, salvo_bo_create(device, 5 * MIB, 0, &large));
		ASSERT_EQ(0, salvo_bo_map(large, (void **)&map));
		for (wrong = 0, i = 0; i < 5 * MIB; i++)
			wrong += map[i] != 0;
		EXPECT_EQ(0, wrong);
		/* Where the application has it, and where kernels do */
		memset(map, 1, 5 * MIB);
		*(volatile char *)(uintptr_t)salvo_bo_address(large);
		*(volatile char *)(uintptr_t)(salvo_bo_address(large) + 2 * MIB);
		EXPECT_LE(4 * 1024, huge_kib(map));
		EXPECT_EQ(4 * 1024, huge_kib((void *)(uintptr_t)salvo_bo_address(large)));
		salvo_bo_destroy(large);
	}
	salvo_bo_destroy(small);
	salvo_device_close(device);
}

TEST_HARNESS_MAIN
