/* SPDX-License-Identifier: MIT */
/*
 * rig.h - a GPU of libsalvogpu with a minimal driver for tests
 *
 * Owns registers, VRAM, a window of system memory and the GPU, and does what the driver does:
 * handshake, ring 0, binding, packets. Only waiting is thread-safe.
 */
#ifndef RIG_H
#define RIG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "drm/salvo_drm.h"
#include "salvo_gpu.h"
#include "salvo_hw.h"
#include "salvo_kernel.h"
#include "salvo_pack.h"

#define RIG_ASID	7u
#define RIG_SLOTS	64u
#define RIG_SLOT_BYTES	(1u << 20)
#define RIG_VRAM_BYTES	(64u << 20)
#define RIG_SYSTEM_BYTES (RIG_SLOT_BYTES * (RIG_SLOTS + 1ull))
/* VRAM as rig_create() binds it in RIG_ASID: code, then data */
#define RIG_CODE_BYTES	(1u << 20)
#define RIG_DATA_BYTES	(RIG_VRAM_BYTES - RIG_CODE_BYTES)

/* Functions for the GPU are copied into VRAM, so they must refer to nothing outside. */
#define RIG_KERNEL __attribute__((section("rig_kernels"), noinline, used, \
				  optimize("O1", "no-jump-tables"), \
				  no_sanitize("address", "thread", "undefined"), \
				  no_stack_protector))
#define RIG_KERNEL_ARGS const void *args, struct salvo_group *group, const struct salvo_item *item

struct rig {
	struct salvo_gpu_config config;
	struct salvo_gpu *gpu;
	struct salvo_regs *regs;
	uint8_t *system;		/* system address 0 */
	struct salvo_ring_entry *entries;
	uint8_t *vram;			/* as the CPU sees it */
	uint8_t *data;			/* the part that is bound for reading and writing */
	uint64_t data_address;		/* the same on the GPU */
	uint64_t code_address;
	uint64_t seqno;			/* of the last packet */
	uint64_t tail;
	bool polls;			/* rig_wait() polls the GPU, as salvo-gpu does */
	/* Called by a GPU thread at a fence's interrupt; may submit if no other thread does. */
	void (*on_fence)(struct rig *rig, void *cookie);
	void *on_fence_cookie;
	_Atomic uint32_t fence_irqs;
	_Atomic uint32_t fault_irqs;
};

/*
 * Creates a GPU after the handshake, with code and data bound in RIG_ASID. Ends the test on
 * failure. With 0 units the environment variable SALVO_TOPOLOGY specifies them.
 */
struct rig *rig_create(unsigned int units);
/* The same with a topology in the format of topology.h. */
struct rig *rig_create_nodes(const char *topology);
/* The same with address spaces as processes; rig_create() does it if SALVO_ISOLATION=processes. */
struct rig *rig_create_isolated(unsigned int units);
void rig_destroy(struct rig *rig);
/* Destroys the GPU only, after which the memory that the rig shows no longer changes. */
void rig_stop(struct rig *rig);

/* The handshake, then ring 0 is enabled; afterwards nothing is bound. */
void rig_reset(struct rig *rig);

/* GPU address of a RIG_KERNEL function. */
uint64_t rig_entry(struct rig *rig, salvo_kernel_fn fn);

/* The memory of the packet that is submitted next, RIG_SLOT_BYTES, and of its result. */
void *rig_next_packet(struct rig *rig);
uint64_t rig_next_packet_address(struct rig *rig);
uint64_t rig_result_address(uint64_t seqno);
struct salvo_packet_result *rig_result(struct rig *rig, uint64_t seqno);
/* Its status, before the fence says that it is written. ThreadSanitizer does not see the read. */
uint32_t rig_peek_status(struct rig *rig, uint64_t seqno);

/* Returns a ring entry for a packet of @bytes in rig_next_packet(). */
struct salvo_ring_entry rig_next_entry(struct rig *rig, uint32_t ctx, uint32_t bytes);
/* Writes the entry into the ring and moves the tail; rings no doorbell. Returns its seqno. */
uint64_t rig_push(struct rig *rig, const struct salvo_ring_entry *entry);
void rig_ring(struct rig *rig);

/* Packs a batch into the next packet. Returns its bytes. */
uint32_t rig_pack(struct rig *rig, uint32_t ctx, const struct salvo_batch_desc *batch);
uint32_t rig_pack_for(struct rig *rig, uint32_t asid, uint32_t ctx,
		      const struct salvo_batch_desc *batch);
/* Packs and pushes a batch and rings the doorbell. Returns the seqno. */
uint64_t rig_submit(struct rig *rig, uint32_t ctx, const struct salvo_batch_desc *batch);
uint64_t rig_submit_to(struct rig *rig, uint32_t asid, uint32_t ctx,
		       const struct salvo_batch_desc *batch);
/* Submits an address space command. Returns the seqno. */
uint64_t rig_submit_space(struct rig *rig, uint32_t asid, uint16_t code, uint64_t address,
			  uint64_t size, uint32_t access);
/* The same, and waits. Returns the status. */
uint32_t rig_space(struct rig *rig, uint32_t asid, uint16_t code, uint64_t address, uint64_t size,
		   uint32_t access);

/* The current fence and head of a ring */
uint64_t rig_fence(struct rig *rig, unsigned int ring);
uint64_t rig_head(struct rig *rig, unsigned int ring);
/* Waits for a fence; false after 20 s. */
bool rig_wait(struct rig *rig, uint64_t seqno);
/* Submits and waits. Returns the status. */
uint32_t rig_run(struct rig *rig, const struct drm_salvo_command *commands, uint32_t count,
		 const void *args, uint32_t args_size);

/* A dispatch of one dimension with arguments at @args_offset. */
struct drm_salvo_command rig_dispatch(struct rig *rig, salvo_kernel_fn fn, uint32_t items,
				      uint32_t group, uint32_t args_offset, uint32_t args_size);
struct drm_salvo_command rig_pair(uint32_t consumer, uint32_t producer);
struct drm_salvo_command rig_all(void);
/* The producer is of the batch before. */
struct drm_salvo_command rig_link(uint32_t consumer, uint32_t producer);

#endif /* RIG_H */
