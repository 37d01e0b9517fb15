/* SPDX-License-Identifier: MIT */
/*
 * fetch.pml - a far node fetches into its local queue: device/queue/lcq.c and worker_queue.c
 *
 * Two units of one node. A unit that finds the local queue empty claims the flag and fetches
 * an item (N7 of CN102792271); the other one waits for that, or sleeps. A kernel
 * ends only when both have started, so a unit must not sleep while there is an item.
 *
 * Each item is fetched once, all are taken, and nobody sleeps while there is work.
 *
 * Mutants, each of which must fail:
 *	NO_FLAG		a unit fetches although another one does
 *	SILENT		neither a fetch nor a take wakes anybody
 */
#define ITEMS	2

byte tail;		/* items in the global queue so far */
byte cursor;		/* of the node */
byte open;		/* items in the local queue */
bool fetching;
byte polling;
byte sleeping;
bool wake[2];
byte begun;
byte finished;

inline wake_one()
{
	atomic {
		if
		:: sleeping & 1 -> sleeping = sleeping & ~1; wake[0] = true
		:: sleeping & 2 -> sleeping = sleeping & ~2; wake[1] = true
		:: !sleeping
		fi
	}
}

#define work (open > 0 || (!fetching && cursor < tail))

inline wake_next()
{
	some = sleeping;
	if
	:: some && work -> wake_one()
	:: else
	fi;
	some = 0
}

proctype pusher()
{
	byte some_polling;

	do
	:: tail < ITEMS ->
		tail++;
		some_polling = polling;
		if
		:: !some_polling && sleeping -> wake_one()
		:: else
		fi
	:: tail == ITEMS -> break
	od
}

proctype unit(byte n)
{
	byte me = 1 << n, at, some;

	do
	:: atomic { open > 0 -> open--; begun++; assert(begun <= ITEMS) };
		polling = polling & ~me;
#ifndef SILENT
		wake_next();
#endif
		begun == ITEMS;
		finished++
#ifdef NO_FLAG
	:: atomic { open == 0 && cursor < tail -> fetching = true; at = cursor };
#else
	:: atomic { open == 0 && cursor < tail && !fetching -> fetching = true; at = cursor };
#endif
		atomic { cursor = at + 1; at = 0 };
		open++;
		fetching = false;
#ifndef SILENT
		wake_next()
#endif
	:: atomic { !work -> polling = polling | me };
		if
		:: work
		:: true ->
			/* It has polled for long enough. */
			atomic { wake[n] = false; sleeping = sleeping | me };
			polling = polling & ~me;
			if
			:: open > 0 || (!fetching && cursor != tail)
			:: else -> wake[n]
			fi;
			sleeping = sleeping & ~me
		fi
	od
}

init
{
	atomic {
		run unit(0);
		run unit(1);
		run pusher()
	}
	timeout;
	assert(finished == ITEMS)
}
