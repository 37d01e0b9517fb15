// SPDX-License-Identifier: MIT
/*
 * cp.c - the command processor
 *
 * Fetches a packet into device memory with one copy and reads only that copy,
 * so nothing can change after it was checked. Everything is checked again, as if
 * there were no driver: every field, every address against the address space, the
 * order of commands. A packet with anything wrong fails its own fence with
 * SALVO_STATUS_BAD_PACKET and a fault record, and nothing of it runs.
 *
 * This file checks the ring entry, the head and the close. cp_batch.c makes work elements of
 * a batch, cp_space.c changes address spaces. Where address spaces are processes, the commands of a
 * batch are not parsed here but in the process that runs them, by the same code.
 *
 * Runs in the thread that rang the doorbell, with the command processor's lock
 * held. In steady state it allocates nothing.
 */
#include "cp.h"

#include "clock.h"
#include "cp_parser.h"
#include "dma.h"
#include "jobs.h"

/* Largest packet: head, set-up, all commands and close, arguments, and gaps between. */
#define MAX_PACKET_BYTES (sizeof(struct salvo_packet) + 256 + \
			  SALVO_MAX_COMMANDS * sizeof(struct salvo_op_copy_rect) + \
			  SALVO_MAX_ARGUMENT_BYTES + 128)

bool salvo_cp_refuse(struct salvo_cp_parser *p, uint32_t kind, uint64_t address)
{
	p->fault.kind = kind;
	p->fault.command = p->index;
	p->fault.item = SALVO_FAULT_NO_ITEM;
	p->fault.address = address;
	return false;
}

bool salvo_cp_bad(struct salvo_cp_parser *p)
{
	return salvo_cp_refuse(p, SALVO_FAULT_PACKET, 0);
}

bool salvo_cp_give_up(struct salvo_cp_parser *p)
{
	p->job->status = SALVO_STATUS_KILLED;
	return false;
}

/* First, so that the result of a packet with anything else wrong can be written. */
static bool find_result(struct salvo_cp_parser *p)
{
	const struct salvo_packet *head = p->head;

	if (head->magic != SALVO_PACKET_MAGIC || head->bytes != p->job->entry.packet_bytes)
		return salvo_cp_bad(p);
	if (head->result % 8 ||
	    !salvo_dma_covers(p->cp->dma, head->result, sizeof(struct salvo_packet_result)))
		return salvo_cp_refuse(p, SALVO_FAULT_DMA, head->result);
	p->job->result = head->result;
	return true;
}

/* No memory for a copy of the packet: find out from its head where to write the result. */
static bool give_up_unread(struct salvo_cp_parser *p)
{
	struct salvo_packet head;

	if (salvo_dma_read(p->cp->dma, &head, p->job->entry.packet, sizeof(head))) {
		p->head = &head;
		find_result(p);
		p->head = NULL;
	}
	return salvo_cp_give_up(p);
}

/* One copy into device memory (B11 of WO2015/123840). */
static bool fetch(struct salvo_cp_parser *p)
{
	const struct salvo_ring_entry *entry = &p->job->entry;

	if (entry->packet % 64 || entry->packet_bytes < sizeof(struct salvo_packet) ||
	    entry->packet_bytes > MAX_PACKET_BYTES || entry->packet_bytes % 8)
		return salvo_cp_refuse(p, SALVO_FAULT_RING, entry->packet);
	if (!salvo_gpu_job_reserve_packet(p->job, entry->packet_bytes))
		return give_up_unread(p);
	if (!salvo_dma_read(p->cp->dma, p->job->packet, entry->packet, entry->packet_bytes))
		return salvo_cp_refuse(p, SALVO_FAULT_DMA, entry->packet);
	p->head = p->job->packet;
	return true;
}

static bool check_entry(struct salvo_cp_parser *p)
{
	const struct salvo_ring_entry *entry = &p->job->entry;
	const uint32_t flags =
		SALVO_RING_IRQ | (entry->ctx ? SALVO_RING_OVERLAP | SALVO_RING_REPORT : 0);

	if (entry->flags & ~flags || !entry->asid || entry->eu_mask & ~p->cp->units ||
	    entry->priority < SALVO_PRIORITY_LOW || entry->priority > SALVO_PRIORITY_HIGH ||
	    entry->reserved0 || entry->reserved[0] || entry->reserved[1])
		return salvo_cp_refuse(p, SALVO_FAULT_RING, entry->packet);
	return true;
}

static bool check_head(struct salvo_cp_parser *p)
{
	const struct salvo_ring_entry *entry = &p->job->entry;
	const struct salvo_packet *head = p->head;

	if (head->fence_id != entry->seqno || !head->command_count ||
	    head->command_count > SALVO_MAX_COMMANDS || head->command_bytes % 8 ||
	    head->command_bytes > head->bytes - sizeof(*head) || head->reserved0 ||
	    head->reserved[0] || head->reserved[1] || head->reserved[2])
		return salvo_cp_bad(p);
	if (entry->ctx ? head->kind != SALVO_PACKET_BATCH && head->kind != SALVO_PACKET_BATCH_SYNC
		       : head->kind != SALVO_PACKET_SPACE)
		return salvo_cp_bad(p);
	p->at = (const uint8_t *)(head + 1);
	p->end = p->at + head->command_bytes;
	return true;
}

const struct salvo_op *salvo_cp_next_op(struct salvo_cp_parser *p)
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
		[SALVO_OP_COPY_RECT] = sizeof(struct salvo_op_copy_rect),
		[SALVO_OP_FILL_PATTERN] = sizeof(struct salvo_op_fill_pattern),
		[SALVO_OP_BIND] = sizeof(struct salvo_op_bind),
		[SALVO_OP_UNBIND] = sizeof(struct salvo_op_bind),
		[SALVO_OP_SPACE_END] = sizeof(struct salvo_op_space_end),
		[SALVO_OP_BIND_SYSTEM] = sizeof(struct salvo_op_bind_system),
		[SALVO_OP_ATTACH] = sizeof(struct salvo_op_attach),
		[SALVO_OP_DETACH] = sizeof(struct salvo_op_detach),
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

bool salvo_cp_close(struct salvo_cp_parser *p)
{
	const struct salvo_op_close *op = (const void *)salvo_cp_next_op(p);

	p->index = SALVO_FAULT_NO_COMMAND;
	if (!op || op->op.code != SALVO_OP_CLOSE || op->op.index ||
	    op->fence_id != p->job->entry.seqno || p->at != p->end)
		return salvo_cp_bad(p);
	return true;
}

/*
 * The process of the address space parses the commands (space_jobs.c). Only what changes on the
 * way there is checked here.
 */
static bool pass_batch(struct salvo_cp_parser *p)
{
	if (p->head->command_bytes < sizeof(struct salvo_op_close))
		return salvo_cp_bad(p);
	p->at = p->end - sizeof(struct salvo_op_close);
	p->job->commands = p->head->command_count;
	return salvo_cp_close(p);
}

static bool parse(struct salvo_cp_parser *p)
{
	if (!p->job->entry.ctx)
		return salvo_cp_run_space(p);
	return p->cp->spaces ? pass_batch(p) : salvo_cp_parse_batch(p);
}

void salvo_cp_run(struct salvo_cp *cp, struct salvo_gpu_job *job)
{
	struct salvo_cp_parser p = {
		.cp = cp,
		.job = job,
		.index = SALVO_FAULT_NO_COMMAND,
		.join = SALVO_FAULT_NO_COMMAND,
	};

	if (fetch(&p) && find_result(&p) && check_entry(&p) && check_head(&p) && parse(&p)) {
		if (job->profile)
			job->queued = salvo_clock();
	} else {
		salvo_gpu_job_fail(job, p.fault.command, &p.fault);
	}
	salvo_gpu_jobs_submit(job);
}
