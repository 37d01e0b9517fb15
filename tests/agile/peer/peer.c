// SPDX-License-Identifier: MIT
/* peer.c - a plugin of agile arrays: a second rank that says what it should not (peer.h) */
#include "peer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "transport.h"

struct peer agile_peer;

struct window {
	void *memory;
	uint64_t bytes;
};

static int open_group(void **group, unsigned int *rank, unsigned int *ranks)
{
	*group = &agile_peer;
	*rank = 0;
	*ranks = 2;
	return 0;
}

static void close_group(void *group, bool broken)
{
	(void)group;
	(void)broken;
}

static int gather(void *group, const void *mine, size_t bytes, void *all)
{
	struct peer *peer = group;

	memcpy(all, mine, bytes);
	memcpy((uint8_t *)all + bytes, mine, bytes);
	peer->exchanges++;
	if (peer->exchange == PEER_ALWAYS || peer->exchange == peer->exchanges)
		peer->lie(peer, (uint8_t *)all + bytes, bytes);
	return 0;
}

static int expose(void *group, void *memory, uint64_t bytes, void **out)
{
	struct window *window = calloc(1, sizeof(*window));

	(void)group;
	if (!window)
		return -ENOMEM;
	*window = (struct window){ memory, bytes };
	*out = window;
	return 0;
}

static void hide(void *group, void *window, bool broken)
{
	(void)group;
	(void)broken;
	free(window);
}

/* The elements of rank 1 are those of no one: they stay as they are. */
static int move(void *group, void *window, unsigned int rank, const struct agile_box *box,
		uint64_t offset, void *memory)
{
	(void)group;
	(void)window;
	(void)box;
	(void)offset;
	(void)memory;
	return rank < 2 ? 0 : -EINVAL;
}

static int put(void *group, void *window, unsigned int rank, const struct agile_box *box,
	       uint64_t offset, const void *from)
{
	return move(group, window, rank, box, offset, (void *)from);
}

static int each_window(void *group, void *window)
{
	(void)group;
	return window ? 0 : -EINVAL;
}

static int swap(void *group, void *opaque, unsigned int rank, uint64_t offset, uint64_t expected,
		uint64_t desired, uint64_t *seen)
{
	struct window *window = opaque;
	struct peer *peer = group;
	uint64_t *word = rank ? &peer->word : (uint64_t *)((uint8_t *)window->memory + offset);

	*seen = *word;
	if (*seen == expected)
		*word = desired;
	return 0;
}

static int progress(void *group)
{
	(void)group;
	return 0;
}

static const char *error(const void *group)
{
	(void)group;
	return "the peer";
}

extern const struct agile_transport salvo_agile_plugin;
const struct agile_transport salvo_agile_plugin = {
	.version = AGILE_TRANSPORT_VERSION,
	.open = open_group,
	.close = close_group,
	.gather = gather,
	.expose = expose,
	.hide = hide,
	.get = move,
	.put = put,
	.get_now = move,
	.lock = each_window,
	.unlock = each_window,
	.flush = each_window,
	.swap = swap,
	.progress = progress,
	.error = error,
};
