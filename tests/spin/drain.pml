/* SPDX-License-Identifier: MIT */
/*
 * drain.pml - the process of an address space is replaced while a worker hands it tasks, as in
 * device/leaf.c and device/space/space_slots.c
 *
 * The unit of the old process shows that it runs a task, and then reads whether the process is to be
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
 */
#define TASKS	2

bool doorbell;
bool running;		/* of the old process */
bool draining;
bool killed;
bool finished;
byte ran;

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

proctype unit(bool old)
{
	bool stay;

	{
		do
		:: finished -> break
		:: doorbell && (!old || !draining) ->
#ifdef CHECK_EARLY
			stay = old && draining;
			running = old;
#else
			running = old;
			stay = old && draining;
#endif
			if
			:: stay -> running = false
			:: else ->
				ran++;
#ifdef IDLE_EARLY
				running = false;
				doorbell = false
#else
				doorbell = false;
				running = false
#endif
			fi
		od
	} unless {
		old && killed
	}
}

proctype device()
{
#ifdef READ_EARLY
	!running;
	draining = true;
#else
	draining = true;
	!running;
#endif
	killed = true;
	run unit(false)
}

init {
	atomic {
		run worker();
		run unit(true);
		run device()
	}
}
