/* SPDX-License-Identifier: MIT */
/*
 * turns.h - compilers whose callers do not wait for them take turns
 */
#ifndef SALVO_CC_TURNS_H
#define SALVO_CC_TURNS_H

/*
 * Waits for a free turn, or until the caller wants the program: it writes a byte to the other end
 * of socket @fd. Return: false if the caller has gone.
 */
bool wait_for_turn(int fd);

#endif /* SALVO_CC_TURNS_H */
