/* SPDX-License-Identifier: MIT */
/*
 * variables.h - the variables of a program in global memory
 */
#ifndef SALVO_LIB_VARIABLES_H
#define SALVO_LIB_VARIABLES_H

#include "salvo_elf.h"

struct salvo_bo;
struct salvo_device;

/**
 * salvo_variables_load() - Allocate them, and store their address in the program.
 * @map: The program as loaded and relocated, @elf->span bytes.
 * @address: Where it runs.
 * @bo: Is set to their buffer, or to NULL if the program has none. To be destroyed also after
 *      errors.
 *
 * Return: 0, -ENOEXEC (the note is not sane), -ENOMEM, -ENOSPC.
 */
int salvo_variables_load(struct salvo_device *device, const struct salvo_elf *elf, uint8_t *map,
			 uint64_t address, struct salvo_bo **bo);

#endif /* SALVO_LIB_VARIABLES_H */
