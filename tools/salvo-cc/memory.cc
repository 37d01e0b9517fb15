// SPDX-License-Identifier: MIT
/*
 * memory.cc - vector loads, stores and shuffles, generated on demand
 *
 * vloadN() and vstoreN(), also of half: one for each element type, number of elements,
 * address space and rounding; each is one load or store that needs no more than the
 * alignment of an element. shuffle() and shuffle2(), and prefetch(), which does nothing.
 */
#include "salvo_cc.h"

using namespace llvm;

struct memory_access {
	bool load = false, half = false, aligned = false;
	unsigned lanes = 1;
	StringRef rounding;
};

/* "vload4", "vstorea_half8_rtz" and so on. */
static bool parse_access(StringRef name, memory_access &a)
{
	a.load = name.consume_front("vload");
	if (!a.load && !name.consume_front("vstore"))
		return false;
	a.aligned = name.consume_front("a_");
	a.half = (a.aligned || name.consume_front("_")) && name.consume_front("half");
	if (name.consumeInteger(10, a.lanes))
		a.lanes = 1;
	a.rounding = name;
	return a.half || (!a.aligned && a.lanes > 1 && name.empty());
}

static void build_access(IRBuilder<> &b, Function &f, const memory_access &a)
{
	Type *value = a.load ? f.getReturnType() : f.getArg(0)->getType();
	Value *index = f.getArg(a.load ? 0 : 1), *pointer = f.getArg(a.load ? 1 : 2);
	Type *type = a.half ? value->getWithNewType(b.getHalfTy()) : value;
	Type *element = type->getScalarType();
	/* Only the aligned forms have the stride of four elements. */
	unsigned stride = a.aligned && a.lanes == 3 ? 4 : a.lanes;
	Align align(element->getScalarSizeInBits() / 8);

	Value *address = b.CreateGEP(element, pointer, b.CreateMul(index, b.getInt64(stride)));
	if (a.load) {
		Value *loaded = b.CreateAlignedLoad(type, address, align);
		b.CreateRet(a.half ? b.CreateFPExt(loaded, value) : loaded);
	} else {
		Value *stored = f.getArg(0);
		b.CreateAlignedStore(a.half ? round_to_half(b, stored, a.rounding) : stored,
				     address, align);
		b.CreateRetVoid();
	}
}

/* Each element of the mask chooses one of the arguments' elements, modulo their number. */
static bool build_shuffle(IRBuilder<> &b, Function &f, unsigned sources)
{
	auto *type = dyn_cast<FixedVectorType>(f.getReturnType());
	auto *mask_type = dyn_cast<FixedVectorType>(f.getArg(sources)->getType());
	auto *from_type = dyn_cast<FixedVectorType>(f.getArg(0)->getType());

	if (!type || !mask_type || !from_type)
		return false;
	Value *from = f.getArg(0), *mask = f.getArg(sources);
	unsigned count = from_type->getNumElements() * sources;
	if (sources == 2) {
		SmallVector<int> all;
		for (unsigned i = 0; i < count; i++)
			all.push_back(i);
		from = b.CreateShuffleVector(from, f.getArg(1), all);
	}
	mask = b.CreateAnd(mask, ConstantInt::get(mask_type, count - 1));
	Value *result = PoisonValue::get(type);
	for (unsigned i = 0; i < type->getNumElements(); i++)
		result = b.CreateInsertElement(
			result, b.CreateExtractElement(from, b.CreateExtractElement(mask, i)), i);
	b.CreateRet(result);
	return true;
}

/* Defines @f if it is one: _Z<length><name><argument types>. */
bool define_memory_access(Function &f)
{
	StringRef name = f.getName();
	unsigned length;
	memory_access a;

	if (!name.consume_front("_Z") || name.consumeInteger(10, length) ||
	    length > name.size())
		return false;
	name = name.take_front(length);
	bool is_access = parse_access(name, a) && f.arg_size() == (a.load ? 2 : 3);
	unsigned sources = name == "shuffle" ? 1 : name == "shuffle2" ? 2 : 0;
	if (!is_access && name != "prefetch" && (!sources || f.arg_size() != sources + 1))
		return false;

	BasicBlock *block = BasicBlock::Create(f.getContext(), "", &f);
	IRBuilder<> b(block);
	if (is_access) {
		build_access(b, f, a);
	} else if (!sources) {
		b.CreateRetVoid();
	} else if (!build_shuffle(b, f, sources)) {
		f.deleteBody();
		return false;
	}
	return true;
}
