/* SPDX-License-Identifier: MIT */
/*
 * options.h - the command line of salvo-gpu
 */
#ifndef GPU_OPTIONS_H
#define GPU_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct options {
	const char *socket_path;
	const char *ram_path;
	uint64_t bar_bytes;
	unsigned int units;
	const char *topology;
	const char *inject;
	const char *control_path;
	bool threads;
};

/*
 * Parses the command line; strings point into @argv. Returns an exit code: 0 to go on, else after a
 * message. Exits for --help and --version.
 */
int options_parse(int argc, char **argv, struct options *options);

#endif /* GPU_OPTIONS_H */
