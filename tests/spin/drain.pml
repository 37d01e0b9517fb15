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
 * the load on both sides. When none runs the device kills the process, at any of its steps, and the
 * unit of the next process serves the same slot.
 *
 * Each task runs once, and all end.
 *
 * Mutants, each of which must fail:
 *	CHECK_EARLY	the unit reads whether to begin before it shows its task
 *	READ_EARLY	the device reads whether a task runs before it says that none may begin
 *	IDLE_EARLY	the unit shows that nothing runs before it hands the task back
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
			:: stay -> running[process] = false
			:: else ->
				ran++;
#ifdef IDLE_EARLY
				running[process] = false;
				doorbell = false
#else
				doorbell = false;
				running[process] = false
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
		draining[current] = true
#endif
	}
	packet = true
}

inline replace()
{
	!running[current];
#ifdef READ_EARLY
	draining[current] = true;
#endif
	killed[current] = true;
	current++;
	stale = false;
	run unit(current)
}

proctype thread()
{
	do
	:: stale -> replace()
	:: packet ->
#ifdef REPLACE_NEW
		replace();
#else
		if
		:: stale -> replace()
		:: else
		fi;
#endif
		break
	od
}

init {
	atomic {
		run worker();
		run unit(0);
		run command_processor();
		run thread()
	}
}
