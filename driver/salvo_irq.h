/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * salvo_irq.h - interrupts and deferred completions
 */
#ifndef SALVO_IRQ_H
#define SALVO_IRQ_H

struct pci_dev;
struct salvo_dev;

int salvo_irq_init(struct salvo_dev *sdev, struct pci_dev *pdev);
void salvo_irq_fini(struct salvo_dev *sdev, struct pci_dev *pdev);
void salvo_irq_complete(struct salvo_dev *sdev);

#endif /* SALVO_IRQ_H */
