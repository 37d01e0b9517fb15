// SPDX-License-Identifier: MIT
/*
 * aspace.c - GPU address spaces
 *
 * VRAM has fixed GPU addresses; behind it lies a window where pages
 * of system memory can be mapped. All of it is inaccessible at first. A range
 * is accessible while at least one address space has it bound. All address
 * spaces use the same address for the same memory, so they cannot alias. They
 * differ in the ranges that their commands may name, which this table holds.
 *
 * The table is one array sorted by address. Two bindings are disjoint, or they
 * are of different address spaces and name the same range of the same memory (a
 * shared buffer); so a search by address ends at a short sequence of equal ranges. Code
 * is never writable: a range bound for execution in one address space cannot be
 * bound for writing in another.
 *
 * A GPU in the process of the application may also have memory of that process bound, at its own
 * address. Such a binding only lets commands name it: it was mapped before and stays.
 *
 * A bound range and the guard page before it take two of the mappings that Linux allows a process,
 * vm.max_map_count. When a quarter of them is used so, a range is mapped together with the guard
 * page before it, if that joins it to a range with the same access: many small buffers are
 * then one mapping, and of a stray access only what the table and the compiler check is found.
 *
 * Functions that do not say otherwise are called with the command processor's
 * lock held. The table is changed only with its own lock held too, so that a unit can
 * find the range that is nearest to a stray access.
 */
#include "aspace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>
#include "clock.h"
#include "huge.h"
#include "salvo_gpu.h"
#include "salvo_hw.h"

#define PAGE 4096u
/* None has this number. */
#define NO_ASID UINT32_MAX
/* Linux has programs, libraries, heaps and stacks at higher addresses. */
#define APART_START	(1ull << 44)
#define APART_END	(1ull << 46)
#define ACCESS_ALL (SALVO_ACCESS_READ | SALVO_ACCESS_WRITE | SALVO_ACCESS_EXEC)

static void *pointer(uint64_t address)
{
	return (void *)(uintptr_t)address;
}

/* No address space has the range bound. */
static bool hide(uint64_t address, uint64_t size)
{
	return mmap(pointer(address), size, PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != MAP_FAILED;
}

static void release(struct salvo_aspaces *aspaces)
{
	munmap((char *)aspaces->base - SALVO_GPU_GUARD_BYTES,
	       aspaces->bytes + aspaces->window_bytes + 2 * SALVO_GPU_GUARD_BYTES);
}

static void *reserve(uint64_t address, uint64_t bytes, int flags)
{
	void *start = mmap(pointer(address), bytes, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);

	return start == MAP_FAILED ? NULL : start;
}

void *salvo_aspaces_reserve(uint64_t bytes)
{
	uint64_t number = 0;

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
		number = salvo_clock();
	number %= (APART_END - APART_START) / PAGE;
	/* Elsewhere if something is there. */
	return reserve(APART_START + number * PAGE, bytes, 0);
}

/* With guards on both sides: addresses outside of the GPU's range belong to others. */
static void *reserve_guarded(const struct salvo_gpu_config *config)
{
	const uint64_t bytes = config->vram_bytes + SALVO_GPU_WINDOW_BYTES +
			       2 * SALVO_GPU_GUARD_BYTES;

	if (config->va_base)
		return reserve(config->va_base - SALVO_GPU_GUARD_BYTES, bytes, MAP_FIXED);
	/* Kernels in this process see where everything is. */
	return config->isolation ? salvo_aspaces_reserve(bytes) :
				   salvo_huge_reserve(bytes, SALVO_GPU_GUARD_BYTES);
}

/* vm.max_map_count, or its default if it cannot be read */
static size_t max_mappings(void)
{
	FILE *file = fopen("/proc/sys/vm/max_map_count", "re");
	unsigned long most = 65530;

	if (file && fscanf(file, "%lu", &most) != 1)
		most = 65530;
	if (file)
		fclose(file);
	return most;
}

int salvo_aspaces_init(struct salvo_aspaces *aspaces, const struct salvo_gpu_config *config)
{
	const uint64_t bytes = config->vram_bytes, offset = config->vram_offset;
	void *base;

	memset(aspaces, 0, sizeof(*aspaces));
	aspaces->guarded = max_mappings() / 4;
	if (!bytes || bytes % PAGE || offset % PAGE || config->va_base % PAGE)
		return -EINVAL;
	base = reserve_guarded(config);
	if (!base)
		return errno == ENOMEM || errno == EEXIST ? -ENOMEM : -EINVAL;
	base += SALVO_GPU_GUARD_BYTES;
	aspaces->base = base;
	aspaces->bytes = bytes;
	aspaces->window_bytes = SALVO_GPU_WINDOW_BYTES;
	aspaces->mapped = !config->isolation;
	aspaces->fd = config->vram_fd;
	aspaces->offset = offset;
	aspaces->system_fd = config->system_bytes ? config->system_fd : -1;
	/* Fails now if the file cannot be mapped. */
	if (mmap(base, bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, aspaces->fd,
		 (off_t)offset) == MAP_FAILED) {
		release(aspaces);
		return -EINVAL;
	}
	pthread_mutex_init(&aspaces->lock, NULL);
	return 0;
}

int salvo_aspaces_init_given(struct salvo_aspaces *aspaces, const struct salvo_gpu_config *config,
			     uint32_t asid, const struct salvo_space_range *ranges, uint32_t count)
{
	uint32_t i;

	memset(aspaces, 0, sizeof(*aspaces));
	aspaces->given = true;
	aspaces->base = pointer(config->va_base);
	aspaces->bytes = config->vram_bytes;
	aspaces->window_bytes = SALVO_GPU_WINDOW_BYTES;
	aspaces->bindings = calloc(count + 1, sizeof(aspaces->bindings[0]));
	if (!aspaces->bindings)
		return -ENOMEM;
	aspaces->count = count;
	for (i = 0; i < count; i++)
		aspaces->bindings[i] = (struct salvo_aspace_binding){
			.address = ranges[i].address,
			.size = ranges[i].size,
			.place = ranges[i].offset,
			.access = ranges[i].access,
			.asid = asid,
		};
	pthread_mutex_init(&aspaces->lock, NULL);
	return 0;
}

void salvo_aspaces_fini(struct salvo_aspaces *aspaces)
{
	release(aspaces);
	pthread_mutex_destroy(&aspaces->lock);
	free(aspaces->bindings);
}

static bool is_inside(uint64_t address, uint64_t size, uint64_t start, uint64_t bytes)
{
	return size <= bytes && address >= start && address - start <= bytes - size;
}

bool salvo_aspaces_in_vram(const struct salvo_aspaces *aspaces, uint64_t address, uint64_t size)
{
	return is_inside(address, size, (uintptr_t)aspaces->base, aspaces->bytes);
}

static bool in_window(const struct salvo_aspaces *aspaces, uint64_t address, uint64_t size)
{
	return is_inside(address, size, (uintptr_t)aspaces->base + aspaces->bytes,
			 aspaces->window_bytes);
}

/* Is it memory of the process, outside of all that is the GPU's, guards included? */
static bool is_host(const struct salvo_aspaces *aspaces, uint64_t address, uint64_t size)
{
	const uint64_t first = (uintptr_t)aspaces->base - SALVO_GPU_GUARD_BYTES;
	const uint64_t last = (uintptr_t)aspaces->base + aspaces->bytes + aspaces->window_bytes +
			      SALVO_GPU_GUARD_BYTES;

	return address + size >= address && (address + size <= first || address >= last);
}

/* First binding at or after @address. */
static size_t lower_bound(const struct salvo_aspaces *aspaces, uint64_t address)
{
	size_t low = 0, high = aspaces->count;

	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (aspaces->bindings[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Index of the binding of an address space that holds @address; the count if there is none. */
static size_t find(const struct salvo_aspaces *aspaces, uint32_t asid, uint64_t address)
{
	size_t i = lower_bound(aspaces, address);
	uint64_t start;

	if (i == aspaces->count || aspaces->bindings[i].address != address) {
		if (!i)
			return aspaces->count;
		i = lower_bound(aspaces, aspaces->bindings[i - 1].address);
	}
	start = aspaces->bindings[i].address;
	for (; i < aspaces->count && aspaces->bindings[i].address == start; i++)
		if (aspaces->bindings[i].asid == asid)
			return address - start < aspaces->bindings[i].size ? i : aspaces->count;
	return aspaces->count;
}

/* Union of the access that address spaces other than @except have to the range at @address. */
static uint32_t access_at(const struct salvo_aspaces *aspaces, uint64_t address, uint32_t except)
{
	uint32_t access = 0;
	size_t i;

	for (i = lower_bound(aspaces, address);
	     i < aspaces->count && aspaces->bindings[i].address == address; i++)
		if (aspaces->bindings[i].asid != except)
			access |= aspaces->bindings[i].access;
	return access;
}

static int prot_of(uint32_t access)
{
	int prot = PROT_NONE;

	if (access)
		prot |= PROT_READ;
	if (access & SALVO_ACCESS_WRITE)
		prot |= PROT_WRITE;
	if (access & SALVO_ACCESS_EXEC)
		prot |= PROT_EXEC;
	return prot;
}

/*
 * Code is mapped privately: the kernel lets a debugger set breakpoints there, but
 * not in a shared mapping that is not writable. Nothing else writes through this
 * mapping, so what the owner writes to the file is still seen.
 */
static bool protect(const struct salvo_aspaces *aspaces, const struct salvo_aspace_binding *binding,
		    uint32_t access)
{
	if (!aspaces->mapped)
		return true;
	if (!((access | binding->access) & SALVO_ACCESS_EXEC))
		return !mprotect(pointer(binding->address), binding->size, prot_of(access));
	return mmap(pointer(binding->address), binding->size, prot_of(access), MAP_FIXED |
		    (access & SALVO_ACCESS_EXEC ? MAP_PRIVATE : MAP_SHARED),
		    aspaces->fd, (off_t)binding->place) != MAP_FAILED;
}

/* An address space unbinds a range; @access is the access that others have. */
static void withdraw(const struct salvo_aspaces *aspaces,
		     const struct salvo_aspace_binding *binding, uint32_t access)
{
	if (is_host(aspaces, binding->address, binding->size))
		return;
	if (binding->guard_open)
		mprotect(pointer(binding->address - PAGE), PAGE, PROT_NONE);
	if (access || salvo_aspaces_in_vram(aspaces, binding->address, binding->size))
		protect(aspaces, binding, access);
	else if (aspaces->mapped)
		hide(binding->address, binding->size);
}

static bool insert(struct salvo_aspaces *aspaces, size_t at,
		   const struct salvo_aspace_binding *binding)
{
	bool ok = true;

	pthread_mutex_lock(&aspaces->lock);
	if (aspaces->count == aspaces->capacity) {
		const size_t capacity = aspaces->capacity ? 2 * aspaces->capacity : 64;
		struct salvo_aspace_binding *more;

		more = realloc(aspaces->bindings, capacity * sizeof(*more));
		ok = more;
		if (ok) {
			aspaces->bindings = more;
			aspaces->capacity = capacity;
		}
	}
	if (ok) {
		memmove(&aspaces->bindings[at + 1], &aspaces->bindings[at],
			(aspaces->count - at) * sizeof(*binding));
		aspaces->bindings[at] = *binding;
		aspaces->count++;
		atomic_fetch_add(&aspaces->changes, 1);
	}
	pthread_mutex_unlock(&aspaces->lock);
	return ok;
}

/* Removes all bindings of an address space from @first on to before @last. */
static void remove_range(struct salvo_aspaces *aspaces, uint32_t asid, size_t first, size_t last)
{
	size_t i, kept = first;

	for (i = first; i < last; i++) {
		const struct salvo_aspace_binding *binding = &aspaces->bindings[i];

		if (binding->asid == asid)
			withdraw(aspaces, binding, access_at(aspaces, binding->address, asid));
	}
	pthread_mutex_lock(&aspaces->lock);
	for (i = first; i < last; i++)
		if (aspaces->bindings[i].asid != asid)
			aspaces->bindings[kept++] = aspaces->bindings[i];
	memmove(&aspaces->bindings[kept], &aspaces->bindings[last],
		(aspaces->count - last) * sizeof(aspaces->bindings[0]));
	aspaces->count -= last - kept;
	atomic_fetch_add(&aspaces->changes, 1);
	pthread_mutex_unlock(&aspaces->lock);
}

/*
 * Should the range, which is the one at index @at, be mapped together with its guard page? Nobody
 * else has it bound; the access of the range before it must be the same.
 */
static bool opens_guard(const struct salvo_aspaces *aspaces, size_t at)
{
	const struct salvo_aspace_binding *binding = &aspaces->bindings[at], *before = binding - 1;

	return aspaces->mapped && at && aspaces->count > aspaces->guarded &&
	       !(binding->access & SALVO_ACCESS_EXEC) &&
	       before->address + before->size + PAGE == binding->address &&
	       salvo_aspaces_in_vram(aspaces, before->address, before->size) &&
	       prot_of(access_at(aspaces, before->address, NO_ASID)) ==
		       prot_of(binding->access);
}

static bool protect_with_guard(const struct salvo_aspace_binding *binding)
{
	return !mprotect(pointer(binding->address - PAGE), binding->size + PAGE,
			 prot_of(binding->access));
}

/* Adds a range, if that is compatible with all other bindings; its pages come from @fd. */
static bool bind(struct salvo_aspaces *aspaces, const struct salvo_aspace_binding *binding, int fd,
		 uint64_t offset)
{
	const uint32_t write_exec = SALVO_ACCESS_WRITE | SALVO_ACCESS_EXEC;
	const uint64_t address = binding->address, size = binding->size;
	const size_t at = lower_bound(aspaces, address);
	uint32_t others, shared;
	bool ok;
	size_t i;

	if (at && aspaces->bindings[at - 1].address + aspaces->bindings[at - 1].size > address)
		return false;
	for (i = at; i < aspaces->count && aspaces->bindings[i].address < address + size; i++) {
		const struct salvo_aspace_binding *other = &aspaces->bindings[i];

		if (other->address != address || other->size != size ||
		    other->asid == binding->asid || other->place != binding->place ||
		    binding->place == SALVO_PLACE_NONE)
			return false;
	}
	others = access_at(aspaces, address, binding->asid);
	shared = others | binding->access;
	if ((shared & write_exec) == write_exec)
		return false;

	if (!insert(aspaces, at, binding))
		return false;
	if (!others && opens_guard(aspaces, at)) {
		aspaces->bindings[at].guard_open = true;
		ok = protect_with_guard(&aspaces->bindings[at]);
	} else if (!aspaces->mapped || others || salvo_aspaces_in_vram(aspaces, address, size)) {
		ok = protect(aspaces, binding, shared);
	} else {
		ok = mmap(pointer(address), size, prot_of(shared), MAP_SHARED | MAP_FIXED, fd,
			  (off_t)offset) != MAP_FAILED;
	}
	if (!ok)
		remove_range(aspaces, binding->asid, at, at + 1);
	return ok;
}

bool salvo_aspaces_bind(struct salvo_aspaces *aspaces, uint32_t asid, uint64_t address,
			uint64_t size, uint32_t access)
{
	const struct salvo_aspace_binding binding = {
		.address = address,
		.size = size,
		.asid = asid,
		.access = access,
		.place = aspaces->offset + (address - (uintptr_t)aspaces->base),
	};
	const uint32_t write_exec = SALVO_ACCESS_WRITE | SALVO_ACCESS_EXEC;

	if (!access || access & ~ACCESS_ALL || (access & write_exec) == write_exec ||
	    !size || size % PAGE || address % PAGE ||
	    !salvo_aspaces_in_vram(aspaces, address, size))
		return false;
	return bind(aspaces, &binding, aspaces->fd, binding.place);
}

/* Is a range in the window valid? */
static bool fits_window(const struct salvo_aspaces *aspaces, uint64_t address, uint64_t size,
			uint64_t offset, uint32_t access)
{
	return access && !(access & ~(SALVO_ACCESS_READ | SALVO_ACCESS_WRITE)) &&
	       size && size % PAGE == 0 && address % PAGE == 0 && offset % PAGE == 0 &&
	       offset <= INT64_MAX - size && in_window(aspaces, address, size);
}

bool salvo_aspaces_bind_system(struct salvo_aspaces *aspaces, uint32_t asid, uint64_t address,
			       uint64_t size, uint64_t system, uint32_t access)
{
	const struct salvo_aspace_binding binding = {
		.address = address,
		.size = size,
		.asid = asid,
		.access = access,
		.place = system,
	};

	return aspaces->system_fd >= 0 && fits_window(aspaces, address, size, system, access) &&
	       bind(aspaces, &binding, aspaces->system_fd, system);
}

bool salvo_aspaces_map_fd(struct salvo_aspaces *aspaces, const struct salvo_gpu_mapping *mapping)
{
	const struct salvo_aspace_binding binding = {
		.address = mapping->address,
		.size = mapping->size,
		.asid = mapping->asid,
		.access = mapping->access,
		.place = SALVO_PLACE_NONE,
	};

	return mapping->asid && aspaces->mapped &&
	       fits_window(aspaces, mapping->address, mapping->size, mapping->offset,
			   mapping->access) &&
	       bind(aspaces, &binding, mapping->fd, mapping->offset);
}

bool salvo_aspaces_bind_host(struct salvo_aspaces *aspaces, uint32_t asid, uint64_t address,
			     uint64_t size, uint32_t access)
{
	const struct salvo_aspace_binding binding = {
		.address = address,
		.size = size,
		.asid = asid,
		.access = access,
		.place = SALVO_PLACE_NONE,
	};
	const size_t at = lower_bound(aspaces, address);

	if (!asid || !aspaces->mapped || !access ||
	    access & ~(SALVO_ACCESS_READ | SALVO_ACCESS_WRITE) || !size ||
	    !is_host(aspaces, address, size))
		return false;
	if (at && aspaces->bindings[at - 1].address + aspaces->bindings[at - 1].size > address)
		return false;
	if (at < aspaces->count && aspaces->bindings[at].address < address + size)
		return false;
	return insert(aspaces, at, &binding);
}

bool salvo_aspaces_unbind(struct salvo_aspaces *aspaces, uint32_t asid,
			  uint64_t address, uint64_t size)
{
	const size_t first = lower_bound(aspaces, address);
	uint64_t rest = size;
	size_t i;

	for (i = first; rest && i < aspaces->count; i++) {
		const struct salvo_aspace_binding *binding = &aspaces->bindings[i];

		if (binding->address > address + (size - rest))
			break;
		if (binding->asid != asid)
			continue;
		if (binding->size > rest)
			return false;
		rest -= binding->size;
	}
	if (!size || rest)
		return false;
	remove_range(aspaces, asid, first, i);
	return true;
}

void salvo_aspaces_end(struct salvo_aspaces *aspaces, uint32_t asid)
{
	remove_range(aspaces, asid, 0, aspaces->count);
}

void salvo_aspaces_clear(struct salvo_aspaces *aspaces)
{
	pthread_mutex_lock(&aspaces->lock);
	aspaces->count = 0;
	atomic_fetch_add(&aspaces->changes, 1);
	pthread_mutex_unlock(&aspaces->lock);
	if (!aspaces->mapped)
		return;
	mmap(aspaces->base, aspaces->bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, aspaces->fd,
	     (off_t)aspaces->offset);
	hide((uintptr_t)aspaces->base + aspaces->bytes, aspaces->window_bytes);
}

bool salvo_aspaces_nearest(struct salvo_aspaces *aspaces, uint32_t asid, uint64_t address,
			   uint64_t *start, uint64_t *size)
{
	uint64_t best = UINT64_MAX;
	bool found = false;
	size_t i;

	pthread_mutex_lock(&aspaces->lock);
	for (i = 0; i < aspaces->count; i++) {
		const struct salvo_aspace_binding *binding = &aspaces->bindings[i];
		const uint64_t last = binding->address + binding->size - 1;
		uint64_t distance = 0;

		if (binding->asid != asid)
			continue;
		if (address < binding->address)
			distance = binding->address - address;
		else if (address > last)
			distance = address - last;
		if (found && distance >= best)
			continue;
		found = true;
		best = distance;
		*start = binding->address;
		*size = binding->size;
	}
	pthread_mutex_unlock(&aspaces->lock);
	return found;
}

bool salvo_aspaces_is_code(struct salvo_aspaces *aspaces, uint32_t asid, uint64_t address)
{
	bool found = false;
	size_t i;

	pthread_mutex_lock(&aspaces->lock);
	for (i = 0; i < aspaces->count && !found; i++) {
		const struct salvo_aspace_binding *binding = &aspaces->bindings[i];

		found = binding->asid == asid && binding->access & SALVO_ACCESS_EXEC &&
			address - binding->address < binding->size;
	}
	pthread_mutex_unlock(&aspaces->lock);
	return found;
}

bool salvo_aspaces_export(struct salvo_aspaces *aspaces, uint32_t asid,
			  struct salvo_space_range **out, uint32_t *count)
{
	struct salvo_space_range *ranges;
	size_t i, n = 0;

	pthread_mutex_lock(&aspaces->lock);
	ranges = calloc(aspaces->count + 1, sizeof(*ranges));
	for (i = 0; ranges && i < aspaces->count; i++) {
		const struct salvo_aspace_binding *binding = &aspaces->bindings[i];

		if (binding->asid != asid)
			continue;
		ranges[n++] = (struct salvo_space_range){
			.address = binding->address, .size = binding->size,
			.offset = binding->place, .access = binding->access,
			.system = !salvo_aspaces_in_vram(aspaces, binding->address,
							 binding->size),
		};
	}
	pthread_mutex_unlock(&aspaces->lock);
	*out = ranges;
	*count = n;
	return ranges;
}

bool salvo_aspaces_write(const struct salvo_aspaces *aspaces, uint64_t address, const void *from,
			 size_t size)
{
	const uint64_t offset = aspaces->offset + (address - (uintptr_t)aspaces->base);

	/* What was checked stays mapped; there is no file. */
	if (aspaces->given) {
		memcpy(pointer(address), from, size);
		return true;
	}
	return pwrite(aspaces->fd, from, size, (off_t)offset) == (ssize_t)size;
}

/* Most ranges are part of the binding where the last search ended. */
static bool is_in_last(const struct salvo_aspaces *aspaces, uint32_t asid, uint64_t address,
		       uint64_t size, uint32_t access)
{
	const struct salvo_aspace_binding *binding = &aspaces->bindings[aspaces->last];

	return aspaces->last < aspaces->count && binding->asid == asid &&
	       !(access & ~binding->access) &&
	       is_inside(address, size, binding->address, binding->size);
}

bool salvo_aspaces_covers(struct salvo_aspaces *aspaces, uint32_t asid, uint64_t address,
			  uint64_t size, uint32_t access)
{
	if (is_in_last(aspaces, asid, address, size, access))
		return true;
	if (!size || address + size < address)
		return false;
	while (size) {
		const size_t i = find(aspaces, asid, address);
		const struct salvo_aspace_binding *binding = &aspaces->bindings[i];
		uint64_t rest;

		if (i == aspaces->count || access & ~binding->access)
			return false;
		aspaces->last = i;
		rest = binding->size - (address - binding->address);
		if (rest > size)
			rest = size;
		address += rest;
		size -= rest;
	}
	return true;
}
