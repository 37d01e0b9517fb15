/* SPDX-License-Identifier: MIT */
/*
 * cp_parser.h - the parts of the command processor: head of a packet, batches, address spaces
 */
#ifndef SALVO_CP_PARSER_H
#define SALVO_CP_PARSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "cp.h"
#include "fault.h"
#include "salvo_hw.h"

/**
 * struct salvo_cp_parser - A packet while it is parsed.
 */
struct salvo_cp_parser {
	struct salvo_cp *cp;
	struct salvo_gpu_job *job;
	const struct salvo_packet *head;
	/** @at, @end: The commands that are left. */
	const uint8_t *at;
	const uint8_t *end;
	/** @index: Of the work command that is parsed, else SALVO_FAULT_NO_COMMAND. */
	uint32_t index;
	/** @had: Mask of the set-up commands so far. */
	uint32_t had;
	/** @eu_mask: Units of the packet. */
	uint64_t eu_mask;
	const uint8_t *args;
	uint32_t args_bytes;
	/** @entry: Kernel of the last dispatch, which has been checked; 0 before the first. */
	uint64_t entry;
	/** @dispatch: The last one whose grid was checked, or NULL; @size: its work-groups. */
	const struct salvo_op_dispatch *dispatch;
	uint32_t size[3];
	/** @pipe_controls: Number so far. */
	uint32_t pipe_controls;
	/** @join: Element of the last join, or SALVO_FAULT_NO_COMMAND. */
	uint32_t join;
	/** @segment: First command after it. */
	uint32_t segment;
	/** @segment_work: Work commands after it. */
	uint32_t segment_work;
	/** @fault: What is wrong. */
	struct salvo_fault fault;
};

/**
 * salvo_cp_refuse() - Note why a packet is refused. Return: false.
 */
bool salvo_cp_refuse(struct salvo_cp_parser *p, uint32_t kind, uint64_t address);

/**
 * salvo_cp_bad() - The same for a field that is no address. Return: false.
 */
bool salvo_cp_bad(struct salvo_cp_parser *p);

/**
 * salvo_cp_give_up() - Nothing is wrong with the packet, but there is no memory. Return: false.
 */
bool salvo_cp_give_up(struct salvo_cp_parser *p);

/**
 * salvo_cp_next_op() - The next command, or NULL if its length is not that of its code.
 */
const struct salvo_op *salvo_cp_next_op(struct salvo_cp_parser *p);

/**
 * salvo_cp_close() - Parse the closing command. Return: false if it is not the last, or wrong.
 */
bool salvo_cp_close(struct salvo_cp_parser *p);

/**
 * salvo_cp_parse_batch() - Make work elements and edges of a batch's commands (cp_batch.c).
 *
 * Return: false if it is refused.
 */
bool salvo_cp_parse_batch(struct salvo_cp_parser *p);

/**
 * salvo_cp_run_space() - Check an address space packet, then do what it says (cp_space.c).
 *
 * Return: false if it is refused; some of its commands may have been run.
 */
bool salvo_cp_run_space(struct salvo_cp_parser *p);

#endif /* SALVO_CP_PARSER_H */
