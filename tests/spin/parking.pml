/* SPDX-License-Identifier: MIT */
/*
 * parking.pml - units poll, sleep and are woken, as in device/eu.c and device/queue/parking.c
 *
 * Two producers append entries, each approved for one or both of two units. A unit without work
 * polls for a while and then sleeps on its futex. A producer may wake a unit in advance, which
 * then counts as polling, if all sleep. It wakes a unit for its entry only if no approved one is
 * polling; a unit that takes work while others sleep wakes one if there is more.
 * Kernels may depend on each other: each entry that is taken ends only when all entries that
 * another unit may run have been taken.
 *
 * In the end everything was taken; nobody sleeps while there is work.
 *
 * Mutants, each of which must fail:
 *	NO_RECHECK	a unit sleeps without a check after it has set its bit
 *	READ_FIRST	a producer reads the masks before the entry is there
 *	NO_CHAIN	a unit that takes work wakes nobody
 *	NO_WAIT		a unit that was found sleeping does not wait until its waker is done
 */
#define ENTRIES	2
#define UNITS	2
#define ALL	3

byte tail;			/* entries that were claimed */
bool there[ENTRIES];		/* and written */
byte mask[ENTRIES];
bool taken[ENTRIES];
byte polling;
byte sleeping;
bool wake[UNITS];
byte finished;

/* Wakes one of the units in m that still sleep, if there is one. */
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

/* Wakes a unit in advance, if both sleep. */
inline expect(found)
{
	atomic {
		if
		:: sleeping == ALL -> sleeping = sleeping & ~1; found = 1
		:: sleeping == ALL -> sleeping = sleeping & ~2; found = 2
		:: true
		fi
	};
	if
	:: found ->
		polling = polling | found;
		wake[found >> 1] = true
	:: else
	fi
}

proctype pusher(byte m)
{
	byte at, seen_polling, seen_sleeping, found;

	expect(found);
	found = 0;
#ifdef READ_FIRST
	seen_polling = polling;
	seen_sleeping = sleeping;
#endif
	atomic { at = tail; tail++; mask[at] = m }
	there[at] = true;
#ifndef READ_FIRST
	seen_polling = polling;
	seen_sleeping = sleeping;
#endif
	if
	:: !(m & seen_polling) && (m & seen_sleeping) -> wake_one(m)
	:: else
	fi
}

/* The other unit may take entries that this one has not passed: it passes finished ones. */
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
		polling = polling & ~me;
#ifndef NO_CHAIN
		others = sleeping;
		if
		:: cursor < ENTRIES && there[cursor] && (mask[cursor] & others) && !taken[cursor] ->
			wake_one(mask[cursor])
		:: else
		fi;
		others = 0;
#endif
		/* The kernel runs until all entries that others may run have started. */
		(tail == ENTRIES && (taken[0] || mask[0] == me) && (taken[1] || mask[1] == me));
		finished++
	:: atomic { !(cursor < ENTRIES && there[cursor]) -> polling = polling | me };
		if
		:: cursor < ENTRIES && there[cursor]
		:: true ->
			/* It has polled for long enough. */
			atomic { wake[n] = false; sleeping = sleeping | me };
			polling = polling & ~me;
#ifdef NO_RECHECK
			wake[n];
#else
			/* It sleeps only if the check found nothing; a wake after that ends the sleep. */
			if
			:: tail != cursor
			:: else -> wake[n]
			fi;
#endif
#ifdef NO_WAIT
			sleeping = sleeping & ~me
#else
			atomic { others = sleeping; sleeping = sleeping & ~me };
			if
			:: others & me
			:: else -> wake[n]
			fi;
			others = 0
#endif
		fi
	od
}

init
{
	byte a, b;

	atomic {
		/* Producers run in any order and units are alike, so these are all cases. */
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
