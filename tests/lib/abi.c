// SPDX-License-Identifier: MIT
/*
 * abi.c - what programs that were built with SALVO_1.0 rely on
 *
 * Sizes, offsets and constants of salvo.h, none of which may change. An incompatible change needs a
 * new version of the symbol that uses it (libsalvo.map), and a test here. installed.sh compares the
 * names with the header.
 */
#include <stddef.h>

#include "kselftest_harness.h"
#include "salvo.h"
#include "salvo_steal.h"

#define EXPECT_PLACE(place, type, field) EXPECT_EQ(place, offsetof(struct type, field))

TEST(structs_of_devices)
{
	EXPECT_EQ(120, sizeof(struct salvo_device_info));
	EXPECT_PLACE(0, salvo_device_info, name);
	EXPECT_PLACE(64, salvo_device_info, units);
	EXPECT_PLACE(68, salvo_device_info, nodes);
	EXPECT_PLACE(72, salvo_device_info, isa_level);
	EXPECT_PLACE(76, salvo_device_info, max_commands);
	EXPECT_PLACE(80, salvo_device_info, max_argument_bytes);
	EXPECT_PLACE(84, salvo_device_info, max_dispatch_argument_bytes);
	EXPECT_PLACE(88, salvo_device_info, max_group_items);
	EXPECT_PLACE(92, salvo_device_info, max_local_bytes);
	EXPECT_PLACE(96, salvo_device_info, max_items);
	EXPECT_PLACE(104, salvo_device_info, vram_bytes);
	EXPECT_PLACE(112, salvo_device_info, clock_hz);
	EXPECT_EQ(40, sizeof(struct salvo_device_stats));
	EXPECT_PLACE(0, salvo_device_stats, packets);
	EXPECT_PLACE(32, salvo_device_stats, busy_ns);
}

TEST(structs_of_kernels)
{
	EXPECT_EQ(40, sizeof(struct salvo_kernel_properties));
	EXPECT_PLACE(8, salvo_kernel_properties, argument_count);
	EXPECT_PLACE(12, salvo_kernel_properties, flags);
	EXPECT_PLACE(16, salvo_kernel_properties, required_group);
	EXPECT_PLACE(28, salvo_kernel_properties, local_bytes);
	EXPECT_PLACE(32, salvo_kernel_properties, private_bytes);
	EXPECT_EQ(32, sizeof(struct salvo_argument_info));
	EXPECT_PLACE(8, salvo_argument_info, type);
	EXPECT_PLACE(16, salvo_argument_info, kind);
	EXPECT_PLACE(20, salvo_argument_info, access);
	EXPECT_PLACE(24, salvo_argument_info, size);
}

TEST(structs_of_batches)
{
	EXPECT_EQ(40, sizeof(struct salvo_hazard));
	EXPECT_PLACE(4, salvo_hazard, kind);
	EXPECT_PLACE(16, salvo_hazard, consumer_argument);
	EXPECT_PLACE(24, salvo_hazard, address);
	EXPECT_PLACE(32, salvo_hazard, size);
	EXPECT_EQ(32, sizeof(struct salvo_profile));
	EXPECT_PLACE(8, salvo_profile, ready);
	EXPECT_PLACE(16, salvo_profile, started);
	EXPECT_PLACE(24, salvo_profile, ended);
	EXPECT_EQ(80, sizeof(struct salvo_error));
	EXPECT_PLACE(4, salvo_error, kind);
	EXPECT_PLACE(16, salvo_error, count);
	EXPECT_PLACE(24, salvo_error, address);
	EXPECT_PLACE(32, salvo_error, kernel);
	EXPECT_PLACE(40, salvo_error, group);
	EXPECT_PLACE(60, salvo_error, item);
}

TEST(structs_of_images)
{
	EXPECT_EQ(40, sizeof(struct salvo_image_info));
	EXPECT_PLACE(8, salvo_image_info, width);
	EXPECT_PLACE(20, salvo_image_info, layers);
	EXPECT_PLACE(24, salvo_image_info, row_pitch);
	EXPECT_PLACE(32, salvo_image_info, slice_pitch);
}

TEST(structs_of_pools)
{
	EXPECT_EQ(64, sizeof(struct salvo_pool_options));
	EXPECT_PLACE(8, salvo_pool_options, cutoff);
	EXPECT_PLACE(4, salvo_pool_options, units);
	EXPECT_PLACE(16, salvo_pool_options, stack_bytes);
	EXPECT_PLACE(24, salvo_pool_options, device);
	EXPECT_EQ(64, sizeof(struct salvo_pool_stats));
	EXPECT_PLACE(16, salvo_pool_stats, sleeps);
	EXPECT_PLACE(24, salvo_pool_stats, leaves);
	EXPECT_EQ(64, sizeof(struct salvo_task));
	EXPECT_EQ(32, sizeof(struct salvo_reduction));
	EXPECT_PLACE(24, salvo_reduction, combine);
	EXPECT_EQ(64, SALVO_POOL_MAX_WORKERS);
	EXPECT_EQ(256, SALVO_REDUCE_BYTES);
}

TEST(numbers)
{
	static const unsigned int errors[] = {
		SALVO_ERROR_NONE, SALVO_ERROR_RING, SALVO_ERROR_DMA, SALVO_ERROR_PACKET,
		SALVO_ERROR_PAGE, SALVO_ERROR_KERNEL, SALVO_ERROR_STACK, SALVO_ERROR_LOCAL,
		SALVO_ERROR_ARITHMETIC, SALVO_ERROR_INSTRUCTION, SALVO_ERROR_BARRIER,
		SALVO_ERROR_SYSCALL,
	};
	unsigned int i;

	for (i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		EXPECT_EQ(i, errors[i]);
	EXPECT_EQ(256, SALVO_ERROR_HANG);
	EXPECT_EQ(1, SALVO_ERROR_READ);
	EXPECT_EQ(2, SALVO_ERROR_WRITE);
	EXPECT_EQ(4, SALVO_ERROR_EXEC);
	EXPECT_EQ(2, SALVO_BO_READONLY);
	EXPECT_EQ(-1, SALVO_QUEUE_LOW);
	EXPECT_EQ(0, SALVO_QUEUE_NORMAL);
	EXPECT_EQ(1, SALVO_QUEUE_HIGH);
	EXPECT_EQ(1, SALVO_HAZARD_RAW);
	EXPECT_EQ(2, SALVO_HAZARD_WAR);
	EXPECT_EQ(3, SALVO_HAZARD_WAW);
}

TEST_HARNESS_MAIN
