/* SPDX-License-Identifier: MIT */
/*
 * announce.h - tells a caller what the program's kernels are, before their code is made
 */
#ifndef SALVO_CC_ANNOUNCE_H
#define SALVO_CC_ANNOUNCE_H

#include <llvm/ADT/StringRef.h>

/* Announce to file descriptor @fd: --announce. Without it announce() does nothing. */
void announce_to(int fd);
/* Make the code when it is this compiler's turn, see turns.h: --take-turns. @fd is a socket. */
void take_turns();
/*
 * The program has no errors; @notes are those of its kernels. Return: false if the caller has gone,
 * so that nobody wants the code.
 */
bool announce(llvm::StringRef notes);

#endif /* SALVO_CC_ANNOUNCE_H */
