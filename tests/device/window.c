// SPDX-License-Identifier: MIT
/*
 * window.c - system memory in GPU address spaces: BIND_SYSTEM and salvo_gpu_map_fd()
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "gpu_fixture.h"

#define PAGE 4096u
#define RW (SALVO_ACCESS_READ | SALVO_ACCESS_WRITE)
/* System memory behind the ring, the results and the first packets */
#define PAGES_AT (RIG_SYSTEM_BYTES - 16 * PAGE)

static uint64_t window(const struct rig *rig)
{
	return rig->regs->va_base + rig->regs->vram_bytes;
}

/* A space packet with @count BIND_SYSTEM commands. Returns its status. */
static uint32_t bind_system(struct rig *rig, uint32_t asid,
			    const struct salvo_op_bind_system *binds, uint32_t count)
{
	const uint32_t bytes = sizeof(struct salvo_packet) + count * sizeof(*binds) +
			       sizeof(struct salvo_op_close);
	struct salvo_ring_entry entry = rig_next_entry(rig, 0, bytes);
	struct salvo_packet *packet = rig_next_packet(rig);
	struct salvo_op_bind_system *op = (void *)(packet + 1);
	struct salvo_op_close *close;
	uint32_t i;

	*packet = (struct salvo_packet) {
		.magic = SALVO_PACKET_MAGIC, .bytes = bytes, .fence_id = entry.seqno,
		.kind = SALVO_PACKET_SPACE, .command_count = count,
		.command_bytes = bytes - sizeof(*packet),
		.result = rig_result_address(entry.seqno),
	};
	for (i = 0; i < count; i++) {
		op[i] = binds[i];
		op[i].op.code = SALVO_OP_BIND_SYSTEM;
		op[i].op.bytes = sizeof(*op);
	}
	close = (void *)&op[count];
	*close = (struct salvo_op_close) {
		.op = { .code = SALVO_OP_CLOSE, .bytes = sizeof(*close) }, .fence_id = entry.seqno,
	};
	entry.asid = asid;
	rig_push(rig, &entry);
	rig_ring(rig);
	return rig_wait(rig, entry.seqno) ? rig_result(rig, entry.seqno)->status : ~0u;
}

struct sum_args {
	uint64_t *from;
	uint64_t *to;
	uint64_t count;
};

RIG_KERNEL static void add_one(RIG_KERNEL_ARGS)
{
	const struct sum_args *a = args;
	uint64_t i;

	for (i = 0; i < a->count; i++)
		a->to[i] = a->from[i] + 1;
}

static uint32_t run_add(struct rig *rig, uint64_t from, uint64_t to, uint64_t count)
{
	const struct sum_args args = { (void *)from, (void *)to, count };
	const struct drm_salvo_command command = rig_dispatch(rig, add_one, 1, 1, 0,
							      sizeof(args));

	return rig_run(rig, &command, 1, &args, sizeof(args));
}

TEST_F(gpu, kernels_and_commands_use_scattered_system_pages_as_one_buffer)
{
	struct rig *rig = self->rig;
	uint64_t *system = (uint64_t *)(rig->system + PAGES_AT);
	/* Three pages, in the order 2, 0, 1. */
	const struct salvo_op_bind_system binds[] = {
		{ .address = window(rig), .size = PAGE, .system = PAGES_AT + 2 * PAGE,
		  .access = RW },
		{ .address = window(rig) + PAGE, .size = 2 * PAGE, .system = PAGES_AT,
		  .access = RW },
	};
	const struct drm_salvo_command copy = {
		.type = DRM_SALVO_COPY, .src = window(rig), .dst = rig->data_address,
		.size = 3 * PAGE,
	};
	const uint64_t count = 3 * PAGE / 8;
	uint64_t i;

	ASSERT_EQ(SALVO_STATUS_DONE, bind_system(rig, RIG_ASID, binds, 2));
	for (i = 0; i < count; i++)
		system[i] = i;
	ASSERT_EQ(SALVO_STATUS_DONE, run_add(rig, window(rig), window(rig), count));
	ASSERT_EQ(SALVO_STATUS_DONE, rig_run(rig, &copy, 1, NULL, 0));
	for (i = 0; i < count; i++) {
		ASSERT_EQ(i + 1, system[i]);
		ASSERT_EQ(system[(i + 2 * PAGE / 8) % count], self->data[i]);
	}

	/* One UNBIND removes both; afterwards neither kernels nor commands can access them. */
	ASSERT_EQ(SALVO_STATUS_DONE, rig_space(rig, RIG_ASID, SALVO_OP_UNBIND, window(rig),
					       3 * PAGE, 0));
	EXPECT_EQ(SALVO_STATUS_FAULT, run_add(rig, window(rig), rig->data_address, 1));
	EXPECT_EQ(window(rig), rig->regs->fault.address);
	EXPECT_EQ(SALVO_STATUS_BAD_PACKET, rig_run(rig, &copy, 1, NULL, 0));
	/* The range can be bound again. */
	EXPECT_EQ(SALVO_STATUS_DONE, bind_system(rig, RIG_ASID, binds, 1));
}

TEST_F(gpu, system_pages_that_are_read_only_cannot_be_written)
{
	struct rig *rig = self->rig;
	const struct salvo_op_bind_system read_only = {
		.address = window(rig), .size = PAGE, .system = PAGES_AT,
		.access = SALVO_ACCESS_READ,
	};
	struct salvo_op_bind_system writable = read_only;

	ASSERT_EQ(SALVO_STATUS_DONE, bind_system(rig, RIG_ASID, &read_only, 1));
	EXPECT_EQ(SALVO_STATUS_DONE, run_add(rig, window(rig), rig->data_address, 1));
	EXPECT_EQ(SALVO_STATUS_FAULT, run_add(rig, rig->data_address, window(rig), 1));

	/* Another address space may bind the same pages there, but no others. */
	writable.access = RW;
	EXPECT_EQ(SALVO_STATUS_DONE, bind_system(rig, RIG_ASID + 1, &writable, 1));
	writable.system += PAGE;
	EXPECT_EQ(SALVO_STATUS_BAD_PACKET, bind_system(rig, RIG_ASID + 2, &writable, 1));
	EXPECT_EQ(SALVO_STATUS_DONE,
		  rig_space(rig, RIG_ASID, SALVO_OP_UNBIND, window(rig), PAGE, 0));
	EXPECT_EQ(SALVO_STATUS_DONE, rig_space(rig, RIG_ASID + 1, SALVO_OP_SPACE_END, 0, 0, 0));
	EXPECT_EQ(SALVO_STATUS_DONE, bind_system(rig, RIG_ASID + 2, &writable, 1));
}

TEST_F(gpu, fields_of_bind_system_are_checked)
{
	struct rig *rig = self->rig;
	const uint64_t at = window(rig);
	const struct salvo_op_bind_system good = {
		.address = at, .size = PAGE, .system = PAGES_AT, .access = RW,
	};
	unsigned int i;

	for (i = 0; i < 19; i++) {
		struct salvo_op_bind_system op = good;

		switch (i) {
		case 0: op.address = at - PAGE; break;
		case 1: op.address = at + 8; break;
		case 2: op.address = rig->regs->va_base + rig->regs->va_bytes; break;
		case 3: op.address = 0; break;
		case 4: op.address = ~4095ull; break;
		case 5: op.size = 0; break;
		case 6: op.size = 100; break;
		case 7: op.size = ~4095ull; break;
		case 8: op.size = RIG_SYSTEM_BYTES; break;
		case 9: op.system = RIG_SYSTEM_BYTES; break;
		case 10: op.system = RIG_SYSTEM_BYTES - PAGE; op.size = 2 * PAGE; break;
		case 11: op.system = PAGES_AT + 8; break;
		case 12: op.system = ~4095ull; break;
		case 13: op.access = 0; break;
		case 14: op.access = SALVO_ACCESS_READ | SALVO_ACCESS_EXEC; break;
		case 15: op.access = RW | SALVO_ACCESS_EXEC; break;
		case 16: op.access = 8; break;
		case 17: op.reserved = 1; break;
		case 18: op.op.index = 1; break;
		}
		EXPECT_EQ(SALVO_STATUS_BAD_PACKET, bind_system(rig, RIG_ASID, &op, 1))
			TH_LOG("case %u", i);
	}
	EXPECT_EQ(SALVO_STATUS_BAD_PACKET,
		  rig_space(rig, RIG_ASID, SALVO_OP_BIND, at, PAGE, RW));
	EXPECT_EQ(SALVO_STATUS_DONE, bind_system(rig, RIG_ASID, &good, 1));
	EXPECT_EQ(SALVO_STATUS_BAD_PACKET, bind_system(rig, RIG_ASID, &good, 1));
	EXPECT_EQ(SALVO_STATUS_BAD_PACKET,
		  rig_space(rig, RIG_ASID, SALVO_OP_UNBIND, at, 2 * PAGE, 0));
	rig_reset(rig);
	EXPECT_EQ(SALVO_STATUS_DONE, bind_system(rig, RIG_ASID, &good, 1));
}

TEST_F(gpu, an_owner_maps_a_file_into_the_window)
{
	struct rig *rig = self->rig;
	const int fd = memfd_create("foreign", MFD_CLOEXEC);
	struct salvo_gpu_mapping mapping = {
		.asid = RIG_ASID, .access = RW, .address = window(rig) + PAGE, .size = 2 * PAGE,
		.fd = fd, .offset = PAGE,
	};
	uint64_t *pages;
	unsigned int i;

	if (rig->config.isolation)
		SKIP(return, "kernels run in other processes");
	ASSERT_EQ(0, ftruncate(fd, 3 * PAGE));
	pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, (void *)pages);
	for (i = 0; i < 9; i++) {
		struct salvo_gpu_mapping wrong = mapping;

		switch (i) {
		case 0: wrong.asid = 0; break;
		case 1: wrong.access = 0; break;
		case 2: wrong.access = SALVO_ACCESS_READ | SALVO_ACCESS_EXEC; break;
		case 3: wrong.address = rig->data_address; break;
		case 4: wrong.address += 8; break;
		case 5: wrong.size = 100; break;
		case 6: wrong.fd = -1; break;
		case 7: wrong.offset = 8; break;
		case 8: wrong.offset = ~4095ull; break;
		}
		EXPECT_EQ(-EINVAL, salvo_gpu_map_fd(rig->gpu, &wrong))
			TH_LOG("case %u", i);
	}
	ASSERT_EQ(0, salvo_gpu_map_fd(rig->gpu, &mapping));
	EXPECT_EQ(-EINVAL, salvo_gpu_map_fd(rig->gpu, &mapping));
	mapping.asid++;
	EXPECT_EQ(-EINVAL, salvo_gpu_map_fd(rig->gpu, &mapping));
	close(fd);

	pages[PAGE / 8] = 41;
	EXPECT_EQ(SALVO_STATUS_DONE, run_add(rig, window(rig) + PAGE, rig->data_address, 1));
	EXPECT_EQ(42, self->data[0]);
	EXPECT_EQ(SALVO_STATUS_DONE, run_add(rig, rig->data_address, window(rig) + 2 * PAGE, 1));
	EXPECT_EQ(43, pages[2 * PAGE / 8]);
	EXPECT_EQ(SALVO_STATUS_DONE, rig_space(rig, RIG_ASID, SALVO_OP_UNBIND, window(rig) + PAGE,
					       2 * PAGE, 0));
	EXPECT_EQ(SALVO_STATUS_FAULT, run_add(rig, window(rig) + PAGE, rig->data_address, 1));
	munmap(pages, 3 * PAGE);
}

TEST_HARNESS_MAIN
