/* SPDX-License-Identifier: MIT */
/*
 * parking.pml - units that look, sleep and are woken, as in device/eu.c and device/queue/parking.c
 *
 * Two pushers append entries, each for one or both of two units. A unit without work
 * looks for a while and then sleeps on its futex. Who pushes wakes a unit only if no
 * approved one is looking; a unit that takes work while others sleep wakes one if it sees more.
 * A kernel may need that another runs at the same time: each entry that is taken
 * ends only when all entries that another unit may run have been taken.
 *
 * In the end everything was taken; nobody sleeps over work.
 *
 * Mutants, each of which must fail:
 *	NO_LOOK		a unit sleeps without another look after it said that it will
 *	LOOK_FIRST	who pushes looks at the masks before the entry is there
 *	NO_CHAIN	a unit that takes work wakes nobody
 */
#define ENTRIES	2
#define UNITS	2
#define ALL	3

byte tail;			/* entries that were claimed */
bool there[ENTRIES];		/* and written */
byte mask[ENTRIES];
bool taken[ENTRIES];
byte looking;
byte sleeping;
bool wake[UNITS];
byte finished;

/* Wakes one of the units in m that sleep by now, if there is one. */
inline wake_one(m)
{
	atomic {
		if
		:: m & 1 & sleeping -> sleeping = sleeping & ~1; wake[0] = true
		:: m & 2 & sleeping -> sleeping = sleeping & ~2; wake[1] = true
		:: !(m & sleeping)
		fi
	}
}

proctype pusher(byte m)
{
	byte at, seen_looking, seen_sleeping;

#ifdef LOOK_FIRST
	seen_looking = looking;
	seen_sleeping = sleeping;
#endif
	atomic { at = tail; tail++; mask[at] = m }
	there[at] = true;
#ifndef LOOK_FIRST
	seen_looking = looking;
	seen_sleeping = sleeping;
#endif
	if
	:: !(m & seen_looking) && (m & seen_sleeping) -> wake_one(m)
	:: else
	fi
}

/* Entries that this unit has not passed may be taken by the other: it goes past what is over. */
proctype unit(byte n)
{
	byte me = 1 << n, cursor, others;

	do
	:: atomic {
		cursor < ENTRIES && there[cursor] && (taken[cursor] || !(mask[cursor] & me)) ->
			cursor++
	   }
	:: atomic {
		cursor < ENTRIES && there[cursor] && !taken[cursor] && (mask[cursor] & me) ->
			taken[cursor] = true;
			cursor++
	   };
		looking = looking & ~me;
#ifndef NO_CHAIN
		others = sleeping;
		if
		:: cursor < ENTRIES && there[cursor] && (mask[cursor] & others) && !taken[cursor] ->
			wake_one(mask[cursor])
		:: else
		fi;
		others = 0;
#endif
		/* The kernel runs until what others may run has begun. */
		(tail == ENTRIES && (taken[0] || mask[0] == me) && (taken[1] || mask[1] == me));
		finished++
	:: atomic { !(cursor < ENTRIES && there[cursor]) -> looking = looking | me };
		if
		:: cursor < ENTRIES && there[cursor]
		:: true ->
			/* It has looked for long enough. */
			atomic { wake[n] = false; sleeping = sleeping | me };
			looking = looking & ~me;
#ifdef NO_LOOK
			wake[n];
#else
			/* The futex sleeps only if the look found nothing, then whatever comes. */
			if
			:: tail != cursor
			:: else -> wake[n]
			fi;
#endif
			sleeping = sleeping & ~me
		fi
	od
}

init
{
	byte a, b;

	atomic {
		/* The pushers come in any order, and the units are alike: these are all cases. */
		if
		:: a = ALL; b = ALL
		:: a = 1; b = ALL
		:: a = 1; b = 2
		:: a = 1; b = 1
		fi;
		run unit(0);
		run unit(1);
		run pusher(a);
		run pusher(b)
	}
	timeout;
	assert(finished == ENTRIES)
}
