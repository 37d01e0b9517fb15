// SPDX-License-Identifier: MIT
/*
 * timeline.c - a batch, or leaves of pools, as a picture: units and chains against time
 *
 * At the top, a row for each execution unit with the commands that it ran, if the GPU is
 * embedded, or the leaves. Below, a row for each chain of commands, or for each worker: a bar is
 * pale while the command is ready and waits for a unit, and solid while it runs; an arrow for each
 * pipe control, a dashed line for each barrier. A command has the same colour in both.
 */
#include <math.h>
#include <string.h>

#include "picture.h"
#include "utf8.h"

#define WIDTH		1200.0
#define LEFT		90.0
#define RIGHT		20.0
#define TOP		64.0
#define UNIT_ROW	22.0
#define CHAIN_ROW	20.0
#define GAP		26.0
#define LETTER		5.6	/* width of a letter on a bar */

/* The layout of the picture. */
struct frame {
	const struct picture *picture;
	FILE *file;
	double scale;		/* pixels a microsecond */
	double units_top;
	double chains_top;
	double bottom;
};

/* XML has no control characters and no U+FFFE and U+FFFF, not even escaped. */
static bool is_xml(const char *text, int length)
{
	return length == 1 ? *text >= ' ' : length && memcmp(text, "\xef\xbf\xbe", 3) &&
	       memcmp(text, "\xef\xbf\xbf", 3);
}

static void write_text(FILE *file, const char *text)
{
	int length;

	for (; *text; text += length ? length : 1) {
		length = utf8_length(text);
		if (*text == '<')
			fputs("&lt;", file);
		else if (*text == '>')
			fputs("&gt;", file);
		else if (*text == '&')
			fputs("&amp;", file);
		else if (is_xml(text, length))
			fwrite(text, 1, length, file);
		else
			fputs(UTF8_REPLACEMENT, file);
	}
}

static double x_of(const struct frame *frame, double time)
{
	return LEFT + time * frame->scale;
}

static double chain_y(const struct frame *frame, unsigned int lane)
{
	return frame->chains_top + lane * CHAIN_ROW;
}

/* Adjacent chains get different hues. */
static void write_colour(const struct frame *frame, const struct picture_command *command)
{
	static const char *const colours[] = {
		"#4e79a7", "#d9731a", "#59a14f", "#b07aa1", "#e15759", "#3f9a94",
		"#b6992d", "#9c755f", "#d4607c", "#499894", "#7b66a8", "#5c8ac0",
	};

	fputs(colours[command->lane % (sizeof(colours) / sizeof(colours[0]))], frame->file);
}

static const char *name_of(const struct picture_command *command)
{
	return command->label ? command->label : command->name;
}

/* A bar with its name, if that fits, and a tooltip. */
static void write_bar(const struct frame *frame, const struct picture_command *command, double y,
		      double height, double started, double ended)
{
	const double x = x_of(frame, started);
	double width = (ended - started) * frame->scale;
	const char *name = name_of(command), *end;

	if (width < 1)
		width = 1;
	for (end = name; *end; end++)
		;
	fprintf(frame->file, "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" fill=\"",
		x, y, width, height);
	write_colour(frame, command);
	fputs("\"><title>", frame->file);
	write_text(frame->file, name);
	fprintf(frame->file, " (command %u, ", command->index);
	write_text(frame->file, command->name);
	fprintf(frame->file, "): ready %.2f, started %.2f, ended %.2f us</title></rect>\n",
		command->ready, command->started, command->ended);
	if (width < (end - name) * LETTER + 4)
		return;
	fprintf(frame->file, "<text class=\"bar\" x=\"%.2f\" y=\"%.1f\">", x + 3,
		y + height - 4.5);
	write_text(frame->file, name);
	fputs("</text>\n", frame->file);
}

/* 1, 2 or 5 times a power of ten, so that there are 6 to 15 steps. */
static double tick_step(double end)
{
	const double rough = end / 8, power = pow(10, floor(log10(rough)));

	if (rough / power < 1.5)
		return power;
	if (rough / power < 3.5)
		return 2 * power;
	return rough / power < 7.5 ? 5 * power : 10 * power;
}

static void write_axis(const struct frame *frame)
{
	const double step = tick_step(frame->picture->end);
	double at;
	int i;

	for (i = 0; (at = i * step) <= frame->picture->end * 1.0001; i++) {
		fprintf(frame->file, "<line class=\"grid\" x1=\"%.2f\" y1=\"%.1f\" x2=\"%.2f\" "
			"y2=\"%.1f\"/>\n", x_of(frame, at), TOP, x_of(frame, at), frame->bottom);
		fprintf(frame->file, "<text class=\"tick\" x=\"%.2f\" y=\"%.1f\">%g</text>\n",
			x_of(frame, at), frame->bottom + 14, at);
	}
	fprintf(frame->file, "<text class=\"tick\" x=\"%.1f\" y=\"%.1f\">microseconds since the "
		"%s</text>\n", LEFT + (WIDTH - LEFT - RIGHT) / 2, frame->bottom + 30,
		frame->picture->lane_names ? "first leaf was handed over" :
		"first command was read");
}

static void write_row(const struct frame *frame, double y, double height, const char *name)
{
	fprintf(frame->file, "<text class=\"row\" x=\"%.1f\" y=\"%.1f\">", LEFT - 8,
		y + height / 2 + 3);
	write_text(frame->file, name);
	fputs("</text>\n", frame->file);
}

static void write_row_name(const struct frame *frame, double y, double height, const char *what,
			   unsigned int number)
{
	char name[32];

	snprintf(name, sizeof(name), "%s %u", what, number);
	write_row(frame, y, height, name);
}

/* Chunks of one command that follow each other on a unit are one bar. */
static void write_units(const struct frame *frame)
{
	const struct picture *picture = frame->picture;
	unsigned int unit, i;

	if (!picture->span_count)
		return;
	for (unit = 0; unit < picture->units; unit++) {
		const double y = frame->units_top + unit * UNIT_ROW;
		const struct picture_span *last = NULL;
		double started = 0, ended = 0;

		write_row_name(frame, y, UNIT_ROW, "unit", unit);
		for (i = 0; i < picture->span_count; i++) {
			const struct picture_span *span = &picture->spans[i];

			if (span->unit != unit)
				continue;
			if (last && last->command == span->command &&
			    (span->started - ended) * frame->scale < 0.5) {
				ended = span->ended;
				continue;
			}
			if (last)
				write_bar(frame, &picture->commands[last->command], y + 2,
					  UNIT_ROW - 4, started, ended);
			last = span;
			started = span->started;
			ended = span->ended;
		}
		if (last)
			write_bar(frame, &picture->commands[last->command], y + 2, UNIT_ROW - 4,
				  started, ended);
	}
}

static void write_chains(const struct frame *frame)
{
	const struct picture *picture = frame->picture;
	unsigned int i;

	for (i = 0; i < picture->lanes; i++)
		if (picture->lane_names)
			write_row(frame, chain_y(frame, i), CHAIN_ROW, picture->lane_names[i]);
		else
			write_row_name(frame, chain_y(frame, i), CHAIN_ROW, "chain", i);
	for (i = 0; i < picture->command_count; i++) {
		const struct picture_command *command = &picture->commands[i];
		const double y = chain_y(frame, command->lane) + 2;

		if (!command->is_work)
			continue;
		fprintf(frame->file, "<rect class=\"waits\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" "
			"height=\"%.1f\" fill=\"", x_of(frame, command->ready), y,
			(command->started - command->ready) * frame->scale, CHAIN_ROW - 4);
		write_colour(frame, command);
		fputs("\"/>\n", frame->file);
		write_bar(frame, command, y, CHAIN_ROW - 4, command->started, command->ended);
	}
}

static void write_order(const struct frame *frame)
{
	const struct picture *picture = frame->picture;
	unsigned int i;

	for (i = 0; i < picture->edge_count; i++) {
		const struct picture_command *from = &picture->commands[picture->edges[i].producer];
		const struct picture_command *to = &picture->commands[picture->edges[i].consumer];

		if (from->is_work && to->is_work)
			fprintf(frame->file, "<line class=\"edge\" x1=\"%.2f\" y1=\"%.1f\" "
				"x2=\"%.2f\" y2=\"%.1f\" marker-end=\"url(#tip)\"/>\n",
				x_of(frame, from->ended),
				chain_y(frame, from->lane) + CHAIN_ROW / 2,
				x_of(frame, to->started),
				chain_y(frame, to->lane) + CHAIN_ROW / 2);
	}
	for (i = 0; i < picture->barrier_count; i++)
		fprintf(frame->file, "<line class=\"barrier\" x1=\"%.2f\" y1=\"%.1f\" x2=\"%.2f\" "
			"y2=\"%.1f\"><title>barrier</title></line>\n",
			x_of(frame, picture->barriers[i]), TOP - 4,
			x_of(frame, picture->barriers[i]), frame->bottom);
}

static void write_head(const struct frame *frame)
{
	static const char style[] =
		"<style>text{font-family:sans-serif;font-size:11px;fill:#222}"
		".title{font-size:15px;font-weight:bold}.row{text-anchor:end}"
		".tick{text-anchor:middle;fill:#555}.bar{font-size:10px;fill:#fff}"
		".grid{stroke:#ddd;stroke-width:1}.waits{opacity:.25}"
		".edge{stroke:#333;stroke-width:.8;opacity:.7}"
		".barrier{stroke:#c00;stroke-width:1.2;stroke-dasharray:4 3}</style>\n"
		"<defs><marker id=\"tip\" viewBox=\"0 0 6 6\" refX=\"6\" refY=\"3\" markerWidth=\"6\" "
		"markerHeight=\"6\" orient=\"auto\"><path d=\"M0 0L6 3L0 6z\" fill=\"#333\"/>"
		"</marker></defs>\n";
	unsigned int i, work = 0;

	for (i = 0; i < frame->picture->command_count; i++)
		work += frame->picture->commands[i].is_work;
	fprintf(frame->file, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
		"height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n", WIDTH, frame->bottom + 40, WIDTH,
		frame->bottom + 40);
	fputs(style, frame->file);
	fputs("<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
	      "<text class=\"title\" x=\"16\" y=\"24\">", frame->file);
	write_text(frame->file, frame->picture->title);
	fputs("</text>\n<text x=\"16\" y=\"42\">", frame->file);
	write_text(frame->file, frame->picture->device);
	if (frame->picture->lane_names) {
		fprintf(frame->file, ": %u of %u worker%s, %.1f us</text>\n", work,
			frame->picture->lanes, frame->picture->lanes == 1 ? "" : "s",
			frame->picture->end);
		return;
	}
	fprintf(frame->file, ": %u command%s of work in %u chain%s, %u pipe control%s, "
		"%u barrier%s, %.1f us</text>\n", work, work == 1 ? "" : "s",
		frame->picture->lanes, frame->picture->lanes == 1 ? "" : "s",
		frame->picture->edge_count, frame->picture->edge_count == 1 ? "" : "s",
		frame->picture->barrier_count, frame->picture->barrier_count == 1 ? "" : "s",
		frame->picture->end);
}

void timeline_write(const struct picture *picture, FILE *file)
{
	struct frame frame = {
		.picture = picture,
		.file = file,
		.scale = (WIDTH - LEFT - RIGHT) / (picture->end > 0 ? picture->end : 1),
		.units_top = TOP,
	};

	frame.chains_top = TOP;
	if (picture->span_count)
		frame.chains_top += picture->units * UNIT_ROW + GAP;
	frame.bottom = frame.chains_top + picture->lanes * CHAIN_ROW + 4;
	write_head(&frame);
	if (picture->end > 0)
		write_axis(&frame);
	write_units(&frame);
	write_chains(&frame);
	write_order(&frame);
	fputs("</svg>\n", file);
}
