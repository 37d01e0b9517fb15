// SPDX-License-Identifier: MIT
/*
 * cp.c - the command processor
 *
 * Fetches a packet into device memory with one copy and looks only at that copy,
 * so nothing can change after it was checked. Everything is checked again, as if
 * there were no driver: every field, every address against the address space, the
 * order of commands. A packet with anything wrong fails its own fence with
 * SALVO_STATUS_BAD_PACKET and a fault record, and nothing of it runs.
 *
 * One walk over the commands makes a work element of each (element i is command
 * i) and notes the pipe controls; a second one, over the pipe controls, links
 * producers to consumers (B3 of WO2015/123840). A pipe control for ALL is a join:
 * an element without items that waits for all work since the join before, and
 * that all work up to the next join waits for, so n commands make 2n edges and
 * not n * n.
 *
 * Where address spaces are processes the device does so with packets that change them. Of a
 * batch it checks what it goes by itself, the ring entry, the head and the close; the
 * commands are checked in the process that runs them, by the same code.
 *
 * Runs in the thread that rang the doorbell, with the command processor's lock
 * held. In steady state it allocates nothing.
 */
#include "cp.h"

#include <string.h>
#include "clock.h"
#include "element.h"
#include "gpu.h"
#include "isolation.h"
#include "drm/salvo_drm.h"

#define NO_COMMAND	SALVO_FAULT_NO_COMMAND

/* Set-up commands that a packet has had */
#define HAD(code)	(1u << ((code) - SALVO_OP_SETUP_STATE))

/* Largest packet: head, set-up, all commands and close, arguments, and gaps between. */
#define MAX_PACKET_BYTES (sizeof(struct salvo_packet) + 256 + \
			  SALVO_MAX_COMMANDS * sizeof(struct salvo_op_dispatch) + \
			  SALVO_MAX_ARGUMENT_BYTES + 128)

/**
 * struct parser - A packet while it is parsed.
 */
struct parser {
	struct salvo_gpu *gpu;
	struct salvo_gpu_job *job;
	const struct salvo_packet *head;
	/** @at, @end: The commands that are left. */
	const uint8_t *at;
	const uint8_t *end;
	/** @index: Of the command that is parsed, NO_COMMAND for others. */
	uint32_t index;
	/** @had: Set-up commands so far, HAD(). */
	uint32_t had;
	/** @eu_mask: Units of the packet. */
	uint64_t eu_mask;
	const uint8_t *args;
	uint32_t args_bytes;
	/** @entry: Kernel of the last dispatch, which was found to be one; 0 before. */
	uint64_t entry;
	/** @pipe_controls: Number so far. */
	uint32_t pipe_controls;
	/** @join: Element of the last join, or NO_COMMAND. */
	uint32_t join;
	/** @segment: First command after it. */
	uint32_t segment;
	/** @segment_work: Work commands after it. */
	uint32_t segment_work;
	/** @fault: What is wrong. */
	struct salvo_fault fault;
};

/* Gives the reason why a packet is refused; always false. */
static bool refuse(struct parser *p, uint32_t kind, uint64_t address)
{
	p->fault.kind = kind;
	p->fault.command = p->index;
	p->fault.item = SALVO_FAULT_NO_ITEM;
	p->fault.address = address;
	return false;
}

/* For fields whose value is not an address. */
static bool bad(struct parser *p)
{
	return refuse(p, SALVO_FAULT_PACKET, 0);
}

static bool check_address(struct parser *p, uint64_t address, uint64_t size, uint32_t access)
{
	if (salvo_aspaces_covers(&p->gpu->aspaces, p->job->entry.asid, address, size, access))
		return true;
	p->fault.access = access;
	return refuse(p, SALVO_FAULT_PACKET, address);
}

/* First of all, so that a packet with anything else wrong can be told how it ended. */
static bool find_result(struct parser *p)
{
	const struct salvo_packet *head = p->head;

	if (head->magic != SALVO_PACKET_MAGIC || head->bytes != p->job->entry.packet_bytes)
		return bad(p);
	if (head->result % 8 || !salvo_dma_covers(&p->gpu->dma, head->result,
						  sizeof(struct salvo_packet_result)))
		return refuse(p, SALVO_FAULT_DMA, head->result);
	p->job->result = head->result;
	return true;
}

/* Nothing is wrong with the packet, but there is no memory for it. */
static bool give_up(struct parser *p)
{
	p->job->status = SALVO_STATUS_KILLED;
	return false;
}

/* The same when it is not even there; who waits for the result is told all the same. */
static bool give_up_unread(struct parser *p)
{
	struct salvo_packet head;

	if (salvo_dma_read(&p->gpu->dma, &head, p->job->entry.packet, sizeof(head))) {
		p->head = &head;
		find_result(p);
		p->head = NULL;
	}
	return give_up(p);
}

/* One copy into device memory (B11 of WO2015/123840). */
static bool fetch(struct parser *p)
{
	const struct salvo_ring_entry *entry = &p->job->entry;

	if (entry->packet % 64 || entry->packet_bytes < sizeof(struct salvo_packet) ||
	    entry->packet_bytes > MAX_PACKET_BYTES || entry->packet_bytes % 8)
		return refuse(p, SALVO_FAULT_RING, entry->packet);
	if (!salvo_gpu_job_reserve_packet(p->job, entry->packet_bytes))
		return give_up_unread(p);
	if (!salvo_dma_read(&p->gpu->dma, p->job->packet, entry->packet, entry->packet_bytes))
		return refuse(p, SALVO_FAULT_DMA, entry->packet);
	p->head = p->job->packet;
	return true;
}

static bool check_entry(struct parser *p)
{
	const struct salvo_ring_entry *entry = &p->job->entry;

	if (entry->flags & ~SALVO_RING_IRQ || !entry->asid || entry->eu_mask & ~p->gpu->eus.all ||
	    entry->priority < SALVO_PRIORITY_LOW || entry->priority > SALVO_PRIORITY_HIGH ||
	    entry->reserved0 || entry->reserved[0] || entry->reserved[1])
		return refuse(p, SALVO_FAULT_RING, entry->packet);
	return true;
}

static bool check_head(struct parser *p)
{
	const struct salvo_ring_entry *entry = &p->job->entry;
	const struct salvo_packet *head = p->head;

	if (head->fence_id != entry->seqno || !head->command_count ||
	    head->command_count > SALVO_MAX_COMMANDS || head->command_bytes % 8 ||
	    head->command_bytes > head->bytes - sizeof(*head) || head->reserved0 ||
	    head->reserved[0] || head->reserved[1] || head->reserved[2])
		return bad(p);
	if (entry->ctx ? head->kind != SALVO_PACKET_BATCH && head->kind != SALVO_PACKET_BATCH_SYNC
		       : head->kind != SALVO_PACKET_SPACE)
		return bad(p);
	p->at = (const uint8_t *)(head + 1);
	p->end = p->at + head->command_bytes;
	return true;
}

/* The next command, if it has the length that its code asks for. */
static const struct salvo_op *next_op(struct parser *p)
{
	static const uint16_t length[64] = {
		[SALVO_OP_SETUP_STATE] = sizeof(struct salvo_op_setup_state),
		[SALVO_OP_SETUP_ARGS] = sizeof(struct salvo_op_setup_args),
		[SALVO_OP_SETUP_PROFILE] = sizeof(struct salvo_op_setup_profile),
		[SALVO_OP_CACHE] = sizeof(struct salvo_op_cache),
		[SALVO_OP_DISPATCH] = sizeof(struct salvo_op_dispatch),
		[SALVO_OP_PIPE_CONTROL] = sizeof(struct salvo_op_pipe_control),
		[SALVO_OP_COPY] = sizeof(struct salvo_op_copy),
		[SALVO_OP_FILL] = sizeof(struct salvo_op_fill),
		[SALVO_OP_TIMESTAMP] = sizeof(struct salvo_op_timestamp),
		[SALVO_OP_BIND] = sizeof(struct salvo_op_bind),
		[SALVO_OP_UNBIND] = sizeof(struct salvo_op_bind),
		[SALVO_OP_SPACE_END] = sizeof(struct salvo_op_space_end),
		[SALVO_OP_BIND_SYSTEM] = sizeof(struct salvo_op_bind_system),
		[SALVO_OP_CLOSE] = sizeof(struct salvo_op_close),
	};
	const struct salvo_op *op = (const struct salvo_op *)p->at;
	const size_t left = p->end - p->at;

	if (left < sizeof(*op) || op->code >= 64 || !length[op->code] ||
	    op->bytes != length[op->code] || op->bytes > left)
		return NULL;
	p->at += op->bytes;
	return op;
}

static bool setup_state(struct parser *p, const struct salvo_op_setup_state *op)
{
	const struct salvo_ring_entry *entry = &p->job->entry;
	const uint64_t allowed = entry->eu_mask ? entry->eu_mask : p->gpu->eus.all;

	if (op->asid != entry->asid || op->ctx != entry->ctx || op->eu_mask & ~allowed)
		return bad(p);
	p->eu_mask = op->eu_mask ? op->eu_mask : allowed;
	return true;
}

static bool setup_args(struct parser *p, const struct salvo_op_setup_args *op)
{
	const uint32_t commands_end = sizeof(*p->head) + p->head->command_bytes;

	if (op->offset % 64 || op->offset < commands_end || op->offset > p->head->bytes ||
	    op->bytes > p->head->bytes - op->offset || op->bytes > SALVO_MAX_ARGUMENT_BYTES)
		return bad(p);
	p->args = (const uint8_t *)p->head + op->offset;
	p->args_bytes = op->bytes;
	return true;
}

static bool setup_profile(struct parser *p, const struct salvo_op_setup_profile *op)
{
	const uint64_t size = p->head->command_count * sizeof(struct drm_salvo_profile);

	if (op->address % 8 || !salvo_aspaces_in_vram(&p->gpu->aspaces, op->address, size))
		return refuse(p, SALVO_FAULT_PACKET, op->address);
	p->job->profile = op->address;
	return check_address(p, op->address, size, SALVO_ACCESS_WRITE);
}

/* Memory is coherent: both kinds of cache control have nothing to do. */
static bool setup_cache(struct parser *p, const struct salvo_op_cache *op)
{
	if (op->flags & ~(SALVO_CACHE_INVALIDATE | SALVO_CACHE_FLUSH) || op->reserved)
		return bad(p);
	return true;
}

static bool parse_setup(struct parser *p, const struct salvo_op *op)
{
	if (op->index || p->had & HAD(op->code))
		return bad(p);
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

/* Makes the element of a work command. */
static void add_work(struct parser *p, uint32_t kind, const void *op, uint64_t mask,
		     const uint32_t size[3])
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
	if (p->join != NO_COMMAND)
		add_edge(p->job, p->join, p->index);
}

static void add_blocks(struct parser *p, uint32_t kind, const void *op, uint64_t bytes)
{
	const uint32_t size[3] = { (bytes - 1) / SALVO_BLOCK_BYTES + 1, 1, 1 };

	add_work(p, kind, op, p->eu_mask, size);
}

static bool parse_dispatch(struct parser *p, const struct salvo_op_dispatch *op)
{
	const uint64_t mask = op->eu_mask ? op->eu_mask & p->eu_mask : p->eu_mask;
	uint64_t group_items = 1, groups = 1;
	uint32_t size[3];
	unsigned int d;

	if (op->flags & ~SALVO_DISPATCH_BARRIERS || op->reserved || op->dims < 1 || op->dims > 3)
		return bad(p);
	for (d = op->dims; d < 3; d++) {
		if (op->items[d] != 1 || op->group[d] != 1)
			return bad(p);
		size[d] = 1;
	}
	for (d = 0; d < op->dims; d++) {
		const uint32_t items = op->items[d], group = op->group[d];

		if (!items || items > SALVO_MAX_ITEMS || !group)
			return bad(p);
		size[d] = group == 1 ? items : (items - 1) / group + 1;
		group_items *= group;
		groups *= size[d];
		if (group_items > SALVO_MAX_GROUP_ITEMS || groups > SALVO_MAX_GROUPS)
			return bad(p);
	}
	if (op->eu_mask & ~p->gpu->eus.all || !mask || op->args_offset % 16 ||
	    op->args_size > SALVO_MAX_DISPATCH_ARGUMENT_BYTES ||
	    op->args_offset > p->args_bytes || op->args_size > p->args_bytes - op->args_offset ||
	    op->local_size > SALVO_MAX_LOCAL_BYTES)
		return bad(p);
	if ((!op->entry || op->entry != p->entry) &&
	    !check_address(p, op->entry, 1, SALVO_ACCESS_EXEC))
		return false;
	p->entry = op->entry;

	p->job->elements[p->index].args = p->args + op->args_offset;
	add_work(p, SALVO_ELEMENT_DISPATCH, op, mask, size);
	return true;
}

static bool parse_copy(struct parser *p, const struct salvo_op_copy *op)
{
	if (!op->size)
		return bad(p);
	if (!check_address(p, op->dst, op->size, SALVO_ACCESS_WRITE) ||
	    !check_address(p, op->src, op->size, SALVO_ACCESS_READ))
		return false;
	if (op->dst < op->src + op->size && op->src < op->dst + op->size)
		return refuse(p, SALVO_FAULT_PACKET, op->src);
	add_blocks(p, SALVO_ELEMENT_COPY, op, op->size);
	return true;
}

static bool parse_fill(struct parser *p, const struct salvo_op_fill *op)
{
	if (!op->size || op->size % 4 || op->dst % 4 || op->reserved)
		return bad(p);
	if (!check_address(p, op->dst, op->size, SALVO_ACCESS_WRITE))
		return false;
	add_blocks(p, SALVO_ELEMENT_FILL, op, op->size);
	return true;
}

static bool parse_timestamp(struct parser *p, const struct salvo_op_timestamp *op)
{
	if (op->dst % 8)
		return bad(p);
	if (!check_address(p, op->dst, sizeof(uint64_t), SALVO_ACCESS_WRITE))
		return false;
	add_blocks(p, SALVO_ELEMENT_TIMESTAMP, op, 1);
	return true;
}

/* Orders all work before against all after. */
static void add_join(struct parser *p)
{
	struct salvo_gpu_job *job = p->job;
	uint32_t i;

	/* With no work since the join before there is nothing new to wait for. */
	if (!p->segment_work)
		return;
	for (i = p->segment; i < p->index; i++)
		if (job->elements[i].kind >= SALVO_ELEMENT_DISPATCH)
			add_edge(job, i, p->index);
	job->elements[p->index].kind = SALVO_ELEMENT_JOIN;
	p->join = p->index;
	p->segment = p->index + 1;
	p->segment_work = 0;
}

static bool parse_pipe_control(struct parser *p, const struct salvo_op_pipe_control *op)
{
	p->pipe_controls++;
	if (op->flags & ~SALVO_PIPE_CONTROL_ALL || op->reserved)
		return bad(p);
	if (op->flags & SALVO_PIPE_CONTROL_ALL) {
		if (op->consumer || op->producer)
			return bad(p);
		add_join(p);
		return true;
	}
	if (op->producer >= op->consumer || op->consumer >= p->head->command_count)
		return bad(p);
	/* Linked later: the commands may stand behind it. */
	p->job->elements[p->index].op = op;
	return true;
}

static bool parse_command(struct parser *p, const struct salvo_op *op)
{
	struct salvo_element *element = &p->job->elements[p->index];

	if (op->index != p->index)
		return bad(p);
	element->job = p->job;
	element->index = p->index;
	element->prio = salvo_queues_prio(p->job->entry.priority);
	element->kind = SALVO_ELEMENT_NONE;
	element->root = false;
	element->coalesced = 1;
	element->first_edge = SALVO_EDGE_NONE;
	element->op = NULL;
	atomic_init(&element->producers, 0);
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
	default:
		return bad(p);
	}
}

/* Pairs may name any work commands of the batch (B3 of WO2015/123840). */
static bool link_pairs(struct parser *p)
{
	struct salvo_gpu_job *job = p->job;
	uint32_t i;

	for (i = 0; i < job->commands; i++) {
		const struct salvo_op_pipe_control *op = job->elements[i].op;

		if (job->elements[i].kind != SALVO_ELEMENT_NONE || !op)
			continue;
		p->index = i;
		if (job->elements[op->producer].kind < SALVO_ELEMENT_DISPATCH ||
		    job->elements[op->consumer].kind < SALVO_ELEMENT_DISPATCH)
			return bad(p);
		add_edge(job, op->producer, op->consumer);
	}
	p->index = NO_COMMAND;
	return true;
}

/* Exactly one, at the very end. */
static bool parse_close(struct parser *p)
{
	const struct salvo_op_close *op = (const void *)next_op(p);

	p->index = NO_COMMAND;
	if (!op || op->op.code != SALVO_OP_CLOSE || op->op.index ||
	    op->fence_id != p->job->entry.seqno || p->at != p->end)
		return bad(p);
	return true;
}

static bool parse_batch(struct parser *p)
{
	struct salvo_gpu_job *job = p->job;
	const uint32_t count = p->head->command_count;
	const struct salvo_op *op = next_op(p);

	for (; op && op->code >= SALVO_OP_SETUP_STATE && op->code <= SALVO_OP_CACHE;
	     op = next_op(p))
		if (!parse_setup(p, op))
			return false;
	if (!(p->had & HAD(SALVO_OP_SETUP_STATE)))
		return bad(p);

	/* A command makes one edge to or from a join, and a pair one more. */
	if (!salvo_gpu_job_reserve_elements(job, count, 2 * count))
		return give_up(p);
	for (p->index = 0; p->index < count; p->index++) {
		if (!op)
			return bad(p);
		if (!parse_command(p, op))
			return false;
		job->commands++;
		if (p->index + 1 < count)
			op = next_op(p);
	}
	if (!parse_close(p))
		return false;
	if ((p->head->kind == SALVO_PACKET_BATCH_SYNC) != !!p->pipe_controls)
		return bad(p);
	return !p->pipe_controls || link_pairs(p);
}

/*
 * The process of the address space parses the commands (space_jobs.c), so that no more of a
 * batch is looked at here than what is changed on the way there.
 */
static bool pass_batch(struct parser *p)
{
	if (p->head->command_bytes < sizeof(struct salvo_op_close))
		return bad(p);
	p->at = p->end - sizeof(struct salvo_op_close);
	p->job->commands = p->head->command_count;
	return parse_close(p);
}

static bool bind_system(struct parser *p, const struct salvo_op_bind_system *op)
{
	return (salvo_dma_allows(&p->gpu->dma, op->system, op->size) &&
		salvo_aspaces_bind_system(&p->gpu->aspaces, p->job->entry.asid, op->address,
					  op->size, op->system, op->access)) ||
	       refuse(p, SALVO_FAULT_PACKET, op->address);
}

static bool run_space_command(struct parser *p, const struct salvo_op *op)
{
	struct salvo_aspaces *aspaces = &p->gpu->aspaces;
	const struct salvo_op_bind *range = (const void *)op;
	const uint32_t asid = p->job->entry.asid;

	switch (op->code) {
	case SALVO_OP_BIND:
		return salvo_aspaces_bind(aspaces, asid, range->address, range->size,
					  range->access) ||
		       refuse(p, SALVO_FAULT_PACKET, range->address);
	case SALVO_OP_UNBIND:
		p->job->unbinds = true;
		return salvo_aspaces_unbind(aspaces, asid, range->address, range->size) ||
		       refuse(p, SALVO_FAULT_PACKET, range->address);
	case SALVO_OP_BIND_SYSTEM:
		return bind_system(p, (const void *)op);
	default:
		p->job->unbinds = true;
		p->job->ends_space = true;
		salvo_aspaces_end(aspaces, asid);
		return true;
	}
}

static bool check_space_command(struct parser *p, const struct salvo_op *op)
{
	const struct salvo_op_bind *range = (const void *)op;

	if (!op || op->index)
		return bad(p);
	switch (op->code) {
	case SALVO_OP_BIND:
		return !range->reserved || bad(p);
	case SALVO_OP_UNBIND:
		return (!range->reserved && !range->access) || bad(p);
	case SALVO_OP_BIND_SYSTEM:
		return !((const struct salvo_op_bind_system *)op)->reserved || bad(p);
	default:
		return op->code == SALVO_OP_SPACE_END || bad(p);
	}
}

/* Checks the whole packet first, then does what it says. */
static bool run_space(struct parser *p)
{
	const uint8_t *first = p->at;
	uint32_t i;

	for (i = 0; i < p->head->command_count; i++)
		if (!check_space_command(p, next_op(p)))
			return false;
	if (!parse_close(p))
		return false;

	p->at = first;
	for (i = 0; i < p->head->command_count; i++)
		if (!run_space_command(p, next_op(p)))
			break;
	if (p->gpu->spaces)
		p->gpu->config.isolation->changed(p->gpu->spaces, p->job->entry.asid);
	return i == p->head->command_count;
}

static bool parse(struct parser *p)
{
	if (!p->job->entry.ctx)
		return run_space(p);
	return p->gpu->spaces ? pass_batch(p) : parse_batch(p);
}

void salvo_cp_run(struct salvo_gpu *gpu, struct salvo_gpu_job *job)
{
	struct parser p = {
		.gpu = gpu, .job = job, .index = NO_COMMAND, .join = NO_COMMAND,
	};

	if (fetch(&p) && find_result(&p) && check_entry(&p) && check_head(&p) && parse(&p)) {
		if (job->profile)
			job->queued = salvo_clock();
	} else {
		salvo_gpu_job_fail(job, p.fault.command, &p.fault);
	}
	salvo_gpu_job_submit(job);
}
