/* SPDX-License-Identifier: MIT */
/*
 * division.h - integer divisions that never fault
 */
#ifndef DIVISION_H
#define DIVISION_H

namespace llvm {
class Module;
}

/** guard_divisions() - Give each integer division that may fault some result instead. */
void guard_divisions(llvm::Module &m);

#endif
