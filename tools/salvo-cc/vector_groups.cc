// SPDX-License-Identifier: MIT
/*
 * vector_groups.cc - accesses of a work-item to neighbours in memory become those of short vectors
 *
 * A work-item that loads the members of a structure, or four elements one after the other, gathers
 * as often if each is accessed on its own. As one vector they are loaded at once, and the elements
 * of all lanes taken out of it (vector_elements.cc). Stores are grouped in the same way.
 *
 *	p = in[at[x]].kx, q = in[at[x]].ky	v = (float2 at in[at[x]].kx), p = v.x, q = v.y
 *	out[2 * x] = p, out[2 * x + 1] = q	((float2 *)out)[x] = (float2)(p, q)
 *
 * The accesses of a group are in one block, and none between them may touch its memory: loads move
 * up to the first one, stores down to the last. What a load passes may be a store elsewhere, as
 * where a row is changed in place. Lanes that overlap, as those of a stencil, are better served
 * one element at a time. Nothing is grouped in checked mode, which reports each access on its own.
 *
 * The other way round, of a vector from anywhere only the element is loaded that is used alone.
 */
#include "analyses.h"
#include "items.h"
#include "vectoriser.h"
#include "walks.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/BasicAliasAnalysis.h>
#include <llvm/Analysis/MemoryLocation.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/ScopedNoAliasAA.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/InstIterator.h>

using namespace llvm;

/* Elements and bits of a group */
static const unsigned max_elements = 4, max_bits = 128;

/* Groups of a block that are open at a time, as each access is compared with all of them */
static const unsigned max_open = 16;

/* What is known not to overlap @inst, whatever its type */
static AAMDNodes scopes_of(const Instruction &inst)
{
	const AAMDNodes all = inst.getAAMetadata();

	return AAMDNodes(nullptr, nullptr, all.Scope, all.NoAlias);
}

/* Accesses of one size and kind at constant distances from the first one in the block */
struct near_accesses {
	const SCEV *address;
	SmallVector<std::pair<int64_t, Instruction *>, 8> at;	/* by their order in the block */
	SmallVector<std::pair<int64_t, int64_t>, 4> stores;	/* since then: where, and bytes */

	Instruction *first() const { return at[0].second; }
	AAMDNodes scopes() const { return scopes_of(*first()); }
	bool is_load() const { return isa<LoadInst>(first()); }
	unsigned bits() const { return getLoadStoreType(first())->getPrimitiveSizeInBits(); }
};

static bool can_group(const Instruction &inst)
{
	if (!is_simple_access(inst))
		return false;
	Type *type = getLoadStoreType(const_cast<Instruction *>(&inst));
	const unsigned bits = type->getPrimitiveSizeInBits();

	return getLoadStoreAddressSpace(const_cast<Instruction *>(&inst)) != PRIVATE &&
	       !type->isVectorTy() && bits >= 8 && bits <= 64 && isPowerOf2_32(bits);
}

using accesses = ArrayRef<std::pair<int64_t, Instruction *>>;

static MDNode *common_tbaa(accesses parts)
{
	MDNode *tbaa = parts[0].second->getMetadata(LLVMContext::MD_tbaa);

	for (const auto &part : parts)
		tbaa = MDNode::getMostGenericTBAA(tbaa, part.second->getMetadata(
								LLVMContext::MD_tbaa));
	return tbaa;
}

/* Loads all of @parts as a @type, before the first of them in the block. */
static LoadInst *load_all(accesses parts, Type *type)
{
	Instruction *first = parts[0].second;
	const auto *top = &parts[0];

	for (const auto &part : parts)
		top = part.second->comesBefore(top->second) ? &part : top;
	IRBuilder<> b(top->second);
	Value *begin = getLoadStorePointerOperand(top->second);
	if (top->first != parts[0].first)
		begin = b.CreateConstGEP1_64(b.getInt8Ty(), begin, parts[0].first - top->first);
	LoadInst *all = b.CreateAlignedLoad(type, begin, getLoadStoreAlignment(first),
					    first->getName());
	all->setMetadata(LLVMContext::MD_tbaa, common_tbaa(parts));
	return all;
}

/* Stores @all to all of @parts, at @b: the last of them in the block. */
static void store_all(IRBuilder<> &b, accesses parts, Value *all)
{
	Instruction *first = parts[0].second;

	b.CreateAlignedStore(all, getLoadStorePointerOperand(first), getLoadStoreAlignment(first))
		->setMetadata(LLVMContext::MD_tbaa, common_tbaa(parts));
}

static Instruction *last_of(accesses parts)
{
	Instruction *last = parts[0].second;

	for (const auto &part : parts)
		last = last->comesBefore(part.second) ? part.second : last;
	return last;
}

/* One vector for @parts, whose offsets follow one another. */
static void merge(accesses parts, unsigned bits)
{
	Instruction *first = parts[0].second;
	Type *type = getLoadStoreType(first);

	if (any_of(parts, [&](const auto &part) { return getLoadStoreType(part.second) != type; }))
		type = IntegerType::get(first->getContext(), bits);
	auto *vector = FixedVectorType::get(type, parts.size());
	if (isa<LoadInst>(first)) {
		LoadInst *all = load_all(parts, vector);
		IRBuilder<> b(all->getNextNode());

		for (unsigned n = 0; n < parts.size(); n++) {
			Instruction *inst = parts[n].second;

			Value *element = b.CreateExtractElement(all, n);
			inst->replaceAllUsesWith(b.CreateBitCast(element, inst->getType()));
		}
	} else {
		IRBuilder<> b(last_of(parts));
		Value *all = PoisonValue::get(vector);

		for (unsigned n = 0; n < parts.size(); n++) {
			Value *value = cast<StoreInst>(parts[n].second)->getValueOperand();

			all = b.CreateInsertElement(all, b.CreateBitCast(value, type), n);
		}
		store_all(b, parts, all);
	}
	for (const auto &part : parts)
		part.second->eraseFromParent();
}

/* Is it worth it for @count elements from @inst on? */
bool vectoriser::gains_from_group(Instruction &inst, unsigned count) const
{
	const shape s = shape_of(getLoadStorePointerOperand(&inst));
	const int64_t bytes = layout.getTypeStoreSize(getLoadStoreType(&inst)).getFixedValue();

	return s.kind == shape::VARYING ||
	       (s.kind == shape::STRIDED && std::abs(s.stride) >= (int64_t)count * bytes);
}

/* Calls @of_run for the first access and the number of those of each run in @near without gaps. */
void vectoriser::for_each_run(near_accesses &near, function_ref<void(unsigned, unsigned)> of_run)
{
	const unsigned bits = near.bits(), most = std::min(max_elements, max_bits / bits);

	llvm::sort(near.at, llvm::less_first());
	for (unsigned i = 0, count; i < near.at.size(); i += count) {
		for (count = 1; count < most && i + count < near.at.size(); count++)
			if (near.at[i + count].first != near.at[i].first + count * bits / 8)
				break;
		if (count > 1 && gains_from_group(*near.at[i].second, count))
			of_run(i, count);
	}
}

/*
 * Makes one vector of 128 bits of elements that are only copied, from neighbours to neighbours:
 * that of a lane is loaded and stored at once, and nothing transposed. @places: of the loads
 */
void vectoriser::merge_copies(near_accesses &stores, const load_places &places)
{
	const unsigned bits = stores.bits(), count = max_bits / bits;
	auto *type = FixedVectorType::get(Type::getInt64Ty(item.getContext()), max_bits / 64);

	/* Where the store at @i copies from: a load that is used by it alone */
	auto copied = [&](unsigned i) {
		auto *load = dyn_cast<LoadInst>(stores.at[i].second->getOperand(0));

		return load && load->hasOneUse() ? places.find(load) : places.end();
	};
	auto follows = [&](unsigned i, unsigned n) {
		const auto from = copied(i), at = copied(i + n);

		return at != places.end() && at->second.first == from->second.first &&
		       at->second.second == from->second.second + n * bits / 8 &&
		       stores.at[i + n].first == stores.at[i].first + n * bits / 8;
	};
	llvm::sort(stores.at, llvm::less_first());
	for (unsigned i = 0; i + count <= stores.at.size();) {
		SmallVector<std::pair<int64_t, Instruction *>> loads;
		const accesses parts = ArrayRef(stores.at).slice(i, count);
		unsigned n = 0;

		if (copied(i) != places.end())
			while (n < count && follows(i, n))
				n++;
		if (n < count || !gains_from_group(*parts[0].second, count) ||
		    !gains_from_group(*copied(i)->first, count)) {
			i++;
			continue;
		}
		near_accesses &from = *copied(i)->second.first;
		for (n = 0; n < count; n++)
			loads.push_back({ copied(i + n)->second.second, copied(i + n)->first });
		IRBuilder<> b(last_of(parts));
		store_all(b, parts, load_all(loads, type));
		for (const auto &part : parts)
			part.second->eraseFromParent();
		stores.at.erase(stores.at.begin() + i, stores.at.begin() + i + count);
		llvm::erase_if(from.at, [&](const auto &at) { return is_contained(loads, at); });
		for (const auto &part : loads)
			part.second->eraseFromParent();
	}
}

/* Makes vectors of the runs in @near without gaps. */
void vectoriser::merge_runs(near_accesses &near)
{
	const unsigned bits = near.bits();

	for_each_run(near, [&](unsigned first, unsigned count) {
		merge(ArrayRef(near.at).slice(first, count), bits);
	});
}

static bool overlaps(const near_accesses &near, int64_t at, int64_t bytes)
{
	return any_of(near.at, [&](const auto &part) {
		return at < part.first + near.bits() / 8 && part.first < at + bytes;
	});
}

/* May @inst not be passed by the accesses of @near, and by any that join them later? */
static bool separates(Instruction &inst, near_accesses &near, ScalarEvolution &evolution,
		      AAResults &aliases)
{
	const MemoryLocation where(getLoadStorePointerOperand(near.first()),
				   LocationSize::beforeOrAfterPointer(), near.scopes());
	const ModRefInfo how = aliases.getModRefInfo(&inst, where);

	if (near.is_load() ? !isModSet(how) : !isModOrRefSet(how))
		return false;
	if (!can_group(inst))
		return true;
	const auto at = bytes_apart(near.address, address_in_loop(inst, evolution), evolution);
	const int64_t bytes = getLoadStoreType(&inst)->getPrimitiveSizeInBits() / 8;
	if (!at)
		return true;
	if (!near.is_load())
		return overlaps(near, *at, bytes);
	/* Those that are there come before it, as they do as a vector. */
	near.stores.push_back({ *at, bytes });
	return false;
}

/*
 * May a store that came before @near and joins @stores, of which the last one comes after it, be to
 * what loads that join @near later load? It moves down, and these move up.
 */
static bool crosses(const near_accesses &stores, const near_accesses &near, AAResults &aliases)
{
	const MemoryLocation where(getLoadStorePointerOperand(near.first()),
				   LocationSize::beforeOrAfterPointer(), near.scopes());

	return near.is_load() && any_of(stores.at, [&](const auto &part) {
		return part.second->comesBefore(near.first()) &&
		       isModSet(aliases.getModRefInfo(part.second, where));
	});
}

/* Would a load of @bytes pass a store to what it loads if it joined @near? */
static bool passes_store(const near_accesses &near, int64_t at, int64_t bytes)
{
	return any_of(near.stores, [&](const auto &store) {
		return at < store.first + store.second && store.first < at + bytes;
	});
}

/* Adds @inst to one of @open, or to it as one of its own. Returns which one. */
static const near_accesses &add_access(Instruction &inst, std::vector<near_accesses> &open,
				       ScalarEvolution &evolution)
{
	const SCEV *address = address_in_loop(inst, evolution);
	const unsigned bits = getLoadStoreType(&inst)->getPrimitiveSizeInBits();

	for (near_accesses &near : open) {
		if (near.is_load() != isa<LoadInst>(inst) || near.bits() != bits)
			continue;
		if (near.scopes() != scopes_of(inst))
			continue;
		const auto at = bytes_apart(near.address, address, evolution);
		if (at && !overlaps(near, *at, bits / 8) && !passes_store(near, *at, bits / 8)) {
			near.at.push_back({ *at, &inst });
			return near;
		}
	}
	open.push_back({ address, { { 0, &inst } }, {} });
	return open.back();
}

/* What can be grouped in @block if it is worth it */
static std::vector<near_accesses> find_groups(BasicBlock &block, ScalarEvolution &evolution,
					      AAResults &aliases)
{
	std::vector<near_accesses> open, found;

	for (Instruction &inst : block) {
		if (!inst.mayReadOrWriteMemory())
			continue;
		for (auto near = open.begin(); near != open.end();) {
			if (open.size() < max_open && !separates(inst, *near, evolution, aliases)) {
				++near;
				continue;
			}
			found.push_back(std::move(*near));
			near = open.erase(near);
		}
		if (!can_group(inst))
			continue;
		const near_accesses &added = add_access(inst, open, evolution);
		if (added.is_load() || added.at.size() < 2)
			continue;
		const near_accesses joined = added;	/* Others move as some are erased. */
		for (auto near = open.begin(); near != open.end();) {
			if (crosses(joined, *near, aliases)) {
				found.push_back(std::move(*near));
				near = open.erase(near);
			} else {
				++near;
			}
		}
	}
	found.insert(found.end(), open.begin(), open.end());
	return found;
}

/* Accesses that there are fewer of in @block if they are grouped */
unsigned vectoriser::saved_by_groups(BasicBlock &block, ScalarEvolution &evolution,
				     AAResults &aliases)
{
	unsigned saved = 0;

	for (near_accesses &near : find_groups(block, evolution, aliases))
		for_each_run(near, [&](unsigned, unsigned count) { saved += count - 1; });
	return saved;
}

/* Adds the elements of @v that @user uses to @used, all of them if it is not one that chooses. */
static void add_used(const Value &v, const User &user, SmallSetVector<unsigned, 4> &used)
{
	const unsigned count = cast<FixedVectorType>(v.getType())->getNumElements();
	auto *extract = dyn_cast<ExtractElementInst>(&user);
	auto *which = extract ? dyn_cast<ConstantInt>(extract->getIndexOperand()) : nullptr;
	auto *shuffle = dyn_cast<ShuffleVectorInst>(&user);

	if (which && which->getValue().ult(count)) {
		used.insert(which->getZExtValue());
	} else if (shuffle) {
		for (const int i : shuffle->getShuffleMask())
			if (i >= 0 && shuffle->getOperand((unsigned)i >= count) == &v)
				used.insert((unsigned)i % count);
	} else {
		for (unsigned i = 0; i < count; i++)
			used.insert(i);
	}
}

/* The number of the only element of what @load loads that is used */
static std::optional<unsigned> only_element(const LoadInst &load)
{
	auto *type = dyn_cast<FixedVectorType>(load.getType());
	SmallSetVector<unsigned, 4> used;

	if (!type || !load.isSimple() || type->getScalarSizeInBits() % 8)
		return std::nullopt;
	for (const User *user : load.users())
		add_used(load, *user, used);
	return used.size() == 1 ? std::optional(used[0]) : std::nullopt;
}

/*
 * Loads element @which of the vector alone; for a byte or short the aligned word of the vector that
 * it is in, from an array that begins there, so that lanes share what else the address is made of.
 */
Value *vectoriser::load_element(LoadInst &load, unsigned which) const
{
	IRBuilder<> at(&load);
	Type *type = load.getType()->getScalarType();
	const uint64_t bits = type->getScalarSizeInBits(), offset = which * bits / 8;
	const uint64_t word = alignDown(offset, 4);
	auto *gep = dyn_cast<GetElementPtrInst>(load.getPointerOperand());
	Value *pointer = load.getPointerOperand();
	const bool is_part = bits < 32 && load.getAlign() >= 4 &&
		load.getPointerAddressSpace() != PRIVATE &&
		word + 4 <= layout.getTypeStoreSize(load.getType()).getFixedValue();
	const bool of_array = is_part && gep && gep->getNumIndices() == 1 &&
		shape_of(gep->getPointerOperand()).kind == shape::UNIFORM;

	if (of_array)
		pointer = gep->getPointerOperand();
	pointer = at.CreateInBoundsGEP(at.getInt8Ty(), pointer,
				       at.getInt64(is_part ? word : offset));
	if (of_array)
		pointer = at.CreateGEP(gep->getSourceElementType(), pointer, gep->getOperand(1));
	LoadInst *made = at.CreateAlignedLoad(is_part ? at.getInt32Ty() : type, pointer,
					      commonAlignment(load.getAlign(),
							      is_part ? word : offset));
	made->setAAMetadata(scopes_of(load));
	if (!is_part)
		return made;
	return at.CreateBitCast(at.CreateTrunc(at.CreateLShr(made, 8 * (offset - word)),
					       at.getIntNTy(bits)), type);
}

/*
 * Of vectors that lie anywhere only the element that is used is loaded. Of those that are gathered
 * as one word bytes and shorts are taken out of it, which is less than a word around them takes.
 */
void vectoriser::load_only_elements()
{
	SmallVector<std::pair<LoadInst *, unsigned>> found;
	table t;

	for (Instruction &inst : instructions(item)) {
		auto *load = dyn_cast<LoadInst>(&inst);
		const auto only = load ? only_element(*load) : std::nullopt;

		if (only && shape_of(load->getPointerOperand()).kind == shape::VARYING &&
		    !is_linear(load->getPointerOperand()) && !find_table(*load, &t) &&
		    !(load->getType()->getScalarSizeInBits() < 32 && has_elements(*load) &&
		      can_gather_elements(*load)))
			found.push_back({ load, *only });
	}
	for (auto [load, which] : found) {
		Value *element = load_element(*load, which);

		for (User *user : make_early_inc_range(load->users()))
			if (isa<ExtractElementInst>(user)) {
				user->replaceAllUsesWith(element);
				cast<Instruction>(user)->eraseFromParent();
			}
		if (!load->use_empty())
			load->replaceAllUsesWith(InsertElementInst::Create(
				PoisonValue::get(load->getType()), element,
				ConstantInt::get(Type::getInt64Ty(item.getContext()), which), "",
				load->getIterator()));
		load->eraseFromParent();
	}
}

void vectoriser::group()
{
	if (in_checked_mode(item) || !prepare())
		return;
	take_copies_apart();
	access_analyses all(item, dt, loops);
	ScopedNoAliasAAResult scoped;
	all.aliases.addAAResult(scoped);

	std::vector<near_accesses> found;
	for (BasicBlock &block : item)
		for (near_accesses &near : find_groups(block, all.evolution, all.aliases))
			found.push_back(std::move(near));
	load_places places;
	for (near_accesses &near : found)
		for (const auto &[at, inst] : near.at)
			if (near.is_load())
				places[inst] = { &near, at };
	for (near_accesses &near : found)
		if (!near.at.empty() && !near.is_load())
			merge_copies(near, places);
	for (near_accesses &near : found)
		if (!near.at.empty())
			merge_runs(near);
	load_only_elements();
}

void group_accesses(Function &item, Argument &x, unsigned lanes, TargetMachine &target)
{
	const TargetTransformInfo costs = target.getTargetTransformInfo(item);

	vectoriser(item, x, lanes, costs).group();
}
