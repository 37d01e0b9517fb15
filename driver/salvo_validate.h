/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * salvo_validate.h - is this batch well formed?
 *
 * Freestanding: the driver and libsalvo's embedded GPU check with the same code.
 */
#ifndef SALVO_VALIDATE_H
#define SALVO_VALIDATE_H

#include <linux/types.h>
#ifdef __KERNEL__
#include <drm/drm.h>
#endif
#include "../uapi/drm/salvo_drm.h"

/**
 * struct salvo_batch_desc - A batch as it was submitted.
 */
struct salvo_batch_desc {
	/** @commands: @count commands. */
	const struct drm_salvo_command *commands;
	/** @count: Number of commands. */
	__u32 count;
	/** @args_size: Bytes of @args. */
	__u32 args_size;
	/** @args: Argument blob. */
	const void *args;
	/** @profile: GPU address for the profile, or zero. */
	__u64 profile;
};

/**
 * struct salvo_space_view - How to ask an address space about a range.
 */
struct salvo_space_view {
	/**
	 * @covers: Is [@address, @address + @size) wholly inside one buffer of the
	 * space that allows @access (SALVO_ACCESS_*)? @size is not zero.
	 */
	int (*covers)(void *cookie, __u64 address, __u64 size, __u32 access);
	/** @cookie: For @covers. */
	void *cookie;
	/** @units: Number of execution units: higher bits of EU masks must be zero. */
	__u32 units;
	/** @eu_mask: Units of the context; zero means all. */
	__u64 eu_mask;
};

/** struct salvo_reject - The first thing that is wrong with a batch. */
struct salvo_reject {
	/** @command: Index of the command, or ~0 for the batch as a whole. */
	__u32 command;
	/** @field: Name of the field. */
	const char *field;
	/** @expected: What it should have been: "at most 4096 bytes", ... */
	const char *expected;
	/** @value: What it was. */
	__u64 value;
};

/**
 * salvo_validate_batch() - Check every field of a batch.
 * @batch: The batch; the arrays must not change while they are checked and packed.
 * @space: The address space that its addresses are in.
 * @why: Filled in when the batch is refused.
 *
 * Return: 0, -EINVAL (a field is wrong) or -E2BIG (over a limit).
 */
int salvo_validate_batch(const struct salvo_batch_desc *batch,
			 const struct salvo_space_view *space,
			 struct salvo_reject *why);

#endif /* SALVO_VALIDATE_H */
