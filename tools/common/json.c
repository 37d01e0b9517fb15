// SPDX-License-Identifier: MIT
/*
 * json.c - write JSON
 */
#include "json.h"

#include <inttypes.h>
#include <math.h>

#include "utf8.h"

/* Control characters are escaped; the rest is UTF-8, or replaced. */
static void write_quoted(struct json *json, const char *text)
{
	int length;

	fputc('"', json->file);
	for (; *text; text += length ? length : 1) {
		length = utf8_length(text);
		if (*text == '"' || *text == '\\')
			fprintf(json->file, "\\%c", *text);
		else if (*text > 0 && *text < ' ')
			fprintf(json->file, "\\u%04x", *text);
		else if (length)
			fwrite(text, 1, length, json->file);
		else
			fputs("\\ufffd", json->file);
	}
	fputc('"', json->file);
}

/* Commas and the key in front of a value. */
static void start(struct json *json, const char *key)
{
	if (json->comma)
		fputc(',', json->file);
	json->comma = true;
	if (key) {
		write_quoted(json, key);
		fputc(':', json->file);
	}
}

static void open_bracket(struct json *json, const char *key, char bracket)
{
	start(json, key);
	fputc(bracket, json->file);
	json->comma = false;
}

static void close_bracket(struct json *json, char bracket)
{
	fputc(bracket, json->file);
	json->comma = true;
}

void json_object(struct json *json, const char *key)
{
	open_bracket(json, key, '{');
}

void json_object_end(struct json *json)
{
	close_bracket(json, '}');
}

void json_array(struct json *json, const char *key)
{
	open_bracket(json, key, '[');
}

void json_array_end(struct json *json)
{
	close_bracket(json, ']');
}

void json_string(struct json *json, const char *key, const char *value)
{
	start(json, key);
	write_quoted(json, value);
}

void json_count(struct json *json, const char *key, uint64_t value)
{
	start(json, key);
	fprintf(json->file, "%" PRIu64, value);
}

void json_bool(struct json *json, const char *key, bool value)
{
	start(json, key);
	fputs(value ? "true" : "false", json->file);
}

void json_real(struct json *json, const char *key, double value, int digits)
{
	start(json, key);
	if (isfinite(value))
		fprintf(json->file, "%.*f", digits, value);
	else
		fputs("null", json->file);
}

void json_raw(struct json *json, const char *value)
{
	start(json, NULL);
	fputs(value, json->file);
}

void json_line_end(struct json *json)
{
	fputc('\n', json->file);
	json->comma = false;
}
