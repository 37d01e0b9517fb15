/* SPDX-License-Identifier: MIT */
/*
 * print.h - printf() of kernels, for the files that build a batch
 */
#ifndef SALVO_LIB_PRINT_H
#define SALVO_LIB_PRINT_H

struct salvo_batch;

/**
 * salvo_print_prepare() - Give the batch a print buffer if it has none.
 * Return: 0, -ENOSPC, -ENOMEM.
 */
int salvo_print_prepare(struct salvo_batch *batch);

/** salvo_print_place() - Tell a printing kernel's dispatch, by its arguments, the buffer. */
void salvo_print_place(struct salvo_batch *batch, unsigned int command);

#endif /* SALVO_LIB_PRINT_H */
