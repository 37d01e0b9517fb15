// SPDX-License-Identifier: MIT
/*
 * queues.c - simulates the cost of the command queues on large machines
 *
 * A discrete event simulation. The queues are those of the device (gcq.c, lcq.c) with all their
 * policies; only time, units and work are simulated:
 *
 * - A unit asks for a chunk, runs it, reports it, asks again.
 * - An atomic operation on a line of memory travels to it and back (near or far) and
 *   has it for itself for a moment; others wait for their turn at the line. So one line
 *   serves only so many operations in a second, whoever asks.
 * - Work comes in phases of independent dispatches; a phase starts when the one
 *   before is done, as behind a pipe control for all.
 *
 * A mask has 64 bits. On a GPU of thousands of units a bit names a whole node (N3 of
 * CN102792271), and the seen counter counts the units that it stands for, so the same
 * entry serves.
 *
 * Prints the tables of Documentation/queues.md; `make simulation` puts them there.
 *
 * usage: queues [--most UNITS] [--svg FILE]
 */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "element.h"
#include "gcq.h"
#include "lcq.h"

#define NODE_UNITS	64u
#define MAX_NODES	64u
#define MAX_UNITS	(NODE_UNITS * MAX_NODES)

#define PHASES		8u
#define DISPATCHES	4u	/* of a phase */
#define ELEMENTS	(PHASES * DISPATCHES)
#define UNIT_ITEMS	16u	/* for each unit in a dispatch */

/* Nanoseconds: a round trip, and how long an operation occupies a cache line */
#define NEAR_NS		100u
#define FAR_NS		1000u
#define LOCAL_NS	50u
#define LINE_NS		40u
#define LOCAL_LINE_NS	20u

enum what { ASK, FETCHED, DONE };

struct event {
	uint64_t time;
	uint64_t order;
	uint32_t unit;
	enum what what;
};

struct unit {
	struct salvo_gcq_taker own;
	struct salvo_gcq_chunk chunk;
	uint64_t busy;
	uint32_t node;
	/* Idle: woken by a push, or when a fetch of its node ends */
	bool parked;
};

struct node {
	struct salvo_lcq *lcq;	/* NULL: its units take from the global queue */
	uint64_t line;		/* cache line of the local queue: when it becomes free */
	uint32_t latency;	/* to the global queue */
};

struct sim {
	struct salvo_gcq gcq;
	struct salvo_element element[ELEMENTS];
	/* Cache lines of an entry and of its element: when they become free */
	uint64_t entry_line[ELEMENTS];
	uint64_t left_line[ELEMENTS];
	struct unit unit[MAX_UNITS];
	struct node node[MAX_NODES];
	struct event *heap;
	size_t events;
	uint64_t order;
	uint32_t units;
	uint32_t nodes;
	uint32_t item_ns;
	uint32_t phase;
	uint32_t phase_left;
	uint64_t gcq_ops;
	uint64_t items;
	uint64_t end;
};

struct figures {
	uint32_t units;
	uint32_t nodes;
	double ops;	/* on the global queue for each work-item */
	double idle;	/* as a fraction of the units' time */
	double fairness;	/* Jain's index of the units' busy time */
	double us;
};

static void need(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "queues: %s\n", what);
	exit(1);
}

/* --- events ------------------------------------------------------------------- */

static bool before(const struct event *a, const struct event *b)
{
	return a->time != b->time ? a->time < b->time : a->order < b->order;
}

static void swap(struct event *a, struct event *b)
{
	const struct event other = *a;

	*a = *b;
	*b = other;
}

/* A unit has one event at most, so the heap has room. */
static void schedule(struct sim *s, uint64_t time, uint32_t unit, enum what what)
{
	size_t i = s->events++;

	s->heap[i] = (struct event){ time, s->order++, unit, what };
	for (; i && before(&s->heap[i], &s->heap[(i - 1) / 2]); i = (i - 1) / 2)
		swap(&s->heap[i], &s->heap[(i - 1) / 2]);
}

static struct event next_event(struct sim *s)
{
	const struct event first = s->heap[0];
	size_t i = 0;

	s->heap[0] = s->heap[--s->events];
	for (;;) {
		size_t least = i, child;

		for (child = 2 * i + 1; child <= 2 * i + 2 && child < s->events; child++)
			if (before(&s->heap[child], &s->heap[least]))
				least = child;
		if (least == i)
			return first;
		swap(&s->heap[i], &s->heap[least]);
		i = least;
	}
}

/* --- memory --------------------------------------------------------------------- */

/* Simulates an atomic operation. Returns when its result arrives. */
static uint64_t reach(uint64_t *line, uint64_t now, uint32_t latency, uint32_t hold)
{
	const uint64_t arrival = now + latency / 2;
	const uint64_t start = arrival > *line ? arrival : *line;

	*line = start + hold;
	return start + hold + latency / 2;
}

static uint64_t reach_entry(struct sim *s, const struct node *node, uint64_t position, uint64_t now)
{
	s->gcq_ops++;
	return reach(&s->entry_line[position % ELEMENTS], now, node->latency, LINE_NS);
}

/* --- units ---------------------------------------------------------------------- */

static void wake(struct sim *s, uint32_t first, uint32_t count, uint64_t now)
{
	uint32_t i;

	for (i = first; i < first + count; i++) {
		if (!s->unit[i].parked)
			continue;
		s->unit[i].parked = false;
		schedule(s, now, i, ASK);
	}
}

static void start_phase(struct sim *s, uint64_t now)
{
	uint32_t i, n;

	s->phase_left = DISPATCHES;
	for (i = 0; i < DISPATCHES; i++)
		need(salvo_gcq_push(&s->gcq, &s->element[s->phase * DISPATCHES + i]), "queue is full");
	s->phase++;
	for (n = 0; n < s->nodes; n++)
		wake(s, n * (s->units / s->nodes), s->units / s->nodes,
		     now + s->node[n].latency / 2);
}

/* Items take 0.5 to 1.5 times the mean, always the same time for the same item. */
static uint64_t item_ns(const struct sim *s, const struct salvo_element *element, uint32_t item)
{
	uint64_t x = ((uint64_t)element->index << 32 | item) * 0x9e3779b97f4a7c15ull;

	x ^= x >> 29;
	x *= 0xbf58476d1ce4e5b9ull;
	return s->item_ns / 2 + (x >> 32) % (s->item_ns + 1);
}

static void run(struct sim *s, uint32_t number, const struct salvo_gcq_chunk *chunk, uint64_t now)
{
	struct unit *unit = &s->unit[number];
	uint64_t busy = 0;
	uint32_t i;

	for (i = 0; i < chunk->count; i++)
		busy += item_ns(s, chunk->element, chunk->first + i);
	unit->busy += busy;
	unit->chunk = *chunk;
	schedule(s, now + busy, number, DONE);
}

/*
 * Charges the operations of a taker whose cursor was at @cursor: one for each entry that it passed,
 * and one for a chunk of an entry that it has not passed.
 */
static uint64_t pay(struct sim *s, const struct node *node, const struct salvo_gcq_taker *taker,
		    uint64_t cursor, const struct salvo_gcq_chunk *chunk, uint64_t now)
{
	for (; cursor < taker->cursor; cursor++)
		now = reach_entry(s, node, cursor, now);
	if (chunk->count && chunk->first + chunk->count < chunk->element->total)
		now = reach_entry(s, node, cursor, now);
	return now;
}

static void ask_global(struct sim *s, uint32_t number, uint64_t now)
{
	struct unit *unit = &s->unit[number];
	const uint64_t cursor = unit->own.cursor;
	const struct salvo_gcq_chunk chunk = salvo_gcq_take_share(&s->gcq, &unit->own, ~0u, ~0u);

	now = pay(s, &s->node[unit->node], &unit->own, cursor, &chunk, now);
	if (chunk.count)
		run(s, number, &chunk, now);
	else
		unit->parked = true;
}

static void ask_local(struct sim *s, uint32_t number, uint64_t now)
{
	struct unit *unit = &s->unit[number];
	struct node *node = &s->node[unit->node];
	struct salvo_gcq_chunk chunk;

	now = reach(&node->line, now, LOCAL_NS, LOCAL_LINE_NS);
	if (salvo_lcq_begin(node->lcq, &s->gcq, now)) {
		schedule(s, now + node->latency, number, FETCHED);
		return;
	}
	chunk = salvo_lcq_take(node->lcq, 0);
	if (chunk.count)
		run(s, number, &chunk, now);
	else
		unit->parked = true;
}

static uint64_t clock_of(void *cookie)
{
	return *(uint64_t *)cookie;
}

/* The latency is charged already; what remains is the wait for the cache lines. */
static void fetched(struct sim *s, uint32_t number, uint64_t now)
{
	const uint32_t n = s->unit[number].node;
	struct node *node = &s->node[n], there = *node;
	const uint64_t cursor = node->lcq->taker.cursor;
	struct salvo_gcq_chunk chunk;

	chunk = salvo_lcq_fetch(node->lcq, &s->gcq, clock_of, &now);
	there.latency = 0;
	now = pay(s, &there, &node->lcq->taker, cursor, &chunk, now);
	wake(s, n * (s->units / s->nodes), s->units / s->nodes, now);
	schedule(s, now, number, ASK);
}

static void done(struct sim *s, uint32_t number, uint64_t now)
{
	struct unit *unit = &s->unit[number];
	struct node *node = &s->node[unit->node];
	struct salvo_element *element = unit->chunk.element;
	uint32_t items = unit->chunk.count;

	if (unit->chunk.slot) {
		now = reach(&node->line, now, LOCAL_NS, LOCAL_LINE_NS);
		items = salvo_lcq_done(node->lcq, &unit->chunk);
	}
	if (items) {
		s->gcq_ops++;
		now = reach(&s->left_line[element->index], now, node->latency, LINE_NS);
		s->items += items;
		element->left -= items;
		if (!element->left && !--s->phase_left) {
			s->end = now;
			if (s->phase < PHASES)
				start_phase(s, now);
		}
	}
	schedule(s, now, number, ASK);
}

/* --- one run ----------------------------------------------------------------- */

static void build(struct sim *s, uint32_t units, uint32_t node_units, uint32_t item, bool local)
{
	const uint32_t size[3] = { UNIT_ITEMS, units, 1 };
	uint32_t i;

	memset(s, 0, sizeof(*s));
	s->units = units;
	s->nodes = (units + node_units - 1) / node_units;
	s->item_ns = item;
	s->heap = calloc(units, sizeof(*s->heap));
	need(s->heap && !salvo_gcq_init(&s->gcq, 64, units / s->nodes), "no memory");
	for (i = 0; i < s->nodes; i++) {
		s->node[i].latency = i ? FAR_NS : NEAR_NS;
		if (!local || !i)
			continue;
		s->node[i].lcq = aligned_alloc(64, sizeof(*s->node[i].lcq));
		need(s->node[i].lcq, "no memory");
		salvo_lcq_init(s->node[i].lcq, &s->gcq, 1ull << i, units / s->nodes);
	}
	for (i = 0; i < units; i++) {
		s->unit[i].node = i / (units / s->nodes);
		s->unit[i].parked = true;
		salvo_gcq_join(&s->gcq, &s->unit[i].own, 1ull << s->unit[i].node, 0, 1);
	}
	for (i = 0; i < ELEMENTS; i++) {
		s->element[i].index = i;
		s->element[i].apu_mask = ~0ull >> (64 - s->nodes);
		salvo_element_set_range(&s->element[i], size);
		s->element[i].left = s->element[i].total;
	}
}

static struct figures figures_of(const struct sim *s)
{
	double sum = 0, squares = 0;
	struct figures f = { .units = s->units, .nodes = s->nodes };
	uint32_t i;

	for (i = 0; i < s->units; i++) {
		sum += s->unit[i].busy;
		squares += (double)s->unit[i].busy * s->unit[i].busy;
	}
	f.ops = (double)s->gcq_ops / s->items;
	f.idle = 1 - sum / ((double)s->units * s->end);
	f.fairness = sum * sum / (s->units * squares);
	f.us = s->end / 1e3;
	return f;
}

static struct figures simulate(uint32_t units, uint32_t node_units, uint32_t item, bool local)
{
	struct sim *s = malloc(sizeof(*s));
	struct figures f;
	uint32_t i;

	need(s, "no memory");
	build(s, units, node_units, item, local);
	start_phase(s, 0);
	while (s->events) {
		const struct event event = next_event(s);
		const struct node *node = &s->node[s->unit[event.unit].node];

		if (event.what == DONE)
			done(s, event.unit, event.time);
		else if (event.what == FETCHED)
			fetched(s, event.unit, event.time);
		else if (node->lcq)
			ask_local(s, event.unit, event.time);
		else
			ask_global(s, event.unit, event.time);
	}
	need(s->phase == PHASES && !s->phase_left &&
	     s->items == (uint64_t)ELEMENTS * UNIT_ITEMS * units, "items were lost");
	/* All units have passed all entries. */
	for (i = 0; i < s->gcq.size; i++)
		need(!s->gcq.entries[i].counters, "an entry is still in use");
	f = figures_of(s);
	for (i = 0; i < s->nodes; i++)
		free(s->node[i].lcq);
	salvo_gcq_fini(&s->gcq);
	free(s->heap);
	free(s);
	return f;
}

/* --- tables and picture ---------------------------------------------------------- */

#define ITEM_NS 1000u

static const uint32_t scales[] = { 16, 32, 64, 128, 256, 512, 1024, 2048, 4096 };
static const uint32_t lengths[] = { 250, 1000, 4000, 16000, 64000 };
static const uint32_t sizes[] = { 8, 16, 32, NODE_UNITS };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void print_row(uint32_t first, uint32_t second, const struct figures *off,
		      const struct figures *on)
{
	printf("| %u | %u | %.4f | %.4f | %.0f | %.0f | %.0f | %.0f | %.3f | %.3f |\n", first,
	       second, off->ops, on->ops, off->us, on->us, 100 * off->idle, 100 * on->idle,
	       off->fairness, on->fairness);
}

static void print_head(const char *first, const char *second)
{
	printf("| %s | %s | operations an item | with LCQ | us | with LCQ | idle %% | with LCQ | "
	       "fairness | with LCQ |\n|---|---|---|---|---|---|---|---|---|---|\n", first, second);
}

struct curve {
	const char *name;
	const char *colour;
	double value[COUNT(scales)];
};

/* One diagram: the number of units doubles from left to right; @most is the upper end. */
static void draw(FILE *out, double x, const char *title, const char *unit, double most,
		 const struct curve *curves, unsigned int count, size_t points)
{
	const double width = 300, height = 200, top = 40;
	unsigned int c, i;

	fprintf(out, "<text x=\"%.0f\" y=\"24\" font-weight=\"bold\">%s</text>\n", x, title);
	for (i = 0; i <= 4; i++) {
		const double y = top + height - height * i / 4;

		fprintf(out, "<line x1=\"%.0f\" y1=\"%.0f\" x2=\"%.0f\" y2=\"%.0f\" "
			"stroke=\"#ccc\"/><text x=\"%.0f\" y=\"%.0f\" text-anchor=\"end\">%g%s"
			"</text>\n", x, y, x + width, y, x - 6, y + 4, most * i / 4, unit);
	}
	for (i = 0; i < points; i++)
		fprintf(out, "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"middle\">%u</text>\n",
			x + width * i / (points - 1), top + height + 18, scales[i]);
	for (c = 0; c < count; c++) {
		fprintf(out, "<polyline fill=\"none\" stroke-width=\"2\" stroke=\"%s\" points=\"",
			curves[c].colour);
		for (i = 0; i < points; i++)
			fprintf(out, "%.1f,%.1f ", x + width * i / (points - 1),
				top + height - height * curves[c].value[i] / most);
		fprintf(out, "\"/>\n<text x=\"%.0f\" y=\"%.0f\" fill=\"%s\">%s</text>\n", x + 160,
			top + 80 + 18 * c, curves[c].colour, curves[c].name);
	}
}

static double round_up(const struct curve *curves, unsigned int count, size_t points, double step)
{
	double most = step;
	unsigned int c, i;

	for (c = 0; c < count; c++)
		for (i = 0; i < points; i++)
			while (curves[c].value[i] > most)
				most += step;
	return most;
}

static void write_picture(const char *path, const struct curve *ops, const struct curve *idle,
			  size_t points)
{
	FILE *out = fopen(path, "w");

	need(out, path);
	fputs("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"780\" height=\"290\" "
	      "font-family=\"sans-serif\" font-size=\"12\">\n"
	      "<rect width=\"780\" height=\"290\" fill=\"white\"/>\n", out);
	draw(out, 60, "Operations on the global queue for each item", "",
	     round_up(ops, 2, points, 0.2), ops, 2, points);
	draw(out, 450, "Idle time of the units", "%", 100, idle, 2, points);
	fputs("<text x=\"390\" y=\"280\" text-anchor=\"middle\">execution units, 64 to a node"
	      "</text>\n</svg>\n", out);
	need(!fclose(out), path);
}

int main(int argc, char **argv)
{
	static const struct option known[] = {
		{ "most", required_argument, NULL, 'm' },
		{ "svg", required_argument, NULL, 's' },
		{ 0 },
	};
	struct curve ops[2] = { { "one global queue", "#c0392b", { 0 } },
				{ "with local queues", "#2471a3", { 0 } } };
	struct curve idle[2] = { ops[0], ops[1] };
	const char *svg = NULL;
	uint32_t most = MAX_UNITS, i;
	int c;

	while ((c = getopt_long(argc, argv, "m:s:", known, NULL)) != -1) {
		if (c == 'm')
			most = atoi(optarg);
		else if (c == 's')
			svg = optarg;
		else
			return 2;
	}
	print_head("units", "nodes");
	for (i = 0; i < COUNT(scales) && scales[i] <= most; i++) {
		const struct figures off = simulate(scales[i], NODE_UNITS, ITEM_NS, false);
		const struct figures on = simulate(scales[i], NODE_UNITS, ITEM_NS, true);

		print_row(off.units, off.nodes, &off, &on);
		ops[0].value[i] = off.ops;
		ops[1].value[i] = on.ops;
		idle[0].value[i] = 100 * off.idle;
		idle[1].value[i] = 100 * on.idle;
	}
	if (svg && i > 1)
		write_picture(svg, ops, idle, i);
	if (most < MAX_UNITS)
		return 0;
	printf("\n");
	print_head("item ns", "units");
	for (i = 0; i < COUNT(lengths); i++) {
		const struct figures off = simulate(MAX_UNITS, NODE_UNITS, lengths[i], false);
		const struct figures on = simulate(MAX_UNITS, NODE_UNITS, lengths[i], true);

		print_row(lengths[i], off.units, &off, &on);
	}
	printf("\n");
	print_head("units a node", "nodes");
	for (i = 0; i < COUNT(sizes); i++) {
		const uint32_t units = sizes[0] * MAX_NODES;
		const struct figures off = simulate(units, sizes[i], ITEM_NS, false);
		const struct figures on = simulate(units, sizes[i], ITEM_NS, true);

		print_row(sizes[i], off.nodes, &off, &on);
	}
	return 0;
}
