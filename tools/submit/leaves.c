// SPDX-License-Identifier: MIT
/*
 * leaves.c - run a command and show the leaves of its work-stealing pools
 *
 * The library of the command writes a record for each leaf to a file that we make
 * (leaf_record.h). In pictures a worker is what a chain of commands is for a batch: a bar
 * is pale from when the worker handed the kernel over, and solid while units run it.
 */
#include "leaves.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <search.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "leaf_record.h"
#include "picture.h"

/* Leaves that are recorded; the file is sparse. */
#define MAX_LEAVES	(1u << 18)
#define FILE_BYTES	(sizeof(struct leaf_record_head) + MAX_LEAVES * sizeof(struct leaf_record))

struct leaves {
	/** @records: Sorted by their start. */
	struct leaf_record *records;
	unsigned int count;
	/** @lost: Leaves for which there was no room, or that were cut off by the end. */
	uint64_t lost;
	/** @worker_of: The number of each record's worker. */
	unsigned int *worker_of;
	/** @workers: Each worker, by its first leaf, and how many workers. */
	struct worker *workers;
	unsigned int worker_count;
};

struct worker {
	const struct leaf_record *first;
};

/* --- the command ------------------------------------------------------------ */

static int make_file(char *path)
{
	const struct leaf_record_head head = {
		.magic = LEAF_RECORD_MAGIC, .record_bytes = sizeof(struct leaf_record),
		.capacity = MAX_LEAVES,
	};
	int fd = mkostemp(path, O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (pwrite(fd, &head, sizeof(head), 0) == sizeof(head) && !ftruncate(fd, FILE_BYTES))
		return fd;
	close(fd);
	unlink(path);
	return -ENOSPC;
}

/* In the child. @failed: Where the errno goes if there is no such command. */
static void execute(char **command, bool json, int failed)
{
	int err;

	/* Standard output is to hold one JSON object. */
	if (json)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	execvp(command[0], command);
	err = errno;
	if (write(failed, &err, sizeof(err)) != sizeof(err))
		fprintf(stderr, "%s: %s: %s\n", TOOL, command[0], strerror(err));
	_exit(127);
}

/* Return: 0, or why the command could not be executed. The pipe is closed when it is. */
static int read_failure(int failed)
{
	int err = 0;
	ssize_t bytes;

	do {
		bytes = read(failed, &err, sizeof(err));
	} while (bytes < 0 && errno == EINTR);
	return bytes == sizeof(err) ? err : 0;
}

/* As a shell does: what ^C and ^\ end is the command. Return: an exit code. */
static int run_command(char **command, bool json)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN }, none = { .sa_handler = SIG_DFL };
	struct sigaction interrupt, quit, child;
	int status = 0, err, failed[2];
	pid_t pid;

	if (pipe2(failed, O_CLOEXEC))
		return cli_fail(TOOL, "no pipe: %s", strerror(errno));
	sigaction(SIGINT, &ignore, &interrupt);
	sigaction(SIGQUIT, &ignore, &quit);
	/* Where it is ignored, as some parents leave it, the exit code would be lost. */
	sigaction(SIGCHLD, &none, &child);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		sigaction(SIGINT, &interrupt, NULL);
		sigaction(SIGQUIT, &quit, NULL);
		sigaction(SIGCHLD, &child, NULL);
		execute(command, json, failed[1]);
	}
	err = pid < 0 ? errno : 0;
	close(failed[1]);
	if (pid > 0)
		err = read_failure(failed[0]);
	close(failed[0]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	sigaction(SIGINT, &interrupt, NULL);
	sigaction(SIGQUIT, &quit, NULL);
	sigaction(SIGCHLD, &child, NULL);
	if (pid < 0)
		return cli_fail(TOOL, "no process: %s", strerror(err));
	if (err) {
		cli_fail(TOOL, "%s: %s", command[0], strerror(err));
		return EXIT_USAGE;
	}
	if (WIFSIGNALED(status))
		return cli_fail(TOOL, "%s: ended by signal %d", command[0], WTERMSIG(status));
	if (WEXITSTATUS(status))
		return cli_fail(TOOL, "%s: exit code %d", command[0], WEXITSTATUS(status));
	return EXIT_OK;
}

/* --- what it recorded --------------------------------------------------------- */

static int compare_start(const void *a, const void *b)
{
	const struct leaf_record *x = a, *y = b;

	return (x->started > y->started) - (x->started < y->started);
}

static int compare_pool(const struct leaf_record *a, const struct leaf_record *b)
{
	return a->pid != b->pid ? (a->pid > b->pid) - (a->pid < b->pid) :
				  (a->pool > b->pool) - (a->pool < b->pool);
}

static int compare_worker(const void *a, const void *b)
{
	const struct leaf_record *x = ((const struct worker *)a)->first;
	const struct leaf_record *y = ((const struct worker *)b)->first;
	const int pool = compare_pool(x, y);

	return pool ? pool : (x->worker > y->worker) - (x->worker < y->worker);
}

static void keep(void *node)
{
	(void)node;
}

/* Numbers the workers in the order of their first leaves. */
static int find_workers(struct leaves *leaves)
{
	void *tree = NULL;
	unsigned int i;

	leaves->worker_of = calloc(leaves->count + 1ul, sizeof(*leaves->worker_of));
	leaves->workers = calloc(leaves->count + 1ul, sizeof(*leaves->workers));
	if (!leaves->worker_of || !leaves->workers)
		return -ENOMEM;
	for (i = 0; i < leaves->count; i++) {
		struct worker *next = &leaves->workers[leaves->worker_count], **found;

		next->first = &leaves->records[i];
		found = tsearch(next, &tree, compare_worker);
		if (!found)
			break;
		leaves->worker_count += *found == next;
		leaves->worker_of[i] = *found - leaves->workers;
	}
	tdestroy(tree, keep);
	return i < leaves->count ? -ENOMEM : 0;
}

/* A leaf that did not start, as its task was refused, has no time. */
static bool is_whole(const struct leaf_record *record)
{
	return record->written == 1 && record->started &&
	       record->ended >= record->started && record->clock_hz && record->worker < 64;
}

/* Read, not mapped: a process that the command has left behind may still write to the file. */
static int take(struct leaves *leaves, int fd)
{
	struct leaf_record_head head;
	unsigned int i, count;
	ssize_t bytes;

	if (pread(fd, &head, sizeof(head), 0) != sizeof(head))
		return -EIO;
	count = head.next < MAX_LEAVES ? head.next : MAX_LEAVES;
	leaves->records = calloc(count + 1ul, sizeof(*leaves->records));
	if (!leaves->records)
		return -ENOMEM;
	bytes = pread(fd, leaves->records, count * sizeof(*leaves->records), sizeof(head));
	if (bytes < 0 || (size_t)bytes != count * sizeof(*leaves->records))
		return -EIO;
	for (i = 0; i < count; i++) {
		struct leaf_record *record = &leaves->records[leaves->count];

		if (!is_whole(&leaves->records[i]))
			continue;
		*record = leaves->records[i];
		record->kernel[sizeof(record->kernel) - 1] = 0;
		record->pool_name[sizeof(record->pool_name) - 1] = 0;
		leaves->count++;
	}
	leaves->lost = head.next - leaves->count;
	qsort(leaves->records, leaves->count, sizeof(*leaves->records), compare_start);
	return find_workers(leaves);
}

static double microseconds(const struct leaf_record *record, uint64_t origin, uint64_t at)
{
	return at > origin ? (at - origin) * 1e6 / record->clock_hz : 0;
}

/* The worker's clock is the device's, unless that is in another machine. */
static uint64_t ready_of(const struct leaf_record *record)
{
	return record->handed <= record->started && record->ended <= record->seen ?
	       record->handed : record->started;
}

static uint64_t origin_of(const struct leaves *leaves)
{
	uint64_t origin = leaves->count ? ready_of(&leaves->records[0]) : 0;
	unsigned int i;

	for (i = 1; i < leaves->count; i++)
		if (ready_of(&leaves->records[i]) < origin)
			origin = ready_of(&leaves->records[i]);
	return origin;
}

/* --- pictures ----------------------------------------------------------------- */

static void add_spans(struct picture *picture, const struct leaf_record *record)
{
	const struct picture_command *command = &picture->commands[picture->command_count];
	uint64_t units = record->units;

	for (; units; units &= units - 1) {
		const unsigned int unit = __builtin_ctzll(units);

		picture->spans[picture->span_count++] = (struct picture_span){
			.unit = unit, .command = picture->command_count,
			.started = command->started, .ended = command->ended,
		};
		if (unit >= picture->units)
			picture->units = unit + 1;
	}
}

static unsigned int count_spans(const struct leaves *leaves)
{
	unsigned int i, count = 0;

	for (i = 0; i < leaves->count; i++)
		count += __builtin_popcountll(leaves->records[i].units);
	return count;
}

static int make_picture(struct picture *picture, const struct leaves *leaves, const char *title)
{
	const uint64_t origin = origin_of(leaves);
	unsigned int i;

	memset(picture, 0, sizeof(*picture));
	picture->title = title;
	snprintf(picture->device, sizeof(picture->device), "leaves of pools");
	picture->commands = calloc(leaves->count + 1ul, sizeof(*picture->commands));
	picture->spans = calloc(count_spans(leaves) + 1ul, sizeof(*picture->spans));
	picture->lane_names = calloc(leaves->worker_count + 1ul, sizeof(*picture->lane_names));
	if (!picture->commands || !picture->spans || !picture->lane_names) {
		picture_fini(picture);
		return -ENOMEM;
	}
	for (i = 0; i < leaves->worker_count; i++)
		snprintf(picture->lane_names[i], sizeof(*picture->lane_names), "%s %u",
			 leaves->workers[i].first->pool_name, leaves->workers[i].first->worker);
	picture->lanes = leaves->worker_count;
	for (i = 0; i < leaves->count; i++) {
		const struct leaf_record *record = &leaves->records[i];

		picture->commands[i] = (struct picture_command){
			.name = record->kernel, .index = i, .is_work = true,
			.lane = leaves->worker_of[i],
			.ready = microseconds(record, origin, ready_of(record)),
			.started = microseconds(record, origin, record->started),
			.ended = microseconds(record, origin, record->ended),
		};
		add_spans(picture, record);
		picture->command_count++;
		if (picture->commands[i].ended > picture->end)
			picture->end = picture->commands[i].ended;
	}
	return 0;
}

static int draw(const struct options *options, const struct leaves *leaves)
{
	struct picture picture;
	int code;

	if (make_picture(&picture, leaves, options->command[0]))
		return cli_fail(TOOL, "out of memory");
	code = picture_write(&picture, options->trace, options->timeline);
	picture_fini(&picture);
	return code;
}

/* --- text --------------------------------------------------------------------- */

/* What a kernel cost in the leaves of one pool. */
struct sum {
	const struct leaf_record *first;
	uint64_t leaves, failed;
	double total, longest;
};

static int compare_sum(const void *a, const void *b)
{
	const struct leaf_record *x = ((const struct sum *)a)->first;
	const struct leaf_record *y = ((const struct sum *)b)->first;
	const int pool = compare_pool(x, y);

	return pool ? pool : strcmp(x->kernel, y->kernel);
}

/* In the order of the first leaves. Return: NULL without memory. */
static struct sum *sum_up(const struct leaves *leaves, unsigned int *count)
{
	struct sum *sums = calloc(leaves->count + 1ul, sizeof(*sums));
	void *tree = NULL;
	unsigned int i;

	*count = 0;
	for (i = 0; sums && i < leaves->count; i++) {
		const struct leaf_record *record = &leaves->records[i];
		const double us = microseconds(record, record->started, record->ended);
		struct sum *next = &sums[*count], **found;

		next->first = record;
		found = tsearch(next, &tree, compare_sum);
		if (!found) {
			free(sums);
			sums = NULL;
			break;
		}
		*count += *found == next;
		(*found)->leaves++;
		(*found)->failed += !!record->result;
		(*found)->total += us;
		if (us > (*found)->longest)
			(*found)->longest = us;
	}
	tdestroy(tree, keep);
	return sums;
}

static void print_sums(struct json *json, const struct leaves *leaves)
{
	unsigned int count, s;
	struct sum *sums = sum_up(leaves, &count);

	if (json)
		json_array(json, "kernels");
	else
		printf("%-20s %-16s %9s %8s %10s %10s us\n", "kernel", "pool", "leaves", "failed",
		       "mean", "longest");
	for (s = 0; sums && s < count; s++) {
		const struct sum *sum = &sums[s];

		if (!json) {
			printf("%-20s %-16s %9" PRIu64 " %8" PRIu64 " %10.2f %10.2f\n",
			       sum->first->kernel, sum->first->pool_name, sum->leaves, sum->failed,
			       sum->total / sum->leaves, sum->longest);
			continue;
		}
		json_object(json, NULL);
		json_string(json, "kernel", sum->first->kernel);
		json_string(json, "pool", sum->first->pool_name);
		json_count(json, "pid", sum->first->pid);
		json_count(json, "leaves", sum->leaves);
		json_count(json, "failed", sum->failed);
		json_real(json, "mean_us", sum->total / sum->leaves, 3);
		json_real(json, "longest_us", sum->longest, 3);
		json_object_end(json);
	}
	if (json)
		json_array_end(json);
	free(sums);
}

static void print_profile(struct json *json, const struct leaves *leaves)
{
	const uint64_t origin = origin_of(leaves);
	unsigned int i;

	if (json)
		json_array(json, "profile");
	else
		printf("%5s %-20s %-16s %6s %18s %10s %10s %10s us\n", "index", "kernel", "pool",
		       "worker", "units", "ready", "started", "ended");
	for (i = 0; i < leaves->count; i++) {
		const struct leaf_record *record = &leaves->records[i];
		const double ready = microseconds(record, origin, ready_of(record));
		const double started = microseconds(record, origin, record->started);
		const double ended = microseconds(record, origin, record->ended);

		if (!json) {
			printf("%5u %-20s %-16s %6u %#18" PRIx64 " %10.1f %10.1f %10.1f\n", i,
			       record->kernel, record->pool_name, record->worker, record->units,
			       ready, started, ended);
			continue;
		}
		json_object(json, NULL);
		json_count(json, "index", i);
		json_string(json, "kernel", record->kernel);
		json_string(json, "pool", record->pool_name);
		json_count(json, "pid", record->pid);
		json_count(json, "worker", record->worker);
		json_count(json, "units", record->units);
		json_bool(json, "failed", record->result);
		json_real(json, "ready_us", ready, 3);
		json_real(json, "started_us", started, 3);
		json_real(json, "ended_us", ended, 3);
		json_object_end(json);
	}
	if (json)
		json_array_end(json);
}

static void print(const struct options *options, const struct leaves *leaves)
{
	struct json writer = { .file = stdout }, *json = options->json ? &writer : NULL;

	if (json) {
		json_object(json, NULL);
		json_count(json, "leaves", leaves->count);
		json_count(json, "lost", leaves->lost);
	} else {
		printf("%u leaves of %u worker%s\n", leaves->count, leaves->worker_count,
		       leaves->worker_count == 1 ? "" : "s");
	}
	if (json || leaves->count)
		print_sums(json, leaves);
	if (options->stats)
		print_profile(json, leaves);
	if (json) {
		cli_write_error(json);
		json_object_end(json);
		json_line_end(json);
	}
}

static int show(const struct options *options, int fd)
{
	struct leaves leaves = { .count = 0 };
	int code = EXIT_OK;

	if (take(&leaves, fd)) {
		code = cli_fail(TOOL, "the records cannot be read");
	} else {
		if (leaves.lost)
			cli_fail(TOOL, "%" PRIu64 " leaves are left out", leaves.lost);
		code = draw(options, &leaves);
		print(options, &leaves);
	}
	free(leaves.records);
	free(leaves.worker_of);
	free(leaves.workers);
	return code;
}

int leaves_run(const struct options *options)
{
	const char *dir = getenv("TMPDIR");
	char path[4096];
	int code, fd;

	snprintf(path, sizeof(path), "%s/salvo-leaves.XXXXXX", dir ? dir : "/tmp");
	fd = make_file(path);
	if (fd < 0)
		return cli_fail(TOOL, "%s: %s", path, strerror(-fd));
	setenv(LEAF_RECORD_VARIABLE, path, 1);
	code = run_command(options->command, options->json);
	unlink(path);
	if (code != EXIT_USAGE)
		code |= show(options, fd);
	close(fd);
	return code;
}
