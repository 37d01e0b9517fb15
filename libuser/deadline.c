// SPDX-License-Identifier: MIT
/*
 * deadline.c - timeouts of the API as points in time on CLOCK_MONOTONIC
 */
#include "deadline.h"

#include "clock.h"

int64_t salvo_now_ns(void)
{
	return salvo_clock();
}

int64_t salvo_deadline_ns(int64_t timeout_ns)
{
	int64_t deadline;

	if (timeout_ns < 0 || __builtin_add_overflow(salvo_now_ns(), timeout_ns, &deadline))
		return INT64_MAX;
	return deadline;
}

int64_t salvo_remaining_ns(int64_t deadline)
{
	const int64_t now = salvo_now_ns();

	if (deadline == INT64_MAX)
		return -1;
	return deadline > now ? deadline - now : 0;
}
