// SPDX-License-Identifier: MIT
/*
 * sample.c - take a sample of the clients of all Salvo GPUs
 *
 * Reads /proc/PID/fd of all processes. The counters of a render node's file are in
 * /proc/PID/fdinfo/FD (the kernel's drm-usage-stats); several descriptors may belong to one
 * client, which the driver numbers. An embedded GPU keeps its registers and counters in a
 * memfd (libuser/observe/soft_public.h), and so does a salvo-gpu process (BAR2); a forked child
 * shares it, so entries are identified by inode. Processes start and exit at any time and may
 * write anything: every read is bounded, nothing is mapped, and what cannot be read is
 * skipped.
 */
#include "sample.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "array.h"
#include "file.h"
#include "pool.h"
#include "soft_public.h"

#define MAX_ENTRIES	4096u

/* --- the list --------------------------------------------------------------- */

const struct top_entry *top_sample_find(const struct top_sample *sample,
					const struct top_entry *entry)
{
	unsigned int i;

	for (i = 0; i < sample->count; i++)
		if (sample->entries[i].kind == entry->kind &&
		    sample->entries[i].id[0] == entry->id[0] &&
		    sample->entries[i].id[1] == entry->id[1])
			return &sample->entries[i];
	return NULL;
}

/* Several descriptors may belong to one entry: the first one counts. Return: was it added? */
static bool add_entry(struct top_sample *sample, const struct top_entry *entry)
{
	struct top_entry *added;

	if (sample->count == MAX_ENTRIES || top_sample_find(sample, entry))
		return false;
	added = salvo_array_append(&sample->entries, &sample->count, sizeof(*added));
	if (added)
		*added = *entry;
	return added;
}

/* --- a process -------------------------------------------------------------- */

static void read_command(pid_t pid, char out[32])
{
	char path[64], *c;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	if (!file_read_text(path, out, 32))
		snprintf(out, 32, "?");
	out[strcspn(out, "\n")] = 0;
	/* It goes to a terminal. */
	for (c = out; *c; c++)
		if (iscntrl((unsigned char)*c))
			*c = '?';
}

static int compare_threads(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Processor time of the threads that are units, in the order in which they were started. */
static void read_units(struct top_entry *entry)
{
	int threads[TOP_MAX_UNITS];
	char path[96], text[512];
	uint32_t i, count = 0;
	struct dirent *dirent;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", entry->pid);
	dir = opendir(path);
	if (!dir)
		return;
	while ((dirent = readdir(dir)) && count < TOP_MAX_UNITS && count < entry->units) {
		snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", entry->pid,
			 atoi(dirent->d_name));
		if (isdigit((unsigned char)dirent->d_name[0]) &&
		    file_read_text(path, text, sizeof(text)) && !strcmp(text, "salvo-eu\n"))
			threads[count++] = atoi(dirent->d_name);
	}
	closedir(dir);
	qsort(threads, count, sizeof(threads[0]), compare_threads);
	for (i = 0; i < count; i++) {
		/* Nanoseconds on a core come first. */
		snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", entry->pid, threads[i]);
		if (file_read_text(path, text, sizeof(text)))
			entry->unit[i].cpu_ns = strtoull(text, NULL, 10);
	}
	entry->unit_count = count;
}

/* --- fdinfo ----------------------------------------------------------------- */

/* The value of "KEY:" at the start of a line, or NULL. */
static const char *find_value(const char *text, const char *key)
{
	const size_t length = strlen(key);

	for (; text; text = strchr(text, '\n')) {
		text += *text == '\n';
		if (!strncmp(text, key, length) && text[length] == ':')
			return text + length + 1 + strspn(text + length + 1, " \t");
	}
	return NULL;
}

static uint64_t find_number(const char *text, const char *key)
{
	const char *value = find_value(text, key);

	return value ? strtoull(value, NULL, 10) : 0;
}

static uint64_t hash_name(const char *name)
{
	uint64_t hash = 14695981039346656037ull;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 1099511628211ull;
	return hash;
}

static void sample_client(struct top_sample *sample, pid_t pid, const char *fd)
{
	char path[320], text[4096];
	struct top_entry entry = { .kind = TOP_CLIENT, .pid = pid };
	const char *value;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%s", pid, fd);
	if (!file_read_text(path, text, sizeof(text)))
		return;
	value = find_value(text, "drm-driver");
	if (!value || strncmp(value, "salvo\n", 6))
		return;
	value = find_value(text, "drm-pdev");
	if (value)
		snprintf(entry.device, sizeof(entry.device), "%.*s",
			 (int)strcspn(value, "\n"), value);
	entry.client = find_number(text, "drm-client-id");
	entry.id[0] = hash_name(entry.device);
	entry.id[1] = entry.client;
	entry.units = find_number(text, "drm-engine-capacity-eu");
	entry.vram_bytes = find_number(text, "drm-memory-vram") << 10;
	entry.has_queues = find_value(text, "salvo-contexts");
	entry.queues = find_number(text, "salvo-contexts");
	entry.slots = find_number(text, "salvo-slots");
	entry.counters = (struct top_counters){
		.busy_ns = find_number(text, "drm-engine-eu"),
		.packets = find_number(text, "salvo-packets"),
		.doorbells = find_number(text, "salvo-doorbells"),
		.interrupts = find_number(text, "salvo-interrupts"),
		.completions = find_number(text, "salvo-completions"),
	};
	/* A client's packets are batches. */
	if (entry.counters.packets > entry.counters.completions)
		entry.batches = entry.counters.packets - entry.counters.completions;
	read_command(pid, entry.command);
	add_entry(sample, &entry);
}

/* --- GPUs that are processes -------------------------------------------------- */

static void take_registers(struct top_entry *entry, const struct salvo_regs *regs)
{
	uint32_t i;

	for (i = 0; i < SALVO_MAX_RINGS; i++)
		entry->counters.packets += regs->ring[i].head;
	entry->units = regs->units <= TOP_MAX_UNITS ? regs->units : TOP_MAX_UNITS;
	entry->counters.busy_ns = regs->busy_ns;
	read_units(entry);
	for (i = 0; i < entry->unit_count; i++) {
		entry->unit[i].busy = regs->unit[i].state == SALVO_UNIT_BUSY;
		entry->unit[i].ctx = regs->unit[i].ctx;
		entry->unit[i].command = regs->unit[i].command;
	}
}

static bool take_public(struct top_entry *entry, int fd)
{
	struct soft_public public = { 0 };

	if (pread(fd, &public, sizeof(public), SALVO_REGS_BYTES) != sizeof(public) ||
	    public.magic != SOFT_PUBLIC_MAGIC)
		return false;
	entry->has_queues = true;
	entry->queues = public.queues;
	entry->slots = public.slots;
	entry->batches = public.batches;
	entry->vram_bytes = public.vram_used;
	entry->counters.packets = public.packets;
	entry->counters.doorbells = public.doorbells;
	entry->counters.interrupts = public.interrupts;
	entry->counters.completions = public.completions;
	return true;
}

static void sample_memory(struct top_sample *sample, pid_t pid, const char *path,
			  enum top_kind kind)
{
	struct top_entry entry = { .kind = kind, .pid = pid };
	struct salvo_regs regs;
	struct stat stat;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (!fstat(fd, &stat) && pread(fd, &regs, sizeof(regs), 0) == sizeof(regs) &&
	    regs.magic == SALVO_MAGIC) {
		entry.id[0] = stat.st_dev;
		entry.id[1] = stat.st_ino;
		snprintf(entry.device, sizeof(entry.device), "%s",
			 kind == TOP_SOFT ? "soft" : "gpu");
		read_command(pid, entry.command);
		take_registers(&entry, &regs);
		/* A supervisor shares the memory with its worker; count the one with the units. */
		if ((kind == TOP_SOFT && take_public(&entry, fd)) ||
		    (kind == TOP_GPU && entry.unit_count))
			add_entry(sample, &entry);
	}
	close(fd);
}

/* --- work-stealing pools -------------------------------------------------------- */

static void sample_pool(struct top_sample *sample, pid_t pid, const char *path)
{
	struct top_entry entry = { .kind = TOP_POOL, .pid = pid, .device = "pool" };
	struct stat stat;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (!fstat(fd, &stat))
		entry.pool = pool_read(fd, pid, &entry.units);
	close(fd);
	if (!entry.pool)
		return;
	entry.id[0] = stat.st_dev;
	entry.id[1] = stat.st_ino;
	read_command(pid, entry.command);
	if (!add_entry(sample, &entry))
		free(entry.pool);
}

/* --- all of them -------------------------------------------------------------- */

/* Is @target the memfd @name? */
static bool is_memfd(const char *target, const char *name)
{
	const size_t length = strlen(name);

	return !strncmp(target, "/memfd:", 7) && !strncmp(target + 7, name, length) &&
	       (!target[7 + length] || target[7 + length] == ' ');
}

static void sample_process(struct top_sample *sample, pid_t pid)
{
	char path[320], target[128];
	struct dirent *entry;
	ssize_t length;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		length = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);
		if (length <= 0)
			continue;
		target[length] = 0;
		snprintf(path, sizeof(path), "/proc/%d/fd/%s", pid, entry->d_name);
		if (!strncmp(target, "/dev/dri/", 9))
			sample_client(sample, pid, entry->d_name);
		else if (is_memfd(target, SOFT_PUBLIC_NAME))
			sample_memory(sample, pid, path, TOP_SOFT);
		else if (is_memfd(target, "salvo-bar2"))
			sample_memory(sample, pid, path, TOP_GPU);
		else if (is_memfd(target, POOL_PUBLIC_NAME))
			sample_pool(sample, pid, path);
	}
	closedir(dir);
}

int top_sample_take(struct top_sample *sample)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	struct timespec now;
	bool found = false;

	memset(sample, 0, sizeof(*sample));
	if (!dir)
		return -errno;
	clock_gettime(CLOCK_MONOTONIC, &now);
	sample->time_ns = now.tv_sec * 1000000000ull + now.tv_nsec;
	while ((entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0])) {
			found = true;
			sample_process(sample, atoi(entry->d_name));
		}
	closedir(dir);
	/* At least this process is there, where it is mounted. */
	return found ? 0 : -ENOENT;
}

void top_sample_free(struct top_sample *sample)
{
	unsigned int i;

	for (i = 0; i < sample->count; i++)
		free(sample->entries[i].pool);
	free(sample->entries);
	memset(sample, 0, sizeof(*sample));
}
