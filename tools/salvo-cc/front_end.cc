// SPDX-License-Identifier: MIT
/*
 * front_end.cc - OpenCL C to LLVM bitcode, by clang
 *
 * clang does no optimisation but prepares for it (lifetimes, type-based alias
 * information). Line tables are always made, for our own error messages.
 */
#include "salvo_cc.h"

#include <unistd.h>

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Support/MemoryBuffer.h>

using namespace llvm;

static std::vector<std::string> make_command(const options &opts)
{
	std::vector<std::string> command = {
		SALVO_CC_LLVM_BIN "/clang", "-x", "cl", "-cl-std=CL1.2", "--target=spir64",
		"-cl-kernel-arg-info", "-fgnu89-inline", "-fomit-frame-pointer", "-Xclang",
		"-cl-ext=-all,+cl_khr_fp64,+cl_khr_byte_addressable_store,"
		"+cl_khr_global_int32_base_atomics,+cl_khr_global_int32_extended_atomics,"
		"+cl_khr_local_int32_base_atomics,+cl_khr_local_int32_extended_atomics,"
		"+cl_khr_int64_base_atomics,+cl_khr_int64_extended_atomics",
		"-D__SALVO__=1", "-o", "-",
	};

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

bool preprocess(const options &opts)
{
	bytes text;

	return run_process(make_command(opts), text) &&
	       write_all(STDOUT_FILENO, StringRef(text.data(), text.size()));
}

std::unique_ptr<Module> run_front_end(const options &opts, LLVMContext &context)
{
	bytes bitcode;

	if (!run_process(make_command(opts), bitcode))
		return nullptr;

	StringRef text(bitcode.data(), bitcode.size());
	Expected<std::unique_ptr<Module>> m =
		parseBitcodeFile(MemoryBufferRef(text, opts.input), context);
	if (!m) {
		print_error("clang's output: " + toString(m.takeError()));
		return nullptr;
	}
	(*m)->setSourceFileName(opts.input);
	return std::move(*m);
}
