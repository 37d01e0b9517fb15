// SPDX-License-Identifier: MIT
/*
 * direct.c - ranks on one machine use each other's memory
 *
 * Where all ranks run on one machine their GPUs import each other's storage as nodes of one
 * process do: a rank takes the owner's file descriptor with pidfd_getfd(), for which the kernel
 * wants the right to trace the other process. A block then moves by one copy, made by the GPU that
 * needs it, without the plugin. If anything of it does not work on any rank, all ranks use the
 * plugin's windows for that field.
 *
 * Fences do not go from process to process. All ranks make the same calls, so each knows which
 * fields others may be writing, and which they may be reading. A field is dirty from a statement
 * that writes it until all ranks have met after their nodes have done so, and lent from
 * a statement that reads it across ranks until they have met after reading. The ranks meet
 * before a statement that reads what is dirty or writes what is lent, and only then. When all nodes
 * of all ranks are idle, as after salvo_agile_wait(), nothing is dirty or lent any more:
 * struct salvo_agile counts these times, and a field keeps the count at which it was used last.
 */
#include "direct.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <unistd.h>

/* Why storage is not used directly. */
#define NO_FILE		(1u << 0)
#define NO_IMPORT	(1u << 1)

/** struct machine - Two ranks with the same one can use each other's process numbers. */
struct machine {
	char boot[40];
	uint64_t pid_namespace;
	int32_t pid;
	/** @never: The environment forbids it. */
	uint32_t never;
};

/** struct handle - What a rank stores of a field on one node. */
struct handle {
	uint64_t device, inode;
	int64_t fd;
};

static void find_machine(struct machine *machine)
{
	const char *direct = secure_getenv("SALVO_AGILE_DIRECT");
	const int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	struct stat stat;

	*machine = (struct machine){ .pid = getpid(), .never = direct && !strcmp(direct, "0") };
	if (fd < 0 || read(fd, machine->boot, sizeof(machine->boot) - 1) <= 0 ||
	    fstatat(AT_FDCWD, "/proc/self/ns/pid", &stat, 0))
		machine->never = 1;
	else
		machine->pid_namespace = stat.st_ino;
	if (fd >= 0)
		close(fd);
}

int agile_direct_init(struct salvo_agile *agile)
{
	struct agile_ranks *ranks = agile->ranks;
	struct machine mine, *all = calloc(ranks->count, sizeof(*all));
	unsigned int r;
	int err;

	find_machine(&mine);
	ranks->pids = calloc(ranks->count, sizeof(*ranks->pids));
	err = all && ranks->pids ? agile_gather(agile, &mine, sizeof(mine), all) : -ENOMEM;
	ranks->one_machine = true;
	for (r = 0; r < ranks->count && !err; r++) {
		ranks->one_machine &= !all[r].never && 
				      !strncmp(all[r].boot, mine.boot, sizeof(mine.boot)) &&
				      all[r].pid_namespace == mine.pid_namespace;
		ranks->pids[r] = all[r].pid;
	}
	free(all);
	return err;
}

/* --- fields ----------------------------------------------------------------------- */

/* What this rank stores; a handle without a file cannot be taken. */
static void make_handles(const struct salvo_agile_field *field, struct handle *handles)
{
	const struct salvo_agile *agile = field->agile;
	unsigned int k;

	for (k = 0; k < agile->local; k++) {
		struct stat stat;

		handles[k].fd = field->storage[agile->first + k].fd;
		if (handles[k].fd < 0 || fstat(handles[k].fd, &stat))
			continue;
		handles[k].device = stat.st_dev;
		handles[k].inode = stat.st_ino;
	}
}

/* The owner's file: -ESTALE if it is another one. */
static int take_file(int process, const struct handle *handle, int *fd)
{
	struct stat stat;

	*fd = pidfd_getfd(process, handle->fd, 0);
	if (*fd < 0)
		return -errno;
	if (fstat(*fd, &stat))
		return -errno;
	return stat.st_dev == handle->device && stat.st_ino == handle->inode ? 0 : -ESTALE;
}

/* What another rank stores, for each GPU of this one. Return: 0, NO_FILE or NO_IMPORT. */
static uint32_t take_storage(struct salvo_agile_field *field, unsigned int owner, int process,
			     const struct handle *handle)
{
	struct agile_storage *storage = &field->storage[owner];
	struct salvo_agile *agile = field->agile;
	struct salvo_bo *bo;
	unsigned int n;

	storage->bos = calloc(agile->count, sizeof(*storage->bos));
	storage->read = calloc(agile->count, sizeof(*storage->read));
	if (!storage->bos || !storage->read || take_file(process, handle, &storage->fd))
		return NO_FILE;
	for (n = agile->first; n < agile->first + agile->local; n++) {
		if (agile_storage_bo(field, owner, n, &bo))
			return NO_IMPORT;
		if (salvo_bo_size(bo) < storage->bytes)
			return NO_FILE;
	}
	return 0;
}

static uint32_t take_rank(struct salvo_agile_field *field, unsigned int r,
			  const struct handle *handles)
{
	const struct agile_ranks *ranks = field->agile->ranks;
	const int process = pidfd_open(ranks->pids[r], 0);
	uint32_t refused = process < 0 ? NO_FILE : 0;
	unsigned int n;

	for (n = ranks->first[r]; n < ranks->first[r + 1] && !refused; n++)
		if (field->storage[n].bytes)
			refused = take_storage(field, n, process, &handles[n - ranks->first[r]]);
	if (process >= 0)
		close(process);
	return refused;
}

/* Files are open as long as others may take them, and mapped then. */
static void close_files(struct salvo_agile_field *field)
{
	const struct salvo_agile *agile = field->agile;
	unsigned int n;

	for (n = 0; n < agile->count; n++)
		if (!agile_is_local(agile, n) && field->storage[n].fd >= 0) {
			close(field->storage[n].fd);
			field->storage[n].fd = -1;
		}
}

/* All ranks meet, and each creates this field. */
static int meet_at_field(struct salvo_agile_field *field, int err)
{
	struct salvo_agile *agile = field->agile;
	const struct agile_ranks *ranks = agile->ranks;
	const uint64_t mine = ranks && !err ? agile_field_layout(field) : 0;
	uint64_t *all = ranks ? calloc(ranks->count, sizeof(*all)) : NULL;
	unsigned int r;

	if (ranks && !all && !err)
		err = agile_fail(agile, -ENOMEM, "out of memory");
	err = agile_agree_with(agile, AGILE_CALL_FIELD_CREATE, err, NULL, &mine,
			       sizeof(mine), all);
	/* Each compares with rank 0, so that all see it. */
	for (r = 0; ranks && r < ranks->count && !err; r++)
		if (all[r] != all[0])
			err = agile_fail(agile, -EPROTO,
					 "field %s: rank %u does not create it with the map, element size and blocks of rank 0",
					 field->name, r);
	free(all);
	return err;
}

int agile_direct_share(struct salvo_agile_field *field, int err, bool *foreign)
{
	struct salvo_agile *agile = field->agile;
	const struct agile_ranks *ranks = agile->ranks;
	struct handle *handles = NULL, *mine;
	uint32_t refused = 0;
	unsigned int r;

	if (ranks && ranks->one_machine && !err) {
		handles = calloc((size_t)(ranks->count + 1) * ranks->most, sizeof(*handles));
		if (!handles)
			err = agile_fail(agile, -ENOMEM, "out of memory");
	}
	err = meet_at_field(field, err);
	if (err || !handles) {
		free(handles);
		return err;
	}
	mine = handles + (size_t)ranks->count * ranks->most;
	make_handles(field, mine);
	err = agile_gather(agile, mine, ranks->most * sizeof(*mine), handles);
	for (r = 0; r < ranks->count && !err && !refused; r++)
		if (r != ranks->rank)
			refused = take_rank(field, r, handles + (size_t)r * ranks->most);
	free(handles);
	err = agile_agree(agile, AGILE_CALL_FIELD_CREATE, err, &refused);
	close_files(field);
	field->direct = !err && !refused;
	if (foreign)
		*foreign = !err && refused == NO_IMPORT;
	return err;
}

/* --- who uses what ---------------------------------------------------------------- */

bool agile_dirty(const struct salvo_agile_field *field)
{
	return field->agile->ranks && field->dirty == field->agile->idle;
}

bool agile_lent(const struct salvo_agile_field *field)
{
	return field->agile->ranks && field->lent == field->agile->idle;
}

void agile_written(struct salvo_agile_field *field)
{
	field->dirty = field->agile->idle;
}

void agile_lend(struct salvo_agile_field *field)
{
	field->lent = field->agile->idle;
}

void agile_idle(struct salvo_agile *agile)
{
	agile->idle++;
}

int agile_wait_lent(struct salvo_agile_field *field)
{
	struct salvo_agile *agile = field->agile;
	unsigned int owner, n;
	int err = 0;

	for (owner = 0; owner < agile->count; owner++)
		for (n = agile->first; field->storage[owner].read &&
		     n < agile->first + agile->local && !err; n++)
			err = agile_wait_time(agile, n, &field->storage[owner].read[n]);
	return err;
}

int agile_settle(struct salvo_agile *agile, enum agile_call call, int err,
		 struct salvo_agile_field *const *reads, unsigned int count,
		 struct salvo_agile_field *writes)
{
	bool needed = writes && agile_lent(writes);
	unsigned int i, n;

	if (needed && !err)
		err = agile_wait_lent(writes);
	for (i = 0; i < count; i++) {
		if (!agile_dirty(reads[i]))
			continue;
		needed = true;
		for (n = agile->first; n < agile->first + agile->local && !err; n++)
			err = agile_wait_time(agile, n, &reads[i]->storage[n].written);
	}
	if (!needed)
		return err;
	err = agile_agree(agile, call, err, NULL);
	if (writes)
		writes->lent = 0;
	for (i = 0; i < count; i++)
		reads[i]->dirty = 0;
	return err;
}
