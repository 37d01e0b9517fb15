// SPDX-License-Identifier: MIT
/*
 * xml.c - a small tree of an XML file that is not trusted
 *
 * libexpat's callbacks build a tree of struct xml_element. A document type declaration is
 * refused, and with it all entities; depth and number of elements are bounded. The caller
 * bounds the size of the file.
 */
#include <errno.h>
#include <expat.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "xml.h"

#define MAX_DEPTH	32
#define MAX_ELEMENTS	2000000

struct parser {
	XML_Parser expat;
	struct xml_element *root, *current;
	size_t text_bytes, text_room;	/* of the current element's text */
	unsigned int depth, elements;
	int error;
	const char *why;
};

static void stop(struct parser *p, int error, const char *why)
{
	if (p->error)
		return;
	p->error = error;
	p->why = why;
	XML_StopParser(p->expat, XML_FALSE);
}

static void on_start(void *cookie, const char *name, const char **attributes)
{
	struct parser *p = cookie;
	struct xml_element *e;

	if (p->error)
		return;
	if (++p->depth > MAX_DEPTH || ++p->elements > MAX_ELEMENTS) {
		stop(p, -EINVAL, "too many elements or too deeply nested");
		return;
	}
	e = calloc(1, sizeof(*e));
	if (!e) {
		stop(p, -ENOMEM, "out of memory");
		return;
	}
	e->parent = p->current;
	if (!p->current)
		p->root = e;
	else if (!p->current->children)
		p->current->children = e;
	else
		p->current->last->next = e;
	if (p->current)
		p->current->last = e;
	p->current = e;
	p->text_bytes = p->text_room = 0;

	e->name = strdup(name);
	for (; attributes[0]; attributes += 2)
		if (!strcmp(attributes[0], "type_id") && !e->type_id)
			e->type_id = strdup(attributes[1]);
	if (!e->name)
		stop(p, -ENOMEM, "out of memory");
}

static void on_end(void *cookie, const char *name)
{
	struct parser *p = cookie;

	(void)name;
	if (p->error)
		return;
	p->depth--;
	p->current = p->current->parent;
	/* Text after a child is not appended: an element has text or children. */
	p->text_bytes = p->text_room = 0;
}

static void on_text(void *cookie, const char *text, int bytes)
{
	struct parser *p = cookie;
	struct xml_element *e = p->current;

	if (p->error || !e || e->children)
		return;
	if (p->text_bytes + bytes + 1 > p->text_room) {
		size_t room = (p->text_bytes + bytes + 1) * 2;
		char *grown = realloc(e->text, room);

		if (!grown) {
			stop(p, -ENOMEM, "out of memory");
			return;
		}
		e->text = grown;
		p->text_room = room;
	}
	memcpy(e->text + p->text_bytes, text, bytes);
	p->text_bytes += bytes;
	e->text[p->text_bytes] = 0;
}

static void on_doctype(void *cookie, const char *name, const char *system, const char *public,
		       int internal)
{
	(void)name;
	(void)system;
	(void)public;
	(void)internal;
	stop(cookie, -EINVAL, "a document type declaration is not accepted");
}

int xml_parse(const char *data, size_t bytes, struct xml_element **out, struct faces_error *error)
{
	struct parser p = { .expat = XML_ParserCreate(NULL) };

	if (!p.expat)
		return faces_fail(error, -ENOMEM, "out of memory");
	if (bytes > INT_MAX) {
		XML_ParserFree(p.expat);
		return faces_fail(error, -EINVAL, "the file is too big");
	}
	XML_SetUserData(p.expat, &p);
	XML_SetElementHandler(p.expat, on_start, on_end);
	XML_SetCharacterDataHandler(p.expat, on_text);
	XML_SetStartDoctypeDeclHandler(p.expat, on_doctype);
	if (XML_Parse(p.expat, data, bytes, 1) != XML_STATUS_OK && !p.error) {
		p.error = -EINVAL;
		p.why = XML_ErrorString(XML_GetErrorCode(p.expat));
	}
	if (p.error) {
		faces_fail(error, p.error, "line %lu: %s",
			   (unsigned long)XML_GetCurrentLineNumber(p.expat), p.why);
		xml_free(p.root);
	} else {
		*out = p.root;
	}
	XML_ParserFree(p.expat);
	return p.error;
}

void xml_free(struct xml_element *e)
{
	/* Without recursion: each element goes after its children. */
	while (e) {
		struct xml_element *child = e->children, *up;

		if (child) {
			e->children = child->next;
			child->parent = e;
			e = child;
			continue;
		}
		up = e->parent;
		free(e->name);
		free(e->type_id);
		free(e->text);
		free(e);
		e = up;
	}
}

const struct xml_element *xml_child(const struct xml_element *e, const char *name)
{
	if (!e)
		return NULL;
	for (e = e->children; e; e = e->next)
		if (!strcmp(e->name, name))
			return e;
	return NULL;
}

unsigned int xml_count(const struct xml_element *e)
{
	unsigned int n = 0;

	if (e)
		for (e = e->children; e; e = e->next)
			n++;
	return n;
}

bool xml_int(const char **at, int *out)
{
	char *end;
	long v;

	if (!*at)
		return false;
	errno = 0;
	v = strtol(*at, &end, 10);
	if (end == *at || errno || v < INT_MIN || v > INT_MAX)
		return false;
	*at = end;
	*out = v;
	return true;
}

bool xml_float(const char **at, float *out)
{
	char *end;
	double v;

	if (!*at)
		return false;
	/* As OpenCV does: read as a double, then rounded to a float. */
	v = strtod(*at, &end);
	if (end == *at || !isfinite((float)v))
		return false;
	*at = end;
	*out = (float)v;
	return true;
}

bool xml_end(const char *at)
{
	return !at || !at[strspn(at, " \t\r\n")];
}
