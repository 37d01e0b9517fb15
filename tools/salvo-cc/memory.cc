// SPDX-License-Identifier: MIT
/*
 * memory.cc - vloadN() and vstoreN() made to measure
 *
 * One for each element type, number of elements and address space; each is one
 * load or store that needs no more than the alignment of an element.
 */
#include "salvo_cc.h"

using namespace llvm;

/* Defines @f if it is one: _Z<length>vload<n>m<pointer>, _Z<length>vstore<n><vector>m<pointer>. */
bool define_memory_access(Function &f)
{
	StringRef name = f.getName();
	unsigned length;

	if (!name.consume_front("_Z") || name.consumeInteger(10, length) ||
	    length > name.size())
		return false;
	name = name.take_front(length);
	bool load = name.consume_front("vload");
	if (!load && !name.consume_front("vstore"))
		return false;
	if (name != "2" && name != "3" && name != "4" && name != "8" && name != "16")
		return false;

	BasicBlock *block = BasicBlock::Create(f.getContext(), "", &f);
	IRBuilder<> b(block);
	auto *type = cast<FixedVectorType>(load ? f.getReturnType() : f.getArg(0)->getType());
	Value *index = f.getArg(load ? 0 : 1), *pointer = f.getArg(load ? 1 : 2);
	Type *element = type->getElementType();
	Align align(element->getScalarSizeInBits() / 8);

	Value *first = b.CreateMul(index, b.getInt64(type->getNumElements()));
	Value *address = b.CreateGEP(element, pointer, first);
	if (load) {
		b.CreateRet(b.CreateAlignedLoad(type, address, align));
	} else {
		b.CreateAlignedStore(f.getArg(0), address, align);
		b.CreateRetVoid();
	}
	return true;
}
