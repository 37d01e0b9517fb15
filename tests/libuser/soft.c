// SPDX-License-Identifier: MIT
/* soft.c - what an embedded GPU exports to salvo-top */
#include <sys/mman.h>

#include "kselftest_harness.h"
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

TEST_HARNESS_MAIN
