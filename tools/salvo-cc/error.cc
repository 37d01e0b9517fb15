// SPDX-License-Identifier: MIT
/*
 * error.cc - messages, in the form in which clang prints its own
 *
 * clang itself prints them: it gets a file that has only the line (sources.cc). Line tables are
 * kept until the passes have run and stripped then without -g, so that an error that is found late
 * has a place.
 */
#include "error.h"
#include "sources.h"

#include <mutex>

#include <clang/Basic/Diagnostic.h>
#include <clang/Basic/FileManager.h>
#include <clang/Basic/LangOptions.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Frontend/TextDiagnostic.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/JSON.h>
#include <llvm/Support/Process.h>
#include <llvm/Support/raw_ostream.h>

using namespace llvm;

static bool errors_as_json;
/* Parts of a program are compiled at the same time (parts.cc). */
static std::mutex printing;

void print_errors_as_json()
{
	errors_as_json = true;
}

void print_error(const Twine &message)
{
	const std::lock_guard<std::mutex> lock(printing);

	errs() << "salvo-cc: error: " << message << "\n";
	if (errors_as_json)
		outs() << json::Value(json::Object{
			{ "error", json::Object{ { "message", json::fixUTF8(message.str()) } } } })
		       << "\n";
}

using level = clang::DiagnosticsEngine::Level;

/* With the line and a caret. */
static void show(const source_place &p, level kind, const std::string &message)
{
	IntrusiveRefCntPtr<clang::DiagnosticOptions> how(new clang::DiagnosticOptions());
	how->ShowPresumedLoc = true;
	how->ShowColors = sys::Process::StandardErrHasColors();
	clang::IgnoringDiagConsumer none;
	clang::DiagnosticsEngine engine(new clang::DiagnosticIDs(), how, &none, false);
	clang::FileManager files({});
	clang::SourceManager manager(engine, files);
	const clang::FileID file = manager.createFileID(
		MemoryBuffer::getMemBufferCopy(p.text + "\n", p.path));
	const clang::SourceLocation start = manager.getLocForStartOfFile(file);

	/* The number of the line that follows the one with the note. */
	manager.AddLineNote(start, p.line + 1, -1, false, false, clang::SrcMgr::C_User);
	errs() << p.included;
	clang::TextDiagnostic(errs(), clang::LangOptions(), how.get()).emitDiagnostic(
		clang::FullSourceLoc(manager.translateLineCol(file, 1, p.column), manager), kind,
		message, {}, {});
}

static void print(const source_place &p, level kind, const Twine &message)
{
	const std::lock_guard<std::mutex> lock(printing);

	if (p.column && !p.text.empty()) {
		show(p, kind, message.str());
		return;
	}
	errs() << p.path << ":";
	if (p.line)
		errs() << p.line << ":";
	if (p.column)
		errs() << p.column << ":";
	errs() << (kind == level::Error ? " error: " : " note: ") << message << "\n";
}

void print_error_in(const GlobalObject &g, const Twine &message)
{
	print(find_place(g, -1), level::Error, message);
}

void print_error_in(const Argument &a, const Twine &message)
{
	print(find_place(*a.getParent(), a.getArgNo()), level::Error, message);
}

void print_note_in(const GlobalObject &g, const Twine &message)
{
	print(find_place(g, -1), level::Note, message);
}

void print_error_at(const DebugLoc &where, const Module &m, const Twine &message)
{
	source_place p;

	p.path = m.getSourceFileName();
	print(where ? find_place(m, *where) : p, level::Error, message);
}
