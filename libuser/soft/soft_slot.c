// SPDX-License-Identifier: MIT
/* soft_slot.c - slots of the embedded GPU: function calls to it */
#include <errno.h>

#include "soft_device.h"

int salvo_soft_slot_attach(struct salvo_winsys_slot *slot)
{
	const struct soft_queue *queue = to_soft_queue(slot->queue);
	struct soft_device *dev = to_soft_device(slot->queue->device);
	const uint64_t allowed = queue->eu_mask ? queue->eu_mask : ~0ull;
	const struct salvo_gpu_slot_config config = {
		.asid = SOFT_ASID,
		.priority = queue->priority,
		.units = slot->units,
		.address = salvo_bo_address(slot->bo),
		.ended = slot->ended,
		.cookie = slot->cookie,
	};
	int number;

	if (slot->units & ~allowed)
		return -EINVAL;
	number = salvo_gpu_slot_attach(dev->gpu, &config);
	if (number < 0)
		return number;
	slot->number = number;
	return 0;
}

void salvo_soft_slot_detach(struct salvo_winsys_slot *slot)
{
	salvo_gpu_slot_detach(to_soft_device(slot->queue->device)->gpu, slot->number);
}

void salvo_soft_slot_wake(struct salvo_winsys_slot *slot)
{
	salvo_gpu_slot_wake(to_soft_device(slot->queue->device)->gpu, slot->number);
}
