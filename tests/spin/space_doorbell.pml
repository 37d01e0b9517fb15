/* SPDX-License-Identifier: MIT */
/*
 * space_doorbell.pml - doorbells of an address space's process: device/space/space_jobs.c, device/eu.c
 *
 * The device increments doorbell_seq; then, if no unit of the process polls, it wakes one that
 * sleeps, and if none sleeps the thread that only handles doorbells. Meanwhile work is pushed
 * inside the process, and the unit that takes it runs a kernel that never ends.
 *
 * In the end every doorbell was handled.
 *
 * Mutants, each of which must fail:
 *	NO_POLL		a unit that was woken takes work before it polls the doorbell
 *	NO_THREAD	nobody handles doorbells while all units are busy
 *	READ_FIRST	the device reads the masks before it increments
 *	NO_RECHECK	a unit that stops polling does not poll once more
 */
#define UNITS	2
#define RINGS	2
#define PUSHES	2

byte doorbell_seq, doorbell_seen;
byte work;
byte polling, sleeping;
bool wake[UNITS];
bool thread_sleeps;

/* Handling a doorbell reads all rings. */
inline poll_doorbell()
{
	atomic { doorbell_seen != doorbell_seq -> doorbell_seen = doorbell_seq } unless doorbell_seen == doorbell_seq
}

/* Sets @woken if one slept. */
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
	byte n, any;
	bool woken;

	do
	:: n < RINGS ->
#ifdef READ_FIRST
		any = polling;
		doorbell_seq++;
#else
		doorbell_seq++;
		any = polling;
#endif
		if
		:: any
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
		:: polling
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
	:: count = doorbell_seq;
		poll_doorbell();
		/* FUTEX_WAIT sleeps only if the word is unchanged. */
		atomic {
			if
			:: doorbell_seq == count -> thread_sleeps = true
			:: else
			fi
		};
		!thread_sleeps
	od
}

proctype unit(byte n)
{
	byte me = 1 << n;
	bool polls;

	do
	:: atomic { work -> work-- };
		if
		:: polls ->
			polling = polling & ~me;
#ifndef NO_RECHECK
			poll_doorbell()
#endif
		:: else
		fi;
		/* The kernel never ends. */
		break
	:: atomic { !work -> polling = polling | me; polls = true };
		if
		:: doorbell_seq != doorbell_seen -> poll_doorbell()
		:: work
		:: true ->
			atomic { wake[n] = false; sleeping = sleeping | me };
			polling = polling & ~me;
			polls = false;
			poll_doorbell();
			if
			:: work
			:: else -> wake[n]
			fi;
			sleeping = sleeping & ~me;
#ifndef NO_POLL
			poll_doorbell()
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
	assert(doorbell_seen == doorbell_seq)
}
