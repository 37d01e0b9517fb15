/* SPDX-License-Identifier: MIT */
/*
 * completion.pml - a process says that batches are done, as in device/space/sandbox.c and device/space/space.c
 *
 * All batches were sent. For each the process moves its fence, then counts @told up; then, if
 * @waiting says that the device does not look by itself, it wakes the thread that sleeps on
 * @told. Meanwhile another thread of the device looks for a while, and says so in @waiting.
 *
 * In the end the device has taken all batches.
 *
 * Mutants, each of which must fail:
 *	LOOK_FIRST	who looks for a while leaves before it says so
 *	WAKE_FIRST	the process looks at @waiting before it counts up
 *	FENCE_FIRST	the device looks at the fences before it notes how far it has been told
 *	NO_LAST		who looks for a while leaves without another look
 */
#define BATCHES	2
#define LOOKS	2

byte fence, told;
bool waiting = true;
bool asleep;
/* Of the device, under its lock */
bool locked;
byte seen, taken;

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
	taken = fence;
	seen = told
#else
	seen = told;
	taken = fence
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
		wake = waiting;
		told++;
#else
		told++;
		wake = waiting;
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
		value = seen;
		unlock();
		/* The futex sleeps only if nothing has changed. */
		atomic {
			if
			:: told == value -> asleep = true
			:: else
			fi
		};
		!asleep
	od
}

proctype poller()
{
	byte n;
	bool news;

	do
	:: n < LOOKS ->
		lock();
		waiting = taken == BATCHES;
		if
		:: taken < BATCHES && told != seen -> collect()
		:: else
		fi;
		if
		:: taken == BATCHES -> waiting = true
		:: else
		fi;
		unlock();
		n++
	:: true -> break
	od;
	lock();
#ifdef LOOK_FIRST
	news = told != seen;
	waiting = true;
#else
	waiting = true;
	news = told != seen;
#endif
#ifndef NO_LAST
	if
	:: news -> collect()
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
	assert(taken == BATCHES)
}
