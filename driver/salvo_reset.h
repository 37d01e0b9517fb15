/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * salvo_reset.h - hung batches and a lost GPU
 */
#ifndef SALVO_RESET_H
#define SALVO_RESET_H

struct salvo_ctx;
struct salvo_dev;
struct salvo_hang;
struct work_struct;

bool salvo_reset_fail_rings(struct salvo_dev *sdev, int error);
void salvo_reset_hung_slot(struct salvo_dev *sdev, struct salvo_ctx *ctx);
void salvo_reset_hung(struct salvo_dev *sdev, const struct salvo_hang *guilty);
void salvo_reset_unresponsive(struct salvo_dev *sdev);
void salvo_reset_wedge(struct salvo_dev *sdev);
void salvo_reset_declare_wedged(struct salvo_dev *sdev);

void salvo_reset_forced_work(struct work_struct *work);
void salvo_reset_wedged_work(struct work_struct *work);
void salvo_reset_lost_work(struct work_struct *work);

#endif /* SALVO_RESET_H */
