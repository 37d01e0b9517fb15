/* SPDX-License-Identifier: MIT */
/*
 * transfer.h - copies, fills and timestamps
 */
#ifndef SALVO_TRANSFER_H
#define SALVO_TRANSFER_H

#include <stdint.h>

struct salvo_element;
struct salvo_op_copy_rect;

/**
 * salvo_transfer_rect_items() - Into how many items a box is divided.
 *
 * Return: their number, of about SALVO_BLOCK_BYTES each; 0 if an element cannot have so many.
 */
uint32_t salvo_transfer_rect_items(const struct salvo_op_copy_rect *op);

/** salvo_transfer_run() - Carry out item @at of an element that is no dispatch. */
void salvo_transfer_run(const struct salvo_element *element, uint32_t at);

#endif /* SALVO_TRANSFER_H */
