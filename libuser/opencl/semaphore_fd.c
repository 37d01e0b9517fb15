// SPDX-License-Identifier: MIT
/*
 * semaphore_fd.c - sync fds of semaphores: cl_khr_external_semaphore_sync_fd
 *
 * A sync fd that is imported is the fence of another driver: its callback completes a user event,
 * which is the semaphore's signal. A sync fd that is exported is that of the batch which completes
 * the signal; as a wait it leaves the semaphore unsignalled. The embedded GPU gives and takes event
 * fds in place of sync fds.
 */
#include "cl_semaphore.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "icd.h"
#include "submission.h"

/* --- import ----------------------------------------------------------------------- */

/* Called by a thread of libsalvo; @data is the user event of an imported fence. */
static void fence_done(void *data, int error)
{
	cl_event event = data;

	salvo_clSetUserEventStatus(event, error ? CL_OUT_OF_RESOURCES : CL_COMPLETE);
	salvo_clReleaseEvent(event);
}

/* The event of a sync fd, which is closed; -1 is one that has signalled. */
static cl_int import_fd(cl_semaphore_khr semaphore, int fd, cl_event *out)
{
	cl_context context = semaphore->context;
	struct salvo_device *gpu = context->gpus[salvo_cl_context_gpu(context, semaphore->device)];
	struct salvo_fence *fence = NULL;
	cl_event event;
	cl_int err;
	int result;

	event = salvo_clCreateUserEvent(context, &err);
	if (!event)
		return err;
	if (fd == -1) {
		salvo_clSetUserEventStatus(event, CL_COMPLETE);
		*out = event;
		return CL_SUCCESS;
	}
	salvo_clRetainEvent(event);
	result = salvo_fence_import_fd(gpu, fd, &fence);
	if (!result)
		result = salvo_fence_set_callback(fence, fence_done, event);
	salvo_fence_destroy(fence);
	if (result) {
		salvo_clReleaseEvent(event);
		salvo_clReleaseEvent(event);
		return result == -EBADF || result == -EINVAL ? CL_INVALID_VALUE
							     : salvo_cl_error(result);
	}
	close(fd);
	*out = event;
	return CL_SUCCESS;
}

cl_int salvo_cl_semaphore_import(cl_semaphore_khr semaphore, int fd)
{
	cl_event event = NULL, old;
	cl_int err = import_fd(semaphore, fd, &event);

	if (err)
		return err;
	salvo_cl_lock(semaphore->context);
	old = semaphore->signal;
	semaphore->signal = event;
	salvo_cl_unlock(semaphore->context);
	if (old)
		salvo_cl_object_put(&old->base);
	return CL_SUCCESS;
}

/* --- export ----------------------------------------------------------------------- */

/* The fd of a fence that is done, or will be at once. */
static cl_int signalled_fd(cl_semaphore_khr semaphore, int *fd)
{
	cl_context context = semaphore->context;
	struct salvo_device *gpu = context->gpus[salvo_cl_context_gpu(context, semaphore->device)];
	struct salvo_batch *batch = NULL;
	struct salvo_queue *queue = NULL;
	struct salvo_fence *fence = NULL;
	struct salvo_bo *bo = NULL;
	int err;

	if (salvo_cl_device_is_embedded(semaphore->device)) {
		*fd = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
		return *fd < 0 ? CL_OUT_OF_HOST_MEMORY : CL_SUCCESS;
	}
	/* Only a batch has a sync file: one of the least work there is. */
	err = salvo_bo_create(gpu, sizeof(uint32_t), 0, &bo);
	if (!err)
		err = salvo_batch_create(gpu, &batch);
	if (!err)
		err = salvo_batch_fill(batch, bo, 0, sizeof(uint32_t), 0);
	if (err >= 0)
		err = salvo_queue_create(gpu, 0, &queue);
	if (!err)
		err = salvo_queue_submit(queue, batch, NULL, 0, &fence);
	if (!err)
		err = salvo_fence_get_fd(fence, fd);
	salvo_fence_destroy(fence);
	salvo_queue_destroy(queue);
	salvo_batch_destroy(batch);
	salvo_bo_destroy(bo);
	return salvo_cl_error(err);
}

/* The fd of the batch that completes @event; or CL_COMPLETE with -1, if that is past. */
static cl_int event_fd(cl_event event, int *fd)
{
	cl_int err = CL_SUCCESS;

	*fd = -1;
	salvo_cl_lock(event->context);
	while (event->status > CL_COMPLETE) {
		struct salvo_cl_submission *submission = event->submission;

		if (submission) {
			salvo_cl_queue_flush(event->queue);
			salvo_cl_queue_retire(event->queue);
			submission = event->submission;
		}
		if (submission && submission->state == SALVO_CL_RUNNING && !submission->host) {
			err = salvo_cl_error(salvo_fence_get_fd(submission->fence, fd));
			break;
		}
		if (event->status > CL_COMPLETE)
			salvo_cl_sleep(event->context);
	}
	salvo_cl_unlock(event->context);
	return err;
}

static cl_int export_fd(cl_semaphore_khr semaphore, int *fd)
{
	cl_event event;
	cl_int err;

	salvo_cl_lock(semaphore->context);
	event = semaphore->signal;
	semaphore->signal = NULL;
	salvo_cl_unlock(semaphore->context);
	if (!event)
		return CL_INVALID_OPERATION;
	err = event_fd(event, fd);
	if (!err && *fd < 0)
		err = signalled_fd(semaphore, fd);
	salvo_cl_object_put(&event->base);
	return err;
}

static cl_int get_handle(cl_semaphore_khr semaphore, cl_device_id device,
			 cl_external_semaphore_handle_type_khr type, size_t size, void *handle,
			 size_t *size_ret)
{
	cl_int err = CL_SUCCESS;
	int fd;

	if (!salvo_cl_is(semaphore, SALVO_CL_SEMAPHORE))
		return CL_INVALID_SEMAPHORE_KHR;
	if (device != semaphore->device)
		return CL_INVALID_DEVICE;
	if (type != CL_SEMAPHORE_HANDLE_SYNC_FD_KHR || !semaphore->exportable ||
	    (handle && size < sizeof(fd)))
		return CL_INVALID_VALUE;
	if (handle)
		err = export_fd(semaphore, &fd);
	if (err)
		return err;
	if (handle)
		memcpy(handle, &fd, sizeof(fd));
	if (size_ret)
		*size_ret = sizeof(fd);
	return CL_SUCCESS;
}

static cl_int reimport(cl_semaphore_khr semaphore, cl_properties *properties, int fd)
{
	if (!salvo_cl_is(semaphore, SALVO_CL_SEMAPHORE) || !semaphore->imported)
		return CL_INVALID_SEMAPHORE_KHR;
	if (properties && properties[0])
		return CL_INVALID_VALUE;
	return salvo_cl_semaphore_import(semaphore, fd);
}

const struct salvo_cl_extension_entry salvo_cl_semaphore_fd_entries[] = {
	{ "clGetSemaphoreHandleForTypeKHR", (void *)get_handle },
	{ "clReImportSemaphoreSyncFdKHR", (void *)reimport },
	{ NULL, NULL },
};
