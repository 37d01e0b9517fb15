// SPDX-License-Identifier: MIT
/*
 * main.c - salvo-faces: find faces in pictures and video
 *
 * Frames are read one after the other from the files of the command line. A detector is kept
 * while frames have the same size. A file that fails is reported and the next one is
 * processed; the exit code is then 1.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cascade.h"
#include "cli.h"
#include "detect.h"
#include "group.h"
#include "image.h"
#include "options.h"
#include "pyramid.h"
#include "report.h"
#include "salvo.h"
#include "source.h"

struct session {
	struct options options;
	struct salvo_device *device;
	struct cascade *cascade;
	struct detector *detectors[2];	/* by enum detect_mode */
	int width, height;		/* of the frames of the detectors */
	uint8_t *grey;
	struct frame_stats *stats[2];	/* of each run of a frame, by mode */
	unsigned long frames;		/* so far */
	bool many;			/* there may be more than one frame */
};

static bool uses_mode(const struct session *s, enum detect_mode mode)
{
	return s->options.compare || s->options.mode == mode;
}

static void drop_detectors(struct session *s)
{
	int mode;

	for (mode = 0; mode < 2; mode++) {
		detector_destroy(s->detectors[mode]);
		s->detectors[mode] = NULL;
	}
	free(s->grey);
	s->grey = NULL;
	s->width = s->height = 0;
}

static int make_detectors(struct session *s, int width, int height, struct faces_error *error)
{
	const struct options *o = &s->options;
	struct pyramid_options wanted = {
		.scale_factor = o->scale_factor,
		.min_width = o->min_width ? o->min_width : height / 16,
		.min_height = o->min_height ? o->min_height : height / 16,
		.max_width = o->max_width ? o->max_width : height / 2,
		.max_height = o->max_height ? o->max_height : height / 2,
	};
	struct pyramid *pyramid;
	int mode, r;

	if (s->width == width && s->height == height)
		return 0;
	drop_detectors(s);
	pyramid = malloc(sizeof(*pyramid));
	s->grey = malloc((size_t)width * height);
	if (!pyramid || !s->grey) {
		free(pyramid);
		return faces_fail(error, -ENOMEM, "out of memory");
	}
	r = pyramid_plan(pyramid, s->cascade, &wanted, width, height, error);
	for (mode = 0; !r && mode < 2; mode++) {
		if (!uses_mode(s, mode))
			continue;
		r = detector_create(s->device, s->cascade, pyramid, width, height, mode,
				    &s->detectors[mode], error);
		if (!r && detector_set_timeout(s->detectors[mode], o->timeout * 1e9))
			r = faces_fail(error, -EAGAIN, "no thread for the time limit");
	}
	free(pyramid);
	if (r) {
		drop_detectors(s);
		return r;
	}
	s->width = width;
	s->height = height;
	return 0;
}

/* Runs a frame --repeat times in a mode; the result is that of the last run. */
static int run_mode(struct session *s, enum detect_mode mode, struct face **faces,
		    struct faces_error *error)
{
	struct detector *d = s->detectors[mode];
	struct meter meter;
	int i, count = 0;

	for (i = 0; i < s->options.repeat; i++) {
		struct frame_stats *stats = &s->stats[mode][i];
		int r;

		free(*faces);
		*faces = NULL;
		r = meter_start(&meter, s->device);
		if (r)
			return faces_fail(error, r, "statistics: %s", strerror(-r));
		count = detector_run(d, s->grey, faces, error);
		if (count < 0)
			return count;
		r = meter_stop(&meter, s->device, stats);
		if (r)
			return faces_fail(error, r, "statistics: %s", strerror(-r));
		stats->workloads = detector_workloads(d);
	}
	return count;
}

static int run_frame(struct session *s, struct face **faces, struct faces_error *error)
{
	struct face *other = NULL;
	int count, other_count;

	count = run_mode(s, s->options.mode, faces, error);
	if (count < 0 || !s->options.compare)
		return count;
	other_count = run_mode(s, !s->options.mode, &other, error);
	if (other_count >= 0 && (other_count != count ||
				 (count && memcmp(other, *faces, count * sizeof(*other)))))
		other_count = faces_fail(error, -EIO, "the two modes give different rectangles");
	free(other);
	return other_count < 0 ? other_count : count;
}

static void print_stats(struct session *s, FILE *out)
{
	static const char *const headings[] = { "one packet per workload", "one batch" };
	static const enum detect_mode order[] = { DETECT_SINGLE, DETECT_BATCH };
	const char *used_headings[2];
	struct frame_stats columns[2];
	unsigned int i, count = 0;

	for (i = 0; i < 2; i++) {
		if (!uses_mode(s, order[i]))
			continue;
		stats_median(s->stats[order[i]], s->options.repeat, &columns[count]);
		used_headings[count++] = headings[i];
	}
	report_stats(out, used_headings, columns, count);
}

/* The name of the annotated picture: with several frames, %d becomes the frame's number. */
static char *output_name(const struct session *s)
{
	const char *at = strstr(s->options.output, "%d");
	char *name;
	int r;

	if (at)
		r = asprintf(&name, "%.*s%lu%s", (int)(at - s->options.output), s->options.output,
			     s->frames, at + 2);
	else
		r = asprintf(&name, "%s", s->options.output);
	return r < 0 ? NULL : name;
}

static int write_output(struct session *s, struct image *image, const struct face *faces,
			unsigned int count, struct faces_error *error)
{
	char *name;
	int r;

	if (s->many && s->frames && !strstr(s->options.output, "%d"))
		return faces_fail(error, -EINVAL, "--output needs %%d in the name for more than "
				  "one frame");
	name = output_name(s);
	if (!name)
		return faces_fail(error, -ENOMEM, "out of memory");
	r = image_draw_faces(image, faces, count, error);
	if (!r)
		r = image_write(image, name, error);
	free(name);
	return r;
}

static int handle_frame(struct session *s, const char *file, bool video, struct image *image,
			struct faces_error *error)
{
	const struct options *o = &s->options;
	struct face *faces = NULL;
	int count, r;

	r = make_detectors(s, image->width, image->height, error);
	if (r)
		return r;
	image_to_grey(image, s->grey);
	count = run_frame(s, &faces, error);
	if (count >= 0) {
		count = faces_group(faces, count, o->min_neighbors);
		if (count < 0)
			faces_fail(error, count, "out of memory");
		else
			count = faces_clip(faces, count, image->width, image->height);
	}
	if (count < 0) {
		free(faces);
		/* Their queues may be banned. */
		drop_detectors(s);
		return count;
	}
	if (o->json)
		report_json(stdout, s->frames, file, image, faces, count, o->min_neighbors > 0);
	else
		report_text(stdout, s->frames, file, video, image, faces, count,
			    o->min_neighbors > 0);
	if (o->stats)
		print_stats(s, o->json ? stderr : stdout);
	r = o->output ? write_output(s, image, faces, count, error) : 0;
	free(faces);
	return r;
}

/* A line on a terminal, overwritten once a second. */
static void show_progress(const struct session *s, bool end)
{
	static time_t shown;
	time_t now = time(NULL);

	if (!s->many || !isatty(STDERR_FILENO) || isatty(STDOUT_FILENO))
		return;
	if (end)
		fprintf(stderr, shown ? "\r%lu frames\n" : "", s->frames);
	else if (now != shown)
		fprintf(stderr, "\r%lu frames", s->frames);
	shown = now;
}

static int handle_file(struct session *s, const char *file)
{
	struct faces_error error = { "" };
	struct source *source;
	struct image image;
	int r;

	r = source_open(file, &source, &error);
	if (r)
		goto out;
	s->many |= source_is_video(source);
	while ((r = source_next(source, &image, &error)) > 0) {
		r = handle_frame(s, file, source_is_video(source), &image, &error);
		image_fini(&image);
		if (r)
			break;
		s->frames++;
		show_progress(s, false);
		if (ferror(stdout))
			break;
	}
	source_close(source);
out:
	if (!r)
		return EXIT_OK;
	fprintf(stderr, "%s: %s: %s\n", TOOL, file, error.text);
	if (s->options.json)
		report_json_error(stdout, file, error.text);
	return EXIT_FAILED;
}

static int set_up(struct session *s)
{
	const struct options *o = &s->options;
	struct faces_error error = { "" };
	int mode;

	if (cascade_load(o->cascade, &s->cascade, &error)) {
		cli_fail(TOOL, "%s", error.text);
		if (!strcmp(o->cascade, DEFAULT_CASCADE))
			fputs("Debian's package opencv-data has it.\n", stderr);
		return EXIT_FAILED;
	}
	if (cli_open(TOOL, o->device, &s->device))
		return EXIT_FAILED;
	for (mode = 0; mode < 2; mode++) {
		s->stats[mode] = calloc(o->repeat, sizeof(*s->stats[mode]));
		if (!s->stats[mode])
			return cli_fail(TOOL, "out of memory");
	}
	return EXIT_OK;
}

int main(int argc, char **argv)
{
	struct session s = { 0 };
	int i, code, failed;

	code = options_parse(argc, argv, &s.options);
	if (code >= 0)
		return code;
	code = failed = set_up(&s);
	s.many = s.options.file_count > 1;
	for (i = 0; !failed && i < s.options.file_count && !ferror(stdout); i++)
		code |= handle_file(&s, s.options.files[i]);
	show_progress(&s, true);
	drop_detectors(&s);
	salvo_device_close(s.device);
	cascade_free(s.cascade);
	free(s.stats[0]);
	free(s.stats[1]);
	return cli_finish(TOOL, code);
}
