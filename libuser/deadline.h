/* SPDX-License-Identifier: MIT */
/*
 * deadline.h - timeouts of the API as points in time on CLOCK_MONOTONIC
 *
 * A timeout is in nanoseconds from now: 0 only polls, a negative one never expires. A deadline is
 * a point in time; INT64_MAX never comes.
 */
#ifndef SALVO_DEADLINE_H
#define SALVO_DEADLINE_H

#include <stdint.h>

/** salvo_now_ns() - CLOCK_MONOTONIC in nanoseconds. */
int64_t salvo_now_ns(void);

/** salvo_deadline_ns() - The deadline of a timeout that starts now. */
int64_t salvo_deadline_ns(int64_t timeout_ns);

/** salvo_remaining_ns() - The timeout that is left until @deadline, at least 0; or -1 for never. */
int64_t salvo_remaining_ns(int64_t deadline);

#endif /* SALVO_DEADLINE_H */
