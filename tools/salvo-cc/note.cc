// SPDX-License-Identifier: MIT
/*
 * note.cc - the ELF note that describes each kernel (device/include/salvo_kernel.h)
 *
 * The notes are a module of their own because they contain the stack size of a kernel,
 * which is known only after code generation.
 */
#include "globals.h"
#include "rows.h"
#include "scratch.h"

#include <cstring>

#include <llvm/IR/Constants.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include "salvo_kernel.h"

using namespace llvm;

static std::string describe_one(const kernel &k, unsigned isa_level)
{
	std::vector<salvo_note_arg> args(k.args.size() - k.prints);
	salvo_note_kernel note = {};
	uint32_t strings_at = sizeof(note) + args.size() * sizeof(args[0]);
	std::string strings;
	auto add_string = [&](StringRef s) -> uint32_t {
		if (s.empty())
			return 0;
		uint32_t at = strings_at + strings.size();
		strings += s;
		strings += '\0';
		return at;
	};

	note.version = SALVO_NOTE_VERSION;
	note.name = add_string(k.name);
	if (k.function->getName() != k.name)
		note.symbol = add_string(k.function->getName());
	note.flags = k.split ? SALVO_KERNEL_SPLIT : k.barriers ? SALVO_KERNEL_BARRIERS : 0;
	note.flags |= k.contends ? SALVO_KERNEL_CONTENDS : 0;
	note.flags |= k.prints ? SALVO_KERNEL_PRINTS : 0;
	note.flags |= k.global_offset ? SALVO_KERNEL_OFFSET : 0;
	note.flags |= has_sub_groups(*k.function) ? SALVO_KERNEL_SUB_GROUPS : 0;
	note.flags |= uses_globals(*k.function) ? SALVO_KERNEL_VARIABLES : 0;
	note.flags |= has_columns(*k.function) ? SALVO_KERNEL_COLUMNS : 0;
	note.flags |= has_planes(*k.function) ? SALVO_KERNEL_PLANES : 0;
	note.flags |= k.checked ? SALVO_KERNEL_CHECKED : 0;
	note.isa_level = isa_level;
	note.arg_count = args.size();
	note.args_bytes = k.args_bytes;
	note.local_bytes = k.local_bytes;
	note.private_bytes = k.private_bytes;
	memcpy(note.required_group, k.required_group, sizeof(note.required_group));
	memcpy(note.hinted_group, k.hinted_group, sizeof(note.hinted_group));
	note.hinted_type = add_string(k.hinted_type);
	for (size_t i = 0; i < args.size(); i++) {
		const kernel_arg &a = k.args[i];
		args[i] = { a.kind, a.access, a.qualifiers, a.offset, a.size, add_string(a.name),
			    add_string(a.type) };
	}

	std::string out(reinterpret_cast<const char *>(&note), sizeof(note));
	out.append(reinterpret_cast<const char *>(args.data()), args.size() * sizeof(args[0]));
	out += strings;
	return out;
}

static std::string make_note(uint32_t type, StringRef text)
{
	const uint32_t head[3] = { sizeof(SALVO_NOTE_OWNER), (uint32_t)text.size(), type };
	std::string note(reinterpret_cast<const char *>(head), sizeof(head));

	note.append(SALVO_NOTE_OWNER, sizeof(SALVO_NOTE_OWNER));
	note.resize(alignTo(note.size(), 4));
	note += text;
	note.resize(alignTo(note.size(), 4));
	return note;
}

std::string describe(const std::vector<kernel> &kernels, unsigned isa_level)
{
	std::string notes;

	for (const kernel &k : kernels)
		notes += make_note(SALVO_NOTE_KERNEL, describe_one(k, isa_level));
	return kernels.empty() ? make_note(SALVO_NOTE_EMPTY, "") : notes;
}

static void add_section(Module &m, StringRef notes)
{
	Constant *data = ConstantDataArray::getString(m.getContext(), notes, false);
	auto *g = new GlobalVariable(m, data->getType(), true, GlobalValue::PrivateLinkage, data,
				     "note");
	g->setSection(".note.salvo");
	g->setAlignment(Align(4));
	appendToCompilerUsed(m, { g });
}

void add_notes(Module &m, const std::vector<kernel> &kernels, unsigned isa_level)
{
	add_section(m, describe(kernels, isa_level));
}

void add_global_note(Module &m, const std::string &text)
{
	if (!text.empty())
		add_section(m, make_note(SALVO_NOTE_VARIABLES, text));
}
