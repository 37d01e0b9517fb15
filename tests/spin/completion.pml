/* SPDX-License-Identifier: MIT */
/*
 * completion.pml - a process reports batches that are done: device/space/sandbox.c and space.c
 *
 * All batches were sent. For each the process moves its fence, then increments completion_seq; then,
 * if wants_wake is set, it wakes the device's thread that sleeps on completion_seq. Meanwhile
 * another thread of the device polls for a while and clears wants_wake.
 *
 * In the end the device has collected all batches.
 *
 * Mutants, each of which must fail:
 *	LEAVE_FIRST	the poller checks for the last time before it sets wants_wake
 *	WAKE_FIRST	the process reads wants_wake before it increments
 *	FENCE_FIRST	the device reads the fences before it reads completion_seq
 *	NO_LAST		the poller leaves without a last check
 */
#define BATCHES	2
#define POLLS	2

byte fence, completion_seq;
bool wants_wake = true;
bool asleep;
/* Of the device, protected by its lock */
bool locked;
byte completion_seen, collected;

inline lock()
{
	atomic { !locked -> locked = true }
}

inline unlock()
{
	locked = false
}

inline collect()
{
#ifdef FENCE_FIRST
	collected = fence;
	completion_seen = completion_seq
#else
	completion_seen = completion_seq;
	collected = fence
#endif
}

proctype process()
{
	byte n;
	bool wake;

	do
	:: n < BATCHES ->
		fence++;
#ifdef WAKE_FIRST
		wake = wants_wake;
		completion_seq++;
#else
		completion_seq++;
		wake = wants_wake;
#endif
		if
		:: wake -> asleep = false
		:: else
		fi;
		n++
	:: else -> break
	od
}

proctype thread()
{
	byte value;

	do
	:: lock();
		collect();
		value = completion_seen;
		unlock();
		/* FUTEX_WAIT sleeps only if the word is unchanged. */
		atomic {
			if
			:: completion_seq == value -> asleep = true
			:: else
			fi
		};
		!asleep
	od
}

proctype poller()
{
	byte n;
	bool more;

	do
	:: n < POLLS ->
		lock();
		wants_wake = collected == BATCHES;
		if
		:: collected < BATCHES && completion_seq != completion_seen -> collect()
		:: else
		fi;
		if
		:: collected == BATCHES -> wants_wake = true
		:: else
		fi;
		unlock();
		n++
	:: true -> break
	od;
	lock();
#ifdef LEAVE_FIRST
	more = completion_seq != completion_seen;
	wants_wake = true;
#else
	wants_wake = true;
	more = completion_seq != completion_seen;
#endif
#ifndef NO_LAST
	if
	:: more -> collect()
	:: else
	fi;
#endif
	unlock()
}

init
{
	atomic {
		run process();
		run thread();
		run poller()
	}
	timeout;
	assert(collected == BATCHES)
}
