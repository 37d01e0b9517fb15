// SPDX-License-Identifier: MIT
/*
 * main.c - salvo-top: show the clients of the Salvo GPUs and their load
 *
 * Takes a sample, sleeps, takes the next and shows the difference: on a terminal as
 * a screen that is redrawn until q is pressed, in batch mode as text or lines of JSON, for
 * scripts.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "json.h"
#include "pool.h"
#include "sample.h"

#define TOOL "salvo-top"

struct options {
	double delay;
	unsigned int count;	/* of samples to show, 0 for no end */
	bool batch;
	bool json;
};

/* What an entry did between two samples, per second. */
struct rates {
	const struct top_entry *entry;
	const struct top_entry *old;	/* the same at the sample before, or NULL */
	double seconds;		/* between the two */
	double busy;		/* percent of its units */
	double packets;
	double doorbells;
	double interrupts;
	double completions;
	double unit[TOP_MAX_UNITS];
};

static volatile sig_atomic_t stopped;

static const char usage[] =
	"usage: salvo-top [options]\n"
	"\n"
	"Show who uses Salvo GPUs: clients of the driver, embedded GPUs, and GPUs of virtual\n"
	"machines, and work-stealing pools, of the processes that may be inspected. Press q or\n"
	"^C to quit.\n"
	"\n"
	"  -d, --delay SEC   seconds between two samples (default 1)\n"
	"  -n, --count N     exit after N samples\n"
	"  -b, --batch       print one table after the other, for scripts\n"
	"      --json        print a line with a JSON object for each sample\n"
	"      --help        this text\n"
	"      --version     the version\n"
	"\n"
	"Exit code: 0 done, 1 something failed, 2 wrong usage.\n";

/* --- rates ------------------------------------------------------------------- */

/* A counter that went down belongs to a new client. */
static double rate(uint64_t before, uint64_t now, double seconds)
{
	return now > before ? (now - before) / seconds : 0;
}

static void compute(struct rates *rates, const struct top_sample *before,
		    const struct top_sample *now, const struct top_entry *entry)
{
	const struct top_entry *old = top_sample_find(before, entry);
	const double seconds = (now->time_ns - before->time_ns) / 1e9;
	uint32_t i;

	memset(rates, 0, sizeof(*rates));
	rates->entry = entry;
	rates->old = old;
	rates->seconds = seconds;
	if (!old || entry->kind == TOP_POOL)
		return;
	rates->packets = rate(old->counters.packets, entry->counters.packets, seconds);
	rates->doorbells = rate(old->counters.doorbells, entry->counters.doorbells, seconds);
	rates->interrupts = rate(old->counters.interrupts, entry->counters.interrupts, seconds);
	rates->completions = rate(old->counters.completions, entry->counters.completions, seconds);
	if (entry->units)
		rates->busy = rate(old->counters.busy_ns, entry->counters.busy_ns, seconds) /
			      1e7 / entry->units;
	for (i = 0; i < entry->unit_count && i < old->unit_count; i++)
		rates->unit[i] = rate(old->unit[i].cpu_ns, entry->unit[i].cpu_ns, seconds) / 1e7;
}

/* The busiest first, then by process. */
static int compare_rates(const void *a, const void *b)
{
	const struct rates *x = a, *y = b;

	if (x->busy != y->busy)
		return x->busy < y->busy ? 1 : -1;
	return x->entry->pid - y->entry->pid;
}

static struct rates *compute_all(const struct top_sample *before, const struct top_sample *now)
{
	struct rates *all = calloc(now->count + 1, sizeof(*all));
	unsigned int i;

	for (i = 0; all && i < now->count; i++)
		compute(&all[i], before, now, &now->entries[i]);
	if (all)
		qsort(all, now->count, sizeof(*all), compare_rates);
	return all;
}

/* --- output ------------------------------------------------------------------ */

static const char *kind_name(enum top_kind kind)
{
	switch (kind) {
	case TOP_CLIENT:
		return "client";
	case TOP_SOFT:
		return "soft";
	case TOP_POOL:
		return "pool";
	default:
		return "gpu";
	}
}

static void write_entry(struct json *json, const struct rates *rates)
{
	const struct top_entry *entry = rates->entry;
	uint32_t i;

	json_object(json, NULL);
	json_string(json, "kind", kind_name(entry->kind));
	json_string(json, "device", entry->device);
	json_count(json, "pid", entry->pid);
	json_string(json, "command", entry->command);
	if (entry->kind == TOP_POOL) {
		pool_write(json, entry, rates->old, rates->seconds);
		json_object_end(json);
		return;
	}
	if (entry->kind == TOP_CLIENT)
		json_count(json, "client", entry->client);
	json_count(json, "units", entry->units);
	json_real(json, "busy_percent", rates->busy, 2);
	json_count(json, "busy_ns", entry->counters.busy_ns);
	json_count(json, "packets", entry->counters.packets);
	json_real(json, "packets_per_s", rates->packets, 1);
	if (entry->kind != TOP_GPU) {
		json_count(json, "vram_bytes", entry->vram_bytes);
		json_count(json, "doorbells", entry->counters.doorbells);
		json_count(json, "interrupts", entry->counters.interrupts);
		json_count(json, "completions", entry->counters.completions);
		json_real(json, "doorbells_per_s", rates->doorbells, 1);
		json_real(json, "interrupts_per_s", rates->interrupts, 1);
		json_real(json, "completions_per_s", rates->completions, 1);
	}
	if (entry->has_queues) {
		json_count(json, "queues", entry->queues);
		json_count(json, "slots", entry->slots);
		json_count(json, "batches", entry->batches);
	}
	json_array(json, "unit");
	for (i = 0; i < entry->unit_count; i++) {
		json_object(json, NULL);
		json_real(json, "cpu_percent", rates->unit[i], 1);
		json_bool(json, "busy", entry->unit[i].busy);
		if (entry->unit[i].busy) {
			json_count(json, "context", entry->unit[i].ctx);
			json_count(json, "command", entry->unit[i].command);
		}
		json_object_end(json);
	}
	json_array_end(json);
	json_object_end(json);
}

static void write_json(const struct rates *all, unsigned int count, double seconds)
{
	struct json json = { .file = stdout };
	unsigned int i;

	json_object(&json, NULL);
	json_real(&json, "seconds", seconds, 3);
	json_array(&json, "entries");
	for (i = 0; i < count; i++)
		write_entry(&json, &all[i]);
	json_array_end(&json);
	json_object_end(&json);
	json_line_end(&json);
}

static void print_bytes(uint64_t bytes)
{
	if (bytes >= 10ull << 30)
		printf("%7.1fG", bytes / 1073741824.0);
	else if (bytes >= 10ull << 20)
		printf("%7.1fM", bytes / 1048576.0);
	else
		printf("%7.1fK", bytes / 1024.0);
}

static void print_entry(const struct rates *rates)
{
	const struct top_entry *entry = rates->entry;
	uint32_t i;

	printf("%7d %-13s %5u %6.1f ", entry->pid, entry->device, entry->units, rates->busy);
	if (entry->kind == TOP_GPU)
		printf("%8s", "-");
	else
		print_bytes(entry->vram_bytes);
	if (entry->has_queues)
		printf(" %6" PRIu64 " %5" PRIu64 " %7" PRIu64, entry->queues, entry->slots,
		       entry->batches);
	else
		printf(" %6s %5s %7s", "-", "-", "-");
	printf(" %9.0f", rates->packets);
	if (entry->kind == TOP_GPU)
		printf(" %6s %6s", "-", "-");
	else
		printf(" %6.0f %6.0f", rates->interrupts, rates->completions);
	printf("  %s\n", entry->command);
	for (i = 0; i < entry->unit_count; i++) {
		if (!(i % 6))
			printf("%s%8s units", i ? "\n" : "", "");
		printf("  %2u: %5.1f%%%s", i, rates->unit[i], entry->unit[i].busy ? "*" : " ");
	}
	if (entry->unit_count)
		putchar('\n');
}

/* Pools, if there are any, in the lines that are left. */
static void print_pools(const struct rates *all, unsigned int count, unsigned int lines)
{
	unsigned int i, used = 2;

	for (i = 0; i < count; i++) {
		if (all[i].entry->kind != TOP_POOL)
			continue;
		if (used == 2 && lines > 2) {
			putchar('\n');
			pool_print_head();
		}
		used += pool_lines(all[i].entry);
		if (used > lines)
			break;
		pool_print(all[i].entry, all[i].old, all[i].seconds);
	}
}

static void print_text(const struct rates *all, unsigned int count, double seconds,
		       unsigned int lines)
{
	const time_t now = time(NULL);
	char clock[16];
	struct tm tm;
	unsigned int i, used = 2, pools = 0;

	for (i = 0; i < count; i++)
		pools += all[i].entry->kind == TOP_POOL;
	strftime(clock, sizeof(clock), "%H:%M:%S", localtime_r(&now, &tm));
	printf("salvo-top %s, %u client%s, %u pool%s, sampled over %.1f s\n", clock, count - pools,
	       count - pools == 1 ? "" : "s", pools, pools == 1 ? "" : "s", seconds);
	printf("%7s %-13s %5s %6s %8s %6s %5s %7s %9s %6s %6s  %s\n", "PID", "DEVICE", "UNITS",
	       "BUSY%", "VRAM", "QUEUES", "SLOTS", "BATCHES", "PACKETS/s", "IRQ/s", "DONE/s", "COMMAND");
	for (i = 0; i < count; i++) {
		if (all[i].entry->kind == TOP_POOL)
			continue;
		used += 1 + (all[i].entry->unit_count + 5) / 6;
		if (used > lines)
			break;
		print_entry(&all[i]);
	}
	print_pools(all, count, used < lines ? lines - used : 0);
}

/* --- the loop ----------------------------------------------------------------- */

static void stop(int signal)
{
	(void)signal;
	stopped = 1;
}

static unsigned int screen_lines(void)
{
	struct winsize size;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_row ? 24 : size.ws_row - 1;
}

static void show(const struct options *options, const struct rates *all, unsigned int count,
		 double seconds)
{
	if (options->json) {
		write_json(all, count, seconds);
	} else if (options->batch) {
		print_text(all, count, seconds, ~0u);
	} else {
		fputs("\033[H\033[J", stdout);
		print_text(all, count, seconds, screen_lines());
	}
}

/* Sleeps; on a terminal q ends it. */
static void pause_for(const struct options *options, const struct timespec *delay)
{
	struct pollfd keys = {
		.fd = options->batch || !isatty(STDIN_FILENO) ? -1 : STDIN_FILENO,
		.events = POLLIN,
	};
	char key;

	if (ppoll(&keys, 1, delay, NULL) > 0 &&
	    (read(STDIN_FILENO, &key, 1) <= 0 || key == 'q' || key == 'Q'))
		stopped = 1;
}

static int loop(const struct options *options)
{
	const struct timespec delay = {
		.tv_sec = options->delay,
		.tv_nsec = (options->delay - (time_t)options->delay) * 1e9,
	};
	struct top_sample before, now;
	unsigned int samples = 0;
	int err;

	err = top_sample_take(&before);
	pause_for(options, &delay);
	while (!stopped && !err) {
		struct rates *all;
		double seconds;

		err = top_sample_take(&now);
		if (err)
			break;
		seconds = (now.time_ns - before.time_ns) / 1e9;
		all = compute_all(&before, &now);
		if (all)
			show(options, all, now.count, seconds);
		else
			err = -ENOMEM;
		free(all);
		top_sample_free(&before);
		before = now;
		if (err || fflush(stdout) || (options->count && ++samples == options->count))
			break;
		if (options->batch && !options->json)
			putchar('\n');
		pause_for(options, &delay);
	}
	top_sample_free(&before);
	if (err)
		cli_fail(TOOL, "/proc: %s", err == -ENOENT ? "it is not mounted" : strerror(-err));
	return cli_finish(TOOL, err ? EXIT_FAILED : EXIT_OK);
}

static int run(const struct options *options)
{
	const struct sigaction action = { .sa_handler = stop };
	struct termios raw, old;
	bool is_raw = false;
	int code;

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	if (!options->batch && !tcgetattr(STDIN_FILENO, &old)) {
		raw = old;
		raw.c_lflag &= ~(ICANON | ECHO);
		is_raw = !tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	}
	code = loop(options);
	if (is_raw)
		tcsetattr(STDIN_FILENO, TCSANOW, &old);
	return code;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "delay", required_argument, NULL, 'd' },
		{ "count", required_argument, NULL, 'n' },
		{ "batch", no_argument, NULL, 'b' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ 0 },
	};
	struct options options = { .delay = 1 };
	bool good = true;
	int c;

	cli_start(argc, argv);
	while (good && (c = getopt_long(argc, argv, "d:n:b", longs, NULL)) != -1) {
		switch (c) {
		case 'd':
			good = cli_real(TOOL, "--delay", optarg, 0.01, 86400, &options.delay);
			break;
		case 'n':
			good = cli_count(TOOL, "--count", optarg, 1, 1000000000, &options.count);
			break;
		case 'j':
			options.json = true;
			/* fallthrough */
		case 'b':
			options.batch = true;
			break;
		default:
			return cli_other(TOOL, usage, c);
		}
	}
	if (!good)
		return cli_finish(TOOL, EXIT_USAGE);
	if (optind != argc)
		return cli_usage(TOOL, usage);
	if (!options.batch && !isatty(STDOUT_FILENO))
		options.batch = true;
	return run(&options);
}
