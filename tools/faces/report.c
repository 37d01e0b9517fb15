// SPDX-License-Identifier: MIT
/*
 * report.c - what salvo-faces prints
 */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "group.h"
#include "image.h"
#include "json.h"
#include "report.h"
#include "salvo.h"

static double wall_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static double cpu_ms(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e3 +
	       (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e3;
}

int meter_start(struct meter *m, struct salvo_device *device)
{
	struct salvo_device_stats s;
	int r = salvo_device_get_stats(device, &s);

	if (r)
		return r;
	m->packets = s.packets;
	m->doorbells = s.doorbells;
	m->interrupts = s.interrupts;
	m->completions = s.completions;
	m->busy_ns = s.busy_ns;
	m->cpu_ms = cpu_ms();
	m->wall_ms = wall_ms();
	return 0;
}

int meter_stop(const struct meter *m, struct salvo_device *device, struct frame_stats *out)
{
	double wall = wall_ms() - m->wall_ms, cpu = cpu_ms() - m->cpu_ms;
	struct salvo_device_info info;
	struct salvo_device_stats s;
	int r = salvo_device_get_stats(device, &s);

	if (r)
		return r;
	salvo_device_get_info(device, &info);
	out->packets = s.packets - m->packets;
	out->doorbells = s.doorbells - m->doorbells;
	out->interrupts = s.interrupts - m->interrupts;
	out->completions = s.completions - m->completions;
	out->wall_ms = wall;
	out->cpu_ms = cpu;
	out->busy = wall > 0 && info.units ?
		    (s.busy_ns - m->busy_ns) / (info.units * wall * 1e6) : 0;
	return 0;
}

static int compare_double(const void *a, const void *b)
{
	const double *l = a, *r = b;

	return (*l > *r) - (*l < *r);
}

static double median(double *values, unsigned int count)
{
	qsort(values, count, sizeof(*values), compare_double);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

void stats_median(struct frame_stats *stats, unsigned int count, struct frame_stats *out)
{
	double *values = malloc(count * sizeof(*values));
	unsigned int i;

	*out = stats[count - 1];
	if (!values)
		return;
	for (i = 0; i < count; i++)
		values[i] = stats[i].wall_ms;
	out->wall_ms = median(values, count);
	for (i = 0; i < count; i++)
		values[i] = stats[i].cpu_ms;
	out->cpu_ms = median(values, count);
	for (i = 0; i < count; i++)
		values[i] = stats[i].busy;
	out->busy = median(values, count);
	free(values);
}

void report_json(FILE *out, unsigned long frame, const char *file, const struct image *image,
		 const struct face *faces, unsigned int count, bool grouped)
{
	struct json json = { .file = out };
	unsigned int i;

	json_object(&json, NULL);
	json_count(&json, "frame", frame);
	json_string(&json, "file", file);
	json_count(&json, "width", image->width);
	json_count(&json, "height", image->height);
	json_array(&json, "faces");
	for (i = 0; i < count; i++) {
		json_object(&json, NULL);
		json_count(&json, "x", faces[i].x);
		json_count(&json, "y", faces[i].y);
		json_count(&json, "w", faces[i].width);
		json_count(&json, "h", faces[i].height);
		if (grouped)
			json_count(&json, "neighbors", faces[i].neighbors);
		json_object_end(&json);
	}
	json_array_end(&json);
	json_object_end(&json);
	json_line_end(&json);
}

void report_json_error(FILE *out, const char *file, const char *why)
{
	struct json json = { .file = out };

	json_object(&json, NULL);
	json_string(&json, "file", file);
	json_object(&json, "error");
	json_string(&json, "message", why);
	json_object_end(&json);
	json_object_end(&json);
	json_line_end(&json);
}

void report_text(FILE *out, unsigned long frame, const char *file, bool video,
		 const struct image *image, const struct face *faces, unsigned int count,
		 bool grouped)
{
	unsigned int i;

	fprintf(out, "%s", strcmp(file, "-") ? file : "standard input");
	if (video)
		fprintf(out, ", frame %lu", frame);
	fprintf(out, ": %d x %d, %u %s\n", image->width, image->height, count,
		grouped ? count == 1 ? "face" : "faces" :
			  count == 1 ? "rectangle" : "rectangles");
	for (i = 0; i < count; i++) {
		const struct face *f = &faces[i];

		fprintf(out, "  %d x %d at %d, %d", f->width, f->height, f->x, f->y);
		if (grouped)
			fprintf(out, "  (%d neighbors)", f->neighbors);
		putc('\n', out);
	}
}

#define LABEL_WIDTH	22
#define COLUMN_WIDTH	28

static void print_counts(FILE *out, const char *label, const struct frame_stats *stats,
			 unsigned int columns, size_t offset)
{
	unsigned int i;

	fprintf(out, "%-*s", LABEL_WIDTH, label);
	for (i = 0; i < columns; i++)
		fprintf(out, "%*llu", COLUMN_WIDTH,
			(unsigned long long)*(const uint64_t *)((const char *)&stats[i] + offset));
	putc('\n', out);
}

static void print_times(FILE *out, const char *label, const struct frame_stats *stats,
			unsigned int columns, size_t offset, double scale)
{
	unsigned int i;

	fprintf(out, "%-*s", LABEL_WIDTH, label);
	for (i = 0; i < columns; i++)
		fprintf(out, "%*.2f", COLUMN_WIDTH,
			*(const double *)((const char *)&stats[i] + offset) * scale);
	putc('\n', out);
}

void report_stats(FILE *out, const char *const *headings, const struct frame_stats *stats,
		  unsigned int columns)
{
	unsigned int i;

	fprintf(out, "%-*s", LABEL_WIDTH, "");
	for (i = 0; i < columns; i++)
		fprintf(out, "%*s", COLUMN_WIDTH, headings[i]);
	fprintf(out, "\n%-*s", LABEL_WIDTH, "workloads");
	for (i = 0; i < columns; i++)
		fprintf(out, "%*u", COLUMN_WIDTH, stats[i].workloads);
	putc('\n', out);
	print_counts(out, "DMA packets", stats, columns, offsetof(struct frame_stats, packets));
	print_counts(out, "doorbells", stats, columns, offsetof(struct frame_stats, doorbells));
	print_counts(out, "interrupts", stats, columns, offsetof(struct frame_stats, interrupts));
	print_counts(out, "deferred completions", stats, columns,
		     offsetof(struct frame_stats, completions));
	print_times(out, "wall ms", stats, columns, offsetof(struct frame_stats, wall_ms), 1);
	print_times(out, "CPU ms", stats, columns, offsetof(struct frame_stats, cpu_ms), 1);
	print_times(out, "GPU busy %", stats, columns, offsetof(struct frame_stats, busy), 100);
}
