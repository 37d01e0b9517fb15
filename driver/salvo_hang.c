// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * salvo_hang.c - run time of batches
 *
 * The run time of a batch is counted in samples of the units' activity instead of time, so
 * that a paused VM does not expire a timeout. A sample counts if a unit works for the
 * batch, wherever the batch is on its ring. While the units work for other batches it
 * waits, and the sample does not count. If it is the oldest of its ring and none of the
 * units that it may use is busy, either its fence was lost, or the host is too busy to
 * run the units: such a sample counts half.
 *
 * The activity is only a hint, since it is written by processes that run kernels. A unit
 * that falsely claims to work for another batch has the sample counted against that
 * batch. As each batch is counted once, the batches of a ring delay the others no longer
 * than if each of them hung.
 *
 * Freestanding C: compiled into salvo.ko and into libsalvo. It takes no lock.
 */
#include "salvo_hang.h"

__u32 salvo_hang_sample(struct salvo_hang *batch, bool oldest, const struct salvo_unit_regs *units,
			__u32 count)
{
	bool held = false;
	__u32 i;

	for (i = 0; i < count; i++) {
		if (units[i].state != SALVO_UNIT_BUSY)
			continue;
		if (units[i].ctx == batch->ctx && units[i].seqno == batch->seqno)
			return (batch->half_samples += 2) / 2;
		held |= !batch->eu_mask || batch->eu_mask >> i & 1;
	}
	if (oldest && !held)
		batch->half_samples++;
	return batch->half_samples / 2;
}
