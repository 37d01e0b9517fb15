// SPDX-License-Identifier: MIT
/*
 * library.cc - links the built-in functions that are called
 *
 * The library is OpenCL C (builtins/), compiled to bitcode for spir64, embedded in this
 * program and read lazily. Conversions, vector loads and stores and the like are generated on
 * demand. What is still undefined then is an error. Most programs call nothing that is in it; to
 * read its 2,000 declarations would be a third of the time of a small kernel.
 */
#include "error.h"
#include "generic.h"
#include "scratch.h"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/MemoryBuffer.h>

using namespace llvm;

extern "C" {
extern const char salvo_library_start[], salvo_library_end[];
extern const char salvo_runtime_start[], salvo_runtime_end[];
extern const char salvo_runtime_aarch64_start[], salvo_runtime_aarch64_end[];
}

StringRef runtime_object(const options &opts)
{
	if (opts.aarch64)
		return StringRef(salvo_runtime_aarch64_start,
				 salvo_runtime_aarch64_end - salvo_runtime_aarch64_start);
	return StringRef(salvo_runtime_start, salvo_runtime_end - salvo_runtime_start);
}

/* @names has those of all that the library defines, one directly after the other. */
static bool may_need(const Module &m, StringRef names)
{
	return any_of(m.global_values(), [&](const GlobalValue &g) {
		return g.isDeclaration() && !g.getName().starts_with("llvm.") &&
		       names.contains(g.getName());
	});
}

static bool link_functions(Module &m)
{
	SmallPtrSet<const Function *, 32> of_source;
	StringRef text(salvo_library_start, salvo_library_end - salvo_library_start);
	Expected<std::vector<BitcodeModule>> library =
		getBitcodeModuleList(MemoryBufferRef(text, "library"));

	if (!library) {
		print_error("library: " + toString(library.takeError()));
		return false;
	}
	BitcodeModule &only = library->front();
	if (!may_need(m, only.getStrtab()))
		return true;
	Expected<std::unique_ptr<Module>> functions =
		only.getLazyModule(m.getContext(), false, false);
	if (!functions) {
		print_error("library: " + toString(functions.takeError()));
		return false;
	}
	for (const Function &f : m)
		if (!f.isDeclaration())
			of_source.insert(&f);
	if (Linker::linkModules(m, std::move(*functions), Linker::LinkOnlyNeeded)) {
		print_error("the library does not fit this program");
		return false;
	}
	for (Function &f : m)
		if (!f.isDeclaration() && !of_source.contains(&f))
			mark_library_function(f);
	return true;
}

bool link_library(Module &m)
{
	expand_powers(m);
	define_half_functions(m);
	define_generic_functions(m);
	if (!link_functions(m))
		return false;
	lower_opaque_types(m);
	define_scratch(m);
	SmallVector<Function *> missing;
	for (Function &f : m)
		if (f.isDeclaration() && !f.isIntrinsic() && !f.use_empty())
			missing.push_back(&f);
	for (Function *f : missing)
		(void)(define_conversion(*f) || define_memory_access(*f) || define_async(*f) ||
		       define_intrinsic(*f) || define_atomic(*f) || define_space_query(*f));
	lower_half(m);
	return true;
}

bool check_defined(Module &m)
{
	bool ok = true;

	for (Function &f : m)
		for (Instruction &inst : instructions(f)) {
			auto *call = dyn_cast<CallInst>(&inst);
			Function *callee = call ? call->getCalledFunction() : nullptr;
			if (!callee || !callee->isDeclaration() || callee->isIntrinsic() ||
			    is_placeholder(*callee) || is_barrier(*call))
				continue;
			print_error_at(call->getDebugLoc(), m, "function '" +
				       demangle(callee->getName()) + "' is not available");
			ok = false;
		}
	return ok;
}
