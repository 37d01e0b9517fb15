// SPDX-License-Identifier: MIT
/*
 * draw.c - a plan as a picture
 *
 * A panel for the result and for each operand: segments in the colour of the node that stores
 * them and with its number, memory blocks in lines, task blocks in dotted lines. A memory block
 * that moves has a bar in the colour of each node that it moves to. Below are the nodes with their
 * tasks and bytes, and the bytes from each node to each. Arrays of rank 3 and 4 are drawn as the
 * plane of their last two dimensions at the first index of the others.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "plan.h"
#include "utf8.h"

#define SIDE		360.0	/* of the longer side of a panel */
#define MARGIN		24.0
#define HEAD		44.0	/* above a panel */
#define ROW		20.0	/* of a table */
#define COLUMN		96.0
#define MOST_DRAWN	4096u	/* segments or memory blocks of a field */
#define MOST_LINES	16384u	/* tasks, which are left out if they are more */
#define MOST_MATRIX	12u	/* nodes in a table from each to each */
#define MOST_ROWS	64u	/* nodes in a table */

struct panel {
	FILE *file;
	double x, y, scale, width, height;
	unsigned int rank;
	struct salvo_agile_grid grid;
};

/* Eight colours that are told apart also by people who see few of them, then lighter ones. */
static void colour(FILE *file, uint32_t node)
{
	static const unsigned char base[8][3] = {
		{ 0x56, 0xb4, 0xe9 }, { 0xe6, 0x9f, 0x00 }, { 0x00, 0x9e, 0x73 },
		{ 0xcc, 0x79, 0xa7 }, { 0xf0, 0xe4, 0x42 }, { 0x00, 0x72, 0xb2 },
		{ 0xd5, 0x5e, 0x00 }, { 0x99, 0x99, 0x99 },
	};
	const unsigned int light = node / 8 % 4;
	unsigned int c[3];

	for (unsigned int i = 0; i < 3; i++)
		c[i] = base[node % 8][i] + (255 - base[node % 8][i]) * light / 5;
	fprintf(file, "#%02x%02x%02x", c[0], c[1], c[2]);
}

static void write_name(FILE *file, const char *name)
{
	while (*name) {
		const int length = utf8_length(name);

		if (!length)
			fputs(UTF8_REPLACEMENT, file);
		else if (length > 1)
			fwrite(name, 1, length, file);
		else if ((unsigned char)*name < ' ' || *name == 127)
			fputc(' ', file);
		else if (strchr("<>&\"'", *name))
			fprintf(file, "&#%d;", *name);
		else
			fputc(*name, file);
		name += length ? length : 1;
	}
}

/* Bytes, short. */
static void write_bytes(FILE *file, uint64_t bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double value = bytes;
	unsigned int unit = 0;

	for (; value >= 1024 && unit < 6; unit++)
		value /= 1024;
	fprintf(file, "%.4g %s", value, units[unit]);
}

/* --- panels --------------------------------------------------------------------------- */

/* Where a grid is on the plane that is drawn; false if it is not there. */
static bool place(const struct panel *panel, const struct salvo_agile_grid *grid, double *x,
		  double *y, double *width, double *height)
{
	const unsigned int rank = panel->rank;
	unsigned int d;

	for (d = 0; d + 2 < rank; d++)
		if (grid->offset[d] != panel->grid.offset[d])
			return false;
	*x = panel->x + (grid->offset[rank - 1] - panel->grid.offset[rank - 1]) * panel->scale;
	*width = grid->extent[rank - 1] * panel->scale;
	*y = panel->y;
	*height = panel->height;
	if (rank > 1) {
		*y += (grid->offset[rank - 2] - panel->grid.offset[rank - 2]) * panel->scale;
		*height = grid->extent[rank - 2] * panel->scale;
	}
	return true;
}

static void draw_box(const struct panel *panel, const struct salvo_agile_grid *grid,
		     const char *class)
{
	double x, y, width, height;

	if (place(panel, grid, &x, &y, &width, &height))
		fprintf(panel->file,
			"<rect class=\"%s\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"/>\n",
			class, x, y, width, height);
}

static void draw_segments(const struct panel *panel, const struct salvo_agile_map *map)
{
	double x, y, width, height;
	unsigned int i;

	for (i = 0; i < salvo_agile_map_count(map); i++) {
		const struct salvo_agile_segment *segment = salvo_agile_map_segment(map, i);

		if (!place(panel, &segment->grid, &x, &y, &width, &height))
			continue;
		fprintf(panel->file,
			"<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"",
			x, y, width, height);
		colour(panel->file, segment->node);
		fprintf(panel->file, "\"><title>segment %u, node %u</title></rect>\n", i,
			segment->node);
	}
}

static void draw_lines(const struct panel *panel, const struct plan_field *field,
		       unsigned int blocks)
{
	const unsigned int tasks = salvo_agile_field_tasks(field->field);
	struct salvo_agile_place task;
	uint32_t last = ~0u;
	unsigned int i;

	for (i = 0; i < tasks; i++) {
		salvo_agile_field_task(field->field, i, &task);
		if (tasks > blocks && tasks <= MOST_LINES)
			draw_box(panel, &task.task_grid, "task");
		if (task.block != last)
			draw_box(panel, &task.block_grid, "block");
		last = task.block;
	}
}

static void draw_labels(const struct panel *panel, const struct salvo_agile_map *map)
{
	double x, y, width, height;
	unsigned int i;

	for (i = 0; i < salvo_agile_map_count(map); i++) {
		const struct salvo_agile_segment *segment = salvo_agile_map_segment(map, i);

		if (!place(panel, &segment->grid, &x, &y, &width, &height))
			continue;
		draw_box(panel, &segment->grid, "segment");
		if (width >= 24 && height >= 14)
			fprintf(panel->file,
				"<text class=\"node\" x=\"%.2f\" y=\"%.2f\">%u</text>\n",
				x + 5, y + 14, segment->node);
	}
}

/* Bars at the lower edge of the blocks that move, side by side for several nodes. */
static void draw_moves(const struct panel *panel, const struct plan *plan, unsigned int field)
{
	const struct plan_move *moves = plan->moves;
	uint16_t *places, *used;
	uint32_t most = 0;
	unsigned int i;

	for (i = 0; i < plan->move_count; i++)
		most = moves[i].field == field && moves[i].block > most ? moves[i].block : most;
	places = calloc(most + 1ul, sizeof(*places));
	used = calloc(most + 1ul, sizeof(*used));
	for (i = 0; i < plan->move_count && places && used; i++)
		if (moves[i].field == field)
			places[moves[i].block]++;
	for (i = 0; i < plan->move_count && places && used; i++) {
		double x, y, width, height, bar;

		if (moves[i].field != field ||
		    !place(panel, &moves[i].grid, &x, &y, &width, &height))
			continue;
		bar = 0.8 * width / places[moves[i].block];
		fprintf(panel->file,
			"<rect class=\"move\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"",
			x + 0.1 * width + bar * used[moves[i].block]++, y + 0.68 * height, bar,
			0.22 * height);
		colour(panel->file, moves[i].to);
		fprintf(panel->file, "\"><title>block %u, node %u to %u</title></rect>\n",
			moves[i].block, moves[i].from, moves[i].to);
	}
	free(places);
	free(used);
}

static int check_field(const struct plan *plan, unsigned int number, unsigned int *blocks)
{
	const struct plan_field *field = &plan->fields[number];
	const unsigned int tasks = salvo_agile_field_tasks(field->field);
	struct salvo_agile_place last;

	salvo_agile_field_task(field->field, tasks - 1, &last);
	*blocks = last.block + 1;
	if (*blocks <= MOST_DRAWN)
		return EXIT_OK;
	return cli_fail(TOOL, "field %s: %u memory blocks, at most %u can be drawn", field->name,
			*blocks, MOST_DRAWN);
}

static int draw_field(const struct plan *plan, unsigned int number, struct panel *panel)
{
	const struct plan_field *field = &plan->fields[number];
	const struct salvo_agile_map *map = field->map ? field->map : plan->fields[0].map;
	unsigned int blocks, i, moved = 0;
	uint64_t bytes = 0;
	const int code = check_field(plan, number, &blocks);

	if (code)
		return code;
	for (i = 0; i < plan->move_count; i++)
		if (plan->moves[i].field == number) {
			bytes += plan->moves[i].bytes;
			moved++;
		}
	fprintf(panel->file, "<text class=\"title\" x=\"%.2f\" y=\"%.2f\">", panel->x,
		panel->y - 24);
	write_name(panel->file, field->name);
	fprintf(panel->file, number ? ": read %s</text>\n" : ": computed</text>\n", field->region);
	fprintf(panel->file, "<text x=\"%.2f\" y=\"%.2f\">", panel->x, panel->y - 8);
	if (number) {
		fprintf(panel->file, "%u moves of %u memory blocks, ", moved, blocks);
		write_bytes(panel->file, bytes);
	} else {
		fprintf(panel->file, "%u segments, %u memory blocks, %u tasks",
			salvo_agile_map_count(map), blocks,
			salvo_agile_field_tasks(field->field));
	}
	fputs("</text>\n", panel->file);
	draw_segments(panel, map);
	draw_lines(panel, field, blocks);
	draw_moves(panel, plan, number);
	draw_labels(panel, map);
	return EXIT_OK;
}

/* --- tables ----------------------------------------------------------------------------- */

static void cell(FILE *file, double x, double y, const char *text)
{
	fprintf(file, "<text class=\"cell\" x=\"%.2f\" y=\"%.2f\">%s</text>\n", x, y, text);
}

static void draw_nodes(const struct plan *plan, FILE *file, double top)
{
	static const char *const heads[] = {
		"node", "queued", "tasks", "stolen", "moved to it", "ends at" };
	const unsigned int rows = plan->nodes < MOST_ROWS ? plan->nodes : MOST_ROWS;
	unsigned int i, k;
	char text[32];

	for (k = 0; k < 6; k++)
		cell(file, MARGIN + (k + 0.9) * COLUMN, top, heads[k]);
	for (i = 0; i < rows; i++) {
		const struct salvo_agile_schedule *node = &plan->schedule[i];
		const unsigned int counts[] = { i, node->queued, node->tasks, node->stolen };
		const double y = top + (i + 1) * ROW;

		fprintf(file, "<rect x=\"%.2f\" y=\"%.2f\" width=\"16\" height=\"14\" fill=\"",
			MARGIN, y - 12);
		colour(file, i);
		fputs("\"/>\n", file);
		for (k = 0; k < 4; k++) {
			snprintf(text, sizeof(text), "%u", counts[k]);
			cell(file, MARGIN + (k + 0.9) * COLUMN, y, text);
		}
		fprintf(file, "<text class=\"cell\" x=\"%.2f\" y=\"%.2f\">",
			MARGIN + 4.9 * COLUMN, y);
		write_bytes(file, node->moved_bytes);
		fputs("</text>\n", file);
		snprintf(text, sizeof(text), "%.6g", node->finish);
		cell(file, MARGIN + 5.9 * COLUMN, y, text);
	}
	if (rows < plan->nodes)
		fprintf(file, "<text x=\"%.2f\" y=\"%.2f\">and %u more nodes</text>\n", MARGIN,
			top + (rows + 1) * ROW, plan->nodes - rows);
}

static void draw_matrix(const struct plan *plan, FILE *file, double left, double top)
{
	uint64_t bytes[MOST_MATRIX][MOST_MATRIX] = { { 0 } };
	char text[32];
	unsigned int i, k;

	for (i = 0; i < plan->move_count; i++)
		bytes[plan->moves[i].from][plan->moves[i].to] += plan->moves[i].bytes;
	cell(file, left + 0.9 * COLUMN, top, "from \\ to");
	for (i = 0; i < plan->nodes; i++) {
		snprintf(text, sizeof(text), "node %u", i);
		cell(file, left + (i + 1.9) * COLUMN, top, text);
		cell(file, left + 0.9 * COLUMN, top + (i + 1) * ROW, text);
		for (k = 0; k < plan->nodes; k++) {
			fprintf(file, "<text class=\"cell\" x=\"%.2f\" y=\"%.2f\">",
				left + (k + 1.9) * COLUMN, top + (i + 1) * ROW);
			if (bytes[i][k])
				write_bytes(file, bytes[i][k]);
			else
				fputc('-', file);
			fputs("</text>\n", file);
		}
	}
}

int plan_draw(const struct plan *plan, FILE *file)
{
	const struct salvo_agile_grid *grid = &plan->fields[0].grid;
	const unsigned int last = grid->rank - 1;
	const double columns = grid->extent[last];
	const double rows = grid->rank > 1 ? grid->extent[last - 1] : 0;
	const double scale = SIDE / (rows > columns ? rows : columns);
	struct panel panel = {
		.file = file, .x = MARGIN, .y = MARGIN + HEAD, .scale = scale,
		.width = columns * scale, .height = grid->rank > 1 ? rows * scale : 60,
		.rank = grid->rank, .grid = *grid };
	/* The text above a panel needs some width too. */
	const double step = MARGIN + (panel.width < 300 ? 300 : panel.width);
	const bool matrix = plan->nodes <= MOST_MATRIX && plan->move_count;
	const double table = MARGIN + 6 * COLUMN + 2 * MARGIN;
	const double right = table + (matrix ? (plan->nodes + 1) * COLUMN : 0);
	const double panels = MARGIN + plan->field_count * step;
	const double top = panel.y + panel.height + 2 * MARGIN + ROW;
	const unsigned int lines = plan->nodes < MOST_ROWS ? plan->nodes : MOST_ROWS + 1;
	const double width = right > panels ? right : panels, height = top + (lines + 1) * ROW;
	unsigned int i;

	/* Nothing is written of what cannot be drawn. */
	for (i = 0; i < plan->field_count; i++) {
		unsigned int blocks;
		const int code = check_field(plan, i, &blocks);

		if (code)
			return code;
	}
	fprintf(file,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n"
		"<style>text { font: 12px sans-serif; fill: #222 } .title { font-weight: bold }\n"
		".cell { text-anchor: end } .node { font-weight: bold }\n"
		".segment { fill: none; stroke: #222; stroke-width: 1.5 }\n"
		".block { fill: none; stroke: #222; stroke-width: 0.6 }\n"
		".task { fill: none; stroke: #222; stroke-width: 0.4; stroke-dasharray: 1 2 }\n"
		".move { stroke: #222; stroke-width: 0.8 }</style>\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
		width, height, width, height);
	for (i = 0; i < plan->field_count; i++, panel.x += step)
		draw_field(plan, i, &panel);
	if (grid->rank > 2)
		fprintf(file,
			"<text x=\"%.2f\" y=\"%.2f\">The plane of the last two dimensions at the first index of the others.</text>\n",
			MARGIN, panel.y + panel.height + 16);
	draw_nodes(plan, file, top);
	if (matrix)
		draw_matrix(plan, file, table, top);
	fputs("</svg>\n", file);
	return EXIT_OK;
}
