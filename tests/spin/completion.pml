/* SPDX-License-Identifier: MIT */
/*
 * completion.pml - a process reports batches that are done, and leaves: device/space/sandbox.c and
 * space.c
 *
 * All batches were sent. For each the process moves its fence, then increments completion_seq;
 * then, if wants_wake is set, it wakes the device's thread that sleeps on completion_seq. Meanwhile
 * another thread of the device polls for a while and clears wants_wake. The process reports the end
 * of a leaf in the same way. Only the thread can do what that asks for: the poller wakes it.
 *
 * In the end the device has collected all batches, and the thread has seen the end of the leaf.
 *
 * Mutants, each of which must fail:
 *	LEAVE_FIRST	the poller checks for the last time before it sets wants_wake
 *	WAKE_FIRST	the process reads wants_wake before it increments
 *	FENCE_FIRST	the device reads the fences before it reads completion_seq
 *	NO_LAST		the poller leaves without a last check
 *	IDLE_BLIND	the poller does not check when all batches are collected
 */
#define BATCHES	2
#define POLLS	2

byte fence, completion_seq;
bool wants_wake = true;
bool asleep, kicked;
bool leaf_ended, leaf_seen;
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

inline kick()
{
	atomic {
		kicked = true;
		asleep = false
	}
}

inline notify()
{
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
	fi
}

proctype process()
{
	byte n;
	bool wake;

	do
	:: n < BATCHES ->
		fence++;
		notify();
		n++
	:: !leaf_ended ->
		leaf_ended = true;
		notify()
	:: n == BATCHES && leaf_ended -> break
	od
}

proctype thread()
{
	byte value;

	do
	:: kicked = false;
		lock();
		collect();
		value = completion_seen;
		leaf_seen = leaf_ended;
		unlock();
		/* FUTEX_WAITV sleeps only if both words are unchanged. */
		atomic {
			if
			:: completion_seq == value && !kicked -> asleep = true
			:: else
			fi
		};
		!asleep
	od
}

/* Collects what is new, and wakes the thread for the rest. */
inline look()
{
	if
	:: more ->
		collect();
		kick();
		if
		:: collected == BATCHES -> wants_wake = true
		:: else
		fi
	:: else
	fi
}

proctype poller()
{
	byte n;
	bool more;

	do
	:: n < POLLS ->
		lock();
		wants_wake = collected == BATCHES;
		more = completion_seq != completion_seen;
#ifdef IDLE_BLIND
		more = more && collected < BATCHES;
#endif
		look();
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
#ifdef IDLE_BLIND
	more = more && collected < BATCHES;
#endif
#ifndef NO_LAST
	look();
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
	assert(collected == BATCHES && leaf_seen)
}
