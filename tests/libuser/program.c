// SPDX-License-Identifier: MIT
/* program.c - load valid and damaged programs */
#include <elf.h>

#include "kselftest_harness.h"
#include "salvo_kernel.h"
#include "salvo_march.h"
#include "lib_test.h"
#include "program_image.h"
#include "device.h"

FIXTURE(program) {
	struct salvo_device *device;
	uint8_t *image;
	uint8_t *copy;
	size_t bytes;
};

FIXTURE_SETUP(program)
{
	self->bytes = program_image_read("lib.salvo", &self->image, &self->copy);
	ASSERT_GT(self->bytes, 1000);
	ASSERT_LT(self->bytes, PROGRAM_IMAGE_MOST);
	ASSERT_EQ(0, open_device(&self->device));
}

FIXTURE_TEARDOWN(program)
{
	salvo_device_close(self->device);
	free(self->image);
	free(self->copy);
}

/* Section @type of the image, or NULL */
static Elf64_Shdr *find_section(uint8_t *image, uint32_t type)
{
	Elf64_Ehdr *header = (Elf64_Ehdr *)image;
	Elf64_Shdr *sections = (Elf64_Shdr *)(image + header->e_shoff);
	unsigned int i;

	for (i = 0; i < header->e_shnum; i++)
		if (sections[i].sh_type == type)
			return &sections[i];
	return NULL;
}

/* The first kernel's note */
static struct salvo_note_kernel *find_note(uint8_t *image)
{
	Elf64_Shdr *notes = find_section(image, SHT_NOTE);

	return (struct salvo_note_kernel *)(image + notes->sh_offset + sizeof(Elf64_Nhdr) + 8);
}

TEST_F(program, good)
{
	struct salvo_program *program;
	struct salvo_kernel *kernel;

	EXPECT_EQ(0, program_image_load(self->device, self->image, self->bytes));
	ASSERT_EQ(0, salvo_program_load(self->device, self->image, self->bytes, &program));
	/* The image is no longer needed. */
	memset(self->image, 0, self->bytes);
	EXPECT_EQ(0, salvo_kernel_create(program, "chain", &kernel));
	salvo_kernel_destroy(kernel);
	salvo_program_destroy(program);
}

TEST_F(program, unaligned_image)
{
	memmove(self->image + 1, self->image, self->bytes);
	EXPECT_EQ(0, program_image_load(self->device, self->image + 1, self->bytes));
}

TEST_F(program, files)
{
	struct salvo_program *program = (void *)1;

	EXPECT_EQ(-ENOENT, salvo_program_load_file(self->device, "/nowhere/at/all", &program));
	EXPECT_EQ(NULL, program);
	EXPECT_EQ(-ENOEXEC, salvo_program_load_file(self->device, "/dev/zero", &program));
	EXPECT_EQ(-ENOEXEC, salvo_program_load_file(self->device, "/", &program));
	EXPECT_EQ(-ENOEXEC, salvo_program_load_file(self->device, "/proc/self/exe", &program));
}

TEST_F(program, not_a_program)
{
	static const char text[4096] = "kernel void f() {}";

	EXPECT_EQ(-ENOEXEC, program_image_load(self->device, NULL, 0));
	EXPECT_EQ(-ENOEXEC, program_image_load(self->device, self->image, 0));
	EXPECT_EQ(-ENOEXEC, program_image_load(self->device, text, sizeof(text)));
}

/* One invalid field at a time, everything else valid */
TEST_F(program, wrong_header_fields)
{
	Elf64_Ehdr *header = (Elf64_Ehdr *)self->copy;

#define EXPECT_NOEXEC(field, value) do { \
	field = value; \
	EXPECT_EQ(-ENOEXEC, program_image_load(self->device, self->copy, self->bytes)) \
		TH_LOG("%s = %s", #field, #value); \
	memcpy(self->copy, self->image, self->bytes); \
} while (0)
	EXPECT_NOEXEC(header->e_ident[EI_MAG0], 0);
	EXPECT_NOEXEC(header->e_ident[EI_CLASS], ELFCLASS32);
	EXPECT_NOEXEC(header->e_ident[EI_DATA], ELFDATA2MSB);
	EXPECT_NOEXEC(header->e_type, ET_EXEC);
	EXPECT_NOEXEC(header->e_type, ET_REL);
	EXPECT_NOEXEC(header->e_machine, EM_AARCH64);
	EXPECT_NOEXEC(header->e_phoff, UINT64_MAX);
	EXPECT_NOEXEC(header->e_phoff, self->bytes);
	EXPECT_NOEXEC(header->e_phnum, 0);
	EXPECT_NOEXEC(header->e_phnum, 0xffff);
	EXPECT_NOEXEC(header->e_phentsize, 0);
	EXPECT_NOEXEC(header->e_shoff, UINT64_MAX - 63);
	EXPECT_NOEXEC(header->e_shnum, 0);
	EXPECT_NOEXEC(header->e_shnum, 0xffff);
	EXPECT_NOEXEC(header->e_shentsize, 8);
	EXPECT_EQ(0, program_image_load(self->device, self->copy, self->bytes));
}

TEST_F(program, wrong_segments_and_sections)
{
	Elf64_Phdr *segment = (Elf64_Phdr *)(self->copy + ((Elf64_Ehdr *)self->copy)->e_phoff);
	Elf64_Shdr *symbols = find_section(self->copy, SHT_DYNSYM);
	Elf64_Shdr *strings = find_section(self->copy, SHT_STRTAB);
	Elf64_Sym *symbol = (Elf64_Sym *)(self->copy + symbols->sh_offset) + 1;

	while (segment->p_type != PT_LOAD)
		segment++;
	EXPECT_NOEXEC(segment->p_offset, UINT64_MAX);
	EXPECT_NOEXEC(segment->p_filesz, UINT64_MAX);
	EXPECT_NOEXEC(segment->p_memsz, 1);
	EXPECT_NOEXEC(segment->p_vaddr, UINT64_MAX - 100);
	EXPECT_NOEXEC(segment->p_vaddr, 1ull << 40);
	EXPECT_NOEXEC(segment->p_memsz, 1ull << 40);
	EXPECT_NOEXEC(segment->p_type, PT_INTERP);
	EXPECT_NOEXEC(symbols->sh_type, SHT_SYMTAB);
	EXPECT_NOEXEC(symbols->sh_link, 0xffffff);
	EXPECT_NOEXEC(symbols->sh_entsize, 1);
	EXPECT_NOEXEC(symbols->sh_size, symbols->sh_size - 1);
	EXPECT_NOEXEC(symbols->sh_offset, self->bytes);
	EXPECT_NOEXEC(strings->sh_size, strings->sh_size - 1);
	EXPECT_NOEXEC(symbol->st_shndx, SHN_UNDEF);
	EXPECT_NOEXEC(symbol->st_name, 0xffffff);
	EXPECT_NOEXEC(symbol->st_value, 0);
	EXPECT_NOEXEC(symbol->st_value, UINT64_MAX);
	EXPECT_EQ(0, program_image_load(self->device, self->copy, self->bytes));
}

/* Where address @address of the program is in the image */
static uint64_t offset_of(const uint8_t *image, uint64_t address)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)image;
	const Elf64_Phdr *segment = (const Elf64_Phdr *)(image + header->e_phoff);

	while (segment->p_type != PT_LOAD || address < segment->p_vaddr ||
	       address - segment->p_vaddr >= segment->p_filesz)
		segment++;
	return address - segment->p_vaddr + segment->p_offset;
}

TEST_F(program, wrong_items)
{
	const uint64_t magic = SALVO_ITEMS_MAGIC;
	const Elf64_Shdr *text = find_section(self->copy, SHT_DYNSYM);
	const Elf64_Sym *symbol = (const Elf64_Sym *)(self->copy + text->sh_offset) + 1;
	struct salvo_items_link *link = (void *)(self->copy + offset_of(self->copy,
						symbol->st_value) - sizeof(*link));
	struct salvo_items *items;
	struct salvo_items_point *points;
	struct salvo_item_place *places;
	uint32_t i;

	ASSERT_EQ(magic, link->magic);
	items = (void *)(self->copy + offset_of(self->copy, symbol->st_value + link->items));
	points = (void *)(items + 1);
	places = (void *)(points + items->points);
	ASSERT_GT(items->points, 2);
	for (i = 0; places[i].what != SALVO_ITEM_ROW; i++)
		ASSERT_LT(i, items->places);
	EXPECT_NOEXEC(link->magic, 0);
	EXPECT_NOEXEC(link->items, INT32_MIN);
	EXPECT_NOEXEC(link->items, INT32_MAX);
	EXPECT_NOEXEC(link->items, link->items + 1);
	EXPECT_NOEXEC(items->version, SALVO_ITEMS_VERSION + 1);
	EXPECT_NOEXEC(items->points, UINT32_MAX);
	EXPECT_NOEXEC(items->places, UINT32_MAX);
	EXPECT_NOEXEC(items->bytes, UINT32_MAX);
	EXPECT_NOEXEC(items->bytes, 0);
	EXPECT_NOEXEC(points[0].at, UINT32_MAX);
	EXPECT_NOEXEC(points[1].place, items->places);
	EXPECT_NOEXEC(places[i].what, SALVO_ITEM_ROW + 1);
	EXPECT_NOEXEC(places[i].at[2], UINT16_MAX);
	EXPECT_NOEXEC(places[i].lanes, 0);
	EXPECT_NOEXEC(places[i].lane, UINT8_MAX);
	EXPECT_NOEXEC(places[i].base, SALVO_ITEM_REGISTERS);
	EXPECT_NOEXEC(places[i].index, SALVO_ITEM_REGISTERS);
	EXPECT_NOEXEC(places[i].each, 0);
	ASSERT_EQ(0, program_image_load(self->device, self->copy, self->bytes));
}

/* Expressions that fault themselves: the first fault is reported, without a work-item. */
TEST_F(program, items_that_lead_astray)
{
	static const uint8_t read_of_1[] = { 3, 0x11, 1, 0x06 };
	const Elf64_Shdr *text = find_section(self->copy, SHT_DYNSYM);
	const Elf64_Sym *symbol = (const Elf64_Sym *)(self->copy + text->sh_offset) + 1;
	const uint64_t link = offset_of(self->copy, symbol->st_value) -
			      sizeof(struct salvo_items_link);
	struct salvo_items *items = (void *)(self->copy + offset_of(self->copy, symbol->st_value +
				((struct salvo_items_link *)(self->copy + link))->items));
	struct salvo_item_place *places = (void *)((struct salvo_items_point *)(items + 1) +
						   items->points);
	const uint32_t count = 100;
	struct salvo_program *program;
	struct salvo_kernel *kernel;
	struct salvo_queue *queue;
	struct salvo_batch *batch;
	struct salvo_fence *fence;
	struct salvo_error error;
	uint32_t i, round;

	ASSERT_LE(sizeof(read_of_1), items->bytes);
	memcpy(places + items->places, read_of_1, sizeof(read_of_1));
	for (i = 0; i < items->places; i++)
		memset(places[i].at, 0, sizeof(places[i].at));
	ASSERT_EQ(0, salvo_program_load(self->device, self->copy, self->bytes, &program));
	ASSERT_EQ(0, salvo_kernel_create(program, "where", &kernel));
	ASSERT_EQ(0, salvo_kernel_set_bo(kernel, 0, NULL, 0));
	ASSERT_EQ(0, salvo_kernel_set_grid(kernel, 1, &count, NULL));
	ASSERT_EQ(0, salvo_batch_create(self->device, &batch));
	ASSERT_EQ(0, salvo_batch_dispatch(batch, kernel));
	for (round = 0; round < 3; round++) {
		ASSERT_EQ(0, salvo_queue_create(self->device, 0, &queue));
		ASSERT_EQ(0, salvo_queue_submit(queue, batch, NULL, 0, &fence));
		EXPECT_EQ(-ECANCELED, salvo_fence_wait(fence, 20 * SECOND_NS));
		ASSERT_EQ(0, salvo_fence_get_error(fence, &error));
		EXPECT_EQ(SALVO_ERROR_PAGE, error.kind);
		EXPECT_EQ(SALVO_ERROR_WRITE, error.access);
		EXPECT_EQ(0, error.items);
		EXPECT_EQ(~0u, error.item);
		salvo_fence_destroy(fence);
		salvo_queue_destroy(queue);
	}
	salvo_batch_destroy(batch);
	salvo_kernel_destroy(kernel);
	salvo_program_destroy(program);
}

TEST_F(program, wrong_notes)
{
	struct salvo_note_kernel *note = find_note(self->copy);
	struct salvo_note_arg *arg = (struct salvo_note_arg *)(note + 1);

	EXPECT_NOEXEC(note->version, 0);
	EXPECT_NOEXEC(note->version, SALVO_NOTE_VERSION + 1);
	EXPECT_NOEXEC(note->name, 0xffffff);
	EXPECT_NOEXEC(note->name, 0);
	EXPECT_NOEXEC(note->flags, 1u << 31);
	EXPECT_NOEXEC(note->isa_level, 1);
	EXPECT_NOEXEC(note->isa_level, SALVO_LEVEL_MAX + 1);
	EXPECT_NOEXEC(note->arg_count, UINT32_MAX);
	EXPECT_NOEXEC(note->arg_count, 100);
	EXPECT_NOEXEC(note->args_bytes, UINT32_MAX);
	EXPECT_NOEXEC(note->args_bytes, 4);
	EXPECT_NOEXEC(note->local_bytes, UINT32_MAX);
	EXPECT_NOEXEC(note->required_group[1], 3);
	EXPECT_NOEXEC(arg->kind, 4);
	EXPECT_NOEXEC(arg->size, 0);
	EXPECT_NOEXEC(arg->size, UINT32_MAX);
	EXPECT_NOEXEC(arg->size, 4);
	EXPECT_NOEXEC(arg->offset, UINT32_MAX);
	EXPECT_NOEXEC(((Elf64_Nhdr *)(self->copy + find_section(self->copy,
		      SHT_NOTE)->sh_offset))->n_descsz, UINT32_MAX);
	EXPECT_NOEXEC(((Elf64_Nhdr *)(self->copy + find_section(self->copy,
		      SHT_NOTE)->sh_offset))->n_namesz, UINT32_MAX);
	EXPECT_EQ(0, program_image_load(self->device, self->copy, self->bytes));
}

TEST_F(program, instruction_set_the_gpu_lacks)
{
	struct salvo_note_kernel *note = find_note(self->copy);

	/* No higher level than the GPU's may exist, so lower the GPU's. */
	note->isa_level = 3;
	self->device->info.isa_level = 3;
	EXPECT_EQ(0, program_image_load(self->device, self->copy, self->bytes));
	self->device->info.isa_level = 2;
	EXPECT_EQ(-ENOTSUP, program_image_load(self->device, self->copy, self->bytes));
}

/* Each length is a separate block, so that ASan detects a read past its end. */
TEST_F(program, every_truncation)
{
	unsigned int loaded = 0;
	size_t n;

	for (n = 0; n < self->bytes; n++) {
		uint8_t *part = malloc(n ? n : 1);

		memcpy(part, self->image, n);
		loaded += program_image_load(self->device, part, n) == 0;
		free(part);
	}
	/* The section headers are at the end. */
	EXPECT_EQ(0, loaded);
}

/*
 * Each byte outside of the code, with some of its bits changed: loading may succeed or fail, but
 * must not crash, and the kernels' descriptions must be usable.
 */
TEST_F_TIMEOUT(program, every_byte_changed, 200)
{
	static const uint8_t flips[] = { 0x01, 0x80, 0xff };
	/* A virtual machine is slow, and the code under test runs in this process anyway. */
	const size_t step = self->device->embedded ? 1 : 31;
	unsigned int refused = 0, loaded = 0, i;
	struct salvo_program *program;
	struct salvo_kernel *kernel;
	size_t n;
	int err;

	for (n = 0; n < self->bytes; n += step) {
		for (i = 0; i < sizeof(flips); i++) {
			self->copy[n] = self->image[n] ^ flips[i];
			err = salvo_program_load(self->device, self->copy, self->bytes, &program);
			refused += err != 0;
			loaded += err == 0;
			if (!err && !salvo_kernel_create(program, "mixed", &kernel)) {
				salvo_kernel_set_local(kernel, 4, 64);
				salvo_kernel_set_local(kernel, 6, 64);
				salvo_kernel_set_bo(kernel, 0, NULL, 0);
				salvo_kernel_destroy(kernel);
			}
			salvo_program_destroy(program);
		}
		self->copy[n] = self->image[n];
	}
	EXPECT_GT(refused, 100);
	EXPECT_GT(loaded, 100);
}

TEST_HARNESS_MAIN
