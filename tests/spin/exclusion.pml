/* SPDX-License-Identifier: MIT */
/*
 * exclusion.pml - a unit that runs while all others are idle, as in device/queue/exclusion.c
 *
 * Two units poll, sleep, are woken and run chunks, some of which want that the other unit runs
 * nothing meanwhile. Such a chunk may also run as any other, if the other unit is not idle.
 *
 * No unit runs while another one has a chunk for itself. In the end nobody waits.
 *
 * Mutants, each of which must fail:
 *	NO_WAIT		a unit that is not idle any more does not look for an owner
 *	WAIT_FIRST	it does so before it leaves the masks
 *	MASKS_FIRST	the owner reads the masks before it says that it is the owner
 *	KEEP		an owner that others are not idle for stays the owner
 */
#define UNITS	2
#define ALL	3
#define CHUNKS	2

byte polling;
byte sleeping;
bool wake[UNITS];
byte owner;			/* mask of the unit, or 0 */
bool runs[UNITS];
bool alone;			/* what runs has the GPU for itself */
byte finished;

inline execute(n)
{
	atomic { runs[n] = true; assert(!(runs[0] && runs[1] && alone)) };
	runs[n] = false
}

inline read_masks(idle)
{
	idle = polling;
	idle = idle | sleeping
}

inline execute_alone(n, me, idle)
{
#ifdef MASKS_FIRST
	read_masks(idle);
#endif
	if
	:: atomic { owner == 0 -> owner = me };
#ifndef MASKS_FIRST
		read_masks(idle);
#endif
		if
		:: (idle | me) == ALL ->
			alone = true;
			execute(n);
			alone = false;
			owner = 0
		:: else ->
#ifndef KEEP
			owner = 0;
#endif
			execute(n)
		fi
	:: atomic { owner != 0 } -> execute(n)
	fi
}

/* Wakes a unit, which may count as polling at once. */
active proctype waker()
{
	byte found;

	do
	:: finished == UNITS -> break
	:: atomic { sleeping -> found = sleeping & -sleeping; sleeping = sleeping & ~found };
		if
		:: polling = polling | found
		:: true
		fi;
		wake[found >> 1] = true
	od
}

active [UNITS] proctype unit()
{
	byte n, me, idle, had, chunks;

	n = _pid - 1;
	me = 1 << n;
	do
	:: chunks < CHUNKS ->
		chunks++;
		polling = polling | me;
		if
		:: true
		:: true ->
			wake[n] = false;
			sleeping = sleeping | me;
			polling = polling & ~me;
			if
			:: true
			:: wake[n]
			fi;
			atomic { had = sleeping; sleeping = sleeping & ~me };
			if
			:: had & me
			:: else -> wake[n]
			fi
		fi;
#ifdef WAIT_FIRST
		owner == 0;
#endif
		polling = polling & ~me;
#if !defined(NO_WAIT) && !defined(WAIT_FIRST)
		owner == 0;
#endif
		if
		:: execute(n)
		:: execute_alone(n, me, idle)
		fi
	:: chunks == CHUNKS -> break
	od;
	/* What is left to do is nothing: it sleeps. */
	polling = polling | me;
	finished++
}

active proctype end()
{
	timeout;
	assert(finished == UNITS)
}
