// SPDX-License-Identifier: MIT
/*
 * field.c - fields: segments of memory blocks of tasks (A4 of CN102609244)
 *
 * A node stores its segments one after the other, each row by row. That memory is one that several
 * devices can use: a dma-buf of the GPU, a memfd for embedded GPUs, or what shared.c provides.
 * Each node that accesses it imports it once, so that a block goes from one node's memory to
 * another's without a stop.
 *
 * A segment is divided into memory blocks from its first index on, and each of these into tasks.
 * Blocks are numbered by segment, and tasks by block, so that each can find what is around it.
 */
#include "field.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "direct.h"
#include "shared.h"

#define ALIGN 256u

void agile_strides(const struct salvo_agile_grid *grid, uint64_t stride[SALVO_AGILE_RANKS])
{
	uint64_t next = 1;
	unsigned int d;

	memset(stride, 0, SALVO_AGILE_RANKS * sizeof(*stride));
	for (d = grid->rank; d--; next *= grid->extent[d])
		stride[d] = next;
}

uint64_t agile_offset(const struct salvo_agile_grid *whole, const struct salvo_agile_grid *part,
		      const uint64_t stride[SALVO_AGILE_RANKS])
{
	uint64_t offset = 0;
	unsigned int d;

	for (d = 0; d < whole->rank; d++)
		offset += (part->offset[d] - whole->offset[d]) * stride[d];
	return offset;
}

static uint64_t block_size(const uint64_t *block, const struct salvo_agile_grid *grid,
			   unsigned int d)
{
	return block[d] && block[d] < grid->extent[d] ? block[d] : grid->extent[d];
}

/* How many blocks a grid has in each dimension. */
static uint64_t count_blocks(const uint64_t *block, const struct salvo_agile_grid *grid,
			     struct salvo_agile_grid *numbers)
{
	unsigned int d;

	*numbers = (struct salvo_agile_grid){ .rank = grid->rank };
	for (d = 0; d < grid->rank; d++)
		numbers->extent[d] = (grid->extent[d] - 1) / block_size(block, grid, d) + 1;
	return salvo_agile_grid_count(numbers);
}

/* The block of a grid at a place among its blocks. */
static void block_at(const uint64_t *block, const struct salvo_agile_grid *grid,
		     const struct salvo_agile_index *at, struct salvo_agile_grid *out)
{
	unsigned int d;

	*out = *grid;
	for (d = 0; d < grid->rank; d++) {
		const uint64_t size = block_size(block, grid, d), from = at->at[d] * size;

		out->offset[d] += from;
		out->extent[d] = grid->extent[d] - from < size ? grid->extent[d] - from : size;
	}
}

/* The number of the block that holds an index, among those of a grid. */
static uint64_t block_number(const uint64_t *block, const struct salvo_agile_grid *grid,
			     const struct salvo_agile_index *index)
{
	struct salvo_agile_grid numbers;
	struct salvo_agile_index at = { { 0 } };
	unsigned int d;

	count_blocks(block, grid, &numbers);
	for (d = 0; d < grid->rank; d++)
		at.at[d] = (index->at[d] - grid->offset[d]) / block_size(block, grid, d);
	return salvo_agile_grid_number(&numbers, &at);
}

/* Where a segment ends in its node's storage, aligned for the next one. */
static int end_of_segment(const struct salvo_agile_field *field, unsigned int s, uint64_t *end)
{
	const struct salvo_agile_segment *segment = &field->map->segments[s];
	uint64_t bytes;

	if (!__builtin_mul_overflow(salvo_agile_grid_count(&segment->grid),
				    (uint64_t)field->info.element_bytes, &bytes) &&
	    !__builtin_add_overflow(bytes, ALIGN - 1, &bytes) &&
	    !__builtin_add_overflow(field->storage[segment->node].bytes,
				    bytes / ALIGN * ALIGN, end))
		return 0;
	return agile_fail(field->agile, -E2BIG,
			  "field %s: segment %u of map %s ends past 2^64 bytes on node %u",
			  field->name, s, field->map->name, segment->node);
}

static int make_blocks(struct salvo_agile_field *field)
{
	const struct salvo_agile_map *map = field->map;
	struct salvo_agile_grid numbers;
	uint64_t blocks = 0, tasks = 0, i;
	unsigned int s;

	field->first_block = calloc(map->count + 1, sizeof(*field->first_block));
	field->storage = calloc(field->agile->count, sizeof(*field->storage));
	if (!field->first_block || !field->storage)
		return agile_fail(field->agile, -ENOMEM, "out of memory");
	for (s = 0; s < map->count; s++) {
		blocks += count_blocks(field->info.memory_block, &map->segments[s].grid, &numbers);
		if (blocks > AGILE_MOST)
			return agile_fail(field->agile, -E2BIG,
					  "field %s: segment %u of map %s ends past %u memory blocks",
					  field->name, s, map->name, AGILE_MOST);
		field->first_block[s + 1] = blocks;
	}
	field->blocks = calloc(blocks, sizeof(*field->blocks));
	if (!field->blocks)
		return agile_fail(field->agile, -ENOMEM, "out of memory");
	for (s = 0; s < map->count; s++) {
		const struct salvo_agile_grid *grid = &map->segments[s].grid;
		struct agile_storage *storage = &field->storage[map->segments[s].node];
		uint64_t stride[SALVO_AGILE_RANKS], end = 0;
		const int err = end_of_segment(field, s, &end);

		if (err)
			return err;
		agile_strides(grid, stride);
		count_blocks(field->info.memory_block, grid, &numbers);
		for (i = field->first_block[s]; i < field->first_block[s + 1]; i++) {
			struct agile_block *block = &field->blocks[i];
			const struct salvo_agile_index at =
				salvo_agile_grid_index(&numbers, i - field->first_block[s]);
			struct salvo_agile_grid inner;

			block_at(field->info.memory_block, grid, &at, &block->grid);
			block->segment = s;
			block->copies = AGILE_NO_COPY;
			block->offset = storage->bytes + field->info.element_bytes *
					agile_offset(grid, &block->grid, stride);
			block->first_task = tasks;
			tasks += count_blocks(field->info.task_block, &block->grid, &inner);
			if (tasks > AGILE_MOST)
				return agile_fail(field->agile, -E2BIG,
						  "field %s: segment %u of map %s ends past %u tasks",
						  field->name, s, map->name, AGILE_MOST);
		}
		storage->bytes = end;
	}
	field->block_count = blocks;
	field->task_count = tasks;
	return 0;
}

static uint64_t hash(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 29;
}

static uint64_t hash_grid(uint64_t sum, const struct salvo_agile_grid *grid)
{
	unsigned int d;

	sum = hash(sum, grid->rank);
	for (d = 0; d < grid->rank; d++)
		sum = hash(hash(sum, grid->offset[d]), grid->extent[d]);
	return sum;
}

uint64_t agile_field_layout(const struct salvo_agile_field *field)
{
	const struct salvo_agile_map *map = field->map;
	uint64_t sum = hash_grid(hash(1, field->info.element_bytes), &map->grid);
	unsigned int d, s;

	for (d = 0; d < map->grid.rank; d++)
		sum = hash(hash(sum, field->info.memory_block[d]), field->info.task_block[d]);
	for (s = 0; s < map->count; s++)
		sum = hash(hash_grid(sum, &map->segments[s].grid), map->segments[s].node);
	return sum;
}

/* The owner's buffer, and what others import. */
static int make_storage(struct salvo_agile_field *field, unsigned int n)
{
	struct agile_storage *storage = &field->storage[n];
	struct salvo_agile *agile = field->agile;
	const uint64_t page = sysconf(_SC_PAGESIZE);
	int err;

	storage->bos = calloc(agile->count, sizeof(*storage->bos));
	storage->read = calloc(agile->count, sizeof(*storage->read));
	if (!storage->bos || !storage->read)
		return agile_fail(agile, -ENOMEM, "out of memory");
	if (agile->shared) {
		err = agile_shared_create(storage->bytes, &storage->fd);
		if (!err)
			err = salvo_bo_import_dmabuf(agile->nodes[n].device, storage->fd, 0,
						     &storage->bos[n]);
		if (err == -ENODEV)
			return agile_fail(agile, err,
					  "field %s: several GPUs share memory by /dev/udmabuf or the module vgem, and there is neither",
					  field->name);
	} else {
		err = salvo_bo_create(agile->nodes[n].device, storage->bytes, 0,
				      &storage->bos[n]);
		if (!err)
			err = salvo_bo_export_dmabuf(storage->bos[n], &storage->fd);
	}
	if (err == -ENOTSUP) {
		salvo_bo_destroy(storage->bos[n]);
		storage->bos[n] = NULL;
		storage->fd = memfd_create("salvo-agile", MFD_CLOEXEC);
		err = storage->fd < 0 ||
		      ftruncate(storage->fd, (storage->bytes + page - 1) / page * page) ?
		      -errno : salvo_bo_import_dmabuf(agile->nodes[n].device, storage->fd, 0,
						      &storage->bos[n]);
	}
	if (!err && agile->ranks)
		err = salvo_bo_map(storage->bos[n], &storage->map);
	return err ? agile_fail(agile, err, "field %s: no memory for %llu bytes on node %u: %s",
				field->name, (unsigned long long)storage->bytes, n,
				strerror(-err)) : 0;
}

/* What this rank's nodes store, and what they imported. */
static int make_storages(struct salvo_agile_field *field)
{
	const struct salvo_agile *agile = field->agile;
	unsigned int n;
	int err = 0;

	for (n = agile->first; n < agile->first + agile->local && !agile->planning && !err; n++)
		if (field->storage[n].bytes)
			err = make_storage(field, n);
	return err;
}

static void drop_storages(struct salvo_agile_field *field)
{
	unsigned int n, i;

	for (n = 0; field->storage && n < field->agile->count; n++) {
		struct agile_storage *storage = &field->storage[n];

		for (i = 0; storage->bos && i < field->agile->count; i++)
			salvo_bo_destroy(storage->bos[i]);
		free(storage->bos);
		free(storage->read);
		if (storage->fd >= 0)
			close(storage->fd);
		*storage = (struct agile_storage){ .bytes = storage->bytes, .fd = -1 };
	}
}

static void free_field(struct salvo_agile_field *field)
{
	unsigned int i;

	agile_hide(field);
	for (i = 0; i < field->copy_count; i++)
		salvo_bo_destroy(field->copies[i].bo);
	drop_storages(field);
	free(field->storage);
	free(field->copies);
	free(field->first_block);
	free(field->blocks);
	salvo_agile_map_destroy(field->map);
	free(field);
}

/*
 * Let the other ranks access what is stored here. Where GPUs of several ranks cannot use each
 * other's memory all move to system memory, once, and stay there if that is possible.
 */
static int share_storages(struct salvo_agile_field *field, int err)
{
	struct salvo_agile *agile = field->agile;
	const bool shared = agile->shared;
	bool foreign = false;

	err = agile_direct_share(field, err, &foreign);
	if (!err && foreign && !agile->ranks->moved) {
		agile->ranks->moved = true;
		agile->shared = true;
		drop_storages(field);
		err = agile_direct_share(field, make_storages(field), NULL);
		if (err && !agile->ranks->broken) {
			agile->shared = shared;
			drop_storages(field);
			err = agile_agree(agile, AGILE_CALL_FIELD_CREATE, make_storages(field),
					  NULL);
		}
	}
	if (!err && agile->ranks && !field->direct)
		err = agile_expose(field);
	return err;
}

int salvo_agile_field_create(struct salvo_agile *agile, const char *name,
			     struct salvo_agile_map *map, const struct salvo_agile_field_info *info,
			     struct salvo_agile_field **out)
{
	struct salvo_agile_field *field;
	unsigned int n;
	int err;

	*out = NULL;
	if (!info->element_bytes || info->element_bytes > 1u << 30)
		return agile_fail(agile, -EINVAL,
				  "field %s: an element has %zu bytes, must have 1 to 2^30", name,
				  info->element_bytes);
	field = calloc(1, sizeof(*field));
	if (!field)
		return agile_fail(agile, -ENOMEM, "out of memory");
	field->agile = agile;
	field->map = map;
	field->info = *info;
	map->refs++;
	snprintf(field->name, sizeof(field->name), "%s", name);
	err = make_blocks(field);
	for (n = 0; n < agile->count && field->storage; n++)
		field->storage[n].fd = -1;
	if (!err)
		err = make_storages(field);
	if (agile->ranks && !err) {
		field->windows = calloc(agile->ranks->most, sizeof(*field->windows));
		if (!field->windows)
			err = agile_fail(agile, -ENOMEM, "out of memory");
	}
	err = share_storages(field, err);
	if (err) {
		free_field(field);
		return err;
	}
	field->number = ++agile->field_serial;
	field->next = agile->fields;
	agile->fields = field;
	*out = field;
	return 0;
}

void salvo_agile_field_destroy(struct salvo_agile_field *field)
{
	struct salvo_agile_field **at;

	if (!field)
		return;
	for (at = &field->agile->fields; *at != field; at = &(*at)->next)
		;
	*at = field->next;
	/* Of an error the next call tells; what others may still access is not waited for. */
	agile_agree(field->agile, AGILE_CALL_FIELD_DESTROY, 0, NULL);
	free_field(field);
}

int agile_check_inside(const struct salvo_agile_field *field, const char *what,
		       const struct salvo_agile_grid *grid)
{
	const struct salvo_agile_grid *all = &field->map->grid;
	const int at = agile_grid_outside(grid, all);

	if (at < 0)
		return 0;
	if (grid->rank != all->rank)
		return agile_fail(field->agile, -EINVAL,
				  "field %s: the %s is not inside of map %s: its rank is %u, not %u",
				  field->name, what, field->map->name, grid->rank, all->rank);
	return agile_fail(field->agile, -EINVAL,
			  "field %s: the %s is not inside of map %s: in dimension %d it has %llu indices from %llu on, the map %llu from %llu on",
			  field->name, what, field->map->name, at,
			  (unsigned long long)grid->extent[at],
			  (unsigned long long)grid->offset[at],
			  (unsigned long long)all->extent[at],
			  (unsigned long long)all->offset[at]);
}

unsigned int salvo_agile_field_tasks(const struct salvo_agile_field *field)
{
	return field->task_count;
}

void agile_block_place(const struct salvo_agile_field *field, uint32_t block,
		       struct agile_part *part)
{
	part->grid = field->blocks[block].grid;
	part->offset = field->blocks[block].offset;
	agile_strides(&field->map->segments[field->blocks[block].segment].grid, part->stride);
	part->bo = NULL;
}

/* One import serves all nodes of a device. */
int agile_storage_bo(struct salvo_agile_field *field, unsigned int owner, unsigned int node,
		     struct salvo_bo **bo)
{
	struct agile_storage *storage = &field->storage[owner];
	const struct salvo_agile *agile = field->agile;
	const struct salvo_device *device = agile->nodes[node].device;
	unsigned int same = agile->first;
	int err = 0;

	while (agile->nodes[same].device != device)
		same++;
	if (agile->nodes[owner].device == device)
		same = owner;
	if (!storage->bos[same])
		err = salvo_bo_import_dmabuf(agile->nodes[node].device, storage->fd, 0,
					     &storage->bos[same]);
	*bo = storage->bos[same];
	return err;
}

int agile_block_part(struct salvo_agile_field *field, uint32_t block, unsigned int node,
		     struct agile_part *part)
{
	const unsigned int owner = agile_block_node(field, block);
	int err;

	agile_block_place(field, block, part);
	if (field->agile->planning)
		return 0;
	err = agile_storage_bo(field, owner, node, &part->bo);
	return err ? agile_fail(field->agile, err,
				"field %s: node %u cannot use the memory of node %u: %s",
				field->name, node, owner, strerror(-err)) : 0;
}

void agile_task_grid(const struct salvo_agile_field *field, uint32_t task,
		     struct salvo_agile_grid *grid, uint32_t *block)
{
	struct salvo_agile_grid numbers;
	struct salvo_agile_index at;
	unsigned int low = 0, high = field->block_count;

	while (high - low > 1) {
		const unsigned int middle = (low + high) / 2;

		if (field->blocks[middle].first_task <= task)
			low = middle;
		else
			high = middle;
	}
	count_blocks(field->info.task_block, &field->blocks[low].grid, &numbers);
	at = salvo_agile_grid_index(&numbers, task - field->blocks[low].first_task);
	block_at(field->info.task_block, &field->blocks[low].grid, &at, grid);
	*block = low;
}

/* The memory block that holds an index inside the field. */
static uint32_t find_block(const struct salvo_agile_field *field,
			   const struct salvo_agile_index *index)
{
	const int segment = salvo_agile_map_find(field->map, index);

	return field->first_block[segment] +
	       block_number(field->info.memory_block, &field->map->segments[segment].grid, index);
}

int salvo_agile_field_task(const struct salvo_agile_field *field, unsigned int number,
			   struct salvo_agile_place *place)
{
	if (number >= field->task_count)
		return -ENOENT;
	place->task = number;
	agile_task_grid(field, number, &place->task_grid, &place->block);
	place->block_grid = field->blocks[place->block].grid;
	place->segment = field->blocks[place->block].segment;
	place->segment_grid = field->map->segments[place->segment].grid;
	place->node = field->map->segments[place->segment].node;
	return 0;
}

int salvo_agile_field_locate(const struct salvo_agile_field *field,
			     const struct salvo_agile_index *index,
			     struct salvo_agile_place *place)
{
	uint32_t block;

	if (!salvo_agile_grid_contains(&field->map->grid, index))
		return -ENOENT;
	block = find_block(field, index);
	return salvo_agile_field_task(field, field->blocks[block].first_task +
				      block_number(field->info.task_block,
						   &field->blocks[block].grid, index), place);
}

void agile_invalidate(struct salvo_agile_field *field, uint32_t block)
{
	uint32_t i;

	for (i = field->blocks[block].copies; i != AGILE_NO_COPY; i = field->copies[i].next)
		field->copies[i].valid = false;
}

/* The blocks of one segment that have something of @part, which lies inside of it. */
static int blocks_of_segment(const struct salvo_agile_field *field, unsigned int segment,
			     const struct salvo_agile_grid *part, agile_block_fn fn, void *data)
{
	const struct salvo_agile_grid *grid = &field->map->segments[segment].grid;
	struct salvo_agile_grid numbers, near = { .rank = grid->rank }, common;
	uint64_t i, count;
	unsigned int d;
	int err = 0;

	count_blocks(field->info.memory_block, grid, &numbers);
	for (d = 0; d < grid->rank; d++) {
		const uint64_t size = block_size(field->info.memory_block, grid, d);
		const uint64_t from = part->offset[d] - grid->offset[d];

		near.offset[d] = from / size;
		near.extent[d] = (from + part->extent[d] - 1) / size - near.offset[d] + 1;
	}
	count = salvo_agile_grid_count(&near);
	for (i = 0; i < count && !err; i++) {
		const struct salvo_agile_index at = salvo_agile_grid_index(&near, i);
		const uint32_t block = field->first_block[segment] +
				       salvo_agile_grid_number(&numbers, &at);

		salvo_agile_grid_intersect(&field->blocks[block].grid, part, &common);
		err = fn(data, block, &common);
	}
	return err;
}

int agile_each_block(const struct salvo_agile_field *field, const struct salvo_agile_grid *region,
		     agile_block_fn fn, void *data)
{
	const struct salvo_agile_map *map = field->map;
	struct salvo_agile_grid cells = { .rank = region->rank }, part;
	uint64_t i, count;
	unsigned int d;
	int err = 0;

	for (d = 0; d < region->rank; d++) {
		cells.offset[d] = agile_map_part(map, d, region->offset[d]);
		cells.extent[d] = agile_map_part(map, d, region->offset[d] + region->extent[d] -
						 1) - cells.offset[d] + 1;
	}
	count = salvo_agile_grid_count(&cells);
	for (i = 0; i < count && !err; i++) {
		const struct salvo_agile_index at = salvo_agile_grid_index(&cells, i);
		uint64_t cell = 0;
		bool first = true;

		for (d = 0; d < region->rank; d++)
			cell = cell * map->parts[d] + at.at[d];
		salvo_agile_grid_intersect(&map->segments[map->cells[cell]].grid, region, &part);
		/* A segment of several cells is taken at the first of them. */
		for (d = 0; d < region->rank; d++)
			first &= map->edges[d][at.at[d]] <= part.offset[d] &&
				 map->edges[d][at.at[d] + 1] > part.offset[d];
		if (first)
			err = blocks_of_segment(field, map->cells[cell], &part, fn, data);
	}
	return err;
}
