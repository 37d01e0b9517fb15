// SPDX-License-Identifier: MIT
/* variables.c - load programs with variables in global memory, valid and damaged ones; run them */
#include <elf.h>

#include "kselftest_harness.h"
#include "salvo_kernel.h"
#include "lib_test.h"
#include "program_image.h"

FIXTURE(variables) {
	struct salvo_device *device;
	uint8_t *image, *copy;
	size_t bytes;
};

FIXTURE_SETUP(variables)
{
	self->bytes = program_image_read("variables.salvo", &self->image, &self->copy);
	ASSERT_GT(self->bytes, 1000);
	ASSERT_LT(self->bytes, PROGRAM_IMAGE_MOST);
	ASSERT_EQ(0, open_device(&self->device));
}

FIXTURE_TEARDOWN(variables)
{
	salvo_device_close(self->device);
	free(self->image);
	free(self->copy);
}

/* The note of the variables; NULL if there is none. */
static struct salvo_note_variables *find_note(uint8_t *image)
{
	Elf64_Ehdr *header = (Elf64_Ehdr *)image;
	Elf64_Shdr *sections = (Elf64_Shdr *)(image + header->e_shoff);
	unsigned int i;
	uint64_t at;

	for (i = 0; i < header->e_shnum; i++) {
		if (sections[i].sh_type != SHT_NOTE)
			continue;
		for (at = 0; at < sections[i].sh_size;) {
			Elf64_Nhdr *note = (Elf64_Nhdr *)(image + sections[i].sh_offset + at);
			const uint64_t desc = at + sizeof(*note) + ((note->n_namesz + 3) & ~3u);

			if (note->n_type == SALVO_NOTE_VARIABLES && note->n_namesz == 6)
				return (void *)(image + sections[i].sh_offset + desc);
			at = desc + ((note->n_descsz + 3) & ~3u);
		}
	}
	return NULL;
}

#define EXPECT_NOEXEC(field, value) do { \
	typeof(field) before_ = field; \
	field = value; \
	EXPECT_EQ(-ENOEXEC, program_image_load(self->device, self->copy, self->bytes)); \
	field = before_; \
} while (0)

TEST_F(variables, wrong_notes)
{
	struct salvo_note_variables *note = find_note(self->copy);
	uint64_t *pointers = (uint64_t *)(note + 1);

	ASSERT_NE(NULL, note);
	ASSERT_EQ(2, note->pointer_count);
	EXPECT_NOEXEC(note->version, 0);
	EXPECT_NOEXEC(note->version, SALVO_NOTE_VARIABLES_VERSION + 1);
	EXPECT_NOEXEC(note->pointer_count, 3);
	EXPECT_NOEXEC(note->pointer_count, UINT32_MAX);
	EXPECT_NOEXEC(note->bytes, 0);
	EXPECT_NOEXEC(note->bytes, SALVO_MAX_VARIABLE_BYTES + 1);
	EXPECT_NOEXEC(note->bytes, UINT64_MAX);
	EXPECT_NOEXEC(note->bytes, note->init_bytes - 1);
	EXPECT_NOEXEC(note->init_bytes, 0);
	EXPECT_NOEXEC(note->init_bytes, pointers[1]);
	EXPECT_NOEXEC(note->init_bytes, UINT64_MAX);
	EXPECT_NOEXEC(pointers[0], note->init_bytes - 7);
	EXPECT_NOEXEC(pointers[1], UINT64_MAX);
	EXPECT_EQ(0, program_image_load(self->device, self->copy, self->bytes));
}

/* Each byte of the note changed, which must not crash. */
TEST_F(variables, every_byte_changed)
{
	uint8_t *note = (uint8_t *)find_note(self->copy);
	size_t bytes = sizeof(struct salvo_note_variables) + 2 * sizeof(uint64_t), i, bit;
	unsigned int refused = 0;

	ASSERT_NE(NULL, note);
	for (i = 0; i < bytes; i++)
		for (bit = 0; bit < 8; bit++) {
			note[i] ^= 1 << bit;
			refused += program_image_load(self->device, self->copy, self->bytes) != 0;
			note[i] ^= 1 << bit;
		}
	EXPECT_LT(bytes * 4, refused);
}

/* The exported symbol of that name, which the program has. */
static Elf64_Sym *find_symbol(uint8_t *image, const char *name)
{
	Elf64_Ehdr *header = (Elf64_Ehdr *)image;
	Elf64_Shdr *sections = (Elf64_Shdr *)(image + header->e_shoff);
	unsigned int i;
	uint64_t at;

	for (i = 0; i < header->e_shnum; i++) {
		const char *names = (char *)image + sections[sections[i].sh_link].sh_offset;
		Elf64_Sym *symbols = (Elf64_Sym *)(image + sections[i].sh_offset);

		if (sections[i].sh_type != SHT_DYNSYM)
			continue;
		for (at = 1; at < sections[i].sh_size / sizeof(*symbols); at++)
			if (!strcmp(names + symbols[at].st_name, name))
				return &symbols[at];
	}
	return NULL;
}

/* The address of the variables is not stored over what is checked: the tables of work-items. */
TEST_F(variables, address_over_the_tables)
{
	static const char *const names[] = { "walk", "walk.v3", "walk.v4" };
	Elf64_Sym *cell = find_symbol(self->copy, SALVO_VARIABLES_SYMBOL);
	unsigned int refused = 0, i;
	Elf64_Sym *kernel;

	ASSERT_NE(NULL, cell);
	/* One of them is what this processor executes. */
	for (i = 0; i < 3; i++) {
		kernel = find_symbol(self->copy, names[i]);
		ASSERT_NE(NULL, kernel);
		cell->st_value = kernel->st_value - sizeof(struct salvo_items_link);
		refused += program_image_load(self->device, self->copy, self->bytes) == -ENOEXEC;
	}
	EXPECT_EQ(1, refused);
}

static int run(struct salvo_device *device, struct salvo_batch *batch)
{
	struct salvo_queue *queue;
	struct salvo_fence *fence;
	int err = salvo_queue_create(device, 0, &queue);

	if (err)
		return err;
	err = salvo_queue_submit(queue, batch, NULL, 0, &fence);
	if (!err) {
		err = salvo_fence_wait(fence, 20 * SECOND_NS);
		salvo_fence_destroy(fence);
	}
	salvo_queue_destroy(queue);
	return err;
}

/* Only the kernels that use variables wait for each other. */
TEST_F(variables, are_shared_and_order_kernels)
{
	static const char *const names[] = { "walk", "change", "other" };
	struct salvo_program *program;
	struct salvo_kernel *kernels[3];
	struct salvo_batch *batch;
	struct salvo_hazard hazard;
	struct salvo_bo *out;
	const uint32_t one = 1;
	unsigned int i;
	int32_t *map;

	ASSERT_EQ(0, salvo_program_load(self->device, self->image, self->bytes, &program));
	EXPECT_LE(2 * 16 + 400u, salvo_program_variable_bytes(program));
	EXPECT_GE(8192u, salvo_program_variable_bytes(program));
	ASSERT_EQ(0, salvo_bo_create(self->device, 4096, 0, &out));
	ASSERT_EQ(0, salvo_bo_map(out, (void **)&map));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, salvo_kernel_create(program, names[i], &kernels[i]));
		ASSERT_EQ(0, salvo_kernel_set_grid(kernels[i], 1, &one, NULL));
	}
	ASSERT_EQ(0, salvo_kernel_set_bo_range(kernels[0], 0, out, 0, 8));
	ASSERT_EQ(0, salvo_kernel_set_bo_range(kernels[2], 0, out, 0, 0));
	ASSERT_EQ(0, salvo_batch_create(self->device, &batch));
	ASSERT_EQ(0, salvo_batch_enable_hazards(batch));
	ASSERT_EQ(0, salvo_batch_dispatch(batch, kernels[1]));
	ASSERT_EQ(1, salvo_batch_dispatch(batch, kernels[0]));
	ASSERT_EQ(0, salvo_batch_get_hazard(batch, 0, &hazard));
	EXPECT_EQ(1, hazard.consumer);
	EXPECT_EQ(0, hazard.producer);
	EXPECT_EQ(SALVO_HAZARD_VARIABLES, hazard.consumer_argument);
	EXPECT_EQ(SALVO_HAZARD_VARIABLES, hazard.producer_argument);
	for (i = 1; i < 4; i++) {
		ASSERT_EQ(0, run(self->device, batch));
		EXPECT_EQ(22 * 100 + 20 + i, map[0]);
		EXPECT_EQ(i, map[1]);
	}
	salvo_batch_reset(batch);
	ASSERT_EQ(0, salvo_batch_enable_hazards(batch));
	ASSERT_EQ(0, salvo_batch_dispatch(batch, kernels[1]));
	ASSERT_EQ(1, salvo_batch_dispatch(batch, kernels[2]));
	EXPECT_EQ(-ENOENT, salvo_batch_get_hazard(batch, 0, &hazard));
	ASSERT_EQ(0, run(self->device, batch));
	EXPECT_EQ(7, map[2]);
	salvo_batch_destroy(batch);
	for (i = 0; i < 3; i++)
		salvo_kernel_destroy(kernels[i]);
	salvo_bo_destroy(out);
	salvo_program_destroy(program);
}

TEST_HARNESS_MAIN
