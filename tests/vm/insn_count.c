// SPDX-License-Identifier: MIT
/*
 * insn_count.c - a plugin for QEMU's TCG: how many guest instructions does a call take?
 *
 * The guest marks a span of its code with two unique NOPs (insn_marker.h). When a virtual CPU
 * executes the first one, the plugin starts to count the instructions of that CPU, kernel and
 * interrupts included; at the second one it records the sum. At exit it writes the number of spans
 * and their median for each id. The program in the guest must be pinned to one CPU.
 *
 * usage: qemu-system-x86_64 -plugin insn_count.so,out=FILE
 *
 * A translation block without a marker is counted as a whole when it is entered, one with a marker
 * instruction by instruction. Each CPU writes to its own counters only. Debian does not package the
 * header of QEMU's plugin interface, so the part that is used is declared here: version 1 for QEMU
 * 7.2 of Debian 12, version 3 for QEMU 9.1 and later, which do not take version 1.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "insn_marker.h"

/* --- QEMU's interface ----------------------------------------------------------- */

typedef uint64_t qemu_plugin_id_t;
struct qemu_info;
struct qemu_plugin_tb;
struct qemu_plugin_insn;

#define QEMU_PLUGIN_CB_NO_REGS	0
#define EXPORT	__attribute__((visibility("default")))

extern EXPORT int qemu_plugin_version;
EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc,
			       char **argv);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
					   void (*cb)(qemu_plugin_id_t, struct qemu_plugin_tb *));
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, void (*cb)(qemu_plugin_id_t, void *),
				    void *data);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb,
					  void (*cb)(unsigned int, void *), int flags, void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    void (*cb)(unsigned int, void *), int flags,
					    void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
/* Version 1 returns a pointer to the bytes and has one argument; version 3 copies them. */
uintptr_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *dest, size_t size);
/* Is there since version 3. */
const void *qemu_plugin_request_time_control(void) __attribute__((weak));

/* --- counting ------------------------------------------------------------------- */

#define MAX_CPUS	8
#define MAX_IDS		8
#define MAX_SPANS	65536

struct spans {
	uint32_t count;
	uint64_t insns[MAX_SPANS];
};

static struct cpu {
	bool counting;
	uint64_t insns;
} cpus[MAX_CPUS];

/* Indexed by the marker's id; written only by the CPU that the marked program runs on. */
static struct spans spans[MAX_IDS];
static char out_path[4096];

int qemu_plugin_version = 1;

/* Runs before QEMU reads qemu_plugin_version. */
static __attribute__((constructor)) void choose_version(void)
{
	if (qemu_plugin_request_time_control)
		qemu_plugin_version = 3;
}

static void executed(unsigned int cpu, void *insns)
{
	if (cpu < MAX_CPUS && cpus[cpu].counting)
		cpus[cpu].insns += (uintptr_t)insns;
}

static void span_starts(unsigned int cpu, void *id)
{
	if (cpu < MAX_CPUS)
		cpus[cpu] = (struct cpu){ .counting = true };
}

static void span_ends(unsigned int cpu, void *id)
{
	struct spans *s = &spans[(uintptr_t)id];

	if (cpu >= MAX_CPUS || !cpus[cpu].counting)
		return;
	cpus[cpu].counting = false;
	if (s->count < MAX_SPANS)
		s->insns[s->count++] = cpus[cpu].insns;
}

/* Is the instruction a marker? Returns its id and whether it starts or ends a span. */
static bool is_marker(const struct qemu_plugin_insn *insn, uintptr_t *id, bool *start)
{
	static const uint8_t nop[] = INSN_MARKER_BYTES;
	const size_t size = qemu_plugin_insn_size(insn);
	uint8_t copy[sizeof(nop) + 2];
	const uint8_t *bytes = copy;
	uintptr_t data;

	if (size != sizeof(copy))
		return false;
	data = qemu_plugin_insn_data(insn, copy, sizeof(copy));
	if (qemu_plugin_version == 1)
		bytes = (const uint8_t *)data;
	if (memcmp(bytes, nop, sizeof(nop)) ||
	    bytes[size - 2] >= MAX_IDS || bytes[size - 1] > 1)
		return false;
	*id = bytes[size - 2];
	*start = bytes[size - 1];
	return true;
}

static void translated(qemu_plugin_id_t plugin, struct qemu_plugin_tb *tb)
{
	const size_t n = qemu_plugin_tb_n_insns(tb);
	bool marked = false, start;
	uintptr_t id;
	size_t i;

	for (i = 0; i < n; i++)
		marked |= is_marker(qemu_plugin_tb_get_insn(tb, i), &id, &start);
	if (!marked) {
		qemu_plugin_register_vcpu_tb_exec_cb(tb, executed, QEMU_PLUGIN_CB_NO_REGS,
						     (void *)n);
		return;
	}
	for (i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		if (is_marker(insn, &id, &start))
			qemu_plugin_register_vcpu_insn_exec_cb(insn,
							       start ? span_starts : span_ends,
							       QEMU_PLUGIN_CB_NO_REGS, (void *)id);
		else
			qemu_plugin_register_vcpu_insn_exec_cb(insn, executed,
							       QEMU_PLUGIN_CB_NO_REGS, (void *)1);
	}
}

static int compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void at_exit(qemu_plugin_id_t plugin, void *data)
{
	FILE *out = fopen(out_path, "w");
	unsigned int id;

	if (!out) {
		perror(out_path);
		return;
	}
	for (id = 0; id < MAX_IDS; id++) {
		struct spans *s = &spans[id];

		if (!s->count)
			continue;
		qsort(s->insns, s->count, sizeof(s->insns[0]), compare);
		fprintf(out, "%u %u %llu\n", id, s->count,
			(unsigned long long)s->insns[s->count / 2]);
	}
	fclose(out);
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv)
{
	int i;

	for (i = 0; i < argc; i++)
		if (!strncmp(argv[i], "out=", 4))
			snprintf(out_path, sizeof(out_path), "%s", argv[i] + 4);
	if (!*out_path) {
		fputs("insn_count: out=FILE is missing\n", stderr);
		return 1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	qemu_plugin_register_atexit_cb(id, at_exit, NULL);
	return 0;
}
