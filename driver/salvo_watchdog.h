/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * salvo_watchdog.h - detection of a dead GPU and of hung batches
 */
#ifndef SALVO_WATCHDOG_H
#define SALVO_WATCHDOG_H

struct salvo_dev;
struct work_struct;

void salvo_watchdog_work(struct work_struct *work);
void salvo_watchdog_start(struct salvo_dev *sdev);
unsigned int salvo_watchdog_heartbeat_ms(void);

#endif /* SALVO_WATCHDOG_H */
