/* SPDX-License-Identifier: MIT */
/*
 * grammar.h - one case of the ioctl fuzzer: bytes that become a sequence of system calls
 */
#ifndef GRAMMAR_H
#define GRAMMAR_H

#include <stddef.h>
#include <stdint.h>

#define CASE_BYTES	1024

/**
 * grammar_run() - Run a case and close its objects.
 * @bytes: The case, @size bytes; each decision consumes the next ones.
 * @shared: A file of the render node that other processes use as well.
 * @wrong: Set to a description of an invalid result.
 *
 * Return: the number of calls, or -1 with @wrong filled in.
 */
int grammar_run(const uint8_t *bytes, size_t size, int shared, char *wrong, size_t room);

#endif /* GRAMMAR_H */
