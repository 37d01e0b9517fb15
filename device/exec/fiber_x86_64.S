/* SPDX-License-Identifier: MIT */
/*
 * fiber_x86_64.S - switch between stacks
 *
 * A suspended context is its stack pointer; the six callee-saved registers
 * are on its stack, r15 lowest, then the return address. Nothing
 * else is saved, since a switch is a function call.
 */
	.text

#define FLAG_AC	0x40000

/* void salvo_fiber_switch(void **save, void *load) */
	.globl	salvo_fiber_switch
	.hidden	salvo_fiber_switch
	.type	salvo_fiber_switch, @function
	.p2align 4
salvo_fiber_switch:
	.cfi_startproc
	pushq	%rbp
	pushq	%rbx
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
	movq	%rsp, (%rdi)
	movq	%rsi, %rsp
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%rbx
	popq	%rbp
	ret
	.cfi_endproc
	.size	salvo_fiber_switch, . - salvo_fiber_switch

/* The first switch to a fiber returns to here: r12 is the function, r13 its argument. */
	.globl	salvo_fiber_start
	.hidden	salvo_fiber_start
	.type	salvo_fiber_start, @function
	.p2align 4
salvo_fiber_start:
	.cfi_startproc
	.cfi_undefined rip
	movq	%r13, %rdi
	call	*%r12
	ud2
	.cfi_endproc
	.size	salvo_fiber_start, . - salvo_fiber_start

/* int salvo_fiber_call(void **save, void (*fn)(void *), void *arg) */
	.globl	salvo_fiber_call
	.hidden	salvo_fiber_call
	.type	salvo_fiber_call, @function
	.p2align 4
salvo_fiber_call:
	.cfi_startproc
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register rbp
	pushq	%rbx
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
	subq	$8, %rsp
	movq	%rsp, (%rdi)
	movq	%rdx, %rdi
	call	*%rsi
	xorl	%eax, %eax
.Lleave:
	/* The alignment check flag makes unaligned accesses of any code fault. */
	cld
	pushfq
	testl	$FLAG_AC, (%rsp)
	jnz	.Lclear
	addq	$16, %rsp
.Lreturn:
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%rbx
	popq	%rbp
	.cfi_def_cfa rsp, 8
	ret
	.cfi_def_cfa rbp, 16
.Lclear:
	andl	$~FLAG_AC, (%rsp)
	popfq
	addq	$8, %rsp
	jmp	.Lreturn
	.cfi_endproc
	.size	salvo_fiber_call, . - salvo_fiber_call

/* void salvo_fiber_escape(void *saved, int value): salvo_fiber_call() returns value */
	.globl	salvo_fiber_escape
	.hidden	salvo_fiber_escape
	.type	salvo_fiber_escape, @function
	.p2align 4
salvo_fiber_escape:
	.cfi_startproc
	movq	%rdi, %rsp
	movl	%esi, %eax
	jmp	.Lleave
	.cfi_endproc
	.size	salvo_fiber_escape, . - salvo_fiber_escape

/* void salvo_fiber_reset_flags(void) */
	.globl	salvo_fiber_reset_flags
	.hidden	salvo_fiber_reset_flags
	.type	salvo_fiber_reset_flags, @function
	.p2align 4
salvo_fiber_reset_flags:
	.cfi_startproc
	cld
	pushfq
	.cfi_adjust_cfa_offset 8
	andl	$~FLAG_AC, (%rsp)
	popfq
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	salvo_fiber_reset_flags, . - salvo_fiber_reset_flags

/* void salvo_fiber_reset_fpu(void) */
	.globl	salvo_fiber_reset_fpu
	.hidden	salvo_fiber_reset_fpu
	.type	salvo_fiber_reset_fpu, @function
	.p2align 4
salvo_fiber_reset_fpu:
	.cfi_startproc
	fninit
	ldmxcsr	.Lmxcsr(%rip)
	ret
	.cfi_endproc
	.size	salvo_fiber_reset_fpu, . - salvo_fiber_reset_fpu

	.section .rodata
	.p2align 2
.Lmxcsr:
	.long	0x1f80

	.section .note.GNU-stack, "", @progbits
