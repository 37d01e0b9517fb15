// SPDX-License-Identifier: MIT
/*
 * salvo-submit.c - run a batch written in the human-readable form
 *
 * Reads the file (libuser/text.c describes it), builds its batch, submits it as
 * one packet, compares the results with the expectations of the file, and
 * tells what it cost.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "text_build.h"
#include "uapi/drm/salvo_drm.h"

#define DIR_BYTES	4096
#define MAX_DIRS	5

struct options {
	const char *device;
	const char *kernels;
	const char *file;
	bool json;
	bool stats;
	bool check;
	bool list;
	double timeout;
};

/* What the submission cost. */
struct cost {
	struct salvo_device_stats stats;
	uint64_t wall_ns;
};

static const char usage[] =
	"usage: salvo-submit [options] FILE\n"
	"\n"
	"Submit the batch in FILE (\"-\" is standard input), check what it expects and\n"
	"print results and statistics.\n"
	"\n"
	"  --device NAME    soft or a render node (default: a Salvo render node, else soft)\n"
	"  --kernels DIR    where program files are, besides FILE's folder and the installed ones\n"
	"  --json           print one JSON object\n"
	"  --stats          print when each command ran\n"
	"  --check          only check FILE, its programs and arguments; submit nothing\n"
	"  --list           only print FILE as it was understood, one command a line\n"
	"  --timeout SEC    give up waiting after SEC seconds (default 60)\n"
	"  --help           this text\n"
	"  --version        the version\n"
	"\n"
	"Exit code: 0 all went well; 1 an expectation was not met or the batch failed;\n"
	"2 the command line or FILE is wrong.\n";

/* --- input ------------------------------------------------------------------ */

static int read_text(const char *path, char **text, size_t *bytes)
{
	FILE *file = strcmp(path, "-") ? fopen(path, "rbe") : stdin;
	size_t capacity = SALVO_TEXT_MAX_BYTES + 1;
	int err = 0;

	*text = NULL;
	if (!file)
		return -errno;
	*text = malloc(capacity);
	if (!*text) {
		err = -ENOMEM;
	} else {
		*bytes = fread(*text, 1, capacity, file);
		if (ferror(file))
			err = errno ? -errno : -EIO;
	}
	if (file != stdin)
		fclose(file);
	return err;
}

static void print_error(const struct options *options, const struct salvo_text_error *error)
{
	fprintf(stderr, "%s:", options->file);
	if (error->line)
		fprintf(stderr, "%u:", error->line);
	if (error->column)
		fprintf(stderr, "%u:", error->column);
	fprintf(stderr, " %s\n", error->message);
}

/* Folder of a file, "." when its name has none. */
static void folder_of(const char *path, char out[DIR_BYTES])
{
	char copy[DIR_BYTES];

	snprintf(copy, sizeof(copy), "%s", path);
	snprintf(out, DIR_BYTES, "%s", dirname(copy));
}

/* Kernels beside the program: ../kernels when built, ../share/salvo/kernels when installed. */
static void own_folders(char built[DIR_BYTES], char installed[DIR_BYTES])
{
	char self[DIR_BYTES - 64] = ".", folder[DIR_BYTES];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (length > 0)
		self[length] = 0;
	folder_of(self, folder);
	snprintf(built, DIR_BYTES, "%.4000s/../kernels", folder);
	snprintf(installed, DIR_BYTES, "%.4000s/../share/salvo/kernels", folder);
}

static int build(const struct options *options, const struct salvo_text *text,
		 struct salvo_device *device, struct salvo_text_build **out,
		 struct salvo_text_error *error)
{
	char here[DIR_BYTES], built[DIR_BYTES], installed[DIR_BYTES];
	const char *dirs[MAX_DIRS];
	unsigned int count = 0;

	folder_of(options->file, here);
	own_folders(built, installed);
	if (options->kernels)
		dirs[count++] = options->kernels;
	dirs[count++] = here;
	dirs[count++] = built;
	dirs[count++] = installed;
	dirs[count] = NULL;
	return salvo_text_build(text, device, dirs, here, out, error);
}

/* --- output ----------------------------------------------------------------- */

static const char *command_name(const struct salvo_text_command *command)
{
	switch (command->type) {
	case DRM_SALVO_DISPATCH:
		return "dispatch";
	case DRM_SALVO_COPY:
		return "copy";
	case DRM_SALVO_FILL:
		return "fill";
	case DRM_SALVO_TIMESTAMP:
		return "timestamp";
	default:
		return command->all ? "barrier" : "pipe_control";
	}
}

/* JSON has no NaN and no infinity. */
static void write_json_value(enum salvo_text_type type, uint64_t bits)
{
	double real = salvo_text_to_double(type, bits);

	if (salvo_text_type_is_float(type) && (real != real || real - real != 0))
		fputs("null", stdout);
	else
		salvo_text_write_value(type, bits, stdout);
}

static void print_elements(const struct options *options, const struct salvo_text_build *build,
			   const struct salvo_text_check *check)
{
	const char *name = build->text->buffers[check->place.buffer].name;
	uint64_t i;

	printf(options->json ? "{\"buffer\":\"%s\",\"offset\":%" PRIu64
			       ",\"type\":\"%s\",\"values\":[" : "%s[%" PRIu64 "] %s:",
	       name, check->place.offset, salvo_text_type_name(check->values.type));
	for (i = 0; i < check->count; i++) {
		if (options->json) {
			fputs(i ? "," : "", stdout);
			write_json_value(check->values.type, salvo_text_element(build, check, i));
		} else {
			putchar(' ');
			salvo_text_write_value(check->values.type,
					       salvo_text_element(build, check, i), stdout);
		}
	}
	fputs(options->json ? "]}" : "\n", stdout);
}

static void report_difference(const struct options *options, const struct salvo_text_build *build,
			      const struct salvo_text_check *check,
			      const struct salvo_text_difference *difference)
{
	enum salvo_text_type type = check->values.type;
	uint64_t offset = check->place.offset + difference->index * salvo_text_type_bytes(type);

	fprintf(stderr, "%s:%u: %" PRIu64 " of %" PRIu64 " values differ: %s[%" PRIu64 "] is ",
		options->file, check->line, difference->count, difference->total,
		build->text->buffers[check->place.buffer].name, offset);
	salvo_text_write_value(type, difference->found, stderr);
	fputs(", expected ", stderr);
	salvo_text_write_value(type, difference->expected, stderr);
	fputc('\n', stderr);
}

/* Prints in the order of the file, then expectations. Return: how many were not met. */
static unsigned int run_checks(const struct options *options,
			       const struct salvo_text_build *build, unsigned int *met)
{
	struct salvo_text_difference difference;
	unsigned int i, failed = 0, printed = 0;

	*met = 0;
	if (options->json)
		fputs("\"results\":[", stdout);
	for (i = 0; i < build->text->check_count; i++) {
		const struct salvo_text_check *check = &build->text->checks[i];

		if (check->print) {
			if (options->json && printed++)
				putchar(',');
			print_elements(options, build, check);
			continue;
		}
		salvo_text_compare(build, check, &difference);
		if (difference.count) {
			report_difference(options, build, check, &difference);
			failed++;
		} else {
			++*met;
		}
	}
	if (options->json)
		fputs("],", stdout);
	return failed;
}

static double microseconds(const struct salvo_device_info *info, uint64_t from, uint64_t to)
{
	return to > from ? (to - from) * 1e6 / info->clock_hz : 0;
}

/* When each command ran, counted from the first that was read. */
static void print_profile(const struct options *options, const struct salvo_text_build *build,
			  const struct salvo_device_info *info)
{
	struct salvo_profile profile;
	uint64_t origin = 0;
	unsigned int i;

	if (options->json)
		fputs(",\"profile\":[", stdout);
	else
		printf("%5s %-14s %-16s %10s %10s %10s us\n", "index", "command", "label",
		       "ready", "started", "ended");
	for (i = 0; i < build->text->command_count; i++) {
		const struct salvo_text_command *command = &build->text->commands[i];
		double ready, started, ended;

		if (salvo_batch_get_profile(build->batch, i, &profile))
			continue;
		if (!origin)
			origin = profile.queued;
		ready = microseconds(info, origin, profile.ready);
		started = microseconds(info, origin, profile.started);
		ended = microseconds(info, origin, profile.ended);
		if (options->json)
			printf("%s{\"index\":%u,\"command\":\"%s\",\"ready_us\":%.3f,"
			       "\"started_us\":%.3f,\"ended_us\":%.3f}", i ? "," : "", i,
			       command_name(command), ready, started, ended);
		else
			printf("%5u %-14s %-16s %10.1f %10.1f %10.1f\n", i,
			       command_name(command), command->label ? command->label : "",
			       ready, started, ended);
	}
	if (options->json)
		putchar(']');
}

static void print_cost(const struct options *options, unsigned int commands,
		       const struct cost *cost)
{
	const struct salvo_device_stats *stats = &cost->stats;

	if (options->json)
		printf("\"stats\":{\"commands\":%u,\"packets\":%" PRIu64 ",\"doorbells\":%" PRIu64
		       ",\"interrupts\":%" PRIu64 ",\"completions\":%" PRIu64
		       ",\"wall_us\":%.1f,\"busy_us\":%.1f}", commands, stats->packets,
		       stats->doorbells, stats->interrupts, stats->completions,
		       cost->wall_ns / 1e3, stats->busy_ns / 1e3);
	else
		printf("%u commands: %" PRIu64 " packets, %" PRIu64 " doorbells, %" PRIu64
		       " interrupts, %" PRIu64 " completions; %.1f us, units busy %.1f us\n",
		       commands, stats->packets, stats->doorbells, stats->interrupts,
		       stats->completions, cost->wall_ns / 1e3, stats->busy_ns / 1e3);
}

/* --- the run ---------------------------------------------------------------- */

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static int submit(const struct options *options, struct salvo_device *device,
		  struct salvo_text_build *build, struct cost *cost)
{
	struct salvo_device_stats before;
	struct salvo_fence *fence = NULL;
	struct salvo_queue *queue;
	uint64_t start;
	int err;

	err = salvo_queue_create(device, 0, &queue);
	if (err) {
		fprintf(stderr, "salvo-submit: no queue: %s\n", strerror(-err));
		return err;
	}
	if (options->stats)
		salvo_batch_enable_profile(build->batch);
	salvo_device_get_stats(device, &before);
	start = now_ns();
	err = salvo_queue_submit(queue, build->batch, NULL, 0, &fence);
	if (err) {
		fprintf(stderr, "%s: %s\n", options->file, salvo_batch_error(build->batch));
	} else {
		err = salvo_fence_wait(fence, options->timeout * 1e9);
		if (err)
			fprintf(stderr, "%s: the batch failed: %s\n", options->file,
				err == -ETIME ? "it did not end in time" : strerror(-err));
	}
	cost->wall_ns = now_ns() - start;
	salvo_device_get_stats(device, &cost->stats);
	cost->stats.packets -= before.packets;
	cost->stats.doorbells -= before.doorbells;
	cost->stats.interrupts -= before.interrupts;
	cost->stats.completions -= before.completions;
	cost->stats.busy_ns -= before.busy_ns;
	salvo_fence_destroy(fence);
	salvo_queue_destroy(queue);
	return err;
}

/* Without a word about a file that cannot be the reason. */
static bool is_fault_of_file(int err)
{
	return err == -EINVAL || err == -E2BIG || err == -ENOENT || err == -ENOEXEC ||
	       err == -EACCES || err == -EISDIR || err == -ENOTSUP;
}

static int run(const struct options *options, const struct salvo_text *text)
{
	struct salvo_text_build *built = NULL;
	struct salvo_device_info info;
	struct salvo_text_error error;
	struct salvo_device *device;
	unsigned int failed, met;
	struct cost cost = { 0 };
	int err, code = EXIT_OK;

	err = salvo_device_open(options->device, &device);
	if (err) {
		fprintf(stderr, "salvo-submit: %s: %s\n",
			options->device ? options->device : "no device", strerror(-err));
		return EXIT_FAILED;
	}
	salvo_device_get_info(device, &info);
	err = build(options, text, device, &built, &error);
	if (err) {
		print_error(options, &error);
		salvo_device_close(device);
		return is_fault_of_file(err) ? EXIT_USAGE : EXIT_FAILED;
	}
	if (!options->check) {
		if (submit(options, device, built, &cost)) {
			code = EXIT_FAILED;
		} else {
			if (options->json)
				printf("{\"device\":\"%s\",", info.name);
			failed = run_checks(options, built, &met);
			if (options->json)
				printf("\"expectations\":{\"met\":%u,\"failed\":%u},", met, failed);
			else if (failed + met)
				printf("%u of %u expectations met\n", met, failed + met);
			print_cost(options, text->command_count, &cost);
			if (options->stats)
				print_profile(options, built, &info);
			if (options->json)
				puts("}");
			code = failed ? EXIT_FAILED : EXIT_OK;
		}
	}
	salvo_text_build_destroy(built);
	salvo_device_close(device);
	return code;
}

static int parse_options(int argc, char **argv, struct options *options)
{
	static const struct option longs[] = {
		{ "device", required_argument, NULL, 'd' },
		{ "kernels", required_argument, NULL, 'k' },
		{ "json", no_argument, NULL, 'j' },
		{ "stats", no_argument, NULL, 's' },
		{ "check", no_argument, NULL, 'c' },
		{ "list", no_argument, NULL, 'l' },
		{ "timeout", required_argument, NULL, 't' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ 0 },
	};
	char *stop;
	int c;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (c) {
		case 'd':
			options->device = optarg;
			break;
		case 'k':
			options->kernels = optarg;
			break;
		case 'j':
			options->json = true;
			break;
		case 's':
			options->stats = true;
			break;
		case 'c':
			options->check = true;
			break;
		case 'l':
			options->list = true;
			break;
		case 't':
			options->timeout = strtod(optarg, &stop);
			if (stop == optarg || *stop || !(options->timeout >= 0) ||
			    options->timeout > 1e9) {
				fprintf(stderr, "salvo-submit: --timeout %s: not a time\n", optarg);
				return EXIT_USAGE;
			}
			break;
		case 'h':
			fputs(usage, stdout);
			exit(cli_finish("salvo-submit", EXIT_OK));
		case 'V':
			exit(cli_version("salvo-submit"));
		default:
			fputs(usage, stderr);
			return EXIT_USAGE;
		}
	}
	if (argc - optind != 1) {
		fputs(usage, stderr);
		return EXIT_USAGE;
	}
	options->file = argv[optind];
	return EXIT_OK;
}

int main(int argc, char **argv)
{
	struct options options = { .timeout = 60 };
	struct salvo_text_error error;
	struct salvo_text *text;
	char *source = NULL;
	size_t bytes = 0;
	int err, code;

	code = parse_options(argc, argv, &options);
	if (code)
		return code;
	err = read_text(options.file, &source, &bytes);
	if (err) {
		fprintf(stderr, "salvo-submit: %s: %s\n", options.file, strerror(-err));
		free(source);
		return EXIT_USAGE;
	}
	err = salvo_text_parse(source, bytes, &text, &error);
	free(source);
	if (err) {
		print_error(&options, &error);
		return EXIT_USAGE;
	}
	if (options.list)
		salvo_text_write(text, stdout);
	else if (text->command_count)
		code = run(&options, text);
	else
		code = EXIT_USAGE;
	if (code == EXIT_USAGE && !text->command_count)
		fprintf(stderr, "%s: no commands\n", options.file);
	salvo_text_destroy(text);
	return cli_finish("salvo-submit", code);
}
