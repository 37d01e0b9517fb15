// SPDX-License-Identifier: MIT
/*
 * aspace.c - GPU address spaces
 *
 * VRAM is mapped once, at its GPU addresses, with no access. A range becomes
 * accessible while at least one address space has it bound. All address spaces
 * use the same address for the same byte of VRAM, so they cannot alias; what
 * differs is what each may name in a command, and that is looked up here.
 *
 * The table is one array sorted by address. Two bindings are disjoint, or they
 * are of different address spaces and name the same range (a shared buffer); so
 * a search by address ends at a short run of equal ranges. Code is never
 * writable: a range bound for execution in one address space cannot be bound for
 * writing in another.
 *
 * All functions are called with the command processor's lock held.
 */
#include "aspace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "salvo_hw.h"

#define PAGE 4096u
#define ACCESS_ALL (SALVO_ACCESS_READ | SALVO_ACCESS_WRITE | SALVO_ACCESS_EXEC)

int salvo_aspaces_init(struct salvo_aspaces *aspaces, int fd, uint64_t offset, uint64_t bytes,
		       uint64_t va_base)
{
	void *base;

	memset(aspaces, 0, sizeof(*aspaces));
	if (!bytes || bytes % PAGE || offset % PAGE || va_base % PAGE)
		return -EINVAL;
	base = mmap((void *)(uintptr_t)va_base, bytes, PROT_NONE,
		    MAP_SHARED | (va_base ? MAP_FIXED_NOREPLACE : 0), fd, (off_t)offset);
	if (base == MAP_FAILED)
		return errno == ENOMEM || errno == EEXIST ? -ENOMEM : -EINVAL;
	aspaces->base = base;
	aspaces->bytes = bytes;
	aspaces->fd = fd;
	aspaces->offset = offset;
	return 0;
}

void salvo_aspaces_fini(struct salvo_aspaces *aspaces)
{
	munmap(aspaces->base, aspaces->bytes);
	free(aspaces->bindings);
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

/* What all address spaces together may do with the range that starts at @address. */
static uint32_t access_at(const struct salvo_aspaces *aspaces, uint64_t address)
{
	uint32_t access = 0;
	size_t i;

	for (i = lower_bound(aspaces, address);
	     i < aspaces->count && aspaces->bindings[i].address == address; i++)
		access |= aspaces->bindings[i].access;
	return access;
}

/*
 * Code is mapped privately: the kernel lets a debugger set breakpoints there, but
 * not in a shared mapping that is not writable. Nothing else writes through this
 * mapping, so what the owner writes to the file is still seen.
 */
static bool protect(const struct salvo_aspaces *aspaces, const struct salvo_binding *binding,
		    uint32_t access)
{
	void *const address = (void *)(uintptr_t)binding->address;
	const off_t at = aspaces->offset + (off_t)((uint8_t *)address - aspaces->base);
	int prot = PROT_NONE;

	if (access)
		prot |= PROT_READ;
	if (access & SALVO_ACCESS_WRITE)
		prot |= PROT_WRITE;
	if (access & SALVO_ACCESS_EXEC)
		prot |= PROT_EXEC;
	if (!((access | binding->access) & SALVO_ACCESS_EXEC))
		return !mprotect(address, binding->size, prot);
	return mmap(address, binding->size, prot, MAP_FIXED |
		    (access & SALVO_ACCESS_EXEC ? MAP_PRIVATE : MAP_SHARED),
		    aspaces->fd, at) != MAP_FAILED;
}

static bool insert(struct salvo_aspaces *aspaces, size_t at,
		   const struct salvo_binding *binding)
{
	if (aspaces->count == aspaces->capacity) {
		const size_t capacity = aspaces->capacity ? 2 * aspaces->capacity : 64;
		struct salvo_binding *more;

		more = realloc(aspaces->bindings, capacity * sizeof(*more));
		if (!more)
			return false;
		aspaces->bindings = more;
		aspaces->capacity = capacity;
	}
	memmove(&aspaces->bindings[at + 1], &aspaces->bindings[at],
		(aspaces->count - at) * sizeof(*binding));
	aspaces->bindings[at] = *binding;
	aspaces->count++;
	return true;
}

static void remove_at(struct salvo_aspaces *aspaces, size_t at)
{
	aspaces->count--;
	memmove(&aspaces->bindings[at], &aspaces->bindings[at + 1],
		(aspaces->count - at) * sizeof(aspaces->bindings[0]));
}

bool salvo_aspaces_bind(struct salvo_aspaces *aspaces, uint32_t asid, uint64_t address,
			uint64_t size, uint32_t access)
{
	const struct salvo_binding binding = {
		.address = address, .size = size, .asid = asid, .access = access,
	};
	const uint64_t base = (uintptr_t)aspaces->base;
	const uint32_t write_exec = SALVO_ACCESS_WRITE | SALVO_ACCESS_EXEC;
	uint32_t shared;
	size_t at, i;

	if (!access || access & ~ACCESS_ALL || (access & write_exec) == write_exec ||
	    !size || size % PAGE || size > aspaces->bytes || address % PAGE ||
	    address < base || address - base > aspaces->bytes - size)
		return false;

	at = lower_bound(aspaces, address);
	if (at && aspaces->bindings[at - 1].address + aspaces->bindings[at - 1].size > address)
		return false;
	for (i = at; i < aspaces->count && aspaces->bindings[i].address < address + size; i++) {
		const struct salvo_binding *other = &aspaces->bindings[i];

		if (other->address != address || other->size != size || other->asid == asid)
			return false;
	}
	shared = access_at(aspaces, address) | access;
	if ((shared & write_exec) == write_exec)
		return false;

	if (!insert(aspaces, at, &binding))
		return false;
	if (!protect(aspaces, &binding, shared)) {
		remove_at(aspaces, at);
		return false;
	}
	return true;
}

bool salvo_aspaces_unbind(struct salvo_aspaces *aspaces, uint32_t asid,
			  uint64_t address, uint64_t size)
{
	size_t i;

	for (i = lower_bound(aspaces, address);
	     i < aspaces->count && aspaces->bindings[i].address == address; i++) {
		const struct salvo_binding binding = aspaces->bindings[i];

		if (binding.asid != asid)
			continue;
		if (binding.size != size)
			return false;
		remove_at(aspaces, i);
		protect(aspaces, &binding, access_at(aspaces, address));
		return true;
	}
	return false;
}

void salvo_aspaces_end(struct salvo_aspaces *aspaces, uint32_t asid)
{
	size_t i = aspaces->count;

	while (i--) {
		const struct salvo_binding binding = aspaces->bindings[i];

		if (binding.asid != asid)
			continue;
		remove_at(aspaces, i);
		protect(aspaces, &binding, access_at(aspaces, binding.address));
	}
}

void salvo_aspaces_clear(struct salvo_aspaces *aspaces)
{
	aspaces->count = 0;
	mmap(aspaces->base, aspaces->bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, aspaces->fd,
	     (off_t)aspaces->offset);
}

bool salvo_aspaces_covers(struct salvo_aspaces *aspaces, uint32_t asid, uint64_t address,
			  uint64_t size, uint32_t access)
{
	const struct salvo_binding *binding;
	uint64_t start;
	size_t i = aspaces->last;

	if (i < aspaces->count) {
		binding = &aspaces->bindings[i];
		if (binding->asid == asid && !(access & ~binding->access) &&
		    address >= binding->address && size <= binding->size &&
		    address - binding->address <= binding->size - size)
			return true;
	}

	i = lower_bound(aspaces, address);
	if (i == aspaces->count || aspaces->bindings[i].address != address) {
		if (!i)
			return false;
		i = lower_bound(aspaces, aspaces->bindings[i - 1].address);
	}
	start = aspaces->bindings[i].address;
	for (; i < aspaces->count && aspaces->bindings[i].address == start; i++) {
		binding = &aspaces->bindings[i];
		if (binding->asid != asid)
			continue;
		aspaces->last = i;
		return !(access & ~binding->access) && size <= binding->size &&
		       address - start <= binding->size - size;
	}
	return false;
}
