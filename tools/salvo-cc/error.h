/* SPDX-License-Identifier: MIT */
/*
 * error.h - errors, in the form in which clang prints its own
 */
#ifndef ERROR_H
#define ERROR_H

#include <llvm/ADT/Twine.h>

namespace llvm {
class Argument;
class DebugLoc;
class GlobalObject;
class Module;
}

/* With --json: what print_error() prints goes to standard output too. */
void print_errors_as_json();

/* An error of no place in a source. */
void print_error(const llvm::Twine &message);
/* An error at an instruction; of the whole source if the instruction has no place. */
void print_error_at(const llvm::DebugLoc &where, const llvm::Module &m, const llvm::Twine &message);
/* An error of a function, variable or parameter: where it is declared. */
void print_error_in(const llvm::GlobalObject &g, const llvm::Twine &message);
void print_error_in(const llvm::Argument &a, const llvm::Twine &message);
void print_note_in(const llvm::GlobalObject &g, const llvm::Twine &message);

#endif
