// SPDX-License-Identifier: MIT
/*
 * ranks.c - one program in several processes, the ranks, each with nodes of its own
 *
 * Each rank runs the same calls in the same order and knows all maps, so that it can tell who
 * stores and who computes what; it keeps the memory, the queues and the copies of its own nodes
 * alone. A node numbers all ranks' nodes, those of rank 0 first.
 *
 * Blocks of other ranks are fetched: if others may still be writing them the ranks meet
 * (agile_settle()), and then each copies what it lacks out of the memory of the others. A
 * statement whose tasks find everything on their own rank does not meet anybody.
 *
 * Wherever ranks meet they exchange at which call they are, how often they have met and whether
 * one has failed. So an error of one rank is returned by all, and ranks that are at different calls
 * get an error instead of waiting for each other for ever; the group is broken then, and
 * nothing waits for other ranks any more.
 */
#include "ranks.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "direct.h"
#include "move.h"

static const char *const call_names[] = {
	[AGILE_CALL_CREATE] = "salvo_agile_create_ranks()",
	[AGILE_CALL_DESTROY] = "salvo_agile_destroy()",
	[AGILE_CALL_WAIT] = "salvo_agile_wait()",
	[AGILE_CALL_FIELD_CREATE] = "salvo_agile_field_create()",
	[AGILE_CALL_FIELD_DESTROY] = "salvo_agile_field_destroy()",
	[AGILE_CALL_FORALL] = "salvo_agile_forall()",
	[AGILE_CALL_MOVE_MEMORY] = "salvo_agile_move_memory()",
	[AGILE_CALL_REDISTRIBUTE] = "salvo_agile_redistribute()",
	[AGILE_CALL_TILE_OPEN] = "salvo_agile_tile_open()",
	[AGILE_CALL_TILE_CLOSE] = "salvo_agile_tile_close()",
	[AGILE_CALL_SORT] = "salvo_agile_sort()",
};

/** struct meeting - What a rank says of itself where ranks meet. */
struct meeting {
	uint64_t serial;
	uint32_t call;
	int32_t err;
	uint32_t flags;
	char text[172];
};

int agile_ranks_broken(struct salvo_agile *agile, int err)
{
	agile->ranks->broken = true;
	return agile_fail(agile, err, "rank %u: %s", agile->ranks->rank,
			  agile->ranks->ops->error(agile->ranks->group));
}

int agile_ranks_refuse(struct salvo_agile *agile, unsigned int rank, const char *what)
{
	agile->ranks->broken = true;
	return agile_fail(agile, -EPROTO, "rank %u says %s: is it the same program?", rank, what);
}

/* --- joining -------------------------------------------------------------------- */

static int load(const char *plugin, const struct agile_transport **out)
{
	char name[64];
	void *library;

	if (!*plugin || strchr(plugin, '/') ||
	    snprintf(name, sizeof(name), "libsalvo-agile-%s.so.1", plugin) >= (int)sizeof(name))
		return -EINVAL;
	/* Never unloaded: what it uses has exit handlers and threads. */
	library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	*out = library ? dlsym(library, "salvo_agile_plugin") : NULL;
	if (!*out)
		return -ENOENT;
	return (*out)->version == AGILE_TRANSPORT_VERSION ? 0 : -ELIBBAD;
}

/* Which others can take tasks from. */
static int make_queues(struct salvo_agile *agile)
{
	struct agile_ranks *ranks = agile->ranks;
	int err;

	ranks->queues = calloc(ranks->most, sizeof(*ranks->queues));
	err = ranks->queues ? ranks->ops->expose(ranks->group, ranks->queues,
						 ranks->most * sizeof(*ranks->queues),
						 &ranks->queue_window) : -ENOMEM;
	ranks->broken = err;
	return err;
}

int agile_ranks_join(struct salvo_agile *agile, const char *plugin, unsigned int nodes)
{
	struct agile_ranks *ranks = calloc(1, sizeof(*ranks));
	uint32_t mine = nodes, *all;
	unsigned int r;
	int err;

	if (!ranks)
		return -ENOMEM;
	err = load(plugin, &ranks->ops);
	if (!err)
		err = ranks->ops->open(&ranks->group, &ranks->rank, &ranks->count);
	if (err) {
		free(ranks);
		return err;
	}
	agile->ranks = ranks;
	all = calloc(ranks->count, sizeof(*all));
	ranks->first = calloc(ranks->count + 1, sizeof(*ranks->first));
	err = ranks->first && all ? ranks->ops->gather(ranks->group, &mine, sizeof(mine), all) :
				    -ENOMEM;
	ranks->broken = err;
	for (r = 0; r < ranks->count && !err; r++) {
		if (!all[r] || all[r] > AGILE_MOST_NODES - ranks->first[r])
			err = -EINVAL;
		ranks->first[r + 1] = ranks->first[r] + all[r];
		ranks->most = all[r] > ranks->most ? all[r] : ranks->most;
	}
	free(all);
	if (err) {
		agile_ranks_leave(agile);
		return err;
	}
	ranks->extra = ranks->most * sizeof(struct salvo_agile_stats);
	if (ranks->extra < sizeof(struct salvo_agile_grid))
		ranks->extra = sizeof(struct salvo_agile_grid);
	err = agile_direct_init(agile);
	ranks->broken |= err;
	if (!err)
		err = make_queues(agile);
	if (err) {
		agile_ranks_leave(agile);
		return err;
	}
	agile->first = ranks->first[ranks->rank];
	agile->count = ranks->first[ranks->count];
	return 0;
}

void agile_ranks_leave(struct salvo_agile *agile)
{
	struct agile_ranks *ranks = agile->ranks;

	if (!ranks)
		return;
	agile->ranks = NULL;
	if (ranks->queue_window)
		ranks->ops->hide(ranks->group, ranks->queue_window, ranks->broken);
	free(ranks->queues);
	ranks->ops->close(ranks->group, ranks->broken);
	free(ranks->first);
	free(ranks->pids);
	free(ranks);
}

/* --- meeting -------------------------------------------------------------------- */

/* What rank @r said, as far as it is a struct meeting at all. */
static const struct meeting *said(struct meeting *all, size_t size, unsigned int r)
{
	struct meeting *meeting = (struct meeting *)((uint8_t *)all + r * size);

	meeting->text[sizeof(meeting->text) - 1] = 0;
	if (meeting->err > 0 || meeting->err == INT32_MIN)
		meeting->err = -EPROTO;
	return meeting;
}

static int compare_meetings(struct salvo_agile *agile, struct meeting *all, size_t size, int err,
			    uint32_t *flags)
{
	struct agile_ranks *ranks = agile->ranks;
	const struct meeting *mine = said(all, size, ranks->rank), *other;
	unsigned int r;

	for (r = 0; r < ranks->count; r++) {
		other = said(all, size, r);
		if (other->call == mine->call && other->serial == mine->serial)
			continue;
		ranks->broken = true;
		return agile_fail(agile, -EPROTO, "rank %u is at %s, rank %u at %s%s%s",
				  ranks->rank, call_names[mine->call], r,
				  other->call < AGILE_CALLS ?
				  call_names[other->call] : "?",
				  *other->text ? ": " : "", other->text);
	}
	for (r = 0; r < ranks->count && !err; r++) {
		other = said(all, size, r);
		if (other->err)
			return agile_fail(agile, other->err, "rank %u: %s", r,
					  *other->text ? other->text : strerror(-other->err));
		if (flags)
			*flags |= other->flags;
	}
	return err;
}

int agile_agree(struct salvo_agile *agile, enum agile_call call, int err, uint32_t *flags)
{
	return agile_agree_with(agile, call, err, flags, NULL, 0, NULL);
}

int agile_agree_with(struct salvo_agile *agile, enum agile_call call, int err, uint32_t *flags,
		     const void *mine, size_t bytes, void *all)
{
	struct agile_ranks *ranks = agile->ranks;
	struct meeting meeting = { .call = call, .err = err, .flags = flags ? *flags : 0 };
	struct meeting *sent = NULL, *got = NULL;
	size_t size;
	unsigned int r;

	if (!ranks)
		return err;
	if (ranks->broken)
		return err ? err : agile_fail(agile, -EPROTO,
					      "%s: an error before has separated the ranks",
					      call_names[call]);
	meeting.serial = ++ranks->serial;
	/* The last message may explain why this rank is at another call than the others. */
	snprintf(meeting.text, sizeof(meeting.text), "%.*s", (int)sizeof(meeting.text) - 1,
		 agile->error);
	/* All ranks send as much, whatever their call is. */
	size = sizeof(meeting) + ranks->extra;
	sent = calloc(1, size);
	got = calloc(ranks->count, size);
	if (!sent || !got) {
		ranks->broken = true;
		err = agile_fail(agile, -ENOMEM, "out of memory");
		goto out;
	}
	*sent = meeting;
	if (bytes)
		memcpy(sent + 1, mine, bytes);
	if (ranks->ops->gather(ranks->group, sent, size, got))
		err = agile_ranks_broken(agile, -EIO);
	else
		err = compare_meetings(agile, got, size, err, flags);
	for (r = 0; r < ranks->count && bytes && !err; r++)
		memcpy((uint8_t *)all + r * bytes, said(got, size, r) + 1, bytes);
out:
	free(sent);
	free(got);
	return err;
}

int agile_gather(struct salvo_agile *agile, const void *mine, size_t bytes, void *all)
{
	struct agile_ranks *ranks = agile->ranks;

	if (!ranks) {
		memcpy(all, mine, bytes);
		return 0;
	}
	return ranks->ops->gather(ranks->group, mine, bytes, all) ?
	       agile_ranks_broken(agile, -EIO) : 0;
}

/* --- windows ---------------------------------------------------------------------- */

int agile_expose(struct salvo_agile_field *field)
{
	struct salvo_agile *agile = field->agile;
	struct agile_ranks *ranks = agile->ranks;
	unsigned int k;
	int err;

	for (k = 0; k < ranks->most; k++) {
		struct agile_storage *storage = k < agile->local ?
						&field->storage[agile->first + k] : NULL;

		err = ranks->ops->expose(ranks->group, storage ? storage->map : NULL,
					 storage ? storage->bytes : 0, &field->windows[k]);
		if (err)
			return agile_ranks_broken(agile, err);
	}
	return 0;
}

void agile_hide(struct salvo_agile_field *field)
{
	struct agile_ranks *ranks = field->agile->ranks;
	unsigned int k;

	for (k = 0; field->windows && k < ranks->most; k++)
		if (field->windows[k])
			ranks->ops->hide(ranks->group, field->windows[k], ranks->broken);
	free(field->windows);
	field->windows = NULL;
}

static int each_window(struct salvo_agile_field *field, int (*call)(void *group, void *window))
{
	const struct agile_ranks *ranks = field->agile->ranks;
	unsigned int k;
	int err = 0;

	for (k = 0; !field->direct && k < ranks->most && !err; k++)
		err = call(ranks->group, field->windows[k]);
	return err ? agile_ranks_broken(field->agile, err) : 0;
}

int agile_access_begin(struct salvo_agile_field *field)
{
	return each_window(field, field->agile->ranks->ops->lock);
}

int agile_access_end(struct salvo_agile_field *field)
{
	return each_window(field, field->agile->ranks->ops->unlock);
}

unsigned int agile_rank_of(const struct agile_ranks *ranks, unsigned int node)
{
	unsigned int low = 0, high = ranks->count;

	while (high - low > 1) {
		const unsigned int middle = (low + high) / 2;

		if (ranks->first[middle] <= node)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Where an owner on another rank stores a grid of a block. */
static unsigned int find_remote(struct salvo_agile_field *field, uint32_t block,
				const struct salvo_agile_grid *grid, void **window,
				struct agile_part *part)
{
	const struct agile_ranks *ranks = field->agile->ranks;
	const unsigned int owner = agile_block_node(field, block);
	const unsigned int rank = agile_rank_of(ranks, owner);

	*window = field->windows[owner - ranks->first[rank]];
	agile_block_place(field, block, part);
	part->offset += agile_offset(&part->grid, grid, part->stride) * field->info.element_bytes;
	return rank;
}

static uint64_t offset_in(const struct agile_part *part, const struct salvo_agile_grid *grid,
			  size_t element)
{
	return part->offset + agile_offset(&part->grid, grid, part->stride) * element;
}

int agile_put(struct salvo_agile_field *field, uint32_t block,
	      const struct salvo_agile_grid *grid, const struct agile_part *from,
	      const void *memory)
{
	const struct agile_ranks *ranks = field->agile->ranks;
	const size_t element = field->info.element_bytes;
	struct agile_part to;
	struct agile_box box;
	unsigned int rank;
	void *window;
	int err;

	rank = find_remote(field, block, grid, &window, &to);
	agile_make_box(&box, &to, from, grid, element);
	err = ranks->ops->put(ranks->group, window, rank, &box, to.offset,
			      (const uint8_t *)memory + offset_in(from, grid, element));
	return err ? agile_ranks_broken(field->agile, err) : 0;
}

/* --- fetching --------------------------------------------------------------------- */

int agile_fetch_add(struct agile_fetches *fetches, const struct agile_fetch *fetch)
{
	if (fetches->count == fetches->capacity) {
		const unsigned int capacity = 2 * fetches->capacity + 16;
		struct agile_fetch *all = realloc(fetches->all, capacity * sizeof(*all));

		if (!all)
			return agile_fail(fetch->field->agile, -ENOMEM, "out of memory");
		fetches->all = all;
		fetches->capacity = capacity;
	}
	fetches->all[fetches->count++] = *fetch;
	return 0;
}

struct wanted {
	struct agile_fetches *fetches;
	struct salvo_agile_field *field;
	unsigned int node;
	int pending;
};

static int want_block(void *data, uint32_t block, const struct salvo_agile_grid *common)
{
	struct wanted *wanted = data;
	struct salvo_agile_field *field = wanted->field;
	struct agile_fetch fetch = { .field = field, .block = block, .node = wanted->node };
	struct agile_copy *copy;
	int err;

	(void)common;
	if (agile_is_local(field->agile, agile_block_node(field, block)))
		return 0;
	err = agile_copy_find(field, block, wanted->node, &fetch.copy);
	if (err)
		return err;
	copy = &field->copies[fetch.copy];
	/* Its GPU copies it, when it is written. */
	if (field->direct) {
		wanted->pending |= !copy->valid && agile_dirty(field);
		return 0;
	}
	if (copy->valid) {
		wanted->pending |= copy->pending;
		return 0;
	}
	fetch.grid = field->blocks[block].grid;
	fetch.to = (struct agile_part){ .bo = copy->bo, .grid = fetch.grid };
	agile_strides(&fetch.grid, fetch.to.stride);
	err = agile_fetch_add(wanted->fetches, &fetch);
	if (err)
		return err;
	/* Others of this statement that want it find it. */
	copy->valid = copy->pending = true;
	wanted->pending = 1;
	return 0;
}

int agile_fetch_region(struct agile_fetches *fetches, struct salvo_agile_field *field,
		       const struct salvo_agile_grid *region, unsigned int node)
{
	struct wanted wanted = { fetches, field, node, 0 };
	const int err = agile_each_block(field, region, want_block, &wanted);

	return err ? err : wanted.pending;
}

/* Until nobody reads a copy as it was. */
static int wait_for_copies(struct salvo_agile *agile, const struct agile_fetches *fetches)
{
	unsigned int i, q;
	int err = 0;

	for (i = 0; i < fetches->count && !err; i++) {
		const struct agile_fetch *f = &fetches->all[i];
		const struct agile_node *node = &agile->nodes[f->node];

		if (f->copy == AGILE_NO_COPY || !f->field->copies[f->copy].filled)
			continue;
		for (q = 0; q < 2 && !err; q++)
			err = node->last[q] ? salvo_fence_wait(node->last[q], -1) : 0;
		if (err)
			err = agile_fail(agile, err, "node %u: %s", f->node, strerror(-err));
	}
	return err;
}

/* Begin or end accesses to all fields of which something is fetched, each once. */
static int each_field(const struct agile_fetches *fetches,
		      int (*call)(struct salvo_agile_field *field))
{
	unsigned int f, i;
	int err = 0;

	for (f = 0; f < fetches->count && !err; f++) {
		for (i = 0; i < f && fetches->all[i].field != fetches->all[f].field; i++)
			;
		if (i == f)
			err = call(fetches->all[f].field);
	}
	return err;
}

int agile_fetch_start(const struct agile_fetch *f, bool now)
{
	struct salvo_agile *agile = f->field->agile;
	const struct agile_ranks *ranks = agile->ranks;
	const size_t element = f->field->info.element_bytes;
	struct agile_part from;
	struct agile_box box;
	unsigned int rank;
	void *window, *map;
	int err = salvo_bo_map(f->to.bo, &map);

	if (err)
		return agile_fail(agile, err, "field %s: no access to memory of node %u: %s",
				  f->field->name, f->node, strerror(-err));
	rank = find_remote(f->field, f->block, &f->grid, &window, &from);
	agile_make_box(&box, &f->to, &from, &f->grid, element);
	err = (now ? ranks->ops->get_now : ranks->ops->get)(ranks->group, window, rank, &box,
		from.offset, (uint8_t *)map + offset_in(&f->to, &f->grid, element));
	return err ? agile_ranks_broken(agile, err) : 0;
}

void agile_fetch_finish(const struct agile_fetch *f)
{
	struct salvo_agile_stats *stats = &f->field->agile->nodes[f->node].stats;

	stats->moved_bytes += salvo_agile_grid_count(&f->grid) * f->field->info.element_bytes;
	if (f->copy == AGILE_NO_COPY)
		return;
	stats->moved_blocks++;
	agile_copy_filled(&f->field->copies[f->copy]);
}

int agile_fetch_run(struct salvo_agile *agile, int err, struct agile_fetches *fetches)
{
	const struct agile_ranks *ranks = agile->ranks;
	unsigned int f;
	int ended;

	if (!ranks || err || !fetches->count)
		return err;
	if (ranks->broken)
		return agile_fail(agile, -EPROTO, "an error before has separated the ranks");
	err = wait_for_copies(agile, fetches);
	if (!err)
		err = each_field(fetches, agile_access_begin);
	if (err)
		return err;
	for (f = 0; f < fetches->count && !err; f++)
		err = agile_fetch_start(&fetches->all[f], false);
	ended = each_field(fetches, agile_access_end);
	err = err ? err : ended;
	for (f = 0; f < fetches->count && !err; f++)
		agile_fetch_finish(&fetches->all[f]);
	if (!err)
		fetches->count = 0;
	return err;
}

int agile_fetch_now(struct salvo_agile *agile, const struct agile_fetch *fetch)
{
	int err = agile->ranks->broken ?
		  agile_fail(agile, -EPROTO, "an error before has separated the ranks") :
		  agile_fetch_start(fetch, true);

	if (!err)
		agile_fetch_finish(fetch);
	return err;
}

void agile_fetch_fini(struct agile_fetches *fetches)
{
	while (fetches->count) {
		const struct agile_fetch *f = &fetches->all[--fetches->count];

		if (f->copy != AGILE_NO_COPY)
			f->field->copies[f->copy].valid = f->field->copies[f->copy].pending = false;
	}
	free(fetches->all);
}
