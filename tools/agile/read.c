// SPDX-License-Identifier: MIT
/*
 * read.c - the description of a map and a statement, in JSON
 *
 * Every member is checked: its type, its limits, and that there are no members of another name. A
 * message names the file, the member by its path, the value and the limit. What only the library
 * can tell, as that segments overlap, it tells itself.
 */
#include <cjson/cJSON.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "file.h"
#include "plan.h"

#define MOST_BYTES	(16u << 20)
#define MOST_NODES	4096u
#define MOST_INDEX	4294967295.0

struct reader {
	struct plan *plan;
	const char *path;
};

static int wrong(const struct reader *reader, const char *where, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static int wrong(const struct reader *reader, const char *where, const char *format, ...)
{
	char text[384];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	cli_fail(TOOL, "%s: %s: %s", reader->path, where, text);
	return EXIT_USAGE;
}

/* @names are separated by spaces. */
static int check_names(const struct reader *reader, const cJSON *object, const char *where,
		       const char *names)
{
	const cJSON *member;

	if (!cJSON_IsObject(object))
		return wrong(reader, where, "must be an object");
	cJSON_ArrayForEach(member, object) {
		const size_t length = strlen(member->string);
		const char *at = names;

		while (at && (strncmp(at, member->string, length) || !strchr(" ", at[length]))) {
			at = strchr(at, ' ');
			at += !!at;
		}
		if (!at || !length)
			return wrong(reader, where, "no member is called \"%.60s\", only: %s",
				     member->string, names);
	}
	return EXIT_OK;
}

static int get_number(const struct reader *reader, const cJSON *value, const char *where,
		      double least, double most, uint64_t *out)
{
	if (!cJSON_IsNumber(value))
		return wrong(reader, where, "must be a number");
	if (!(value->valuedouble >= least && value->valuedouble <= most) ||
	    value->valuedouble != (double)(uint64_t)value->valuedouble)
		return wrong(reader, where, "%.12g, must be a whole number from %.0f to %.0f",
			     value->valuedouble, least, most);
	*out = value->valuedouble;
	return EXIT_OK;
}

/* A member that may be missing: @out stays. */
static int get_member(const struct reader *reader, const cJSON *object, const char *where,
		      const char *name, double least, double most, uint64_t *out)
{
	const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, name);
	char path[256];

	snprintf(path, sizeof(path), "%s%s%s", where, *where ? "." : "", name);
	return value ? get_number(reader, value, path, least, most, out) : EXIT_OK;
}

/* An array of whole numbers: @count of them. May be missing unless @must. */
static int get_numbers(const struct reader *reader, const cJSON *object, const char *where,
		       const char *name, unsigned int count, double least, uint64_t *out,
		       bool must)
{
	const cJSON *array = cJSON_GetObjectItemCaseSensitive(object, name), *value;
	char path[160];
	unsigned int i = 0;
	int code;

	snprintf(path, sizeof(path), "%s%s%s", where, *where ? "." : "", name);
	if (!array)
		return must ? wrong(reader, path, "is missing") : EXIT_OK;
	if (!cJSON_IsArray(array) || (unsigned int)cJSON_GetArraySize(array) != count)
		return wrong(reader, path, "must be an array of %u numbers", count);
	cJSON_ArrayForEach(value, array) {
		char element[192];

		snprintf(element, sizeof(element), "%s[%u]", path, i);
		code = get_number(reader, value, element, least, MOST_INDEX, &out[i++]);
		if (code)
			return code;
	}
	return EXIT_OK;
}

static int get_text(const struct reader *reader, const cJSON *object, const char *where,
		    const char *name, char *out, size_t bytes)
{
	const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, name);
	char path[128];

	snprintf(path, sizeof(path), "%s.%s", where, name);
	if (!value)
		return EXIT_OK;
	if (!cJSON_IsString(value) || strlen(value->valuestring) >= bytes)
		return wrong(reader, path, "must be a string of at most %zu bytes", bytes - 1);
	strcpy(out, value->valuestring);
	return EXIT_OK;
}

/* --- maps --------------------------------------------------------------------------- */

static int map_error(const struct reader *reader, const char *where)
{
	return wrong(reader, where, "%s", salvo_agile_error(reader->plan->agile));
}

static int read_decomposition(const struct reader *reader, const cJSON *object, const char *where,
			      struct plan_field *field)
{
	static const char *const kinds[] = { "block", "cyclic", "block-block", "block-cyclic" };
	struct salvo_agile_decomposition how = { .kind = ~0u };
	char kind[16] = "", by[16] = "rows", path[192];
	uint64_t nodes = 0, *weights = NULL;
	uint32_t *given = NULL;
	unsigned int i, count;
	int code = check_names(reader, object, where, "kind by block nodes weights");

	if (!code)
		code = get_text(reader, object, where, "kind", kind, sizeof(kind));
	for (i = 0; i < 4; i++)
		if (!strcmp(kind, kinds[i]))
			how.kind = i;
	snprintf(path, sizeof(path), "%s.kind", where);
	if (!code && how.kind == ~0u)
		code = wrong(reader, path,
			     "\"%s\", must be block, cyclic, block-block or block-cyclic", kind);
	if (!code)
		code = get_text(reader, object, where, "by", by, sizeof(by));
	how.columns = !strcmp(by, "columns");
	snprintf(path, sizeof(path), "%s.by", where);
	if (!code && !how.columns && strcmp(by, "rows"))
		code = wrong(reader, path, "\"%s\", must be rows or columns", by);
	if (!code)
		code = get_numbers(reader, object, where, "block", field->grid.rank, 0, how.block,
				   false);
	if (!code)
		code = get_member(reader, object, where, "nodes", 1, reader->plan->nodes, &nodes);
	how.nodes = nodes;
	count = nodes ? nodes : reader->plan->nodes;
	if (!code && cJSON_HasObjectItem(object, "weights")) {
		weights = calloc(count, sizeof(*weights));
		given = calloc(count, sizeof(*given));
		if (!weights || !given)
			abort();
		code = get_numbers(reader, object, where, "weights", count, 0, weights, true);
		for (i = 0; i < count; i++)
			given[i] = weights[i];
		how.weights = given;
	}
	if (!code && salvo_agile_map_create(reader->plan->agile, field->name, &field->grid, &how,
					    &field->map))
		code = map_error(reader, where);
	free(weights);
	free(given);
	return code;
}

static int read_splits(const struct reader *reader, const cJSON *object, const char *where,
		       struct plan_field *field)
{
	const cJSON *all = cJSON_GetObjectItemCaseSensitive(object, "splits"), *array, *value;
	unsigned int counts[SALVO_AGILE_RANKS] = { 0 }, d = 0, i;
	uint64_t *splits[SALVO_AGILE_RANKS] = { NULL };
	int code = check_names(reader, object, where, "splits");
	char path[192];

	snprintf(path, sizeof(path), "%s.splits", where);
	if (!code && (!cJSON_IsArray(all) ||
		      (unsigned int)cJSON_GetArraySize(all) != field->grid.rank))
		code = wrong(reader, path, "must be an array of %u arrays", field->grid.rank);
	if (code)
		return code;
	cJSON_ArrayForEach(array, all) {
		snprintf(path, sizeof(path), "%s.splits[%u]", where, d);
		if (!cJSON_IsArray(array)) {
			code = wrong(reader, path, "must be an array of indices");
			break;
		}
		counts[d] = cJSON_GetArraySize(array);
		splits[d] = calloc(counts[d] + 1, sizeof(**splits));
		if (!splits[d])
			abort();
		i = 0;
		cJSON_ArrayForEach(value, array)
			if (!code)
				code = get_number(reader, value, path, 0, MOST_INDEX,
						  &splits[d][i++]);
		d++;
	}
	if (!code && salvo_agile_map_create_splits(reader->plan->agile, field->name, &field->grid,
						   (const uint64_t *const *)splits, counts, NULL,
						   &field->map))
		code = map_error(reader, where);
	for (d = 0; d < SALVO_AGILE_RANKS; d++)
		free(splits[d]);
	return code;
}

static int read_segments(const struct reader *reader, const cJSON *object, const char *where,
			 struct plan_field *field)
{
	const cJSON *array = cJSON_GetObjectItemCaseSensitive(object, "segments"), *value;
	struct salvo_agile_segment *segments;
	unsigned int count, i = 0;
	int code = check_names(reader, object, where, "segments");
	char path[192];

	snprintf(path, sizeof(path), "%s.segments", where);
	if (!code && (!cJSON_IsArray(array) || !cJSON_GetArraySize(array)))
		code = wrong(reader, path, "must be an array of objects");
	if (code)
		return code;
	count = cJSON_GetArraySize(array);
	segments = calloc(count, sizeof(*segments));
	if (!segments)
		abort();
	cJSON_ArrayForEach(value, array) {
		uint64_t node = 0;

		snprintf(path, sizeof(path), "%s.segments[%u]", where, i);
		segments[i].grid.rank = field->grid.rank;
		code = check_names(reader, value, path, "offset extent node");
		if (!code)
			code = get_numbers(reader, value, path, "offset", field->grid.rank, 0,
					   segments[i].grid.offset, true);
		if (!code)
			code = get_numbers(reader, value, path, "extent", field->grid.rank, 1,
					   segments[i].grid.extent, true);
		if (!code)
			code = get_member(reader, value, path, "node", 0, reader->plan->nodes - 1,
					  &node);
		if (code)
			break;
		segments[i++].node = node;
	}
	if (!code && salvo_agile_map_create_segments(reader->plan->agile, field->name,
						     &field->grid, segments, count, &field->map))
		code = map_error(reader, where);
	free(segments);
	return code;
}

static int read_map(const struct reader *reader, const cJSON *object, const char *where,
		    struct plan_field *field)
{
	if (!cJSON_IsObject(object))
		return wrong(reader, where, "must be an object");
	if (cJSON_HasObjectItem(object, "segments"))
		return read_segments(reader, object, where, field);
	if (cJSON_HasObjectItem(object, "splits"))
		return read_splits(reader, object, where, field);
	return read_decomposition(reader, object, where, field);
}

/* --- fields and statement ------------------------------------------------------------- */

/* The first is the result; what an operand does not say is as in the result. */
static int read_field(const struct reader *reader, const cJSON *object, const char *where,
		      struct plan_field *field)
{
	const struct plan_field *result = &reader->plan->fields[0];
	const cJSON *map = cJSON_GetObjectItemCaseSensitive(object, "map");
	uint64_t element = result->info.element_bytes;
	unsigned int rank = field->grid.rank;
	char path[128];
	int code = get_text(reader, object, where, "name", field->name, sizeof(field->name));

	if (!code)
		code = get_member(reader, object, where, "element_bytes", 1, 1 << 30, &element);
	field->info.element_bytes = element;
	if (!code)
		code = get_numbers(reader, object, where, "memory_block", rank, 0,
				   field->info.memory_block, false);
	if (!code)
		code = get_numbers(reader, object, where, "task_block", rank, 0,
				   field->info.task_block, false);
	snprintf(path, sizeof(path), "%s%smap", where, *where ? "." : "");
	if (!code && map)
		code = read_map(reader, map, path, field);
	else if (!code && !result->map)
		code = wrong(reader, path, "is missing");
	if (!code && salvo_agile_field_create(reader->plan->agile, field->name,
					      field->map ? field->map : result->map,
					      &field->info, &field->field))
		code = map_error(reader, *where ? where : "the result");
	return code;
}

static int read_operand(const struct reader *reader, const cJSON *object, unsigned int number)
{
	struct plan *plan = reader->plan;
	struct plan_field *field = &plan->fields[plan->field_count];
	char where[64], path[128];
	int code;

	snprintf(where, sizeof(where), "statement.operands[%u]", number);
	code = check_names(reader, object, where,
			   "name map element_bytes memory_block task_block region halo");
	if (code)
		return code;
	plan->field_count++;
	field->info = plan->fields[0].info;
	field->grid = plan->fields[0].grid;
	field->halo = 1;
	strcpy(field->region, "same");
	snprintf(field->name, sizeof(field->name), "%c", 'A' + number);
	code = get_text(reader, object, where, "region", field->region, sizeof(field->region));
	snprintf(path, sizeof(path), "%s.region", where);
	if (!code && strcmp(field->region, "same") && strcmp(field->region, "transposed") &&
	    strcmp(field->region, "halo") && strcmp(field->region, "all"))
		code = wrong(reader, path, "\"%s\", must be same, transposed, halo or all",
			     field->region);
	if (!code)
		code = get_member(reader, object, where, "halo", 1, MOST_INDEX, &field->halo);
	return code ? code : read_field(reader, object, where, field);
}

static int read_statement(const struct reader *reader, const cJSON *object)
{
	const cJSON *operands = cJSON_GetObjectItemCaseSensitive(object, "operands"), *value;
	const cJSON *speeds = cJSON_GetObjectItemCaseSensitive(object, "speeds");
	const cJSON *steal = cJSON_GetObjectItemCaseSensitive(object, "steal");
	struct plan *plan = reader->plan;
	unsigned int i = 0;
	int code = check_names(reader, object, "statement", "operands speeds steal");

	if (!code && steal && !cJSON_IsBool(steal))
		code = wrong(reader, "statement.steal", "must be true or false");
	plan->steal = cJSON_IsTrue(steal);
	if (!code && operands && (!cJSON_IsArray(operands) ||
				  (unsigned int)cJSON_GetArraySize(operands) >= PLAN_MOST_FIELDS))
		code = wrong(reader, "statement.operands", "must be an array of at most %u objects",
			     PLAN_MOST_FIELDS - 1);
	if (!code && speeds && (!cJSON_IsArray(speeds) ||
				(unsigned int)cJSON_GetArraySize(speeds) != plan->nodes))
		code = wrong(reader, "statement.speeds", "must be an array of %u numbers",
			     plan->nodes);
	if (code)
		return code;
	cJSON_ArrayForEach(value, operands) {
		code = read_operand(reader, value, i++);
		if (code)
			return code;
	}
	if (!speeds)
		return EXIT_OK;
	plan->speeds = calloc(plan->nodes, sizeof(*plan->speeds));
	if (!plan->speeds)
		abort();
	i = 0;
	cJSON_ArrayForEach(value, speeds) {
		char path[64];

		snprintf(path, sizeof(path), "statement.speeds[%u]", i);
		if (!cJSON_IsNumber(value) ||
		    !(value->valuedouble >= 1e-6 && value->valuedouble <= 1e6))
			return wrong(reader, path, "must be a number from 1e-06 to 1e+06");
		plan->speeds[i++] = value->valuedouble;
	}
	return EXIT_OK;
}

static int read_root(const struct reader *reader, const cJSON *root)
{
	const cJSON *grid, *statement = cJSON_GetObjectItemCaseSensitive(root, "statement");
	struct plan_field *result = &reader->plan->fields[0];
	uint64_t nodes = 0;
	int code;

	code = check_names(reader, root, "the file",
			   "name nodes grid offset map element_bytes memory_block task_block statement");
	if (!code)
		code = get_member(reader, root, "", "nodes", 1, MOST_NODES, &nodes);
	if (!code && !nodes)
		code = wrong(reader, "nodes", "is missing");
	grid = cJSON_GetObjectItemCaseSensitive(root, "grid");
	if (!code && (!cJSON_IsArray(grid) || cJSON_GetArraySize(grid) < 1 ||
		      cJSON_GetArraySize(grid) > SALVO_AGILE_RANKS))
		code = wrong(reader, "grid", "must be an array of 1 to %d numbers",
			     SALVO_AGILE_RANKS);
	if (code)
		return code;
	reader->plan->nodes = nodes;
	result->grid.rank = cJSON_GetArraySize(grid);
	code = get_numbers(reader, root, "", "grid", result->grid.rank, 1, result->grid.extent,
			   true);
	if (!code)
		code = get_numbers(reader, root, "", "offset", result->grid.rank, 0,
				   result->grid.offset, false);
	if (!code && salvo_agile_create(NULL, nodes, &reader->plan->agile))
		code = cli_fail(TOOL, "out of memory");
	strcpy(result->name, "C");
	result->info.element_bytes = 4;
	reader->plan->field_count = 1;
	if (!code)
		code = read_field(reader, root, "", result);
	if (!code && statement)
		code = read_statement(reader, statement);
	return code;
}

/* The line of the first byte that could not be parsed. */
static unsigned int line_of(const char *text, const char *at)
{
	unsigned int line = 1;

	for (; text < at; text++)
		line += *text == '\n';
	return line;
}

int plan_read(struct plan *plan, const char *path)
{
	struct reader reader = { plan, strcmp(path, "-") ? path : "standard input" };
	FILE *file = strcmp(path, "-") ? fopen(path, "rbe") : stdin;
	const char *end = NULL;
	char *text = NULL;
	size_t bytes;
	cJSON *root;
	int code, err = file ? file_read_all(file, MOST_BYTES, &text, &bytes) : -errno;

	if (file && file != stdin)
		fclose(file);
	if (err) {
		cli_fail(TOOL, err == -EFBIG ? "%s: longer than 16 MiB" : "%s: %s", reader.path,
			 strerror(-err));
		return EXIT_USAGE;
	}
	root = cJSON_ParseWithLengthOpts(text, bytes + 1, &end, true);
	if (root)
		code = read_root(&reader, root);
	else
		code = wrong(&reader, "JSON", "line %u is not valid", line_of(text, end));
	cJSON_Delete(root);
	free(text);
	return code;
}

void plan_fini(struct plan *plan)
{
	unsigned int i;

	for (i = 0; i < plan->field_count; i++) {
		salvo_agile_field_destroy(plan->fields[i].field);
		if (plan->fields[i].map)
			salvo_agile_map_destroy(plan->fields[i].map);
	}
	salvo_agile_destroy(plan->agile);
	free(plan->speeds);
	free(plan->schedule);
	free(plan->moves);
}
