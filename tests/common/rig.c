// SPDX-License-Identifier: MIT
/*
 * rig.c - a GPU of libsalvogpu with a minimal driver for tests
 *
 * System memory is a window of slots: the first holds the ring and the results,
 * each of the others the packet of one ring entry.
 */
#include "rig.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* Every program that is linked with this file has a kernel section, even without kernels. */
RIG_KERNEL static void nothing(RIG_KERNEL_ARGS)
{
	(void)args;
	(void)group;
	(void)item;
}

extern const uint8_t __start_rig_kernels[], __stop_rig_kernels[];

#define RING_AT		4096u
#define RESULTS_AT	(64u << 10)

static void need(bool ok, const char *what)
{
	if (ok)
		return;
	printf("not ok rig: %s\n", what);
	exit(1);
}

static void on_interrupt(void *cookie, unsigned int vector)
{
	struct rig *rig = cookie;

	if (vector == SALVO_VECTOR_FENCE) {
		atomic_fetch_add(&rig->fence_irqs, 1);
		if (rig->on_fence)
			rig->on_fence(rig, rig->on_fence_cookie);
	} else if (vector == SALVO_VECTOR_FAULT) {
		atomic_fetch_add(&rig->fault_irqs, 1);
	}
}

void rig_reset(struct rig *rig)
{
	struct salvo_ring_regs *ring = &rig->regs->ring[0];

	rig->regs->bus_master = 1;
	__atomic_store_n(&rig->regs->reset_request, rig->regs->reset_ack + 1, __ATOMIC_RELEASE);
	salvo_gpu_doorbell(rig->gpu, SALVO_DOORBELL_RESET);
	need(rig->regs->reset_ack == rig->regs->reset_request, "reset handshake");
	rig->tail = 0;
	ring->base = RING_AT;
	ring->entries = RIG_SLOTS;
	ring->tail = 0;
	__atomic_store_n(&ring->enable, 1, __ATOMIC_RELEASE);
}

static void bind_all(struct rig *rig)
{
	const uint64_t base = rig->regs->va_base;

	need(rig_space(rig, RIG_ASID, SALVO_OP_BIND, base, RIG_CODE_BYTES,
		       SALVO_ACCESS_READ | SALVO_ACCESS_EXEC) == SALVO_STATUS_DONE, "bind code");
	need(rig_space(rig, RIG_ASID, SALVO_OP_BIND, base + RIG_CODE_BYTES, RIG_DATA_BYTES,
		       SALVO_ACCESS_READ | SALVO_ACCESS_WRITE) == SALVO_STATUS_DONE, "bind data");
}

static struct rig *create(unsigned int units, const char *topology,
			  const struct salvo_isolation *isolation)
{
	struct rig *rig = calloc(1, sizeof(*rig));
	int fd = memfd_create("vram", MFD_CLOEXEC), system = memfd_create("system", MFD_CLOEXEC);

	need(rig && fd >= 0 && !ftruncate(fd, RIG_VRAM_BYTES), "memory");
	need(system >= 0 && !ftruncate(system, RIG_SYSTEM_BYTES), "system memory");
	rig->vram = mmap(NULL, RIG_VRAM_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	rig->system = mmap(NULL, RIG_SYSTEM_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, system, 0);
	rig->regs = mmap(NULL, SALVO_REGS_BYTES, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	need(rig->vram != MAP_FAILED && rig->system != MAP_FAILED &&
	     (void *)rig->regs != MAP_FAILED, "mmap");
	/* The GPU's processes must not inherit this mapping. */
	need(!madvise(rig->vram, RIG_VRAM_BYTES, MADV_DONTFORK), "madvise");
	rig->config = (struct salvo_gpu_config) {
		.regs = rig->regs, .vram_fd = fd, .vram_bytes = RIG_VRAM_BYTES, .units = units,
		.topology = topology, .isolation = isolation,
		.system_base = rig->system, .system_bytes = RIG_SYSTEM_BYTES,
		.system_fd = system,
		.contain_faults = true, .owns_memory = !isolation,
		.interrupt = on_interrupt, .cookie = rig,
	};
	need(!salvo_gpu_create(&rig->config, &rig->gpu), "salvo_gpu_create");
	rig->entries = (void *)(rig->system + RING_AT);
	rig->data = rig->vram + RIG_CODE_BYTES;
	rig->code_address = rig->regs->va_base;
	rig->data_address = rig->regs->va_base + RIG_CODE_BYTES;
	memcpy(rig->vram, __start_rig_kernels, __stop_rig_kernels - __start_rig_kernels);
	rig_reset(rig);
	bind_all(rig);
	return rig;
}

struct rig *rig_create(unsigned int units)
{
	const char *isolation = getenv("SALVO_ISOLATION");

	return create(units, units ? NULL : getenv("SALVO_TOPOLOGY"),
		      isolation && !strcmp(isolation, "processes") ? &salvo_processes : NULL);
}

struct rig *rig_create_isolated(unsigned int units)
{
	return create(units, NULL, &salvo_processes);
}

struct rig *rig_create_nodes(const char *topology)
{
	return create(0, topology, NULL);
}

void rig_stop(struct rig *rig)
{
	salvo_gpu_destroy(rig->gpu);
	rig->gpu = NULL;
}

void rig_destroy(struct rig *rig)
{
	rig_stop(rig);
	munmap(rig->vram, RIG_VRAM_BYTES);
	munmap(rig->system, RIG_SYSTEM_BYTES);
	munmap(rig->regs, SALVO_REGS_BYTES);
	close(rig->config.vram_fd);
	close(rig->config.system_fd);
	free(rig);
}

uint64_t rig_entry(struct rig *rig, salvo_kernel_fn fn)
{
	return rig->code_address + ((uintptr_t)fn - (uintptr_t)__start_rig_kernels);
}

uint64_t rig_next_packet_address(struct rig *rig)
{
	return RIG_SLOT_BYTES * (uint64_t)(1 + rig->tail % RIG_SLOTS);
}

void *rig_next_packet(struct rig *rig)
{
	return rig->system + rig_next_packet_address(rig);
}

uint64_t rig_result_address(uint64_t seqno)
{
	return RESULTS_AT + seqno % 4096 * sizeof(struct salvo_packet_result);
}

struct salvo_packet_result *rig_result(struct rig *rig, uint64_t seqno)
{
	return (void *)(rig->system + rig_result_address(seqno));
}

__attribute__((no_sanitize("thread")))
uint32_t rig_peek_status(struct rig *rig, uint64_t seqno)
{
	return *(volatile uint32_t *)&rig_result(rig, seqno)->status;
}

struct salvo_ring_entry rig_next_entry(struct rig *rig, uint32_t ctx, uint32_t bytes)
{
	return (struct salvo_ring_entry) {
		.packet = rig_next_packet_address(rig), .packet_bytes = bytes,
		.flags = SALVO_RING_IRQ, .seqno = rig->seqno + 1, .asid = RIG_ASID, .ctx = ctx,
	};
}

uint64_t rig_push(struct rig *rig, const struct salvo_ring_entry *entry)
{
	memset(rig_result(rig, entry->seqno), 0, sizeof(struct salvo_packet_result));
	rig->entries[rig->tail % RIG_SLOTS] = *entry;
	rig->tail++;
	rig->seqno = entry->seqno;
	return entry->seqno;
}

void rig_ring(struct rig *rig)
{
	__atomic_store_n(&rig->regs->ring[0].tail, rig->tail, __ATOMIC_RELEASE);
	salvo_gpu_doorbell(rig->gpu, SALVO_DOORBELL_RING(0));
}

uint32_t rig_pack_for(struct rig *rig, uint32_t asid, uint32_t ctx,
		      const struct salvo_batch_desc *batch)
{
	const struct salvo_packet_target target = {
		.asid = asid, .ctx = ctx, .result = rig_result_address(rig->seqno + 1),
	};

	need(salvo_pack_bytes(batch) <= RIG_SLOT_BYTES, "packet too large");
	salvo_pack_batch(batch, &target, rig_next_packet(rig));
	salvo_pack_set_fence(rig_next_packet(rig), rig->seqno + 1);
	return salvo_pack_bytes(batch);
}

uint32_t rig_pack(struct rig *rig, uint32_t ctx, const struct salvo_batch_desc *batch)
{
	return rig_pack_for(rig, RIG_ASID, ctx, batch);
}

uint64_t rig_submit(struct rig *rig, uint32_t ctx, const struct salvo_batch_desc *batch)
{
	return rig_submit_to(rig, RIG_ASID, ctx, batch);
}

uint64_t rig_submit_to(struct rig *rig, uint32_t asid, uint32_t ctx,
		       const struct salvo_batch_desc *batch)
{
	const uint32_t bytes = rig_pack_for(rig, asid, ctx, batch);
	struct salvo_ring_entry entry = rig_next_entry(rig, ctx, bytes);

	entry.asid = asid;
	if (batch->flags & DRM_SALVO_SUBMIT_OVERLAP)
		entry.flags |= SALVO_RING_OVERLAP;
	rig_push(rig, &entry);
	rig_ring(rig);
	return entry.seqno;
}

uint64_t rig_submit_space(struct rig *rig, uint32_t asid, uint16_t code, uint64_t address,
			  uint64_t size, uint32_t access)
{
	struct salvo_ring_entry entry = rig_next_entry(rig, 0, SALVO_PACK_SPACE_BYTES);

	entry.asid = asid;
	salvo_pack_space(code, address, size, access, rig_result_address(entry.seqno),
			 rig_next_packet(rig));
	salvo_pack_set_fence(rig_next_packet(rig), entry.seqno);
	rig_push(rig, &entry);
	rig_ring(rig);
	return entry.seqno;
}

uint32_t rig_space(struct rig *rig, uint32_t asid, uint16_t code, uint64_t address, uint64_t size,
		   uint32_t access)
{
	const uint64_t seqno = rig_submit_space(rig, asid, code, address, size, access);

	return rig_wait(rig, seqno) ? rig_result(rig, seqno)->status : ~0u;
}

uint64_t rig_fence(struct rig *rig, unsigned int ring)
{
	return __atomic_load_n(&rig->regs->ring[ring].fence, __ATOMIC_ACQUIRE);
}

uint64_t rig_head(struct rig *rig, unsigned int ring)
{
	return __atomic_load_n(&rig->regs->ring[ring].head, __ATOMIC_ACQUIRE);
}

bool rig_wait(struct rig *rig, uint64_t seqno)
{
	const time_t deadline = time(NULL) + 20;

	while (rig_fence(rig, 0) < seqno && time(NULL) <= deadline) {
		if (rig->polls)
			salvo_gpu_poll(rig->gpu, true);
		if (rig_fence(rig, 0) < seqno)
			sched_yield();
	}
	if (rig->polls)
		salvo_gpu_poll(rig->gpu, false);
	return rig_fence(rig, 0) >= seqno;
}

uint32_t rig_run(struct rig *rig, const struct drm_salvo_command *commands, uint32_t count,
		 const void *args, uint32_t args_size)
{
	const struct salvo_batch_desc batch = {
		.commands = commands, .count = count, .args = args, .args_size = args_size,
	};
	const uint64_t seqno = rig_submit(rig, 1, &batch);

	return rig_wait(rig, seqno) ? rig_result(rig, seqno)->status : ~0u;
}

struct drm_salvo_command rig_dispatch(struct rig *rig, salvo_kernel_fn fn, uint32_t items,
				      uint32_t group, uint32_t args_offset, uint32_t args_size)
{
	return (struct drm_salvo_command) {
		.type = DRM_SALVO_DISPATCH, .entry = rig_entry(rig, fn),
		.items = { items, 1, 1 }, .group = { group, 1, 1 }, .dims = 1,
		.args_offset = args_offset, .args_size = args_size,
	};
}

struct drm_salvo_command rig_pair(uint32_t consumer, uint32_t producer)
{
	return (struct drm_salvo_command) {
		.type = DRM_SALVO_PIPE_CONTROL, .consumer = consumer, .producer = producer,
	};
}

struct drm_salvo_command rig_link(uint32_t consumer, uint32_t producer)
{
	return (struct drm_salvo_command) {
		.type = DRM_SALVO_PIPE_CONTROL, .flags = DRM_SALVO_PIPE_CONTROL_PREVIOUS,
		.consumer = consumer, .producer = producer,
	};
}

struct drm_salvo_command rig_all(void)
{
	return (struct drm_salvo_command) {
		.type = DRM_SALVO_PIPE_CONTROL, .flags = DRM_SALVO_PIPE_CONTROL_ALL,
	};
}
