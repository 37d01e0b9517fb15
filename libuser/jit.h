/* SPDX-License-Identifier: MIT */
/*
 * jit.h - register programs that are loaded into this process with the debugger
 */
#ifndef SALVO_JIT_H
#define SALVO_JIT_H

#include "salvo_elf.h"

struct salvo_jit_entry;

/**
 * salvo_jit_register() - Make gdb see a program's symbols and source lines.
 * @address: The program's.
 *
 * Return: The registration, or NULL without memory; the program works without.
 */
struct salvo_jit_entry *salvo_jit_register(const struct salvo_elf *elf, uint64_t address);
void salvo_jit_unregister(struct salvo_jit_entry *entry);

#endif /* SALVO_JIT_H */
