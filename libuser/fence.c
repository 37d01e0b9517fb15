// SPDX-License-Identifier: MIT
/*
 * fence.c - wait for a batch
 */
#include "winsys.h"

int salvo_fence_wait(struct salvo_fence *fence, int64_t timeout_ns)
{
	return fence->device->winsys->fence_wait(fence, timeout_ns);
}

void salvo_fence_destroy(struct salvo_fence *fence)
{
	if (fence)
		fence->device->winsys->fence_destroy(fence);
}
