// SPDX-License-Identifier: MIT
/*
 * rest.c - compilers that go on after their program was checked
 *
 * Nobody waits for them until the program is wanted; they take turns (salvo-cc --take-turns). In a
 * process there are at most as many as there are slots. An application may never want some of its
 * programs, so whenever a place is needed, those whose compilers have ended are finished: what
 * they made goes into the cache, and is kept for their owners.
 *
 * No locks, as a child of fork() could find one locked: who takes a compiler out of its slot, by
 * exchanging it for &busy, finishes it. The owner either does that or, if another thread was
 * first, waits until that has @done set, which takes no longer than reading a file.
 */
#include "rest.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "cache.h"

/* A compiler that waits for its turn takes 5 to 25 MB of memory. */
#define SLOTS 32

struct salvo_build_rest {
	struct salvo_compiler_run child;
	/** @owner: The process that started it; @child forgets its own once it is finished. */
	pid_t owner;
	unsigned int slot;
	bool has_key;
	uint8_t key[SHA256_DIGEST_LENGTH];
	/** @done: Another thread has finished it, as the other fields say. */
	atomic_bool done;
	int err;
	struct salvo_text_block out;
	struct salvo_text_block messages;
};

static struct salvo_build_rest busy;
/* NULL: free. &busy: its compiler is being started or finished. */
static _Atomic(struct salvo_build_rest *) slots[SLOTS];

static int finish(struct salvo_build_rest *rest, struct salvo_text_block *out,
		  struct salvo_text_block *messages)
{
	const int err = salvo_compiler_finish(&rest->child, out, messages);

	if (!err && rest->has_key)
		salvo_cache_write(rest->key, out, messages);
	return err;
}

/* Return: whether the slot is free now, and taken. */
static bool reap(unsigned int slot)
{
	struct salvo_build_rest *rest = atomic_load(&slots[slot]);

	/* It may have another one by now, which is as good. */
	if (rest == &busy)
		return false;
	rest = atomic_exchange(&slots[slot], &busy);
	if (!rest)
		return true;
	if (rest == &busy)
		return false;
	if (!salvo_compiler_has_ended(&rest->child)) {
		atomic_store(&slots[slot], rest);
		return false;
	}
	rest->err = finish(rest, &rest->out, &rest->messages);
	/* Its owner may free it from here on. */
	atomic_store(&rest->done, true);
	return true;
}

struct salvo_build_rest *salvo_rest_create(void)
{
	struct salvo_build_rest *rest = calloc(1, sizeof(*rest));
	bool found = false;
	unsigned int i;

	for (i = 0; rest && i < SLOTS; i++) {
		if (found && !atomic_load(&slots[i]))
			continue;
		if (!reap(i))
			continue;
		if (found)
			atomic_store(&slots[i], NULL);
		else
			rest->slot = i;
		found = true;
	}
	if (found)
		return rest;
	free(rest);
	return NULL;
}

void salvo_rest_discard(struct salvo_build_rest *rest)
{
	atomic_store(&slots[rest->slot], NULL);
	free(rest);
}

struct salvo_compiler_run *salvo_rest_run(struct salvo_build_rest *rest)
{
	return &rest->child;
}

void salvo_rest_go_on(struct salvo_build_rest *rest, const uint8_t *key)
{
	rest->owner = getpid();
	rest->has_key = key;
	if (key)
		memcpy(rest->key, key, sizeof(rest->key));
	atomic_store(&slots[rest->slot], rest);
}

/* Return: true if the caller has to finish it; false if another thread has. */
static bool take_out(struct salvo_build_rest *rest)
{
	struct salvo_build_rest *expected = rest;

	while (!atomic_compare_exchange_strong(&slots[rest->slot], &expected, NULL)) {
		if (atomic_load(&rest->done))
			return false;
		/* In a child of fork() the thread that has it is not there. */
		if (rest->owner != getpid())
			return true;
		sched_yield();
		expected = rest;
	}
	return true;
}

/* The cache's key for the code of one kernel */
static void kernel_key(const struct salvo_build_rest *rest, const char *kernel, uint8_t *key)
{
	SHA2_CTX hash;

	SHA256Init(&hash);
	salvo_cache_hash(&hash, rest->key, sizeof(rest->key));
	salvo_cache_hash(&hash, kernel, strlen(kernel));
	SHA256Final(key, &hash);
}

static bool compile_part(struct salvo_build_rest *rest, const char *kernel,
			 struct salvo_text_block *out)
{
	struct salvo_build_rest *expected = rest;
	bool found;

	/* While another thread finishes it, there soon is more than a part. */
	if (!atomic_compare_exchange_strong(&slots[rest->slot], &expected, &busy))
		return false;
	found = salvo_compiler_part(&rest->child, kernel, out);
	atomic_store(&slots[rest->slot], rest);
	return found;
}

/* A process that ends before its compiler leaves at least the kernels that it wanted. */
bool salvo_rest_part(struct salvo_build_rest *rest, const char *kernel,
		     struct salvo_text_block *out)
{
	struct salvo_text_block messages = { 0 };
	uint8_t key[SHA256_DIGEST_LENGTH];

	if (!rest->has_key)
		return compile_part(rest, kernel, out);
	kernel_key(rest, kernel, key);
	if (!salvo_cache_read(key, out, &messages)) {
		free(messages.data);
		return true;
	}
	if (!compile_part(rest, kernel, out))
		return false;
	salvo_cache_write(key, out, &messages);
	return true;
}

int salvo_rest_finish(struct salvo_build_rest *rest, struct salvo_text_block *out,
		      struct salvo_text_block *messages)
{
	int err;

	if (take_out(rest)) {
		err = finish(rest, out, messages);
	} else {
		err = rest->err;
		*out = rest->out;
		*messages = rest->messages;
	}
	free(rest);
	return err;
}

void salvo_rest_cancel(struct salvo_build_rest *rest)
{
	struct salvo_text_block out, messages;

	if (take_out(rest) && !salvo_compiler_has_ended(&rest->child)) {
		salvo_compiler_cancel(&rest->child);
		free(rest);
		return;
	}
	/* What it has made may be wanted another time. */
	if (atomic_load(&rest->done)) {
		out = rest->out;
		messages = rest->messages;
	} else {
		finish(rest, &out, &messages);
	}
	free(out.data);
	free(messages.data);
	free(rest);
}
