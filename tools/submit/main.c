// SPDX-License-Identifier: MIT
/*
 * main.c - salvo-submit: run a batch written in the human-readable form
 *
 * Reads the file (salvo-submit(1) describes it), builds its batch, submits it as one packet,
 * compares the results with the expectations of the file, and prints what it cost. For a
 * picture it also records when each command ran and, on the embedded GPU, on which unit.
 */
#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "file.h"
#include "leaves.h"
#include "options.h"
#include "picture.h"
#include "report.h"
#include "soft_record.h"
#include "drm/salvo_drm.h"

#define DIR_BYTES	4096
#define MAX_DIRS	5
/* Chunks that are recorded; later ones are not in pictures. */
#define MAX_SPANS	(1u << 20)

/* --- input ------------------------------------------------------------------ */

static int read_text(const char *path, char **text, size_t *bytes)
{
	FILE *file = strcmp(path, "-") ? fopen(path, "rbe") : stdin;
	int err;

	*text = NULL;
	if (!file)
		return -errno;
	err = file_read_all(file, SALVO_TEXT_MAX_BYTES, text, bytes);
	if (file != stdin)
		fclose(file);
	return err;
}

/* The folder of a file, "." if its name has none. */
static void folder_of(const char *path, char out[DIR_BYTES])
{
	char copy[DIR_BYTES];

	snprintf(copy, sizeof(copy), "%s", path);
	snprintf(out, DIR_BYTES, "%s", dirname(copy));
}

/* Kernels beside the program: ../kernels when built, ../lib/salvo/kernels when installed. */
static void own_folders(char built[DIR_BYTES], char installed[DIR_BYTES])
{
	char self[DIR_BYTES - 64] = ".", folder[DIR_BYTES];
	char *run_as = (char *)(uintptr_t)getauxval(AT_EXECFN);
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (length > 0)
		self[length] = 0;
	else if (run_as)	/* without /proc */
		snprintf(self, sizeof(self), "%s", run_as);
	folder_of(self, folder);
	snprintf(built, DIR_BYTES, "%.4000s/../kernels", folder);
	snprintf(installed, DIR_BYTES, "%.4000s/../lib/salvo/kernels", folder);
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

/* --- the run ---------------------------------------------------------------- */

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static bool wants_picture(const struct options *options)
{
	return options->trace || options->timeline;
}

/* Returns NULL where the units cannot be recorded. */
static struct salvo_gpu_recording *start_recording(struct salvo_device *device)
{
	struct salvo_gpu_recording *recording = calloc(1, sizeof(*recording));

	if (!recording)
		return NULL;
	recording->capacity = MAX_SPANS;
	/* Untouched pages take no memory. */
	recording->spans = calloc(MAX_SPANS, sizeof(*recording->spans));
	if (recording->spans && !salvo_soft_record(device, recording))
		return recording;
	free(recording->spans);
	free(recording);
	return NULL;
}

static void end_recording(struct salvo_device *device, struct salvo_gpu_recording *recording)
{
	if (!recording)
		return;
	salvo_soft_record(device, NULL);
	free(recording->spans);
	free(recording);
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
		cli_fail(TOOL, "no queue: %s", strerror(-err));
		return err;
	}
	if (options->stats || wants_picture(options))
		salvo_batch_enable_profile(build->batch);
	salvo_device_get_stats(device, &before);
	start = now_ns();
	err = salvo_queue_submit(queue, build->batch, NULL, 0, &fence);
	if (err) {
		report_error(options, 0, 0, salvo_batch_error(build->batch));
	} else {
		err = salvo_fence_wait(fence, options->timeout * 1e9);
		if (err)
			report_failure(options, fence, err);
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

static int draw(const struct options *options, const struct salvo_text_build *build,
		const struct salvo_device_info *info, const struct salvo_gpu_recording *recording)
{
	struct picture picture;
	int code;

	if (picture_make(&picture, options->file, build, info, recording))
		return cli_fail(TOOL, "out of memory");
	if (recording && recording->next > recording->capacity)
		cli_fail(TOOL, "only the first %u chunks of work-groups are in the picture",
			 recording->capacity);
	code = picture_write(&picture, options->trace, options->timeline);
	picture_fini(&picture);
	return code;
}

static int run_batch(const struct options *options, struct salvo_device *device,
		     struct salvo_text_build *build)
{
	struct salvo_gpu_recording *recording = NULL;
	struct salvo_device_info info;
	struct cost cost = { 0 };
	int code = EXIT_OK;

	salvo_device_get_info(device, &info);
	if (wants_picture(options))
		recording = start_recording(device);
	if (submit(options, device, build, &cost)) {
		code = EXIT_FAILED;
	} else {
		if (report_run(options, build, &info, &cost))
			code = EXIT_FAILED;
		if (wants_picture(options))
			code |= draw(options, build, &info, recording);
	}
	end_recording(device, recording);
	return code;
}

static int explain(const struct options *options, const struct salvo_text_build *build)
{
	int err = report_hazards(options, build);

	if (!err)
		return EXIT_OK;
	report_error(options, 0, 0, salvo_batch_error(build->batch));
	return EXIT_FAILED;
}

/* Else the device failed. */
static bool is_fault_of_file(int err)
{
	return err == -EINVAL || err == -E2BIG || err == -ENOENT || err == -ENOEXEC ||
	       err == -EACCES || err == -EISDIR || err == -ENOTSUP;
}

static int run(const struct options *options, const struct salvo_text *text)
{
	struct salvo_text_build *built = NULL;
	struct salvo_text_error error;
	struct salvo_device *device;
	int err, code = EXIT_OK;

	if (cli_open(TOOL, options->device, &device))
		return EXIT_FAILED;
	err = build(options, text, device, &built, &error);
	if (err) {
		report_error(options, error.line, error.column, error.message);
		salvo_device_close(device);
		return is_fault_of_file(err) ? EXIT_USAGE : EXIT_FAILED;
	}
	if (options->explain)
		code = explain(options, built);
	else if (!options->check)
		code = run_batch(options, device, built);
	/* A batch that hangs runs until the device is closed. */
	salvo_text_build_destroy(built);
	salvo_device_close(device);
	return code;
}

/* Replaces this process by the command, and has its library write batches. */
static int dump(const struct options *options)
{
	char path[DIR_BYTES], *dir = NULL;

	if (!mkdir(options->dump, 0777) || errno == EEXIST) {
		/* "/." fails for a file; an absolute path, since the command may change folder. */
		snprintf(path, sizeof(path), "%s/.", options->dump);
		dir = realpath(path, NULL);
	}
	if (!dir || access(dir, W_OK | X_OK)) {
		free(dir);
		return cli_fail(TOOL, "%s: %s", options->dump, strerror(errno));
	}
	setenv("SALVO_DUMP", dir, 1);
	free(dir);
	execvp(options->command[0], options->command);
	cli_fail(TOOL, "%s: %s", options->command[0], strerror(errno));
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	struct salvo_text_error error;
	struct options options;
	struct salvo_text *text;
	char *source = NULL;
	size_t bytes = 0;
	int err, code;

	code = options_parse(argc, argv, &options);
	if (code >= 0)
		return code;
	if (options.dump)
		return cli_finish(TOOL, dump(&options));
	if (options.leaves)
		return cli_finish(TOOL, leaves_run(&options));
	err = read_text(options.file, &source, &bytes);
	if (err) {
		if (err == -EFBIG)
			cli_fail(TOOL, "%s: more than %u bytes", options.file, SALVO_TEXT_MAX_BYTES);
		else
			cli_fail(TOOL, "%s: %s", options.file, strerror(-err));
		return cli_finish(TOOL, EXIT_USAGE);
	}
	err = salvo_text_parse(source, bytes, &text, &error);
	free(source);
	if (err) {
		report_error(&options, error.line, error.column, error.message);
		return cli_finish(TOOL, EXIT_USAGE);
	}
	code = EXIT_OK;
	if (options.list) {
		salvo_text_write(text, stdout);
	} else if (text->command_count) {
		code = run(&options, text);
	} else {
		report_error(&options, 0, 0, "no commands");
		code = EXIT_USAGE;
	}
	salvo_text_destroy(text);
	return cli_finish(TOOL, code);
}
