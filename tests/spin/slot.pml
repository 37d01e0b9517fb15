/* SPDX-License-Identifier: MIT */
/*
 * slot.pml - a worker hands tasks to a unit of two cores through a slot, as in libuser/slot.c and
 * device/leaf.c
 *
 * The worker stores a task and 1 in the doorbell, then reads whether the primary core sleeps. The
 * primary core starts the other core by a number, both run their parts, and the primary one stores
 * the completion and 0, then reads whether the worker must be notified. A waiter may sleep: it sets
 * its flag and polls once more. A release store makes all earlier stores visible, so plain words
 * are only checked for their values; a fence orders a store before a load.
 *
 * The driver may detach the slot at any time: the primary core leaves it between two tasks, then the
 * driver stores that it is detached and 0 in the doorbell. A task that is handed over at that time
 * may have run.
 *
 * In the end all tasks are done or lost to the driver, none ran twice, and nobody sleeps while there
 * is one.
 *
 * Mutants, each of which must fail:
 *	RING_EARLY	the doorbell is rung before the task is stored
 *	WAKE_EARLY	the worker has no fence: it reads whether the unit sleeps before it rings
 *	SLEEP_BLIND	the unit sleeps without polling again after it set its flag
 *	NO_BARRIER	the primary core does not wait for the other one
 *	BACK_EARLY	the task is handed back before the completion is stored
 *	NOTIFY_EARLY	the unit has no fence: it reads whether to notify before it hands back
 *	WAIT_BLIND	the worker sleeps without polling again after it asked to be notified
 *	START_EARLY	the primary core has no fence: it reads the flag of the other before it starts it
 *	RUN_AGAIN	the worker runs a task as a batch if it finds the slot detached after it rang
 *	KEEP_TASK	the worker leaves the task in a slot that it finds detached after it rang
 */
#define TASKS	2

byte task;		/* the task register */
bool doorbell;
bool sleeping;		/* the primary core */
bool waiting;		/* the worker */
byte completion;
bool wake_unit, wake_worker, wake_other;

byte go, done;		/* of the other core */
bool other_sleeps;
byte other_part;	/* the last one that it ran */
bool finished;

bool leave, left;	/* the driver asks the primary core */
bool detached;		/* the status in the slot */
byte ran;		/* the last task that ran */

proctype worker()
{
	byte n;
	bool asleep;

	for (n : 1 .. TASKS) {
		if
		:: detached -> break
		:: else
		fi;
#ifdef RING_EARLY
		doorbell = true;
		task = n;
		asleep = sleeping;
#else
		task = n;
#ifdef WAKE_EARLY
		asleep = sleeping;
		doorbell = true;
#else
		doorbell = true;
		asleep = sleeping;
#endif
#endif
		if
		:: asleep -> wake_unit = true
		:: else
		fi;
		if
		:: detached ->
#ifdef RUN_AGAIN
			assert(ran != n);
#endif
#ifndef KEEP_TASK
			doorbell = false
#endif
		:: else
		fi;
		do
		:: !doorbell -> break
		:: doorbell ->
			/* It may sleep, or poll once more. */
			if
			:: true ->
				wake_worker = false;
				waiting = true;
#ifdef WAIT_BLIND
				wake_worker
#else
				if
				:: doorbell -> wake_worker
				:: else
				fi
#endif
			:: true
			fi
		od;
		assert(completion == n || detached)
	}
	finished = true
}

/* Starts the other core, and wakes it if it sleeps. */
inline start_other(n)
{
#ifdef START_EARLY
	other_asleep = other_sleeps;
	go = n;
#else
	go = n;
	other_asleep = other_sleeps;
#endif
	if
	:: other_asleep -> wake_other = true
	:: else
	fi
}

proctype primary()
{
	byte n;
	bool asked, other_asleep;

	do
	:: finished -> break
	:: leave ->
		left = true;
		break
	:: doorbell && !leave ->
		n = task;
		ran = n;
		start_other(n);
#ifndef NO_BARRIER
		done == n;
		assert(other_part == n);
#endif
#ifdef BACK_EARLY
		doorbell = false;
		completion = n;
		asked = waiting;
#else
		completion = n;
#ifdef NO_BARRIER
		assert(other_part == n);
#endif
#ifdef NOTIFY_EARLY
		asked = waiting;
		doorbell = false;
#else
		doorbell = false;
		asked = waiting;
#endif
#endif
		if
		:: asked -> waiting = false; wake_worker = true
		:: else
		fi
	:: !doorbell && !leave && !finished ->
		wake_unit = false;
		sleeping = true;
#ifdef SLEEP_BLIND
		wake_unit || finished;
#else
		if
		:: doorbell || leave
		:: else -> wake_unit || finished
		fi;
#endif
		sleeping = false
	od
}

proctype driver()
{
	if
	:: true ->
		leave = true;
		wake_unit = true;
		left || finished;
		detached = true;
		doorbell = false;
		if
		:: waiting -> waiting = false; wake_worker = true
		:: else
		fi
	:: true
	fi
}

proctype other()
{
	do
	:: finished -> break
	:: go != done ->
		other_part = go;
		done = other_part
	:: go == done && !finished ->
		wake_other = false;
		other_sleeps = true;
		if
		:: go != done
		:: else -> wake_other || finished
		fi;
		other_sleeps = false
	od
}

init
{
	atomic {
		run worker();
		run primary();
		run other();
		run driver()
	}
	timeout;
	assert(finished)
}
