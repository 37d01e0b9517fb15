// SPDX-License-Identifier: MIT
/*
 * heap.cc - malloc() for a process that ends before it would give its memory back
 *
 * LLVM allocates and frees millions of small blocks. With the C library's heap that took a
 * twentieth of the time of a build, and threads that compile parts of a program waited for its
 * lock, up to a tenth of theirs; heaps of their own would be of small pages, each of which is a
 * fault. Here memory is of huge pages, and each thread takes a piece of it at a time, which it cuts
 * into blocks of some sizes: 16 bytes apart at first, then four for each doubling. A block that is
 * freed goes to a list of those of its size, of the thread that frees it. Blocks are never joined,
 * but a large one that is free may become a piece.
 *
 * A block follows 8 bytes: its class, and its distance from where a block of that class begins,
 * which is not 0 if it was asked to be aligned to more than 16 bytes.
 */
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include <malloc.h>
#include <sys/mman.h>

namespace {

const size_t before = sizeof(uint64_t), alignment = 16;
/* Bytes of a block: the least, and the last of those that are 16 bytes apart */
const size_t least = 24, last_small = 1032;
const unsigned small_classes = (last_small - least) / alignment + 1;
const unsigned classes = small_classes + 4 * 40;
const size_t largest = (size_t)1 << 48;

/* Of a thread, at a time, and of a free block that it takes instead; what is larger is apart. */
const size_t piece = 1 << 20, least_piece = 1 << 16;
/* A new one of those may be one that is free and by as many classes larger. */
const unsigned most_larger = 3;
/* Of the process, at a time */
const size_t region = 128 << 20, huge_page = 2 << 20;

struct heap {
	void *free[classes];
	char *at, *end;		/* the rest of its piece */
};

thread_local heap own;
std::mutex lock;		/* protects the rest of the region */
char *region_at, *region_end;

} /* namespace */

static uint64_t &header_of(void *block)
{
	return *reinterpret_cast<uint64_t *>(static_cast<char *>(block) - before);
}

/* The class of blocks of @bytes or a little more */
static unsigned class_of(size_t bytes)
{
	if (bytes <= last_small)
		return bytes <= least ? 0 : (bytes - least + alignment - 1) / alignment;
	const unsigned exponent = 63 - __builtin_clzll(bytes - 1);

	return small_classes + (exponent - 10) * 4 + ((bytes - 1) >> (exponent - 2)) - 4;
}

static size_t bytes_of(unsigned number)
{
	if (number < small_classes)
		return least + number * alignment;
	number -= small_classes;
	return (size_t)(number % 4 + 5) << (number / 4 + 8);
}

/* With what precedes it */
static size_t space_of(unsigned number)
{
	return (bytes_of(number) + before + alignment - 1) & -alignment;
}

/* Of huge pages, if the system has any. */
static bool add_region(size_t bytes)
{
	bytes = (bytes + region - 1) & -region;
	auto *start = static_cast<char *>(mmap(nullptr, bytes + huge_page, PROT_READ | PROT_WRITE,
					       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));

	if (start == MAP_FAILED)
		return false;
	start += -reinterpret_cast<uintptr_t>(start) & (huge_page - 1);
	madvise(start, bytes, MADV_HUGEPAGE);
	region_at = start;
	region_end = start + bytes;
	return true;
}

static char *take(size_t bytes)
{
	std::lock_guard guard(lock);

	if (bytes > (size_t)(region_end - region_at) && !add_region(bytes))
		return nullptr;
	region_at += bytes;
	return region_at - bytes;
}

static void *pop(unsigned number)
{
	void *block = own.free[number];

	if (block)
		own.free[number] = *static_cast<void **>(block);
	return block;
}

static bool next_piece()
{
	for (unsigned i = class_of(least_piece); i < classes; i++)
		if (void *block = pop(i)) {
			own.at = static_cast<char *>(block) - before;
			own.end = own.at + space_of(i);
			return true;
		}
	char *start = take(piece);
	if (!start)
		return false;
	own.at = start + alignment - before;
	own.end = own.at + piece - alignment;
	return true;
}

static void *new_large_block(unsigned number)
{
	for (unsigned i = number + 1; i <= number + most_larger && i < classes; i++)
		if (void *block = pop(i))
			return block;
	char *start = take(space_of(number) + alignment);
	if (!start)
		return nullptr;
	header_of(start + alignment) = number;
	return start + alignment;
}

static void *new_block(unsigned number)
{
	const size_t space = space_of(number);

	if (space > least_piece)
		return new_large_block(number);
	if (space > (size_t)(own.end - own.at) && !next_piece())
		return nullptr;
	void *block = own.at + before;
	own.at += space;
	header_of(block) = number;
	return block;
}

static void *allocate(size_t size)
{
	const unsigned number = size > largest ? classes : class_of(size);
	void *block = number < classes ? pop(number) : nullptr;

	if (!block && number < classes)
		block = new_block(number);
	if (!block)
		errno = ENOMEM;
	return block;
}

extern "C" void *malloc(size_t size)
{
	return allocate(size);
}

extern "C" void *calloc(size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return nullptr;
	}
	void *block = allocate(bytes);
	if (block)
		memset(block, 0, bytes);
	return block;
}

extern "C" void free(void *block)
{
	if (!block)
		return;
	const uint64_t header = header_of(block);
	const unsigned number = header & 0xff;

	block = static_cast<char *>(block) - (header >> 8);
	*static_cast<void **>(block) = own.free[number];
	own.free[number] = block;
}

extern "C" size_t malloc_usable_size(void *block)
{
	return block ? bytes_of(header_of(block) & 0xff) - (header_of(block) >> 8) : 0;
}

extern "C" void *realloc(void *block, size_t size)
{
	const size_t had = malloc_usable_size(block);

	if (block && size <= had && size > had / 2)
		return block;
	void *other = allocate(size);
	if (other && block) {
		memcpy(other, block, had < size ? had : size);
		free(block);
	}
	return other;
}

extern "C" void *memalign(size_t align, size_t size)
{
	if (align <= alignment)
		return allocate(size);
	char *block = size > largest ? nullptr : static_cast<char *>(allocate(size + align));
	if (!block)
		return nullptr;
	const size_t distance = -reinterpret_cast<uintptr_t>(block) & (align - 1);
	header_of(block + distance) = header_of(block) | distance << 8;
	return block + distance;
}

extern "C" void *aligned_alloc(size_t align, size_t size)
{
	return memalign(align, size);
}

extern "C" int posix_memalign(void **block, size_t align, size_t size)
{
	const int saved = errno;

	*block = memalign(align, size);
	errno = saved;
	return *block ? 0 : ENOMEM;
}

/* LLVM asks this for its statistics, which nobody reads. */
extern "C" struct mallinfo2 mallinfo2()
{
	return {};
}
