// SPDX-License-Identifier: MIT
/*
 * main.cc - salvo-cc, from the command line to the program, pass by pass
 */
#include "salvo_cc.h"

#include <cstdlib>
#include <unistd.h>

#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "salvo_hw.h"

using namespace llvm;

enum { EXIT_USAGE = 2 };

static const char usage[] =
	"usage: salvo-cc [options] INPUT.cl\n"
	"       salvo-cc --inspect [--json] PROGRAM.salvo\n"
	"\n"
	"Compiles OpenCL C kernels to a program for the Salvo GPU.\n"
	"\n"
	"  -o FILE           write the program to FILE (default: INPUT.salvo)\n"
	"  -D NAME[=VALUE]   define a macro\n"
	"  -I FOLDER         look for included files there\n"
	"  -cl-...           OpenCL options: -cl-std=CL1.2 (default), -cl-fast-relaxed-math, ...\n"
	"  -w, -Werror       no warnings; warnings are errors\n"
	"  -O0 .. -O3        optimisation (default -O3)\n"
	"  -g                keep debug information, so that gdb steps through the source\n"
	"  --march LEVEL     x86-64-v2, x86-64-v3 (default) or x86-64-v4\n"
	"  --fibers          a user-level thread for each work-item, also without barriers\n"
	"  --inspect         print what a program says about its kernels; with --json as JSON\n"
	"  --help, --version\n"
	"\n"
	"Exit code: 0 done, 1 the program cannot be compiled or read, 2 wrong usage.\n";

static int wrong_usage(const Twine &message)
{
	print_error(message);
	errs() << "try 'salvo-cc --help'\n";
	return EXIT_USAGE;
}

static bool set_march(options &opts, StringRef level)
{
	if (!level.consume_front("x86-64-v") || level.size() != 1 || level[0] < '2' ||
	    level[0] > '4')
		return false;
	opts.isa_level = level[0] - '0';
	return true;
}

static std::string default_output(StringRef input)
{
	StringRef base = input;

	base.consume_back(".cl");
	return (base + ".salvo").str();
}

/* -1 to go on, else an exit code. */
static int read_command_line(ArrayRef<char *> words, options &opts)
{
	bool inspecting = false, json = false;

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
			outs() << "salvo-cc 1, program format 1, LLVM " LLVM_VERSION_STRING "\n";
			return 0;
		} else if (word == "--json") {
			json = true;
		} else if (word == "--fibers") {
			opts.fibers = true;
		} else if (word == "-g") {
			opts.debug = true;
		} else if (word == "--inspect") {
			inspecting = true;
		} else if (word.consume_front("--march")) {
			word.consume_front("=");
			if (!value(word) || !set_march(opts, word))
				return wrong_usage("--march is x86-64-v2, x86-64-v3 or x86-64-v4");
		} else if (word.consume_front("-o")) {
			if (!value(word))
				return wrong_usage("-o needs a file");
			opts.output = word;
		} else if (word.size() == 3 && word.starts_with("-O") && word[2] >= '0' &&
			   word[2] <= '3') {
			opts.opt_level = word[2] - '0';
		} else if (word.starts_with("-D") || word.starts_with("-I")) {
			StringRef rest = word.drop_front(2);
			if (!value(rest))
				return wrong_usage(word + " needs a value");
			opts.front_end.push_back((word.take_front(2) + rest).str());
		} else if (word == "-cl-opt-disable") {
			opts.opt_level = 0;
		} else if (word.starts_with("-cl-") || word == "-w" || word == "-Werror") {
			opts.front_end.push_back(word.str());
		} else if (word.starts_with("-") && word != "-") {
			return wrong_usage("unknown option '" + word + "'");
		} else if (opts.input.empty()) {
			opts.input = word;
		} else {
			return wrong_usage("more than one input: '" + opts.input + "' and '" +
					   word + "'");
		}
	}

	if (opts.input.empty())
		return wrong_usage("no input");
	if (inspecting)
		return inspect(opts.input, json);
	if (json)
		return wrong_usage("--json goes with --inspect");
	if (opts.output.empty())
		opts.output = default_output(opts.input);
	return -1;
}

static void make_internal(Module &m)
{
	for (GlobalVariable &g : m.globals()) {
		if (g.isDeclaration())
			continue;
		g.setLinkage(GlobalValue::InternalLinkage);
		g.setDSOLocal(true);
	}
}

static bool compile(const options &opts)
{
	LLVMContext context;
	std::unique_ptr<Module> m = run_front_end(opts, context);
	std::unique_ptr<TargetMachine> target = make_target(opts);
	std::vector<kernel> kernels;
	std::vector<bytes> objects(3);

	if (!m || !target || !check_calls(*m) || !link_library(*m))
		return false;
	flatten_calls(*m);
	lower_ids(*m);
	if (!check_defined(*m))
		return false;
	retarget(*m, *target, opts);
	make_internal(*m);
	if (opts.opt_level) {
		simplify(*m, *target);
		combine_masks(*m);
	}
	if (!analyse(*m, opts, kernels))
		return false;
	for (kernel &k : kernels) {
		group_values values;
		BasicBlock *body = build_entry(k, values);

		if (k.barriers)
			build_fiber(k, body, values);
		else
			build_loops(k, body, values);
		if (k.local_bytes > SALVO_MAX_LOCAL_BYTES) {
			print_error("kernel '" + k.function->getName() + "': " +
				    Twine(k.local_bytes) + " bytes of local memory, more than " +
				    Twine(SALVO_MAX_LOCAL_BYTES));
			return false;
		}
	}
	if (!opts.debug)
		StripDebugInfo(*m);
	if (verifyModule(*m, &errs())) {
		print_error("internal: a pass made invalid code");
		return false;
	}
	optimise(*m, *target, opts);
	if (!emit_object(*m, *target, objects[0]))
		return false;

	Module notes("notes", context);
	notes.setTargetTriple(m->getTargetTriple());
	notes.setDataLayout(m->getDataLayout());
	find_stacks(objects[0], kernels);
	add_notes(notes, kernels, opts.isa_level);
	StringRef runtime = runtime_object();
	objects[2].append(runtime.begin(), runtime.end());
	return emit_object(notes, *target, objects[1]) && link_program(objects, opts);
}

int main(int argc, char **argv)
{
	options opts;
	int code = read_command_line(ArrayRef<char *>(argv + 1, argc - 1), opts);

	if (code >= 0)
		return code;
	return compile(opts) ? EXIT_SUCCESS : EXIT_FAILURE;
}
