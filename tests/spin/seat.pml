/* SPDX-License-Identifier: MIT */
/*
 * seat.pml - callers take the places of workers that sleep, as in libuser/steal/idle.c
 *
 * Two workers look for roots, and park if there are none; two callers bring a root each. A caller
 * takes the place of a worker that has parked and runs the root there, or puts it into the list and
 * wakes a worker, unless one is searching. A place that is free again is offered to roots that came
 * meanwhile. A worker that ends its search passes on what others left to it.
 *
 * A place has one user at a time, and in the end all roots have run, also if the root of one caller
 * waits for that of the other and there are two workers.
 *
 * Mutants, each of which must fail:
 *	PARK_BLIND	a worker parks without a look at the roots after it has set its bit
 *	PARK_LENT	a worker whose place was taken meanwhile leaves the roots that it sees
 *	RETURN_BLIND	a caller frees its place without a look at the roots
 *	TAKE_PLAIN	a caller takes a place by a load and a store
 *	WAKE_PLAIN	a thread that wakes a worker stores, whoever has its place
 *	FREE_EARLY	a worker offers its place while it still uses it
 */
#define WORKERS	2
#define CALLERS	2
#define TAKEN	0
#define FREE	1
#define LENT	2

byte seat[WORKERS];
byte idle;			/* workers that have parked, as a mask */
byte searching;
byte roots;			/* in the list */
byte users[WORKERS];
byte finished;
byte workers;

inline use(w)
{
	atomic { users[w]++; assert(users[w] == 1) };
	users[w]--
}

inline run_root(w)
{
	use(w);
	finished++
}

inline wake(w, woken)
{
#ifdef WAKE_PLAIN
	seat[w] = TAKEN;
	woken = true
#else
	atomic {
		if
		:: seat[w] == FREE -> seat[w] = TAKEN; woken = true
		:: else
		fi
	}
#endif
}

/* Claims bit after bit, until a worker is awake that was not. */
inline wake_one(w, had, woken)
{
	woken = false;
	w = 0;
	do
	:: w == WORKERS || woken -> break
	:: else ->
		atomic { had = idle & (1 << w); idle = idle & ~(1 << w) };
		if
		:: had -> wake(w, woken)
		:: else
		fi;
		w++
	od;
	w = 0;
	had = 0;
	woken = false
}

proctype caller(bool waits)
{
	byte w, other, had;
	bool woken, placed;

	do
	:: w == WORKERS || placed -> break
	:: else ->
		if
		:: idle & (1 << w) ->
#ifdef TAKE_PLAIN
			if
			:: seat[w] == FREE -> seat[w] = LENT; placed = true
			:: else
			fi
#else
			atomic {
				if
				:: seat[w] == FREE -> seat[w] = LENT; placed = true
				:: else
				fi
			}
#endif
		:: else
		fi;
		if
		:: placed
		:: else -> w++
		fi
	od;
	if
	:: placed ->
		idle = idle & ~(1 << w);
		if
		:: waits && workers == WORKERS -> finished == CALLERS - 1
		:: else
		fi;
		run_root(w);
		seat[w] = FREE;
		idle = idle | (1 << w);
#ifndef RETURN_BLIND
		if
		:: roots -> wake_one(other, had, woken)
		:: else
		fi
#endif
	:: else ->
		roots++;
		if
		:: !searching -> wake_one(other, had, woken)
		:: else
		fi
	fi
}

proctype worker(byte me)
{
	byte w, had;
	bool woken, root, last, lent;

	searching++;
	do
	:: roots ->
		atomic {
			root = roots;
			if
			:: root -> roots--
			:: else
			fi
		};
		if
		:: root ->
			atomic { searching--; last = !searching };
			if
			:: last && idle && roots -> wake_one(w, had, woken)
			:: else
			fi;
			run_root(me);
			searching++
		:: else
		fi;
		root = false;
		last = false
	:: true ->
		/* It has searched for long enough. */
#ifdef FREE_EARLY
		seat[me] = FREE;
		idle = idle | (1 << me);
		use(me);
#else
		use(me);
		seat[me] = FREE;
		idle = idle | (1 << me);
#endif
		searching--;
#ifndef PARK_BLIND
		if
		:: roots ->
			atomic {
				if
				:: seat[me] == FREE -> seat[me] = TAKEN
				:: else -> lent = true
				fi
			}
		:: else
		fi;
#ifndef PARK_LENT
		if
		:: lent -> wake_one(w, had, woken)
		:: else
		fi;
#endif
		lent = false;
#endif
		seat[me] == TAKEN;
		searching++;
		idle = idle & ~(1 << me)
	od
}

init
{
	byte i;

	atomic {
		/* One worker or two, that have not parked yet */
		run worker(0);
		workers = 1;
		if
		:: run worker(1); workers++
		:: true
		fi;
		for (i : 1 .. CALLERS) {
			run caller(i == 1)
		}
	}
	timeout;
	assert(finished == CALLERS)
}
