/* SPDX-License-Identifier: MIT */
/*
 * jit.h - tell a debugger about a program that was loaded into this process
 */
#ifndef SALVO_JIT_H
#define SALVO_JIT_H

#include "salvo_elf.h"

struct salvo_jit_entry;

/**
 * salvo_jit_register() - Make gdb see a program's symbols and source lines.
 * @address: Where the program lies.
 *
 * Return: The registration, or NULL without memory (the program works all the same).
 */
struct salvo_jit_entry *salvo_jit_register(const struct salvo_elf *elf, uint64_t address);
void salvo_jit_unregister(struct salvo_jit_entry *entry);

#endif /* SALVO_JIT_H */
