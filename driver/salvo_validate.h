/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * salvo_validate.h - validation of batches
 *
 * Freestanding: the driver and libsalvo's embedded GPU use the same code.
 */
#ifndef SALVO_VALIDATE_H
#define SALVO_VALIDATE_H

#include <linux/types.h>
#ifdef __KERNEL__
#include <drm/drm.h>
#endif
#include "../uapi/drm/salvo_drm.h"

/**
 * struct salvo_batch_desc - A batch as submitted.
 */
struct salvo_batch_desc {
	/** @commands: The commands. */
	const struct drm_salvo_command *commands;
	/** @count: Number of commands. */
	__u32 count;
	/** @args_size: Size of @args in bytes. */
	__u32 args_size;
	/** @args: Argument blob. */
	const void *args;
	/** @profile: GPU address of the profile, or zero. */
	__u64 profile;
	/** @flags: DRM_SALVO_SUBMIT_*. */
	__u32 flags;
};

/**
 * struct salvo_space_view - The address space and context of a batch.
 */
struct salvo_space_view {
	/**
	 * @covers: Does [@address, @address + @size) lie within one buffer of the
	 * address space that allows @access (SALVO_ACCESS_*)? @size is not zero.
	 */
	int (*covers)(void *cookie, __u64 address, __u64 size, __u32 access);
	/** @cookie: First argument of @covers. */
	void *cookie;
	/** @units: Number of execution units; higher bits of EU masks must be zero. */
	__u32 units;
	/** @eu_mask: Execution units of the context; zero means all. */
	__u64 eu_mask;
	/** @contends: DRM_SALVO_DISPATCH_CONTENDS if the GPU accepts it, else zero. */
	__u32 contends;
};

/** struct salvo_reject - The first error found in a batch. */
struct salvo_reject {
	/** @command: Index of the command, or ~0 for the batch as a whole. */
	__u32 command;
	/** @field: Name of the field. */
	const char *field;
	/** @expected: Values that are valid: "at most 4096 bytes", ... */
	const char *expected;
	/** @value: Value of the field. */
	__u64 value;
};

/**
 * salvo_validate_batch() - Check every field of a batch.
 * @batch: The batch; its arrays must not change until it has been packed.
 * @space: Address space and context of the batch.
 * @why: Filled in if the batch is invalid.
 *
 * Return: 0, -EINVAL (a field is wrong) or -E2BIG (over a limit).
 */
int salvo_validate_batch(const struct salvo_batch_desc *batch,
			 const struct salvo_space_view *space,
			 struct salvo_reject *why);

#endif /* SALVO_VALIDATE_H */
