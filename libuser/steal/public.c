// SPDX-License-Identifier: MIT
/*
 * public.c - the counters of a pool, where salvo-top finds them
 *
 * Without a memfd (no descriptors are left) they are in private memory, and only
 * salvo_pool_get_stats() shows them.
 */
#include "worker.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

_Static_assert(POOL_PUBLIC_WORKERS == SALVO_POOL_MAX_WORKERS, "a line for each worker");
_Static_assert(sizeof(struct pool_public_worker) == 64, "a cache line for each worker");

/* A name goes to terminals. */
static void set_name(struct pool_public *public, const char *name)
{
	size_t i;

	snprintf(public->name, sizeof(public->name), "%s", name ? name : "pool");
	for (i = 0; public->name[i]; i++)
		if ((unsigned char)public->name[i] < ' ' || public->name[i] == 127)
			public->name[i] = '?';
}

int salvo_pool_public_init(struct salvo_pool *pool, const char *name)
{
	void *map;

	pool->public_fd = memfd_create(POOL_PUBLIC_NAME, MFD_CLOEXEC);
	if (pool->public_fd >= 0 && ftruncate(pool->public_fd, sizeof(*pool->public))) {
		close(pool->public_fd);
		pool->public_fd = -1;
	}
	map = mmap(NULL, sizeof(*pool->public), PROT_READ | PROT_WRITE,
		   pool->public_fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED,
		   pool->public_fd, 0);
	if (map == MAP_FAILED)
		return -ENOMEM;
	pool->public = map;
	pool->public->bytes = sizeof(*pool->public);
	pool->public->workers = pool->count;
	pool->public->pid = pool->process;
	set_name(pool->public, name);
	__atomic_store_n(&pool->public->magic, POOL_PUBLIC_MAGIC, __ATOMIC_RELEASE);
	return 0;
}

void salvo_pool_public_fini(struct salvo_pool *pool)
{
	if (pool->public)
		munmap(pool->public, sizeof(*pool->public));
	if (pool->public_fd >= 0)
		close(pool->public_fd);
}
