// SPDX-License-Identifier: MIT
/*
 * stack.cc - how much stack a kernel needs
 *
 * LLVM writes the size of each function's frame into a section .stack_sizes, as
 * pairs of an address (a relocation against the function's section) and a number.
 * All calls are inlined but those of the runtime's memory functions and of
 * group->barrier, for which the caller of a kernel leaves room itself.
 */
#include "salvo_cc.h"

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

uint32_t stack_bytes(const bytes &object, StringRef function)
{
	MemoryBufferRef buffer(StringRef(object.data(), object.size()), "object");
	auto file = cantFail(object::ObjectFile::createELFObjectFile(buffer));
	object::section_iterator code = file->section_end();
	uint64_t address = 0;

	if (!find_function(*file, function, address, code))
		return 0;
	for (const object::SectionRef &section : file->sections()) {
		auto target = cantFail(section.getRelocatedSection());
		if (target == file->section_end() || cantFail(target->getName()) != ".stack_sizes")
			continue;
		DataExtractor data(cantFail(target->getContents()), true, 8);
		for (const object::RelocationRef &relocation : section.relocations()) {
			auto symbol = relocation.getSymbol();
			if (symbol == file->symbol_end() ||
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
