/* SPDX-License-Identifier: MIT */
/*
 * vectoriser.h - whole-function vectorisation: work-items of a row as lanes (M4 of CN102576314)
 *
 * Makes from the function of one work-item, whose x is an argument, the function of the
 * work-items x to x + lanes - 1. Each value of the work-item has a shape:
 *
 *	UNIFORM		the same in all lanes: stays a scalar
 *	STRIDED		lane i has base + i * stride: the base is a scalar
 *	VARYING		a vector; of a vector of k elements, lane after lane, as in memory
 *
 * Uniform branches stay branches. Divergent control flow is linearised (partial
 * linearisation, Moll and Hack 2018): its blocks run one after the other, each under the mask
 * of its active lanes. A divergent loop runs until no lane is active. Stores and loads
 * that could fault are predicated.
 *
 *	if (v[x] < 0)			m = v[x..] < 0
 *		out[x] = f(v[x]);	masked_store(out + x, f(v[x..]), m)
 */
#ifndef SALVO_VECTORISER_H
#define SALVO_VECTORISER_H

#include "salvo_cc.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/CycleAnalysis.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/UniformityAnalysis.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

namespace llvm { class AAResults; class SCEV; class ScalarEvolution; class TargetLibraryInfo; }

struct near_accesses;

/*
 * divergence.cc: what depends on @sources or on private memory differs between work-items. Loops
 * must have LCSSA form.
 */
class divergence {
public:
	divergence(llvm::Function &f, const llvm::SmallPtrSetImpl<const llvm::Value *> &sources);

	bool differs(const llvm::Value *v) const { return info->isDivergent(v); }
	bool splits(const llvm::BasicBlock &b) { return info->hasDivergentTerminator(b); }

private:
	bool add_missed(llvm::Function &f);

	llvm::SmallPtrSet<const llvm::Value *, 8> sources;
	llvm::FunctionAnalysisManager analyses;
	llvm::UniformityInfo *info = nullptr;
};

struct shape {
	enum kind { UNIFORM, STRIDED, VARYING } kind = VARYING;
	int64_t stride = 0;
	/*
	 * The lanes are base + i * stride only as parts of an address, where no active lane
	 * wraps around: a narrower index was extended on the way.
	 */
	bool address_only = false;
};

/* vector_calls.cc: is it a call that stays one, of a function of all lanes? */
bool is_vector_call(const llvm::Instruction &inst);
bool has_vector_calls(const llvm::Function &f);
double vector_call_cost(const llvm::Instruction &call);	/* in instructions, for one lane */
llvm::Type *vector_call_type(const llvm::Instruction &call);	/* of what it computes with */

class vectoriser {
public:
	vectoriser(llvm::Function &item, llvm::Argument &x, unsigned lanes,
		   const llvm::TargetTransformInfo &target);

	/* vector_groups.cc: makes one access of those to neighbours in memory. */
	void group();
	/* vector_arrays.cc: lays private arrays out element after element. */
	void interleave();
	uint64_t gathered_bytes();
	/* vector_joins.cc: makes a load of each way of one from an address that ways differ in. */
	void load_on_ways();
	/* vector_overlaps.cc: makes loops for walks in which nothing overlaps; false if not. */
	bool version_walks();
	/* vector_together.cc: puts a loop that all lanes run before those that they leave apart. */
	void run_together();
	/* vector_apart.cc: makes blocks in which nothing overlaps; false if not. */
	bool version_blocks();
	/* vector_walks.cc: unrolls loops along memory of each lane; false if there are none. */
	bool unroll_walks();
	/* vector_cost.cc: outlines the part that gains least from lanes; false if there is none. */
	bool outline();
	/* Instructions for all lanes, 0 if the work-item cannot run on lanes. */
	double cost();
	/* Accesses that are one for all lanes, and those of neighbours in memory. */
	void find_near(llvm::SmallPtrSetImpl<const llvm::Instruction *> &same,
		       llvm::SmallPtrSetImpl<const llvm::Instruction *> &next);
	/* Bytes between what neighbours access, of loads and stores where that is known */
	llvm::DenseMap<const llvm::Instruction *, int64_t> find_strides();
	/*
	 * Do lanes leave all loops at a time, not walk along rows of their own there, and load a
	 * register each time?
	 */
	bool has_even_loops();
	/* Is each access one of all lanes at once, also under a mask? */
	bool is_side_by_side();
	/* vector_loops.cc: is one item after the other faster, as LLVM vectorises its loops? */
	bool gains_from_loops();
	bool waits_along_rows();
	/* vector_items.cc: is it because of the source's vectors, before AVX-512? */
	bool gains_from_items(bool whole);
	/* vector_items.cc: do loops over the lanes cost more than these save elsewhere? */
	bool loses_by_outlined();
	/* The function of @lanes work-items, or NULL if this one cannot be made one. */
	llvm::Function *run();

	/* vector_memory.cc: must it be replicated for each lane, even with uniform operands? */
	static bool needs_lanes(const llvm::Instruction &inst);

private:
	using Value = llvm::Value;
	using Instruction = llvm::Instruction;
	using BasicBlock = llvm::BasicBlock;
	using Type = llvm::Type;
	using Loop = llvm::Loop;
	using edges = llvm::SmallVector<std::pair<BasicBlock *, BasicBlock *>, 8>;

	using instruction_set = llvm::SmallPtrSet<const Instruction *, 8>;

	/* vector_shape.cc */
	bool can_run();
	bool prepare();
	void find_shapes();
	bool holds(const llvm::PHINode &phi, const Loop &loop, instruction_set &extended,
		   instruction_set &refuted) const;
	shape find_common_shape(llvm::iterator_range<llvm::User::value_op_iterator> values) const;
	bool meets_uniformly(BasicBlock &block);
	bool leave_together(BasicBlock &block);
	shape find_shape(Instruction &inst);
	shape find_binary_shape(Instruction &inst);
	shape find_address_shape(llvm::GetElementPtrInst &gep);
	shape shape_of(const Value *v) const;

	/* What a block costs all lanes under a mask, and one: vector_cost.cc */
	struct block_cost {
		double at_once = 0, one = 0;
	};

	/* vector_items.cc */
	bool fills_registers(unsigned bits);
	bool transposes_all();
	bool spills_vectors(unsigned bits);
	bool blends_vectors(unsigned bits);
	unsigned lane_accesses(const llvm::CallInst &call) const;
	double cycles_of_item(Instruction &inst);

	/* vector_cost.cc */
	static bool is_outlined(const Instruction &inst);
	static bool is_library_call(const Instruction &inst);
	static double scalar_cost(const Instruction &inst);
	static double weight_of(unsigned depth);
	double times_of(const BasicBlock &block) const;
	bool is_vector_loop(const Loop &loop, llvm::ScalarEvolution &evolution,
			    const llvm::TargetLibraryInfo &library);
	bool is_apart(Value &pointer) const;
	bool is_walk(Instruction &inst, const Loop &loop, llvm::ScalarEvolution &evolution,
		     bool any_step = false);
	bool may_walk(const Loop &loop, llvm::ScalarEvolution &evolution);
	bool scatters(const Loop &loop);
	bool counts_to_bound(const Loop &loop);
	double cycles_of_items(const Loop &loop, llvm::ScalarEvolution &evolution);
	double cycles_of_lanes(const Loop &loop, llvm::ScalarEvolution &evolution,
			       llvm::AAResults &aliases, bool walks_along);
	bool gains_from_walks();
	double registers_of(const Type *type) const;
	double access_cost(Instruction &inst, bool masked);
	double vector_cost(Instruction &inst, bool masked);
	bool can_outline(llvm::ArrayRef<BasicBlock *> blocks) const;
	const block_cost &cost_of(BasicBlock &block);
	double gain_of(llvm::ArrayRef<BasicBlock *> blocks, double part,
		       const llvm::DenseMap<const Loop *, double> &parts);
	double waits_of(const Loop &loop);
	llvm::SmallVector<BasicBlock *> find_outlined();
	Value *emit_lane_loop(llvm::CallInst &call);

	/* vector_active.cc */
	edges branches_between(const BasicBlock *top, BasicBlock *block) const;
	double branch_part(BasicBlock *block, const BasicBlock *top) const;
	void count_splits();
	bool is_behind_split(const BasicBlock *block, const BasicBlock *top) const;
	const Value *stack_of(const Instruction &inst, const llvm::Loop &loop) const;
	unsigned stacks_of(const llvm::Loop &loop) const;
	bool is_gathered(Value *v, const llvm::Loop &loop, unsigned depth);
	bool tells_gathered(const llvm::Value *v, const llvm::Loop &loop, unsigned depth);
	bool compares_gathered(Value *condition, const llvm::Loop &loop, unsigned depth);
	bool leaves_by_gather(const Loop &loop);
	bool is_loaded(const Value *v, unsigned depth) const;
	bool depends_on_load(const llvm::SCEV *value, unsigned depth) const;
	bool walks_list(const Loop &loop, llvm::ScalarEvolution &evolution) const;
	double active_part(const Loop &loop, llvm::ScalarEvolution &evolution);
	double active_part(BasicBlock *block, BasicBlock *entry,
			   const llvm::SmallPtrSetImpl<BasicBlock *> &region,
			   const llvm::DenseMap<const Loop *, double> &parts);
	bool is_guard(const llvm::BranchInst &branch, const BasicBlock &next) const;
	bool is_for_one(const BasicBlock &block) const;
	bool leads_to_loop(const BasicBlock &block) const;
	double part_of(const llvm::BranchInst &branch, const BasicBlock &next) const;

	/* vector_arrays.cc */
	struct private_uses;
	static uint64_t interleaved_bytes(const llvm::AllocaInst &alloca);
	static bool find_private_uses(Value &pointer, private_uses &uses);
	uint64_t element_size(const private_uses &uses) const;
	llvm::SmallVector<llvm::AllocaInst *> private_arrays() const;
	bool is_alike(Instruction &access) const;
	void interleave(llvm::AllocaInst &alloca, const private_uses &uses, uint64_t bytes);

	/* vector_joins.cc */
	bool loads_at_once(Value *address, const llvm::LoadInst &load) const;
	bool gains_from_ways(llvm::LoadInst &load);

	/* vector_groups.cc */
	bool gains_from_group(Instruction &inst, unsigned count) const;
	void for_each_run(near_accesses &near,
			  llvm::function_ref<void(unsigned, unsigned)> of_run);
	/* Loads: what each is among, and where */
	using load_places =
		llvm::DenseMap<Instruction *, std::pair<near_accesses *, int64_t>>;
	void merge_copies(near_accesses &stores, const load_places &places);
	void merge_runs(near_accesses &near);
	unsigned saved_by_groups(BasicBlock &block, llvm::ScalarEvolution &evolution,
				 llvm::AAResults &aliases);

	/* vector_apart.cc */
	struct place;
	static std::vector<place> find_places(BasicBlock &block, llvm::ScalarEvolution &evolution);
	static bool must_differ(const place &p, const place &q);
	static void mark(llvm::ArrayRef<place> places);
	static std::pair<int64_t, int64_t> span(const place &p, int64_t stride, unsigned lanes);
	Value *emit_apart(llvm::IRBuilder<> &at, const place &p, const place &q,
			  llvm::ScalarEvolution &evolution);
	bool version_block(BasicBlock &block, llvm::ScalarEvolution &evolution,
			   llvm::AAResults &aliases);

	/* vector_walks.cc: an access to the next place in each iteration */
	struct walk {
		Instruction *inst;
		const llvm::SCEV *start;
		int64_t bytes, step;

		/* Iterations whose accesses are whole vectors */
		unsigned times() const;
		unsigned elements() const;	/* of a vector */
	};
	bool find_walk(Instruction &inst, const Loop &loop, llvm::ScalarEvolution &evolution,
		       walk *made) const;
	static bool is_dense(const walk &one, llvm::ArrayRef<walk> all,
			     llvm::ScalarEvolution &evolution);
	static void count_bytes(llvm::ArrayRef<walk> all, const Loop &loop);
	llvm::SmallVector<walk> find_walks(const Loop &loop, llvm::ScalarEvolution &evolution);
	llvm::SmallVector<walk> find_walks(const Loop &loop, llvm::ScalarEvolution &evolution,
					   llvm::AAResults &aliases);

	/* vector_overlaps.cc */
	bool version_loop(Loop &loop, llvm::ScalarEvolution &evolution, llvm::AAResults &aliases);
	Value *emit_every(Value *v);

	/* vector_flow.cc */
	void find_order();
	void order_level(const Loop *level, BasicBlock *head);
	void find_divergent_loops();
	bool is_divergent_loop(const Loop *loop) const { return divergent_loops.contains(loop); }
	bool splits(BasicBlock *b);
	BasicBlock *level_dominator(BasicBlock *b) const;
	bool follows(BasicBlock *block, BasicBlock *above) const;
	bool is_uniform_between(BasicBlock *from, BasicBlock *to);
	bool has_lanes_of(BasicBlock *block, BasicBlock *above);
	bool all_come(const Loop *loop, BasicBlock *block);
	Value *find_mask(BasicBlock *b);
	BasicBlock *route(const Loop *from, BasicBlock *to) const;
	void emit_block(BasicBlock *b);
	void emit_terminator(BasicBlock *b);
	void emit_uniform_branch(BasicBlock *b);
	void emit_divergent_branch(BasicBlock *b);
	void emit_divergent_latch(BasicBlock *b, Loop *loop);
	Value *choose(Value *lanes_in, Value *value, Value *other);
	void emit_edge(BasicBlock *from, BasicBlock *to, Value *mask, bool real);
	BasicBlock *first_of(const llvm::SmallSetVector<BasicBlock *, 4> &targets);
	BasicBlock *next_of(const llvm::SmallSetVector<BasicBlock *, 4> &targets);
	bool may_skip(BasicBlock *first, const llvm::SmallSetVector<BasicBlock *, 4> &others);
	void emit_way(BasicBlock *from, const llvm::SmallSetVector<BasicBlock *, 4> &targets);
	static bool is_rare(const BasicBlock &b);
	void find_rare_blocks();
	double cost_without_lanes(BasicBlock *b);
	bool is_worth_skipping(BasicBlock *b, bool second);
	bool stores_unread(BasicBlock &b) const;
	void load_phis(BasicBlock *b);
	Value *combine(Value *mask, Value *condition);
	Value *any(Value *mask);
	Value *some_lane();
	Value *full(Value *mask);
	Value *emit_agreement(Value *condition);
	void emit_return(llvm::ReturnInst &ret);

	/* vector_exits.cc */
	bool leaves_after(const BasicBlock &block, const llvm::PHINode &header) const;
	void find_kept(const Loop &loop);
	void find_kept();

	/* vector_ops.cc */
	Type *widen(Type *type) const;
	Value *scalar(Value *v);
	llvm::Constant *steps(Type *number, int64_t stride = 1) const;
	Value *vector(Value *v);
	Value *lane(Value *v, unsigned i);
	Value *splat(Value *v);
	Value *insert_lane(Value *all, Value *one, unsigned i);
	Value *repeat_mask(Value *mask, unsigned times);
	llvm::AllocaInst *make_slot(Type *type, const llvm::Twine &name);
	void emit(Instruction &inst);
	void emit_scalar(Instruction &inst);
	Value *emit_vector(Instruction &inst);
	Value *emit_elements(Instruction &inst);
	Value *emit_shuffle(llvm::ShuffleVectorInst &shuffle);
	Value *emit_extract(llvm::ExtractElementInst &extract);
	Value *emit_insert(llvm::InsertElementInst &insert);
	Value *emit_intrinsic(llvm::IntrinsicInst &call);

	/* vector_calls.cc */
	Value *emit_vector_call(llvm::CallInst &call);
	Value *emit_uniform_call(llvm::CallInst &call);

	/* vector_division.cc */
	bool can_divide(const Instruction &inst) const;
	bool multiplies(const Instruction &inst) const;
	double division_cost(const Instruction &inst) const;
	Value *emit_division(Instruction &inst);

	/* vector_words.cc */
	bool may_load_more(const llvm::LoadInst &load) const;
	bool can_gather_words(const llvm::LoadInst &load) const;
	bool gains_from_words();
	llvm::CastInst *extended_index(const Value *pointer) const;
	Value *narrow_index(llvm::LoadInst &load, Value *&base);
	Value *gather_words(llvm::LoadInst &load);
	unsigned word_bytes(const llvm::LoadInst &load) const;
	Value *load_words(llvm::LoadInst &load, unsigned bytes);

	/* vector_memory.cc */
	Value *emit_lanes(Instruction &inst);
	bool can_merge(const Instruction &inst) const;
	Value *emit_merged(llvm::AtomicRMWInst &rmw);
	Value *sum_before(Value *values);
	Instruction *gather(llvm::LoadInst &load);
	Value *emit_likely(Value *condition, llvm::function_ref<Value *()> usual,
			   llvm::function_ref<Value *()> other);
	Value *load_apart(llvm::LoadInst &load);
	Value *emit_load(llvm::LoadInst &load);
	void store_if_any(llvm::StoreInst &store);
	bool has_one_address(const llvm::StoreInst &store) const;
	void store_last(llvm::StoreInst &store);
	void store_each(llvm::StoreInst &store);
	void emit_store(llvm::StoreInst &store);
	void store_lanes(llvm::StoreInst &store, Value *all);
	bool can_gather(Type *type, llvm::Align align) const;
	bool has_cheap_lanes(const Value *pointer, Type *type) const;
	bool gathers(const llvm::LoadInst &load) const;
	bool can_scatter(Type *type, llvm::Align align) const;
	bool can_choose(Type *type) const;
	bool can_load_in_page(const llvm::LoadInst &load) const;
	Value *load_in_page(llvm::LoadInst &load);
	Value *load_pieces(llvm::LoadInst &load, Type *unit, unsigned units);
	void store_pieces(llvm::StoreInst &store, Value *all, unsigned units);
	void emit_alloca(llvm::AllocaInst &alloca);
	void emit_scalar_memory(Instruction &inst);
	Value *active_bits();
	Value *is_active(unsigned i);
	Value *safe_pointer(Value *pointer, Value *condition);
	llvm::SmallVector<Value *> safe_pointers(Value *pointer);
	Value *masked_pointer(Value *pointer);
	bool is_contiguous(Value *pointer, Type *type) const;
	int64_t step_of(Value *pointer, Type *type) const;
	Value *load_steps(llvm::LoadInst &load, int64_t step);

	/* vector_reversed.cc */
	bool is_reversed(Value *pointer, Type *type) const;
	bool can_store_reversed(Value *pointer, Type *type, llvm::Align align) const;
	bool can_load_reversed(Value *pointer, Type *type, llvm::Align align) const;
	Value *last_in_order(Value *first, Type *type);
	Value *load_reversed(llvm::LoadInst &load);
	llvm::Instruction *store_reversed(llvm::StoreInst &store, Value *all);

	/* vector_linear.cc */
	struct linear;
	enum extension { NONE, SIGNED, UNSIGNED };
	Value *extended(Value *v, extension how);
	bool find_linear(Value *v, extension how, unsigned depth, linear *made);
	bool is_offset_of_lanes(const llvm::GetElementPtrInst &gep) const;
	Value *offset_by(Value *pointer, llvm::GetElementPtrInst &gep);
	bool find_linear_pointer(Value *pointer, linear *made);
	bool is_linear(Value *pointer);
	llvm::SmallVector<Value *> linear_pointers(Value *pointer);
	llvm::SmallVector<Value *> lane_pointers(Value *pointer);

	/* vector_tables.cc */
	struct table {
		llvm::GetElementPtrInst *gep;
		/* @index: Of an element, counted from @offset bytes behind the address of @gep. */
		Value *index;
		llvm::APInt offset;
		/* @words: Up to the end of what an index can reach. */
		unsigned words;
		/* @readable: All of them are, whatever the lanes load. */
		bool readable;
	};
	unsigned permuted_words() const;
	bool find_table(llvm::LoadInst &load, table *made);
	unsigned registers_of(const table &t) const;
	double table_cost(const llvm::LoadInst &load, const table &t) const;
	Value *permute(llvm::ArrayRef<Value *> from, Value *index);
	Value *pick_words(Value *base, unsigned count, Value *pick);
	Value *pick_elements(llvm::LoadInst &load, Value *base, const table &t);
	Value *is_in_page(Value *base, unsigned words);
	Value *table_base(const table &t);
	Value *load_table(llvm::LoadInst &load, const table &t);

	/* vector_wraps.cc */
	Instruction *inner_index(Value *v, unsigned opcode, unsigned depth = 0) const;
	Instruction *inner_index(const llvm::LoadInst &load, unsigned opcode) const;
	bool is_wrap(const llvm::LoadInst &load) const;
	Value *lane_0(Value *v);
	Value *extends_in_step(llvm::CastInst &cast, Value *first);
	Value *are_neighbours(Value *index);
	Value *load_wrap(llvm::LoadInst &load);

	/* vector_together.cc */
	bool can_run_together(const Loop &loop) const;

	/* vector_exchanges.cc */
	Instruction *find_exchange(const llvm::LoadInst &load) const;
	Value *load_exchange(llvm::LoadInst &load, Instruction &exchange);

	/* vector_elements.cc */
	bool can_gather_elements(const llvm::LoadInst &load) const;
	bool copies_part_of_word(const llvm::StoreInst &store) const;
	void take_copies_apart();
	Value *load_element(llvm::LoadInst &load, unsigned which) const;
	void load_only_elements();
	bool has_elements(const llvm::LoadInst &load) const;
	Value *narrow_offset(llvm::LoadInst &load, Value *&base);
	Value *gather_elements_word(llvm::LoadInst &load);
	Value *element_of(Value *words, unsigned n, Type *type);
	Value *piece_of(Value *all, unsigned from);
	Value *element_of(llvm::ArrayRef<Value *> pieces, unsigned n);
	bool can_transpose(const llvm::LoadInst &load) const;
	Value *load_lane_part(llvm::LoadInst &load, Value *pointer, unsigned i);
	Value *pick_in_parts(Value *p, Value *q, llvm::ArrayRef<unsigned> of);
	bool is_in_parts(const llvm::FixedVectorType *type) const;
	void load_transposed(llvm::LoadInst &load, Value *all,
			     llvm::SmallVectorImpl<Value *> &made);
	Value *emit_lane_elements(llvm::LoadInst &load, llvm::SmallVectorImpl<Value *> &made);
	llvm::SmallVector<Value *> load_elements(llvm::LoadInst &load);
	bool keeps_mask(const llvm::LoadInst &load) const;
	llvm::SmallVector<Value *> load_elements_of_all(llvm::LoadInst &load);
	void emit_load_elements(llvm::LoadInst &load);
	void transpose_parts(llvm::ArrayRef<Value *> rows, llvm::SmallVectorImpl<Value *> &made);
	void store_transposed(llvm::StoreInst &store, llvm::ArrayRef<Value *> parts);
	void scatter_elements(llvm::StoreInst &store, llvm::ArrayRef<Value *> parts);
	Value *interleave_parts(llvm::ArrayRef<Value *> parts);
	Value *interleave(llvm::ArrayRef<Value *> parts, unsigned from);
	void store_lane_elements(llvm::StoreInst &store, llvm::ArrayRef<Value *> parts);
	Value *words_of_parts(llvm::ArrayRef<llvm::Value *> parts,
			      llvm::FixedVectorType *type);
	Value *emit_word(llvm::BitCastInst &cast);
	bool emit_store_elements(llvm::StoreInst &store);

	llvm::Function &item;
	llvm::Argument &x;
	unsigned lanes;
	const llvm::TargetTransformInfo &target;
	llvm::Function *out = nullptr;
	const llvm::DataLayout &layout;
	llvm::DominatorTree dt;
	llvm::PostDominatorTree pdt;
	llvm::LoopInfo loops;
	std::unique_ptr<divergence> differing;
	llvm::DenseMap<const Value *, shape> shapes;

	/* What branches lead to that are seldom taken */
	llvm::SmallPtrSet<const BasicBlock *, 8> rare_blocks;
	/* Branches on the way to a block that some lanes take, others not */
	llvm::DenseMap<const BasicBlock *, unsigned> splits_above;
	llvm::DenseMap<const BasicBlock *, block_cost> block_costs;
	std::vector<BasicBlock *> order;
	llvm::DenseMap<const BasicBlock *, unsigned> index;
	llvm::SmallPtrSet<const Loop *, 8> divergent_loops;
	/* Successors that are still pending when the block runs. */
	llvm::DenseMap<const BasicBlock *, llvm::SmallSetVector<BasicBlock *, 4>> deferred;
	llvm::DenseMap<const BasicBlock *, BasicBlock *> start;
	llvm::DenseMap<const BasicBlock *, Value *> masks;
	llvm::DenseMap<std::pair<const BasicBlock *, const BasicBlock *>, Value *> edge_masks;
	/* Where edges accumulate the mask of a block, and which blocks begin by clearing it. */
	llvm::DenseMap<const BasicBlock *, llvm::AllocaInst *> mask_slots;
	llvm::DenseMap<const BasicBlock *, llvm::SmallVector<BasicBlock *, 2>> clears;
	/* Blocks that an edge to has been emitted */
	llvm::SmallPtrSet<const BasicBlock *, 16> reached;
	/* The lanes of phis that are strided in addresses only are in a slot of their own. */
	llvm::DenseMap<const llvm::PHINode *, llvm::AllocaInst *> phi_slots, lane_slots;
	/* Of phis behind a divergent loop: the header phi that has their lanes when it ends */
	llvm::DenseMap<const llvm::PHINode *, llvm::PHINode *> left_in;
	/* The header phi whose value inactive lanes have */
	llvm::DenseMap<const Value *, llvm::PHINode *> kept;
	/* What the slot of a phi begins as, and which ones begin as a phi */
	llvm::DenseMap<const llvm::PHINode *, llvm::PHINode *> begins_as;
	llvm::DenseMap<const llvm::PHINode *, llvm::SmallVector<llvm::PHINode *>> begins;

	llvm::DenseMap<const Value *, Value *> scalars, vectors;
	/* Of loads that only their elements are used of: each in all lanes */
	llvm::DenseMap<const Value *, llvm::SmallVector<Value *>> elements;
	/* Of tables of arguments with so many words: is it in one page? */
	llvm::DenseMap<std::pair<Value *, unsigned>, Value *> in_page;
	unsigned single_parts = 0;		/* loads of bytes and shorts made one by one */
	llvm::AllocaInst *nowhere = nullptr;	/* scratch that inactive lanes read and write */
	Value *mask = nullptr;			/* of the current block; NULL: all lanes active */
	Value *any_lane = nullptr;		/* whether @mask has a bit set; made on demand */
	Value *mask_bits = nullptr;		/* @mask as an integer; made on demand */
	llvm::IRBuilder<> b;
};

/* vector_overlaps.cc: does @v hold in every lane? Of a number: the least one of all lanes. */
llvm::Value *of_every_lane(llvm::IRBuilder<> &b, llvm::Value *v);
/* Is the result of @inst that? */
bool is_of_every_lane(const llvm::Instruction &inst);
void lower_every_lane(llvm::Function &f);

/* vector_tables.cc */
unsigned instructions_of_tables(const llvm::Function &f);

/* vector_elements.cc */
bool has_short_vectors(const llvm::Function &f);
void ask_for_elements(llvm::Function &f);	/* whatever needs_elements() would find */
bool needs_elements(const llvm::Function &f);
bool accesses_images(const llvm::Function &f);

#endif /* SALVO_VECTORISER_H */
