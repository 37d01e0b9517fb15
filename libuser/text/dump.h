/* SPDX-License-Identifier: MIT */
/*
 * dump.h - write the batches of an application in the human-readable form
 */
#ifndef SALVO_TEXT_DUMP_H
#define SALVO_TEXT_DUMP_H

struct salvo_observer;

/** salvo_dump_open() - The observer that writes batches; NULL unless SALVO_DUMP names a folder. */
struct salvo_observer *salvo_dump_open(void);

#endif /* SALVO_TEXT_DUMP_H */
