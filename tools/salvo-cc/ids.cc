// SPDX-License-Identifier: MIT
/*
 * ids.cc - get_global_id() and the other work-item functions
 *
 * Each call becomes a call of a placeholder, one for each function and dimension, without
 * memory effects and with a range attribute (SALVO_MAX_ITEMS, SALVO_MAX_GROUP_ITEMS). By
 * that range simplify() knows that "int x = get_global_id(0)" does not truncate, so that
 * out[x] is found to be contiguous. Afterwards the placeholders are replaced by values of the
 * entry and of the loops.
 */
#include "generic.h"

#include <llvm/ADT/StringSwitch.h>
#include <llvm/IR/ConstantRange.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include "salvo_hw.h"

using namespace llvm;

static const char prefix[] = "salvo.";

/* What each built-in function of one dimension returns. */
static const struct id_function {
	const char *mangled, *name;
	uint64_t low, high;		/* low <= value < high */
	unsigned beyond;		/* value for a dimension beyond the third */
} id_functions[] = {
	{ "_Z13get_global_idj", "global_id", 0, SALVO_MAX_ITEMS, 0 },
	{ "_Z12get_local_idj", "local_id", 0, SALVO_MAX_GROUP_ITEMS, 0 },
	{ "_Z12get_group_idj", "group_id", 0, SALVO_MAX_ITEMS, 0 },
	{ "_Z15get_global_sizej", "global_size", 1, SALVO_MAX_ITEMS + 1, 1 },
	{ "_Z14get_local_sizej", "extent", 1, SALVO_MAX_GROUP_ITEMS + 1, 1 },
	{ "_Z23get_enqueued_local_sizej", "local_size", 1, SALVO_MAX_GROUP_ITEMS + 1, 1 },
	{ "_Z14get_num_groupsj", "num_groups", 1, SALVO_MAX_ITEMS + 1, 1 },
	{ "_Z17get_global_offsetj", "global_offset", 0, SALVO_MAX_ITEMS + 1, 0 },
	/* Of a row of a strip: for what the compiler adds */
	{ "", "row_id", 0, SALVO_MAX_GROUP_ITEMS, 0 },
	{ "", "row_size", 1, SALVO_MAX_GROUP_ITEMS + 1, 1 },
};

bool is_placeholder(const Function &f)
{
	return f.getName().starts_with(prefix);
}

bool is_placeholder_of(const Function &f, StringRef id)
{
	StringRef name = f.getName();

	return name.consume_front(prefix) && name == id;
}

static Value *placeholder(IRBuilder<> &b, Type *type, const Twine &name, uint64_t low,
			  uint64_t high)
{
	Module *m = b.GetInsertBlock()->getModule();
	LLVMContext &context = m->getContext();
	std::string full = (prefix + name).str();
	Function *f = m->getFunction(full);

	if (!f) {
		f = Function::Create(FunctionType::get(type, false), GlobalValue::ExternalLinkage,
				     full, m);
		f->setMemoryEffects(MemoryEffects::none());
		f->addFnAttr(Attribute::NoUnwind);
		f->addFnAttr(Attribute::WillReturn);
		f->addFnAttr(Attribute::Speculatable);
		f->addFnAttr(Attribute::NoSync);
		f->addFnAttr(Attribute::NoFree);
		unsigned bits = type->getIntegerBitWidth();
		f->addRetAttr(Attribute::get(context, Attribute::Range,
				ConstantRange(APInt(bits, low), APInt(bits, high))));
	}
	return b.CreateCall(f);
}

Value *work_item_id(IRBuilder<> &b, StringRef id)
{
	for (const id_function &known : id_functions) {
		StringRef rest = id;

		if (rest.consume_front(known.name) && rest.starts_with("."))
			return placeholder(b, b.getInt64Ty(), id, known.low, known.high);
	}
	llvm_unreachable("no such id");
}

/* The address of the work-group's local memory */
Value *local_memory(IRBuilder<> &b)
{
	return placeholder(b, b.getInt64Ty(), "local", 0, UINT64_MAX);
}

/* With an offset the range of a global id is twice as large. */
static Value *one_dimension(IRBuilder<> &b, const id_function &id, unsigned dim,
			    const options &opts)
{
	const bool further = opts.global_offset && &id == &id_functions[0];

	return placeholder(b, b.getInt64Ty(), Twine(id.name) + "." + Twine(dim), id.low,
			   further ? 2 * id.high : id.high);
}

static Value *lower_call(CallInst *call, const id_function &id, const options &opts)
{
	IRBuilder<> b(call);
	Value *dim = call->getArgOperand(0);

	if (auto *known = dyn_cast<ConstantInt>(dim)) {
		if (known->getZExtValue() > 2)
			return b.getInt64(id.beyond);
		return one_dimension(b, id, known->getZExtValue(), opts);
	}
	Value *result = b.getInt64(id.beyond);
	for (unsigned i = 0; i < 3; i++)
		result = b.CreateSelect(b.CreateICmpEQ(dim, b.getInt32(i)),
					one_dimension(b, id, i, opts), result);
	return result;
}

/* Row-major number of the work-item in a box, whose first one has the id @from if not 0. */
static Value *linear_id(IRBuilder<> &b, const id_function &id, const id_function *from,
			const id_function &size, const options &opts)
{
	auto place = [&](unsigned dim) {
		Value *at = one_dimension(b, id, dim, opts);
		return from ? b.CreateSub(at, one_dimension(b, *from, dim, opts)) : at;
	};
	Value *x = place(0), *y = place(1), *z = place(2);
	Value *row = b.CreateAdd(b.CreateMul(z, one_dimension(b, size, 1, opts)), y);

	return b.CreateAdd(b.CreateMul(row, one_dimension(b, size, 0, opts)), x);
}

static Value *lower_other(CallInst *call, StringRef name, const options &opts)
{
	IRBuilder<> b(call);

	if (name == "_Z12get_work_dimv")
		return placeholder(b, b.getInt32Ty(), "dims", 1, 4);
	if (name == "_Z20get_global_linear_idv")
		return linear_id(b, id_functions[0], &id_functions[7], id_functions[3], opts);
	if (name == "_Z19get_local_linear_idv")
		return linear_id(b, id_functions[1], nullptr, id_functions[4], opts);
	return nullptr;
}

void lower_ids(Module &m, const options &opts)
{
	SmallVector<CallInst *> calls;

	for (Function &f : m)
		for (Instruction &inst : instructions(f))
			if (auto *call = dyn_cast<CallInst>(&inst))
				if (call->getCalledFunction())
					calls.push_back(call);

	for (CallInst *call : calls) {
		StringRef name = call->getCalledFunction()->getName();
		Value *result = lower_other(call, name, opts);

		for (const id_function &id : id_functions)
			if (name == id.mangled)
				result = lower_call(call, id, opts);
		if (!result)
			continue;
		call->replaceAllUsesWith(result);
		call->eraseFromParent();
	}
}

/*
 * A global id is the group's first id plus the local one; no step of it overflows (nuw, nsw).
 */
static Value *id_value(CallInst *call, StringRef name, const group_values &v,
		       Value *const local_id[3])
{
	if (name == "dims")
		return v.dims;
	if (name == "local") {
		IRBuilder<> b(call);
		return b.CreatePtrToInt(v.local, call->getType());
	}

	unsigned dim = name.back() - '0';
	name = name.drop_back(2);
	if (name == "global_id") {
		IRBuilder<> b(call);
		return b.CreateAdd(v.origin[dim], local_id[dim], "global_id", true, true);
	}
	return StringSwitch<Value *>(name)
		.Case("local_id", local_id[dim])
		.Case("row_id", local_id[dim])
		.Case("row_size", v.row_size)
		.Case("group_id", v.group_id[dim])
		.Case("global_size", v.global_size[dim])
		.Case("extent", v.extent[dim])
		.Case("local_size", v.local_size[dim])
		.Case("num_groups", v.num_groups[dim])
		.Case("global_offset", v.offset[dim]);
}

void replace_ids(Function &f, const group_values &v, Value *const local_id[3])
{
	SmallVector<CallInst *> calls;

	for (Instruction &inst : instructions(f))
		if (auto *call = dyn_cast<CallInst>(&inst))
			if (call->getCalledFunction() && is_placeholder(*call->getCalledFunction()))
				calls.push_back(call);

	for (CallInst *call : calls) {
		StringRef name = call->getCalledFunction()->getName().drop_front(strlen(prefix));

		call->replaceAllUsesWith(id_value(call, name, v, local_id));
		call->eraseFromParent();
	}
}
