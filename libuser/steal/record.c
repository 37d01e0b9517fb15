// SPDX-License-Identifier: MIT
/*
 * record.c - what leaves a pool ran and when, for salvo-submit --leaves
 *
 * The file that the environment names is shared by all pools of a process and its children. A
 * worker claims a record by a locked instruction, fills it, and marks it as written. Without such
 * a file nothing of this runs.
 */
#include "worker.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "leaf_record.h"

struct salvo_leaf_recording {
	struct leaf_record_head *head;
	size_t bytes;
	uint64_t capacity;
	uint64_t clock_hz;
	uint32_t pool;
};

static bool is_sane(const struct leaf_record_head *head, size_t bytes)
{
	return head->magic == LEAF_RECORD_MAGIC &&
	       head->record_bytes == sizeof(struct leaf_record) &&
	       head->capacity <= (bytes - sizeof(*head)) / sizeof(struct leaf_record);
}

struct salvo_leaf_recording *salvo_leaf_recording_open(struct salvo_device *device)
{
	static _Atomic uint32_t pools;
	const char *path = secure_getenv(LEAF_RECORD_VARIABLE);
	struct salvo_leaf_recording *recording = NULL;
	struct salvo_device_info info;
	struct leaf_record_head *head;
	struct stat status;
	int fd;

	if (!path || !*path || !device)
		return NULL;
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &status) || status.st_size < (off_t)sizeof(*head))
		goto out;
	head = mmap(NULL, status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (head == MAP_FAILED)
		goto out;
	if (is_sane(head, status.st_size))
		recording = malloc(sizeof(*recording));
	if (!recording) {
		munmap(head, status.st_size);
		goto out;
	}
	salvo_device_get_info(device, &info);
	*recording = (struct salvo_leaf_recording){
		.head = head, .bytes = status.st_size, .capacity = head->capacity,
		.clock_hz = info.clock_hz, .pool = atomic_fetch_add(&pools, 1),
	};
out:
	if (!recording)
		fprintf(stderr, "libsalvo: %s: leaves are not recorded\n", path);
	if (fd >= 0)
		close(fd);
	return recording;
}

void salvo_leaf_recording_close(struct salvo_leaf_recording *recording)
{
	if (!recording)
		return;
	munmap(recording->head, recording->bytes);
	free(recording);
}

void salvo_leaf_recording_add(struct salvo_leaf_recording *recording,
			      const struct salvo_worker *worker, const struct salvo_kernel *kernel,
			      uint64_t handed, uint64_t seen, int result)
{
	struct leaf_record_head *head = recording->head;
	const uint64_t place = __atomic_fetch_add(&head->next, 1, __ATOMIC_RELAXED);
	struct leaf_record *record = (struct leaf_record *)(head + 1) + place;
	struct salvo_profile profile;
	struct salvo_kernel_properties properties;

	if (place >= recording->capacity)
		return;
	salvo_slot_get_profile(worker->slot, &profile);
	salvo_kernel_get_info(kernel, &properties);
	*record = (struct leaf_record){
		.started = profile.started, .ended = profile.ended, .handed = handed,
		.seen = seen, .clock_hz = recording->clock_hz, .units = worker->public->units,
		.pool = recording->pool, .worker = worker->index, .pid = worker->pool->process,
		.result = result,
	};
	snprintf(record->pool_name, sizeof(record->pool_name), "%s", worker->pool->public->name);
	snprintf(record->kernel, sizeof(record->kernel), "%s", properties.name);
	__atomic_store_n(&record->written, 1, __ATOMIC_RELEASE);
}
