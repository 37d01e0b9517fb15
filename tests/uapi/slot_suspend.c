// SPDX-License-Identifier: MIT
/*
 * slot_suspend.c - the system suspends while slots are attached
 */
#include "kselftest_harness.h"

#include <unistd.h>

#include "slot_client.h"
#include "system.h"

FIXTURE(slot_suspend) {
	struct client c;
	struct drm_salvo_device_info info;
};

FIXTURE_SETUP(slot_suspend)
{
	if (access("/sys/power/pm_test", W_OK))
		SKIP_TEST("the kernel cannot test suspend");
	ASSERT_EQ(client_open(&self->c), 0);
	ASSERT_EQ(device_info(self->c.fd, &self->info), 0);
	if (!self->info.max_slots)
		SKIP_TEST("the GPU has no slots");
	ASSERT_EQ(attach(&self->c), 0);
	ASSERT_EQ(write_file("/sys/power/pm_test", "devices"), 0);
	write_file("/sys/module/suspend/parameters/pm_test_delay", "1");
}

FIXTURE_TEARDOWN(slot_suspend)
{
	EXPECT_EQ(write_file("/sys/power/pm_test", "none"), 0);
	client_close(&self->c);
	EXPECT_TRUE(wait_value("slots", 0));
}

/* A task that is stored while the units are detached runs after the resume. */
TEST_F_TIMEOUT(slot_suspend, tasks_run_before_and_after, 100)
{
	unsigned int i;

	for (i = 1; i <= 2; i++) {
		ASSERT_EQ(run_task(&self->c, add_word, 0, 1), SALVO_SLOT_DONE);
		/* It ends meanwhile, or the suspend waits. */
		start(&self->c, add_word, 1, 1);
		ASSERT_EQ(write_file("/sys/power/state", "freeze"), 0);
		ASSERT_EQ(wait_ns(&self->c, 30 * SECONDS), 0);
		EXPECT_EQ(self->c.slot->status, SALVO_SLOT_DONE);
		ASSERT_EQ(run_task(&self->c, add_word, 2, 1), SALVO_SLOT_DONE);
		EXPECT_EQ(self->c.words[0], i);
		EXPECT_EQ(self->c.words[1], i);
		EXPECT_EQ(self->c.words[2], i);
	}
}

/* An endless task does not prevent it: the time limit ends it. */
TEST_F_TIMEOUT(slot_suspend, endless_task_does_not_prevent_it, 100)
{
	ASSERT_TRUE(start_spinning(&self->c, 0));
	EXPECT_EQ(write_file("/sys/power/state", "freeze"), 0);
	EXPECT_TRUE(is_detached(&self->c));
}

TEST_HARNESS_MAIN
