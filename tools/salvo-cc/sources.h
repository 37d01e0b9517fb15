/* SPDX-License-Identifier: MIT */
/*
 * sources.h - what error messages show of the source
 */
#ifndef SOURCES_H
#define SOURCES_H

#include <string>
#include <utility>
#include <vector>

#include <llvm/ADT/SmallVector.h>

namespace clang {
class ASTContext;
}

namespace llvm {
class DILocation;
class Function;
class GlobalObject;
class Module;
}

/* Lines of a file that have consecutive numbers: a file, or what follows a #line in it. */
struct source_text {
	std::string path;		/* as given */
	std::string included;		/* "In file included from ...", a line each */
	unsigned first_line;
	std::string text;
};

/* Of a function or variable: its name, then its parameters' names. */
struct source_declaration {
	std::string name, path;
	std::vector<std::pair<unsigned, unsigned>> at;	/* line and column */
};

struct source_notes {
	std::vector<source_text> texts;
	std::vector<source_declaration> declarations;
};

/* What paths begin with, and what they do instead; the last one that fits counts. */
using path_prefixes = llvm::SmallVectorImpl<std::pair<std::string, std::string>>;

/* From clang, and into the module, where they stay up to the link step. */
source_notes note_sources(const clang::ASTContext &ast, const path_prefixes &prefixes);
void add_sources(llvm::Module &m, const source_notes &notes);
/* Variables' places; passes take what is noted of a variable for a reason to leave it alone. */
void forget_variables(llvm::Module &m);
void copy_place(llvm::Function &to, const llvm::Function &from);

/* A place in the source; without line or column where they are not known. */
struct source_place {
	std::string path, included, text;	/* text: the line, empty if not known */
	unsigned line = 0, column = 0;
};

source_place find_place(const llvm::Module &m, const llvm::DILocation &where);
/* @parameter: its number from 0, or -1 for the name of @g. */
source_place find_place(const llvm::GlobalObject &g, int parameter);

#endif
