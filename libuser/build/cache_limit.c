// SPDX-License-Identifier: MIT
/*
 * cache_limit.c - keeps the cache of compiled programs below a size
 *
 * The time of a file is that of its last use: reading an entry sets it. Who has written an entry
 * adds all of them up, and if they are over the limit removes those not used for longest,
 * until a quarter of it is free. No locks: a file that is gone or is being read by others may
 * be removed without harm, and two that clean up at once only clean up more. What a
 * writer that died left behind goes after an hour. Files of other names are not touched.
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

struct entry {
	char name[2 * SHA256_DIGEST_LENGTH + sizeof(".XXXXXX")];
	uint64_t bytes;
	struct timespec used;
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

void salvo_cache_clean(int folder)
{
	const uint64_t limit = salvo_cache_limit();
	struct entries entries = { 0 };
	unsigned int i;
	DIR *dir;

	dir = fdopendir(folder);
	if (!dir) {
		close(folder);
		return;
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
}
