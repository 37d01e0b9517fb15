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
/* This thread, and those that it starts, get about a third of the share of others. */
void lower_priority();

#endif /* SALVO_CC_TURNS_H */
