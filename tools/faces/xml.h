/* SPDX-License-Identifier: MIT */
/*
 * xml.h - a small tree of an XML file that is not trusted
 */
#ifndef FACES_XML_H
#define FACES_XML_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"

/**
 * struct xml_element - An element. Comments and most attributes are dropped.
 */
struct xml_element {
	char *name;
	char *type_id;			/* value of the attribute type_id, or NULL */
	char *text;			/* all character data, or NULL */
	struct xml_element *children;	/* the first child */
	struct xml_element *next;	/* the next sibling */
	struct xml_element *last;	/* the last child, while parsing */
	struct xml_element *parent;
};

/** xml_parse() - Parse @bytes bytes. Return: 0, -EINVAL, -ENOMEM. */
int xml_parse(const char *data, size_t bytes, struct xml_element **out, struct faces_error *error);
void xml_free(struct xml_element *root);

/** xml_child() - The first child of that name, or NULL. @element may be NULL. */
const struct xml_element *xml_child(const struct xml_element *element, const char *name);
unsigned int xml_count(const struct xml_element *element);

/** xml_int() - The next integer of a text; moves @at. */
bool xml_int(const char **at, int *out);
/** xml_float() - The next number of a text, finite; moves @at. */
bool xml_float(const char **at, float *out);
/** xml_end() - Nothing but white space is left. */
bool xml_end(const char *at);

#endif
