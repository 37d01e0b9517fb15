/* SPDX-License-Identifier: MIT */
/*
 * program.h - the compiled faces.cl, inside the binary
 */
#ifndef FACES_PROGRAM_H
#define FACES_PROGRAM_H

extern const char faces_program[], faces_program_end[];

#endif
