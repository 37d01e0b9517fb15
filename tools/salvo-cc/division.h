/* SPDX-License-Identifier: MIT */
/*
 * division.h - integer divisions that never fault
 */
#ifndef DIVISION_H
#define DIVISION_H

namespace llvm {
class Instruction;
class Loop;
class Module;
class Value;
}

/** guard_divisions() - Give each integer division that may fault some result instead. */
void guard_divisions(llvm::Module &m);

/* Divides vectors of bytes by constants as shorts, when nothing reduces them to bytes again. */
void widen_byte_divisions(llvm::Module &m);

/*
 * Divides doubles where all elements of vectors of longs are small. For AVX-512, which converts
 * them, and not for checked mode: divisions by zero do not fault.
 */
void divide_small_longs(llvm::Module &m);

/* Does @division, of integers, take its operands as signed numbers? */
bool is_signed_division(const llvm::Instruction &division);

/* Is @division, of integers, for what it leaves? */
bool is_remainder(const llvm::Instruction &division);

/* Is @inst a division of integers that may fault by its divisor, or by that of an element? */
bool is_faulting_division(const llvm::Instruction &inst);

/*
 * The divisor that the program has given @division, if guard_divisions() has changed that, or NULL.
 * A division with one does not fault wherever it is.
 */
llvm::Value *guarded_divisor(const llvm::Instruction &division);

/*
 * Moves @inst, if it is one, out of @loop, if it is the same in all iterations. Returns whether
 * anything was moved.
 */
bool hoist_division(llvm::Instruction &inst, llvm::Loop &loop);

#endif
