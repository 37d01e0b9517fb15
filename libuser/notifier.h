/* SPDX-License-Identifier: MIT */
/*
 * notifier.h - call back when fences are done
 */
#ifndef SALVO_NOTIFIER_H
#define SALVO_NOTIFIER_H

#include "salvo.h"

struct salvo_notifier;

/** salvo_notifier_destroy() - End the thread; callbacks that are left are called with -ENODEV. */
void salvo_notifier_destroy(struct salvo_notifier *notifier);

/**
 * salvo_notifier_add() - Call @function from a notifier of the device once @fd is readable.
 * @which: The device's notifier or its importer.
 * @fence: Its result is handed to @function, or NULL for 0.
 * @fd: The notifier closes it, also on failure.
 *
 * Return: 0, -ENOMEM, -EAGAIN (no thread), -EMFILE, -ENODEV (in a child of fork()).
 */
int salvo_notifier_add(struct salvo_device *device, struct salvo_notifier **which,
		       struct salvo_fence *fence, int fd,
		       void (*function)(void *data, int error), void *data);

#endif /* SALVO_NOTIFIER_H */
