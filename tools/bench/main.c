// SPDX-License-Identifier: MIT
/*
 * main.c - salvo-bench: measure what a submission costs
 *
 * N tiny dispatches as one batch and as one packet each, on one queue and on several. Figures
 * are medians; compare only those of one run, since the load of a machine varies.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "json.h"
#include "measure.h"

#define TOOL		"salvo-bench"
#define MAX_COUNTS	16u

struct list {
	unsigned int values[MAX_COUNTS];
	unsigned int count;
};

struct options {
	const char *device;
	struct list dispatches;
	struct list queues;
	unsigned int rounds;
	bool json;
};

static const char usage[] =
	"usage: salvo-bench [options]\n"
	"\n"
	"Measure what tiny dispatches cost: in one batch, with a packet for each, and with a\n"
	"packet for each that is waited for; and batches on several queues at the same time.\n"
	"\n"
	"  --device NAME         soft or a render node (default: a Salvo render node, else soft)\n"
	"  --dispatches N[,N...] how many (default 1,8,33,100,1000)\n"
	"  --queues N[,N...]     queues with a batch each (default 1,2,4)\n"
	"  --rounds N            repeat each measurement N times (default 200)\n"
	"  --json                print one JSON object\n"
	"  --help                this text\n"
	"  --version             the version\n"
	"\n"
	"Exit code: 0 done, 1 the device failed, 2 wrong usage.\n";

static const char *const mode_names[BENCH_MODES] = {
	[BENCH_BATCH] = "batch",
	[BENCH_SINGLE] = "single",
	[BENCH_WAIT] = "single-wait",
};

static void write_result(struct json *json, const struct bench_result *result)
{
	json_object(json, NULL);
	json_string(json, "mode", mode_names[result->mode]);
	json_count(json, "dispatches", result->dispatches);
	json_count(json, "queues", result->queues);
	json_real(json, "record_us", result->build, 3);
	json_real(json, "best_us", result->best, 3);
	json_real(json, "median_us", result->median, 3);
	json_real(json, "p90_us", result->slow, 3);
	json_real(json, "per_dispatch_us",
		  result->median / (result->dispatches * result->queues), 4);
	json_real(json, "packets", result->packets, 2);
	json_real(json, "doorbells", result->doorbells, 2);
	json_real(json, "interrupts", result->interrupts, 2);
	json_real(json, "completions", result->completions, 2);
	json_object_end(json);
}

static int measure(struct bench *bench, struct bench_result *result)
{
	int err = bench_run(bench, result);

	if (err)
		cli_fail(TOOL, "%s, %u dispatches: %s: %s", mode_names[result->mode],
			 result->dispatches, bench->what, strerror(-err));
	return err;
}

/* One queue: each number of dispatches in each mode. */
static int measure_modes(const struct options *options, struct bench *bench, struct json *json)
{
	struct bench_result results[BENCH_MODES];
	unsigned int i, mode;

	if (!options->json)
		printf("%10s %11s %11s %11s %11s %12s %11s\n%10s %11s %11s %11s %11s %12s %11s\n",
		       "", "us each in", "us with a", "us with a", "us each to", "interrupts",
		       "interrupts", "dispatches", "one batch", "packet each", "wait each",
		       "record", "batch", "packet each");
	for (i = 0; i < options->dispatches.count; i++) {
		const unsigned int n = options->dispatches.values[i];

		for (mode = 0; mode < BENCH_MODES; mode++) {
			results[mode] = (struct bench_result){
				.mode = mode,
				.dispatches = n,
				.queues = 1,
				.rounds = options->rounds,
			};
			if (measure(bench, &results[mode]))
				return EXIT_FAILED;
			if (options->json)
				write_result(json, &results[mode]);
		}
		if (!options->json)
			printf("%10u %11.2f %11.2f %11.2f %11.3f %12.0f %11.0f\n", n,
			       results[BENCH_BATCH].median / n, results[BENCH_SINGLE].median / n,
			       results[BENCH_WAIT].median / n, results[BENCH_BATCH].build / n,
			       results[BENCH_BATCH].interrupts,
			       results[BENCH_SINGLE].interrupts);
	}
	return EXIT_OK;
}

/* Several queues with a batch each, of the 33 workloads of a frame. */
static int measure_queues(const struct options *options, struct bench *bench, struct json *json)
{
	struct bench_result result;
	unsigned int i;

	if (!options->json)
		printf("\nA batch of 33 dispatches on each of several queues at the same time\n\n"
		       "%10s %11s %11s %11s\n", "queues", "us for all", "us a batch",
		       "interrupts");
	for (i = 0; i < options->queues.count; i++) {
		const unsigned int n = options->queues.values[i];

		result = (struct bench_result){
			.mode = BENCH_BATCH,
			.dispatches = 33,
			.queues = n,
			.rounds = options->rounds,
		};
		if (measure(bench, &result))
			return EXIT_FAILED;
		if (options->json)
			write_result(json, &result);
		else
			printf("%10u %11.2f %11.2f %11.1f\n", n, result.median, result.median / n,
			       result.interrupts);
	}
	return EXIT_OK;
}

static int check_limits(const struct options *options, const struct salvo_device_info *info)
{
	unsigned int i;

	for (i = 0; i < options->dispatches.count; i++)
		if (options->dispatches.values[i] > info->max_commands)
			return cli_fail(TOOL, "--dispatches %u: at most %u in a batch",
					options->dispatches.values[i], info->max_commands);
	return EXIT_OK;
}

static int run(const struct options *options)
{
	struct json json = { .file = stdout };
	struct salvo_device *device;
	struct bench bench;
	int err, code;

	if (cli_open(TOOL, options->device, &device))
		return cli_finish(TOOL, EXIT_FAILED);
	err = bench_init(&bench, device, options->rounds);
	if (err) {
		code = cli_fail(TOOL, "%s: %s", bench.what, strerror(-err));
	} else {
		code = check_limits(options, &bench.info);
		if (code)
			code = EXIT_USAGE;
	}
	if (!code) {
		if (options->json) {
			json_object(&json, NULL);
			json_string(&json, "device", bench.info.name);
			json_count(&json, "units", bench.info.units);
			json_count(&json, "rounds", options->rounds);
			json_array(&json, "results");
		} else {
			printf("%s: %u unit%s, medians of %u rounds\n\n", bench.info.name,
			       bench.info.units, bench.info.units == 1 ? "" : "s", options->rounds);
		}
		code = measure_modes(options, &bench, &json) ?:
		       measure_queues(options, &bench, &json);
		if (options->json) {
			json_array_end(&json);
			cli_write_error(&json);
			json_object_end(&json);
			json_line_end(&json);
		}
	}
	bench_fini(&bench);
	salvo_device_close(device);
	return cli_finish(TOOL, code);
}

/* N[,N...] */
static bool parse_list(const char *option, char *text, unsigned int max, struct list *list)
{
	char *word;

	list->count = 0;
	while ((word = strsep(&text, ","))) {
		if (list->count == MAX_COUNTS) {
			cli_fail(TOOL, "%s: at most %u numbers", option, MAX_COUNTS);
			return false;
		}
		if (!cli_count(TOOL, option, word, 1, max, &list->values[list->count++]))
			return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "device", required_argument, NULL, 'd' },
		{ "dispatches", required_argument, NULL, 'n' },
		{ "queues", required_argument, NULL, 'q' },
		{ "rounds", required_argument, NULL, 'r' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ 0 },
	};
	struct options options = {
		.dispatches = { .values = { 1, 8, 33, 100, 1000 }, .count = 5 },
		.queues = { .values = { 1, 2, 4 }, .count = 3 },
		.rounds = 200,
	};
	bool good = true;
	int c;

	cli_start(argc, argv);
	while (good && (c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (c) {
		case 'd':
			options.device = optarg;
			break;
		case 'n':
			good = parse_list("--dispatches", optarg, 65536, &options.dispatches);
			break;
		case 'q':
			good = parse_list("--queues", optarg, BENCH_MAX_QUEUES, &options.queues);
			break;
		case 'r':
			good = cli_count(TOOL, "--rounds", optarg, 1, BENCH_MAX_ROUNDS,
					 &options.rounds);
			break;
		case 'j':
			options.json = true;
			break;
		default:
			return cli_other(TOOL, usage, c);
		}
	}
	if (!good)
		return cli_finish(TOOL, EXIT_USAGE);
	if (optind != argc)
		return cli_usage(TOOL, usage);
	return run(&options);
}
