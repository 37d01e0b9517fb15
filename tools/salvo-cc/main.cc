// SPDX-License-Identifier: MIT
/*
 * main.cc - salvo-cc, from the source to the program, pass by pass
 */
#include "announce.h"
#include "bounds.h"
#include "division.h"
#include "error.h"
#include "generic.h"
#include "globals.h"
#include "places.h"
#include "scratch.h"
#include "shifts.h"
#include "sources.h"

#include <cstdlib>

#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "salvo_hw.h"

using namespace llvm;

static DebugLoc first_use(const GlobalVariable &g)
{
	DebugLoc first;

	/* The last one comes first in the list. */
	for (const User *user : g.users())
		if (auto *inst = dyn_cast<Instruction>(user))
			if (inst->getDebugLoc())
				first = inst->getDebugLoc();
	return first;
}

/*
 * Functions and variables of the source with names of the library's, which the passes ask for by
 * name, get other ones. A kernel cannot: the host knows it by its name.
 */
static bool clear_names(Module &m)
{
	bool ok = true;

	for (GlobalValue &g : m.global_values()) {
		auto *f = dyn_cast<Function>(&g);

		if (!g.getName().starts_with("salvo_"))
			continue;
		if (f && f->getCallingConv() == CallingConv::SPIR_KERNEL) {
			print_error_in(*f, "kernel '" + f->getName() +
				       "': names that begin with salvo_ are reserved");
			ok = false;
		} else {
			g.setName("source." + g.getName());
		}
	}
	return ok;
}

/*
 * What the source says is used is called by no one but its kernels, once its objects are linked.
 * The list would keep functions whose parameters have no type on the GPU, as images.
 */
static void forget_used(Module &m)
{
	for (const char *name : { "llvm.used", "llvm.compiler.used" })
		if (GlobalVariable *list = m.getNamedGlobal(name))
			list->eraseFromParent();
}

/* Variables that another object of the program should have, but none has. */
static bool check_variables(Module &m)
{
	bool ok = true;

	for (GlobalVariable &g : m.globals())
		if (g.isDeclaration() && !g.use_empty()) {
			const DebugLoc use = first_use(g);
			const std::string message =
				("variable '" + g.getName() + "' is not defined").str();

			if (use)
				print_error_at(use, m, message);
			else
				print_error_in(g, message);
			ok = false;
		}
	return ok;
}

static void make_internal(Module &m)
{
	for (GlobalVariable &g : m.globals()) {
		if (g.isDeclaration() || g.hasAppendingLinkage() ||
		    g.getVisibility() == GlobalValue::ProtectedVisibility)
			continue;
		g.setLinkage(GlobalValue::InternalLinkage);
		g.setDSOLocal(true);
	}
}

/*
 * What can be wrong with a kernel, before its code is made. Local variables of what is found never
 * to run are still here: if they seem to be too many, nothing is announced, and the code tells.
 */
static bool check_kernels(Module &m, const options &opts)
{
	std::vector<kernel> kernels;

	if (!analyse(m, opts, kernels))
		return false;
	/* OpenCL programs build that are only functions. */
	if (kernels.empty())
		errs() << source_name(opts) << ": warning: no kernel in this program\n";
	if (all_of(kernels, [](const kernel &k) {
		return local_bytes(*k.function) <= SALVO_MAX_LOCAL_BYTES;
	}))
		return announce(describe(kernels, opts.isa_levels.front()));
	return true;
}

/*
 * From bitcode to objects for one instruction set. In a program for several, the kernels
 * of all but the first have names of their own; the notes tell which is which.
 */
static bool compile_for(Module &m, const options &opts, bool first, std::vector<bytes> &objects)
{
	std::unique_ptr<TargetMachine> target = make_target(opts);
	std::vector<kernel> kernels;
	bytes object, note_object;

	if (!target)
		return false;
	retarget(m, *target, opts);
	make_internal(m);
	share_globals(m, first);
	if (opts.opt_level) {
		simplify(m, *target);
		combine_masks(m);
		restore_extensions(m);
		restore_elements(m);
		distribute_shifts(m);
		if (!opts.fibers && !opts.checked)
			share_appends(m, *target);
	}
	if (!analyse(m, opts, kernels))
		return false;
	for (kernel &k : kernels) {
		group_values values;
		BasicBlock *body = build_entry(k, values);

		if (opts.opt_level && !opts.fibers)
			build_groups(k, body, values, *target, opts);
		else if (k.barriers)
			build_fiber(k, body, values);
		else
			build_loops(k, body, values);
		if (k.local_bytes > SALVO_MAX_LOCAL_BYTES) {
			print_error_in(*k.function, "kernel '" + k.function->getName() + "': " +
				       Twine(k.local_bytes) + " bytes of local memory, more than " +
				       Twine(SALVO_MAX_LOCAL_BYTES));
			return false;
		}
		if (!first)
			k.function->setName(k.name + ".v" + Twine(opts.isa_level));
	}
	define_vector_functions(m, *target);
	for (kernel &k : kernels)
		if (k.checked)
			check_bounds(k);
	for (kernel &k : kernels)
		if (flushes_denormals(*k.function) && !opts.aarch64 && (k.split || !k.barriers))
			flush_denormals(*k.function);
	if (opts.opt_level)
		skip_vain_atomics(m);
	for (kernel &k : kernels)
		if (k.contends && !opts.fibers)
			add_plain_atomics(*k.function);
	if (!opts.debug)
		StripDebugInfo(m);
	if (verifyModule(m, &errs())) {
		print_error("internal: a pass made invalid code");
		return false;
	}
	lower_marks(m, kernels);
	optimise(m, *target, opts);
	keep_indices(m);
	if (opts.opt_level)
		reduce_loops(m, *target);
	if (!emit_code(m, *target, opts, object))
		return false;

	Module notes("notes", m.getContext());
	notes.setTargetTriple(m.getTargetTriple());
	notes.setDataLayout(m.getDataLayout());
	find_stacks(object, kernels);
	add_notes(notes, kernels, opts.isa_level);
	if (first)
		add_global_note(notes, describe_globals(m));
	if (!emit_object(notes, *target, note_object))
		return false;
	objects.push_back(std::move(object));
	objects.push_back(std::move(note_object));
	return true;
}

/* Nothing that takes time is freed: the process ends. */
static bool compile(options &opts)
{
	LLVMContext &context = *new LLVMContext;
	std::unique_ptr<Module> m = opts.link_only ? read_objects(opts, context) :
						     run_front_end(opts, context);
	StringRef runtime = runtime_object(opts);
	std::vector<bytes> objects(1);

	if (m && !opts.link_only && !opts.checked)
		guard_divisions(*m);
	if (m && opts.flush_denormals)
		mark_denormals(*m);
	if (m && (opts.compile_only || opts.library))
		return write_object(*m, opts);
	if (!m)
		return false;
	forget_used(*m);
	if (!clear_names(*m) || !check_calls(*m) || !check_variables(*m) ||
	    !lower_globals(*m, opts.checked) || !lower_printf(*m))
		return false;
	forget_variables(*m);
	if (opts.checked) {
		mark_variables(*m);
		check_variable_accesses(*m);
	}
	if (!link_library(*m))
		return false;
	choose_checks(*m, opts.checked);
	flatten_calls(*m, opts);
	infer_spaces(*m, opts);
	name_images(*m);
	if (opts.checked)
		check_variable_accesses(*m);
	add_print_buffers(*m);
	lower_ids(*m, opts);
	find_sub_groups(*m);
	find_global_users(*m);
	if (!check_defined(*m) || !check_kernels(*m, opts))
		return false;
	objects[0].append(runtime.begin(), runtime.end());
	tune_llvm(opts);
	if (!compile_parts(std::move(m), opts, compile_for, objects))
		return false;
	return link_program(objects, opts);
}

int main(int argc, char **argv)
{
	options opts;
	int code = read_command_line(ArrayRef<char *>(argv + 1, argc - 1), opts);

	if (code >= 0)
		return code;
	if (opts.preprocess)
		return preprocess(opts) ? EXIT_SUCCESS : EXIT_FAILURE;
	return compile(opts) ? EXIT_SUCCESS : EXIT_FAILURE;
}
