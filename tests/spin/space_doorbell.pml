/* SPDX-License-Identifier: MIT */
/*
 * space_doorbell.pml - a packet for the process of an address space: device/space/space_jobs.c and device/eu.c
 *
 * The device counts the bell up; then, if no unit of the process looks, it wakes one that sleeps,
 * and if none sleeps the thread that only hears. Meanwhile work is pushed inside of the process,
 * and whoever takes that runs a kernel that never ends.
 *
 * In the end every bell was heard.
 *
 * Mutants, each of which must fail:
 *	NO_HEAR		a unit that was woken takes work before it hears
 *	NO_THREAD	nobody hears while all units are busy
 *	LOOK_FIRST	the device looks at the masks before it counts up
 *	NO_LOOK		a unit that stops looking does not hear once more
 */
#define UNITS	2
#define RINGS	2
#define PUSHES	2

byte bell, heard;
byte work;
byte looking, sleeping;
bool wake[UNITS];
bool thread_sleeps;

/* Who hears reads the rings, so that what was rung before is done. */
inline hear()
{
	atomic { heard != bell -> heard = bell } unless heard == bell
}

/* Returns whether one slept. */
inline wake_one(woken)
{
	atomic {
		if
		:: sleeping & 1 -> sleeping = sleeping & ~1; wake[0] = true; woken = true
		:: sleeping & 2 -> sleeping = sleeping & ~2; wake[1] = true; woken = true
		:: !sleeping -> woken = false
		fi
	}
}

proctype device()
{
	byte n, seen;
	bool woken;

	do
	:: n < RINGS ->
#ifdef LOOK_FIRST
		seen = looking;
		bell++;
#else
		bell++;
		seen = looking;
#endif
		if
		:: seen
		:: else ->
			wake_one(woken);
#ifndef NO_THREAD
			if
			:: !woken -> thread_sleeps = false
			:: else
			fi
#endif
		fi;
		n++
	:: else -> break
	od
}

proctype pusher()
{
	byte n;
	bool woken;

	do
	:: n < PUSHES ->
		work++;
		if
		:: looking
		:: else -> wake_one(woken)
		fi;
		n++
	:: else -> break
	od
}

proctype thread()
{
	byte count;

	do
	:: count = bell;
		hear();
		/* The futex sleeps only if nothing has changed. */
		atomic {
			if
			:: bell == count -> thread_sleeps = true
			:: else
			fi
		};
		!thread_sleeps
	od
}

proctype unit(byte n)
{
	byte me = 1 << n;
	bool looks;

	do
	:: atomic { work -> work-- };
		if
		:: looks ->
			looking = looking & ~me;
#ifndef NO_LOOK
			hear()
#endif
		:: else
		fi;
		/* The kernel never ends. */
		break
	:: atomic { !work -> looking = looking | me; looks = true };
		if
		:: bell != heard -> hear()
		:: work
		:: true ->
			atomic { wake[n] = false; sleeping = sleeping | me };
			looking = looking & ~me;
			looks = false;
			hear();
			if
			:: work
			:: else -> wake[n]
			fi;
			sleeping = sleeping & ~me;
#ifndef NO_HEAR
			hear()
#endif
		fi
	od
}

init
{
	atomic {
		run unit(0);
		run unit(1);
		run thread();
		run device();
		run pusher()
	}
	timeout;
	assert(heard == bell)
}
