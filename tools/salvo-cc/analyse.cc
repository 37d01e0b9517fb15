// SPDX-License-Identifier: MIT
/*
 * analyse.cc - what a kernel needs, found before its launch (M7 of CN102576314)
 *
 * Lays out the argument block and finds how each pointer argument is accessed:
 * every use of it is followed to the load, store or atomic operation at the end.
 * Where the pointer escapes (stored, converted to an integer) the "const" of
 * the source decides. A kernel has barriers if a call of one is left in it.
 */
#include "error.h"
#include "scratch.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Support/MathExtras.h>

#include "salvo_hw.h"
#include "salvo_kernel.h"

using namespace llvm;

static const unsigned READ = 1, WRITE = 2, UNKNOWN = 4;

bool is_barrier(const CallInst &call)
{
	const Function *f = call.getCalledFunction();

	return f && (f->getName() == "_Z7barrierj" ||
		     f->getName().starts_with("_Z18work_group_barrierj"));
}

void create_barrier(IRBuilder<> &b)
{
	auto *type = FunctionType::get(b.getVoidTy(), { b.getInt32Ty() }, false);
	Module &m = *b.GetInsertBlock()->getModule();

	b.CreateCall(m.getOrInsertFunction("_Z7barrierj", type), { b.getInt32(3) });
}

static unsigned find_access(const Value *pointer, SmallPtrSetImpl<const Value *> &seen);

static unsigned access_by_call(const CallBase &call, const Use &use,
			       SmallPtrSetImpl<const Value *> &seen)
{
	const Function *callee = call.getCalledFunction();

	if (callee && !callee->isDeclaration() && call.isArgOperand(&use))
		return find_access(callee->getArg(call.getArgOperandNo(&use)), seen);
	if (auto *transfer = dyn_cast<MemTransferInst>(&call))
		return use.get() == transfer->getRawDest() ?
			(use.get() == transfer->getRawSource() ? READ | WRITE : WRITE) : READ;
	if (isa<MemSetInst>(call))
		return WRITE;
	if (isa<LifetimeIntrinsic>(call) || isa<AssumeInst>(call))
		return 0;
	return UNKNOWN;
}

static unsigned find_access(const Value *pointer, SmallPtrSetImpl<const Value *> &seen)
{
	unsigned found = 0;

	if (!seen.insert(pointer).second)
		return 0;
	for (const Use &use : pointer->uses()) {
		const User *user = use.getUser();

		if (isa<LoadInst>(user))
			found |= READ;
		else if (auto *store = dyn_cast<StoreInst>(user))
			found |= use.get() == store->getValueOperand() ? UNKNOWN : WRITE;
		else if (isa<AtomicRMWInst>(user) || isa<AtomicCmpXchgInst>(user))
			found |= use.getOperandNo() == 0 ? READ | WRITE : UNKNOWN;
		else if (isa<GetElementPtrInst>(user) || isa<AddrSpaceCastInst>(user) ||
			 isa<PHINode>(user) || isa<SelectInst>(user) || isa<FreezeInst>(user))
			found |= find_access(user, seen);
		else if (auto *call = dyn_cast<CallBase>(user))
			found |= access_by_call(*call, use, seen);
		else if (!isa<ICmpInst>(user))
			found |= UNKNOWN;
	}
	return found;
}

static StringRef arg_string(const Function &f, StringRef kind, unsigned i)
{
	const MDNode *node = f.getMetadata(kind);

	return node && i < node->getNumOperands() ?
		cast<MDString>(node->getOperand(i))->getString() : "";
}

static unsigned arg_space(const Argument &arg)
{
	auto *pointer = dyn_cast<PointerType>(arg.getType());

	return pointer ? pointer->getAddressSpace() : +PRIVATE;
}

static uint32_t arg_access(const Argument &arg, bool is_const)
{
	SmallPtrSet<const Value *, 16> seen;
	unsigned found = find_access(&arg, seen);

	if (found & UNKNOWN)
		return is_const ? READ : READ | WRITE;
	return found ? found : READ;
}

/* An image's qualifier is its access. */
/* "image2d_t" and its like, but not a structure of that beginning or a pointer to one. */
static bool is_image(StringRef type)
{
	return (type.starts_with("image1d_") || type.starts_with("image2d_") ||
		type.starts_with("image3d_")) && type.ends_with("_t");
}

static unsigned image_access(StringRef qualifier)
{
	return qualifier == "write_only" ? WRITE : qualifier == "read_write" ? READ | WRITE : READ;
}

static bool analyse_opaque(const Function &f, unsigned i, kernel_arg &a)
{
	LLVMContext &context = f.getContext();
	StringRef type = arg_string(f, "kernel_arg_base_type", i);

	if (type == "sampler_t") {
		a.kind = SALVO_ARG_SAMPLER;
	} else if (is_image(type)) {
		a.kind = SALVO_ARG_IMAGE;
		a.access = image_access(arg_string(f, "kernel_arg_access_qual", i));
		a.value = ArrayType::get(Type::getInt64Ty(context), sizeof(salvo_image_view) / 8);
	} else {
		return false;
	}
	return true;
}

static uint16_t read_qualifiers(StringRef names)
{
	return (names.contains("const") ? SALVO_ARG_IS_CONST : 0) |
	       (names.contains("restrict") ? SALVO_ARG_IS_RESTRICT : 0) |
	       (names.contains("volatile") ? SALVO_ARG_IS_VOLATILE : 0);
}

static bool too_many_bytes(const kernel &k)
{
	print_error_in(*k.function, "kernel '" + k.function->getName() + "': more than " +
		       Twine(SALVO_MAX_DISPATCH_ARGUMENT_BYTES) + " bytes of arguments");
	return false;
}

static bool analyse_arg(kernel &k, const Argument &arg, const DataLayout &layout)
{
	const Function &f = *arg.getParent();
	unsigned i = arg.getArgNo(), space = arg_space(arg);
	kernel_arg a;

	a.name = arg_string(f, "kernel_arg_name", i);
	a.type = arg_string(f, "kernel_arg_type", i);
	a.qualifiers = read_qualifiers(arg_string(f, "kernel_arg_type_qual", i));
	a.value = arg.getType();
	bool opaque = analyse_opaque(f, i, a);
	if (arg.hasByValAttr()) {
		a.by_reference = true;
		a.value = arg.getParamByValType();
	} else if (opaque) {
		space = PRIVATE;
	} else if (space == GLOBAL || space == CONSTANT) {
		a.kind = space == GLOBAL ? SALVO_ARG_GLOBAL : SALVO_ARG_CONSTANT;
		StringRef qualifiers = arg_string(f, "kernel_arg_type_qual", i);
		a.access = arg_access(arg, space == CONSTANT || qualifiers.contains("const"));
	} else if (space == LOCAL) {
		a.kind = SALVO_ARG_LOCAL;
		a.access = READ | WRITE;
	} else if ((!arg.getType()->isIntOrIntVectorTy() && !arg.getType()->isFPOrFPVectorTy()) ||
		   arg_string(f, "kernel_arg_type_qual", i).contains("pipe")) {
		print_error_in(arg, "kernel '" + f.getName() + "': argument '" + a.name +
			       "' of type '" + a.type + "' is not supported");
		return false;
	}

	Align align = a.by_reference && arg.getParamAlign() ? *arg.getParamAlign() :
		      layout.getABITypeAlign(a.value);
	a.size = layout.getTypeAllocSize(a.value);
	a.offset = alignTo(k.args_bytes, std::min(align, Align(16)));
	k.args_bytes = a.offset + a.size;
	if (k.args_bytes > SALVO_MAX_DISPATCH_ARGUMENT_BYTES)
		return too_many_bytes(k);
	k.args.push_back(std::move(a));
	return true;
}

static void read_sizes(const Function &f, StringRef kind, uint32_t sizes[3])
{
	if (const MDNode *node = f.getMetadata(kind))
		for (unsigned i = 0; i < 3; i++)
			sizes[i] = mdconst::extract<ConstantInt>(node->getOperand(i))
					   ->getZExtValue();
}

/* The type in a vec_type_hint, as OpenCL C writes it. */
static std::string hinted_type(const Function &f)
{
	const MDNode *node = f.getMetadata("vec_type_hint");

	if (!node)
		return "";
	Type *type = cast<ValueAsMetadata>(node->getOperand(0))->getType();
	Type *element = type->getScalarType();
	std::string name;
	if (element->isIntegerTy()) {
		const bool is_signed = mdconst::extract<ConstantInt>(node->getOperand(1))->isOne();
		static const char *const names[] = { "char", "short", "int", "long" };
		name = is_signed ? "" : "u";
		name += names[Log2_32(std::max(element->getIntegerBitWidth() / 8, 1u))];
	} else {
		name = element->isFloatTy() ? "float" : element->isDoubleTy() ? "double" : "half";
	}
	if (auto *vector = dyn_cast<FixedVectorType>(type))
		name += std::to_string(vector->getNumElements());
	return name;
}

static const char checked[] = "salvo-checked", fast_gathers[] = "salvo-fast-gathers";

bool in_checked_mode(const Function &item)
{
	return item.hasFnAttribute(checked);
}

bool has_fast_gathers(const Function &item)
{
	return item.hasFnAttribute(fast_gathers);
}

/* Room for the sizes of buffers (struct kernel, sizes_at). */
static void place_sizes(kernel &k)
{
	uint32_t count = 0;

	for (const kernel_arg &a : k.args)
		count += a.kind == SALVO_ARG_GLOBAL || a.kind == SALVO_ARG_CONSTANT ||
			 a.kind == SALVO_ARG_LOCAL;
	k.checked = count;
	k.sizes_at = alignTo(k.args_bytes, 8);
	if (!count)
		return;
	k.args_bytes = k.sizes_at + 8 * count;
	k.function->addFnAttr(checked);
}

static bool analyse_kernel(kernel &k, const options &opts)
{
	Function &f = *k.function;
	const uint32_t *group = k.required_group;

	if (opts.sapphire_rapids)
		f.addFnAttr(fast_gathers);
	k.global_offset = opts.global_offset;
	k.args_bytes = k.global_offset ? sizeof(salvo_global_offset) : 0;
	k.prints = f.hasFnAttribute("salvo-prints");
	for (const Argument &arg : f.args()) {
		/* The address of the print buffer is the last argument. */
		if (opts.checked && k.prints && arg.getArgNo() + 1 == f.arg_size())
			place_sizes(k);
		if (!analyse_arg(k, arg, f.getDataLayout()))
			return false;
	}
	if (opts.checked && !k.prints)
		place_sizes(k);
	if (k.args_bytes > SALVO_MAX_DISPATCH_ARGUMENT_BYTES)
		return too_many_bytes(k);
	read_sizes(f, "reqd_work_group_size", k.required_group);
	read_sizes(f, "work_group_size_hint", k.hinted_group);
	k.hinted_type = hinted_type(f);
	/* Each is at most 2^32 - 1, two of them fit 64 bits. */
	const uint64_t most = has_sub_groups(f) ? SALVO_MAX_SUB_GROUP_ITEMS :
						  SALVO_MAX_GROUP_ITEMS;
	const uint64_t plane = (uint64_t)group[0] * group[1];
	if (plane > most || plane * group[2] > most) {
		print_error_in(f, "kernel '" + f.getName() + "': a work-group of more than " +
			       Twine(most) + " work-items" +
			       (has_sub_groups(f) ? " in a kernel with sub-groups" : ""));
		return false;
	}
	k.barriers = opts.fibers;
	for (const Instruction &inst : instructions(f))
		if (auto *call = dyn_cast<CallInst>(&inst))
			k.barriers |= is_barrier(*call);
	k.contends = opts.opt_level && contends(f);
	return true;
}

bool analyse(Module &m, const options &opts, std::vector<kernel> &kernels)
{
	for (Function &f : m) {
		if (f.isDeclaration() || f.getCallingConv() != CallingConv::SPIR_KERNEL)
			continue;
		kernels.push_back({ .function = &f, .name = f.getName().str(), .args = {},
				    .hinted_type = {} });
		if (!analyse_kernel(kernels.back(), opts))
			return false;
	}
	return true;
}
