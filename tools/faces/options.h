/* SPDX-License-Identifier: MIT */
/*
 * options.h - the command line of salvo-faces
 */
#ifndef FACES_OPTIONS_H
#define FACES_OPTIONS_H

#include <stdbool.h>

#include "detect.h"

#define TOOL "salvo-faces"
#define DEFAULT_CASCADE	"/usr/share/opencv4/lbpcascades/lbpcascade_frontalface.xml"

/**
 * struct options - The parsed command line.
 */
struct options {
	const char *cascade;
	const char *device;		/* NULL: the library's choice */
	const char *output;		/* NULL: none */
	double scale_factor;
	double timeout;			/* seconds a frame may take */
	int min_neighbors;
	int min_width, min_height;	/* 0: a sixteenth of the frame's height */
	int max_width, max_height;	/* 0: half the frame's height */
	int repeat;
	enum detect_mode mode;
	bool json, stats, compare;
	char **files;
	int file_count;
};

/**
 * options_parse() - Read the command line.
 *
 * Return: -1 to continue, else the exit code (after --help, or after an error was printed).
 */
int options_parse(int argc, char **argv, struct options *out);

#endif
