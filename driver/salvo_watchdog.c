// SPDX-License-Identifier: GPL-2.0-only
/*
 * salvo_watchdog.c - is the GPU alive, and does a batch hang?
 *
 * Looks five times a second, as long as the driver is bound and the system awake. A GPU
 * whose heartbeat stops, or that is another generation, is given up. What the units do
 * tells salvo_hang.c of each batch on the rings for how long it has run; one that has run
 * for too long is ended. What that takes is in salvo_reset.c.
 *
 * Runs on the ordered sdev->wq, which is all the lock that it needs.
 */
#include <linux/jiffies.h>
#include <linux/moduleparam.h>

#include "salvo_device.h"
#include "salvo_hang.h"
#include "salvo_reset.h"
#include "salvo_ring.h"
#include "salvo_watchdog.h"

/* Between looks, and how many may go by without a heartbeat: together less than a second. */
#define SALVO_WATCHDOG_JIFFIES	max(1, HZ / 5)
#define SALVO_WATCHDOG_MISSES	4

static unsigned int timeout_ms = 2000;
module_param(timeout_ms, uint, 0444);
MODULE_PARM_DESC(timeout_ms, "Milliseconds that a batch may run before it is taken for hung, 0 for ever (default: 2000)");

static bool salvo_watchdog_is_alive(struct salvo_dev *sdev)
{
	u32 heartbeat = salvo_mmio_read_heartbeat(&sdev->mmio);

	sdev->heartbeat_misses = heartbeat == sdev->heartbeat ? sdev->heartbeat_misses + 1 : 0;
	sdev->heartbeat = heartbeat;
	return sdev->heartbeat_misses < SALVO_WATCHDOG_MISSES && !salvo_mmio_is_lost(&sdev->mmio);
}

/*
 * A unit that says it works for what is on no ring is taken for idle: a device that lies, or
 * says what was true a moment ago, could else keep the oldest batch waiting for ever.
 */
static void salvo_watchdog_read_units(struct salvo_dev *sdev)
{
	unsigned int i;

	salvo_mmio_read_units(&sdev->mmio, sdev->units);
	for (i = 0; i < sdev->mmio.units; i++)
		if (!salvo_ring_find(sdev, sdev->units[i].ctx, sdev->units[i].seqno))
			sdev->units[i].state = SALVO_UNIT_IDLE;
}

static void salvo_watchdog_look_for_hang(struct salvo_dev *sdev)
{
	u32 limit = DIV_ROUND_UP(msecs_to_jiffies(timeout_ms), SALVO_WATCHDOG_JIFFIES);
	struct salvo_hang guilty;
	struct salvo_ring *ring;

	if (!limit)
		return;
	salvo_watchdog_read_units(sdev);
	salvo_for_each_ring(sdev, ring)
		if (salvo_ring_look_for_hang(ring, sdev->units, limit, &guilty))
			salvo_reset_hung(sdev, &guilty);
}

/** salvo_watchdog_work() - A look. */
void salvo_watchdog_work(struct work_struct *work)
{
	struct salvo_dev *sdev = container_of(work, struct salvo_dev, watchdog.work);

	if (salvo_device_is_gone(sdev))
		return;
	if (!salvo_watchdog_is_alive(sdev)) {
		salvo_reset_silent(sdev);
		return;
	}
	salvo_watchdog_look_for_hang(sdev);
	if (!salvo_device_is_gone(sdev))
		queue_delayed_work(sdev->wq, &sdev->watchdog, SALVO_WATCHDOG_JIFFIES);
}

/** salvo_watchdog_start() - From now on look. */
void salvo_watchdog_start(struct salvo_dev *sdev)
{
	sdev->heartbeat = salvo_mmio_read_heartbeat(&sdev->mmio);
	queue_delayed_work(sdev->wq, &sdev->watchdog, SALVO_WATCHDOG_JIFFIES);
}
