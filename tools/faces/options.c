// SPDX-License-Identifier: MIT
/*
 * options.c - the command line of salvo-faces
 */
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "image.h"
#include "options.h"

static const char usage[] =
	"usage: salvo-faces [options] IMAGE...\n"
	"\n"
	"Find faces in JPEG, PNG, PGM, PPM and Y4M files, \"-\" for standard input,\n"
	"with the results of OpenCV's detectMultiScale and all workloads of a frame in one batch.\n"
	"\n"
	"  --cascade FILE.xml     OpenCV cascade, LBP or Haar\n"
	"                         (default " DEFAULT_CASCADE ")\n"
	"  --scale-factor F       ratio of one size of faces to the next, up to 100 (1.2)\n"
	"  --min-neighbors N      a face is a group of more than N rectangles; 0: do not group (3)\n"
	"  --min-size N[xM]       smallest face in pixels (a sixteenth of the height)\n"
	"  --max-size N[xM]       biggest face in pixels (half the height)\n"
	"  --device DEVICE        soft or a render node (a Salvo render node, else soft)\n"
	"  --mode batch|single    one batch a frame, or one packet for each workload (batch)\n"
	"  --json                 print a line of JSON for each frame\n"
	"  --output FILE          write the picture with rectangles: .png, .jpg, .ppm, .pgm;\n"
	"                         with several frames %d in the name becomes the frame's number\n"
	"  --stats                print what a frame costs: packets, interrupts, times\n"
	"  --compare              print the same for both modes side by side\n"
	"  --timeout SEC          give up a frame that takes the GPU longer (20)\n"
	"  --repeat N             run each frame N times, for the medians of the times (1)\n"
	"  --help                 this text\n"
	"  --version              the version\n"
	"\n"
	"Exit code: 0 done, 1 a picture or the device failed, 2 wrong usage.\n";

enum {
	OPT_CASCADE = 256, OPT_SCALE_FACTOR, OPT_MIN_NEIGHBORS, OPT_MIN_SIZE, OPT_MAX_SIZE,
	OPT_DEVICE, OPT_MODE, OPT_JSON, OPT_OUTPUT, OPT_STATS, OPT_COMPARE, OPT_REPEAT,
	OPT_TIMEOUT,
};

static const struct option long_options[] = {
	{ "cascade", required_argument, NULL, OPT_CASCADE },
	{ "scale-factor", required_argument, NULL, OPT_SCALE_FACTOR },
	{ "min-neighbors", required_argument, NULL, OPT_MIN_NEIGHBORS },
	{ "min-size", required_argument, NULL, OPT_MIN_SIZE },
	{ "max-size", required_argument, NULL, OPT_MAX_SIZE },
	{ "device", required_argument, NULL, OPT_DEVICE },
	{ "mode", required_argument, NULL, OPT_MODE },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "output", required_argument, NULL, OPT_OUTPUT },
	{ "stats", no_argument, NULL, OPT_STATS },
	{ "compare", no_argument, NULL, OPT_COMPARE },
	{ "repeat", required_argument, NULL, OPT_REPEAT },
	{ "timeout", required_argument, NULL, OPT_TIMEOUT },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ }
};

static int wrong(const char *option, const char *value, const char *wanted)
{
	cli_fail(TOOL, "%s %s: %s", option, value, wanted);
	return cli_finish(TOOL, EXIT_USAGE);
}

static bool parse_int(const char **at, int min, int max, int *out)
{
	char *end;
	long v = strtol(*at, &end, 10);

	if (end == *at || **at < '0' || **at > '9' || v < min || v > max)
		return false;
	*at = end;
	*out = v;
	return true;
}

static bool parse_whole_int(const char *text, int min, int max, int *out)
{
	return parse_int(&text, min, max, out) && !*text;
}

/* "24" or "24x32". */
static bool parse_size(const char *text, int *width, int *height)
{
	if (!parse_int(&text, 1, IMAGE_MAX_SIDE, width))
		return false;
	*height = *width;
	if (!*text)
		return true;
	return *text++ == 'x' && parse_whole_int(text, 1, IMAGE_MAX_SIDE, height);
}

/* OpenCV wants more than 1; 100 leaves one size of faces in any picture. */
static bool parse_factor(const char *text, double *out)
{
	char *end;

	*out = strtod(text, &end);
	return end != text && !*end && *out > 1 && *out <= 100;
}

/* Returns -1, or an exit code. */
static int parse_option(struct options *o, int option)
{
	switch (option) {
	case OPT_CASCADE:
		o->cascade = optarg;
		return -1;
	case OPT_SCALE_FACTOR:
		if (!parse_factor(optarg, &o->scale_factor))
			return wrong("--scale-factor", optarg, "must be a number above 1 and up to 100");
		return -1;
	case OPT_MIN_NEIGHBORS:
		if (!parse_whole_int(optarg, 0, INT_MAX, &o->min_neighbors))
			return wrong("--min-neighbors", optarg, "must be a whole number from 0 to 2147483647");
		return -1;
	case OPT_MIN_SIZE:
		if (!parse_size(optarg, &o->min_width, &o->min_height))
			return wrong("--min-size", optarg, "must be pixels, N or NxM, each from 1 to 16384");
		return -1;
	case OPT_MAX_SIZE:
		if (!parse_size(optarg, &o->max_width, &o->max_height))
			return wrong("--max-size", optarg, "must be pixels, N or NxM, each from 1 to 16384");
		return -1;
	case OPT_DEVICE:
		o->device = optarg;
		return -1;
	case OPT_MODE:
		if (strcmp(optarg, "batch") && strcmp(optarg, "single"))
			return wrong("--mode", optarg, "must be batch or single");
		o->mode = strcmp(optarg, "batch") ? DETECT_SINGLE : DETECT_BATCH;
		return -1;
	case OPT_JSON:
		o->json = true;
		return -1;
	case OPT_OUTPUT:
		o->output = optarg;
		return -1;
	case OPT_STATS:
		o->stats = true;
		return -1;
	case OPT_COMPARE:
		o->stats = o->compare = true;
		return -1;
	case OPT_REPEAT:
		if (!parse_whole_int(optarg, 1, 1000, &o->repeat))
			return wrong("--repeat", optarg, "must be a whole number from 1 to 1000");
		return -1;
	case OPT_TIMEOUT:
		return cli_real(TOOL, "--timeout", optarg, 0.001, 86400, &o->timeout) ?
		       -1 : cli_finish(TOOL, EXIT_USAGE);
	default:
		return cli_other(TOOL, usage, option);
	}
}

int options_parse(int argc, char **argv, struct options *o)
{
	struct faces_error error = { "" };
	int option, code;

	cli_start(argc, argv);
	*o = (struct options) {
		.cascade = DEFAULT_CASCADE,
		.scale_factor = 1.2,
		.timeout = DETECT_TIMEOUT_NS / 1e9,
		.min_neighbors = 3,
		.repeat = 1,
	};
	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		code = parse_option(o, option);
		if (code >= 0)
			return code;
	}
	o->files = argv + optind;
	o->file_count = argc - optind;
	if (!o->file_count)
		return cli_usage(TOOL, usage);
	if (o->output && image_write_known(o->output, &error)) {
		cli_fail(TOOL, "--output %s", error.text);
		return cli_finish(TOOL, EXIT_USAGE);
	}
	return -1;
}
