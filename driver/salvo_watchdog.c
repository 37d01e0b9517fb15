// SPDX-License-Identifier: GPL-2.0-only
/*
 * salvo_watchdog.c - detection of a dead GPU and of hung batches
 *
 * Takes a sample five times a second while the driver is bound and the system awake. A
 * GPU whose heartbeat stops for heartbeat_timeout_ms, or whose generation changes, is wedged;
 * after half of that time the GPU's doorbell is rung, in case that it sleeps. From the activity of
 * the execution units salvo_hang.c counts for how many samples each batch on the rings has
 * run; one that exceeds the timeout is killed. salvo_reset.c does both. Tasks of slots have the
 * same limit (salvo_slot.c).
 *
 * Locks: runs on the ordered sdev->wq, which protects all of its state.
 */
#include <linux/jiffies.h>
#include <linux/moduleparam.h>

#include "salvo_ctx.h"
#include "salvo_device.h"
#include "salvo_hang.h"
#include "salvo_reset.h"
#include "salvo_ring.h"
#include "salvo_slot.h"
#include "salvo_watchdog.h"

#define SALVO_WATCHDOG_JIFFIES	max(1, HZ / 5)

static unsigned int timeout_ms = 2000;
module_param(timeout_ms, uint, 0644);
MODULE_PARM_DESC(timeout_ms, "Run time in milliseconds after which a batch is considered hung, 0 for no limit (default: 2000)");

static unsigned int heartbeat_timeout_ms = 4000;
module_param(heartbeat_timeout_ms, uint, 0444);
MODULE_PARM_DESC(heartbeat_timeout_ms, "Time in milliseconds without a heartbeat after which the GPU is considered dead (default: 4000)");

static unsigned int salvo_watchdog_samples(unsigned int ms)
{
	return DIV_ROUND_UP(msecs_to_jiffies(ms), SALVO_WATCHDOG_JIFFIES);
}

/** salvo_watchdog_heartbeat_ms() - Time without a heartbeat after which the GPU is dead. */
unsigned int salvo_watchdog_heartbeat_ms(void)
{
	return max(heartbeat_timeout_ms, 400u);
}

/*
 * On a starved host the heartbeat may stop for a while. It is checked a second time after
 * half of the timeout, with a doorbell, before the GPU is declared dead after all of it.
 */
static bool salvo_watchdog_is_alive(struct salvo_dev *sdev)
{
	unsigned int limit = salvo_watchdog_samples(salvo_watchdog_heartbeat_ms());
	u32 heartbeat = salvo_mmio_read_heartbeat(&sdev->mmio);

	sdev->heartbeat_misses = heartbeat == sdev->heartbeat ? sdev->heartbeat_misses + 1 : 0;
	sdev->heartbeat = heartbeat;
	if (sdev->heartbeat_misses == DIV_ROUND_UP(limit, 2)) {
		drm_notice(&sdev->drm, "no heartbeat for %u ms, checking again\n",
			   salvo_watchdog_heartbeat_ms() / 2);
		salvo_mmio_ring_doorbell(&sdev->mmio, SALVO_DOORBELL_RING(0));
	}
	return sdev->heartbeat_misses < limit && !salvo_mmio_is_lost(&sdev->mmio);
}

/*
 * A unit that claims to work for a batch that is not pending counts as idle. Otherwise
 * stale or false claims could keep the oldest batch from ever timing out.
 */
static void salvo_watchdog_read_units(struct salvo_dev *sdev)
{
	unsigned int i;

	salvo_mmio_read_units(&sdev->mmio, sdev->units);
	for (i = 0; i < sdev->mmio.units; i++)
		if (!salvo_ring_find(sdev, sdev->units[i].ctx, sdev->units[i].seqno))
			sdev->units[i].state = SALVO_UNIT_IDLE;
}

static void salvo_watchdog_check_hang(struct salvo_dev *sdev)
{
	u32 limit = salvo_watchdog_samples(READ_ONCE(timeout_ms));
	struct salvo_hang guilty;
	struct salvo_ring *ring;
	struct salvo_ctx *ctx;

	/* Units that did not run, as the host was starved, do not count either. */
	if (!limit || sdev->heartbeat_misses)
		return;
	salvo_watchdog_read_units(sdev);
	salvo_for_each_ring(sdev, ring)
		if (salvo_ring_sample_hang(ring, sdev->units, limit, &guilty))
			salvo_reset_hung(sdev, &guilty);
	ctx = salvo_slot_sample_hang(sdev, limit);
	if (ctx) {
		salvo_reset_hung_slot(sdev, ctx);
		salvo_ctx_put(ctx);
	}
}

/** salvo_watchdog_work() - Take a sample. */
void salvo_watchdog_work(struct work_struct *work)
{
	struct salvo_dev *sdev = container_of(work, struct salvo_dev, watchdog.work);

	if (salvo_device_is_gone(sdev) || READ_ONCE(sdev->suspended))
		return;
	if (!salvo_watchdog_is_alive(sdev)) {
		salvo_reset_unresponsive(sdev);
		return;
	}
	salvo_watchdog_check_hang(sdev);
	if (!salvo_device_is_gone(sdev))
		queue_delayed_work(sdev->wq, &sdev->watchdog, SALVO_WATCHDOG_JIFFIES);
}

/** salvo_watchdog_start() - Start sampling. */
void salvo_watchdog_start(struct salvo_dev *sdev)
{
	sdev->heartbeat = salvo_mmio_read_heartbeat(&sdev->mmio);
	queue_delayed_work(sdev->wq, &sdev->watchdog, SALVO_WATCHDOG_JIFFIES);
}
