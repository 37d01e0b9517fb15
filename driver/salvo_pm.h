/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * salvo_pm.h - system suspend and resume, and resets of the PCI function
 */
#ifndef SALVO_PM_H
#define SALVO_PM_H

struct salvo_dev;

int salvo_pm_suspend(struct salvo_dev *sdev);
int salvo_pm_resume(struct salvo_dev *sdev);
void salvo_pm_reset_prepare(struct salvo_dev *sdev);
void salvo_pm_reset_done(struct salvo_dev *sdev);

#endif /* SALVO_PM_H */
