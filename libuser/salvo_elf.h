/* SPDX-License-Identifier: MIT */
/*
 * salvo_elf.h - read the untrusted ELF image of a program
 */
#ifndef SALVO_LIB_ELF_H
#define SALVO_LIB_ELF_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct salvo_elf - An image whose structure was checked.
 */
struct salvo_elf {
	const uint8_t *image;
	size_t bytes;
	Elf64_Ehdr header;
	/** @span: Bytes from address 0 to the end of the last segment. */
	uint64_t span;
};

/**
 * salvo_elf_open() - Check an image.
 * @elf: Filled in; refers to @image, which must stay valid.
 *
 * On success no other function here reads out of bounds.
 *
 * Return: 0 or -ENOEXEC.
 */
int salvo_elf_open(struct salvo_elf *elf, const void *image, size_t bytes);

/**
 * salvo_elf_load() - Load and relocate the program.
 * @dst: @elf->span zeroed bytes.
 * @address: The address at which the program will run.
 */
void salvo_elf_load(const struct salvo_elf *elf, void *dst, uint64_t address);

/** salvo_elf_function() - Offset of an exported function in the program. Return: 0, -ENOENT. */
int salvo_elf_function(const struct salvo_elf *elf, const char *name, uint64_t *offset);

/** salvo_elf_object() - Offset of an exported variable; any number. Return: 0, -ENOENT. */
int salvo_elf_object(const struct salvo_elf *elf, const char *name, uint64_t *offset);

/**
 * salvo_elf_notes() - Visit all notes of one owner and type.
 * @visit: Called with each description; may return an error, which ends the walk.
 *
 * Return: 0, -ENOEXEC, or @visit's error.
 */
int salvo_elf_notes(const struct salvo_elf *elf, const char *owner, uint32_t type,
		    int (*visit)(void *cookie, const uint8_t *desc, size_t bytes), void *cookie);

/**
 * salvo_notes_visit() - The same, of notes in memory.
 * @align: 4 or 8 bytes, of their descriptions.
 */
int salvo_notes_visit(const uint8_t *notes, size_t bytes, uint64_t align, const char *owner,
		      uint32_t type,
		      int (*visit)(void *cookie, const uint8_t *desc, size_t bytes), void *cookie);

/**
 * salvo_elf_move() - Relocate a copy of the image to @address, for a debugger.
 * @copy: Writable copy of the image.
 *
 * Changes the addresses of sections and symbols, and those in debug sections that have
 * relocations (ld --emit-relocs).
 */
void salvo_elf_move(const struct salvo_elf *elf, uint8_t *copy, uint64_t address);

#endif /* SALVO_LIB_ELF_H */
