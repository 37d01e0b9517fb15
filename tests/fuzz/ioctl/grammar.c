// SPDX-License-Identifier: MIT
/*
 * grammar.c - one case of the ioctl fuzzer: bytes that become a sequence of system calls
 *
 * Each decision consumes the next bytes of the case: which call, which of the objects that
 * the case has created so far, and for each field whether it is valid, an edge case or
 * noise. So most calls pass the first checks, a mutation of one byte changes one decision, and
 * a case is reproducible. It ends when its bytes are used up; its objects are closed then.
 */
#include "grammar.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xf86drm.h>

#include "rendernode.h"

#define OBJECTS		6
#define COMMANDS	12
#define SYNCS		4

struct object {
	uint32_t handle;
	uint64_t address;
	uint64_t size;
};

/* What a case has made, in one file. */
struct file {
	int fd;
	struct object bos[OBJECTS];
	uint32_t ctxs[OBJECTS];
	uint32_t syncobjs[OBJECTS];
	uint32_t bo_count;
	uint32_t ctx_count;
	uint32_t syncobj_count;
};

struct run {
	const uint8_t *at, *end;
	struct file files[2];
	struct file *file;
	int calls;
	char *wrong;
	size_t room;
};

/* --- decisions -------------------------------------------------------------- */

static uint8_t byte(struct run *r)
{
	return r->at < r->end ? *r->at++ : 0;
}

static uint32_t choose(struct run *r, uint32_t count)
{
	return byte(r) % count;
}

static uint64_t noise(struct run *r)
{
	uint64_t value = 0;
	int i;

	for (i = 0; i < 8; i++)
		value = value << 8 | byte(r);
	return value;
}

/* Mostly the right value. */
static uint64_t maybe(struct run *r, uint64_t right)
{
	static const uint64_t edges[] = {
		0, 1, 2, 7, 8, 0xfff, 0x1000, 0x1001, 0x7fffffff, 0x80000000, 0xffffffff,
		0x100000000, INT64_MAX, UINT64_MAX, UINT64_MAX - 7, UINT64_MAX - 4095,
	};
	uint8_t how = byte(r);

	if (how < 232)
		return right;
	if (how < 244)
		return edges[choose(r, sizeof(edges) / sizeof(edges[0]))];
	if (how < 250)
		return right + (int8_t)byte(r);
	return how < 253 ? right ^ 1ull << choose(r, 64) : noise(r);
}

static struct object bo(struct run *r)
{
	const struct object none = { 0 };
	struct file *file = r->file;

	return file->bo_count ? file->bos[choose(r, file->bo_count)] : none;
}

static uint32_t ctx(struct run *r)
{
	return r->file->ctx_count ? r->file->ctxs[choose(r, r->file->ctx_count)] : 0;
}

static uint32_t syncobj(struct run *r)
{
	return r->file->syncobj_count ? r->file->syncobjs[choose(r, r->file->syncobj_count)] : 0;
}

/* An address in a buffer, a multiple of @align. */
static uint64_t inside(struct run *r, const struct object *object, uint64_t align)
{
	uint64_t at = object->size ? noise(r) % object->size / 2 : 0;

	return object->address + at / align * align;
}

/* --- calls ------------------------------------------------------------------ */

/* Every errno that means something; anything else is a bug. */
static bool is_meant(int err)
{
	switch (err) {
	case 0: case -EINVAL: case -ENOENT: case -E2BIG: case -ENOSPC: case -EFAULT:
	case -ECANCELED: case -EIO: case -ENODEV: case -ENOMEM: case -EACCES: case -ENOTTY:
	case -ETIME: case -EOPNOTSUPP: case -EBADF: case -EPERM: case -EBUSY:
		return true;
	default:
		return false;
	}
}

static int fuzz_call(struct run *r, unsigned long request, void *arg)
{
	int err = ioctl(r->file->fd, request, arg) ? -errno : 0;

	r->calls++;
	if (err != -EINTR && !is_meant(err) && !*r->wrong)
		snprintf(r->wrong, r->room, "ioctl %#lx gave %d", request, err);
	return err;
}

/*
 * The only ioctl that writes to an address in the test case: to a mapped page, or to an invalid
 * one.
 */
static void do_dev_query(struct run *r)
{
	static const int16_t offsets[] = { 0, 0, 0, 0, 8, 3, 2048, 4000, 4095, -1, -4096 };
	uint8_t *pages = mmap(NULL, 3 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct drm_salvo_dev_query query = {
		.type = maybe(r, choose(r, 2)), .size = maybe(r, choose(r, 200)),
	};

	if (pages == MAP_FAILED)
		return;
	mprotect(pages + 4096, 4096, PROT_READ | PROT_WRITE);
	if (choose(r, 8))
		query.pointer = (uintptr_t)pages + 4096 + offsets[choose(r, 11)];
	/* Longer than the driver takes, or not past the guard. */
	if (query.size <= 4096 || query.size > 1 << 20)
		fuzz_call(r, DRM_IOCTL_SALVO_DEV_QUERY, &query);
	munmap(pages, 3 * 4096);
}

static void do_bo_create(struct run *r)
{
	struct drm_salvo_bo_create create = {
		.size = maybe(r, 4096ull << choose(r, 8)), .flags = maybe(r, choose(r, 4)),
	};
	struct file *file = r->file;

	if (file->bo_count == OBJECTS || fuzz_call(r, DRM_IOCTL_SALVO_BO_CREATE, &create))
		return;
	file->bos[file->bo_count++] = (struct object){ create.handle, create.address, create.size };
}

static void do_bo_close(struct run *r)
{
	struct drm_gem_close gem_close = { .handle = maybe(r, bo(r).handle) };
	struct file *file = r->file;
	uint32_t i;

	if (fuzz_call(r, DRM_IOCTL_GEM_CLOSE, &gem_close))
		return;
	for (i = 0; i < file->bo_count; i++)
		if (file->bos[i].handle == gem_close.handle)
			file->bos[i--] = file->bos[--file->bo_count];
}

/* Maps, touches, maybe changes the mapping; code that returns at once gets written, too. */
static void do_bo_map(struct run *r)
{
	struct object object = bo(r);
	struct drm_salvo_bo_mmap_offset offset = {
		.handle = maybe(r, object.handle), .pad = maybe(r, 0),
	};
	volatile uint8_t *map;
	uint64_t size;

	if (fuzz_call(r, DRM_IOCTL_SALVO_BO_MMAP_OFFSET, &offset))
		return;
	size = maybe(r, object.size) % (1 << 24) + 1;
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, choose(r, 8) ? MAP_SHARED : MAP_PRIVATE,
		   r->file->fd, offset.offset);
	if ((void *)map == MAP_FAILED)
		return;
	if (offset.handle == object.handle && size <= object.size)
		memset((void *)map, choose(r, 4) ? 0xc3 : byte(r), size < 256 ? size : 256);
	munmap((void *)map, size);
}

static void do_bo_query(struct run *r)
{
	struct drm_salvo_bo_query query = {
		.handle = maybe(r, bo(r).handle), .flags = maybe(r, 0),
	};

	fuzz_call(r, DRM_IOCTL_SALVO_BO_QUERY, &query);
}

static void do_bo_label(struct run *r)
{
	char text[128];
	struct drm_salvo_bo_set_label label = {
		.handle = maybe(r, bo(r).handle), .pad = maybe(r, 0),
		.label = maybe(r, (uintptr_t)text),
	};

	memset(text, 'a' + choose(r, 26), sizeof(text));
	text[choose(r, sizeof(text))] = 0;
	text[sizeof(text) - 1] = 0;
	fuzz_call(r, DRM_IOCTL_SALVO_BO_SET_LABEL, &label);
}

static void do_ctx_create(struct run *r)
{
	struct drm_salvo_ctx_create create = {
		.flags = maybe(r, 0), .eu_mask = maybe(r, choose(r, 4)),
		.priority = maybe(r, choose(r, 3)), .pad = maybe(r, 0),
	};
	struct file *file = r->file;

	if (file->ctx_count < OBJECTS && !fuzz_call(r, DRM_IOCTL_SALVO_CTX_CREATE, &create))
		file->ctxs[file->ctx_count++] = create.id;
}

static void do_ctx_destroy(struct run *r)
{
	struct drm_salvo_ctx_destroy destroy = { .id = maybe(r, ctx(r)), .pad = maybe(r, 0) };
	struct file *file = r->file;
	uint32_t i;

	if (fuzz_call(r, DRM_IOCTL_SALVO_CTX_DESTROY, &destroy))
		return;
	for (i = 0; i < file->ctx_count; i++)
		if (file->ctxs[i] == destroy.id)
			file->ctxs[i--] = file->ctxs[--file->ctx_count];
}

static void do_ctx_query(struct run *r)
{
	struct drm_salvo_ctx_query query = { .id = maybe(r, ctx(r)) };

	fuzz_call(r, DRM_IOCTL_SALVO_CTX_QUERY, &query);
}

static void do_syncobj(struct run *r)
{
	struct file *file = r->file;
	struct drm_syncobj_create create = { .flags = choose(r, 4) ? 0 : 1 };
	struct drm_syncobj_destroy destroy = { .handle = maybe(r, syncobj(r)) };
	uint32_t i;

	if (file->syncobj_count < OBJECTS && choose(r, 4)) {
		if (!fuzz_call(r, DRM_IOCTL_SYNCOBJ_CREATE, &create))
			file->syncobjs[file->syncobj_count++] = create.handle;
		return;
	}
	if (fuzz_call(r, DRM_IOCTL_SYNCOBJ_DESTROY, &destroy))
		return;
	for (i = 0; i < file->syncobj_count; i++)
		if (file->syncobjs[i] == destroy.handle)
			file->syncobjs[i--] = file->syncobjs[--file->syncobj_count];
}

static void do_wait(struct run *r)
{
	uint32_t handle = syncobj(r);
	struct drm_syncobj_wait wait = {
		.handles = (uintptr_t)&handle, .count_handles = 1, .flags = choose(r, 4),
	};

	/* No time, or up to ten seconds: a fence always signals. */
	if (choose(r, 2)) {
		wait.timeout_nsec = 0;
		fuzz_call(r, DRM_IOCTL_SYNCOBJ_WAIT, &wait);
	} else if (!syncobj_wait(r->file->fd, handle, 0.01)) {
		r->calls++;
	}
}

/* Where the arguments have the shape of a COPY_RECT */
#define RECT_AT 64

static struct drm_salvo_command command(struct run *r, uint32_t index)
{
	struct object dst = bo(r), src = bo(r);
	struct drm_salvo_command c = { .type = maybe(r, 1 + choose(r, 7)) };

	switch (c.type) {
	case DRM_SALVO_DISPATCH:
		c.entry = maybe(r, dst.address);
		c.dims = maybe(r, 1 + choose(r, 3));
		c.items[0] = maybe(r, 1 + choose(r, 64));
		c.items[1] = maybe(r, c.dims > 1 ? 1 + choose(r, 8) : 1);
		c.items[2] = maybe(r, c.dims > 2 ? 1 + choose(r, 4) : 1);
		c.group[0] = maybe(r, 1 + choose(r, 16));
		c.group[1] = maybe(r, 1);
		c.group[2] = maybe(r, 1);
		c.args_offset = maybe(r, choose(r, 4) * 16);
		c.args_size = maybe(r, choose(r, 32));
		c.local_size = maybe(r, choose(r, 64) * 64);
		c.flags = maybe(r, choose(r, 8) ? 0 : choose(r, 4));
		c.eu_mask = maybe(r, choose(r, 4));
		break;
	case DRM_SALVO_PIPE_CONTROL:
		c.flags = maybe(r, choose(r, 3));
		if (!c.flags && index) {
			c.producer = maybe(r, choose(r, index));
			c.consumer = maybe(r, index + 1);
		}
		break;
	case DRM_SALVO_COPY:
		c.src = maybe(r, src.address);
		c.dst = maybe(r, inside(r, &dst, 4096));
		c.size = maybe(r, 1 + noise(r) % 8192);
		break;
	case DRM_SALVO_FILL:
		c.dst = maybe(r, inside(r, &dst, 4));
		c.size = maybe(r, 4 * (1 + noise(r) % 1024));
		c.pattern = maybe(r, 0xc3c3c3c3);
		break;
	case DRM_SALVO_COPY_RECT:
		c.src = maybe(r, src.address);
		c.dst = maybe(r, inside(r, &dst, 256));
		c.args_offset = maybe(r, RECT_AT);
		c.args_size = maybe(r, sizeof(struct drm_salvo_rect));
		break;
	case DRM_SALVO_FILL_PATTERN:
		c.dst = maybe(r, inside(r, &dst, 256));
		c.args_offset = maybe(r, choose(r, 4) * 16);
		c.args_size = maybe(r, 1 + choose(r, 60));
		c.size = maybe(r, c.args_size * (1 + choose(r, 40)));
		break;
	default:
		c.dst = maybe(r, inside(r, &dst, 8));
		break;
	}
	c.pad = maybe(r, 0);
	return c;
}

static uint32_t fill_syncs(struct run *r, struct drm_salvo_sync *syncs)
{
	uint32_t count = choose(r, 4) ? 0 : choose(r, SYNCS + 1), i;

	for (i = 0; i < count; i++) {
		bool timeline = !choose(r, 4);

		syncs[i] = (struct drm_salvo_sync){
			.handle = maybe(r, syncobj(r)),
			.flags = maybe(r, timeline ? DRM_SALVO_SYNC_TIMELINE : 0),
			.point = maybe(r, timeline ? 1 + choose(r, 8) : 0),
		};
	}
	return count;
}

static struct drm_salvo_array array(struct run *r, const void *elements, uint32_t count,
				    uint32_t stride)
{
	return (struct drm_salvo_array){
		.stride = maybe(r, stride), .count = maybe(r, count),
		.pointer = maybe(r, count ? (uintptr_t)elements : 0),
	};
}

static void do_submit(struct run *r)
{
	struct drm_salvo_sync waits[SYNCS], signals[SYNCS];
	struct drm_salvo_command commands[COMMANDS];
	uint32_t count = 1 + choose(r, COMMANDS), i;
	uint8_t args[128];
	struct drm_salvo_submit submit = { 0 };
	struct drm_salvo_rect rect;

	memset(args, 0, sizeof(args));
	rect = (struct drm_salvo_rect){
		.width = maybe(r, 1 + choose(r, 64)), .height = maybe(r, 1 + choose(r, 16)),
		.depth = maybe(r, 1 + choose(r, 3)), .dst_row_pitch = maybe(r, 64),
		.dst_slice_pitch = maybe(r, 1024), .src_row_pitch = maybe(r, 64),
		.src_slice_pitch = maybe(r, 1024),
	};
	memcpy(args + RECT_AT, &rect, sizeof(rect));
	for (i = 0; i < count; i++)
		commands[i] = command(r, i);
	submit.ctx_id = maybe(r, ctx(r));
	submit.flags = maybe(r, choose(r, 2));
	submit.commands = array(r, commands, count, sizeof(commands[0]));
	submit.waits = array(r, waits, fill_syncs(r, waits), sizeof(waits[0]));
	submit.signals = array(r, signals, fill_syncs(r, signals), sizeof(signals[0]));
	submit.args = maybe(r, (uintptr_t)args);
	submit.args_size = maybe(r, sizeof(args));
	submit.pad = maybe(r, 0);
	submit.profile = maybe(r, choose(r, 8) ? 0 : bo(r).address);
	fuzz_call(r, DRM_IOCTL_SALVO_SUBMIT, &submit);
}

/* Attach a slot, write any bytes there, wake its unit, and mostly detach it. */
static void do_slot(struct run *r)
{
	struct object object = bo(r);
	struct drm_salvo_slot_attach attach = {
		.ctx_id = maybe(r, ctx(r)), .handle = maybe(r, object.handle),
		.offset = maybe(r, 4096 * choose(r, 3)), .units = maybe(r, 1 + choose(r, 3)),
		.flags = maybe(r, 0),
	};
	struct drm_salvo_bo_mmap_offset offset = { .handle = object.handle };
	struct drm_salvo_slot_wake wake = { .pad = maybe(r, 0) };
	struct drm_salvo_slot_wait wait = { .pad = maybe(r, 0), .timeout_ns = maybe(r, 0) };
	struct drm_salvo_slot_detach detach = { .pad = maybe(r, 0) };
	uint32_t *words;

	if (!fuzz_call(r, DRM_IOCTL_SALVO_SLOT_ATTACH, &attach) &&
	    !fuzz_call(r, DRM_IOCTL_SALVO_BO_MMAP_OFFSET, &offset)) {
		words = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, r->file->fd,
			     offset.offset);
		if (words != MAP_FAILED) {
			/* The opcode is at byte 256. */
			memset(words + 64, byte(r), choose(r, 200));
			words[64] = choose(r, 4);
			__atomic_store_n(words, choose(r, 3), __ATOMIC_RELEASE);
			munmap(words, 4096);
		}
	}
	wake.id = maybe(r, attach.id);
	wait.id = maybe(r, attach.id);
	detach.id = maybe(r, attach.id);
	fuzz_call(r, DRM_IOCTL_SALVO_SLOT_WAKE, &wake);
	/* Not for long: at most until the past. */
	if (wait.timeout_ns <= 0xffffffff)
		fuzz_call(r, DRM_IOCTL_SALVO_SLOT_WAIT, &wait);
	if (choose(r, 4))
		fuzz_call(r, DRM_IOCTL_SALVO_SLOT_DETACH, &detach);
}

static void do_prime(struct run *r)
{
	struct drm_prime_handle export = {
		.handle = maybe(r, bo(r).handle), .flags = maybe(r, DRM_CLOEXEC | DRM_RDWR),
	};
	struct drm_prime_handle import = { 0 };
	struct file *from = r->file;

	if (fuzz_call(r, DRM_IOCTL_PRIME_HANDLE_TO_FD, &export))
		return;
	if (choose(r, 2))
		r->file = &r->files[choose(r, 2)];
	import.fd = maybe(r, export.fd);
	if (r->file->bo_count < OBJECTS && import.fd == export.fd &&
	    !fuzz_call(r, DRM_IOCTL_PRIME_FD_TO_HANDLE, &import)) {
		struct drm_salvo_bo_query query = { .handle = import.handle };

		/* The same file gives the same handle. */
		if (r->file != from && !fuzz_call(r, DRM_IOCTL_SALVO_BO_QUERY, &query))
			r->file->bos[r->file->bo_count++] = (struct object){
				import.handle, query.address, query.size,
			};
	}
	close(export.fd);
}

/* Any number, any size, any bytes: the table and the copying of arguments. */
static void do_raw(struct run *r)
{
	unsigned long number = choose(r, 8) ? DRM_COMMAND_BASE + choose(r, 16) : choose(r, 256);
	unsigned long size = maybe(r, choose(r, 160)) % 512;
	uint8_t arg[512];
	uint32_t i;

	/*
	 * Skips ioctls that block, return descriptors that are never closed, or write to any
	 * address.
	 */
	if (number <= DRM_COMMAND_BASE + DRM_SALVO_DEV_QUERY ||
	    number == DRM_COMMAND_BASE + DRM_SALVO_SLOT_WAIT || number >= DRM_COMMAND_BASE + 0x60)
		return;
	memset(arg, 0, sizeof(arg));
	for (i = 0; i < size && i < 32; i++)
		arg[i] = byte(r);
	fuzz_call(r, _IOC(choose(r, 4), DRM_IOCTL_BASE, number, size), arg);
}

static void file_open(struct file *file)
{
	static char path[64];

	/* Looking for it takes longer than many a case. */
	if (!*path && node_path())
		snprintf(path, sizeof(path), "%s", node_path());
	*file = (struct file){ .fd = open(path, O_RDWR | O_CLOEXEC) };
}

static void file_close(struct file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}

static void do_reopen(struct run *r)
{
	/* The shared one stays. */
	if (choose(r, 4) || r->file != &r->files[0])
		return;
	file_close(r->file);
	file_open(r->file);
}

static void do_fdinfo(struct run *r)
{
	char path[64], text[4096];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", r->file->fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && read(fd, text, sizeof(text)) >= 0)
		r->calls++;
	if (fd >= 0)
		close(fd);
}

int grammar_run(const uint8_t *bytes, size_t size, int shared, char *wrong, size_t room)
{
	static void (*const calls[])(struct run *) = {
		do_submit, do_submit, do_submit, do_submit, do_submit, do_submit,
		do_bo_create, do_bo_create, do_bo_create, do_bo_close, do_bo_map, do_bo_query,
		do_bo_label, do_ctx_create, do_ctx_create, do_ctx_destroy, do_ctx_query,
		do_syncobj, do_syncobj, do_wait, do_slot, do_slot, do_prime, do_raw, do_dev_query,
		do_reopen, do_fdinfo,
	};
	struct run r = {
		.at = bytes, .end = bytes + size, .wrong = wrong, .room = room,
	};
	uint32_t i;

	*wrong = 0;
	file_open(&r.files[0]);
	if (r.files[0].fd < 0)
		return 0;
	r.files[1] = (struct file){ .fd = shared };
	/* Something to work with. */
	for (i = 0; i < 2; i++) {
		r.file = &r.files[i];
		do_bo_create(&r);
		do_bo_create(&r);
		do_ctx_create(&r);
	}
	while (r.at < r.end && !*wrong) {
		r.file = &r.files[!choose(&r, 4)];
		calls[choose(&r, sizeof(calls) / sizeof(calls[0]))](&r);
	}

	file_close(&r.files[0]);
	/* What was made in the shared file is closed one by one. */
	for (i = 0; i < r.files[1].bo_count; i++)
		drmIoctl(shared, DRM_IOCTL_GEM_CLOSE,
			 &(struct drm_gem_close){ .handle = r.files[1].bos[i].handle });
	for (i = 0; i < r.files[1].ctx_count; i++)
		drmIoctl(shared, DRM_IOCTL_SALVO_CTX_DESTROY,
			 &(struct drm_salvo_ctx_destroy){ .id = r.files[1].ctxs[i] });
	for (i = 0; i < r.files[1].syncobj_count; i++)
		drmSyncobjDestroy(shared, r.files[1].syncobjs[i]);
	return *wrong ? -1 : r.calls;
}
