/* SPDX-License-Identifier: MIT */
/*
 * program.S - the compiled bench.cl, inside the binary
 */
	.section .rodata
	.balign 64
	.globl bench_program, bench_program_end
bench_program:
	.incbin BENCH_PROGRAM
bench_program_end:
	.section .note.GNU-stack, "", @progbits
