/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * salvo_reset.h - hung batches and a lost GPU
 */
#ifndef SALVO_RESET_H
#define SALVO_RESET_H

#include <drm/gpu_scheduler.h>

struct salvo_device;
struct salvo_job;

enum drm_gpu_sched_stat salvo_reset_timeout(struct salvo_job *job);
void salvo_reset_give_up(struct salvo_device *sdev);
void salvo_reset_lose(struct salvo_device *sdev);

void salvo_reset_forced_work(struct work_struct *work);
void salvo_reset_wedged_work(struct work_struct *work);
void salvo_reset_lost_work(struct work_struct *work);
void salvo_reset_watchdog_work(struct work_struct *work);
void salvo_reset_start_watchdog(struct salvo_device *sdev);

#endif /* SALVO_RESET_H */
