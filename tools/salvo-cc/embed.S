/* SPDX-License-Identifier: MIT */
/* The library's bitcode and the runtime's object code, inside the compiler. */
	.section .rodata
	.balign 16
	.globl salvo_library_start, salvo_library_end, salvo_runtime_start, salvo_runtime_end
salvo_library_start:
	.incbin SALVO_CC_LIBRARY
salvo_library_end:
	.balign 16
salvo_runtime_start:
	.incbin SALVO_CC_RUNTIME
salvo_runtime_end:
	.balign 16
	.globl salvo_runtime_aarch64_start, salvo_runtime_aarch64_end
salvo_runtime_aarch64_start:
	.incbin SALVO_CC_RUNTIME_AARCH64
salvo_runtime_aarch64_end:
	.section .note.GNU-stack, "", @progbits
