// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * salvo_hang.c - which batch hangs
 *
 * A batch may run for a time, which is counted in looks at what the units do: a machine
 * that did not run who looks did not run the units either. Only time in which it could
 * run counts: while the units that it may use work for others it waits, for however
 * long, and is not to blame. Two things hang:
 *
 * - The oldest batch of a ring, for whose fence all others of the ring wait, when it has had
 *   its time: looks at which a unit worked for it, or at which no unit that it may use
 *   worked at all, as its fence is late or lost.
 * - Any batch with a work-group that a unit has not come away from for that time. It may
 *   keep the units from the oldest one without coming to be it.
 *
 * What units say is a hint. One that lies gets its own context killed, or gains for it
 * what it has anyway, the use of a unit.
 *
 * Freestanding C: compiled into salvo.ko and into libsalvo. It takes no lock.
 */
#include "salvo_hang.h"

#ifdef __KERNEL__
#include <linux/string.h>
#else
#include <string.h>
#endif

static bool is_of(const struct salvo_unit_regs *unit, const struct salvo_hang_batch *batch)
{
	return unit->ctx == batch->ctx && unit->seqno == batch->seqno;
}

/* Does a unit work for the batch, or could one, as far as others are concerned? */
static bool could_run(const struct salvo_hang_batch *batch, const struct salvo_unit_regs *units,
		      __u32 count)
{
	bool held = false;
	__u32 i;

	for (i = 0; i < count; i++) {
		if (units[i].state != SALVO_UNIT_BUSY)
			continue;
		if (is_of(&units[i], batch))
			return true;
		held |= !batch->eu_mask || batch->eu_mask >> i & 1;
	}
	return !held;
}

bool salvo_hang_look(struct salvo_hang *hang, const struct salvo_hang_batch *oldest,
		     const struct salvo_unit_regs *units, __u32 count, __u32 limit,
		     struct salvo_hang_batch *guilty)
{
	bool found = false;
	__u32 i;

	for (i = 0; i < SALVO_MAX_RINGS; i++) {
		const struct salvo_hang_batch *batch = &oldest[i];

		if (hang->oldest[i].batch.ctx != batch->ctx ||
		    hang->oldest[i].batch.seqno != batch->seqno) {
			hang->oldest[i].batch = *batch;
			hang->oldest[i].looks = 0;
		} else if (batch->ctx && could_run(batch, units, count) &&
			   ++hang->oldest[i].looks >= limit) {
			*guilty = *batch;
			found = true;
		}
	}
	/* Rather one that keeps a unit than one that has none. */
	for (i = 0; i < count; i++) {
		if (units[i].state != SALVO_UNIT_BUSY ||
		    memcmp(&hang->unit[i].regs, &units[i], sizeof(units[i]))) {
			hang->unit[i].regs = units[i];
			hang->unit[i].looks = 0;
		} else if (++hang->unit[i].looks >= limit) {
			guilty->ctx = units[i].ctx;
			guilty->seqno = units[i].seqno;
			found = true;
		}
	}
	return found;
}
