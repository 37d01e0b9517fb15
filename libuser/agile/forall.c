// SPDX-License-Identifier: MIT
/*
 * forall.c - statements: a kernel over the tasks of its result (A5, A8 of CN102609244)
 *
 * The node that stores the result of a task computes it. For each node that has some a batch is
 * made: for each task the transfers of what its operands lack there, the dispatch, and a pipe
 * control from each of these to it, so that the transfers of one task run beside the kernels of
 * others. The batches of a statement are submitted one after the other and run at once.
 *
 * Over several ranks (ranks.c) a node first runs the tasks that find all they read on their own
 * rank; beside these what the others lack is fetched, and then they run.
 *
 * With stealing the tasks come from queues (tasks.c) a few at a time: a node that has finished its
 * batch gets the next one. The result of a stolen task is made in a tile and copied to its owner.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "direct.h"
#include "kernel.h"
#include "move.h"
#include "tasks.h"

#define MOST_OPERANDS	8u
#define MOST_VALUES	8u

/* What a task computes in this statement. */
static void task_grid(const struct salvo_agile_statement *s, uint32_t task,
		      struct salvo_agile_grid *grid, uint32_t *block)
{
	const struct salvo_agile_grid *range = s->result->agile->range;

	agile_task_grid(s->result, task, grid, block);
	if (range)
		salvo_agile_grid_intersect(grid, range, grid);
}

/* Return: 0 with what an operand's task reads, cut off at the field's ends. */
static int find_region(const struct salvo_agile_operand *operand,
		       const struct salvo_agile_grid *task, struct salvo_agile_grid *region)
{
	struct salvo_agile *agile = operand->field->agile;

	*region = *task;
	if (operand->region)
		operand->region(operand->data, task, region);
	if (region->rank != operand->field->map->grid.rank ||
	    !salvo_agile_grid_intersect(region, &operand->field->map->grid, region))
		return agile_fail(agile, -EINVAL,
				  "field %s: the task at %llu, %llu reads nothing inside of map %s",
				  operand->field->name, (unsigned long long)task->offset[0],
				  (unsigned long long)task->offset[1], operand->field->map->name);
	return 0;
}

static int check_statement(struct salvo_agile *agile, const struct salvo_agile_statement *s)
{
	unsigned int i;

	if (!s->result)
		return agile_fail(agile, -EINVAL, "statement: no result");
	if (!s->kernel && !agile->planning)
		return agile_fail(agile, -EINVAL, "statement: no kernel");
	if (s->operand_count > MOST_OPERANDS)
		return agile_fail(agile, -EINVAL, "statement: %u operands, at most %u",
				  s->operand_count, MOST_OPERANDS);
	if (s->value_count > MOST_VALUES)
		return agile_fail(agile, -EINVAL, "statement: %u values, at most %u",
				  s->value_count, MOST_VALUES);
	if (s->flags & ~(SALVO_AGILE_STEAL | SALVO_AGILE_SERIAL))
		return agile_fail(agile, -EINVAL, "statement: unknown flags 0x%x",
				  s->flags & ~(SALVO_AGILE_STEAL | SALVO_AGILE_SERIAL));
	for (i = 0; i < s->operand_count; i++) {
		if (!s->operands[i].field)
			return agile_fail(agile, -EINVAL, "statement: operand %u has no field", i);
		if (s->operands[i].field == s->result &&
		    (s->operands[i].region || s->flags & SALVO_AGILE_STEAL))
			return agile_fail(agile, -EINVAL,
					  "statement: operand %u is the result, field %s: it must have no region, and SALVO_AGILE_STEAL must not be set",
					  i, s->result->name);
	}
	return 0;
}

static int set_vector(struct salvo_kernel *kernel, unsigned int index, const uint64_t *from,
		      unsigned int rank)
{
	uint32_t vector[SALVO_AGILE_RANKS] = { 0 };
	unsigned int d;

	for (d = 0; d < rank; d++)
		vector[d] = from[d];
	return salvo_kernel_set_value(kernel, index, vector, sizeof(vector));
}

/* The four arguments of a part. */
static int set_part(struct salvo_kernel *kernel, unsigned int index, const struct agile_part *part)
{
	int err = salvo_kernel_set_bo(kernel, index, part->bo, part->offset);

	if (!err)
		err = set_vector(kernel, index + 1, part->stride, part->grid.rank);
	if (!err)
		err = set_vector(kernel, index + 2, part->grid.offset, part->grid.rank);
	if (!err)
		err = set_vector(kernel, index + 3, part->grid.extent, part->grid.rank);
	return err;
}

static int set_grid(struct salvo_kernel *kernel, const struct salvo_agile_grid *task, bool serial)
{
	uint32_t items[3] = { 1, 1, 1 };
	unsigned int d, x = 0;

	if (serial)
		return salvo_kernel_set_grid(kernel, 1, items, NULL);
	for (d = task->rank; d--; x += x < 2)
		items[x] *= task->extent[d];
	return salvo_kernel_set_grid(kernel, task->rank < 3 ? task->rank : 3, items, NULL);
}

static int dispatch(struct agile_batch *b, const struct salvo_agile_statement *s,
		    const struct agile_part *parts, const struct salvo_agile_grid *task)
{
	struct salvo_kernel *kernel = agile_kernel_of(s->kernel, b->node);
	const unsigned int first = 4 * (s->operand_count + 1);
	const char *name = agile_kernel_name(s->kernel);
	unsigned int i;
	int err = set_grid(kernel, task, s->flags & SALVO_AGILE_SERIAL);

	if (err)
		return agile_fail(b->agile, err,
				  "kernel %s does not run over a task of %llu elements", name,
				  (unsigned long long)salvo_agile_grid_count(task));
	for (i = 0; i <= s->operand_count; i++) {
		err = set_part(kernel, 4 * i, &parts[i]);
		if (err)
			return agile_fail(b->agile, err,
					  "kernel %s: arguments %u to %u must be a global pointer and three uint4, for %s",
					  name, 4 * i, 4 * i + 3,
					  i ? s->operands[i - 1].field->name : s->result->name);
	}
	for (i = 0; i < s->value_count; i++) {
		err = salvo_kernel_set_value(kernel, first + i, s->values[i].value,
					     s->values[i].size);
		if (err)
			return agile_fail(b->agile, err,
					  "kernel %s: argument %u is not a value of %zu bytes",
					  name, first + i, s->values[i].size);
	}
	return agile_batch_check(b, salvo_batch_dispatch(b->batch, kernel));
}

/* Where the result goes: its owner's memory, or a tile if that is another node. */
static int find_result(struct agile_batch *b, struct salvo_agile_field *result, uint32_t block,
		       const struct salvo_agile_grid *task, struct agile_part *home,
		       struct agile_part *part)
{
	const uint64_t bytes = salvo_agile_grid_count(task) * result->info.element_bytes;
	const unsigned int owner = agile_block_node(result, block);
	struct agile_away *away;
	int err;

	if (!agile_reaches(result, owner)) {
		away = &b->aways->all[b->aways->count];
		err = salvo_bo_create(b->agile->nodes[b->node].device, bytes, 0, &away->bo);
		if (err)
			return agile_fail(b->agile, err, "node %u: no memory for a result of %llu bytes",
					  b->node, (unsigned long long)bytes);
		b->aways->count++;
		away->task = *task;
		away->block = block;
		*part = (struct agile_part){ .bo = away->bo, .grid = *task };
		agile_strides(task, part->stride);
		return 0;
	}
	err = agile_block_part(result, block, b->node, home);
	if (err || b->agile->planning)
		return err;
	err = agile_use(b, result, owner, SALVO_AGILE_WRITE);
	if (err)
		return err;
	home->offset += agile_offset(&home->grid, task, home->stride) * result->info.element_bytes;
	home->grid = *task;
	*part = *home;
	if (owner == b->node)
		return 0;
	part->offset = 0;
	agile_strides(task, part->stride);
	return agile_batch_memory(b, bytes, &part->bo);
}

static void count_task(struct agile_batch *b, const struct salvo_agile_field *result,
		       uint32_t block, const struct salvo_agile_grid *task)
{
	struct salvo_agile_stats *stats = &b->agile->nodes[b->node].stats;

	stats->tasks++;
	if (agile_block_node(result, block) == b->node)
		return;
	stats->stolen++;
	stats->returned_bytes += salvo_agile_grid_count(task) * result->info.element_bytes;
}

static int add_task(struct agile_batch *b, const struct salvo_agile_statement *s, uint32_t number)
{
	struct agile_producers producers = { .serial = b->serial };
	struct agile_part parts[MOST_OPERANDS + 1], home;
	struct salvo_agile_grid task, region;
	struct agile_span span;
	unsigned int i;
	uint32_t block;
	int err = 0, index;

	task_grid(s, number, &task, &block);
	for (i = 0; i < s->operand_count && !err; i++) {
		err = find_region(&s->operands[i], &task, &region);
		if (!err)
			err = agile_region(b, s->operands[i].field, &region, &parts[i + 1],
					   &producers);
	}
	if (!err && !b->agile->planning)
		err = agile_batch_room(b, producers.count + 4);
	if (!err)
		err = find_result(b, s->result, block, &task, &home, &parts[0]);
	if (err)
		return err;
	count_task(b, s->result, block, &task);
	agile_invalidate(s->result, block);
	if (b->agile->planning)
		return 0;
	index = dispatch(b, s, parts, &task);
	if (index < 0)
		return index;
	err = agile_order(b, &producers, index);
	if (err || agile_block_node(s->result, block) == b->node ||
	    !agile_reaches(s->result, agile_block_node(s->result, block)))
		return err;
	producers = (struct agile_producers){ b->serial, 1, { index } };
	return agile_copy_part(b, &home, &parts[0], &task, s->result->info.element_bytes,
			       &producers, &span);
}

/* Run the tasks of a node up to number @end of its queue. */
static int run_node(struct salvo_agile *agile, const struct salvo_agile_statement *s,
		    struct agile_tasks *tasks, unsigned int node, uint32_t end)
{
	struct agile_batch b = { .agile = agile, .node = node };
	uint32_t task;
	int err = 0;

	if (tasks->queues[node].top == end)
		return 0;
	if (!agile->planning)
		err = agile_batch_init(&b, agile, node, false);
	while (!err && tasks->queues[node].top < end &&
	       agile_tasks_take(tasks, node, false, NULL, NULL, &task))
		err = add_task(&b, s, task);
	if (!err && !agile->planning)
		err = agile_batch_flush(&b);
	if (agile->planning) {
		free(b.fresh);
		return err;
	}
	agile_batch_fini(&b);
	return err;
}

/* --- over several ranks ------------------------------------------------------------- */

/* Is everything on the node that computes it, as all maps are the same? */
static bool stays_home(const struct salvo_agile_statement *s)
{
	unsigned int i;

	for (i = 0; i < s->operand_count; i++)
		if (s->operands[i].region || s->operands[i].field->map != s->result->map)
			return false;
	return true;
}

/* What a task lacks. Return: 1 if it must wait for other ranks, 0, or an error. */
static int fetch_for_task(struct agile_fetches *fetches, const struct salvo_agile_statement *s,
			  uint32_t task, unsigned int node)
{
	struct salvo_agile_grid grid, region;
	unsigned int i;
	uint32_t block;
	int waits = 0, err = 0;

	task_grid(s, task, &grid, &block);
	for (i = 0; i < s->operand_count && err >= 0; i++) {
		err = find_region(&s->operands[i], &grid, &region);
		if (!err)
			err = agile_fetch_region(fetches, s->operands[i].field, &region, node);
		waits |= err > 0;
	}
	return err < 0 ? err : waits;
}

/*
 * Put the tasks of a node that find everything on this rank in front of its queue, in their order,
 * and behind them the others. Return: how many are in front, or an error.
 */
static int split_queue(struct agile_fetches *fetches, const struct salvo_agile_statement *s,
		       struct agile_queue *queue, unsigned int node)
{
	const uint32_t count = queue->bottom;
	uint32_t *later = calloc(count ? count : 1, sizeof(*later));
	uint32_t i, front = 0, back = 0;
	int waits = 0;

	if (!later)
		return agile_fail(s->result->agile, -ENOMEM, "out of memory");
	for (i = 0; i < count && waits >= 0; i++) {
		const uint32_t task = queue->tasks[i];

		waits = fetch_for_task(fetches, s, task, node);
		if (waits > 0)
			later[back++] = task;
		else
			queue->tasks[front++] = task;
	}
	if (waits >= 0 && back)
		memcpy(queue->tasks + front, later, back * sizeof(*later));
	free(later);
	return waits < 0 ? waits : (int)front;
}

static int run_ranks(struct salvo_agile *agile, const struct salvo_agile_statement *s,
		     struct agile_tasks *tasks, int err)
{
	struct salvo_agile_field *fields[MOST_OPERANDS];
	struct agile_fetches fetches = { 0 };
	const bool away = !stays_home(s);
	unsigned int i, n;

	for (i = 0; i < s->operand_count; i++)
		fields[i] = s->operands[i].field;
	if (!err)
		agile_tasks_keep(tasks, agile->first, agile->local);
	/* Tasks write at once, but first do only those that find all they read on their rank. */
	if (agile_lent(s->result))
		err = agile_settle(agile, AGILE_CALL_FORALL, err, fields,
				   away ? s->operand_count : 0, s->result);
	for (n = agile->first; n < agile->first + agile->local && !err; n++) {
		const int front = split_queue(&fetches, s, &tasks->queues[n], n);

		err = front < 0 ? front : run_node(agile, s, tasks, n, front);
	}
	if (away)
		err = agile_settle(agile, AGILE_CALL_FORALL, err, fields, s->operand_count, NULL);
	err = agile_fetch_run(agile, err, &fetches);
	for (n = agile->first; n < agile->first + agile->local && !err; n++)
		err = run_node(agile, s, tasks, n, tasks->queues[n].bottom);
	for (i = 0; i < s->operand_count && away; i++)
		agile_lend(fields[i]);
	agile_written(s->result);
	/* Other ranks write their parts. */
	for (i = 0; i < s->result->block_count; i++)
		agile_invalidate(s->result, i);
	agile_fetch_fini(&fetches);
	return err;
}

/* --- with stealing ------------------------------------------------------------------ */

struct lack {
	const struct salvo_agile_statement *s;
	const struct salvo_agile_field *field;
	unsigned int node;
	uint64_t bytes;
};

static int add_lack(void *data, uint32_t block, const struct salvo_agile_grid *common)
{
	struct lack *lack = data;
	const struct salvo_agile_field *field = lack->field;
	uint32_t i = field->blocks[block].copies;

	(void)common;
	if (agile_block_node(field, block) == lack->node)
		return 0;
	for (; i != AGILE_NO_COPY; i = field->copies[i].next)
		if (field->copies[i].node == lack->node && field->copies[i].valid)
			return 0;
	lack->bytes += salvo_agile_grid_count(&field->blocks[block].grid) *
		       field->info.element_bytes;
	return 0;
}

/* What the operands of a task lack on a node. */
static uint64_t missing(void *data, uint32_t number, unsigned int node)
{
	const struct salvo_agile_statement *s = data;
	struct lack lack = { .s = s, .node = node };
	struct salvo_agile_grid task, region;
	uint32_t block;
	unsigned int i;

	task_grid(s, number, &task, &block);
	for (i = 0; i < s->operand_count; i++) {
		lack.field = s->operands[i].field;
		if (!find_region(&s->operands[i], &task, &region))
			agile_each_block(lack.field, &region, add_lack, &lack);
	}
	return lack.bytes;
}

/* The next task for a node, with what it reads of other ranks. Return: 1, 0, or an error. */
static int take_task(const struct salvo_agile_statement *s, struct agile_tasks *tasks,
		     unsigned int node, uint32_t *task)
{
	struct salvo_agile *agile = s->result->agile;
	struct agile_fetches fetches = { 0 };
	int err;

	if (!agile->ranks)
		return agile_tasks_take(tasks, node, true, missing, (void *)s, task);
	err = agile_steal_take(agile, tasks, node, missing, (void *)s, task);
	if (err <= 0)
		return err;
	err = fetch_for_task(&fetches, s, *task, node);
	if (err > 0)
		err = agile_steal_fetch(&fetches);
	agile_fetch_fini(&fetches);
	return err ? err : 1;
}

/*
 * Give a node its next few tasks. Return: 1 if there were some, with @fd that says when they end.
 */
static int feed_node(struct salvo_agile *agile, const struct salvo_agile_statement *s,
		     struct agile_tasks *tasks, unsigned int node, struct agile_aways *aways,
		     int *fd)
{
	struct agile_batch b;
	unsigned int count;
	uint32_t task;
	int err = agile_batch_init(&b, agile, node, false);
	int got = 1;

	b.aways = aways;
	for (count = 0; count < AGILE_STEAL_CHUNK && !err; count++) {
		got = take_task(s, tasks, node, &task);
		if (got <= 0)
			break;
		err = add_task(&b, s, task);
	}
	if (!err && got < 0)
		err = got;
	if (!err && count)
		err = agile_batch_flush(&b);
	if (!err && count)
		err = salvo_fence_get_fd(agile->nodes[node].next[0], fd);
	agile_batch_fini(&b);
	return err ? err : count > 0;
}

/* Results of other ranks' tasks go there; @err: they are forgotten. */
static int give_back(const struct salvo_agile_statement *s, struct agile_aways *aways, int err)
{
	struct salvo_agile_field *result = s->result;
	unsigned int i;
	void *map;

	for (i = 0; i < aways->count && !err; i++) {
		const struct agile_away *away = &aways->all[i];
		struct agile_part part = { .bo = away->bo, .grid = away->task };

		agile_strides(&away->task, part.stride);
		err = salvo_bo_map(away->bo, &map);
		if (!err)
			err = agile_put(result, away->block, &away->task, &part, map);
	}
	if (aways->count && !err)
		err = agile_steal_flush(result);
	while (aways->count)
		salvo_bo_destroy(aways->all[--aways->count].bo);
	return err;
}

/* Feed the nodes of this rank until no queue has tasks, and they are idle. */
static int feed_nodes(struct salvo_agile *agile, const struct salvo_agile_statement *s,
		      struct agile_tasks *tasks, struct pollfd *fds, struct agile_aways *aways)
{
	unsigned int n, busy = 0;
	int err = 0, got;

	do {
		for (n = agile->first; n < agile->first + agile->local && !err; n++) {
			if (fds[n].fd >= 0 && !fds[n].revents)
				continue;
			if (fds[n].fd >= 0) {
				close(fds[n].fd);
				busy--;
			}
			fds[n] = (struct pollfd){ .fd = -1, .events = POLLIN };
			err = give_back(s, &aways[n], 0);
			if (err)
				break;
			got = feed_node(agile, s, tasks, n, &aways[n], &fds[n].fd);
			busy += got > 0;
			err = got < 0 ? got : 0;
		}
		if (!err && agile->ranks)
			err = agile_steal_progress(agile);
		/* Other ranks are served now and then. */
		if (!err && busy && poll(fds, agile->count, agile->ranks ? 1 : -1) < 0 &&
		    errno != EINTR)
			err = agile_fail(agile, -errno, "statement: poll: %s", strerror(errno));
	} while (!err && busy);
	return err;
}

static int run_stealing(struct salvo_agile *agile, const struct salvo_agile_statement *s,
			struct agile_tasks *tasks, int err)
{
	struct agile_aways *aways = calloc(agile->count, sizeof(*aways));
	struct pollfd *fds = calloc(agile->count, sizeof(*fds));
	struct salvo_agile_field *fields[MOST_OPERANDS + 1];
	unsigned int n;
	int ended;

	if (!err && (!fds || !aways))
		err = agile_fail(agile, -ENOMEM, "out of memory");
	for (n = 0; n < s->operand_count; n++)
		fields[n] = s->operands[n].field;
	fields[n] = s->result;
	if (agile->ranks) {
		if (!err)
			err = agile_wait_queues(agile);
		err = agile_steal_begin(agile, err, tasks, fields, n + 1);
	}
	if (err)
		goto out;
	for (n = 0; n < agile->count; n++)
		fds[n] = (struct pollfd){ .fd = -1, .events = POLLIN };
	err = feed_nodes(agile, s, tasks, fds, aways);
	agile_end_statement(agile);
	ended = agile_wait_queues(agile);
	err = err ? err : ended;
	for (n = 0; n < agile->count; n++) {
		if (fds[n].fd >= 0)
			close(fds[n].fd);
		give_back(s, &aways[n], -ECANCELED);
	}
	if (agile->ranks)
		err = agile_steal_end(agile, err, fields, s->operand_count + 1);
	for (n = 0; n < s->result->block_count; n++)
		agile_invalidate(s->result, n);
out:
	free(aways);
	free(fds);
	return err;
}

int salvo_agile_forall(struct salvo_agile *agile, const struct salvo_agile_statement *s)
{
	struct agile_tasks tasks = { 0 };
	unsigned int n;
	int err = check_statement(agile, s);

	if (err)
		return err;
	err = agile_tasks_init(&tasks, s->result);
	if (!err && agile->range)
		agile_tasks_within(&tasks, s->result, agile->range);
	if (s->flags & SALVO_AGILE_STEAL && !agile->planning)
		err = run_stealing(agile, s, &tasks, err);
	else if (agile->ranks)
		err = run_ranks(agile, s, &tasks, err);
	else
		for (n = 0; n < agile->count && !err; n++)
			err = run_node(agile, s, &tasks, n, tasks.queues[n].bottom);
	agile_end_statement(agile);
	agile_tasks_fini(&tasks);
	return err;
}

int salvo_agile_forall_range(struct salvo_agile *agile, const struct salvo_agile_statement *s,
			     const struct salvo_agile_grid *range)
{
	int err = check_statement(agile, s);

	if (err)
		return err;
	err = agile_check_inside(s->result, "range", range);
	if (err)
		return err;
	agile->range = range;
	err = salvo_agile_forall(agile, s);
	agile->range = NULL;
	return err;
}

int salvo_agile_schedule(struct salvo_agile *agile, const struct salvo_agile_statement *s,
			 const double *speeds, struct salvo_agile_schedule *nodes)
{
	struct agile_tasks tasks = { 0 };
	struct salvo_agile_grid grid;
	uint32_t task, block, i;
	unsigned int n, next;
	int err = check_statement(agile, s);

	if (!err && !agile->planning)
		err = agile_fail(agile, -EINVAL, "schedule: the nodes have devices");
	if (!err)
		err = agile_tasks_init(&tasks, s->result);
	memset(nodes, 0, agile->count * sizeof(*nodes));
	for (n = 0; n < s->operand_count && !err; n++)
		for (i = 0; i < s->operands[n].field->copy_count; i++)
			s->operands[n].field->copies[i].valid = false;
	for (n = 0; n < agile->count && !err; n++)
		nodes[n].queued = tasks.queues[n].bottom - tasks.queues[n].top;
	while (!err && tasks.left) {
		struct agile_batch b = { .agile = agile };

		/* The node that is free first and finds a task. */
		for (n = 0, next = agile->count; n < agile->count; n++)
			if ((s->flags & SALVO_AGILE_STEAL ||
			     tasks.queues[n].top < tasks.queues[n].bottom) &&
			    (next == agile->count || nodes[n].finish < nodes[next].finish))
				next = n;
		agile_tasks_take(&tasks, next, s->flags & SALVO_AGILE_STEAL, missing, (void *)s,
				 &task);
		agile_task_grid(s->result, task, &grid, &block);
		b.node = next;
		nodes[next].moved_bytes -= agile->nodes[next].stats.moved_bytes;
		err = add_task(&b, s, task);
		nodes[next].moved_bytes += agile->nodes[next].stats.moved_bytes;
		free(b.fresh);
		nodes[next].tasks++;
		nodes[next].stolen += agile_block_node(s->result, block) != next;
		nodes[next].finish += salvo_agile_grid_count(&grid) /
				      (speeds ? speeds[next] : 1.0);
	}
	agile_tasks_fini(&tasks);
	return err;
}

/* --- ahead of a statement (A7) --------------------------------------------------------- */

static int move_block(void *data, uint32_t block, const struct salvo_agile_grid *common)
{
	void **args = data;
	struct agile_producers producers = { 0 };
	struct agile_part part;

	(void)common;
	/* What other ranks store is fetched. */
	if (agile_block_node(args[1], block) == ((struct agile_batch *)args[0])->node ||
	    !agile_reaches(args[1], agile_block_node(args[1], block)))
		return 0;
	return agile_bring(args[0], args[1], block, &part, &producers);
}

static int move_node(struct salvo_agile *agile, struct salvo_agile_field *result,
		     const struct salvo_agile_operand *operand, struct agile_queue *queue,
		     unsigned int node, struct agile_fetches *fetches)
{
	struct agile_batch b = { .agile = agile, .node = node, .mover = true };
	void *args[2] = { &b, operand->field };
	struct salvo_agile_grid task, region;
	uint32_t i, block;
	int err = agile->planning ? 0 : agile_batch_init(&b, agile, node, true);

	for (i = queue->top; i < queue->bottom && !err; i++) {
		agile_task_grid(result, queue->tasks[i], &task, &block);
		err = find_region(operand, &task, &region);
		if (!err)
			err = agile_each_block(operand->field, &region, move_block, args);
		if (!err && agile->ranks)
			err = agile_fetch_region(fetches, operand->field, &region, node);
		err = err < 0 ? err : 0;
	}
	if (agile->planning) {
		free(b.fresh);
		return err;
	}
	if (!err)
		err = agile_batch_flush(&b);
	agile_batch_fini(&b);
	return err;
}

int salvo_agile_move_memory(struct salvo_agile *agile, struct salvo_agile_field *result,
			    const struct salvo_agile_operand *operand)
{
	struct agile_fetches fetches = { 0 };
	struct agile_tasks tasks = { 0 };
	unsigned int n;
	struct salvo_agile_field *field = operand->field;
	int err = agile_tasks_init(&tasks, result);

	if (!err)
		agile_tasks_keep(&tasks, agile->first, agile->local);
	err = agile_settle(agile, AGILE_CALL_MOVE_MEMORY, err, &field, 1, NULL);
	for (n = 0; n < agile->count && !err; n++)
		if (tasks.queues[n].top < tasks.queues[n].bottom)
			err = move_node(agile, result, operand, &tasks.queues[n], n, &fetches);
	agile_end_statement(agile);
	agile_lend(field);
	err = agile_fetch_run(agile, err, &fetches);
	agile_fetch_fini(&fetches);
	agile_tasks_fini(&tasks);
	return err;
}
