// SPDX-License-Identifier: MIT
/*
 * front_end.cc - OpenCL C to LLVM's representation, by clang
 *
 * clang is linked into this program: another process would cost more than a small kernel, for
 * loading LLVM a second time. clang does no optimisation but prepares for it (lifetimes, type-based
 * alias information). Line tables are always made, for our own error messages.
 *
 * clang's header claims every extension of OpenCL C 2 and 3 for SPIR targets, hence the
 * -U__SPIR__; what the device has is defined here.
 */
#include "salvo_cc.h"

#include <clang/Basic/Diagnostic.h>
#include <clang/CodeGen/CodeGenAction.h>
#include <clang/Driver/Compilation.h>
#include <clang/Driver/Driver.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendActions.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <llvm/Support/CrashRecoveryContext.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Host.h>

using namespace llvm;

/* The words of a command line for clang. Its path is where clang's own headers are found. */
static std::vector<std::string> make_command(const options &opts)
{
	std::vector<std::string> command = {
		SALVO_CC_LLVM_BIN "/clang", "-x", "cl", "-cl-std=" + opts.standard,
		"--target=spir64", "-U__SPIR__", "-U__SPIRV__",
		"-cl-kernel-arg-info", "-fgnu89-inline", "-fomit-frame-pointer", "-Xclang",
		"-cl-ext=-all,+cl_khr_fp64,+__opencl_c_fp64,+cl_khr_byte_addressable_store,"
		"+cl_khr_global_int32_base_atomics,+cl_khr_global_int32_extended_atomics,"
		"+cl_khr_local_int32_base_atomics,+cl_khr_local_int32_extended_atomics,"
		"+cl_khr_int64_base_atomics,+cl_khr_int64_extended_atomics,"
		"+cl_khr_3d_image_writes,+__opencl_c_3d_image_writes,+__opencl_c_images,"
		"+__opencl_c_read_write_images,"
		"+__opencl_c_atomic_order_acq_rel,+__opencl_c_atomic_order_seq_cst",
		"-D__SALVO__=1", "-o", "-",
	};

	/* A feature that clang knows from its header only. */
	if (opts.standard == "CL3.0")
		command.push_back("-D__opencl_c_atomic_scope_device=1");

	if (opts.opt_level)
		command.insert(command.end(), { "-O2", "-Xclang", "-disable-llvm-passes" });
	else
		command.insert(command.end(), { "-O0", "-Xclang", "-disable-O0-optnone" });
	if (opts.preprocess)
		command.push_back("-E");
	else
		command.insert(command.end(), { "-emit-llvm", "-c" });
	command.push_back(opts.debug ? "-g" : "-gline-tables-only");
	command.insert(command.end(), opts.front_end.begin(), opts.front_end.end());
	command.push_back(opts.input);
	return command;
}

/* What clang's driver makes of that command line. */
static bool make_invocation(const options &opts, clang::CompilerInstance &compiler)
{
	const std::vector<std::string> command = make_command(opts);
	SmallVector<const char *> words;
	auto *printer = new clang::TextDiagnosticPrinter(errs(), new clang::DiagnosticOptions());
	clang::DiagnosticsEngine diagnostics(new clang::DiagnosticIDs(),
					     new clang::DiagnosticOptions(), printer);

	for (const std::string &word : command)
		words.push_back(word.c_str());
	clang::driver::Driver driver(words[0], sys::getDefaultTargetTriple(), diagnostics);
	std::unique_ptr<clang::driver::Compilation> compilation(driver.BuildCompilation(words));
	if (!compilation || compilation->containsError() || compilation->getJobs().size() != 1)
		return false;
	return clang::CompilerInvocation::CreateFromArgs(
		compiler.getInvocation(), compilation->getJobs().begin()->getArguments(),
		diagnostics, words[0]);
}

static bool run(const options &opts, clang::FrontendAction &action)
{
	CrashRecoveryContext guard;
	bool done = false;

	CrashRecoveryContext::Enable();
	if (!guard.RunSafely([&] {
		clang::CompilerInstance compiler;

		if (!make_invocation(opts, compiler))
			return;
		compiler.createDiagnostics();
		done = compiler.ExecuteAction(action);
	}))
		print_error("clang crashed");
	CrashRecoveryContext::Disable();
	return done;
}

bool preprocess(const options &opts)
{
	clang::PrintPreprocessedAction action;

	return run(opts, action);
}

std::unique_ptr<Module> run_front_end(const options &opts, LLVMContext &context)
{
	clang::EmitLLVMOnlyAction action(&context);
	std::unique_ptr<Module> m;

	if (!run(opts, action))
		return nullptr;
	m = action.takeModule();
	m->setSourceFileName(opts.input);
	return m;
}
