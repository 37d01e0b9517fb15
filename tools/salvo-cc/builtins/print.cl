// SPDX-License-Identifier: MIT
/*
 * print.cl - room in the print buffer, 6.12.13
 *
 * The compiler makes a record of each call of printf() (printf.cc); here it gets its place,
 * by one atomic addition. Once one record did not fit none does.
 */
struct print_buffer {
	ulong used;
	uint capacity, lost;
	uchar records[];
};

/* Made to measure by the compiler. */
OVERLOAD ulong atom_add(volatile global ulong *p, ulong value);
OVERLOAD uint atomic_inc(volatile global uint *p);

/* Room for the record of a printf(), with its size and the format, which fills @text bytes. */
global uchar *salvo_outline_print_reserve(global struct print_buffer *buffer, ulong bytes,
					  constant const char *format, uint text)
{
	ulong at = atom_add(&buffer->used, bytes);
	global uchar *record = buffer->records + at;

	if (at > buffer->capacity || bytes > buffer->capacity - at) {
		atomic_inc(&buffer->lost);
		return 0;
	}
	((global uint *)record)[0] = bytes;
	((global uint *)record)[1] = text;
	for (uint i = 0; i < text && (i == 0 || format[i - 1]); i++)
		record[8 + i] = format[i];
	return record;
}

static constant char null_text[] = "(null)";

/* Bytes of a string in a record, filled up to a multiple of 8. */
ulong salvo_outline_print_length(constant const char *text)
{
	ulong n = 0;

	text = text ? text : null_text;
	while (text[n])
		n++;
	return (n + 8) & ~7ul;
}

void salvo_outline_print_string(global uchar *to, constant const char *text)
{
	ulong n;

	text = text ? text : null_text;
	for (n = 0; text[n]; n++)
		to[n] = text[n];
	to[n] = 0;
}
