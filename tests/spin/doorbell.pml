/* SPDX-License-Identifier: MIT */
/*
 * doorbell.pml - doorbells of the GPU, as in device/gpu.c
 *
 * A doorbell sets a bit and tries to take the command processor's lock. If another
 * thread holds it, that one checks the bits again after it has dropped the lock. So
 * nobody waits, and in the end every entry of the ring was read.
 *
 * Mutants, each of which must fail:
 *	NO_RECHECK	the bits are not checked after the lock was dropped
 *	CLEAR_LATE	the bit is cleared after the ring was read
 */
#define RINGERS	3

byte tail;
byte head;
bool rung;
bool locked;

proctype ringer()
{
	byte seen;

	tail++;
	rung = true;
	do
	:: !rung -> break
	:: else ->
		atomic {
			if
			:: locked -> break
			:: else -> locked = true
			fi
		};
#ifdef CLEAR_LATE
		seen = tail;
		head = seen;
		rung = false;
#else
		rung = false;
		seen = tail;
		head = seen;
#endif
		assert(head <= tail);
		locked = false;
#ifdef NO_RECHECK
		break
#endif
	od
}

init
{
	byte i;

	atomic {
		for (i : 1 .. RINGERS) {
			run ringer()
		}
	}
	_nr_pr == 1;
	assert(head == tail)
}
