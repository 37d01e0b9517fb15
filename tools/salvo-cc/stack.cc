// SPDX-License-Identifier: MIT
/*
 * stack.cc - how much stack a kernel needs
 *
 * LLVM writes the size of each function's frame into a section .stack_sizes, as
 * pairs of an address (a relocation against the function's section) and a number.
 * A kernel needs its own frame and the deepest chain of frames in its call graph. The caller of a
 * kernel reserves stack for group->barrier, and the runtime's functions need none.
 */
#include "salvo_cc.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Support/DataExtractor.h>

using namespace llvm;

/* Address and section of @function; false if it is not there. */
static bool find_function(const object::ObjectFile &file, StringRef function, uint64_t &address,
			  object::section_iterator &section)
{
	for (const object::SymbolRef &symbol : file.symbols()) {
		Expected<StringRef> name = symbol.getName();
		if (!name) {
			consumeError(name.takeError());
			continue;
		}
		if (*name != function)
			continue;
		address = cantFail(symbol.getAddress());
		section = cantFail(symbol.getSection());
		return true;
	}
	return false;
}

static uint32_t frame_bytes(const object::ObjectFile &file, StringRef function)
{
	object::section_iterator code = file.section_end();
	uint64_t address = 0;

	if (!find_function(file, function, address, code))
		return 0;
	for (const object::SectionRef &section : file.sections()) {
		auto target = cantFail(section.getRelocatedSection());
		if (target == file.section_end() || cantFail(target->getName()) != ".stack_sizes")
			continue;
		DataExtractor data(cantFail(target->getContents()), true, 8);
		for (const object::RelocationRef &relocation : section.relocations()) {
			auto symbol = relocation.getSymbol();
			if (symbol == file.symbol_end() ||
			    cantFail(symbol->getSection()) != code)
				continue;
			int64_t addend = cantFail(object::ELFRelocationRef(relocation).getAddend());
			if (cantFail(symbol->getAddress()) + addend != address)
				continue;
			uint64_t at = relocation.getOffset() + 8;
			return data.getULEB128(&at);
		}
	}
	return 0;
}

/* The frame of @f, with those of the functions that it calls. */
static uint32_t depth(const Function &f, const object::ObjectFile &file,
		      DenseMap<const Function *, uint32_t> &known)
{
	auto found = known.find(&f);
	uint32_t deepest = 0;

	if (found != known.end())
		return found->second;
	for (const Instruction &inst : instructions(f)) {
		auto *call = dyn_cast<CallBase>(&inst);
		const Function *callee = call ? call->getCalledFunction() : nullptr;

		if (callee && !callee->isDeclaration())
			deepest = std::max(deepest, depth(*callee, file, known) + 8);
	}
	deepest += frame_bytes(file, f.getName());
	known[&f] = deepest;
	return deepest;
}

void find_stacks(const bytes &object, std::vector<kernel> &kernels)
{
	MemoryBufferRef buffer(StringRef(object.data(), object.size()), "object");
	auto file = cantFail(object::ObjectFile::createELFObjectFile(buffer));
	DenseMap<const Function *, uint32_t> known;

	for (kernel &k : kernels)
		k.private_bytes = depth(*k.function, *file, known);
}
