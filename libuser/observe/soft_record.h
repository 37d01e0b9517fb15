/* SPDX-License-Identifier: MIT */
/*
 * soft_record.h - record what the units of an embedded GPU do, for salvo-submit's pictures
 */
#ifndef SALVO_SOFT_RECORD_H
#define SALVO_SOFT_RECORD_H

#include "salvo.h"
#include "salvo_gpu.h"

/**
 * salvo_soft_record() - Start or stop recording the chunks of work-groups that units run.
 * @recording: Owned by the caller, valid until recording stops; NULL stops.
 *
 * See salvo_gpu_record(). Return: 0, -ENOTSUP (not an embedded GPU).
 */
int salvo_soft_record(struct salvo_device *device, struct salvo_gpu_recording *recording);

#endif /* SALVO_SOFT_RECORD_H */
