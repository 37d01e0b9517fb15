// SPDX-License-Identifier: MIT
/*
 * error.cc - messages, in the form in which clang prints its own
 *
 * Line tables are kept until the passes have run and stripped then without -g, so that an
 * error that is found late names its line.
 */
#include "error.h"
#include "salvo_cc.h"

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/Support/JSON.h>
#include <llvm/Support/raw_ostream.h>

using namespace llvm;

static bool errors_as_json;

void print_errors_as_json()
{
	errors_as_json = true;
}

void print_error(const Twine &message)
{
	errs() << "salvo-cc: error: " << message << "\n";
	if (errors_as_json)
		outs() << json::Value(json::Object{
			{ "error", json::Object{ { "message", json::fixUTF8(message.str()) } } } })
		       << "\n";
}

/* Of a whole function: its first line. */
void print_error_in(const Function &f, const Twine &message)
{
	if (const DISubprogram *where = f.getSubprogram())
		errs() << where->getFilename() << ":" << where->getLine() << ": error: " << message
		       << "\n";
	else
		errs() << f.getParent()->getSourceFileName() << ": error: " << message << "\n";
}

void print_error_at(const DebugLoc &where, const Module &m, const Twine &message)
{
	if (!where) {
		errs() << m.getSourceFileName() << ": error: " << message << "\n";
		return;
	}
	errs() << where->getFilename() << ":" << where.getLine() << ":" << where.getCol()
	       << ": error: " << message << "\n";
}
