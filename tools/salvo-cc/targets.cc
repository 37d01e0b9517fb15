// SPDX-License-Identifier: MIT
/*
 * targets.cc - the parts of LLVM that are not linked
 *
 * lld initialises each target that LLVM was configured with, for link-time optimisation, which
 * salvo-cc does not use. For all targets but x86-64 and AArch64 these functions are defined here
 * as empty ones, so that their libraries are not linked; the parsers of assembler text are not
 * linked for any. Neither is Polly, which clang loads where LLVM was configured with it.
 */
#include <llvm/Passes/PassPlugin.h>

/* The macros below make a function of this file from a name that a library defines. */
#define LLVMInitializeX86TargetInfo	unused_x86_info
#define LLVMInitializeX86Target		unused_x86_target
#define LLVMInitializeX86TargetMC	unused_x86_mc
#define LLVMInitializeX86AsmPrinter	unused_x86_printer
#define LLVMInitializeAArch64TargetInfo	unused_aarch64_info
#define LLVMInitializeAArch64Target	unused_aarch64_target
#define LLVMInitializeAArch64TargetMC	unused_aarch64_mc
#define LLVMInitializeAArch64AsmPrinter	unused_aarch64_printer

extern "C" {
#define LLVM_TARGET(name) \
	void LLVMInitialize##name##TargetInfo() {} \
	void LLVMInitialize##name##Target() {} \
	void LLVMInitialize##name##TargetMC() {}
#include <llvm/Config/Targets.def>
#define LLVM_ASM_PRINTER(name) void LLVMInitialize##name##AsmPrinter() {}
#include <llvm/Config/AsmPrinters.def>
#define LLVM_ASM_PARSER(name) void LLVMInitialize##name##AsmParser() {}
#include <llvm/Config/AsmParsers.def>
}

llvm::PassPluginLibraryInfo getPollyPluginInfo()
{
	return { LLVM_PLUGIN_API_VERSION, "Polly", "", [](llvm::PassBuilder &) {} };
}
