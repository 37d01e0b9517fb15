/* SPDX-License-Identifier: MIT */
/*
 * announce.h - tells a caller that the program has no errors, before its code is made
 */
#ifndef SALVO_CC_ANNOUNCE_H
#define SALVO_CC_ANNOUNCE_H

/* Announce to file descriptor @fd: --announce. Without it the others do nothing. */
void announce_to(int fd);
/* The program is compiled in @count parts, each of which announces. */
void announce_parts(unsigned count);
/* A part has no errors. Any thread may call this. */
void announce_checked();

#endif /* SALVO_CC_ANNOUNCE_H */
