// SPDX-License-Identifier: MIT
/* soft_slot.c - slots of the embedded GPU: function calls to it */
#include <errno.h>

#include "soft_device.h"

static void count_slots(struct soft_device *dev, int by)
{
	pthread_mutex_lock(&dev->lock);
	dev->public->slots += by;
	pthread_mutex_unlock(&dev->lock);
}

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
	count_slots(dev, 1);
	return 0;
}

void salvo_soft_slot_detach(struct salvo_winsys_slot *slot)
{
	struct soft_device *dev = to_soft_device(slot->queue->device);

	salvo_gpu_slot_detach(dev->gpu, slot->number);
	count_slots(dev, -1);
}

void salvo_soft_slot_wake(struct salvo_winsys_slot *slot)
{
	salvo_gpu_slot_wake(to_soft_device(slot->queue->device)->gpu, slot->number);
}
