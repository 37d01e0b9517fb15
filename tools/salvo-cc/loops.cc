// SPDX-License-Identifier: MIT
/*
 * loops.cc - a kernel without barriers runs a whole work-group (M2 of CN102576314)
 *
 * Wraps the body in three loops, x innermost; a return branches to the latch. Used without
 * optimisation, so that the code stays close to the source; groups.cc is the optimised form.
 */
#include "places.h"

#include <llvm/IR/Instructions.h>

using namespace llvm;

struct loop {
	PHINode *index;
	BasicBlock *header, *latch;
};

/* A loop of @count iterations with an empty latch that leaves to @exit. */
static loop make_loop(BasicBlock *header, BasicBlock *before, Value *count, BasicBlock *exit,
		      const Twine &name)
{
	Function *f = header->getParent();
	BasicBlock *latch = BasicBlock::Create(f->getContext(), name + ".latch", f);
	IRBuilder<> b(header, header->begin());

	PHINode *index = b.CreatePHI(b.getInt64Ty(), 2, name);
	b.SetInsertPoint(latch);
	Value *next = b.CreateAdd(index, b.getInt64(1), name + ".next", true, true);
	b.CreateCondBr(b.CreateICmpEQ(next, count), exit, header);
	index->addIncoming(b.getInt64(0), before);
	index->addIncoming(next, latch);
	return { index, header, latch };
}

void build_loops(kernel &k, BasicBlock *body, const group_values &v)
{
	Function &f = *k.function;
	LLVMContext &context = f.getContext();
	BasicBlock *entry = &f.front();
	SmallVector<ReturnInst *> returns;

	for (BasicBlock &block : f)
		if (auto *ret = dyn_cast_if_present<ReturnInst>(block.getTerminator()))
			returns.push_back(ret);
	move_variables(*body, *entry);

	BasicBlock *exit = BasicBlock::Create(context, "exit", &f);
	ReturnInst::Create(context, exit);
	BasicBlock *z_header = BasicBlock::Create(context, "z", &f, body);
	BasicBlock *y_header = BasicBlock::Create(context, "y", &f, body);
	BranchInst::Create(z_header, entry);
	loop z = make_loop(z_header, entry, v.extent[2], exit, "z");
	loop y = make_loop(y_header, z_header, v.extent[1], z.latch, "y");
	loop x = make_loop(body, y_header, v.extent[0], y.latch, "x");
	BranchInst::Create(y_header, z_header);
	BranchInst::Create(body, y_header);

	for (ReturnInst *ret : returns) {
		BranchInst *next = BranchInst::Create(x.latch, ret->getParent());
		next->setDebugLoc(ret->getDebugLoc());
		ret->eraseFromParent();
	}

	Value *const local_id[3] = { x.index, y.index, z.index };
	replace_ids(f, v, local_id);
	for (const auto &[d, l] : { std::pair(2, z), std::pair(1, y), std::pair(0, x) }) {
		IRBuilder<> begin(l.header, l.header->getFirstNonPHIIt());
		IRBuilder<> end(l.latch, l.latch->begin());

		begin_index(begin, d, l.index, 1);
		end_index(end, d);
	}
}
