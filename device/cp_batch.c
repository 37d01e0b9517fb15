// SPDX-License-Identifier: MIT
/*
 * cp_batch.c - the command processor: batches
 *
 * One walk over the commands makes a work element of each (element i is command
 * i) and notes the pipe controls; a second one, over the pipe controls, links
 * producers to consumers (B3 of WO2015/123840). A pipe control for ALL is a join:
 * an element without items that waits for all work since the join before, and
 * that all work up to the next join waits for, so n commands make 2n edges and
 * not n * n.
 *
 * Called with the command processor's lock held. The job is not visible to units yet.
 */
#include "cp_parser.h"

#include "aspace.h"
#include "dispatch.h"
#include "element.h"
#include "job.h"
#include "overlap.h"
#include "queues.h"
#include "salvo_rect.h"
#include "transfer.h"
#include "drm/salvo_drm.h"

/* Bit of a set-up command */
#define HAD(code)	(1u << ((code) - SALVO_OP_SETUP_STATE))

static bool check_address(struct salvo_cp_parser *p, uint64_t address, uint64_t size,
			  uint32_t access)
{
	if (salvo_aspaces_covers(p->cp->aspaces, p->job->entry.asid, address, size, access))
		return true;
	p->fault.access = access;
	return salvo_cp_refuse(p, SALVO_FAULT_PACKET, address);
}

static bool setup_state(struct salvo_cp_parser *p, const struct salvo_op_setup_state *op)
{
	const struct salvo_ring_entry *entry = &p->job->entry;
	const uint64_t allowed = entry->eu_mask ? entry->eu_mask : p->cp->units;

	if (op->asid != entry->asid || op->ctx != entry->ctx || op->eu_mask & ~allowed)
		return salvo_cp_bad(p);
	p->eu_mask = op->eu_mask ? op->eu_mask : allowed;
	return true;
}

static bool setup_args(struct salvo_cp_parser *p, const struct salvo_op_setup_args *op)
{
	const uint32_t commands_end = sizeof(*p->head) + p->head->command_bytes;

	if (op->offset % 64 || op->offset < commands_end || op->offset > p->head->bytes ||
	    op->bytes > p->head->bytes - op->offset || op->bytes > SALVO_MAX_ARGUMENT_BYTES)
		return salvo_cp_bad(p);
	p->args = (const uint8_t *)p->head + op->offset;
	p->args_bytes = op->bytes;
	return true;
}

static bool setup_profile(struct salvo_cp_parser *p, const struct salvo_op_setup_profile *op)
{
	const uint64_t size = p->head->command_count * sizeof(struct drm_salvo_profile);

	if (op->address % 8 || !salvo_aspaces_in_vram(p->cp->aspaces, op->address, size))
		return salvo_cp_refuse(p, SALVO_FAULT_PACKET, op->address);
	p->job->profile = op->address;
	return check_address(p, op->address, size, SALVO_ACCESS_WRITE);
}

/* Memory is coherent: both kinds of cache control have nothing to do. */
static bool setup_cache(struct salvo_cp_parser *p, const struct salvo_op_cache *op)
{
	if (op->flags & ~(SALVO_CACHE_INVALIDATE | SALVO_CACHE_FLUSH) || op->reserved)
		return salvo_cp_bad(p);
	return true;
}

static bool parse_setup(struct salvo_cp_parser *p, const struct salvo_op *op)
{
	if (op->index || p->had & HAD(op->code))
		return salvo_cp_bad(p);
	p->had |= HAD(op->code);
	switch (op->code) {
	case SALVO_OP_SETUP_STATE:
		return setup_state(p, (const void *)op);
	case SALVO_OP_SETUP_ARGS:
		return setup_args(p, (const void *)op);
	case SALVO_OP_SETUP_PROFILE:
		return setup_profile(p, (const void *)op);
	default:
		return setup_cache(p, (const void *)op);
	}
}

static void add_edge(struct salvo_gpu_job *job, uint32_t producer, uint32_t consumer)
{
	const uint32_t at = job->edge_count++;

	job->edges[at].consumer = consumer;
	job->edges[at].next = job->elements[producer].first_edge;
	job->elements[producer].first_edge = at;
	job->elements[consumer].producers++;
	job->elements[consumer].root = false;
}

/* Makes the element of a work command. Inlined: most commands of a batch are dispatches. */
__attribute__((always_inline))
static inline void add_work(struct salvo_cp_parser *p, uint32_t kind, const void *op,
			    uint64_t mask, const uint32_t size[3])
{
	struct salvo_element *element = &p->job->elements[p->index];

	element->op = op;
	element->kind = kind;
	element->apu_mask = mask;
	element->root = true;
	salvo_element_set_range(element, size);
	atomic_init(&element->left, element->total);
	p->job->work++;
	p->segment_work++;
	if (p->join != SALVO_FAULT_NO_COMMAND)
		add_edge(p->job, p->join, p->index);
}

static void add_blocks(struct salvo_cp_parser *p, uint32_t kind, const void *op, uint64_t bytes)
{
	const uint32_t size[3] = { (bytes - 1) / SALVO_BLOCK_BYTES + 1, 1, 1 };

	add_work(p, kind, op, p->eu_mask, size);
}

static bool has_arguments(const struct salvo_cp_parser *p, uint32_t offset, uint32_t size)
{
	return offset % 16 == 0 && offset <= p->args_bytes && size <= p->args_bytes - offset;
}

/* Many dispatches have the grid of the one before. */
static bool check_grid(struct salvo_cp_parser *p, const struct salvo_op_dispatch *op)
{
	if (p->dispatch && salvo_dispatch_is_same_grid(op, p->dispatch))
		return true;
	if (!salvo_dispatch_has_grid(op, p->size))
		return false;
	p->dispatch = op;
	return true;
}

static bool parse_dispatch(struct salvo_cp_parser *p, const struct salvo_op_dispatch *op)
{
	const uint64_t mask = op->eu_mask ? op->eu_mask & p->eu_mask : p->eu_mask;

	if (!check_grid(p, op) || !salvo_dispatch_has_limits(op) || op->eu_mask & ~p->cp->units ||
	    !mask || !has_arguments(p, op->args_offset, op->args_size))
		return salvo_cp_bad(p);
	if ((!op->entry || op->entry != p->entry) &&
	    !check_address(p, op->entry, 1, SALVO_ACCESS_EXEC))
		return false;
	p->entry = op->entry;

	p->job->elements[p->index].args = p->args + op->args_offset;
	add_work(p, SALVO_ELEMENT_DISPATCH, op, mask, p->size);
	return true;
}

static bool parse_copy(struct salvo_cp_parser *p, const struct salvo_op_copy *op)
{
	if (!op->size)
		return salvo_cp_bad(p);
	if (!check_address(p, op->dst, op->size, SALVO_ACCESS_WRITE) ||
	    !check_address(p, op->src, op->size, SALVO_ACCESS_READ))
		return false;
	if (op->dst < op->src + op->size && op->src < op->dst + op->size)
		return salvo_cp_refuse(p, SALVO_FAULT_PACKET, op->src);
	add_blocks(p, SALVO_ELEMENT_COPY, op, op->size);
	return true;
}

static bool parse_fill(struct salvo_cp_parser *p, const struct salvo_op_fill *op)
{
	if (!op->size || op->size % 4 || op->dst % 4 || op->reserved)
		return salvo_cp_bad(p);
	if (!check_address(p, op->dst, op->size, SALVO_ACCESS_WRITE))
		return false;
	add_blocks(p, SALVO_ELEMENT_FILL, op, op->size);
	return true;
}

static bool parse_copy_rect(struct salvo_cp_parser *p, const struct salvo_op_copy_rect *op)
{
	const uint64_t dst = salvo_rect_span(op->width, op->height, op->depth, op->dst_row_pitch,
					     op->dst_slice_pitch);
	const uint64_t src = salvo_rect_span(op->width, op->height, op->depth, op->src_row_pitch,
					     op->src_slice_pitch);
	const uint32_t size[3] = { salvo_transfer_rect_items(op), 1, 1 };

	if (!dst || !src)
		return salvo_cp_bad(p);
	if (!check_address(p, op->dst, dst, SALVO_ACCESS_WRITE) ||
	    !check_address(p, op->src, src, SALVO_ACCESS_READ))
		return false;
	if (!size[0])
		return salvo_cp_bad(p);
	if (op->dst < op->src + src && op->src < op->dst + dst &&
	    (op->dst_row_pitch != op->src_row_pitch ||
	     op->dst_slice_pitch != op->src_slice_pitch ||
	     salvo_rect_overlaps(op->dst > op->src ? op->dst - op->src : op->src - op->dst,
				 op->width, op->height, op->depth, op->dst_row_pitch,
				 op->dst_slice_pitch)))
		return salvo_cp_refuse(p, SALVO_FAULT_PACKET, op->src);
	add_work(p, SALVO_ELEMENT_COPY_RECT, op, p->eu_mask, size);
	return true;
}

static bool parse_fill_pattern(struct salvo_cp_parser *p, const struct salvo_op_fill_pattern *op)
{
	if (!op->args_size || op->args_size > SALVO_MAX_PATTERN_BYTES ||
	    !has_arguments(p, op->args_offset, op->args_size) || !op->size ||
	    op->size % op->args_size)
		return salvo_cp_bad(p);
	if (!check_address(p, op->dst, op->size, SALVO_ACCESS_WRITE))
		return false;
	p->job->elements[p->index].args = p->args + op->args_offset;
	add_blocks(p, SALVO_ELEMENT_FILL_PATTERN, op, op->size);
	return true;
}

static bool parse_timestamp(struct salvo_cp_parser *p, const struct salvo_op_timestamp *op)
{
	if (op->dst % 8)
		return salvo_cp_bad(p);
	if (!check_address(p, op->dst, sizeof(uint64_t), SALVO_ACCESS_WRITE))
		return false;
	add_blocks(p, SALVO_ELEMENT_TIMESTAMP, op, 1);
	return true;
}

/* Orders all work before against all after. */
static void add_join(struct salvo_cp_parser *p)
{
	struct salvo_gpu_job *job = p->job;
	const bool waits = job->overlaps && p->join == SALVO_FAULT_NO_COMMAND;
	uint32_t i;

	/* With no work since the join before there is nothing new to wait for. */
	if (!p->segment_work && !waits)
		return;
	for (i = p->segment; i < p->index; i++)
		if (job->elements[i].kind >= SALVO_ELEMENT_DISPATCH)
			add_edge(job, i, p->index);
	job->elements[p->index].kind = SALVO_ELEMENT_JOIN;
	/* Work of the batches before is before it, too. */
	if (waits)
		salvo_gpu_overlap_add_turn(job, &job->elements[p->index]);
	p->join = p->index;
	p->segment = p->index + 1;
	p->segment_work = 0;
}

static bool parse_pipe_control(struct salvo_cp_parser *p, const struct salvo_op_pipe_control *op)
{
	p->pipe_controls++;
	if (op->flags & (op->flags - 1) || op->reserved ||
	    op->flags & ~(SALVO_PIPE_CONTROL_ALL | SALVO_PIPE_CONTROL_PREVIOUS))
		return salvo_cp_bad(p);
	if (op->flags == SALVO_PIPE_CONTROL_ALL) {
		if (op->consumer || op->producer)
			return salvo_cp_bad(p);
		add_join(p);
		return true;
	}
	if (op->consumer >= p->head->command_count)
		return salvo_cp_bad(p);
	if (op->flags ? !p->job->overlaps || op->producer >= SALVO_MAX_COMMANDS :
			op->producer >= op->consumer)
		return salvo_cp_bad(p);
	/* Linked later: the commands may stand behind it. */
	p->job->elements[p->index].op = op;
	return true;
}

static bool parse_command(struct salvo_cp_parser *p, const struct salvo_op *op)
{
	struct salvo_element *element = &p->job->elements[p->index];

	if (op->index != p->index)
		return salvo_cp_bad(p);
	element->job = p->job;
	element->index = p->index;
	element->prio = salvo_queues_prio(p->job->entry.priority);
	element->kind = SALVO_ELEMENT_NONE;
	element->root = false;
	element->coalesced = 1;
	element->first_edge = SALVO_EDGE_NONE;
	element->op = NULL;
	atomic_init(&element->producers, 0);
	atomic_init(&element->failed, false);
	atomic_init(&element->followers, NULL);
	atomic_init(&element->started, 0);
	element->ready = 0;
	element->ended = 0;

	switch (op->code) {
	case SALVO_OP_DISPATCH:
		return parse_dispatch(p, (const void *)op);
	case SALVO_OP_PIPE_CONTROL:
		return parse_pipe_control(p, (const void *)op);
	case SALVO_OP_COPY:
		return parse_copy(p, (const void *)op);
	case SALVO_OP_FILL:
		return parse_fill(p, (const void *)op);
	case SALVO_OP_TIMESTAMP:
		return parse_timestamp(p, (const void *)op);
	case SALVO_OP_COPY_RECT:
		return parse_copy_rect(p, (const void *)op);
	case SALVO_OP_FILL_PATTERN:
		return parse_fill_pattern(p, (const void *)op);
	default:
		return salvo_cp_bad(p);
	}
}

/* Pairs may name any work commands of the batch (B3 of WO2015/123840). */
static bool link_pairs(struct salvo_cp_parser *p)
{
	struct salvo_gpu_job *job = p->job;
	uint32_t i;

	for (i = 0; i < job->commands; i++) {
		const struct salvo_op_pipe_control *op = job->elements[i].op;

		if (job->elements[i].kind != SALVO_ELEMENT_NONE || !op)
			continue;
		p->index = i;
		if (job->elements[op->consumer].kind < SALVO_ELEMENT_DISPATCH)
			return salvo_cp_bad(p);
		if (op->flags) {
			salvo_gpu_overlap_add_previous(job, &job->elements[i]);
			continue;
		}
		if (job->elements[op->producer].kind < SALVO_ELEMENT_DISPATCH)
			return salvo_cp_bad(p);
		add_edge(job, op->producer, op->consumer);
	}
	p->index = SALVO_FAULT_NO_COMMAND;
	return true;
}

bool salvo_cp_parse_batch(struct salvo_cp_parser *p)
{
	struct salvo_gpu_job *job = p->job;
	const uint32_t count = p->head->command_count;
	const struct salvo_op *op = salvo_cp_next_op(p);

	job->overlaps = job->entry.flags & SALVO_RING_OVERLAP;
	for (; op && op->code >= SALVO_OP_SETUP_STATE && op->code <= SALVO_OP_CACHE;
	     op = salvo_cp_next_op(p))
		if (!parse_setup(p, op))
			return false;
	if (!(p->had & HAD(SALVO_OP_SETUP_STATE)))
		return salvo_cp_bad(p);

	/* A command makes one edge to or from a join, and a pair one more. */
	if (!salvo_gpu_job_reserve_elements(job, count, 2 * count))
		return salvo_cp_give_up(p);
	for (p->index = 0; p->index < count; p->index++) {
		if (!op)
			return salvo_cp_bad(p);
		if (!parse_command(p, op))
			return false;
		job->commands++;
		if (p->index + 1 < count)
			op = salvo_cp_next_op(p);
	}
	if (!salvo_cp_close(p))
		return false;
	if ((p->head->kind == SALVO_PACKET_BATCH_SYNC) != !!p->pipe_controls)
		return salvo_cp_bad(p);
	return !p->pipe_controls || link_pairs(p);
}
