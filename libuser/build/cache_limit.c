// SPDX-License-Identifier: MIT
/*
 * cache_limit.c - keeps the cache of compiled programs below a size
 *
 * The time of a file is that of its last use: reading an entry sets it. The file ".usage" has
 * the size of all entries and how many were written since it was measured: a cache of small
 * programs has tens of thousands of entries, and to measure them takes longer than a compilation.
 * A writer adds its entry; if they are over the limit, after MAX_WRITES entries, or without a valid
 * ".usage" it measures all of them, and removes those not used for longest until a quarter of the
 * limit is free. What a writer that died left behind goes then, after an hour. Files of other
 * names are not touched.
 *
 * No locks: a file that is gone or is being read by others may be removed without harm, two that
 * clean up at once only clean up more, and an addition that is lost in ".usage" is found by the
 * next measurement.
 */
#include "array.h"
#include "cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DEFAULT_MIB	256u
#define MAX_ENTRIES	65536u
#define MAX_WRITES	256u
#define USAGE_FILE	".usage"

struct entry {
	char name[2 * SHA256_DIGEST_LENGTH + sizeof(".XXXXXX")];
	uint64_t bytes;
	struct timespec used;
};

/* Contents of USAGE_FILE */
struct usage {
	uint64_t bytes;		/* of all entries */
	uint64_t writes;	/* of entries, since @bytes was measured */
};

struct entries {
	struct entry *all;
	unsigned int count;
	uint64_t bytes;
};

uint64_t salvo_cache_limit(void)
{
	const char *text = secure_getenv("SALVO_CACHE_MIB");
	unsigned long mib;
	char *end;

	if (!text || !*text || *text == '-')
		return (uint64_t)DEFAULT_MIB << 20;
	mib = strtoul(text, &end, 10);
	return *end || mib > UINT32_MAX ? (uint64_t)DEFAULT_MIB << 20 : (uint64_t)mib << 20;
}

/* Is it the name of an entry, or that of one being written? */
static bool is_ours(const char *name, bool *partial)
{
	const size_t digits = 2 * SHA256_DIGEST_LENGTH;

	if (strspn(name, "0123456789abcdef") != digits)
		return false;
	*partial = name[digits];
	return !*partial || (name[digits] == '.' && strlen(name) == digits + sizeof(".XXXXXX") - 1);
}

static void add_entry(struct entries *entries, const char *name, const struct stat *st)
{
	struct entry *entry = salvo_array_append(&entries->all, &entries->count, sizeof(*entry));

	if (!entry)
		return;
	/* is_ours() has checked its length. */
	memcpy(entry->name, name, strlen(name) + 1);
	entry->bytes = st->st_size;
	entry->used = st->st_mtim;
	entries->bytes += entry->bytes;
}

static void find_entries(DIR *dir, struct entries *entries)
{
	const time_t now = time(NULL);
	struct dirent *file;
	struct stat st;
	bool partial;

	while ((file = readdir(dir)) && entries->count < MAX_ENTRIES) {
		if (!is_ours(file->d_name, &partial) ||
		    fstatat(dirfd(dir), file->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(st.st_mode))
			continue;
		if (!partial)
			add_entry(entries, file->d_name, &st);
		else if (st.st_mtim.tv_sec < now - 3600)
			unlinkat(dirfd(dir), file->d_name, 0);
	}
}

static int by_use(const void *p, const void *q)
{
	const struct timespec *a = &((const struct entry *)p)->used;
	const struct timespec *b = &((const struct entry *)q)->used;

	if (a->tv_sec != b->tv_sec)
		return a->tv_sec < b->tv_sec ? -1 : 1;
	return a->tv_nsec < b->tv_nsec ? -1 : a->tv_nsec > b->tv_nsec;
}

/*
 * Measure all entries of @folder, and remove some if they are over @limit.
 * Return: their bytes, 0 if there are none or the folder cannot be read.
 */
static uint64_t clean(int folder, uint64_t limit)
{
	struct entries entries = { 0 };
	unsigned int i;
	DIR *dir;

	folder = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = folder < 0 ? NULL : fdopendir(folder);
	if (!dir) {
		if (folder >= 0)
			close(folder);
		return 0;
	}
	find_entries(dir, &entries);
	if (entries.bytes > limit) {
		qsort(entries.all, entries.count, sizeof(*entries.all), by_use);
		for (i = 0; i < entries.count && entries.bytes > limit - limit / 4; i++) {
			unlinkat(dirfd(dir), entries.all[i].name, 0);
			entries.bytes -= entries.all[i].bytes;
		}
	}
	closedir(dir);
	free(entries.all);
	return entries.bytes;
}

void salvo_cache_account(int folder, uint64_t bytes)
{
	const uint64_t limit = salvo_cache_limit();
	struct usage usage;
	int fd;

	fd = openat(folder, USAGE_FILE,
		    O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	if (fd >= 0 && pread(fd, &usage, sizeof(usage), 0) == sizeof(usage)) {
		usage.writes++;
		if (__builtin_add_overflow(usage.bytes, bytes, &usage.bytes))
			usage.bytes = UINT64_MAX;
	} else {
		usage.writes = MAX_WRITES;
	}
	if (usage.writes >= MAX_WRITES || usage.bytes > limit) {
		usage.bytes = clean(folder, limit);
		usage.writes = 0;
	}
	if (fd < 0)
		return;
	/* Without it the next writer measures. */
	if (pwrite(fd, &usage, sizeof(usage), 0) != sizeof(usage))
		unlinkat(folder, USAGE_FILE, 0);
	close(fd);
}
