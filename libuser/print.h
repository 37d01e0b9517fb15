/* SPDX-License-Identifier: MIT */
/*
 * print.h - printf() of kernels, for the files that record a batch
 */
#ifndef SALVO_LIB_PRINT_H
#define SALVO_LIB_PRINT_H

struct salvo_batch;

/**
 * salvo_print_prepare() - Give the batch a print buffer if it has none.
 * Return: 0, -ENOSPC, -ENOMEM.
 */
int salvo_print_prepare(struct salvo_batch *batch);

/** salvo_print_place() - Put the buffer's address into the arguments of a printing kernel. */
void salvo_print_place(struct salvo_batch *batch, unsigned int command);

#endif /* SALVO_LIB_PRINT_H */
