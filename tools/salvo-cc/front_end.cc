// SPDX-License-Identifier: MIT
/*
 * front_end.cc - OpenCL C to LLVM's representation, by clang
 *
 * clang is linked into this program: another process would cost more than a small kernel, for
 * loading LLVM a second time. clang does no optimisation but prepares for it (lifetimes, type-based
 * alias information). Line tables are always made, for our own error messages.
 *
 * Standard input is read here, so that messages can name it, and so that it can be compiled twice
 * (mixed.cc). Messages are kept until it is known which time counts.
 *
 * clang's header claims every extension of OpenCL C 2 and 3 for SPIR targets, hence the
 * -U__SPIR__; what the device has is defined here.
 */
#include "error.h"
#include "salvo_cc.h"
#include "sources.h"

#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/Basic/Diagnostic.h>
#include <clang/Basic/DiagnosticSema.h>
#include <clang/CodeGen/CodeGenAction.h>
#include <clang/Driver/Compilation.h>
#include <clang/Driver/Driver.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendActions.h>
#include <clang/Frontend/MultiplexConsumer.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/Support/CrashRecoveryContext.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Host.h>

using namespace llvm;

/* Processors of x86-64-v2 do not convert from and to half. */
static bool has_half(const options &opts)
{
	return opts.aarch64 || opts.isa_levels.front() >= 3;
}

/* The words of a command line for clang. Its path is where clang's own headers are found. */
static std::vector<std::string> make_command(const options &opts)
{
	std::vector<std::string> command = {
		SALVO_CC_LLVM_BIN "/clang", "-x", "cl", "-cl-std=" + opts.standard,
		"--target=spir64", "-U__SPIR__", "-U__SPIRV__",
		"-cl-kernel-arg-info", "-fgnu89-inline", "-fomit-frame-pointer", "-Xclang",
		(has_half(opts) ? "-cl-ext=-all,+cl_khr_fp16," : "-cl-ext=-all,") + std::string(
		"+cl_khr_fp64,+__opencl_c_fp64,+cl_khr_byte_addressable_store,"
		"+cl_khr_global_int32_base_atomics,+cl_khr_global_int32_extended_atomics,"
		"+cl_khr_local_int32_base_atomics,+cl_khr_local_int32_extended_atomics,"
		"+cl_khr_int64_base_atomics,+cl_khr_int64_extended_atomics,"
		"+cl_khr_3d_image_writes,+__opencl_c_3d_image_writes,+__opencl_c_images,"
		"+__opencl_c_read_write_images,+cl_khr_subgroups,+__opencl_c_subgroups,"
		"+__opencl_c_program_scope_global_variables,+__opencl_c_generic_address_space,"
		"+__opencl_c_atomic_order_acq_rel,+__opencl_c_atomic_order_seq_cst"),
		"-D__SALVO__=1", "-o", "-",
	};

	/* Functions with pointers to named address spaces stay beside those with generic ones. */
	if (opts.standard == "CL2.0" || opts.standard == "CL3.0")
		command.push_back("-D__opencl_c_named_address_space_builtins=1");
	/* Macros that clang does not define, or from its header only. */
	if (opts.standard == "CL3.0")
		command.insert(command.end(), { "-D__opencl_c_atomic_scope_device=1",
						"-D__opencl_c_work_group_collective_functions=1",
						"-D__OPENCL_VERSION__=300" });
	else
		command.push_back("-D__OPENCL_VERSION__=120");

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
	/* Sources that a program has in memory include what is in its folder, with all drivers. */
	if (opts.input == "-")
		command.push_back("-I.");
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

/* Prints messages to a string, and notes whether a call was ambiguous. */
class message_printer : public clang::TextDiagnosticPrinter {
public:
	message_printer(raw_ostream &out, clang::DiagnosticOptions *diagnostic_options)
		: TextDiagnosticPrinter(out, diagnostic_options)
	{
	}

	void HandleDiagnostic(clang::DiagnosticsEngine::Level level,
			      const clang::Diagnostic &info) override
	{
		ambiguous |= info.getID() == clang::diag::err_ovl_ambiguous_call;
		TextDiagnosticPrinter::HandleDiagnostic(level, info);
	}

	bool ambiguous = false;
};

/* Makes bitcode, and notes what messages show of the source. */
class compile_action : public clang::EmitLLVMOnlyAction {
public:
	explicit compile_action(LLVMContext &context) : EmitLLVMOnlyAction(&context)
	{
	}

	std::unique_ptr<Module> take()
	{
		std::unique_ptr<Module> m = takeModule();

		if (m)
			add_sources(*m, notes);
		return m;
	}

protected:
	struct reader : clang::ASTConsumer {
		reader(source_notes &to, const clang::CompilerInstance &compiler)
			: to(to), compiler(compiler)
		{
		}

		void HandleTranslationUnit(clang::ASTContext &ast) override
		{
			if (!ast.getDiagnostics().hasErrorOccurred())
				to = note_sources(ast, compiler.getCodeGenOpts().DebugPrefixMap);
		}

		source_notes &to;
		const clang::CompilerInstance &compiler;
	};

	std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance &compiler,
							      StringRef file) override
	{
		std::vector<std::unique_ptr<clang::ASTConsumer>> both;

		/* First, as the other one frees the syntax tree. */
		both.push_back(std::make_unique<reader>(notes, compiler));
		both.push_back(EmitLLVMOnlyAction::CreateASTConsumer(compiler, file));
		if (!both[1])
			return nullptr;
		return std::make_unique<clang::MultiplexConsumer>(std::move(both));
	}

private:
	source_notes notes;
};

/* One run of clang. */
struct attempt {
	bool mixed = false;		/* in: with the overloads of mixed.cc */
	bool ambiguous = false;		/* out: a call was */
	std::string messages;		/* out */
};

static void add_mixed_overloads(clang::CompilerInstance &compiler)
{
	clang::PreprocessorOptions &preprocessor = compiler.getPreprocessorOpts();
	static const char path[] = "/salvo-cc/mixed.h";

	preprocessor.addRemappedFile(
		path, MemoryBuffer::getMemBufferCopy(mixed_overloads(), path).release());
	preprocessor.Includes.push_back(path);
}

/* @source: of standard input, else NULL. */
static bool run(const options &opts, const MemoryBuffer *source, clang::FrontendAction &action,
		attempt &how)
{
	CrashRecoveryContext guard;
	raw_string_ostream messages(how.messages);
	bool done = false;

	CrashRecoveryContext::Enable();
	if (!guard.RunSafely([&] {
		clang::CompilerInstance compiler;

		if (!make_invocation(opts, compiler))
			return;
		auto *printer = new message_printer(messages, &compiler.getDiagnosticOpts());
		compiler.createDiagnostics(printer);
		compiler.setVerboseOutputStream(messages);
		if (source)
			compiler.getFrontendOpts().Inputs = { clang::FrontendInputFile(
				source->getMemBufferRef(),
				clang::InputKind(clang::Language::OpenCL)) };
		if (how.mixed)
			add_mixed_overloads(compiler);
		done = compiler.ExecuteAction(action);
		how.ambiguous = printer->ambiguous;
	}))
		print_error("clang crashed");
	CrashRecoveryContext::Disable();
	return done;
}

/* Standard input under a name for messages; NULL if the input is a file, or cannot be read. */
static std::unique_ptr<MemoryBuffer> read_source(const options &opts)
{
	if (opts.input != "-")
		return nullptr;
	ErrorOr<std::unique_ptr<MemoryBuffer>> file = MemoryBuffer::getSTDIN();
	if (!file)
		return nullptr;
	return MemoryBuffer::getMemBufferCopy((*file)->getBuffer(), source_name(opts));
}

std::string source_name(const options &opts)
{
	return opts.input == "-" ? "program.cl" : opts.input;
}

bool preprocess(const options &opts)
{
	std::unique_ptr<MemoryBuffer> source = read_source(opts);
	clang::PrintPreprocessedAction action;
	attempt once;
	const bool done = run(opts, source.get(), action, once);

	errs() << once.messages;
	return done;
}

/* gdb steps over prologues by line tables if "clang" comes first, which Debian's does not say. */
static void name_producer(Module &m)
{
	for (DICompileUnit *unit : m.debug_compile_units())
		unit->replaceOperandWith(1, MDString::get(m.getContext(), "clang version "
							  LLVM_VERSION_STRING ", salvo-cc"));
}

std::unique_ptr<Module> run_front_end(const options &opts, LLVMContext &context)
{
	std::unique_ptr<MemoryBuffer> source = read_source(opts);
	compile_action action(context), second(context);
	attempt plain, mixed;
	std::unique_ptr<Module> m;

	mixed.mixed = true;
	if (run(opts, source.get(), action, plain))
		m = action.take();
	else if (plain.ambiguous && run(opts, source.get(), second, mixed))
		m = second.take();
	errs() << (m && plain.ambiguous ? mixed.messages : plain.messages);
	if (!m && !has_half(opts) && StringRef(plain.messages).contains("cl_khr_fp16"))
		errs() << "salvo-cc: note: half needs x86-64-v3; the lowest level of --march is "
			  "x86-64-v2\n";
	if (m) {
		m->setSourceFileName(source_name(opts));
		name_producer(*m);
	}
	return m;
}
