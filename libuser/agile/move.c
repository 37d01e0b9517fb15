// SPDX-License-Identifier: MIT
/*
 * move.c - parts of fields to where they are needed (A5, A7 of CN102609244)
 *
 * A memory block moves as a whole, by one command, from its owner's memory to a copy on the node
 * that reads it. The copy is valid until the block is written, and so moves once for any number
 * of tasks and statements. A region that several blocks hold is put together in a tile of the
 * batch; one in a single block is used where it is.
 *
 * Commands that bring something are the producers of the kernel that needs it. If the batch has
 * gone out meanwhile its queue orders them.
 */
#include "move.h"

#include <errno.h>
#include <stdlib.h>

#include "direct.h"

/* Commands that the consumer of @producers waits for; if they are too many they go out before. */
static int note(struct agile_batch *b, struct agile_producers *producers, unsigned int first,
		unsigned int end)
{
	if (producers->serial != b->serial)
		producers->count = 0;
	producers->serial = b->serial;
	if (end - first > AGILE_MOST_PRODUCERS - producers->count)
		return agile_batch_next(b);
	for (; first < end; first++)
		producers->at[producers->count++] = first;
	return 0;
}

int agile_order(struct agile_batch *b, struct agile_producers *producers, int consumer)
{
	unsigned int i;
	int err = 0;

	if (producers->serial != b->serial)
		return 0;
	for (i = 0; i < producers->count && err >= 0; i++)
		err = agile_batch_check(b, salvo_batch_pipe_control(b->batch, consumer,
								    producers->at[i]));
	return err < 0 ? err : 0;
}

/* A command for what is to wait for the producers; if these are very many they go out before. */
static int make_room(struct agile_batch *b, struct agile_producers *producers)
{
	if (producers->serial == b->serial && producers->count >= AGILE_MOST_PRODUCERS - 4)
		return agile_batch_next(b);
	return agile_batch_room(b, 2 + (producers->serial == b->serial ? producers->count : 0));
}

static int note_use(struct agile_batch *b, struct salvo_agile_field *field, unsigned int owner,
		    int access)
{
	struct agile_use *uses;
	unsigned int i;

	for (i = 0; i < b->use_count; i++)
		if (b->uses[i].field == field && b->uses[i].owner == owner &&
		    b->uses[i].access == access)
			return 0;
	uses = realloc(b->uses, (b->use_count + 1) * sizeof(*uses));
	if (!uses)
		return agile_fail(b->agile, -ENOMEM, "out of memory");
	b->uses = uses;
	uses[b->use_count++] = (struct agile_use){ field, owner, access };
	return 0;
}

int agile_use(struct agile_batch *b, struct salvo_agile_field *field, unsigned int owner,
	      int access)
{
	struct agile_storage *storage = &field->storage[owner];
	struct agile_node *nodes = b->agile->nodes;
	const struct agile_time next = {
		b->mover ? 0 : salvo_queue_submitted(nodes[b->node].queue) + 1,
		b->mover ? salvo_queue_submitted(nodes[b->node].mover) + 1 : 0,
	};
	const struct agile_time ahead = { 0, storage->read[b->node].mover };
	unsigned int n;

	/*
	 * The owner's queue is in order, and so is what others write for it (stolen tasks: waited
	 * for).
	 */
	if (!agile_reached(&nodes[owner], &storage->written) && (b->node != owner || b->mover))
		b->needs[owner] = true;
	for (n = 0; access == SALVO_AGILE_WRITE && n < b->agile->count; n++)
		if (n != b->node && !agile_reached(&nodes[n], &storage->read[n]))
			b->needs[n] = true;
	if (access == SALVO_AGILE_WRITE && !agile_reached(&nodes[b->node], &ahead))
		b->needs[b->node] = true;
	if (access == SALVO_AGILE_WRITE && b->node == owner) {
		storage->written.main = next.main;
	} else if (access == SALVO_AGILE_READ) {
		if (next.main)
			storage->read[b->node].main = next.main;
		else
			storage->read[b->node].mover = next.mover;
	}
	return note_use(b, field, owner, access);
}

/* --- boxes ---------------------------------------------------------------------- */

/* From the last dimension to the first: what is contiguous on both sides is one. */
void agile_make_box(struct agile_box *box, const struct agile_part *to,
		    const struct agile_part *from, const struct salvo_agile_grid *grid,
		    size_t element)
{
	unsigned int d;

	*box = (struct agile_box){ .width = element };
	for (d = grid->rank; d--;) {
		const uint64_t a = to->stride[d] * element, c = from->stride[d] * element;
		const unsigned int k = box->dims;

		if (grid->extent[d] == 1)
			continue;
		if (!k && a == box->width && c == box->width) {
			box->width *= grid->extent[d];
			continue;
		}
		if (k && a == box->to[k - 1] * box->count[k - 1] &&
		    c == box->from[k - 1] * box->count[k - 1]) {
			box->count[k - 1] *= grid->extent[d];
			continue;
		}
		box->count[k] = grid->extent[d];
		box->to[k] = a;
		box->from[k] = c;
		box->dims++;
	}
	for (d = box->dims; d < SALVO_AGILE_RANKS; d++)
		box->count[d] = 1;
}

/* Commands @from to before @end of a copy, in one batch, and then what they wait for. */
static int copy_rows(struct agile_batch *b, const struct agile_box *box, struct salvo_bo *to,
		     uint64_t dst, struct salvo_bo *from, uint64_t src, uint64_t i, uint64_t end,
		     struct agile_producers *after, struct agile_span *span)
{
	const struct salvo_rect rect = {
		.width = box->width, .height = box->count[0], .depth = box->count[1],
		.dst_row_pitch = box->to[0], .src_row_pitch = box->from[0],
		.dst_slice_pitch = box->to[1], .src_slice_pitch = box->from[1],
	};
	unsigned int c;
	int err = 0;

	span->first = salvo_batch_count(b->batch);
	for (; i < end && err >= 0; i++) {
		const uint64_t z = i % box->count[2], w = i / box->count[2];

		err = agile_batch_check(b, salvo_batch_copy_rect(b->batch, to,
			dst + z * box->to[2] + w * box->to[3], from,
			src + z * box->from[2] + w * box->from[3], &rect));
	}
	span->end = salvo_batch_count(b->batch);
	for (c = span->first; after && c < span->end && err >= 0; c++)
		err = agile_order(b, after, c);
	return err < 0 ? err : 0;
}

int agile_copy_part(struct agile_batch *b, const struct agile_part *to,
		    const struct agile_part *from, const struct salvo_agile_grid *grid,
		    size_t element, struct agile_producers *after, struct agile_span *span)
{
	const uint64_t dst = to->offset + agile_offset(&to->grid, grid, to->stride) * element;
	const uint64_t src = from->offset + agile_offset(&from->grid, grid, from->stride) * element;
	const unsigned int waits = after && after->serial == b->serial ? after->count : 0;
	struct agile_box box;
	uint64_t i, end, part;
	int err;

	*span = (struct agile_span){ 0, 0 };
	if (b->agile->planning)
		return 0;
	agile_make_box(&box, to, from, grid, element);
	end = box.count[2] * box.count[3];
	part = b->agile->nodes[b->node].max_commands / (1 + waits);
	part = part < end ? part : end;
	err = agile_batch_room(b, part * (1 + waits));
	for (i = 0; i < end && !err; i += part) {
		if (i)
			err = agile_batch_next(b);
		if (!err)
			err = copy_rows(b, &box, to->bo, dst, from->bo, src, i,
					end - i < part ? end : i + part, after, span);
	}
	return err;
}

/* --- memory blocks ---------------------------------------------------------------- */

int agile_copy_find(struct salvo_agile_field *field, uint32_t block, unsigned int node,
		    uint32_t *out)
{
	const size_t element = field->info.element_bytes;
	struct salvo_agile *agile = field->agile;
	struct agile_copy *copy;
	int err;

	for (*out = field->blocks[block].copies; *out != AGILE_NO_COPY;
	     *out = field->copies[*out].next)
		if (field->copies[*out].node == node)
			return 0;
	if (field->copy_count == field->copy_capacity) {
		const unsigned int capacity = 2 * field->copy_capacity + 64;

		copy = realloc(field->copies, capacity * sizeof(*copy));
		if (!copy)
			return agile_fail(agile, -ENOMEM, "out of memory");
		field->copies = copy;
		field->copy_capacity = capacity;
	}
	copy = &field->copies[field->copy_count];
	*copy = (struct agile_copy){ .node = node };
	if (!agile->planning) {
		err = salvo_bo_create(agile->nodes[node].device, element *
				      salvo_agile_grid_count(&field->blocks[block].grid), 0,
				      &copy->bo);
		if (err)
			return agile_fail(agile, err,
					  "field %s: no memory on node %u for block %u", field->name,
					  node, block);
	}
	*out = field->copy_count++;
	copy->next = field->blocks[block].copies;
	field->blocks[block].copies = *out;
	return 0;
}

void agile_copy_filled(struct agile_copy *copy)
{
	copy->pending = false;
	copy->filled = copy->fetched = true;
	copy->ahead = false;
	copy->serial = 0;
}

static int note_fresh(struct agile_batch *b, struct salvo_agile_field *field, uint32_t copy)
{
	struct agile_fresh *fresh = realloc(b->fresh, (b->fresh_count + 1) * sizeof(*fresh));

	if (!fresh)
		return agile_fail(b->agile, -ENOMEM, "out of memory");
	b->fresh = fresh;
	fresh[b->fresh_count++] = (struct agile_fresh){ field, copy };
	return 0;
}

static int fill_copy(struct agile_batch *b, struct salvo_agile_field *field, uint32_t block,
		     uint32_t number, const struct agile_part *to)
{
	struct agile_copy *copy = &field->copies[number];
	const unsigned int owner = agile_block_node(field, block);
	struct agile_span span;
	struct agile_part from;
	int err = agile_block_part(field, block, b->node, &from);

	if (!err && !b->agile->planning) {
		err = agile_batch_room(b, 1);
		if (!err)
			err = agile_use(b, field, owner, SALVO_AGILE_READ);
		/* What still reads the copy as it was is on the node's other queue. */
		if (copy->serial && (b->mover || copy->ahead))
			b->needs[b->node] = true;
	}
	if (!err)
		err = agile_copy_part(b, to, &from, &to->grid, field->info.element_bytes, NULL,
				      &span);
	if (!err)
		err = note_fresh(b, field, number);
	if (err)
		return err;
	copy->first = span.first;
	copy->end = span.end;
	copy->valid = copy->filled = true;
	copy->ahead = b->mover;
	copy->serial = b->serial;
	b->agile->nodes[b->node].stats.moved_blocks++;
	b->agile->nodes[b->node].stats.moved_bytes += salvo_agile_grid_count(&to->grid) *
						      field->info.element_bytes;
	return 0;
}

int agile_bring(struct agile_batch *b, struct salvo_agile_field *field, uint32_t block,
		struct agile_part *part, struct agile_producers *producers)
{
	struct agile_copy *copy;
	uint32_t number;
	int err;

	if (agile_block_node(field, block) == b->node) {
		err = b->agile->planning ? 0 : agile_use(b, field, b->node, SALVO_AGILE_READ);
		return err ? err : agile_block_part(field, block, b->node, part);
	}
	err = agile_copy_find(field, block, b->node, &number);
	if (err)
		return err;
	copy = &field->copies[number];
	part->bo = copy->bo;
	part->offset = 0;
	part->grid = field->blocks[block].grid;
	agile_strides(&part->grid, part->stride);
	if (copy->valid)
		b->agile->nodes[b->node].stats.reused_blocks += !copy->fetched;
	else
		err = fill_copy(b, field, block, number, part);
	if (err)
		return err;
	copy->fetched = false;
	if (copy->ahead && !b->mover && !b->agile->planning)
		b->needs[b->node] = true;
	return copy->serial == b->serial ? note(b, producers, copy->first, copy->end) : 0;
}

/* --- regions ---------------------------------------------------------------------- */

struct gather {
	struct agile_batch *b;
	struct salvo_agile_field *field;
	const struct salvo_agile_grid *region;
	struct agile_part *tile;
	struct agile_producers *producers;
	uint32_t single;
};

/* Is the region in one block? */
static int find_single(void *data, uint32_t block, const struct salvo_agile_grid *common)
{
	struct gather *gather = data;

	(void)common;
	if (gather->single != AGILE_NO_COPY) {
		gather->single = AGILE_NO_COPY;
		return 1;
	}
	gather->single = block;
	return 0;
}

static int gather_block(void *data, uint32_t block, const struct salvo_agile_grid *common)
{
	struct gather *gather = data;
	struct agile_producers own = { .serial = gather->b->serial };
	struct agile_batch *b = gather->b;
	struct agile_part from;
	struct agile_span span;
	int err = agile_bring(b, gather->field, block, &from, &own);

	if (err || b->agile->planning)
		return err;
	err = make_room(b, gather->producers);
	if (!err)
		err = agile_copy_part(b, gather->tile, &from, common,
				      gather->field->info.element_bytes, &own, &span);
	return err ? err : note(b, gather->producers, span.first, span.end);
}

int agile_region(struct agile_batch *b, struct salvo_agile_field *field,
		 const struct salvo_agile_grid *region, struct agile_part *part,
		 struct agile_producers *producers)
{
	struct gather gather = { b, field, region, part, producers, AGILE_NO_COPY };
	int err;

	agile_each_block(field, region, find_single, &gather);
	if (gather.single != AGILE_NO_COPY) {
		err = agile_bring(b, field, gather.single, part, producers);
		if (err)
			return err;
		part->offset += agile_offset(&part->grid, region, part->stride) *
				field->info.element_bytes;
		part->grid = *region;
		return 0;
	}
	part->grid = *region;
	part->offset = 0;
	part->bo = NULL;
	agile_strides(region, part->stride);
	if (!b->agile->planning) {
		err = agile_batch_memory(b, salvo_agile_grid_count(region) *
					 field->info.element_bytes, &part->bo);
		if (err)
			return err;
	}
	return agile_each_block(field, region, gather_block, &gather);
}

/* --- between two maps --------------------------------------------------------------- */

struct redistribution {
	struct agile_batch *b;
	struct salvo_agile_field *from;
	const struct agile_part *to;
	struct agile_fetches *fetches;
};

static int copy_common(void *data, uint32_t block, const struct salvo_agile_grid *common)
{
	const struct redistribution *r = data;
	const unsigned int owner = agile_block_node(r->from, block);
	struct agile_batch *b = r->b;
	struct agile_span span;
	struct agile_part part;
	int err;

	if (!agile_reaches(r->from, owner))
		return agile_fetch_add(r->fetches, &(struct agile_fetch){
			r->from, block, *common, *r->to, b->node, AGILE_NO_COPY });
	err = agile_block_part(r->from, block, b->node, &part);
	if (owner != b->node)
		b->agile->nodes[b->node].stats.moved_bytes += salvo_agile_grid_count(common) *
							      r->from->info.element_bytes;
	if (err || b->agile->planning)
		return err;
	err = agile_batch_room(b, 1);
	if (!err)
		err = agile_use(b, r->from, owner, SALVO_AGILE_READ);
	return err ? err : agile_copy_part(b, r->to, &part, common, r->from->info.element_bytes,
					   NULL, &span);
}

static int fill_node(struct salvo_agile *agile, struct salvo_agile_field *to,
		     struct salvo_agile_field *from, unsigned int node,
		     struct agile_fetches *fetches)
{
	struct agile_batch b = { .agile = agile, .node = node };
	struct agile_part part;
	uint32_t block;
	int err = agile->planning ? 0 : agile_batch_init(&b, agile, node, false);

	for (block = 0; block < to->block_count && !err; block++) {
		struct redistribution r = { &b, from, &part, fetches };

		if (agile_block_node(to, block) != node)
			continue;
		if (!agile->planning)
			err = agile_use(&b, to, node, SALVO_AGILE_WRITE);
		if (!err)
			err = agile_block_part(to, block, node, &part);
		if (!err)
			err = agile_each_block(from, &part.grid, copy_common, &r);
		agile_invalidate(to, block);
	}
	if (agile->planning)
		return err;
	if (!err)
		err = agile_batch_flush(&b);
	agile_batch_fini(&b);
	return err;
}

int salvo_agile_redistribute(struct salvo_agile *agile, struct salvo_agile_field *to,
			     struct salvo_agile_field *from)
{
	const struct salvo_agile_grid *a = &to->map->grid, *c = &from->map->grid;
	struct agile_fetches fetches = { 0 };
	unsigned int d, n, i;
	int err = 0;

	if (to == from)
		return agile_fail(agile, -EINVAL, "redistribute: field %s to itself", to->name);
	if (a->rank != c->rank || to->info.element_bytes != from->info.element_bytes)
		return agile_fail(agile, -EINVAL,
				  "redistribute %s to %s: rank %u and elements of %zu bytes, rank %u and %zu bytes",
				  from->name, to->name, c->rank, from->info.element_bytes,
				  a->rank, to->info.element_bytes);
	for (d = 0; d < a->rank; d++)
		if (a->offset[d] != c->offset[d] || a->extent[d] != c->extent[d])
			return agile_fail(agile, -EINVAL,
					  "redistribute %s to %s: dimension %u is not the same",
					  from->name, to->name, d);
	/* Other ranks' parts are written by this thread, so they must not be in use. */
	for (n = agile->first; n < agile->first + agile->local && !err && agile->ranks &&
	     !from->direct; n++) {
		err = agile_wait_time(agile, n, &to->storage[n].written);
		for (i = 0; i < agile->count && to->storage[n].bytes && !err; i++)
			err = agile_wait_time(agile, i, &to->storage[n].read[i]);
	}
	err = agile_settle(agile, AGILE_CALL_REDISTRIBUTE, err, &from, 1, to);
	for (n = agile->first; n < agile->first + agile->local && !err; n++)
		if (to->storage[n].bytes)
			err = fill_node(agile, to, from, n, &fetches);
	agile_end_statement(agile);
	agile_lend(from);
	agile_written(to);
	err = agile_fetch_run(agile, err, &fetches);
	/* What other ranks stored of it is written too. */
	for (i = 0; i < to->block_count && agile->ranks; i++)
		agile_invalidate(to, i);
	agile_fetch_fini(&fetches);
	return err;
}
