/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * salvo_trace.h - tracepoints: a batch from SUBMIT to completion, and slots
 *
 * submit (the ioctl), run (the packet is put on the ring), doorbell, interrupt,
 * complete. Context and number identify a batch in submit, run and complete; ring and
 * fence identify it from run on, and doorbell and interrupt carry these. An interrupt
 * gives one event for each ring. A task in a slot does not pass through the driver, which shows
 * attach, wake (of a unit that sleeps) and detach (no unit uses the slot any more).
 * Documentation/tracing.md shows their use. They are not a stable interface.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM salvo

#if !defined(SALVO_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define SALVO_TRACE_H

#include <linux/tracepoint.h>

#include "salvo_ctx.h"
#include "salvo_device.h"
#include "salvo_fence.h"
#include "salvo_job.h"
#include "salvo_vm.h"

TRACE_EVENT(salvo_submit,
	    TP_PROTO(struct salvo_job *job, u32 commands),
	    TP_ARGS(job, commands),
	    TP_STRUCT__entry(__field(u64, number)
			     __field(u32, ctx)
			     __field(u32, asid)
			     __field(u32, commands)
			     __field(u32, bytes)),
	    TP_fast_assign(__entry->number = job->number;
			   __entry->ctx = job->ctx->hw_id;
			   __entry->asid = job->ctx->vm->asid;
			   __entry->commands = commands;
			   __entry->bytes = job->packet_bytes;),
	    TP_printk("ctx=%u batch=%llu space=%u commands=%u bytes=%u", __entry->ctx,
		      __entry->number, __entry->asid, __entry->commands, __entry->bytes)
);

TRACE_EVENT(salvo_run,
	    TP_PROTO(struct salvo_job *job),
	    TP_ARGS(job),
	    TP_STRUCT__entry(__field(u64, number)
			     __field(u64, seqno)
			     __field(u32, ctx)
			     __field(u32, ring)),
	    TP_fast_assign(__entry->number = job->number;
			   __entry->seqno = job->fence->seqno;
			   __entry->ctx = job->ctx->hw_id;
			   __entry->ring = job->ctx->ring->index;),
	    TP_printk("ctx=%u batch=%llu ring=%u fence=%llu", __entry->ctx, __entry->number,
		      __entry->ring, __entry->seqno)
);

TRACE_EVENT(salvo_doorbell,
	    TP_PROTO(struct salvo_ring *ring, u64 tail),
	    TP_ARGS(ring, tail),
	    TP_STRUCT__entry(__field(u64, tail)
			     __field(u32, minor)
			     __field(u32, ring)),
	    TP_fast_assign(__entry->tail = tail;
			   __entry->minor = ring->sdev->drm.render->index;
			   __entry->ring = ring->index;),
	    TP_printk("minor=%u ring=%u fence=%llu", __entry->minor, __entry->ring,
		      __entry->tail)
);

TRACE_EVENT(salvo_interrupt,
	    TP_PROTO(struct salvo_ring *ring, u64 number, u64 retired, u32 batches),
	    TP_ARGS(ring, number, retired, batches),
	    TP_STRUCT__entry(__field(u64, number)
			     __field(u64, retired)
			     __field(u32, batches)
			     __field(u32, minor)
			     __field(u32, ring)),
	    TP_fast_assign(__entry->number = number;
			   __entry->retired = retired;
			   __entry->batches = batches;
			   __entry->minor = ring->sdev->drm.render->index;
			   __entry->ring = ring->index;),
	    TP_printk("minor=%u interrupt=%llu ring=%u fence=%llu batches=%u", __entry->minor,
		      __entry->number, __entry->ring, __entry->retired, __entry->batches)
);

TRACE_EVENT(salvo_complete,
	    TP_PROTO(struct salvo_job *job, int error),
	    TP_ARGS(job, error),
	    TP_STRUCT__entry(__field(u64, number)
			     __field(u64, seqno)
			     __field(u64, busy_ns)
			     __field(u32, ctx)
			     __field(u32, ring)
			     __field(int, error)),
	    TP_fast_assign(__entry->number = job->number;
			   __entry->seqno = job->fence->seqno;
			   __entry->busy_ns = job->result->busy_ns;
			   __entry->ctx = job->ctx->hw_id;
			   __entry->ring = job->ctx->ring->index;
			   __entry->error = error;),
	    TP_printk("ctx=%u batch=%llu ring=%u fence=%llu error=%d busy_ns=%llu",
		      __entry->ctx, __entry->number, __entry->ring, __entry->seqno,
		      __entry->error, __entry->busy_ns)
);

DECLARE_EVENT_CLASS(salvo_slot,
	TP_PROTO(const struct salvo_ctx *ctx, u32 slot, u64 units),
	TP_ARGS(ctx, slot, units),
	TP_STRUCT__entry(__field(u64, units)
			 __field(u32, minor)
			 __field(u32, ctx)
			 __field(u32, asid)
			 __field(u32, slot)),
	TP_fast_assign(__entry->units = units;
		       __entry->minor = ctx->vm->sdev->drm.render->index;
		       __entry->ctx = ctx->hw_id;
		       __entry->asid = ctx->vm->asid;
		       __entry->slot = slot;),
	TP_printk("minor=%u ctx=%u space=%u slot=%u units=%#llx", __entry->minor, __entry->ctx,
		  __entry->asid, __entry->slot, __entry->units)
);

DEFINE_EVENT(salvo_slot, salvo_slot_attach,
	     TP_PROTO(const struct salvo_ctx *ctx, u32 slot, u64 units),
	     TP_ARGS(ctx, slot, units)
);

DEFINE_EVENT(salvo_slot, salvo_slot_wake,
	     TP_PROTO(const struct salvo_ctx *ctx, u32 slot, u64 units),
	     TP_ARGS(ctx, slot, units)
);

DEFINE_EVENT(salvo_slot, salvo_slot_detach,
	     TP_PROTO(const struct salvo_ctx *ctx, u32 slot, u64 units),
	     TP_ARGS(ctx, slot, units)
);

#endif /* SALVO_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE salvo_trace
#include <trace/define_trace.h>
