// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * salvo_hang.c - does a batch hang?
 *
 * A batch may run for a time, which is counted in looks at what the units do: a machine
 * that did not run who looks did not run the units either. A look counts if a unit works
 * for the batch, wherever it stands on its ring. While the units work for others it waits,
 * for however long, and is not to blame. If it is the oldest of its ring, for whose fence
 * all others wait, and none of the units that it may use works, its fence is late or lost,
 * or the host is too busy to let the units begin: such a look counts half.
 *
 * What units say is a hint, for it is kernels that run on them. One that says it works for
 * another batch gets the look counted against that; and as each batch has its time once,
 * those on a ring hold up the others no longer than if each of them hung.
 *
 * Freestanding C: compiled into salvo.ko and into libsalvo. It takes no lock.
 */
#include "salvo_hang.h"

__u32 salvo_hang_look(struct salvo_hang *batch, bool oldest, const struct salvo_unit_regs *units,
		      __u32 count)
{
	bool held = false;
	__u32 i;

	for (i = 0; i < count; i++) {
		if (units[i].state != SALVO_UNIT_BUSY)
			continue;
		if (units[i].ctx == batch->ctx && units[i].seqno == batch->seqno)
			return (batch->halves += 2) / 2;
		held |= !batch->eu_mask || batch->eu_mask >> i & 1;
	}
	if (oldest && !held)
		batch->halves++;
	return batch->halves / 2;
}
