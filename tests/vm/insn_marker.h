/* SPDX-License-Identifier: MIT */
/*
 * insn_marker.h - the NOPs that mark a span of code for insn_count.c
 *
 * nopl disp32(%rax,%rax,1): 0f 1f 84 00 and four bytes of displacement: two are a signature, one is
 * the span's id (0 to 7), one is start or end.
 */
#ifndef INSN_MARKER_H
#define INSN_MARKER_H

#define INSN_MARKER_BYTES	{ 0x0f, 0x1f, 0x84, 0x00, 0x5a, 0x1f }

#define INSN_MARKER(id, start) \
	__asm__ volatile(".byte 0x0f, 0x1f, 0x84, 0x00, 0x5a, 0x1f, %c0, %c1" \
			 : : "i"(id), "i"(start) : "memory")

#define INSN_SPAN_START(id)	INSN_MARKER(id, 1)
#define INSN_SPAN_END(id)	INSN_MARKER(id, 0)

#endif /* INSN_MARKER_H */
