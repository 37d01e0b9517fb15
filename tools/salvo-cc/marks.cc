// SPDX-License-Identifier: MIT
/*
 * marks.cc - keeps the ids of work-items available through the optimiser
 *
 * The code of a loop over work-items is marked where its body begins and ends:
 *
 *	for (x = 0; x < end; x += 8)	begin_index(0, x, 8), lanes(x, y, z), end_index(0)
 *
 * For the optimiser a mark is the debug information of a variable, which has no effect on
 * the code. After the optimiser an empty inline assembly statement at the end of each body uses the
 * index, so that it is in a register or on the stack while the body runs. It also separates
 * iterations: the code generator moves no access across it. LLVM does not unroll these
 * loops (rows.cc).
 *
 * An access by one lane, or by contiguous lanes, has a tag that says so: metadata of a kind
 * that LLVM does not know, and so drops when it merges instructions.
 */
#include "places.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include "salvo_kernel.h"

using namespace llvm;

static const char *const mark_names[MARKS] = { "salvo_mark.x", "salvo_mark.y", "salvo_mark.z",
						"salvo_mark.lanes" };
static const char tag_name[] = "salvo.lane";

static void add_mark(IRBuilder<> &b, unsigned d, Value *index, unsigned lanes)
{
	Module *m = b.GetInsertBlock()->getModule();
	FunctionCallee mark = m->getOrInsertFunction(mark_names[d], b.getVoidTy(), b.getInt64Ty(),
						     b.getInt32Ty());

	b.CreateCall(mark, { index, b.getInt32(lanes) });
}

void begin_index(IRBuilder<> &b, unsigned d, Value *index, unsigned lanes)
{
	add_mark(b, d, index, lanes);
}

void end_index(IRBuilder<> &b, unsigned d)
{
	add_mark(b, d, PoisonValue::get(b.getInt64Ty()), 0);
}

static bool is_mark(const Instruction &inst)
{
	auto *call = dyn_cast<CallInst>(&inst);

	return call && call->getCalledFunction() &&
	       is_contained(mark_names, call->getCalledFunction()->getName());
}

void drop_marks(Function &f)
{
	for (Instruction &inst : make_early_inc_range(instructions(f)))
		if (is_mark(inst))
			inst.eraseFromParent();
}

Value *keep_index(IRBuilder<> &b, Value *index)
{
	Type *number = index->getType();
	auto *copy = FunctionType::get(number, { number }, false);
	CallInst *kept = b.CreateCall(InlineAsm::get(copy, "", "=r,0", true), { index });

	kept->setDoesNotThrow();
	return kept;
}

static uint64_t access_bytes(const Instruction &access)
{
	Type *type = access.getType();

	if (auto *store = dyn_cast<StoreInst>(&access))
		type = store->getValueOperand()->getType();
	else if (auto *exchange = dyn_cast<AtomicCmpXchgInst>(&access))
		type = exchange->getCompareOperand()->getType();
	return access.getDataLayout().getTypeStoreSize(type).getFixedValue();
}

static void make_tag(Instruction &access, uint64_t lanes, uint64_t lane, uint64_t bytes)
{
	LLVMContext &context = access.getContext();
	auto number = [&](uint64_t n) {
		return ConstantAsMetadata::get(ConstantInt::get(Type::getInt64Ty(context), n));
	};

	access.setMetadata(tag_name, MDNode::get(context, { number(lanes), number(lane),
							    number(bytes) }));
}

void tag_lane(Instruction &access, unsigned lane)
{
	if (isa<LoadInst>(access) || isa<StoreInst>(access) || isa<AtomicRMWInst>(access) ||
	    isa<AtomicCmpXchgInst>(access))
		make_tag(access, 0, lane, access_bytes(access));
}

void tag_row(Instruction &access, unsigned lanes)
{
	make_tag(access, lanes, 0, access_bytes(access) / lanes);
}

bool read_tag(const Instruction &access, lane_tag &tag)
{
	const MDNode *node = access.getMetadata(tag_name);
	auto number = [&](unsigned i) {
		return mdconst::extract<ConstantInt>(node->getOperand(i))->getZExtValue();
	};

	if (!node)
		return false;
	tag.row = number(0);
	tag.lane = number(1);
	tag.bytes = number(2);
	return true;
}

MDNode *get_tag(const Instruction &access)
{
	return access.getMetadata(tag_name);
}

void drop_row_tag(Instruction &access)
{
	lane_tag tag;

	if (read_tag(access, tag) && tag.row)
		access.setMetadata(tag_name, nullptr);
}

void set_tag(Value &pointer, MDNode *tag)
{
	for (User *user : pointer.users())
		if (auto *inst = dyn_cast<Instruction>(user); inst && !get_tag(*inst) &&
		    getLoadStorePointerOperand(inst) == &pointer)
			inst->setMetadata(tag_name, tag);
}

/* A scope for variables in a function without debug information. */
static DISubprogram *make_subprogram(DIBuilder &info, DICompileUnit *unit, Function &f)
{
	DISubprogram *made = info.createFunction(
		unit, f.getName(), "", unit->getFile(), 0,
		info.createSubroutineType(info.getOrCreateTypeArray({})), 0, DINode::FlagZero,
		DISubprogram::SPFlagDefinition | DISubprogram::SPFlagOptimized);

	f.setSubprogram(made);
	return made;
}

static void lower_marks(Function &f, DIBuilder &info, DISubprogram &scope)
{
	DIType *type = info.createBasicType("ulong", 64, dwarf::DW_ATE_unsigned);
	DILocation *where = DILocation::get(f.getContext(), 0, 0, &scope);
	SmallVector<CallInst *> marks;
	DILocalVariable *variables[MARKS];

	for (unsigned d = 0; d < MARKS; d++)
		variables[d] = DILocalVariable::get(f.getContext(), &scope, mark_names[d],
						    scope.getFile(), 0, type, 0,
						    DINode::FlagArtificial, 0, nullptr);
	for (Instruction &inst : instructions(f)) {
		/* LLVM drops variables of a scope without instructions. */
		if (isa<ReturnInst>(inst) && !inst.getDebugLoc())
			inst.setDebugLoc(where);
		if (is_mark(inst))
			marks.push_back(cast<CallInst>(&inst));
	}
	for (CallInst *mark : marks) {
		const unsigned d = std::find(mark_names, mark_names + MARKS,
					     mark->getCalledFunction()->getName()) - mark_names;
		Value *index = mark->getArgOperand(0);

		info.insertDbgValueIntrinsic(index, variables[d], info.createExpression(), where,
					     mark);
		if (d == 0 && !isa<PoisonValue>(index))
			info.insertDbgValueIntrinsic(mark->getArgOperand(1), variables[MARK_LANES],
						     info.createExpression(), where, mark);
		mark->eraseFromParent();
	}
}

/* Data before a kernel's entry: the offset of the table (places.cc). */
static void link_items(Function &f)
{
	IRBuilder<> b(f.getContext());
	auto *items = cast<GlobalVariable>(f.getParent()->getOrInsertGlobal(items_name,
									    b.getInt8Ty()));

	items->setVisibility(GlobalValue::HiddenVisibility);
	items->setDSOLocal(true);
	items->setConstant(true);
	Constant *way = ConstantExpr::getSub(ConstantExpr::getPtrToInt(items, b.getInt64Ty()),
					     ConstantExpr::getPtrToInt(&f, b.getInt64Ty()));
	f.setPrefixData(ConstantStruct::getAnon({
		b.getInt64(SALVO_ITEMS_MAGIC), ConstantExpr::getTrunc(way, b.getInt32Ty()),
		b.getInt32(0) }));
}

void lower_marks(Module &m, const std::vector<kernel> &kernels)
{
	DIBuilder info(m);
	DICompileUnit *unit = nullptr;
	SmallSetVector<Function *, 8> all;

	for (const kernel &k : kernels) {
		link_items(*k.function);
		all.insert(k.function);
	}
	/* And regions that are functions (groups.cc) */
	for (Function &f : m)
		if (any_of(instructions(f), is_mark))
			all.insert(&f);
	for (Function *f : all) {
		DISubprogram *scope = f->getSubprogram();

		if (!scope && !unit) {
			unit = info.createCompileUnit(dwarf::DW_LANG_OpenCL,
						      info.createFile("kernel.cl", ""), "", true,
						      "", 0);
			if (!m.getModuleFlag("Debug Info Version"))
				m.addModuleFlag(Module::Warning, "Debug Info Version",
						DEBUG_METADATA_VERSION);
		}
		lower_marks(*f, info, scope ? *scope : *make_subprogram(info, unit, *f));
	}
	info.finalize();
	for (const char *name : mark_names)
		if (Function *mark = m.getFunction(name))
			mark->eraseFromParent();
}

int mark_of(const DILocalVariable &variable)
{
	for (unsigned d = 0; d < MARKS; d++)
		if (variable.isArtificial() && variable.getName() == mark_names[d])
			return d;
	return -1;
}

namespace {

struct mark {
	DbgVariableRecord *record;
	int d;
	Value *index;
	Instruction *before;
};

} /* namespace */

/* An empty inline assembly statement that uses @index, before the marks at @where. */
static CallInst *add_use(FunctionType *type, const char *constraints, Value *index,
			 Instruction &where)
{
	CallInst *use = CallInst::Create(InlineAsm::get(type, "", constraints, true), { index });
	BasicBlock::iterator at = where.getIterator();

	at.setHeadBit(true);
	use->setDoesNotThrow();
	use->insertBefore(*where.getParent(), at);
	return use;
}

/*
 * Loop strength reduction replaces the indices of innermost loops by others: there a copy is kept
 * that is opaque to it.
 */
static void keep_indices(Function &f)
{
	DominatorTree dt(f);
	LoopInfo loops(dt);
	SmallVector<mark> begins, ends;
	Type *number = Type::getInt64Ty(f.getContext());
	auto *use = FunctionType::get(Type::getVoidTy(f.getContext()), { number }, false);
	auto *copy = FunctionType::get(number, { number }, false);

	for (Instruction &inst : instructions(f))
		for (DbgVariableRecord &record : filterDbgVars(inst.getDbgRecordRange())) {
			const int d = mark_of(*record.getVariable());

			if (d < 0 || d == MARK_LANES || record.hasArgList())
				continue;
			Value *index = record.getVariableLocationOp(0);
			if (record.isKillLocation())
				ends.push_back({ &record, d, nullptr, &inst });
			else if (isa<Instruction>(index) && index->getType() == number &&
				 record.getExpression()->getNumElements() == 0)
				begins.push_back({ &record, d, index, &inst });
		}
	for (mark &begin : begins) {
		const Loop *loop = loops.getLoopFor(begin.before->getParent());

		if (begin.d || !loop || !loop->isInnermost())
			continue;
		begin.index = add_use(copy, "=r,0", begin.index, *begin.before);
		begin.record->replaceVariableLocationOp(0u, begin.index);
	}
	for (const mark &end : ends) {
		const mark *nearest = nullptr;

		for (const mark &begin : begins)
			if (begin.d == end.d && dt.dominates(begin.index, end.before) &&
			    (!nearest || dt.dominates(nearest->index,
						      cast<Instruction>(begin.index))))
				nearest = &begin;
		if (nearest)
			add_use(use, "r", nearest->index, *end.before);
	}
}

void keep_indices(Module &m)
{
	for (Function &f : m)
		if (!f.isDeclaration())
			keep_indices(f);
}
