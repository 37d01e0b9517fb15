// SPDX-License-Identifier: MIT
/*
 * cp_space.c - the command processor: packets that change address spaces
 *
 * Called with the command processor's lock held, which protects the address spaces too.
 */
#include "cp_parser.h"

#include "aspace.h"
#include "dma.h"
#include "isolation.h"
#include "job.h"
#include "salvo_leaf.h"

static bool bind_system(struct salvo_cp_parser *p, const struct salvo_op_bind_system *op)
{
	return (salvo_dma_allows(p->cp->dma, op->system, op->size) &&
		salvo_aspaces_bind_system(p->cp->aspaces, p->job->entry.asid, op->address, op->size,
					  op->system, op->access)) ||
	       salvo_cp_refuse(p, SALVO_FAULT_PACKET, op->address);
}

static bool attach(struct salvo_cp_parser *p, const struct salvo_op_attach *op)
{
	struct salvo_cp *cp = p->cp;
	const uint32_t asid = p->job->entry.asid;

	if (!cp->spaces || !op->units || op->units & ~cp->units || op->slot >= SALVO_MAX_SLOTS ||
	    !op->ctx || op->priority < SALVO_PRIORITY_LOW || op->priority > SALVO_PRIORITY_HIGH ||
	    op->address % 4096 ||
	    !salvo_aspaces_in_vram(cp->aspaces, op->address, SALVO_SLOT_BYTES) ||
	    !salvo_aspaces_covers(cp->aspaces, asid, op->address, SALVO_SLOT_BYTES,
				  SALVO_ACCESS_READ | SALVO_ACCESS_WRITE))
		return salvo_cp_refuse(p, SALVO_FAULT_PACKET, op->address);
	return cp->isolation->attach(cp->spaces, asid, op) ||
	       salvo_cp_refuse(p, SALVO_FAULT_PACKET, op->address);
}

static bool detach(struct salvo_cp_parser *p, const struct salvo_op_detach *op)
{
	if (!p->cp->spaces || op->slot >= SALVO_MAX_SLOTS)
		return salvo_cp_bad(p);
	p->job->unbinds = true;
	p->cp->isolation->detach(p->cp->spaces, p->job->entry.asid, op->slot);
	return true;
}

static bool run_space_command(struct salvo_cp_parser *p, const struct salvo_op *op)
{
	struct salvo_aspaces *aspaces = p->cp->aspaces;
	const struct salvo_op_bind *range = (const void *)op;
	const uint32_t asid = p->job->entry.asid;

	switch (op->code) {
	case SALVO_OP_BIND:
		return salvo_aspaces_bind(aspaces, asid, range->address, range->size,
					  range->access) ||
		       salvo_cp_refuse(p, SALVO_FAULT_PACKET, range->address);
	case SALVO_OP_UNBIND:
		p->job->unbinds = true;
		return salvo_aspaces_unbind(aspaces, asid, range->address, range->size) ||
		       salvo_cp_refuse(p, SALVO_FAULT_PACKET, range->address);
	case SALVO_OP_BIND_SYSTEM:
		return bind_system(p, (const void *)op);
	case SALVO_OP_ATTACH:
		return attach(p, (const void *)op);
	case SALVO_OP_DETACH:
		return detach(p, (const void *)op);
	default:
		p->job->unbinds = true;
		p->job->ends_space = true;
		if (p->cp->spaces)
			p->cp->isolation->end_slots(p->cp->spaces, asid);
		salvo_aspaces_end(aspaces, asid);
		return true;
	}
}

static bool check_space_command(struct salvo_cp_parser *p, const struct salvo_op *op)
{
	const struct salvo_op_bind *range = (const void *)op;

	if (!op || op->index)
		return salvo_cp_bad(p);
	switch (op->code) {
	case SALVO_OP_BIND:
		return !range->reserved || salvo_cp_bad(p);
	case SALVO_OP_UNBIND:
		return (!range->reserved && !range->access) || salvo_cp_bad(p);
	case SALVO_OP_BIND_SYSTEM:
		return !((const struct salvo_op_bind_system *)op)->reserved || salvo_cp_bad(p);
	case SALVO_OP_ATTACH:
		return !((const struct salvo_op_attach *)op)->reserved || salvo_cp_bad(p);
	case SALVO_OP_DETACH:
		return !((const struct salvo_op_detach *)op)->reserved || salvo_cp_bad(p);
	default:
		return op->code == SALVO_OP_SPACE_END || salvo_cp_bad(p);
	}
}

bool salvo_cp_run_space(struct salvo_cp_parser *p)
{
	const uint8_t *first = p->at;
	uint32_t i;

	for (i = 0; i < p->head->command_count; i++)
		if (!check_space_command(p, salvo_cp_next_op(p)))
			return false;
	if (!salvo_cp_close(p))
		return false;

	p->at = first;
	for (i = 0; i < p->head->command_count; i++)
		if (!run_space_command(p, salvo_cp_next_op(p)))
			break;
	if (p->cp->spaces)
		p->cp->isolation->changed(p->cp->spaces, p->job->entry.asid);
	return i == p->head->command_count;
}
