/* SPDX-License-Identifier: MIT */
/*
 * aspace.h - GPU address spaces
 */
#ifndef SALVO_ASPACE_H
#define SALVO_ASPACE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct salvo_gpu_config;
struct salvo_gpu_mapping;
struct salvo_space_range;

/* @place of a mapping that cannot be shared */
#define SALVO_PLACE_NONE (~0ull)

/**
 * struct salvo_space_range - A mapping of a process, in the file that it reads at its start.
 */
struct salvo_space_range {
	uint64_t address;
	uint64_t size;
	/** @offset: In VRAM's file, or in that of system memory. */
	uint64_t offset;
	/** @access: SALVO_ACCESS_*. */
	uint32_t access;
	/** @system: It is system memory. */
	uint32_t system;
};

/**
 * struct salvo_aspace_binding - A range of memory that one address space has bound.
 */
struct salvo_aspace_binding {
	uint64_t address;
	uint64_t size;
	/** @place: Offset in the file that holds VRAM or system memory, or SALVO_PLACE_NONE. */
	uint64_t place;
	uint32_t asid;
	/** @access: SALVO_ACCESS_*. */
	uint32_t access;
	/** @guard_open: The guard page before it is accessible, too. */
	bool guard_open;
};

/**
 * struct salvo_aspaces - All address spaces of a GPU.
 */
struct salvo_aspaces {
	/** @base: VRAM at its GPU address. */
	uint8_t *base;
	uint64_t bytes;
	/** @mapped: Bound memory is mapped in this process; otherwise there is only the table. */
	bool mapped;
	/** @given: The creator of this process has mapped all memory and filled the table. */
	bool given;
	/** @window_bytes: The window for system memory, behind VRAM. */
	uint64_t window_bytes;
	/** @fd, @offset: The file that holds VRAM, and where; it stays open. */
	int fd;
	uint64_t offset;
	/** @system_fd: The file that holds system memory, or -1. */
	int system_fd;
	/** @lock: Protects the bindings. Readers may hold the command processor's lock instead. */
	pthread_mutex_t lock;
	/** @changes: Incremented under @lock with each change of the bindings. */
	_Atomic uint64_t changes;
	/** @bindings: Sorted by address; @count of @capacity. */
	struct salvo_aspace_binding *bindings;
	size_t count;
	size_t capacity;
	/** @guarded: With more bindings than this some are mapped without a guard page. */
	size_t guarded;
	/** @last: Index where the last search ended; a hint. */
	size_t last;
};

/**
 * salvo_aspaces_reserve() - Reserve addresses far from all else in the process.
 *
 * They are random, so that who knows them does not know where anything else is.
 *
 * Return: the first, or NULL with errno.
 */
void *salvo_aspaces_reserve(uint64_t bytes);

/**
 * salvo_aspaces_init() - Reserve the addresses and map VRAM; nothing is bound.
 *
 * Return: 0, -EINVAL, -ENOMEM.
 */
int salvo_aspaces_init(struct salvo_aspaces *aspaces, const struct salvo_gpu_config *config);
/**
 * salvo_aspaces_init_given() - In the process of an address space: all is mapped already.
 * @ranges: @count ranges that salvo_aspaces_export() has returned for @asid.
 *
 * Return: 0 or -ENOMEM.
 */
int salvo_aspaces_init_given(struct salvo_aspaces *aspaces, const struct salvo_gpu_config *config,
			     uint32_t asid, const struct salvo_space_range *ranges, uint32_t count);
void salvo_aspaces_fini(struct salvo_aspaces *aspaces);

/**
 * salvo_aspaces_bind() - Bind a range of VRAM in an address space.
 *
 * Return: false if the request is invalid, or there is no memory for it.
 */
bool salvo_aspaces_bind(struct salvo_aspaces *aspaces, uint32_t asid, uint64_t address,
			uint64_t size, uint32_t access);
/**
 * salvo_aspaces_bind_system() - Bind a range of system memory in the window.
 * @system: System address; the caller has checked it.
 *
 * Return: as salvo_aspaces_bind().
 */
bool salvo_aspaces_bind_system(struct salvo_aspaces *aspaces, uint32_t asid, uint64_t address,
			       uint64_t size, uint64_t system, uint32_t access);
/**
 * salvo_aspaces_bind_host() - Bind memory of this process at its own address.
 *
 * It is mapped already, and not a part of VRAM or the window; there is no alignment.
 *
 * Return: as salvo_aspaces_bind(), and false if a part of it is bound.
 */
bool salvo_aspaces_bind_host(struct salvo_aspaces *aspaces, uint32_t asid, uint64_t address,
			     uint64_t size, uint32_t access);
/**
 * salvo_aspaces_map_fd() - Bind pages of any file in the window.
 *
 * Return: as salvo_aspaces_bind().
 */
bool salvo_aspaces_map_fd(struct salvo_aspaces *aspaces, const struct salvo_gpu_mapping *mapping);
/**
 * salvo_aspaces_unbind() - Unbind a range that one or more bindings fill.
 *
 * Return: as salvo_aspaces_bind().
 */
bool salvo_aspaces_unbind(struct salvo_aspaces *aspaces, uint32_t asid,
			  uint64_t address, uint64_t size);
/**
 * salvo_aspaces_end() - Unbind everything in an address space.
 */
void salvo_aspaces_end(struct salvo_aspaces *aspaces, uint32_t asid);
/**
 * salvo_aspaces_clear() - Unbind everything in all address spaces.
 */
void salvo_aspaces_clear(struct salvo_aspaces *aspaces);

/**
 * salvo_aspaces_in_vram() - Is a range within VRAM, bound or not?
 */
bool salvo_aspaces_in_vram(const struct salvo_aspaces *aspaces, uint64_t address, uint64_t size);

/**
 * salvo_aspaces_nearest() - Find the bound range that is nearest to an address. Any thread.
 *
 * Return: false if nothing is bound.
 */
bool salvo_aspaces_nearest(struct salvo_aspaces *aspaces, uint32_t asid, uint64_t address,
			   uint64_t *start, uint64_t *size);

/**
 * salvo_aspaces_is_code() - Is an address bound for execution? Any thread.
 */
bool salvo_aspaces_is_code(struct salvo_aspaces *aspaces, uint32_t asid, uint64_t address);

/**
 * salvo_aspaces_export() - List the ranges of an address space. Any thread.
 * @out: Gets the ranges; the caller frees them.
 *
 * Return: false if there is no memory.
 */
bool salvo_aspaces_export(struct salvo_aspaces *aspaces, uint32_t asid,
			  struct salvo_space_range **out, uint32_t *count);

/**
 * salvo_aspaces_write() - Write to VRAM. Any thread.
 * @address: GPU address; the caller has checked it.
 *
 * Goes through VRAM's file, so it cannot fault, whatever is mapped.
 *
 * Return: false if that fails.
 */
bool salvo_aspaces_write(const struct salvo_aspaces *aspaces, uint64_t address, const void *from,
			 size_t size);

/**
 * salvo_aspaces_covers() - Is all of a range bound in an address space, with @access?
 */
bool salvo_aspaces_covers(struct salvo_aspaces *aspaces, uint32_t asid, uint64_t address,
			  uint64_t size, uint32_t access);

#endif /* SALVO_ASPACE_H */
