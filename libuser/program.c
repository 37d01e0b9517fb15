// SPDX-License-Identifier: MIT
/*
 * program.c - load a program of salvo-cc into an executable buffer
 *
 * device/include/salvo_kernel.h describes the format. The image is untrusted: salvo_elf.c checks
 * the structure, and each kernel's note is checked and copied here before it is used. A program
 * is immutable once it is loaded. One that is only described has kernels, whose entries are 0, and
 * no code.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "salvo_elf.h"
#include "array.h"
#include "bo.h"
#include "device.h"
#include "io.h"
#include "jit.h"
#include "kernel.h"
#include "observer.h"
#include "salvo_gpu.h"
#include "salvo_march.h"
#include "variables.h"
#include "winsys.h"

#define MAX_IMAGE	(256u << 20)
#define MAX_KERNELS	4096u
#define MAX_ARGS	1024u
#define KNOWN_FLAGS	(SALVO_KERNEL_BARRIERS | SALVO_KERNEL_SPLIT | SALVO_KERNEL_PRINTS | \
			 SALVO_KERNEL_OFFSET | SALVO_KERNEL_CHECKED | SALVO_KERNEL_SUB_GROUPS | \
			 SALVO_KERNEL_VARIABLES | SALVO_KERNEL_COLUMNS | SALVO_KERNEL_CONTENDS | \
			 SALVO_KERNEL_PLANES)

struct salvo_program {
	struct salvo_device *device;
	struct salvo_bo *code;
	/** @variables: NULL: it has none. */
	struct salvo_bo *variables;
	struct salvo_jit_entry *jit;
	struct salvo_kernel_info *kernels;
	unsigned int count;
};

/* State of the walk over the notes. */
struct note_walk {
	struct salvo_program *program;
	/** @elf: With the notes and the code; or NULL: @notes, @bytes of them, without code. */
	const struct salvo_elf *elf;
	const uint8_t *notes;
	size_t bytes;
	/** @too_new: Notes of kernels for instruction sets that the GPU lacks. */
	unsigned int too_new;
};

/* A string of a note's description, or NULL if it does not end inside it. */
static const char *note_string(const uint8_t *desc, size_t bytes, uint32_t offset)
{
	if (offset >= bytes || !memchr(desc + offset, 0, bytes - offset))
		return NULL;
	return (const char *)desc + offset;
}

static bool arg_is_sane(const struct salvo_note_kernel *note, const struct salvo_note_arg *arg,
			const uint8_t *desc, size_t bytes)
{
	if (!arg->size || arg->size > note->args_bytes ||
	    arg->offset > note->args_bytes - arg->size)
		return false;
	switch (arg->kind) {
	case SALVO_ARG_VALUE:
		return true;
	case SALVO_ARG_GLOBAL:
	case SALVO_ARG_CONSTANT:
	case SALVO_ARG_LOCAL:
		return arg->size == sizeof(uint64_t);
	case SALVO_ARG_IMAGE:
		return arg->size == sizeof(struct salvo_image_view) &&
		       note_string(desc, bytes, arg->type);
	case SALVO_ARG_SAMPLER:
		return arg->size == sizeof(uint32_t);
	default:
		return false;
	}
}

static bool note_is_sane(const struct salvo_device *device, const struct salvo_note_kernel *note,
			 size_t bytes)
{
	const uint32_t *group = note->required_group;
	size_t hidden = 0;

	if (note->flags & SALVO_KERNEL_PRINTS)
		hidden += sizeof(uint64_t);
	if (note->flags & SALVO_KERNEL_OFFSET)
		hidden += sizeof(struct salvo_global_offset);
	if (note->version != SALVO_NOTE_VERSION || note->flags & ~KNOWN_FLAGS ||
	    note->args_bytes < hidden ||
	    note->isa_level < SALVO_LEVEL_MIN || note->isa_level > SALVO_LEVEL_MAX)
		return false;
	if (note->arg_count > MAX_ARGS ||
	    note->arg_count * sizeof(struct salvo_note_arg) > bytes - sizeof(*note) ||
	    note->args_bytes > device->info.max_dispatch_argument_bytes ||
	    note->local_bytes > INT32_MAX)
		return false;
	return !group[0] == !group[1] && !group[0] == !group[2];
}

static void free_kernel(struct salvo_kernel_info *info)
{
	free(info->name);
	free(info->args);
	free(info->text);
}

/* Of several kernels of one name, keep the one for the highest instruction set. */
static int add_kernel(void *cookie, const uint8_t *desc, size_t bytes)
{
	struct note_walk *walk = cookie;
	struct salvo_program *program = walk->program;
	struct salvo_kernel_info *info;
	struct salvo_note_kernel note;
	const char *name, *symbol;
	uint64_t entry = 0;
	unsigned int i;

	if (bytes < sizeof(note) || program->count == MAX_KERNELS)
		return -ENOEXEC;
	memcpy(&note, desc, sizeof(note));
	name = note_string(desc, bytes, note.name);
	if (!name || !note_is_sane(program->device, &note, bytes))
		return -ENOEXEC;
	symbol = note.symbol ? note_string(desc, bytes, note.symbol) : name;
	if (!symbol || (walk->elf && salvo_elf_function(walk->elf, symbol, &entry)))
		return -ENOEXEC;
	if (note.isa_level > program->device->info.isa_level) {
		walk->too_new++;
		return 0;
	}

	info = (struct salvo_kernel_info *)salvo_program_find(program, name);
	if (info && info->note.isa_level >= note.isa_level)
		return 0;
	if (info) {
		free_kernel(info);
		memset(info, 0, sizeof(*info));
	} else {
		info = salvo_array_append(&program->kernels, &program->count, sizeof(*info));
		if (!info)
			return -ENOMEM;
	}
	info->entry = entry;
	info->note = note;
	info->name = strdup(name);
	info->args = calloc(note.arg_count + 1, sizeof(*info->args));
	info->text = malloc(bytes);
	if (!info->name || !info->args || !info->text)
		return -ENOMEM;
	memcpy(info->text, desc, bytes);
	memcpy(info->args, desc + sizeof(note), note.arg_count * sizeof(*info->args));
	if (!note_string(desc, bytes, note.hinted_type))
		info->note.hinted_type = 0;
	for (i = 0; i < note.arg_count; i++) {
		struct salvo_note_arg *arg = &info->args[i];

		if (!arg_is_sane(&note, arg, desc, bytes))
			return -ENOEXEC;
		arg->name = note_string(desc, bytes, arg->name) ? arg->name : 0;
		arg->type = note_string(desc, bytes, arg->type) ? arg->type : 0;
	}
	return salvo_sizes_fit(info) ? 0 : -ENOEXEC;
}

/*
 * Check the tables in memory that map instructions to work-items. The fault handler follows them,
 * so no offset may lead outside the program.
 */
static bool items_are_sane(const struct salvo_program *program, const uint8_t *map, uint64_t span)
{
	uint64_t checked = span, entry, at;
	struct salvo_items_link link;
	unsigned int i;

	for (i = 0; i < program->count; i++) {
		entry = program->kernels[i].entry;
		if (entry < sizeof(link) || entry > span)
			return false;
		memcpy(&link, map + entry - sizeof(link), sizeof(link));
		at = entry + link.items;
		if (link.magic != SALVO_ITEMS_MAGIC || at >= span || at % sizeof(uint32_t))
			return false;
		if (at == checked)
			continue;
		if (!salvo_items_check((const struct salvo_items *)(map + at), span - at))
			return false;
		checked = at;
	}
	return true;
}

/* Put the program into a buffer that the GPU may execute. */
static int load_code(struct salvo_program *program, const struct salvo_elf *elf)
{
	struct salvo_device *device = program->device;
	unsigned int i;
	void *map;
	int err;

	err = device->winsys->bo_create(device, elf->span, DRM_SALVO_BO_EXEC, &program->code);
	if (err)
		return err;
	err = salvo_bo_map(program->code, &map);
	if (err)
		return err;
	salvo_elf_load(elf, map, program->code->address);
	err = salvo_variables_load(device, elf, map, program->code->address, &program->variables);
	if (err)
		return err;
	/* Last: what was checked is not written any more. */
	if (!items_are_sane(program, map, elf->span))
		return -ENOEXEC;
	for (i = 0; i < program->count; i++)
		program->kernels[i].entry += program->code->address;
	if (device->embedded)
		program->jit = salvo_jit_register(elf, program->code->address);
	return 0;
}

static int is_empty(void *cookie, const uint8_t *desc, size_t bytes)
{
	(void)desc;
	(void)bytes;
	*(bool *)cookie = true;
	return 0;
}

static int visit_notes(const struct note_walk *walk, uint32_t type,
		       int (*visit)(void *cookie, const uint8_t *desc, size_t bytes), void *cookie)
{
	if (walk->elf)
		return salvo_elf_notes(walk->elf, SALVO_NOTE_OWNER, type, visit, cookie);
	return salvo_notes_visit(walk->notes, walk->bytes, sizeof(uint32_t), SALVO_NOTE_OWNER, type,
				 visit, cookie);
}

/* There may be none only if a note says so. */
static int add_kernels(struct note_walk *walk)
{
	bool empty = false;
	int err;

	err = visit_notes(walk, SALVO_NOTE_KERNEL, add_kernel, walk);
	if (err || walk->program->count)
		return err;
	err = visit_notes(walk, SALVO_NOTE_EMPTY, is_empty, &empty);
	if (err || empty)
		return err;
	return walk->too_new ? -ENOTSUP : -ENOEXEC;
}

static struct salvo_program *create_program(struct salvo_device *device)
{
	struct salvo_program *program = calloc(1, sizeof(*program));

	if (program)
		program->device = device;
	return program;
}

int salvo_program_load(struct salvo_device *device, const void *image, size_t bytes,
		       struct salvo_program **out)
{
	struct salvo_elf elf;
	struct note_walk walk = { .elf = &elf };
	struct salvo_program *program;
	int err;

	*out = NULL;
	err = salvo_elf_open(&elf, image, bytes);
	if (err)
		return err;
	program = create_program(device);
	if (!program)
		return -ENOMEM;
	walk.program = program;
	err = add_kernels(&walk);
	if (!err)
		err = load_code(program, &elf);
	if (err) {
		salvo_program_destroy(program);
		return err;
	}
	if (device->observer)
		device->observer->ops->program_loaded(device->observer, program, program->kernels,
						      program->count, image, bytes);
	*out = program;
	return 0;
}

int salvo_program_describe(struct salvo_device *device, const void *notes, size_t bytes,
			   struct salvo_program **out)
{
	struct note_walk walk = { .notes = notes, .bytes = bytes };
	struct salvo_program *program = create_program(device);
	int err;

	*out = NULL;
	if (!program)
		return -ENOMEM;
	walk.program = program;
	err = add_kernels(&walk);
	if (err)
		salvo_program_destroy(program);
	else
		*out = program;
	return err;
}

int salvo_program_load_file(struct salvo_device *device, const char *path,
			    struct salvo_program **out)
{
	/* A FIFO is refused, not waited for. */
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	size_t bytes;
	char *image;
	int err;

	*out = NULL;
	if (fd < 0)
		return -errno;
	err = salvo_read_regular(fd, MAX_IMAGE, &image, &bytes);
	close(fd);
	if (err)
		return err == -EINVAL || err == -EFBIG ? -ENOEXEC : err;
	err = salvo_program_load(device, image, bytes, out);
	free(image);
	return err;
}

void salvo_program_destroy(struct salvo_program *program)
{
	struct salvo_observer *observer;
	unsigned int i;

	if (!program)
		return;
	observer = program->device->observer;
	if (observer)
		observer->ops->program_destroyed(observer, program);
	salvo_jit_unregister(program->jit);
	salvo_bo_destroy(program->variables);
	salvo_bo_destroy(program->code);
	for (i = 0; i < program->count; i++)
		free_kernel(&program->kernels[i]);
	free(program->kernels);
	free(program);
}

const struct salvo_kernel_info *salvo_program_find(const struct salvo_program *program,
						   const char *name)
{
	unsigned int i;

	for (i = 0; i < program->count; i++)
		if (!strcmp(program->kernels[i].name, name))
			return &program->kernels[i];
	return NULL;
}

unsigned int salvo_program_kernel_count(const struct salvo_program *program)
{
	return program->count;
}

const char *salvo_program_kernel_name(const struct salvo_program *program, unsigned int index)
{
	return index < program->count ? program->kernels[index].name : NULL;
}

struct salvo_device *salvo_program_device(const struct salvo_program *program)
{
	return program->device;
}

const struct salvo_bo *salvo_program_variables(const struct salvo_program *program)
{
	return program->variables;
}

uint64_t salvo_program_variable_bytes(const struct salvo_program *program)
{
	return program->variables ? program->variables->size : 0;
}
