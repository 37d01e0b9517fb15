/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * salvo_decode.h - packets and faults as text
 */
#ifndef SALVO_DECODE_H
#define SALVO_DECODE_H

#include <linux/types.h>

struct drm_printer;

void salvo_decode_packet(struct drm_printer *p, const void *packet, size_t bytes);
const char *salvo_decode_fault(u32 kind);
const char *salvo_decode_access(u32 access);
const char *salvo_decode_status(u32 status);

#endif /* SALVO_DECODE_H */
