/* SPDX-License-Identifier: MIT */
/*
 * detect.h - face detection on a Salvo device
 */
#ifndef FACES_DETECT_H
#define FACES_DETECT_H

#include <stdint.h>

#include "error.h"
#include "group.h"

struct cascade;
struct detector;
struct pyramid;
struct salvo_bo;
struct salvo_device;

enum detect_mode {
	DETECT_BATCH,		/* all workloads of a frame in one batch */
	DETECT_SINGLE,		/* each workload submitted and waited for by itself */
};

/**
 * detector_create() - Create kernels, buffers and batches for frames of one size.
 * @cascade: Not used after the call.
 * @pyramid: Copied.
 *
 * Return: 0 or a negative errno with @error set.
 */
int detector_create(struct salvo_device *device, const struct cascade *cascade,
		    const struct pyramid *pyramid, int width, int height, enum detect_mode mode,
		    struct detector **out, struct faces_error *error);
void detector_destroy(struct detector *detector);

/** define DETECT_TIMEOUT_NS - Time limit of a frame, if no other is set. */
#define DETECT_TIMEOUT_NS	20000000000ll

/**
 * detector_set_timeout() - Limit the time of a frame, against cascades that reject nothing.
 *
 * On the embedded GPU this is the limit of all batches of the device; the driver has a limit of
 * its own. After a frame that took too long destroy the detector: its queue is banned.
 *
 * Return: 0 or -EAGAIN.
 */
int detector_set_timeout(struct detector *detector, int64_t nanoseconds);

/**
 * detector_run() - Find the raw rectangles in one frame.
 * @grey: width * height bytes.
 * @out: The sorted rectangles, freed by the caller with free(). They may exceed the right and
 *	bottom border by a pixel: as OpenCV does, group first and then clip (faces_clip()).
 *
 * Return: their number, or a negative errno with @error set.
 */
int detector_run(struct detector *detector, const uint8_t *grey, struct face **out,
		 struct faces_error *error);

/**
 * detector_run_bo() - The same on a frame in a buffer of the GPU, without a copy.
 * @bo: A buffer of the detector's device; must outlive its use by the detector.
 * @offset: Byte offset of the first grey value.
 * @stride: Bytes from row to row, from the width to the width rounded up to 16.
 *
 * Return: as detector_run(); -ENOTSUP if the buffer is too small or the stride does not fit,
 * and for a detector in single mode.
 */
int detector_run_bo(struct detector *detector, struct salvo_bo *bo, uint64_t offset,
		    uint32_t stride, struct face **out, struct faces_error *error);

/** detector_workloads() - The number of dispatches of a frame. */
unsigned int detector_workloads(const struct detector *detector);

#endif
