/* SPDX-License-Identifier: MIT */
/*
 * announce.h - tells a caller what the program's kernels are before their code is made, and hears
 * which of them it wants
 */
#ifndef SALVO_CC_ANNOUNCE_H
#define SALVO_CC_ANNOUNCE_H

#include <string>

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
/*
 * This thread, and those that it starts, yield to other compilers, unless the caller waits for what
 * they make, or will soon: for all of the program, or for one kernel if it has no parts.
 */
void give_way(bool has_parts);

/* May the caller ask for kernels? */
bool is_asked();
/* In a process that was forked: its end of the socket. */
void close_announcement();
/* Waits for the name of a kernel that is wanted, or "". Return: false if no more will come. */
bool read_wanted(std::string &kernel);
/* A program with the kernel that was wanted, or "". */
void answer(llvm::StringRef program);

#endif /* SALVO_CC_ANNOUNCE_H */
