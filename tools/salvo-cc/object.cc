// SPDX-License-Identifier: MIT
/*
 * object.cc - objects and libraries: what the compile step makes and the link step takes
 *
 * An object is a struct salvo_object_head and LLVM bitcode, as clang made it; a library is the
 * same from several objects. Both are independent of the GPU: the passes run at the link step.
 * A file may hold several objects one after the other, so that standard input can bring them
 * all. Objects are untrusted: LLVM checks the bitcode, and the module is verified.
 */
#include "error.h"
#include "salvo_cc.h"

#include <cstring>

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>

#include "salvo_kernel.h"

using namespace llvm;

bool write_object(const Module &m, const options &opts)
{
	salvo_object_head head = {};
	SmallString<0> data;

	raw_svector_ostream stream(data);
	data.resize(sizeof(head));
	WriteBitcodeToFile(m, stream);
	memcpy(head.magic, SALVO_OBJECT_MAGIC, sizeof(head.magic));
	head.version = SALVO_OBJECT_VERSION;
	head.kind = opts.library ? SALVO_OBJECT_IS_LIBRARY : SALVO_OBJECT_IS_COMPILED;
	head.bytes = data.size();
	memcpy(data.data(), &head, sizeof(head));
	return write_result(opts, data);
}

/* Takes the first object off @data. */
static std::unique_ptr<Module> take_object(StringRef &data, const std::string &path,
					   LLVMContext &context)
{
	salvo_object_head head;

	if (data.size() < sizeof(head)) {
		print_error("'" + path + "' is no object of salvo-cc");
		return nullptr;
	}
	memcpy(&head, data.data(), sizeof(head));
	if (memcmp(head.magic, SALVO_OBJECT_MAGIC, sizeof(head.magic)) ||
	    head.version != SALVO_OBJECT_VERSION || head.bytes < sizeof(head) ||
	    head.bytes > data.size()) {
		print_error("'" + path + "' is no object of this version of salvo-cc");
		return nullptr;
	}
	/* The reader wants the bitcode aligned. */
	std::unique_ptr<MemoryBuffer> copy = MemoryBuffer::getMemBufferCopy(
		data.substr(sizeof(head), head.bytes - sizeof(head)), path);
	data = data.drop_front(head.bytes);

	Expected<std::unique_ptr<Module>> m = parseBitcodeFile(copy->getMemBufferRef(), context);
	if (!m) {
		print_error("'" + path + "' is damaged: " + toString(m.takeError()));
		return nullptr;
	}
	if (verifyModule(**m, &errs())) {
		print_error("'" + path + "' is damaged");
		return nullptr;
	}
	return std::move(*m);
}

/* LLVM's linker would report a symbol that is defined twice without a place. */
static bool check_definitions(const Module &all, const Module &m)
{
	bool ok = true;

	for (const GlobalObject &g : m.global_objects()) {
		auto *before = dyn_cast_or_null<GlobalObject>(all.getNamedValue(g.getName()));

		if (!before || !g.isStrongDefinitionForLinker() || g.hasLocalLinkage() ||
		    !before->isStrongDefinitionForLinker() || before->hasLocalLinkage() ||
		    g.hasAppendingLinkage())
			continue;
		print_error_in(g, "redefinition of '" + g.getName() + "'");
		print_note_in(*before, "previous definition is here");
		ok = false;
	}
	return ok;
}

std::unique_ptr<Module> read_objects(const options &opts, LLVMContext &context)
{
	auto all = std::make_unique<Module>(opts.input, context);
	Linker linker(*all);

	for (const std::string &path : opts.inputs) {
		ErrorOr<std::unique_ptr<MemoryBuffer>> file = MemoryBuffer::getFileOrSTDIN(path);
		if (!file) {
			print_error("cannot read '" + path + "': " + file.getError().message());
			return nullptr;
		}
		StringRef data = (*file)->getBuffer();
		do {
			std::unique_ptr<Module> m = take_object(data, path, context);
			if (!m || !check_definitions(*all, *m) ||
			    linker.linkInModule(std::move(m)))
				return nullptr;
		} while (!data.empty());
	}
	return all;
}
