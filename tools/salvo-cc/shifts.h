/* SPDX-License-Identifier: MIT */
/*
 * shifts.h - halves of sums as sums of halves
 */
#ifndef SALVO_CC_SHIFTS_H
#define SALVO_CC_SHIFTS_H

namespace llvm { class Module; }

/* Distributes right shifts of sums, while the ranges of ids are known. */
void distribute_shifts(llvm::Module &m);

#endif /* SALVO_CC_SHIFTS_H */
