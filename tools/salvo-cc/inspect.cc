// SPDX-License-Identifier: MIT
/*
 * inspect.cc - prints the notes of a compiled program
 *
 * The file may be anything: every offset and length in it is checked.
 */
#include "error.h"
#include "salvo_cc.h"

#include <cstring>

#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Support/JSON.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>

#include "salvo_kernel.h"
#include "salvo_march.h"

using namespace llvm;

static const char *const kinds[] = { "value", "global", "constant", "local", "image", "sampler" };
static const char *const accesses[] = { "", "read", "write", "read-write" };

struct description {
	salvo_note_kernel kernel;
	std::vector<salvo_note_arg> args;
	StringRef text;

	bool read(StringRef desc)
	{
		text = desc;
		if (desc.size() < sizeof(kernel))
			return false;
		memcpy(&kernel, desc.data(), sizeof(kernel));
		if (kernel.version != SALVO_NOTE_VERSION ||
		    kernel.arg_count > (desc.size() - sizeof(kernel)) / sizeof(salvo_note_arg))
			return false;
		args.resize(kernel.arg_count);
		memcpy(args.data(), desc.data() + sizeof(kernel), args.size() * sizeof(args[0]));
		for (const salvo_note_arg &arg : args)
			if (arg.kind > SALVO_ARG_SAMPLER || arg.access > 3)
				return false;
		return true;
	}

	StringRef string(uint32_t offset) const
	{
		if (!offset || offset >= text.size())
			return "";
		StringRef rest = text.drop_front(offset);
		return rest.take_until([](char c) { return c == 0; });
	}
};

static std::string processor(const salvo_note_kernel &k)
{
	if (!k.isa_level)
		return "aarch64";
	return k.isa_level >= SALVO_LEVEL_MIN && k.isa_level <= SALVO_LEVEL_MAX ?
	       salvo_march(k.isa_level) : "unknown level " + std::to_string(k.isa_level);
}

static json::Array sizes(const uint32_t group[3])
{
	return json::Array{ group[0], group[1], group[2] };
}

static void print_group(const char *what, const uint32_t group[3])
{
	if (group[0])
		outs() << what << group[0] << " x " << group[1] << " x " << group[2] << "\n";
}

static json::Value to_json(const description &d)
{
	json::Array args;

	for (const salvo_note_arg &arg : d.args)
		args.push_back(json::Object{
			{ "name", d.string(arg.name).str() }, { "type", d.string(arg.type).str() },
			{ "kind", kinds[arg.kind] }, { "access", accesses[arg.access] },
			{ "offset", arg.offset }, { "size", arg.size } });
	return json::Object{
		{ "name", d.string(d.kernel.name).str() },
		{ "barriers", (d.kernel.flags & (SALVO_KERNEL_BARRIERS | SALVO_KERNEL_SPLIT)) != 0 },
		{ "prints", (d.kernel.flags & SALVO_KERNEL_PRINTS) != 0 },
		{ "processor", processor(d.kernel) }, { "isa_level", d.kernel.isa_level },
		{ "args_bytes", d.kernel.args_bytes },
		{ "local_bytes", d.kernel.local_bytes },
		{ "private_bytes", d.kernel.private_bytes },
		{ "required_group", sizes(d.kernel.required_group) },
		{ "hinted_group", sizes(d.kernel.hinted_group) },
		{ "hinted_type", d.string(d.kernel.hinted_type).str() },
		{ "global_offset", (d.kernel.flags & SALVO_KERNEL_OFFSET) != 0 },
		{ "checked", (d.kernel.flags & SALVO_KERNEL_CHECKED) != 0 },
		{ "sub_groups", (d.kernel.flags & SALVO_KERNEL_SUB_GROUPS) != 0 },
		{ "columns", (d.kernel.flags & SALVO_KERNEL_COLUMNS) != 0 },
		{ "planes", (d.kernel.flags & SALVO_KERNEL_PLANES) != 0 },
		{ "contends", (d.kernel.flags & SALVO_KERNEL_CONTENDS) != 0 },
		{ "args", std::move(args) } };
}

static void print(const description &d)
{
	const salvo_note_kernel &k = d.kernel;

	outs() << "kernel " << d.string(k.name) << "\n"
	       << "  runs           "
	       << (k.flags & SALVO_KERNEL_BARRIERS ? "a work-item a call, with barriers" :
		   k.flags & SALVO_KERNEL_SPLIT ? "a work-group a call, split at its barriers" :
						  "a work-group a call") << "\n"
	       << "  processor      " << processor(k) << "\n"
	       << "  local memory   " << k.local_bytes << " bytes\n"
	       << "  private memory ";
	if (k.private_bytes)
		outs() << k.private_bytes << " bytes of stack\n";
	else
		outs() << "unknown\n";
	if (k.flags & SALVO_KERNEL_PRINTS)
		outs() << "  prints         by printf()\n";
	if (k.flags & SALVO_KERNEL_CHECKED)
		outs() << "  checked        accesses outside of buffers are faults\n";
	if (k.flags & SALVO_KERNEL_SUB_GROUPS)
		outs() << "  sub-groups     one a work-group, of at most "
		       << SALVO_MAX_SUB_GROUP_ITEMS << " work-items\n";
	if (k.flags & SALVO_KERNEL_COLUMNS)
		outs() << "  columns        work-groups with enough work-items along y run along y\n";
	if (k.flags & SALVO_KERNEL_PLANES)
		outs() << "  planes         z takes the place of y, and work-groups gain from it\n";
	if (k.flags & SALVO_KERNEL_CONTENDS)
		outs() << "  contends       work-groups may write to the same cache lines, and none "
			  "waits for others\n";
	print_group("  group size     ", k.required_group);
	print_group("  group hint     ", k.hinted_group);
	if (k.hinted_type)
		outs() << "  type hint      " << d.string(k.hinted_type) << "\n";
	if (k.flags & SALVO_KERNEL_OFFSET)
		outs() << "  ids            begin at the dispatch's offset\n";
	outs() << "  arguments      " << k.args_bytes << " bytes\n";
	for (const salvo_note_arg &arg : d.args)
		outs() << "    " << arg.offset << "\t" << arg.size << " bytes\t"
		       << kinds[arg.kind] << (*accesses[arg.access] ? " " : "")
		       << accesses[arg.access] << "\t" << d.string(arg.type) << " "
		       << d.string(arg.name) << "\n";
}

static Expected<std::vector<description>> read_notes(const object::ELF64LEFile &elf)
{
	std::vector<description> found;
	auto headers = elf.program_headers();

	if (!headers)
		return headers.takeError();
	for (const auto &header : *headers) {
		if (header.p_type != ELF::PT_NOTE)
			continue;
		Error err = Error::success();
		for (const auto &note : elf.notes(header, err)) {
			if (note.getName() != SALVO_NOTE_OWNER ||
			    note.getType() != SALVO_NOTE_KERNEL)
				continue;
			description d;
			if (!d.read(note.getDescAsStringRef(4)))
				return createStringError("a kernel's note is malformed");
			found.push_back(std::move(d));
		}
		if (err)
			return err;
	}
	return found;
}

/* What the file is if it is no ELF file */
static StringRef kind_of(StringRef data)
{
	if (data.starts_with("BC\xc0\xde"))
		return "LLVM bitcode, not a program: link it with --link";
	if (data.empty() || data.contains('\0'))
		return "not a program";
	return "a source, not a program: compile it first";
}

int inspect(const std::string &path, bool json)
{
	auto file = MemoryBuffer::getFile(path);

	if (!file) {
		print_error("cannot read '" + path + "': " + file.getError().message());
		return 1;
	}
	if (!(*file)->getBuffer().starts_with("\x7f" "ELF")) {
		print_error("'" + path + "': " + kind_of((*file)->getBuffer()));
		return 1;
	}
	auto elf = object::ELF64LEFile::create((*file)->getBuffer());
	Expected<std::vector<description>> notes =
		elf ? read_notes(*elf) : Expected<std::vector<description>>(elf.takeError());
	if (!notes) {
		print_error("'" + path + "': " + toString(notes.takeError()));
		return 1;
	}
	if (notes->empty()) {
		print_error("'" + path + "': not a Salvo program, it describes no kernel");
		return 1;
	}
	if (json) {
		json::Array kernels;
		for (const description &d : *notes)
			kernels.push_back(to_json(d));
		outs() << json::Value(json::Object{ { "kernels", std::move(kernels) } }) << "\n";
		return 0;
	}
	for (const description &d : *notes)
		print(d);
	return 0;
}
