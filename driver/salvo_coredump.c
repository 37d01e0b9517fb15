// SPDX-License-Identifier: GPL-2.0-only
/*
 * salvo_coredump.c - devcoredump of a hang or a lost GPU
 *
 * There are two steps. While the schedulers are stopped, the reset copies all state that
 * is about to change into a snapshot, which was allocated when the driver was bound: a
 * reset must not allocate, since memory reclaim may wait for the fences that it is about
 * to signal. Then a work item on a system workqueue formats the snapshot and passes the
 * text to devcoredump, where root finds it as /sys/class/devcoredump/devcdN/data.
 *
 * There is one snapshot: a hang while it is being formatted is not dumped, since the
 * first one is the most useful. Bit 0 of salvo_coredump.taken is the lock of the
 * snapshot: the capture sets it, and the work clears it.
 */
#include <linux/bitops.h>
#include <linux/devcoredump.h>
#include <linux/io.h>
#include <linux/ktime.h>
#include <linux/vmalloc.h>

#include <drm/drm_print.h>

#include "salvo_coredump.h"
#include "salvo_ctx.h"
#include "salvo_decode.h"
#include "salvo_device.h"
#include "salvo_fence.h"
#include "salvo_job.h"
#include "salvo_ring.h"
#include "salvo_vm.h"

/* Room for the commands of the largest batch; arguments, which are private, are not dumped. */
#define SALVO_COREDUMP_PACKET_BYTES	(sizeof(struct salvo_packet) + 256 + \
				 SALVO_MAX_COMMANDS * sizeof(struct salvo_op_copy_rect))
/* Room for the text: the head, and one line for each ring entry and each command. */
#define SALVO_COREDUMP_HEAD_BYTES	(16u << 10)
#define SALVO_COREDUMP_LINE_BYTES	256u

/**
 * struct salvo_snapshot - State of the device and of the hung batch.
 */
struct salvo_snapshot {
	/** @reason: Why it was captured. */
	const char *reason;
	/** @time: When it was captured. */
	ktime_t time;
	/** @has_job: The fields of a batch are valid. */
	bool has_job;
	/** @banned: The context had been banned before. */
	bool banned;
	/** @pid: Process that opened the file. */
	pid_t pid;
	/** @comm: Name of that process. */
	char comm[TASK_COMM_LEN];
	/** @asid: Address space identifier. */
	u32 asid;
	/** @ctx: Hardware context. */
	u32 ctx;
	/** @eu_mask: Execution units of the context. */
	u64 eu_mask;
	/** @ring: Ring of the batch. */
	unsigned int ring;
	/** @seqno: Seqno of its ring entry. */
	u64 seqno;
	/** @submitted_by_ctx: Batches submitted to the context. */
	u64 submitted_by_ctx;
	/** @completed_by_ctx: Batches of the context that ended. */
	u64 completed_by_ctx;
	/** @packet_address: DMA address of the packet. */
	u64 packet_address;
	/** @packet_bytes: Length of the packet. */
	u32 packet_bytes;
	/** @packet_copied: Number of bytes in @packet. */
	u32 packet_copied;
	/** @result: Result of the packet so far. */
	struct salvo_packet_result result;
	/** @regs: The registers. */
	struct salvo_regs regs;
	/** @ring_count: Number of elements of @rings in use. */
	u32 ring_count;
	/** @rings: The rings. */
	struct {
		/** @rings.submitted: Last entry. */
		u64 submitted;
		/** @rings.retired: Last entry that is done. */
		u64 retired;
		/** @rings.entries: All entries. */
		struct salvo_ring_entry entries[SALVO_RING_ENTRIES];
	} rings[SALVO_MAX_RINGS];
	/** @packet: Beginning of the packet. */
	u8 packet[SALVO_COREDUMP_PACKET_BYTES] __aligned(8);
};

/**
 * struct salvo_dump_text - Buffer of a struct drm_printer.
 */
struct salvo_dump_text {
	/** @data: The buffer. */
	char *data;
	/** @size: Size of @data. */
	size_t size;
	/** @used: Number of bytes printed. */
	size_t used;
};

static void salvo_coredump_printfn(struct drm_printer *p, struct va_format *vaf)
{
	struct salvo_dump_text *text = p->arg;

	text->used += scnprintf(text->data + text->used, text->size - text->used, "%pV", vaf);
}

static void salvo_coredump_print_job(struct drm_printer *p, const struct salvo_snapshot *s)
{
	const struct salvo_packet_result *r = &s->result;

	if (!s->has_job)
		return;
	drm_printf(p, "process: %s[%d]\n", s->comm, s->pid);
	drm_printf(p, "context: %u space %u units %#llx%s batches %llu ended %llu\n", s->ctx,
		   s->asid, s->eu_mask, s->banned ? " banned" : "", s->submitted_by_ctx,
		   s->completed_by_ctx);
	drm_printf(p, "batch: ring %u fence %llu packet %#llx bytes %u\n", s->ring, s->seqno,
		   s->packet_address, s->packet_bytes);
	drm_printf(p, "result: %s command %d done %u busy %llu ns\n",
		   salvo_decode_status(r->status), r->command, r->done, r->busy_ns);
}

static void salvo_coredump_print_regs(struct drm_printer *p, const struct salvo_snapshot *s)
{
	const struct salvo_fault_regs *fault = &s->regs.fault;
	const struct salvo_unit_regs *unit;
	u32 i;

	drm_printf(p, "device: version %#x generation %u heartbeat %u bus_master %u\n",
		   s->regs.version, s->regs.generation, s->regs.heartbeat, s->regs.bus_master);
	drm_printf(p, "reset: request %u ack %u\n", s->regs.reset_request, s->regs.reset_ack);
	drm_printf(p, "kill: context %u request %u ack %u\n", s->regs.kill_ctx,
		   s->regs.kill_request, s->regs.kill_ack);
	drm_printf(p, "fault: sequence %llu %s, %s at %#llx, fence %llu space %u context %u",
		   fault->sequence, salvo_decode_fault(fault->kind),
		   salvo_decode_access(fault->access), fault->address, fault->seqno, fault->asid,
		   fault->ctx);
	drm_printf(p, " command %d group %llu item %#x\n", fault->command, fault->group,
		   fault->item);
	drm_printf(p, "units: %u\n", s->regs.units);
	for (i = 0; i < min_t(u32, s->regs.units, SALVO_MAX_UNITS); i++) {
		unit = &s->regs.unit[i];
		drm_printf(p, "  %u: %s fence %llu context %u space %u command %u group %llu\n", i,
			   unit->state == SALVO_UNIT_BUSY ? "busy" : "idle", unit->seqno,
			   unit->ctx, unit->asid, unit->command, unit->group);
	}
}

static void salvo_coredump_print_ring(struct drm_printer *p, const struct salvo_snapshot *s,
				      u32 ring)
{
	const struct salvo_ring_regs *regs = &s->regs.ring[ring];
	u64 seqno = s->rings[ring].retired, last = s->rings[ring].submitted;
	const struct salvo_ring_entry *entry;

	drm_printf(p, "ring %u: base %#llx entries %u enable %u tail %llu head %llu fence %llu\n",
		   ring, regs->base, regs->entries, regs->enable, regs->tail, regs->head,
		   regs->fence);
	drm_printf(p, "ring %u: submitted %llu retired %llu\n", ring, last, seqno);
	while (++seqno <= last) {
		entry = &s->rings[ring].entries[salvo_ring_slot(seqno)];
		drm_printf(p, "  %llu: packet %#llx bytes %u flags %#x ", entry->seqno,
			   entry->packet, entry->packet_bytes, entry->flags);
		drm_printf(p, "space %u context %u units %#llx priority %d\n", entry->asid,
			   entry->ctx, entry->eu_mask, entry->priority);
	}
}

static void salvo_coredump_print(struct drm_printer *p, const struct salvo_snapshot *s)
{
	u32 i;

	drm_puts(p, "salvo devcoredump 1\n");
	drm_printf(p, "reason: %s\n", s->reason);
	drm_printf(p, "time: %lld ns\n", ktime_to_ns(s->time));
	salvo_coredump_print_job(p, s);
	salvo_coredump_print_regs(p, s);
	for (i = 0; i < s->ring_count; i++)
		salvo_coredump_print_ring(p, s, i);
	if (s->has_job)
		salvo_decode_packet(p, s->packet, s->packet_copied);
}

static size_t salvo_coredump_text_bytes(const struct salvo_snapshot *s)
{
	/* A timestamp is the shortest command. */
	size_t commands = min_t(size_t, SALVO_MAX_COMMANDS,
				s->packet_copied / sizeof(struct salvo_op_timestamp));
	u64 lines = commands;
	u32 i;

	for (i = 0; i < s->ring_count; i++)
		lines += s->rings[i].submitted - s->rings[i].retired;
	return SALVO_COREDUMP_HEAD_BYTES + lines * SALVO_COREDUMP_LINE_BYTES;
}

static void salvo_coredump_work(struct work_struct *work)
{
	struct salvo_coredump *dump = container_of(work, struct salvo_coredump, work);
	struct salvo_dev *sdev = container_of(dump, struct salvo_dev, dump);
	struct salvo_dump_text text = { .size = salvo_coredump_text_bytes(dump->snapshot) };
	struct drm_printer p = { .printfn = salvo_coredump_printfn, .arg = &text };

	text.data = vzalloc(text.size);
	if (text.data)
		salvo_coredump_print(&p, dump->snapshot);
	clear_bit_unlock(0, &dump->taken);
	/* Takes ownership of the text. */
	if (text.data)
		dev_coredumpv(sdev->drm.dev, text.data, text.used, GFP_KERNEL);
}

/** salvo_coredump_init() - Allocate the snapshot. */
int salvo_coredump_init(struct salvo_dev *sdev)
{
	INIT_WORK(&sdev->dump.work, salvo_coredump_work);
	sdev->dump.snapshot = vzalloc(sizeof(*sdev->dump.snapshot));
	return sdev->dump.snapshot ? 0 : -ENOMEM;
}

/** salvo_coredump_fini() - Wait until a captured dump is passed on, and free the snapshot. */
void salvo_coredump_fini(struct salvo_dev *sdev)
{
	flush_work(&sdev->dump.work);
	vfree(sdev->dump.snapshot);
	sdev->dump.snapshot = NULL;
}

static void salvo_coredump_capture_job(struct salvo_snapshot *s, struct salvo_job *job)
{
	const struct salvo_ctx *ctx = job->ctx;

	s->banned = salvo_ctx_is_banned(ctx);
	s->pid = ctx->vm->pid;
	memcpy(s->comm, ctx->vm->comm, sizeof(s->comm));
	s->asid = ctx->vm->asid;
	s->ctx = ctx->hw_id;
	s->eu_mask = ctx->eu_mask;
	s->submitted_by_ctx = atomic64_read(&ctx->submitted);
	s->completed_by_ctx = atomic64_read(&ctx->completed);
	s->ring = ctx->ring->index;
	s->seqno = job->fence->seqno;
	s->packet_address = job->packet_address;
	s->packet_bytes = job->packet_bytes;
	s->packet_copied = min_t(size_t, job->packet_bytes, sizeof(s->packet));
	memcpy(s->packet, job->packet, s->packet_copied);
	salvo_job_copy_result(job, &s->result);
}

/**
 * salvo_coredump_capture() - Capture the current state. Allocates nothing.
 * @sdev: The device.
 * @job: The hung batch, which is not freed meanwhile, or NULL.
 * @reason: Reason, a string literal.
 */
void salvo_coredump_capture(struct salvo_dev *sdev, struct salvo_job *job, const char *reason)
{
	struct salvo_coredump *dump = &sdev->dump;
	struct salvo_snapshot *s = dump->snapshot;
	struct salvo_ring *ring;
	u32 i;

	if (test_and_set_bit_lock(0, &dump->taken))
		return;
	s->reason = reason;
	s->time = ktime_get();
	s->has_job = job;
	s->packet_copied = 0;
	memcpy_fromio(&s->regs, sdev->mmio.regs, sizeof(s->regs));
	s->ring_count = sdev->mmio.rings;
	salvo_for_each_ring(sdev, ring) {
		i = ring->index;
		salvo_ring_copy(ring, s->rings[i].entries, &s->rings[i].submitted,
				&s->rings[i].retired);
	}
	if (job)
		salvo_coredump_capture_job(s, job);
	queue_work(system_dfl_wq, &dump->work);
}
