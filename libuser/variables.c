// SPDX-License-Identifier: MIT
/*
 * variables.c - the variables of a program in global memory (struct salvo_note_variables)
 *
 * They are one buffer, as old as the program, so that what a kernel writes is there for the next
 * one. The note is untrusted: all that it refers to must lie in the program.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "bo.h"
#include "device.h"
#include "kernel.h"
#include "variables.h"
#include "winsys.h"

/* The note, and where things are in the program. */
struct layout {
	struct salvo_note_variables note;
	const uint8_t *pointers;
	uint64_t cell, init;
	bool found;
};

static int read_note(void *cookie, const uint8_t *desc, size_t bytes)
{
	struct layout *layout = cookie;
	struct salvo_note_variables *note = &layout->note;

	if (layout->found || bytes < sizeof(*note))
		return -ENOEXEC;
	memcpy(note, desc, sizeof(*note));
	if (note->version != SALVO_NOTE_VARIABLES_VERSION || !note->bytes ||
	    note->bytes > SALVO_MAX_VARIABLE_BYTES || note->init_bytes > note->bytes ||
	    note->pointer_count > (bytes - sizeof(*note)) / sizeof(uint64_t))
		return -ENOEXEC;
	layout->pointers = desc + sizeof(*note);
	layout->found = true;
	return 0;
}

static bool is_inside(const struct salvo_elf *elf, uint64_t offset, uint64_t bytes)
{
	return offset <= elf->span && bytes <= elf->span - offset;
}

/* Move the addresses among the contents from the program to the buffer. */
static int move_pointers(const struct layout *layout, uint8_t *contents, uint64_t from,
			 const struct salvo_bo *to)
{
	uint64_t at, value;
	uint32_t i;

	for (i = 0; i < layout->note.pointer_count; i++) {
		memcpy(&at, layout->pointers + i * sizeof(at), sizeof(at));
		if (layout->note.init_bytes < sizeof(value) ||
		    at > layout->note.init_bytes - sizeof(value))
			return -ENOEXEC;
		memcpy(&value, contents + at, sizeof(value));
		value += to->address - from;
		memcpy(contents + at, &value, sizeof(value));
	}
	return 0;
}

int salvo_variables_load(struct salvo_device *device, const struct salvo_elf *elf, uint8_t *map,
			 uint64_t address, struct salvo_bo **bo)
{
	struct layout layout = { .found = false };
	void *contents;
	int err;

	*bo = NULL;
	err = salvo_elf_notes(elf, SALVO_NOTE_OWNER, SALVO_NOTE_VARIABLES, read_note, &layout);
	if (err || !layout.found)
		return err;
	if (salvo_elf_object(elf, SALVO_VARIABLES_SYMBOL, &layout.cell) ||
	    salvo_elf_object(elf, SALVO_VARIABLES_INIT_SYMBOL, &layout.init) ||
	    !is_inside(elf, layout.cell, sizeof(uint64_t)) ||
	    !is_inside(elf, layout.init, layout.note.init_bytes))
		return -ENOEXEC;
	err = device->winsys->bo_create(device, layout.note.bytes, 0, bo);
	if (err)
		return err;
	err = salvo_bo_map(*bo, &contents);
	if (err)
		return err;
	memset(contents, 0, layout.note.bytes);
	memcpy(contents, map + layout.init, layout.note.init_bytes);
	memcpy(map + layout.cell, &(*bo)->address, sizeof(uint64_t));
	return move_pointers(&layout, contents, address + layout.init, *bo);
}
