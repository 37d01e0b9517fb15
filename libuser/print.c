// SPDX-License-Identifier: MIT
/*
 * print.c - printf() of kernels: formats the records in a batch's print buffer
 *
 * Kernels only store records (struct salvo_print_buffer): the format and its arguments in
 * binary. The host's printf() formats them here, one conversion at a time. The buffer is
 * untrusted, as a kernel may write anything to it: every length is checked, and formats are
 * parsed and built anew. No locks: a batch has one owner.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch.h"
#include "bo.h"
#include "io.h"
#include "kernel.h"
#include "print.h"

#define PRINT_BYTES	(4u << 20)
#define MAX_WIDTH	4096

int salvo_print_prepare(struct salvo_batch *batch)
{
	struct salvo_bo *bo;
	void *map;
	int err;

	if (batch->print)
		return 0;
	err = salvo_bo_create(batch->device, PRINT_BYTES, 0, &bo);
	if (err)
		return err;
	err = salvo_bo_map(bo, &map);
	if (err) {
		salvo_bo_destroy(bo);
		return err;
	}
	batch->print = bo;
	batch->printed = map;
	batch->printed->capacity = PRINT_BYTES - sizeof(*batch->printed);
	return 0;
}

void salvo_print_place(struct salvo_batch *batch, unsigned int command)
{
	const struct salvo_kernel_info *kernel = batch->notes[command].kernel;
	const struct drm_salvo_command *cmd = &batch->commands[command];

	if (kernel && kernel->note.flags & SALVO_KERNEL_PRINTS)
		memcpy(batch->args + cmd->args_offset + cmd->args_size - sizeof(uint64_t),
		       &batch->print->address, sizeof(uint64_t));
}

/* The remaining arguments of the current record. */
struct print_reader {
	const uint8_t *at;
	size_t left;
};

static uint64_t next_number(struct print_reader *reader)
{
	uint64_t value = 0;

	if (reader->left < sizeof(value))
		return 0;
	memcpy(&value, reader->at, sizeof(value));
	reader->at += sizeof(value);
	reader->left -= sizeof(value);
	return value;
}

static void print_string(FILE *out, const char *flags, int width, int precision,
			 struct print_reader *reader)
{
	const char *text = (const char *)reader->at;
	size_t length = strnlen(text, reader->left), used = (length + 8) & ~(size_t)7;
	char format[32];

	if (precision < 0 || (size_t)precision > length)
		precision = length;
	snprintf(format, sizeof(format), "%%%s*.*s", strchr(flags, '-') ? "-" : "");
	fprintf(out, format, width, precision, text);
	used = used > reader->left ? reader->left : used;
	reader->at += used;
	reader->left -= used;
}

/* One number of @bytes by the conversion @kind. */
static void print_number(FILE *out, const char *flags, int width, int precision, char kind,
			 unsigned int bytes, uint64_t bits)
{
	const unsigned int unused = 64 - 8 * bytes;
	char format[32], digits[16] = "";
	double real;

	if (precision >= 0)
		snprintf(digits, sizeof(digits), ".%d", precision);
	if (strchr("aAeEfFgG", kind)) {
		memcpy(&real, &bits, sizeof(real));
		snprintf(format, sizeof(format), "%%%s*%s%c", flags, digits, kind);
		fprintf(out, format, width, real);
	} else if (kind == 'c') {
		fprintf(out, strchr(flags, '-') ? "%-*c" : "%*c", width, (int)(uint8_t)bits);
	} else if (kind == 'p') {
		fprintf(out, strchr(flags, '-') ? "%-*p" : "%*p", width, (void *)(uintptr_t)bits);
	} else {
		bits <<= unused;
		bits = strchr("di", kind) ? (uint64_t)((int64_t)bits >> unused) : bits >> unused;
		snprintf(format, sizeof(format), "%%%s*%sll%c", flags, digits, kind);
		fprintf(out, format, width, (long long)bits);
	}
}

static int take_number(const char **format)
{
	int value = 0;

	while (**format >= '0' && **format <= '9') {
		value = value * 10 + *(*format)++ - '0';
		value = value > MAX_WIDTH ? MAX_WIDTH : value;
	}
	return value;
}

/* The conversion after a '%'; returns what follows it. */
static const char *print_conversion(FILE *out, const char *format, struct print_reader *reader)
{
	unsigned int lanes = 1, bytes = 4, i, count = 0;
	int width, precision = -1;
	char flags[8] = "";

	while (*format && strchr("-+ #0", *format)) {
		if (count < 5 && !strchr(flags, *format))
			flags[count++] = *format;
		format++;
	}
	width = take_number(&format);
	if (*format == '.') {
		format++;
		precision = take_number(&format);
	}
	if (*format == 'v') {
		format++;
		lanes = take_number(&format);
		lanes = lanes > 16 ? 16 : lanes;
	}
	if (!strncmp(format, "hh", 2)) {
		bytes = 1;
		format += 2;
	} else if (!strncmp(format, "hl", 2)) {
		format += 2;
	} else if (*format == 'h') {
		bytes = 2;
		format++;
	} else if (*format == 'l' || *format == 'z') {
		bytes = 8;
		format++;
	}
	if (!*format)
		return format;
	if (*format == '%') {
		fputc('%', out);
	} else if (*format == 's') {
		print_string(out, flags, width, precision, reader);
	} else if (strchr("diouxXaAeEfFgGcp", *format)) {
		for (i = 0; i < lanes; i++) {
			if (i)
				fputc(',', out);
			print_number(out, flags, width, precision, *format, bytes,
				     next_number(reader));
		}
	}
	return format + 1;
}

static void print_record(FILE *out, const char *format, struct print_reader *reader)
{
	while (*format) {
		if (*format != '%')
			fputc(*format++, out);
		else
			format = print_conversion(out, format + 1, reader);
	}
}

/* All records, up to the first invalid one. */
static void print_records(FILE *out, const uint8_t *records, size_t bytes)
{
	uint32_t head[2];

	while (bytes > sizeof(head)) {
		struct print_reader reader;

		memcpy(head, records, sizeof(head));
		if (head[0] % 8 || head[0] > bytes || head[0] <= sizeof(head) || !head[1] ||
		    head[1] > head[0] - sizeof(head) || head[1] % 8 ||
		    records[sizeof(head) + head[1] - 1] ||
		    !memchr(records + sizeof(head), 0, head[1]))
			return;
		reader.at = records + sizeof(head) + head[1];
		reader.left = head[0] - sizeof(head) - head[1];
		print_record(out, (const char *)records + sizeof(head), &reader);
		records += head[0];
		bytes -= head[0];
	}
}

int salvo_batch_print(struct salvo_batch *batch, int fd)
{
	struct salvo_print_buffer *buffer = batch->printed;
	size_t bytes, length = 0;
	char *text = NULL;
	uint8_t *copy;
	int lost, err = 0;
	FILE *out;

	if (salvo_flight_is_busy(&batch->flight))
		return salvo_batch_fail(batch, -EBUSY, "print: the batch is in flight");
	if (!buffer)
		return 0;
	/* A copy: a kernel of another batch could still write to the buffer. */
	bytes = buffer->used < PRINT_BYTES - sizeof(*buffer) ? buffer->used :
							      PRINT_BYTES - sizeof(*buffer);
	lost = buffer->lost < INT32_MAX ? buffer->lost : INT32_MAX;
	copy = malloc(bytes + 1);
	out = copy ? open_memstream(&text, &length) : NULL;
	if (!out) {
		free(copy);
		return salvo_batch_fail(batch, -ENOMEM, "out of memory");
	}
	memcpy(copy, buffer->records, bytes);
	memset(buffer->records, 0, bytes);
	buffer->used = 0;
	buffer->lost = 0;
	buffer->capacity = PRINT_BYTES - sizeof(*buffer);
	print_records(out, copy, bytes);
	free(copy);
	if (fclose(out))
		err = -ENOMEM;
	if (!err)
		err = salvo_write_all(fd, text, length);
	free(text);
	return err ? salvo_batch_fail(batch, err, "print: write failed") : lost;
}
