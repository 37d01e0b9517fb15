/* SPDX-License-Identifier: MIT */
/*
 * turns.h - compilers whose callers do not wait for them take turns
 */
#ifndef SALVO_CC_TURNS_H
#define SALVO_CC_TURNS_H

/* Why a compiler goes on: a turn is free, or the caller has written to its socket (announce.cc). */
enum class turn { FREE, WANTED, PART_WANTED, GONE };

/* Waits for a free turn, or for what the caller writes to socket @fd, which stays in it. */
turn wait_for_turn(int fd);

/* This thread makes code: lower_priority() is for it and those that it starts, too. */
void join_yielding();
/* The threads that make code get about a third of the share of others. */
void lower_priority();
/* The same unless the caller soon writes to @fd that it wants all, or, without parts, anything. */
void lower_priority_later(int fd, bool has_parts);
/* What the caller wants has been read: all of the program. Its priority stays. */
void keep_priority();

#endif /* SALVO_CC_TURNS_H */
