// SPDX-License-Identifier: MIT
/*
 * options.cc - the command line, which salvo-cc.1 documents
 */
#include "announce.h"
#include "error.h"
#include "salvo_cc.h"
#include "salvo_march.h"

#include <llvm/Support/raw_ostream.h>
#include <set>

using namespace llvm;

static const char usage[] =
	"usage: salvo-cc [options] INPUT.cl\n"
	"       salvo-cc --link [--library] [options] OBJECT...\n"
	"       salvo-cc --inspect [--json] PROGRAM.salvo\n"
	"\n"
	"Compiles OpenCL C kernels to a program for the Salvo GPU. INPUT may be - (standard input).\n"
	"\n"
	"  -o FILE           write the program to FILE (default: INPUT.salvo; - is standard output)\n"
	"  -D NAME[=VALUE]   define a macro\n"
	"  -U NAME           undefine a macro\n"
	"  -I FOLDER         search included files there\n"
	"  -cl-...           OpenCL options: -cl-std=CL1.2 (default) or CL3.0, -cl-mad-enable,\n"
	"                    -cl-fast-relaxed-math, -cl-single-precision-constant, -cl-opt-disable, ...\n"
	"  -fdebug-prefix-map=OLD=NEW\n"
	"                    objects and programs say NEW where a path begins with OLD\n"
	"  -w, -Werror, -W.. no warnings; warnings are errors; clang's own warning options\n"
	"  -E                only preprocess, to standard output\n"
	"  -c                only compile, to an object (default: INPUT.o)\n"
	"  --link            link objects and libraries to a program\n"
	"  --library         link them to a library\n"
	"  -O0 .. -O3        optimisation (default -O3)\n"
	"  -g                keep debug information, so that gdb steps through the source\n"
	"  --march LEVEL     x86-64-v2, x86-64-v3 (default), x86-64-v4 or x86-64-v4+popcnt, or\n"
	"                    several with commas between, or all, the first three: one program\n"
	"                    for each, the library takes the best\n"
	"  --tune NAME       generic (default) or sapphirerapids: Intel's processors from that one on\n"
	"  --target NAME     x86_64 (default) or aarch64\n"
	"  --global-offset   kernels take an offset of their global ids (salvo_kernel_set_offset())\n"
	"  --checked         an access outside of the buffer of its argument is a fault\n"
	"  --announce FD     write to a file descriptor when the program was checked\n"
	"  --take-turns      make the code after that when few compilers do so, or FD has a byte\n"
	"  --fibers          a user-level thread for each work-item, also without barriers\n"
	"  --inspect         print what a program says about its kernels; with --json as JSON\n"
	"  --help, --version\n"
	"\n"
	"Exit code: 0 done, 1 the program cannot be compiled or read, 2 wrong usage.\n";

static const StringRef versions[] = { "CL1.0", "CL1.1", "CL1.2", "CL2.0", "CL3.0" };

/* Passed to clang. */
static const StringRef passed_on[] = {
	"-cl-single-precision-constant", "-cl-mad-enable", "-cl-no-signed-zeros",
	"-cl-unsafe-math-optimizations", "-cl-finite-math-only", "-cl-fast-relaxed-math",
	"-cl-uniform-work-group-size",
};

/* Accepted without effect: always on, or a permission that is not used. */
static const StringRef ignored[] = {
	"-cl-fp32-correctly-rounded-divide-sqrt", "-cl-kernel-arg-info", "-cl-strict-aliasing",
	"-cl-no-subgroup-ifp",
};

static bool is_listed(StringRef word, ArrayRef<StringRef> words)
{
	return llvm::is_contained(words, word);
}

static int wrong_usage(const Twine &message)
{
	print_error(message);
	errs() << "try 'salvo-cc --help'\n";
	return EXIT_USAGE;
}

/* The level that @name names, or 0. */
static unsigned level_of(StringRef name)
{
	for (unsigned level = SALVO_LEVEL_MIN; level <= SALVO_LEVEL_MAX; level++)
		if (name == salvo_march(level))
			return level;
	return 0;
}

/* "x86-64-v2,x86-64-v4" or "all", those of the ABI, in rising order. */
static bool set_march(options &opts, StringRef list)
{
	SmallVector<StringRef> names;
	std::set<unsigned> wanted;

	if (list == "all")
		list = "x86-64-v2,x86-64-v3,x86-64-v4";
	list.split(names, ',');
	for (StringRef name : names)
		wanted.insert(level_of(name));
	opts.isa_levels.assign(wanted.begin(), wanted.end());
	return !wanted.count(0);
}

static std::string default_output(const options &opts)
{
	StringRef base = opts.input;

	base.consume_back(opts.link_only ? ".o" : ".cl");
	return (base + (opts.compile_only ? ".o" : ".salvo")).str();
}

/* What only shows with the whole command line read; -1 to go on. */
static int check_options(options &opts, bool marched)
{
	if (opts.inputs.size() > 1 && !opts.link_only)
		return wrong_usage("more than one input: '" + opts.inputs[0] + "' and '" +
				   opts.inputs[1] + "'");
	if (opts.library && !opts.link_only)
		return wrong_usage("--library goes with --link");
	if (opts.link_only && (opts.compile_only || opts.preprocess))
		return wrong_usage("--link takes objects: it does not go with -c or -E");
	if (opts.aarch64 && marched)
		return wrong_usage("--march is for x86_64");
	if (opts.aarch64)
		opts.isa_levels = { 0 };
	if (opts.preprocess)
		return -1;
	if (opts.output.empty() && opts.input == "-")
		return wrong_usage("the output of standard input needs a name: use -o FILE");
	if (opts.output.empty() && opts.library)
		return wrong_usage("a library needs a name: use -o FILE");
	if (opts.output.empty())
		opts.output = default_output(opts);
	return -1;
}

int read_command_line(ArrayRef<char *> words, options &opts)
{
	bool inspecting = false, json = false, marched = false;

	if (any_of(words, [](StringRef word) { return word == "--json"; }))
		print_errors_as_json();
	for (size_t i = 0; i < words.size(); i++) {
		StringRef word = words[i];
		auto value = [&](StringRef &rest) {
			if (!rest.empty())
				return true;
			if (++i == words.size())
				return false;
			rest = words[i];
			return true;
		};

		if (word == "--help") {
			outs() << usage;
			return 0;
		} else if (word == "--version") {
			outs() << "salvo-cc 1, program format 2, LLVM " LLVM_VERSION_STRING "\n";
			return 0;
		} else if (word == "--json") {
			json = true;
		} else if (word == "--fibers") {
			opts.fibers = true;
		} else if (word == "--checked") {
			opts.checked = true;
		} else if (word == "--global-offset") {
			opts.global_offset = true;
		} else if (word == "-g") {
			opts.debug = true;
		} else if (word == "-c") {
			opts.compile_only = true;
		} else if (word == "--link") {
			opts.link_only = true;
		} else if (word == "--library") {
			opts.library = true;
		} else if (word == "-E") {
			opts.preprocess = true;
		} else if (word == "--inspect") {
			inspecting = true;
		} else if (word == "--announce") {
			int fd;

			word = "";
			if (!value(word) || word.getAsInteger(10, fd) || fd < 0)
				return wrong_usage("--announce takes a file descriptor");
			announce_to(fd);
		} else if (word == "--take-turns") {
			take_turns();
		} else if (word.consume_front("--march")) {
			word.consume_front("=");
			if (!value(word) || !set_march(opts, word))
				return wrong_usage("--march is x86-64-v2, x86-64-v3, x86-64-v4, "
						   "x86-64-v4+popcnt, a list of them or all");
			marched = true;
		} else if (word.consume_front("--tune")) {
			word.consume_front("=");
			if (!value(word) || (word != "generic" && word != "sapphirerapids"))
				return wrong_usage("--tune is generic or sapphirerapids");
			opts.sapphire_rapids = word == "sapphirerapids";
		} else if (word.consume_front("--target")) {
			word.consume_front("=");
			if (!value(word) || (word != "x86_64" && word != "aarch64"))
				return wrong_usage("--target is x86_64 or aarch64");
			opts.aarch64 = word == "aarch64";
		} else if (word.consume_front("-o")) {
			if (!value(word))
				return wrong_usage("-o needs a file");
			opts.output = word;
		} else if (word.size() == 3 && word.starts_with("-O") && word[2] >= '0' &&
			   word[2] <= '3') {
			opts.opt_level = word[2] - '0';
		} else if (word.starts_with("-D") || word.starts_with("-I") ||
			   word.starts_with("-U")) {
			StringRef rest = word.drop_front(2);
			if (!value(rest))
				return wrong_usage(word + " needs a value");
			opts.front_end.push_back((word.take_front(2) + rest).str());
		} else if (word == "-cl-opt-disable") {
			opts.opt_level = 0;
		} else if (word == "-cl-denorms-are-zero") {
			opts.flush_denormals = true;
		} else if (word.consume_front("-cl-std=")) {
			if (!is_listed(word, versions))
				return wrong_usage("-cl-std is CL1.0, CL1.1, CL1.2, CL2.0 or CL3.0");
			opts.standard = word;
		} else if (is_listed(word, passed_on) || word == "-w" ||
			   word.starts_with("-fdebug-prefix-map=") ||
			   (word.starts_with("-W") && !word.contains(','))) {
			opts.front_end.push_back(word.str());
		} else if (is_listed(word, ignored)) {
			continue;
		} else if (word.starts_with("-") && word != "-") {
			return wrong_usage("unknown option '" + word + "'");
		} else {
			opts.inputs.push_back(word.str());
		}
	}

	if (opts.inputs.empty())
		return wrong_usage("no input");
	opts.input = opts.inputs[0];
	if (inspecting)
		return inspect(opts.input, json);
	if (json)
		return wrong_usage("--json goes with --inspect");
	return check_options(opts, marched);
}
