// SPDX-License-Identifier: MIT
/*
 * sources.cc - the source, for the errors that are found after clang is done
 *
 * clang's messages begin with the path as it was given, and show the line. Debug locations have
 * neither the text nor, where it begins with the current folder, the whole path; functions have a
 * line without a column, and variables have nothing. So the front end notes, and keeps in the
 * module, which may become an object,
 *
 *	!salvo.sources = { path, included, first line, text }, ...
 *	@name !salvo.place { path, line, column of the name, of the first parameter, ... }
 *
 * The text is that of a file, or of what follows a #line in it, as locations count their lines from
 * there on. Headers of the system are left out.
 */
#include "sources.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/Basic/SourceManager.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/Path.h>

using namespace llvm;

static const char sources_name[] = "salvo.sources", place_name[] = "salvo.place";

/* Where clang has the source, and how the command line renames its folders. */
struct source_files {
	const clang::SourceManager &manager;
	const path_prefixes &prefixes;

	std::string path(const clang::PresumedLoc &p) const
	{
		SmallString<128> path(p.getFilename());

		for (auto &[from, to] : reverse(prefixes))
			if (sys::path::replace_path_prefix(path, from, to))
				break;
		return path.str().str();
	}
};

static std::string inclusions(const source_files &files, clang::SourceLocation at)
{
	const clang::SourceManager &manager = files.manager;
	std::string text;

	for (clang::PresumedLoc p = manager.getPresumedLoc(at);
	     p.isValid() && p.getIncludeLoc().isValid();) {
		p = manager.getPresumedLoc(p.getIncludeLoc());
		/* clang's own file that includes what the command line asks for. */
		if (p.isValid() && p.getFilename()[0] != '<')
			text = "In file included from " + files.path(p) + ":" +
			       std::to_string(p.getLine()) + ":\n" + text;
	}
	return text;
}

static void note_text(const source_files &files, const clang::SrcMgr::SLocEntry &entry,
		      std::vector<source_text> &texts)
{
	const clang::SourceManager &manager = files.manager;
	const auto start = clang::SourceLocation::getFromRawEncoding(entry.getOffset());
	const bool counted = entry.getFile().hasLineDirectives();
	StringRef rest = manager.getBufferData(manager.getFileID(start));
	const char *const begin = rest.begin();
	unsigned next = 0;
	bool follows = false;

	while (!rest.empty()) {
		const auto at = start.getLocWithOffset(rest.begin() - begin);
		const clang::PresumedLoc p = manager.getPresumedLoc(at);
		/* Without a #line all of it, else a line. */
		const size_t bytes = counted ? std::min(rest.find('\n'), rest.size() - 1) + 1 :
					       rest.size();

		if (p.isInvalid())
			return;
		/* No file: the command line, and what clang itself defines. */
		const bool named = p.getFilename()[0] != '<';

		if (named && (!follows || p.getLine() != next ||
			      texts.back().path != files.path(p))) {
			const std::string included = inclusions(files, at);

			texts.push_back({ files.path(p), included, p.getLine(), "" });
		}
		if (named)
			texts.back().text += rest.take_front(bytes);
		next = p.getLine() + 1;
		follows = named;
		rest = rest.drop_front(bytes);
	}
}

static void note_declaration(const source_files &files, const Twine &name,
			     const clang::NamedDecl &declared, source_notes &notes)
{
	const clang::SourceManager &manager = files.manager;
	const clang::PresumedLoc p = manager.getPresumedLoc(declared.getLocation());
	source_declaration d;

	if (p.isInvalid())
		return;
	d.name = name.str();
	d.path = files.path(p);
	d.at.push_back({ p.getLine(), p.getColumn() });
	if (auto *f = dyn_cast<clang::FunctionDecl>(&declared))
		for (const clang::ParmVarDecl *parameter : f->parameters()) {
			const clang::PresumedLoc q =
				manager.getPresumedLoc(parameter->getLocation());

			d.at.push_back({ q.isValid() ? q.getLine() : 0,
					 q.isValid() ? q.getColumn() : 0 });
		}
	notes.declarations.push_back(std::move(d));
}

source_notes note_sources(const clang::ASTContext &ast, const path_prefixes &prefixes)
{
	const clang::SourceManager &manager = ast.getSourceManager();
	const source_files files = { manager, prefixes };
	source_notes notes;

	for (unsigned i = 0; i < manager.local_sloc_entry_size(); i++) {
		const clang::SrcMgr::SLocEntry &entry = manager.getLocalSLocEntry(i);

		if (entry.isFile() && entry.getOffset() &&
		    !clang::SrcMgr::isSystem(entry.getFile().getFileCharacteristic()))
			note_text(files, entry, notes.texts);
	}
	for (const clang::Decl *d : ast.getTranslationUnitDecl()->decls()) {
		auto *f = dyn_cast<clang::FunctionDecl>(d);

		if (f && f->isThisDeclarationADefinition()) {
			note_declaration(files, f->getName(), *f, notes);
			for (const clang::Decl *inner : f->decls())
				if (auto *v = dyn_cast<clang::VarDecl>(inner))
					if (v->isStaticLocal())
						note_declaration(files, f->getName() + "." +
								 v->getName(), *v, notes);
		} else if (auto *v = dyn_cast<clang::VarDecl>(d)) {
			note_declaration(files, v->getName(), *v, notes);
		}
	}
	return notes;
}

static Metadata *number(LLVMContext &context, unsigned n)
{
	return ConstantAsMetadata::get(ConstantInt::get(Type::getInt32Ty(context), n));
}

void add_sources(Module &m, const source_notes &notes)
{
	LLVMContext &context = m.getContext();
	NamedMDNode *sources = m.getOrInsertNamedMetadata(sources_name);

	for (const source_text &s : notes.texts)
		sources->addOperand(MDNode::get(context, {
			MDString::get(context, s.path), MDString::get(context, s.included),
			number(context, s.first_line), MDString::get(context, s.text) }));
	for (const source_declaration &d : notes.declarations) {
		auto *g = dyn_cast_or_null<GlobalObject>(m.getNamedValue(d.name));
		SmallVector<Metadata *> words = { MDString::get(context, d.path) };

		if (!g)
			continue;
		for (auto &[line, column] : d.at)
			words.append({ number(context, line), number(context, column) });
		g->setMetadata(place_name, MDNode::get(context, words));
	}
}

void forget_variables(Module &m)
{
	for (GlobalVariable &g : m.globals())
		g.setMetadata(place_name, nullptr);
}

void copy_place(Function &to, const Function &from)
{
	to.setMetadata(place_name, from.getMetadata(place_name));
}

/* Metadata may come from an object, which is untrusted. */
static StringRef text_of(const MDNode &node, unsigned i)
{
	auto *text = i < node.getNumOperands() ? dyn_cast_or_null<MDString>(node.getOperand(i)) :
						 nullptr;

	return text ? text->getString() : "";
}

static unsigned number_of(const MDNode &node, unsigned i)
{
	auto *n = i < node.getNumOperands() ?
		  mdconst::dyn_extract_or_null<ConstantInt>(node.getOperand(i)) : nullptr;

	return n ? n->getLimitedValue(UINT32_MAX) : 0;
}

/* The line @n of @text, counted from 0, if it has so many. */
static bool take_line(StringRef text, unsigned n, StringRef &line)
{
	for (; n; n--) {
		const size_t end = text.find('\n');

		if (end == StringRef::npos)
			return false;
		text = text.drop_front(end + 1);
	}
	line = text.take_until([](char c) { return c == '\n' || c == '\r'; });
	return true;
}

/* @p with the text, and the path as given if that is @folder, a slash and the path of @p. */
static source_place complete(const Module &m, source_place p, StringRef folder)
{
	const NamedMDNode *sources = m.getNamedMetadata(sources_name);
	const std::string whole = (folder + "/" + p.path).str();
	StringRef line;

	for (unsigned i = 0; i < (sources ? sources->getNumOperands() : 0); i++) {
		const MDNode *s = sources->getOperand(i);
		StringRef path = text_of(*s, 0);
		const unsigned first = number_of(*s, 2);

		if ((path != p.path && path != whole) || p.line < first ||
		    !take_line(text_of(*s, 3), p.line - first, line))
			continue;
		p.path = path;
		p.included = text_of(*s, 1);
		p.text = line;
		break;
	}
	return p;
}

source_place find_place(const Module &m, const DILocation &where)
{
	source_place p;

	p.path = where.getFilename();
	p.line = where.getLine();
	p.column = where.getColumn();
	return complete(m, p, where.getDirectory());
}

source_place find_place(const GlobalObject &g, int parameter)
{
	const Module &m = *g.getParent();
	const MDNode *noted = g.getMetadata(place_name);
	auto *f = dyn_cast<Function>(&g);
	source_place p;

	if (noted) {
		p.path = text_of(*noted, 0);
		p.line = number_of(*noted, 1);
		p.column = number_of(*noted, 2);
		if (const unsigned line = number_of(*noted, 3 + 2 * parameter)) {
			p.line = line;
			p.column = number_of(*noted, 4 + 2 * parameter);
		}
		return complete(m, p, "");
	}
	p.path = m.getSourceFileName();
	if (const DISubprogram *where = f ? f->getSubprogram() : nullptr) {
		p.path = where->getFilename();
		p.line = where->getLine();
		return complete(m, p, where->getDirectory());
	}
	return p;
}
