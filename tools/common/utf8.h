/* SPDX-License-Identifier: MIT */
/*
 * utf8.h - strings of unknown origin as UTF-8
 *
 * File names, labels and the names of processes are bytes of any kind. What is not UTF-8 is
 * written as U+FFFD, a byte each, so that JSON and SVG stay valid.
 */
#ifndef TOOLS_UTF8_H
#define TOOLS_UTF8_H

#define UTF8_REPLACEMENT "\xef\xbf\xbd"

/** utf8_length() - Bytes of the sequence at the start of @text, 1 to 4; 0 if it is not valid. */
int utf8_length(const char *text);

#endif /* TOOLS_UTF8_H */
