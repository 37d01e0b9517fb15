// SPDX-License-Identifier: MIT
/*
 * vector_calls.cc - functions that stay functions, of all lanes
 *
 * Many copies of a function of some size take long to compile: LLVM's time grows with the square of
 * a kernel's length, up to a minute for 250 calls of tgamma(). If they would have too many
 * instructions, and it only computes a result from its arguments, calls of it stay, and lanes call
 * a function of all lanes:
 *
 *	b[x] = pow(a[x], v)	b[x..] = pow.lanes16(a[x..], v.., mask)
 *
 * The vectoriser declares it. Once the kernels are built it is defined: by the vectoriser, from a
 * work-item that calls the function, or, if that gains nothing, by a loop over the active lanes.
 * All arguments are in registers, and so is a result that fits.
 *
 * Functions that sample images read memory, too. There is one for each sampler that is a constant.
 */
#include "places.h"
#include "rows.h"
#include "vectoriser.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/Cloning.h>

using namespace llvm;

/*
 * Instructions that all copies of a function may bring into a kernel: of the library's, and of
 * those of the source, whose arguments often are constants that make much of them vanish.
 */
static const uint64_t most_copied = 3000, most_copied_source = 16000;

/* All copies of the library's together, for which the limit of each is lowered down to the least */
static const uint64_t most_library = 8000, least_copied = 300;

/* A function of the library from which on a second copy gains nothing */
static const uint64_t large_function = 400;

/* A function up to which a call is not shorter than a copy */
static const uint64_t small_function = 40;

/* Functions of the library that sample an image (image.cl); outlines are never inlined. */
static const char sampling[] = "salvo_sample", sampling_outline[] = "salvo_outline_sample";

/* What a call of an outline by one lane after the other takes */
static const uint64_t outline_call = 60;

/* Of functions that lanes call: what a call costs, and how many bits its numbers have */
static const char call_cost[] = "salvo-call-cost", call_bits[] = "salvo-call-bits";

/* Of the function of all lanes: the name of that of one */
static const char one_lane_form[] = "salvo-call-of";

/* Of functions of the library */
static const char of_library[] = "salvo-library";

void mark_library_function(Function &f)
{
	f.addFnAttr(of_library);
}

bool is_of_library(const Function &f)
{
	return f.hasFnAttribute(of_library);
}

static bool is_sampling(const Function &f)
{
	return is_of_library(f) && (f.getName().starts_with(sampling) ||
				    f.getName().starts_with(sampling_outline));
}

bool is_vector_function(const Function &f)
{
	return f.hasFnAttribute(call_cost);
}

bool is_vector_call(const Instruction &inst)
{
	auto *call = dyn_cast<CallInst>(&inst);
	const Function *callee = call ? call->getCalledFunction() : nullptr;

	return callee && is_vector_function(*callee);
}

/* Except for those that sample: rows of few pixels gain more than their functions cost. */
bool has_vector_calls(const Function &f)
{
	return any_of(instructions(f), [](const Instruction &inst) {
		return is_vector_call(inst) &&
		       !is_sampling(*cast<CallInst>(inst).getCalledFunction());
	});
}

static uint64_t number_of(const Instruction &call, const char *attribute)
{
	uint64_t n = 0;

	cast<CallInst>(call).getCalledFunction()->getFnAttribute(attribute).getValueAsString()
		.getAsInteger(10, n);
	return n;
}

double vector_call_cost(const Instruction &call)
{
	return number_of(call, call_cost);
}

Type *vector_call_type(const Instruction &call)
{
	return IntegerType::get(call.getContext(), number_of(call, call_bits));
}

namespace {

/* What is known of a function and those that it calls */
struct call_body {
	uint64_t size = 0;
	uint64_t own = 0;	/* without those that it calls */
	unsigned bits = 8;	/* of its widest number */
	/* It only accesses private memory, of its own or of an argument, and constants. */
	bool computes = true;
};

/* Chooses functions whose calls stay. */
class call_chooser {
public:
	void choose(Function &kernel);

private:
	const call_body &body_of(Function &f);
	bool is_chosen(Function &f, uint64_t copies, uint64_t most);
	uint64_t choose(ArrayRef<Function *> order, uint64_t most);

	DenseMap<Function *, call_body> bodies;
};

} /* namespace */

static Function *callee_of(const Instruction &inst)
{
	auto *call = dyn_cast<CallBase>(&inst);
	Function *callee = call ? call->getCalledFunction() : nullptr;

	return callee && !callee->isIntrinsic() ? callee : nullptr;
}

static bool is_private(const Value *pointer)
{
	const Value *object = getUnderlyingObject(pointer, 0);
	auto *table = dyn_cast<GlobalVariable>(object);

	if (table)
		return table->isConstant() && table->hasInitializer();
	return (isa<AllocaInst>(object) || isa<Argument>(object)) &&
	       object->getType()->getPointerAddressSpace() == PRIVATE;
}

static bool only_computes(const Instruction &inst)
{
	if (const Value *pointer = getLoadStorePointerOperand(&inst))
		return !inst.isAtomic() && !inst.isVolatile() && is_private(pointer);
	if (auto *call = dyn_cast<CallBase>(&inst))
		return call->getCalledFunction() &&
		       (!call->getCalledFunction()->isIntrinsic() ||
			inst.isLifetimeStartOrEnd() || isa<AssumeInst>(inst) ||
			isa<DbgInfoIntrinsic>(inst) || call->doesNotAccessMemory());
	return !inst.mayReadOrWriteMemory();
}

const call_body &call_chooser::body_of(Function &f)
{
	auto found = bodies.find(&f);
	call_body result;

	if (found != bodies.end())
		return found->second;
	result.computes = !f.isDeclaration() || is_target_query(f);
	for (Instruction &inst : instructions(f)) {
		Function *callee = callee_of(inst);

		if (!inst.getType()->isVoidTy())
			result.bits = std::max(result.bits, inst.getType()->getScalarSizeInBits());
		result.computes = result.computes && only_computes(inst);
		result.own += callee && is_outline(*callee) ? outline_call : 1;
		if (!callee)
			continue;
		const call_body inner = body_of(*callee);
		result.size += is_outline(*callee) ? 0 : inner.size;
		result.bits = std::max(result.bits, inner.bits);
		result.computes = result.computes && inner.computes;
	}
	result.size += result.own;
	return bodies[&f] = result;
}

/* Lanes of it are a vector in which a lane has as many bytes as in memory. */
static bool is_passed(const Type *type)
{
	auto *vector = dyn_cast<FixedVectorType>(type);
	const unsigned bits = type->getScalarSizeInBits();

	return (type->isIntOrIntVectorTy() || type->getScalarType()->isFloatTy() ||
		type->getScalarType()->isDoubleTy()) && bits >= 8 && isPowerOf2_32(bits) &&
	       (!vector || isPowerOf2_32(vector->getNumElements()));
}

static bool can_be_vector_function(const Function &f)
{
	return is_passed(f.getReturnType()) && !f.isVarArg() && !is_outline(f) &&
	       all_of(f.args(), [](const Argument &arg) { return is_passed(arg.getType()); });
}

bool call_chooser::is_chosen(Function &f, uint64_t copies, uint64_t most)
{
	const call_body body = body_of(f);

	if (is_sampling(f))
		return copies && (is_outline(f) || copies * body.size > most);
	if (copies < 2 || body.size <= small_function || !body.computes ||
	    !can_be_vector_function(f))
		return false;
	if (!is_of_library(f))
		return copies * body.size > most_copied_source;
	return copies * body.size > most || body.size > large_function;
}

/* Return: instructions of the library that are left in the kernel, whose functions are in @order */
uint64_t call_chooser::choose(ArrayRef<Function *> order, uint64_t most)
{
	DenseMap<Function *, uint64_t> copies;
	uint64_t left = 0;

	copies[order.back()] = 1;
	for (Function *f : reverse(order)) {
		const uint64_t all = copies[f];

		if (is_chosen(*f, all, most)) {
			f->addFnAttr(call_cost, std::to_string(body_of(*f).size));
			f->addFnAttr(call_bits, std::to_string(body_of(*f).bits));
		}
		const uint64_t each = is_vector_function(*f) || is_outline(*f) ? 1 : all;
		if (is_of_library(*f) && !is_outline(*f))
			left += each * body_of(*f).own;
		for (Instruction &inst : instructions(*f))
			if (Function *callee = callee_of(inst))
				copies[callee] += each;
	}
	return left;
}

void call_chooser::choose(Function &kernel)
{
	SmallSetVector<Function *, 16> order;
	uint64_t most = most_copied;

	add_callees_first(kernel, order);
	while (choose(order.getArrayRef(), most) > most_library && most > least_copied)
		most /= 2;
}

void choose_vector_functions(ArrayRef<Function *> kernels)
{
	call_chooser chooser;

	for (Function *kernel : kernels)
		chooser.choose(*kernel);
}

/* Has @call call a copy of the function that knows those of its arguments that are constants. */
static void call_for_constants(CallInst &call)
{
	Function &f = *call.getCalledFunction();
	std::string name = f.getName().str();
	SmallVector<Value *> args;
	ValueToValueMapTy constants;

	for (Argument &arg : f.args()) {
		Value *value = call.getArgOperand(arg.getArgNo());

		if (auto *constant = dyn_cast<ConstantInt>(value)) {
			constants[&arg] = value;
			name += "." + std::to_string(constant->getZExtValue());
		} else {
			args.push_back(value);
			name += ".x";
		}
	}
	if (constants.empty())
		return;
	Function *copy = f.getParent()->getFunction(name);
	if (!copy) {
		copy = CloneFunction(&f, constants);
		copy->setName(name);
	}
	IRBuilder<> b(&call);
	CallInst *made = b.CreateCall(copy, args);
	made->setCallingConv(call.getCallingConv());
	made->setDoesNotThrow();
	call.replaceAllUsesWith(made);
	call.eraseFromParent();
}

void split_sampling_functions(Module &m)
{
	SmallVector<CallInst *> calls;

	for (Function &f : m)
		if (is_sampling(f) && is_vector_function(f))
			for (User *user : f.users())
				if (auto *call = dyn_cast<CallInst>(user))
					calls.push_back(call);
	for (CallInst *call : calls)
		call_for_constants(*call);
}

/* What @to, which is @f or made of it, may do to memory */
static void set_memory_effects(Function &to, const Function &f)
{
	if (is_sampling(f))
		to.setOnlyReadsMemory();
	else
		to.setDoesNotAccessMemory();
}

void keep_vector_function(Function &f)
{
	f.addFnAttr(Attribute::NoInline);
	f.removeFnAttr(Attribute::Convergent);
	f.setDoesNotThrow();
	set_memory_effects(f, f);
	if (is_sampling(f) || !has_loops(f))
		f.setWillReturn();
	for (User *user : f.users())
		if (auto *call = dyn_cast<CallBase>(user))
			call->removeFnAttr(Attribute::Convergent);
}

/*
 * A call for all lanes; where only some are active it is of a mask. A function that samples gets
 * what is the same in all lanes as one value: then it knows that they sample one image.
 */
Value *vectoriser::emit_vector_call(CallInst &call)
{
	Function &f = *call.getCalledFunction();
	SmallVector<Value *> args;
	SmallVector<Type *> types;
	std::string name = (f.getName() + ".lanes" + Twine(lanes)).str();

	for (Value *arg : call.args()) {
		const bool one = is_sampling(f) && shape_of(arg).kind == shape::UNIFORM;

		args.push_back(one ? scalar(arg) : vector(arg));
		if (is_sampling(f))
			name += one ? ".one" : ".all";
	}
	args.push_back(full(mask));
	for (Value *arg : args)
		types.push_back(arg->getType());
	FunctionCallee made = item.getParent()->getOrInsertFunction(
		name, FunctionType::get(widen(f.getReturnType()), types, false));
	auto *callee = cast<Function>(made.getCallee());
	callee->addFnAttr(one_lane_form, f.getName());
	callee->setDoesNotThrow();
	set_memory_effects(*callee, f);
	callee->setWillReturn();
	return b.CreateCall(made, args, call.getName());
}

/* A call for a result that is the same in all lanes, unless none is active */
Value *vectoriser::emit_uniform_call(CallInst &call)
{
	SmallVector<Value *> args;

	for (Value *arg : call.args())
		args.push_back(scalar(arg));
	auto emit_call = [&] {
		CallInst *copy = b.CreateCall(call.getCalledFunction(), args, call.getName());
		copy->setCallingConv(call.getCallingConv());
		return copy;
	};
	if (!mask)
		return emit_call();
	BasicBlock *before = b.GetInsertBlock();
	BasicBlock *some = BasicBlock::Create(b.getContext(), "some", out);
	BasicBlock *after = BasicBlock::Create(b.getContext(), "after", out);
	b.CreateCondBr(some_lane(), some, after);
	b.SetInsertPoint(some);
	Value *result = emit_call();
	b.CreateBr(after);
	b.SetInsertPoint(after);
	PHINode *phi = b.CreatePHI(call.getType(), 2);
	phi->addIncoming(result, some);
	phi->addIncoming(Constant::getNullValue(call.getType()), before);
	return phi;
}

/* The attributes that say how the code of @from is generated */
static void copy_code_attributes(Function &to, const Function &from)
{
	AttrBuilder kept(from.getContext(), from.getAttributes().getFnAttrs());

	for (auto kind : { Attribute::NoInline, Attribute::Memory, Attribute::WillReturn })
		kept.removeAttribute(kind);
	kept.removeAttribute(call_cost);
	kept.removeAttribute(call_bits);
	to.addFnAttrs(kept);
	to.setLinkage(GlobalValue::InternalLinkage);
	to.setDSOLocal(true);
}

/* Does @all, the function of all lanes of @f, take one value of argument @i for them? */
static bool takes_one(const Function &all, const Function &f, unsigned i)
{
	return all.getArg(i)->getType() == f.getArg(i)->getType();
}

/*
 * The work-item x of @all, a function of all lanes: what it takes is in memory, except for what is
 * the same in them, and @active is whether lanes are.
 *
 *	item(args..., active, results, x, y, z)	if (active[x]) results[x] = f(args[x]...)
 */
static Function *make_caller(Function &f, const Function &all)
{
	LLVMContext &context = f.getContext();
	IRBuilder<> b(context);
	SmallVector<Type *> types;

	for (const Argument &arg : f.args())
		types.push_back(takes_one(all, f, arg.getArgNo()) ? arg.getType() : b.getPtrTy());
	types.append(2, b.getPtrTy());
	types.append(3, b.getInt64Ty());
	Function *item = Function::Create(FunctionType::get(b.getVoidTy(), types, false),
					  GlobalValue::InternalLinkage, f.getName() + ".item",
					  f.getParent());
	copy_code_attributes(*item, f);
	BasicBlock *entry = BasicBlock::Create(context, "", item);
	BasicBlock *body = BasicBlock::Create(context, "active", item);
	BasicBlock *end = BasicBlock::Create(context, "end", item);
	Argument *memory = item->arg_begin(), *x = memory + f.arg_size() + 2;
	SmallVector<Value *> args;

	b.SetInsertPoint(entry);
	auto load = [&](Type *type, unsigned i) {
		return b.CreateLoad(type, b.CreateInBoundsGEP(type, memory + i, x));
	};
	for (Argument &arg : f.args()) {
		const unsigned i = arg.getArgNo();

		if (takes_one(all, f, i))
			args.push_back(memory + i);
		else
			args.push_back(load(arg.getType(), i));
	}
	Value *active = load(b.getInt8Ty(), f.arg_size());
	b.CreateCondBr(b.CreateIsNotNull(active), body, end);
	b.SetInsertPoint(body);
	CallInst *call = b.CreateCall(&f, args);
	call->setCallingConv(f.getCallingConv());
	b.CreateBr(end);
	b.SetInsertPoint(end);
	PHINode *result = b.CreatePHI(f.getReturnType(), 2);
	result->addIncoming(call, body);
	result->addIncoming(Constant::getNullValue(f.getReturnType()), entry);
	b.CreateStore(result, b.CreateInBoundsGEP(f.getReturnType(), memory + f.arg_size() + 1, x));
	b.CreateRetVoid();
	InlineFunctionInfo info;
	InlineFunction(*call, info);
	if (is_sampling(f))
		ask_for_elements(*item);
	return item;
}

/* The function of the work-items of one, made for @lanes, or itself if lanes gain nothing */
static Function *make_callers(Function &one, const Function &f, TargetMachine &target,
			      unsigned lanes)
{
	items of;

	of.function = &one;
	of.values.assign(f.arg_size() + 2, nullptr);
	return make_lanes_along(of, one, 0, target, lanes);
}

static void define_for_lanes(Function &all, TargetMachine &target)
{
	Function &f = *all.getParent()->getFunction(
		all.getFnAttribute(one_lane_form).getValueAsString());
	const unsigned lanes = cast<FixedVectorType>(all.getArg(f.arg_size())->getType())
			       ->getNumElements();
	Function *one = make_caller(f, all), *several = make_callers(*one, f, target, lanes);
	IRBuilder<> b(BasicBlock::Create(f.getContext(), "", &all));
	SmallVector<Value *> args;

	copy_code_attributes(all, f);
	all.addFnAttr(Attribute::NoInline);
	all.addFnAttr(all_lanes);
	auto make_memory = [&](Type *type) {
		AllocaInst *memory = b.CreateAlloca(type);
		memory->setAlignment(Align(64));
		args.push_back(memory);
	};
	for (Argument &arg : all.args()) {
		const unsigned i = arg.getArgNo();

		if (i == f.arg_size())
			make_memory(FixedVectorType::get(b.getInt8Ty(), lanes));
		else if (takes_one(all, f, i))
			args.push_back(&arg);
		else
			make_memory(arg.getType());
	}
	make_memory(all.getReturnType());
	for (Argument &arg : all.args()) {
		const bool is_mask = arg.getArgNo() == f.arg_size();

		if (args[arg.getArgNo()] == &arg)
			continue;
		Type *type = cast<AllocaInst>(args[arg.getArgNo()])->getAllocatedType();

		b.CreateStore(is_mask ? b.CreateZExt(&arg, type) : &arg, args[arg.getArgNo()]);
	}
	Value *results = args.back();
	args.append(3, b.getInt64(0));
	if (several) {
		b.CreateCall(several, args);
	} else {
		make_loop(b, b.getInt64(0), b.getInt64(lanes), 1, "lane", [&](Value *x) {
			SmallVector<Value *> of_lane(args);

			of_lane[f.arg_size() + 2] = x;
			b.CreateCall(one, of_lane);
		});
	}
	b.CreateRet(b.CreateLoad(all.getReturnType(), results));
	if (several)
		inline_calls(*several);
	inline_calls(*one);
	drop_marks(all);
	tidy(all, target);
}

void define_vector_functions(Module &m, TargetMachine &target)
{
	/* Those that are defined may call others. */
	for (Function &f : m) {
		if (!f.isDeclaration() || !f.hasFnAttribute(one_lane_form))
			continue;
		if (!f.use_empty())
			define_for_lanes(f, target);
	}
	for (Function &f : make_early_inc_range(m))
		if (f.isDeclaration() && f.hasFnAttribute(one_lane_form) && f.use_empty())
			f.eraseFromParent();
}
