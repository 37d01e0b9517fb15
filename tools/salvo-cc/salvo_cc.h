// SPDX-License-Identifier: MIT
/*
 * salvo_cc.h - the parts of the kernel compiler and the order they run in
 *
 * clang turns OpenCL C into LLVM bitcode for spir64: vectors stay vectors in
 * calls and each pointer keeps its address space (private 0, global 1, constant
 * 2, local 3, generic 4). The passes below turn that into x86-64 functions of the
 * type salvo_kernel_fn. x86-64 treats address spaces below 256 as plain memory, so
 * they stay to the end and tell the passes what may alias what.
 *
 * A pass returns false after it has printed an error. Several threads compile the kernels of
 * a large program, each in a module of its own (parts.cc).
 */
#ifndef SALVO_CC_H
#define SALVO_CC_H

#include <memory>
#include <string>
#include <vector>

#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/DebugLoc.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Target/TargetMachine.h>

namespace llvm {
class FunctionPass;
class MachineFunctionPass;
}

enum address_space { PRIVATE = 0, GLOBAL = 1, CONSTANT = 2, LOCAL = 3, GENERIC = 4 };

struct options {
	std::vector<std::string> inputs;	/* one, or the objects to link */
	std::string input;			/* the first of them */
	std::string output;
	std::string standard = "CL1.2";
	std::vector<std::string> front_end;	/* passed to clang: -D, -I, -cl-* */
	unsigned opt_level = 3;
	std::vector<unsigned> isa_levels = { 3 };	/* of salvo_march.h, in rising order */
	unsigned isa_level = 3;			/* the current one of them */
	bool sapphire_rapids = false;		/* tune for it and its successors */
	bool aarch64 = false;
	bool preprocess = false;
	bool compile_only = false;		/* make an object */
	bool link_only = false;			/* inputs are objects */
	bool library = false;			/* make a library of them */
	bool debug = false;
	bool fibers = false;			/* user-level threads for every kernel */
	bool global_offset = false;		/* kernels take a struct salvo_global_offset */
	bool flush_denormals = false;		/* kernels may take denormal numbers for zero */
	bool checked = false;			/* accesses outside of arguments' buffers fault */
};

struct kernel_arg {
	std::string name, type;
	llvm::Type *value = nullptr;		/* what lies in the argument block */
	uint32_t kind = 0, offset = 0, size = 0;
	uint16_t access = 0, qualifiers = 0;
	bool by_reference = false;		/* a structure: the kernel gets a copy's address */
};

struct kernel {
	llvm::Function *function;
	std::string name;			/* in the source */
	std::vector<kernel_arg> args;
	uint32_t args_bytes = 0, local_bytes = 0, private_bytes = 0;
	uint32_t required_group[3] = { 0, 0, 0 }, hinted_group[3] = { 0, 0, 0 };
	std::string hinted_type;
	bool global_offset = false;
	bool barriers = false;
	bool split = false;			/* at its barriers: a call runs a work-group */
	bool contends = false;			/* for cache lines, and waits for no work-group */
	bool prints = false;			/* its last argument is the print buffer */
	bool checked = false;
	uint32_t sizes_at = 0;			/* of the buffers' sizes in the block, if checked */
};

/* Values that a kernel loads at its entry. */
struct group_values {
	llvm::Value *args, *group, *item;
	llvm::Value *global_size[3], *local_size[3], *num_groups[3], *group_id[3], *extent[3];
	llvm::Value *first_id[3];		/* number of the group's first work-item */
	llvm::Value *offset[3], *origin[3];	/* the global offset, and that item's global id */
	llvm::Value *local, *barrier, *dims, *run, *rows;
	llvm::Value *row_size;			/* work-items of a row of the group or strip */
};

using bytes = llvm::SmallVector<char, 0>;

/* options.cc: -1 to go on, else an exit code */
enum { EXIT_USAGE = 2 };
int read_command_line(llvm::ArrayRef<char *> words, options &opts);

/* front_end.cc */
std::string source_name(const options &opts);	/* as messages name it */
bool preprocess(const options &opts);
std::unique_ptr<llvm::Module> run_front_end(const options &opts, llvm::LLVMContext &context);

/* mixed.cc */
std::string mixed_overloads();

/* object.cc: bitcode between the compile step and the link step */
bool write_object(const llvm::Module &m, const options &opts);
std::unique_ptr<llvm::Module> read_objects(const options &opts, llvm::LLVMContext &context);

/* library.cc: definitions for the built-in functions that are called */
bool link_library(llvm::Module &m);
bool check_defined(llvm::Module &m);
llvm::StringRef runtime_object(const options &opts);

/* powers.cc */
void expand_powers(llvm::Module &m);

/* printf.cc */
bool lower_printf(llvm::Module &m);
void add_print_buffers(llvm::Module &m);
bool is_print_buffer(const llvm::Function &f);

/* retype.cc */
llvm::Function *retype(llvm::Function &old, llvm::FunctionType *type);

/* opaque.cc */
void lower_opaque_types(llvm::Module &m);

/* convert.cc, memory.cc, async.cc, intrinsics.cc, atomics.cc: functions generated on demand */
llvm::Value *round_to_half(llvm::IRBuilder<> &b, llvm::Value *x, llvm::StringRef rounding);
bool define_conversion(llvm::Function &f);
bool define_async(llvm::Function &f);
bool define_memory_access(llvm::Function &f);
bool define_intrinsic(llvm::Function &f);
bool define_atomic(llvm::Function &f);
/* atomics.cc: no locked operation where a minimum or maximum would change nothing */
void skip_vain_atomics(llvm::Module &m);

/* half.cc: functions on half by way of float, and what LLVM would call a library for */
void define_half_functions(llvm::Module &m);
void lower_half(llvm::Module &m);

/* flatten.cc */
bool is_outline(const llvm::Function &f);
bool check_calls(llvm::Module &m);
/* Adds @f, behind all that it calls that is defined. */
void add_callees_first(llvm::Function &f, llvm::SmallSetVector<llvm::Function *, 16> &order);
void flatten_calls(llvm::Module &m, const options &opts);

/* vector_calls.cc */
void mark_library_function(llvm::Function &f);
bool is_of_library(const llvm::Function &f);
/* Functions of which kernels have so many calls that these stay */
void choose_vector_functions(llvm::ArrayRef<llvm::Function *> kernels);
bool is_vector_function(const llvm::Function &f);
/* Makes functions that sample images for each sampler that is a constant. */
void split_sampling_functions(llvm::Module &m);
void keep_vector_function(llvm::Function &f);
void define_vector_functions(llvm::Module &m, llvm::TargetMachine &target);

/* target.cc */
bool is_target_query(const llvm::Function &f);
std::unique_ptr<llvm::TargetMachine> make_target(const options &opts);
void retarget(llvm::Module &m, llvm::TargetMachine &target, const options &opts);
void add_feature(llvm::Function &f, llvm::StringRef feature);
void remove_feature(llvm::Function &f, llvm::StringRef feature);	/* the one added last */

/* optimise.cc */
bool has_loops(const llvm::Function &f);
/* Settings of the process, before any thread compiles. */
void tune_llvm(const options &opts);
/* Passes that ask for nothing of the target */
void run_passes(llvm::Module &m, llvm::ModulePassManager passes);
void simplify(llvm::Module &m, llvm::TargetMachine &target);
void canonicalise(llvm::Function &f, llvm::TargetMachine &target);
void tidy(llvm::Function &f, llvm::TargetMachine &target);
void hoist(llvm::Function &f, llvm::TargetMachine &target);
void optimise(llvm::Module &m, llvm::TargetMachine &target, const options &opts);
void reduce_loops(llvm::Module &m, llvm::TargetMachine &target);
bool emit_object(llvm::Module &m, llvm::TargetMachine &target, bytes &object);
/* The same for code that has been marked (places.h). */
bool emit_code(llvm::Module &m, llvm::TargetMachine &target, const options &opts, bytes &object);

/* long_vectors.cc: undoes what InstCombine does to elements of vectors. */
void restore_elements(llvm::Module &m);

/* extensions.cc */
void restore_extensions(llvm::Module &m);
void restore_offsets(llvm::Module &m);
/* Computes indices in innermost loops, or those that are computed from @ids, in 64 bits. */
void widen_indices(llvm::Function &item, llvm::ArrayRef<llvm::TruncInst *> ids = {});

/*
 * terms.cc: removes what is on both sides of a difference, or of a comparison, and is made of one
 * of @ids. @entry: where arguments are loaded, or NULL
 */
void cancel_terms(llvm::Function &f, llvm::ArrayRef<llvm::Value *> ids,
		  const llvm::BasicBlock *entry = nullptr);

/* vector_linear.cc: @v, of which LLVM knows nothing */
llvm::Value *hidden_copy(llvm::IRBuilder<> &b, llvm::Value *v);

/* gathers.cc: single accesses where those are faster, or the processor has no other */
void mark_lanes(llvm::Instruction &access);
void expand_gathers(llvm::Module &m, llvm::TargetMachine &target, const options &opts);
/* The index of an element, behind those that lead to its array. */
llvm::Value *last_index(const llvm::GetElementPtrInst &gep);

/* common_stores.cc: where both ways of a branch store to one address */
bool merge_common_stores(llvm::Function &f);	/* true if there were some */

/* flags.cc: a bit each for variables that are true or false; true if there were some */
bool shrink_flags(llvm::Function &f);

/* rejoin.cc: the quotient times the divisor, plus the remainder, is what was divided */
void rejoin_indices(llvm::Function &f);

/* full_masks.cc: without AVX-512 */
void branch_masked_stores(llvm::Module &m, llvm::TargetMachine &target);

/* searches.cc: branches where a loop chooses what it loads next */
void branch_searches(llvm::Module &m, const options &opts);

/* prefetch.cc: what a loop loads at a stride of many cache lines */
void prefetch_columns(llvm::Module &m);

/* remainders.cc: comparisons of remainders of constants, without dividing */
void compare_remainders(llvm::Module &m);

/* estimates.cc: with AVX-512; first, of kernels, the divisions that take no time of their own */
void keep_hidden_divisions(llvm::Function &f);
void estimate_quotients(llvm::Module &m);

/* sums.cc: loops wait for additions, not for products too; first, before lanes, which loops */
void mark_sums(llvm::Module &m);
void split_sums(llvm::Module &m);

/* masks.cc */
void combine_masks(llvm::Module &m);

/* append.cc: a work-group adds once to a counter that its work-items take places from */
void share_appends(llvm::Module &m, llvm::TargetMachine &target);
bool has_shared_appends(const llvm::Function &kernel);

/* denormals.cc: with -cl-denorms-are-zero; kernels of objects are marked, too */
void mark_denormals(llvm::Module &m);
bool flushes_denormals(const llvm::Function &kernel);
void flush_denormals(llvm::Function &kernel);

/* ternary.cc: after the selection of instructions for AVX-512 */
llvm::MachineFunctionPass *mend_ternaries();

/* long_blocks.cc */
llvm::FunctionPass *cut_long_blocks();

/* stack.cc */
void find_stacks(const bytes &object, std::vector<kernel> &kernels);

/* ids.cc */
void lower_ids(llvm::Module &m, const options &opts);
bool is_placeholder(const llvm::Function &f);
llvm::Value *work_item_id(llvm::IRBuilder<> &b, llvm::StringRef id);	/* "local_id.0" */
bool is_placeholder_of(const llvm::Function &f, llvm::StringRef id);
void replace_ids(llvm::Function &f, const group_values &v, llvm::Value *const local_id[3]);

/* analyse.cc */
bool is_barrier(const llvm::CallInst &call);
void create_barrier(llvm::IRBuilder<> &b);
bool analyse(llvm::Module &m, const options &opts, std::vector<kernel> &kernels);
/* Of a work-item: no access may read more than the source asks for. */
bool in_checked_mode(const llvm::Function &item);
/* Of a work-item: is it tuned for a processor that gathers faster than it loads one by one? */
bool has_fast_gathers(const llvm::Function &item);

/* contention.cc */
bool contends(llvm::Function &kernel);
void add_plain_atomics(llvm::Function &kernel);

/* entry.cc */
uint64_t local_bytes(const llvm::Function &f);	/* of the static local variables it uses */
llvm::BasicBlock *build_entry(kernel &k, group_values &v);
void move_variables(llvm::BasicBlock &body, llvm::BasicBlock &entry);

/* groups.cc: the optimised form */
void build_groups(kernel &k, llvm::BasicBlock *body, group_values v,
		  llvm::TargetMachine &target, const options &opts);

/* items.cc: the element of an array that holds @alloca of each work-item */
llvm::Type *private_type(const llvm::AllocaInst &alloca);

/* loops.cc, fibers.cc: without optimisation */
void build_loops(kernel &k, llvm::BasicBlock *body, const group_values &v);
void build_fiber(kernel &k, llvm::BasicBlock *body, const group_values &v);
void load_local_id(llvm::IRBuilder<> &b, const group_values &v, llvm::Value *local_id[3]);
void call_barriers(llvm::Function &f, const group_values &v);

/* parts.cc: several threads compile the kernels of a module, each with @compile; behind @objects */
using compile_function = bool (*)(llvm::Module &m, const options &opts, bool first,
				  std::vector<bytes> &objects);
bool compile_parts(std::unique_ptr<llvm::Module> m, const options &opts, compile_function compile,
		   std::vector<bytes> &objects);

/* note.cc */
std::string describe(const std::vector<kernel> &kernels, unsigned isa_level);	/* as ELF notes */
void add_notes(llvm::Module &m, const std::vector<kernel> &kernels, unsigned isa_level);

/* link.cc */
bool write_result(const options &opts, llvm::StringRef data);
/* While no other thread is at work: see linker.cc. */
bool link_objects(const std::vector<bytes> &objects, const options &opts, bytes &program);
bool link_program(const std::vector<bytes> &objects, const options &opts);

/* inspect.cc */
int inspect(const std::string &path, bool json);

#endif /* SALVO_CC_H */
