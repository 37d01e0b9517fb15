/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * salvo_irq.h - interrupts and deferred completions
 */
#ifndef SALVO_IRQ_H
#define SALVO_IRQ_H

struct pci_dev;
struct salvo_device;

int salvo_irq_init(struct salvo_device *sdev, struct pci_dev *pdev);
void salvo_irq_fini(struct salvo_device *sdev, struct pci_dev *pdev);
void salvo_irq_complete(struct salvo_device *sdev);

#endif /* SALVO_IRQ_H */
