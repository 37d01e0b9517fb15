/* SPDX-License-Identifier: MIT */
/*
 * json.h - write JSON
 *
 * The writer adds commas and quotes; keys are NULL inside arrays and at the top level. A
 * number that is not finite is written as null.
 */
#ifndef TOOLS_JSON_H
#define TOOLS_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/**
 * struct json - The file, and whether the next value needs a comma.
 */
struct json {
	FILE *file;
	bool comma;
};

void json_object(struct json *json, const char *key);
void json_object_end(struct json *json);
void json_array(struct json *json, const char *key);
void json_array_end(struct json *json);
void json_string(struct json *json, const char *key, const char *value);
void json_count(struct json *json, const char *key, uint64_t value);
void json_bool(struct json *json, const char *key, bool value);
/** json_real() - A number with @digits after the point. */
void json_real(struct json *json, const char *key, double value, int digits);
/** json_raw() - An element of an array that is JSON already. */
void json_raw(struct json *json, const char *value);
/** json_line_end() - After a value at the top: the next one starts a line. */
void json_line_end(struct json *json);

#endif /* TOOLS_JSON_H */
