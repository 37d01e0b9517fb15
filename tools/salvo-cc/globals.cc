// SPDX-License-Identifier: MIT
/*
 * globals.cc - variables of a program in global memory
 *
 * A program lies in memory that kernels do not write. So its variables become one block, which the
 * library allocates when it loads the program, and whose address it stores in the program:
 *
 *	global int n = 3;		extern char *salvo_variables;
 *	... n + 1 ...			... *(int *)(salvo_variables + 64) + 1 ...
 *
 * The program has the block's first contents, "salvo_variables_init", without the zeros at its end.
 * Addresses of variables among them are those in salvo_variables_init; a note lists where
 * they are, so that the library can move them to the block. A constant that holds such an address
 * is in the block as well.
 *
 * All instruction sets of a program share one block.
 */
#include "error.h"
#include "globals.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/ReplaceConstant.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include "bounds.h"
#include "salvo_kernel.h"

using namespace llvm;

static const char base_name[] = SALVO_VARIABLES_SYMBOL, init_name[] = SALVO_VARIABLES_INIT_SYMBOL;
static const char note_name[] = "salvo.variables", uses[] = "salvo-variables";
static const char bytes_name[] = "salvo-bytes";

/*
 * Where the first variable is: not at 0, so that its address is an instruction of its own, which
 * the checked mode can mark.
 */
static const uint64_t first_offset = 64;

namespace {

struct block {
	SmallSetVector<GlobalVariable *, 16> variables;
	DenseMap<const GlobalVariable *, uint64_t> offsets;
	uint64_t bytes = first_offset, init_bytes = 0;
	Align align = Align(64);
	std::vector<uint64_t> pointers;		/* offsets of addresses in the block */
};

} /* namespace */

/*
 * In the checked mode constants are, too: a pointer from memory may be of one, and is compared with
 * the block (bounds.cc).
 */
static bool is_variable(const GlobalVariable &g, bool checked)
{
	return (checked || !g.isConstant()) && g.getAddressSpace() == GLOBAL && !g.isDeclaration();
}

/* The global variables that @c contains the addresses of */
static void visit_globals(Constant &c, function_ref<void(GlobalVariable &)> visit)
{
	if (auto *g = dyn_cast<GlobalVariable>(&c)) {
		visit(*g);
		return;
	}
	for (Value *operand : c.operands())
		if (auto *inner = dyn_cast<Constant>(operand))
			visit_globals(*inner, visit);
}

/* All variables, and the constants that hold addresses of some. */
static void find_variables(Module &m, bool checked, block &to)
{
	bool changed = true;

	for (GlobalVariable &g : m.globals())
		if (is_variable(g, checked))
			to.variables.insert(&g);
	while (changed && !to.variables.empty()) {
		changed = false;
		for (GlobalVariable &g : m.globals()) {
			if (!g.hasInitializer() || g.getAddressSpace() == LOCAL ||
			    g.hasAppendingLinkage() || to.variables.contains(&g))
				continue;
			visit_globals(*g.getInitializer(), [&](GlobalVariable &inner) {
				changed |= to.variables.contains(&inner) && to.variables.insert(&g);
			});
		}
	}
}

static bool is_zero(const GlobalVariable &g)
{
	return g.getInitializer()->isNullValue() || isa<UndefValue>(g.getInitializer());
}

/* Those with contents come first. False after an error. */
static bool lay_out(const DataLayout &layout, block &to)
{
	for (bool zero : { false, true })
		for (GlobalVariable *g : to.variables) {
			if (is_zero(*g) != zero)
				continue;
			const Align align = layout.getValueOrABITypeAlignment(g->getAlign(),
									      g->getValueType());
			to.align = std::max(to.align, align);
			to.offsets[g] = to.bytes = alignTo(to.bytes, align);
			const uint64_t bytes = layout.getTypeAllocSize(g->getValueType());
			if (align > Align(SALVO_VARIABLES_ALIGN)) {
				print_error_in(*g, "variable '" + g->getName() +
					       "' is aligned to " + Twine(align.value()) +
					       " bytes, more than " + Twine(SALVO_VARIABLES_ALIGN));
				return false;
			}
			/* Sums of larger ones could wrap around. */
			if (to.bytes > SALVO_MAX_VARIABLE_BYTES ||
			    bytes > SALVO_MAX_VARIABLE_BYTES - to.bytes) {
				print_error_in(*g, "the variables of the program take more than " +
					       Twine(SALVO_MAX_VARIABLE_BYTES) + " bytes with '" +
					       g->getName() + "'");
				return false;
			}
			to.bytes += bytes;
			if (!zero)
				to.init_bytes = to.bytes;
		}
	to.init_bytes = alignTo(to.init_bytes, 8);
	to.bytes = std::max(to.bytes, to.init_bytes);
	return true;
}

/* Notes the addresses of variables in @c, which is @at in the block; false if one is in parts. */
static bool find_pointers(Constant &c, uint64_t at, const DataLayout &layout, block &to)
{
	bool inside = false;

	visit_globals(c, [&](GlobalVariable &g) { inside |= to.variables.contains(&g); });
	if (!inside)
		return true;
	if (auto *s = dyn_cast<ConstantStruct>(&c)) {
		const StructLayout *places = layout.getStructLayout(s->getType());

		for (unsigned i = 0; i < s->getNumOperands(); i++)
			if (!find_pointers(*s->getOperand(i), at + places->getElementOffset(i),
					   layout, to))
				return false;
		return true;
	}
	if (isa<ConstantArray>(c) || isa<ConstantVector>(c)) {
		const uint64_t step = layout.getTypeAllocSize(c.getOperand(0)->getType());

		for (unsigned i = 0; i < c.getNumOperands(); i++)
			if (!find_pointers(*cast<Constant>(c.getOperand(i)), at + i * step, layout,
					   to))
				return false;
		return true;
	}
	to.pointers.push_back(at);
	return layout.getTypeAllocSize(c.getType()) == sizeof(uint64_t) &&
	       at % sizeof(uint64_t) == 0;
}

/* salvo_variables_init; its address stands for that of the block. */
static GlobalVariable *make_contents(Module &m, block &from)
{
	LLVMContext &context = m.getContext();
	const DataLayout &layout = m.getDataLayout();
	SmallVector<Constant *> parts;
	SmallVector<GlobalVariable *> given;
	uint64_t at = 0;
	auto fill = [&](uint64_t to) {
		if (to > at)
			parts.push_back(ConstantAggregateZero::get(
				ArrayType::get(Type::getInt8Ty(context), to - at)));
		at = to;
	};

	for (GlobalVariable *g : from.variables)
		if (!is_zero(*g))
			given.push_back(g);
	for (GlobalVariable *g : given) {
		fill(from.offsets[g]);
		parts.push_back(g->getInitializer());
		at += layout.getTypeAllocSize(g->getValueType());
		if (!find_pointers(*g->getInitializer(), from.offsets[g], layout, from)) {
			print_error_in(*g, "variable '" + g->getName() +
				       "' of the program: its first value is calculated from an address");
			return nullptr;
		}
	}
	fill(from.init_bytes);
	Constant *contents = ConstantStruct::getAnon(context, parts, true);
	auto *init = new GlobalVariable(m, contents->getType(), true, GlobalValue::ExternalLinkage,
					contents, init_name, nullptr, GlobalValue::NotThreadLocal,
					CONSTANT);
	init->setAlignment(from.align);
	init->setVisibility(GlobalValue::ProtectedVisibility);
	init->setDSOLocal(true);
	return init;
}

/* Where functions use variables they get the address from the program. */
static void replace_uses(block &from, GlobalVariable &base)
{
	SmallVector<Constant *> variables(from.variables.begin(), from.variables.end());
	DenseMap<Function *, LoadInst *> loaded;

	convertUsersOfConstantsToInstructions(variables);
	for (GlobalVariable *g : from.variables) {
		DenseMap<Function *, Value *> addresses;
		SmallVector<Use *> all;

		for (Use &use : g->uses())
			if (isa<Instruction>(use.getUser()))
				all.push_back(&use);
		for (Use *use : all) {
			Function *f = cast<Instruction>(use->getUser())->getFunction();
			LoadInst *&load = loaded[f];
			Value *&address = addresses[f];

			if (!load) {
				IRBuilder<> b(&f->getEntryBlock(), f->getEntryBlock().begin());
				load = b.CreateLoad(b.getPtrTy(GLOBAL), &base, "variables");
				load->setMetadata(LLVMContext::MD_invariant_load,
						  MDNode::get(f->getContext(), {}));
			}
			if (!address) {
				IRBuilder<> b(load->getNextNode());
				address = b.CreateConstInBoundsGEP1_64(
					b.getInt8Ty(), load, from.offsets[g], g->getName());
				const DataLayout &layout = g->getDataLayout();
				mark_address(*cast<Instruction>(address),
					     layout.getTypeAllocSize(g->getValueType()));
				address = b.CreateAddrSpaceCast(address, g->getType());
			}
			use->set(address);
		}
	}
}

static void describe(Module &m, const block &from)
{
	salvo_note_variables note = {};
	std::string text;

	note.version = SALVO_NOTE_VARIABLES_VERSION;
	note.pointer_count = from.pointers.size();
	note.bytes = from.bytes;
	note.init_bytes = from.init_bytes;
	text.assign(reinterpret_cast<const char *>(&note), sizeof(note));
	text.append(reinterpret_cast<const char *>(from.pointers.data()),
		    from.pointers.size() * sizeof(uint64_t));
	m.getOrInsertNamedMetadata(note_name)->addOperand(
		MDNode::get(m.getContext(), MDString::get(m.getContext(), text)));
}

bool lower_globals(Module &m, bool checked)
{
	block all;

	find_variables(m, checked, all);
	if (all.variables.empty())
		return true;
	if (!lay_out(m.getDataLayout(), all))
		return false;
	Type *pointer = PointerType::get(m.getContext(), GLOBAL);
	auto *base = new GlobalVariable(m, pointer, false, GlobalValue::ExternalLinkage,
					Constant::getNullValue(pointer), base_name, nullptr,
					GlobalValue::NotThreadLocal, CONSTANT, true);
	base->setVisibility(GlobalValue::ProtectedVisibility);
	base->setDSOLocal(true);
	base->addAttribute(bytes_name, std::to_string(all.bytes));
	GlobalVariable *init = make_contents(m, all);
	if (!init)
		return false;
	replace_uses(all, *base);
	for (GlobalVariable *g : all.variables) {
		Constant *place = ConstantExpr::getGetElementPtr(
			Type::getInt8Ty(m.getContext()), init,
			ConstantInt::get(Type::getInt64Ty(m.getContext()), all.offsets[g]));

		g->removeDeadConstantUsers();
		g->replaceAllUsesWith(ConstantExpr::getAddrSpaceCast(place, g->getType()));
	}
	for (GlobalVariable *g : all.variables)
		g->eraseFromParent();
	appendToUsed(m, { base, init });
	describe(m, all);
	return true;
}

GlobalVariable *find_global_base(Module &m)
{
	return m.getNamedGlobal(base_name);
}

bool is_global_base(const Value *v)
{
	return isa<GlobalVariable>(v) && v->getName() == base_name;
}

uint64_t global_bytes(Module &m)
{
	const GlobalVariable *base = find_global_base(m);
	uint64_t bytes = 0;

	if (base)
		to_integer(base->getAttribute(bytes_name).getValueAsString(), bytes);
	return bytes;
}

static bool uses_base(const Function &f, const GlobalVariable &base,
		      SmallPtrSetImpl<const Function *> &seen)
{
	if (!seen.insert(&f).second)
		return false;
	for (const Instruction &inst : instructions(f)) {
		auto *call = dyn_cast<CallBase>(&inst);

		if (is_contained(inst.operand_values(), &base) ||
		    (call && call->getCalledFunction() &&
		     uses_base(*call->getCalledFunction(), base, seen)))
			return true;
	}
	return false;
}

void find_global_users(Module &m)
{
	const GlobalVariable *base = find_global_base(m);

	for (Function &f : m) {
		SmallPtrSet<const Function *, 8> seen;

		if (base && f.getCallingConv() == CallingConv::SPIR_KERNEL && !f.isDeclaration() &&
		    uses_base(f, *base, seen))
			f.addFnAttr(uses);
	}
}

bool uses_globals(const Function &kernel)
{
	return kernel.hasFnAttribute(uses);
}

void share_globals(Module &m, bool first)
{
	if (first || !find_global_base(m))
		return;
	if (GlobalVariable *used = m.getNamedGlobal("llvm.used"))
		used->eraseFromParent();
	for (const char *name : { base_name, init_name })
		m.getNamedGlobal(name)->setInitializer(nullptr);
}

std::string describe_globals(const Module &m)
{
	const NamedMDNode *node = m.getNamedMetadata(note_name);

	return node ? cast<MDString>(node->getOperand(0)->getOperand(0))->getString().str() : "";
}
