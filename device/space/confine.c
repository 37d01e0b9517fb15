// SPDX-License-Identifier: MIT
/*
 * confine.c - give up privileges and system calls
 *
 * The device reads rings and packets that a guest wrote. Code that exploits a bug in that can use
 * only the system calls listed here: memory that is not executable, threads, files that
 * are open already, waiting, and exit. It cannot open, execute, fork, connect or signal other
 * processes; the zygote, which was forked before, manages processes (zygote.c).
 *
 * Calls that are not listed fail with EPERM, so that a library that can do without them goes on.
 */
#include "salvo_confine.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOBODY 65534

int salvo_confine_drop_user(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (geteuid() == 0 && (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
			       setresuid(NOBODY, NOBODY, NOBODY)) &&
	    errno != EINVAL && errno != EPERM)
		return -errno;
	/* setresuid() has dropped them, unless the user had to stay. */
	if (syscall(SYS_capset, &head, none) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	return 0;
}

static const int allowed[] = {
	/* What is open already */
	SYS_read, SYS_write, SYS_writev, SYS_pread64, SYS_pwrite64, SYS_poll, SYS_ppoll, SYS_fstat,
	SYS_newfstatat, SYS_close, SYS_lseek,
	/* Requests to the zygote, with the memory to share */
	SYS_sendmsg, SYS_sendto, SYS_recvmsg, SYS_recvfrom, SYS_shutdown, SYS_memfd_create,
	SYS_ftruncate, SYS_wait4,
	/* Memory */
	SYS_brk, SYS_munmap, SYS_mremap, SYS_madvise, SYS_sysinfo,
	/* Threads, waiting, time */
	SYS_futex, SYS_futex_waitv, SYS_sched_yield, SYS_sched_getaffinity, SYS_set_robust_list,
	SYS_rseq, SYS_gettid, SYS_getpid, SYS_getppid, SYS_nanosleep, SYS_clock_nanosleep,
	SYS_clock_gettime, SYS_clock_getres, SYS_restart_syscall, SYS_getrandom, SYS_getcpu,
	/* Signals within the process */
	SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_sigaltstack,
	SYS_exit, SYS_exit_group,
};

static int add_rules(scmp_filter_ctx rules, bool kernels)
{
	const int map[] = { SYS_mmap, SYS_mprotect }, signal[] = { SYS_kill, SYS_tgkill };
	unsigned int i;
	int err = 0;

	for (i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++)
		err |= seccomp_rule_add(rules, SCMP_ACT_ALLOW, allowed[i], 0);
	for (i = 0; i < 2; i++) {
		err |= seccomp_rule_add(rules, SCMP_ACT_ALLOW, map[i], 1,
					SCMP_A2(SCMP_CMP_MASKED_EQ, kernels ? 0 : PROT_EXEC, 0));
		err |= seccomp_rule_add(rules, SCMP_ACT_ALLOW, signal[i], 1,
					SCMP_A0(SCMP_CMP_EQ, getpid()));
	}
	err |= seccomp_rule_add(rules, SCMP_ACT_ALLOW, SYS_prctl, 1,
				SCMP_A0(SCMP_CMP_EQ, PR_SET_NAME));
	/* Threads only. clone3() has its arguments in memory; libraries fall back to clone(). */
	err |= seccomp_rule_add(rules, SCMP_ACT_ALLOW, SYS_clone, 1,
				SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));
	err |= seccomp_rule_add(rules, SCMP_ACT_ERRNO(ENOSYS), SYS_clone3, 0);
	return err ? -EINVAL : 0;
}

int salvo_confine(bool kernels)
{
	scmp_filter_ctx rules = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int err;

	if (!rules)
		return -ENOMEM;
	err = seccomp_attr_set(rules, SCMP_FLTATR_CTL_TSYNC, 1);
	if (!err)
		err = add_rules(rules, kernels);
	if (!err)
		err = seccomp_load(rules);
	seccomp_release(rules);
	return err;
}
