// SPDX-License-Identifier: MIT
/*
 * fault.c - the fault that CTX_QUERY reports
 *
 * The kernels are a few bytes of machine code each. A kernel without barriers is called
 * for a work-group, so the linear number of the work-group is what they can choose.
 */
#include "kselftest_harness.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rendernode.h"

#define GROUPS	8u
#define SPACING	64u

FIXTURE(fault) {
	int fd;
	uint32_t ctx;
	struct bo code, data;
	uint64_t args[2];
	struct drm_salvo_command commands[3];
	struct batch batch;
	struct drm_salvo_sync done;
	struct drm_salvo_ctx_query query;
};

/* mov (%rdi),%rax; mov %rax,(%rax); ret */
#define STORE		0x48, 0x8b, 0x07, 0x48, 0x89, 0x00, 0xc3
/* mov (%rdi),%rax; mov (%rax),%rax; ret */
#define LOAD		0x48, 0x8b, 0x07, 0x48, 0x8b, 0x00, 0xc3
/* mov (%rdi),%rax; jmp *%rax */
#define JUMP		0x48, 0x8b, 0x07, 0xff, 0xe0
/* xor %eax,%eax; xor %edx,%edx; xor %ecx,%ecx; div %ecx */
#define DIVIDE		0x31, 0xc0, 0x31, 0xd2, 0x31, 0xc9, 0xf7, 0xf1
/* ud2 */
#define ILLEGAL		0x0f, 0x0b
/* ret */
#define NOTHING		0xc3

FIXTURE_SETUP(fault)
{
	static const unsigned char code[][SPACING] = {
		{ STORE }, { LOAD }, { JUMP }, { DIVIDE }, { ILLEGAL }, { NOTHING },
	};

	memset(self, 0, sizeof(*self));
	self->fd = node_open();
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(ctx_create(self->fd, &self->ctx), 0);
	ASSERT_EQ(bo_create(self->fd, 4096, DRM_SALVO_BO_EXEC, &self->code), 0);
	ASSERT_EQ(bo_create(self->fd, 4096, 0, &self->data), 0);
	ASSERT_EQ(bo_map(self->fd, &self->code), 0);
	memcpy(self->code.map, code, sizeof(code));
	self->done.handle = syncobj_create(self->fd);
	self->batch = (struct batch){
		.ctx = self->ctx, .commands = self->commands, .count = 3,
		.signals = &self->done, .signal_count = 1,
		.args = self->args, .args_size = sizeof(self->args),
	};
}

FIXTURE_TEARDOWN(fault)
{
	munmap(self->code.map, self->code.size);
	close(self->fd);
}

enum { KERNEL_STORE, KERNEL_LOAD, KERNEL_JUMP, KERNEL_DIVIDE, KERNEL_ILLEGAL, KERNEL_NOTHING };

static struct drm_salvo_command dispatch(const struct bo *code, uint32_t kernel)
{
	return (struct drm_salvo_command){
		.type = DRM_SALVO_DISPATCH, .entry = code->address + kernel * SPACING, .dims = 1,
		.items = { GROUPS, 1, 1 }, .group = { 1, 1, 1 }, .args_size = 16,
	};
}

/* Runs a valid batch, then one whose third command is @kernel; then queries the context. */
static int run_faulting(FIXTURE_DATA(fault) *self, uint32_t kernel, uint64_t address)
{
	int err;

	self->commands[0] = dispatch(&self->code, KERNEL_NOTHING);
	self->commands[1] = pipe_control_all();
	self->commands[2] = dispatch(&self->code, KERNEL_NOTHING);
	err = submit(self->fd, &self->batch) ?: syncobj_wait(self->fd, self->done.handle, 20) ?:
	      syncobj_error(self->fd, self->done.handle);
	if (err)
		return err;
	self->args[0] = address;
	self->commands[2] = dispatch(&self->code, kernel);
	err = submit(self->fd, &self->batch) ?: syncobj_wait(self->fd, self->done.handle, 20);
	if (err)
		return err;
	return ctx_query(self->fd, self->ctx, &self->query) ?:
	       syncobj_error(self->fd, self->done.handle);
}

#define EXPECT_FAULT(kernel, where, fault_kind, fault_access) do {			\
	const struct drm_salvo_fault *fault = &self->query.fault;			\
											\
	ASSERT_EQ(run_faulting(self, kernel, where), -ECANCELED);			\
	EXPECT_EQ(self->query.state, DRM_SALVO_CTX_BANNED);				\
	EXPECT_EQ(self->query.guilty, 1);						\
	EXPECT_EQ(self->query.innocent, 0);						\
	EXPECT_EQ(self->query.failed, 1);						\
	EXPECT_EQ(fault->kind, fault_kind);						\
	EXPECT_EQ(fault->access, fault_access);						\
	EXPECT_EQ(fault->batch, 2);							\
	EXPECT_EQ(fault->command, 2);							\
	EXPECT_EQ(fault->done, 1);							\
	EXPECT_LT(fault->group, GROUPS);						\
	EXPECT_EQ(fault->items, 0);							\
} while (0)

TEST_F(fault, write_to_no_buffer)
{
	const uint64_t where = self->data.address + (128 << 20) + 24;

	EXPECT_FAULT(KERNEL_STORE, where, DRM_SALVO_FAULT_PAGE, DRM_SALVO_ACCESS_WRITE);
	EXPECT_EQ(self->query.fault.address, where);
}

TEST_F(fault, read_of_no_buffer)
{
	const uint64_t where = self->data.address + (128 << 20) + 40;

	EXPECT_FAULT(KERNEL_LOAD, where, DRM_SALVO_FAULT_PAGE, DRM_SALVO_ACCESS_READ);
	EXPECT_EQ(self->query.fault.address, where);
}

TEST_F(fault, jump_into_data)
{
	EXPECT_FAULT(KERNEL_JUMP, self->data.address, DRM_SALVO_FAULT_PAGE, DRM_SALVO_ACCESS_EXEC);
	EXPECT_EQ(self->query.fault.address, self->data.address);
}

TEST_F(fault, write_to_code)
{
	EXPECT_FAULT(KERNEL_STORE, self->code.address + 2048, DRM_SALVO_FAULT_PAGE,
		     DRM_SALVO_ACCESS_WRITE);
	EXPECT_EQ(self->query.fault.address, self->code.address + 2048);
}

TEST_F(fault, division_by_zero)
{
	EXPECT_FAULT(KERNEL_DIVIDE, 0, DRM_SALVO_FAULT_ARITHMETIC, 0);
}

TEST_F(fault, illegal_instruction)
{
	EXPECT_FAULT(KERNEL_ILLEGAL, 0, DRM_SALVO_FAULT_INSTRUCTION, 0);
}

/* Faults of later batches do not replace the first one. */
TEST_F(fault, first_one_is_kept)
{
	uint64_t address = self->data.address + (128 << 20);
	struct drm_salvo_fault first;
	int i;

	self->commands[0] = dispatch(&self->code, KERNEL_STORE);
	self->batch.count = 1;
	self->args[0] = address;
	for (i = 0; i < 4; i++)
		if (submit(self->fd, &self->batch))
			break;
	ASSERT_GE(i, 1);
	ASSERT_EQ(syncobj_wait(self->fd, self->done.handle, 20), 0);
	ASSERT_EQ(ctx_query(self->fd, self->ctx, &self->query), 0);
	first = self->query.fault;
	EXPECT_EQ(first.batch, 1);
	EXPECT_EQ(first.address, address);
	EXPECT_EQ(self->query.failed, i);
	EXPECT_EQ(submit(self->fd, &self->batch), -EIO);
}

/* The GPU validates again what the driver has validated. */
TEST_F(fault, other_contexts_go_on)
{
	struct drm_salvo_command command = fill(self->data.address, 4096, 3);
	struct drm_salvo_ctx_query query;
	uint32_t other;

	ASSERT_EQ(ctx_create(self->fd, &other), 0);
	ASSERT_EQ(run_faulting(self, KERNEL_ILLEGAL, 0), -ECANCELED);
	EXPECT_EQ(run(self->fd, other, &command, 1), 0);
	ASSERT_EQ(ctx_query(self->fd, other, &query), 0);
	EXPECT_EQ(query.state, 0);
	EXPECT_EQ(query.guilty, 0);
	EXPECT_EQ(query.fault.kind, DRM_SALVO_FAULT_NONE);
}

TEST_HARNESS_MAIN
