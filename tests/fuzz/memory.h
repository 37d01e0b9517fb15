/* SPDX-License-Identifier: MIT */
/*
 * memory.h - memory of a GPU under fuzzing; what fails here is the machine, not the GPU
 */
#ifndef FUZZ_MEMORY_H
#define FUZZ_MEMORY_H

#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static inline void need(int ok)
{
	if (!ok)
		abort();
}

static inline int file(size_t bytes)
{
	const int fd = memfd_create("fuzz", MFD_CLOEXEC);

	need(fd >= 0 && !ftruncate(fd, bytes));
	return fd;
}

static inline void *map(int fd, size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	need(memory != MAP_FAILED);
	return memory;
}

#endif /* FUZZ_MEMORY_H */
