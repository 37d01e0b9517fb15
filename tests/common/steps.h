/* SPDX-License-Identifier: MIT */
/*
 * steps.h - count the instructions that the calling thread executes, in place of measuring time
 *
 * The CPU's trap flag raises SIGTRAP after each of them. In between the thread must not block
 * SIGTRAP, and not start others, which would inherit the flag.
 */
#ifndef TEST_STEPS_H
#define TEST_STEPS_H

#include <signal.h>
#include <stddef.h>

static volatile unsigned long steps_counted;

static void steps_count(int number)
{
	(void)number;
	steps_counted++;
}

/* Over the 128 bytes below the stack pointer, which may be in use. */
#define STEPS_FLAG(change) \
	__asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\t" change "\n\tpopfq\n\t" \
			 "lea 128(%%rsp), %%rsp" : : : "memory", "cc")

static inline void steps_begin(void)
{
	struct sigaction action = { .sa_handler = steps_count };

	sigaction(SIGTRAP, &action, NULL);
	steps_counted = 0;
	STEPS_FLAG("orq $0x100, (%%rsp)");
}

static inline unsigned long steps_end(void)
{
	STEPS_FLAG("andq $~0x100, (%%rsp)");
	return steps_counted;
}

#endif /* TEST_STEPS_H */
