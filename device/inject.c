// SPDX-License-Identifier: MIT
/*
 * inject.c - fault injection
 *
 * A list of faults, each for one batch. Batches are counted when they are done and at the head
 * of their ring: then jobs.c looks up the faults of the batch, delays its
 * fence, and modifies what it reports. How batches run is not affected.
 *
 * The lock of jobs.c protects the list.
 */
#include "inject.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "clock.h"
#include "cursor.h"
#include "salvo_gpu.h"
#include "salvo_hw.h"

/* Default difference of a wrong seqno: no batch has that one. */
#define FAR_OFF	1000000000

/* Registers that can be corrupt, by their numbers */
#define REGISTER(name, field) \
	{ name, offsetof(struct salvo_regs, field), sizeof(((struct salvo_regs *)0)->field) }

static const struct {
	const char *name;
	size_t offset;
	size_t bytes;
} registers[] = {
	REGISTER(":magic", magic),
	REGISTER(":head", ring[0].head),
	REGISTER(":fence", ring[0].fence),
};
#define REGISTERS (sizeof(registers) / sizeof(registers[0]))

/* --- the text ---------------------------------------------------------------- */

struct parser {
	const char *at;
	/* The fault that is parsed, for messages */
	const char *item;
	char *why;
};

static int error(const struct parser *p, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int error(const struct parser *p, const char *format, ...)
{
	const size_t length = strcspn(p->item, ",");
	int used = snprintf(p->why, SALVO_GPU_WHY, "'%.*s': ", (int)(length < 30 ? length : 30),
			    p->item);
	va_list args;

	va_start(args, format);
	vsnprintf(p->why + used, SALVO_GPU_WHY - used, format, args);
	va_end(args);
	return -EINVAL;
}

static int number(struct parser *p, const char *field, uint32_t most, int64_t *out)
{
	uint64_t value;

	if (!salvo_cursor_number(&p->at, most, &value))
		return error(p, "%s: a number is missing", field);
	if (!value || value > most)
		return error(p, "%s: not from 1 to %u", field, most);
	*out = (int64_t)value;
	return 0;
}

static int late(struct parser *p, int64_t *value)
{
	int err;

	if (!salvo_cursor_accept(&p->at, ":"))
		return error(p, "the time is missing, as in :200ms");
	err = number(p, "time", SALVO_INJECT_MAX_MS, value);
	if (!err && !salvo_cursor_accept(&p->at, "ms"))
		return error(p, "time: ms is missing");
	return err;
}

static int seqno(struct parser *p, int64_t *value)
{
	bool minus;
	int err;

	*value = FAR_OFF;
	if (!salvo_cursor_accept(&p->at, ":"))
		return 0;
	minus = salvo_cursor_accept(&p->at, "-");
	if (!minus && !salvo_cursor_accept(&p->at, "+"))
		return error(p, "difference: + or - is missing");
	err = number(p, "difference", FAR_OFF, value);
	if (minus)
		*value = -*value;
	return err;
}

static int reg(struct parser *p, int64_t *value)
{
	unsigned int i;

	for (i = 0; i < REGISTERS; i++) {
		if (!salvo_cursor_accept(&p->at, registers[i].name))
			continue;
		*value = i;
		return 0;
	}
	return error(p, "register: not :magic, :head or :fence");
}

static int fault(struct parser *p, struct salvo_inject *inject)
{
	static const struct {
		const char *name;
		int (*value)(struct parser *p, int64_t *value);
	} kinds[] = {
		[SALVO_INJECT_LOST_IRQ] = { "lost-irq@", NULL },
		[SALVO_INJECT_LATE_FENCE] = { "late-fence@", late },
		[SALVO_INJECT_WRONG_SEQNO] = { "wrong-seqno@", seqno },
		[SALVO_INJECT_CORRUPT] = { "corrupt@", reg },
		[SALVO_INJECT_BAD_RESULT] = { "bad-result@", NULL },
		[SALVO_INJECT_STUCK_UNITS] = { "stuck-units@", NULL },
		[SALVO_INJECT_CRASH] = { "crash@", NULL },
	};
	const uint32_t i = inject->count;
	int64_t batch;
	unsigned int k;
	int err;

	p->item = p->at;
	if (i == SALVO_INJECT_ITEMS)
		return error(p, "more than %u faults", SALVO_INJECT_ITEMS);
	for (k = 0; k <= SALVO_INJECT_CRASH && !salvo_cursor_accept(&p->at, kinds[k].name); k++)
		;
	if (k > SALVO_INJECT_CRASH)
		return error(p, "unknown fault");
	err = number(p, "batch", SALVO_INJECT_MAX_BATCH, &batch);
	if (!err && kinds[k].value)
		err = kinds[k].value(p, &inject->item[i].value);
	if (err)
		return err;
	if (*p->at && *p->at != ',')
		return error(p, "unexpected '%.10s'", p->at);
	inject->item[i].kind = k;
	inject->item[i].batch = (uint32_t)batch;
	inject->count++;
	return 0;
}

int salvo_inject_parse(struct salvo_inject *inject, const char *text, char *why)
{
	struct parser p = { .at = text, .why = why };
	int err = 0;

	memset(inject, 0, sizeof(*inject));
	if (!*text)
		return 0;
	do
		err = fault(&p, inject);
	while (!err && salvo_cursor_accept(&p.at, ","));
	return err;
}

int salvo_gpu_check_inject(const char *text, char *why)
{
	struct salvo_inject inject;

	return salvo_inject_parse(&inject, text, why);
}

/* --- faults of a batch ------------------------------------------------------ */

void salvo_inject_count(struct salvo_inject *inject, struct salvo_injected *injected)
{
	uint32_t i;

	injected->counted = true;
	inject->batches++;
	for (i = 0; i < inject->count; i++) {
		if (inject->item[i].batch != inject->batches)
			continue;
		switch (inject->item[i].kind) {
		case SALVO_INJECT_LOST_IRQ:
			injected->lost_irq = true;
			break;
		case SALVO_INJECT_LATE_FENCE:
			injected->until = salvo_clock() +
					  inject->item[i].value * (SALVO_CLOCK_HZ / 1000);
			break;
		case SALVO_INJECT_WRONG_SEQNO:
			injected->add = inject->item[i].value;
			break;
		case SALVO_INJECT_CORRUPT:
			injected->corrupt |= 1u << inject->item[i].value;
			break;
		case SALVO_INJECT_BAD_RESULT:
			injected->bad_result = true;
			break;
		case SALVO_INJECT_STUCK_UNITS:
			inject->stuck_units = true;
			break;
		case SALVO_INJECT_CRASH:
			/* SIGKILL: no trap, no clean-up. */
			kill(getpid(), SIGKILL);
			break;
		}
	}
}

void salvo_inject_corrupt(const struct salvo_injected *injected, struct salvo_regs *regs)
{
	uint32_t i;

	/* Atomic: other threads write the same registers. */
	for (i = 0; i < REGISTERS; i++) {
		void *reg = (char *)regs + registers[i].offset;

		if (!(injected->corrupt & (1u << i)))
			continue;
		if (registers[i].bytes == sizeof(uint64_t))
			__atomic_store_n((uint64_t *)reg, 0xa5a5a5a5a5a5a5a5, __ATOMIC_RELAXED);
		else
			__atomic_store_n((uint32_t *)reg, 0xa5a5a5a5, __ATOMIC_RELAXED);
	}
}

void salvo_inject_spoil(struct salvo_packet_result *result)
{
	memset(result, 0xa5, sizeof(*result));
	result->status = SALVO_STATUS_FAULT;
}

void salvo_inject_stick(struct salvo_regs *regs)
{
	uint32_t i;

	for (i = 0; i < regs->units && i < SALVO_MAX_UNITS; i++) {
		memset(&regs->unit[i], 0xa5, sizeof(regs->unit[i]));
		regs->unit[i].state = SALVO_UNIT_BUSY;
	}
}

/* --- the FIFO ------------------------------------------------------------------ */

void salvo_inject_control_read(struct salvo_inject_control *control, int fd,
			       void (*take)(void *cookie, const char *line), void *cookie)
{
	ssize_t got = read(fd, control->line + control->length,
			   sizeof(control->line) - control->length);
	char *start = control->line, *end;

	if (got <= 0)
		return;
	control->length += (size_t)got;
	while ((end = memchr(start, '\n', control->line + control->length - start))) {
		*end = '\0';
		take(cookie, control->too_long ? NULL : start);
		control->too_long = false;
		start = end + 1;
	}
	control->length -= (size_t)(start - control->line);
	memmove(control->line, start, control->length);
	if (control->length == sizeof(control->line)) {
		control->too_long = true;
		control->length = 0;
	}
}
