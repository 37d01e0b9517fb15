/* SPDX-License-Identifier: MIT */
/*
 * salvo_elf.h - read a program's ELF image, which nobody has checked before
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
 * @elf: Filled in; keeps @image, which must stay.
 *
 * After this no other function here can read out of bounds.
 *
 * Return: 0 or -ENOEXEC.
 */
int salvo_elf_open(struct salvo_elf *elf, const void *image, size_t bytes);

/**
 * salvo_elf_load() - Write the program as it is to lie in memory.
 * @dst: @elf->span zeroed bytes, wherever they are now.
 * @address: Where they will be when the program runs.
 */
void salvo_elf_load(const struct salvo_elf *elf, void *dst, uint64_t address);

/** salvo_elf_function() - Offset of an exported function in the program. Return: 0, -ENOENT. */
int salvo_elf_function(const struct salvo_elf *elf, const char *name, uint64_t *offset);

/**
 * salvo_elf_notes() - Visit all notes of one owner and type.
 * @visit: Called with each description; may return an error, which ends the walk.
 *
 * Return: 0, -ENOEXEC, or @visit's error.
 */
int salvo_elf_notes(const struct salvo_elf *elf, const char *owner, uint32_t type,
		    int (*visit)(void *cookie, const uint8_t *desc, size_t bytes), void *cookie);

/**
 * salvo_elf_move() - Change a copy of the image to say that it was linked at @address.
 * @copy: Writable copy of the image.
 *
 * Section and symbol addresses, and the addresses in debug sections that carry
 * their relocations (ld --emit-relocs), so that a debugger finds the source.
 */
void salvo_elf_move(const struct salvo_elf *elf, uint8_t *copy, uint64_t address);

#endif /* SALVO_LIB_ELF_H */
