// SPDX-License-Identifier: GPL-2.0-only
/*
 * salvo_coredump.c - what the GPU did when it hung, as a devcoredump
 *
 * In two steps. While the scheduler is stopped the reset copies everything that
 * will change into a snapshot that was allocated when the driver was bound: nothing
 * may allocate there, since memory reclaim can wait for the very fences that the
 * reset is about to signal. A work item on a queue that no fence depends on then
 * makes text of the snapshot and hands it to devcoredump, where root finds it as
 * /sys/class/devcoredump/devcdN/data.
 *
 * One dump at a time: a hang before the one before is written is not dumped, the
 * first being the one that tells most. salvo_coredump.taken is the lock of the
 * snapshot: who sets it writes, and the work that clears it reads.
 */
#include <linux/bitops.h>
#include <linux/devcoredump.h>
#include <linux/io.h>
#include <linux/ktime.h>
#include <linux/vmalloc.h>

#include <drm/drm_print.h>

#include "salvo_ctx.h"
#include "salvo_decode.h"
#include "salvo_device.h"
#include "salvo_coredump.h"
#include "salvo_fence.h"
#include "salvo_ring.h"
#include "salvo_sched.h"
#include "salvo_vm.h"

/* All commands of the largest batch; arguments are the application's own. */
#define SALVO_COREDUMP_PACKET_BYTES	(sizeof(struct salvo_packet) + 256 + \
				 SALVO_MAX_COMMANDS * sizeof(struct salvo_op_dispatch))
/* Room for text: the head, then lines of the rings and of the packet. */
#define SALVO_COREDUMP_HEAD_BYTES	(16u << 10)
#define SALVO_COREDUMP_LINE_BYTES	256u

/**
 * struct salvo_snapshot - Everything as it was.
 */
struct salvo_snapshot {
	/** @reason: Why it was taken. */
	const char *reason;
	/** @time: When. */
	ktime_t time;
	/** @has_job: The fields up to @packet are of a batch. */
	bool has_job;
	/** @banned: Its context was banned before. */
	bool banned;
	/** @pid: Process. */
	pid_t pid;
	/** @comm: Its name. */
	char comm[TASK_COMM_LEN];
	/** @asid: Address space. */
	u32 asid;
	/** @ctx: Context. */
	u32 ctx;
	/** @eu_mask: Units of the context. */
	u64 eu_mask;
	/** @ring: That it is on. */
	unsigned int ring;
	/** @seqno: Of its ring entry. */
	u64 seqno;
	/** @submitted_by_ctx: Batches that the context got. */
	u64 submitted_by_ctx;
	/** @completed_by_ctx: Batches of it that ended. */
	u64 completed_by_ctx;
	/** @packet_address: System address of the packet. */
	u64 packet_address;
	/** @packet_bytes: Its length. */
	u32 packet_bytes;
	/** @packet_copied: Bytes in @packet. */
	u32 packet_copied;
	/** @result: What the device has told so far. */
	struct salvo_packet_result result;
	/** @regs: The registers. */
	struct salvo_regs regs;
	/** @ring_count: Elements of @rings. */
	u32 ring_count;
	/** @rings: The rings. */
	struct {
		/** @submitted: Last entry. */
		u64 submitted;
		/** @retired: Last entry that is done. */
		u64 retired;
		/** @entries: All entries. */
		struct salvo_ring_entry entries[SALVO_RING_ENTRIES];
	} rings[SALVO_MAX_RINGS];
	/** @packet: Its beginning. */
	u8 packet[SALVO_COREDUMP_PACKET_BYTES] __aligned(8);
};

/**
 * struct salvo_dump_text - Memory that is printed into.
 */
struct salvo_dump_text {
	/** @data: @size bytes. */
	char *data;
	/** @size: Room. */
	size_t size;
	/** @used: Bytes printed. */
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
	/* No command is shorter. */
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
	/* It owns the text from here on. */
	if (text.data)
		dev_coredumpv(sdev->drm.dev, text.data, text.used, GFP_KERNEL);
}

/** salvo_coredump_init() - Allocate what a capture needs. */
int salvo_coredump_init(struct salvo_dev *sdev)
{
	INIT_WORK(&sdev->dump.work, salvo_coredump_work);
	sdev->dump.snapshot = vzalloc(sizeof(*sdev->dump.snapshot));
	return sdev->dump.snapshot ? 0 : -ENOMEM;
}

/** salvo_coredump_fini() - Hand over what was captured and free the snapshot. */
void salvo_coredump_fini(struct salvo_dev *sdev)
{
	flush_work(&sdev->dump.work);
	vfree(sdev->dump.snapshot);
	sdev->dump.snapshot = NULL;
}

static void salvo_coredump_capture_job(struct salvo_snapshot *s, const struct salvo_job *job)
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
	s->result = *job->result;
}

/**
 * salvo_coredump_capture() - Remember everything as it is now. Allocates nothing.
 * @sdev: The device.
 * @job: The batch that hangs, which stays meanwhile, or NULL.
 * @reason: A constant string.
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
	queue_work(system_unbound_wq, &dump->work);
}
