// SPDX-License-Identifier: MIT
/*
 * confine.c - the device under its system call filter
 *
 * A complete GPU runs under the filter that salvo-gpu installs in its worker, and creates and ends
 * processes and threads there. System calls that an exploit would need are refused.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include "salvo_confine.h"
#include "spaces_fixture.h"

static void confine(struct __test_metadata *_metadata, bool kernels)
{
	ASSERT_EQ(0, prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	ASSERT_EQ(0, salvo_confine(kernels));
}

TEST_F(spaces, gpu_runs_confined)
{
	const uint32_t rw = SALVO_ACCESS_READ | SALVO_ACCESS_WRITE;
	struct rig *rig = self->rig;
	unsigned int i, k;

	confine(_metadata, false);
	for (k = 0; k < 3; k++) {
		for (i = 0; i < 3; i++)
			expect_others_right(_metadata, rig, i);
		ASSERT_EQ(SALVO_STATUS_DONE, unbind(rig, rig->data_address, OTHER_AT));
		ASSERT_EQ(SALVO_STATUS_DONE, rig_space(rig, RIG_ASID, SALVO_OP_BIND,
						       rig->data_address, OTHER_AT, rw));
		salvo_gpu_heartbeat(rig->gpu);
		expect_others_right(_metadata, rig, i);
		ASSERT_EQ(SALVO_STATUS_DONE, rig_space(rig, OTHER, SALVO_OP_SPACE_END, 0, 0, 0));
		ASSERT_EQ(SALVO_STATUS_DONE,
			  rig_space(rig, OTHER, SALVO_OP_BIND, rig->code_address, RIG_CODE_BYTES,
				    SALVO_ACCESS_READ | SALVO_ACCESS_EXEC));
		ASSERT_EQ(SALVO_STATUS_DONE,
			  rig_space(rig, OTHER, SALVO_OP_BIND, rig->data_address + OTHER_AT,
				    OTHER_BYTES, rw));
	}
	rig_reset(rig);
	rig_stop(rig);
}

/* As with --threads. */
TEST(threads_run_confined)
{
	struct rig *rig = rig_create_nodes(NULL);
	struct good_args args = { (void *)(uintptr_t)rig->data_address, 5 };
	struct drm_salvo_command command = rig_dispatch(rig, good, 64, 1, 0, sizeof(args));

	confine(_metadata, true);
	ASSERT_EQ(SALVO_STATUS_DONE, rig_run(rig, &command, 1, &args, sizeof(args)));
	/* Page faults are contained, and bindings can change. */
	args.out = NULL;
	ASSERT_EQ(SALVO_STATUS_FAULT, rig_run(rig, &command, 1, &args, sizeof(args)));
	ASSERT_EQ(SALVO_STATUS_DONE, rig_space(rig, RIG_ASID, SALVO_OP_UNBIND, rig->code_address,
					       RIG_CODE_BYTES, 0));
	ASSERT_EQ(SALVO_STATUS_DONE, rig_space(rig, RIG_ASID, SALVO_OP_BIND, rig->code_address,
					       RIG_CODE_BYTES, SALVO_ACCESS_READ |
					       SALVO_ACCESS_EXEC));
	args.out = (void *)(uintptr_t)rig->data_address;
	ASSERT_EQ(SALVO_STATUS_DONE, rig_run(rig, &command, 1, &args, sizeof(args)));
	rig_reset(rig);
	rig_stop(rig);
}

static void *run_thread(void *arg)
{
	return arg;
}

#define EXPECT_REFUSED(call) do { \
	errno = 0; \
	EXPECT_EQ(-1, (long)(call)) \
		TH_LOG(#call); \
	EXPECT_EQ(EPERM, errno) \
		TH_LOG(#call); \
} while (0)

TEST(what_a_device_does_not_do_is_refused)
{
	const pid_t parent = getppid();
	char *const argv[] = { "/bin/true", NULL };
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t thread;

	ASSERT_NE(MAP_FAILED, page);
	confine(_metadata, false);
	EXPECT_REFUSED(open("/etc/passwd", O_RDONLY));
	EXPECT_REFUSED(syscall(SYS_open, "/etc/passwd", O_RDONLY));
	EXPECT_REFUSED(syscall(SYS_openat2, -100, "/etc/passwd", NULL, 0));
	EXPECT_REFUSED(unlink("/tmp/nothing"));
	EXPECT_REFUSED(socket(AF_UNIX, SOCK_STREAM, 0));
	EXPECT_REFUSED(socket(AF_INET, SOCK_STREAM, 0));
	EXPECT_REFUSED(execve("/bin/true", argv, NULL));
	EXPECT_REFUSED(fork());
	EXPECT_REFUSED(syscall(SYS_vfork));
	EXPECT_REFUSED(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
	EXPECT_REFUSED(kill(parent, 0));
	EXPECT_REFUSED(kill(-1, 0));
	EXPECT_REFUSED(syscall(SYS_tgkill, parent, parent, 0));
	EXPECT_REFUSED(syscall(SYS_ptrace, 16, parent, 0, 0));
	EXPECT_REFUSED(syscall(SYS_process_vm_readv, parent, NULL, 0, NULL, 0, 0));
	EXPECT_REFUSED(syscall(SYS_pidfd_open, parent, 0));
	EXPECT_REFUSED(mprotect(page, PAGE, PROT_READ | PROT_EXEC));
	EXPECT_REFUSED(mmap(NULL, PAGE, PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	EXPECT_REFUSED(prctl(PR_SET_SECCOMP, 0, 0, 0, 0));
	EXPECT_REFUSED(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0));
	EXPECT_REFUSED(setuid(0));
	EXPECT_REFUSED(syscall(SYS_io_uring_setup, 1, page));
	EXPECT_REFUSED(syscall(SYS_bpf, 0, page, 0));
	EXPECT_REFUSED(syscall(SYS_ioctl, 0, 0, 0));

	/* What it needs is still allowed. */
	ASSERT_EQ(0, pthread_create(&thread, NULL, run_thread, NULL));
	EXPECT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(0, kill(getpid(), 0));
}

TEST_HARNESS_MAIN
