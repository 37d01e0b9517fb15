// SPDX-License-Identifier: GPL-2.0-only
/*
 * salvo_vma.c - a buffer bound in an address space: its packets
 *
 * A buffer in VRAM takes one BIND command. An imported buffer takes one BIND_SYSTEM
 * command for each contiguous run of its pages, in as few packets as hold them. Each vma
 * has one UNBIND. All packets share one piece of coherent memory, and one result, which
 * nobody reads:
 *
 *	result | UNBIND packet | BIND packets
 *
 * Locks: sdev->space_lock is held while packets are put on the ring; the lists and the
 * tree that a vma is in belong to salvo_bind.c.
 */
#include <linux/dma-mapping.h>
#include <linux/overflow.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "salvo_device.h"
#include "salvo_gem.h"
#include "salvo_pack.h"
#include "salvo_ring.h"
#include "salvo_vm.h"
#include "salvo_vma.h"

/* Offsets in the memory of a vma. */
#define SALVO_VMA_UNBIND	ALIGN(sizeof(struct salvo_packet_result), 64)
#define SALVO_VMA_BIND		(SALVO_VMA_UNBIND + SALVO_PACK_SPACE_BYTES)

/** salvo_vma_address() - GPU address of the buffer. */
u64 salvo_vma_address(const struct salvo_vma *vma)
{
	return vma->bo->address;
}

/** salvo_vma_bytes() - Size of the buffer. */
u64 salvo_vma_bytes(const struct salvo_vma *vma)
{
	return vma->bo->base.size;
}

/** salvo_vma_is_vram() - Is the buffer in VRAM, rather than imported? */
bool salvo_vma_is_vram(const struct salvo_vma *vma)
{
	return !(vma->bo->flags & DRM_SALVO_BO_IMPORTED);
}

/*
 * Find the contiguous runs of an imported buffer's pages. With @runs NULL they are only
 * counted.
 */
static u32 salvo_vma_find_runs(const struct salvo_gem_object *bo, struct salvo_pack_run *runs)
{
	u64 next = 0, left = bo->base.size, bytes;
	struct scatterlist *sg;
	u32 count = 0;
	int i;

	for_each_sgtable_dma_sg(bo->sgt, sg, i) {
		bytes = min_t(u64, sg_dma_len(sg), left);
		if (!bytes)
			break;
		if (!count || sg_dma_address(sg) != next) {
			if (runs)
				runs[count] = (struct salvo_pack_run){ sg_dma_address(sg), 0 };
			count++;
		}
		if (runs)
			runs[count - 1].size += bytes;
		next = sg_dma_address(sg) + bytes;
		left -= bytes;
	}
	return count;
}

static struct salvo_space_packet salvo_vma_packet(const struct salvo_vma *vma, size_t offset,
						  u32 bytes)
{
	return (struct salvo_space_packet){
		.packet = vma->memory + offset, .address = vma->dma + offset, .bytes = bytes,
	};
}

static void salvo_vma_pack_runs(struct salvo_vma *vma, const struct salvo_pack_run *runs,
				u32 run_count)
{
	u64 address = vma->bo->address;
	size_t offset = SALVO_VMA_BIND;
	u32 i, n;

	for (i = 0; i < vma->bind_count; i++) {
		n = min(run_count, SALVO_MAX_COMMANDS);
		vma->bind[i] = salvo_vma_packet(vma, offset, salvo_pack_system_bytes(n));
		address = salvo_pack_system(address, runs, n, vma->access, vma->dma,
					    vma->bind[i].packet);
		offset += vma->bind[i].bytes;
		runs += n;
		run_count -= n;
	}
}

static int salvo_vma_pack(struct salvo_dev *sdev, struct salvo_vma *vma,
			  const struct salvo_pack_run *runs, u32 run_count)
{
	u32 full = run_count / SALVO_MAX_COMMANDS, rest = run_count % SALVO_MAX_COMMANDS;

	vma->memory_bytes = SALVO_VMA_BIND;
	if (!runs)
		vma->memory_bytes += SALVO_PACK_SPACE_BYTES;
	else
		vma->memory_bytes += (size_t)full * salvo_pack_system_bytes(SALVO_MAX_COMMANDS) +
				     salvo_pack_system_bytes(rest);
	vma->memory = dma_alloc_coherent(sdev->drm.dev, vma->memory_bytes, &vma->dma,
					 GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!vma->memory)
		return -ENOMEM;
	vma->unbind = salvo_vma_packet(vma, SALVO_VMA_UNBIND, SALVO_PACK_SPACE_BYTES);
	salvo_pack_space(SALVO_OP_UNBIND, vma->bo->address, salvo_vma_bytes(vma), 0, vma->dma,
			 vma->unbind.packet);
	if (runs) {
		salvo_vma_pack_runs(vma, runs, run_count);
	} else {
		vma->bind[0] = salvo_vma_packet(vma, SALVO_VMA_BIND, SALVO_PACK_SPACE_BYTES);
		salvo_pack_space(SALVO_OP_BIND, vma->bo->address, salvo_vma_bytes(vma),
				 vma->access, vma->dma, vma->bind[0].packet);
	}
	return 0;
}

/** salvo_vma_free_packets() - Free the DMA memory of a vma that stays. */
void salvo_vma_free_packets(struct salvo_dev *sdev, struct salvo_vma *vma)
{
	if (!vma->memory)
		return;
	dma_free_coherent(sdev->drm.dev, vma->memory_bytes, vma->memory, vma->dma);
	vma->memory = NULL;
}

/**
 * salvo_vma_create() - Create a vma and pack its packets.
 * @sdev: The device.
 * @bo: The buffer.
 *
 * Return: the vma, with one handle, or an error pointer: -ENOMEM.
 */
struct salvo_vma *salvo_vma_create(struct salvo_dev *sdev, struct salvo_gem_object *bo)
{
	struct salvo_pack_run *runs = NULL;
	struct salvo_vma *vma;
	u32 run_count = 0, bind_count;
	int ret;

	if (bo->flags & DRM_SALVO_BO_IMPORTED) {
		run_count = salvo_vma_find_runs(bo, NULL);
		runs = kvmalloc_array(run_count, sizeof(*runs), GFP_KERNEL);
		if (!runs)
			return ERR_PTR(-ENOMEM);
		salvo_vma_find_runs(bo, runs);
	}
	bind_count = DIV_ROUND_UP(run_count, SALVO_MAX_COMMANDS) ?: 1;
	vma = kzalloc(struct_size(vma, bind, bind_count), GFP_KERNEL_ACCOUNT);
	if (!vma) {
		kvfree(runs);
		return ERR_PTR(-ENOMEM);
	}
	vma->bind_count = bind_count;
	drm_gem_object_get(&bo->base);
	vma->bo = bo;
	vma->access = salvo_gem_access(bo);
	vma->handles = 1;
	INIT_LIST_HEAD(&vma->shared);
	ret = salvo_vma_pack(sdev, vma, runs, run_count);
	kvfree(runs);
	if (ret) {
		salvo_vma_destroy(sdev, vma);
		return ERR_PTR(ret);
	}
	return vma;
}

/** salvo_vma_destroy() - Free a vma that the GPU does not know, or knows no more. */
void salvo_vma_destroy(struct salvo_dev *sdev, struct salvo_vma *vma)
{
	salvo_vma_free_packets(sdev, vma);
	drm_gem_object_put(&vma->bo->base);
	kfree(vma);
}

/** salvo_vma_push_bind() - Put the BIND packets on the ring; false if it is full. */
bool salvo_vma_push_bind(struct salvo_vm *vm, struct salvo_vma *vma)
{
	lockdep_assert_held(&vm->sdev->space_lock);
	return salvo_ring_push_space(vm->sdev, vm->asid, vma->bind, vma->bind_count);
}

/** salvo_vma_push_unbind() - Put the UNBIND packet on the ring; false if it is full. */
bool salvo_vma_push_unbind(struct salvo_vm *vm, struct salvo_vma *vma)
{
	lockdep_assert_held(&vm->sdev->space_lock);
	vma->unbind_seqno = salvo_ring_push_space(vm->sdev, vm->asid, &vma->unbind, 1);
	return vma->unbind_seqno;
}
