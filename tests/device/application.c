// SPDX-License-Identifier: MIT
/*
 * application.c - a GPU whose units are threads of an application that has ways of its own
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include "kselftest_harness.h"
#include "rig.h"

static void own_handler(int signal)
{
	(void)signal;
}

TEST(handler_that_the_application_sets_later_stays_when_the_gpu_goes)
{
	struct sigaction before, now;
	struct rig *rig;

	ASSERT_EQ(0, sigaction(SIGSEGV, NULL, &before));
	rig = rig_create(1);
	ASSERT_NE(SIG_ERR, signal(SIGFPE, own_handler));
	rig_destroy(rig);
	ASSERT_EQ(0, sigaction(SIGFPE, NULL, &now));
	EXPECT_TRUE(now.sa_handler == own_handler);
	ASSERT_EQ(0, sigaction(SIGSEGV, NULL, &now));
	EXPECT_TRUE(now.sa_handler == before.sa_handler);
}

static jmp_buf back;

static void leaving_handler(int signal)
{
	(void)signal;
	/* The mask stays as it is here. */
	_longjmp(back, 1);
}

/* An application may leave its handler by a jump, or wait in it for another signal. */
TEST(handler_of_the_application_runs_with_the_signals_blocked_that_it_wishes)
{
	const struct sigaction action = { .sa_handler = leaving_handler, .sa_flags = SA_NODEFER };
	volatile int *volatile nowhere = (void *)16;
	volatile int times = 0;
	struct rig *rig;
	sigset_t blocked;

	sigaction(SIGSEGV, &action, NULL);
	rig = rig_create(1);
	_setjmp(back);
	if (times++ < 3)
		*nowhere = 1;
	EXPECT_EQ(4, times);
	ASSERT_EQ(0, pthread_sigmask(SIG_SETMASK, NULL, &blocked));
	EXPECT_EQ(0, sigismember(&blocked, SIGALRM));
	rig_destroy(rig);
}

/* Whoever sends a signal that the application ignores takes nothing from the GPU. */
TEST(signal_that_the_application_ignores_leaves_the_handler_of_the_gpu)
{
	struct sigaction before, now;
	struct rig *rig;

	ASSERT_NE(SIG_ERR, signal(SIGTRAP, SIG_IGN));
	rig = rig_create(1);
	ASSERT_EQ(0, sigaction(SIGTRAP, NULL, &before));
	ASSERT_EQ(0, raise(SIGTRAP));
	ASSERT_EQ(0, sigaction(SIGTRAP, NULL, &now));
	EXPECT_TRUE(now.sa_handler == before.sa_handler);
	rig_destroy(rig);
	ASSERT_EQ(0, sigaction(SIGTRAP, NULL, &now));
	EXPECT_TRUE(now.sa_handler == SIG_IGN);
}

/* Uses 200 KiB of stack, from its top to its bottom. */
RIG_KERNEL static void deep(RIG_KERNEL_ARGS)
{
	volatile uint8_t private[200 << 10];
	uint32_t i;

	for (i = sizeof(private); i; i -= 1024)
		private[i - 1] = 1;
}

TEST(kernels_have_their_stack_whatever_threads_of_the_application_have)
{
	struct drm_salvo_command command;
	pthread_attr_t attr;
	struct rig *rig;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	ASSERT_EQ(0, pthread_setattr_default_np(&attr));
	rig = rig_create(1);
	command = rig_dispatch(rig, deep, 1, 1, 0, 0);
	EXPECT_EQ(SALVO_STATUS_DONE, rig_run(rig, &command, 1, NULL, 0));
	rig_destroy(rig);
}

TEST_HARNESS_MAIN
