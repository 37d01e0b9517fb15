// SPDX-License-Identifier: MIT
/*
 * detect.c - face detection on a Salvo device
 *
 * A frame is a graph of independent chains, one for each level of the pyramid:
 *
 *	scale_row --> sum_columns --> cascade_lbp or cascade_haar
 *	         \--> sum_tilted  --/  (only for cascades with tilted features)
 *
 * With 11 levels that is 33 workloads (the perceptual frame of WO2015/123840).
 * In batch mode they are one command buffer with pipe controls inside each chain
 * and none between chains. In single mode each workload is a command buffer of
 * its own, and the next one is submitted when it is done. Buffers and batches are created
 * once for a frame size; a frame is a copy, a submission and a wait. The result is a
 * bitmap with a bit for each window: it needs no atomics, and its order is fixed.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cascade.h"
#include "detect.h"
#include "program.h"
#include "pyramid.h"
#include "salvo.h"
#include "tables.h"
#include "tables_make.h"

#define MAX_CHAIN	4

struct level {
	struct salvo_bo *sums, *result;
	const uint32_t *bits;		/* result, mapped */
	int scaled;			/* its first workload in the frame's batch, or -1 */
};

struct detector {
	struct salvo_device *device;
	struct salvo_queue *queue;
	struct salvo_program *program;
	struct salvo_kernel *scale, *columns, *tilted, *cascade;
	struct salvo_bo *frame, *tables;
	uint8_t *frame_memory;
	/* The frame that the batch is patched to read. */
	struct salvo_bo *used;
	uint64_t used_offset;
	uint32_t used_stride;
	struct level *levels;
	struct salvo_batch **batches;
	unsigned int batch_count, workloads;
	struct pyramid pyramid;
	struct tables layout;
	struct salvo_device_info info;
	int width, height;
	enum cascade_type type;
	enum detect_mode mode;
	int64_t timeout_ns;
};

static int failed(struct faces_error *error, int code, const char *what)
{
	return faces_fail(error, code, "%s: %s", what, strerror(-code));
}

static int make_bo(struct detector *d, uint64_t bytes, uint32_t flags, struct salvo_bo **bo,
		   void *mapping, struct faces_error *error)
{
	int r = salvo_bo_create(d->device, bytes, flags, bo);

	if (r == -ENOSPC)
		return faces_fail(error, r, "the frame is too big for the GPU's memory");
	if (!r && mapping)
		r = salvo_bo_map(*bo, mapping);
	return r ? failed(error, r, "cannot make a buffer") : 0;
}

static int make_buffers(struct detector *d, const struct cascade *c, struct faces_error *error)
{
	void *memory;
	unsigned int i;
	int r;

	tables_plan(&d->layout, c, &d->pyramid);
	r = make_bo(d, (uint64_t)d->width * d->height + FACES_PADDING, SALVO_BO_READONLY,
		    &d->frame, &d->frame_memory, error);
	if (!r)
		r = make_bo(d, d->layout.bytes, SALVO_BO_READONLY, &d->tables, &memory, error);
	if (r)
		return r;
	if (tables_fill(&d->layout, c, &d->pyramid, d->width, d->height, memory))
		return failed(error, -ENOMEM, "tables");

	for (i = 0; i < d->pyramid.count; i++) {
		const struct pyramid_level *l = &d->pyramid.levels[i];
		uint64_t values = (uint64_t)(l->height + 1) * d->layout.pitch + FACES_PADDING;
		uint64_t words = (uint64_t)((l->columns + 31) / 32) * l->rows;

		r = make_bo(d, values * sizeof(uint32_t), 0, &d->levels[i].sums, NULL, error);
		if (!r)
			r = make_bo(d, (words + 1) * sizeof(uint32_t), 0, &d->levels[i].result,
				    &d->levels[i].bits, error);
		if (r)
			return r;
	}
	return 0;
}

static int make_kernels(struct detector *d, struct faces_error *error)
{
	const char *cascade = d->type == CASCADE_LBP ? "cascade_lbp" : "cascade_haar";
	int r = salvo_program_load(d->device, faces_program,
				   faces_program_end - faces_program, &d->program);

	if (r)
		return failed(error, r, "cannot load the kernels");
	r = salvo_kernel_create(d->program, "scale_row", &d->scale);
	if (!r)
		r = salvo_kernel_create(d->program, "sum_columns", &d->columns);
	if (!r)
		r = salvo_kernel_create(d->program, "sum_tilted", &d->tilted);
	if (!r)
		r = salvo_kernel_create(d->program, cascade, &d->cascade);
	return r ? failed(error, r, "cannot make a kernel") : 0;
}

static int set_grid(struct salvo_kernel *kernel, uint32_t x, uint32_t y)
{
	static const uint32_t one[2] = { 1, 1 };
	const uint32_t items[2] = { x, y };

	return salvo_kernel_set_grid(kernel, y > 1 ? 2 : 1, items, one);
}

static int set_scale(struct detector *d, unsigned int i)
{
	struct salvo_kernel *k = d->scale;
	size_t line = (d->width + 15) / 16 * 16 * sizeof(uint16_t);
	int32_t width = d->width;
	int r = 0;

	r = r ?: salvo_kernel_set_bo(k, 0, d->frame, 0);
	r = r ?: salvo_kernel_set_value(k, 1, &width, sizeof(width));
	r = r ?: salvo_kernel_set_bo(k, 2, d->tables,
				     d->layout.levels + i * sizeof(struct faces_level));
	r = r ?: salvo_kernel_set_bo(k, 3, d->tables, d->layout.weights);
	r = r ?: salvo_kernel_set_bo(k, 4, d->levels[i].sums, 0);
	r = r ?: salvo_kernel_set_local(k, 5, line);
	return r ?: set_grid(k, d->pyramid.levels[i].height, 1);
}

static int set_columns(struct detector *d, unsigned int i)
{
	const struct pyramid_level *l = &d->pyramid.levels[i];
	int used = l->step == 1 ? l->width + 1 : d->layout.odd + l->width / 2 + 1;
	struct salvo_kernel *k = d->columns;
	int r = 0;

	r = r ?: salvo_kernel_set_bo(k, 0, d->tables,
				     d->layout.levels + i * sizeof(struct faces_level));
	r = r ?: salvo_kernel_set_bo(k, 1, d->levels[i].sums, 0);
	return r ?: set_grid(k, (used + 15) / 16, d->type == CASCADE_LBP ? 1 : 2);
}

static int set_tilted(struct detector *d, unsigned int i)
{
	struct salvo_kernel *k = d->tilted;
	int r = 0;

	r = r ?: salvo_kernel_set_bo(k, 0, d->tables,
				     d->layout.levels + i * sizeof(struct faces_level));
	r = r ?: salvo_kernel_set_bo(k, 1, d->levels[i].sums, 0);
	r = r ?: salvo_kernel_set_local(k, 2, d->pyramid.levels[i].width + 1);
	return r ?: set_grid(k, 1, 1);
}

static int set_cascade(struct detector *d, unsigned int i)
{
	const struct pyramid_level *l = &d->pyramid.levels[i];
	struct salvo_kernel *k = d->cascade;
	size_t room = l->columns + 8;
	int r = 0;

	r = r ?: salvo_kernel_set_bo(k, 0, d->tables,
				     d->layout.levels + i * sizeof(struct faces_level));
	r = r ?: salvo_kernel_set_bo(k, 1, d->tables, d->layout.cascade);
	r = r ?: salvo_kernel_set_bo(k, 2, d->tables, d->layout.stages);
	r = r ?: salvo_kernel_set_bo(k, 3, d->tables, d->layout.nodes[l->step]);
	r = r ?: salvo_kernel_set_bo(k, 4, d->levels[i].sums, 0);
	r = r ?: salvo_kernel_set_bo(k, 5, d->levels[i].result, 0);
	r = r ?: salvo_kernel_set_local(k, 6, room * sizeof(uint16_t));
	if (d->type == CASCADE_HAAR)
		r = r ?: salvo_kernel_set_local(k, 7, room * sizeof(float));
	return r ?: set_grid(k, l->rows, 1);
}

/*
 * Adds a workload to the frame's batch, or as a batch of its own in single mode. @producers are
 * indices in the frame's batch. Returns the new index; single mode does not use it.
 */
static int add_workload(struct detector *d, const struct salvo_kernel *kernel,
			const int *producers, unsigned int count)
{
	struct salvo_batch *batch;
	unsigned int i;
	int index, r;

	if (d->mode == DETECT_SINGLE || !d->batch_count) {
		r = salvo_batch_create(d->device, &d->batches[d->batch_count]);
		if (r)
			return r;
		d->batch_count++;
	}
	batch = d->batches[d->batch_count - 1];
	index = salvo_batch_dispatch(batch, kernel);
	if (index < 0)
		return index;
	d->workloads++;
	for (i = 0; d->mode == DETECT_BATCH && i < count; i++) {
		r = salvo_batch_pipe_control(batch, index, producers[i]);
		if (r < 0)
			return r;
	}
	return index;
}

static int add_chain(struct detector *d, unsigned int i)
{
	int scaled, summed[2], r;
	unsigned int sums = 0;

	r = set_scale(d, i);
	if (r)
		return r;
	scaled = add_workload(d, d->scale, NULL, 0);
	if (scaled < 0)
		return scaled;
	d->levels[i].scaled = scaled;
	r = set_columns(d, i);
	if (r)
		return r;
	summed[sums] = add_workload(d, d->columns, &scaled, 1);
	if (summed[sums++] < 0)
		return summed[0];
	if (d->layout.planes > FACES_PLANE_TILTED) {
		r = set_tilted(d, i);
		if (r)
			return r;
		summed[sums] = add_workload(d, d->tilted, &scaled, 1);
		if (summed[sums++] < 0)
			return summed[1];
	}
	r = set_cascade(d, i);
	if (r)
		return r;
	r = add_workload(d, d->cascade, summed, sums);
	return r < 0 ? r : 0;
}

static int make_batches(struct detector *d, struct faces_error *error)
{
	unsigned int i;
	int r;

	for (i = 0; i < d->pyramid.count; i++) {
		d->levels[i].scaled = -1;
		/* OpenCV's stripes can leave a level without windows. */
		if (!d->pyramid.levels[i].columns || !d->pyramid.levels[i].rows)
			continue;
		r = add_chain(d, i);
		if (r == -E2BIG)
			return faces_fail(error, r, "the frame takes too many workloads: "
					  "use a larger scale factor");
		if (r)
			return faces_fail(error, r, "cannot build the batch: %s: %s",
					  strerror(-r), d->batch_count ?
					  salvo_batch_error(d->batches[d->batch_count - 1]) : "");
	}
	return 0;
}

/* Local memory holds a row of the frame, or the windows of a row. */
static int check_size(const struct detector *d, struct faces_error *error)
{
	uint32_t local = d->info.max_local_bytes;
	unsigned int i;

	if ((d->width + 16) * sizeof(uint16_t) > local)
		return faces_fail(error, -E2BIG, "the frame is too wide");
	for (i = 0; i < d->pyramid.count; i++)
		if ((d->pyramid.levels[i].columns + 8) * (sizeof(uint16_t) + sizeof(float)) > local)
			return faces_fail(error, -E2BIG, "the frame is too wide");
	return 0;
}

int detector_create(struct salvo_device *device, const struct cascade *cascade,
		    const struct pyramid *pyramid, int width, int height, enum detect_mode mode,
		    struct detector **out, struct faces_error *error)
{
	struct detector *d = calloc(1, sizeof(*d));
	int r;

	if (!d)
		return failed(error, -ENOMEM, "detector");
	d->device = device;
	d->pyramid = *pyramid;
	d->width = width;
	d->height = height;
	d->type = cascade->type;
	d->mode = mode;
	d->timeout_ns = DETECT_TIMEOUT_NS;
	d->levels = calloc(pyramid->count + 1, sizeof(*d->levels));
	d->batches = calloc(pyramid->count * MAX_CHAIN + 1, sizeof(*d->batches));
	if (!d->levels || !d->batches) {
		r = failed(error, -ENOMEM, "detector");
		goto err_destroy;
	}
	salvo_device_get_info(device, &d->info);
	r = check_size(d, error);
	if (!r && salvo_queue_create(device, 0, &d->queue))
		r = failed(error, -ENOMEM, "cannot make a queue");
	if (!r)
		r = make_kernels(d, error);
	if (!r)
		r = make_buffers(d, cascade, error);
	if (!r)
		r = make_batches(d, error);
	if (r)
		goto err_destroy;
	*out = d;
	return 0;

err_destroy:
	detector_destroy(d);
	return r;
}

void detector_destroy(struct detector *d)
{
	unsigned int i;

	if (!d)
		return;
	for (i = 0; d->batches && i < d->batch_count; i++)
		salvo_batch_destroy(d->batches[i]);
	salvo_kernel_destroy(d->scale);
	salvo_kernel_destroy(d->columns);
	salvo_kernel_destroy(d->tilted);
	salvo_kernel_destroy(d->cascade);
	salvo_program_destroy(d->program);
	salvo_queue_destroy(d->queue);
	for (i = 0; d->levels && i < d->pyramid.count; i++) {
		salvo_bo_destroy(d->levels[i].sums);
		salvo_bo_destroy(d->levels[i].result);
	}
	salvo_bo_destroy(d->frame);
	salvo_bo_destroy(d->tables);
	free(d->levels);
	free(d->batches);
	free(d);
}

/* The rectangles found so far. */
struct found {
	struct face *faces;
	unsigned int count, room;
};

/* Converts the bits of @word, windows from (@x, @y) on, to rectangles in the frame. */
static int add_faces(struct found *found, const struct pyramid_level *l, uint32_t word, int x,
		     int y)
{
	if (salvo_array_reserve(&found->faces, &found->room, found->count + 32,
				sizeof(*found->faces)))
		return -ENOMEM;
	for (; word; word &= word - 1)
		found->faces[found->count++] = (struct face) {
			.x = lrintf((x + __builtin_ctz(word)) * l->step * l->scale),
			.y = lrintf(y * l->step * l->scale),
			.width = l->window_width,
			.height = l->window_height,
		};
	return 0;
}

static int read_results(struct detector *d, struct face **out)
{
	struct found found = { 0 };
	unsigned int i;
	int k, r;

	for (i = 0; i < d->pyramid.count; i++) {
		const struct pyramid_level *l = &d->pyramid.levels[i];
		int words = (l->columns + 31) / 32;

		for (k = 0; k < words * l->rows; k++) {
			uint32_t word = d->levels[i].bits[k];

			if (!word)
				continue;
			r = add_faces(&found, l, word, k % words * 32, k / words);
			if (r) {
				free(found.faces);
				return r;
			}
		}
	}
	*out = found.faces;
	return found.count;
}

int detector_set_timeout(struct detector *d, int64_t nanoseconds)
{
	int r = salvo_device_set_timeout(d->device, nanoseconds);

	d->timeout_ns = nanoseconds;
	return r == -ENOTSUP ? 0 : r;
}

/* Patch the first workload of each chain to read the frame from @bo. */
static int use_frame(struct detector *d, struct salvo_bo *bo, uint64_t offset, uint32_t stride)
{
	struct salvo_batch *batch = d->batches[0];
	unsigned int i;
	int r = 0;

	if (d->mode == DETECT_SINGLE || !d->batch_count ||
	    (d->used == bo && d->used_offset == offset && d->used_stride == stride))
		return 0;
	for (i = 0; i < d->pyramid.count && !r; i++) {
		if (d->levels[i].scaled < 0)
			continue;
		r = salvo_batch_patch_bo(batch, d->levels[i].scaled, 0, bo, offset, 0);
		if (!r)
			r = salvo_batch_patch_value(batch, d->levels[i].scaled, 1, &stride,
						    sizeof(stride));
	}
	d->used = r ? NULL : bo;
	d->used_offset = offset;
	d->used_stride = stride;
	return r;
}

/* The time limit of the device ends the batch; without one the wait ends after twice the limit. */
static int wait_batch(struct detector *d, struct salvo_fence *fence, struct faces_error *error)
{
	struct salvo_error why = { 0 };
	int r = salvo_fence_wait(fence, 2 * d->timeout_ns);

	if (!r)
		return 0;
	salvo_fence_get_error(fence, &why);
	if (r == -ETIME || why.kind == SALVO_ERROR_HANG)
		return faces_fail(error, r, "the frame takes more than %g s of the GPU",
				  d->timeout_ns / 1e9);
	return failed(error, r, "the GPU could not finish the frame");
}

static int run_batches(struct detector *d, struct face **out, struct faces_error *error)
{
	unsigned int i;
	int r;

	for (i = 0; i < d->batch_count; i++) {
		struct salvo_fence *fence;

		r = salvo_queue_submit(d->queue, d->batches[i], NULL, 0, &fence);
		if (r)
			return failed(error, r, "cannot submit");
		r = wait_batch(d, fence, error);
		salvo_fence_destroy(fence);
		if (r)
			return r;
	}
	r = read_results(d, out);
	if (r < 0)
		return failed(error, r, "results");
	faces_sort(*out, r);
	return r;
}

int detector_run(struct detector *d, const uint8_t *grey, struct face **out,
		 struct faces_error *error)
{
	int r = use_frame(d, d->frame, 0, d->width);

	if (r)
		return failed(error, r, "cannot change the batch");
	memcpy(d->frame_memory, grey, (size_t)d->width * d->height);
	return run_batches(d, out, error);
}

int detector_run_bo(struct detector *d, struct salvo_bo *bo, uint64_t offset, uint32_t stride,
		    struct face **out, struct faces_error *error)
{
	const uint64_t needed = (uint64_t)stride * d->height + FACES_PADDING;
	int r;

	/* The kernels read whole vectors, and their local memory holds a row of this length. */
	if (d->mode == DETECT_SINGLE || stride < (uint32_t)d->width ||
	    stride > ((uint32_t)d->width + 15) / 16 * 16 || offset > salvo_bo_size(bo) ||
	    needed > salvo_bo_size(bo) - offset)
		return faces_fail(error, -ENOTSUP, "the frame cannot be used where it is");
	r = use_frame(d, bo, offset, stride);
	if (r)
		return failed(error, r, "cannot change the batch");
	return run_batches(d, out, error);
}

unsigned int detector_workloads(const struct detector *d)
{
	return d->workloads;
}
