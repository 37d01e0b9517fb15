// SPDX-License-Identifier: MIT
/*
 * fpenv.c - the floating-point environment and flags at the start of a batch
 *
 * They are those of a new process. Neither the thread that created the GPU nor a previous batch on
 * the unit, whether it returned or faulted, changes them (Documentation/hardware.rst).
 */
#include <fenv.h>
#include "kselftest_harness.h"
#include "rig.h"
#include "sanitizer.h"

#define NEW_MXCSR	0x1f80u
#define NEW_X87		0x37fu
#define DIRECTION	(1ull << 10)
#define ALIGNMENT	(1ull << 18)

struct environment {
	uint32_t mxcsr;
	uint16_t x87, tags;
	uint64_t flags;
	uint64_t read;
};

struct args {
	struct environment *out;
	uint64_t fault;
};

RIG_KERNEL static void read_environment(RIG_KERNEL_ARGS)
{
	struct environment *out = ((const struct args *)args)->out;
	struct {
		uint16_t control, r0, status, r1, tags, r2, r3[8];
	} __attribute__((packed)) x87;

	__asm__ volatile("pushfq; popq %0" : "=r"(out->flags) :: "memory");
	__asm__ volatile("stmxcsr %0" : "=m"(out->mxcsr));
	__asm__ volatile("fnstenv %0" : "=m"(x87));
	out->x87 = x87.control;
	out->tags = x87.tags;
	out->read = 1;
}

RIG_KERNEL static void spoil_environment(RIG_KERNEL_ARGS)
{
	const struct args *a = args;
	const uint32_t mxcsr = 0xffc0;
	const uint16_t x87 = 0x0f7f;

	__asm__ volatile("ldmxcsr %0; fldcw %1; fldpi; fldpi" :: "m"(mxcsr), "m"(x87));
	if (a->fault)
		*(volatile uint32_t *)a->fault = 0;
	/* Last: no code that the compiler emits after this depends on either. */
	__asm__ volatile("std; pushfq; orq $0x40000, (%%rsp); popfq" ::: "memory", "cc");
}

/* As above, but it faults with the flags set. */
RIG_KERNEL static void spoil_and_fault(RIG_KERNEL_ARGS)
{
	const uint32_t mxcsr = 0xffc0;
	const uint16_t x87 = 0x0f7f;

	__asm__ volatile("ldmxcsr %0; fldcw %1; fldpi; std; pushfq; orq $0x40000, (%%rsp); popfq;"
			 "ud2" :: "m"(mxcsr), "m"(x87) : "memory", "cc");
}

static uint32_t run(struct rig *rig, uint32_t ctx, salvo_kernel_fn fn, uint64_t fault)
{
	const struct args args = { (void *)(uintptr_t)rig->data_address, fault };
	const struct drm_salvo_command command = rig_dispatch(rig, fn, 1, 1, 0, sizeof(args));
	const struct salvo_batch_desc batch = {
		.commands = &command, .count = 1, .args = &args, .args_size = sizeof(args),
	};
	const uint64_t seqno = rig_submit(rig, ctx, &batch);

	return rig_wait(rig, seqno) ? rig_result(rig, seqno)->status : ~0u;
}

static void expect_new(struct __test_metadata *_metadata, struct rig *rig)
{
	struct environment *found = (void *)rig->data;

	memset(found, 0, sizeof(*found));
	ASSERT_EQ(SALVO_STATUS_DONE, run(rig, 2, read_environment, 0));
	ASSERT_EQ(1, found->read);
	EXPECT_EQ(NEW_MXCSR, found->mxcsr);
	EXPECT_EQ(NEW_X87, found->x87);
	EXPECT_EQ(0xffff, found->tags);
	EXPECT_EQ(0, found->flags & (DIRECTION | ALIGNMENT));
}

FIXTURE(unit)
{
	struct rig *rig;
};

FIXTURE_SETUP(unit)
{
	/* The units' threads inherit this. */
	fesetround(FE_UPWARD);
	self->rig = rig_create(1);
	fesetround(FE_TONEAREST);
}

FIXTURE_TEARDOWN(unit)
{
	rig_destroy(self->rig);
}

TEST_F(unit, the_thread_that_created_the_gpu_does_not_matter)
{
	expect_new(_metadata, self->rig);
}

TEST_F(unit, nothing_of_a_batch_that_returned_is_left)
{
	NEED_ALIGNED_ACCESSES();
	ASSERT_EQ(SALVO_STATUS_DONE, run(self->rig, 1, spoil_environment, 0));
	expect_new(_metadata, self->rig);
}

TEST_F(unit, nothing_of_a_batch_that_faulted_is_left)
{
	ASSERT_EQ(SALVO_STATUS_FAULT, run(self->rig, 1, spoil_environment, 64));
	expect_new(_metadata, self->rig);
	ASSERT_EQ(SALVO_STATUS_FAULT, run(self->rig, 1, spoil_and_fault, 0));
	expect_new(_metadata, self->rig);
}

TEST_HARNESS_MAIN
