/* SPDX-License-Identifier: MIT */
/*
 * overlap.pml - commands that wait for commands of the batch before: device/overlap.c
 *
 * Two units finish the two elements of the first job. Each takes and closes the list of followers
 * of its element and drops what is in it, then puts its reference to the job; the last put ends
 * the job and gives the second one its turn. Meanwhile a thread links the second job to it, under
 * the lock: its command waits for both elements of the first job. The thread drops what it found
 * closed, and puts the reference that it took for that.
 *
 * The command runs once, after both elements, and the second job ends once, after the first and
 * after its command.
 *
 * Mutants, each of which must fail:
 *	LOOK_FIRST	the unit drops a list that it read before it closes it
 *	LINK_CLOSED	the thread adds to a list that is closed
 *	FORGET_CLOSED	the thread does not drop what it found closed
 *	NO_REFERENCE	the thread takes no reference
 */
#define CLOSED	2

bool done[2];
/* Of each element of the first job: empty, one pipe control, or CLOSED */
byte followers[2];
/* References of the first job: its elements. Of the second one: its command, and its turn. */
byte first_left = 2;
byte second_left = 2;
byte producers = 2;
byte runs;
bool first_over;
byte second_over;
bool locked, early;

inline put_second()
{
	atomic {
		assert(second_left > 0);
		second_left--;
		if
		:: second_left == 0 -> assert(first_over && runs == 1); second_over++
		:: else
		fi
	}
}

/* The pipe control is done: the last one runs the command. */
inline drop()
{
	atomic {
		producers--;
		if
		:: producers == 0 ->
			assert(done[0] && done[1]);
			runs++;
			put_second()
		:: else
		fi
	}
}

proctype unit(byte i)
{
	byte list;
	bool last;

	done[i] = true;
#ifdef LOOK_FIRST
	list = followers[i];
	followers[i] = CLOSED;
#else
	atomic {
		list = followers[i];
		followers[i] = CLOSED
	};
#endif
	if
	:: list == 1 -> drop()
	:: else
	fi;
	atomic {
		first_left--;
		last = first_left == 0
	};
	if
	:: last ->
		/* salvo_gpu_jobs_finish(), then salvo_gpu_job_start() of the second job */
		atomic { !locked -> locked = true };
		first_over = true;
		locked = false;
		if
		:: !early -> drop(); drop()
		:: else
		fi;
		put_second()
	:: else
	fi
}

proctype submit()
{
	byte head, i, met;

	atomic { !locked -> locked = true };
	if
	:: first_over -> locked = false
	:: else ->
		early = true;
#ifndef NO_REFERENCE
		second_left++;
#endif
		do
		:: i < 2 ->
			head = followers[i];
#ifndef LINK_CLOSED
			if
			:: head == CLOSED -> met++; i++
			:: else ->
#endif
				/* The exchange fails if the list has changed. */
				atomic {
					if
					:: followers[i] == head -> followers[i] = 1; i++
					:: else
					fi
				}
#ifndef LINK_CLOSED
			fi
#endif
		:: else -> break
		od;
		locked = false;
#ifndef FORGET_CLOSED
		do
		:: met > 0 -> drop(); met--
		:: else -> break
		od;
#endif
#ifdef NO_REFERENCE
		/* It touches the job to the end. */
		assert(!second_over)
#else
		assert(!second_over);
		put_second()
#endif
	fi
}

init
{
	atomic {
		run unit(0);
		run unit(1);
		run submit()
	};
	timeout;
	assert(first_over && second_over == 1 && runs == 1)
}
