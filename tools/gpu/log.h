/* SPDX-License-Identifier: MIT */
/*
 * log.h - messages of salvo-gpu, on stderr
 */
#ifndef GPU_LOG_H
#define GPU_LOG_H

#include <stdbool.h>

/* --verbose: log_info() prints. */
extern bool log_verbose;

void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif /* GPU_LOG_H */
