// SPDX-License-Identifier: GPL-2.0-only
/*
 * salvo_client.c - processes that use the GPU, and their share of the rings
 *
 * Contexts and files are cheap, so a share for each of them would give a process with many
 * files most of the GPU. Shares are those of clients: of processes, as they open files.
 *
 * While clients compete for a ring, each has one batch on it. While the contexts of a
 * single client compete, it has at most SALVO_CLIENT_BATCHES there, so that the GPU has
 * enough to overlap. That bounds the share of the units and of the ring that a client has whose
 * batches do not end: they are found hung after the timeout, and those that were on the ring
 * together with the first one after one more sample each (salvo_ring.c).
 *
 * Locks: sdev->clients_lock protects the list of clients and the last put. The scheduler of
 * a ring owns the fences of that ring, and the turn while the client is busy.
 */
#include <linux/dma-fence.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "salvo_client.h"
#include "salvo_device.h"
#include "salvo_ring.h"

/**
 * salvo_client_get() - Get the client of the current process.
 * @sdev: The device.
 *
 * Return: the client, with a reference, or NULL if there is no memory.
 */
struct salvo_client *salvo_client_get(struct salvo_dev *sdev)
{
	struct salvo_client *client, *other;

	client = kzalloc(sizeof(*client), GFP_KERNEL_ACCOUNT);
	if (!client)
		return NULL;
	kref_init(&client->ref);
	client->pid = get_pid(task_tgid(current));
	spin_lock(&sdev->clients_lock);
	list_for_each_entry(other, &sdev->client_list, node) {
		if (other->pid == client->pid) {
			kref_get(&other->ref);
			spin_unlock(&sdev->clients_lock);
			put_pid(client->pid);
			kfree(client);
			return other;
		}
	}
	list_add(&client->node, &sdev->client_list);
	spin_unlock(&sdev->clients_lock);
	return client;
}

static void salvo_client_free(struct salvo_client *client)
{
	unsigned int ring, i;

	for (ring = 0; ring < SALVO_MAX_RINGS; ring++)
		for (i = 0; i < SALVO_CLIENT_BATCHES; i++)
			dma_fence_put(client->rings[ring].last[i]);
	put_pid(client->pid);
	kfree(client);
}

static void salvo_client_release(struct kref *ref)
{
	list_del(&container_of(ref, struct salvo_client, ref)->node);
}

/** salvo_client_put() - Drop a reference. */
void salvo_client_put(struct salvo_dev *sdev, struct salvo_client *client)
{
	bool last;

	spin_lock(&sdev->clients_lock);
	last = kref_put(&client->ref, salvo_client_release);
	spin_unlock(&sdev->clients_lock);
	if (last)
		salvo_client_free(client);
}

/** salvo_client_begin_job() - Count a batch that is about to be queued for a ring. */
void salvo_client_begin_job(struct salvo_client *client, struct salvo_ring *ring)
{
	if (atomic_inc_return(&client->rings[ring->index].queued) > 1)
		return;
	atomic_inc(&ring->busy_clients);
	/* A client that was idle is not ahead of those that wait since. */
	WRITE_ONCE(client->rings[ring->index].turn, READ_ONCE(ring->batches));
}

/** salvo_client_end_job() - Count a batch that has ended. */
void salvo_client_end_job(struct salvo_client *client, struct salvo_ring *ring)
{
	if (atomic_dec_and_test(&client->rings[ring->index].queued))
		atomic_dec(&ring->busy_clients);
}

static bool salvo_client_is_pending(struct dma_fence *fence)
{
	return fence && !dma_fence_is_signaled(fence);
}

/**
 * salvo_client_limit() - May a client put one more batch on a ring?
 * @client: The client.
 * @ring: The ring, for which contexts compete.
 *
 * Return: NULL, or a fence of the client that must signal before: that of its oldest batch. When
 * it does, there is room for one of the contexts that wait, whatever others have put on the ring.
 */
struct dma_fence *salvo_client_limit(const struct salvo_client *client,
				     const struct salvo_ring *ring)
{
	unsigned int limit = atomic_read(&ring->busy_clients) > 1 ? 1 : SALVO_CLIENT_BATCHES;
	struct dma_fence *const *last = client->rings[ring->index].last;
	struct dma_fence *oldest = NULL;
	unsigned int pending = 0, i;

	for (i = 0; i < SALVO_CLIENT_BATCHES; i++) {
		if (salvo_client_is_pending(last[i])) {
			oldest = oldest ?: last[i];
			pending++;
		}
	}
	return pending >= limit ? oldest : NULL;
}

/**
 * salvo_client_add_fence() - Remember the fence of a batch that was put on a ring.
 * @client: The client.
 * @ring: The ring.
 * @fence: Hardware fence of the batch.
 * @number: Its number on the ring.
 */
void salvo_client_add_fence(struct salvo_client *client, const struct salvo_ring *ring,
			    struct dma_fence *fence, u64 number)
{
	struct dma_fence **last = client->rings[ring->index].last;
	unsigned int i = 0;

	/* In place of one that has signalled, or of the oldest. */
	while (i < SALVO_CLIENT_BATCHES && salvo_client_is_pending(last[i]))
		i++;
	i %= SALVO_CLIENT_BATCHES;
	dma_fence_put(last[i]);
	for (; i < SALVO_CLIENT_BATCHES - 1; i++)
		last[i] = last[i + 1];
	last[i] = dma_fence_get(fence);
	WRITE_ONCE(client->rings[ring->index].turn, number);
}
