// SPDX-License-Identifier: MIT
/*
 * jit.c - register programs that are loaded into this process with the debugger
 *
 * gdb's JIT interface ("JIT Compilation Interface" in its manual): the debugger
 * sets a breakpoint on __jit_debug_register_code() and, when it is hit, reads the
 * image that __jit_debug_descriptor points to. The two names are fixed and shared
 * with any other JIT compiler in the process, hence weak and exported. gdb takes
 * the addresses in the image as they are, so the image it is given is a copy that
 * is relocated to the program's address. lock protects the list and the descriptor.
 */
#include "jit.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
	JIT_NOACTION,
	JIT_REGISTER,
	JIT_UNREGISTER,
};

/* gdb reads these two structures: their layout is gdb's. */
struct salvo_jit_entry {
	struct salvo_jit_entry *next;
	struct salvo_jit_entry *prev;
	const char *image;
	uint64_t bytes;
};

struct salvo_jit_descriptor {
	uint32_t version;
	uint32_t action;
	struct salvo_jit_entry *relevant;
	struct salvo_jit_entry *first;
};

extern struct salvo_jit_descriptor __jit_debug_descriptor;
void __jit_debug_register_code(void);

__attribute__((weak)) struct salvo_jit_descriptor __jit_debug_descriptor = { .version = 1 };

__attribute__((weak, noinline)) void __jit_debug_register_code(void)
{
	__asm__ volatile("" ::: "memory");
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

/* A child must not inherit the lock from a thread that it does not have. */
static void before_fork(void)
{
	pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&lock);
}

static void handle_fork(void)
{
	pthread_atfork(before_fork, after_fork, after_fork);
}

static void notify(struct salvo_jit_entry *entry, uint32_t action)
{
	__jit_debug_descriptor.relevant = entry;
	__jit_debug_descriptor.action = action;
	__jit_debug_register_code();
	__jit_debug_descriptor.action = JIT_NOACTION;
	__jit_debug_descriptor.relevant = NULL;
}

struct salvo_jit_entry *salvo_jit_register(const struct salvo_elf *elf, uint64_t address)
{
	struct salvo_jit_entry *entry = malloc(sizeof(*entry) + elf->bytes);
	uint8_t *copy;

	if (!entry)
		return NULL;
	pthread_once(&fork_once, handle_fork);
	copy = (uint8_t *)(entry + 1);
	memcpy(copy, elf->image, elf->bytes);
	salvo_elf_move(elf, copy, address);
	entry->image = (const char *)copy;
	entry->bytes = elf->bytes;
	entry->prev = NULL;

	pthread_mutex_lock(&lock);
	entry->next = __jit_debug_descriptor.first;
	if (entry->next)
		entry->next->prev = entry;
	__jit_debug_descriptor.first = entry;
	notify(entry, JIT_REGISTER);
	pthread_mutex_unlock(&lock);
	return entry;
}

void salvo_jit_unregister(struct salvo_jit_entry *entry)
{
	if (!entry)
		return;
	pthread_mutex_lock(&lock);
	if (entry->prev)
		entry->prev->next = entry->next;
	else
		__jit_debug_descriptor.first = entry->next;
	if (entry->next)
		entry->next->prev = entry->prev;
	notify(entry, JIT_UNREGISTER);
	pthread_mutex_unlock(&lock);
	free(entry);
}
