/* SPDX-License-Identifier: MIT */
/*
 * drain.pml - the process of an address space is replaced while a worker hands it tasks, as in
 * device/leaf.c, device/space/space.c and device/space/space_slots.c
 *
 * A packet changes the bindings. The command processor first says that the process is stale, and
 * then hands the packet to the thread of the address space, where it waits until no process has
 * the old bindings. The thread may see the first before the second.
 *
 * The unit of a process shows that it runs a task, and then reads whether the process is to be
 * replaced; the device says so, and then reads whether a task runs. A fence orders the store before
 * the load on both sides. If one runs the thread sleeps: the unit wakes it when it shows that none
 * does. When none runs the device kills the process, at any of its steps, and the unit of the next
 * process serves the same slot.
 *
 * Each task runs once, and all end, and so does the packet.
 *
 * Mutants, each of which must fail:
 *	CHECK_EARLY	the unit reads whether to begin before it shows its task
 *	READ_EARLY	the device reads whether a task runs before it says that none may begin
 *	IDLE_EARLY	the unit shows that nothing runs before it hands the task back
 *	END_SILENT	the unit does not wake the thread when a task has ended
 *	STAY_SILENT	the unit does not wake the thread when it leaves a task to the next process
 *	REPLACE_NEW	the packet ends a process that already has the new bindings
 */
#define TASKS		2
#define PROCESSES	3

bool doorbell;
bool running[PROCESSES];
bool draining[PROCESSES];
bool killed[PROCESSES];
bool finished;
byte ran;

byte current;		/* the process */
bool stale;
bool packet;
bool woken;		/* the thread */
bool packet_done;

proctype worker()
{
	byte n;

	for (n : 1 .. TASKS) {
		doorbell = true;
		!doorbell;
		assert(ran == n);
	}
	finished = true
}

inline wake()
{
	if
	:: draining[process] -> woken = true
	:: else
	fi
}

proctype unit(byte process)
{
	bool stay;

	{
		do
		:: finished -> break
		:: doorbell && !draining[process] ->
#ifdef CHECK_EARLY
			stay = draining[process];
			running[process] = true;
#else
			running[process] = true;
			stay = draining[process];
#endif
			if
			:: stay ->
				running[process] = false;
#ifndef STAY_SILENT
				wake()
#endif
			:: else ->
				ran++;
#ifdef IDLE_EARLY
				running[process] = false;
				doorbell = false;
#else
				doorbell = false;
				running[process] = false;
#endif
#ifndef END_SILENT
				wake()
#endif
			fi
		od
	} unless {
		killed[process]
	}
}

proctype command_processor()
{
	/* With the lock of the address space */
	atomic {
		stale = true;
#ifndef READ_EARLY
		draining[current] = true;
#endif
		woken = true
	}
	packet = true;
	woken = true
}

#ifdef REPLACE_NEW
#define MUST_REPLACE	(stale || arrived)
#else
#define MUST_REPLACE	stale
#endif

proctype thread()
{
	bool arrived, has_new;

	do
	:: true ->
		woken = false;
		arrived = packet;
		has_new = true;
		if
		:: MUST_REPLACE && running[current] -> has_new = false
		:: MUST_REPLACE && !running[current] ->
#ifdef READ_EARLY
			draining[current] = true;
#endif
			killed[current] = true;
			current++;
			stale = false;
			run unit(current)
		:: else
		fi;
		if
		:: arrived && has_new -> break
		:: else -> woken
		fi
	od;
	packet_done = true
}

init {
	atomic {
		run worker();
		run unit(0);
		run command_processor();
		run thread()
	}
	timeout;
	assert(finished && packet_done)
}
