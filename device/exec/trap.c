// SPDX-License-Identifier: MIT
/*
 * trap.c - catch the signals that a kernel causes
 *
 * A GPU that is asked to contain faults has one handler for SIGSEGV, SIGBUS,
 * SIGFPE, SIGILL, SIGTRAP and SIGSYS in the process. When such a signal comes to a unit that is
 * inside a kernel, the handler notes what happened and makes the thread go on in
 * salvo_fiber_escape(), so that salvo_fiber_call() returns with an error. A
 * kernel holds no lock and owns nothing, so it can be left at any instruction.
 * Any other signal is forwarded to the previous handler. A handler
 * that the application installs later replaces ours, and stays.
 *
 * A kernel that never ends is left in the same way: a reset or a kill sends SIGURG to the units,
 * and those whose job was killed leave their kernel.
 *
 * The handler runs on an alternate stack, as the kernel may have overrun its
 * own (M6 of CN102576314). After it has returned the thread continues on that stack
 * in salvo_trap.locate(), while the kernel's stack is unchanged. That function follows addresses of
 * the kernel's program, so its faults are caught too; then the first fault counts.
 */
#include "trap.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include "fiber.h"
#include "salvo_hw.h"

/* SIGURG is ignored by default, so it does no harm if it comes too late. */
#define STOP_SIGNAL SIGURG

static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS,
			       STOP_SIGNAL };
#define SIGNALS (sizeof(signals) / sizeof(signals[0]))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;	/* protects users, previous */
static unsigned int users;
static struct sigaction previous[SIGNALS];

static __thread struct salvo_trap *own __attribute__((tls_model("initial-exec")));

/* Our handler blocks all signals; the previous one may wait for one, or leave by a jump. */
static void block_for(const struct sigaction *action, int signal, const ucontext_t *interrupted)
{
	sigset_t blocked, before;

	sigemptyset(&before);
	/* The frame of a signal holds no more of the set than there are signals. */
	memcpy(&before, &interrupted->uc_sigmask, (_NSIG - 1) / 8);
	sigorset(&blocked, &before, &action->sa_mask);
	if (!(action->sa_flags & SA_NODEFER))
		sigaddset(&blocked, signal);
	pthread_sigmask(SIG_SETMASK, &blocked, NULL);
}

static void pass_on(int signal, siginfo_t *info, void *context)
{
	unsigned int i;

	for (i = 0; signals[i] != signal; i++)
		;
	/* A signal that an instruction causes cannot be ignored. */
	if (previous[i].sa_handler == SIG_IGN && info->si_code <= 0)
		return;
	block_for(&previous[i], signal, context);
	if (previous[i].sa_flags & SA_SIGINFO) {
		previous[i].sa_sigaction(signal, info, context);
	} else if (previous[i].sa_handler != SIG_DFL && previous[i].sa_handler != SIG_IGN) {
		previous[i].sa_handler(signal);
	} else if (signal != STOP_SIGNAL) {
		/* The instruction is restarted and has its default effect. */
		sigaction(signal, &previous[i], NULL);
		/* A signal that was sent does not come again by itself. */
		if (info->si_code <= 0)
			raise(signal);
	}
}

/* Exceptions of the processor */
#define EXCEPTION_PROTECTION 13

/* Is there a privileged instruction? */
static bool is_privileged(const uint8_t *at)
{
	switch (*at) {
	case 0x6c ... 0x6f:	/* ins, outs */
	case 0xe4 ... 0xe7:	/* in, out */
	case 0xec ... 0xef:
	case 0xf4:		/* hlt */
	case 0xfa:		/* cli */
	case 0xfb:		/* sti */
	case 0xcd:		/* int n, without a gate */
		return true;
	case 0x0f:		/* descriptor tables, control registers, MSRs */
		return at[1] <= 0x01 || (at[1] >= 0x06 && at[1] <= 0x09) ||
		       (at[1] >= 0x20 && at[1] <= 0x23) || at[1] == 0x30 || at[1] == 0x32;
	default:
		return false;
	}
}

/* A protection fault reports no address: it was not canonical, or there was none. */
static void note_protection(struct salvo_trap *trap, const greg_t *gregs)
{
	const bool privileged = is_privileged((const uint8_t *)(uintptr_t)gregs[REG_RIP]);

	trap->kind = privileged ? SALVO_FAULT_INSTRUCTION : SALVO_FAULT_PAGE;
	trap->address = privileged ? gregs[REG_RIP] : 0;
	trap->access = 0;
}

static void note_page(struct salvo_trap *trap, const siginfo_t *info, const greg_t *gregs)
{
	const greg_t error = gregs[REG_ERR];

	trap->kind = SALVO_FAULT_PAGE;
	trap->address = (uintptr_t)info->si_addr;
	if (error & 16)
		trap->access = SALVO_ACCESS_EXEC;
	else
		trap->access = error & 2 ? SALVO_ACCESS_WRITE : SALVO_ACCESS_READ;
}

/* In the order of their DWARF numbers */
static const int registers[SALVO_ITEM_REGISTERS] = {
	REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
	REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
};

/* Runs on the alternate stack, outside of the handler. */
static void locate(struct salvo_trap *trap)
{
	trap->locate(trap);
	trap->armed = false;
	trap->locating = false;
	salvo_fiber_escape(trap->saved, 1);
}

#define EFLAGS_DIRECTION	0x400
#define EFLAGS_ALIGNMENT	0x40000

/* The thread continues in locate(). */
static void start_locate(struct salvo_trap *trap, greg_t *gregs)
{
	unsigned int i;

	for (i = 0; i < SALVO_ITEM_REGISTERS; i++)
		trap->machine.registers[i] = gregs[registers[i]];
	trap->machine.pc = gregs[REG_RIP];
	trap->locating = true;
	trap->armed = true;
	gregs[REG_RIP] = (greg_t)(uintptr_t)locate;
	gregs[REG_RDI] = (greg_t)(uintptr_t)trap;
	/* As after a call. */
	gregs[REG_RSP] = (greg_t)((uintptr_t)trap->stack_end & ~(uintptr_t)15) - 8;
	gregs[REG_EFL] &= ~(EFLAGS_DIRECTION | EFLAGS_ALIGNMENT);
}

static void leave(struct salvo_trap *trap, greg_t *gregs)
{
	gregs[REG_RIP] = (greg_t)(uintptr_t)salvo_fiber_escape;
	gregs[REG_RDI] = (greg_t)(uintptr_t)trap->saved;
	gregs[REG_RSI] = 1;
}

static void handler(int signal, siginfo_t *info, void *context)
{
	struct salvo_trap *trap = own;
	ucontext_t *user = context;
	greg_t *gregs = user->uc_mcontext.gregs;
	/* Sent by salvo_trap_stop(); to the whole process: the application's. */
	const bool stop = trap && signal == STOP_SIGNAL && info->si_code == SI_TKILL;

	/* The kernel may have set the alignment check, which stays set in a handler. */
	salvo_fiber_reset_flags();
	if (stop && (!trap->armed || !atomic_load(trap->given_up)))
		return;
	if (!trap || !trap->armed ||
	    (signal == STOP_SIGNAL ? !stop : info->si_code <= 0)) {
		pass_on(signal, info, context);
		return;
	}
	trap->armed = false;
	if (trap->locating) {
		trap->locating = false;
		leave(trap, gregs);
		return;
	}
	if (stop) {
		trap->kind = SALVO_FAULT_NONE;
	} else if (signal == SIGSEGV && gregs[REG_TRAPNO] == EXCEPTION_PROTECTION) {
		note_protection(trap, gregs);
	} else if (signal == SIGSEGV || signal == SIGBUS) {
		note_page(trap, info, gregs);
	} else if (signal == SIGSYS) {
		trap->kind = SALVO_FAULT_SYSCALL;
		trap->address = gregs[REG_RIP];
		trap->access = 0;
	} else {
		trap->kind = signal == SIGFPE ? SALVO_FAULT_ARITHMETIC : SALVO_FAULT_INSTRUCTION;
		trap->address = gregs[REG_RIP];
		trap->access = 0;
	}
	if (trap->locate && !stop)
		start_locate(trap, gregs);
	else
		leave(trap, gregs);
}

static void lock_traps(void)
{
	pthread_mutex_lock(&lock);
}

static void unlock_traps(void)
{
	pthread_mutex_unlock(&lock);
}

/* A child must not find the lock taken by a thread that it does not have. */
static void register_fork(void)
{
	pthread_atfork(lock_traps, unlock_traps, unlock_traps);
}

void salvo_traps_get(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct sigaction action = {
		.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART,
	};
	unsigned int i;

	/* Not nested: the handler always returns. */
	sigfillset(&action.sa_mask);
	pthread_once(&once, register_fork);
	pthread_mutex_lock(&lock);
	if (!users++)
		for (i = 0; i < SIGNALS; i++)
			sigaction(signals[i], &action, &previous[i]);
	pthread_mutex_unlock(&lock);
}

void salvo_traps_put(void)
{
	struct sigaction now;
	unsigned int i;

	pthread_mutex_lock(&lock);
	if (!--users)
		for (i = 0; i < SIGNALS; i++)
			if (!sigaction(signals[i], NULL, &now) && now.sa_flags & SA_SIGINFO &&
			    now.sa_sigaction == handler)
				sigaction(signals[i], &previous[i], NULL);
	pthread_mutex_unlock(&lock);
}

/* One system call, which the sandbox allows. */
void salvo_trap_stop(const struct salvo_trap *trap)
{
	syscall(SYS_tgkill, trap->process, trap->thread, STOP_SIGNAL);
}

void salvo_trap_attach(struct salvo_trap *trap, void *stack, size_t bytes)
{
	const stack_t alternate = { .ss_sp = stack, .ss_size = bytes };

	sigaltstack(&alternate, NULL);
	trap->process = getpid();
	trap->thread = gettid();
	trap->stack_end = (uint8_t *)stack + bytes;
	own = trap;
}
