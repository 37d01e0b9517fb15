/* SPDX-License-Identifier: MIT */
/*
 * program.S - the compiled faces.cl, inside the binary
 */
	.section .rodata
	.balign 64
	.globl faces_program, faces_program_end
faces_program:
	.incbin FACES_PROGRAM
faces_program_end:
	.section .note.GNU-stack, "", @progbits
