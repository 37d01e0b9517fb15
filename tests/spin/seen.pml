/* SPDX-License-Identifier: MIT */
/*
 * seen.pml - entries of the global command queue, as in device/queue/gcq.c
 *
 * Two producers append elements to a ring of one entry while three takers walk along it:
 * a near unit, a far node that counts for its two units (N9 of CN102792271), and one
 * unit of that node, for entries that approve only a part of it. Masks name all, the node, or units.
 *
 * Each item is taken once, by a taker that the mask approves; an entry is written only
 * when all have seen the previous one; in the end every entry is free and nobody is behind.
 *
 * Mutants, each of which must fail:
 *	NO_RECHECK	a mask counts even if the entry was reused meanwhile
 *	NO_SEEN		an entry is reused as soon as no items remain
 *	TWICE		the taker of the last items counts as having seen that, and then again
 */
#define SIZE		1
#define ELEMENTS	3
#define ITEMS		2
#define WRITING		64

#define NEAR		1
#define FAR		6	/* units 2 and 4 */

typedef entry {
	byte position;
	byte wir;
	byte seen;
	byte mask;
	byte element;
};

entry ring[SIZE];
byte tail = SIZE;
byte mask[ELEMENTS];
byte taken[ELEMENTS];
byte pushed;

inline units_of(m, n)
{
	n = (m & 1) + (m >> 1 & 1) + (m >> 2 & 1);
}

#ifdef NO_SEEN
#define IN_USE(entry) (entry.wir != 0)
#else
#define IN_USE(entry) (entry.wir != 0 || entry.seen != 0)
#endif

proctype producer(byte e)
{
	byte at, n;

again:
	/* Reads at any time; what it read may be outdated when it acts. */
	atomic {
		ring[tail % SIZE].position == tail - SIZE && !IN_USE(ring[tail % SIZE]) ->
			at = tail
	}
	if
	:: ring[at % SIZE].position != at - SIZE || IN_USE(ring[at % SIZE]) -> goto again
	:: else
	fi;
	atomic {
		if
		:: tail == at -> tail = at + 1
		:: else -> goto again
		fi
	}
	atomic {
		assert(ring[at % SIZE].seen == 0);
		ring[at % SIZE].position = at | WRITING
	}
	ring[at % SIZE].mask = mask[e];
	atomic {
		units_of(mask[e], n);
		ring[at % SIZE].element = e;
		ring[at % SIZE].wir = ITEMS;
		ring[at % SIZE].seen = n
	}
	atomic {
		ring[at % SIZE].position = at;
		pushed++;
		/* Every other element. */
		if
		:: e + 2 < ELEMENTS -> e = e + 2; goto again
		:: else
		fi
	}
}

#define approved(m) ((m & bits) == bits && (whole == 0 || (m & whole) != whole))
#define here ring[cursor % SIZE]

proctype taker(byte bits, whole, units)
{
	byte cursor = SIZE, position, m;
	bool last;

	do
	:: atomic { pushed == ELEMENTS && cursor == tail -> break }
	:: atomic {
		(here.position & ~WRITING) > cursor ->
			cursor = (here.position & ~WRITING) - SIZE + 1
	   }
	:: atomic { here.position == cursor -> position = cursor };
		m = here.mask;
		if
#ifdef NO_RECHECK
		:: !approved(m) -> cursor++
#else
		:: !approved(m) || here.position != position -> cursor++
#endif
		:: else ->
			atomic {
				/* One compare-and-swap on both counters. */
				last = false;
				if
				:: here.wir > 0 ->
					assert((mask[here.element] & bits) == bits);
					here.wir--;
					taken[here.element]++;
					assert(taken[here.element] <= ITEMS);
					last = here.wir == 0
				:: else -> last = true
				fi;
				if
				:: last ->
					assert(here.seen >= units);
					here.seen = here.seen - units;
#ifndef TWICE
					cursor++
#endif
				:: else
				fi
			}
#ifdef TWICE
			if
			:: last && here.seen == 0 -> cursor++
			:: else
			fi
#endif
		fi
	od
}

init
{
	byte i;

	atomic {
		ring[SIZE - 1].position = SIZE - 1;
		for (i : 0 .. ELEMENTS - 1) {
			if
			:: mask[i] = NEAR | FAR
			:: mask[i] = FAR
			:: mask[i] = NEAR | 2
			fi
		}
		run producer(0);
		run producer(1);
		run taker(NEAR, 0, 1);
		run taker(FAR, 0, 2);
		run taker(2, FAR, 1)
	}
	_nr_pr == 1;
	for (i : 0 .. ELEMENTS - 1) {
		assert(taken[i] == ITEMS)
	}
	for (i : 0 .. SIZE - 1) {
		assert(ring[i].wir == 0 && ring[i].seen == 0)
	}
}
