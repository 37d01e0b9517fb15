// SPDX-License-Identifier: MIT
/*
 * application.c - a GPU in an application that has its own signal handlers and cancels threads
 */
#include <errno.h>
#include <pthread.h>
#include <seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "kselftest_harness.h"
#include "rig.h"
#include "sanitizer.h"

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
	/* The jump does not restore the signal mask. */
	_longjmp(back, 1);
}

/* A handler of the application may leave by longjmp(), or wait for another signal. */
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

/* Sending a signal that the application ignores does not remove the GPU's handler. */
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

/* Uses 200 KiB of stack. */
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

static void *submit_cancelled(void *arg)
{
	struct rig *rig = arg;
	const struct drm_salvo_command all = rig_all();
	const struct salvo_batch_desc batch = {
		.commands = &all, .count = 1, .profile = rig->data_address,
	};

	/* Takes effect at the next cancellation point. The empty batch completes in this thread. */
	pthread_cancel(pthread_self());
	rig_submit(rig, 1, &batch);
	return rig;
}

TEST(thread_that_is_cancelled_in_a_doorbell_leaves_a_gpu_that_works)
{
	const struct drm_salvo_command all = rig_all();
	struct rig *rig = rig_create(1);
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, submit_cancelled, rig));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(SALVO_STATUS_DONE, rig_run(rig, &all, 1, NULL, 0));
	rig_destroy(rig);
}

static bool refuse_calls(int first, int second)
{
	scmp_filter_ctx rules = seccomp_init(SCMP_ACT_ALLOW);

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && rules &&
	       !seccomp_rule_add(rules, SCMP_ACT_ERRNO(EPERM), first, 0) &&
	       (second < 0 || !seccomp_rule_add(rules, SCMP_ACT_ERRNO(EPERM), second, 0)) &&
	       !seccomp_load(rules);
}

static void expect_gpu(struct __test_metadata *_metadata)
{
	const struct drm_salvo_command all = rig_all();
	struct rig *rig = rig_create(2);

	EXPECT_EQ(SALVO_STATUS_DONE, rig_run(rig, &all, 1, NULL, 0));
	rig_destroy(rig);
	rig = rig_create(0);
	EXPECT_EQ(SALVO_STATUS_DONE, rig_run(rig, &all, 1, NULL, 0));
	rig_destroy(rig);
}

/* As systemd's SystemCallFilter=~@resources */
TEST(gpu_runs_where_the_affinity_cannot_be_set)
{
	ASSERT_TRUE(refuse_calls(SCMP_SYS(sched_setaffinity), -1));
	expect_gpu(_metadata);
}

TEST(gpu_runs_where_the_affinity_cannot_be_read_either)
{
	NEED_NO_AFFINITY();
	ASSERT_TRUE(refuse_calls(SCMP_SYS(sched_setaffinity), SCMP_SYS(sched_getaffinity)));
	expect_gpu(_metadata);
}

static _Atomic bool forking;

static void *create_gpus(void *arg)
{
	while (atomic_load(&forking))
		rig_destroy(rig_create(0));
	return arg;
}

/* The child inherits the locks in the state that the other thread left them in. */
TEST(child_creates_a_gpu_whatever_another_thread_was_doing)
{
	pthread_t thread;
	unsigned int i;

	NEED_MALLOC_AFTER_FORK();
	atomic_store(&forking, true);
	ASSERT_EQ(0, pthread_create(&thread, NULL, create_gpus, NULL));
	for (i = 0; i < 50; i++) {
		const pid_t pid = fork();
		int status;

		if (!pid) {
			alarm(20);
			rig_destroy(rig_create(0));
			_exit(0);
		}
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		ASSERT_EQ(0, status);
	}
	atomic_store(&forking, false);
	pthread_join(thread, NULL);
}

TEST_HARNESS_MAIN
