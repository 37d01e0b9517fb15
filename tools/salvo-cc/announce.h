/* SPDX-License-Identifier: MIT */
/*
 * announce.h - tells a caller what the program's kernels are, before their code is made
 */
#ifndef SALVO_CC_ANNOUNCE_H
#define SALVO_CC_ANNOUNCE_H

#include <llvm/ADT/StringRef.h>

/* Announce to file descriptor @fd: --announce. Without it announce() does nothing. */
void announce_to(int fd);
/* The program has no errors; @notes are those of its kernels. */
void announce(llvm::StringRef notes);

#endif /* SALVO_CC_ANNOUNCE_H */
