/* SPDX-License-Identifier: MIT */
/*
 * gpu_fixture.h - a GPU with the bindings of rig_create(), for tests
 *
 * Included once by a test program; brings the harness.
 */
#ifndef GPU_FIXTURE_H
#define GPU_FIXTURE_H

#include "kselftest_harness.h"
#include "rig.h"

FIXTURE(gpu)
{
	struct rig *rig;
	uint64_t *data;
	uint64_t *gpu_data;	/* the same on the GPU */
};

FIXTURE_SETUP(gpu)
{
	self->rig = rig_create(0);
	self->data = (void *)self->rig->data;
	self->gpu_data = (void *)(uintptr_t)self->rig->data_address;
}

FIXTURE_TEARDOWN(gpu)
{
	rig_destroy(self->rig);
}

#endif /* GPU_FIXTURE_H */
