// SPDX-License-Identifier: MIT
/*
 * entry.cc - changes a kernel to the signature that the device calls (salvo_kernel_fn)
 *
 * The body moves unchanged into a new function (args, group, item). Its new first
 * block loads each argument and each field of the group once, so that no store of the
 * kernel can alias them. Static local variables
 * get fixed offsets from group->local. Members of a structure argument that the kernel only
 * reads are loaded there, too; else it is copied for each work-item.
 */
#include "salvo_cc.h"
#include "sources.h"

#include <cstddef>

#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/ReplaceConstant.h>

#include "salvo_hw.h"
#include "salvo_kernel.h"

using namespace llvm;

static Function *change_signature(kernel &k)
{
	Function *old = k.function;
	LLVMContext &context = old->getContext();
	Type *pointer = PointerType::get(context, 0);
	FunctionType *type = FunctionType::get(Type::getVoidTy(context),
					       { pointer, pointer, pointer }, false);
	Function *f = Function::Create(type, GlobalValue::ExternalLinkage, "", old->getParent());

	f->setAttributes(AttributeList::get(context, AttributeList::FunctionIndex,
					    AttrBuilder(context,
							old->getAttributes().getFnAttrs())));
	f->removeFnAttr(Attribute::NoRecurse);
	f->setDSOLocal(true);
	f->splice(f->begin(), old);
	f->setSubprogram(old->getSubprogram());
	copy_place(*f, *old);
	old->setSubprogram(nullptr);
	f->takeName(old);
	f->getArg(0)->setName("args");
	f->getArg(1)->setName("group");
	f->getArg(2)->setName("item");
	k.function = f;
	return old;
}

static Value *load_field(IRBuilder<> &b, Type *type, Value *base, uint64_t offset, uint64_t low,
			 uint64_t high, const Twine &name)
{
	Value *address = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), base, offset);
	LoadInst *load = b.CreateLoad(type, address, name);

	if (high) {
		unsigned bits = type->getIntegerBitWidth();
		MDBuilder md(b.getContext());
		load->setMetadata(LLVMContext::MD_range,
				  md.createRange(APInt(bits, low), APInt(bits, high)));
	}
	return load;
}

/* The load of one of the three numbers of a struct salvo_global_offset. */
static Value *load_offset(IRBuilder<> &b, const kernel &k, const group_values &v, unsigned i)
{
	if (!k.global_offset)
		return b.getInt64(0);
	return b.CreateZExt(load_field(b, b.getInt32Ty(), v.args,
				       offsetof(salvo_global_offset, first) + i * 4, 0,
				       SALVO_MAX_ITEMS + 1, "offset"), b.getInt64Ty());
}

static void load_group(IRBuilder<> &b, const kernel &k, group_values &v)
{
	const uint64_t max = SALVO_MAX_ITEMS, max_group = SALVO_MAX_GROUP_ITEMS;

	for (unsigned i = 0; i < 3; i++) {
		auto field = [&](size_t offset, uint64_t low, uint64_t high, const char *name) {
			return load_field(b, b.getInt64Ty(), v.group, offset + i * 8, low, high,
					  name);
		};
		v.global_size[i] = field(offsetof(salvo_group, global_size), 1, max + 1, "gsize");
		v.local_size[i] = field(offsetof(salvo_group, local_size), 1, max_group + 1, "lsize");
		v.num_groups[i] = field(offsetof(salvo_group, num_groups), 1, max + 1, "groups");
		v.group_id[i] = field(offsetof(salvo_group, group_id), 0, max, "group_id");
		v.extent[i] = field(offsetof(salvo_group, extent), 1, max_group + 1, "extent");
		v.first_id[i] = b.CreateMul(v.group_id[i], v.local_size[i], "first_id", true, true);
		v.offset[i] = load_offset(b, k, v, i);
		v.origin[i] = b.CreateAdd(v.first_id[i], v.offset[i], "origin", true, true);
	}
	v.row_size = v.extent[0];
	v.dims = load_field(b, b.getInt32Ty(), v.group, offsetof(salvo_group, dims), 1, 4, "dims");
	v.run = load_field(b, b.getInt32Ty(), v.group, offsetof(salvo_group, run), 1,
			   SALVO_MAX_GROUPS, "run");
	v.rows = load_field(b, b.getInt32Ty(), v.group, offsetof(salvo_group, rows), 0,
			    SALVO_MAX_GROUP_ITEMS + 1, "rows");
	v.barrier = load_field(b, b.getPtrTy(), v.group, offsetof(salvo_group, barrier), 0, 0,
			       "barrier");
	v.local = b.CreateAddrSpaceCast(load_field(b, b.getPtrTy(), v.group,
						   offsetof(salvo_group, local), 0, 0, "local"),
					b.getPtrTy(LOCAL));
}

/**
 * struct struct_uses - What a kernel does with a structure that it gets by value.
 * @fields: Loads from a constant offset.
 * @others: It does more, so that each work-item needs a copy.
 * @written: It may write to it.
 */
struct struct_uses {
	SmallVector<std::pair<LoadInst *, uint64_t>> fields;
	bool others = false;
	bool written = false;
};

/* Adds the uses of @pointer, which is @offset bytes into a structure of @size if that is @fixed. */
static void find_uses(Value &pointer, uint64_t offset, uint64_t size, bool fixed, struct_uses &uses)
{
	for (User *user : pointer.users()) {
		const DataLayout &layout = cast<Instruction>(user)->getDataLayout();

		if (auto *gep = dyn_cast<GetElementPtrInst>(user)) {
			APInt at(64, offset);
			const bool known = fixed && gep->accumulateConstantOffset(layout, at);

			find_uses(*gep, at.getZExtValue(), size, known, uses);
			continue;
		}
		auto *load = dyn_cast<LoadInst>(user);
		if (!load || !load->isSimple()) {
			auto *copy = dyn_cast<MemCpyInst>(user);

			uses.written |= !copy || copy->isVolatile() ||
					copy->getRawDest() == &pointer;
			uses.others = true;
			continue;
		}
		const uint64_t bytes = layout.getTypeStoreSize(load->getType());
		if (fixed && offset < size && bytes <= size - offset)
			uses.fields.push_back({ load, offset });
		else
			uses.others = true;
	}
}

static void erase_users(Value &v)
{
	while (!v.use_empty()) {
		auto *user = cast<Instruction>(v.user_back());

		erase_users(*user);
		user->eraseFromParent();
	}
}

/* Loads each of the fields of the structure at @address once. */
static void replace_fields(IRBuilder<> &b, const struct_uses &uses, Value *address, StringRef name)
{
	DenseMap<std::pair<uint64_t, Type *>, Value *> known;

	for (const auto &[load, offset] : uses.fields) {
		Value *&value = known[{ offset, load->getType() }];

		if (!value) {
			const Align align = commonAlignment(Align(8), offset);

			value = b.CreateAlignedLoad(
				load->getType(),
				b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), address, offset),
				std::min(align, load->getAlign()), name);
		}
		load->replaceAllUsesWith(value);
		load->eraseFromParent();
	}
}

/*
 * Fields that are only read are loaded once for the group, so that they are the same for all
 * work-items to all that follows, as other arguments are. Returns whether a copy of the structure
 * at @address is still needed.
 */
static bool load_struct_fields(IRBuilder<> &b, Argument &arg, Value *address, uint64_t size)
{
	struct_uses uses;

	if (arg.use_empty())
		return arg.isUsedByMetadata();
	find_uses(arg, 0, size, true, uses);
	if (uses.written)
		return true;
	replace_fields(b, uses, address, arg.getName());
	if (uses.others || arg.isUsedByMetadata())
		return true;
	erase_users(arg);
	return false;
}

/*
 * What describes an image is constant and is loaded for the group, too. Functions that are not
 * inlined load it themselves.
 */
static void load_image_fields(IRBuilder<> &b, Argument &arg, Value *address, uint64_t size)
{
	struct_uses uses;

	find_uses(arg, 0, size, true, uses);
	replace_fields(b, uses, address, arg.getName());
}

/* @body is the first block of the old kernel: code there runs for each work-item. */
static Value *load_arg(IRBuilder<> &b, BasicBlock *body, const kernel_arg &a, Argument &arg,
		       const group_values &v)
{
	Value *address = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), v.args, a.offset);

	if (a.kind == SALVO_ARG_LOCAL)
		return b.CreateGEP(b.getInt8Ty(), v.local, b.CreateLoad(b.getInt64Ty(), address));
	if (a.kind == SALVO_ARG_IMAGE) {
		load_image_fields(b, arg, address, a.size);
		return b.CreateAddrSpaceCast(address, arg.getType());
	}
	if (!a.by_reference) {
		Align align = std::min(body->getDataLayout().getABITypeAlign(a.value), Align(8));
		return b.CreateAlignedLoad(a.value, address, align, arg.getName());
	}

	if (!load_struct_fields(b, arg, address, a.size))
		return PoisonValue::get(arg.getType());
	Align align = arg.getParamAlign().valueOrOne();
	AllocaInst *copy = b.CreateAlloca(a.value, nullptr, arg.getName());
	copy->setAlignment(align);
	IRBuilder<> each(body, body->getFirstNonPHIOrDbgOrAlloca());
	each.CreateMemCpy(copy, align, address, std::min(align, Align(8)), a.size);
	return copy;
}

/* Is @constant used in @f, if only by way of other constants? */
static bool is_used_in(const Function &f, const Constant &constant)
{
	return any_of(constant.users(), [&](const User *user) {
		auto *inst = dyn_cast<Instruction>(user);
		auto *other = dyn_cast<Constant>(user);

		return inst ? inst->getFunction() == &f : other && is_used_in(f, *other);
	});
}

/* Calls @place for each static local variable that @f uses, with its offset. Return: all bytes. */
static uint64_t place_local(const Function &f,
			    function_ref<void(const GlobalVariable &, uint64_t)> place)
{
	const DataLayout &layout = f.getDataLayout();
	uint64_t bytes = 0;

	for (const GlobalVariable &g : f.getParent()->globals()) {
		if (g.getAddressSpace() != LOCAL || !is_used_in(f, g))
			continue;
		Align align = std::max(layout.getValueOrABITypeAlignment(g.getAlign(),
									 g.getValueType()),
				       Align(16));
		bytes = alignTo(bytes, align);
		place(g, bytes);
		/* The sum of larger ones could wrap around; it is far above the limit. */
		bytes += std::min<uint64_t>(layout.getTypeAllocSize(g.getValueType()), INT32_MAX);
		bytes = std::min<uint64_t>(bytes, INT32_MAX);
	}
	return alignTo(bytes, Align(16));
}

uint64_t local_bytes(const Function &f)
{
	return place_local(f, [](const GlobalVariable &, uint64_t) {});
}

/* Static local variables get their addresses. */
static void lay_out_local(kernel &k, IRBuilder<> &b, const group_values &v)
{
	SmallVector<Constant *> variables;

	for (GlobalVariable &g : k.function->getParent()->globals())
		if (g.getAddressSpace() == LOCAL)
			variables.push_back(&g);
	convertUsersOfConstantsToInstructions(variables, k.function);

	k.local_bytes = place_local(*k.function, [&](const GlobalVariable &g, uint64_t at) {
		Value *address = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), v.local, at);

		address->setName(g.getName());
		const_cast<GlobalVariable &>(g).replaceUsesWithIf(address, [&](Use &use) {
			auto *inst = dyn_cast<Instruction>(use.getUser());

			return inst && inst->getFunction() == k.function;
		});
	});
}

BasicBlock *build_entry(kernel &k, group_values &v)
{
	Function *old = change_signature(k);
	BasicBlock *body = &k.function->front();
	BasicBlock *entry = BasicBlock::Create(body->getContext(), "entry", k.function, body);
	IRBuilder<> b(entry);

	body->setName("body");
	v.args = k.function->getArg(0);
	v.group = k.function->getArg(1);
	v.item = k.function->getArg(2);
	load_group(b, k, v);
	for (Argument &arg : old->args())
		arg.replaceAllUsesWith(load_arg(b, body, k.args[arg.getArgNo()], arg, v));
	old->eraseFromParent();
	lay_out_local(k, b, v);
	return body;
}

/* Only what is allocated in the entry block belongs to the frame, whose size stack.cc reads. */
void move_variables(BasicBlock &body, BasicBlock &entry)
{
	for (Instruction &inst : make_early_inc_range(body))
		if (isa<AllocaInst>(inst))
			inst.moveBefore(&entry.front());
}
